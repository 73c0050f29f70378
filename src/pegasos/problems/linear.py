"""The problem handed to a solver: examples in the core's hands, labels, weights, C and loss."""

import math
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.problems.joint import JointProblem

__all__ = [
    "Budget",
    "Examples",
    "Problem",
    "Solution",
    "WarmStart",
    "bind_rows",
    "check_rows",
    "explain_not_finite",
    "joined",
    "make_rows",
]


@dataclass(frozen=True)
class Problem:
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>)``, or with targets y_i ``loss(<w, x_i>, y_i)``."""

    core: native.Problem
    n_rows: int
    dimension: int  # of w: the features and the intercept
    has_intercept: bool
    free_intercept: bool  # not penalised: the last entry of w is not in the norm
    total_weight: float
    C: float
    loss: str
    largest_norm: float  # of a row
    entries: float  # in all rows together

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return 1 / (self.C * self.total_weight)


@dataclass(frozen=True)
class Examples:
    """Examples in the core's hands: a problem but for its C, so that many of them can share the rows."""

    rows: native.Rows
    report: native.RowsReport
    y: NDArray[np.float64]  # -1 or 1; for regression the targets
    s: NDArray[np.float64]
    dimension: int  # of w
    bias: float  # 0: no intercept
    free_intercept: bool
    loss: str
    scale: NDArray[np.float64] | None = None  # what the columns were divided by
    epsilon: float = 0.0  # of the losses for regression
    shift: float = 0.0  # taken off the targets; a free intercept gives it back

    @property
    def total_weight(self) -> float:
        return float(self.s.sum())

    @property
    def largest_norm(self) -> float:
        """Of a row."""
        return math.sqrt(self.report.largest_squared_norm)

    def problem(self, C: float) -> Problem:
        """The problem at this C."""
        return Problem(
            core=native.Problem(self.rows, self.y, self.s, C, self.loss, self.free_intercept, self.epsilon),
            n_rows=len(self.y),
            dimension=self.dimension,
            has_intercept=self.bias > 0,
            free_intercept=self.free_intercept,
            total_weight=self.total_weight,
            C=C,
            loss=self.loss,
            largest_norm=self.largest_norm,
            entries=self.report.entries,
        )

    def joint_problem(self, C: float, classes: NDArray[np.intp], cost: NDArray[np.float64]) -> JointProblem:
        """The problem of all classes together at this C; `classes` has the number of each example's class."""
        return JointProblem(
            core=native.JointProblem(self.rows, classes.astype(np.uint32), self.s, C, self.loss, cost),
            n_rows=len(classes),
            dimension=self.dimension,
            n_classes=len(cost),
            entries=self.report.entries,
            C=C,
            total_weight=self.total_weight,
        )

    def joint_weights(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As `weights`, of all classes: a row for each, and their intercepts."""
        table = w.reshape(self.dimension, -1)
        coef = table[:-1] if self.scale is None else table[:-1] / self.scale[:, None]
        return np.ascontiguousarray(coef.T), table[-1] * self.bias

    def joint_start(
        self, coef: NDArray[np.float64], intercept: NDArray[np.float64], t: int, q: NDArray[np.float64] | None
    ) -> "WarmStart":
        """As `start`, of all classes; the dual point is of use for the same number of examples only."""
        table = np.empty((self.dimension, len(coef)))
        table[:-1] = coef.T if self.scale is None else coef.T * self.scale[:, None]
        table[-1] = intercept / self.bias if self.bias else 0.0
        return WarmStart(table.ravel(), t, q if q is not None and len(q) == len(self.s) * len(coef) else None)

    def weights(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights of the features as they were given, and the intercept, from the w of a solution."""
        coef = w[:-1].copy() if self.scale is None else w[:-1] / self.scale
        return coef, float(w[-1] * self.bias + self.shift)

    def start(self, coef: NDArray[np.float64], intercept: float, t: int, q: NDArray[np.float64] | None) -> "WarmStart":
        """Where a fit to these examples continues another: from its weights, whatever its scales and bias were, and
        from its dual point. Examples that have come since start at zero; a dual point of more examples is of no use.
        """
        last = (intercept - self.shift) / self.bias if self.bias else 0.0
        w = np.append(coef if self.scale is None else coef * self.scale, last)
        if q is not None:
            missing = len(self.y) - len(q)
            q = None if missing < 0 else np.append(q, np.zeros(missing))
        return WarmStart(w, t, q)


@dataclass(frozen=True)
class Budget:
    """When to stop, and with how many threads. `max_time` counts from the start of the fit, `elapsed` ago."""

    tol: float
    max_iter: int
    max_time: float | None
    elapsed: float = 0.0
    n_jobs: int | None = 1  # None: the solver may choose


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
    solver: str  # with its options, and what it chose itself
    n_iter: int | None = None  # where it is not the number of epochs begun
    above: float = 0.0  # what rounding may add to the primal value, which allows for it,
    below: float = 0.0  # and take off the dual one

    @classmethod
    def from_core(
        cls, found: native.Solution, solver: str, budget_reason: str = "max_iter", n_iter: int | None = None
    ) -> Self:
        """What the core returned; `budget_reason` tells which budget it used up."""
        return cls(
            w=found.w,
            q=found.q,
            t=found.t,
            primal=found.bounds.primal,
            dual=found.bounds.dual,
            above=found.bounds.above,
            below=found.bounds.below,
            epochs=found.epochs,
            seconds=found.seconds,
            reason=budget_reason if found.reason == "budget" else found.reason,
            records=found.history,
            solver=solver,
            n_iter=n_iter,
        )


def joined(first: Solution, second: Solution, best: bool = True) -> Solution:
    """Two runs as one: the best of the bounds, with the point that each belongs to, and both histories.

    Where the `best` weights are not wanted those of the second run are taken, and its primal values.
    """
    better_w, better_q = not best or second.primal <= first.primal, second.dual >= first.dual
    upper, lower = second if better_w else first, second if better_q else first
    records = list(first.records)
    for seconds, epoch, primal, dual in second.records:
        primal = min(primal, first.primal) if best else primal
        records.append([seconds, first.epochs + epoch, primal, max(dual, first.dual)])
    iterations = None if second.n_iter is None else second.n_iter + round(first.epochs)
    before = first.solver.split(" with ")[0]
    return replace(
        second,
        w=upper.w,
        primal=upper.primal,
        above=upper.above,
        q=lower.q,
        dual=lower.dual,
        below=lower.below,
        t=first.t + second.t,
        epochs=first.epochs + second.epochs,
        n_iter=iterations,
        records=records,
        solver=second.solver if second.solver == first.solver else f"{before}, then {second.solver}",
    )


def make_rows(X: Any, bias: float, n_jobs: int = 1, rescaled: bool = False) -> tuple[native.Rows, native.RowsReport]:
    """Hand X to the core without a copy, and check every entry.

    X is a CSR matrix or a C-contiguous array, of float32 or float64; `rescaled` where its columns were divided by
    their sizes, as the weights will be, which rounds them once more.
    """
    if X.shape[0] >= 2**32:
        raise ValueError(f"X has {X.shape[0]} rows; the core counts at most {2**32 - 1}; fit on a part of them")
    rows, report = check_rows(X, bias, n_jobs, rescaled)
    if sp.issparse(X) and not X.has_canonical_format:
        # The norm of a row with a column twice is not that of its entries.
        X = X.copy()
        X.sum_duplicates()
        rows, report = check_rows(X, bias, n_jobs, rescaled)
    return rows, report


def bind_rows(X: Any, bias: float = 0.0, rescaled: bool = False) -> native.Rows:
    """X as the core sees it, unchecked but for the length of its row starts."""
    if not sp.issparse(X):
        return native.dense_rows(X, bias, rescaled)
    starts = np.ascontiguousarray(X.indptr)
    index = np.int32 if starts.dtype == X.indices.dtype == np.int32 else np.int64
    columns: Any = np.ascontiguousarray(X.indices, dtype=index)
    if len(starts) != X.shape[0] + 1:
        raise ValueError(f"X is a broken CSR matrix: {len(starts)} row starts for {X.shape[0]} rows; build it anew")
    values = np.ascontiguousarray(X.data)
    return native.csr_rows(values, columns, starts.astype(index, copy=False), X.shape[1], bias, rescaled)


def check_rows(
    X: Any, bias: float = 0.0, n_jobs: int = 1, rescaled: bool = False
) -> tuple[native.Rows, native.RowsReport]:
    """X as the core sees it; a ValueError where an entry is not finite or a CSR matrix reaches out of its bounds."""
    rows = bind_rows(X, bias, rescaled)
    report = native.inspect(rows, native.Run(n_jobs=n_jobs))
    if report.bad_structure >= 0:
        raise ValueError(
            f"X is a broken CSR matrix: row {report.bad_structure} has column numbers or an extent out of bounds; "
            "X.check_format(full_check=True) tells more"
        )
    if report.not_finite >= 0:
        explain_not_finite(X, report.not_finite)
    if report.canonical and sp.issparse(X):
        X.has_canonical_format = True  # spare SciPy the search
    return rows, report


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
