"""One problem of a kernel machine's fit: solve, certify, and where rounding stands in the way solve in a finer way."""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos._threads import usable_threads
from pegasos.base.checkpoint import Context
from pegasos.base.early_stopping import split
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Solution, is_cut_short, refuse_overflow
from pegasos.base.parameters import loss_parameter
from pegasos.base.progress import Named, Progress, make_run
from pegasos.base.solver import Supports
from pegasos.base.threads import TimeShare, finish_short, run_all
from pegasos.kernel.certify import allow_for, certify
from pegasos.kernel.definiteness import Definiteness
from pegasos.kernel.kernels import CalledKernel, Kernel, PointKernel
from pegasos.problems.kernel import KernelPoint, KernelProblem, continuing, feasible_start, make_problem
from pegasos.solvers import Solver
from pegasos.solvers.auto import ROWS_FOR_THREADS, Auto
from pegasos.solvers.smo import GRADUAL_BELOW, PART_SECONDS, SMO

#: Rows kept of a kernel matrix, whatever `cache_size` is.
FEWEST_ROWS = 64
#: The share of `tol` that solvers, which leave rounding to the certificate, are asked for.
SHARE = 0.98
#: What rounding may add to the gap, as a share of `tol`, for another try with the same kernel matrix to be worth it.
LITTLE = 0.3
#: Rows from which on a time limit may be too short, those of a first subset, and of each sign of its labels at least.
MANY_ROWS, FIRST_ROWS, FEWEST_OF_SIGN = 10_000, 2500, 32
#: The share of the time left for the next subset, or, where there is no time for all rows, most of it; how much larger
#: it is at least; the power of the rows that the time of subsets grows with, and that of all rows.
SUBSET_SHARE, MOST_SHARE, LEAST_GROWTH, SUBSET_GROWTH, GROWTH = 0.4, 0.8, 1.2, 1.1, 1.5
#: The share of the time before the first subset that this has at least.
SHORT_WHILE = 1.0

Floats = NDArray[np.float64]


Solved = tuple[Solution[KernelPoint], Kernel]


class Subproblem(NamedTuple):
    """One of the problems of a fit."""

    name: str
    rows: NDArray[np.intp] | None  # None: all
    y: Floats
    shift: float = 0.0  # what was taken off the targets; the intercept has it

    def take(self, some: NDArray[np.intp]) -> "Subproblem":
        """The problem of some of its examples."""
        return self._replace(rows=some if self.rows is None else self.rows[some], y=self.y[some])


class Chosen(NamedTuple):
    """Which examples a problem is solved on."""

    part: Subproblem
    rows: NDArray[np.intp]  # of all examples, to train on
    train: Any  # the same of those of the part
    held: NDArray[np.intp] | None  # of the part, to tell when to stop by
    order: NDArray[np.intp] | None  # rows of the kernel matrix; None is all


