"""What a solver is given, how long it may work, where it starts and what it found."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import Bounds
from pegasos.certificate import Certificate, History, history_from_records, within

P = TypeVar("P")
CoreRun = native.Solution | native.KernelSolution


def inverse(name: str, value: float, total_weight: float, wanted: str, least: float = 0.0) -> float:
    """1/(C n) or 1/(alpha n), each of which is the other; a ValueError where it is infinite, or below the least."""
    product = float(value) * float(total_weight)
    found = 1 / product if product > 0 else math.inf
    if not least <= found < math.inf:
        extent, change = ("little", "raise") if found > 0 else ("much", "lower")
        raise ValueError(
            f"the numbers overflowed: {name}={value:.3g} and weights that sum to {total_weight:.3g} are too {extent} "
            f"together, as {wanted} = 1/({name} n) would be {found:g}; {change} {name}, or scale weights"
        )
    return found


@dataclass(frozen=True, kw_only=True)
class Problem(Generic[P]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i loss_i(w)``, where what is found is a point of type P."""

    #: What messages call problems of this kind.
    label: ClassVar[str] = ""
    #: Which estimators have such problems, for messages.
    estimators: ClassVar[str] = ""

    n_rows: int  # examples, or sequences
    C: float
    total_weight: float  # sum_i s_i
    loss: str

    @property
    def alpha(self) -> float:
        """The papers' lambda; a ValueError where it is no number to work with."""
        return inverse("C", self.C, self.total_weight, "alpha", math.ulp(0.0))


@dataclass(frozen=True)
class Budget:
    """When to stop, and with how many threads. Times count from the start of the fit, `elapsed` ago."""

    tol: float
    max_iter: int
    max_time: float | None
    elapsed: float = 0.0
    n_jobs: int | None = 1  # None: the solver may choose
    keep: bool = False  # what the last check found, where Ctrl-C ends the run
    last_time: float | None = None  # when the whole fit ends, where `max_time` is the share of one problem
    brief: bool = False  # no bounds are needed of a start for which the time is too short

    def __post_init__(self) -> None:
        """Parameters may be numbers of NumPy's, whose sums and comparisons are none that the core takes."""
        object.__setattr__(self, "tol", float(self.tol))
        for name in ("max_time", "last_time"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else float(given))


@dataclass(frozen=True)
class Start(Generic[P]):
    """Where a run begins: the point at which another one ended, and the steps behind it."""

    point: P
    t: int = 0
    loss: str = ""  # that a dual point is of, where another one may be asked for


@dataclass(frozen=True)
class Point:
    """Weights and a dual point of a linear problem; of several classes together both are matrices laid out flat."""

    w: NDArray[np.float64]
    q: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class UsedSolvers:
    """Which solvers found a solution, one after the other, each with its options and what it chose itself."""

    solvers: tuple[str, ...]
    n_jobs: int | None = None  # threads, where they were chosen
    by_auto: bool = False

    def then(self, other: "UsedSolvers") -> "UsedSolvers":
        """Both, one after the other."""
        return other if other == self else replace(other, solvers=self.solvers + other.solvers)

    def __str__(self) -> str:
        threads = f" with n_jobs={self.n_jobs}" if self.n_jobs else ""
        return f"{', then '.join(self.solvers)}{threads}{', chosen by auto' if self.by_auto else ''}"


