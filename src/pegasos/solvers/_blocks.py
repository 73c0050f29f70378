"""Solving block by block: what brings one problem nearer to its optimum as blocks of rows are handed over.

Each learner keeps its weights in memory, and what it keeps of single rows on disk.
"""

import math
import mmap
import os
import tempfile
from dataclasses import dataclass
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import UNIT, Bounds, Measured, bound_dual, bound_primal, square
from pegasos.base.state import State
from pegasos.problems.linear import BlocksProblem

Floats = NDArray[np.float64]
Order = NDArray[np.uint32]
Rests = NDArray[np.uint8]

#: Visits, as a share of a block's rows, below which a block is visited once more before the next one is read.
FEW_VISITS = 0.7
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
        """What an array with an entry for each row of the data set has for the rows of the block."""
        return stored.take(self.numbers)

    def put(self, stored: NDArray[Any], values: NDArray[Any]) -> None:
        """The opposite of `take`."""
        stored[self.numbers] = values


def core_of(problem: BlocksProblem, block: Block, number: int) -> native.Problem:
    """The rows of a block as part of one of the problems."""
    return problem.core(block.rows, block.targets[number], block.weights)


class Check:
    """Sums over blocks for exact bounds at a vector w."""

    def __init__(self, w: Floats) -> None:
        self.w = w
        self.sums = Measured.nothing(len(w))

    def add(self, problem: native.Problem, q: Floats, run: native.Run, rest: Rests | None = None) -> None:
        """Count the rows of a block, whose dual variables are q; those that rest too long are woken."""
        self.sums.add(native.measure(problem, run, w=self.w, q=q, rest=rest))

    @property
    def primal(self) -> Bounds:
        return bound_primal(self.w, self.sums.losses, self.sums.above)

    @property
    def dual(self) -> Bounds:
        return bound_dual(self.sums.linear, self.sums.linear_error, self.sums.u, self.sums.error)


class BlockLearner(Protocol):
    """A problem that is solved block by block."""

    usual: float  # the gap over the one expected, before a check has told

    def learn(self, block: Block, number: int, order: Order, run: native.Run) -> float:
        """Visit rows of a block in that order; how many visits it took."""

    def moves(self, block: Block) -> NDArray[np.bool_] | None:
        """Which rows of a block are worth more visits than the others; None where that is not known."""

    def begin_epoch(self) -> None:
        """All blocks will come again."""

    def expected(self) -> tuple[float, float]:
        """Primal and dual value as the last epoch suggests them, without a pass."""

    def free_bound(self) -> Bounds:
        """A true lower bound on the optimum that takes no pass."""

    def begin_check(self) -> Check:
        """Empty sums, for the vector that it would return now."""

    def measure(self, check: Check, block: Block, number: int, run: native.Run) -> None:
        """Add the rows of a block to the sums."""

    def bound(self, check: Check) -> Bounds:
        """The dual value, from the sums over all blocks."""

    def state(self, state: State) -> None:
        """Read or write all that it has learned, between two epochs."""

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


