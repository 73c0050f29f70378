"""LinearSVR: what needs no solver, and what does, where the core supports its losses."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import QuantileRegressor, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVR as Liblinear

from pegasos import LinearSVR
from pegasos.base.bounds import Bounds
from pegasos.base.outcome import Point, Solution, UsedSolvers
from pegasos.base.parameters import loss_parameter
from pegasos.base.solver import Supports
from pegasos.io import load_model, save_model
from pegasos.problems.linear import LinearProblem
from pegasos.reference.losses import LOSSES as reference
from pegasos.solvers import SDCA, Pegasos

X, Y = make_regression(200, 6, noise=5.0, bias=3.0, random_state=0)
EPSILON = 2.0
LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"]


class Smooth(SDCA):
    """Solves the squared loss by scipy, on the rows above: what the estimator makes of a solver's answer."""

    def _linear(self, problem, terms):
        self.problem, self.start = problem, terms.start
        rows = np.column_stack([X, np.full(len(X), float(problem.has_intercept))])

        def objective(w):
            error = rows @ w - Y
            over = np.maximum(np.abs(error) - EPSILON, 0)
            return w @ w / 2 + problem.C * (over**2).sum(), w + 2 * problem.C * rows.T @ (np.sign(error) * over)

        found = minimize(objective, np.zeros(7), jac=True, tol=1e-12)
        point, bounds = Point(found.x, np.zeros(200)), Bounds(found.fun, found.fun)
        return Solution(point, bounds, 3.0, 0.1, "tol", [[0.1, 3, 1, 1]], UsedSolvers(("smooth",)), 5)

    supports: ClassVar = {LinearProblem: Supports(_linear, losses=tuple(LOSSES), intercepts=("penalized", "free"))}


def smooth(**options):
    return LinearSVR(loss="squared_epsilon_insensitive", solver=Smooth(), **options)


def test_what_a_solver_finds_is_stored():
    reg = smooth(C=0.3, epsilon=EPSILON).fit(X, Y)
    assert (reg.coef_.shape, reg.intercept_.shape) == ((6,), (1,))
    np.testing.assert_allclose(reg.predict(X), X @ reg.coef_ + reg.intercept_)
    np.testing.assert_allclose(reg.predict(sp.csr_matrix(X)), reg.predict(X))
    peer = Liblinear(loss="squared_epsilon_insensitive", C=0.3, epsilon=EPSILON, tol=1e-10, max_iter=10**6).fit(X, Y)
    np.testing.assert_allclose(reg.coef_, peer.coef_, rtol=1e-3)
    assert reg.intercept_.shape == np.shape(peer.intercept_)
    assert reg.score(X, Y) > 0.9
    assert reg.certificate_.converged
    assert is_regressor(reg)


def test_the_problem_has_the_targets_and_epsilon():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    reg = smooth(epsilon=0.5, alpha=0.01, fit_intercept=False).fit(frame, Y.astype(np.float32))
    assert reg.intercept_[0] == 0
    assert reg.feature_names_in_.tolist() == list("abcdef")
    assert reg.get_params()["epsilon"] == 0.5
    assert clone(reg).epsilon == 0.5


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.where(np.arange(200) == 3, np.nan, Y), "y contains NaN"),
        (Y[:5], "inconsistent numbers of samples"),
        (None, "LinearSVR requires y to be passed"),
        (np.column_stack([Y, Y]), "1d array"),
        (["tall"] * 200, "could not convert y"),
    ],
    ids=["nan", "short", "none", "two", "text"],
)
def test_bad_targets(y, words):
    with pytest.raises(ValueError, match=words):
        smooth().fit(X, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": -1.0}, "epsilon=-1.0: must be a finite number at least 0"),
        ({"loss": "hinge"}, "loss='hinge': must be 'epsilon_insensitive', 'squared_epsilon_insensitive'"),
        (
            {"loss": "huber", "epsilon": 0.0},
            "epsilon=0.0: loss='huber' needs epsilon above 0, .*; leave it out for 0.1",
        ),
        ({"quantile": 0.0}, "quantile=0.0: must be a finite number above 0 and below 1"),
        ({"loss": "quantile", "quantile": 1}, "quantile=1: must be a finite number above 0 and below 1"),
        ({"solver": "perceptron"}, "perceptron does not support loss='epsilon_insensitive'; it supports 'hinge'"),
    ],
)
def test_bad_parameters(options, words):
    with pytest.raises(ValueError, match=words):
        LinearSVR(**options).fit(X, Y)
    with pytest.raises(TypeError, match="class_weight"):
        LinearSVR(class_weight="balanced")
    with pytest.raises(NotFittedError):
        LinearSVR().predict(X)


