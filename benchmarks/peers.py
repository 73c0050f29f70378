"""The contenders of ``linear.py``: each a ``fit(X, y, C, setting)`` that returns weights, through the public API.

All minimise ``1/2 ||w||^2 + C sum_i hinge_i`` without intercept. The setting is what a contender has to say how
accurate it should be: a tolerance or a number of passes, listed from loose to tight. Packages are imported by
`available`, outside the time measured, and one that is not installed is left out.
"""

import importlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC as LIBLINEAR

from pegasos import LinearSVC

__all__ = ["PEER", "PEERS", "Contender", "Found", "available", "pegasos_contenders"]

PEER = "LinearSVC"  # what the others are compared with

TOLERANCES = tuple(m * 10.0**-e for e in range(-1, 7) for m in (1, 0.5, 0.2))
PASSES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000, 10_000)


class Found(NamedTuple):
    """Weights and, where the contender gives one, its lower bound on the optimum."""

    w: Any
    dual: float | None = None


@dataclass(frozen=True, eq=False)
class Contender:
    """A way to fit, its settings from loose to tight, and the package it needs."""

    name: str
    fit: Callable[[Any, Any, float, Any], Found]
    settings: Sequence[float]
    package: str = "sklearn"
    #: Done before the clock starts: puts the data where the contender reads it; what it returns replaces X.
    prepare: Callable[[Any, Any], Any] | None = None


def fit_pegasos(X: Any, y: Any, C: float, tol: float, *, n_jobs: int) -> Found:
    model = LinearSVC(C=C, tol=tol, n_jobs=n_jobs, fit_intercept=False, max_iter=10**9, random_state=0).fit(X, y)
    return Found(model.coef_[0], model.certificate_.dual)


def pegasos_contenders(n_jobs: Sequence[int], targets: Sequence[float]) -> list[Contender]:
    """Pegasos does not search for a setting: tol is the target."""

    def contender(jobs: int) -> Contender:
        def fit(X: Any, y: Any, C: float, tol: float) -> Found:
            return fit_pegasos(X, y, C, tol, n_jobs=jobs)

        return Contender(f"pegasos, n_jobs={jobs}", fit, sorted(targets, reverse=True))

    return [contender(jobs) for jobs in n_jobs]


def fit_linearsvc(X: Any, y: Any, C: float, tol: float) -> Found:
    model = LIBLINEAR(C=C, loss="hinge", dual=True, tol=tol, fit_intercept=False, max_iter=10**6, random_state=0)
    return Found(model.fit(X, y).coef_[0])


def fit_liblinear(X: Any, y: Any, C: float, tol: float) -> Found:
    util = importlib.import_module("liblinear.liblinearutil")
    model = util.train(
        util.problem(y.astype(np.float64), X), util.parameter(f"-s 3 -c {C!r} -e {tol!r} -B -1 -q")
    )  # its limit of 1000 epochs is fixed
    return Found(np.array(model.get_decfun()[0]) * model.get_labels()[0])


def fit_sgd(X: Any, y: Any, C: float, passes: int) -> Found:
    model = SGDClassifier(
        loss="hinge", alpha=1 / (C * X.shape[0]), tol=None, max_iter=passes, fit_intercept=False, random_state=0
    )
    return Found(model.fit(X, y).coef_[0])


def fit_snap(X: Any, y: Any, C: float, tol: float, *, n_jobs: int) -> Found:
    model = importlib.import_module("snapml").SupportVectorMachine(
        loss="hinge",
        regularizer=1 / C,  # it minimises sum_i hinge_i + regularizer/2 ||w||^2
        fit_intercept=False,
        tol=tol,
        max_iter=100_000,
        n_jobs=n_jobs,
        random_state=0,
    )
    return Found(np.ravel(model.fit(X, y).coef_))


def fit_snap_2(X: Any, y: Any, C: float, tol: float) -> Found:
    return fit_snap(X, y, C, tol, n_jobs=2)


def fit_snap_1(X: Any, y: Any, C: float, tol: float) -> Found:
    return fit_snap(X, y, C, tol, n_jobs=1)


def write_vw(X: Any, y: Any) -> tuple[Path, tuple[int, ...]]:
    """The data as VW's text, which is all it takes; words are numbered from 0."""
    path = Path(tempfile.mkdtemp()) / "data.vw"
    columns, values = X.indices.tolist(), X.data.tolist()
    with path.open("w") as file:
        for label, start, end in zip(y.tolist(), X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
            pairs = zip(columns[start:end], values[start:end], strict=True)
            file.write(f"{label} | {' '.join(f'{j}:{v:.9g}' for j, v in pairs)}\n")
    return path, X.shape


def fit_vw(data: Any, y: Any, C: float, passes: int) -> Found:
    """Reads the text within the time measured, as it must; further passes read its binary cache.

    Plain steps: with the adaptive ones, its default, the l2 term is another than the problem's.
    """
    path, (n, d) = data
    bits = max(18, int(np.ceil(np.log2(d))))
    model = importlib.import_module("vowpalwabbit").Workspace(
        f"--data {path} --cache --kill_cache --passes {passes} --holdout_off --quiet --sgd "
        f"--loss_function hinge --l2 {1 / (C * n)!r} --noconstant --bit_precision {bits}"
    )
    w = np.array([model.get_weight(j) for j in range(d)])
    # What it stores lacks a common factor, by which it shrinks the weights; a prediction (small, as they are clipped)
    # has it.
    largest = int(np.argmax(abs(w)))
    if w[largest]:
        small = 1e-3 / float(abs(w[largest]))
        w *= model.predict(f"| {largest}:{small!r}") / (small * w[largest])
    model.finish()
    return Found(w)


PEERS = [
    Contender(PEER, fit_linearsvc, TOLERANCES),
    Contender("liblinear-official", fit_liblinear, TOLERANCES, "liblinear.liblinearutil"),
    Contender("SGDClassifier", fit_sgd, PASSES),
    Contender("Snap ML, n_jobs=1", fit_snap_1, TOLERANCES, "snapml"),
    Contender("Snap ML, n_jobs=2", fit_snap_2, TOLERANCES, "snapml"),
    Contender("Vowpal Wabbit", fit_vw, PASSES, "vowpalwabbit", write_vw),
]


def available(contenders: Sequence[Contender]) -> list[Contender]:
    """Those whose packages are installed; a line for each of the others."""
    found = []
    for contender in contenders:
        try:
            importlib.import_module(contender.package)
        except ImportError as error:
            print(f"{contender.name} is left out: {error}")
        else:
            found.append(contender)
    return found
