"""The NumPy twins themselves: against the papers' formulas, LIBLINEAR, and their own examples."""

import doctest

import numpy as np
import pytest
from helpers import assert_same, draw_batches, make_problem, optimum
from sklearn.svm import LinearSVC

from pegasos.reference import objective, s0, s2


@pytest.mark.parametrize("module", [objective, s0, s2])
def test_examples(module):
    failed, attempted = doctest.testmod(module)
    assert attempted > 0
    assert failed == 0


def test_iterates_are_means_of_violations():
    """S0 eq. 13: w_{t+1} = 1/(lam t) sum_l v_l."""
    problem = make_problem()
    X, y, lam, batches = problem.augmented, problem.y, problem.lam, draw_batches(problem, 50, k=3)
    iterates = list(s0.pegasos(X, y, lam, batches))
    v = [lam * w - s0.sub_gradient(X, y, problem.s, lam, w, A_t) for w, A_t in zip(iterates[:-1], batches, strict=True)]
    for t in range(1, 51):
        assert_same(iterates[t], np.sum(v[:t], axis=0) / (lam * t))


def test_weights_are_repetitions():
    """On the whole set as the batch, weight 2 is the row standing twice."""
    problem = make_problem()
    X, y, lam = problem.augmented, problem.y, problem.lam
    s = 1.0 + (np.arange(problem.m) % 3 == 0)
    twice = np.repeat(np.arange(problem.m), s.astype(int))
    weighted = s0.pegasos(X, y, lam, np.tile(np.arange(problem.m), (20, 1)), s=s)
    repeated = s0.pegasos(X[twice], y[twice], lam, np.tile(np.arange(len(twice)), (20, 1)))
    for w, expected in zip(weighted, repeated, strict=True):
        assert_same(w, expected)


def test_random_start_is_in_the_ball_and_forgotten():
    problem = make_problem()
    X, y, lam = problem.augmented, problem.y, problem.lam
    batches = draw_batches(problem, 1, k=problem.m)
    starts = [s2.random_start(np.random.default_rng(seed), X.shape[1], lam) for seed in range(200)]
    norms = np.linalg.norm(starts, axis=1) * np.sqrt(lam)
    assert norms.max() <= 1
    assert np.median(norms) == pytest.approx(0.5 ** (1 / X.shape[1]), abs=0.05)
    # The first step keeps nothing of w_1 but which rows it violated.
    for w_1 in starts[:20]:
        _, w_2 = s2.pegasos(X, y, lam, batches, w_1)
        A_plus = s0.violators(X, y, w_1, batches[0])
        assert_same(w_2, s0.onto_ball(y[A_plus] @ X[A_plus] / (lam * problem.m), lam))


def test_uncounted_idle_steps_is_pegasos_while_every_step_violates():
    problem = make_problem()
    X, y, lam, batches = problem.augmented, problem.y, problem.lam, draw_batches(problem, 40, k=problem.m)
    for w, expected in zip(
        s2.uncounted_idle_steps(X, y, lam, batches), s0.pegasos(X, y, lam, batches, project=True), strict=True
    ):
        assert_same(w, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_optimum_agrees_with_liblinear(weighted, bias):
    problem = make_problem(weighted, bias)
    w, value = optimum(problem)
    rival = LinearSVC(loss="hinge", C=problem.C, fit_intercept=False, tol=1e-10, max_iter=10**6, random_state=0)
    rival.fit(problem.augmented, problem.y, sample_weight=problem.s)
    assert problem.primal(rival.coef_[0]) == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(rival.coef_[0], w, atol=1e-4)


def test_dual_is_below_primal_and_infeasible_points_are_refused():
    problem = make_problem(weighted=True)
    random = np.random.default_rng(0)
    for _ in range(100):
        q, w = random.random(problem.m), random.normal(size=problem.augmented.shape[1])
        assert problem.dual(q) <= problem.primal(w)
    assert problem.dual(q * 0 - 1e-9) == -np.inf
    assert problem.dual(q * 0 + 1 + 1e-9) == -np.inf
