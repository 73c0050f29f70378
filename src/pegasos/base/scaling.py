"""Columns of very different size: how large they are, a copy of the data without the differences, which to name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos.base.memory import refuse_beyond
from pegasos.base.warn import warn

#: Entries looked at at a time, so that no second copy of the data is made on the way.
BLOCK = 1 << 20

#: Sizes are kept within bounds whose squares have finite sums.
SMALLEST, LARGEST = 1e-140, 1e140

#: Columns whose sizes differ by more than this are worth a word when a fit fell short.
SPREAD = 1e4

#: Entries that are looked at for it, about.
LOOKED_AT = 1 << 20

#: The same of a fit that reached its tolerance, which this look must not make longer.
LOOKED_AT_SHORTLY = 1 << 14

#: A column whose mean is so many times its deviation hardly differs from a constant once it is divided by its size.
FAR = 30.0

#: A column's size, and its square times C, from which on coordinate ascent takes very many epochs.
LARGE, HARD = 10.0, 1e4

#: Columns named in a warning.
NAMED = 5

#: What columns are called where data have no names of their own.
_CALLED: ContextVar[Sequence[str] | None] = ContextVar("_CALLED", default=None)


class UnscaledColumns(UserWarning):
    """Columns that make a fit long or vain; it tells so before it begins."""


@contextmanager
def columns_called(names: Sequence[str] | None) -> Iterator[None]:
    """Let messages on data without names have these."""
    token = _CALLED.set(names)
    try:
        yield
    finally:
        _CALLED.reset(token)


def column_sizes(X: Any, s: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """The root mean square of the entries of each column that are not zero; 0 where there are none.

    X is a CSR matrix or an array; s are weights of its rows.

    Examples
    --------
    >>> column_sizes(np.array([[3.0, 0.0, 1.0], [0.0, 0.0, 1.0], [-3.0, 0.0, 1.0]]))
    array([3., 0., 1.])
    """
    n_rows, n_columns = X.shape
    s = np.ones(n_rows) if s is None else s / s.max()
    squares, counts = np.zeros(n_columns), np.zeros(n_columns)
    step = max(int(BLOCK / max((X.nnz if sp.issparse(X) else X.size) / max(n_rows, 1), 1)), 1)
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        if sp.issparse(X):
            starts = X.indptr[first : rows.stop + 1]
            entries = slice(starts[0], starts[-1])
            square, weights = _squares(X.data[entries]), np.repeat(s[rows], np.diff(starts))
            squares += np.bincount(X.indices[entries], weights * square, n_columns)
            counts += np.bincount(X.indices[entries], weights * (square > 0), n_columns)
        else:
            square = _squares(X[rows])
            squares += s[rows] @ square
            counts += s[rows] @ (square > 0)
    return np.sqrt(np.divide(squares, counts, out=np.zeros(n_columns), where=counts > 0))


def _squares(values: NDArray[Any]) -> NDArray[np.float64]:
    sizes = np.abs(values, dtype=np.float64)
    return np.where(sizes > 0, np.clip(sizes, SMALLEST, LARGEST), 0.0) ** 2


def scale_columns(X: Any, s: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
    """A copy of X in double precision, each column divided by its size, and the sizes. A column of zeros stays.

    The size is the root mean square of the entries that are not zero. It makes columns alike that differ in their unit
    of measurement, leaves columns of zeros and ones alone however rare the ones are, and is the same for sparse and
    dense data. Nothing is centred: that would make sparse data dense. Rows count with their weights s, so that weight 2
    is the row twice. X is a CSR matrix without duplicates, or an array; a copy of a CSR matrix shares its structure.
    Values rounded to single precision would state another problem than X does, and its certificate would be false.
    """
    entries = X.nnz if sp.issparse(X) else X.size
    refuse_beyond(8 * entries, "scale=True copies X in double precision, which", "scale X in place, without it")
    sizes = column_sizes(X, s)
    sizes[sizes == 0] = 1.0
    return divide_columns(X, sizes), sizes


def divide_columns(X: Any, sizes: NDArray[np.float64]) -> Any:
    """A copy of X in double precision, each column divided by its size."""
    if not sp.issparse(X):
        return X / sizes
    columns = X.indices[: X.nnz]  # there may be room for more
    values = sizes[columns]
    np.divide(X.data[: X.nnz], values, out=values)
    return type(X)((values, columns, X.indptr), shape=X.shape)


def describe_offsets(X: Any, names: Any, how: str = "", far: float = FAR, looked_at: int | None = None) -> str:
    """A sentence on columns whose mean is more than `far` times their deviation, which says `how` to centre them; ""
    where there are none.

    Examples
    --------
    >>> describe_offsets(np.array([[1000.0, 1.0], [1001.0, 2.0], [1002.0, 3.0]]), None)
    'Column 0 is around 1e+03 and differs by about 0.82: centre it (sklearn.preprocessing.StandardScaler).'
    """
    rows = some_rows(X, looked_at).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if sp.issparse(rows):
            means, deviations = _moments_of_full_columns(rows)
        else:
            rows, first = rows - rows[0], rows[0]  # so that what is constant has no deviation by rounding
            means, deviations = first + rows.mean(axis=0), rows.std(axis=0)
    found = np.flatnonzero((np.abs(means) > far * deviations) & (deviations > 0))
    if len(found) == 0:
        return ""
    first, names = found[0], _CALLED.get() if names is None else names
    name = f"Column {first if names is None else repr(str(names[first]))}"
    others = f" and {len(found) - 1} more are" if len(found) > 1 else " is"
    return (
        f"{name}{others} around {means[first]:.2g} and {'differ' if len(found) > 1 else 'differs'} by about "
        f"{deviations[first]:.2g}: centre {'them' if len(found) > 1 else 'it'} (sklearn.preprocessing.StandardScaler)"
        f"{how}."
    )


def some_rows(X: Any, entries: int | None = None) -> Any:
    """Rows with about so many entries, from all over X."""
    return X[:: some_step(X, entries)]


def some_step(X: Any, entries: int | None = None) -> int:
    """How far apart rows with about so many entries are in X."""
    return max(1, (X.nnz if sp.issparse(X) else X.size) // (entries or LOOKED_AT))


def mostly_zeros(X: Any) -> bool:
    return sp.issparse(X) and X.nnz < X.shape[0] * X.shape[1] / 2


def _moments_of_full_columns(rows: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and deviations of columns without zeros; zeros for the others, as zero and a number far off do differ."""
    n, d = rows.shape
    counts, sums = (np.bincount(rows.indices, weights, minlength=d) for weights in (None, rows.data))
    means = np.where(counts == n, sums / max(n, 1), 0.0)
    squares = np.bincount(rows.indices, (rows.data - means[rows.indices]) ** 2, minlength=d)
    return means, np.where(counts == n, np.sqrt(squares / max(n, 1)), 0.0)


