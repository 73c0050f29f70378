"""What is said of predictions: lines of them, and how good they are."""

from contextlib import suppress
from typing import Any

import numpy as np

from pegasos.base.wording import counted, visible
from pegasos.cli.data import Summary, called

#: What the loss of a quantile is called.
PINBALL = "pinball loss"


def line_of(value: Any) -> str:
    """One prediction, without the end of its line; those in a label are escaped, and so are backslashes."""
    if isinstance(value, list):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else visible(str(value).replace("\\", r"\\"))


def no_error(source: str, counts: dict[str, int], what: str, count: int, why: str) -> Summary:
    """What there is to say where nothing is known of how good predictions are."""
    summary = f"{counted(count, what)} predicted; {called(source)} has {why}, so no error is computed"
    return {**counts, "wrong": None, "error": None}, summary


def none_known(label: Any, machine: Any) -> str:
    """Why no error is computed, where a model knows none of the labels."""
    classes = machine.classes_.tolist()
    known = ", ".join(visible(str(name)) for name in classes[:5]) + (", ..." if len(classes) > 5 else "")
    return f"labels such as {visible(str(label))}, and none that the model knows ({known})"


def unknown_labels(count: int, label: Any) -> str:
    """The end of a line on errors, where there are labels that the model does not know."""
    have = "has a label" if count == 1 else "have labels"
    return f"; {count:,} of them {have} that the model does not know, such as {visible(str(label))}" if count else ""


def judge_labels(wrong: int, count: int, counts: dict[str, int]) -> Summary:
    """How many labels are wrong, and a line on it."""
    summary = f"error {wrong / count:.2%}  ({wrong:,} of {count:,} wrong)"
    return {**counts, "wrong": wrong, "error": wrong / count}, summary


def pinball_loss(values: Any, y: Any, quantile: float) -> float:
    """The mean loss of predictions of a quantile: `quantile` times what a target is above, or the rest times what it is
    below."""
    above = np.asarray(y) - values
    return float(np.mean(np.maximum(quantile * above, (quantile - 1) * above)))


class LabelErrors:
    """Labels that are wrong, and those that a model does not know, counted part by part."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine
        self.wrong = self.unknown = 0
        self.stranger: Any = None  # the first label that is not known

    def add(self, predicted: Any, labels: Any) -> None:
        y, classes = labels, self.machine.classes_
        if y.dtype.kind != classes.dtype.kind and "U" in (y.dtype.kind, classes.dtype.kind):
            y = y.astype(str) if classes.dtype.kind == "U" else _numbers(y)
        unknown = ~np.isin(y, classes)
        if unknown.any() and not self.unknown:
            self.stranger = labels[np.argmax(unknown)]
        self.unknown += int(unknown.sum())
        self.wrong += int(np.sum(predicted != y))

    def summary(self, source: str, count: int) -> Summary:
        counts = {"examples": count}
        if self.unknown == count:
            return no_error(source, counts, "example", count, none_known(self.stranger, self.machine))
        result, summary = judge_labels(self.wrong, count, counts)
        return result, summary + unknown_labels(self.unknown, self.stranger)


class ValueErrors:
    """How far values are from the targets, in sums part by part."""

    def __init__(self, machine: Any) -> None:
        self.quantile = machine.quantile if machine.loss == "quantile" else None
        self.count = self.below = 0
        self.squares = self.loss = self.mean = self.spread = 0.0

    def add(self, values: Any, y: Any) -> None:
        mean, before = float(np.mean(y)), self.count
        self.count += len(y)
        self.squares += float(np.sum((values - y) ** 2))
        self.spread += float(np.sum((y - mean) ** 2)) + (mean - self.mean) ** 2 * before * len(y) / self.count
        self.mean += (mean - self.mean) * len(y) / self.count
        if self.quantile is not None:
            self.loss += pinball_loss(values, y, self.quantile) * len(y)
            self.below += int(np.sum(y < values))

    def summary(self, source: str, count: int) -> Summary:
        error = self.squares / count
        share = 1 - self.squares / self.spread if self.spread else None  # as scikit-learn's score
        told = "" if share is None else f", R^2 {share:.4f}"
        result: dict[str, Any] = {"examples": count, "mean_squared_error": error, "r2": share}
        summary = f"mean squared error {error:.6g}{told}  ({counted(count, 'example')})"
        if self.quantile is not None:
            loss, below = self.loss / count, self.below / count
            result |= {"pinball_loss": loss, "share_below": below}
            summary = f"{PINBALL} {loss:.6g}, {below:.1%} below (quantile {self.quantile:g}), {summary}"
        return result, summary


def _numbers(words: Any) -> Any:
    """Labels that are words as numbers, NaN where they are none."""
    numbers = np.full(len(words), np.nan)
    for place, word in enumerate(words.tolist()):
        with suppress(ValueError):
            numbers[place] = float(word)
    return numbers
