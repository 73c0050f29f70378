"""What a fit costs as the data grow: Pegasos on more and more rows, and memory on a data set larger than it may take.

``python benchmarks/scaling.py --parts rows``: data sets on disk of 10^5, 10^6 and 10^7 sparse rows of one source, page
cache warm. The same `alpha`; the number of steps is the smallest of a growing sequence whose result is within
``--accuracy`` of the optimum, on each of them. That, the optimum and the data are not in the clock: a fit is
``LinearSVC(alpha=..., solver=Pegasos(max_steps=..., certify=False)).fit(open_dataset(...))``, opening included.

``--parts memory``: a data set of ``--gigabytes`` is made, and one epoch of SDCA and of Pegasos over it watched, with
``memory_limit="1GB"``: the largest anonymous memory of the process.

``--parts cost``: seconds of an epoch by blocks and in memory against rows, features and entries of a row, and a model
``rows a + entries (b + c log2(features / 20,000))`` fitted to them: more features are more weights, which no longer fit
in the caches.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from timing import print_machine, results_folder

from pegasos import LinearSVC
from pegasos.io import Dataset, DatasetWriter, open_dataset
from pegasos.solvers import Pegasos

PIECE = 100_000


def make_rows(rows: int, features: int, entries: int, seed: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Rows of about so many entries, more of them in the first columns, with a noisy linear function as label."""
    random = np.random.default_rng([seed, rows])
    columns = (features * random.random((rows, entries), dtype=np.float32) ** 3).astype(np.int32)
    values = np.full(columns.size, entries**-0.5, np.float32)
    X = sp.csr_matrix((values, columns.ravel(), np.arange(0, columns.size + 1, entries)), shape=(rows, features))
    X.sum_duplicates()
    truth = np.random.default_rng(7).normal(size=features).astype(np.float32)
    scores = X @ truth
    return X, np.where(scores + 0.5 * random.normal(size=rows) > 0, 1, -1)


