"""Data files, by what the model is for: svmlight text or tables, or sentences in columns."""

import copy
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import click
import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier, is_regressor

from pegasos.base.wording import counted
from pegasos.cli.options import Names
from pegasos.io import open_dataset, read_svmlight
from pegasos.io.conll import read_lines
from pegasos.io.dataset import Dataset
from pegasos.io.table import read_labelled, table_columns
from pegasos.io.table_file import NAMED
from pegasos.linear.estimator import LinearMachine
from pegasos.sequence.chunks import ChunkCounts, chunk_scores, to_iob2
from pegasos.sequence.svc import ForbiddenLink, SequenceSVC
from pegasos.sequence.templates import Template
from pegasos.summary import FromOne, machine_of

Command = Callable[..., Any]
Summary = tuple[dict[str, Any], str]  # for machines, and in words

#: What the loss of a quantile is called.
PINBALL = "pinball loss"


def data_flags(command: Command) -> Command:
    """How to read a data file."""
    command = click.option(
        "--separator", metavar="TEXT", help='what stands between columns; "tab" is a tab [any spaces and tabs]'
    )(command)
    command = click.option(
        "--scheme",
        type=Names(["iob1", "iob2"]),
        help="sequence: labels of chunks in DATA; those of iob1, where B-X is only between two chunks of type X, are "
        "read as iob2, where it begins each [as they are]",
    )(command)
    command = click.option("--label", metavar="COLUMN", help=f"tables ({NAMED}): the column of labels or targets")(
        command
    )
    command = click.option(
        "--text", metavar="COLUMN", help="tables: the column of raw texts, whose words are features [none]"
    )(command)
    command = click.option(
        "--memory-limit",
        metavar="SIZE",
        help="data sets: memory that a fit may take, such as 1GB [half of what is free]",
    )(command)
    command = click.option(
        "--dtype", type=Names(["float32", "float64"]), help="precision of examples [float64; tables: their own]"
    )(command)
    return click.option("--zero-based", is_flag=True, default=None, help="feature numbers start at 0 [1]")(command)


class DataFlags(NamedTuple):
    """What the flags say about data; None where they are not given."""

    zero_based: bool | None
    dtype: str | None
    separator: str | None
    template: str | None = None
    label: str | None = None
    memory_limit: str | None = None
    scheme: str | None = None
    text: str | None = None
    form: str | None = None
    ngrams: int | None = None
    min_count: int | None = None
    hash_bits: int | None = None

    @property
    def of_text(self) -> bool:
        """Whether they say that data are texts."""
        return self.form in ("text", "vw")

    def refuse(self, reason: str, *names: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} is for {reason}; leave it out")


class Data(NamedTuple):
    """What a file holds."""

    source: str
    X: Any
    y: Any  # None where it has no labels
    counts: dict[str, int]
    text: str  # the counts in words
    weights: Any = None  # of the examples, where they are not all 1
    lines: list[int] | None = None  # of sentences, where they begin


class Form(Protocol):
    """A kind of data file, and what there is to say about predictions for it."""

    def read(self, source: str) -> Data:
        """The data in a file, or with ``-`` in standard input."""

    def fit(self, machine: Any, data: Data) -> Any:
        """What to save: the machine that was fitted, with all that it needs to read other files."""

    def features(self, data: Data) -> Any:
        """What the machine is fitted to."""

    def called(self, data: Data) -> Sequence[str] | None:
        """What columns of features are called in messages; None is by numbers from 0."""

    def unfitted(self, machine: Any, data: Data) -> Any:
        """A model by which other files are read as after the fit to these data, before there is one."""

    def lines(self, values: Any) -> str:
        """What is predicted, as text."""

    def judge(self, predicted: Any, data: Data, machine: Any) -> Summary:
        """How good predictions are."""


def called(source: str) -> str:
    """What a source is called in messages."""
    return "standard input" if source == "-" else source


def file_of(source: str) -> Any:
    """The name of a file, or standard input."""
    if source != "-":
        return source
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; name a file")
    return sys.stdin.buffer


