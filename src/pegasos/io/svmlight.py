"""The svmlight / LIBSVM text format. Its grammar is stated in ``cpp/svmlight.hpp``."""

import operator
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pegasos._core import native
from pegasos.io._atomic import open_atomic

__all__ = ["read_svmlight", "write_svmlight"]

_PARSERS = {
    np.dtype(np.float32): native.parse_svmlight_float32,
    np.dtype(np.float64): native.parse_svmlight_float64,
}
_LARGEST_N_FEATURES = 2**31 - 1
_ENTRIES_PER_BLOCK = 1 << 20


def read_svmlight(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    dtype: DTypeLike = np.float64,
) -> tuple[sp.csr_matrix, NDArray[np.float64]]:
    """Read a file in svmlight / LIBSVM format.

    Parameters
    ----------
    source : path or binary file object
        What to read, to its end.
    n_features : int, optional
        Number of columns of `X`; an index beyond it is an error. By default the largest index decides.
    zero_based : bool, default=False
        Whether the first feature has index 0. By default it has index 1, as in most files.
    dtype : {np.float64, np.float32}, default=np.float64
        Type of the values of `X`.

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (n_rows, n_features)
        The examples, in canonical format. A zero in the file is a stored zero.
    y : ndarray of shape (n_rows,)
        The labels, always float64.

    Raises
    ------
    ValueError
        If the text is not in the format, or has no rows. The message names file, line and column, counting from 1
        (columns in bytes).

    Notes
    -----
    Query ids (``qid:N`` after the label) are skipped. Comments begin with ``#``. Within a line indices must increase.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import read_svmlight
    >>> X, y = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1  # a comment\\n"))
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    wanted = np.dtype(dtype)
    if wanted not in _PARSERS:
        raise ValueError(f"dtype={wanted}: values are read as float32 or float64; pass np.float32 or np.float64")
    if n_features is not None:
        n_features = operator.index(n_features)
        if not 1 <= n_features <= _LARGEST_N_FEATURES:
            raise ValueError(f"n_features={n_features}: pass a number from 1 to {_LARGEST_N_FEATURES}, or None")
    name, text = _read_bytes(source)
    try:
        labels, values, columns, starts, width = _PARSERS[wanted](
            text, bool(zero_based), -1 if n_features is None else n_features
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if not labels.size:
        raise ValueError(f"{name}: no rows; expected lines such as '+1 3:0.5 7:1'")
    X = sp.csr_matrix((values, columns, starts), shape=(labels.size, width))
    X.has_canonical_format = True  # the parser insists on it: spare SciPy the search
    return X, labels


def write_svmlight(
    X: Any,
    y: ArrayLike,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    zero_based: bool = False,
) -> None:
    """Write a file in svmlight / LIBSVM format.

    Numbers are written in the shortest form that reads back as the same number of their type. Zeros of a dense `X` are
    left out, stored zeros of a sparse one are written. A path gets its file only when all of it is written.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        The examples. float32 and float64 are written as they are, other real types as float64.
    y : array-like of shape (n_rows,)
        The labels: real numbers.
    target : path or binary file object
        Where to write.
    zero_based : bool, default=False
        Whether the first feature gets index 0 instead of 1.

    Raises
    ------
    ValueError
        If shapes do not match, or a number is not real and finite.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import write_svmlight
    >>> file = io.BytesIO()
    >>> write_svmlight([[0.5, 0, 2], [0, 1, 0]], [1, -1], file)
    >>> file.getvalue()
    b'1 1:0.5 3:2\\n-1 2:1\\n'
    """
    matrix: Any = X.tocsr() if sp.issparse(X) else _real(X, "X")
    if sp.issparse(matrix):
        matrix.check_format(full_check=True)  # the core would read what a broken one points to
    labels = np.ascontiguousarray(_real(y, "y"), dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"X has {matrix.ndim} dimension(s); pass a matrix with one example per row")
    if labels.shape != (matrix.shape[0],):
        raise ValueError(f"y has shape {labels.shape}, but X has {matrix.shape[0]} rows; pass one label per row")
    bad = np.flatnonzero(~np.isfinite(labels))
    if bad.size:
        raise ValueError(f"y[{bad[0]}] is {labels[bad[0]]}; labels must be finite")
    blocks = _blocks(matrix, labels, bool(zero_based))
    if isinstance(target, str | os.PathLike):
        with open_atomic(target) as file:
            file.writelines(blocks)
    else:
        target.writelines(blocks)


def _read_bytes(source: str | os.PathLike[str] | BinaryIO) -> tuple[str, bytes]:
    """The name to use in messages, and the content."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            return os.fspath(source), file.read()
    name = str(getattr(source, "name", "<stream>"))
    text = source.read()
    if not isinstance(text, bytes):
        raise TypeError(f"{name}: read() gave {type(text).__name__}, not bytes; open the file in binary mode")
    return name, text


def _real(array: Any, name: str) -> NDArray[Any]:
    result: NDArray[Any] = np.asarray(array)
    if result.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {result.dtype}; svmlight text holds real numbers: convert it first")
    return result


def _floats(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def _blocks(matrix: Any, labels: NDArray[np.float64], zero_based: bool) -> Iterator[bytes]:
    """The text, in parts of some megabytes: neither it nor the CSR form of a dense matrix is ever whole in memory."""
    n_rows = matrix.shape[0]
    sparse = sp.issparse(matrix)
    entries = matrix.nnz if sparse else matrix.size
    step = max(1, _ENTRIES_PER_BLOCK * n_rows // max(1, entries))
    for start in range(0, n_rows, step):
        part = matrix[start : start + step]
        block = sp.csr_matrix(part if sparse else _floats(part))
        if not block.has_canonical_format:
            block = block.copy()  # it may share its arrays with the caller's matrix
            block.sum_duplicates()
        values = _floats(_real(block.data, "X"))
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            row = start + np.searchsorted(block.indptr, bad[0], side="right") - 1
            raise ValueError(
                f"X[{row}, {block.indices[bad[0]]}] is {values[bad[0]]}; values must be finite: remove or impute it"
            )
        yield native.format_svmlight(labels[start : start + step], values, block.indices, block.indptr, zero_based)
