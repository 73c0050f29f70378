"""Scores of examples under linear weights: the core reads X in place and looks at every entry in the same pass."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos._core import native
from pegasos._threads import count_threads, usable_threads
from pegasos.base.rows import check_rows, csr_arrays, explain_not_finite
from pegasos.io.floats import FLOATS

#: Products that a thread should have to be worth its start.
PRODUCTS_FOR_THREADS = 500_000

CSR = (sp.csr_matrix, sp.csr_array)


def is_plain(X: Any, n_features: int) -> bool:
    """Whether X is what scikit-learn's validation would return as it is: floats in an array, or a CSR matrix."""
    kind = type(X)
    return (
        (kind is np.ndarray or kind in CSR)
        and X.ndim == 2
        and X.dtype in FLOATS
        and X.shape[1] == n_features > 0 < X.shape[0]
    )


def worth_threads(n_jobs: int | None, work: float, enough: float = PRODUCTS_FOR_THREADS) -> int:
    """Threads for so much work: `n_jobs`, or all processors, and no more than have enough to do."""
    if work < 2 * enough:
        return 1
    return min(count_threads(n_jobs) or usable_threads(), int(work / enough))


def score_rows(
    X: Any, coef: NDArray[np.float64], intercept: Any, n_jobs: int | None = None, numbers: bool = False
) -> Any:
    """``X @ coef.T + intercept``; or the number of the largest score, of a single one whether it is positive.

    X is an array or a CSR matrix of float32 or float64, which is used in place; a ValueError where an entry is not
    finite, a CSR matrix reaches out of its bounds, or a sum overflows.
    """
    count = len(coef)
    intercept = np.asarray(intercept, dtype=np.float64)
    if intercept.shape != (count,):
        intercept = np.broadcast_to(intercept, count).copy()
    sparse = sp.issparse(X)
    entries = len(X.data) if sparse else X.size
    threads = worth_threads(n_jobs, entries * (1 + count / 8))
    if sparse:
        found, wrong = native.csr_scores(*csr_arrays(X), X.shape[1], coef, intercept, numbers, threads)
        if found is None:
            check_rows(X)  # says what is wrong
    else:
        if not X.flags.aligned:
            X = X.copy()
        found, wrong = native.dense_scores(X, coef, intercept, numbers, threads)
    if wrong >= 0:
        explain_not_finite(X, wrong)
    return found if numbers else found.reshape(-1, count)
