"""Predictions read X in place, in whatever order, precision and index type, and look at every entry meanwhile."""

import ctypes
import mmap
import sys
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import LinearSVC, LinearSVR, path
from pegasos._core import native
from pegasos.base.scores import is_plain, score_rows, worth_threads


def strided(X):
    """The same numbers with others between them."""
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def wide_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


KINDS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "csr_matrix": sp.csr_matrix,
    "int64": wide_indices,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_out", [1, 2, 8, 10, 35])
def test_scores_are_those_of_numpy(kind, dtype, order, n_out):
    random = np.random.default_rng(n_out)
    for n in (1, 2, 5, 48, 131):
        for d in (1, 7, 40, 400):
            X = np.where(random.random((n, d)) < 0.5, random.normal(size=(n, d)), 0).astype(dtype)
            coef = np.asarray(random.normal(size=(n_out, d)), order=order)
            intercept = random.normal(size=n_out)
            expected = X.astype(np.float64) @ coef.T + intercept
            scores = score_rows(KINDS[kind](X), coef, intercept)
            assert scores.dtype == np.float64
            np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12 * d)
            numbers = score_rows(KINDS[kind](X), coef, intercept, numbers=True)
            np.testing.assert_array_equal(numbers, scores.argmax(axis=1) if n_out > 1 else scores[:, 0] > 0)


