"""What every solver has."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, clone

from pegasos.base.options import Option, check_options
from pegasos.base.outcome import Budget, Solution
from pegasos.base.progress import Report

__all__ = ["LOSSES", "Solver", "continued_seed", "resolve"]

#: Every loss of one score.
LOSSES = ("hinge", "squared_hinge", "log_loss", "epsilon_insensitive", "squared_epsilon_insensitive")


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
        self, problem: Any, budget: Budget, seed: int, start: Any = None, report: Report | None = None
    ) -> Solution:
        """Solve the problem of a linear machine within the budget."""
        raise NotImplementedError

    def solve_kernel(
        self, problem: Any, budget: Budget, seed: int, start: Any = None, report: Report | None = None
    ) -> Any:
        """Solve the problem of a kernel machine within the budget; `start` has its dual variables."""
        raise NotImplementedError

    def solve_sequences(
        self, problem: Any, budget: Budget, seed: int, start: Any = None, report: Report | None = None
    ) -> Any:
        """Solve the problem of labelling sequences within the budget."""
        raise NotImplementedError


def resolve(solver: Any, known: Mapping[str, type[Solver]]) -> Solver:
    """The solver object meant by a name or an object; its options are checked."""
    choices = ", ".join(repr(name) for name in known)
    if isinstance(solver, str):
        if solver not in known:
            raise ValueError(f"solver={solver!r}: must be {choices}, or an object from pegasos.solvers")
        solver = known[solver]()
    elif not isinstance(solver, Solver):
        example = next(cls.__name__ for name, cls in known.items() if name != "auto")
        raise ValueError(
            f"solver={solver!r}: must be the name of a solver or an object from pegasos.solvers, such as {example}()"
        )
    elif not isinstance(solver, tuple(known.values())):
        raise ValueError(f"solver={solver!r}: must be {choices}, or an object of theirs from pegasos.solvers")
    solver.check()
    return clone(solver)
