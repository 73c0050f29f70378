"""Published optima, on the data they were published for."""

from functools import cache

import numpy as np
import pytest
from linear_helpers import load_data, requires_data

from pegasos import SVC, LinearSVC
from pegasos.solvers import Pegasos

pytestmark = requires_data

#: Optimum of S3 Table 1, C = 0.1, without intercept, as an exact solver found it.
OPTIMA = {"adult": 1149.90413, "web": 755.1134}


def certify(name, **options):
    data = load_data(name)
    settings = {"C": 0.1, "fit_intercept": False, "tol": 0, "max_iter": 50, "random_state": 0}
    return LinearSVC(**(settings | options)).fit(data["X"], data["y"]).certificate_


@pytest.mark.parametrize("seed", range(3))
def test_adult(seed):
    found = certify("adult", solver="pegasos", random_state=seed)
    assert found.n_iter <= 50
    assert found.primal <= 1.01 * 1149.904
    assert found.gap <= 0.25
    assert found.dual <= 1149.905


@pytest.mark.parametrize("sampling", ["blocks", "fixed", "replace"])
def test_adult_in_other_orders(sampling):
    found = certify("adult", solver=Pegasos(sampling=sampling))
    assert OPTIMA["adult"] * (1 - 1e-6) <= found.primal <= 1.01 * OPTIMA["adult"]
    assert found.gap <= 0.25
    assert found.dual <= 1149.905


@pytest.mark.parametrize(
    "solver",
    [Pegasos(average=False), Pegasos(batch_size=100, sampling="subset", project=True), "norma", "constant-step"],
    ids=str,
)
def test_no_bound_is_above_the_optimum(solver):
    for name, optimum in OPTIMA.items():
        found = certify(name, solver=solver, max_iter=10)
        assert found.dual <= optimum * (1 + 1e-6)
        assert found.primal >= optimum * (1 - 1e-6)


def test_web():
    found = certify("web")
    assert OPTIMA["web"] * (1 - 1e-6) <= found.primal <= 1.01 * OPTIMA["web"]
    assert found.dual <= 755.114
    assert found.gap <= 0.25


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", OPTIMA)
def test_sdca_finds_the_published_optimum(name, n_jobs):
    found = certify(name, solver="sdca", tol=1e-6, max_iter=100_000, n_jobs=n_jobs)
    assert found.converged
    assert found.primal == pytest.approx(OPTIMA[name], rel=2e-6)
    assert found.dual <= OPTIMA[name] * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["sgd-r", "sgd-s", "sgd-m", "perceptron", "norm-ball", "svm-sgd", "sgd-qn"])
def test_no_bound_of_the_others_is_above_the_optimum(solver):
    for name, optimum in OPTIMA.items():
        found = certify(name, solver=solver, max_iter=10)
        assert found.dual <= optimum * (1 + 1e-6)
        assert found.primal >= optimum * (1 - 1e-6)


def test_adult_is_predicted():
    data = load_data("adult")
    clf = LinearSVC(C=0.1, tol=0, max_iter=50, random_state=0).fit(data["X"], data["y"])
    assert clf.score(data["X_test"], data["y_test"]) > 0.845


@cache
def kernel_optimum(name):
    """Of S4 Table 2 without bias, C = 1: mean loss over the norm of w, error on the test set in percent, gap."""
    data = load_data(name)
    X, gamma = data["X"], {"adult": 0.05, "mnist": 0.02}[name]
    y, y_test = (np.where(data[key] == (1 if name == "adult" else 8), 1, -1) for key in ("y", "y_test"))
    clf = SVC(C=1, gamma=gamma, fit_intercept=False, tol=1e-3, random_state=0).fit(X, y)
    losses = np.maximum(0, 1 - y * clf.decision_function(X)).sum()
    squared_norm = 2 * (clf.certificate_.primal - losses)
    error = 100 * (1 - clf.score(data["X_test"], y_test))
    return losses / len(y) / np.sqrt(squared_norm), error, clf.certificate_.gap


def test_kernel_optimum_of_adult():
    nu, error, gap = kernel_optimum("adult")
    assert gap <= 1e-3
    assert nu == pytest.approx(1.10e-2, rel=0.01)  # S4 Table 2
    assert error == pytest.approx(14.9, abs=0.1)  # S0 Table 2


def test_kernel_optimum_of_mnist():
    nu, error, gap = kernel_optimum("mnist")
    assert gap <= 1e-3
    assert nu == pytest.approx(2.21e-4, rel=0.02)
    assert error == pytest.approx(0.57, abs=0.03)
