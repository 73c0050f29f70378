"""What S1 derives of Pegasos, equation by equation, along runs of the core.

Its Lemma 2.1 with u = w* and its bound for full batches are S0's Theorem 1 and Corollary 1 (`test_theory.py`); that the
kernel version with a linear kernel is the linear algorithm is in `test_kernel_steps.py`.
"""

import numpy as np
import pytest
from kernel_helpers import make_case, run_walk
from linear_helpers import assert_same, draw_batches, make_problem, optimum, run

from pegasos import SVC
from pegasos.solvers import Pegasos

T = 120
PROBLEMS = {
    "C 0.55": make_problem(),
    "C 20": make_problem(C=np.sqrt(400.3), seed=1),
    "C 0.001, bias": make_problem(C=np.sqrt(0.8e-6), seed=2, bias=1.0),
}
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_batch = pytest.mark.parametrize("k", [1, 5])


class Run:
    """w_1, ..., w_{T+1} of the core, B_1, ..., B_T, and J_{B_t} with its sub-gradient, written out."""

    def __init__(self, problem, k, seed=0):
        self.X, self.y, self.lam, self.R = problem.augmented, problem.y, problem.lam, problem.R
        self.batches = draw_batches(problem, T, k, seed)
        steps = (run(problem, batches=self.batches, max_steps=t).w for t in range(1, T + 1))
        self.w = [np.zeros(self.X.shape[1]), *steps]

    def loss(self, w, B_t):
        """J_{B_t}(w)."""
        return self.lam / 2 * w @ w + np.maximum(0, 1 - self.y[B_t] * (self.X[B_t] @ w)).mean()

    def v(self, w, B_t):
        """The mean of the y_i x_i of the batch with y_i <w, x_i> < 1."""
        return (np.where(self.y[B_t] * (self.X[B_t] @ w) < 1, self.y[B_t], 0.0)[:, None] * self.X[B_t]).mean(axis=0)

    def gradient(self, w, B_t):
        return self.lam * w - self.v(w, B_t)

    def steps(self):
        """t, w_t, w_{t+1} and B_t, for t = 1, ..., T."""
        return zip(range(1, T + 1), self.w[:-1], self.w[1:], self.batches, strict=True)

    def others(self, problem):
        """Points u to compare with: the optimum, zero, and some at random, near and far."""
        random = np.random.default_rng(1)
        scales = (0.1 / self.lam, 1 / np.sqrt(self.lam), 10.0)
        return [
            optimum(problem)[0],
            np.zeros(len(self.w[0])),
            *(c * random.normal(size=len(self.w[0])) for c in scales),
        ]


@any_problem
@any_batch
class TestDerivation:
    def test_the_update(self, problem, k):
        """w_t - eta_t grad J(w_t) = (t-1)/t w_t + v_t / (lam t), eta_t = 1/(lam t); and so steps the core."""
        found = Run(problem, k)
        for t, w_t, w_next, B_t in found.steps():
            by_gradient = w_t - found.gradient(w_t, B_t) / (found.lam * t)
            assert_same((t - 1) / t * w_t + found.v(w_t, B_t) / (found.lam * t), by_gradient)
            assert_same(w_next, by_gradient, 1e-9)

    def test_equation_1(self, problem, k):
        """w_{t+1} = 1/(t lam) sum_{l <= t} v_l."""
        found = Run(problem, k)
        total = np.zeros(len(found.w[0]))
        for t, w_t, w_next, B_t in found.steps():
            total = total + found.v(w_t, B_t)
            assert_same(w_next, total / (t * found.lam), 1e-9)

    def test_equation_2(self, problem, k):
        """w_{t+1} = 1/(t lam) sum_i alpha(i, t) y_i x_i, alpha the violations met on i.

        S1's alpha(i, t) has w_t in all terms; the violations are those of w_l, at the l with i_l = i.
        """
        found = Run(problem, k)
        alpha = np.zeros(problem.m)
        for t, w_t, w_next, B_t in found.steps():
            np.add.at(alpha, B_t, found.y[B_t] * (found.X[B_t] @ w_t) < 1)
            assert_same(w_next, (alpha * found.y) @ found.X / (k * t * found.lam), 1e-9)
        assert 0 < alpha.sum() <= k * T

    def test_norm_bounds(self, problem, k):
        """Section 2.1: ||w_t|| <= R / lam, and so ||grad J_{B_t}(w_t)|| <= 2 R."""
        found = Run(problem, k)
        for _, w_t, _, B_t in found.steps():
            assert np.linalg.norm(w_t) <= found.R / found.lam * (1 + 1e-12)
            assert np.linalg.norm(found.gradient(w_t, B_t)) <= 2 * found.R * (1 + 1e-12)


