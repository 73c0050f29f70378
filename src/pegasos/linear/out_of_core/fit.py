"""A fit to a data set on disk that does not fit in memory: epochs over blocks, and checks in passes of their own."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.bounds import Bounds
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers
from pegasos.base.progress import Progress
from pegasos.io.dataset import Dataset, available_memory
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
#: Vectors as long as w that a problem of a fit has at a time.
VECTORS = 8

#: From the labels of a block, as stored, to the targets of each problem and the weights of the rows' classes.
Encoder = Callable[[Block], tuple[list[NDArray[np.float64]], NDArray[np.float64]]]


def limit_of(dataset: Dataset) -> int:
    """Bytes that a fit to the data set may take."""
    return dataset.memory_limit if dataset.memory_limit is not None else available_memory() // 2


def needs_no_pass(solver: Solver) -> bool:
    """Whether a fit is to leave out even the pass for its certificate."""
    return not getattr(solver, "certify", True)


def fits_in_memory(dataset: Dataset, n_parts: int) -> bool:
    """Whether a fit can have all examples in memory."""
    vectors = 8 * VECTORS * n_parts * (dataset.shape[1] + 1)
    return BASE_BYTES + dataset.nbytes + ROW_BYTES * len(dataset) + vectors <= limit_of(dataset)


class Fit:
    """One problem's progress."""

    def __init__(self, learner: BlockLearner, progress: Progress, tol: float, best: bool = True) -> None:
        self.learner, self.progress = learner, progress
        # A check reads all data once more, so that the gap is expected as it was met.
        self.checks = native.Checks(tol, usual=1.2, aged=False)
        self.best = best  # of what was checked is wanted, not the last
        self.bounds = Bounds(dual=0.0)
        self.w: NDArray[np.float64] = np.empty(0)
        self.records: list[list[float]] = []
        self.reason = ""
        self.visits = 0

    def end_epoch(self) -> bool:
        """Whether a check is worth a pass."""
        self.bounds = self.bounds.best(self.learner.free_bound())
        primal, dual = self.learner.expected()
        self.checks.met(primal - dual)
        return self.checks.due(dual)

    def check(self, found: Bounds, w: NDArray[np.float64], seconds: float, epoch: float) -> None:
        """Take note of bounds; the best of each counts, unless the last w is wanted."""
        if found.primal < np.inf:
            self.checks.found(found.primal - found.dual)
        if found.primal <= self.bounds.primal or not (self.best and self.records):
            self.w = w
        self.bounds = self.bounds.best(found)
        if not self.best:
            self.bounds = self.bounds._replace(primal=found.primal, above=found.above)
        self.records.append([seconds, epoch, self.bounds.primal, self.bounds.dual])
        self.progress.checked(seconds, epoch, self.bounds.primal, self.bounds.dual)


def solve_by_blocks(
    dataset: Dataset,
    solver: Solver,
    problem: BlocksProblem,
    encode: Encoder,
    listeners: Sequence[Progress],
    budget: Budget,
    bias: float,
    seed: int,
) -> list[Solution[Point]]:
    """Solve the problems of a fit, which share the blocks; there is a listener to each."""
    started = clock.now() - budget.elapsed
    learners: list[BlockLearner] = []
    try:
        reader = _make_reader(dataset, problem, len(listeners), solver, bias)
        for _ in listeners:
            learners.append(solver.learner(problem))
        best = getattr(solver, "returns_best", True)
        fits = [Fit(learner, progress, budget.tol, best) for learner, progress in zip(learners, listeners, strict=True)]
        _run(reader, fits, encode, problem, budget, started, seed, solver)
    finally:
        for learner in learners:
            learner.close()
    chosen = solver.chosen_for(BlocksProblem)
    text = f"{chosen.describe()} by blocks of {reader.block_bytes / 2**20:.3g} MiB"
    return [
        Solution(
            point=Point(fit.w),
            bounds=fit.bounds,
            epochs=fit.visits / problem.n_rows,
            seconds=clock.now() - started,
            reason=fit.reason,
            records=fit.records,
            used=UsedSolvers((text,), by_auto=chosen is not solver),
            t=fit.visits,
        )
        for fit in fits
    ]


