"""Copies of the rows that still move, in memory, so that epochs over them read nothing from the disk.

After some epochs the dual variables of most rows stay at a bound (`cpp/linear/solvers/sdca.cpp`), and the others are
few enough to be kept, as in Chang and Roth's "selective block minimization" (2011).
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.state import State
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.blocks import make_rows
from pegasos.solvers._blocks import Block

#: Bytes per row that a fit in memory takes beyond the data.
ROW_BYTES = 100


class MovingRows:
    """Rows that were found to move in a pass over all blocks.

    Attributes
    ----------
    found : float
        Bytes of those of the last pass; infinite before the first.
    block : Block or None
        All of them, if there was room.
    numbers : array of shape (n_rows,)
        Which ones the block has.
    """

    def __init__(self, dataset: Dataset, bias: float) -> None:
        self._dataset, self._bias = dataset, bias
        self._types = [dataset.dtype, np.dtype(np.int32)] if dataset.storage == "csr" else [dataset.dtype]
        self._entry_bytes = sum(dtype.itemsize for dtype in self._types)
        self.found = np.inf
        self.block: Block | None = None
        self.numbers = np.empty(0, np.int64)
        self._room = 0

    def begin(self, room: int) -> None:
        """A pass begins; what it finds may take so many bytes."""
        self.block, self.numbers, self._room = None, np.empty(0, np.int64), room
        self._found = self._entries = 0
        self._copies = [np.empty(room // self._entry_bytes, dtype) for dtype in self._types]
        self._pieces: list[tuple[NDArray[Any], ...]] = []

    def add(self, block: Block, moves: NDArray[np.bool_]) -> None:
        """Copy these rows of a block, as long as there is room."""
        chosen = np.flatnonzero(moves).astype(np.uint32)
        lengths = block.lengths[chosen]
        self._found += int(lengths.sum()) * self._entry_bytes + ROW_BYTES * len(chosen)
        if self._found <= self._room:
            native.copy_rows(block.rows, chosen, *(copy[self._entries :] for copy in self._copies))
            self._entries += int(lengths.sum())
            self._pieces.append((lengths, block.targets[0][chosen], block.weights[chosen], block.numbers[chosen]))

    def end(self) -> None:
        """The pass is over."""
        self.found = self._found
        if 0 < self._found <= self._room:
            lengths, targets, weights, self.numbers = map(np.concatenate, zip(*self._pieces, strict=True))
            entries = [copy[: self._entries] for copy in self._copies]
            rows = make_rows(self._dataset, entries, lengths, self._bias)
            native.inspect(rows, native.Run())  # for the squared norms
            self.block = Block(rows, lengths, [targets], weights, self.numbers)
        self._copies, self._pieces = [], []

    def state(self, state: State) -> None:
        state(self, "found", "numbers", "_room")

    def copy_again(self, blocks: Iterable[Block]) -> None:
        """Copy the rows of a checkpoint, from the blocks of the pass that found them."""
        kept = np.sort(self.numbers)
        self.begin(self._room)
        for block in blocks:
            self.add(block, np.take(kept, np.searchsorted(kept, block.numbers), mode="clip") == block.numbers)
        self.end()
