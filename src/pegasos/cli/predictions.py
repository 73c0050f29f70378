"""What is said of predictions: lines of them, and how good they are."""

from typing import Any

import numpy as np

from pegasos.base.wording import counted, visible
from pegasos.cli.data import Data, Summary, called

#: What the loss of a quantile is called.
PINBALL = "pinball loss"


def line_of(value: Any) -> str:
    """One prediction, without the end of its line; those in a label are escaped, and so are backslashes."""
    if isinstance(value, list):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else visible(str(value).replace("\\", r"\\"))


def no_error(data: Data, what: str, count: int, why: str) -> Summary:
    """What there is to say where nothing is known of how good predictions are."""
    summary = f"{counted(count, what)} predicted; {called(data.source)} has {why}, so no error is computed"
    return {**data.counts, "wrong": None, "error": None}, summary


def none_known(label: Any, machine: Any) -> str:
    """Why no error is computed, where a model knows none of the labels."""
    classes = machine.classes_.tolist()
    known = ", ".join(visible(str(name)) for name in classes[:5]) + (", ..." if len(classes) > 5 else "")
    return f"labels such as {visible(str(label))}, and none that the model knows ({known})"


def unknown_labels(count: int, label: Any) -> str:
    """The end of a line on errors, where there are labels that the model does not know."""
    have = "has a label" if count == 1 else "have labels"
    return f"; {count:,} of them {have} that the model does not know, such as {visible(str(label))}" if count else ""


def judge_labels(wrong: int, count: int, data: Data) -> Summary:
    """How many labels are wrong, and a line on it."""
    summary = f"error {wrong / count:.2%}  ({wrong:,} of {count:,} wrong)"
    return {**data.counts, "wrong": wrong, "error": wrong / count}, summary


def pinball_loss(values: Any, y: Any, quantile: float) -> float:
    """The mean loss of predictions of a quantile: `quantile` times what a target is above, or the rest times what it is
    below."""
    above = np.asarray(y) - values
    return float(np.mean(np.maximum(quantile * above, (quantile - 1) * above)))


def judge_values(values: Any, data: Data, machine: Any) -> Summary:
    """How far the values are from the targets, and a line on it."""
    error, spread = float(np.mean((values - data.y) ** 2)), float(np.var(data.y))
    share = 1 - error / spread if spread else None  # as scikit-learn's score
    told = "" if share is None else f", R^2 {share:.4f}"
    result = {**data.counts, "mean_squared_error": error, "r2": share}
    summary = f"mean squared error {error:.6g}{told}  ({counted(len(data.y), 'example')})"
    if machine.loss == "quantile":
        loss, below = pinball_loss(values, data.y, machine.quantile), float(np.mean(data.y < values))
        result |= {"pinball_loss": loss, "share_below": below}
        summary = f"{PINBALL} {loss:.6g}, {below:.1%} below (quantile {machine.quantile:g}), {summary}"
    return result, summary
