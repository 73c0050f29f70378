"""A fit to a data set on disk that does not fit in memory: epochs over blocks, and checks in passes of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.bounds import Bounds
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Point, Solution, Standing, UsedSolvers, keeping
from pegasos.base.progress import Progress
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.blocks import BlockReader
from pegasos.problems.linear import BlocksProblem
from pegasos.solvers import Solver
from pegasos.solvers._blocks import Block, BlockLearner

#: Bytes of a block: small enough for the caches, so that visits in random order are fast.
BLOCK_BYTES = 1 << 25
SMALLEST_BLOCK = 1 << 20
#: Bytes that the process takes by itself.
BASE_BYTES = 200 << 20
#: Bytes per row that a fit in memory takes beyond the data.
ROW_BYTES = 100
#: Rows that are visited one after the other, where neighbours are no more alike than others.
RUN = 64
#: Vectors as long as w that a problem of a fit has at a time.
VECTORS = 8

#: From the labels of a block, as stored, to the targets of each problem and the weights of the rows' classes.
Encoder = Callable[[Block], tuple[list[NDArray[np.float64]], NDArray[np.float64]]]


def limit_of(dataset: Dataset) -> int:
    """Bytes that a fit to the data set may take."""
    return dataset.memory_limit if dataset.memory_limit is not None else free_memory() // 2


def needs_no_pass(solver: Solver) -> bool:
    """Whether a fit is to leave out even the pass for its certificate."""
    return not getattr(solver, "certify", True)


def fits_in_memory(dataset: Dataset, n_parts: int) -> bool:
    """Whether a fit can have all examples in memory."""
    vectors = 8 * VECTORS * n_parts * (dataset.shape[1] + 1)
    return BASE_BYTES + dataset.nbytes + ROW_BYTES * len(dataset) + vectors <= limit_of(dataset)


class Fit(Standing):
    """One problem's progress."""

    def __init__(self, learner: BlockLearner, progress: Progress, n_rows: int, tol: float, best: bool = True) -> None:
        super().__init__(n_rows)
        self.learner, self.progress = learner, progress
        self.checks = native.Checks(tol, usual=1.0)
        self.best = best  # of what was checked is wanted, not the last
        self.bounds = Bounds(dual=0.0)

    def end_epoch(self) -> bool:
        """Whether a check is worth a pass."""
        self.bounds = self.bounds.best(self.learner.free_bound())
        primal, dual = self.learner.expected()
        self.checks.met(primal - dual)
        return self.checks.due(dual)

    def check(self, found: Bounds, w: NDArray[np.float64], seconds: float) -> None:
        """Take note of bounds, and tell of them."""
        if found.primal < np.inf:
            self.checks.found(found.primal - found.dual)
        self.take(found, w, seconds, self.best)
        self.progress.checked(*self.records[-1])


