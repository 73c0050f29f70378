"""One problem of a kernel machine's fit: solve, certify, and where rounding stands in the way solve in a finer way."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos._config import usable_threads
from pegasos._core import native
from pegasos.base import clock
from pegasos.base.outcome import Budget, Solution, Start, refuse_overflow
from pegasos.base.parameters import loss_parameter
from pegasos.base.progress import Progress, make_run
from pegasos.base.supports import Supports
from pegasos.kernel.certify import allow_for, certify
from pegasos.kernel.kernels import Definiteness, Kernel, PointKernel
from pegasos.problems.kernel import KernelPoint, KernelProblem, continuing, feasible_start, make_problem
from pegasos.solvers import Solver

__all__ = ["Part", "PartFit"]

#: Rows kept of a kernel matrix, whatever `cache_size` is.
FEWEST_ROWS = 64
#: The share of `tol` that solvers, which leave rounding to the certificate, are asked for.
SHARE = 0.98
#: What rounding may add to the gap, as a share of `tol`, for another try with the same kernel matrix to be worth it.
LITTLE = 0.3

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """One of the problems of a fit."""

    name: str
    rows: NDArray[np.intp] | None  # None: all
    y: Floats
    shift: float = 0.0  # what was taken off the targets; the intercept has it


@dataclass(frozen=True)
class PartFit:
    """What the problems of a fit share, and how one of them is solved."""

    machine: Any
    solver: Solver
    known: Definiteness
    s: Floats
    C: float
    seed: int
    started: float
    n_jobs: int | None  # threads of a problem
    cached_bytes: float  # of a problem
    limit: Callable[[float], float | None]  # of its time, given the time that is over

    def solve(
        self,
        part: Part,
        kernel: Kernel,
        source: native.KernelSource | None,
        split: tuple[Any, NDArray[np.intp] | None],
        last: Floats | None,
        progress: Progress,
    ) -> tuple[Solution[KernelPoint], Kernel]:
        """The solution, its coefficients by example of the part, and the kernel that it was found with.

        `source` is the kernel matrix where it is there already, `split` has the examples to train on and those to stop
        by, `last` the weights of the examples in the last fit.
        """
        rows = np.arange(len(self.s)) if part.rows is None else part.rows
        train, held = split
        order = None if part.rows is None and held is None else rows
        if held is not None:
            order = rows[np.concatenate([train, held])]
        tol, s = self.machine.tol, self.s[rows[train]]
        problem = self._problem(part, train, held, s, kernel, source or kernel.source(order, 1))
        start = None if last is None else feasible_start(problem, last[rows[train]])
        asked, earlier, limit = SHARE * tol, None, self.limit(clock.now() - self.started)
        while True:
            made = 0.0 if earlier is None else earlier.epochs
            found = self._run(problem, asked, start, progress, made, limit)
            if earlier is not None:
                found = continuing(earlier, found)
            found = self._certified(problem, found, part, kernel, order, limit)
            stored = self._as_stored(found, part, kernel, order)
            gap = stored.bounds.gap
            ended = found.reason in ("tol", "precision")
            if not ended or self.known.indefinite or self.solver.maximises_margin or tol == 0 or gap <= tol:
                break
            rounded = gap - found.bounds.plain_gap > LITTLE * tol or found.reason == "precision"
            if limit is not None and clock.now() - self.started >= limit:
                stored = replace(stored, reason="max_time")
                break
            finer = kernel.finer() if rounded else kernel
            if finer is None or (finer is kernel and asked < SHARE * tol):
                stored = replace(stored, reason="precision")
                break
            asked = SHARE * tol / 2
            if finer is not kernel:
                kernel, asked = finer, SHARE * tol
                problem = self._problem(part, train, held, s, kernel, kernel.source(order, self.n_jobs or 1))
            earlier, start = found, found.start if self._able.continued else None
        if gap <= tol and stored.reason == "precision":
            stored = replace(stored, reason="tol")
        if held is not None:
            beta = np.zeros(len(part.y))
            beta[train] = stored.point.beta
            stored = stored.moved(beta=beta)
        return self._recorded(stored), kernel

    def _problem(
        self,
        part: Part,
        train: Any,
        held: NDArray[np.intp] | None,
        s: Floats,
        kernel: Kernel,
        source: native.KernelSource,
    ) -> KernelProblem:
        kept = self.cached_bytes / (len(part.y) * np.dtype(kernel.precision).itemsize)
        return make_problem(
            source,
            part.y[train],
            s,
            self.C,
            loss=self.machine.loss,
            parameter=loss_parameter(self.machine)[1],
            free_intercept=bool(self.machine.fit_intercept),
            cached_rows=int(min(max(FEWEST_ROWS, kept), 2**31)),
            held_out=None if held is None else part.y[held],
            patience=int(getattr(self.machine, "n_iter_no_change", 0)),
        )

    def _run(
        self,
        problem: KernelProblem,
        tol: float,
        start: Start[KernelPoint] | None,
        progress: Progress,
        made: float,
        limit: float | None,
    ) -> Solution[KernelPoint]:
        """What the solver finds in the time and the epochs that are left."""
        elapsed = clock.now() - self.started
        epochs = max(int(self.machine.max_iter - made), 1)
        budget = Budget(tol, epochs, limit, elapsed, self.n_jobs)
        return _check_finite(self.solver.solve(problem, budget, self.seed, start, progress), self.C)

    def _certified(
        self,
        problem: KernelProblem,
        found: Solution[KernelPoint],
        part: Part,
        kernel: Kernel,
        order: NDArray[np.intp] | None,
        limit: float | None,
    ) -> Solution[KernelPoint]:
        """With bounds that allow for rounding and for what is known of the kernel."""
        if self.solver.maximises_margin and not self.known.indefinite:
            return found
        point = found.point
        free = self.machine.fit_intercept and point.dual_variables is None
        if part.shift != 0:  # the intercept is one that can be stored
            free, b = False, (point.b + part.shift) - part.shift
            assert point.responses is not None
            there = native.machine_bounds(problem.core, point.variables, point.responses, point.error, b).bounds
            found = found.moved(b=b).bounded(primal=there.primal, above=there.above)
        if self.known.indefinite:
            reason = "indefinite" if found.reason in ("tol", "precision") else found.reason
            records = [[seconds, epoch, primal, -np.inf] for seconds, epoch, primal, _ in found.records]
            return replace(found.bounded(dual=-np.inf, below=0.0), records=records, reason=reason)
        if found.reason != "max_time":
            budget = Budget(self.machine.tol, 1, limit, n_jobs=self.n_jobs or usable_threads())

            def run() -> native.Run:
                return make_run(replace(budget, elapsed=clock.now() - self.started))

            found = certify(problem, found, kernel.exact(order), self.machine.tol, run, None if free else found.point.b)
        if found.bounds.dual < 0:  # the value of beta = 0
            found = found.bounded(dual=0.0, below=0.0)
        return allow_for(self.known, problem, found)

    def _as_stored(
        self, found: Solution[KernelPoint], part: Part, kernel: Kernel, order: NDArray[np.intp] | None
    ) -> Solution[KernelPoint]:
        """The solution with the intercept for the data as they were given; the primal value allows for its rounding."""
        point = found.point
        if not isinstance(kernel, PointKernel) or kernel.name != "linear" or kernel.layout.shift is None:
            return found.moved(b=point.b + part.shift)
        b, error = kernel.intercept_without_shift(point.b, part.shift, point.beta, order)
        more = self.C * float(self.s.sum()) * error * (1 + 1e-9)
        return found.moved(b=b).bounded(primal=found.bounds.primal + more, above=found.bounds.above + more)

    def _recorded(self, found: Solution[KernelPoint]) -> Solution[KernelPoint]:
        """The solution with its bounds as the last record; those before are not better."""
        primal, dual = found.bounds.primal, found.bounds.dual
        _refuse_overflow(self.C, primal)
        seconds, records = clock.now() - self.started, found.records
        if self._able.exact:
            records = [[*row[:2], max(row[2], primal), min(row[3], dual)] for row in records]
        return replace(found, seconds=seconds, records=[*records, [seconds, found.epochs, primal, dual]])

    @property
    def _able(self) -> Supports:
        return self.solver.supports[KernelProblem]


def _check_finite(solution: Solution[KernelPoint], C: float) -> Solution[KernelPoint]:
    """The solution; a ValueError where its numbers are not finite. Bounds may be infinite by an error of the matrix."""
    point = solution.point
    _refuse_overflow(C, point.beta, point.b, point.squared_norm)
    return solution


def _refuse_overflow(C: float, *numbers: Any) -> None:
    remedy = "scale the features, or lower C, gamma, degree or coef0"
    refuse_overflow(*numbers, of=f"the values of the kernel and C={C:.3g}", remedy=remedy)
