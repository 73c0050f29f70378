"""SGD-s on all classes jointly (cpp/classes/solvers/joint_sgd.cpp): steps against the twin, bounds, the optimum."""

import doctest
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from joint_helpers import (
    PROBLEMS,
    any_loss,
    any_problem,
    any_storage,
    assert_certified,
    gap,
    joint_problem,
    make_problem,
    optimum,
    run_sgd,
)
from linear_helpers import STORAGES, assert_same
from sklearn.datasets import load_iris, make_classification

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.base.outcome import Budget
from pegasos.reference import multiclass
from pegasos.solvers import SGDS


def draw_sequence(problem, passes, seed=0):
    """All rows once in each pass, in random order."""
    random = np.random.default_rng(seed)
    return np.concatenate([random.permutation(problem.m) for _ in range(passes)]).astype(np.uint32)


def twin(problem, loss, sequence):
    """The states after 0, 1, ... visits."""
    return list(
        multiclass.joint_sgd_s(
            problem.augmented, problem.y, problem.C, sequence, loss=loss, cost=problem.cost, s=problem.s
        )
    )


def mean_slopes(problem, loss, sequence, states):
    """The mean of the slopes met at each row, computed from the weights before each visit."""
    sums = np.zeros((problem.m, problem.K))
    for k, state in zip(sequence, states, strict=False):
        sums[k] += multiclass.slope(problem.augmented[k] @ state.w, int(problem.y[k]), loss, problem.cost)
    return sums / sums.sum(axis=1, keepdims=True)


def unlike(problem):
    """The problem with costs such that no two classes have the same score and cost."""
    factors = np.sqrt(1 + np.arange(problem.K**2).reshape(problem.cost.shape) / problem.K**2)
    return replace(problem, cost=problem.cost * factors)


def assert_true(problem, loss, solution):
    """The certificate; for the log loss a rescaled point may be better than its bound says."""
    assert_certified(problem, loss, solution, exact=loss == "hinge")


def test_the_twins_example():
    failed, attempted = doctest.testmod(multiclass)
    assert attempted > 0
    assert failed == 0


# The steps.


@any_loss
@any_storage
@any_problem
def test_every_step_is_the_twins(problem, storage, loss):
    problem = unlike(problem)
    sequence = draw_sequence(problem, passes=2)
    states = twin(problem, loss, sequence)
    for steps in (1, 2, 3, 7, problem.m, problem.m + 1, 2 * problem.m):
        solution = run_sgd(problem, loss, storage=storage, visits=sequence, max_steps=steps)
        assert_same(solution.w, states[steps].w.ravel(), rtol=1e-9)
        assert (solution.steps, solution.t) == (steps, steps)
        assert solution.epochs == pytest.approx(steps / problem.m)


@any_problem
def test_of_equal_classes_it_takes_the_first(problem):
    sequence = np.array([2], dtype=np.uint32)
    *_, state = twin(problem, "hinge", sequence)
    assert_same(run_sgd(problem, "hinge", visits=sequence, max_steps=1).w, state.w.ravel())


@any_loss
@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level, loss):
    problem = PROBLEMS["weights and bias"]
    ours, other = (run_sgd(problem, loss, core=build, max_passes=10) for build in (native, load(level)))
    assert_same(other.w, ours.w, rtol=1e-9)


# The bound.


