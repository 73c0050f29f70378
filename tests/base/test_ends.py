"""Budgets hold where there is nothing to do: epochs without rows count, and numbers that overflow are told."""

import contextlib
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, LinearSVC, LinearSVR
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


@pytest.mark.parametrize("sizes", [(1e-310, 1e-310), (5e-324, 5e-324), (1, 1e-320), (1e-200, 1e300)])
@pytest.mark.parametrize("nu", [None, 0.1])
@pytest.mark.parametrize("solver", [SBP, SIMBA])
def test_margins_end_where_weights_are_tiny(solver, nu, sizes, ticks):
    """Also those of one class alone: SIMBA's distribution lives on weights times numbers that fall and rise."""
    y = np.arange(60) % 2
    with contextlib.suppress(ValueError):  # an objective too large is refused
        SVC(solver=solver(nu=nu), max_iter=10).fit(X, y, sample_weight=np.array(sizes)[y])


@pytest.mark.parametrize("response", [np.nan, np.inf])
@pytest.mark.parametrize("two", [False, True])
def test_there_is_no_level_of_numbers_that_overflowed(response, two):
    g, labels = np.full((1, 4), response), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="the numbers overflowed"):
        native.water_levels(labels * g, labels, np.ones(4), two, np.ones(1))


X80, Y80 = make_classification(80, 5, random_state=0)
ONE, UNEVEN = (Y80 == 1).astype(float), np.where(np.arange(80) == 3, 1e18, 1.0)

#: What is told where rounding leaves nothing of the lower bound.
HIDDEN = {
    "large weights": (LinearSVC(), Y80, np.full(80, 1e300), "rounding hides it.*bring weights nearer"),
    "uneven weights": (LinearSVR(), Y80 + 0.5, UNEVEN, "targets, C or weights.*Lower C, or bring weights and targets"),
    "tiny targets": (
        LinearSVR(),
        (Y80 + 0.5) * 1e-300,
        None,
        "targets, C or weights are tiny.*scale .*targets up",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_advice_where_rounding_hides_the_optimum(name):
    machine, y, weights, told = HIDDEN[name]
    with pytest.warns(ConvergenceWarning, match=told) as caught:
        clone(machine).fit(X80, y, sample_weight=weights)
    text = str(caught[0].message)
    assert "class" not in text
    assert "large for data" not in text
