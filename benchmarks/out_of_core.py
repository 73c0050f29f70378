"""Training by blocks against training in memory, at equal `tol`: visits of rows, bytes read and seconds.

``python benchmarks/out_of_core.py``: words of 12 made-up languages as hashed character n-grams, 750,000 of them for two
groups of languages and 187,810 for all twelve, in random order and sorted by class; and documents in two classes. One
thread works in both, ``solver="sdca"``. By blocks a second one reads ahead, so that "seconds" are those of the working
thread, or of the reading one if it took longer; waiting counts in neither. "memory" is a fit to arrays that are there;
the last column is the ratio to the fit of the same data set with room for all of it, which reads and checks it first.

By blocks `memory_limit` leaves for rows, blocks and copies of rows that move alike, a quarter of the bytes of the data
set (``--share``), printed as "room".

Bytes are counted as rows that pass by: in memory those of all visits and checks, by blocks those read from disk. With
several classes a block is read once for all of them.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from timing import print_machine

from pegasos import LinearSVC
from pegasos.datasets import make_text
from pegasos.io import Dataset, write_dataset
from pegasos.linear.out_of_core import blocks, fit

LETTERS = 26


def make_words(
    n_words: int, n_languages: int = 12, n_features: int = 1 << 17, seed: int = 0
) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """Words as tf-idf of hashed character n-grams, 1 to 5 letters long, and their languages.

    Letters follow each other as in all languages, or in a third of the cases as in the word's own.
    """
    random = np.random.default_rng(seed)
    common, own = random.dirichlet(np.full(LETTERS, 0.15), (2, n_languages, LETTERS + 1))
    common[:] = common[0]
    chances = np.cumsum(0.65 * common + 0.35 * own, axis=2)
    y = random.integers(n_languages, size=n_words)
    lengths = np.clip(random.poisson(8, n_words), 2, 20)
    words = np.zeros((n_words, lengths.max() + 2), dtype=np.uint64)  # 0 is the border
    letter = np.zeros(n_words, dtype=np.int64)
    for place in range(1, words.shape[1] - 1):
        letter = (chances[y, letter, :-1] < random.random(n_words)[:, np.newaxis]).sum(axis=1) + 1
        letter[place > lengths] = 0
        words[:, place] = letter
    rows, columns = [], []
    for size in range(1, 6):
        for first in range(words.shape[1] - size + 1):
            inside = np.flatnonzero(first + size <= lengths + 2)
            key = np.full(len(inside), size, dtype=np.uint64)
            for letters in words[inside, first : first + size].T:
                key = key * np.uint64(LETTERS + 1) + letters
            rows.append(inside)
            columns.append((key * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(32)) % np.uint64(n_features))
    where = (np.concatenate(rows), np.concatenate(columns).astype(np.int64))
    X = sp.csr_matrix((np.ones(len(where[0])), where), shape=(n_words, n_features))
    X.data *= np.log((1 + n_words) / (1 + np.bincount(X.indices, minlength=n_features)))[X.indices] + 1
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1])), np.diff(X.indptr))
    return X.astype(np.float32), y


def problems(tiny: bool) -> dict[str, tuple[sp.csr_matrix, NDArray[np.int64]]]:
    """Name to examples and labels."""
    some, many = (2_000, 3_000) if tiny else (187_810, 750_000)
    X, y = make_words(some)
    found = {"12 languages": (X, y)}
    by_class = np.argsort(y, kind="stable")
    found["12 languages, sorted"] = (X[by_class], y[by_class])
    X, y = make_words(many)
    y = (y < 6).astype(np.int64)
    found["2 groups of languages"] = (X, y)
    by_class = np.argsort(y, kind="stable")
    found["2 groups, sorted"] = (X[by_class], y[by_class])
    found["documents"] = make_text(*((2_000, 500) if tiny else (200_000, 47_236)), random_state=0)
    return found


def passes(model: LinearSVC) -> tuple[float, float]:
    """Visits of all classes, and visits and checks, both as passes over the data."""
    histories = model.history_ if isinstance(model.history_, (list, tuple)) else [model.history_]
    visits = sum(float(history["epoch"][-1]) for history in histories)
    return visits, visits + sum(len(history["epoch"]) for history in histories)


def in_memory(X: Any, y: Any = None, **parameters: Any) -> tuple[float, float, float]:
    """Passes of visits, passes of bytes, and seconds."""
    started = time.thread_time()
    model = LinearSVC(solver="sdca", n_jobs=1, random_state=0, **parameters).fit(X, y)
    seconds = time.thread_time() - started
    assert "by blocks" not in str(model.certificate_.solver)
    return *passes(model), seconds


def by_blocks(dataset: Dataset, room: int, **parameters: Any) -> tuple[float, float, float]:
    """The same, block by block, with so many bytes for rows."""
    n_parts = len(dataset.labels.values) if len(dataset.labels.values) > 2 else 1
    dataset.memory_limit = fit.BASE_BYTES + 8 * fit.VECTORS * n_parts * (dataset.shape[1] + 1) + room
    load, read, reading = blocks.BlockReader._load, 0, 0.0

    def spied(self: Any, *arguments: Any) -> Any:
        nonlocal read, reading
        started = time.thread_time()
        block = load(self, *arguments)
        reading += time.thread_time() - started
        read += block.nnz
        return block

    with mock.patch.object(blocks.BlockReader, "_load", spied):
        started = time.thread_time()
        model = LinearSVC(solver="sdca", n_jobs=1, random_state=0, **parameters).fit(dataset)
        worked = time.thread_time() - started
    assert "by blocks" in str(model.certificate_.solver)
    return passes(model)[0], read / dataset.nnz, max(worked, reading)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--share", type=float, default=0.25, help="of the data, for rows (default: %(default)s)")
    arguments = parser.parse_args()
    print_machine()
    smallest = 1 << 14 if arguments.tiny else fit.SMALLEST_BLOCK
    ratios = "  ".join(f"{what + ': memory':>14} blocks ratio" for what in ("visits", "bytes", "s"))
    print(f"{'':22}  {'':5}  room/MB of data  {ratios}   read")
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(fit, "SMALLEST_BLOCK", smallest):
        for number, (name, (X, y)) in enumerate(problems(arguments.tiny).items()):
            dataset = write_dataset(Path(folder) / str(number), X, y)
            room = int(arguments.share * dataset.nbytes)
            sizes = f"{room / 1e6:7.1f} {dataset.nbytes / 1e6:7.1f}"
            for tol in (1e-2, 1e-3):
                blocked = by_blocks(dataset, room, tol=tol)
                pairs = zip(in_memory(X, y, tol=tol), blocked, strict=True)
                columns = [f"{memory:14.2f} {block:6.2f} {block / memory:5.2f}" for memory, block in pairs]
                dataset.memory_limit = None
                columns.append(f"{blocked[-1] / in_memory(dataset, tol=tol)[-1]:5.2f}")
                print(f"{name:22}  {tol:<5g}  {sizes}  {'  '.join(columns)}", flush=True)


if __name__ == "__main__":
    main()