@dataclass
class FitByBlocks:
    """The problems of a fit, which share the blocks; there is a listener to each."""

    dataset: Dataset
    solver: Solver
    problem: BlocksProblem
    encode: Encoder
    listeners: Sequence[Progress]
    budget: Budget
    seed: int

    def __post_init__(self) -> None:
        self.started = clock.now() - self.budget.elapsed
        self.limit = np.inf if self.budget.max_time is None else float(self.budget.max_time)

    @property
    def seconds(self) -> float:
        return clock.now() - self.started

    def solve(self) -> list[Solution[Point]]:
        """What was found for each problem."""
        problem, solver = self.problem, self.solver
        learners: list[BlockLearner] = []
        try:
            self.reader = self._make_reader()
            for _ in self.listeners:
                learners.append(solver.learner(problem))
            best, tol = getattr(solver, "returns_best", True), self.budget.tol
            self.fits = [Fit(*pair, problem.n_rows, tol, best) for pair in zip(learners, self.listeners, strict=True)]
            with keeping(self.budget.keep, self.fits):
                self._run()
        finally:
            for learner in learners:
                learner.close()
        chosen = solver.chosen_for(BlocksProblem)
        text = f"{chosen.describe()} by blocks of {self.reader.block_bytes / 2**20:.3g} MiB"
        used = UsedSolvers((text,), by_auto=chosen is not solver)
        return [fit.solution(self.seconds, used) for fit in self.fits]

    def _make_reader(self) -> BlockReader:
        """Blocks that keep a fit within its memory, and a short one from reading more than it needs."""
        dataset, dimension = self.dataset, self.problem.dimension
        fixed = BASE_BYTES + 8 * VECTORS * len(self.listeners) * dimension
        left = max(limit_of(dataset) - fixed, 0) // 4
        steps = self.solver.max_steps
        needed = BLOCK_BYTES if steps is None else dataset.nbytes * int(steps) // (8 * len(dataset))
        size = min(max(left, SMALLEST_BLOCK), BLOCK_BYTES, max(needed, SMALLEST_BLOCK))
        reader = BlockReader(dataset, size, self.problem.bias)
        if reader.block_bytes > left:
            raise ValueError(
                f"memory_limit={limit_of(dataset):,} is too small: weights of {dimension:,} features and the process "
                f"itself take {fixed:,} bytes, and blocks of {reader.block_bytes:,} four times that; raise it to "
                f"{fixed + 4 * reader.block_bytes:,} or more"
            )
        return reader

    def _run(self) -> None:
        random, budget, solver = np.random.default_rng(self.seed), self.budget, self.solver
        n_rows = self.problem.n_rows
        steps = budget.max_iter * n_rows if solver.max_steps is None else int(solver.max_steps)
        run_length = 0
        working = list(self.fits)
        while working:
            for fit in working:
                fit.learner.begin_epoch()
            for block in self.reader.epoch(random):
                targets, weights = self.encode(block)
                run_length = run_length or self._choose_run(block, targets, weights)
                order = _in_runs(len(block), run_length, random)
                for number, fit in enumerate(self.fits):
                    left = steps - round(fit.visits)
                    if not fit.reason and left > 0:
                        run = self._make_run(fit, self.limit)
                        fit.visits += fit.learner.learn(block, targets[number], weights, order[:left], run)
                if all(fit.visits >= steps for fit in working) or self.seconds >= self.limit:
                    break
            out_of_time = self.seconds >= self.limit
            last = out_of_time or all(fit.visits >= steps for fit in working)
            due = [fit for fit in working if fit.end_epoch() or last]
            if needs_no_pass(solver):
                due = working if last else []
                for fit in due:
                    w = fit.learner.begin_check().w
                    fit.check(fit.learner.free_bound(), w, self.seconds)
            elif due:
                self._check(due)
            for fit in due:
                if budget.tol > 0 and fit.bounds.gap <= budget.tol:
                    fit.reason = "tol"
                elif last:
                    fit.reason = "max_time" if out_of_time else solver.budget_reason
                elif budget.tol > 0 and fit.bounds.mostly_rounding:
                    fit.reason = "precision"
            for fit in due:
                if fit.reason:
                    fit.progress.close()
            working = [fit for fit in working if not fit.reason]

    def _check(self, due: list[Fit]) -> None:
        """Exact bounds, by a pass over all rows."""
        checks = [fit.learner.begin_check() for fit in due]
        numbers = [self.fits.index(fit) for fit in due]
        for block in self.reader.in_order():
            targets, weights = self.encode(block)
            for fit, number, check in zip(due, numbers, checks, strict=True):
                run = self._make_run(fit, np.inf)
                fit.learner.measure(check, block, self.problem.core(block.rows, targets[number], weights), run)
        for fit, check in zip(due, checks, strict=True):
            fit.check(check.primal.best(fit.learner.bound(check)), check.w, self.seconds)

    def _choose_run(self, block: Block, targets: list[NDArray[np.float64]], weights: NDArray[np.float64]) -> int:
        """How many neighbours are visited one after the other: visits are faster that way."""
        solver = self.solver.chosen_for(BlocksProblem)
        order = getattr(solver, "order", getattr(solver, "sampling", "permute"))
        if order == "auto":
            cores = (self.problem.core(block.rows, y, weights) for y in targets)
            alike = any(native.neighbours_alike(core, self.seed) for core in cores)
            order = "permute" if alike else "blocks"
        return RUN if order == "blocks" else 1

    def _make_run(self, fit: Fit, limit: float) -> native.Run:
        def progressed(_: float, seconds: float) -> None:
            fit.progress.progressed(fit.epochs, seconds)

        return native.Run(
            n_jobs=1, elapsed=self.seconds, max_seconds=limit, progress=progressed, clock=clock.replaced()
        )


def _in_runs(n_rows: int, run: int, random: np.random.Generator) -> NDArray[np.uint32]:
    """All rows, in runs of neighbours; the runs in random order."""
    firsts = run * random.permutation(-(-n_rows // run))
    order = (firsts[:, np.newaxis] + np.arange(run)).ravel()
    return order[order < n_rows].astype(np.uint32)
