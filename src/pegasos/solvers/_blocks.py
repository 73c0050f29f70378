"""Problems that are solved block by block: the core's fit, and what is kept of single rows, on disk."""

import mmap
import os
import tempfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.state import State
from pegasos.problems.linear import BlocksProblem

Floats = NDArray[np.float64]
Order = NDArray[np.uint32]

#: Visits of a block at most, before the next one is read, where it is read for one problem alone.
MOST_VISITS = 2


@dataclass(frozen=True)
class Block:
    """Some rows of a data set, in memory."""

    rows: native.Rows
    lengths: NDArray[np.int64]  # entries of each row
    targets: list[Floats]  # of each problem
    weights: Floats
    numbers: NDArray[np.int64]  # of the rows in the data set

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def nnz(self) -> int:
        return int(self.lengths.sum())

    def take(self, stored: NDArray[Any]) -> NDArray[Any]:
        """The entries for the rows of the block, of an array with one for each row of the data set."""
        return stored.take(self.numbers)

    def put(self, stored: NDArray[Any], values: NDArray[Any]) -> None:
        """The opposite of `take`."""
        stored[self.numbers] = values


def core_of(problem: BlocksProblem, block: Block, number: int) -> native.Problem:
    """The rows of a block as part of one of the problems."""
    return problem.core(block.rows, block.targets[number], block.weights)


class BlockFit:
    """One problem of a fit by blocks.

    Parameters
    ----------
    problem : BlocksProblem
        The problem.
    core : native.LinearFit
        Its steps, checks and bounds.
    """

    def __init__(self, problem: BlocksProblem, core: native.LinearFit) -> None:
        self.problem, self.core = problem, core

    def visit(self, block: Block, number: int, order: Order, run: native.Run) -> None:
        """Visit rows of a block in that order."""
        self.core.visit(core_of(self.problem, block, number), run, order=order)

    def measure(self, block: Block, number: int, run: native.Run) -> None:
        """Add a block to the check that has begun."""
        self.core.measure(core_of(self.problem, block, number), run)

    def moves(self, block: Block) -> NDArray[np.bool_] | None:
        """Which rows of a block are worth more visits than the others; None where that is unknown."""
        return None

    def begin_epoch(self) -> None:
        """All blocks will come again."""

    def state(self, state: State) -> None:
        """Read or write all that it has learned, between two epochs."""
        state(self, "core")

    def close(self) -> None:
        """Give back what is kept of rows."""


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the room on the disk: that it is full must not show in the middle."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    for start in range(0, size, 1 << 20):
        file.write(bytes(min(size - start, 1 << 20)))
    file.flush()


class DualAscent(BlockFit):
    """Dual coordinate ascent by blocks.

    The dual variables of the rows, for how many epochs each rests, and whether it is to be kept in memory are in a file
    that is mapped into memory.

    Parameters
    ----------
    problem : BlocksProblem
        The problem.
    tol : float
        The gap to reach.
    shrink : bool
        Whether rows rest.
    """

    core: native.Ascent
    #: The gap over the one expected, at first: an epoch over the rows that move shows nothing of the others, and a
    #: check in vain costs a pass.
    USUAL = 1.3

    def __init__(self, problem: BlocksProblem, tol: float, shrink: bool = True) -> None:
        n_weights = problem.n_problems * problem.dimension
        super().__init__(
            problem, native.Ascent(problem.dimension, problem.n_rows, tol=tol, usual=self.USUAL, n_weights=n_weights)
        )
        self._rho = 0.0  # of the intercept, from the first block
        n_rows, size = problem.n_rows, (10 if shrink else 8) * problem.n_rows
        self._file = tempfile.TemporaryFile(prefix="pegasos-")  # noqa: SIM115, `close` closes it
        try:
            _reserve(self._file, size)
        except OSError as error:
            self._file.close()
            raise OSError(
                error.errno,
                f"{error.strerror}; the dual variables of {n_rows:,} examples take {problem.n_problems * size:,} "
                "bytes there: point TMPDIR at another folder, or use solver='sgd-s'",
                tempfile.gettempdir(),
            ) from None
        self._map = mmap.mmap(self._file.fileno(), size)
        stored = np.frombuffer(self._map, np.uint8)
        self._q = stored[: 8 * n_rows].view(np.float64)
        self._rest = stored[8 * n_rows : 9 * n_rows] if shrink else None
        # Whether it moved at its last visit, or a check has found since that it would.
        self._moves = stored[9 * n_rows :].view(np.bool_) if shrink else None

    def visit(self, block: Block, number: int, order: Order, run: native.Run) -> None:
        problem, q = self.problem, block.take(self._q)
        core = core_of(problem, block, number)
        if problem.bias and not self._rho:
            squares = native.sum_squares(core) / len(block) * problem.n_rows
            self._rho = native.choose_rho(squares, problem.n_rows, problem.C * problem.total_weight)
            self.core.set_intercept(problem.bias, self._rho)
        rest = None if self._rest is None else block.take(self._rest)
        before = q.copy() if problem.alone else q
        self.core.visit(core, run, q=q, rest=rest, order=order, most=MOST_VISITS if problem.alone else 1)
        block.put(self._q, q)
        if self._rest is not None and self._moves is not None and rest is not None:
            block.put(self._rest, rest)
            if problem.alone:
                block.put(self._moves, q != before)
        self._release()

    def moves(self, block: Block) -> NDArray[np.bool_] | None:
        return None if self._moves is None else block.take(self._moves)

    def begin_epoch(self) -> None:
        if self._rest is not None and self.core.all_rest:
            self._rest[:] = 0

    def measure(self, block: Block, number: int, run: native.Run) -> None:
        before = None if self._rest is None else block.take(self._rest)
        rest = None if before is None else before.copy()
        self.core.measure(core_of(self.problem, block, number), run, q=block.take(self._q), rest=rest)
        if self._rest is not None and self._moves is not None and rest is not None:
            block.put(self._rest, rest)
            if self.problem.alone:
                block.put(self._moves, block.take(self._moves) | (rest < before))
        self._release()

    def _release(self) -> None:
        """Leave the parts of the file that were used to the system's cache, so that they do not add up."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def state(self, state: State) -> None:
        super().state(state)
        state(self, "_rho", "_q", "_rest", "_moves")

    def close(self) -> None:
        del self._q, self._rest, self._moves, self._map
        self._file.close()


def descent(problem: BlocksProblem, tol: float, best: bool = True, **options: Any) -> BlockFit:
    """Sub-gradient steps by blocks, with the options of `native.Stream`."""
    stream = native.Stream(problem.dimension, problem.loss, problem.parameter, problem.alpha, **options)
    core = native.Descent(
        problem.dimension,
        problem.n_rows,
        stream,
        tol=tol,
        C=problem.C,
        total_weight=problem.total_weight,
        best=best,
    )
    return BlockFit(problem, core)
