"""A fit to a data set on disk that does not fit in memory: epochs over blocks, and checks in passes of their own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.bounds import Bounds
from pegasos.base.checkpoint import CUT_SHORT, OwnRun, Runs
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Point, Solution, Standing, UsedSolvers, keeping, refuse_overflow
from pegasos.base.progress import Progress
from pegasos.base.state import State
from pegasos.base.wording import counted, megabytes
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.blocks import BlockReader, Encoder
from pegasos.linear.out_of_core.moving import ROW_BYTES, MovingRows
from pegasos.problems.linear import BlocksProblem, are_runs_worth
from pegasos.solvers import Solver
from pegasos.solvers._blocks import Block, BlockLearner, core_of

#: Bytes of a block: small enough for the caches, so that visits in random order are fast.
BLOCK_BYTES = 1 << 25
SMALLEST_BLOCK = 1 << 20
#: Bytes that the process takes by itself.
BASE_BYTES = 200 << 20
#: Rows that are visited one after the other, where neighbours are no more alike than others.
RUN = 64
#: Vectors as long as w that a problem of a fit has at a time.
VECTORS = 8
#: Times the entries of a block that two of them take, with what belongs to their rows.
BLOCKS = 4
#: What a block has of the memory for rows at least, as one part of so many.
LEAST_SHARE = 16
#: Epochs over the rows that move, between passes over all: until they have the gap down to this share, or so many.
ENOUGH = 0.2
MOST_EPOCHS = 10


def limit_of(dataset: Dataset, runs: Runs | None) -> int:
    """Bytes that a fit to the data set may take: as many as it might when it began, if it goes on from a checkpoint."""
    if dataset.memory_limit is not None:
        return dataset.memory_limit
    return int(runs.choice("memory", _half_of_free)) if runs else _half_of_free()


def _half_of_free() -> int:
    return free_memory() // 2


def needs_no_pass(solver: Solver) -> bool:
    """Whether a fit is to leave out even the pass for its certificate."""
    return not getattr(solver, "certify", True)


def needed_in_memory(dataset: Dataset, n_parts: int) -> int:
    """Bytes that a fit with all examples in memory takes."""
    vectors = 8 * VECTORS * n_parts * (dataset.shape[1] + 1)
    return BASE_BYTES + dataset.nbytes + ROW_BYTES * len(dataset) + vectors


def fits_in_memory(dataset: Dataset, n_parts: int, limit: int) -> bool:
    """Whether a fit can have all examples in memory."""
    return needed_in_memory(dataset, n_parts) <= limit


class Fit(Standing):
    """One problem's progress."""

    def __init__(self, learner: BlockLearner, progress: Progress, n_rows: int, tol: float, best: bool = True) -> None:
        super().__init__(n_rows)
        self.learner, self.progress = learner, progress
        self.checks = native.Checks(tol, usual=learner.usual)
        self.best = best  # of what was checked is wanted, not the last
        self.bounds = Bounds(dual=0.0)
        self.stopped = False
        self.gap = np.inf  # as the last epoch met it, or the last check found it

    def end_epoch(self) -> bool:
        """Whether a check is worth a pass."""
        self.bounds = self.bounds.best(self.learner.free_bound())
        primal, dual = self.learner.expected()
        self.gap = primal - dual
        self.checks.met(self.gap)
        return self.checks.due(dual)

    def check(self, found: Bounds, w: NDArray[np.float64], seconds: float) -> None:
        """Take note of bounds, and tell of them, which may end it."""
        if found.primal < np.inf:
            self.gap = found.primal - found.dual
            self.checks.found(self.gap)
        self.take(found, w, seconds, self.best)
        _, epoch, primal, dual = self.records[-1]
        self.stopped = self.progress.checked(seconds, epoch, primal, dual, self.w.copy)

    def state(self, state: State) -> None:
        super().state(state)
        state(self, "learner", "checks", "gap")


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
    memory: int  # bytes that it may take
    kept: OwnRun | None = None  # checkpoints

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
            self.block_bytes = self.reader.block_bytes
            self.moving = MovingRows(self.dataset, problem.bias)
            self.random = np.random.default_rng(self.seed)
            self.run_length = self.epochs_of_moving = 0
            self.gap_of_pass = np.inf
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
        text = f"{chosen.describe()} by blocks of {self.block_bytes / 2**20:.3g} MiB"
        used = UsedSolvers((text,), by_auto=chosen is not solver)
        if not needs_no_pass(solver):
            of = f"C={self.problem.C:.3g}, weights that sum to {self.problem.total_weight:.3g} and features"
            refuse_overflow(*(fit.bounds.primal for fit in self.fits), of=of)
        return [fit.solution(self.seconds, used) for fit in self.fits]

    def _make_reader(self) -> BlockReader:
        """Blocks that keep a fit within its memory, and a short one from reading more than it needs."""
        dataset, dimension = self.dataset, self.problem.dimension
        fixed = BASE_BYTES + 8 * VECTORS * len(self.listeners) * dimension
        self.room = max(self.memory - fixed, 0)
        left = self.room // BLOCKS
        steps = self.solver.max_steps
        needed = BLOCK_BYTES if steps is None else dataset.nbytes * int(steps) // (8 * len(dataset))
        size = min(max(left, SMALLEST_BLOCK), BLOCK_BYTES, max(needed, SMALLEST_BLOCK))
        reader = BlockReader(dataset, size, self.problem.bias, self.encode)
        if reader.block_bytes > left:
            raise ValueError(
                f"memory_limit={self.memory / 1e6:,.6g}MB is too small: the process itself and weights of "
                f"{counted(dimension - 1, 'feature')} take {megabytes(fixed)}, and blocks of examples "
                f"{megabytes(BLOCKS * reader.block_bytes)}; raise it to "
                f"{megabytes(fixed + BLOCKS * reader.block_bytes)} or more"
            )
        return reader

    def _run(self) -> None:
        budget, solver = self.budget, self.solver
        n_rows = self.problem.n_rows
        steps = budget.max_iter * n_rows if solver.max_steps is None else int(solver.max_steps)
        if self.kept is not None:
            self.kept.resume(self)
        working = self._take_leave(self.fits)
        while working:
            for fit in working:
                fit.learner.begin_epoch()
            for block in self._epoch():
                self.run_length = self.run_length or self._choose_run(block)
                order = _in_runs(len(block), self.run_length, self.random)
                for number, fit in enumerate(self.fits):
                    left = steps - round(fit.visits)
                    if not fit.reason and left > 0:
                        run = self._make_run(fit, self.limit)
                        fit.visits += fit.learner.learn(block, number, order[:left], run)
                if all(fit.visits >= steps for fit in working) or self.seconds >= self.limit:
                    break
            del block  # its memory is needed for the next
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
                if fit.stopped:
                    fit.reason = "callback"
                elif budget.tol > 0 and fit.bounds.gap <= budget.tol:
                    fit.reason = "tol"
                elif last:
                    fit.reason = "max_time" if out_of_time else solver.budget_reason
                elif budget.tol > 0 and fit.bounds.mostly_rounding:
                    fit.reason = "precision"
            working = self._take_leave(working)
            if working and self.kept is not None and not any(fit.reason in CUT_SHORT for fit in self.fits):
                self.kept.offer(self)

    def _take_leave(self, working: list[Fit]) -> list[Fit]:
        """Those that go on."""
        for fit in working:
            if fit.reason:
                fit.progress.close()
        return [fit for fit in working if not fit.reason]

    def state(self, state: State) -> None:
        """Between two epochs."""
        state(self, "random", "run_length", "epochs_of_moving", "gap_of_pass", "reader", "moving")
        for fit in self.fits:
            fit.state(state)
        if state.reads and len(self.moving.numbers):
            self.moving.copy_again(self.reader.again())

    def _check(self, due: list[Fit]) -> None:
        """Exact bounds, by a pass over all rows."""
        checks = [fit.learner.begin_check() for fit in due]
        numbers = [self.fits.index(fit) for fit in due]
        for block in self._pass(self.reader.in_order()):
            for fit, number, check in zip(due, numbers, checks, strict=True):
                fit.learner.measure(check, block, number, self._make_run(fit, np.inf))
        del block
        for fit, check in zip(due, checks, strict=True):
            fit.check(check.primal.best(fit.learner.bound(check)), check.w, self.seconds)

    def _epoch(self) -> Iterator[Block]:
        """The rows that move, where they are in memory, until the gap tells that all blocks are due again."""
        gap = self.fits[0].gap
        if self.epochs_of_moving == 0:
            self.gap_of_pass = gap
        wanting = gap > ENOUGH * self.gap_of_pass and self.epochs_of_moving < MOST_EPOCHS
        if self.moving.block is not None and (wanting or self.epochs_of_moving == 0):
            self.epochs_of_moving += 1
            yield self.moving.block
        else:
            yield from self._pass(self.reader.epoch(self.random))

    def _pass(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """All blocks; rows that move, after what was done to them, are copied if there is room for those of the last
        pass beside blocks of a fair size."""
        self.epochs_of_moving, moving = 0, self.moving
        left = int(max(self.room - moving.found, 0)) // BLOCKS
        fair = left >= max(self.room // LEAST_SHARE, self.reader.longest_run)
        self.reader.block_bytes = min(left, self.block_bytes) if fair else self.block_bytes
        moving.begin(int(min(1.25 * moving.found, self.room - BLOCKS * self.reader.block_bytes)) if fair else 0)
        for block in blocks:
            yield block
            moves = self.fits[0].learner.moves(block) if self.problem.alone else None
            if moves is not None:
                moving.add(block, moves)
        moving.end()

    def _choose_run(self, block: Block) -> int:
        """How many neighbours are visited one after the other: visits are faster that way."""
        solver = self.solver.chosen_for(BlocksProblem)
        order = getattr(solver, "order", getattr(solver, "sampling", "permute"))
        if order == "auto":
            cores = (core_of(self.problem, block, number) for number in range(len(block.targets)))
            length = self.dataset.nnz / len(self.dataset)
            order = "blocks" if all(are_runs_worth(core, length, self.seed) for core in cores) else "permute"
        return RUN if order == "blocks" else 1

    def _make_run(self, fit: Fit, limit: float) -> native.Run:
        def progressed(_: float, seconds: float) -> None:
            fit.progress.progressed(fit.epochs, seconds)

        return native.Run(
            n_jobs=1, elapsed=self.seconds, max_seconds=limit, progress=progressed, clock=clock.replaced()
        )


def _in_runs(n_rows: int, run: int, random: np.random.Generator) -> NDArray[np.uint32]:
    """All rows, in runs of neighbours; the runs in random order."""
    firsts = run * random.permutation(np.arange(-(-n_rows // run), dtype=np.uint32))
    order = (firsts[:, np.newaxis] + np.arange(run, dtype=np.uint32)).ravel()
    return order[order < n_rows]
