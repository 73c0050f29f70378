"""The default: chooses solver and threads for the problem."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from pegasos._core import native
from pegasos._threads import usable_threads
from pegasos.base.outcome import Budget, Point, Solution, joined, then
from pegasos.base.progress import Shifted, make_run
from pegasos.base.solver import LOSSES, Solver, Supports, Terms
from pegasos.certificate import relative_gap
from pegasos.problems.kernel import KERNEL_LOSSES, KernelPoint, KernelProblem, continuing
from pegasos.problems.linear import JOINT_LOSSES, LARGE, BlocksProblem, JointProblem, LinearProblem, StreamProblem
from pegasos.problems.sequence import Labellings, SequencePoint, SequenceProblem
from pegasos.solvers.frank_wolfe import FrankWolfe
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.newton import SMOOTH, Newton, choose_equations, is_dense
from pegasos.solvers.pegasos import Pegasos
from pegasos.solvers.sdca import SDCA
from pegasos.solvers.smo import SMO

P = TypeVar("P")

#: Entries of the data that make one thread of SDCA worth while. Smaller problems are done before a second one pays.
ENTRIES_PER_THREAD = 2_000_000
#: More threads of SDCA need so many more epochs that they seldom pay (benchmarks/threads.py, on 16 processors).
MOST_THREADS = 2
#: Features beyond which the matrices of InteriorPoint are a burden on memory and time.
MOST_FEATURES = 4_000
#: Seconds that InteriorPoint may be expected to take for a problem to count as tiny.
TINY = 0.0005
#: The gap to which tiny problems are solved: rounding.
ROUNDING = 1e-13
#: Rows of a kernel matrix up to which a problem is tiny, and the epochs that SMO is given to solve it to rounding.
TINY_ROWS = 64
TINY_EPOCHS = 1000
#: Rows of a kernel matrix from which on there is work for several threads.
ROWS_FOR_THREADS = 1000
#: A trial of SDCA: the share of InteriorPoint's time that it may take, and the fewest and the most epochs.
TRIAL = 0.12
TRIAL_EPOCHS = 3, 6
#: The share of InteriorPoint's time that going on may be expected to take, and then takes at most.
SHARE = 0.8
#: The gap at which InteriorPoint can leave most rows out.
NEAR = 1e-2
#: The tolerance from which on InteriorPoint is the faster one to get there from NEAR, and is not doubted where it ends.
EXACT = 1e-5
#: Epochs of SDCA on sparse data of many features with the log loss, after which `Newton` goes on.
LONG = 30
#: Epochs that SDCA takes to 0.1%, about: at least, and with classes and targets for each unit of the gap after the
#: trial and each epoch of that.
LEAST_EPOCHS = 10
EPOCHS_PER_GAP = {True: 2.7, False: 13.0}


class Auto(Solver):
    """Chooses a solver and the number of threads for the problem.

    Its page in the docs says how and why. Losses without corners are left to `Newton`, unless data are sparse with many
    features: these are left to `SDCA`, after which `Newton` ends the log loss of two classes if need be. The rest begin
    with `SDCA` and, where that turns out to take longer than `InteriorPoint` would, and the features are not too many,
    end with that. Tiny problems are solved to rounding. Threads, where ``n_jobs`` is None, are chosen too. `tol` means
    the same whatever is chosen, and ``certificate_.solver`` tells what was.
    """

    name = "auto"
    #: What it takes where the kind of problem alone decides.
    choices: ClassVar[Mapping[type[Any], type[Solver]]] = {
        BlocksProblem: SDCA,
        SequenceProblem: FrankWolfe,
        StreamProblem: Pegasos,
    }

    def chosen_for(self, kind: type[Any]) -> Solver:
        return self.choices[kind]() if kind in self.choices else self

    def _learner(self, problem: BlocksProblem | StreamProblem, *options: Any) -> Any:
        return self.chosen_for(type(problem)).learner(problem, *options)

    def _sequences(self, problem: SequenceProblem, terms: Terms[Labellings]) -> Solution[SequencePoint]:
        return chosen(FrankWolfe().solve_on(problem, terms))

    def _joint(self, problem: JointProblem, terms: Terms[Point]) -> Solution[Point]:
        budget, sizes = terms.budget, (problem.n_rows, problem.entries, problem.dimension)
        if problem.loss == "log_loss" and budget.tol > 0 and _packs_well(*sizes):
            threads = _exact_threads(problem, budget)
            return chosen(Newton().solve_on(problem, terms.within(n_jobs=threads)), threads)
        return chosen(SDCA().solve_on(problem, terms), budget.n_jobs or 1)

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        threads = terms.budget.n_jobs or (usable_threads() if problem.n_rows >= ROWS_FOR_THREADS else 1)
        terms = terms.within(n_jobs=threads)
        budget = terms.budget
        if problem.n_rows > TINY_ROWS or budget.tol == 0:
            return chosen(SMO().solve_on(problem, terms), threads)
        exact = terms.within(tol=min(budget.tol, ROUNDING), max_iter=min(budget.max_iter, TINY_EPOCHS))
        found = SMO().solve_on(problem, exact)
        if found.bounds.plain_gap <= budget.tol and found.reason != "callback":
            found = replace(found, reason="tol")
        elif found.reason == "max_iter" and budget.max_iter > TINY_EPOCHS:
            rest = replace(budget, max_iter=budget.max_iter - TINY_EPOCHS, elapsed=found.seconds)
            first, shifted = found, Shifted(terms.progress, found.epochs)

            def go_on() -> Solution[KernelPoint]:
                return continuing(first, SMO().solve(problem, rest, terms.seed, first.start, shifted))

            found = then(first, go_on, budget.keep)
        return chosen(found, threads)

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        budget = terms.budget
        epoch, exact = _costs(problem)
        sizes = problem.n_rows, problem.entries, problem.dimension
        if ascends(problem.loss, *sizes, budget.tol):
            if problem.loss != "log_loss" or budget.tol == 0:
                return _ascend(problem, terms)
            found = _ascend(problem, terms.within(max_iter=min(LONG, budget.max_iter)))
            return _end(found, terms, lambda rest: _newton(problem, replace(rest, start=found.start)))
        goal = ROUNDING if exact < TINY else 0.0
        if takes_newton(problem.loss, *sizes):
            return _newton(problem, terms, goal)
        if _is_near_enough(problem, terms):
            return _finish(problem, terms)  # finds just that
        exact /= _exact_threads(problem, budget)
        least, most = TRIAL_EPOCHS
        trial = int(TRIAL * exact / epoch)
        if goal > 0 or (budget.tol < EXACT and trial < least):
            return _finish(problem, terms, goal)

        # A trial of coordinate ascent; if that promises to be done in less time than the exact method, it goes on.
        goal = budget.tol if budget.tol > EXACT else NEAR
        worth = int(SHARE * exact / epoch)
        trial = min(max(trial, least), most, budget.max_iter)
        found = _ascend(problem, terms.within(tol=goal, max_iter=trial))
        more = min(worth, budget.max_iter - trial)
        expected = LEAST_EPOCHS + EPOCHS_PER_GAP[_has_classes(problem)] * trial * found.bounds.gap
        if found.reason == "max_iter" and expected < worth and more > 0:
            longer = terms.within(tol=goal, max_iter=more, elapsed=found.seconds)
            first, goes_on = found, replace(longer, start=found.start)
            found = then(first, lambda: joined(first, _ascend(problem, goes_on)), budget.keep)
        start = found.start if found.bounds.gap <= NEAR else None
        return _end(found, terms, lambda rest: _finish(problem, replace(rest, start=start)))

    supports: ClassVar = {
        LinearProblem: Supports(_linear, losses=LOSSES, intercepts=("penalized", "free"), needs_dual=True),
        JointProblem: Supports(_joint, losses=JOINT_LOSSES),
        KernelProblem: Supports(_kernel, losses=KERNEL_LOSSES, intercepts=("free",)),
        SequenceProblem: Supports(_sequences),
        BlocksProblem: Supports(_learner, losses=LOSSES, continued=False),
        StreamProblem: Supports(_learner, losses=LOSSES),
    }


def ascends(loss: str, n_rows: int, entries: float, dimension: int, tol: float) -> bool:
    """Whether a linear machine is left to `SDCA` altogether; the dimension counts the features and the intercept."""
    return tol == 0 or (dimension - 1 > MOST_FEATURES and not takes_newton(loss, n_rows, entries, dimension))


def takes_newton(loss: str, n_rows: int, entries: float, dimension: int) -> bool:
    """Whether a linear machine is left to `Newton`; `InteriorPoint` does not support the log loss."""
    few = loss == "log_loss" and dimension - 1 <= MOST_FEATURES
    return loss in SMOOTH and (few or _packs_well(n_rows, entries, dimension))


def _packs_well(*sizes: Any) -> bool:
    """Whether data are dense, or of few features."""
    return is_dense(*sizes) or choose_equations(*sizes) == "cholesky"


def _is_near_enough(problem: LinearProblem, terms: Terms[Point]) -> bool:
    """Whether a continued fit has nothing to do."""
    start, budget = terms.start, terms.budget
    if start is None or start.point.q is None:
        return False
    run = make_run(replace(budget, n_jobs=_exact_threads(problem, budget)))
    bounds = native.certify(problem.core, run, start.point.w, start.point.q)
    return relative_gap(bounds.primal, bounds.dual) <= budget.tol


def _costs(problem: LinearProblem) -> tuple[float, float]:
    """Seconds that an epoch of SDCA and all of InteriorPoint take, about, with one thread.

    The figures are iterations, and nanoseconds a row, measured; only the ratio of the two matters much.
    """
    k, d = problem.entries / problem.n_rows, problem.dimension
    if k < d / 4:  # sparse: the outer product of each row is added entry by entry
        epoch, iteration, iterations = 25 + 1.6 * k, 60 + 2 * k + 0.15 * k * k, 20
    else:
        epoch, iteration, iterations = 25 + 0.2 * d, 50 + 1.4 * d + 0.0095 * d * d, 12
    if problem.entries * 12 > LARGE:  # beyond the caches, each visit waits for memory
        epoch += 50 if k < d / 4 else 20
    if not _has_classes(problem):  # in a regression each row is two to InteriorPoint
        iteration *= 2
    return 1e-9 * problem.n_rows * epoch, 1e-9 * iterations * (problem.n_rows * iteration + 0.07 * d**3)


def _has_classes(problem: LinearProblem) -> bool:
    return problem.loss.endswith("hinge")


def _ascend(problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
    """Coordinate ascent. On dense data, where every example touches every weight, threads get in each other's way."""
    if terms.budget.n_jobs is None:
        sparse = problem.entries < 0.1 * problem.n_rows * problem.dimension
        threads = min(usable_threads(), MOST_THREADS, int(problem.entries / ENTRIES_PER_THREAD)) if sparse else 1
        terms = terms.within(n_jobs=max(threads, 1))
    return chosen(SDCA().solve_on(problem, terms), terms.budget.n_jobs)