class Svmlight:
    """Examples, one a line, with their label or target."""

    def __init__(self, machine: Any, flags: DataFlags) -> None:
        flags.refuse("--task sequence", "template", "separator", "scheme")
        flags.refuse("tables, such as .csv and .parquet files", "label", "text")
        self.width: int | None = getattr(machine, "n_features_in_", None)
        #: What the model calls its features. It is the form that sees to them, and what it reads has none.
        self.names: list[str] | None = None
        if hasattr(machine, "feature_names_in_"):
            self.names = vars(machine).pop("feature_names_in_").tolist()
        self.zero_based = bool(flags.zero_based)
        self.dtype = np.dtype(flags.dtype or "float64")

    def read(self, source: str) -> Data:
        """Whole labels become integers."""
        try:
            X, y = read_svmlight(file_of(source), zero_based=self.zero_based, dtype=self.dtype)
        except ValueError as error:
            text = str(error)
            if self.width is not None and self.names is not None:
                text += (
                    f"; and the model was trained on a table with {quoted(self.names)}: pass one ({NAMED}) if it is one"
                )
            elif ": label " in text and self.width is not None:
                text += ", or train another model with --format text if lines are raw text"
            elif ": label " in text:
                text += (
                    ", or give --format text if lines are raw text, --task sequence if they are columns of a sentence"
                )
            raise click.UsageError(text) from None
        X = self.fitted_width(X, source)
        text = f"{_shape(X.shape)}, {X.nnz:,} entries"
        return Data(source, X, whole(y), {"examples": X.shape[0]}, text)

    def fitted_width(self, X: Any, source: str) -> Any:
        """X with as many features as the model has, if there is one."""
        if self.width is None or X.shape[1] == self.width:
            return X
        if X.shape[1] > self.width or not issparse(X):
            raise click.UsageError(
                f"{source} has {X.shape[1]} features, but the model was trained on {self.width}; is it for another, or "
                "is --zero-based wrong?"
            )
        X.resize((X.shape[0], self.width))
        return X

    def fit(self, machine: Any, data: Data) -> Any:
        return self.named(machine.fit(data.X, data.y))

    def features(self, data: Data) -> Any:
        return data.X

    def called(self, data: Data) -> Sequence[str] | None:
        return self.names or (None if self.zero_based else FromOne(data.X.shape[1]))

    def unfitted(self, machine: Any, data: Data) -> Any:
        machine = copy.copy(machine)
        machine.n_features_in_ = data.X.shape[1]
        if is_classifier(machine) and data.y is not None:
            machine.classes_ = np.unique(data.y)
        names = getattr(data.X, "feature_names", None) if self.names is None else self.names
        if names is not None:
            machine.feature_names_in_ = np.array(names, dtype=object)
        return machine

    def named(self, machine: Any) -> Any:
        """The machine, fitted, with what its features are called."""
        if self.names is not None:
            machine.feature_names_in_ = np.array(self.names, dtype=object)
        return machine

    def found(self, source: str, given: list[str]) -> list[str]:
        """The features of the model among the columns of a file; those of the file where there is no model."""
        if self.names is None:
            self.names = given
        missing = [name for name in self.names if name not in given]
        label = getattr(self, "label", None)
        if label in missing:
            raise click.UsageError(
                f"column {label!r} is a feature that the model was trained on, and no label; name that of labels with "
                "--label, or leave it out"
            )
        if missing:
            them = "it" if len(missing) == 1 else "them"
            raise click.UsageError(f"{source} has no {quoted(missing)}, which the model was trained on; add {them}")
        return self.names

    def lines(self, values: Any) -> str:
        return "".join(f"{_line(value)}\n" for value in values.tolist())

    def judge(self, predicted: Any, data: Data, machine: Any) -> Summary:
        y = data.y
        if y is None:
            return no_error(data, "example", len(predicted), "no labels")
        if is_regressor(machine):
            return _judge_values(predicted, data, machine)
        if y.dtype.kind != machine.classes_.dtype.kind and "U" in (y.dtype.kind, machine.classes_.dtype.kind):
            y = y.astype(str) if machine.classes_.dtype.kind == "U" else _numbers(y)
        unknown = ~np.isin(y, machine.classes_)
        if unknown.all():
            return no_error(data, "example", len(y), _none_known(data.y[0], machine))
        result, summary = _judge_labels(int(np.sum(predicted != y)), len(y), data)
        return result, summary + _unknown(int(unknown.sum()), data.y[np.argmax(unknown)])


