"""``read_svmlight`` beside scikit-learn's ``load_svmlight_file``: made-up text, plain and as a gzip file.

``python benchmarks/reader.py``: 500 MB as float64, and the first 100 MB of it compressed. Files are in the disk cache.
That all arrays are equal is checked first. "gzip alone" is what Python's zlib needs to decompress, without parsing.
Processor time is of all threads together: what a busy machine does not change much.
"""

import argparse
import functools
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.datasets import load_svmlight_file
from timing import alternate, print_machine, print_table, seconds

from pegasos.datasets import make_text
from pegasos.io import read_svmlight, write_svmlight
from pegasos.io.chunks import open_text

Job = Callable[[], object]

PEER = "scikit-learn"
BYTES_PER_ROW = 1_450  # of the text made here


def make_files(folder: Path, megabytes: float, gzip_megabytes: float) -> tuple[Path, Path]:
    """A plain file of about this size, and its first part as a gzip file."""
    n_rows = max(int(megabytes * 1e6 / BYTES_PER_ROW), 20)
    n_packed = max(min(int(gzip_megabytes * 1e6 / BYTES_PER_ROW), n_rows), 20)
    X, y = make_text(n_rows, 50_000 if n_rows > 1000 else 500, random_state=0)
    plain, packed = folder / "text.svm", folder / "text.svm.gz"
    write_svmlight(X, y, plain)
    write_svmlight(X[:n_packed], y[:n_packed], packed)
    return plain, packed


def check_equal(ours: Any, theirs: Any) -> None:
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours[0], name), getattr(theirs[0], name))
    np.testing.assert_array_equal(ours[1], theirs[1])


def decompress(path: Path) -> None:
    with open_text(path) as text:
        for _ in text.chunks():
            pass


def without_isal(job: Job) -> None:
    with mock.patch.dict(sys.modules, {"isal": None}):
        job()


def compare(title: str, contenders: dict[str, Job], repeats: int) -> None:
    processor: dict[str, list[float]] = {name: [] for name in contenders}

    def measure(name: str) -> float:
        started = time.process_time()
        elapsed = seconds(contenders[name])
        processor[name].append(time.process_time() - started)
        return elapsed

    print(f"\n{title}")
    medians = alternate({name: functools.partial(measure, name) for name in contenders}, repeats)
    print_table(medians, PEER)
    for name in contenders:
        speed, used = medians[PEER] / medians[name], statistics.median(processor[name])
        print(f"{name}: {speed:.1f}x as fast as {PEER}, {used:.2f} s of processor time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="a small file and one repeat, to see that it runs")
    parser.add_argument("--megabytes", type=float, default=500)
    parser.add_argument("--gzip-megabytes", type=float, default=100, help="of text; compressing takes long")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.tiny:
        arguments.megabytes, arguments.gzip_megabytes, arguments.repeats = 0.5, 0.2, 1
    dtype = np.dtype(arguments.dtype)
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = make_files(Path(folder), arguments.megabytes, arguments.gzip_megabytes)

        def ours(path: Path, n_jobs: int) -> Job:
            return functools.partial(read_svmlight, path, dtype=dtype, n_jobs=n_jobs)

        def theirs(path: Path) -> Job:
            return functools.partial(load_svmlight_file, str(path), dtype=dtype)

        for path in (plain, packed):
            check_equal(ours(path, arguments.n_jobs)(), theirs(path)())
        print("the arrays are equal")
        contenders = {PEER: theirs(plain)}
        contenders |= {f"pegasos, n_jobs={n}": ours(plain, n) for n in sorted({1, arguments.n_jobs})}
        compare(f"plain text, {plain.stat().st_size / 1e6:.0f} MB, {dtype}", contenders, arguments.repeats)
        contenders = {
            PEER: theirs(packed),
            "gzip alone, zlib": functools.partial(without_isal, functools.partial(decompress, packed)),
            "pegasos, zlib": functools.partial(without_isal, ours(packed, arguments.n_jobs)),
        }
        if find_spec("isal") is not None:
            contenders["pegasos, isal"] = ours(packed, arguments.n_jobs)
        compare(f"gzip, {packed.stat().st_size / 1e6:.0f} MB", contenders, arguments.repeats)


if __name__ == "__main__":
    main()
