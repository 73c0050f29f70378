"""One epoch of Pegasos and of scikit-learn's SGDClassifier on sparse text, both through their public fit.

``python benchmarks/epoch.py``: 400,000 documents x 47,236 words, float32. An epoch is (11 epochs - 1 epoch) / 10, so
that validation and the final certificate cancel. It includes what Pegasos' checks of the gap on the way cost, six in
those ten epochs. The whole fit of one epoch, validation and certificate included, is reported beside it.
"""

import argparse
import functools
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from timing import alternate, print_machine, print_table, seconds

from pegasos import LinearSVC
from pegasos.datasets import make_text
from pegasos.solvers import Pegasos

ALPHA = 1e-5
PEER = "SGDClassifier"


def pegasos(epochs: int, **options: Any) -> LinearSVC:
    return LinearSVC(
        alpha=ALPHA, fit_intercept=False, tol=0, max_iter=epochs, random_state=0, solver=Pegasos(**options)
    )


def sgd(epochs: int, shuffle: bool) -> SGDClassifier:
    return SGDClassifier(
        loss="hinge", alpha=ALPHA, fit_intercept=False, tol=None, max_iter=epochs, shuffle=shuffle, random_state=0
    )


CONTENDERS: dict[str, Callable[[int], Any]] = {
    PEER: functools.partial(sgd, shuffle=True),
    "SGDClassifier(shuffle=False)": functools.partial(sgd, shuffle=False),
    "Pegasos(average=False, sampling='blocks')": functools.partial(pegasos, average=False, sampling="blocks"),
    "Pegasos(average=False)": functools.partial(pegasos, average=False),
    "Pegasos()": pegasos,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    shape = (2_000, 1_000) if arguments.tiny else (400_000, 47_236)
    repeats = 1 if arguments.tiny else arguments.repeats

    X, y = make_text(*shape, random_state=0)
    print(f"{X.shape[0]} x {X.shape[1]}, {X.nnz / X.shape[0]:.1f} entries per row, {X.dtype}, alpha={ALPHA:g}")
    print_machine()
    whole: dict[str, list[float]] = {name: [] for name in CONTENDERS}

    def measure(name: str) -> float:
        one, eleven = (seconds(functools.partial(CONTENDERS[name](epochs).fit, X, y)) for epochs in (1, 11))
        whole[name].append(one)
        return (eleven - one) / 10

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        medians = alternate({name: functools.partial(measure, name) for name in CONTENDERS}, repeats)
    print("\nan epoch: (11 epochs - 1 epoch) / 10")
    print_table(medians, PEER)
    print("\na whole fit of one epoch")
    print_table(alternate({name: iter(times).__next__ for name, times in whole.items()}, repeats), PEER)


if __name__ == "__main__":
    main()