@any_loss
@any_problem
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_whole_epochs(problem, loss, seed):
    """Its dual point is the mean slopes, whose value is S3's bound for the hinge loss, and by Jensen above it for the
    log loss."""
    problem = unlike(problem)
    value = optimum(problem, loss)
    sequence = draw_sequence(problem, passes=8, seed=seed)
    states = twin(problem, loss, sequence)
    for passes in range(1, 9):
        visits = passes * problem.m
        L = states[visits].L
        assert value * (1 + 1e-9) >= L
        P = mean_slopes(problem, loss, sequence[:visits], states)
        solution = run_sgd(problem, loss, visits=sequence, max_passes=passes)
        own = problem.dual(P.ravel(), loss)
        if loss == "hinge":
            highest = max(states[n * problem.m].L for n in {1, 2, 4, 8, passes} if n <= passes)  # of the checks
            if highest == L:
                assert_same(solution.q, P.ravel(), rtol=1e-6)
            assert solution.bounds.dual == pytest.approx(highest, rel=1e-9, abs=1e-9 * value)
            U = problem.augmented.T @ (problem.C * problem.s[:, None] * (np.eye(problem.K)[problem.y] - P))
            assert_same(solution.w, U.ravel(), rtol=1e-9)
        else:
            assert own >= L - 1e-9 * value
            assert solution.bounds.dual >= own - 1e-5 * value
        assert own == pytest.approx(L, rel=1e-9, abs=1e-9 * value) or loss == "log_loss"


@any_loss
def test_the_free_estimate_is_near_the_objective(loss):
    problem = make_problem(m=200, d=10, seed=3, C=math.sqrt(0.01))
    states = twin(problem, loss, draw_sequence(problem, passes=10))
    estimates = [(state.J, problem.primal(state.w.ravel(), loss)) for state in states if state.J is not None]
    assert len(estimates) == 10
    for J, primal in estimates[5:]:
        assert pytest.approx(primal, rel=0.1) == J


@any_loss
def test_how_much_the_estimate_must_promise(loss):
    """The objective is computed only where the free estimate is within f times tol (S3 footnote 5)."""
    problem = make_problem(m=200, d=10, seed=3, C=math.sqrt(0.01))
    eager, usual, strict = (
        run_sgd(problem, loss, tol=0.02, check_factor=f, max_passes=10**5) for f in (math.inf, 1.2, 0.5)
    )
    for solution in (eager, usual, strict):
        assert solution.reason == "tol"
        assert gap(solution) <= 0.02
        assert_true(problem, loss, solution)
    assert len(eager.history) == eager.epochs  # each pass ended in an evaluation
    assert len(usual.history) < usual.epochs
    assert len(strict.history) <= len(usual.history)
    assert eager.epochs <= usual.epochs <= strict.epochs


@any_loss
def test_when_it_checks(loss):
    """After passes 1, 2, 4, ..., and where the twin's J - L <= f tol L."""
    problem = make_problem(m=50, d=10, seed=3, C=math.sqrt(0.01), weighted=True)
    tol, f, passes = (0.02, 3.0, 200) if loss == "hinge" else (0.01, 5.0, 60)
    sequence = draw_sequence(problem, passes)
    found = run_sgd(problem, loss, visits=sequence, tol=tol, check_factor=f, max_passes=passes)
    assert found.reason == "tol"
    ends = [state for state in twin(problem, loss, sequence) if state.L is not None]
    expected = [state.T for state in ends if state.T & (state.T - 1) == 0 or f * tol * state.L >= state.J - state.L]
    checks = [epoch for _, epoch, _, _ in found.history]
    assert checks == expected[: len(checks)]
    assert any(math.log2(epoch) % 1 for epoch in checks)


@any_loss
@any_storage
@any_problem
def test_certificates_are_true(problem, storage, loss):
    for passes in (1, 2, 7, 40):
        solution = run_sgd(problem, loss, storage=storage, max_passes=passes)
        assert_true(problem, loss, solution)
        assert (solution.reason, solution.epochs) == ("budget", passes)


@any_loss
def test_certificates_are_true_within_an_epoch(loss):
    problem = PROBLEMS["costs"]
    for steps in (1, 2, problem.m - 1, problem.m + 1, 5 * problem.m + 3):
        solution = run_sgd(problem, loss, max_steps=steps)
        assert solution.steps == steps
        assert_true(problem, loss, solution)


@any_loss
@any_storage
def test_tol_ends_a_run(storage, loss):
    problem = PROBLEMS["costs"]
    solution = run_sgd(problem, loss, storage=storage, tol=0.03, max_passes=10**5)
    assert solution.reason == "tol"
    assert gap(solution) <= 0.03
    assert_true(problem, loss, solution)


