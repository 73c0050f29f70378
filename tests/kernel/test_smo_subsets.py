"""SMO where parts of the examples are solved on their own."""

import math

import numpy as np
import pytest
from kernel_helpers import PRECISIONS, KernelCase, last_point, plain
from linear_helpers import make_run

from pegasos._core import native
from pegasos.problems.kernel import make_problem

any_precision = pytest.mark.parametrize("precision", PRECISIONS)
either = pytest.mark.parametrize("free", [False, True], ids=["no intercept", "intercept"])


class TestSmoInParts:
    """From `part_from` examples on a sample is solved first, then those not settled; only points can be summed over."""

    @staticmethod
    def make(kind, *, sparse=False, precision=np.float64, free=True, n=800, C=5.0):
        """A problem of points with zeros among their entries; what solves it, its kernel matrix and variables."""
        random = np.random.default_rng(17)
        X = (random.normal(size=(n, 4)) * (random.uniform(size=(n, 4)) < 0.7)).astype(np.float32)
        score = X[:, 0] + 0.5 * X[:, 1]
        X[:, 0] += 0.5 * np.sign(score)  # few support vectors
        s = random.uniform(0.2, 2, size=n) if kind == "weights" else np.ones(n)
        if kind == "noise":
            score = score + random.normal(size=n)
        loss = "epsilon_insensitive" if kind == "regression" else "hinge"
        y = score if kind == "regression" else np.where(score > 0, 1.0, -1.0)
        K = np.exp(-0.3 * ((X[:, None].astype(float) - X[None]) ** 2).sum(axis=2))
        case = KernelCase(K, y, s, C, loss, 0.3 if kind == "regression" else 0.0)
        entries, indptr = X != 0, np.zeros(n + 1, dtype=np.int64)
        indptr[1:] = np.cumsum(entries.sum(axis=1))
        points = (
            native.csr_points(X[entries].astype(precision), np.nonzero(entries)[1].astype(np.int32), indptr, 4)
            if sparse
            else native.dense_points(X.astype(precision))
        )
        source = native.point_source(points, native.Kernel("rbf", 0.3, 0.0, 3), make_run())
        problem = make_problem(source, y, s, C, loss=loss, parameter=case.epsilon, free_intercept=free)

        def solve(*, n_jobs=1, **options):
            defaults = {"tol": 1e-5, "max_epochs": 1e6, "working_set": 160, "block": 32, "seed": 0, "start": None}
            run = make_run(n_jobs=n_jobs)
            return native.smo(
                source, problem.core, run, **({"cached_rows": 200, "part_from": 100} | defaults | options)
            )

        return case, solve

    @pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
    @any_precision
    @either
    @pytest.mark.parametrize("kind", ["plain", "weights", "noise", "regression"])
    def test_the_same_optimum(self, kind, free, precision, sparse):
        case, solve = self.make(kind, sparse=sparse, precision=precision, free=free)
        found, whole = solve(), solve(part_from=10**6)
        assert found.reason == whole.reason == "tol"
        primal, dual = plain(found.bounds)
        assert primal == pytest.approx(plain(whole.bounds)[0], rel=2e-5)
        t, lo, hi, row = case.variables
        assert (found.beta >= lo).all()
        assert (found.beta <= hi).all()
        if free:
            assert math.fsum(found.beta) == 0
        beta, point = np.bincount(row, found.beta), last_point(found)
        close = 1e-6 if precision == np.float64 else 5e-6  # bounds without what rounding adds
        assert case.primal(beta, found.b) == pytest.approx(primal, rel=close)
        beta = np.bincount(row, point)
        assert t @ point - beta @ case.K @ beta / 2 == pytest.approx(dual, rel=close)
        if kind != "noise":  # with few support vectors: all examples are looked at a few times only
            assert len(found.history) < len(whole.history)

    @pytest.mark.parametrize("options", [{"working_set": 8, "block": 4, "tol": 1e-3}, {"cached_rows": 1}], ids=str)
    @either
    @any_precision
    def test_small_working_sets_and_few_rows(self, options, free, precision):
        _, solve = self.make("weights", free=free, precision=precision)
        assert solve(**options).reason == "tol"

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_the_same_seed_gives_the_same_bits(self, n_jobs):
        _, solve = self.make("plain", precision=np.float32, n=1500)
        first, again = solve(n_jobs=n_jobs), solve(n_jobs=n_jobs)
        np.testing.assert_array_equal(first.beta, again.beta)
        assert not np.array_equal(first.beta, solve(n_jobs=n_jobs, seed=1).beta)

    @either
    def test_parts_of_parts_a_start_and_an_early_end(self, free):
        case, solve = self.make("plain", free=free, n=2000)
        found = solve(tol=1e-8)
        assert found.reason == "tol"
        again = solve(tol=2e-8, start=found.beta)
        assert (again.steps, again.reason) == (0, "tol")
        early = solve(max_epochs=0.2)
        assert early.reason == "budget"
        assert early.bounds.dual < found.bounds.primal < early.bounds.primal
        rest = solve(start=early.beta)
        assert rest.bounds.primal == pytest.approx(found.bounds.primal, rel=2e-5)
        assert case.primal(early.beta, early.b) == pytest.approx(early.bounds.primal, rel=1e-9)
