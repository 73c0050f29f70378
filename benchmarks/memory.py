"""Peak memory of a fit beyond its input, each in a fresh process, beside scikit-learn's LinearSVC; and of the command
and `iter_table` on files of several sizes.

``python benchmarks/memory.py``: 400,000 documents x 47,236 words, float32. The limit is 10% of the input's bytes plus
64 MB. What a first, small fit brings in (libraries) is not counted. ``--files`` measures files alone; these peaks are
those of the whole process.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
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


FORMATS = {"csv": 18, "parquet": 8, "arrow": 8, "jsonl": 31}  # bytes of a number, about
COLUMNS = 20
ITERATE = "import sys, pegasos.io; [None for _ in pegasos.io.iter_table(sys.argv[1], label='y')]"


def write_table(path: Path, size: float) -> None:
    """Write a table of about so many bytes, some rows at a time."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng, left = np.random.default_rng(0), int(size / FORMATS[path.suffix[1:]] / (COLUMNS + 1))
    schema = pa.schema([*((f"f{j}", pa.float64()) for j in range(COLUMNS)), ("y", pa.int64())])
    with ExitStack() as stack:
        if path.suffix == ".parquet":
            writer = stack.enter_context(pa.parquet.ParquetWriter(path, schema))
        elif path.suffix != ".jsonl":
            make = pa.csv.CSVWriter if path.suffix == ".csv" else pa.ipc.new_file
            writer = stack.enter_context(make(path, schema))
        else:
            file = stack.enter_context(open(path, "w"))
        while left > 0:
            X = rng.normal(size=(min(left, 1 << 19), COLUMNS))
            left -= len(X)
            y = (X.sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
            table = pa.table([*X.T.copy(), y], schema=schema)
            if path.suffix == ".jsonl":
                file.writelines(f"{json.dumps(row)}\n" for row in table.to_pylist())
            else:
                writer.write_table(table)


# In a small process of its own: the peak of a child begins with that of its parent.
CHILD = """import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)"""


def peak(*command: str) -> tuple[float, float]:
    """MB and seconds of a process."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-S", "-c", CHILD, *command], check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024 / 1e6, time.perf_counter() - started


def measure_files(sizes: list[float]) -> None:
    """Print a table: MB (seconds) of each step."""
    pegasos = str(Path(sys.executable).with_name("pegasos"))
    print("| file | size | `iter_table` | `convert` | `train --memory-limit 300MB` | `predict` |")
    print("|---|---|---|---|---|---|")
    for kind in FORMATS:
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                path, made, model = Path(folder) / f"a.{kind}", f"{folder}/a.ds", f"{folder}/a.model"
                write_table(path, size)
                steps = [
                    (sys.executable, "-c", ITERATE, str(path)),
                    (pegasos, "convert", "-q", "--label", "y", str(path), made),
                    (pegasos, "train", "-q", "--max-iter", "5", "--memory-limit", "300MB", made, model),
                    (pegasos, "predict", "-q", "--label", "y", str(path), model, f"{folder}/labels.txt"),
                ]
                cells = ["{:.0f} MB, {:.1f} s".format(*peak(*step)) for step in steps]
                print(f"| {kind} | {path.stat().st_size / 1e6:,.0f} MB | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--files", type=float, nargs="*", metavar="MB", help="files of these sizes alone [50 200 800]")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], Path(arguments.measure[1]))
        return
    if arguments.files is not None:
        measure_files([1e6 * size for size in arguments.files or (50, 200, 800)])
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
    measure_files([1e6] if arguments.tiny else [50e6, 200e6, 800e6])


if __name__ == "__main__":
    main()
