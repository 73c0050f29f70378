"""Decisions of machines with a kernel: a row alone, few or many, and what is kept between predictions."""

import copy
import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import SVC, SVR
from pegasos._core import native
from pegasos.kernel.kernels import Kept

X = np.random.default_rng(0).normal(size=(240, 7)) + 0.5
Y = np.random.default_rng(1).integers(4, size=240) * (X[:, 0] > 0) + (X[:, 1] > 0)
NEW = np.random.default_rng(2).normal(size=(400, 7))


def linear_products(A, B):
    return A @ B.T


MODELS = {
    "rbf": SVC(),
    "linear": SVC(kernel="linear", C=0.1),
    "poly": SVC(kernel="poly", coef0=1.0),
    "against the rest": SVC(multi_class="ovr"),
    "function": SVC(kernel=linear_products, C=0.1),
    "scaled": SVC(scale=True),
    "regression": SVR(),
}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", MODELS)
def test_rows_alone_few_and_many(name, dtype, sparse):
    """Whichever are fewer, the rows or the support vectors, are in the table."""
    as_given = (lambda Z: sp.csr_array(Z.astype(dtype))) if sparse else (lambda Z: Z.astype(dtype))
    model = copy.deepcopy(MODELS[name]).set_params(tol=0.1).fit(as_given(X), Y)
    decide = model.predict if name == "regression" else model.decision_function
    whole = decide(as_given(NEW))
    assert 17 < len(model.support_) < len(NEW)
    few = np.concatenate([decide(as_given(NEW[k : k + 17])) for k in range(0, len(NEW), 17)])
    alone = np.concatenate([decide(as_given(NEW[k : k + 1])) for k in range(50)])
    scale = np.abs(whole).max()
    np.testing.assert_allclose(few, whole, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(alone, whole[:50], rtol=0, atol=1e-12 * scale)
    assert whole.dtype == np.float64


def test_decisions_are_sums_over_the_support_vectors():
    clf = SVC(gamma=0.1, tol=1e-3).fit(X, Y > 0)
    distances = ((NEW[:, None] - clf.support_vectors_) ** 2).sum(axis=2)
    expected = np.exp(-0.1 * distances) @ clf.dual_coef_[0] + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(NEW), expected, atol=1e-9)
    np.testing.assert_allclose(clf.decision_function(NEW[:1]), expected[:1], atol=1e-9)


