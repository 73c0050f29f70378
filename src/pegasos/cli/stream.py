"""``pegasos train --one-pass``: learning from a pipe or a file that is read once."""

import contextlib
import time
import warnings
from collections.abc import Generator
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

from pegasos.base.scaling import columns_called
from pegasos.base.wording import counted
from pegasos.cli.data import DataFlags, file_of
from pegasos.cli.options import TASKS, as_json_text, given_parameters, refuse_folder
from pegasos.cli.signals import SIGNALS
from pegasos.cli.talk import say
from pegasos.cli.text import DEFAULT_BITS
from pegasos.cli.wording import distinct
from pegasos.io import save_model
from pegasos.io.stream import ParsedRows, read_svmlight_parts, read_text_parts
from pegasos.linear import LinearSVC, LinearSVR, TextHasher
from pegasos.linear.stream import OnePass
from pegasos.solvers import STREAM_SOLVERS
from pegasos.summary import FromOne

#: Features of svmlight lines; each has weights in memory.
MOST_FEATURES = 1 << 28

Machine = LinearSVC | LinearSVR


class StreamFlags(NamedTuple):
    """What the flags say about a stream; None where they are not given."""

    classes: str | None
    data: DataFlags


class Talk(NamedTuple):
    """How much to print."""

    quiet: bool
    as_json: bool

    @property
    def at_all(self) -> bool:
        return not self.quiet and not self.as_json


def train_stream(data: str, model: str, task: str, flags: StreamFlags, given: dict[str, Any], talk: Talk) -> int:
    """Learn from each example once, and write the model; the exit code."""
    if task not in ("classification", "regression"):
        raise click.UsageError(
            f"--one-pass is for linear estimators, and --task {task} trains another kind; leave one of them out"
        )
    if flags.data.form == "text":
        raise click.UsageError("--one-pass is for svmlight and vw lines, and not for raw text; leave it out")
    refused = ("dtype", "separator", "template", "scheme", "warm_start", "max_iter", "max_time", "tol", "C", "n_jobs")
    for name in (*refused, "ngrams", "min_count"):
        if getattr(flags.data, name, None) is not None or given.get(name) is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --one-pass; leave it out")
    hash_bits = flags.data.hash_bits
    if flags.data.form == "vw":
        hash_bits = DEFAULT_BITS if hash_bits is None else hash_bits
        if flags.data.zero_based is not None:
            raise click.UsageError("--zero-based is for svmlight files, and text has no numbers of features")
        TextHasher(hash_bits).fit([])  # refuses what is no number of bits
    if flags.classes is not None and task == "regression":
        raise click.UsageError("--classes is for classification; leave it out")
    before = "adagrad" if given.get("alpha") is None else "pegasos"
    estimator = TASKS[task]
    machine: Any = estimator(**{"solver": before, **given_parameters(given, before, estimator, STREAM_SOLVERS)})
    if given.get("alpha") is None and machine.check_stream_parameters().name == "pegasos":
        raise click.UsageError("--solver pegasos needs --alpha, the weight of the norm, such as --alpha 1e-5")
    refuse_folder(model)
    started = time.perf_counter()
    stream = Stream(machine, hash_bits, bool(flags.data.zero_based), _labels(flags.classes))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        stream.learn(data, talk.at_all)
    _save(machine, hash_bits, model)
    print_summary(machine, model, started, talk)
    if not talk.quiet:
        for text in distinct(str(warning.message) for warning in caught):
            say(f"pegasos: warning: {text}", err=True)
    if not SIGNALS.received:
        return 0
    say(f"pegasos: interrupted; what was learned so far is saved in {model}", err=True)
    return SIGNALS.code


def _labels(given: str | None) -> list[float]:
    if given is None:
        return [-1.0, 1.0]
    try:
        return [float(label) for label in given.split(",")]
    except ValueError:
        raise click.UsageError(f"--classes {given}: must be numbers with commas between, such as 0,1,2") from None


