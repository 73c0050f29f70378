"""Kernels of examples whose entries are whole numbers up to 255 times a step, as those of images are."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import make_run
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SVC
from pegasos._core import native
from pegasos.problems.kernel import make_problem


def make_points(X):
    if not sp.issparse(X):
        return native.dense_points(X)
    return native.csr_points(X.data, X.indices, X.indptr.astype(np.int64), X.shape[1])


def make_images(n, d, step, seed=0, share=0.4):
    """Whole numbers, and the examples that they are the entries of."""
    random = np.random.default_rng(seed)
    levels = random.integers(0, 256, size=(n, d)) * (random.uniform(size=(n, d)) < share)
    levels[0, 0] = 255
    return levels, (levels * step).astype(np.float32)


def products(few, many):
    """All inner products, as the core computes them for a prediction."""
    run, kernel = make_run(), native.Kernel("linear", 1.0, 0.0, 3)
    vectors = native.support_vectors(kernel, make_points(few), run)
    flat = vectors.decisions(np.eye(few.shape[0]), np.array([few.shape[0]], np.uint64), make_points(many), run)
    return flat.reshape(many.shape[0], few.shape[0])


@pytest.fixture(scope="module", autouse=True)
def instruction():
    """These tests are about the way of processors that multiply bytes; the others have nothing to show."""
    if make_points(np.eye(4, dtype=np.float32)).byte_step() == 0:
        pytest.skip("the processor, or the core built for it, has no instruction for sums of products of bytes")


class TestWhichAreBytes:
    @pytest.mark.parametrize("step", [1, 1 / 255, 1 / 16, 0.1, 3.7e-20, 1e20])
    def test_multiples_of_a_step(self, step):
        _, X = make_images(50, 30, step)
        assert make_points(X).byte_step() == pytest.approx(step, rel=1e-6)
        assert make_points(sp.csr_array(X)).byte_step() == pytest.approx(step, rel=1e-6)

    def test_fewer_levels_than_256(self):
        X = np.random.default_rng(0).integers(0, 17, size=(40, 9)).astype(np.float32)
        X[0, :2] = 16, 1
        assert make_points(X / 16).byte_step() == pytest.approx(1 / 16, rel=1e-6)
        ones = (X > 8).astype(np.float32)
        assert make_points(ones).byte_step() > 0
        np.testing.assert_allclose(products(ones, ones), ones @ ones.T, rtol=1e-6)

    def test_others(self):
        levels, X = make_images(60, 20, 1.0)
        assert make_points(X).byte_step() == 1
        for value in (-1.0, 256.0, 0.5, 100.001, 3e-5):
            other = X.copy()
            other[31, 7] = value
            assert make_points(other).byte_step() == 0, value
        assert make_points(levels.astype(np.float64)).byte_step() == 0  # double precision asks for more digits
        assert make_points(np.zeros((5, 5), dtype=np.float32)).byte_step() == 0
        few = sp.random(100, 200, density=0.01, random_state=0, dtype=np.float32)
        few.data[:] = 1
        assert make_points(few.tocsr()).byte_step() == 0  # what is not zero takes less time one by one


class TestProducts:
    @pytest.mark.parametrize("few", [1, 2, 16, 17, 64, 65, 128, 300])
    @pytest.mark.parametrize("d", [1, 3, 4, 37, 784])
    def test_are_exact(self, few, d):
        levels, X = make_images(few, d, 1.0, seed=1)
        other_levels, other = make_images(101, d, 0.5, seed=2)
        found = products(X, other)
        np.testing.assert_allclose(found, 0.5 * (other_levels @ levels.T), rtol=1e-7)

    def test_the_largest_sum(self):
        most = 33_000
        X = np.full((3, most), 255, dtype=np.float32)
        assert make_points(X).byte_step() == 1
        np.testing.assert_allclose(products(X, X), most * 255.0**2, rtol=1e-7)
        assert make_points(np.full((3, most + 1), 255, dtype=np.float32)).byte_step() == 0

    def test_of_one_kind_with_the_other(self):
        _, X = make_images(20, 50, 1 / 255)
        other = np.random.default_rng(3).normal(size=(30, 50)).astype(np.float32)
        for few, many in ((X, other), (other, X), (sp.csr_array(X), other), (X, sp.csr_array(X))):
            dense = [part.toarray() if sp.issparse(part) else part for part in (few, many)]
            expected = dense[1].astype(float) @ dense[0].astype(float).T
            np.testing.assert_allclose(products(few, many), expected, rtol=1e-5, atol=1e-5)


class TestMachines:
    @pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("part_from", [100, 10**6])
    def test_smo_finds_the_optimum_of_the_exact_matrix(self, sparse, n_jobs, part_from):
        _, X = make_images(700, 40, 1 / 255, share=0.3)
        assert make_points(X).byte_step() > 0
        y = np.where(X[:, :5].sum(axis=1) > X[:, 5:10].sum(axis=1), 1.0, -1.0)
        K = rbf_kernel(X.astype(float), gamma=0.1)
        kernel = native.Kernel("rbf", 0.1, 0.0, 3)
        source = native.point_source(make_points(sp.csr_array(X) if sparse else X), kernel, make_run())
        options = {"tol": 1e-5, "max_epochs": 1e6, "working_set": 160, "block": 32, "seed": 0, "start": None}
        options |= {"cached_rows": 200, "part_from": part_from}
        problem = make_problem(source, y, np.ones(700), 1.0, loss="hinge", parameter=0.0, free_intercept=True)
        found = native.smo(source, problem.core, make_run(n_jobs=n_jobs), **options)
        assert found.reason == "tol"
        f = K @ found.beta
        primal = found.beta @ f / 2 + np.maximum(0, 1 - y * (f + found.b)).sum()
        dual = y @ found.beta - found.beta @ f / 2
        assert primal == pytest.approx(found.bounds.primal - found.bounds.above, rel=1e-6)
        assert dual == pytest.approx(found.bounds.dual + found.bounds.below, rel=1e-6)
        assert found.bounds.dual <= dual <= primal <= found.bounds.primal
        assert primal - dual <= 2e-5 * dual

    def test_predictions(self):
        _, X = make_images(3000, 25, 1 / 255)
        y = np.where(X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3], 1, -1)
        machine = SVC(gamma=0.5, tol=1e-3).fit(X, y)
        K = rbf_kernel(X.astype(float), machine.support_vectors_.astype(float), gamma=0.5)
        expected = K @ machine.dual_coef_[0] + machine.intercept_
        np.testing.assert_allclose(machine.decision_function(X), expected, atol=2e-5)
        off = X + np.float32(1e-4)  # no longer multiples: computed as they are
        K = rbf_kernel(off.astype(float), machine.support_vectors_.astype(float), gamma=0.5)
        expected = K @ machine.dual_coef_[0] + machine.intercept_
        np.testing.assert_allclose(machine.decision_function(off), expected, atol=2e-5)
