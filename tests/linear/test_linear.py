"""LinearSVC: what its parameters mean, and what it says of its result."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import suited_loss
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Liblinear

from pegasos import Certificate, LinearSVC
from pegasos.reference import objective
from pegasos.solvers import SOLVERS, ConstantStep, Norma, Pegasos

X, Y = make_classification(300, 10, flip_y=0.1, random_state=0)
STORAGES = {
    "dense": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": sp.csr_matrix,
    "csr array": sp.csr_array,
    "csr float32": lambda X: sp.csr_matrix(X.astype(np.float32)),
    "csr int64": lambda X: with_indices(sp.csr_array(X), np.int64),
    "csr mixed indices": lambda X: with_indices(sp.csr_array(X), np.int32, np.int64),
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "list": lambda X: X.tolist(),
    "integers": lambda X: np.round(X * 4).astype(int),
}


def with_indices(X, columns, starts=None):
    X.indices, X.indptr = X.indices.astype(columns), X.indptr.astype(starts or columns)
    return X


def fit(X=X, y=Y, sample_weight=None, **options):
    """Fit without a fuss: a fixed seed, and by default 30 epochs whatever the gap."""
    return LinearSVC(**({"tol": 0, "max_iter": 30, "random_state": 0} | options)).fit(X, y, sample_weight)


def primal(clf, X, y, C, s=None):
    """The objective at `coef_` and `intercept_`, from its definition."""
    dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    bias = clf.intercept_scaling if clf.fit_intercept else 0.0
    rows = np.column_stack([dense, np.full(len(dense), bias)])
    w = np.append(clf.coef_, clf.intercept_ / bias if bias else 0.0)
    s = np.ones(len(dense)) if s is None else s
    return objective.primal(rows, np.where(y == clf.classes_[1], 1.0, -1.0), s, C, w)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("intercept", [{"fit_intercept": False}, {}, {"intercept_scaling": 2.5}], ids=str)
def test_the_certificate_is_of_the_stored_coefficients(storage, intercept):
    stored = STORAGES[storage](X)
    clf = fit(stored, C=0.7, **intercept)
    assert clf.certificate_.primal == pytest.approx(primal(clf, stored, Y, 0.7), rel=1e-12)
    assert clf.certificate_.dual <= clf.certificate_.primal
    assert clf.coef_.shape == (1, 10)
    assert clf.intercept_.shape == (1,)
    assert clf.coef_.dtype == clf.intercept_.dtype == np.float64
    assert (clf.intercept_[0] == 0) == (not clf.fit_intercept)


@pytest.mark.parametrize("solver", SOLVERS)
def test_storage_does_not_change_the_result(solver):
    results = {
        name: fit(STORAGES[name](X), solver=solver, loss=suited_loss(solver))
        for name in ("dense", "fortran", "csr", "csr int64", "csc")
    }
    for clf in results.values():
        np.testing.assert_allclose(clf.coef_, results["dense"].coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(results["csc"].coef_, results["csr"].coef_)
    np.testing.assert_array_equal(results["fortran"].coef_, results["dense"].coef_)


def test_decisions_are_of_the_stored_coefficients():
    clf = fit()
    scores = X @ clf.coef_[0] + clf.intercept_[0]
    for storage in STORAGES.values():
        if storage is not STORAGES["integers"]:
            np.testing.assert_allclose(clf.decision_function(storage(X)), scores, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[(scores > 0).astype(int)])
    assert clf.score(X, Y) == np.mean(clf.predict(X) == Y) > 0.8


def test_alpha_is_another_way_to_say_C():
    weights = np.linspace(0, 2, len(Y))
    for s, total in ((None, len(Y)), (weights, weights.sum())):
        by_alpha = fit(alpha=0.01, C=123.0, sample_weight=s)
        by_C = fit(C=1 / (0.01 * total), sample_weight=s)
        np.testing.assert_array_equal(by_alpha.coef_, by_C.coef_)
        assert by_alpha.certificate_.primal == by_C.certificate_.primal
    balanced = fit(alpha=0.01, class_weight={0: 3.0, 1: 1.0})
    assert balanced.certificate_.primal == pytest.approx(
        primal(balanced, X, Y, 1 / (0.01 * np.where(Y == 0, 3.0, 1.0).sum()), np.where(Y == 0, 3.0, 1.0)), rel=1e-12
    )


def test_whole_weights_are_repeated_rows():
    s = np.random.default_rng(0).integers(0, 4, len(Y))
    weighted = fit(sample_weight=s, C=0.1, tol=0.01, max_iter=2000).certificate_
    repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s), C=0.1, tol=0.01, max_iter=2000).certificate_
    assert weighted.dual <= repeated.primal
    assert repeated.dual <= weighted.primal
    assert weighted.primal == pytest.approx(repeated.primal, rel=0.01)


def test_a_scalar_weight_is_a_factor_of_C():
    assert fit(sample_weight=3.0).certificate_.primal == pytest.approx(fit(C=3.0).certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("class_weight", [{0: 5.0, 1: 0.5}, {1: 3.0}, "balanced"], ids=str)
def test_class_weights_multiply_sample_weights(class_weight):
    keep = np.flatnonzero((Y == 0) | (np.arange(len(Y)) % 3 == 0))
    rows, y = X[keep], Y[keep]
    s = np.random.default_rng(0).uniform(0.5, 2, len(y))
    clf = fit(rows, y, s, class_weight=class_weight)
    if class_weight == "balanced":
        factor = len(y) / (2 * np.bincount(y))[y]
    else:
        factor = np.array([class_weight.get(label, 1.0) for label in y])
    np.testing.assert_array_equal(clf.coef_, fit(rows, y, s * factor).coef_)
    assert clf.certificate_.primal == pytest.approx(primal(clf, rows, y, 1.0, s * factor), rel=1e-12)


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1, 1], [3, 17], ["ham", "spam"], [False, True], [-1.0, 1.0], [0.0, 2.0], [np.int8(1), np.int8(2)]],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_any_two_labels(labels):
    y = np.array(labels)[Y]
    clf = fit(X, y)
    np.testing.assert_array_equal(clf.classes_, labels)
    assert clf.classes_.dtype == clf.predict(X).dtype == y.dtype
    np.testing.assert_array_equal(clf.coef_, fit().coef_)
    assert clf.score(X, y) == fit().score(X, Y)
    np.testing.assert_array_equal(fit(X, y.tolist()).predict(X), clf.predict(X))
    if y.dtype.kind == "U":
        np.testing.assert_array_equal(fit(X, y.astype(object)).coef_, clf.coef_)


def test_intercept_scaling_weakens_the_penalty_of_the_intercept():
    shifted = np.where(Y == 1, 3.0, 2.0)[:, None]  # separable with an intercept of -2.5 times the weight
    small, medium, large = (
        fit(shifted, C=0.1, max_iter=300, intercept_scaling=scale).certificate_ for scale in (0.01, 1, 10)
    )
    assert small.dual > medium.primal
    assert medium.dual > large.primal


@pytest.mark.parametrize("solver", [Pegasos(), Pegasos(batch_size=10, project=True), Norma(), ConstantStep()], ids=str)
def test_tol_reached(solver):
    clf = fit(C=0.01, tol=0.05, max_iter=3000, solver=solver)  # a warning would be an error
    assert clf.certificate_.gap <= 0.05
    assert clf.certificate_.converged
    assert clf.certificate_.reason == "tol"
    assert clf.n_iter_ == clf.certificate_.n_iter < 3000


def test_tol_zero_runs_the_whole_budget_without_a_warning():
    clf = fit(tol=0, max_iter=7)
    assert (clf.n_iter_, clf.certificate_.reason, clf.certificate_.converged) == (7, "max_iter", None)
    assert clf.history_["epoch"][-1] == 7


@pytest.mark.parametrize(
    ("options", "scale", "parts"),
    [
        ({"max_iter": 3}, 1, ["max_iter epochs was used up", "aise max_iter or tol"]),
        ({"solver": Pegasos(max_steps=50)}, 1, ["max_steps steps was used up", "aise max_steps or tol"]),
        ({"max_time": 1e-6}, 1, ["time limit max_time", "aise max_time or tol"]),
        ({"max_iter": 3}, 1e4, ["longest example has norm", "scale the features", "scale=True"]),
        ({"max_iter": 3, "C": 1e5}, 1, ["C=1e+05 is large", "smaller C"]),
    ],
    ids=["max_iter", "max_steps", "max_time", "scale", "C"],
)
def test_not_converged_is_said_and_explained(options, scale, parts):
    wide = np.pad(X * scale, ((0, 0), (0, 2000)))  # so that the clock is looked at
    with pytest.warns(ConvergenceWarning) as warned:
        clf = fit(wide, **({"tol": 1e-3} | options))
    text, found = str(warned[0].message), clf.certificate_
    assert not found.converged
    assert found.gap > 1e-3
    for part in ["did not reach tol=0.001", f"{found.gap:.3g}", f"{found.primal:.6g}", f"{found.dual:.6g}", *parts]:
        assert part in text
    assert warned[0].filename == __file__
    if scale == 1 and "C" not in options:
        assert "scale the features" not in text
        assert "smaller C" not in text


def test_max_time(ticks):
    clf = fit(tol=0, max_iter=10**9, max_time=0.2)
    assert clf.certificate_.reason == "max_time"
    assert 0.2 <= clf.certificate_.seconds < 1
    assert clf.certificate_.converged is None


def test_max_steps_replaces_max_iter():
    clf = fit(max_iter=1, solver=Pegasos(max_steps=750))
    assert (clf.certificate_.reason, clf.history_["epoch"][-1], clf.n_iter_) == ("max_steps", 2.5, 3)
    batches = fit(solver=Pegasos(max_steps=30, batch_size=20))
    assert batches.history_["epoch"][-1] == 2


@pytest.mark.parametrize("solver", SOLVERS)
def test_history(solver):
    clf = fit(solver=solver, loss=suited_loss(solver))
    history, found = clf.history_, clf.certificate_
    assert list(history) == ["seconds", "epoch", "primal", "dual", "gap"]
    assert len({len(column) for column in history.values()}) == 1
    assert len(history["gap"]) > 3
    assert (history["dual"] <= history["primal"]).all()
    assert history["dual"].max() <= history["primal"].min()
    for rising in ("seconds", "epoch", "dual"):
        assert (np.diff(history[rising]) >= 0).all()
    assert (np.diff(history["primal"]) <= 0).all()
    last = [history[name][-1] for name in ("primal", "dual", "gap")]
    assert last == [found.primal, found.dual, found.gap]
    with np.errstate(divide="ignore"):
        dual = np.maximum(history["dual"], 0)
        np.testing.assert_allclose(history["gap"], (history["primal"] - dual) / dual)


def test_the_certificate_can_be_read_and_printed():
    found = fit(tol=0.5, C=0.01, solver=Pegasos(batch_size=4)).certificate_
    assert isinstance(found, Certificate)
    assert found.gap == pytest.approx((found.primal - found.dual) / found.dual)
    assert found.seconds > 0
    assert found.solver == "Pegasos(batch_size=4, sampling='permute')"
    for part in (f"{found.primal:.8g}", "converged: the gap reached tol", "Pegasos(batch_size=4, "):
        assert part in str(found)
    assert found.to_dict()["dual"] == found.dual


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_liblinear_agrees(C, intercept):
    ours = fit(C=C, fit_intercept=intercept, max_iter=1500)
    peer = Liblinear(loss="hinge", C=C, fit_intercept=intercept, max_iter=10**6, tol=1e-6, random_state=0).fit(X, Y)
    best = primal(peer, X, Y, C)
    assert ours.certificate_.dual <= best
    assert best * (1 - 1e-6) <= ours.certificate_.primal <= best * 1.01
    assert math.isfinite(ours.certificate_.gap)
