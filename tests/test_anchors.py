"""Published optima, on the data they were published for.

The data is looked for in the folder PEGASOS_DATA names, or beside the repository in shared/data.
"""

import importlib.util
import os
from functools import cache
from pathlib import Path

import pytest

from pegasos import LinearSVC
from pegasos.solvers import Pegasos

FOLDER = Path(os.environ.get("PEGASOS_DATA") or Path(__file__).parents[2] / "shared" / "data")

pytestmark = pytest.mark.skipif(
    not (FOLDER / "load.py").exists(), reason=f"no data in {FOLDER}; PEGASOS_DATA may name another folder"
)

#: Optimum of S3 Table 1, C = 0.1, without intercept, as an exact solver found it.
OPTIMA = {"adult": 1149.90413, "web": 755.1134}


@cache
def load(name):
    spec = importlib.util.spec_from_file_location("load", FOLDER / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = module.load(name)
    return data["X"], data["y"], data["X_test"], data["y_test"]


def certify(name, **options):
    X, y, *_ = load(name)
    settings = {"C": 0.1, "fit_intercept": False, "tol": 0, "max_iter": 50, "random_state": 0}
    return LinearSVC(**(settings | options)).fit(X, y).certificate_


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


@pytest.mark.parametrize("solver", ["sgd-r", "sgd-s", "sgd-m", "perceptron", "norm-ball"])
def test_no_bound_of_the_others_is_above_the_optimum(solver):
    for name, optimum in OPTIMA.items():
        found = certify(name, solver=solver, max_iter=10)
        assert found.dual <= optimum * (1 + 1e-6)
        assert found.primal >= optimum * (1 - 1e-6)


def test_adult_is_predicted():
    X, y, X_test, y_test = load("adult")
    clf = LinearSVC(C=0.1, tol=0, max_iter=50, random_state=0).fit(X, y)
    assert clf.score(X_test, y_test) > 0.845