@pytest.mark.parametrize("n", [1, 5, 100, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_nothing(n, dtype):
    random = np.random.default_rng(n)
    vectors, rows = random.normal(size=(2000, 9)).astype(dtype), random.normal(size=(n, 9)).astype(dtype)
    coef = random.normal(size=(3, 2000))
    core = native.Kernel("rbf", 0.1, 0.0, 3)
    support = native.support_vectors(core, native.dense_points(vectors), native.Run())
    ends = [100, 100, 1700, 2000]  # one of the groups is empty

    def decisions(n_jobs):
        return support.decisions(coef, np.array(ends, np.uint64), native.dense_points(rows), native.Run(n_jobs=n_jobs))

    def decisions_of(rows):
        return support.decisions(coef, np.array(ends, np.uint64), native.dense_points(rows), native.Run(n_jobs=1))

    alone = decisions(1)
    many = np.concatenate([rows, random.normal(size=(2000, 9)).astype(dtype)])  # more than there are support vectors
    np.testing.assert_allclose(decisions_of(many)[: len(alone)], alone, rtol=0, atol=1e-11)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(decisions(n_jobs), alone)
    distances = ((rows[:, None] - vectors).astype(np.float64) ** 2).sum(axis=2)
    K = np.exp(-0.1 * distances)
    pieces = [K[:, first:last] @ coef[:, first:last].T for first, last in zip([0, *ends], ends, strict=False)]
    np.testing.assert_allclose(alone.reshape(n, 4, 3), np.stack(pieces, axis=1), atol=1e-3)


@pytest.mark.parametrize("ends", [[], [5], [4, 3, 10], [10, 9]])
def test_groups_must_be_those_of_the_support_vectors(ends):
    points = native.dense_points(np.eye(10))
    support = native.support_vectors(native.Kernel("linear", 1.0, 0.0, 3), points, native.Run())
    with pytest.raises(ValueError, match="lengths differ"):
        support.decisions(np.ones((1, 10)), np.array(ends, np.uint64), points, native.Run())


class TestWhatIsKept:
    def test_is_made_once_for_a_model(self, monkeypatch):
        clf = SVC(tol=0.1).fit(X, Y)
        made = []
        monkeypatch.setattr(native, "support_vectors", lambda *args: made.append(args) or make(*args))
        before = dict(vars(clf))
        for _ in range(3):
            clf.predict(NEW[:1])
        assert len(made) == 1
        assert vars(clf).keys() == before.keys()
        assert all(vars(clf)[name] is value for name, value in before.items())
        clf.fit(X[:100], Y[:100]).predict(NEW[:1])
        assert len(made) == 2

    def test_changes_with_the_model(self):
        clf = SVC(tol=0.1, kernel="linear").fit(X, Y > 0)
        first = clf.decision_function(NEW) - clf.intercept_
        clf._dual_coef_ = clf._dual_coef_ * 2
        np.testing.assert_allclose(clf.decision_function(NEW) - clf.intercept_, 2 * first, atol=1e-9)
        clf.support_vectors_ = clf.support_vectors_ * 3
        np.testing.assert_allclose(clf.decision_function(NEW) - clf.intercept_, 6 * first, atol=1e-6)

    def test_is_neither_pickled_nor_copied(self):
        clf = SVC(tol=0.1).fit(X, Y)
        size = len(pickle.dumps(clf))
        expected = clf.decision_function(NEW)
        assert len(pickle.dumps(clf)) == size
        for twin in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
            assert twin._fitted_kernel.kept is not clf._fitted_kernel.kept
            np.testing.assert_array_equal(twin.decision_function(NEW), expected)

    def test_goes_by_the_objects_themselves(self):
        kept, made = Kept(), []
        one, equal = np.zeros(3), np.zeros(3)

        def make():
            made.append(None)
            return lambda X, n_jobs: X

        first = kept.get(make, one, None)
        assert kept.get(make, one, None) is first
        assert kept.get(make, equal, None) is not first
        assert len(made) == 2


make = native.support_vectors


def test_a_given_kernel_reads_the_matrix_in_place():
    K = X @ X.T
    model = SVC(kernel="precomputed", C=0.1, tol=0.1).fit(K, Y)
    twin = SVC(kernel="linear", C=0.1, tol=0.1).fit(X, Y)
    new = NEW @ X.T
    for matrix in (new, np.asfortranarray(new), new.astype(np.float32)):
        np.testing.assert_allclose(model.decision_function(matrix), model.decision_function(new), atol=1e-4)
    assert (model.predict(new) == twin.predict(NEW)).mean() > 0.95


@pytest.mark.parametrize("count", [3, 5])
def test_votes_of_pairs(count):
    random = np.random.default_rng(count)
    clf = SVC(tol=0.1).fit(X, np.arange(len(X)) % count)
    scores = random.normal(size=(30, count * (count - 1) // 2))
    scores[0] = 0  # each pair is won by its second
    expected = np.zeros((30, count), dtype=int)
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count)]
    for row, own in zip(expected, scores, strict=True):
        for (first, second), score in zip(pairs, own, strict=True):
            row[first if score > 0 else second] += 1
    np.testing.assert_array_equal(clf._votes(scores), expected)


def test_another_thread_may_fit_meanwhile():
    """Support vectors, weights and classes are those of one model."""
    models = [SVC(tol=0.1).fit(X, Y), SVC(tol=0.1).fit(X[:150], np.array(["a", "b", "c"])[Y[:150] % 3])]
    expected = [model.predict(NEW[:3]).tolist() for model in models]
    shared, stop = SVC(), threading.Event()
    shared.__dict__ = vars(models[0])

    def change():
        while not stop.is_set():
            for model in models[::-1]:
                shared.__dict__ = vars(model)  # as a fit does at its end

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            assert shared.predict(NEW[:3]).tolist() in expected
    finally:
        stop.set()
        thread.join()
