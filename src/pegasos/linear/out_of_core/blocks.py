"""Blocks of a data set, read ahead on a thread into buffers that are used again.

Rows lie on disk in runs of neighbours, about an eighth of a megabyte each. An epoch takes the runs in a new random
order and fills a block with as many as it holds; within the block rows are visited in random order. So rows are
shuffled within and across blocks, and the disk is read in stretches.
"""

import os
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.io.ahead import read_ahead
from pegasos.io.dataset import Dataset, bytes_view
from pegasos.solvers._blocks import Block

Runs = list[tuple[int, int]]  # first row and the one after the last, of each

#: Bytes of a run of neighbouring rows.
RUN_BYTES = 1 << 17
#: Runs at most; longer ones in larger data sets.
MOST_RUNS = 1 << 20


class BlockReader:
    """Reads a data set block by block.

    Parameters
    ----------
    dataset : Dataset
        What to read.
    block_bytes : int
        Bytes of a block, for its entries, or of the longest run where that has more. There are two blocks: one to work
        on, and one that is being read.
    bias : float
        The constant feature of the rows.
    """

    def __init__(self, dataset: Dataset, block_bytes: int, bias: float = 0.0) -> None:
        self._dataset = dataset
        self._bias = bias
        n_rows = len(dataset)
        per_row = max(1, dataset.nbytes // n_rows)
        self._run_rows = max(1, RUN_BYTES // per_row, -(-n_rows // MOST_RUNS))
        self.n_runs = -(-n_rows // self._run_rows)
        self._entry_bytes = dataset.dtype.itemsize + (4 if dataset.storage == "csr" else 0)
        entries = np.diff(self._entry_borders())
        self._run_bytes = entries * self._entry_bytes
        if entries.min() < 0:
            raise dataset.damaged("starts", "has rows that end before they begin")
        self.block_bytes = max(block_bytes, int(self._run_bytes.max()))

    def epoch(self, random: np.random.Generator) -> Iterator[Block]:
        """All rows once, in random runs."""
        return self._read(random.permutation(self.n_runs))

    def in_order(self) -> Iterator[Block]:
        """All rows once, as they lie."""
        return self._read(np.arange(self.n_runs))

    def _entry_borders(self) -> NDArray[np.int64]:
        """Where the entries of each run begin, and the last one's end."""
        dataset = self._dataset
        rows = np.append(np.arange(self.n_runs, dtype=np.int64) * self._run_rows, len(dataset))
        if dataset.storage == "dense":
            return rows * dataset.shape[1]
        borders = np.asarray(dataset.array("starts")[rows])
        if borders[0] != 0 or borders[-1] != dataset.nnz:
            raise dataset.damaged("starts", "does not fit the entries")
        return borders

    def _groups(self, order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """The runs of each block."""
        ends = np.cumsum(self._run_bytes[order])
        first, before = 0, 0
        while first < len(order):
            last = max(first + 1, int(np.searchsorted(ends, before + self.block_bytes, side="right")))
            yield order[first:last]
            first, before = last, int(ends[last - 1])

    def _read(self, order: NDArray[np.int64]) -> Iterator[Block]:
        names = ("values", "columns") if self._dataset.storage == "csr" else ("values",)
        files = {name: self._dataset.descriptor(name) for name in names}
        buffers = cycle([_Buffers(), _Buffers()])  # one to work on, and one that is being filled
        blocks = (self._load(group, files, next(buffers)) for group in self._groups(order))
        with read_ahead(blocks, 1) as ready:
            yield from ready

    def _load(self, group: NDArray[np.int64], files: dict[str, int], buffers: "_Buffers") -> Block:
        dataset, n_rows = self._dataset, len(self._dataset)
        firsts = (np.sort(group) * self._run_rows).tolist()
        runs = [(first, min(first + self._run_rows, n_rows)) for first in firsts]
        labels = np.concatenate([dataset.array("labels")[first:last] for first, last in runs])
        stored = dataset.sample_weight
        weights = np.ones(len(labels)) if stored is None else np.concatenate([stored[a:b] for a, b in runs])
        if not ((weights >= 0) & (weights < np.inf)).all():
            raise dataset.damaged("weights", "has numbers that are no weights")
        rows, nnz = (self._load_csr if dataset.storage == "csr" else self._load_dense)(runs, files, buffers)
        facts = native.inspect(rows, native.Run())
        bad = max(facts.bad_structure, facts.not_finite)
        if bad >= 0:
            row = np.concatenate([np.arange(a, b) for a, b in runs])[bad]
            what = "columns" if facts.bad_structure >= 0 else "values"
            raise dataset.damaged(what, f"is out of bounds in row {row}")
        return Block(rows, labels, weights, runs, nnz)

    def _load_csr(self, runs: Runs, files: dict[str, int], buffers: "_Buffers") -> tuple[native.Rows, int]:
        dataset = self._dataset
        stored = dataset.array("starts")
        total = sum(int(stored[b] - stored[a]) for a, b in runs)
        values = buffers.get("values", total, dataset.dtype)
        columns = buffers.get("columns", total, np.dtype(np.int32))
        pieces, at = [np.zeros(1, np.int64)], 0
        for a, b in runs:
            starts = np.asarray(stored[a : b + 1])
            begin, count = int(starts[0]), int(starts[-1] - starts[0])
            _read_into(files["values"], values[at : at + count], begin * values.itemsize, dataset.file("values"))
            _read_into(files["columns"], columns[at : at + count], begin * columns.itemsize, dataset.file("columns"))
            pieces.append(starts[1:] - begin + at)
            at += count
        starts = np.concatenate(pieces)
        if total >= 2**31:
            return native.csr_rows(values, columns.astype(np.int64), starts, dataset.shape[1], self._bias), total
        return native.csr_rows(values, columns, starts.astype(np.int32), dataset.shape[1], self._bias), total

    def _load_dense(self, runs: Runs, files: dict[str, int], buffers: "_Buffers") -> tuple[native.Rows, int]:
        width = self._dataset.shape[1]
        total = sum(b - a for a, b in runs) * width
        values = buffers.get("values", total, self._dataset.dtype)
        at = 0
        for a, b in runs:
            count = (b - a) * width
            offset = a * width * values.itemsize
            _read_into(files["values"], values[at : at + count], offset, self._dataset.file("values"))
            at += count
        return native.dense_rows(values.reshape(-1, width), self._bias), total


class _Buffers:
    """Arrays that grow as needed and are used again: memory that is touched for the first time is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def get(self, name: str, length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        array = self._arrays.get(name)
        if array is None or len(array) < length:
            self._arrays[name] = array = np.empty(length + length // 16, dtype)
        return array[:length]


def _read_into(file: int, array: NDArray[Any], offset: int, name: str) -> None:
    """Fill the array from that place of the file."""
    view = bytes_view(array)
    done = 0
    while done < len(view):
        count = os.preadv(file, [view[done:]], offset + done)
        if count == 0:
            raise ValueError(f"{name} was cut short while it was read; convert the data anew")
        done += count
