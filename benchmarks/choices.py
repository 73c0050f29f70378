"""What choices of `auto` rest on: the same fit in two ways, in turn, in processor seconds; medians.

``python benchmarks/choices.py [--parts kernel classes path pegasos newton joint]``.

kernel: SMO and SDCA to a gap of 0.1%, without intercept, with a small and a large cache.
classes: each class against the rest alone, and groups of classes that share passes over the examples.
path: LinearSVCCV of several classes, and a grid search around LinearSVC.
pegasos: a free intercept by interior point, SDCA and Pegasos.
newton: losses without corners by SDCA, for at most five seconds, interior point and Newton.
joint: all classes together with the log loss by SDCA, for at most ten seconds, and Newton.
"""

import argparse
import functools
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import numpy as np
from datasets import Data, has_real_data, load
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from timing import alternate, print_machine

from pegasos import SVC, LinearSVC, LinearSVCCV

SHARING = "pegasos.linear.one_vs_rest.is_worth_sharing"


def spent(fit: Callable[[], object]) -> float:
    """Processor seconds."""
    started = time.process_time()
    fit()
    return time.process_time() - started


def compare(title: str, fits: Mapping[str, Callable[[], object]], repeats: int) -> None:
    medians = alternate({name: functools.partial(spent, fit) for name, fit in fits.items()}, repeats)
    first = next(iter(medians.values()))
    told = ", ".join(f"{name} {value:.3g}" for name, value in medians.items())
    ratios = ", ".join(f"{value / first:.2f}" for value in list(medians.values())[1:])
    print(f"{title}: {told}; ratio to the first {ratios}", flush=True)


def data_of(*names: str, instead: str) -> list[Data]:
    """Real sets, or one that anyone has in their place."""
    found = [load(name) for name in (names if names and has_real_data() else (instead,))]
    return [data for data in found if data is not None]


def compare_kernel(tiny: bool, repeats: int) -> None:
    for data in data_of("adult-single:8000", "mnist8:8000", instead="tiny-dense" if tiny else "dense-narrow"):
        gamma = 0.02 if data.name.startswith("mnist") else 0.05
        for C in (0.1, 1.0):
            fits = {
                f"{solver}, {cache} MB": functools.partial(
                    SVC(
                        C=C,
                        gamma=gamma,
                        fit_intercept=False,
                        solver=solver,
                        cache_size=cache,
                        tol=1e-3,
                        max_iter=10**6,
                        random_state=0,
                    ).fit,
                    data.X,
                    data.y,
                )
                for solver in ("smo", "sdca")
                for cache in (100, 4_000)
            }
            compare(f"{data.name}, C={C:g}", fits, repeats)


def fit_classes(data: Data, shared: bool, **options: Any) -> None:
    with mock.patch(SHARING, return_value=shared):
        LinearSVC(tol=1e-3, C=1.0, max_iter=10**6, random_state=0, **options).fit(data.X, data.y)


def compare_classes(tiny: bool, repeats: int) -> None:
    for data in data_of("debian", "newsgroups", "digits", instead="tiny-classes" if tiny else "digits"):
        for loss in ("hinge", "squared_hinge", "log_loss"):
            for intercept in (False, True):
                fits = {
                    name: functools.partial(fit_classes, data, shared, loss=loss, fit_intercept=intercept)
                    for name, shared in (("alone", False), ("shared", True))
                }
                title = f"{data}, {int(data.y.max()) + 1} classes, {loss}{', intercept' if intercept else ''}"
                compare(title, fits, repeats)


def compare_path(tiny: bool, repeats: int) -> None:
    Cs = np.geomspace(1e-3, 10, 3 if tiny else 10)
    for data in data_of("newsgroups:5000", "mnist:2000", instead="tiny-classes" if tiny else "digits"):
        ours = LinearSVCCV(Cs=Cs, cv=3, n_jobs=1, random_state=0)
        grid = GridSearchCV(LinearSVC(n_jobs=1, random_state=0), {"C": Cs}, cv=3)
        fits = {
            "grid search": functools.partial(grid.fit, data.X, data.y),
            "path": functools.partial(ours.fit, data.X, data.y),
        }
        compare(data.name, fits, 1 if tiny else repeats)
        print(f"  C of the path {ours.C_:g}, of the grid search {grid.best_params_['C']:g}")


def compare_free_intercept(tiny: bool, repeats: int) -> None:
    for data in data_of("adult", instead="tiny" if tiny else "text"):
        fits = {
            solver: functools.partial(
                LinearSVC(
                    solver=solver, intercept="free", tol=1e-3, n_jobs=1, max_iter=10**6, max_time=60.0, random_state=0
                ).fit,
                data.X,
                data.y,
            )
            for solver in ("interior-point", "sdca", "pegasos")
        }
        compare(f"{data.name}, C=1, free intercept", fits, repeats)


def compare_newton(tiny: bool, repeats: int) -> None:
    real = [] if tiny else data_of("adult", "web", "rcv1", instead="text")
    for data in [*real, *data_of(instead="tiny-dense" if tiny else "dense")]:
        for loss, solvers in (("log_loss", ["sdca"]), ("squared_hinge", ["sdca", "interior-point"])):
            for C in (0.01, 1.0, 100.0):
                for tol in (1e-3, 1e-6):
                    options = {"C": C, "loss": loss, "tol": tol, "n_jobs": 1, "max_iter": 10**6, "random_state": 0}
                    fits = {
                        solver: functools.partial(LinearSVC(solver=solver, max_time=5.0, **options).fit, data.X, data.y)
                        for solver in [*solvers, "newton"]
                        if solver != "interior-point" or data.X.shape[1] <= 4_000
                    }
                    compare(f"{data.name}, {loss}, C={C:g}, tol={tol:g}", fits, repeats)


def compare_joint(tiny: bool, repeats: int) -> None:
    real = [] if tiny else data_of("newsgroups", "mnist:6000", instead="digits")
    made = data_of(instead="tiny-classes") if tiny else [*data_of(instead="digits"), *data_of(instead="dense-classes")]
    for data in [*real, *made]:
        for C in (0.01, 1.0, 100.0):
            options = {"multi_class": "joint", "loss": "log_loss", "n_jobs": 1, "max_iter": 10**6, "random_state": 0}
            fits = {
                solver: functools.partial(LinearSVC(C=C, solver=solver, max_time=10.0, **options).fit, data.X, data.y)
                for solver in ("sdca", "newton")
            }
            compare(f"{data.name}, C={C:g}", fits, repeats)


PARTS = {
    "kernel": compare_kernel,
    "classes": compare_classes,
    "path": compare_path,
    "pegasos": compare_free_intercept,
    "newton": compare_newton,
    "joint": compare_joint,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print_machine()
    for part in arguments.parts:
        PARTS[part](arguments.tiny, 1 if arguments.tiny else arguments.repeats)
    print_machine()


if __name__ == "__main__":
    main()