@pytest.mark.skipif(sys.platform != "linux", reason="protects memory as Linux does")
@pytest.mark.parametrize("n_out", range(2, 26))
def test_nothing_is_read_behind_the_weights(n_out):
    """They end where memory does that must not be read."""
    d, page = 9, mmap.PAGESIZE
    memory = mmap.mmap(-1, 4 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    system = ctypes.CDLL(None, use_errno=True)
    assert system.mprotect(ctypes.c_void_p(start + 3 * page), page, 0) == 0
    coef = np.frombuffer(memory, np.float64, d * n_out, 3 * page - 8 * d * n_out).reshape(d, n_out).T
    coef[:] = np.random.default_rng(0).normal(size=(n_out, d))
    for X in (np.eye(d), sp.csr_matrix(np.eye(d)), np.ones((100, d)), sp.csr_matrix(np.ones((100, d)))):
        np.testing.assert_allclose(score_rows(X, coef, np.zeros(n_out)), X @ coef.T, rtol=1e-12)
    assert system.mprotect(ctypes.c_void_p(start + 3 * page), page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_out", range(1, 26))
def test_tiles_of_every_width_and_height(n_out, dtype):
    """Rows and features that fill no tile, scores that fill one tile or several."""
    random = np.random.default_rng(n_out)
    for n, d in ((48, 8), (49, 3), (53, 17), (63, 1), (97, 29), (150, 64)):
        X = random.integers(-9, 10, size=(n, d)).astype(dtype)
        coef, intercept = random.integers(-9, 10, size=(n_out, d)) / 8, random.integers(-9, 10, size=n_out) / 8
        expected = X.astype(np.float64) @ coef.T + intercept  # without rounding
        expected_numbers = expected.argmax(axis=1) if n_out > 1 else expected[:, 0] > 0
        for kind in KINDS.values():
            np.testing.assert_array_equal(score_rows(kind(X), coef, intercept), expected)
            np.testing.assert_array_equal(score_rows(kind(X), coef, intercept, numbers=True), expected_numbers)


@pytest.mark.parametrize("kind", ["rows", "columns", "strided"])
@pytest.mark.parametrize("n_out", [1, 3, 13])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_that_are_not_finite_are_found_wherever_they_are(kind, n_out, dtype):
    random = np.random.default_rng(0)
    coef = random.normal(size=(n_out, 19))
    for row in (0, 7, 8, 47, 48, 95, 96, 98):
        for column in (0, 2, 3, 10, 11, 18):
            for value in (np.nan, np.inf, -np.inf):
                X = random.normal(size=(99, 19)).astype(dtype)
                X[row, column] = value
                with pytest.raises(ValueError, match=f": row {row}, column {column}"):
                    score_rows(KINDS[kind](X), coef, 0.0, numbers=bool(row % 2))


def test_single_precision_is_summed_in_double():
    X = np.full((64, 9), 1e-9, dtype=np.float32)
    X[:, 0] = 1
    scores = score_rows(X, np.ones((3, 9)), 0.0)
    np.testing.assert_allclose(scores - 1, 8e-9, rtol=1e-6)


@pytest.mark.parametrize("n_out", [1, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_threads_change_nothing(kind, n_out):
    random = np.random.default_rng(0)
    X, coef = KINDS[kind](random.normal(size=(301, 30))), random.normal(size=(n_out, 30))

    def scores(n_jobs):
        if sp.issparse(X):
            return native.csr_scores(X.data, X.indices, X.indptr, 30, coef, np.zeros(n_out), False, n_jobs)[0]
        return native.dense_scores(X, coef, np.zeros(n_out), False, n_jobs)[0]

    alone = scores(1)
    for n_jobs in (2, 3, 7):
        np.testing.assert_array_equal(scores(n_jobs), alone)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_out", [1, 10])
def test_the_first_entry_that_is_not_finite_is_named(kind, value, n_out):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 20))
    X[71, 3] = X[150, 2] = value
    coef = random.normal(size=(n_out, 20))
    coef[:, 3] = 0  # which would hide it from a sum that leaves out zeros
    name = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"contains {name}: row 71, column 3"):
        score_rows(KINDS[kind](X), coef, 0.0)


def test_sums_that_overflow_are_told():
    X = np.ones((3, 2))
    X[1] = 1e300
    with pytest.raises(ValueError, match="values so large in row 1"):
        score_rows(X, np.full((1, 2), 1e200), 0.0)


@pytest.mark.parametrize("n_out", [1, 10])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_broken_matrix_is_refused(index, n_out):
    random = np.random.default_rng(0)
    coef = random.normal(size=(n_out, 50))

    def broken(change):
        X = sp.random(100, 50, 0.2, format="csr", random_state=0)
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
        change(X)
        return X

    def column(X, value):
        X.indices[X.indptr[60]] = value

    def start(X, value):
        X.indptr[60] = value

    for change in (
        lambda X: column(X, 50),
        lambda X: column(X, -1),
        lambda X: column(X, np.iinfo(index).max),
        lambda X: start(X, -5),
        lambda X: start(X, X.nnz + 1),
        lambda X: start(X, X.indptr[62]),
    ):
        with pytest.raises(ValueError, match=r"broken CSR matrix: row (59|60)"):
            score_rows(broken(change), coef, 0.0)


def test_what_is_plain():
    X = np.zeros((2, 3))
    assert is_plain(X, 3)
    assert is_plain(np.asfortranarray(X, dtype=np.float32), 3)
    assert is_plain(sp.csr_matrix(X), 3)
    assert is_plain(sp.csr_array(X), 3)
    others = [X[:0], X[0], X.astype(int), X.astype(">f8"), X.tolist(), sp.csc_matrix(X), X.astype(object)]
    assert not any(is_plain(other, 3) for other in others)
    assert not is_plain(X, 2)


def test_arrays_that_are_not_aligned():
    raw = np.zeros(8 * 12 + 1, dtype=np.uint8)
    X = raw[1:].view(np.float64).reshape(4, 3)
    X[:] = np.arange(12).reshape(4, 3)
    assert not X.flags.aligned
    np.testing.assert_array_equal(score_rows(X, np.ones((1, 3)), 0.0)[:, 0], X.sum(axis=1))


def test_few_rows_take_one_thread():
    assert worth_threads(4, 1000) == 1
    assert worth_threads(4, 1e9) == 4
    assert worth_threads(None, 1e9) >= 1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_numbers_that_users_set(n_classes):
    """As scikit-learn's estimators allow: other weights, of other types."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    clf = LinearSVC(random_state=0).fit(X, np.arange(60) % n_classes)
    before = clf.decision_function(X)
    clf.coef_ = clf.coef_.astype(np.float32).astype(np.float64) * 2
    clf.intercept_ = np.asarray(clf.intercept_ * 2, dtype=np.float32)
    np.testing.assert_allclose(clf.decision_function(X), 2 * before, atol=1e-5)
    clf.coef_ *= 0
    clf.intercept_ = 1.5
    assert (clf.decision_function(X) == 1.5).all()


def test_predict_follows_a_subclass():
    class Shifted(LinearSVC):
        def decision_function(self, X):
            return super().decision_function(X) - 1e6

    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    assert (Shifted(random_state=0).fit(X, y).predict(X) == 0).all()


def test_names_of_columns_are_still_missed():
    pandas = pytest.importorskip("pandas")
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    clf = LinearSVC(random_state=0).fit(pandas.DataFrame(X, columns=["a", "b"]), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        clf.predict(X)


def test_decisions_of_a_path_take_any_matrix():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = path(X, y, Cs=3, tol=0.1)
    expected = X @ found.coefs.T + found.intercepts
    for other in (X, np.asfortranarray(X), sp.csc_matrix(X), sp.csr_array(X)):
        np.testing.assert_allclose(found.decision_function(other), expected, atol=1e-12)
    assert found.decision_function((100 * X).astype(int)).shape == (40, 3)
    assert found.decision_function(X[:0]).shape == (0, 3)


@pytest.mark.parametrize("make", [LinearSVC, LinearSVR])
def test_another_thread_may_fit_meanwhile(make):
    """What is predicted is of the old model or of the new one: weights and intercept belong together."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.arange(50) % 2
    one, two = (vars(make(random_state=0).fit(X + shift, y)) for shift in (0, 5))
    known = [make() for _ in range(2)]
    for model, held in zip(known, (one, two), strict=True):
        model.__dict__ = held
    expected = [model.predict(X) for model in known]
    shared, stop = make(), threading.Event()
    shared.__dict__ = one

    def change():
        while not stop.is_set():
            shared.__dict__ = two  # as a fit does at its end
            shared.__dict__ = one

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(1000):
            found = shared.predict(X)
            assert any(np.array_equal(found, one) for one in expected)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("n_rows", [5, 300])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_have_the_same_bits_in_any_layout(n_rows, n_classes):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 100)), random.integers(n_classes, size=300)
    clf = LinearSVC(random_state=0, tol=0.5).fit(X, y)
    given, wide = X[:n_rows], np.zeros((n_rows, 200))
    wide[:, ::2] = given
    for other in (np.asfortranarray(given), wide[:, ::2]):
        np.testing.assert_array_equal(clf.decision_function(other), clf.decision_function(given))
