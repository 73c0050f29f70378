"""Solving block by block: what brings one problem nearer to its optimum as blocks of rows are handed over.

Each learner keeps its weights in memory, and what it keeps of single rows on disk.
"""

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import UNIT, Bounds, Measured, bound_dual, bound_primal
from pegasos.problems.linear import BlocksProblem

Floats = NDArray[np.float64]
Order = NDArray[np.uint32]


@dataclass(frozen=True)
class Block:
    """Some rows of a data set, in memory."""

    rows: native.Rows
    labels: NDArray[Any]  # as stored
    weights: Floats
    runs: Sequence[tuple[int, int]]  # first row and the one after the last, of each run in turn
    nnz: int

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, stored: NDArray[Any]) -> NDArray[Any]:
        """What an array with an entry for each row of the data set has for the rows of the block."""
        return np.concatenate([stored[first:last] for first, last in self.runs])

    def put(self, stored: NDArray[Any], values: NDArray[Any]) -> None:
        """The opposite of `take`."""
        at = 0
        for first, last in self.runs:
            stored[first:last] = values[at : at + last - first]
            at += last - first


class Check:
    """Sums over blocks for exact bounds at a vector w."""

    def __init__(self, w: Floats) -> None:
        self.w = w
        self.sums = Measured.nothing(len(w))

    def add(self, problem: native.Problem, q: Floats, run: native.Run) -> None:
        """Count the rows of a block, whose dual variables are q."""
        self.sums.add(native.measure(problem, run, w=self.w, q=q))

    @property
    def primal(self) -> Bounds:
        return bound_primal(self.w, self.sums.losses, self.sums.above)

    @property
    def dual(self) -> Bounds:
        return bound_dual(self.sums.linear, self.sums.linear_error, self.sums.u, self.sums.error)


class BlockLearner(Protocol):
    """A problem that is solved block by block."""

    def learn(self, block: Block, y: Floats, s: Floats, order: Order, run: native.Run) -> None:
        """Visit rows of a block in that order."""

    def begin_epoch(self) -> None:
        """All blocks will come again."""

    def expected(self) -> tuple[float, float]:
        """Primal and dual value as the last epoch suggests them, without a pass."""

    def free_bound(self) -> Bounds:
        """A true lower bound on the optimum that takes no pass."""

    def begin_check(self) -> Check:
        """Empty sums, for the vector that it would return now."""

    def measure(self, check: Check, block: Block, problem: native.Problem, run: native.Run) -> None:
        """Add the rows of a block to the sums."""

    def bound(self, check: Check) -> Bounds:
        """The dual value, from the sums over all blocks."""

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
    """Dual coordinate ascent; the dual variables of the rows are in a file that is mapped into memory."""

    def __init__(self, problem: BlocksProblem) -> None:
        self._problem = problem
        self._w = np.zeros(problem.dimension)
        self._linear = self._gap = 0.0
        self._file = tempfile.TemporaryFile(prefix="pegasos-")  # noqa: SIM115, `close` closes it
        try:
            _reserve(self._file, 8 * problem.n_rows)
        except OSError as error:
            self._file.close()
            raise OSError(
                error.errno,
                f"{error.strerror}; the dual variables of {problem.n_rows:,} examples take {8 * problem.n_rows:,} "
                "bytes there: point TMPDIR at another folder, or use solver='sgd-s'",
                tempfile.gettempdir(),
            ) from None
        self._q = np.memmap(self._file, np.float64, "r+", shape=(problem.n_rows,))

    def learn(self, block: Block, y: Floats, s: Floats, order: Order, run: native.Run) -> None:
        q = block.take(self._q)
        visited = native.visit(self._problem.core(block.rows, y, s), run, q=q, w=self._w, visits=order)
        block.put(self._q, q)
        self._linear += visited.linear
        self._gap += visited.gap

    def begin_epoch(self) -> None:
        self._gap = 0.0

    def expected(self) -> tuple[float, float]:
        dual = self._linear - float(self._w @ self._w) / 2
        return dual + self._gap, dual

    def free_bound(self) -> Bounds:
        return Bounds(dual=0.0)  # that of `expected` has what rounding has added up

    def begin_check(self) -> Check:
        return Check(self._w.copy())

    def measure(self, check: Check, block: Block, problem: native.Problem, run: native.Run) -> None:
        check.add(problem, block.take(self._q), run)

    def bound(self, check: Check) -> Bounds:
        self._w[:], self._linear = check.sums.u, check.sums.linear  # without what rounding has added up
        return check.dual

    def close(self) -> None:
        del self._q
        self._file.close()


class StreamDescent:
    """Sub-gradient steps; the bound is S3's, from sums over the visits (`cpp/linear/solvers/stream.hpp`)."""

    def __init__(self, problem: BlocksProblem, **options: Any) -> None:
        self._problem = problem
        self._stream = native.Stream(problem.dimension, problem.loss, problem.parameter, problem.alpha, **options)
        self._epochs = 0  # begun
        self._before = (0.0, 0.0)

    def learn(self, block: Block, y: Floats, s: Floats, order: Order, run: native.Run) -> None:
        self._stream.learn(block.rows, y, s, run, order=order)

    def begin_epoch(self) -> None:
        self._epochs += 1
        progress = self._stream.progress
        self._before = (progress.loss, progress.weight)

    def expected(self) -> tuple[float, float]:
        problem, progress, w = self._problem, self._stream.progress, self._stream.iterate
        met = progress.weight - self._before[1]
        loss = (progress.loss - self._before[0]) / met if met else 0.0
        return float(w @ w) / 2 + problem.C * problem.total_weight * loss, self.free_bound().dual

    def begin_check(self) -> Check:
        return Check(self._stream.w)

    def measure(self, check: Check, block: Block, problem: native.Problem, run: native.Run) -> None:
        check.add(problem, np.zeros(len(block)), run)

    def bound(self, check: Check) -> Bounds:
        return self.free_bound()

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

    def close(self) -> None:
        pass