def primal(reg, X, y, s=1.0):
    losses = reference[reg.loss].value(reg.predict(X), y, loss_parameter(reg)[1])
    return (reg.coef_**2).sum() / 2 + reg.intercept_[0] ** 2 / 2 + reg.C * np.sum(s * losses)


@pytest.mark.parametrize(
    ("loss", "epsilon"), [(loss, epsilon) for loss in LOSSES for epsilon in (0.0, 3.0) if loss != "huber" or epsilon]
)
class TestFits:
    def test_certified(self, loss, epsilon):
        reg = LinearSVR(loss=loss, epsilon=epsilon, C=0.1, tol=1e-4, max_iter=10**4, random_state=0).fit(X, Y)
        assert reg.certificate_.gap <= 1e-4
        assert reg.certificate_.primal == pytest.approx(primal(reg, X, Y), rel=1e-9)

    def test_liblinear_agrees(self, loss, epsilon):
        if loss in ("huber", "quantile"):
            pytest.skip("LIBLINEAR has no such loss")
        ours = LinearSVR(loss=loss, epsilon=epsilon, C=0.1, tol=1e-6, max_iter=10**5, random_state=0).fit(X, Y)
        peer = Liblinear(loss=loss, epsilon=epsilon, C=0.1, tol=1e-8, max_iter=10**6, random_state=0).fit(X, Y)
        peer.loss, peer.C = loss, 0.1
        assert ours.certificate_.dual <= primal(peer, X, Y) * (1 + 1e-9)
        assert ours.certificate_.primal <= primal(peer, X, Y) * (1 + 1e-4)

    def test_whole_weights_are_repeated_rows(self, loss, epsilon):
        s = np.random.default_rng(0).integers(0, 4, len(Y))
        options = {"loss": loss, "epsilon": epsilon, "C": 0.1, "tol": 1e-6, "max_iter": 10**5, "random_state": 0}
        weighted = LinearSVR(**options).fit(X, Y, s).certificate_
        repeated = LinearSVR(**options).fit(np.repeat(X, s, axis=0), np.repeat(Y, s)).certificate_
        assert weighted.primal == pytest.approx(repeated.primal, rel=1e-5)
        assert weighted.dual == pytest.approx(repeated.dual, rel=1e-5)

    def test_warm_start(self, loss, epsilon):
        reg = LinearSVR(loss=loss, epsilon=epsilon, C=0.1, warm_start=True, solver="sdca", tol=0, max_iter=5)
        gap = reg.fit(X, Y).certificate_.gap
        assert reg.fit(X, Y).certificate_.gap <= max(gap, 1e-13)  # rounding


