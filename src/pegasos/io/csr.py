"""Sparse matrices: whether they can be trusted, and none in which a column comes twice."""

from typing import Any

import scipy.sparse as sp


def check_sparse(X: Any, name: str = "X") -> None:
    """Raise a ValueError where a sparse matrix reaches out of its bounds.

    SciPy's conversions, slices and products trust what a matrix says, and would read and write elsewhere in memory. The
    core looks for itself, so a CSR matrix that goes there as it is needs no check before.
    """
    if sp.issparse(X) and X.ndim != 2:  # scikit-learn's words
        raise ValueError(
            f"Expected 2D input, got {name} with shape {X.shape}; it needs two dimensions, a row for each example: "
            "reshape(1, -1) makes one row of it"
        )
    if sp.issparse(X) and not _is_sound(X):
        raise ValueError(
            f"{name} is a broken {X.format.upper()} matrix: it has row or column numbers, or an extent, out of bounds; "
            "build it anew"
        )


def _is_sound(X: Any) -> bool:
    if X.format in ("csr", "csc", "bsr"):
        n_lines, width = X.shape[::-1] if X.format == "csc" else X.shape
        if X.format == "bsr":
            _, height, own = X.data.shape
            n_lines, width = n_lines // height, width // own
        starts, stored = X.indptr, min(len(X.indices), len(X.data))
        rising = starts.dtype.kind in "iu" and len(starts) == n_lines + 1 and bool((starts[:-1] <= starts[1:]).all())
        return rising and starts[0] == 0 and starts[-1] <= stored and _are_below(X.indices[: starts[-1]], width)
    if X.format == "coo":
        fit = len(X.row) == len(X.col) == len(X.data)
        return fit and _are_below(X.row, X.shape[0]) and _are_below(X.col, X.shape[1])
    if X.format == "lil":
        fit = len(X.rows) == X.shape[0] and [*map(len, X.rows)] == [*map(len, X.data)]
        return fit and all(0 <= column < X.shape[1] for row in X.rows for column in row)
    return X.format != "dia" or len(X.offsets) == len(X.data)  # SciPy looks at the keys of a DOK matrix


def _are_below(numbers: Any, bound: int) -> bool:
    return numbers.dtype.kind in "iu" and (not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < bound))


def canonical(X: Any) -> Any:
    """X, or where it is a CSR matrix with columns twice or in disorder a copy without.

    The norm of a row with a column twice is not that of its entries.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()  # it may share its arrays with the caller's matrix
        X.sum_duplicates()
    return X