def _make_reader(dataset: Dataset, problem: BlocksProblem, n_problems: int, solver: Solver, bias: float) -> BlockReader:
    """Blocks that keep a fit within its memory, and a short one from reading more than it needs."""
    fixed = BASE_BYTES + 8 * VECTORS * n_problems * problem.dimension
    left = max(limit_of(dataset) - fixed, 0) // 4
    steps = solver.max_steps
    needed = BLOCK_BYTES if steps is None else dataset.nbytes * int(steps) // (8 * len(dataset))
    reader = BlockReader(dataset, min(max(left, SMALLEST_BLOCK), BLOCK_BYTES, max(needed, SMALLEST_BLOCK)), bias)
    if reader.block_bytes > left:
        raise ValueError(
            f"memory_limit={limit_of(dataset):,} is too small: weights of {problem.dimension:,} features and the "
            f"process itself take {fixed:,} bytes, and blocks of {reader.block_bytes:,} four times that; raise it to "
            f"{fixed + 4 * reader.block_bytes:,} or more"
        )
    return reader


def _run(
    reader: BlockReader,
    fits: list[Fit],
    encode: Encoder,
    problem: BlocksProblem,
    budget: Budget,
    started: float,
    seed: int,
    solver: Solver,
) -> None:
    random = np.random.default_rng(seed)
    n_rows = problem.n_rows
    steps = budget.max_iter * n_rows if solver.max_steps is None else int(solver.max_steps)
    made = 0
    limit = np.inf if budget.max_time is None else float(budget.max_time)
    working = list(fits)
    while working:
        for fit in working:
            fit.learner.begin_epoch()
        for block in reader.epoch(random):
            order = random.permutation(len(block)).astype(np.uint32)[: steps - made]
            targets, weights = encode(block)
            for number, fit in enumerate(fits):
                if not fit.reason:
                    run = _make_run(fit.progress, started, limit, made, n_rows)
                    fit.learner.learn(block, targets[number], weights, order, run)
                    fit.visits += len(order)
            made += len(order)
            if made >= steps or clock.now() - started >= limit:
                break
        out_of_time = clock.now() - started >= limit
        last = made >= steps or out_of_time
        due = [fit for fit in working if fit.end_epoch() or last]
        if needs_no_pass(solver):
            due = working if last else []
            for fit in due:
                w, seconds = fit.learner.begin_check().w, clock.now() - started
                fit.check(fit.learner.free_bound(), w, seconds, made / n_rows)
        else:
            _check(reader, due, fits, encode, problem, started, made / n_rows)
        for fit in due:
            if budget.tol > 0 and fit.bounds.gap <= budget.tol:
                fit.reason = "tol"
            elif last:
                fit.reason = "max_time" if out_of_time else solver.budget_reason
            elif budget.tol > 0 and fit.bounds.mostly_rounding:
                fit.reason = "precision"
        working = [fit for fit in working if not fit.reason]


def _check(
    reader: BlockReader,
    due: list[Fit],
    fits: list[Fit],
    encode: Encoder,
    problem: BlocksProblem,
    started: float,
    epoch: float,
) -> None:
    """Exact bounds, by a pass over all rows."""
    if not due:
        return
    checks = [fit.learner.begin_check() for fit in due]
    numbers = [fits.index(fit) for fit in due]
    for block in reader.in_order():
        targets, weights = encode(block)
        for fit, number, check in zip(due, numbers, checks, strict=True):
            run = _make_run(fit.progress, started, np.inf, 0, problem.n_rows)
            fit.learner.measure(check, block, problem.core(block.rows, targets[number], weights), run)
    for fit, check in zip(due, checks, strict=True):
        found = check.primal.best(fit.learner.bound(check))
        fit.check(found, check.w, clock.now() - started, epoch)


def _make_run(progress: Progress, started: float, limit: float, made: int, n_rows: int) -> native.Run:
    def progressed(_: float, seconds: float) -> None:
        progress.progressed(made / n_rows, seconds)

    elapsed = clock.now() - started
    return native.Run(n_jobs=1, elapsed=elapsed, max_seconds=limit, progress=progressed, clock=clock.replaced())
