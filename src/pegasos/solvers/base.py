"""What every solver has."""

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pegasos._core import native
from pegasos.base.options import Option, check_options
from pegasos.problems.kernel import KernelProblem, KernelSolution
from pegasos.problems.linear import Budget, Problem, Solution, WarmStart
from pegasos.problems.sequence import SequenceProblem, SequenceSolution, SequenceStart

__all__ = ["LOSSES", "Report", "Solver", "continued_seed", "make_run"]

#: Every loss of one score.
LOSSES = ("hinge", "squared_hinge", "log_loss", "epsilon_insensitive", "squared_epsilon_insensitive")


class Report:
    """Hears of a fit's progress. The base class keeps silent."""

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        """The bounds were computed."""

    def progressed(self, epoch: float, seconds: float) -> None:
        """A few tens of milliseconds of work were done."""

    def part(self, name: str) -> "Report":
        """The report for one of several problems of the fit, which may be solved at a time."""
        return self

    def close(self) -> None:
        """The fit is over."""


def make_run(budget: Budget, report: Report | None) -> native.Run:
    """Threads, time limit and callbacks, as the core takes them."""
    report = report or Report()
    return native.Run(
        n_jobs=budget.n_jobs or 1,
        elapsed=budget.elapsed,
        max_seconds=math.inf if budget.max_time is None else float(budget.max_time),
        report=report.checked,
        progress=report.progressed,
    )


def continued_seed(seed: int, t: int) -> int:
    """The seed of a run that continues another after t steps: it must not repeat that one's order of visits."""
    return (seed + 0x9E3779B97F4A7C15 * t) % 2**64


class Solver(BaseEstimator):
    """Base of the solvers. Deriving from BaseEstimator makes `clone` and ``solver__batch_size`` in a grid work."""

    name: ClassVar[str]
    options: ClassVar[Mapping[str, Option]]
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    intercepts: ClassVar[tuple[str, ...]] = ("penalized",)
    #: Of kernel machines; an intercept there is always free.
    kernel_losses: ClassVar[tuple[str, ...]] = ()
    kernel_intercept: ClassVar[bool] = False
    kernel_early_stopping: ClassVar[bool] = False
    #: Whether it gets so close to the optimum that single precision of the kernel matrix would be felt.
    kernel_exact: ClassVar[bool] = True

    @property
    def kernel_margin(self) -> bool:
        """Whether it makes the margin of a kernel machine large rather than the objective small: its bounds are so."""
        return False

    def check(self) -> None:
        """Raise a ValueError where an option has a value it cannot have."""
        check_options(self, self.options)

    def describe(self) -> str:
        """The solver with its options, on one line."""
        return " ".join(repr(self).split())

    def solve(
        self, problem: Problem, budget: Budget, seed: int, start: WarmStart | None = None, report: Report | None = None
    ) -> Solution:
        """Solve the problem of a linear machine within the budget."""
        raise NotImplementedError

    def solve_kernel(
        self,
        problem: KernelProblem,
        budget: Budget,
        seed: int,
        start: NDArray[np.float64] | None = None,
        report: Report | None = None,
    ) -> KernelSolution:
        """Solve the problem of a kernel machine within the budget; `start` has its dual variables."""
        raise NotImplementedError

    def solve_sequences(
        self,
        problem: SequenceProblem,
        budget: Budget,
        seed: int,
        start: SequenceStart | None = None,
        report: Report | None = None,
    ) -> SequenceSolution:
        """Solve the problem of labelling sequences within the budget."""
        raise NotImplementedError
