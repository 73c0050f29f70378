"""Writing data sets, row after row; `pegasos.io.dataset` states the format."""

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pegasos.io.atomic import named, put_in_place, sync, temporary
from pegasos.io.csr import canonical, check_sparse
from pegasos.io.dataset import (
    FORMAT,
    HEADER,
    TYPES,
    VERSION,
    Dataset,
    bytes_view,
    checksum,
    header_checksum,
    is_dataset,
    open_dataset,
)
from pegasos.io.floats import FLOATS, float_types

#: Different labels up to which the header has them.
MOST_LABELS = 10_000


class DatasetWriter:
    """Write a data set in pieces. It gets its name when the ``with`` block ends without an exception.

    Parameters
    ----------
    path : path
        The folder to create.
    n_features : int, optional
        The number of features; by default that of the widest piece. Narrower pieces are padded.
    whole_labels : bool, default=False
        Whether labels become integers if all of them are whole numbers, as on the command line.
    feature_names : sequence of str, optional
        The names of the features; by default the column names of the first piece, if it is a data frame.
    dtype : {np.float64, np.float32}, optional
        The type of the values. By default that of the first piece: float32 stays float32, and every other type becomes
        float64. Later pieces must then have the same one.
    overwrite : bool, default=False
        Whether to replace an existing data set. Anything else is never replaced.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from pegasos.io import DatasetWriter, open_dataset
    >>> path = os.path.join(tempfile.mkdtemp(), "train.ds")
    >>> with DatasetWriter(path) as writer:
    ...     for seed in range(3):
    ...         random = np.random.default_rng(seed)
    ...         writer.append(random.normal(size=(10, 4)), random.integers(2, size=10))
    >>> open_dataset(path).shape
    (30, 4)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        n_features: int | None = None,
        whole_labels: bool = False,
        feature_names: Sequence[str] | None = None,
        dtype: DTypeLike | None = None,
        overwrite: bool = False,
    ) -> None:
        self._dtype = None if dtype is None else np.dtype(dtype)
        if self._dtype not in (None, *FLOATS):
            raise ValueError(f"dtype={self._dtype}: values are stored as float32 or float64; pass one of these")
        self._given = os.fspath(path)
        self._path = os.path.realpath(path)  # a link stays a link
        if os.path.lexists(self._path):
            if not is_dataset(self._path):
                raise ValueError(f"{os.fspath(path)} is there, and is no data set; choose another name or remove it")
            foreign = sorted({*os.listdir(self._path)} - {HEADER, *TYPES})
            if foreign:
                raise ValueError(
                    f"{os.fspath(path)} is a data set with other files in its folder, such as {foreign[0]}; move them, "
                    "or choose another name"
                )
            if not overwrite:
                raise FileExistsError(
                    f"{os.fspath(path)} exists and is a data set; choose another name, or pass overwrite=True to "
                    "replace it"
                )
        if not os.path.isdir(os.path.dirname(self._path)):
            raise FileNotFoundError(
                f"{os.path.dirname(self._path)} is no folder to write {os.fspath(path)} in; make it"
            )
        self._given_features = n_features
        self._whole_labels = whole_labels
        self._names = None if feature_names is None else list(feature_names)
        self._folder = ""  # while it is written
        self._stack = ExitStack()
        self._files: dict[str, BinaryIO] = {}
        self._arrays: dict[str, dict[str, Any]] = {}
        self._rows = self._features = self._entries = 0
        self._storage = ""
        self._row_kind = ""
        self._kind = ""  # of the labels
        self._codes: dict[str, int] = {}  # of labels that are words
        self._labels: dict[Any, list[float]] | None = {}  # count and weight of each
        self._total_weight = 0.0

    def __enter__(self) -> Self:
        self._stack.enter_context(named(self._given))
        self._folder = self._stack.enter_context(temporary(self._path, os.mkdir))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._stack:
            try:
                for file in self._files.values():
                    file.close()
                if kind is None:
                    self._finish()
            finally:
                self._folder = ""

    def append(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        """Write examples, dense or sparse, with their labels or targets."""
        if not self._folder:
            raise ValueError(
                "a DatasetWriter is written to in a with statement: with DatasetWriter(path) as writer: ..."
            )
        self._check_names(X)
        sparse = sp.issparse(X)
        check_sparse(X)
        X = canonical(sp.csr_matrix(X)) if sparse else np.ascontiguousarray(X)
        dtype = self._dtype or (X.dtype if X.dtype in FLOATS else float_types(X)[0])
        with np.errstate(over="ignore"):  # what becomes infinite is refused below
            X = X.astype(dtype, copy=False)
        labels = np.asarray(y)
        if X.ndim != 2 or labels.shape != (X.shape[0],) or X.shape[1] == 0:
            raise ValueError(f"X has shape {X.shape} and y {labels.shape}; give rows, and one label for each")
        self._check_alike("csr" if sparse else "dense", X.dtype, sample_weight is not None)
        self._take_width(X.shape[1], sparse)
        values = X.data if sparse else X.ravel()
        if not np.isfinite(values).all():
            row = self._rows + self._first_not_finite(X)
            raise ValueError(f"row {row} has a value that is not finite; impute it or drop the row")
        weights = self._check_weights(sample_weight, len(labels))
        self._write("values", values)
        if sparse:
            self._write("columns", X.indices.astype(np.int32, copy=False))
            first = [0] if not self._rows else []
            self._write("starts", np.append(first, X.indptr[1:].astype(np.int64) + self._entries).astype(np.int64))
            self._entries += len(values)
        stored = self._encode(labels)
        self._write("labels", stored)
        if sample_weight is not None:
            self._write("weights", weights)
        self._count(stored, weights)
        self._rows += len(labels)

    def _check_names(self, X: Any) -> None:
        """Take the names of a data frame's columns down, or raise a ValueError where they are others."""
        names = [*map(str, X.columns)] if hasattr(X, "columns") else None
        if names is None or not all(isinstance(name, str) for name in X.columns):
            return
        if not self._rows and self._names is None:
            self._names = names
        if names != self._names:
            raise ValueError(f"the columns are {names} after {self._names}; give the same ones in each piece")

    def _check_alike(self, storage: str, dtype: np.dtype[Any], weighted: bool) -> None:
        kind = f"{storage} rows of {dtype}{' with weights' if weighted else ''}"
        if self._row_kind not in ("", kind):
            raise ValueError(f"pieces differ: {kind} after {self._row_kind}; give all in one kind")
        self._storage, self._row_kind = storage, kind

    def _take_width(self, width: int, sparse: bool) -> None:
        if self._given_features is not None and width > self._given_features:
            raise ValueError(f"X has {width} features, more than n_features={self._given_features}; raise it")
        if width >= 2**31:
            raise ValueError(f"X has {width} features; a data set has fewer than {2**31}; hash them to fewer")
        if not sparse and self._rows and width != self._features:
            raise ValueError(f"X has {width} features after {self._features}; give the same ones in each piece")
        self._features = max(self._features, width)

    def _first_not_finite(self, X: Any) -> int:
        if sp.issparse(X):
            at = int(np.flatnonzero(~np.isfinite(X.data))[0])
            return int(np.searchsorted(X.indptr, at, side="right")) - 1
        return int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])

    def _check_weights(self, given: ArrayLike | None, count: int) -> NDArray[np.float64]:
        if given is None:
            return np.ones(count)
        weights = np.asarray(given, dtype=np.float64)
        if weights.shape != (count,) or not ((weights >= 0) & (weights < np.inf)).all():
            raise ValueError("sample_weight must have one finite number for each row, and none negative")
        return weights

    def _encode(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels as they are stored: numbers, or for words the numbers of classes."""
        kind = "numbers" if labels.dtype.kind in "biuf" else "words"
        if self._kind not in ("", kind):
            raise ValueError(f"labels are {kind} after {self._kind}; give all in one kind")
        self._kind = kind
        if kind == "words":
            if not all(isinstance(label, str) for label in labels.tolist()):
                raise ValueError("labels must be numbers or words; found others")
            return np.array([self._codes.setdefault(label, len(self._codes)) for label in labels.tolist()], np.int32)
        if labels.dtype.kind == "u" and labels.size and int(labels.max()) >= 2**63:
            raise ValueError(f"y has the label {labels.max()}, and the largest is 2^63 - 1; use words")
        if labels.dtype.kind == "f":
            if not np.isfinite(labels).all():
                raise ValueError("y has labels that are not finite; drop these rows")
            if "labels" in self._arrays and self._arrays["labels"]["dtype"] == "<i8":
                raise ValueError("labels are fractions after whole numbers; convert y to float64 in each piece")
            return labels.astype(np.float64)
        if "labels" in self._arrays and self._arrays["labels"]["dtype"] == "<f8":
            return labels.astype(np.float64)
        return labels.astype(np.int64)

    def _count(self, stored: NDArray[Any], weights: NDArray[np.float64]) -> None:
        self._total_weight += float(weights.sum())
        if self._labels is None:
            return
        values, places = np.unique(stored, return_inverse=True)
        sums = np.bincount(places, weights)
        for value, count, weight in zip(values.tolist(), np.bincount(places).tolist(), sums.tolist(), strict=True):
            entry = self._labels.setdefault(value, [0, 0.0])
            entry[0] += count
            entry[1] += weight
        if len(self._labels) > MOST_LABELS:
            self._labels = None

    def _write(self, name: str, array: NDArray[Any]) -> None:
        entry = self._arrays.setdefault(name, {"dtype": array.dtype.newbyteorder("<").str, "length": 0, "crc32": 0})
        if name not in self._files:
            self._files[name] = open(os.path.join(self._folder, name), "xb")  # noqa: SIM115, closed in __exit__
        array = np.ascontiguousarray(array, dtype=entry["dtype"])
        with named(self._given):
            self._files[name].write(bytes_view(array))
        entry["length"] += len(array)
        entry["crc32"] = checksum(array, entry["crc32"])

    def _make_labels_whole(self) -> None:
        entry = self._arrays["labels"]
        if entry["dtype"] != "<f8" or self._labels is None:
            return
        if not all(label == round(label) and abs(label) < 2**53 for label in self._labels):
            return
        path = os.path.join(self._folder, "labels")
        whole = np.fromfile(path, np.float64).astype(np.int64)
        whole.tofile(path)
        entry |= {"dtype": "<i8", "crc32": checksum(whole)}
        self._labels = {int(label): counts for label, counts in self._labels.items()}

    def _finish(self) -> None:
        if not self._rows:
            raise ValueError("a data set needs at least one row; append some")
        if not 0 < self._total_weight < np.inf:
            raise ValueError(f"the weights of the examples sum to {self._total_weight}; the sum must be positive")
        features = self._features if self._given_features is None else self._given_features
        if self._storage == "dense" and features != self._features:
            raise ValueError(f"X has {self._features} features and n_features={features}; leave n_features out")
        if self._names is not None and len(self._names) != features:
            raise ValueError(f"there are {len(self._names)} feature_names, and X has {features} features")
        if self._whole_labels:
            self._make_labels_whole()
        labels = None
        if self._labels is not None:
            values = sorted(self._labels)
            table = [self._labels[value] for value in values]
            labels = {"values": values, "counts": [row[0] for row in table], "weights": [row[1] for row in table]}
        header = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self._rows,
            "features": max(features, 1),
            "storage": self._storage,
            "total_weight": self._total_weight,
            "classes": list(self._codes) if self._kind == "words" else None,
            "labels": labels,
            "arrays": self._arrays,
        }
        if self._names is not None:
            header["feature_names"] = self._names
        header["crc32"] = header_checksum(header)
        with open(os.path.join(self._folder, HEADER), "x") as file:
            json.dump(header, file, indent=1)
        open_dataset(self._folder)  # what cannot be opened must not replace what can
        sync(*(os.path.join(self._folder, name) for name in (*self._arrays, HEADER)), self._folder)
        put_in_place(self._folder, self._path)
        sync(os.path.dirname(self._path))


def write_dataset(
    path: str | os.PathLike[str],
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    overwrite: bool = False,
) -> Dataset:
    """Write examples as a data set: a folder that `open_dataset` and ``pegasos train`` read.

    Parameters
    ----------
    path : path
        The folder to create.
    X : array or sparse matrix of shape (n_samples, n_features)
        The examples. float32 stays float32, and every other type becomes float64. The columns of a data frame keep
        their names.
    y : array of shape (n_samples,)
        Labels (numbers or words) or targets.
    sample_weight : array of shape (n_samples,), optional
        Weights of the examples.
    overwrite : bool, default=False
        Whether to replace an existing data set. Anything else is never replaced.

    Returns
    -------
    Dataset
        The new data set, opened.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path is a {type(path).__name__}; the path comes first: write_dataset(path, X, y)")
    with DatasetWriter(path, overwrite=overwrite) as writer:
        writer.append(X, y, sample_weight)
    return open_dataset(path)
