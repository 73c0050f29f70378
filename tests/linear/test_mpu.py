"""MPU: step by step against its twin, and what is proved of it (cpp/linear/solvers/mpu.cpp)."""

import itertools
import math

import numpy as np
import pytest
from linear_helpers import STORAGES, Problem, assert_certified, assert_same, make_problem, optimum, solve, storage_name

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.reference import mpu

PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights": make_problem(weighted=True),
    "weights and bias": make_problem(weighted=True, bias=1.0),
    "large C": make_problem(weighted=True, C=math.sqrt(400.3)),
}
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_delta = pytest.mark.parametrize("delta", [0.5, 0.03])
T = 120


def run_mpu(problem, **options):
    """``native.mpu`` with defaults: one epoch in a random order. `visits` sets the rows it visits, once."""
    defaults = {
        "delta": 0.1,
        "blocks": False,
        "max_epochs": 1.0,
        "tol": 0.0,
        "seed": 0,
        "visits": None,
        "start_w": None,
        "start_t": 0,
        "start_q": None,
    }
    return solve("mpu", problem, **(defaults | options))


def draw_sequence(problem, size=T):
    return np.random.default_rng(0).integers(problem.m, size=size).astype(np.uint32)


def reference(problem, delta, sequence):
    return list(mpu.mpu(problem.augmented, problem.y, problem.C, delta, sequence, s=problem.s))


@any_storage
@any_problem
@any_delta
def test_every_step_is_the_twins(problem, storage, delta):
    sequence = draw_sequence(problem)
    n = mpu.units(problem.augmented, problem.C, delta, problem.s)
    states = reference(problem, delta, sequence)
    for steps in range(1, T + 1):
        found = run_mpu(problem, storage=storage, delta=delta, visits=sequence[:steps])
        N, w = states[steps]
        assert_same(found.w, w)
        assert_same(found.q * n, N)
        assert (found.steps, found.t) == (steps, steps)


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    problem = PROBLEMS["weights and bias"]
    ours, other = (run_mpu(problem, core=build, max_epochs=20.0) for build in (native, load(level)))
    assert_same(other.w, ours.w)
    assert_same(other.q, ours.q)


def test_unlearning_is_not_idle():
    """The runs above would not notice its absence otherwise."""
    problem = PROBLEMS["weights"]
    N = np.array([N for N, _ in reference(problem, 0.03, draw_sequence(problem))])
    assert (np.diff(N, axis=0) < 0).any()
    assert (N.max(axis=0) <= mpu.units(problem.augmented, problem.C, 0.03, problem.s)).all()


@any_problem
@any_delta
def test_the_potential_rises_with_every_unit(problem, delta):
    """F = (1 + delta/2) sum alpha - 1/2 ||w||^2 grows by h delta/4 at least, for each unit learned or unlearned."""
    n = mpu.units(problem.augmented, problem.C, delta, problem.s)
    h = problem.C * problem.s / n
    states = reference(problem, delta, draw_sequence(problem, 400))
    F = np.array([(1 + delta / 2) * (h @ N) - w @ w / 2 for N, w in states])
    moved = np.array([h @ np.abs(after - before) for (before, _), (after, _) in itertools.pairwise(states)])
    assert moved.max() > 0
    assert (np.diff(F) >= moved * delta / 4 - 1e-12 * F.max()).all()


@any_problem
@any_delta
def test_when_nothing_is_left_to_do_the_gap_is_bounded(problem, delta):
    sequence = np.tile(np.arange(problem.m), 3000).astype(np.uint32)
    states = mpu.mpu(problem.augmented, problem.y, problem.C, delta, sequence, s=problem.s)
    N, w = next(states)
    still = 0
    while still <= problem.m:  # a whole pass changed nothing; the twin would run out of rows if none were so
        before, (N, w) = N, next(states)
        still = still + 1 if (before == N).all() else 0
    primal = problem.primal(w)
    dual = problem.dual(N / mpu.units(problem.augmented, problem.C, delta, problem.s))
    assert 0 < primal - dual <= mpu.bound_on_gap(delta) * dual


@any_storage
@any_problem
def test_certificates_are_true(problem, storage):
    for epochs in (0.2, 1.0, 7.0, 60.0):
        found = run_mpu(problem, storage=storage, max_epochs=epochs)
        assert_certified(problem, found)
        assert found.reason == "budget"


@any_storage
@any_problem
@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-7])
def test_it_finds_the_optimum(problem, storage, blocks, tol):
    """From a delta that is as large as proves tol, and from one that is not small enough and has to be halved."""
    _, value = optimum(problem)
    for delta in (tol / (2 + tol), 0.3):
        found = run_mpu(problem, storage=storage, blocks=blocks, delta=delta, tol=tol, max_epochs=1e7)
        assert found.reason == "tol"
        assert value * (1 - 1e-9) <= found.bounds.primal <= value * (1 + tol)
        assert_certified(problem, found)


def test_rows_of_no_weight_and_empty_rows():
    problem = make_problem(m=20)
    X = problem.X * (np.arange(problem.m) % 4 > 0)[:, None]
    bare = Problem(X, problem.y, (np.arange(problem.m) % 3 > 0).astype(float), problem.C)
    sequence = draw_sequence(bare)
    assert_same(run_mpu(bare, visits=sequence).w, reference(bare, 0.1, sequence)[-1][1])
    found = run_mpu(bare, tol=1e-3, max_epochs=1e6)
    assert (found.reason, found.q[bare.s == 0].max()) == ("tol", 0)
    assert_certified(bare, found)


def test_a_continued_run_begins_at_the_dual_point():
    problem = PROBLEMS["weights and bias"]
    first = run_mpu(problem, delta=1e-4, max_epochs=40.0)
    second = run_mpu(problem, delta=1e-4, max_epochs=1.0, start_w=first.w, start_t=first.t, start_q=first.q)
    assert second.t == first.t + second.steps
    assert second.bounds.dual >= first.bounds.dual * (1 - 1e-3)


def test_the_seed_decides_the_run_bit_by_bit():
    problem = PROBLEMS["weights and bias"]
    first, again, other = (run_mpu(problem, seed=seed, max_epochs=4.0) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w, again.w)
    np.testing.assert_array_equal(first.q, again.q)
    assert (first.w != other.w).any()


def test_time_limit(ticks):
    found = run_mpu(PROBLEMS["large C"], max_epochs=1e18, max_seconds=0.05)
    assert found.reason == "max_time"
    assert_certified(PROBLEMS["large C"], found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "log_loss"}, "hinge loss alone"),
        ({"delta": 0.0}, "delta must be above 0"),
        ({"delta": 1.5}, "delta must be above 0"),
    ],
)
def test_senseless_requests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        run_mpu(PROBLEMS["plain"], **options)


def test_delta_follows_tol():
    problem = make_problem(m=100)
    for tol, delta in ((0.5, 0.2), (0.02, 0.02 / 2.02)):
        clf = LinearSVC(tol=tol, solver="mpu", random_state=0).fit(problem.X, problem.y)
        assert clf.certificate_.solver == f"MPU(delta={delta}, order='permute')"
        assert clf.certificate_.gap <= tol