class Table(Svmlight):
    """Examples in named columns, one of which may be the label or target."""

    def __init__(self, machine: Any, flags: DataFlags) -> None:
        flags.refuse("svmlight files", "zero_based")
        super().__init__(machine, flags._replace(label=None))
        self.label = flags.label
        self.words = words_of(machine_of(machine))
        self.own_dtype = None if flags.dtype is None else self.dtype

    def read(self, source: str) -> Data:
        try:
            given = [name for name in table_columns(source) if name != self.label]
            known = self.width is None or self.names is not None  # by models of older versions they are not
            columns = self.found(source, given) if known else given
            self.others = [name for name in given if name not in columns]
            X, y = read_labelled(source, self.label, columns, self.own_dtype, self.words)
        except (ValueError, ImportError) as error:  # with the names that things have here
            text = str(error).replace(
                "leave it out by columns=, name it as the label",
                "remove it, name it by --label, or by --text where it has texts",
            )
            raise click.UsageError(text) from None
        if self.width is not None and X.shape[1] != self.width:
            remedy = "name that of labels with --label" if self.label is None else "is it for another?"
            raise click.UsageError(
                f"{source} has {_columns(X.shape[1])} of features, but the model was trained on {self.width}; {remedy}"
            )
        text = _shape(X.shape)
        return Data(source, X, None if y is None else whole(y), {"examples": X.shape[0]}, text)

    def fit(self, machine: Any, data: Data) -> Any:
        if data.y is None:
            raise click.UsageError(f"{data.source} is a table; name its column of labels with --label")
        return super().fit(machine, data)

    def judge(self, predicted: Any, data: Data, machine: Any) -> Summary:
        if data.y is None and self.others:
            return no_error(data, "example", len(predicted), f"{quoted(self.others)} and no --label")
        return super().judge(predicted, data, machine)


class OnDisk(Svmlight):
    """A data set's folder."""

    def __init__(self, machine: Any, flags: DataFlags) -> None:
        if isinstance(machine, SequenceSVC):
            raise click.UsageError("a data set has no sequences; pass a file of columns")
        flags.refuse("text, and a data set has its own", "zero_based", "dtype")
        super().__init__(machine, flags)
        self.limit = flags.memory_limit
        self.linear = isinstance(machine, LinearMachine)
        self.by_blocks = self.linear and self.width is None

    def read(self, source: str) -> Data:
        """What is read into memory is compared with its checksums, and so is what linear machines read by blocks."""
        dataset = open_dataset(source, memory_limit=self.limit)
        counts, text = {"examples": len(dataset)}, f"{_shape(dataset.shape)}, {dataset.nnz:,} entries"
        if self.by_blocks:
            return Data(source, dataset, None, counts, text)
        columns = self.columns(dataset, source)
        if self.linear and columns is None and dataset.shape[1] == self.width:
            y = dataset.decode(dataset.read("labels"))
            return Data(source, dataset, y, counts, text)
        X, y, weights = dataset.load()
        X = self.fitted_width(X if columns is None else X[:, columns], source)
        return Data(source, X, y, counts, text, weights)

    def fit(self, machine: Any, data: Data) -> Any:
        if self.by_blocks:
            return machine.fit(data.X)
        X, y, weights = data.X.load() if isinstance(data.X, Dataset) else (data.X, data.y, data.weights)
        return self.named(machine.fit(X, y, weights))

    def columns(self, dataset: Dataset, source: str) -> list[int] | None:
        """Which columns are the features of the model, in its order; None where all are, as they stand."""
        given = dataset.feature_names
        if given is None or (self.names is None and self.width is not None):
            return None
        columns = self.found(source, given)
        return None if columns == given else [given.index(name) for name in columns]


