"""Examples, each with a label or a target: svmlight files, tables and data sets."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from pegasos.base.wording import counted
from pegasos.cli.data import Data, DataFlags, Summary, file_of, fit_or_keep, quoted
from pegasos.cli.predictions import LabelErrors, ValueErrors, line_of, no_error
from pegasos.io import iter_svmlight, open_dataset, read_svmlight
from pegasos.io.dataset import Dataset
from pegasos.io.dataset_reader import read_examples
from pegasos.io.table import iter_labelled, read_labelled, table_columns
from pegasos.linear.estimator import LinearMachine
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import FromOne, machine_of

#: Bytes of svmlight text that predictions are made for at a time.
PART_BYTES = 1 << 24


class Svmlight:
    """Examples, one a line, with their label or target."""

    what = "example"

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
        X, y = read_svmlight(file_of(source), zero_based=self.zero_based, dtype=self.dtype)
        return self._data(source, X, y)

    def parts(self, source: str) -> Iterator[Data]:
        for part in self._iterate(source):
            yield self._data(source, *part)

    def _iterate(self, source: str) -> Iterator[Any]:
        """Examples and their labels, some at a time."""
        return iter_svmlight(file_of(source), chunk_bytes=PART_BYTES, zero_based=self.zero_based, dtype=self.dtype)

    def _data(self, source: str, X: Any, y: Any) -> Data:
        X = self.fitted_width(X, source)
        text = _shape(X.shape) + (f", {X.nnz:,} entries" if issparse(X) else "")
        return Data(source, X, None if y is None else whole(y), {"examples": X.shape[0]}, text)

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
        return self.named(fit_or_keep(machine, data.X, data.y))

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
        return "".join(f"{line_of(value)}\n" for value in values.tolist())

    def judge(self, parts: Iterable[tuple[Any, Data]], machine: Any) -> Summary:
        tally = ValueErrors(machine) if is_regressor(machine) else LabelErrors(machine)
        source, count, labelled = "", 0, True
        for predicted, data in parts:
            source, count, labelled = data.source, count + len(predicted), labelled and data.y is not None
            if labelled:
                tally.add(predicted, data.y)
        if not labelled:
            return no_error(source, {"examples": count}, self.what, count, self.unlabelled)
        return tally.summary(source, count)

    @property
    def unlabelled(self) -> str:
        """What a file has that no error is computed for."""
        return "no labels"


class Table(Svmlight):
    """Examples in named columns, one of which may be the label or target."""

    def __init__(self, machine: Any, flags: DataFlags) -> None:
        flags.refuse("svmlight files", "zero_based")
        super().__init__(machine, flags._replace(label=None))
        self.label = flags.label
        self.words = words_of(machine_of(machine))
        self.own_dtype = None if flags.dtype is None else self.dtype

    def read(self, source: str) -> Data:
        X, y = read_labelled(source, self.label, self._columns(source), self.own_dtype, self.words)
        return self._data(source, X, y)

    def _iterate(self, source: str) -> Iterator[Any]:
        return iter_labelled(source, self.label, self._columns(source), self.own_dtype, self.words)

    def _columns(self, source: str) -> list[str]:
        given = [name for name in table_columns(source) if name != self.label]
        known = self.width is None or self.names is not None  # by models of older versions they are not
        columns = self.found(source, given) if known else given
        self.others = [name for name in given if name not in columns]
        return columns

    def fitted_width(self, X: Any, source: str) -> Any:
        if self.width is not None and X.shape[1] != self.width:
            remedy = "name that of labels with --label" if self.label is None else "is it for another?"
            raise click.UsageError(
                f"{source} has {counted(X.shape[1], 'column')} of features, but the model was trained on {self.width}; "
                f"{remedy}"
            )
        return X

    def fit(self, machine: Any, data: Data) -> Any:
        if data.y is None:
            raise click.UsageError(f"{data.source} is a table; name its column of labels with --label")
        return super().fit(machine, data)

    @property
    def unlabelled(self) -> str:
        return f"{quoted(self.others)} and no --label" if self.others else super().unlabelled


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

    def _iterate(self, source: str) -> Iterator[Any]:
        dataset = open_dataset(source)
        columns = self.columns(dataset, source)
        return ((X if columns is None else X[:, columns], y) for X, y in read_examples(dataset))

    def fit(self, machine: Any, data: Data) -> Any:
        if self.by_blocks:
            return fit_or_keep(machine, data.X)
        X, y, weights = data.X.load() if isinstance(data.X, Dataset) else (data.X, data.y, data.weights)
        return self.named(fit_or_keep(machine, X, y, weights))

    def columns(self, dataset: Dataset, source: str) -> list[int] | None:
        """Which columns are the features of the model, in its order; None where all are, as they stand."""
        given = dataset.feature_names
        if given is None or (self.names is None and self.width is not None):
            return None
        columns = self.found(source, given)
        return None if columns == given else [given.index(name) for name in columns]


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
