"""The default: chooses solver and threads for the problem."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._config import usable_threads
from pegasos._core import native
from pegasos.base.options import Option
from pegasos.base.outcome import Budget, Solution, WarmStart, joined
from pegasos.base.progress import Report, Shifted
from pegasos.base.solver import LOSSES, Solver
from pegasos.certificate import relative_gap
from pegasos.problems.kernel import KernelProblem, KernelSolution
from pegasos.problems.linear import Problem
from pegasos.problems.sequence import SequenceProblem, SequenceSolution, SequenceStart
from pegasos.solvers.frank_wolfe import FrankWolfe
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.sdca import LARGE, SDCA
from pegasos.solvers.smo import SMO

__all__ = ["Auto", "ascends"]

#: Entries of the data that make one thread of SDCA worth while. Smaller problems are done before a second one pays.
ENTRIES_PER_THREAD = 2_000_000
#: More threads of SDCA need so many more epochs that they seldom pay (benchmarks/threads.py, on 16 processors).
MOST_THREADS = 2
#: Features beyond which the matrices of InteriorPoint are a burden on memory and time.
MOST_FEATURES = 4_000
#: Seconds that a problem may take InteriorPoint to count as tiny.
TINY = 0.02
#: The gap to which tiny problems are solved: rounding.
ROUNDING = 1e-13
#: Rows of a kernel matrix up to which a problem is tiny, and the epochs that SMO is given to solve it to rounding.
TINY_ROWS = 500
TINY_EPOCHS = 1000
#: Rows of a kernel matrix from which on there is work for several threads.
ROWS_FOR_THREADS = 1000
#: Iterations that InteriorPoint is expected to take.
ITERATIONS = 30
#: Epochs of SDCA after which it is decided whether to go on.
TRIAL = 6
#: The gap at which InteriorPoint can leave most rows out.
NEAR = 1e-2
#: The tolerance from which on InteriorPoint is the faster one to get there from NEAR.
EXACT = 1e-5
#: Epochs that SDCA takes to 0.1%, about, for each unit of the gap after the trial, where that is large.
EPOCHS_PER_GAP = 25


class Auto(Solver):
    """Chooses a solver and the number of threads for the problem; its page in the docs says how and why.

    Tiny problems are solved to rounding by `InteriorPoint`. Others begin with `SDCA` and, where that turns out to take
    longer than `InteriorPoint` would, and the features are not too many, end with that. The log loss is left to `SDCA`.
    Threads, where ``n_jobs`` is None, are chosen too. `tol` means the same whatever is
    chosen, and ``certificate_.solver`` tells what was.
    """

    name = "auto"
    losses = LOSSES
    options: ClassVar[Mapping[str, Option]] = {}
    intercepts = ("penalized", "free")
    kernel_losses = SMO.kernel_losses
    kernel_intercept = True

    def solve_kernel(
        self,
        problem: KernelProblem,
        budget: Budget,
        seed: int,
        start: NDArray[np.float64] | None = None,
        report: Report | None = None,
    ) -> KernelSolution:
        threads = budget.n_jobs or (usable_threads() if problem.n_rows >= ROWS_FOR_THREADS else 1)
        budget = replace(budget, n_jobs=threads)
        if problem.n_rows <= TINY_ROWS and budget.tol > 0:
            exact = replace(budget, tol=min(budget.tol, ROUNDING), max_iter=min(budget.max_iter, TINY_EPOCHS))
            found = SMO().solve_kernel(problem, exact, seed, start, report)
            if found.plain_gap <= budget.tol:
                found = replace(found, reason="tol")
            elif found.reason == "max_iter" and budget.max_iter > TINY_EPOCHS:
                rest = replace(budget, max_iter=budget.max_iter - TINY_EPOCHS, elapsed=found.seconds)
                more = SMO().solve_kernel(
                    problem, rest, seed, found.last_variables, Shifted(report or Report(), found.epochs)
                )
                found = more.continuing(found)
        else:
            found = SMO().solve_kernel(problem, budget, seed, start, report)
        return replace(found, solver=f"{found.solver} with n_jobs={threads}, chosen by auto")

    def solve_sequences(
        self,
        problem: SequenceProblem,
        budget: Budget,
        seed: int,
        start: SequenceStart | None = None,
        report: Report | None = None,
    ) -> SequenceSolution:
        found = FrankWolfe().solve_sequences(problem, budget, seed, start, report)
        return replace(found, solver=f"{found.solver}, chosen by auto")

    def solve(
        self, problem: Problem, budget: Budget, seed: int, start: WarmStart | None = None, report: Report | None = None
    ) -> Solution:
        epoch, iteration = _costs(problem)
        exact = ITERATIONS * iteration  # seconds that InteriorPoint would take, about, with one thread
        if ascends(problem.loss, problem.dimension, budget.tol):
            return _ascend(problem, budget, seed, start, report)
        if _is_near_enough(problem, budget, start):
            return _finish(problem, budget, seed, start, report)  # finds just that
        if exact < TINY:
            return _finish(problem, budget, seed, start, report, goal=ROUNDING)
        exact /= _exact_threads(problem, budget)
        if budget.tol < EXACT and TRIAL / 2 * epoch > 0.1 * exact:
            return _finish(problem, budget, seed, start, report)

        # A trial of coordinate ascent; if that promises to be done in half the time of the exact method, that long.
        goal = budget.tol if budget.tol > EXACT else NEAR
        worth = int(exact / epoch / 2)
        trial = min(TRIAL if goal == budget.tol else TRIAL // 2, budget.max_iter)
        found = _ascend(problem, replace(budget, tol=goal, max_iter=trial), seed, start, report)
        if found.reason == "max_iter" and EPOCHS_PER_GAP * relative_gap(found.primal, found.dual) < worth:
            more = replace(budget, tol=goal, max_iter=min(worth, budget.max_iter - trial), elapsed=found.seconds)
            if more.max_iter > 0:
                found = joined(found, _ascend(problem, more, seed, WarmStart(found.w, found.t, found.q), report))
        gap, epochs = relative_gap(found.primal, found.dual), round(found.epochs)
        if gap <= budget.tol or found.reason == "max_time" or epochs >= budget.max_iter:
            return found
        rest = replace(budget, max_iter=budget.max_iter - epochs, elapsed=found.seconds)
        near = WarmStart(found.w, found.t, found.q) if gap <= NEAR else None
        return joined(found, _finish(problem, rest, seed, near, report))


def ascends(loss: str, dimension: int, tol: float) -> bool:
    """Whether a linear machine is left to `SDCA` altogether; the dimension counts the features and the intercept."""
    return loss not in InteriorPoint.losses or dimension - 1 > MOST_FEATURES or tol == 0


def _is_near_enough(problem: Problem, budget: Budget, start: WarmStart | None) -> bool:
    """Whether a continued fit has nothing to do."""
    if start is None or start.q is None:
        return False
    bounds = native.certify(problem.core, native.Run(), start.w, start.q)
    return relative_gap(bounds.primal, bounds.dual) <= budget.tol


def _costs(problem: Problem) -> tuple[float, float]:
    """Seconds that an epoch of SDCA and an iteration of InteriorPoint take, about, with one thread.

    The figures are nanoseconds a row, measured; only their ratio matters much.
    """
    k, d = problem.entries / problem.n_rows, problem.dimension
    if k < d / 4:  # sparse: the outer product of each row is added entry by entry
        epoch, iteration = 50 + 4 * k, 120 + 4 * k + 0.6 * k * k
    else:
        epoch, iteration = 40 + 0.4 * d, 150 + 2.5 * d + 0.03 * d * d
    if problem.entries * 12 > LARGE:  # beyond the caches, each visit waits for memory
        epoch += 100
    if problem.loss.endswith("epsilon_insensitive"):  # each row is two to InteriorPoint
        iteration *= 2
    return 1e-9 * problem.n_rows * epoch, 1e-9 * (problem.n_rows * iteration + 0.07 * d**3)


def _ascend(problem: Problem, budget: Budget, seed: int, start: WarmStart | None, report: Report | None) -> Solution:
    """Coordinate ascent. On dense data, where every example touches every weight, threads get in each other's way."""
    if budget.n_jobs is None:
        sparse = problem.entries < 0.1 * problem.n_rows * problem.dimension
        threads = min(usable_threads(), MOST_THREADS, int(problem.entries / ENTRIES_PER_THREAD)) if sparse else 1
        budget = replace(budget, n_jobs=max(threads, 1))
    return _told(SDCA().solve(problem, budget, seed, start, report), budget)


def _finish(
    problem: Problem, budget: Budget, seed: int, start: WarmStart | None, report: Report | None, goal: float = 0.0
) -> Solution:
    """The exact method, with all the threads that have something to do."""
    budget = replace(budget, n_jobs=_exact_threads(problem, budget))
    return _told(InteriorPoint().solve(problem, budget, seed, start, report, goal), budget)


def _exact_threads(problem: Problem, budget: Budget) -> int:
    return max(min(usable_threads(), int(problem.n_rows / 5_000)), 1) if budget.n_jobs is None else budget.n_jobs


def _told(found: Solution, budget: Budget) -> Solution:
    return replace(found, solver=f"{found.solver} with n_jobs={budget.n_jobs}, chosen by auto")
