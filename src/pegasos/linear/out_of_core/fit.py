"""A fit to a data set on disk that does not fit in memory: epochs over blocks, and checks in passes of their own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.checkpoint import CUT_SHORT, OwnRun, Runs
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers, keeping, refuse_overflow
from pegasos.base.progress import Progress, Unsaved, make_run
from pegasos.base.state import State
from pegasos.base.wording import counted, megabytes
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.blocks import BlockReader, Encoder
from pegasos.linear.out_of_core.moving import ROW_BYTES, MovingRows
from pegasos.problems.linear import BlocksProblem, are_runs_worth
from pegasos.solvers import Solver
from pegasos.solvers._blocks import Block, BlockFit, core_of

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
        self.reader = self._make_reader()
        self.block_bytes = self.reader.block_bytes
        self.moving = MovingRows(self.dataset, problem.bias)
        self.random = np.random.default_rng(self.seed)
        self.run_length = self.epochs_of_moving = 0
        self.gap_of_pass = np.inf
        with ExitStack() as stack:
            fits = [stack.enter_context(closing(solver.learner(problem, self.budget.tol))) for _ in self.listeners]
            self.fits: list[BlockFit] = fits
            cores = [fit.core for fit in fits]
            with keeping(self.budget.keep, cores):
                self._run()
        chosen = solver.chosen_for(BlocksProblem)
        text = f"{chosen.describe()} by blocks of {self.block_bytes / 2**20:.3g} MiB"
        used = UsedSolvers((text,), by_auto=chosen is not solver)
        if not needs_no_pass(solver):
            of = f"C={self.problem.C:.3g}, weights that sum to {self.problem.total_weight:.3g} and features"
            refuse_overflow(*(core.bounds.primal for core in cores), of=of)
        return [Solution.of_parts(core, self.seconds, used, solver.budget_reason) for core in cores]

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
        working = self._close_finished(self.fits)
        while working:
            for fit in working:
                fit.begin_epoch()
            for block in self._epoch():
                self.run_length = self.run_length or self._choose_run(block)
                order = _in_runs(len(block), self.run_length, self.random)
                for number, fit in enumerate(self.fits):
                    left = steps - round(fit.core.visits)
                    if not fit.core.reason and left > 0:
                        fit.visit(block, number, order[:left], self._make_run(number, self.limit))
                if all(fit.core.visits >= steps for fit in working) or self.seconds >= self.limit:
                    break
            del block  # its memory is needed for the next
            out_of_time = self.seconds >= self.limit
            last = out_of_time or all(fit.core.visits >= steps for fit in working)
            due = [fit for fit in working if fit.core.end_epoch() or last]
            if needs_no_pass(solver):
                due = working if last else []
            if due:
                self._check(due, out_of_time, last)
            working = self._close_finished(working)
            if working and self.kept is not None and not any(fit.core.reason in CUT_SHORT for fit in self.fits):
                self.kept.offer(self)

    def _close_finished(self, fits: list[BlockFit]) -> list[BlockFit]:
        """Close the progress of finished fits; return the rest."""
        for fit in fits:
            if fit.core.reason:
                self.listeners[self.fits.index(fit)].close()
        return [fit for fit in fits if not fit.core.reason]

    def state(self, state: State) -> None:
        """Between two epochs."""
        state(self, "random", "run_length", "epochs_of_moving", "gap_of_pass", "reader", "moving")
        for fit in self.fits:
            fit.state(state)
        if state.reads and len(self.moving.numbers):
            self.moving.copy_again(self.reader.again())

    def _check(self, due: list[BlockFit], out_of_time: bool, last: bool) -> None:
        """Compute exact bounds, by a pass over all rows, which may end a fit."""
        numbers = [self.fits.index(fit) for fit in due]
        for fit in due:
            fit.core.begin_check()
        if not needs_no_pass(self.solver):
            for block in self._pass(self.reader.in_order()):
                for fit, number in zip(due, numbers, strict=True):
                    fit.measure(block, number, self._make_run(number, np.inf))
            del block
        for fit, number in zip(due, numbers, strict=True):
            fit.core.end_check(self._make_run(number, np.inf), out_of_time, last)

    def _epoch(self) -> Iterator[Block]:
        """The rows that move, where they are in memory, until the gap tells that all blocks are due again."""
        gap = self.fits[0].core.gap
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
            moves = self.fits[0].moves(block) if self.problem.alone else None
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

    def _make_run(self, number: int, limit: float) -> native.Run:
        budget = replace(self.budget, elapsed=self.seconds, max_time=limit, n_jobs=1, keep=False)
        return make_run(budget, Unsaved(self.listeners[number]))


def _in_runs(n_rows: int, run: int, random: np.random.Generator) -> NDArray[np.uint32]:
    """All rows, in runs of neighbours; the runs in random order."""
    firsts = run * random.permutation(np.arange(-(-n_rows // run), dtype=np.uint32))
    order = (firsts[:, np.newaxis] + np.arange(run, dtype=np.uint32)).ravel()
    return order[order < n_rows]
