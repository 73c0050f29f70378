"""Peak memory of a fit beyond its input, each in a fresh process, beside scikit-learn's LinearSVC.

``python benchmarks/memory.py``: 400,000 documents x 47,236 words, float32. The limit is 10% of the input's bytes plus
64 MB. What a first, small fit brings in (libraries) is not counted.
"""

import argparse
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as LIBLINEAR

from pegasos import LinearSVC
from pegasos.datasets import make_text

PEER = "LinearSVC"
COMMON = {"C": 1.0, "loss": "hinge", "fit_intercept": False, "random_state": 0}
CONTENDERS = {
    PEER: lambda: LIBLINEAR(**COMMON, dual=True, tol=0.1),
    "pegasos, n_jobs=1": lambda: LinearSVC(**COMMON, tol=1e-3, n_jobs=1),
    "pegasos, n_jobs=2": lambda: LinearSVC(**COMMON, tol=1e-3, n_jobs=2),
    "pegasos, sgd-m": lambda: LinearSVC(**COMMON, tol=0, max_iter=3, solver="sgd-m", n_jobs=1),
    "pegasos, pegasos": lambda: LinearSVC(**COMMON, tol=0, max_iter=3, solver="pegasos", n_jobs=1),
}
PARTS = ("data", "indices", "indptr", "y")


def status(field: str) -> int:
    """Bytes of VmRSS (now) or VmHWM (the most so far) of this process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def measure(name: str, folder: Path) -> None:
    """In the fresh process: print the input's bytes and the bytes beyond them."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    CONTENDERS[name]().fit(*make_text(100, 50, random_state=0))
    *arrays, y = [np.load(folder / f"{part}.npy") for part in PARTS]
    X: Any = sp.csr_matrix(tuple(arrays), copy=False)
    before = status("VmRSS")
    CONTENDERS[name]().fit(X, y)
    print(sum(part.nbytes for part in arrays) + y.nbytes, status("VmHWM") - before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], Path(arguments.measure[1]))
        return
    if not Path("/proc/self/status").exists():
        print("no ratio: this system does not tell a process's peak memory in /proc/self/status")
        return

    with tempfile.TemporaryDirectory() as folder:
        X, y = make_text(*((2_000, 500) if arguments.tiny else (400_000, 47_236)), random_state=0)
        for part, array in zip(PARTS, (X.data, X.indices, X.indptr, y), strict=True):
            np.save(Path(folder) / f"{part}.npy", array)
        del X, y
        found = {}
        for name in list(CONTENDERS)[: 2 if arguments.tiny else None]:
            command = [sys.executable, __file__, "--measure", name, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            size, found[name] = (int(number) for number in done.stdout.split())
    limit = 0.1 * size + 64e6
    print(f"input {size / 1e6:.1f} MB, limit {limit / 1e6:.1f} MB")
    print(f"{'':20}  MB beyond it  ratio to the input  ratio to {PEER}")
    for name, extra in found.items():
        verdict = "" if name == PEER else "within" if extra <= limit else "ABOVE the limit"
        print(f"{name:20}  {extra / 1e6:12.1f}  {extra / size:18.3f}  {extra / max(found[PEER], 1):18.3f}  {verdict}")


if __name__ == "__main__":
    main()
