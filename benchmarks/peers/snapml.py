"""Snap ML: coordinate ascent in the dual, with one thread or one for each processor.

Its intercept is a feature of value 1, and so in the norm.
"""

import functools
import importlib
from typing import Any

import numpy as np
from objective import Found, Problem

from peers import Way, plain_sum, threads

PACKAGE = "snapml"
MODULE = "snapml"


def ways(problem: Problem) -> list[Way]:
    if problem.loss not in ("hinge", "squared_hinge", "log_loss") or not plain_sum(problem):
        return []
    if problem.intercept == "free" or (problem.loss == "log_loss" and problem.n_classes > 2):
        return []
    counts = dict.fromkeys((1, threads()))
    return [Way(f"Snap ML, n_jobs={n_jobs}", functools.partial(fit, n_jobs=n_jobs)) for n_jobs in counts]


def fit(problem: Problem, X: Any, tol: float, *, n_jobs: int) -> Found:
    snapml = importlib.import_module(MODULE)
    options = {
        "regularizer": 1 / problem.C,  # it minimises sum_i loss_i + regularizer/2 ||w||^2
        "fit_intercept": problem.intercept == "penalized",
        "tol": tol,
        "max_iter": 100_000,
        "n_jobs": n_jobs,
        "random_state": 0,
    }
    if problem.loss == "log_loss":
        model = snapml.LogisticRegression(dual=True, **options)
    else:
        model = snapml.SupportVectorMachine(loss=problem.loss, **options)
    model.fit(X, problem.data.y)
    return Found(np.asarray(model.coef_), np.ravel(model.intercept_) if problem.intercept == "penalized" else 0.0)
