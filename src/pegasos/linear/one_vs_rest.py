"""Several classes, each against the rest, alone or in groups that share one pass over the examples."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import UNIT, Bounds
from pegasos.base.estimator import Data
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers, check_finite, is_cut_short, joined, then
from pegasos.base.progress import Opened, Progress, Shifted, Unsaved, make_run
from pegasos.base.threads import TimeShare, finish_short, run_all
from pegasos.linear.estimator import Task
from pegasos.problems.linear import Examples, LinearProblem
from pegasos.solvers import SDCA, Solver
from pegasos.solvers.auto import Auto, ascends, chosen
from pegasos.solvers.newton import choose_equations

#: Classes that share a pass: their weights of a feature, in single precision, are one cache line.
GROUP = 16
#: With the hinge losses, entries of all examples and classes of a group from which on sharing pays. Steps of the log
#: loss are so dear that with it sharing pays on all sparse data.
ENTRIES = 250_000
FULL = 14
#: The share of entries that are not zero beyond which data is as good as dense, of which an example is read in one go.
DENSEST = 0.1
#: With the log loss, entries of a dense example for each class of a group up to which sharing pays.
DENSE_ENTRIES_OF_CLASS = 100
#: Bytes that the variables of all classes and the weights of a group may take.
MOST_BYTES = 512e6
#: Epochs after which a class goes on alone, with examples that rest for it alone; with the log loss none does.
SHARED_EPOCHS = 20
#: Solves the problem of the class of a number from where the last fit left it.
SolveOne = Callable[[int, Examples, Progress, Budget], Solution[Point]]


class OneVsRest:
    """A fit of each class against the rest: as many problems as classes.

    The budget is that of the whole fit, whose threads have a class or a group of them each. Where the fit is
    `continued`, no classes share passes. `keep_points` tells whether solutions have their dual points for another fit.
    """

    def __init__(self, task: Task, budget: Budget, solve_one: SolveOne, continued: bool, keep_points: bool) -> None:
        self.task, self.solve_one = task, solve_one
        self.budget, self.n_jobs = budget, budget.n_jobs or 1
        self.continued, self.keep_points = continued, keep_points
        self.labels = task.data.classes.tolist()
        count = len(self.labels)
        self.shared = not continued and is_worth_sharing(task.examples, count, task.solver, float(budget.tol))
        self.groups = group_classes(count) if self.shared else [range(k, k + 1) for k in range(count)]
        self.able = can_go_on(task.solver) and task.held_out is None
        self.room = MOST_BYTES // (8 * len(task.examples.y))  # of dual points to go on from
        self.solutions: list[Solution[Point]] = []
        self._share_time(len(self.groups))

    def solve(self, progress: Progress) -> list[Solution[Point]]:
        """The solutions, in the order of the classes; a KeyboardInterrupt where no class has a point."""
        keep, self.opened = self.budget.keep, Opened(progress)
        works = [(functools.partial(self._solve_group, numbers), self.opened) for numbers in self.groups]
        cut_short = (lambda group: any(map(is_cut_short, group))) if keep else None
        # A class whose turn did not come has no weights. Where a fit is continued, the old model is worth more.
        instead = self._not_begun if keep and not self.continued else None
        found = run_all(works, self.n_jobs, cut_short, instead)
        self.solutions = list(itertools.chain.from_iterable(found))
        if all(solution.epochs == 0 and is_cut_short(solution) for solution in self.solutions):
            raise KeyboardInterrupt
        finish_short(self._find_short, self._go_on, self.budget.max_time, lambda: self.task.context.elapsed)
        for number, solution in enumerate(self.solutions):
            if solution.reason == "max_time":
                self._listener(number, self.opened).close()
        return self.solutions

    def _listener(self, number: int, progress: Progress) -> Progress:
        return progress.part(f"{self.labels[number]!r}", number, len(self.labels))

    def _examples(self, number: int) -> Examples:
        return replace(self.task.examples, y=against_the_rest(self.task.data, number))

    def _share_time(self, waiting: int) -> None:
        """Let so many problems share what is left of the time."""
        self.share = TimeShare(self.budget.max_time, waiting, self.n_jobs)
        self.held = itertools.count()  # dual points

    def _next_budget(self) -> Budget:
        elapsed = self.task.context.elapsed
        return replace(self.budget, max_time=self.share.limit(elapsed), elapsed=elapsed, n_jobs=1)

    def _leave(self, solution: Solution[Point]) -> Solution[Point]:
        """With its dual point if that is worth its memory: for this fit to go on from, or for the next."""
        goes_on = self.able and solution.reason == "max_time" and next(self.held) < self.room
        return solution if goes_on or self.keep_points else solution.moved(q=None)

    def _solve_group(self, numbers: range, progress: Progress) -> list[Solution[Point]]:
        if self.shared:
            found = solve_together(self.task, numbers, self._next_budget(), progress, self.keep_points)
        else:
            found = [self._solve_alone(number, progress) for number in numbers]
        return [self._leave(solution) for solution in found]

    def _solve_alone(self, number: int, progress: Progress) -> Solution[Point]:
        listener = self._listener(number, progress)
        solution = self.solve_one(number, self._examples(number), listener, self._next_budget())
        if solution.reason != "max_time":  # with which it may go on
            listener.close()
        return solution

    def _not_begun(self, group: int) -> list[Solution[Point]]:
        return [not_begun(self._examples(k), self.task.C, self.task.context.elapsed) for k in self.groups[group]]

    def _find_short(self) -> list[int]:
        ended = not self.able or any(map(is_cut_short, self.solutions))
        return [] if ended else [k for k, solution in enumerate(self.solutions) if solution.reason == "max_time"]

    def _go_on(self, numbers: Sequence[int]) -> None:
        """Let the classes of these numbers go on from where they were left."""
        self._share_time(len(numbers))
        keep = self.budget.keep
        works = [(functools.partial(self._solve_more, k), Unsaved(self._listener(k, self.opened))) for k in numbers]
        before = [replace(self.solutions[k], reason="interrupt") for k in numbers]
        more = run_all(works, self.n_jobs, is_cut_short if keep else None, before.__getitem__ if keep else None)
        for k, solution in zip(numbers, more, strict=True):
            self.solutions[k] = solution

    def _solve_more(self, number: int, progress: Progress) -> Solution[Point]:
        task, first = self.task, self.solutions[number]
        problem = self._examples(number).problem(task.C)
        solution = go_on_alone(task.solver, problem, first, self._next_budget(), task.context.seed, progress)
        if solution.reason != "max_time":
            self._listener(number, self.opened).close()
        return self._leave(check_finite(solution, problem))


def against_the_rest(data: Data, number: int) -> NDArray[np.float64]:
    """The labels of the problem of a class."""
    return np.where(data.encoded == number, 1.0, -1.0)


def group_classes(count: int) -> list[range]:
    """The classes in groups of like sizes. They do not depend on the threads, nor then does the result."""
    bounds = np.linspace(0, count, -(-count // GROUP) + 1).astype(int).tolist()
    return [range(first, last) for first, last in itertools.pairwise(bounds)]


def is_worth_sharing(examples: Examples, count: int, solver: Solver, tol: float) -> bool:
    """Whether classes that share passes take less time than one by one; docs/multiclass.md has the figures."""
    n_rows, entries = len(examples.y), examples.facts.entries
    bytes_taken = 8.0 * (n_rows * count + 4 * GROUP * examples.dimension)
    sizes = n_rows, entries, examples.dimension
    ascent = isinstance(solver, SDCA)
    if isinstance(solver, Auto):  # with the log loss, Newton takes each class alone if that takes no more than a matrix
        products = examples.loss == "log_loss" and choose_equations(*sizes) == "cg"
        ascent = products or ascends(examples.loss, *sizes, tol)
    if not ascent or examples.free_intercept or bytes_taken > MOST_BYTES:
        return False
    together = count / len(group_classes(count))  # classes of a group
    sparse = entries <= DENSEST * n_rows * examples.dimension
    if examples.loss == "log_loss":
        return sparse or entries <= DENSE_ENTRIES_OF_CLASS * n_rows * together
    return sparse and entries >= ENTRIES and together >= FULL


def solve_together(
    task: Task, numbers: range, budget: Budget, progress: Progress, keep_points: bool
) -> list[Solution[Point]]:
    """The solutions of some of the classes against the rest, by dual coordinate ascent.

    The budget's time is that of all of them. Those that need many epochs go on one by one. `keep_points` tells whether
    solutions within the tolerance have their dual points.
    """
    examples, solver, classes = task.examples, task.solver, task.data.encoded
    labels = task.data.classes.tolist()
    listeners = [progress.part(f"{labels[number]!r}", number, len(labels)) for number in numbers]

    def checked(number: int, seconds: float, epoch: float, primal: float, dual: float, check: native.Check) -> bool:
        return listeners[number - numbers.start].checked(seconds, epoch, primal, dual, check.weights)

    ascent = solver if isinstance(solver, SDCA) else SDCA()
    ascent = SDCA(shrink=ascent.shrink, order="blocks" if ascent.order == "blocks" else "permute")
    whole = replace(examples, y=classes.astype(np.float64)).problem(task.C)
    found = native.shared_sdca(
        whole.core,
        make_run(budget, progress),
        first=numbers.start,
        last=numbers.stop,
        shrink=bool(ascent.shrink),
        blocks=ascent.order == "blocks",
        max_epochs=float(budget.max_iter),
        shared_epochs=math.inf if examples.loss == "log_loss" else float(SHARED_EPOCHS),
        keep_points=keep_points,
        tol=budget.tol,
        seed=task.context.seed,
        visits=None,
        report=checked,
    )
    text = f"{ascent.describe()} on {len(numbers)} classes at once"
    solutions = [Solution.from_core(one, Point(one.w, one.q), text) for one in found]
    if isinstance(solver, Auto):
        solutions = [chosen(solution, budget.n_jobs) for solution in solutions]
    if any(map(is_cut_short, solutions)):
        return [replace(one, reason="interrupt") if one.reason == "handed_over" else one for one in solutions]
    left = [k for k, solution in enumerate(solutions) if solution.reason == "handed_over"]
    share = TimeShare(budget.max_time, len(left), 1)
    elapsed = max(solution.seconds for solution in solutions)
    cut = False
    for k in left:  # a class that goes on alone
        problem = replace(examples, y=against_the_rest(task.data, numbers[k])).problem(task.C)
        first = solutions[k]
        rest = replace(budget, max_time=share.limit(elapsed), elapsed=elapsed)
        if cut:
            solutions[k] = replace(first, reason="interrupt")
            continue
        solutions[k] = go_on_alone(solver, problem, first, rest, task.context.seed, listeners[k])
        elapsed, cut = solutions[k].seconds, is_cut_short(solutions[k])
    for solution, listener in zip(solutions, listeners, strict=True):
        if solution.reason != "max_time":  # with which it may go on
            listener.close()
    return [check_finite(solution, whole) for solution in solutions]


def go_on_alone(
    solver: Solver, problem: LinearProblem, first: Solution[Point], budget: Budget, seed: int, progress: Progress
) -> Solution[Point]:
    """What a class has that goes on from where it was left, in what is left of the budget's epochs."""
    rest = replace(budget, max_iter=max(budget.max_iter - round(first.epochs), 1))

    def go_on() -> Solution[Point]:
        more = solver.solve(problem, rest, seed, first.start, Shifted(progress, first.epochs))
        return joined(first, replace(more, t=more.t - first.t))

    return then(first, go_on, budget.keep)