@any_problem
@any_batch
class TestConvergence:
    def test_equation_3(self, problem, k):
        """f(u) >= f(w) + <grad f(w), u - w> + lam/2 ||w - u||^2: J_{B_t} is lam-strongly convex."""
        found = Run(problem, k)
        for _, w_t, _, B_t in found.steps():
            for u in found.others(problem):
                terms = found.loss(w_t, B_t), found.gradient(w_t, B_t) @ (u - w_t)
                least = sum(terms) + found.lam / 2 * ((w_t - u) ** 2).sum()
                assert found.loss(u, B_t) >= least - 1e-12 * (found.loss(u, B_t) + sum(map(abs, terms)))

    def test_equation_5(self, problem, k):
        """<grad, w_t - u> = (||w_t - u||^2 - ||w_{t+1} - u||^2) / (2 eta_t) + eta_t ||grad||^2 / 2."""
        found = Run(problem, k)
        for t, w_t, w_next, B_t in found.steps():
            gradient, eta = found.gradient(w_t, B_t), 1 / (found.lam * t)
            for u in found.others(problem):
                before, after = ((w_t - u) ** 2).sum(), ((w_next - u) ** 2).sum()
                size = (before + after) / (2 * eta) + eta * gradient @ gradient
                right = (before - after) / (2 * eta) + eta * gradient @ gradient / 2
                assert gradient @ (w_t - u) == pytest.approx(right, abs=1e-9 * size)

    def test_the_proof_of_lemma_2_1(self, problem, k):
        """f_t(w_t) - f_t(u) <= lam/2 ((t-1) ||w_t - u||^2 - t ||w_{t+1} - u||^2) + ||grad||^2 / (2 lam t)."""
        found = Run(problem, k)
        for u in found.others(problem):
            for t, w_t, w_next, B_t in found.steps():
                gradient = found.gradient(w_t, B_t)
                before, after = (t - 1) * ((w_t - u) ** 2).sum(), t * ((w_next - u) ** 2).sum()
                bound = found.lam / 2 * (before - after) + gradient @ gradient / (2 * found.lam * t)
                rounding = 1e-9 * (found.lam * (before + after) + found.loss(u, B_t) + found.loss(w_t, B_t))
                assert found.loss(w_t, B_t) - found.loss(u, B_t) <= bound + rounding

    def test_lemma_2_1_and_equation_6(self, problem, k):
        """The regret against any u is at most G_max^2 (1 + ln T) / (2 lam T), with G_max <= 2 R in equation 6."""
        found = Run(problem, k)
        t = np.arange(1, T + 1)
        G_max = np.maximum.accumulate([np.linalg.norm(found.gradient(w_t, B_t)) for _, w_t, _, B_t in found.steps()])
        bound = G_max**2 * (1 + np.log(t)) / (2 * found.lam * t)
        assert (bound <= 2 * found.R**2 * (1 + np.log(t)) / (found.lam * t) * (1 + 1e-12)).all()
        for u in found.others(problem):
            regret = np.cumsum([found.loss(w_t, B_t) - found.loss(u, B_t) for _, w_t, _, B_t in found.steps()]) / t
            assert (regret <= bound * (1 + 1e-9)).all()


class TestKernel:
    """Section 1.1: training is counting violations."""

    CASES = (make_case(), make_case(seed=3, C=np.sqrt(300.3)))

    @pytest.mark.parametrize("case", CASES)
    def test_coefficients_are_counts(self, case):
        """t lam y_i beta_i is the number of violations met on i, which a visit raises by one or not at all."""
        sequence = np.random.default_rng(0).integers(case.n, size=T).astype(np.uint32)
        alpha = np.zeros(case.n)
        for t, i in enumerate(sequence, start=1):
            # w_t has 1/((t-1) lam), where S1's test has 1/(t lam); nothing is known before the first visit.
            response = 0.0 if t == 1 else (alpha * case.y) @ case.K[:, i] / ((t - 1) * case.lam)
            alpha[i] += case.y[i] * response < 1
            found = run_walk(case, sequence[:t, None]).beta
            counts = t * case.lam * case.y * found
            np.testing.assert_allclose(counts, np.round(counts), atol=1e-9 * t)
            np.testing.assert_array_equal(np.round(counts), alpha)
        assert 0 < alpha.sum() < T

    def test_the_scale_does_not_change_predictions(self):
        """The sign of sum_i alpha_i y_i K(x_i, x) is the class, without 1/(T lam)."""
        random = np.random.default_rng(0)
        X, Z = random.normal(size=(80, 3)), random.normal(size=(50, 3))
        y = np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=80) > 0, 1, -1)
        solver = Pegasos(average="last", max_steps=200, sampling="replace")
        clf = SVC(solver=solver, gamma=0.5, alpha=0.01, fit_intercept=False, tol=0, random_state=0).fit(X, y)
        counts = 200 * 0.01 * clf.dual_coef_[0]
        np.testing.assert_allclose(counts, np.round(counts), atol=1e-8)
        squares = ((Z[:, None] - clf.support_vectors_[None]) ** 2).sum(axis=2)
        scores = np.exp(-0.5 * squares) @ np.round(counts)
        np.testing.assert_array_equal(clf.predict(Z), np.where(scores > 0, 1, -1))
