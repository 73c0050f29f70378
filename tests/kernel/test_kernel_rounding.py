"""Kernel machines: values that do not depend on blocks, their errors, certificates on data far from zero."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import make_run
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, SVR, io
from pegasos._core import native
from pegasos.base.bounds import Bounds
from pegasos.base.outcome import Solution, UsedSolvers
from pegasos.base.validation import near_middle
from pegasos.kernel import choice, definiteness, kernels, layout

RANDOM = np.random.default_rng(0)
KERNELS = {
    "rbf": native.Kernel("rbf", 0.02, 0.0, 3),
    "linear": native.Kernel("linear", 1.0, 0.0, 3),
    "poly": native.Kernel("poly", 0.02, 0.5, 3),
    "high": native.Kernel("poly", 5e-5, 1.0, 203),
    "sigmoid": native.Kernel("sigmoid", 0.01, 0.1, 3),
    "differences": native.Kernel("rbf", 0.02, 0.0, 3, True),
}


def make_points(kind, precision, n=300):
    """Dense rows of few or many features, sparse ones, bytes, whole numbers."""
    if kind == "dense":
        X = RANDOM.normal(size=(n, 30))
    elif kind == "wide":
        X = RANDOM.normal(size=(n, 333))
    elif kind == "bytes":
        X = RANDOM.integers(0, 256, size=(n, 50)) / 255 * (RANDOM.random((n, 50)) < 0.5)
    elif kind == "whole":
        X = RANDOM.integers(0, 3, size=(n, 40)).astype(float)
    else:
        X = RANDOM.normal(size=(n, 1500)) * (RANDOM.random((n, 1500)) < (0.3 if kind == "long rows" else 0.02))
        return sp.csr_array(X.astype(precision))
    return X.astype(precision)


def exact_matrix(X, name):
    """The kernel in long double."""
    X = (X.toarray() if sp.issparse(X) else X).astype(np.longdouble)
    if name in ("rbf", "differences"):
        return np.exp(-np.longdouble(0.02) * np.array([((X - x) ** 2).sum(axis=1) for x in X]))
    products = X @ X.T
    if name == "linear":
        return products
    if name == "poly":
        return (np.longdouble(0.02) * products + np.longdouble(0.5)) ** 3
    if name == "high":
        return (np.longdouble(5e-5) * products + 1) ** 203
    return np.tanh(np.longdouble(0.01) * products + np.longdouble(0.1))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "wide", "bytes", "whole", "sparse", "long rows"])
@pytest.mark.parametrize("name", KERNELS)
class TestValues:
    def make(self, name, kind, precision):
        X = make_points(kind, precision)
        if name == "differences" and sp.issparse(X):
            pytest.skip("differences are those of dense examples")
        return X, native.point_source(kernels._points(X), KERNELS[name], make_run())

    def test_the_same_bits_in_any_block(self, name, kind, precision):
        X, source = self.make(name, kind, precision)
        n, run = X.shape[0], make_run()
        rows = np.arange(n, dtype=np.uint32)
        whole = source.rows(rows, None, run).reshape(n, n)
        np.testing.assert_array_equal(whole, whole.T)
        for few in (1, 5, 16, 17, 70, 130):
            some = RANDOM.permutation(n)[:few].astype(np.uint32)
            columns = RANDOM.permutation(n)[: few + 3].astype(np.uint32)
            np.testing.assert_array_equal(source.rows(some, None, run).reshape(few, n), whole[some])
            part = source.rows(some, columns, make_run(n_jobs=2)).reshape(few, few + 3)
            np.testing.assert_array_equal(part, whole[np.ix_(some, columns)])

    def test_errors_are_within_their_bound(self, name, kind, precision):
        X, source = self.make(name, kind, precision)
        n = X.shape[0]
        found = source.rows(np.arange(n, dtype=np.uint32), None, make_run()).reshape(n, n)
        error = np.abs(found - exact_matrix(X, name)).max()
        assert error <= source.error
        if name != "differences" and error > 0:  # whose bound holds for pairs that are nearer than these
            assert source.error <= 1e3 * float(error)  # and not by far


def values_of(X, kernel):
    source = native.point_source(kernels._points(X), kernel, make_run())
    n = X.shape[0]
    return source.rows(np.arange(n, dtype=np.uint32), None, make_run()).reshape(n, n), source.error


@pytest.mark.parametrize("precision", [np.float32, np.float64])
class TestPowers:
    def test_bits_of_low_ones(self, precision):
        X = RANDOM.integers(-3, 4, size=(40, 5)).astype(precision)
        b = X @ X.T + precision(0.3)  # a single rounding, fused or not
        for degree, expected in enumerate([np.ones_like(b), b, b * b, b * b * b, (b * b) * (b * b)]):
            np.testing.assert_array_equal(values_of(X, native.Kernel("poly", 1.0, 0.3, degree))[0], expected)

    @pytest.mark.parametrize("coef0", [0.0, 0.4, 0.9, 1.0])
    @pytest.mark.parametrize("degree", [0, 1, 2, 5, 31, 64, 1000, 65535, 2**31 - 1])
    def test_errors_are_within_their_bound(self, precision, degree, coef0):
        """Of powers that stay near 1, and of some that underflow; the highest one would take days, factor by factor."""
        X = RANDOM.normal(size=(40, 5)).astype(precision)
        gamma = 1 / max(degree, 1)
        found, bound = values_of(X, native.Kernel("poly", gamma, coef0, degree))
        wide = X.astype(np.longdouble)
        exact = (np.longdouble(gamma) * (wide @ wide.T) + np.longdouble(coef0)) ** degree
        error = np.abs(found - exact).max()
        assert error <= bound
        if error > 1e-30 and degree * np.finfo(precision).eps < 0.01:
            assert bound <= 1e3 * float(error)


class TestJudge:
    @pytest.mark.parametrize("name", ["rbf", "linear", "poly", "high", "differences"])
    @pytest.mark.parametrize("compensated", [False, True])
    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("filled", [0.1, 1.0])  # dense examples that are mostly zeros are copied as sparse ones
    def test_bounds_are_those_of_long_double(self, name, compensated, sparse, filled):
        if (compensated and name in ("rbf", "differences")) or (sparse and name == "differences"):
            pytest.skip("not for this kernel")
        X = make_points("dense", np.float64, 120) + 3
        X *= RANDOM.random(X.shape) < filled
        y = np.where(RANDOM.random(120) < 0.5, -1.0, 1.0)
        K = exact_matrix(X, name)
        beta = np.where(RANDOM.random(120) < 0.4, y * np.round(RANDOM.random(120), 3), 0.0)
        points = kernels._points(sp.csr_array(X) if sparse else X)
        sums = native.point_sums(points, KERNELS[name], None, compensated)
        source = native.point_source(points, KERNELS[name], make_run())
        bound = np.full(120, 2.0)
        problem = native.KernelProblem(
            source,
            np.arange(120, dtype=np.uint32),
            y,
            np.where(y < 0, -bound, 0.0),
            np.where(y > 0, bound, 0.0),
            False,
        )
        f = (K @ beta).astype(float)
        found = native.judge(sums, problem, make_run(n_jobs=2), beta, f + 0.01, 0.02, None, False)
        exact = K @ beta
        norm = beta @ exact
        primal = norm / 2 + 2 * np.maximum(0, 1 - y * exact).sum()
        dual = y @ beta - norm / 2
        bounds = found.bounds
        assert bounds.dual <= dual
        assert primal <= bounds.primal
        assert bounds.primal - primal <= 2 * bounds.above
        assert dual - bounds.dual <= 2 * bounds.below
        assert bounds.above < 1e-8 * bounds.primal


def far_groups(distance):
    Z = RANDOM.normal(size=(60, 3))
    return Z, Z + np.where(np.arange(60) % 2, distance, -distance)[:, None], np.where(Z[:, 0] > 0, 1, 0)


class TestFarFromZero:
    @pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
    @pytest.mark.parametrize("offset", [1e3, 1e8])
    def test_distances_do_not_change(self, make, offset):
        Z = RANDOM.integers(-1000, 1000, size=(80, 4)) / 1024  # exact beside the offset too
        Z = np.round(Z * 16) / 16
        y = Z[:, 0] + Z[:, 1] > 0
        near, far = (SVC(gamma=0.7, tol=1e-10).fit(make(Z + b), y) for b in (0.0, offset))
        assert far.certificate_.converged
        assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-9)
        np.testing.assert_allclose(far.decision_function(make(Z + offset)), near.decision_function(make(Z)), atol=1e-7)

    def test_some_columns_of_sparse_data(self):
        """Those that are mostly not zero are centred, and the others stay sparse."""
        rest = sp.random(300, 50, 0.05, random_state=0, format="csr")
        dates = RANDOM.integers(0, 100, size=(300, 2)) / 64
        y = dates[:, 0] > dates[:, 1]
        near = SVC(gamma=1.0, tol=1e-8).fit(sp.hstack([rest[:, :20], dates, rest[:, 20:]], format="csr"), y)
        X = sp.hstack([rest[:, :20], dates + 1e6, rest[:, 20:]], format="csr")
        far = SVC(gamma=1.0, tol=1e-8).fit(X, y)
        assert far._fitted_kernel.layout.filled.sum() == 2
        assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=1e-6)
        np.testing.assert_allclose(far.decision_function(X), far.decision_function(X.toarray()), atol=1e-9)

    def test_groups_far_apart(self):
        _, X, y = far_groups(1e8)
        clf = SVC(gamma=1.0).fit(X, y)
        assert clf._fitted_kernel.differences
        assert clf.certificate_.converged
        assert clf.certificate_.rounding < 1e-9
        assert clf.score(X, y) > 0.9

    @pytest.mark.filterwarnings("ignore:scale=True divides")
    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    def test_models_are_read_as_they_were(self, tmp_path, kernel):
        _, X, y = far_groups(1e8)
        if kernel == "linear":
            X = X[:, :2] - X[:, :1] + 1e5
        for data in (X, sp.csr_matrix(X)):
            clf = SVC(kernel=kernel, gamma=1.0, scale=True if kernel == "linear" else None).fit(data, y)
            io.save_model(clf, tmp_path / "model")
            again = io.load_model(tmp_path / "model")
            np.testing.assert_array_equal(again.decision_function(data), clf.decision_function(data))
            assert again.certificate_ == clf.certificate_

    def test_a_linear_kernel_has_weights_without_the_mean(self):
        Z = RANDOM.normal(size=(100, 3))
        y = Z[:, 0] > 0.1
        clf = SVC(kernel="linear", tol=1e-8).fit(Z + 1e6, y)
        assert math.fsum(clf.dual_coef_[0]) == 0
        decisions = (Z + 1e6) @ clf.coef_[0] + clf.intercept_[0]
        np.testing.assert_allclose(clf.decision_function(Z + 1e6), decisions, atol=1e-7)
        np.testing.assert_allclose(clf.coef_, SVC(kernel="linear", tol=1e-8).fit(Z, y).coef_, atol=1e-4)


class TestScale:
    @pytest.mark.parametrize("make", [np.array, sp.csr_matrix])
    @pytest.mark.parametrize("model", [SVC, SVR])
    def test_units_do_not_count(self, model, make):
        Z = RANDOM.normal(size=(150, 4))
        y = np.where(Z[:, 0] * Z[:, 1] > 0, 1, 0) if model is SVC else np.sin(Z[:, 0])
        units = np.array([1.0, 1e-6, 1e5, 3.0])
        one, other = (model(scale=True, tol=1e-10).fit(make(Z * unit), y) for unit in (1.0, units))
        assert one.certificate_.scaled
        assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-9)
        np.testing.assert_allclose(other.scale_, one.scale_ * units)
        np.testing.assert_allclose(other.predict(make(Z * units)), one.predict(make(Z)), atol=1e-6)

    def test_weights_are_those_of_the_columns_as_given(self):
        Z = RANDOM.normal(size=(80, 3)) * [1.0, 1e3, 1e-3]
        clf = SVC(kernel="linear", scale=True).fit(Z, Z[:, 0] > 0)
        np.testing.assert_allclose(clf.decision_function(Z), Z @ clf.coef_[0] + clf.intercept_[0], atol=1e-9)


class TestGamma:
    @pytest.mark.parametrize("precision", [np.float32, np.float64])
    @pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
    def test_sparse_is_dense(self, precision, offset):
        X = (RANDOM.normal(size=(200, 5)) * (RANDOM.random((200, 5)) < 0.7) + offset).astype(precision)
        weight = RANDOM.integers(1, 4, size=200).astype(float)
        for s in (None, weight):
            dense = choice.scale_gamma("scale", X, s)
            assert choice.scale_gamma("scale", sp.csr_matrix(X), s) == pytest.approx(dense, rel=1e-12)
            again = X.astype(float) if s is None else np.repeat(X.astype(float), s.astype(int), axis=0)
            assert dense == pytest.approx(1 / (5 * again.var()), rel=1e-9)


class TestTargets:
    @pytest.mark.parametrize(("offset", "tol"), [(1e6, 1e-3), (-1e12, 0.01)])
    def test_far_from_zero(self, offset, tol):
        """An intercept of 1e12 has no more than three digits behind the point."""
        X = RANDOM.normal(size=(100, 2))
        y = np.round(np.sin(X[:, 0]) * 1024) / 1024
        near, far = SVR(C=10).fit(X, y), SVR(C=10, tol=tol).fit(X, y + offset)
        assert far.certificate_.dual <= near.certificate_.primal
        assert far.certificate_.primal >= near.certificate_.dual
        assert far.intercept_[0] == pytest.approx(near.intercept_[0] + offset, rel=1e-9)
        assert far.certificate_.converged

    def test_an_intercept_that_cannot_be_stored(self):
        X = RANDOM.normal(size=(100, 2))
        with pytest.warns(ConvergenceWarning, match="double precision allows no more progress"):
            reg = SVR(C=10, tol=1e-6).fit(X, np.round(np.sin(X[:, 0]) * 1024) / 1024 + 1e12)
        assert reg.certificate_.reason == "precision"

    def test_what_is_taken_off_has_few_digits(self):
        y = 1.6e12 + RANDOM.normal(size=50) * 1000
        shift = near_middle(y)
        assert abs(np.median(y) - shift) < 2000
        np.testing.assert_array_equal((y - shift) + shift, y)


class TestNoSupportVectors:
    """Responses are zero then, whatever the kernel, so that nothing rounds but targets less epsilon."""

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
    @pytest.mark.parametrize("solver", ["smo", "lasvm"])
    def test_one_class_without_weight(self, kernel, solver):
        X = RANDOM.normal(size=(30, 3))
        y = np.arange(30) % 2
        clf = SVC(kernel=kernel, solver=solver).fit(X @ X.T if kernel == "precomputed" else X, y, y.astype(float))
        found = clf.certificate_
        assert len(clf.support_) == 0
        assert (found.primal, found.gap, found.reason) == (0.0, 0.0, "tol")
        if kernel != "precomputed":  # whose eigenvalues rounding may have put below zero
            assert (found.dual, found.rounding) == (0.0, 0.0)


class TestIndefinite:
    def test_eigenvalues_that_rounding_put_below_zero(self):
        X = RANDOM.normal(size=(80, 2))
        y = np.where(X[:, 0] > 0, 1, 0)
        K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
        plain = SVC(kernel="precomputed", tol=1e-4).fit(K, y).certificate_
        lower = K - 1e-7 * np.eye(80)
        assert np.linalg.eigvalsh(lower)[0] < 0
        found = SVC(kernel="precomputed", tol=1e-4).fit(lower, y).certificate_
        assert found.converged
        assert found.rounding > plain.rounding
        assert not found.assumed

    def test_more_rows_than_are_looked_at(self, monkeypatch):
        monkeypatch.setattr(definiteness, "SMALL", 50)
        monkeypatch.setattr(definiteness, "SAMPLE", 40)
        X = RANDOM.normal(size=(80, 2))
        K = X @ X.T
        found = SVC(kernel="precomputed").fit(K, X[:, 0] > 0).certificate_
        assert found.assumed == "the kernel is positive semi-definite"
        assert found.assumed in str(found)
        assert SVC(kernel="linear").fit(X, X[:, 0] > 0).certificate_.assumed == ""

    def test_limits_of_matrices_and_functions(self):
        X = RANDOM.normal(size=(20, 2))
        y = X[:, 0] > 0
        with pytest.raises(ValueError, match="values up to"):
            SVC(kernel="precomputed").fit(1e14 * (X @ X.T), y)
        with pytest.raises(ValueError, match="values up to"):
            SVC(kernel=lambda A, B: 1e14 * (A @ B.T)).fit(X, y)


def test_bounds_that_contradict_each_other_are_told():
    found = Solution(None, Bounds(1.0, 1.1, above=0.01), 1.0, 0.0, "tol", [], UsedSolvers(("a solver",)))
    certificate = found.certificate(1e-3)
    assert (certificate.dual, certificate.converged, certificate.reason) == (-math.inf, False, "inconsistent")
    assert certificate.gap == math.inf


def test_layout_of_an_array_and_of_a_matrix():
    X = np.array([[1e6, 0.0, 1.0], [1e6 + 1, 2.0, 0.0], [1e6 + 2, 0.0, 0.0], [1e6 + 3, 0.0, 0.0]])
    dense, largest = layout.centre(X, 1e12, 0.5)
    assert dense.filled is None
    assert largest < 10
    sparse, _ = layout.centre(sp.csr_array(X), 1e12, 0.5)
    assert sparse.filled.tolist() == [True, False, False]
    moved = sparse.convert(sparse.arrange(sp.csr_array(X)), np.float32).toarray()
    np.testing.assert_allclose(((moved[0] - moved[1]) ** 2).sum(), ((X[0] - X[1]) ** 2).sum())


class TestOptions:
    def test_a_time_limit_for_all_runs_of_a_problem(self):
        """A fit that goes on with a finer matrix has the time that is left."""
        Z = RANDOM.normal(size=(200, 6))
        y = Z[:, 0] + RANDOM.normal(size=200) > 0
        clf = SVC(C=1e3, tol=1e-9, max_time=60)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            clf.fit(Z, y)
        assert clf.certificate_.reason in ("tol", "precision")

    def test_scale_is_for_examples(self):
        with pytest.raises(ValueError, match="scale=True divides the columns of X"):
            SVC(kernel="precomputed", scale=True).fit(np.eye(4), [0, 0, 1, 1])

    def test_functions_are_given_double_precision(self):
        Z = RANDOM.normal(size=(100, 4)).astype(np.float32)
        seen = set()

        def kernel(A, B):
            seen.update((A.dtype, B.dtype))
            return A @ B.T + 1

        clf = SVC(kernel=kernel).fit(Z, Z[:, 0] > 0)
        clf.predict(Z)
        assert seen == {np.dtype(np.float64)}
        assert clf.certificate_.converged

    def test_gamma_as_it_was_fitted(self):
        Z = RANDOM.normal(size=(50, 2))
        clf = SVC().fit(Z, Z[:, 0] > 0)
        assert clf.gamma_ == pytest.approx(1 / (2 * Z.var()))
        assert not hasattr(SVC(kernel="precomputed").fit(Z @ Z.T, Z[:, 0] > 0), "gamma_")
