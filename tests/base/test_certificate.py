"""Bounds: true whatever the run was, recomputed independently, and obeyed (cpp/linear/certificate.hpp)."""

import math
import signal

import numpy as np
import pytest
from linear_helpers import STORAGES, Problem, assert_certified, assert_same, make_problem, run, solve, storage_name

from pegasos._core import native

PROBLEM = make_problem(weighted=True, bias=0.5)
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_sampling = pytest.mark.parametrize("sampling", ["permute", "fixed", "replace", "subset"])
any_output = pytest.mark.parametrize("output", ["last", "average", "suffix", "random_stop"])
any_schedule = pytest.mark.parametrize(
    "schedule",
    [
        {"schedule": "pegasos"},
        {"schedule": "norma", "step_parameter": 0.7},
        {"schedule": "constant", "step_parameter": 0.1},
        {"schedule": "svm_sgd", "step_parameter": 7.0},
    ],
    ids=lambda schedule: schedule["schedule"],
)


@any_storage
@any_sampling
@any_output
@any_schedule
@pytest.mark.parametrize("project", [False, True])
def test_bounds_are_true_for_every_kind_of_run(storage, sampling, output, schedule, project):
    for batch in (1, 4, PROBLEM.m):
        options = {"sampling": sampling, "output": output, "project": project, "random_stops": 2, **schedule}
        solution = run(PROBLEM, storage=storage, batch=batch, max_steps=12 * PROBLEM.m // batch, **options)
        assert_certified(PROBLEM, solution)


@any_storage
@any_output
def test_bounds_are_true_for_every_length_of_run(storage, output):
    """Below one epoch, none at all, and between checks."""
    for steps in (0, 1, 2, PROBLEM.m - 1, PROBLEM.m, PROBLEM.m + 1, 7 * PROBLEM.m + 5):
        solution = run(PROBLEM, storage=storage, output=output, max_steps=steps, random_stops=3)
        assert np.isfinite(solution.w).all()
        assert_certified(PROBLEM, solution)
        if output != "random_stop":
            assert (solution.steps, solution.reason) == (steps, "budget")


@pytest.mark.parametrize("batch", [PROBLEM.m + 1, 5 * PROBLEM.m])
@pytest.mark.parametrize("sampling", ["permute", "replace"])
def test_batches_larger_than_the_set(sampling, batch):
    solution = run(PROBLEM, sampling=sampling, batch=batch, max_steps=20)
    assert solution.steps == 20
    assert_certified(PROBLEM, solution)


@pytest.mark.parametrize("C", [1e-4, 30.0])
@any_output
def test_bounds_are_true_for_extreme_C(C, output):
    problem = make_problem(C=C)
    assert_certified(problem, run(problem, output=output, max_steps=50 * problem.m))


@any_storage
@pytest.mark.parametrize("output", ["last", "average", "suffix"])
def test_tol_ends_a_run(storage, output):
    solution = run(PROBLEM, storage=storage, output=output, tol=0.02, max_steps=10**7)
    assert solution.reason == "tol"
    assert solution.steps < 10**7
    assert native.relative_gap(solution.bounds.primal, solution.bounds.dual) <= 0.02
    assert_certified(PROBLEM, solution)
    gaps = [native.relative_gap(primal, dual) for _, _, primal, dual in solution.history]
    assert all(gap > 0.02 for gap in gaps[:-1])


def test_without_tol_the_budget_is_used():
    """Even on a problem solved by its first check: no row has a loss, nor any reason to have weight."""
    problem = Problem(np.zeros((4, 2)), np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4), 0.7)
    solution = run(problem, max_steps=1000)
    assert (solution.steps, solution.reason) == (1000, "budget")
    assert solution.bounds.primal == pytest.approx(2.8)
    assert solution.bounds.dual == pytest.approx(2.8)
    assert run(problem, max_steps=1000, tol=1e-6).epochs == 1


