"""FeatureMapSVC: any features of example and label together (S0 equation 20)."""

import os
import pickle
import signal
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks

from pegasos import FeatureMapSVC, LinearSVC
from pegasos.reference import multiclass

X, Y = make_classification(80, 6, n_informative=5, n_redundant=0, n_classes=4, flip_y=0.1, random_state=0)
COST = np.array([[0, 1, 2, 0.5], [1, 0, 1, 1], [3, 1, 0, 0], [0.25, 1, 1, 0]])


def kron(x, label):
    """Each label has weights of its own."""
    return np.kron(np.eye(4)[int(label)], x)


def shared(x, label):
    """Labels 0 and 1 share weights, 2 and 3 too, and each has a few of its own."""
    return np.concatenate([np.kron(np.eye(2)[label // 2], x), np.kron(np.eye(4)[label], x[:2])])


def fit(X=X, y=Y, sample_weight=None, feature_map=kron, **options):
    return FeatureMapSVC(feature_map, **({"C": 0.3, "random_state": 0} | options)).fit(X, y, sample_weight)


def primal(clf, feature_map, X, y, s, C, cost):
    """From the definition."""
    value = clf.coef_ @ clf.coef_ / 2
    for x, own, weight in zip(X, y, s, strict=True):
        scores = [clf.coef_ @ feature_map(x, k) for k in range(len(cost))]
        value += C * weight * max(cost[own][k] + scores[k] - scores[own] for k in range(len(cost)))
    return value


class TestOptimum:
    @pytest.mark.parametrize("cost", [None, COST], ids=["plain", "costs"])
    @pytest.mark.parametrize("C", [0.01, 0.3])
    def test_weights_of_its_own_for_each_label_is_the_joint_hinge_loss(self, cost, C):
        ours = fit(cost=cost, C=C, tol=1e-5, max_iter=5000)
        core = LinearSVC(
            multi_class="joint", fit_intercept=False, cost=cost, C=C, tol=1e-6, max_iter=10**5, random_state=0
        ).fit(X, Y)
        assert ours.certificate_.gap <= 1e-5
        assert ours.certificate_.primal == pytest.approx(core.certificate_.primal, rel=2e-5)
        assert ours.certificate_.dual <= core.certificate_.primal
        np.testing.assert_allclose(ours.decision_function(X), core.decision_function(X), atol=0.02)

    def test_two_labels(self):
        y = Y // 2
        ours = fit(y=y, feature_map=lambda x, k: np.kron(np.eye(2)[k], x), tol=1e-5, max_iter=5000)
        core = LinearSVC(multi_class="joint", fit_intercept=False, C=0.3, tol=1e-6, max_iter=10**5).fit(X, y)
        assert ours.certificate_.primal == pytest.approx(core.certificate_.primal, rel=2e-5)
        assert ours.decision_function(X).shape == (80, 2)

    @pytest.mark.parametrize("feature_map", [kron, shared])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_the_primal_value_is_true(self, feature_map, weighted):
        s = np.random.default_rng(0).uniform(0, 2, len(Y)) if weighted else np.ones(len(Y))
        clf = fit(sample_weight=s if weighted else None, feature_map=feature_map, cost=COST, max_iter=5, tol=0)
        assert clf.certificate_.primal == pytest.approx(primal(clf, feature_map, X, Y, s, 0.3, COST), rel=1e-12)

    def test_bounds_along_the_way(self):
        optimum = fit(feature_map=shared, cost=COST, tol=1e-6, max_iter=10**4).certificate_
        history = fit(feature_map=shared, cost=COST, tol=0, max_iter=30).history_
        assert (history["dual"] <= optimum.primal).all()
        assert (history["primal"] >= optimum.dual).all()
        assert (np.diff(history["dual"]) >= 0).all()
        assert (np.diff(history["primal"]) <= 0).all()
        assert (np.diff(history["seconds"]) >= 0).all()

    def test_the_dual_value_is_that_of_the_reference(self, monkeypatch):
        """The reference knows the joint hinge loss, and takes the point that the fit found."""
        seen = []
        real = FeatureMapSVC._store
        monkeypatch.setattr(
            FeatureMapSVC, "_store", lambda self, found, *rest: seen.append(found) or real(self, found, *rest)
        )
        s = np.random.default_rng(0).uniform(0, 2, len(Y))
        found = fit(sample_weight=s, cost=COST, max_iter=20, tol=0).certificate_
        P = seen[0].point.q.reshape(len(Y), 4)
        assert found.dual == pytest.approx(multiclass.dual(X, Y, s, 0.3, P, "hinge", COST), rel=1e-9)
        W = seen[0].point.w.reshape(4, -1).T
        assert found.primal == pytest.approx(multiclass.primal(X, Y, s, 0.3, W, "hinge", COST), rel=1e-9)

    def test_whole_weights_are_repeated_rows(self):
        s = np.random.default_rng(0).integers(0, 4, len(Y))
        options = {"feature_map": shared, "tol": 1e-5, "max_iter": 10**4}
        weighted = fit(sample_weight=s, **options).certificate_
        repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s), **options).certificate_
        assert weighted.primal == pytest.approx(repeated.primal, rel=2e-5)
        assert weighted.dual == pytest.approx(repeated.dual, rel=2e-5)

    def test_alpha(self):
        s = np.random.default_rng(0).uniform(0, 2, len(Y))
        np.testing.assert_array_equal(
            fit(sample_weight=s, alpha=0.1, max_iter=5, tol=0).coef_,
            fit(sample_weight=s, C=1 / (0.1 * s.sum()), max_iter=5, tol=0).coef_,
        )

    def test_a_label_without_examples(self):
        """It can be predicted, and the others are kept away from it."""
        some = Y < 3
        clf = fit(X[some], Y[some], labels=range(4), tol=1e-4, max_iter=10**4)
        assert clf.classes_.tolist() == [0, 1, 2, 3]
        assert clf.decision_function(X).shape == (80, 4)
        assert clf.coef_[18:].any()

    def test_the_order_of_labels_is_the_users(self):
        given = [2, 0, 3, 1]
        plain = fit(cost=COST, tol=1e-5, max_iter=5000)
        other = fit(cost=COST[np.ix_(given, given)], labels=given, tol=1e-5, max_iter=5000)
        assert other.classes_.tolist() == given
        assert other.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-5)
        np.testing.assert_allclose(other.decision_function(X), plain.decision_function(X)[:, given], atol=0.02)

    def test_the_cost_may_be_a_function(self):
        ours = fit(cost=lambda true, taken: COST[true, taken], max_iter=5, tol=0)
        np.testing.assert_array_equal(ours.coef_, fit(cost=COST, max_iter=5, tol=0).coef_)

    def test_nothing_to_learn(self):
        clf = fit(cost=np.zeros((4, 4)))
        assert (clf.certificate_.primal, clf.certificate_.gap, clf.n_iter_) == (0.0, 0.0, 1)
        clf = fit(feature_map=lambda x, k: [0.0])  # no two labels differ
        assert clf.certificate_.primal == pytest.approx(0.3 * 80)
        assert clf.certificate_.converged

    @pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("options", [{"tol": 0, "max_iter": 3}, {"tol": 1e-6, "max_iter": 300}], ids=str)
    @pytest.mark.filterwarnings("ignore:FeatureMapSVC did not reach")
    def test_the_bounds_allow_for_their_rounding(self, monkeypatch, scale, C, options):
        """Against values in more than double precision."""
        seen = []
        real = FeatureMapSVC._store
        monkeypatch.setattr(
            FeatureMapSVC, "_store", lambda self, found, *rest: seen.append(found) or real(self, found, *rest)
        )
        s = np.random.default_rng(0).uniform(0, 2, len(Y))
        clf = fit(scale * X, sample_weight=s, feature_map=shared, cost=COST, C=C, **options)
        found, long = clf.certificate_, np.longdouble
        features = np.array([[shared(x, k) for k in range(4)] for x in scale * X]).astype(long)
        w, c, rows = clf.coef_.astype(long), long(C) * s.astype(long), np.arange(len(Y))
        scores, cost = features @ w, COST.astype(long)[Y]
        primal = w @ w / 2 + c @ ((scores + cost).max(axis=1) - scores[rows, Y])
        assert primal <= found.primal <= float(primal) + 2 * seen[0].bounds.above
        p = seen[0].point.q.reshape(-1, 4).astype(long)
        p /= p.sum(axis=1, keepdims=True)
        u = np.einsum("i,ik,ikd->d", c, p, features[rows, Y][:, None] - features)
        dual = c @ (p * cost).sum(axis=1) - u @ u / 2
        assert float(dual) - 2 * seen[0].bounds.below <= found.dual <= dual
        if scale == C == 1:
            assert found.rounding < 1e-9

    @pytest.mark.filterwarnings("ignore:FeatureMapSVC did not reach")
    def test_no_visits_without_use(self):
        clf = fit(X[:20], Y[:20], tol=1e-16, max_iter=10**5)
        assert clf.certificate_.reason == "precision"
        assert clf.certificate_.gap < 1e-9


class TestUse:
    def test_labels_are_strings_and_examples_anything(self):
        words = ["casa", "vino", "pane", "haus", "wein", "brot"]
        letters = "abcdefghijklmnopqrstuvwxyz"

        def ending(word, language):
            return np.kron([language == "it", language == "de"], [word.endswith(letter) for letter in letters])

        clf = fit(words, ["it"] * 3 + ["de"] * 3, feature_map=ending)
        assert clf.predict(["mano", "maus"]).tolist() == ["it", "de"]
        assert clf.score(words, ["it"] * 3 + ["de"] * 3) == 1
        assert clf.predict([]).shape == (0,)

    def test_data_frames_and_sparse_matrices_are_their_rows(self):
        plain = fit(max_iter=3, tol=0)
        frame = fit(pd.DataFrame(X), pd.Series(Y), max_iter=3, tol=0)
        sparse = fit(sp.csr_matrix(X), feature_map=lambda x, k: kron(x.toarray()[0], k), max_iter=3, tol=0)
        for clf in (frame, sparse):
            np.testing.assert_array_equal(clf.coef_, plain.coef_)

    def test_among_scikit_learn_tools(self):
        clf = FeatureMapSVC(kron, labels=range(4), tol=0.01, random_state=0)
        assert clone(clf).get_params() == clf.get_params()
        assert "FeatureMapSVC" in repr(clf)
        assert cross_val_score(clf, X, Y, cv=3).mean() > 0.4
        assert GridSearchCV(clf, {"C": [0.01, 0.1]}, cv=3).fit(X, Y).score(X, Y) > 0.4
        fitted = clf.fit(X, Y)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))

    def test_the_same_seed_is_the_same_fit(self):
        np.testing.assert_array_equal(fit().coef_, fit().coef_)
        assert (fit(max_iter=2, tol=0).coef_ != fit(max_iter=2, tol=0, random_state=1).coef_).any()

    def test_certificate_and_history(self):
        clf = fit(tol=0.01)
        found = clf.certificate_
        assert (found.converged, found.reason, found.parts) == (True, "tol", ())
        assert found.solver == "block-coordinate Frank-Wolfe in pairs"
        assert clf.n_iter_ == found.n_iter == np.ceil(clf.history_["epoch"][-1])
        assert (found.primal, found.dual) == (clf.history_["primal"][-1], clf.history_["dual"][-1])
        assert found.gap == clf.history_["gap"][-1] <= 0.01
        assert fit(tol=0, max_iter=7).n_iter_ == 7

    def test_not_converged_is_said(self):
        with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-09.*Raise max_iter or tol") as told:
            clf = FeatureMapSVC(kron, tol=1e-9, max_iter=2).fit(X, Y)
        assert told[0].filename == __file__
        assert not clf.certificate_.converged
        with pytest.warns(ConvergenceWarning, match="Raise max_time or tol"):
            FeatureMapSVC(kron, tol=1e-9, max_time=1e-9).fit(X, Y)

    def test_max_time(self, ticks):
        clf = fit(C=1e6, tol=0, max_iter=10**9, max_time=0.3)
        assert clf.certificate_.reason == "max_time"
        assert 0.3 <= clf.certificate_.seconds < 1

    def test_interrupt(self):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        clf = FeatureMapSVC(kron, C=1e6, tol=0, max_iter=10**9)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, Y)
        assert not hasattr(clf, "coef_")

    def test_verbose(self, capfd):
        clf = fit(verbose=2, tol=0, max_iter=3)
        assert capfd.readouterr().err.count("epoch") == len(clf.history_["gap"])

    def test_what_is_given_stays_as_it_is(self):
        rows, labels, s = X.copy(), Y.copy(), np.ones(len(Y))
        fit(rows, labels, s)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(labels, Y)
        assert (s == 1).all()

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the checks set max_iter=5
    @pytest.mark.parametrize(
        "check",
        [
            estimator_checks.check_dict_unchanged,
            estimator_checks.check_estimator_cloneable,
            estimator_checks.check_estimator_repr,
            estimator_checks.check_estimators_pickle,
            estimator_checks.check_estimators_unfitted,
            estimator_checks.check_fit_check_is_fitted,
            estimator_checks.check_fit_idempotent,
            estimator_checks.check_get_params_invariance,
            estimator_checks.check_mixin_order,
            estimator_checks.check_no_attributes_set_in_init,
            estimator_checks.check_positive_only_tag_during_fit,
            estimator_checks.check_sample_weights_list,
            estimator_checks.check_sample_weights_not_overwritten,
            estimator_checks.check_set_params,
            estimator_checks.check_valid_tag_types,
        ],
        ids=lambda check: check.__name__,
    )
    def test_scikit_learn_check(self, check):
        """Examples are what the map takes them for: checks of how arrays with NaN, of text or of three dimensions are
        turned down mean nothing here, the tags say so, and `check_estimator` as a whole leaves out nearly all."""
        check("FeatureMapSVC", FeatureMapSVC(kron, tol=0.1, random_state=0))


