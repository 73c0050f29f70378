"""SVC and SVR: the optimum, its certificate, the classes, and what scikit-learn's say."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels

from pegasos import SVC, SVR
from pegasos.kernel.kernels import GivenKernel
from pegasos.problems.kernel import feasible_start, make_problem
from pegasos.solvers import SMO

X, Y = make_moons(150, noise=0.3, random_state=0)
TARGETS = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
IRIS, SPECIES = load_iris(return_X_y=True)
DIGITS = load_digits()

#: Kernels with parameters at which each is one, and not too hard.
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 3.0},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
    {"kernel": "poly", "gamma": "auto"},
]


def matrix(options, X, Z=None):
    """The kernel matrix by scikit-learn."""
    gamma = options.get("gamma", "scale")
    gamma = {"scale": 1 / (X.shape[1] * X.var()), "auto": 1 / X.shape[1]}.get(gamma, gamma)
    kernel = options.get("kernel", "rbf")
    more = {} if kernel == "linear" else {"gamma": gamma}
    if kernel == "poly":
        more |= {"degree": options.get("degree", 3), "coef0": options.get("coef0", 0.0)}
    return pairwise_kernels(X, Z, metric=kernel, **more)


def weights(model, n):
    """What each example weighs in a fit of one problem."""
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[0]
    return beta


def classification_bounds(K, y, s, C, beta, b):
    """Primal and dual value from their definitions; y is -1 or 1."""
    assert (y * beta >= 0).all()
    assert (y * beta <= C * s * (1 + 1e-12)).all()
    norm = beta @ K @ beta
    primal = norm / 2 + C * (s * np.maximum(0, 1 - y * (K @ beta + b))).sum()
    return primal, y @ beta - norm / 2


def regression_bounds(K, y, s, C, epsilon, beta, b):
    assert (np.abs(beta) <= C * s * (1 + 1e-12)).all()
    norm = beta @ K @ beta
    primal = norm / 2 + C * (s * np.maximum(0, np.abs(K @ beta + b - y) - epsilon)).sum()
    return primal, y @ beta - epsilon * np.abs(beta).sum() - norm / 2


def by_hand(X, Z):
    """A Gaussian kernel."""
    return np.exp(-0.7 * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


class TestOptimum:
    @pytest.mark.parametrize("options", KERNELS, ids=str)
    @pytest.mark.parametrize("C", [0.1, 10.0])
    def test_classification_as_libsvm(self, options, C):
        theirs = sklearn.svm.SVC(C=C, tol=1e-7, **options).fit(X, Y)
        ours = SVC(C=C, tol=1e-6, **options).fit(X, Y)
        y, K = np.where(Y == 1, 1.0, -1.0), matrix(options, X)
        beta = weights(theirs, len(X))
        optimum = y @ beta - beta @ K @ beta / 2
        assert ours.certificate_.primal == pytest.approx(optimum, rel=1e-4)
        assert ours.certificate_.dual <= optimum * (1 + 1e-5)
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)

    @pytest.mark.parametrize("options", KERNELS, ids=str)
    @pytest.mark.parametrize("epsilon", [0.0, 0.1])
    def test_regression_as_libsvm(self, options, epsilon):
        theirs = sklearn.svm.SVR(tol=1e-7, epsilon=epsilon, **options).fit(X, TARGETS)
        ours = SVR(tol=1e-6, epsilon=epsilon, **options).fit(X, TARGETS)
        K, beta = matrix(options, X), weights(theirs, len(X))
        optimum = TARGETS @ beta - epsilon * np.abs(beta).sum() - beta @ K @ beta / 2
        assert ours.certificate_.primal == pytest.approx(optimum, rel=1e-4)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-3)

    def test_attributes_as_libsvm(self):
        theirs, ours = sklearn.svm.SVC(tol=1e-8).fit(X, Y), SVC(tol=1e-6).fit(X, Y)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        np.testing.assert_array_equal(ours.support_vectors_, theirs.support_vectors_)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
        assert ours.shape_fit_ == theirs.shape_fit_
        assert ours.n_kernel_evaluations_ >= len(X) * len(ours.support_)

    def test_weights_of_features(self):
        theirs = sklearn.svm.SVC(kernel="linear", tol=1e-8).fit(IRIS, SPECIES)
        ours = SVC(kernel="linear", tol=1e-6).fit(IRIS, SPECIES)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
        with pytest.raises(AttributeError, match="kernel='linear' only"):
            _ = SVC().fit(X, Y).coef_
        assert not hasattr(SVR().fit(X, TARGETS), "coef_")

    @pytest.mark.parametrize("solver", ["auto", "smo", SMO(working_set=32, block=8)])
    def test_solvers(self, solver):
        found = SVC(solver=solver, tol=1e-5, max_iter=200, random_state=0).fit(X, Y).certificate_
        assert found.converged
        assert found.gap <= 1e-5
        assert found.primal == pytest.approx(SVC(tol=1e-9).fit(X, Y).certificate_.primal, rel=1e-4)

    def test_no_intercept(self):
        ours = SVC(fit_intercept=False, tol=1e-9).fit(X, Y)
        assert ours.intercept_ == [0]
        y, K = np.where(Y == 1, 1.0, -1.0), matrix({}, X)
        beta = weights(ours, len(X))
        slopes = y * (1 - y * (K @ beta))  # of the dual; those of variables inside their bounds are zero
        inside = (np.abs(beta) > 1e-6) & (np.abs(beta) < 1 - 1e-6)
        assert inside.any()
        np.testing.assert_allclose(slopes[inside], 0, atol=1e-4)
        assert abs(beta.sum()) > 1e-3  # which an intercept would not allow

    def test_alpha_is_the_papers_lambda(self):
        weight = np.linspace(0.5, 2, len(X))
        one = SVC(alpha=0.01, tol=1e-8).fit(X, Y, weight)
        other = SVC(C=1 / (0.01 * weight.sum()), tol=1e-8).fit(X, Y, weight)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X))


class TestCertificate:
    @pytest.mark.parametrize("options", KERNELS, ids=str)
    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("max_iter", [1, 200])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_of_classification(self, options, intercept, max_iter):
        s = np.linspace(0.2, 2, len(X))
        clf = SVC(C=2.0, fit_intercept=intercept, max_iter=max_iter, solver="smo", gamma=0.5).set_params(**options)
        clf.set_params(**({"gamma": 0.5} if clf.gamma == "scale" else {})).fit(X, Y, s)
        beta, found = weights(clf, len(X)), clf.certificate_
        K = matrix({**options, "gamma": clf.gamma}, X)
        expected = classification_bounds(K, np.where(Y == 1, 1.0, -1.0), s, 2.0, beta, clf.intercept_[0])
        assert (found.primal, found.dual) == pytest.approx(expected, rel=1e-8)
        if intercept:
            assert beta.sum() == pytest.approx(0, abs=1e-9)
        assert found.converged == (found.gap <= 1e-3)
        assert clf.history_["dual"][-1] == found.dual

    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("epsilon", [0.0, 0.3])
    def test_of_regression(self, intercept, epsilon):
        s = np.linspace(0.2, 2, len(X))
        reg = SVR(C=2.0, epsilon=epsilon, fit_intercept=intercept, gamma=0.5).fit(X, TARGETS, s)
        K, beta, found = matrix({"gamma": 0.5}, X), weights(reg, len(X)), reg.certificate_
        expected = regression_bounds(K, TARGETS, s, 2.0, epsilon, beta, reg.intercept_[0])
        assert (found.primal, found.dual) == pytest.approx(expected, rel=1e-8)
        assert found.converged

    @pytest.mark.parametrize("intercept", [True, False])
    @pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
    @pytest.mark.parametrize("shift", [0.0, 1e6])
    def test_of_quantiles(self, intercept, quantile, shift):
        if shift and not intercept:
            pytest.skip("an intercept takes the shift")
        s, y = np.linspace(0.2, 2, len(X)), TARGETS + shift
        reg = SVR(loss="quantile", quantile=quantile, C=2.0, fit_intercept=intercept, gamma=0.5).fit(X, y, s)
        K, beta, found = matrix({"gamma": 0.5}, X), weights(reg, len(X)), reg.certificate_
        assert (beta >= (quantile - 1) * 2.0 * s * (1 + 1e-12)).all()
        assert (beta <= quantile * 2.0 * s * (1 + 1e-12)).all()
        error, norm = y - K @ beta - reg.intercept_[0], beta @ K @ beta
        primal = norm / 2 + 2.0 * (s * np.maximum(quantile * error, (quantile - 1) * error)).sum()
        assert found.primal == pytest.approx(primal, rel=1e-8)
        assert found.dual == pytest.approx((y - shift) @ beta - norm / 2, rel=1e-8)
        assert found.converged
        if intercept:
            assert s[error > 1e-6].sum() <= (1 - quantile) * s.sum() * (1 + 1e-6)
            assert s[error < -1e-6].sum() <= quantile * s.sum() * (1 + 1e-6)

    def test_of_pairs(self):
        clf = SVC(gamma=0.3, tol=1e-6).fit(IRIS, SPECIES)
        found = clf.certificate_
        pairs = list(itertools.combinations(range(3), 2))
        assert len(found.parts) == len(clf.history_) == len(pairs)
        for part, (first, second) in zip(found.parts, pairs, strict=True):
            rows = (first == SPECIES) | (second == SPECIES)
            alone = SVC(gamma=0.3, tol=1e-6).fit(IRIS[rows], SPECIES[rows]).certificate_
            assert part.primal == pytest.approx(alone.primal, rel=1e-5)
        assert found.dual == pytest.approx(sum(part.dual for part in found.parts))
        assert found.gap == max(part.gap for part in found.parts)

    def test_budget(self):
        clf = SVC(C=100, max_iter=1, tol=1e-9, solver="smo", gamma=20.0, random_state=0)
        with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-09.*Raise max_iter or tol"):
            clf.fit(X, Y)
        assert not clf.certificate_.converged
        assert clf.certificate_.reason == "max_iter"

    def test_tol_zero_runs_the_budget(self):
        assert SVC(tol=0, max_iter=20).fit(X, Y).certificate_.converged is None


class TestIndefinite:
    """A kernel that is not positive semi-definite has no dual, so no bound."""

    @pytest.mark.parametrize(
        "options",
        [
            {"kernel": "sigmoid", "gamma": 1.0, "coef0": -1.0},
            {"kernel": "poly", "coef0": -1.0, "degree": 1},
            {"kernel": lambda X, Z: np.abs(X @ Z.T) - 5 * np.isclose(X[:, :1], Z[:, 0])},
        ],
        ids=["sigmoid", "poly", "function"],
    )
    def test_no_bound(self, options):
        clf = SVC(**options, max_iter=50)
        with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
            clf.fit(X, Y)
        found = clf.certificate_
        assert (found.dual, found.gap, found.converged) == (-np.inf, np.inf, False)
        assert np.isneginf(clf.history_["dual"]).all()
        assert clf.predict(X).shape == Y.shape

    def test_negative_eigenvalue_behind_a_positive_diagonal(self):
        K = matrix({"gamma": 1.0}, X)
        values, vectors = np.linalg.eigh(K)
        values[0] = -0.01 * values[-1]
        K = (vectors * values) @ vectors.T
        K = (K + K.T) / 2
        assert K.diagonal().min() > 0
        with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
            assert SVC(kernel="precomputed", max_iter=50).fit(K, Y).certificate_.gap == np.inf

    def test_of_many_rows_some_are_looked_at(self, monkeypatch):
        from pegasos.kernel import definiteness

        monkeypatch.setattr(definiteness, "SMALL", 100)
        monkeypatch.setattr(definiteness, "SAMPLE", 60)
        with pytest.warns(ConvergenceWarning, match="not positive semi-definite"):
            SVC(kernel="sigmoid", gamma=1.0, max_iter=50, random_state=0).fit(X, Y)
        assert not definiteness.definiteness(GivenKernel(matrix({}, X), np.float64), 0).indefinite

    def test_a_sigmoid_kernel_can_be_one(self):
        line = np.linspace(0.1, 1, 40)[:, None]
        assert SVC(kernel="sigmoid", gamma=1e-6, coef0=0.0).fit(line, line.ravel() > 0.5).certificate_.dual > 0


class TestClasses:
    @pytest.mark.parametrize("shape", ["ovr", "ovo"])
    def test_pairs_as_libsvm(self, shape):
        theirs = sklearn.svm.SVC(tol=1e-7, decision_function_shape=shape).fit(IRIS, SPECIES)
        ours = SVC(tol=1e-6, decision_function_shape=shape).fit(IRIS, SPECIES)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-3)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
        np.testing.assert_allclose(ours.decision_function(IRIS), theirs.decision_function(IRIS), atol=1e-3)
        np.testing.assert_array_equal(ours.predict(IRIS), theirs.predict(IRIS))

    def test_ten_classes(self):
        train, test = slice(0, 400), slice(400, 1000)
        theirs = sklearn.svm.SVC(tol=1e-6).fit(DIGITS.data[train], DIGITS.target[train])
        ours = SVC(tol=1e-6).fit(DIGITS.data[train], DIGITS.target[train])
        np.testing.assert_array_equal(ours.predict(DIGITS.data[test]), theirs.predict(DIGITS.data[test]))
        np.testing.assert_allclose(
            ours.decision_function(DIGITS.data[test]), theirs.decision_function(DIGITS.data[test]), atol=1e-3
        )
        assert ours.decision_function(DIGITS.data[test]).shape == (600, 10)
        assert len(ours.certificate_.parts) == 45

    def test_break_ties(self):
        # Around three classes in a triangle there are points where each wins one pair.
        rng = np.random.default_rng(0)
        centres = np.array([[0, 1.0], [0.87, -0.5], [-0.87, -0.5]])
        y = np.arange(60) % 3
        Z = centres[y] + 0.3 * rng.normal(size=(60, 2))
        grid = 0.3 * rng.normal(size=(3000, 2))
        options = {"kernel": "linear", "C": 0.05}
        theirs = [sklearn.svm.SVC(tol=1e-9, break_ties=tie, **options).fit(Z, y).predict(grid) for tie in (False, True)]
        ours = [SVC(tol=1e-9, break_ties=tie, **options).fit(Z, y).predict(grid) for tie in (False, True)]
        assert (ours[0] != ours[1]).any()
        assert np.mean(ours[0] == theirs[0]) > 0.999
        assert np.mean(ours[1] == theirs[1]) > 0.999

    def test_each_against_the_rest(self):
        clf = SVC(multi_class="ovr", gamma=0.3, tol=1e-6).fit(IRIS, SPECIES)
        scores = clf.decision_function(IRIS)
        assert clf.dual_coef_.shape == (3, len(clf.support_))
        for k in range(3):
            alone = sklearn.svm.SVC(gamma=0.3, tol=1e-8).fit(IRIS, k == SPECIES)
            np.testing.assert_allclose(scores[:, k], alone.decision_function(IRIS), atol=1e-3)
        np.testing.assert_array_equal(clf.predict(IRIS), scores.argmax(axis=1))
        assert (np.diff(SPECIES[clf.support_]) >= 0).all()

    @pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
    def test_threads_change_nothing(self, multi_class):
        one = SVC(multi_class=multi_class, n_jobs=1, random_state=0).fit(IRIS, SPECIES)
        two = SVC(multi_class=multi_class, n_jobs=2, random_state=0).fit(IRIS, SPECIES)
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
        np.testing.assert_array_equal(one.decision_function(IRIS), two.decision_function(IRIS))

    def test_labels(self):
        names = np.array(["setosa", "versicolor", "virginica"])[SPECIES]
        clf = SVC().fit(IRIS, names)
        assert clf.score(IRIS, names) > 0.95
        assert clf.classes_.tolist() == sorted(set(names))


class TestWeights:
    @pytest.mark.parametrize("intercept", [True, False])
    def test_equal_repeated_rows(self, intercept):
        counts = np.random.default_rng(0).integers(0, 4, len(X))
        again = np.repeat(np.arange(len(X)), counts)
        one = SVC(fit_intercept=intercept, tol=1e-10).fit(X, Y, sample_weight=counts)
        other = SVC(fit_intercept=intercept, tol=1e-10).fit(X[again], Y[again])
        assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)

    def test_equal_repeated_rows_in_regression(self):
        counts = np.random.default_rng(0).integers(0, 4, len(X))
        again = np.repeat(np.arange(len(X)), counts)
        one = SVR(tol=1e-10).fit(X, TARGETS, sample_weight=counts)
        other = SVR(tol=1e-10).fit(X[again], TARGETS[again])
        np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)

    @pytest.mark.parametrize("class_weight", ["balanced", {0: 0.2, 1: 3.0}])
    def test_of_classes(self, class_weight):
        few = np.flatnonzero((Y == 0) | (np.arange(len(Y)) % 3 == 0))
        theirs = sklearn.svm.SVC(class_weight=class_weight, tol=1e-8).fit(X[few], Y[few])
        ours = SVC(class_weight=class_weight, tol=1e-6).fit(X[few], Y[few])
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


class TestWarmStart:
    @pytest.mark.parametrize(
        ("model", "X", "y"),
        [
            (SVC(), X, Y),
            (SVC(), IRIS, SPECIES),
            (SVC(multi_class="ovr"), IRIS, SPECIES),
            (SVR(), X, TARGETS),
            (SVR(epsilon=0.0), X, TARGETS),
            (SVR(loss="quantile", quantile=0.8), X, TARGETS),
        ],
        ids=str,
    )
    def test_continues(self, model, X, y):
        model = model.set_params(warm_start=True, tol=1e-4, gamma=0.5, solver="smo", max_iter=100)
        first = model.fit(X, y).certificate_
        again = model.fit(X, y)
        histories = again.history_ if isinstance(again.history_, list) else [again.history_]
        for history in histories:
            assert history["gap"][0] <= 2e-4  # it begins where the last one ended
        assert again.certificate_.primal == pytest.approx(first.primal, rel=1e-4)

    @pytest.mark.parametrize("C", [0.1, 10.0])
    def test_another_C_keeps_the_bound_true(self, C):
        clf = SVC(warm_start=True, tol=1e-6).fit(X, Y).set_params(C=C).fit(X, Y)
        anew = SVC(C=C, tol=1e-6).fit(X, Y)
        assert clf.certificate_.primal == pytest.approx(anew.certificate_.primal, rel=1e-5)
        assert clf.certificate_.dual <= anew.certificate_.primal * (1 + 1e-9)
        assert weights(clf, len(X)).sum() == pytest.approx(0, abs=1e-9)

    @pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "quantile"])
    def test_start_is_feasible(self, loss):
        rng = np.random.default_rng(0)
        y = np.where(Y == 1, 1.0, -1.0)
        source = GivenKernel(matrix({}, X), np.float64).source(None)
        problem = make_problem(source, y, np.ones(len(y)), 0.5, loss=loss, parameter=0.2)
        variables = feasible_start(problem, rng.normal(size=len(y))).point.variables
        assert variables.sum() == pytest.approx(0, abs=1e-12)
        assert np.abs(variables).max() <= 0.5
        if loss == "hinge":
            assert (variables * y >= 0).all()
        elif loss == "quantile":
            assert len(variables) == len(y)
            assert variables.min() >= -0.4
            assert variables.max() <= 0.1
        else:
            assert (variables[: len(y)] >= 0).all()
            assert (variables[len(y) :] <= 0).all()

    def test_other_rows_start_anew(self):
        clf = SVC(warm_start=True, tol=1e-6).fit(X, Y).fit(X[:100], Y[:100])
        anew = SVC(tol=1e-6).fit(X[:100], Y[:100])
        np.testing.assert_allclose(clf.decision_function(X), anew.decision_function(X), atol=1e-5)

    def test_other_classes(self):
        clf = SVC(warm_start=True).fit(X, Y)
        with pytest.raises(ValueError, match="the classes changed"):
            clf.fit(X, Y + 1)


class TestSources:
    """The same machine, whatever the kernel matrix comes from."""

    Z = np.where(np.abs(DIGITS.data[:200]) > 4, DIGITS.data[:200] / 16, 0.0)
    y = DIGITS.target[:200] % 2

    @pytest.mark.parametrize("name", ["rbf", "linear", "poly", "sigmoid"])
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # sigmoid
    def test_agree(self, name):
        Z, y = self.Z, self.y
        options = {"gamma": 0.01, "coef0": 0.5, "degree": 2}
        more = {} if name == "linear" else {k: v for k, v in options.items() if name != "rbf" or k == "gamma"}
        if name == "sigmoid":
            more.pop("degree")

        def function(A, B):
            return pairwise_kernels(A, B, metric=name, **more)

        expected = sklearn.svm.SVC(kernel=name, tol=1e-8, **options).fit(Z, y).decision_function(Z)
        dense = SVC(kernel=name, tol=1e-6, **options).fit(Z, y)
        sparse = SVC(kernel=name, tol=1e-6, **options).fit(sp.csr_array(Z), y)
        given = SVC(kernel="precomputed", tol=1e-6).fit(function(Z, Z), y)
        called = SVC(kernel=function, tol=1e-6).fit(Z, y)
        on_sparse = SVC(kernel=function, tol=1e-6).fit(sp.csr_matrix(Z), y)
        for scores in (
            dense.decision_function(Z),
            dense.decision_function(sp.csr_matrix(Z)),
            sparse.decision_function(Z),
            sparse.decision_function(sp.csr_array(Z)),
            given.decision_function(function(Z, Z)),
            called.decision_function(Z),
            on_sparse.decision_function(sp.csr_matrix(Z)),
        ):
            np.testing.assert_allclose(scores, expected, atol=2e-3)
        assert sp.issparse(sparse.support_vectors_)
        assert given.support_vectors_.shape == (0, 0)
        assert called.support_vectors_.shape == (len(called.support_), 64)

    def test_three_classes_agree(self):
        K = by_hand(IRIS, IRIS)
        expected = SVC(gamma=0.7, tol=1e-6).fit(IRIS, SPECIES).decision_function(IRIS)
        for multi in (SVC(kernel="precomputed", tol=1e-6).fit(K, SPECIES), SVC(kernel=by_hand, tol=1e-6)):
            at = K if multi.kernel == "precomputed" else IRIS
            multi = multi.fit(at, SPECIES)
            np.testing.assert_allclose(multi.decision_function(at), expected, atol=1e-5)

    def test_regression_agrees(self):
        expected = SVR(gamma=0.7, tol=1e-6).fit(X, TARGETS).predict(X)
        K = by_hand(X, X)
        np.testing.assert_allclose(SVR(kernel="precomputed", tol=1e-6).fit(K, TARGETS).predict(K), expected, atol=1e-5)
        np.testing.assert_allclose(SVR(kernel=by_hand, tol=1e-6).fit(X, TARGETS).predict(X), expected, atol=1e-5)


def test_parts_have_the_names_of_their_classes():
    X, y = load_iris(return_X_y=True)
    for multi_class, names in (("ovo", ["'a' against 'b'", "'a' against 'c'", "'b' against 'c'"]), ("ovr", None)):
        found = SVC(multi_class=multi_class).fit(X, np.array(list("abc"))[y]).certificate_
        assert [part.problem for part in found.parts] == (names or [f"{label!r} against the rest" for label in "abc"])
        assert f"parts[{found.worst}] ({found.parts[found.worst].problem})" in str(found)
