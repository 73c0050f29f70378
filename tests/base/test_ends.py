"""Budgets hold where there is nothing to do: epochs without rows count, and numbers that overflow are told."""

import contextlib
import warnings

import numpy as np
import pytest
import scipy.sparse

from pegasos import SVC, LinearSVC
from pegasos._core import native
from pegasos.solvers import SBP, SIMBA

X = np.random.default_rng(0).normal(size=(60, 4))


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("max_time", [None, 1])
@pytest.mark.parametrize("tol", [0, 0.01])
@pytest.mark.parametrize(
    "options",
    [
        {"multi_class": "joint"},
        {"multi_class": "joint", "loss": "log_loss"},
        {"multi_class": "ovr", "loss": "log_loss"},
        {"solver": "sdca"},
    ],
)
def test_no_row_has_a_weight(options, tol, max_time, ticks):
    """C underflows to zero."""
    rows = scipy.sparse.csr_array(X)  # of which classes share passes
    model = LinearSVC(alpha=1e308, tol=tol, max_iter=3, max_time=max_time, **options).fit(rows, np.arange(60) % 3)
    found = model.certificate_
    assert found.primal == found.dual == 0
    assert found.n_iter <= 3


@pytest.mark.parametrize("size", [1e-158, 1e-162, 1e150])
@pytest.mark.parametrize("nu", [None, 0.1])
@pytest.mark.parametrize("solver", [SBP, SIMBA])
def test_margins_end_at_the_limits_of_numbers(size, nu, solver, ticks):
    with contextlib.suppress(ValueError):  # values too large are refused
        SVC(solver=solver(nu=nu), kernel="linear", max_iter=10).fit(size * X, np.arange(60) % 2)


@pytest.mark.parametrize("response", [np.nan, np.inf])
@pytest.mark.parametrize("two", [False, True])
def test_there_is_no_level_of_numbers_that_overflowed(response, two):
    g, labels = np.full((1, 4), response), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="the numbers overflowed"):
        native.water_levels(labels * g, labels, np.ones(4), two, np.ones(1))