@pytest.mark.parametrize(
    ("primal", "dual", "gap"),
    [(3.0, 2.0, 0.5), (0.0, 0.0, 0.0), (1.0, 0.0, math.inf), (1.0, -5.0, math.inf), (1.0, 1.0, 0.0), (1.0, 1.1, 0.0)],
)
def test_relative_gap(primal, dual, gap):
    assert native.relative_gap(primal, dual) == gap


@any_storage
def test_certify_evaluates_any_pair(storage):
    random = np.random.default_rng(0)
    w, q = random.normal(size=PROBLEM.augmented.shape[1]), random.random(PROBLEM.m)
    for n_jobs in (1, 2, 40):
        bounds = solve("certify", PROBLEM, storage=storage, n_jobs=n_jobs, w=w, q=q)
        assert bounds.primal == pytest.approx(PROBLEM.primal(w), rel=1e-12)
        assert bounds.dual == pytest.approx(PROBLEM.dual(q), rel=1e-12)


def test_a_dual_point_handed_on_is_kept():
    """A run that learns nothing returns a bound as good as the one it was given."""
    first = run(PROBLEM, output="suffix", max_steps=2000 * PROBLEM.m)
    second = run(PROBLEM, start_q=first.q, max_steps=1)
    assert second.bounds.dual >= first.bounds.dual * (1 - 1e-12)
    assert_certified(PROBLEM, second)


def test_scaling_the_weights_is_scaling_C():
    twice = Problem(PROBLEM.X, PROBLEM.y, 2 * PROBLEM.s, PROBLEM.C / 2, PROBLEM.bias)
    ours, theirs = (run(problem, max_steps=5 * PROBLEM.m) for problem in (PROBLEM, twice))
    assert_same(theirs.w, ours.w)
    assert theirs.bounds.dual == pytest.approx(ours.bounds.dual, rel=1e-10)


@any_output
@pytest.mark.parametrize("batch", [1, 4])
def test_time_limit(ticks, output, batch):
    solution = run(PROBLEM, output=output, batch=batch, max_seconds=0.05, max_steps=10**10)
    assert solution.reason == "max_time"
    assert 0.05 <= solution.seconds < 1
    assert_certified(PROBLEM, solution)


@any_output
def test_no_time_at_all(output):
    """A row wide enough to look at the clock: not one step is made, and there is a certificate all the same."""
    wide = Problem(np.pad(PROBLEM.X, ((0, 0), (0, 60_000))), PROBLEM.y, PROBLEM.s, PROBLEM.C)
    solution = run(wide, output=output, max_seconds=0.0, elapsed=1.0, max_steps=1000)
    assert (solution.steps, solution.reason) == (0, "max_time")
    np.testing.assert_array_equal(solution.w, 0)
    assert solution.bounds.primal == pytest.approx(wide.primal(solution.w), rel=1e-12)
    assert solution.bounds.dual == pytest.approx(wide.dual(solution.q), rel=1e-9)
    assert 0 < solution.bounds.dual < solution.bounds.primal


class Stop(Exception):
    pass


def test_an_exception_in_report_ends_the_run():
    def report(*record):
        raise Stop

    with pytest.raises(Stop):
        run(PROBLEM, report=report, max_steps=10**10)


def test_an_exception_in_progress_ends_the_run():
    def progress(epoch, seconds):
        raise Stop

    with pytest.raises(Stop):
        run(PROBLEM, progress=progress, max_steps=10**10)


def test_a_signal_ends_the_run():
    def handler(signum, frame):
        raise Stop

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stop):
            run(PROBLEM, max_steps=10**10)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_report_and_progress_tell_where_the_run_is(ticks):
    reports, beats = [], []
    solution = run(
        PROBLEM,
        report=lambda *record: reports.append(list(record[:4])),
        progress=lambda epoch, seconds: beats.append((epoch, seconds)),
        max_seconds=0.3,
        max_steps=10**10,
    )
    assert reports == solution.history
    assert 1 <= len(beats) <= 10
    assert beats == sorted(beats)
