"""Several classes, each against the rest, that share one pass over the examples."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pegasos._core import native
from pegasos.base.bounds import UNIT, bound_primal
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers, check_finite, is_cut_short, joined, then
from pegasos.base.progress import Progress, Shifted, make_run
from pegasos.base.threads import TimeShare
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
#: Of a score z.
LOSSES: dict[str, Callable[[float], float]] = {
    "hinge": lambda z: max(0.0, 1 - z),
    "squared_hinge": lambda z: max(0.0, 1 - z) ** 2,
    "log_loss": lambda z: math.log1p(math.exp(-z)),
}


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
        seed=task.seed,
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
        problem = replace(examples, y=np.where(classes == numbers[k], 1.0, -1.0)).problem(task.C)
        first = solutions[k]
        rest = replace(budget, max_time=share.limit(elapsed), elapsed=elapsed)
        if cut:
            solutions[k] = replace(first, reason="interrupt")
            continue
        solutions[k] = go_on_alone(solver, problem, first, rest, task.seed, listeners[k])
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
    loss, positive = LOSSES[examples.loss], examples.y > 0
    losses = C * (float(examples.s[positive].sum()) * loss(b) + float(examples.s[~positive].sum()) * loss(-b))
    error = 4 * UNIT * len(examples.y) * (losses + C * examples.total_weight)
    bounds = bound_primal(w[:-1] if examples.free_intercept else w, losses, error)._replace(dual=0.0)
    point = Point(w, np.zeros(len(examples.y)))
    records = [[seconds, 0.0, bounds.primal, bounds.dual]]
    return Solution(point, bounds, 0.0, seconds, "interrupt", records, UsedSolvers(("none",)))
