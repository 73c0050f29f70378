"""early_stopping: the score on examples held out decides when to stop."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_pinball_loss

from pegasos import LinearSVC, LinearSVR
from pegasos.base.bounds import Bounds
from pegasos.base.early_stopping import split, stop_early
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers
from pegasos.base.progress import Progress
from pegasos.solvers import Pegasos

X, Y = make_classification(400, 20, n_informative=5, n_classes=3, flip_y=0.2, random_state=0)
SOLVERS = ["pegasos", "sgd-r", "sgd-s", "sgd-m"]


def fit(X=X, y=Y, sample_weight=None, **options):
    options = {"tol": 1e-9, "random_state": 0, "early_stopping": True, "solver": "pegasos"} | options
    return LinearSVC(**options).fit(X, y, sample_weight)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_it_stops_early_and_does_not_warn(solver, classes):
    y = Y if classes == 3 else (Y == 2).astype(int)
    clf = fit(y=y, solver=solver, C=10.0)
    found = clf.certificate_
    assert found.reason == "early_stopping"
    assert not found.converged
    assert clf.n_iter_ < 200
    assert "examples held out no longer improved" in str(found)
    assert clf.score(X, y) > 1.2 / classes
    np.testing.assert_array_equal(fit(y=y, solver=solver, C=10.0).coef_, clf.coef_)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_the_certificate_is_that_of_the_examples_trained_on(store):
    y = (Y == 2).astype(int)
    clf = fit(store(X), y, C=0.5, validation_fraction=0.25)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    train, test = split(y, 0.25, seed)
    assert (len(train), len(test)) == (300, 100)
    assert y[test].mean() == pytest.approx(y.mean(), abs=0.01)
    signs = np.where(y[train] == 1, 1, -1)
    losses = np.maximum(0, 1 - signs * clf.decision_function(X[train]))
    value = (clf.coef_**2).sum() / 2 + clf.intercept_[0] ** 2 / 2 + 0.5 * losses.sum()
    assert clf.certificate_.primal == pytest.approx(value, rel=1e-9)
    assert clf.history_["primal"][-1] == clf.certificate_.primal
    assert clf.history_["dual"][-1] == clf.certificate_.dual
    assert (np.diff(clf.history_["epoch"]) >= 0).all()
    assert (np.diff(clf.history_["dual"]) >= 0).all()


def solution(number, dual=0.0, reason="max_iter"):
    w = np.array([float(number)])
    records, used = [[number / 10, 1.0, 10.0, dual]], UsedSolvers(("solver",))
    return Solution(Point(w, w), Bounds(10.0, dual), 1.0, number / 10, reason, records, used, number)


def stop(scores, patience=2, max_iter=20, reasons=()):
    """What `stop_early` makes of weights 0, 1, ... with these scores and bounds 5, 4, ..."""
    starts = []

    def solve(budget, start, progress):
        assert budget.max_iter == 1
        starts.append(start)
        number = len(starts) - 1
        assert progress.epochs == number
        return solution(number, 5.0 - number, reasons[number] if number < len(reasons) else "max_iter")

    found = stop_early(solve, lambda w: scores[int(w[0])], Budget(1e-3, max_iter, None), None, Progress(), patience)
    assert starts[0] is None
    assert [start.t for start in starts[1:]] == list(range(len(starts) - 1))
    return found, len(starts)


def test_the_best_weights_are_kept():
    found, epochs = stop([1, 3, 2, 3, 9])
    assert (found.point.w[0], epochs, found.reason) == (1, 4, "early_stopping")
    assert (found.bounds.dual, found.point.q[0], found.epochs) == (5.0, 0, 4)


def test_the_budget_ends_it():
    found, epochs = stop(list(range(9)), max_iter=5)
    assert (found.point.w[0], epochs, found.reason) == (4, 5, "max_iter")


def test_a_solution_within_tol_is_taken():
    found, epochs = stop([5, 4, 3], patience=9, reasons=["max_iter", "tol"])
    assert (found.point.w[0], epochs, found.reason) == (1, 2, "tol")


def test_the_budget_used_up_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        fit(n_iter_no_change=100, max_iter=3)


@pytest.mark.parametrize("solver", SOLVERS[:3])
@pytest.mark.parametrize("options", [{}, {"loss": "quantile", "quantile": 0.8}, {"sample_weight": np.arange(400) % 3}])
def test_regression_stops_by_its_score(solver, options):
    """No epoch of those tried has a better score on the examples held out than the weights returned."""
    options = dict(options)
    s = options.pop("sample_weight", np.ones(400))
    targets = X @ np.arange(20.0) + 3 * np.random.default_rng(0).normal(size=400)
    options = {"tol": 1e-9, "C": 1.0, "random_state": 0, "solver": solver, "early_stopping": True} | options
    reg = LinearSVR(**options).fit(X, targets, s)
    assert reg.certificate_.reason == "early_stopping"
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    train, test = split(targets, 0.1, seed, classes=False)
    assert (len(train), len(test)) == (360, 40)

    def score(model):
        if reg.loss == "quantile":
            return -mean_pinball_loss(targets[test], model.predict(X[test]), sample_weight=s[test], alpha=0.8)
        return model.score(X[test], targets[test], s[test])

    shorter = [clone(reg).set_params(max_iter=n) for n in range(1, 6)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert score(reg) >= max(score(one.fit(X, targets, s)) for one in shorter)
    assert reg.certificate_.dual <= reg.certificate_.primal


def test_regression_without_examples_to_hold_out():
    with pytest.raises(ValueError, match=r"holds out validation_fraction=0\.1 of 1 examples: "):
        LinearSVR(early_stopping=True, solver="pegasos").fit([[1.0]], [1.0])


def test_tol_ends_it_too():
    found = fit(y=Y == 2, tol=0.2, C=1e-3, n_iter_no_change=1000).certificate_
    assert (found.reason, found.converged) == ("tol", True)


def test_weights_and_batches():
    s = np.random.default_rng(0).uniform(0, 2, len(Y))
    clf = fit(sample_weight=s, class_weight="balanced", solver=Pegasos(batch_size=8, project=True))
    assert clf.certificate_.reason == "early_stopping"


def test_a_class_too_small_is_explained():
    y = np.where(np.arange(400) == 7, 9, Y)
    with pytest.raises(ValueError, match=r"early_stopping=True holds out validation_fraction=0.1 of 400 examples"):
        fit(y=y)


def test_rows_keep_their_numbers():
    wrong = X.copy()
    wrong[377, 3] = np.nan
    with pytest.raises(ValueError, match=re.escape("contains NaN: row 377, column 3")):
        fit(wrong)


@pytest.mark.parametrize("solver", ["pegasos", "sgd-s"])
def test_the_time_limit_ends_the_fit(ticks, solver):
    """Each epoch is shorter than the time between two looks at the clock."""
    X, y = make_classification(300, 6, n_informative=4, random_state=1)
    options = {"tol": 0, "max_time": 0.2, "n_iter_no_change": 10**6, "max_iter": 10**6, "random_state": 0}
    clf = LinearSVC(early_stopping=True, solver=solver, **options).fit(X, y)
    assert clf.certificate_.reason == "max_time"
    assert 0.2 <= clf.certificate_.seconds < 1
