"""skglm: working sets of variables for the hinge and Huber losses, L-BFGS for log loss; compiled when first called.

Without an intercept. The hinge loss is a sum, the others are means over the examples.
"""

import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from objective import Found, Problem

from peers import Way, plain_sum

PACKAGE = "skglm"
MODULE = "skglm"

# Of smooth losses the largest slope of a mean over the examples.
TOLERANCES = tuple(10.0**-e for e in range(1, 12))


def ways(problem: Problem) -> list[Way]:
    if not plain_sum(problem) or problem.intercept != "none" or problem.n_classes > 2:
        return []
    if problem.loss == "hinge":
        return [Way("skglm LinearSVC", fit_hinge, TOLERANCES, doubles)]
    if problem.loss == "log_loss":
        return [Way("skglm, L-BFGS", fit_log_loss, TOLERANCES, doubles)]
    if problem.loss == "huber":
        return [Way("skglm, AndersonCD", fit_huber, TOLERANCES, doubles)]
    return []


def doubles(problem: Problem) -> Any:
    X = problem.data.X
    return sp.csc_matrix(X, dtype=np.float64) if sp.issparse(X) else np.asfortranarray(X, dtype=np.float64)


def fit_hinge(problem: Problem, X: Any, tol: float) -> Found:
    model = importlib.import_module(MODULE).LinearSVC(
        C=problem.C, tol=tol, fit_intercept=False, max_iter=1_000, max_epochs=10**6
    )
    return Found(np.ravel(model.fit(X, problem.data.y).coef_))


def fit_log_loss(problem: Problem, X: Any, tol: float) -> Found:
    jit = part("utils.jit_compilation")
    datafit = jit.compiled_clone(part("datafits").Logistic())
    penalty = jit.compiled_clone(part("penalties").L2(1 / (problem.C * len(problem.data.y))))
    solver = part("solvers").LBFGS(max_iter=10**5, tol=tol)
    return Found(solver.solve(X, problem.data.y.astype(np.float64), datafit, penalty)[0])


def fit_huber(problem: Problem, X: Any, tol: float) -> Found:
    model = importlib.import_module(MODULE).GeneralizedLinearEstimator(
        part("datafits").Huber(problem.parameter),
        part("penalties").L1_plus_L2(1 / (problem.C * len(problem.data.y)), 0.0),
        part("solvers").AndersonCD(max_iter=1_000, max_epochs=10**6, tol=tol, fit_intercept=False),
    )
    return Found(np.ravel(model.fit(X, problem.data.y).coef_))


def part(name: str) -> Any:
    return importlib.import_module(f"{MODULE}.{name}")
