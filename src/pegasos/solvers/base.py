"""What every solver has."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from sklearn.base import BaseEstimator

from pegasos.options import Option, check_options
from pegasos.problem import Budget, Problem, Solution, WarmStart

__all__ = ["Report", "Solver"]


class Report:
    """Hears of a fit's progress. The base class keeps silent."""

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        """The bounds were computed."""

    def progressed(self, epoch: float, seconds: float) -> None:
        """A few tens of milliseconds of work were done."""

    def close(self) -> None:
        """The fit is over."""


class Solver(BaseEstimator):
    """Base of the solvers. Deriving from BaseEstimator makes `clone` and ``solver__batch_size`` in a grid work."""

    name: ClassVar[str]
    options: ClassVar[Mapping[str, Option]]
    losses: ClassVar[tuple[str, ...]] = ("hinge",)

    def check(self) -> None:
        """Raise a ValueError where an option has a value it cannot have."""
        check_options(self, self.options)

    @abstractmethod
    def solve(
        self, problem: Problem, budget: Budget, seed: int, start: WarmStart | None = None, report: Report | None = None
    ) -> Solution:
        """Solve the problem within the budget."""
