"""SGD-QN: step by step against its twin, and how it is used (cpp/linear/solvers/sgd_qn.cpp)."""

import numpy as np
import pytest
from linear_helpers import STORAGES, assert_certified, assert_same, make_problem, optimum, solve, storage_name

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.reference import bottou
from pegasos.solvers import SGDQN

PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights": make_problem(weighted=True),
    "weights and bias": make_problem(weighted=True, bias=1.0),
}
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_skip = pytest.mark.parametrize("skip", [1, 3, 16])
T = 60


def run_sgd_qn(problem, **options):
    """``native.sgd_qn`` with defaults: one epoch, and the last weights, as the twin has."""
    defaults = {
        "t0": 20.0,
        "skip": 3,
        "sampling": "permute",
        "output": "last",
        "max_steps": problem.m,
        "tol": 0.0,
        "seed": 0,
        "visits": None,
        "start_w": None,
        "start_t": 0,
        "start_q": None,
    }
    return solve("sgd_qn", problem, **(defaults | options))


def draw_sequence(problem, seed=0):
    return np.random.default_rng(seed).integers(problem.m, size=T).astype(np.uint32)


def reference(problem, sequence, t0, skip):
    return list(bottou.sgd_qn(problem.augmented, problem.y, problem.lam, t0, skip, sequence, s=problem.s))


@any_storage
@any_problem
@any_skip
def test_every_step_is_the_twins(problem, storage, skip):
    sequence = draw_sequence(problem)
    iterates = reference(problem, sequence, 20.0, skip)
    for steps in range(1, T + 1):
        found = run_sgd_qn(problem, storage=storage, skip=skip, visits=sequence, max_steps=steps)
        assert_same(found.w, iterates[steps][0])
        assert (found.steps, found.t, found.epochs) == (steps, steps, pytest.approx(steps / problem.m))


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    problem = PROBLEMS["weights and bias"]
    ours, other = (run_sgd_qn(problem, core=build, max_steps=20 * problem.m) for build in (native, load(level)))
    assert_same(other.w, ours.w)
    assert_same(other.q, ours.q)


def test_step_sizes_differ_by_weight():
    """The runs above would not notice if the loss were left out of the estimates."""
    problem = PROBLEMS["weights and bias"]
    gains = [B for _, B in reference(problem, draw_sequence(problem), 20.0, 3)]
    assert all(np.ptp(B) == 0 for B in gains[:3])
    assert np.ptp(gains[-1]) > 0.1 * gains[-1].max()


@any_skip
@any_problem
def test_step_sizes_are_what_their_bounds_allow(problem, skip):
    """h is from lam/10 to 100 lam, so 1/B grows by that much a step, and the regulariser never turns a weight round."""
    lam = problem.lam
    for t, (_, B) in enumerate(reference(problem, draw_sequence(problem), 20.0, skip)):
        updates = max(t - 1, 0) // skip
        rise = 1 / B - 20 * lam
        assert (rise >= 0.1 * lam * skip * updates * (1 - 1e-9)).all()
        assert (rise <= 100 * lam * skip * updates * (1 + 1e-9) + 1e-9).all()
        assert (skip * lam * B <= 1).all()


@any_storage
@any_problem
def test_certificates_are_true(problem, storage):
    for output in ("last", "best"):
        for steps in (1, problem.m, problem.m + 1, 30 * problem.m):
            found = run_sgd_qn(problem, storage=storage, output=output, max_steps=steps)
            assert_certified(problem, found)
            assert (found.reason, found.steps) == ("budget", steps)


@any_problem
def test_it_converges(problem):
    _, value = optimum(problem)
    found = run_sgd_qn(problem, output="best", tol=0.01, max_steps=10**7)
    assert found.reason == "tol"
    assert found.bounds.primal <= value * 1.01
    assert_certified(problem, found)


def test_a_continued_run_begins_with_smaller_steps():
    problem = PROBLEMS["weights and bias"]
    sequence = draw_sequence(problem)
    first = run_sgd_qn(problem, visits=sequence, max_steps=T)
    second = run_sgd_qn(problem, visits=sequence, max_steps=T, start_w=first.w, start_t=first.t, start_q=first.q)
    assert second.t == 2 * T
    assert second.bounds.dual >= first.bounds.dual * (1 - 1e-12)
    alone = run_sgd_qn(problem, visits=sequence, max_steps=1, start_w=first.w, start_t=T)
    i, w = sequence[0], first.w
    z = problem.y[i] * (problem.augmented[i] @ w)
    weight = problem.m * problem.s[i] / problem.s.sum() * (z < 1) / (problem.lam * (20 + T))
    assert_same(alone.w, w + weight * problem.y[i] * problem.augmented[i])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "squared_hinge"}, "hinge loss alone"),
        ({"output": "suffix"}, "best vector or the last"),
        ({"skip": 0}, "skip at least 1"),
        ({"t0": 2.5}, "t0 must be at least skip"),
    ],
)
def test_senseless_requests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        run_sgd_qn(PROBLEMS["plain"], **options)


def test_it_says_what_it_chose():
    problem = make_problem(m=400, d=8)
    clf = LinearSVC(alpha=0.01, tol=0.05, solver="sgd-qn", random_state=0).fit(problem.X, problem.y)
    used = eval(clf.certificate_.solver, {"SGDQN": SGDQN})
    assert used.skip == 16
    assert used.t0 >= used.skip
    again = LinearSVC(alpha=0.01, tol=0.05, solver=used, random_state=0).fit(problem.X, problem.y)
    np.testing.assert_array_equal(again.coef_, clf.coef_)
    with pytest.raises(ValueError, match="t0=5 is below skip=16, so that the regulariser would turn weights round"):
        LinearSVC(solver=SGDQN(t0=5)).fit(problem.X, problem.y)