class DualAscent:
    """Dual coordinate ascent, with rests and the intercept as ``cpp/linear/solvers/sdca.cpp`` has them.

    The dual variables of the rows, for how many epochs each rests, and whether it is to be kept in memory are in a file
    that is mapped into memory.

    Parameters
    ----------
    problem : BlocksProblem
        What is solved.
    shrink : bool
        Whether rows rest.
    """

    usual = 1.3  # an epoch over the rows that move shows nothing of the others, and a check in vain costs a pass

    def __init__(self, problem: BlocksProblem, shrink: bool = True) -> None:
        self._problem = problem
        self._w = np.zeros(problem.dimension)
        self._linear = self._gap = 0.0
        self._visits = 1.0  # of this epoch
        self._b = self._kappa = self._rho = 0.0  # of the intercept: multipliers.hpp
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

    def learn(self, block: Block, number: int, order: Order, run: native.Run) -> float:
        problem, q = self._problem, block.take(self._q)
        rest = None if self._rest is None else block.take(self._rest)
        core = core_of(problem, block, number)
        if problem.bias and not self._rho:
            self._rho = native.choose_rho(core, problem.n_rows, problem.C * problem.total_weight)
            self._kappa = problem.bias**2 / (problem.bias**2 + self._rho)
        made = 0.0
        for again in range(MOST_VISITS if problem.alone else 1):
            before = q.copy() if problem.alone else q
            found = native.visit(
                core,
                run,
                q=q,
                w=self._w,
                visits=order,
                b=self._b,
                rho=self._rho,
                rest=rest,
                n_weights=problem.n_problems * problem.dimension,
            )
            made += found.visits
            self._linear += found.linear
            self._gap += 0.0 if again else found.gap
            if made >= FEW_VISITS * len(order):
                break
        block.put(self._q, q)
        if self._rest is not None and self._moves is not None and rest is not None:
            block.put(self._rest, rest)
            if problem.alone:
                block.put(self._moves, q != before)
        self._visits += made
        self._release()
        return made

    def moves(self, block: Block) -> NDArray[np.bool_] | None:
        return None if self._moves is None else block.take(self._moves)

    def begin_epoch(self) -> None:
        if self._rest is not None and not self._visits:  # all of them rest
            self._rest[:] = 0
        self._b = self._intercept
        self._gap = self._visits = 0.0

    @property
    def _intercept(self) -> float:
        """That of the margins, which is the next b."""
        bias = self._problem.bias
        return self._kappa * (self._b + self._rho * float(self._w[-1]) / bias) if bias else 0.0

    def expected(self) -> tuple[float, float]:
        dual = self._linear - square(self._w) / 2
        return dual + self._gap, dual

    def free_bound(self) -> Bounds:
        return Bounds(dual=0.0)  # that of `expected` has what rounding has added up

    def begin_check(self) -> Check:
        w = self._w.copy()
        if self._problem.bias:
            w[-1] = self._intercept / self._problem.bias
        return Check(w)

    def measure(self, check: Check, block: Block, number: int, run: native.Run) -> None:
        before = None if self._rest is None else block.take(self._rest)
        rest = None if before is None else before.copy()
        check.add(core_of(self._problem, block, number), block.take(self._q), run, rest)
        if self._rest is not None and self._moves is not None and rest is not None:
            block.put(self._rest, rest)
            if self._problem.alone:
                block.put(self._moves, block.take(self._moves) | (rest < before))
        self._release()

    def _release(self) -> None:
        """Leave the parts of the file that were used to the system's cache, so that they do not add up."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def bound(self, check: Check) -> Bounds:
        self._w[:], self._linear = check.sums.u, check.sums.linear  # without what rounding has added up
        return check.dual

    def state(self, state: State) -> None:
        state(self, "_w", "_linear", "_gap", "_visits", "_b", "_kappa", "_rho", "_q", "_rest", "_moves")

    def close(self) -> None:
        del self._q, self._rest, self._moves, self._map
        self._file.close()


class StreamDescent:
    """Sub-gradient steps; the bound is S3's, from sums over the visits (`cpp/linear/solvers/stream.hpp`)."""

    usual = 1.0

    def __init__(self, problem: BlocksProblem, **options: Any) -> None:
        self._problem = problem
        self._stream = native.Stream(problem.dimension, problem.loss, problem.parameter, problem.alpha, **options)
        self._epochs = 0  # begun
        self._before = (0.0, 0.0)

    def learn(self, block: Block, number: int, order: Order, run: native.Run) -> float:
        self._stream.learn(block.rows, block.targets[number], block.weights, run, order=order)
        return len(order)

    def moves(self, block: Block) -> None:
        return None

    def begin_epoch(self) -> None:
        self._epochs += 1
        progress = self._stream.progress
        self._before = (progress.loss, progress.weight)

    @np.errstate(over="ignore", invalid="ignore")
    def expected(self) -> tuple[float, float]:
        problem, progress, w = self._problem, self._stream.progress, self._stream.iterate
        met = progress.weight - self._before[1]
        loss = (progress.loss - self._before[0]) / met if met else 0.0
        return float(w @ w) / 2 + problem.C * problem.total_weight * loss, self.free_bound().dual

    def begin_check(self) -> Check:
        return Check(self._stream.w)

    def measure(self, check: Check, block: Block, number: int, run: native.Run) -> None:
        check.add(core_of(self._problem, block, number), np.zeros(len(block)), run)

    def bound(self, check: Check) -> Bounds:
        return self.free_bound()

    @np.errstate(over="ignore", invalid="ignore")  # a bound that is no number is not taken
    def free_bound(self) -> Bounds:
        """Slopes met are dual variables: with ``a = sum s q y x`` over T epochs, ``alpha = C c s q`` is feasible for
        every c up to 1/T; in an epoch that is not whole some rows have fewer visits, and no row more than T."""
        problem, stream = self._problem, self._stream
        if not self._epochs:
            return Bounds(dual=0.0)
        C, longest = problem.C, (1 - 4 * UNIT) / self._epochs
        grown = (stream.weight + stream.idle) / problem.total_weight
        u = stream.iterate * grown  # C a
        square, linear = float(u @ u), C * stream.dual_sum
        c = min(longest, max(linear, 0.0) / square) if square > 0 else longest
        u *= c
        error = c * grown * stream.error + 16 * UNIT * math.sqrt(float(u @ u))
        return bound_dual(c * linear, c * C * stream.dual_error + 8 * UNIT * abs(c * linear), u, error)

    def state(self, state: State) -> None:
        state(self, "_stream", "_epochs", "_before")

    def close(self) -> None:
        pass
