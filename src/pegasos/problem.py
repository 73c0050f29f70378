"""The problem handed to a solver: examples in the core's hands, labels, weights, C and loss."""

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos._core import native

__all__ = ["Budget", "Problem", "Solution", "WarmStart", "explain_not_finite", "make_rows"]


@dataclass(frozen=True)
class Problem:
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>)``."""

    rows: native.Rows
    n_rows: int
    dimension: int  # of w: the features and the intercept
    y: NDArray[np.float64]  # +1 or -1
    s: NDArray[np.float64]
    C: float
    loss: str
    largest_norm: float  # of a row

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return float(1 / (self.C * self.s.sum()))


@dataclass(frozen=True)
class Budget:
    """When to stop. `elapsed` is what the fit has already taken; `max_time` counts from the start of the fit."""

    tol: float
    max_iter: int
    max_time: float | None
    elapsed: float = 0.0


@dataclass(frozen=True)
class WarmStart:
    """The state of a finished run, for another to continue: weights, steps behind them, dual point."""

    w: NDArray[np.float64]
    t: int
    q: NDArray[np.float64] | None


@dataclass(frozen=True)
class Solution:
    """What a solver found."""

    w: NDArray[np.float64]
    q: NDArray[np.float64]
    t: int
    primal: float
    dual: float
    epochs: float
    seconds: float
    reason: str
    records: list[list[float]]


def make_rows(X: Any, bias: float) -> tuple[native.Rows, float]:
    """Hand X to the core without a copy; check every entry; return the rows and the largest norm of one.

    X is a CSR matrix or a C-contiguous array, of float32 or float64.
    """
    if X.shape[0] >= 2**32:
        raise ValueError(f"X has {X.shape[0]} rows; the core counts at most {2**32 - 1}; fit on a part of them")
    if sp.issparse(X):
        columns, starts = X.indices, X.indptr
        if columns.dtype != starts.dtype:
            columns, starts = columns.astype(np.int64), starts.astype(np.int64)
        rows = native.csr_rows(X.data, columns, starts, X.shape[1], bias)
    else:
        rows = native.dense_rows(X, bias)
    report = native.inspect(rows)
    if report.bad_structure >= 0:
        raise ValueError(
            f"X is a broken CSR matrix: row {report.bad_structure} has column numbers or an extent out of bounds; "
            "X.check_format(full_check=True) tells more"
        )
    if report.not_finite >= 0:
        explain_not_finite(X, report.not_finite)
    return rows, float(np.sqrt(report.largest_squared_norm))


def explain_not_finite(X: Any, row: int) -> NoReturn:
    """Raise the error that says which entry of the row is not finite."""
    values = X[[row]].toarray()[0] if sp.issparse(X) else X[row]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong) == 0:
        raise ValueError(f"X has values so large in row {row} that sums of their products overflow; scale the features")
    value = "NaN" if np.isnan(values[wrong[0]]) else "infinity"
    raise ValueError(
        f"Input X contains {value}: row {row}, column {wrong[0]}. Impute such entries "
        "(sklearn.impute.SimpleImputer) or drop the rows"
    )
