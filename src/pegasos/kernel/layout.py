"""How the examples of a kernel machine are laid out for the core: which columns are centred.

Distances do not change when the same is taken off each example, and with a free intercept neither does the problem of a
linear kernel. What is left is shorter, and rounding is less. Of sparse data the columns that are mostly not zero are
centred, and written down whole for that.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos.base.memory import refuse_beyond

Floats = NDArray[np.float64]

#: What to do about examples that do not fit.
LESS = "pass fewer examples, or use LinearSVC or LinearSVR on features of sklearn.kernel_approximation"
#: Entries of X that are converted at a time.
ENTRIES = 2**24


@dataclass(frozen=True)
class Layout:
    """What is taken off each column; of sparse data, off those that are written down whole and come last."""

    shift: Floats | None = None
    filled: NDArray[np.bool_] | None = None  # None: all columns, where there is a shift

    @property
    def arranged_shift(self) -> Floats | None:
        """The shift of the columns as `arrange` puts them."""
        if self.shift is None or self.filled is None:
            return self.shift
        return np.concatenate([self.shift[~self.filled], self.shift[self.filled]])

    def arrange(self, X: Any) -> Any:
        """The examples with every entry that the shift changes, in the precision they have."""
        if self.shift is None:
            return X
        if self.filled is None:
            if not sp.issparse(X):
                return X
            refuse_beyond(X.shape[0] * X.shape[1] * X.dtype.itemsize, "X, whose columns are filled, as an array", LESS)
            return X.toarray()
        X = sp.csr_array(X)
        dense = X[:, self.filled].toarray()
        n, count = dense.shape
        columns, starts = np.tile(np.arange(count), n), np.arange(n + 1) * count
        whole = sp.csr_array((dense.ravel(), columns, starts), shape=dense.shape)
        out = sp.hstack([X[:, ~self.filled], whole], format="csr")
        out.sort_indices()
        return out

    def convert(self, arranged: Any, precision: Any) -> Any:
        """What `arrange` returned, in this precision, without the shift; in place where it is so already."""
        shift = self.arranged_shift
        if shift is None:
            with np.errstate(over="ignore"):  # what becomes of it is looked at
                return arranged.astype(precision, copy=False)
        if sp.issparse(arranged):
            values = (arranged.data - shift[arranged.indices]).astype(precision)
            return sp.csr_array((values, arranged.indices, arranged.indptr), shape=arranged.shape)
        refuse_beyond(arranged.size * np.dtype(precision).itemsize, "a copy of X with its columns centred", LESS)
        out = np.empty(arranged.shape, dtype=precision)
        for part in blocks(arranged):
            np.subtract(arranged[part], shift, out=out[part], casting="same_kind")
        return out


def centre(X: Any, largest: float, share: float) -> tuple[Layout, float]:
    """A layout in which the mean is taken off, if the examples are shorter by this share then.

    `largest` is their largest squared norm; it is returned too, as it is in that layout.
    """
    if not sp.issparse(X):
        mean = X.mean(axis=0, dtype=np.float64)
        without = max(float(squared_norms(X[part] - mean).max()) for part in blocks(X))
        return (Layout(mean), without) if without < share * largest else (Layout(), largest)
    n = X.shape[0]
    filled = np.bincount(X.indices[: X.nnz], minlength=X.shape[1]) > n / 2
    if not filled.any():
        return Layout(), largest
    mean = np.zeros(X.shape[1])
    mean[filled] = np.asarray(X[:, filled].sum(axis=0, dtype=np.float64)).ravel() / n
    without = 0.0
    for part in blocks(X):
        rows = X[part]
        dense, rest = rows[:, filled].toarray().astype(np.float64), rows[:, ~filled].astype(np.float64)
        without = max(without, float((squared_norms(dense - mean[filled]) + squared_norms(rest)).max()))
    layout = Layout(mean, None if filled.all() else filled)
    return (layout, without) if without < share * largest else (Layout(), largest)


def blocks(X: Any) -> list[slice]:
    """The rows in blocks, so that a copy of each takes little memory."""
    n = X.shape[0]
    entries = X.nnz if sp.issparse(X) else X.size
    size = max(256, int(ENTRIES * n / max(entries, 1)))
    return [slice(k, min(k + size, n)) for k in range(0, n, size)]


def squared_norms(X: Any) -> Floats:
    """Of the rows."""
    if sp.issparse(X):
        squares = X.astype(np.float64)
        squares.data **= 2
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
