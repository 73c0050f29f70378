"""Dask: two worker processes with one thread each, beside one worker process with one thread.

``python benchmarks/dask_fit.py``: the same code, tol and partitions of synthetic text, made on the workers. Both
clusters take turns; medians, the ratio, rounds, bytes per round and the certified gap. On a machine that is busy
otherwise two workers have no two processors: the processor time of the busiest worker tells what they would take.
"""

import argparse
import contextlib
import functools
import logging
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import dask
import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster, wait
from timing import alternate, print_machine, print_table

from pegasos.dask import LinearSVC
from pegasos.datasets import make_text

ONE, TWO = "1 worker, 1 thread", "2 workers, 1 thread each"


def write(folder: Path, n_rows: int, n_features: int) -> None:
    """The whole problem, once, for all workers to load their parts of."""
    X, y = make_text(n_rows, n_features, random_state=0)
    for name, array in {"data": X.data, "indices": X.indices, "indptr": X.indptr, "y": y}.items():
        np.save(folder / f"{name}.npy", array)


def load(folder: Path, n_features: int, number: int, count: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """One partition, in memory."""
    data, indices, indptr, y = (
        np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("data", "indices", "indptr", "y")
    )
    first, last = len(y) * number // count, len(y) * (number + 1) // count
    start, end = indptr[first], indptr[last]
    arrays = (np.array(data[start:end]), np.array(indices[start:end]), np.array(indptr[first : last + 1]) - start)
    return sp.csr_matrix(arrays, shape=(last - first, n_features)), np.array(y[first:last])


def make_cluster(n_workers: int) -> tuple[Any, Any]:
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )
    return cluster, Client(cluster, set_as_default=False)


def spread(client: Any, folder: Path, n_features: int, count: int) -> Any:
    """Partitions in the workers' memory, as many on each."""
    workers = sorted(client.nthreads())
    parts = [
        client.submit(load, folder, n_features, number, count, workers=[workers[number % len(workers)]])
        for number in range(count)
    ]
    with client.as_current():
        wait(parts)
    return parts


def fit(client: Any, parts: Any, C: float, tol: float, found: list[Any]) -> float:
    model = LinearSVC(C=C, tol=tol, fit_intercept=False, random_state=0)
    model.client = client
    pairs = [dask.delayed(part) for part in parts]
    before = client.run(time.process_time)
    started = time.perf_counter()
    model.fit([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    took = time.perf_counter() - started
    after = client.run(time.process_time)
    found.append((model, max(after[worker] - before[worker] for worker in before)))
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--rows", type=int, default=1_600_000)
    parser.add_argument("--features", type=int, default=47_236)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rows, features, repeats = arguments.rows, arguments.features, arguments.repeats
    if arguments.tiny:
        rows, features, repeats = 2_000, 500, 1

    print_machine()
    contenders, models = {}, {}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        write(folder, rows, features)
        for name, n_workers in ((ONE, 1), (TWO, 2)):
            cluster, client = make_cluster(n_workers)
            stack.enter_context(cluster)
            stack.enter_context(client)
            parts = spread(client, folder, features, arguments.partitions)
            models[name] = []
            contenders[name] = functools.partial(fit, client, parts, arguments.C, arguments.tol, models[name])
        print(
            f"{rows:,} x {features:,}, {arguments.partitions} partitions, C = {arguments.C:g}, tol = {arguments.tol:g}",
            flush=True,
        )
        print_table(alternate(contenders, repeats), ONE)
    for name, made in models.items():
        model = made[-1][0]
        busiest = statistics.median(processor for _, processor in made)
        print(
            f"{name}: {busiest:.2f} s of processor time of the busiest worker, gap {model.certificate_.gap:.1e}, "
            f"objective {model.certificate_.primal:.6g}, {model.n_iter_} "
            f"epochs, {model.rounds_} rounds of {model.bytes_per_round_ / 1e6:.2f} MB"
        )
    print_machine()


if __name__ == "__main__":
    main()
