"""TorchKM: kernel machines of two classes, on PyTorch; here on the processor.

It keeps the whole kernel matrix, finds its eigenvectors, and always cross-validates: here with two folds, the fewest it
can have, and one value of C. Its kernel quantile regression (4.3.2) fails with a single value of C.
"""

import importlib
from typing import Any

import numpy as np
from datasets import as_kind
from objective import Found, Problem

from peers import Way

PACKAGE = "torchkm"
MODULE = "torchkm"

MOST_ROWS = 5_000
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


def ways(problem: Problem) -> list[Way]:
    if problem.kind != "kernel" or problem.loss != "hinge" or problem.intercept != "free" or problem.n_classes != 2:
        return []
    return [Way("TorchKM SVC", fit, TOLERANCES, doubles)] if len(problem.data.y) <= MOST_ROWS else []


def doubles(problem: Problem) -> Any:
    return as_kind(problem.data.X, "dense float64")


def fit(problem: Problem, X: Any, tol: float) -> Found:
    model = importlib.import_module(MODULE).TorchKMSVC(
        kernel="rbf",
        rbf_sigma=problem.gamma / 2,  # its kernel is exp(-2 sigma |x - x'|^2)
        Cs=[problem.C],
        nC=1,
        cv=2,
        tol=tol,
        max_iter=100_000,
        device="cpu",
        random_state=0,
    )
    model.fit(X, problem.data.y)
    return Found(np.atleast_2d(model.alpha_), model.intercept_, np.arange(len(problem.data.y)))
