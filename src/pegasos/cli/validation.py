"""``pegasos train --validation`` and ``-v``: how good a model is on examples that it was not trained on."""

import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import click
import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from pegasos.base import clock
from pegasos.base.wording import counted
from pegasos.cli.choose import choose_C, score_folds, show_score
from pegasos.cli.data import Data, DataFlags, Form, Summary, called
from pegasos.cli.forms import form_of, machine_of
from pegasos.cli.options import as_json_text
from pegasos.cli.talk import echo
from pegasos.io.dataset import Dataset

Command = Callable[..., Any]

#: Of the flags about data those that say how another file is read, as `pegasos predict` has them.
READING = ("zero_based", "dtype", "separator", "label", "memory_limit", "scheme", "text")


def validation_flag(command: Command) -> Command:
    """Add the flag."""
    return click.option(
        "--validation",
        metavar="FILE|SHARE",
        help="report the error on other examples: those of a file, or a held-out share of DATA, such as 0.2",
    )(command)


class Validation(NamedTuple):
    """Which examples a model is judged by."""

    file: str | None
    share: float | None

    @classmethod
    def of(cls, given: str | None) -> "Validation":
        """What the flag says."""
        if given is None:
            return cls(None, None)
        try:
            share = float(given)
        except ValueError:
            share = None
        if share is None or os.path.exists(given):
            if not os.path.exists(given):
                raise click.UsageError(f"--validation {given}: no such file, and no share such as 0.2")
            return cls(given, None)
        if not 0 < share < 1:
            raise click.UsageError(f"--validation {given}: a share is between 0 and 1, such as 0.2")
        return cls(None, share)

    def refuse_same(self, data: str) -> None:
        """Examples that a model is trained on tell nothing of others."""
        if self.file is not None and os.path.exists(data) and os.path.samefile(self.file, data):
            raise click.UsageError(
                f"--validation {self.file} is the DATA that the model is trained on; name another file, or a share "
                "such as 0.2"
            )

    def read(self, form: Form, data: Data, machine: Any, model: str, flags: DataFlags) -> "Judges | None":
        """The examples of the file, if there is one. Before the fit, so that what is wrong with it comes up then."""
        if self.file is None:
            return None
        given = DataFlags(**{name: getattr(flags, name) for name in READING})
        other = form_of(model, form.unfitted(machine, data), given, self.file)
        return Judges(other, other.read(self.file), f"of {called(self.file)}")

    def hold_out(self, form: Form, data: Data, machine: Any) -> "tuple[Data, Judges | None]":
        """Examples to train on, and those held out, if any."""
        if self.share is None:
            return data, None
        if isinstance(data.X, Dataset):
            raise click.UsageError(f"--validation {self.share:g}: of a data set no share is held out; name a file")
        if data.y is None:
            return data, None  # the fit says what is missing
        from sklearn.model_selection import train_test_split  # not for all commands: it takes a while

        rows, seed = np.arange(len(data.y)), machine.random_state
        try:
            train, test = train_test_split(
                rows,
                test_size=self.share,
                random_state=0 if seed is None else seed,
                stratify=data.y if is_classifier(machine) else None,
            )
        except ValueError as error:
            raise click.UsageError(f"--validation {self.share:g} of {len(rows)} examples: {error}") from None
        held_out = _take(data, np.sort(test))
        what = "example" if held_out.lines is None else "sentence"
        return _take(data, np.sort(train)), Judges(form, held_out, f"{counted(len(test), what)} held out")


class Judges(NamedTuple):
    """Examples that a model was not trained on, and what they are called."""

    form: Form
    data: Data
    called: str

    def judge(self, fitted: Any) -> Summary:
        """How good predictions are on these."""
        machine = machine_of(fitted)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names")  # which the form sees to
            predicted = machine.predict(self.form.features(self.data))
        result, text = self.form.judge([(predicted, self.data)], machine)
        return result, _with(text, self.called)


def _with(text: str, more: str) -> str:
    """The summary with more at the end of its first line."""
    first, *rest = text.split("\n")
    return "\n".join([f"{first}, {more}", *rest])


def _take(data: Data, rows: Any) -> Data:
    """Some of the examples."""
    lines = None if data.lines is None else [data.lines[row] for row in rows]
    weights = None if data.weights is None else data.weights[rows]
    X, y = _safe_indexing(data.X, rows), _safe_indexing(data.y, rows)
    counts = {"sentences": len(rows), "positions": sum(map(len, X))} if lines is not None else {"examples": len(rows)}
    return data._replace(X=X, y=y, weights=weights, lines=lines, counts=counts)


def cross_validate(
    machine: Any, form: Form, data: Data, folds: int, shown: bool, as_json: bool, choose: bool = False
) -> int:
    """Tell the mean score over so many folds, as LIBLINEAR's -v does, with the best C if it is to choose one; there is
    no model."""
    X, y, weights = form.features(data), data.y, data.weights
    if isinstance(X, Dataset):
        X, y, weights = X.load()
    if y is None:
        raise click.UsageError(f"{called(data.source)} has no labels, which -v needs")
    more = {}
    if choose:
        chosen = choose_C(machine, X, y, weights, False, clock.now())
        machine.C, more = chosen.C, chosen.to_dict()
        if shown and not as_json:
            echo(str(chosen))
    score, scores = score_folds(machine, X, y, weights, folds)
    mean = float(scores.mean())
    if as_json:
        facts = {"folds": folds, "score": score, "mean": mean, "scores": scores.tolist(), **more}
        echo(as_json_text("cross-validation", {**data.counts, **facts}))
    elif shown:
        echo(f"cross-validation in {folds} folds: {show_score(score, mean)}; no model is written")
    return 0