@any_loss
def test_threads_share_the_checks(loss):
    problem = make_problem(m=200, K=7, weighted=True, bias=1.0)
    alone, together = (run_sgd(problem, loss, max_passes=9, n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(alone.w, together.w)
    assert together.bounds.dual == pytest.approx(alone.bounds.dual, rel=1e-12)
    assert_true(problem, loss, together)


@any_loss
def test_whole_weights_are_repeated_rows(loss):
    """A row of weight 2 is visited once, but has the optimum of two rows, and certificates agree on it."""
    problem = make_problem(bias=0.5, costs=True)
    s = np.arange(problem.m) % 4
    weighted = replace(problem, s=s.astype(float))
    repeated = replace(problem, X=np.repeat(problem.X, s, axis=0), y=np.repeat(problem.y, s), s=np.ones(s.sum()))
    ours, theirs = (run_sgd(each, loss, tol=0.01, max_passes=10**5) for each in (weighted, repeated))
    assert ours.reason == theirs.reason == "tol"
    assert ours.bounds.dual <= theirs.bounds.primal
    assert theirs.bounds.dual <= ours.bounds.primal
    assert ours.bounds.primal == pytest.approx(optimum(repeated, loss), rel=0.01)


@any_loss
def test_oddities(loss):
    """Some rows without weight, some empty, some the same as others; a class without rows."""
    base = make_problem(weighted=True, m=60)
    X, y, s = base.X.copy(), base.y.copy(), base.s.copy()
    s[::5] = 0
    X[1::7] = 0
    X[2::7] = X[3::7][: len(X[2::7])]
    y[y == 2] = 0
    for bias in (0.0, 1.0):
        problem = unlike(replace(base, X=X, y=y, s=s, bias=bias))
        sequence = draw_sequence(problem, passes=5)
        solution = run_sgd(problem, loss, visits=sequence, max_passes=5)
        assert_same(solution.w, twin(problem, loss, sequence)[-1].w.ravel(), rtol=1e-9)
        assert_true(problem, loss, solution)


# Runs.


@any_loss
def test_a_run_continues_from_weights_and_steps(loss):
    problem = PROBLEMS["weights and bias"]
    sequence = draw_sequence(problem, passes=3)
    whole = run_sgd(problem, loss, visits=sequence, max_steps=len(sequence))
    for steps in (1, 7, problem.m):
        first = run_sgd(problem, loss, visits=sequence, max_steps=steps)
        rest = sequence[steps:]
        second = run_sgd(problem, loss, visits=rest, max_steps=len(rest), start_w=first.w, start_t=first.t)
        assert second.t == whole.t
        assert_same(second.w, whole.w)
        assert_true(problem, loss, second)


@any_loss
@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_the_seed_decides_the_run_bit_by_bit(loss, tol):
    problem = PROBLEMS["weights and bias"]
    first, again, other = (run_sgd(problem, loss, seed=seed, tol=tol, max_passes=20) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w, again.w)
    np.testing.assert_array_equal(first.q, again.q)
    assert (first.w != other.w).any()


@any_loss
def test_time_limit(ticks, loss):
    problem = PROBLEMS["plain"]
    solution = run_sgd(problem, loss, max_passes=2**62, max_seconds=0.05)
    assert solution.reason == "max_time"
    assert 0.05 <= solution.seconds < 1
    assert_true(problem, loss, solution)


@any_loss
def test_interrupts_end_a_run(loss):
    class Interrupt(Exception):
        pass

    def progress(epoch, seconds):
        raise Interrupt

    with pytest.raises(Interrupt):
        run_sgd(PROBLEMS["plain"], loss, max_passes=2**62, progress=progress)


def test_wrong_arguments_are_refused():
    problem = PROBLEMS["plain"]
    with pytest.raises(ValueError, match="lengths differ"):
        run_sgd(problem, "hinge", start_w=np.zeros(3))
    with pytest.raises(ValueError, match="out of range"):
        run_sgd(problem, "hinge", visits=np.array([99], dtype=np.uint32))


# The class, and the estimator.


@any_loss
def test_the_class(loss):
    problem = PROBLEMS["costs"]
    budget = Budget(tol=0.05, max_iter=10**5, max_time=None)
    found = SGDS(check_factor=2.0).solve(joint_problem(problem, loss), budget, 0)
    assert (found.reason, str(found.used)) == ("tol", "SGDS(check_factor=2.0)")
    assert found.bounds.primal == pytest.approx(optimum(problem, loss), rel=0.05)
    short = Budget(tol=0, max_iter=3, max_time=None)
    again = SGDS().solve(joint_problem(problem, loss), short, 0, found.start)
    assert (again.reason, again.t) == ("max_iter", found.t + 3 * problem.m)
    assert again.bounds.primal == pytest.approx(found.bounds.primal, rel=0.05)  # it did not begin again at t = 1


X, Y = load_iris(return_X_y=True)


def fit(X=X, y=Y, sample_weight=None, **options):
    options = {"multi_class": "joint", "solver": "sgd-s", "C": 0.1, "tol": 0.02, "random_state": 0} | options
    return LinearSVC(**({"max_iter": 10**5} | options)).fit(X, y, sample_weight)


def store(X, storage):
    kind, dtype, index = storage
    if kind == "dense":
        return X.astype(dtype)
    rows = sp.csr_matrix(X.astype(dtype))
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    return rows


@any_loss
@pytest.mark.parametrize("storage", STORAGES[:4], ids=str)
def test_a_fit_reaches_tol(loss, storage):
    data = store(X, storage)
    found = fit(data, loss=loss).certificate_
    assert found.converged
    assert found.gap <= 0.02
    assert found.solver == "SGDS()"
    exact = fit(data, loss=loss, solver="sdca", tol=1e-7).certificate_
    assert found.dual <= exact.primal
    assert exact.dual <= found.primal <= 1.02 * exact.primal


def test_costs_count():
    X, y = make_classification(300, 8, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    cost = np.array([[0, 1, 1], [1, 0, 1], [9, 9, 0]])
    plain, costly = (fit(X, y, cost=given) for given in (None, cost))
    assert np.sum((costly.predict(X) != 2) & (y == 2)) < np.sum((plain.predict(X) != 2) & (y == 2))


@any_loss
def test_sample_weights_are_repeated_examples(loss):
    s = np.random.default_rng(0).integers(0, 4, len(Y))
    weighted = fit(sample_weight=s, loss=loss).certificate_
    repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s), loss=loss).certificate_
    assert weighted.primal == pytest.approx(repeated.primal, rel=0.02)
    assert weighted.dual <= repeated.primal
    assert repeated.dual <= weighted.primal


@any_loss
def test_warm_start(loss):
    clf = fit(loss=loss, warm_start=True)
    primal = clf.certificate_.primal
    clf.set_params(tol=0, max_iter=2).fit(X, Y)
    anew = fit(loss=loss, tol=0, max_iter=2)
    assert clf.n_iter_ == anew.n_iter_ == 2
    assert clf.certificate_.primal < 1.1 * primal < anew.certificate_.primal


@any_loss
def test_early_stopping(loss):
    clf = fit(loss=loss, tol=1e-9, max_iter=1000, early_stopping=True)
    assert clf.certificate_.reason == "early_stopping"
    assert clf.n_iter_ < 1000
    assert clf.score(X, Y) > 0.8


@pytest.mark.parametrize("solver", ["sgd-m", "sgd-r"])
def test_the_others_are_refused(solver):
    with pytest.raises(
        ValueError, match=f"{solver} does not support multi_class='joint'; use solver='auto', 'sdca', 'sgd-s'"
    ):
        fit(solver=solver)
