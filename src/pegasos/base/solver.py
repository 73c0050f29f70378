"""What every solver has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from sklearn.base import BaseEstimator, clone

from pegasos._core import native
from pegasos.base.options import Option, check_options
from pegasos.base.outcome import Budget, Point, Solution, Start
from pegasos.base.problem import Problem
from pegasos.base.progress import Progress, make_run
from pegasos.base.supports import Supports

P = TypeVar("P")

#: Every loss of one score.
LOSSES = (
    "hinge",
    "squared_hinge",
    "log_loss",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "huber",
    "quantile",
)


def continued_seed(seed: int, t: int) -> int:
    """The seed of a run that continues another after t steps: it must not repeat that one's order of visits."""
    return (seed + 0x9E3779B97F4A7C15 * t) % 2**64


@dataclass(frozen=True)
class Terms(Generic[P]):
    """The terms of a run: how long it may work, its seed, where it starts, and who hears of it."""

    budget: Budget
    seed: int
    start: Start[P] | None
    progress: Progress

    @property
    def run(self) -> native.Run:
        """Threads, time limit and callbacks, as the core takes them."""
        return make_run(self.budget, self.progress)

    def within(self, **changes: Any) -> Self:
        """The same with another budget."""
        return replace(self, budget=replace(self.budget, **changes))


def as_continued(terms: Terms[Point]) -> dict[str, Any]:
    """Tolerance, seed and start of a run on weights, as the core takes them."""
    start = terms.start
    return {
        "tol": terms.budget.tol,
        "seed": continued_seed(terms.seed, start.t if start else 0),
        "sequence": None,
        "start_w": start.point.w if start else None,
        "start_t": start.t if start else 0,
    }


class Solver(BaseEstimator):
    """Base of the solvers. Deriving from BaseEstimator makes `clone` and ``solver__batch_size`` in a grid work."""

    name: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = {}
    #: By the kind of problem.
    supports: ClassVar[Mapping[type[Any], Supports]]
    #: A budget that takes the place of `max_iter`; an option of some.
    max_steps: int | None = None

    @property
    def budget_reason(self) -> str:
        """The budget that a run uses up."""
        return "max_iter" if self.max_steps is None else "max_steps"

    @property
    def maximises_margin(self) -> bool:
        """Whether it makes the margin of a kernel machine large rather than the objective small: its bounds are so."""
        return False

    def check(self) -> None:
        """Raise a ValueError where an option has a value it cannot have."""
        check_options(self, self.options)

    def describe(self) -> str:
        """The solver with its options, on one line."""
        return " ".join(repr(self).split())

    def chosen_for(self, kind: type[Any]) -> "Solver":
        """The solver that works on problems of a kind, where the kind alone decides."""
        return self

    def solve(
        self,
        problem: Problem[P],
        budget: Budget,
        seed: int,
        start: Start[Any] | None = None,
        progress: Progress | None = None,
    ) -> Solution[P]:
        """Solve the problem within the budget, by what the solver has for problems of its kind."""
        return self.solve_on(problem, Terms(budget, seed, start, progress or Progress()))

    def solve_on(self, problem: Problem[P], terms: Terms[Any]) -> Solution[P]:
        """The same on terms that are put together."""
        return self._supports(problem).run(self, problem, terms)

    def learner(self, problem: Any) -> Any:
        """What solves a problem whose examples are handed over some at a time."""
        return self._supports(problem).run(self, problem)

    def _supports(self, problem: Any) -> Supports:
        supports = self.supports[type(problem)]
        supports.check_options(self, problem.label or "a linear problem in memory")
        return supports


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
