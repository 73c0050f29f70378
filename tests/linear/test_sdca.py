"""SDCA: step by step against its NumPy twin, and to the optimum however it is reached (cpp/linear/solvers/sdca.cpp)."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    assert_same,
    make_problem,
    optimum,
    run_interior_point,
    run_sdca,
    storage_name,
)

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.reference import dca
from pegasos.solvers import SDCA

PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights": make_problem(weighted=True),
    "weights and bias": make_problem(weighted=True, bias=1.0),
    "large C": make_problem(weighted=True, C=math.sqrt(400.3)),
}
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_way = pytest.mark.parametrize(
    "way", [{"shrink": s, "blocks": b} for s in (False, True) for b in (False, True)], ids=str
)


def gap(solution):
    return native.relative_gap(solution.bounds.primal, solution.bounds.dual)


def assert_bounds(problem, solution):
    """The bounds are those of the weights and of the dual point, computed independently."""
    assert solution.bounds.dual == pytest.approx(problem.dual(solution.q), rel=1e-9)
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w), rel=1e-9)


@cache
def with_oddities(problem):
    """Some rows without weight, some empty, some the same as others."""
    X, s = problem.X.copy(), problem.s.copy()
    s[::5] = 0
    X[1::7] = 0
    X[2::7] = X[3::7][: len(X[2::7])]
    return Problem(X, problem.y, s, problem.C, problem.bias)


@any_storage
@any_problem
def test_every_step_is_the_twins(problem, storage):
    random = np.random.default_rng(0)
    sequence = random.integers(problem.m, size=60).astype(np.uint32)
    iterates = list(dca.dca(problem.augmented, problem.y, problem.C, sequence, s=problem.s))
    for steps in range(1, len(sequence) + 1):
        solution = run_sdca(problem, storage=storage, visits=sequence[:steps], shrink=False)
        alpha, w = iterates[steps]
        assert_same(solution.w, w)
        if not problem.bias:  # with an intercept the dual point is balanced
            assert_same(solution.q, alpha / (problem.C * problem.s))
        assert (solution.steps, solution.t) == (steps, steps)
        assert solution.epochs == pytest.approx(steps / problem.m)


@any_storage
@pytest.mark.parametrize("b", [0.0, 0.25])
@pytest.mark.parametrize("free", [False, True])
def test_every_step_with_multipliers_is_the_twins(free, b, storage):
    """During an epoch the intercept is kappa b and a constant feature of square `step`."""
    base, rho = PROBLEMS["weights"], 0.5
    problem = replace(base, bias=1.0 if free else 0.75, free=free)
    kappa = 1 if free else problem.bias**2 / (problem.bias**2 + rho)
    step = kappa * rho
    sequence = np.random.default_rng(1).integers(problem.m, size=40).astype(np.uint32)
    X = np.column_stack([problem.X, np.full(problem.m, math.sqrt(step))])
    iterates = list(dca.dca(X, problem.y, problem.C, sequence, s=problem.s, b=kappa * b))
    start_w = np.zeros(problem.X.shape[1] + 1)
    start_w[-1] = b / problem.bias
    for steps in range(1, len(sequence) + 1):
        solution = run_sdca(problem, storage=storage, visits=sequence[:steps], shrink=False, rho=rho, start_w=start_w)
        alpha, w = iterates[steps]
        np.testing.assert_allclose(solution.w[:-1], w[:-1], rtol=1e-9, atol=1e-12)
        intercept = kappa * b + math.sqrt(step) * w[-1]
        np.testing.assert_allclose(solution.w[-1] * problem.bias, intercept, rtol=1e-9, atol=1e-12)
        assert (solution.q <= alpha / (problem.C * problem.s) + 1e-12).all()  # balanced
        assert_bounds(problem, solution)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("free", [False, True])
@any_storage
def test_the_multipliers_reach_the_optimum(storage, free, n_jobs):
    for C in (0.01, 1.0, 30.0) if n_jobs == 1 else (1.0,):
        problem = replace(make_problem(m=300, d=8, weighted=True), C=C * math.sqrt(0.3), bias=1.0, free=free)
        solution = run_sdca(problem, storage=storage, n_jobs=n_jobs, rho=0.0, tol=1e-6, max_epochs=10**5)
        exact = run_interior_point(problem)
        assert solution.reason == "tol"
        assert exact.bounds.dual * (1 - 1e-9) <= solution.bounds.primal <= exact.bounds.primal * (1 + 1e-6)
        assert_bounds(problem, solution)


def test_steps_on_odd_rows_are_the_twins():
    problem = with_oddities(PROBLEMS["weights"])
    sequence = np.random.default_rng(0).integers(problem.m, size=100).astype(np.uint32)
    *_, (alpha, w) = dca.dca(problem.augmented, problem.y, problem.C, sequence, s=problem.s)
    solution = run_sdca(problem, visits=sequence)
    assert_same(solution.w, w)
    assert_same(solution.q * problem.C * problem.s, alpha)
    assert_certified(problem, solution)


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    problem = PROBLEMS["weights and bias"]
    ours, other = (run_sdca(problem, core=build, max_epochs=5) for build in (native, load(level)))
    assert_same(other.w, ours.w)
    assert_same(other.q, ours.q)


@any_storage
@any_problem
def test_certificates_are_true(problem, storage):
    for epochs in (1, 2, 3, 10):
        solution = run_sdca(problem, storage=storage, max_epochs=epochs)
        assert_certified(problem, solution)
        assert (solution.reason, solution.epochs) == ("budget", epochs)


@any_way
@pytest.mark.parametrize(("name", "n_jobs"), [*((name, 1) for name in PROBLEMS), ("weights and bias", 2)])
def test_every_way_leads_to_the_optimum(name, way, n_jobs):
    for problem in (PROBLEMS[name], with_oddities(PROBLEMS[name])):
        _, value = optimum(problem)
        solution = run_sdca(problem, tol=1e-8, max_epochs=10**5, n_jobs=n_jobs, **way)
        assert solution.reason == "tol"
        assert gap(solution) <= 1e-8
        assert solution.bounds.primal == pytest.approx(value, rel=1e-8)
        assert_certified(problem, solution)


@any_way
def test_blocks_of_many_rows(way):
    problem = make_problem(m=2000, d=20, weighted=True, C=0.1 * math.sqrt(0.3))
    reference = run_sdca(problem, tol=1e-9, max_epochs=10**5, shrink=False)
    solution = run_sdca(problem, tol=1e-8, max_epochs=10**5, **way)
    assert solution.reason == "tol"
    assert reference.bounds.dual <= solution.bounds.primal <= reference.bounds.primal * (1 + 1e-8)


def test_shrinking_saves_visits():
    problem = make_problem(m=2000, d=20, C=3 * math.sqrt(0.3))
    all_rows, few_rows = (run_sdca(problem, tol=1e-6, max_epochs=10**5, shrink=shrink) for shrink in (False, True))
    assert few_rows.steps < 0.7 * all_rows.steps


def test_without_tol_shrinking_does_not_keep_it_from_the_optimum():
    """No row is left out for good, even where nothing tells when the rest has converged."""
    for seed in range(10):
        problem = make_problem(seed=seed, C=math.sqrt(30.3))
        solution = run_sdca(problem, max_epochs=30_000)
        assert solution.epochs == 30_000
        assert solution.bounds.primal == pytest.approx(optimum(problem)[1], rel=1e-9)


def test_the_budget_is_not_exceeded():
    """Epochs of fewer rows do not end where whole ones would."""
    problem = make_problem(m=200, d=10, C=math.sqrt(30.3))
    for epochs in range(1, 30):
        for n_jobs in (1, 2):
            solution = run_sdca(problem, tol=1e-12, max_epochs=epochs, n_jobs=n_jobs)
            assert solution.reason == "tol" or solution.epochs == epochs


def test_repeated_rows_are_whole_weights():
    problem = make_problem(bias=0.5)
    s = np.arange(problem.m) % 4
    weighted = Problem(problem.X, problem.y, s.astype(float), problem.C, problem.bias)
    repeated = Problem(
        np.repeat(problem.X, s, axis=0), np.repeat(problem.y, s), np.ones(s.sum()), problem.C, problem.bias
    )
    ours, theirs = (run_sdca(each, tol=1e-12, max_epochs=10**6) for each in (weighted, repeated))
    assert ours.bounds.primal == pytest.approx(theirs.bounds.primal, rel=1e-10)
    np.testing.assert_allclose(ours.w, theirs.w, atol=1e-5)


def test_warm_start_continues_from_the_dual_point():
    problem = PROBLEMS["weights and bias"]
    sequence = np.random.default_rng(0).integers(problem.m, size=60).astype(np.uint32)
    whole = run_sdca(problem, visits=sequence)
    for steps in (1, 10, 59):
        first = run_sdca(problem, visits=sequence[:steps])
        second = run_sdca(problem, visits=sequence[steps:], start_q=first.q, start_t=first.t)
        assert second.t == whole.t
        assert_same(second.w, whole.w)
        assert second.bounds.dual >= first.bounds.dual * (1 - 1e-12)
    solved = run_sdca(problem, tol=1e-9, max_epochs=10**5)
    again = run_sdca(problem, tol=1e-9, max_epochs=10**5, start_q=solved.q)
    assert (again.reason, again.epochs) == ("tol", 1)
    assert again.bounds.dual >= solved.bounds.dual * (1 - 1e-12)
    with pytest.raises(ValueError, match="lengths differ"):
        run_sdca(problem, start_q=np.zeros(3))


def test_warm_start_of_the_estimator():
    problem = PROBLEMS["weights and bias"]
    clf = LinearSVC(C=problem.C, solver="sdca", tol=1e-9, warm_start=True, random_state=0)
    first = clf.fit(problem.X, problem.y, problem.s).certificate_
    second = clf.fit(problem.X, problem.y, problem.s).certificate_
    assert second.n_iter < first.n_iter / 4
    clf.set_params(C=2 * problem.C).fit(problem.X, problem.y, problem.s)
    fresh = LinearSVC(C=2 * problem.C, solver="sdca", tol=1e-9, random_state=0).fit(problem.X, problem.y, problem.s)
    assert clf.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=1e-8)


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-6, 1e-10])
def test_tol_ends_a_run(tol):
    problem = PROBLEMS["large C"]
    solution = run_sdca(problem, tol=tol, max_epochs=10**6)
    assert solution.reason == "tol"
    assert gap(solution) <= tol
    assert solution.epochs < 10**6
    assert_certified(problem, solution)


@pytest.mark.parametrize("n_jobs", [1, 2, 40])
def test_time_limit(ticks, n_jobs):
    problem = PROBLEMS["plain"]
    solution = run_sdca(problem, max_epochs=1e18, max_seconds=0.05, n_jobs=n_jobs)
    assert solution.reason == "max_time"
    assert 0.05 <= solution.seconds < 1
    assert_certified(problem, solution)


@pytest.mark.parametrize("order", ["auto", "permute", "blocks"])
@pytest.mark.parametrize("shrink", [False, True])
def test_the_estimators_options(order, shrink):
    problem = PROBLEMS["bias"]
    clf = LinearSVC(C=problem.C, solver=SDCA(order=order, shrink=shrink), tol=1e-6, intercept_scaling=0.75)
    found = clf.fit(problem.X, problem.y).certificate_
    assert found.primal == pytest.approx(optimum(problem)[1], rel=1e-6)
    assert f"shrink={shrink}" in found.solver or shrink


def test_the_seed_decides_the_run_bit_by_bit():
    problem = PROBLEMS["weights and bias"]
    first, again, other = (run_sdca(problem, seed=seed, max_epochs=3) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w, again.w)
    np.testing.assert_array_equal(first.q, again.q)
    assert (first.w != other.w).any()
