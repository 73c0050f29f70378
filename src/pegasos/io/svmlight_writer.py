"""Writing the svmlight / LIBSVM text format. Its grammar is stated in ``cpp/text/svmlight_parser.hpp``."""

import os
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from pegasos._core import native
from pegasos.io.atomic import open_atomic
from pegasos.io.compression import compressing
from pegasos.io.csr import canonical, check_sparse
from pegasos.io.floats import float_types

_ENTRIES_PER_BLOCK = 1 << 20


def write_svmlight(
    X: Any,
    y: Any,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    zero_based: bool = False,
    query_id: ArrayLike | None = None,
    multilabel: bool = False,
) -> None:
    """Write a file in svmlight / LIBSVM format.

    Numbers are written in the shortest form that reads back as the same number of their type. Zeros of a dense `X` are
    left out; stored zeros of a sparse `X` are written. A file named by a path appears only once it is complete.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The examples. float32 and float64 are written as they are, other real types as float64.
    y : array-like of shape (n_rows,)
        The labels: real numbers. With `multilabel`, a sequence of labels for each row.
    target : path or binary file object
        Where to write. If a path ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``, the file is compressed; ``.zst`` needs
        the package zstandard, or Python 3.14.
    zero_based : bool, default=False
        Whether the first feature gets index 0 instead of 1.
    query_id : array-like of int of shape (n_rows,), optional
        Query ids, to write as ``qid:N`` after the labels.
    multilabel : bool, default=False
        Whether rows have any number of labels.

    Raises
    ------
    ValueError
        If shapes do not match, a number is not real and finite, or a row has nothing to write.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import write_svmlight
    >>> file = io.BytesIO()
    >>> write_svmlight([[0.5, 0, 2], [0, 1, 0]], [1, -1], file)
    >>> file.getvalue()
    b'1 1:0.5 3:2\\n-1 2:1\\n'
    """
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X is the path {os.fspath(X)!r}; the file comes last: write_svmlight(X, y, target)")
    check_sparse(X)
    matrix: Any = X.tocsr() if sp.issparse(X) else _real(X, "X")
    if matrix.ndim != 2:
        raise ValueError(f"X has {matrix.ndim} dimension(s); pass a matrix with one example per row")
    rows = _Rows(matrix, *_labels(y, matrix.shape[0], multilabel), _query_ids(query_id, matrix.shape[0]), zero_based)
    if isinstance(target, str | os.PathLike):
        with open_atomic(target) as file, compressing(file, target) as writer:
            for block in rows.blocks():
                writer.write(block)
    else:
        target.writelines(rows.blocks())


class _Rows(NamedTuple):
    """What is to be written."""

    matrix: Any
    labels: NDArray[np.float64]
    label_starts: NDArray[np.int64] | None  # where rows have several
    query_id: NDArray[np.int64] | None
    zero_based: bool

    def blocks(self) -> Iterator[bytes]:
        """The text, in parts of some megabytes: neither it nor a dense matrix as CSR is ever whole in memory."""
        n_rows = self.matrix.shape[0]
        sparse = sp.issparse(self.matrix)
        entries = self.matrix.nnz if sparse else self.matrix.size
        step = max(1, _ENTRIES_PER_BLOCK * n_rows // max(1, entries))
        for start in range(0, n_rows, step):
            part = self.matrix[start : start + step]
            block = canonical(sp.csr_matrix(part if sparse else _floats(part)))
            values = _floats(_real(block.data, "X"))
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                row = start + np.searchsorted(block.indptr, bad[0], side="right") - 1
                column, value = block.indices[bad[0]], values[bad[0]]
                raise ValueError(f"X[{row}, {column}] is {value}; values must be finite: remove or impute it")
            yield self._text(start, start + block.shape[0], block, values)

    def _text(self, start: int, stop: int, block: Any, values: NDArray[Any]) -> bytes:
        none = np.empty(0, np.int64)
        qids = none if self.query_id is None else self.query_id[start:stop]
        if self.label_starts is None:
            labels, label_starts = self.labels[start:stop], none
        else:
            bounds = self.label_starts[start : stop + 1]
            labels, label_starts = self.labels[bounds[0] : bounds[-1]], bounds - bounds[0]
            empty = np.flatnonzero((np.diff(label_starts) == 0) & (np.diff(block.indptr) == 0))
            if empty.size and self.query_id is None:
                row = start + empty[0]
                raise ValueError(f"row {row} has neither labels nor entries, which makes no line; leave it out")
        return native.format_svmlight(labels, label_starts, qids, values, block.indices, block.indptr, self.zero_based)


def _labels(y: Any, n_rows: int, multilabel: bool) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """The labels, and with several of a row where those of each begin."""
    starts = None
    if multilabel:
        try:
            counts = [len(row) for row in y]
        except TypeError:
            raise ValueError("y has single labels; pass a sequence of labels for each row") from None
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        y = [label for row in y for label in row] or np.empty(0)
    labels = np.ascontiguousarray(_real(y, "y"), dtype=np.float64)
    shape = labels.shape if starts is None else (len(starts) - 1,)
    if shape != (n_rows,) or labels.ndim != 1:
        raise ValueError(f"y has shape {shape}, but X has {n_rows} rows; pass one label per row")
    bad = np.flatnonzero(~np.isfinite(labels))
    if bad.size:
        row = bad[0] if starts is None else np.searchsorted(starts, bad[0], side="right") - 1
        raise ValueError(f"y[{row}] is {labels[bad[0]]}; labels must be finite")
    return labels, starts


def _query_ids(query_id: ArrayLike | None, n_rows: int) -> NDArray[np.int64] | None:
    if query_id is None:
        return None
    qids = np.asarray(query_id)
    if qids.dtype.kind not in "iu" or qids.shape != (n_rows,):
        raise ValueError(f"query_id has dtype {qids.dtype} and shape {qids.shape}; pass {n_rows} integers, one per row")
    return np.ascontiguousarray(qids, dtype=np.int64)


def _real(array: Any, name: str) -> NDArray[Any]:
    try:
        result: NDArray[Any] = np.asarray(array)
    except ValueError:
        remedy = "multilabel=True if rows have several labels" if name == "y" else "rows of the same length"
        raise ValueError(f"{name} has rows of different lengths; pass {remedy}") from None
    if result.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {result.dtype}; svmlight text holds real numbers: convert it first")
    return result


def _floats(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(float_types(array)[0], copy=False)