@dataclass
class KernelFit:
    """What the problems of a fit share, and how they are solved."""

    machine: Any
    solver: Solver
    kernel: Kernel
    known: Definiteness
    s: Floats
    C: float
    context: Context

    def solve_all(
        self, parts: Sequence[Subproblem], last: Floats | None, progress: Progress
    ) -> list[tuple[Solution[KernelPoint], Kernel]]:
        """The solution of each problem, its coefficients by example of the part, and the kernel that it was found with.

        Several are solved at a time, with one thread each. `last` has the weights of all examples in the last fit, a
        row for each problem.
        """
        machine, kernel = self.machine, self.kernel
        n_jobs = machine._threads()
        at_a_time = 1
        if len(parts) > 1:
            many = len(self.s) >= ROWS_FOR_THREADS and not isinstance(kernel, CalledKernel)
            worth = isinstance(self.solver, Auto) and many
            at_a_time = n_jobs or (usable_threads() if worth else 1)
        self.n_jobs = n_jobs if len(parts) == 1 else 1  # threads of a problem

        def find_room() -> float:
            return min(float(machine.cache_size) * 1e6, max(0.8 * free_memory(), 1e8))  # what is not there is not taken

        room = progress.runs.choice("room", find_room) if progress.runs else find_room()
        self.cached_bytes = room / min(at_a_time, len(parts))  # of a problem
        self.keep = machine.on_interrupt == "keep"
        subsets: dict[int, Solved] = {}
        if last is None and self._needs_subsets(parts, progress):
            subsets = self._solve_subsets(parts, at_a_time, float(machine.max_time))
        shared = not getattr(machine, "early_stopping", False) and any(part.rows is None for part in parts)
        whole = kernel.source(None, n_jobs or usable_threads()) if shared else None

        def solve(number: int, start: Floats | None, progress: Progress) -> tuple[Solution[KernelPoint], Kernel]:
            first = subsets.get(number)
            if first is not None and self.context.elapsed >= machine.max_time:
                found, used = first
            else:
                found, used = self._solve(parts[number], whole, start, progress, brief=first is not None)
                if first is not None and found.reason == "max_time" and not found.point.variables.any():
                    found, used = first  # there was no time to look at it
            # The solver's own bounds allow for more rounding than those of the last look.
            rows, point = parts[number].rows, found.point
            named = _name(point.beta, np.arange(len(self.s)) if rows is None else rows, point.b)
            seconds, bounds = self.context.elapsed, found.bounds
            progress.checked(seconds, found.epochs, bounds.primal, bounds.dual, lambda: named)
            if found.reason != "max_time":  # with which it may go on
                progress.close()
            return found, used

        listeners = [progress]
        if len(parts) > 1:
            listeners = [progress.part(part.name, k, len(parts)) for k, part in enumerate(parts)]

        def solve_some(numbers: Sequence[int], starts: Any) -> list[tuple[Solution[KernelPoint], Kernel]]:
            self.share = TimeShare(machine.max_time, len(numbers), at_a_time)
            works = [(functools.partial(solve, k, starts[k]), listeners[k]) for k in numbers]
            return run_all(works, at_a_time, (lambda found: is_cut_short(found[0])) if self.keep else None)

        starts: Any = [None] * len(parts) if last is None else last
        for k, (found, _) in subsets.items():
            starts[k] = self.spread(parts[k], found.point.beta)
        everything = solve_some(range(len(parts)), starts)

        def go_on(short: Sequence[int]) -> None:
            starts = {k: self.spread(parts[k], everything[k][0].point.last_beta) for k in short}
            try:
                more = solve_some(short, starts)
            except KeyboardInterrupt:
                if not self.keep:
                    raise
                more = [(replace(everything[k][0], reason="interrupt"), everything[k][1]) for k in short]
            for k, (found, used) in zip(short, more, strict=True):
                everything[k] = _nearer(everything[k], (found, used))

        def find_short() -> list[int]:
            return [k for k, (found, _) in enumerate(everything) if found.reason == "max_time"]

        stops = getattr(machine, "early_stopping", False)
        if len(parts) > 1 and self._able.continued and not stops and not progress.runs:
            finish_short(find_short, go_on, machine.max_time, lambda: self.context.elapsed)
        for (found, _), listener in zip(everything, listeners, strict=True):
            if found.reason == "max_time":
                listener.close()
        return everything

    def _solve_subsets(self, parts: Sequence[Subproblem], at_a_time: int, seconds: float) -> dict[int, Solved]:
        """Where so many seconds look too short for all rows, a machine of each problem from random ones.

        The fit goes on from these. Those stay for which there is not even the time to look at all rows. The first
        subset has few rows; by the time that each takes it is decided how many the next one has, which begins with the
        machines of the one before.
        """
        n, rows, keep = len(self.s), FIRST_ROWS, self.keep
        random = np.random.default_rng(self.context.seed).random(n)
        machines: dict[int, Solved] = {}
        self.keep = False  # an interrupt leaves nothing yet

        def solve(number: int, some: NDArray[np.intp], progress: Progress) -> Solved:
            part, before = parts[number], machines.get(number)
            last = None if before is None else self.spread(part, before[0].point.beta)
            found, kernel = self._solve(part.take(some), None, last, progress)
            if before is not None and found.reason == "max_time":
                return before
            return self._on_all(part, some, found, kernel), kernel

        try:
            while True:
                began = self.context.elapsed
                # Even where the time was over before there was anything to solve, a short while is well spent.
                first = began + max(SUBSET_SHARE * (seconds - began), SHORT_WHILE * began)
                self.share = TimeShare(seconds if machines else first, len(parts), at_a_time)
                chosen = [_choose_some(part, random, rows / n) for part in parts]
                works = [(functools.partial(solve, k, some), Progress()) for k, some in enumerate(chosen)]
                machines = dict(enumerate(run_all(works, at_a_time)))
                elapsed = self.context.elapsed
                took, left = elapsed - began, seconds - elapsed
                if left > 2 * took * (n / rows) ** GROWTH:
                    return {} if rows == FIRST_ROWS else machines
                # The responses of all rows to the machines take about half as long as the subset, row by row.
                share = SUBSET_SHARE if left > took * n / rows else MOST_SHARE
                more = (max(share * left, 0.0) / max(took, 1e-9)) ** (1 / SUBSET_GROWTH)
                if more < LEAST_GROWTH or rows == n // 2:
                    return machines
                rows = min(int(rows * more), n // 2)
        finally:
            self.keep = keep

    def _needs_subsets(self, parts: Sequence[Subproblem], progress: Progress) -> bool:
        """Whether a time limit may be too short for all rows, and the solver can go on from some."""
        able = isinstance(self.solver, Auto | SMO) and not getattr(self.machine, "early_stopping", False)
        if self.machine.max_time is None or len(self.s) < MANY_ROWS or not able or progress.runs:
            return False
        limited = self.machine.max_time < GRADUAL_BELOW * PART_SECONDS * sum(len(part.y) ** 2.0 for part in parts)
        return limited and self.known == Definiteness() and bool((self.s > 0).all())

    def _on_all(self, part: Subproblem, some: NDArray[np.intp], found: Solution[KernelPoint], kernel: Kernel) -> Any:
        """The machine of some examples as one of the whole problem.

        Zeros for the others leave the lower bound as it is. The upper one allows for any response within ||w|| ||x||.
        """
        chosen, n, point = self._choose(part), len(part.y), found.point
        beta, twos = np.zeros(n), len(point.variables) > len(point.beta)
        beta[some] = point.beta
        b = point.b - self._stored_intercept(0.0, beta, chosen, kernel)[0]
        furthest = np.abs(part.y) + abs(b) + np.sqrt(point.squared_norm * kernel.diagonal()[chosen.rows])
        primal = 1.001 * (point.squared_norm / 2 + self.C * float(self.s[chosen.rows] @ furthest))
        variables = np.concatenate([np.maximum(beta, 0), np.minimum(beta, 0)]) if twos else beta
        found = found.moved(beta=beta, variables=variables, responses=None, dual_variables=None)
        found = replace(found.bounded(primal=primal, above=0.0), reason="max_time")
        return replace(found, records=[[found.seconds, found.epochs, primal, found.bounds.dual]])

    def spread(self, part: Subproblem, beta: Floats) -> Floats:
        """The coefficients of a part's examples by example of all."""
        spread = np.zeros(len(self.s))
        spread[slice(None) if part.rows is None else part.rows] = beta
        return spread

    def _choose(self, part: Subproblem) -> Chosen:
        rows = np.arange(len(self.s)) if part.rows is None else part.rows
        if not getattr(self.machine, "early_stopping", False):
            return Chosen(part, rows, slice(None), None, part.rows)
        train, held = split(part.y, float(self.machine.validation_fraction), self.context.seed)
        return Chosen(part, rows[train], train, held, rows[np.concatenate([train, held])])

    def _solve(
        self,
        part: Subproblem,
        source: native.KernelSource | None,
        last: Floats | None,
        progress: Progress,
        brief: bool = False,
    ) -> Solved:
        """One problem; `source` is the kernel matrix where it is there already."""
        chosen, kernel, machine = self._choose(part), self.kernel, self.machine
        tol, order = float(machine.tol), chosen.order
        problem = self._problem(chosen, kernel, source or kernel.source(order, 1))
        start = None if last is None else feasible_start(problem, last[chosen.rows])
        stored: Solution[KernelPoint] | None = None
        asked, earlier, limit = SHARE * tol, None, self.share.limit(self.context.elapsed)

        def name(flat: Floats) -> dict[str, Any]:
            beta = problem.beta(flat[: problem.core.size])
            return _name(beta, chosen.rows, self._stored_intercept(flat[-1], beta, chosen, kernel)[0])

        listener = Named(progress, name)
        while True:
            # What the solver finds in the time and the epochs that are left.
            epochs = max(int(machine._max_epochs - (0.0 if earlier is None else earlier.epochs)), 1)
            elapsed = self.context.elapsed
            budget = Budget(asked, epochs, limit, elapsed, self.n_jobs, self.keep, machine.max_time, brief)
            try:
                found = self.solver.solve(problem, budget, self.context.seed, start, listener)
            except KeyboardInterrupt:
                if stored is None or not self.keep:
                    raise
                stored = replace(stored, reason="interrupt")  # where it stood before this try
                break
            # Bounds may be infinite by an error of the matrix.
            _refuse_overflow(self.C, found.point.beta, found.point.b, found.point.squared_norm)
            if earlier is not None:
                found = continuing(earlier, found)
            try:
                found = self._certified(problem, found, chosen, kernel, limit)
            except KeyboardInterrupt:  # during the closer look at its bounds
                if not self.keep:
                    raise
                found = self._certified(problem, replace(found, reason="interrupt"), chosen, kernel, limit)
            stored = self._as_stored(found, chosen, kernel)
            gap = stored.bounds.gap
            ended = found.reason in ("tol", "precision")
            if not ended or self.known.indefinite or self.solver.maximises_margin or tol == 0 or gap <= tol:
                break
            rounded = gap - found.bounds.plain_gap > LITTLE * tol or found.reason == "precision"
            if limit is not None and self.context.elapsed >= limit:
                stored = replace(stored, reason="max_time")
                break
            finer = kernel.finer() if rounded else kernel
            if finer is None or (finer is kernel and asked < SHARE * tol):
                stored = replace(stored, reason="precision")
                break
            asked = SHARE * tol / 2
            if finer is not kernel:
                kernel, asked = finer, SHARE * tol
                problem = self._problem(chosen, kernel, kernel.source(order, self.n_jobs or 1))
            earlier, start = found, found.start if self._able.continued else None
        if gap <= tol and stored.reason == "precision":
            stored = replace(stored, reason="tol")
        if chosen.held is not None:
            beta = np.zeros(len(part.y))
            beta[chosen.train] = stored.point.beta
            stored = stored.moved(beta=beta, dual_variables=None)
        return self._recorded(stored), kernel

    def _problem(self, chosen: Chosen, kernel: Kernel, source: native.KernelSource) -> KernelProblem:
        y, machine = chosen.part.y, self.machine
        kept = self.cached_bytes / (len(y) * np.dtype(kernel.precision).itemsize)
        return make_problem(
            source,
            y[chosen.train],
            self.s[chosen.rows],
            self.C,
            loss=machine.loss,
            parameter=loss_parameter(machine)[1],
            free_intercept=bool(machine.fit_intercept),
            cached_rows=int(min(max(FEWEST_ROWS, kept), 2**31)),
            held_out=None if chosen.held is None else y[chosen.held],
            patience=int(getattr(machine, "n_iter_no_change", 0)),
        )

    def _certified(
        self,
        problem: KernelProblem,
        found: Solution[KernelPoint],
        chosen: Chosen,
        kernel: Kernel,
        limit: float | None,
    ) -> Solution[KernelPoint]:
        """With bounds that allow for rounding and for what is known of the kernel."""
        if self.solver.maximises_margin and not self.known.indefinite:
            return found
        point, shift = found.point, chosen.part.shift
        free = self.machine.fit_intercept and point.dual_variables is None
        if shift != 0:  # the intercept is one that can be stored
            free, b = False, (point.b + shift) - shift
            assert point.responses is not None
            there = native.machine_bounds(problem.core, point.variables, point.responses, point.error, b).bounds
            found = found.moved(b=b).bounded(primal=there.primal, above=there.above)
        if self.known.indefinite:
            reason = "indefinite" if found.reason in ("tol", "precision") else found.reason
            records = [[seconds, epoch, primal, -np.inf] for seconds, epoch, primal, _ in found.records]
            return replace(found.bounded(dual=-np.inf, below=0.0), records=records, reason=reason)
        if found.reason not in ("max_time", "interrupt"):
            budget = Budget(self.machine.tol, 1, limit, n_jobs=self.n_jobs or usable_threads())

            def run() -> native.Run:
                return make_run(replace(budget, elapsed=self.context.elapsed))

            given = None if free else found.point.b
            found = certify(problem, found, kernel.exact(chosen.order), float(self.machine.tol), run, given)
        if found.bounds.dual < 0:  # the value of beta = 0
            found = found.bounded(dual=0.0, below=0.0)
        return allow_for(self.known, problem, found)

    def _as_stored(self, found: Solution[KernelPoint], chosen: Chosen, kernel: Kernel) -> Solution[KernelPoint]:
        """The solution with the intercept for the data as they were given; the primal value allows for its rounding."""
        b, error = self._stored_intercept(found.point.b, found.point.beta, chosen, kernel)
        more = self.C * float(self.s.sum()) * error * (1 + 1e-9)
        return found.moved(b=b).bounded(primal=found.bounds.primal + more, above=found.bounds.above + more)

    def _stored_intercept(self, b: float, beta: Floats, chosen: Chosen, kernel: Kernel) -> tuple[float, float]:
        """The intercept for the data as they were given, and by how much it may be off."""
        shift = chosen.part.shift
        if not isinstance(kernel, PointKernel) or kernel.name != "linear" or kernel.layout.shift is None:
            return b + shift, 0.0
        return kernel.intercept_without_shift(b, shift, beta, chosen.order)

    def _recorded(self, found: Solution[KernelPoint]) -> Solution[KernelPoint]:
        """The solution with its bounds as the last record; those before are not better."""
        primal, dual = found.bounds.primal, found.bounds.dual
        _refuse_overflow(self.C, primal)
        seconds, records = self.context.elapsed, _best_so_far(found.records, primal, dual)
        if not self._able.exact:  # which may return another point than the best, but has no other lower bound
            pairs = zip(found.records, records, strict=True)
            records = [[*before[:3], best[3]] for before, best in pairs]
        return replace(found, seconds=seconds, records=[*records, [seconds, found.epochs, primal, dual]])

    @property
    def _able(self) -> Supports:
        return self.solver.supports[KernelProblem]


def _choose_some(part: Subproblem, random: Floats, share: float) -> NDArray[np.intp]:
    """That share of a problem's examples, and a few of each sign."""
    keys, chosen = random if part.rows is None else random[part.rows], []
    for side in (part.y > 0, part.y <= 0):
        own = np.flatnonzero(side)
        count = max(math.ceil(share * len(own)), min(FEWEST_OF_SIGN, len(own)))
        chosen.append(own[np.argsort(keys[own], kind="stable")[:count]])
    return np.sort(np.concatenate(chosen))


def _nearer(
    first: tuple[Solution[KernelPoint], Kernel], second: tuple[Solution[KernelPoint], Kernel]
) -> tuple[Solution[KernelPoint], Kernel]:
    """The better of two ends of a problem, of which the second run went on from the first; with the work of both."""
    (before, _), (found, used) = first, second
    if found.bounds.gap > before.bounds.gap:
        return replace(before, reason=found.reason, epochs=before.epochs + found.epochs), first[1]
    whole = continuing(before, found)
    records = _best_so_far(whole.records, found.bounds.primal, found.bounds.dual)
    return replace(whole, records=records), used


def _best_so_far(records: Iterable[Sequence[float]], lowest: float, highest: float) -> list[list[float]]:
    """Records with the best bounds so far, of which none is better than those of the end."""
    found, (primal, dual) = [], (np.inf, -np.inf)
    for seconds, epoch, *bounds in records:
        primal, dual = min(primal, bounds[0]), max(dual, bounds[1])
        found.append([seconds, epoch, max(primal, lowest), min(dual, highest)])
    return found


def _name(beta: Floats, rows: NDArray[np.intp], b: float) -> dict[str, Any]:
    """The weights of a problem, for listeners."""
    return {"beta": beta, "rows": rows, "intercept_": np.array([b])}


def _refuse_overflow(C: float, *numbers: Any) -> None:
    remedy = "scale the features, or lower C, gamma, degree or coef0"
    refuse_overflow(*numbers, of=f"the values of the kernel and C={C:.3g}", remedy=remedy)
