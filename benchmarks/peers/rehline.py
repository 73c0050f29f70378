"""ReHLine: losses that are made of straight lines and parabolas, by coordinate descent in the dual.

Its tolerance is a relative duality gap; the intercept is a feature of value 1, and so in the norm.
"""

import importlib
from typing import Any

import numpy as np
from objective import TARGETS, Found, Problem

from peers import Way, plain_sum

PACKAGE = "rehline"
MODULE = "rehline"


def loss_of(problem: Problem) -> dict[str, Any] | None:
    return {
        "hinge": {"name": "svm"},
        "squared_hinge": {"name": "squared hinge"},
        "epsilon_insensitive": {"name": "svr", "epsilon": problem.parameter},
        "huber": {"name": "huber", "tau": problem.parameter},
        "quantile": {"name": "QR", "qt": problem.parameter},
    }.get(problem.loss)


def ways(problem: Problem) -> list[Way]:
    if not plain_sum(problem) or problem.intercept == "free" or loss_of(problem) is None or problem.n_classes > 2:
        return []
    return [Way("ReHLine", fit)]


def fit(problem: Problem, X: Any, tol: float) -> Found:
    module = importlib.import_module(MODULE)
    cls = module.plq_Ridge_Regressor if problem.loss in TARGETS else module.plq_Ridge_Classifier
    intercept = problem.intercept == "penalized"
    model = cls(loss=loss_of(problem), C=problem.C, tol=tol, max_iter=10**6, fit_intercept=intercept)
    model.fit(X, problem.data.y)
    return Found(np.ravel(model.coef_), np.ravel(model.intercept_) if intercept else 0.0)