@dataclass(frozen=True)
class Solution(Generic[P]):
    """What a solver found: a point, bounds on the optimum, and how it got there."""

    point: P
    bounds: Bounds
    epochs: float
    seconds: float
    reason: str
    records: list[list[float]]  # (seconds, epoch, primal, dual) at each check
    used: UsedSolvers
    t: int = 0  # steps, with those behind the start
    n_iter: int | None = None  # where it is not the number of epochs begun

    @classmethod
    def from_core(
        cls, run: CoreRun, point: P, solver: str, budget_reason: str = "max_iter", n_iter: int | None = None
    ) -> Self:
        """What the core returned; `budget_reason` tells which budget it used up."""
        found = run.bounds
        return cls(
            point=point,
            bounds=Bounds(found.primal, found.dual, found.above, found.below),
            epochs=run.epochs,
            seconds=run.seconds,
            reason=budget_reason if run.reason == "budget" else run.reason,
            records=run.history,
            used=UsedSolvers((solver,)),
            t=getattr(run, "t", run.steps),
            n_iter=n_iter,
        )

    @staticmethod
    def of_parts(
        fit: native.LinearFit, seconds: float, used: UsedSolvers, budget_reason: str, q: Any = None
    ) -> "Solution[Point]":
        """The solution of a fit that was driven part by part."""
        run = fit.finish(seconds)
        return replace(Solution.from_core(run, Point(run.w, q), "", budget_reason), used=used)

    @property
    def start(self) -> Start[P]:
        """Where a run that continues this one begins."""
        return Start(self.point, self.t)

    @property
    def history(self) -> History:
        return history_from_records(self.records)

    def moved(self, **changes: Any) -> Self:
        """This one with parts of its point changed."""
        # Every point is a dataclass, which the bound of the type variable cannot say.
        return replace(self, point=replace(self.point, **changes))  # type: ignore[type-var]

    def bounded(self, **changes: float) -> Self:
        """This one with some of its bounds changed."""
        return replace(self, bounds=self.bounds._replace(**changes))

    def certificate(self, tol: float, scaled: bool = False) -> Certificate:
        """The certificate of a solution that was to be within `tol`."""
        tol = float(tol)
        bounds, reason = self.bounds, self.reason
        if not bounds.dual <= bounds.primal:
            bounds, reason = bounds._replace(dual=-math.inf), "inconsistent"
        return Certificate(
            primal=bounds.primal,
            dual=bounds.dual,
            gap=bounds.gap,
            converged=False if reason == "inconsistent" else within(bounds.gap, tol),
            reason=reason,
            n_iter=max(1, math.ceil(self.epochs) if self.n_iter is None else self.n_iter),
            seconds=self.seconds,
            solver=str(self.used),
            scaled=scaled,
            rounding=bounds.rounding,
        )


def is_cut_short(found: Solution[Any]) -> bool:
    """Whether Ctrl-C ended a run."""
    return found.reason == "interrupt"


@contextmanager
def keeping(keep: bool, runs: Sequence[native.LinearFit]) -> Iterator[None]:
    """Let Ctrl-C end the runs where they are, if that is wanted and each of them has bounds."""
    try:
        yield
    except KeyboardInterrupt:
        if not keep or not all(run.checked for run in runs):
            raise
        for run in runs:
            run.reason = run.reason or "interrupt"


def then(first: Solution[P], more: Callable[[], Solution[P]], keep: bool) -> Solution[P]:
    """What a run finds that goes on after another one; where Ctrl-C ends it before its first check, the first."""
    try:
        return more()
    except KeyboardInterrupt:
        if not keep:
            raise
        return replace(first, reason="interrupt")


def joined(first: Solution[Point], second: Solution[Point], best: bool = True) -> Solution[Point]:
    """Two runs as one: the best of the bounds, with the point that each belongs to, and both histories.

    Where the `best` weights are not wanted those of the second run are taken, and its primal values.
    """
    bounds = first.bounds.best(second.bounds)
    if not best:
        bounds = bounds._replace(primal=second.bounds.primal, above=second.bounds.above)
    upper = second if not best or second.bounds.primal <= first.bounds.primal else first
    lower = second if second.bounds.dual >= first.bounds.dual else first
    records = list(first.records)
    for seconds, epoch, primal, dual in second.records:
        primal = min(primal, first.bounds.primal) if best else primal
        records.append([seconds, first.epochs + epoch, primal, max(dual, first.bounds.dual)])
    return replace(
        second,
        point=Point(upper.point.w, lower.point.q),
        bounds=bounds,
        t=first.t + second.t,
        epochs=first.epochs + second.epochs,
        n_iter=None if second.n_iter is None else second.n_iter + round(first.epochs),
        records=records,
        used=first.used.then(second.used),
    )


class _Sizes(Protocol):
    """What numbers that overflow may be due to."""

    @property
    def C(self) -> float: ...
    @property
    def total_weight(self) -> float: ...
    @property
    def largest_norm(self) -> float: ...


def check_finite(solution: Solution[Point], problem: _Sizes) -> Solution[Point]:
    """The solution; a ValueError where its numbers are not finite."""
    refuse_overflow(solution.point.w, solution.bounds.primal, solution.bounds.dual, of=sizes(problem))
    return solution


def sizes(problem: _Sizes) -> str:
    """What is large in a problem whose numbers overflow."""
    return (
        f"C={problem.C:.3g}, weights that sum to {problem.total_weight:.3g} and an example of norm "
        f"{problem.largest_norm:.3g}"
    )


def refuse_overflow(*numbers: Any, of: str, remedy: str = "lower C, or scale weights and features") -> None:
    """Raise a ValueError where a number, or one in an array, is not finite."""
    if not all(np.isfinite(number).all() for number in numbers):
        raise ValueError(f"the numbers overflowed: {of} are too much together; {remedy}")