class Columns:
    """Sentences in columns, of which the last is the label; a template makes features of the others."""

    def __init__(self, template: Template | None, flags: DataFlags) -> None:
        flags.refuse("svmlight files, and sequences come in columns", "zero_based", "dtype")
        flags.refuse("tables, and the last column of a sequence is its label", "label")
        #: Columns of the files the model was trained on, but for the label.
        self.width: int | None = getattr(template, "n_features_in_", None)
        self.separator = "\t" if flags.separator in ("tab", "\\t") else flags.separator
        if self.separator is not None and (not self.separator or set(self.separator) & set("\r\n")):
            raise click.UsageError(f"--separator {self.separator!r}: give what stands between columns, such as tab")
        self.iob1 = flags.scheme == "iob1"
        self.template = template
        if flags.template is None:
            return
        self.template = _template(flags.template)
        if template is not None and self.template.text != template.text:
            raise click.UsageError("--template is another than that of the model, which it continues; leave it out")

    def read(self, source: str) -> Data:
        try:
            sentences, lines = read_lines(file_of(source), self.separator)
        except ValueError as error:  # with the names that things have here
            raise click.UsageError(str(error).replace("pass separator='\\t'", "give --separator tab")) from None
        width = len(sentences[0][0])
        labelled = self.width is None or width == self.width + 1
        if self.width is not None and width not in (self.width, self.width + 1):
            raise click.UsageError(
                f"{source} has {_columns(width)}, but the model was trained on {_columns(self.width)} and labels after "
                "them; pass a file with these, with labels or without"
            )
        if self.width is None and width < 2:
            raise click.UsageError(
                f"{source} has one column, and the last is the label; add columns that the label depends on, or "
                "tell with --separator what is between them"
            )
        used = self.template.n_columns if self.template is not None else 0
        if labelled and used > width - 1:
            raise click.UsageError(
                f"{source} has {_columns(width - 1)} before the label, but the template uses {used}; choose another "
                "with --template"
            )
        positions = sum(map(len, sentences))
        counts = {"sentences": len(sentences), "positions": positions}
        text = f"{counted(len(sentences), 'sentence')} of {counted(positions, 'position')}"
        if not labelled:
            return Data(source, sentences, None, counts, text, lines=lines)
        X = [[position[:-1] for position in sentence] for sentence in sentences]
        y = [[position[-1] for position in sentence] for sentence in sentences]
        if self.iob1:
            y = [_from_iob1(own, f"{source}: the sentence at line {line}") for own, line in zip(y, lines, strict=True)]
        different = len({label for own in y for label in own})
        return Data(
            source, X, y, counts, f"{text}, {_columns(width - 1)} and {counted(different, 'label')}", lines=lines
        )

    def fit(self, machine: Any, data: Data) -> Any:
        if data.y is None or data.lines is None:
            raise click.UsageError(f"{data.source} has no column of labels to train on; add it as the last one")
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        try:
            return make_pipeline(self._template_for(data), machine).fit(data.X, data.y)
        except ForbiddenLink as error:
            line = data.lines[error.sequence] + error.position
            raise click.UsageError(
                f"{data.source}: line {line}: {error.link}, which --constraints forbids; mend the label, leave "
                "--constraints out, or give --scheme iob1 if chunks begin with I-"
            ) from None

    def features(self, data: Data) -> Any:
        return self._template_for(data).transform(data.X)

    def called(self, data: Data) -> Sequence[str] | None:
        return None

    def unfitted(self, machine: Any, data: Data) -> Any:
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        return make_pipeline(clone(self._template_for(data)).fit(data.X), machine)

    def _template_for(self, data: Data) -> Template:
        return self.template or Template.window(len(data.X[0][0]))

    def lines(self, values: Any) -> str:
        """A line for each position, and an empty one between sentences."""
        texts = ("".join(f"{_line(value)}\n" for value in np.asarray(own).tolist()) for own in values)
        return "\n".join(texts)

    def judge(self, predicted: Any, data: Data, machine: Any) -> Summary:
        if data.y is None:
            return no_error(data, "position", data.counts["positions"], "no labels")
        known = set(machine.classes_.tolist())
        pairs = [pair for own, made in zip(data.y, predicted, strict=True) for pair in zip(own, made, strict=True)]
        unknown = sum(label not in known for label, _ in pairs)
        if unknown == len(pairs):
            return no_error(data, "position", len(pairs), _none_known(pairs[0][0], machine))
        result, summary = _judge_labels(sum(label != made for label, made in pairs), len(pairs), data)
        summary += _unknown(unknown, next((label for label, _ in pairs if label not in known), None))
        try:
            scores = chunk_scores(data.y, predicted)
        except ValueError:  # they are not labels of chunks
            return result, summary
        types = {kind: _facts(counts) for kind, counts in scores.by_type.items()}
        return result | _facts(scores) | {"types": types}, f"{summary}\n{scores.table()}"


