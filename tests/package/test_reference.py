"""The NumPy twins themselves: against the papers' formulas, LIBLINEAR, and their own examples."""

import doctest
import itertools

import numpy as np
import pytest
from linear_helpers import assert_same, draw_batches, make_problem, optimum
from sklearn.svm import LinearSVC

from pegasos.reference import dca, objective, s0, s2, s3, s4


@pytest.mark.parametrize("module", [dca, objective, s0, s2, s3, s4])
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


def test_s3_proposition_3_against_single_presentations():
    """20,000 random cases: l+ is how often y_k is a margin error when it is presented l times, one after the other."""
    random = np.random.default_rng(0)
    for _ in range(20_000):
        lam, square, P = (random.exponential(), random.exponential(), 3 * random.normal())
        if random.random() < 0.2:
            square = 0.0
        multiplicity = int(random.integers(1, 12))
        margin, errors = P, 0  # a_t . y_k - lam t
        for _ in range(multiplicity):
            if margin <= 0:
                errors += 1
                margin += square
            margin -= lam
        assert s3.l_plus(P, square, lam, multiplicity) == errors


def test_sgd_r_is_pegasos_in_another_variable():
    """S3 eq. 1 to 7: without weights the iterates are those of S0 Fig. 1."""
    problem = make_problem()
    X, y, batches = problem.augmented, problem.y, draw_batches(problem, 100)
    states = s3.sgd_r(X, y, problem.C, batches.ravel())
    for state, w in zip(states, s0.pegasos(X, y, problem.lam, batches), strict=True):
        assert_same(state.w, w)


def test_sgd_m_presents_one_after_the_other():
    """A pass of multiplicity l is what single presentations give."""
    problem = make_problem(weighted=True)
    X, y, s, C = problem.augmented, problem.y, problem.s, problem.C
    sequence = np.tile(np.random.default_rng(0).permutation(problem.m), 12)
    passes = np.arange(len(sequence)) // problem.m
    times = [s3.multiplicity_in_pass(int(T)) for T in passes]
    singles = list(s3.sgd_r(X, y, C, np.repeat(sequence, times), s=s))
    for state in s3.sgd_m(X, y, C, sequence, s=s):
        assert_same(state.a, singles[state.t].a)
        assert pytest.approx(singles[state.t].M) == state.M


def test_dca_never_lowers_the_dual_and_keeps_w():
    problem = make_problem(weighted=True)
    X, y, s, C = problem.augmented, problem.y, problem.s, problem.C
    sequence = np.random.default_rng(0).integers(problem.m, size=2000)
    before = 0.0
    for alpha, w in dca.dca(X, y, C, sequence, s=s):
        value = objective.dual(X, y, s, C, alpha)
        assert value >= before - 1e-12
        before = value
        assert_same(w, X.T @ (alpha * y))
    assert before == pytest.approx(optimum(problem)[1], rel=1e-6)


def test_perceptron_stops_erring_on_separable_rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 3))
    u = np.array([1.0, -2.0, 0.5]) / np.sqrt(5.25)
    X, y = X + 0.5 * np.sign(X @ u)[:, None] * u, np.sign(X @ u)
    gamma, R = (y * (X @ u)).min(), np.linalg.norm(X, axis=1).max()
    iterates = list(s4.perceptron(X, y, np.tile(np.arange(50), 100)))
    mistakes = sum((w != before).any() for before, w in itertools.pairwise(iterates))
    assert 0 < mistakes <= (R / gamma) ** 2  # Novikoff
    assert (y * (X @ iterates[-1]) > 0).all()


def test_norm_ball_stays_in_the_ball():
    problem = make_problem(weighted=True)
    batches = draw_batches(problem, 200, k=3)
    norms = [np.linalg.norm(w) for w in s4.norm_ball(problem.augmented, problem.y, 0.4, batches, s=problem.s)]
    assert max(norms) == pytest.approx(0.4, rel=1e-12)
