"""A Pegasos step does not depend on the number of rows: 10^6 further steps on 10^5 and on 10^6 rows of the same width.

``python benchmarks/steps.py``. Two measures. Between 10^6 and 2 * 10^6 steps validation and final certificate cancel,
but on 10^6 rows the longer fit makes one more check of the gap, a pass over all of them. Between 3 * 10^6 and 4 * 10^6
steps both fits make as many checks on 10^6 rows (one more on 10^5), so that the steps remain, and the cache.
"""

import argparse
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import alternate, print_machine, print_table, seconds

from pegasos import LinearSVC
from pegasos.datasets import make_text
from pegasos.solvers import Pegasos


def make_dense(n_samples: int) -> tuple[Any, Any]:
    """Fifty normal columns."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, 50), dtype=np.float32)
    return X, np.where(X[:, 0] + random.standard_normal(n_samples) > 0, 1, -1)


def make_documents(n_samples: int, n_features: int) -> tuple[Any, Any]:
    return make_text(n_samples, n_features, random_state=0)


def further_steps(X: Any, y: Any, steps: int, before: int) -> float:
    """Seconds of `steps` steps after `before` times as many others."""

    def fit(count: int) -> float:
        solver = Pegasos(max_steps=count, sampling="replace", average=False)
        estimator = LinearSVC(alpha=1e-4, fit_intercept=False, tol=0, random_state=0, solver=solver)
        return seconds(lambda: estimator.fit(X, y))

    first = fit(before * steps)
    return fit((before + 1) * steps) - first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    sizes, steps, words = ((1_000, 5_000), 10_000, 500) if arguments.tiny else ((100_000, 1_000_000), 1_000_000, 47_236)
    repeats = 1 if arguments.tiny else arguments.repeats

    print_machine()
    kinds: dict[str, Callable[[int], tuple[Any, Any]]] = {
        "text": functools.partial(make_documents, n_features=words),
        "dense": make_dense,
    }
    for kind, make in kinds.items():
        data = {f"{size} rows": make(size) for size in sizes}
        for before in (1, 3):
            contenders = {name: functools.partial(further_steps, X, y, steps, before) for name, (X, y) in data.items()}
            print(f"\n{kind}, {steps} further steps after {before * steps}")
            print_table(alternate(contenders, repeats), f"{sizes[0]} rows")


if __name__ == "__main__":
    main()