class Stream:
    """One pass over examples, and a line on what was predicted whenever their number is a power of two."""

    def __init__(self, machine: Machine, hash_bits: int | None, zero_based: bool, classes: list[float]) -> None:
        self.hash_bits = hash_bits
        self.zero_based = zero_based
        labels: NDArray[Any] = np.unique(np.array(classes)) if isinstance(machine, LinearSVC) else np.empty(0)
        if isinstance(machine, LinearSVC) and len(labels) < 2:
            raise click.UsageError("--classes must name two labels or more, such as --classes 0,1")
        if labels.size and (labels == np.round(labels)).all():
            labels = labels.astype(np.int64)
        self.used = 1 << hash_bits if hash_bits is not None else 0  # the features there were
        self.learner = OnePass(machine, labels, self.used)
        self.next_line = 1
        self.last = (0.0, 0.0)  # weight and loss at the last line

    def learn(self, source: str, talk: bool) -> None:
        """From all there is."""
        file = file_of(source)
        if talk:
            say(f"{'loss':>10} {'since last':>10} {'examples':>12} {'weight':>14} {'label':>8} {'score':>10}")
        # Learning and parsing run beside each other: nearly all of both is in the core, without the GIL.
        try:
            with contextlib.closing(self._parts(file)) as parts:
                for part in parts:
                    with SIGNALS.put_off():
                        self._learn_part(source, part, talk)
        except KeyboardInterrupt:
            if not self._rows:
                raise KeyboardInterrupt("interrupted before the first example") from None
        if not self._rows:
            raise click.UsageError(f"{source}: no examples")
        if not self.hash_bits:
            self.learner.grow(self.used)
        self.learner.finish()

    def _parts(self, file: Any) -> Generator[ParsedRows]:
        if self.hash_bits is not None:
            return read_text_parts(file, self.hash_bits)
        return read_svmlight_parts(file, self.zero_based)

    @property
    def _rows(self) -> int:
        return self.learner.progress[0].rows

    def _learn_part(self, source: str, part: ParsedRows, talk: bool) -> None:
        if part.n_features > MOST_FEATURES:
            raise click.UsageError(
                f"{source}: the feature {part.n_features:,} is too large for one pass, which keeps weights of up to "
                f"{MOST_FEATURES:,}; number them anew"
            )
        if part.n_features > self.learner.n_features:
            self.learner.grow(2 * part.n_features)  # room, so that it is rare
        self.used = max(self.used, part.n_features)
        y = self._encode(source, part.labels)
        if self.hash_bits is None:
            with columns_called(None if self.zero_based else FromOne(part.n_features)):
                self.learner.look_at(part.matrix, "--one-pass")
        first = 0
        while first < len(y):
            line = self.next_line - self._rows if talk else len(y)
            last = min(first + line, len(y))
            rows = part.rows(first, last, self.learner.n_features, self.learner.bias)
            told = self.learner.learn(rows, y[first:last], part.weights[first:last])
            if talk and self._rows == self.next_line:
                self._print_line(part.labels[last - 1], told[-1].score)
                self.next_line *= 2
            first = last

    def _encode(self, source: str, labels: NDArray[np.float64]) -> NDArray[Any]:
        """The numbers of the classes, or the targets."""
        classes = self.learner.classes
        if not classes.size:
            return labels
        numbers = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        wrong = np.flatnonzero(classes[numbers] != labels)
        if len(wrong):
            known = ", ".join(map(str, classes.tolist()))
            raise click.UsageError(
                f"{source}: the label {labels[wrong[0]]:g} is none of {known}; name all labels there will be "
                "with --classes, such as --classes 0,1, or use --task regression"
            )
        return numbers

    def _print_line(self, label: float, score: float) -> None:
        told = self.learner.progress
        weight, loss = told[0].weight, sum(progress.loss for progress in told)
        since = (loss - self.last[1]) / ((weight - self.last[0]) or 1.0)
        self.last = (weight, loss)
        columns = [f"{loss / (weight or 1.0):10.6f}", f"{since:10.6f}", f"{told[0].rows:12,}", f"{weight:14,.1f}"]
        say(" ".join([*columns, f"{label:8g}", f"{score:10.4f}" if len(told) == 1 else f"{'':10}"]))


def _save(machine: Machine, hash_bits: int | None, model: str) -> None:
    if hash_bits is None:
        save_model(machine, model, overwrite=True)
        return
    from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

    save_model(make_pipeline(TextHasher(hash_bits), machine), model, overwrite=True)


def print_summary(machine: Machine, model: str, started: float, talk: Talk) -> None:
    """What was learned, in words or as JSON."""
    told, seconds = machine.progressive_, time.perf_counter() - started
    regression = isinstance(machine, LinearSVR)
    solver = machine.check_stream_parameters().describe()
    if talk.as_json:
        error = "mean_squared_error" if regression else "error"
        facts = {"model": model, "examples": told.n_rows, "weight": told.weight, "features": machine.n_features_in_}
        facts |= {"progressive_loss": told.loss, f"progressive_{error}": told.error}
        if hasattr(machine, "lower_bound_"):
            facts["lower_bound"] = machine.lower_bound_
        say(as_json_text("train-one-pass", facts | {"seconds": seconds, "solver": solver}))
    elif talk.at_all:
        error = f"mean squared error {told.error:.6g}" if regression else f"error {told.error:.2%}"
        say(
            f"progressive loss {told.loss:.6f}, {error}  ({counted(told.n_rows, 'example')} of weight {told.weight:,g})"
        )
        say(f"seconds  {seconds:.2f}  ({told.n_rows / seconds:,.0f} examples a second)")
        say(f"solver   {solver}", f"model    {model}")
