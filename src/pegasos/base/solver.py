"""What every solver has.

What a solver supports is said once: registries, refusals, the command line's help and the docs' tables follow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from sklearn.base import clone

from pegasos._core import native
from pegasos.base.conventions import BaseEstimator
from pegasos.base.options import Option, check_options
from pegasos.base.outcome import Budget, Point, Problem, Solution, Start
from pegasos.base.progress import Progress, make_run
from pegasos.base.wording import meant

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
class Supports:
    """What a solver does with problems of one kind. All support weights of examples."""

    run: Callable[..., Any]  # the solver's method: a problem in, a solution or a learner out
    losses: tuple[str, ...] = ("hinge",)
    intercepts: tuple[str, ...] = ("penalized",)
    continued: bool = True  # from the point of another run
    needs_dual: bool = False  # continues from the dual point, not from weights alone
    early_stopping: bool = False
    exact: bool = True  # gets so close to the optimum that single precision of a kernel matrix would be felt
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # the solver's values, where not all go

    def check_options(self, solver: "Solver", label: str, otherwise: str = "") -> None:
        """Raise a ValueError where an option of the solver has a value that is not for this kind."""
        wrong = {name: values for name, values in self.options.items() if getattr(solver, name) not in values}
        if not wrong:
            return
        given = listed(f"{name}={getattr(solver, name)!r}" for name in wrong)
        allowed = [listed(map(repr, values)) for values in wrong.values()]
        several = [f"{name}={values}" for name, values in zip(wrong, allowed, strict=True)]
        raise ValueError(
            f"{solver.name} does not support {given}{_with(label)}; it supports "
            f"{allowed[0] if len(wrong) == 1 else listed(several)}{otherwise and f'; use that, or {otherwise}'}"
        )


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
        "visits": None,
        "start_w": start.point.w if start else None,
        "start_t": start.t if start else 0,
    }


class Solver(BaseEstimator):
    """Base class of the solvers. They can be cloned, and their options set as in ``solver__batch_size``."""

    name: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = {}
    #: Names that options had in older model files, and have now.
    older_names: ClassVar[Mapping[str, str]] = {}
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
        """The solver with the options that are not at their defaults, on one line."""
        own = getattr(self, "__dataclass_fields__", {})
        if not own and type(self).__init__ is not object.__init__:
            return " ".join(repr(self).split())  # of a solver that states its options by a constructor
        # What repr would say, which looks at signatures and takes as long as a small fit.
        values = [(name, getattr(self, name), one.default) for name, one in sorted(own.items())]
        changed = [f"{name}={value!r}" for name, value, default in values if repr(value) != repr(default)]
        return f"{type(self).__name__}({', '.join(changed)})"

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

    def solution(self, found: native.Solution) -> Solution[Point]:
        """What the core found of a problem on weights, under the name of this solver and its budget."""
        return Solution.from_core(found, Point(found.w, found.q), self.describe(), self.budget_reason)

    def learner(self, problem: Any, *options: Any) -> Any:
        """The fit of a problem whose examples are handed over some at a time."""
        return self._supports(problem).run(self, problem, *options)

    def _supports(self, problem: Any) -> Supports:
        supports = self.supports[type(problem)]
        supports.check_options(self, problem.label or "a linear problem in memory")
        return supports


def _all_below(cls: type[Solver]) -> list[type[Solver]]:
    return [found for below in cls.__subclasses__() for found in (below, *_all_below(below))]


def _whose(solver: type[Solver]) -> str:
    """Which estimators have the solver, to begin what another one says of it."""
    owners = [kind.estimators for kind in solver.supports if getattr(kind, "estimators", "")]
    return f"it is for {', and for '.join(owners)}; here it " if owners else ""


def resolve(solver: Any, known: Mapping[str, type[Solver]]) -> Solver:
    """The solver object meant by a name or an object; its options are checked."""
    choices = ", ".join(repr(name) for name in known)
    if isinstance(solver, str):
        if solver not in known:
            elsewhere = "".join(_whose(cls) for cls in _all_below(Solver) if getattr(cls, "name", "") == solver)
            wanted = f"must be {choices}, or an object from pegasos.solvers"
            raise ValueError(f"solver={solver!r}: {elsewhere}{wanted}{meant(solver, known)}")
        return known[solver]()
    if not isinstance(solver, Solver):
        example = next(cls.__name__ for name, cls in known.items() if name != "auto")
        raise ValueError(
            f"solver={solver!r}: must be the name of a solver or an object from pegasos.solvers, such as {example}()"
        )
    if not isinstance(solver, tuple(known.values())):
        raise ValueError(
            f"solver={solver!r}: {_whose(type(solver))}must be {choices}, or an object of theirs from pegasos.solvers"
        )
    solver.check()
    return clone(solver)


class Wish(NamedTuple):
    """What an estimator was asked for, and whether a solver can do it."""

    text: str
    is_met: Callable[[Supports], bool]
    given_up: str = ""  # what to pass to do without
    values: Callable[[Supports], Iterable[str]] = lambda _: ()  # those that a solver supports instead


#: Wishes that estimators of several kinds have.
FREE = Wish("intercept='free'", lambda able: "free" in able.intercepts, "", lambda able: able.intercepts)
EARLY_STOPPING = Wish("early_stopping=True", lambda able: able.early_stopping, "early_stopping=False")
WARM_START = Wish("warm_start=True", lambda able: able.continued, "warm_start=False")


def wish_for_loss(loss: str) -> Wish:
    """The wish for a loss."""
    return Wish(f"loss={loss!r}", lambda able: loss in able.losses, "", lambda able: able.losses)


class Elsewhere(NamedTuple):
    """Another kind of problem that the same examples can be, and how to make them one."""

    kind: type[Any]
    how: str
    solver: type[Solver] | None = None  # that is asked for there, if it is another


def refuse_unsupported(
    solver: Solver,
    kind: type[Any],
    known: Mapping[str, type[Solver]],
    wishes: Sequence[Wish],
    elsewhere: Elsewhere | None = None,
) -> None:
    """Raise a ValueError where the solver does not support something; it says what to change so that all works."""
    own = solver.supports.get(kind)
    unmet = [wish for wish in wishes if own is None or not wish.is_met(own)]
    if not unmet:
        return
    wish = unmet[0]
    values = () if own is None else tuple(wish.values(own))
    label = kind.label if own is not None and kind.label not in wish.text else ""
    parts = [f"{solver.name} does not support {wish.text}{_with(label)}"]
    parts += [f"it supports {listed(map(repr, values))}"] if values else []
    raise ValueError("; ".join([*parts, *_remedies(solver, kind, known, wishes, elsewhere)]))


def _remedies(
    solver: Solver,
    kind: type[Any],
    known: Mapping[str, type[Solver]],
    wishes: Sequence[Wish],
    elsewhere: Elsewhere | None,
) -> list[str]:
    """The ways to have no refusal that change the fewest things: another solver, another kind, a wish given up."""
    ways: list[tuple[str, str, list[str]]] = []  # a solver, how to get to another kind, what to pass
    for name, cls in {solver.name: type(solver), **known}.items():
        for place in (Elsewhere(kind, ""), *([elsewhere] if elsewhere else [])):
            own = name == solver.name
            able = (place.solver if own and place.solver else cls).supports.get(place.kind)
            if able is not None:
                left = [wish for wish in wishes if not wish.is_met(able)]
                if all(wish.given_up for wish in left):
                    ways.append(("" if own else repr(name), place.how, [wish.given_up for wish in left]))
    sizes = [bool(name) + bool(how) + len(passed) for name, how, passed in ways]
    best = [way for way, size in zip(ways, sizes, strict=True) if size == min(sizes)]
    solvers: dict[tuple[str, ...], list[str]] = {}  # by what there is to do besides
    for name, how, passed in sorted(best, key=lambda way: (not way[0], not way[1])):
        solvers.setdefault((how, *passed), []).append(name)
    texts = []
    for (how, *passed), names in solvers.items():
        settings = [f"solver={listed(names, 'or')}", *passed] if any(names) else passed
        steps = [f"use {' and '.join(settings)}"] if settings else []
        texts.append(" and ".join([*steps, how] if how else steps))
    return [", or ".join(texts)] if texts else []


def listed(words: Iterable[str], last_by: str = "and") -> str:
    """The words with commas between them, and before the last one "and"."""
    *most, last = words
    return f"{', '.join(most)} {last_by} {last}" if most else last


def _with(label: str) -> str:
    return f" with {label}" if label else ""
