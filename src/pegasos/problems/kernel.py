"""The problem of a kernel machine, as handed to a solver, and its points."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.outcome import Problem, Solution, Start

Floats = NDArray[np.float64]

#: The losses that its dual has a form for.
KERNEL_LOSSES = ("hinge", "epsilon_insensitive", "quantile")
#: Those of which it has two variables per example.
IN_TWOS = ("epsilon_insensitive",)


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

    @property
    def last_beta(self) -> Floats:
        """The same by example."""
        last, n = self.last_variables, len(self.beta)
        if self.dual_variables is None:
            return self.beta
        return last if len(last) == n else last[:n] + last[n:]


@dataclass(frozen=True, kw_only=True)
class KernelProblem(Problem[KernelPoint]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss(<w, phi(x_i)> + b, y_i)`` over w in the space of the kernel.

    Its dual has two variables per example with the epsilon-insensitive loss, and one with the others;
    `cpp/kernel/problem.hpp` has all in one form.
    """

    label: ClassVar[str] = "a kernel"
    estimators: ClassVar[str] = "SVC and SVR"

    core: native.KernelProblem  # targets and bounds of the dual variables
    limits: tuple[Floats, Floats]  # what an example may weigh at a dual point, from below zero to above
    source: native.KernelSource
    y: Floats  # -1 or 1; for regression the targets
    s: Floats
    parameter: float  # of the loss
    free_intercept: bool
    cached_rows: int = 2**31  # rows of the kernel matrix that may be kept
    held_out: Floats | None = None  # labels of further rows of the kernel matrix, to stop by
    patience: int = 0  # epochs without fewer errors there after which to stop

    def beta(self, variables: Floats) -> Floats:
        """What the examples weigh at a dual point."""
        return variables if not self.in_twos else variables[: self.n_rows] + variables[self.n_rows :]

    @property
    def in_twos(self) -> bool:
        """Whether an example has two variables, one that weighs above zero and one below."""
        return self.loss in IN_TWOS

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


def make_problem(
    source: native.KernelSource,
    y: Floats,
    s: Floats,
    C: float,
    loss: str = "hinge",
    parameter: float = 0.0,
    free_intercept: bool = True,
    **options: Any,
) -> KernelProblem:
    """The problem of so many examples as there are labels; options are further fields."""
    rows, targets = np.arange(len(y), dtype=np.uint32), y
    with np.errstate(over="ignore"):  # what is infinite is refused by the core
        least, most = low, high = _limits(loss, parameter, y, _kept(C * s, s))
    if loss in IN_TWOS:
        zero, targets = np.zeros(len(y)), np.concatenate([y - parameter, y + parameter])
        rows, low, high = np.tile(rows, 2), np.concatenate([zero, least]), np.concatenate([most, zero])
    return KernelProblem(
        core=native.KernelProblem(source, rows, targets, low, high, free_intercept),
        limits=(least, most),
        source=source,
        n_rows=len(y),
        y=y,
        s=s,
        total_weight=float(s.sum()),
        C=C,
        loss=loss,
        parameter=parameter,
        free_intercept=free_intercept,
        **options,
    )


def _limits(loss: str, parameter: float, y: Floats, bound: Floats) -> tuple[Floats, Floats]:
    zero = np.zeros(len(y))
    if loss == "hinge":
        return np.where(y < 0, -bound, zero), np.where(y > 0, bound, zero)
    if loss == "quantile":
        return -_kept((1 - parameter) * bound, bound), _kept(parameter * bound, bound)
    return -bound, bound


def _kept(cost: Floats, factor: Floats) -> Floats:
    """A cost above zero, as the factor is, though it underflows: bounds allow for so much."""
    return np.where(factor > 0, np.maximum(cost, math.ulp(0.0)), cost)


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