def _newton(problem: LinearProblem, terms: Terms[Point], goal: float = 0.0) -> Solution[Point]:
    threads = _exact_threads(problem, terms.budget)
    return chosen(Newton()._linear(problem, terms.within(n_jobs=threads), goal), threads)


def _finish(problem: LinearProblem, terms: Terms[Point], goal: float = 0.0) -> Solution[Point]:
    """The exact method, with all the threads that have something to do; where it gets stuck, coordinate ascent."""
    threads = _exact_threads(problem, terms.budget)
    found = chosen(InteriorPoint()._linear(problem, terms.within(n_jobs=threads), goal), threads)
    bounds = found.bounds
    if found.reason != "precision" or bounds.dual <= 0 or bounds.gap <= EXACT or bounds.mostly_rounding:
        return found  # nothing that more steps would be of use for
    return _end(found, terms, lambda rest: _ascend(problem, rest))


def _end(
    found: Solution[Point], terms: Terms[Point], go_on: Callable[[Terms[Point]], Solution[Point]]
) -> Solution[Point]:
    """What coordinate ascent found, if it is within `tol`; otherwise what goes on with the rest of the budget."""
    budget, epochs = terms.budget, round(found.epochs)
    stopped = found.reason in ("max_time", "interrupt", "callback")
    if stopped or found.bounds.gap <= budget.tol or epochs >= budget.max_iter:
        return found
    rest = terms.within(max_iter=budget.max_iter - epochs, elapsed=found.seconds)
    return then(found, lambda: joined(found, go_on(rest)), budget.keep)


def _exact_threads(problem: LinearProblem | JointProblem, budget: Budget) -> int:
    return max(min(usable_threads(), int(problem.n_rows / 5_000)), 1) if budget.n_jobs is None else budget.n_jobs


def chosen(found: Solution[P], n_jobs: int | None = None) -> Solution[P]:
    """The solution, which tells that its solver and threads were chosen."""
    return replace(found, used=replace(found.used, n_jobs=n_jobs, by_auto=True))