def make_dataset(path: Path, rows: int, features: int, entries: int) -> Dataset:
    """A data set, in pieces of one source."""
    if not path.exists():
        with DatasetWriter(path, n_features=features) as writer:
            for first in range(0, rows, PIECE):
                writer.append(*make_rows(min(PIECE, rows - first), features, entries, first // PIECE))
    return open_dataset(path)


def warm_up(dataset: Dataset) -> None:
    """Read all of it once."""
    for name in ("values", "columns", "starts", "labels"):
        with open(dataset.file(name), "rb") as file:
            while file.read(1 << 24):
                pass


def objective(dataset: Dataset, coef: np.ndarray, alpha: float) -> float:
    """alpha/2 ||w||^2 + the mean hinge loss."""
    X, y, total = dataset.X, dataset.y, 0.0
    for first in range(0, len(dataset), PIECE):
        last = first + PIECE
        total += np.maximum(1 - y[first:last] * (X[first:last] @ coef), 0).sum()
    return alpha / 2 * float(coef @ coef) + total / len(dataset)


def fit_seconds(path: Path, alpha: float, steps: int, seed: int) -> tuple[float, np.ndarray]:
    started = time.perf_counter()
    solver = Pegasos(max_steps=steps, certify=False)
    model = LinearSVC(alpha=alpha, tol=0, fit_intercept=False, solver=solver, random_state=seed).fit(open_dataset(path))
    return time.perf_counter() - started, model.coef_[0]


def grow(folder: Path, counts: list[int], arguments: argparse.Namespace) -> None:
    """The time to a fixed accuracy against the number of rows."""
    alpha, steps, paths = arguments.alpha, {}, {}
    for rows in counts:
        paths[rows] = folder / f"rows-{rows}.ds"
        dataset = make_dataset(paths[rows], rows, arguments.features, arguments.entries)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            reference = LinearSVC(alpha=alpha, tol=2e-3, max_iter=30, fit_intercept=False, random_state=0).fit(dataset)
        optimum = reference.certificate_.dual * alpha
        print(f"{dataset}: optimum {optimum:.6f}, known to {reference.certificate_.gap:.1e}", flush=True)
        steps[rows] = arguments.first_steps
        while True:
            worst = max(objective(dataset, fit_seconds(paths[rows], alpha, steps[rows], s)[1], alpha) for s in range(3))
            print(f"  {steps[rows]:,} steps: {worst / optimum - 1:.2%} above it (the worst of three)", flush=True)
            if worst <= (1 + arguments.accuracy) * optimum or steps[rows] > 1e8:
                break
            steps[rows] = int(1.25 * steps[rows])
        warm_up(dataset)
    times: dict[int, list[float]] = {rows: [] for rows in counts}
    for seed in range(arguments.repeats):
        for rows in counts:
            times[rows].append(fit_seconds(paths[rows], alpha, steps[rows], seed)[0])
    medians = {rows: statistics.median(values) for rows, values in times.items()}
    for rows, median in medians.items():
        ratio = median / medians[counts[0]]
        print(f"{rows:>12,} rows  {steps[rows]:>10,} steps  {median:.3f} s  ratio to the first {ratio:.2f}")
    plot(medians, arguments.tiny)


def plot(medians: dict[int, float], tiny: bool) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(medians), list(medians.values()), "o-")
    axes.set(xscale="log", xlabel="examples on disk", ylabel="seconds to the accuracy", ylim=(0, None))
    path = results_folder(None, tiny) / "scaling.png"
    figure.savefig(path, dpi=150)
    print(f"plot: {path}")


WATCHED = """
import json, re, sys, threading, time
from pegasos import LinearSVC
from pegasos.io import open_dataset
dataset = open_dataset(sys.argv[1], memory_limit="1GB")
peak, done = 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.02):
        with open("/proc/self/status") as file:
            peak = max(peak, int(re.search(r"RssAnon:\\s+(\\d+)", file.read())[1]) * 1024)
thread = threading.Thread(target=watch)
thread.start()
started = time.perf_counter()
model = LinearSVC(alpha=1e-5, tol=0, max_iter=1, solver=sys.argv[2], random_state=0).fit(dataset)
seconds = time.perf_counter() - started
done.set()
thread.join()
print(json.dumps({"peak": peak, "seconds": seconds, **model.certificate_.to_dict()}))
"""


def watch_memory(folder: Path, gigabytes: float, arguments: argparse.Namespace) -> None:
    per_row = 8 * arguments.entries + 16
    path = folder / "large.ds"
    started = time.perf_counter()
    dataset = make_dataset(path, int(gigabytes * 1e9 / per_row), arguments.features, arguments.entries)
    print(f"{dataset}, {dataset.nbytes / 1e9:.2f} GB, made in {time.perf_counter() - started:.0f} s", flush=True)
    for solver in ("sdca", "pegasos"):
        done = subprocess.run(
            [sys.executable, "-c", WATCHED, str(path), solver], capture_output=True, text=True, check=True
        )
        found = json.loads(done.stdout)
        print(
            f"{solver}: one epoch and the certificate in {found['seconds']:.1f} s, gap {found['gap']:.3g}, anonymous "
            f"memory at most {found['peak'] / 1e6:.0f} MB of 1000 ({found['solver']})",
            flush=True,
        )


def epoch_seconds(dataset: Dataset, limit: int | None) -> float:
    """Of SDCA, from the difference of three epochs and one, so that what is done once cancels."""
    times = []
    for epochs in (1, 3):
        started = time.perf_counter()
        opened = open_dataset(dataset.path, memory_limit=limit)
        model = LinearSVC(alpha=1e-4, tol=0, max_iter=epochs, solver="sdca", n_jobs=1, random_state=0).fit(opened)
        assert ("by blocks" in model.certificate_.solver) == (limit is not None)
        times.append(time.perf_counter() - started)
    return (times[1] - times[0]) / 2


def fit_costs(folder: Path, arguments: argparse.Namespace) -> None:
    shapes = [(200_000, 20_000, 20), (400_000, 20_000, 20), (800_000, 20_000, 20), (400_000, 200_000, 20)]
    shapes += [(400_000, 2_000_000, 20), (400_000, 20_000, 40), (400_000, 20_000, 80), (200_000, 2_000_000, 80)]
    for name in ("by blocks", "in memory"):
        lines, seconds = [], []
        for rows, features, entries in shapes:
            dataset = make_dataset(folder / f"cost-{rows}-{features}-{entries}.ds", rows, features, entries)
            warm_up(dataset)
            limit = 250_000_000 + 64 * features if name == "by blocks" else None  # too little for all of it
            median = statistics.median(epoch_seconds(dataset, limit) for _ in range(arguments.repeats))
            lines.append([rows, dataset.nnz, dataset.nnz * np.log2(features / 20_000)])
            seconds.append(median)
            print(f"{name}: {rows:,} rows, {features:,} features, {dataset.nnz:,} entries: {median:.3f} s", flush=True)
        table, measured = np.array(lines, float), np.array(seconds)
        scale = 1 / measured  # relative errors
        from scipy.optimize import nnls

        model, _ = nnls(table * scale[:, None], np.ones(len(measured)))
        errors = table @ model / measured - 1
        print(
            f"{name}: an epoch takes {model[0] * 1e9:.0f} ns a row + {model[1] * 1e9:.2f} ns an entry + "
            f"{model[2] * 1e9:.2f} ns an entry for each doubling of the features from 20,000; errors of the model from "
            f"{errors.min():.0%} to {errors.max():.0%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--parts", nargs="+", choices=["rows", "memory", "cost"], default=["rows", "memory", "cost"])
    parser.add_argument("--rows", nargs="+", type=int, default=[10**5, 10**6, 10**7])
    parser.add_argument("--features", type=int, default=50_000)
    parser.add_argument("--entries", type=int, default=40, help="of a row, about")
    parser.add_argument("--alpha", type=float, default=1e-3)
    parser.add_argument("--accuracy", type=float, default=0.005)
    parser.add_argument("--first-steps", type=int, default=100_000)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", help="where to make data sets, and keep them [a temporary one]")
    arguments = parser.parse_args()
    print_machine()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.folder or temporary)
        folder.mkdir(exist_ok=True)
        if arguments.tiny:
            arguments.parts, arguments.rows, arguments.features = ["rows"], [2_000, 4_000], 500
            arguments.first_steps, arguments.accuracy, arguments.repeats = 20_000, 0.2, 1
        if "rows" in arguments.parts:
            grow(folder, arguments.rows, arguments)
        if "memory" in arguments.parts:
            watch_memory(folder, arguments.gigabytes, arguments)
        if "cost" in arguments.parts:
            fit_costs(folder, arguments)
    print_machine()


if __name__ == "__main__":
    main()