WRONG = [
    ({"C": 0}, "C=0: must be a finite number above 0"),
    ({"tol": -1}, "tol=-1: must be"),
    ({"feature_map": "kron"}, "feature_map='kron': must be a function of an example and a label"),
    ({"feature_map": lambda x, k: np.ones(2 + k)}, r"feature_map\(X\[0\], 1\) has 3 features, where others have 2"),
    ({"feature_map": lambda x, k: [1.0, np.nan]}, r"feature_map\(X\[0\], 0\)\[1\] is nan; .*impute"),
    ({"feature_map": lambda x, k: x[:, None]}, r"X\[0\], 0\) has shape \(6, 1\); .*\.ravel"),
    ({"feature_map": lambda x, k: 1.0}, r"has shape \(\)"),
    ({"feature_map": lambda x, k: []}, r"has shape \(0,\)"),
    ({"feature_map": lambda x, k: ["a"]}, "is list and not a vector of numbers; return"),
    ({"feature_map": lambda x, k: None}, r"has shape \(\)"),
    ({"feature_map": lambda x, k: sp.csr_matrix(x)}, r"sparse matrix; .*toarray"),
    ({"feature_map": lambda x, k: np.full(3, 1e200 * (k + 1))}, "so large that sums of their products overflow"),
    ({"labels": [0, 1, 2]}, r"y\[\d+\]=3 is none of labels; add it"),
    ({"labels": ["a", "b"]}, r"y\[0\]=\d is none of labels"),
    ({"labels": [1]}, "two or more"),
    ({"labels": [0, 1, 2, 3, 3]}, "different from each other"),
    ({"labels": [0, "1"]}, "a list of numbers or of strings"),
    ({"labels": 5}, "a list of numbers or of strings"),
    ({"labels": [(0, 1), (1, 0)]}, "a list of numbers or of strings"),
    ({"cost": np.ones((4, 4))}, "zero on the diagonal"),
    ({"cost": np.zeros((3, 3))}, "4 rows of 4 numbers"),
    ({"cost": lambda true, taken: -1.0}, "not negative"),
    ({"sample_weight": -np.ones(80)}, r"sample_weight\[0\]=-1.0"),
    ({"sample_weight": np.zeros(80)}, "non-zero|zero or negative weights"),
    ({"sample_weight": np.ones(3)}, "sample_weight.shape == "),
    ({"y": Y[:5]}, "X has 80 examples, y 5 labels"),
    ({"y": None}, "requires y"),
    ({"y": np.zeros(80, dtype=int)}, r"one label only, 0; pass labels="),
    ({"y": np.linspace(0, 1, 80)}, "continuous"),
    ({"X": [], "y": []}, "X has no examples"),
    ({"X": iter(X)}, r"sequence or array of examples, such as list\(X\)"),
    ({"X": {"a": 1}}, "X is a dict"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit(**options)


def test_too_many_features():
    calls = []
    with pytest.raises(ValueError, match=r"80 examples with 4 labels, 1000000 each, would take 2.56 GB"):
        fit(feature_map=lambda x, k: calls.append(k) or np.zeros(10**6))
    assert len(calls) == 1


def test_an_error_of_the_map_says_for_which_pair():
    def broken(x, label):
        raise KeyError("colour")

    with pytest.raises(KeyError, match="colour") as raised:
        fit(feature_map=broken)
    assert raised.value.__notes__ == ["in feature_map(X[0], 0)"]


def test_predictions_are_checked():
    with pytest.raises(NotFittedError):
        FeatureMapSVC(kron).predict(X)
    X_iris, y_iris = load_iris(return_X_y=True)
    clf = fit(X_iris, y_iris, feature_map=lambda x, k: np.kron(np.eye(3)[k], x), C=0.1)
    with pytest.raises(ValueError, match="has 15 features, where others have 12"):
        clf.predict(np.ones((1, 5)))


def test_masked_labels_and_weights_are_refused():
    masked = np.ma.array(Y, mask=np.arange(len(Y)) == 3)
    with pytest.raises(ValueError, match="y has masked entries"):
        fit(y=masked)
    with pytest.raises(ValueError, match="sample_weight has masked entries"):
        fit(sample_weight=np.ma.array(np.ones(len(Y)), mask=masked.mask))
