"""Blocks of a data set, read ahead on a thread into buffers that are used again.

Rows lie on disk in runs of neighbours, about an eighth of a megabyte each. An epoch takes the runs in a new random
order and fills a block with as many as it holds; within the block rows are visited in random order. So rows are
shuffled within and across blocks, and the disk is read in stretches.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.state import State
from pegasos.io.dataset import Dataset
from pegasos.io.dataset_reader import Buffers, RunReader
from pegasos.solvers._blocks import Block

#: From labels, as stored, and weights of rows to the targets of each problem, and weights with those of the classes.
Encoder = Callable[[NDArray[Any], NDArray[np.float64]], tuple[list[NDArray[Any]], NDArray[np.float64]]]

#: Bytes of a run of neighbouring rows.
RUN_BYTES = 1 << 17
#: Runs of a block at least, or where neighbours are alike a block is not like the whole.
RUNS_OF_BLOCK = 64


class BlockReader:
    """Reads a data set block by block.

    Parameters
    ----------
    dataset : Dataset
        What to read.
    block_bytes : int
        Bytes of a block, for its entries, or of the longest run where that has more; it may be changed between passes.
        There are two blocks: one to work on, and one that is being read.
    bias : float
        The constant feature of the rows.
    encode : callable, optional
        Makes targets of labels, on the thread that reads.
    """

    def __init__(self, dataset: Dataset, block_bytes: int, bias: float = 0.0, encode: Encoder | None = None) -> None:
        self._dataset = dataset
        self._bias = bias
        self._encode = encode or (lambda labels, weights: ([labels], weights))
        run_bytes = min(RUN_BYTES, block_bytes // RUNS_OF_BLOCK)
        self._runs = RunReader(dataset, run_bytes, ("labels", "weights"))
        self.n_runs = self._runs.n_runs
        self.longest_run = int(self._runs.run_bytes.max())
        self.block_bytes = max(block_bytes, self.longest_run)
        self.order = np.arange(0)  # of the runs, in the last pass

    def epoch(self, random: np.random.Generator) -> Iterator[Block]:
        """All rows once, in random runs."""
        return self._read(random.permutation(self.n_runs))

    def in_order(self) -> Iterator[Block]:
        """All rows once, as they lie."""
        return self._read(np.arange(self.n_runs))

    def again(self) -> Iterator[Block]:
        """The blocks of the last pass."""
        return self._read(self.order)

    def state(self, state: State) -> None:
        state(self, "order", "block_bytes")
        state(self._runs, "checksums", "verified")

    def _read(self, order: NDArray[np.int64]) -> Iterator[Block]:
        self.order = order
        yield from self._runs.blocks(order, self.block_bytes, self._load)

    def _load(self, group: NDArray[np.int64], buffers: Buffers) -> Block:
        dataset, piece = self._dataset, self._runs.read(group, buffers)
        weights = piece.besides.get("weights")
        weights = np.ones(len(piece.numbers)) if weights is None else weights
        if not ((weights >= 0) & (weights < np.inf)).all():
            raise dataset.damaged("weights", "has numbers that are no weights")
        targets, weights = self._encode(piece.besides["labels"], weights)
        rows = make_rows(dataset, piece.entries, piece.lengths, self._bias)
        facts = native.inspect(rows, native.Run())
        bad = max(facts.bad_structure, facts.not_finite)
        if bad >= 0:
            what = "columns" if facts.bad_structure >= 0 else "values"
            raise dataset.damaged(what, f"is out of bounds in row {piece.numbers[bad]}")
        return Block(rows, piece.lengths, targets, weights, piece.numbers)


def make_rows(dataset: Dataset, entries: list[NDArray[Any]], lengths: NDArray[np.int64], bias: float) -> native.Rows:
    """Rows of so many entries each: values, and where they are sparse columns."""
    if len(entries) == 1:
        return native.dense_rows(entries[0].reshape(-1, dataset.shape[1]), bias)
    values, columns = entries
    index = np.dtype(np.int32 if len(values) < 2**31 else np.int64)
    starts = np.zeros(len(lengths) + 1, index)
    np.cumsum(lengths, out=starts[1:])
    return native.csr_rows(values, columns.astype(index, copy=False), starts, dataset.shape[1], bias)
