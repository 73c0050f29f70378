"""SVC and SVR: what they take, what they refuse and in what words, precision, memory, and use with scikit-learn."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pegasos import SVC, SVR
from pegasos.kernel import choice, layout
from pegasos.problems.kernel import KernelProblem
from pegasos.solvers import KERNEL_SOLVERS, SBP, SDCA, SMO

X, Y = make_moons(120, noise=0.3, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
SPARSE = np.where(np.random.default_rng(0).random((120, 12)) < 0.2, 1.0, 0.0)
SPARSE_Y = (SPARSE[:, :6].sum(axis=1) > SPARSE[:, 6:].sum(axis=1)).astype(int)


def function(A, B):
    return np.asarray(A @ B.T)


def refuses(*parts, X=X, y=Y, weight=None, model=SVC, error=ValueError, **options):
    """The fit is refused in these words."""
    with pytest.raises(error, match="(?s)" + ".*".join(map(re.escape, parts))):
        model(**options).fit(X, y, weight)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([SVC(), SVR(), SVC(multi_class="ovr"), SVC(fit_intercept=False)])
def test_scikit_learn_check(estimator, check):
    check(estimator)


class TestInput:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, bool])
    @pytest.mark.parametrize("index", [np.int32, np.int64])
    def test_sparse(self, dtype, index):
        expected = SVC(tol=1e-6).fit(SPARSE, SPARSE_Y).decision_function(SPARSE)
        Z = sp.csr_matrix(SPARSE.astype(dtype))
        Z.indices, Z.indptr = Z.indices.astype(index), Z.indptr.astype(index)
        before = Z.copy()
        clf = SVC(tol=1e-6).fit(Z, SPARSE_Y)
        np.testing.assert_allclose(clf.decision_function(Z), expected, atol=1e-6)
        np.testing.assert_allclose(clf.decision_function(Z.tocsc()), expected, atol=1e-6)
        assert (before != Z).nnz == 0
        assert Z.indices.dtype == index

    @pytest.mark.parametrize("make", [np.asfortranarray, np.float32, pd.DataFrame, lambda X: X[::-1][::-1]])
    def test_dense(self, make):
        Z = make(X)
        clf = SVC(tol=1e-6).fit(Z, Y)
        np.testing.assert_allclose(clf.decision_function(Z), SVC(tol=1e-6).fit(X, Y).decision_function(X), atol=1e-4)

    def test_is_not_modified(self):
        Z = X + 100  # far from the origin, so centred inside
        Z.flags.writeable = False
        far, near = SVC(gamma=1.0, tol=1e-11).fit(Z, Y), SVC(gamma=1.0, tol=1e-11).fit(X, Y)
        np.testing.assert_allclose(far.decision_function(Z), near.decision_function(X), atol=1e-6)

    def test_columns_that_come_twice(self):
        once = sp.csr_matrix(SPARSE)
        twice = sp.csr_matrix(
            (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr), shape=once.shape
        )
        assert not twice.has_canonical_format
        np.testing.assert_allclose(
            SVC(tol=1e-6).fit(twice, SPARSE_Y).decision_function(once),
            SVC(tol=1e-6).fit(once, SPARSE_Y).decision_function(twice),
            atol=1e-6,
        )

    def test_names_of_columns(self):
        frame = pd.DataFrame(X, columns=["a", "b"])
        clf = SVC().fit(frame, Y)
        assert clf.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            clf.predict(frame[["b", "a"]])

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    @pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
    def test_not_finite(self, bad, make):
        Z = X.copy()
        Z[7, 1] = bad
        refuses("row 7, column 1", "Impute", X=make(Z))
        with pytest.raises(ValueError, match="row 7, column 1"):
            SVC().fit(X, Y).predict(make(Z))

    def test_too_many_columns(self):
        wide = sp.csr_matrix((np.ones(4), [0, 1, 2**31 + 5, 3], [0, 1, 2, 3, 4]), shape=(4, 2**31 + 10))
        refuses("columns", "2147483647", X=wide, y=[0, 1, 0, 1])

    def test_numbers_that_overflow(self):
        refuses("row 0", "not finite", X=X * 1e150, kernel="poly", gamma=1.0, degree=3)
        refuses("values so large", X=X * 1e170, kernel="linear")
        clf = SVC(kernel="poly", gamma=1.0).fit(X, Y)
        with pytest.raises(ValueError, match="so large in row 0"):
            clf.predict(X * 1e150)


class TestErrors:
    def test_labels(self):
        refuses("one class only", y=np.zeros(len(Y)))
        refuses("Unknown label type: continuous", y=X[:, 0])
        refuses("requires y", y=None)

    def test_weights(self):
        refuses("sample_weight[0]=-1.0", "not negative", weight=-np.ones(len(X)))
        refuses("zero or negative weights", class_weight={0: 0, 1: 0})
        refuses("class_weight", "not negative", class_weight={0: -1, 1: 1})

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("kernel", "gaussian"),
            ("kernel", 3),
            ("gamma", 0.0),
            ("gamma", "big"),
            ("gamma", -1),
            ("degree", -1),
            ("degree", 2.5),
            ("coef0", np.inf),
            ("cache_size", 0),
            ("C", 0),
            ("tol", -1),
            ("multi_class", "joint"),
            ("decision_function_shape", "all"),
            ("break_ties", 1),
            ("n_jobs", 0),
            ("validation_fraction", 1.0),
        ],
    )
    def test_values(self, name, value):
        refuses(f"{name}={value!r}", "must be", **{name: value})

    def test_epsilon(self):
        refuses("epsilon=-1", "must be", model=SVR, y=X[:, 0], epsilon=-1)
        refuses("quantile=1", "above 0 and below 1", model=SVR, y=X[:, 0], quantile=1)
        refuses("loss='huber'", "'epsilon_insensitive' or 'quantile'", model=SVR, y=X[:, 0], loss="huber")

    def test_solvers(self):
        refuses("'auto', 'smo'", solver="sdca")
        refuses("'auto', 'smo'", solver=SDCA())
        refuses("such as SMO()", solver=3)

    def test_combinations(self):
        refuses(
            "smo does not support early_stopping=True with a kernel",
            "use solver='sbp' or 'simba', or",
            solver="smo",
            early_stopping=True,
        )
        refuses("decision_function_shape='ovo'", "multi_class='ovo'", decision_function_shape="ovo", multi_class="ovr")
        pairs = SVC(break_ties=True, decision_function_shape="ovo").fit(X, Y)
        with pytest.raises(ValueError, match=r"break_ties must be False .* use decision_function_shape='ovr'"):
            pairs.predict(X)
        refuses("solver='adagrad': it is for partial_fit of LinearSVC", "'auto', 'smo'", solver="adagrad")
        for solver in ("sdca", "pegasos", "perceptron"):
            known = "'auto', 'smo', 'lasvm', 'sbp' or 'simba'"
            refuses(f"{solver} does not support fit_intercept=True with a kernel", known, solver=solver)
        refuses(
            "sbp does not support loss='epsilon_insensitive'",
            "'auto' or 'smo'",
            model=SVR,
            y=X[:, 0],
            solver="sbp",
        )

    @pytest.mark.parametrize("kernel", ["linear", "poly"])
    def test_features_far_from_zero(self, kernel):
        """Their kernel in single precision has no digits left for the margins."""
        random = np.random.default_rng(0)
        rows = np.column_stack([random.integers(1950, 2025, 2500), random.normal(size=(2500, 2))])
        labels = rows[:, 1] + 0.02 * (rows[:, 0] - 1990) > 0.3 * random.normal(size=2500)
        options = {"kernel": kernel, "degree": 1, "gamma": 1.0, "C": 0.1}
        clf = SVC(**options, random_state=0).fit(rows, labels)
        sign = np.where(labels, 1, -1)
        norm = (clf.dual_coef_ @ rows[clf.support_]).ravel()
        losses = np.maximum(0, 1 - sign * clf.decision_function(rows))
        assert clf.certificate_.converged
        assert norm @ norm / 2 + 0.1 * losses.sum() == pytest.approx(clf.certificate_.primal, rel=1e-4)
        if kernel == "linear":  # with an intercept it is the same problem without the mean
            near, far = (SVC(**options).fit(X + offset, Y).certificate_ for offset in (0.0, 1e8))
            assert far.converged
            assert far.primal == pytest.approx(near.primal, rel=1e-3)
            return
        refuses("values up to", "centre and scale", X=X + 1e8, **options)

    @pytest.mark.parametrize("model", [SVC(), SVC(kernel="linear"), SVR()], ids=str)
    def test_nothing_but_zeros(self, model):
        assert model.fit(np.zeros((2, 2)), [0, 1]).certificate_.converged
        assert model.fit(sp.csr_matrix((2, 2)), [0, 1]).certificate_.converged

    def test_not_fitted(self):
        for method in (SVC().predict, SVC().decision_function, SVR().predict):
            with pytest.raises(NotFittedError):
                method(X)

    @pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba"])
    def test_probabilities(self, name):
        assert not hasattr(SVC(), name)
        with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
            getattr(SVC(), name)

    def test_matrix(self):
        K = X @ X.T
        refuses("square matrix", "120 x 2", X=X, kernel="precomputed")
        refuses("Sparse precomputed", "toarray", error=TypeError, X=sp.csr_matrix(K), kernel="precomputed")
        K[3, 5] += 1
        refuses("symmetric", "K[3, 5]", "K[5, 3]", X=K, kernel="precomputed")
        clf = SVC(kernel="precomputed").fit(X @ X.T, Y)
        with pytest.raises(ValueError, match="expecting 120"):
            clf.predict(X @ X[:50].T)
        with pytest.raises(TypeError, match="Sparse precomputed"):
            clf.predict(sp.csr_matrix(X @ X.T))

    @pytest.mark.parametrize(
        ("kernel", "words"),
        [
            (lambda A, B: A, "must return numbers of shape"),
            (lambda A, B: np.full((len(A), len(B)), "1"), "must return numbers"),
            (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
            (lambda A, B: 10 + A @ [[1.0, 1.0], [0.0, 1.0]] @ B.T, "not symmetric"),
        ],
    )
    def test_functions(self, kernel, words):
        refuses(words, kernel=kernel)

    def test_errors_of_functions_are_passed_on(self):
        def kernel(A, B):
            raise KeyError("mine")

        refuses("mine", kernel=kernel, error=KeyError)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_errors_within_the_solver_too(self, n_jobs):
        def kernel(A, B):
            if len(B) > 100:
                raise KeyError("mine")
            return A @ B.T

        refuses("mine", kernel=kernel, error=KeyError, n_jobs=n_jobs, fit_intercept=False)


class TestPrecision:
    @pytest.mark.parametrize(
        ("options", "n", "precision"),
        [
            ({}, 2001, np.float32),
            ({}, 2000, np.float64),
            ({"tol": 1e-6}, 2001, np.float64),
            ({"tol": 0, "solver": "smo"}, 2001, np.float64),
            ({"tol": 0, "solver": "sbp"}, 2001, np.float32),
            ({"C": 1e3}, 2001, np.float64),
            ({"C": 30, "tol": 1e-4}, 2001, np.float64),
            ({"C": 100}, 2001, np.float32),
            ({"C": 1e3, "solver": "sbp"}, 2001, np.float32),
            ({"C": 1e9, "solver": SBP(nu=0.1)}, 2001, np.float32),
            ({"tol": 0, "solver": "pegasos", "fit_intercept": False}, 2001, np.float32),
            ({"gamma": 1e4}, 2001, np.float64),
            ({"kernel": "poly", "degree": 3, "gamma": 100.0}, 2001, np.float64),
            ({"kernel": "linear"}, 2001, np.float32),
            ({"kernel": function}, 2001, np.float64),
        ],
    )
    def test_choice(self, options, n, precision):
        Z = np.random.default_rng(0).normal(size=(n, 3))
        clf = SVC(**options)
        assert choice.make_kernel(clf._kernel_request(), clf.check_parameters(), Z, None, clf.C).precision is precision

    @pytest.mark.parametrize("C", [100.0, 1e4])
    @pytest.mark.parametrize("gamma", [0.05, 1.0])
    def test_certificates_hold_in_double_precision(self, C, gamma):
        Z, y = make_moons(2500, noise=0.25, random_state=0)
        clf = SVC(C=C, gamma=gamma, random_state=0).fit(Z, y)
        beta = np.zeros(len(y))
        beta[clf.support_] = clf.dual_coef_[0]
        f = sklearn.metrics.pairwise.rbf_kernel(Z, gamma=gamma) @ beta
        primal = beta @ f / 2 + C * np.maximum(0, 1 - (2 * y - 1) * (f + clf.intercept_[0])).sum()
        dual = np.abs(beta).sum() - beta @ f / 2
        assert clf.certificate_.primal == pytest.approx(primal, rel=1e-4)
        assert clf.certificate_.dual == pytest.approx(dual, rel=1e-4)

    @pytest.mark.parametrize("precision", [np.float32, np.float64])
    def test_matrix_is_taken_as_given(self, precision):
        K = (X @ X.T).astype(precision)
        kernel = choice.make_kernel(SVC(kernel="precomputed")._kernel_request(), SMO(), K, None)
        assert kernel.precision is precision
        assert kernel.K is K

    @pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
    @pytest.mark.parametrize("offset", [0.0, 50.0])
    def test_single(self, make, offset):
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(2100, 4))
        y = (Z[:, 0] * Z[:, 1] + 0.3 * rng.normal(size=2100) > 0).astype(int)
        clf = SVC(gamma=0.3, max_iter=20, random_state=0).fit(make(Z + offset), y)
        assert clf._fitted_kernel.precision is np.float32
        assert clf.certificate_.gap <= 1e-3
        theirs = sklearn.svm.SVC(gamma=0.3, tol=1e-5).fit(Z, y)
        beta = np.zeros(2100)
        beta[theirs.support_] = theirs.dual_coef_[0]
        optimum = np.abs(beta).sum() - beta @ kernels_of(Z, 0.3) @ beta / 2
        assert clf.certificate_.primal == pytest.approx(optimum, rel=1.1e-3)
        assert clf.certificate_.dual <= optimum * (1 + 1e-4)
        assert np.mean(clf.predict(make(Z + offset)) == theirs.predict(Z)) > 0.99

    def test_gamma(self):
        weight = np.arange(len(X)) % 3
        again = np.repeat(np.arange(len(X)), weight)
        assert choice.scale_gamma("scale", X, None) == pytest.approx(1 / (2 * X.var()))
        assert choice.scale_gamma("scale", sp.csr_matrix(X), None) == pytest.approx(1 / (2 * X.var()))
        assert choice.scale_gamma("scale", X, weight.astype(float)) == pytest.approx(1 / (2 * X[again].var()))
        assert choice.scale_gamma("scale", np.ones((5, 2)), None) == 1
        assert choice.scale_gamma("auto", X, None) == 0.5

    @pytest.mark.parametrize("cache_size", [1e-6, 0.02])
    def test_little_memory(self, cache_size):
        clf = SVC(cache_size=cache_size, tol=1e-6, solver="smo", max_iter=500).fit(IRIS, SPECIES == 1)
        expected = SVC(tol=1e-6).fit(IRIS, SPECIES == 1)
        np.testing.assert_allclose(clf.decision_function(IRIS), expected.decision_function(IRIS), atol=1e-2)

    def test_decisions_in_blocks(self, monkeypatch):
        whole = SVC().fit(IRIS, SPECIES)
        expected = whole.decision_function(IRIS), whole.decision_function(sp.csr_matrix(IRIS))
        monkeypatch.setattr(layout, "ENTRIES", 1)
        many = np.tile(IRIS, (4, 1))
        np.testing.assert_allclose(whole.decision_function(many), np.tile(expected[0], (4, 1)), atol=1e-12)
        np.testing.assert_allclose(
            whole.decision_function(sp.csr_matrix(many)), np.tile(expected[1], (4, 1)), atol=1e-12
        )


def kernels_of(Z, gamma):
    squares = (Z**2).sum(axis=1)
    return np.exp(-gamma * (squares[:, None] + squares - 2 * Z @ Z.T))


class TestUse:
    @pytest.mark.parametrize("model", [SVC(kernel=function, solver=SMO(block=64), max_iter=50), SVR(epsilon=0.3)])
    def test_clone_and_pickle(self, model):
        twin = clone(model)
        assert repr(twin) == repr(model)
        fitted = twin.fit(X, Y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        assert again.certificate_ == fitted.certificate_

    def test_grid_search(self):
        pipeline = make_pipeline(StandardScaler(), SVC(solver=SMO(), max_iter=20))
        grid = {"svc__C": [0.1, 10.0], "svc__solver__block": [64]}
        found = GridSearchCV(pipeline, grid, cv=3).fit(IRIS, SPECIES)
        assert found.best_score_ > 0.9

    def test_cross_validation_of_a_matrix(self):
        scores = cross_val_score(SVC(kernel="precomputed"), kernels_of(IRIS, 0.3), SPECIES, cv=3)
        np.testing.assert_allclose(scores, cross_val_score(SVC(gamma=0.3), IRIS, SPECIES, cv=3))

    def test_calibration(self):
        clf = CalibratedClassifierCV(SVC(), cv=3).fit(IRIS, SPECIES)
        np.testing.assert_allclose(clf.predict_proba(IRIS).sum(axis=1), 1)

    def test_same_seed_same_result(self):
        options = {"solver": SMO(working_set=16, block=8), "max_iter": 50}
        one, two = (SVC(random_state=3, **options).fit(X, Y) for _ in range(2))
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)

    def test_reports(self, capfd):
        SVC(verbose=1).fit(IRIS, SPECIES)
        assert "3 of 3, " in capfd.readouterr().err.splitlines()[-1]


def test_strings_of_numpy():
    """As parameter searches draw them from arrays."""
    clf = SVC(kernel=np.str_("rbf"), gamma=np.str_("scale"), solver=np.str_("smo")).fit(X, Y)
    np.testing.assert_array_equal(clf.predict(X), SVC(solver="smo").fit(X, Y).predict(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_targets_that_overflow(fit_intercept):
    """There is no point whose primal value is a number."""
    y = np.where(np.arange(9) % 2, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match="the numbers overflowed"):
        SVR(C=1000.0, fit_intercept=fit_intercept, random_state=0).fit(np.arange(9.0)[:, None], y)


@pytest.mark.parametrize("solver", sorted(KERNEL_SOLVERS))
@pytest.mark.parametrize("kernel", ["sigmoid", "precomputed"])
def test_slopes_that_overflow(solver, kernel):
    # Of an indefinite kernel coefficients go to their bounds, and with these the slopes to infinity.
    X = np.random.default_rng(0).normal(size=(300, 300 if kernel == "precomputed" else 5))
    K = X + X.T if kernel == "precomputed" else X
    clf = SVC(solver=solver, kernel=kernel, C=1e308, max_iter=50, random_state=0)
    if not KERNEL_SOLVERS[solver].supports[KernelProblem].intercepts:
        clf.set_params(fit_intercept=False)
    told = "no word"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            assert clf.fit(K, np.arange(300) % 2).certificate_.gap == np.inf
            told = str(caught[0].message)
        except ValueError as error:
            told = str(error)
    assert "the numbers overflowed" in told or "positive semi-definite" in told


def test_an_allowance_that_overflows_leaves_no_lower_bound():
    """And no word of NumPy's about it, nor one that the bounds contradict each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        reg = SVR(kernel="poly", degree=0, coef0=-1, C=1e-5)
        reg.fit(np.arange(4.0)[:, None], [1.0, 2, 3, 5], sample_weight=[1e299, 1e170, 1, 1])
    found = reg.certificate_
    assert found.dual == reg.history_["dual"][-1] == -np.inf
    assert found.reason != "inconsistent"
    assert not found.converged
    assert not np.isnan(reg.history_["dual"]).any()
