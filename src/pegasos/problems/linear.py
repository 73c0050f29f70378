"""The problem of a linear machine, as handed to a solver, and the examples behind it."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.outcome import Point, Problem, Start

#: The losses that have a form for all classes together.
JOINT_LOSSES = ("hinge", "log_loss")
#: Data of fewer bytes stays in the caches, where the order of visits costs nothing.
LARGE = 50e6
#: Entries of a row from which on reading it takes so long that it does not matter where it lies, and comparing a
#: thousand pairs of rows takes longer than the order of visits could save.
LONG_ROW = 10_000


@dataclass(frozen=True, kw_only=True)
class LinearProblem(Problem[Point]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(y_i <w, x_i>)``, or with targets y_i ``loss(<w, x_i>, y_i)``."""

    estimators: ClassVar[str] = "fit of LinearSVC and LinearSVR"

    core: native.Problem
    dimension: int  # of w: the features and the intercept
    has_intercept: bool
    free_intercept: bool  # not penalised: the last entry of w is not in the norm
    largest_norm: float  # of a row
    entries: float  # in all rows together

    def choose_order(self, seed: int) -> str:
        """In which order examples are best visited: "blocks", runs of neighbours in random order, where that is faster
        and neighbours are no more alike than others; or else "permute"."""
        large = self.entries * 8 > LARGE
        return "blocks" if large and are_runs_worth(self.core, self.entries / self.n_rows, seed) else "permute"


def are_runs_worth(problem: native.Problem, row_length: float, seed: int) -> bool:
    """Whether rows, of so many entries on average, are as well visited in runs of neighbours, if that is faster."""
    return row_length < LONG_ROW and not native.neighbours_alike(problem, seed)


@dataclass(frozen=True, kw_only=True)
class JointProblem(Problem[Point]):
    """Minimise ``1/2 ||W||^2 + C sum_i s_i l(x_i W, y_i)``; see `cpp/classes/multiclass.hpp` for the losses."""

    label: ClassVar[str] = "multi_class='joint'"

    core: native.JointProblem
    dimension: int  # of a column of W: the features and the intercept
    n_classes: int
    largest_norm: float  # of a row
    entries: float  # in all rows together


@dataclass(frozen=True, kw_only=True)
class BlocksProblem(Problem[Point]):
    """The same, of examples that come in blocks, as they do not fit in memory."""

    label: ClassVar[str] = "a data set larger than memory"

    parameter: float  # of the loss
    dimension: int
    bias: float  # the constant feature; 0: no intercept
    n_problems: int = 1  # that share the blocks

    @property
    def alone(self) -> bool:
        """Whether no other problem has use for a block that is read."""
        return self.n_problems == 1

    def core(self, rows: native.Rows, y: NDArray[np.float64], s: NDArray[np.float64]) -> native.Problem:
        """The rows of a block as part of the problem."""
        return native.Problem(rows, y, s, self.C, self.loss, False, self.parameter)


@dataclass(frozen=True)
class StreamProblem:
    """Minimise ``alpha/2 ||w||^2`` and the mean loss of a stream, whose examples are met once each."""

    label: ClassVar[str] = "a stream"
    estimators: ClassVar[str] = "partial_fit of LinearSVC and LinearSVR (on the command line --one-pass)"

    dimension: int
    loss: str
    parameter: float  # of the loss
    alpha: float | None  # None: the loss alone


@dataclass(frozen=True)
class Examples:
    """Examples in the core's hands: a problem but for its C, so that many of them can share the rows."""

    rows: native.Rows
    facts: native.RowsFacts
    y: NDArray[np.float64]  # -1 or 1; for regression the targets
    s: NDArray[np.float64]
    dimension: int  # of w
    bias: float  # 0: no intercept
    free_intercept: bool
    loss: str
    scale: NDArray[np.float64] | None = None  # what the columns were divided by
    parameter: float = 0.0  # of the loss, in regression: epsilon or the quantile
    shift: float = 0.0  # taken off the targets; a free intercept gives it back

    @property
    def total_weight(self) -> float:
        return float(self.s.sum())

    @property
    def largest_norm(self) -> float:
        """Of a row."""
        return math.sqrt(self.facts.largest_squared_norm)

    def problem(self, C: float) -> LinearProblem:
        """The problem at this C."""
        return LinearProblem(
            core=native.Problem(self.rows, self.y, self.s, C, self.loss, self.free_intercept, self.parameter),
            n_rows=len(self.y),
            dimension=self.dimension,
            has_intercept=self.bias > 0,
            free_intercept=self.free_intercept,
            total_weight=self.total_weight,
            C=C,
            loss=self.loss,
            largest_norm=self.largest_norm,
            entries=self.facts.entries,
        )

    def joint_problem(self, C: float, classes: NDArray[np.intp], cost: NDArray[np.float64]) -> JointProblem:
        """The problem of all classes together at this C; `classes` has the number of each example's class."""
        return JointProblem(
            core=native.JointProblem(self.rows, classes.astype(np.uint32), self.s, C, self.loss, cost),
            n_rows=len(classes),
            dimension=self.dimension,
            n_classes=len(cost),
            largest_norm=self.largest_norm,
            entries=self.facts.entries,
            total_weight=self.total_weight,
            C=C,
            loss=self.loss,
        )

    def joint_weights(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """As `weights`, of all classes: a row for each, and their intercepts."""
        table = w.reshape(self.dimension, -1)
        coef = table[:-1] if self.scale is None else table[:-1] / self.scale[:, None]
        return np.ascontiguousarray(coef.T), table[-1] * self.bias

    def joint_start(
        self, coef: NDArray[np.float64], intercept: NDArray[np.float64], t: int, q: NDArray[np.float64] | None
    ) -> Start[Point]:
        """As `start`, of all classes; the dual point is of use for the same number of examples only."""
        table = np.empty((self.dimension, len(coef)))
        table[:-1] = coef.T if self.scale is None else coef.T * self.scale[:, None]
        table[-1] = intercept / self.bias if self.bias else 0.0
        known = q is not None and len(q) == len(self.s) * len(coef)
        return Start(Point(table.ravel(), q if known else None), t)

    def weights(self, w: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Weights of the features as they were given, and the intercept, from the w of a solution."""
        coef = w[:-1].copy() if self.scale is None else w[:-1] / self.scale
        return coef, float(w[-1] * self.bias + self.shift)

    def start(self, coef: NDArray[np.float64], intercept: float, t: int, q: NDArray[np.float64] | None) -> Start[Point]:
        """Where a fit to these examples continues another: from its weights, whatever its scales and bias were, and
        from its dual point. Examples that have come since start at zero; a dual point of more examples is of no use.
        """
        last = (intercept - self.shift) / self.bias if self.bias else 0.0
        w = np.append(coef if self.scale is None else coef * self.scale, last)
        if q is not None:
            missing = len(self.y) - len(q)
            q = None if missing < 0 else np.append(q, np.zeros(missing))
        return Start(Point(w, q), t)
