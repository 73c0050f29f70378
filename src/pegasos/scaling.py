"""Columns of very different size: how large they are, a copy of the data without the differences, which to name."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["column_sizes", "describe_sizes", "divide_columns", "scale_columns"]

#: Entries looked at at a time, so that no second copy of the data is made on the way.
BLOCK = 1 << 20

#: Sizes are kept within bounds whose squares are finite and positive.
SMALLEST, LARGEST = 1e-150, 1e150

#: Columns whose sizes differ by more than this are worth a word when a fit fell short.
SPREAD = 1e4

#: Columns named in a warning.
NAMED = 5


def column_sizes(X: Any) -> NDArray[np.float64]:
    """The root mean square of the entries of each column that are not zero; 0 where there are none.

    Examples
    --------
    >>> column_sizes(np.array([[3.0, 0.0, 1.0], [0.0, 0.0, 1.0], [-3.0, 0.0, 1.0]]))
    array([3., 0., 1.])
    """
    squares, counts = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for columns, values in _blocks(X):
        sizes = np.abs(values, dtype=np.float64)
        present = sizes > 0
        square = np.where(present, np.clip(sizes, SMALLEST, LARGEST), 0.0) ** 2
        if columns is None:
            squares += square.sum(axis=0)
            counts += present.sum(axis=0)
        else:
            squares += np.bincount(columns, square, len(squares))
            counts += np.bincount(columns, present, len(counts))
    return np.sqrt(squares / np.maximum(counts, 1))


def _blocks(X: Any) -> Iterator[tuple[NDArray[Any] | None, NDArray[Any]]]:
    """Column numbers and values of a CSR matrix, or runs of rows of an array, some at a time."""
    if sp.issparse(X):
        for first in range(0, X.nnz, BLOCK):
            part = slice(first, min(first + BLOCK, X.nnz))
            yield X.indices[part], X.data[part]
    else:
        step = max(BLOCK // max(X.shape[1], 1), 1)
        for first in range(0, X.shape[0], step):
            yield None, X[first : first + step]


def scale_columns(X: Any) -> tuple[Any, NDArray[np.float64]]:
    """A copy of X, each column divided by its size, and the sizes. A column of zeros stays.

    The size is the root mean square of the entries that are not zero. It makes columns alike that differ in their unit
    of measurement, leaves columns of zeros and ones alone however rare the ones are, and is the same for sparse and
    dense data. Nothing is centred: that would make sparse data dense. X is a CSR matrix without duplicates, or an
    array; a copy of a CSR matrix shares its structure.
    """
    sizes = column_sizes(X)
    # What the data is divided by, exactly: it has the precision of the data.
    sizes = np.where(sizes >= np.finfo(X.dtype).tiny, sizes, 1.0).astype(X.dtype)
    return divide_columns(X, sizes), sizes.astype(np.float64)


def divide_columns(X: Any, divisors: NDArray[Any]) -> Any:
    """A copy of X, each column divided by a number."""
    if not sp.issparse(X):
        return X / divisors
    values = divisors[X.indices[: X.nnz]]
    np.divide(X.data[: X.nnz], values, out=values)
    return type(X)((values, X.indices[: X.nnz], X.indptr), shape=X.shape)


def describe_sizes(X: Any, names: NDArray[Any] | None) -> str:
    """A sentence on the columns whose size is farthest from the usual, where sizes differ much; "" where not."""
    sizes = column_sizes(X)
    used = np.flatnonzero(sizes)
    if len(used) == 0 or sizes[used].max() <= SPREAD * sizes[used].min():
        return ""
    logs = np.log10(sizes[used])
    farthest = used[np.argsort(-np.abs(logs - np.median(logs)), kind="stable")[:NAMED]]
    named = ", ".join(f"{j if names is None else repr(str(names[j]))} ({sizes[j]:.2g})" for j in np.sort(farthest))
    spread = sizes[used].max() / sizes[used].min()
    return f"Columns differ in size by a factor of {spread:.0e}, the farthest out are {named}: pass scale='auto'."