def can_go_on(solver: Solver) -> bool:
    """Whether two runs of a solver, the second from where the first ended, are as good as one."""
    whole = solver.max_steps is None and getattr(solver, "returns_best", True)
    return whole and solver.supports[LinearProblem].continued


def not_begun(examples: Examples, C: float, seconds: float) -> Solution[Point]:
    """What is known of a class that Ctrl-C kept from its first check: the bounds of no weights and an intercept of -1.

    With an intercept of 0 it would win over all classes whose scores are negative, as those of fitted ones mostly are.
    """
    b = -1.0 if examples.bias > 0 else 0.0
    w = np.zeros(examples.dimension)
    w[-1] = b / examples.bias if b else 0.0
    positive = examples.y > 0
    sums = float(examples.s[positive].sum()), float(examples.s[~positive].sum())
    right, wrong = (native.loss_value(examples.loss, z) for z in (-b, b))
    losses = C * (sums[0] * wrong + sums[1] * right)
    error = 4 * UNIT * len(examples.y) * (losses + C * examples.total_weight)
    found = native.primal_bound(w[:-1] if examples.free_intercept else w, losses, error)
    bounds = Bounds(found.primal, 0.0, found.above)
    point = Point(w, np.zeros(len(examples.y)))
    records = [[seconds, 0.0, bounds.primal, bounds.dual]]
    return Solution(point, bounds, 0.0, seconds, "interrupt", records, UsedSolvers(("none",)))
