"""The choice behind ``solver="auto"``."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pegasos._config import usable_threads
from pegasos.options import Option
from pegasos.problem import Budget, Problem, Solution, WarmStart
from pegasos.solvers.base import Report, Solver
from pegasos.solvers.interior_point import InteriorPoint
from pegasos.solvers.sdca import SDCA

__all__ = ["Auto"]

#: Entries of the data that make a second thread worth its while; below, joining costs more than it gains.
ENTRIES_PER_THREAD = 2e6

#: More threads gain at small C and lose at C = 1 (benchmarks/scaling.py on 16 processors; the table is in the docs).
MOST_THREADS = 2


class Auto(Solver):
    """Chooses a solver and the number of threads for the problem; its page in the docs says why.

    The solver is `SDCA`, and `InteriorPoint` for a free intercept. Threads, where ``n_jobs`` is None, are one for every
    two million entries of the data, at most two, and with `SDCA` only on sparse data: on dense data, where every
    example touches every weight, its threads get in each other's way. `tol` means the same whatever is chosen, and
    ``certificate_.solver`` tells what was.
    """

    name = "auto"
    options: ClassVar[Mapping[str, Option]] = {}
    intercepts = InteriorPoint.intercepts

    def solve(
        self, problem: Problem, budget: Budget, seed: int, start: WarmStart | None = None, report: Report | None = None
    ) -> Solution:
        solver: Solver = InteriorPoint() if problem.free_intercept else SDCA()
        if budget.n_jobs is None:
            sparse = problem.entries < 0.1 * problem.n_rows * problem.dimension
            threads = min(usable_threads(), MOST_THREADS, int(problem.entries / ENTRIES_PER_THREAD))
            threads = threads if sparse or problem.free_intercept else 1
            budget = replace(budget, n_jobs=max(threads, 1))
        found = solver.solve(problem, budget, seed, start, report)
        return replace(found, solver=f"{found.solver} with n_jobs={budget.n_jobs}, chosen by auto")
