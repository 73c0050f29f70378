"""Certificates hold the optima that other solvers found, on real data that comes with scikit-learn."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from optima import PROBLEMS
from sklearn.exceptions import ConvergenceWarning

import pegasos
from pegasos.problems.linear import LinearProblem

TABLE = json.loads(Path(__file__).with_name("optima.json").read_text())

#: How exactly the optima are known.
KNOWN = 1e-9

EXACT = {"LinearSVC": ("auto", "sdca", "interior-point", "ocas", "newton")}
EXACT["LinearSVR"] = ("auto", "sdca", "interior-point", "newton")
EXACT |= dict.fromkeys(("SVC", "SVR"), ("auto", "smo", "sdca"))
EXACT["SVC"] += ("lasvm",)
ROUGH = {"LinearSVC": ("pegasos", "sgd-s", "sgd-r", "sgd-m"), "LinearSVR": ("pegasos", "sgd-s", "sgd-r")}
ROUGH |= {"SVC": ("pegasos", "sbp", "simba", "perceptron"), "SVR": ()}
STORAGES = {
    "dense": np.asarray,
    "single": np.float32,
    "sparse": sp.csr_matrix,
}


def suits(name, solver):
    """Whether the solver has the problem."""
    problem, parameters = PROBLEMS[name], PROBLEMS[name].parameters
    loss, free = parameters.get("loss", ""), parameters.get("intercept") == "free"
    if parameters.get("multi_class") == "joint":
        return solver in ("auto", "sdca", "pegasos", "sgd-s")
    if problem.estimator in ("SVC", "SVR") and parameters.get("fit_intercept", True):
        return solver in ("auto", "smo", "lasvm", "sbp", "simba")
    if solver == "newton":
        return loss in pegasos.solvers.Newton.supports[LinearProblem].losses
    if free:
        return solver in ("auto", "sdca", "interior-point", "pegasos")
    return not (loss == "log_loss" and solver == "interior-point") and not (loss and solver in ("sgd-m", "ocas"))


def cases(solvers):
    return [(name, solver) for name in PROBLEMS for solver in solvers[PROBLEMS[name].estimator] if suits(name, solver)]


def certify(name, X=None, **options):
    problem = PROBLEMS[name]
    model = getattr(pegasos, problem.estimator)(random_state=0, **problem.parameters, **options)
    return model.fit(problem.X if X is None else X, problem.y).certificate_


def assert_holds(found, optimum):
    assert found.dual <= optimum * (1 + KNOWN)
    assert found.primal >= optimum * (1 - KNOWN)


def test_the_table_is_complete():
    assert list(TABLE) == list(PROBLEMS)


@pytest.mark.parametrize(("name", "solver"), cases(EXACT))
def test_the_optimum_is_reached_and_bracketed(name, solver):
    found = certify(name, solver=solver, tol=1e-7, max_iter=100_000)
    assert found.converged
    assert_holds(found, TABLE[name]["optimum"])
    assert found.primal <= TABLE[name]["optimum"] * (1 + 2e-7)
    if TABLE[name]["peer"] is not None:
        assert found.dual <= TABLE[name]["peer"]


@pytest.mark.parametrize(("name", "solver"), cases(ROUGH))
def test_bounds_of_a_rough_solution_hold_the_optimum(name, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert_holds(certify(name, solver=solver, tol=0.01, max_iter=30), TABLE[name]["optimum"])


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("name", ["hinge", "all classes, hinge", "kernel", "epsilon insensitive"])
def test_every_storage(name, storage):
    """In single precision the examples are rounded, and the optimum with them."""
    found = certify(name, X=STORAGES[storage](PROBLEMS[name].X), tol=1e-6, max_iter=100_000)
    assert found.converged
    assert found.primal == pytest.approx(TABLE[name]["optimum"], rel=1e-5 if storage == "single" else 1e-6)