def _from_iob1(labels: list[str], where: str) -> list[str]:
    try:
        return to_iob2(labels)
    except ValueError as error:
        raise click.UsageError(
            f"{where}, {error}".replace("convert the labels to IOB2", "leave --scheme out")
        ) from None


def _facts(counts: ChunkCounts) -> dict[str, Any]:
    """Shares of chunks, and their numbers."""
    shares = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return {**shares, "chunks": counts.n_true, "predicted": counts.n_predicted, "correct": counts.n_correct}


def _template(given: str) -> Template:
    try:
        return Template.named(given)
    except ValueError as error:
        if not os.path.exists(given):
            raise click.UsageError(f"--template {given}: no such file, and {error}") from None
    return Template.from_file(given)


def quoted(names: list[str]) -> str:
    """Columns by their names, not too many of them."""
    text = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} others" if len(names) > 5 else "")
    return f"column{'' if len(names) == 1 else 's'} {text}"


def _columns(count: int) -> str:
    return counted(count, "column")


def _shape(shape: tuple[int, int]) -> str:
    return f"{counted(shape[0], 'example')} x {counted(shape[1], 'feature')}"


def whole(y: Any) -> Any:
    """Labels as integers, if they are whole numbers."""
    if y.dtype.kind == "f" and np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53):
        return y.astype(np.int64)
    return y


def words_of(machine: Any) -> str:
    """How labels of a table are read: of targets numbers, of a model with labels that are words those."""
    if is_regressor(machine):
        return "numbers"
    known = getattr(machine, "classes_", None)
    return "auto" if known is None else "words" if known.dtype.kind == "U" else "numbers"


def _numbers(words: Any) -> Any:
    """Labels that are words as numbers, NaN where they are none."""
    numbers = np.full(len(words), np.nan)
    for place, word in enumerate(words.tolist()):
        with suppress(ValueError):
            numbers[place] = float(word)
    return numbers


def _line(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else str(value)


def no_error(data: Data, what: str, count: int, why: str) -> Summary:
    """What there is to say where nothing is known of how good predictions are."""
    summary = f"{counted(count, what)} predicted; {called(data.source)} has {why}, so no error is computed"
    return {**data.counts, "wrong": None, "error": None}, summary


def _none_known(label: Any, machine: Any) -> str:
    """Why no error is computed, where a model knows none of the labels."""
    classes = machine.classes_.tolist()
    known = ", ".join(map(str, classes[:5])) + (", ..." if len(classes) > 5 else "")
    return f"labels such as {label}, and none that the model knows ({known})"


def _unknown(count: int, label: Any) -> str:
    """The end of a line on errors, where there are labels that the model does not know."""
    have = "has a label" if count == 1 else "have labels"
    return f"; {count:,} of them {have} that the model does not know, such as {label}" if count else ""


def _judge_labels(wrong: int, count: int, data: Data) -> Summary:
    """How many labels are wrong, and a line on it."""
    summary = f"error {wrong / count:.2%}  ({wrong:,} of {count:,} wrong)"
    return {**data.counts, "wrong": wrong, "error": wrong / count}, summary


def pinball_loss(values: Any, y: Any, quantile: float) -> float:
    """The mean loss of predictions of a quantile: `quantile` times what a target is above, or the rest times what it is
    below."""
    above = np.asarray(y) - values
    return float(np.mean(np.maximum(quantile * above, (quantile - 1) * above)))


def _judge_values(values: Any, data: Data, machine: Any) -> Summary:
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