def test_grid_search():
    search = GridSearchCV(LinearSVR(solver=Pegasos(), tol=0, max_iter=20), {"epsilon": [0.0, 1.0]}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("size", [1.0, 1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("intercept", ["penalized", "free"])
def test_targets_without_noise_end_the_fit(size, intercept):
    """The optimum is close to zero there: rounding keeps the gap from the 1e-13 that tiny problems are solved to."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 6))
    found = LinearSVR(intercept=intercept).fit(X, (X @ np.arange(6) + 0.5) * size).certificate_
    assert (found.reason, found.converged) == ("tol", True)
    assert found.n_iter <= 1000


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("solver", ["sdca", "interior-point"])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_a_free_intercept_has_its_share_of_targets_below(quantile, solver, shift):
    y = Y + shift
    options = {"loss": "quantile", "quantile": quantile, "C": 10.0, "intercept": "free", "tol": 1e-6, "max_iter": 10**5}
    reg = LinearSVR(solver=solver, random_state=0, **options).fit(X, y)
    assert reg.certificate_.converged
    below = np.mean(y < reg.predict(X))
    assert abs(below - quantile) <= 10 / len(y)  # those at the prediction are on neither side


def test_the_median_is_half_the_absolute_error():
    median = LinearSVR(loss="quantile", C=0.2, tol=1e-9, max_iter=10**5, random_state=0).fit(X, Y).certificate_
    absolute = LinearSVR(C=0.1, tol=1e-9, max_iter=10**5, random_state=0).fit(X, Y).certificate_
    assert median.primal == pytest.approx(absolute.primal, rel=1e-8)


def test_quantile_regression_of_scikit_learn():
    """Without a penalty, which a large C comes near to."""
    peer = QuantileRegressor(quantile=0.8, alpha=0.0, solver="highs").fit(X, Y)
    options = {"loss": "quantile", "quantile": 0.8, "C": 1e4, "intercept": "free", "tol": 1e-8}
    ours = LinearSVR(solver="interior-point", **options).fit(X, Y)
    losses = [reference["quantile"].value(reg.predict(X), Y, 0.8).sum() for reg in (ours, peer)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_the_default_threshold_of_huber_is_that_of_sgd_regressor():
    X, y = make_regression(80, 3, noise=5, random_state=0)
    found, meant = LinearSVR(loss="huber").fit(X, y), LinearSVR(loss="huber", epsilon=0.1).fit(X, y)
    assert SGDRegressor().epsilon == 0.1
    assert (found.coef_ == meant.coef_).all()


@pytest.mark.parametrize("parameters", [{"loss": "huber", "epsilon": 0.1}, {"loss": "quantile", "quantile": 0.1}])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_slopes_in_single_precision_make_no_lower_bound_too_high(parameters):
    """0.1 in single precision is above 0.1."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)) * 1e-3, np.where(np.arange(60) % 2, 10.0, -10.0)
    shared = {"C": 1e-5, "intercept": "free", "tol": 1e-12, "random_state": 0}
    optimum = LinearSVR(**shared, **parameters).fit(X, y).certificate_.primal
    reg = LinearSVR(**shared, **parameters, max_iter=30, solver=Pegasos(free_intercept="search")).fit(X, y)
    assert reg.certificate_.dual <= optimum


def test_huber_with_a_wide_threshold_is_least_squares():
    wide = LinearSVR(loss="huber", epsilon=1e6, C=0.2, tol=1e-9, max_iter=10**5, random_state=0).fit(X, Y)
    squared = LinearSVR(loss="squared_epsilon_insensitive", C=0.1, tol=1e-9, max_iter=10**5, random_state=0).fit(X, Y)
    assert wide.certificate_.primal == pytest.approx(squared.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("parameters", [{"loss": "huber", "epsilon": 2.5}, {"loss": "quantile", "quantile": 0.9}])
def test_model_files_keep_the_loss(tmp_path, parameters):
    reg = LinearSVR(C=0.1, tol=1e-6, max_iter=10**4, warm_start=True, random_state=0, **parameters).fit(X, Y)
    save_model(reg, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.get_params() == reg.get_params()
    np.testing.assert_array_equal(loaded.predict(X), reg.predict(X))
    assert loaded.fit(X, Y).certificate_.primal == pytest.approx(reg.certificate_.primal, rel=1e-5)


@pytest.mark.parametrize("loss", ["huber", "quantile"])
def test_another_parameter_keeps_a_continued_bound_true(loss):
    """The last dual point need not be one of the new problem."""
    options = {"loss": loss, "C": 0.1, "tol": 1e-6, "max_iter": 10**4, "random_state": 0}
    quantile = loss == "quantile"
    first, second = ({"quantile": 0.9}, {"quantile": 0.2}) if quantile else ({"epsilon": 5.0}, {"epsilon": 0.5})
    for solver in ("auto", "sdca"):
        reg = LinearSVR(warm_start=True, solver=solver, **options, **first).fit(X, Y)
        moved = reg.set_params(**second).fit(X, Y).certificate_
        anew = LinearSVR(solver=solver, **options, **second).fit(X, Y).certificate_
        assert moved.primal == pytest.approx(anew.primal, rel=1e-5)
        assert moved.dual <= anew.primal * (1 + 1e-9)
