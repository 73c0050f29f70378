"""Reading a data set in runs of neighbouring rows, each compared with its checksum.

The header has one checksum for each array. That of a run is noted when it is read for the first time. Once all runs
were read, theirs together give that of the array, as those of CRC-32 do. A run that is read again must be what it was.
So a file that is cut short or overwritten meanwhile is an error, and neither ends the process, as that of a memory map
does, nor changes what is computed.
"""

from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegasos.config import make_csr
from pegasos.io.ahead import read_ahead
from pegasos.io.dataset import Dataset

Item = TypeVar("Item")
Numbers = NDArray[np.int64]

#: Runs at most; longer ones in larger data sets.
MOST_RUNS = 1 << 20
#: Bytes of a run, and of those that are in memory at a time, where rows are read in order.
ORDERED_RUN, ORDERED_BLOCK = 1 << 18, 1 << 22
#: Bytes of a run, and how many of them, where some rows tell of all.
SOME_RUN, SOME_RUNS = 1 << 16, 32


class Buffers:
    """Arrays that grow as needed and are used again: memory that is touched for the first time is slow."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def get(self, name: str, length: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        array = self._arrays.get(name)
        if array is None or len(array) < length:
            self._arrays[name] = array = np.empty(length + length // 16, dtype)
        return array[:length]


class Piece(NamedTuple):
    """The rows of some runs."""

    numbers: Numbers  # of the rows in the data set
    lengths: Numbers  # entries of each row
    entries: list[NDArray[Any]]  # values, and where rows are sparse columns
    besides: dict[str, NDArray[Any]]  # the arrays with a number for each row, as stored


class RunReader:
    """Reads runs of rows.

    Parameters
    ----------
    dataset : Dataset
        What to read.
    run_bytes : int
        Bytes of a run, about.
    besides : sequence of str
        Which of the arrays with a number for each row are wanted: ``labels``, ``weights``.

    Attributes
    ----------
    n_runs : int
        How many there are.
    run_bytes : array of shape (n_runs,)
        Bytes of the entries of each.
    checksums : array of shape (n_arrays, n_runs)
        Of what was read, -1 where nothing was.
    verified : bool
        Whether all was read, and compared with the header.
    """

    def __init__(self, dataset: Dataset, run_bytes: int, besides: tuple[str, ...] = ()) -> None:
        self._dataset = dataset
        n_rows = len(dataset)
        run_rows = max(1, run_bytes // max(1, dataset.nbytes // n_rows), -(-n_rows // MOST_RUNS))
        rows = np.append(np.arange(0, n_rows, run_rows), n_rows)
        self.n_runs = len(rows) - 1
        self._besides = [name for name in besides if name in dataset.names]
        #: Where the runs of each array begin, and the last one's end.
        self._borders: dict[str, Numbers] = dict.fromkeys(self._besides, rows)
        self._rows, entries = rows, rows * dataset.shape[1]
        if dataset.storage == "csr":
            entries = np.empty(len(rows), np.int64)
            dataset.read_pieces("starts", rows, np.ones_like(rows), entries)
            if entries[0] != 0 or entries[-1] != dataset.nnz:
                raise dataset.damaged("starts", "does not fit the entries")
            self._borders |= {"starts": np.append(rows[:-1], n_rows + 1), "columns": entries}
        if np.diff(entries).min() < 0:
            raise dataset.damaged("starts", "has rows that end before they begin")
        self._borders["values"] = entries
        self._names = list(self._borders)
        self.run_bytes = np.diff(entries) * sum(dataset.dtype_of(name).itemsize for name in self._entry_names)
        self.checksums = np.full((len(self._names), self.n_runs), -1)
        self.verified = False

    @property
    def _entry_names(self) -> tuple[str, ...]:
        return ("values", "columns") if self._dataset.storage == "csr" else ("values",)

    def blocks(self, order: Numbers, block_bytes: int, load: Callable[[Numbers, Buffers], Item]) -> Iterator[Item]:
        """What `load` makes of runs in that order, as many at a time as a block holds.

        That happens on a thread, which is one block ahead, in buffers that are used again.
        """
        buffers = cycle([Buffers(), Buffers()])  # one to work on, and one that is being filled
        items = (load(group, next(buffers)) for group in self.groups(order, block_bytes))
        with read_ahead(items, 1) as ready:
            yield from ready
        self._verify()

    def groups(self, order: Numbers, block_bytes: int) -> Iterator[Numbers]:
        """The runs of each block."""
        ends = np.cumsum(self.run_bytes[order])
        first, before = 0, 0
        while first < len(order):
            last = max(first + 1, int(np.searchsorted(ends, before + block_bytes, side="right")))
            yield order[first:last]
            first, before = last, int(ends[last - 1])

    def read(self, group: Numbers, buffers: Buffers) -> Piece:
        """The rows of these runs, as they lie on disk."""
        group = np.sort(group)
        firsts, lasts = self._rows[group], self._rows[group + 1]
        numbers = np.concatenate([np.arange(*ends) for ends in zip(firsts.tolist(), lasts.tolist(), strict=True)])
        besides = {name: self._fill(name, group, buffers) for name in self._besides}
        if self._dataset.storage == "csr":
            lengths = self._lengths(group, np.cumsum(lasts - firsts), buffers)
        else:
            lengths = np.full(len(numbers), self._dataset.shape[1])
        entries = [self._fill(name, group, buffers) for name in self._entry_names]
        return Piece(numbers, lengths, entries, besides)

    def _lengths(self, group: Numbers, ends: Numbers, buffers: Buffers) -> Numbers:
        starts = self._fill("starts", group, buffers)[: ends[-1]]  # the last run has the end of all entries too
        following, borders = np.append(starts[1:], 0), self._borders["columns"]
        following[ends - 1] = borders[group + 1]
        lengths = following - starts
        if lengths.min() < 0 or not np.array_equal(starts[np.append(0, ends[:-1])], borders[group]):
            raise self._dataset.damaged("starts", "has rows that end before they begin")
        return lengths

    def _fill(self, name: str, group: Numbers, buffers: Buffers) -> NDArray[Any]:
        """What an array has for runs."""
        dataset, begins = self._dataset, self._borders[name][group]
        counts = self._borders[name][group + 1] - begins
        array = buffers.get(name, int(counts.sum()), dataset.dtype_of(name))
        found, known = dataset.read_pieces(name, begins, counts, array), self.checksums[self._names.index(name)]
        before = known[group]
        if ((before >= 0) & (before != found)).any():
            raise dataset.damaged(name, "was changed while it was read")
        known[group] = found
        return array

    def _verify(self) -> None:
        """Compare all that was read with the header."""
        if self.verified or self.checksums.min() < 0:
            return
        for name, checksums in zip(self._names, self.checksums, strict=True):
            self._dataset.compare(name, checksums, np.diff(self._borders[name]))
        self.verified = True


def read_rows(dataset: Dataset) -> Iterator[Any]:
    """The rows in order, in arrays or CSR matrices that are good until the next one."""
    return (X for X, _ in read_examples(dataset))


def read_examples(dataset: Dataset) -> Iterator[tuple[Any, NDArray[Any]]]:
    """The same, with their labels."""
    runs = RunReader(dataset, ORDERED_RUN, ("labels",))

    def load(group: Numbers, buffers: Buffers) -> tuple[Any, NDArray[Any]]:
        piece = runs.read(group, buffers)
        return _make_matrix(dataset, piece), dataset.decode(piece.besides["labels"])

    return runs.blocks(np.arange(runs.n_runs), ORDERED_BLOCK, load)


def read_some_rows(dataset: Dataset) -> Any:
    """Rows from all over the data set, a few megabytes, in an array or a CSR matrix."""
    runs = RunReader(dataset, SOME_RUN)
    group = np.linspace(0, runs.n_runs - 1, min(SOME_RUNS, runs.n_runs)).astype(np.int64)
    return _make_matrix(dataset, runs.read(group, Buffers()))


def _make_matrix(dataset: Dataset, piece: Piece) -> Any:
    if dataset.storage == "dense":
        return piece.entries[0].reshape(-1, dataset.shape[1])
    X = make_csr((len(piece.numbers), dataset.shape[1]), dtype=dataset.dtype)
    X.data, X.indices = piece.entries
    starts = np.append(0, np.cumsum(piece.lengths))
    X.indptr = starts.astype(np.int32) if len(X.data) < 2**31 else starts
    return X
