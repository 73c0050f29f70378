"""Vowpal Wabbit: online steps, some passes over a text file, which it reads within its time; no intercept here.

Of sparse data alone, which its text is for. Steps are plain ones: with the adaptive ones, its default, the l2 term is
another than the problem's.
"""

import importlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from datasets import as_kind
from objective import Found, Problem

from peers import PASSES, Way, plain_sum

PACKAGE = "vowpalwabbit"
MODULE = "vowpalwabbit"

LOSSES = {"hinge": "hinge", "log_loss": "logistic"}


def ways(problem: Problem) -> list[Way]:
    if problem.loss not in LOSSES or not plain_sum(problem) or problem.intercept != "none" or problem.n_classes != 2:
        return []
    return [Way("Vowpal Wabbit", fit, PASSES, write)] if sp.issparse(problem.data.X) else []


def write(problem: Problem) -> tuple[Path, tuple[int, ...]]:
    """The data as its text; words are the numbers of the columns, from 0."""
    X = as_kind(problem.data.X, "CSR float64")
    path = Path(tempfile.mkdtemp(prefix="pegasos-")) / "data.vw"
    columns, values = X.indices.tolist(), X.data.tolist()
    with path.open("w") as file:
        for label, start, end in zip(
            problem.data.y.tolist(), X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True
        ):
            pairs = zip(columns[start:end], values[start:end], strict=True)
            file.write(f"{label} | {' '.join(f'{j}:{v:.9g}' for j, v in pairs)}\n")
    return path, X.shape


def fit(problem: Problem, data: Any, passes: int) -> Found:
    """Passes after the first read its binary cache."""
    path, (n, d) = data
    bits = max(18, int(np.ceil(np.log2(d))))
    model = importlib.import_module(MODULE).Workspace(
        f"--data {path} --cache --kill_cache --passes {passes} --holdout_off --quiet --sgd "
        f"--loss_function {LOSSES[problem.loss]} --l2 {1 / (problem.C * n)!r} --noconstant --bit_precision {bits}"
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
