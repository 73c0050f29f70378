"""Sparse matrices in which no column comes twice."""

from typing import Any

import scipy.sparse as sp


def canonical(X: Any) -> Any:
    """X, or where it is a CSR matrix with columns twice or in disorder a copy without.

    The norm of a row with a column twice is not that of its entries.
    """
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()  # it may share its arrays with the caller's matrix
        X.sum_duplicates()
    return X
