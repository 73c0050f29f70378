"""The problem of a kernel machine handed to a solver, and what the solver returns."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.certificate import relative_gap

__all__ = ["KernelProblem", "KernelSolution", "feasible_start", "make_problem"]


@dataclass(frozen=True)
class KernelProblem:
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(<w, phi(x_i)> + b, y_i)`` over w in the space of the kernel.

    Its dual has one variable per example with the hinge loss and two with the epsilon-insensitive one;
    `cpp/kernel/problem.hpp` has both in one form.
    """

    source: native.KernelSource
    core: native.KernelProblem
    n_rows: int
    free_intercept: bool
    loss: str  # "hinge" or "epsilon_insensitive"
    y: NDArray[np.float64]  # -1 or 1; for regression the targets
    s: NDArray[np.float64]
    C: float
    cached_rows: int  # rows of the kernel matrix that may be kept
    held_out: NDArray[np.float64] | None = None  # labels of further rows of the kernel matrix, to stop by
    patience: int = 0  # epochs without fewer errors there after which to stop

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return float(1 / (self.C * self.s.sum()))


@dataclass(frozen=True)
class KernelSolution:
    """What a solver found: ``w = sum_i beta_i phi(x_i)``."""

    beta: NDArray[np.float64]  # by example
    b: float
    variables: NDArray[np.float64]  # of the dual problem, for a run that continues this one
    primal: float
    dual: float
    epochs: float
    seconds: float
    squared_norm: float  # of w
    evaluations: float  # of the kernel
    updates: int  # changes of a coefficient, each of which takes a row of the kernel matrix
    reason: str
    records: list[list[float]]
    solver: str
    above: float = 0.0  # what rounding may add to the primal value, which allows for it,
    below: float = 0.0  # and take off the dual one
    responses: NDArray[np.float64] | None = None  # of all examples, those held out too,
    error: float = 0.0  # by which they may be off
    dual_variables: NDArray[np.float64] | None = None  # of the dual value, where these are others

    @property
    def plain_gap(self) -> float:
        """The gap without an allowance for rounding."""
        return relative_gap(self.primal - self.above, self.dual + self.below)

    @property
    def last_variables(self) -> NDArray[np.float64]:
        """Where a run that continues this one starts."""
        return self.variables if self.dual_variables is None else self.dual_variables

    def continuing(self, first: "KernelSolution") -> "KernelSolution":
        """This one, with the work of the run that it began at the end of."""
        records = [[seconds, first.epochs + epoch, *bounds] for seconds, epoch, *bounds in self.records]
        return replace(
            self,
            epochs=first.epochs + self.epochs,
            evaluations=first.evaluations + self.evaluations,
            updates=first.updates + self.updates,
            records=[*first.records, *records],
        )

    @classmethod
    def from_core(
        cls, problem: KernelProblem, found: Any, solver: str, budget_reason: str = "max_iter"
    ) -> "KernelSolution":
        """What the core returned; `budget_reason` tells which budget it used up."""
        variables = found.beta if problem.held_out is None else found.beta[: problem.n_rows]
        beta = variables if problem.loss == "hinge" else variables[: problem.n_rows] + variables[problem.n_rows :]
        return cls(
            beta=beta,
            b=found.b,
            variables=variables,
            primal=found.bounds.primal,
            dual=found.bounds.dual,
            above=found.bounds.above,
            below=found.bounds.below,
            responses=found.responses,
            error=found.error,
            dual_variables=found.dual_beta[: problem.core.size] if len(found.dual_beta) else None,
            epochs=found.epochs,
            seconds=found.seconds,
            squared_norm=found.squared_norm,
            evaluations=found.evaluations,
            updates=found.updates,
            reason=budget_reason if found.reason == "budget" else found.reason,
            records=found.history,
            solver=solver,
        )


def make_problem(
    source: native.KernelSource,
    y: NDArray[np.float64],
    s: NDArray[np.float64],
    C: float,
    *,
    loss: str = "hinge",
    epsilon: float = 0.0,
    free_intercept: bool = True,
    cached_rows: int = 2**31,
    held_out: NDArray[np.float64] | None = None,
    patience: int = 0,
) -> KernelProblem:
    """The problem in the core's form: targets and bounds of its dual variables."""
    rows, bound, zero = np.arange(len(y), dtype=np.uint32), C * s, np.zeros(len(y))
    if loss == "hinge":
        core = native.KernelProblem(
            source, rows, y, np.where(y < 0, -bound, zero), np.where(y > 0, bound, zero), free_intercept
        )
    else:
        core = native.KernelProblem(
            source,
            np.tile(rows, 2),
            np.concatenate([y - epsilon, y + epsilon]),
            np.concatenate([zero, -bound]),
            np.concatenate([bound, zero]),
            free_intercept,
        )
    return KernelProblem(source, core, len(y), free_intercept, loss, y, s, C, cached_rows, held_out, patience)


def feasible_start(problem: KernelProblem, beta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Dual variables to start from, given the weight of each example in another fit.

    The bounds may have changed since. With an intercept the variables sum to zero, so what was cut off on one side is
    taken off the other in proportion.
    """
    bound = problem.C * problem.s
    up = np.clip(beta, 0, bound if problem.loss != "hinge" else np.where(problem.y > 0, bound, 0.0))
    down = np.clip(-beta, 0, bound if problem.loss != "hinge" else np.where(problem.y < 0, bound, 0.0))
    if problem.free_intercept:
        above, below = up.sum(), down.sum()
        if above > below:
            up *= below / above
        elif below > above:
            down *= above / below
    return up - down if problem.loss == "hinge" else np.concatenate([up, -down])