def warn_of_offsets(X: Any, names: NDArray[Any] | None) -> None:
    """Warn where dividing columns by their sizes leaves hardly a difference in them."""
    if text := describe_offsets(X, names):
        warn(f"scale=True divides columns and does not centre them. {text}")


def describe_sizes(X: Any, names: Any, remedy: str = "pass scale=True", C: float = 0.0) -> str:
    """A sentence on the columns whose size is farthest from the usual, where sizes differ much, or which are large for
    this C; "" where there are none."""
    sizes = column_sizes(some_rows(X))  # of some, where there are many
    used, names = np.flatnonzero(sizes), _CALLED.get() if names is None else names

    def name(extent: NDArray[np.float64]) -> str:
        first = np.sort(used[np.argsort(-extent, kind="stable")[:NAMED]])
        return ", ".join(f"{j if names is None else repr(str(names[j]))} ({sizes[j]:.2g})" for j in first)

    if len(used) and sizes[used].max() > SPREAD * sizes[used].min():
        logs, spread = np.log10(sizes[used]), sizes[used].max() / sizes[used].min()
        farthest = name(np.abs(logs - np.median(logs)))
        return f"Columns differ in size by a factor of {spread:.0e}, the farthest out are {farthest}: {remedy}."
    if len(used) and sizes[used].max() > LARGE and C * sizes[used].max() ** 2 > HARD:
        return f"Columns are large for C={C:.3g}, the largest are {name(sizes[used])}: {remedy}."
    return ""
