"""The problem of a kernel machine, as handed to a solver, and its points."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.outcome import Problem, Solution, Start

Floats = NDArray[np.float64]

#: The losses that its dual has a form for.
KERNEL_LOSSES = ("hinge", "epsilon_insensitive", "quantile")


@dataclass(frozen=True)
class KernelPoint:
    """``w = sum_i beta_i phi(x_i)``, its dual variables, and what a solver knows of them."""

    variables: Floats  # of the dual problem
    beta: Floats  # by example
    b: float = 0.0
    squared_norm: float = 0.0  # of w
    evaluations: float = 0.0  # of the kernel
    updates: int = 0  # changes of a coefficient, each of which takes a row of the kernel matrix
    responses: Floats | None = None  # of all examples, those held out too,
    error: float = 0.0  # by which they may be off
    dual_variables: Floats | None = None  # of the dual value, where these are others

    @property
    def last_variables(self) -> Floats:
        """Where a run that continues another from here starts."""
        return self.variables if self.dual_variables is None else self.dual_variables


@dataclass(frozen=True, kw_only=True)
class KernelProblem(Problem[KernelPoint]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(<w, phi(x_i)> + b, y_i)`` over w in the space of the kernel.

    Its dual has two variables per example with the epsilon-insensitive loss, and one with the others;
    `cpp/kernel/problem.hpp` has all in one form.
    """

    label: ClassVar[str] = "a kernel"
    estimators: ClassVar[str] = "SVC and SVR"

    source: native.KernelSource
    y: Floats  # -1 or 1; for regression the targets
    s: Floats
    loss: str = "hinge"
    parameter: float = 0.0  # of the loss
    free_intercept: bool = True
    cached_rows: int = 2**31  # rows of the kernel matrix that may be kept
    held_out: Floats | None = None  # labels of further rows of the kernel matrix, to stop by
    patience: int = 0  # epochs without fewer errors there after which to stop

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """What an example may weigh at a dual point, from below zero to above."""
        bound, zero = self.C * self.s, np.zeros(self.n_rows)
        if self.loss == "hinge":
            return np.where(self.y < 0, -bound, zero), np.where(self.y > 0, bound, zero)
        if self.loss == "quantile":
            return (self.parameter - 1) * bound, self.parameter * bound
        return -bound, bound

    @cached_property
    def core(self) -> native.KernelProblem:
        """The problem in the core's form: targets and bounds of its dual variables."""
        rows, (least, most) = np.arange(self.n_rows, dtype=np.uint32), self.limits
        if not self.in_twos:
            return native.KernelProblem(self.source, rows, self.y, least, most, self.free_intercept)
        zero, targets = np.zeros(self.n_rows), np.concatenate([self.y - self.parameter, self.y + self.parameter])
        low, high = np.concatenate([zero, least]), np.concatenate([most, zero])
        return native.KernelProblem(self.source, np.tile(rows, 2), targets, low, high, self.free_intercept)

    def beta(self, variables: Floats) -> Floats:
        """What the examples weigh at a dual point."""
        return variables if not self.in_twos else variables[: self.n_rows] + variables[self.n_rows :]

    @property
    def in_twos(self) -> bool:
        """Whether an example has two variables, one that weighs above zero and one below."""
        return self.loss == "epsilon_insensitive"

    def point(self, found: Any) -> KernelPoint:
        """What the core found."""
        variables = found.beta if self.held_out is None else found.beta[: self.n_rows]
        return KernelPoint(
            variables=variables,
            beta=self.beta(variables),
            b=found.b,
            squared_norm=found.squared_norm,
            evaluations=found.evaluations,
            updates=found.updates,
            responses=found.responses,
            error=found.error,
            dual_variables=found.dual_beta[: self.core.size] if len(found.dual_beta) else None,
        )


def continuing(first: Solution[KernelPoint], second: Solution[KernelPoint]) -> Solution[KernelPoint]:
    """The second run, with the work of the first, at whose end it began."""
    records = [[seconds, first.epochs + epoch, *bounds] for seconds, epoch, *bounds in second.records]
    whole = second.moved(
        evaluations=first.point.evaluations + second.point.evaluations,
        updates=first.point.updates + second.point.updates,
    )
    return replace(whole, epochs=first.epochs + second.epochs, records=[*first.records, *records])


def make_problem(source: native.KernelSource, y: Floats, s: Floats, C: float, **options: Any) -> KernelProblem:
    """The problem of so many examples as there are labels; options are further fields."""
    return KernelProblem(source=source, n_rows=len(y), y=y, s=s, total_weight=float(s.sum()), C=C, **options)


def feasible_start(problem: KernelProblem, beta: Floats) -> Start[KernelPoint]:
    """Where to start from, given the weight of each example in another fit.

    The bounds may have changed since. With an intercept the variables sum to zero, so what was cut off on one side is
    taken off the other in proportion.
    """
    least, most = problem.limits
    up, down = np.clip(beta, 0, most), np.clip(-beta, 0, -least)
    if problem.free_intercept:
        above, below = up.sum(), down.sum()
        if above > below:
            up *= below / above
        elif below > above:
            down *= above / below
    variables = np.concatenate([up, -down]) if problem.in_twos else up - down
    return Start(KernelPoint(variables, problem.beta(variables)))
