"""SGD-r, SGD-s, SGD-m: step by step against their twins, and what S3 says of them (cpp/linear/solvers/sgd.cpp)."""

import math

import numpy as np
import pytest
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    assert_same,
    make_problem,
    optimum,
    run_sgd,
    storage_name,
)

from pegasos._core import available, load, native
from pegasos.reference import s3

PROBLEMS = {
    "plain": make_problem(m=20),
    "bias": make_problem(m=20, bias=0.75),
    "weights": make_problem(m=20, weighted=True),
    "weights and bias": make_problem(m=20, weighted=True, bias=1.0),
    "large C": make_problem(m=20, weighted=True, C=math.sqrt(400.3)),
    "small C": make_problem(m=20, weighted=True, C=math.sqrt(1e-5)),
}
TWINS = {"r": s3.sgd_r, "s": s3.sgd_s, "m": s3.sgd_m}

any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_kind = pytest.mark.parametrize("kind", TWINS)


def draw_sequence(problem, kind, passes, seed=0):
    """Row numbers: independent draws for SGD-r, permutations for the others."""
    random = np.random.default_rng(seed)
    if kind == "r":
        return random.integers(problem.m, size=passes * problem.m).astype(np.uint32)
    return np.concatenate([random.permutation(problem.m) for _ in range(passes)]).astype(np.uint32)


def reference(problem, kind, sequence, **options):
    """All states of the twin."""
    return list(TWINS[kind](problem.augmented, problem.y, problem.C, sequence, s=problem.s, **options))


@any_storage
@any_problem
@any_kind
def test_every_step_is_the_twins(problem, storage, kind):
    sequence = draw_sequence(problem, kind, passes=3)
    for steps, state in enumerate(reference(problem, kind, sequence)):
        if steps > 0:
            solution = run_sgd(problem, kind, storage=storage, visits=sequence, max_steps=steps)
            assert_same(solution.w, state.w)
            assert (solution.steps, solution.t) == (steps, state.t)
            assert solution.epochs == pytest.approx(steps / problem.m)


@pytest.mark.parametrize("level", available())
@any_kind
def test_every_build_gives_the_same(level, kind):
    problem = PROBLEMS["weights and bias"]
    ours, other = (run_sgd(problem, kind, core=build, max_passes=40) for build in (native, load(level)))
    assert_same(other.w, ours.w)
    assert_same(other.q, ours.q)


@pytest.mark.parametrize("options", [{}, {"multiplicity": 3, "period": 4, "burst": 2}, {"burst": 0}], ids=str)
def test_multiplicity_follows_its_pattern(options):
    """t tells how often rows were presented: by default 5 times in the passes T with 0 < T mod 9 < 5."""
    problem, t = PROBLEMS["plain"], 0
    for T in range(20):
        t += problem.m * s3.multiplicity_in_pass(T, **options)
        assert run_sgd(problem, "m", max_passes=T + 1, **options).t == t
    sequence = draw_sequence(problem, "m", passes=20)
    states = reference(problem, "m", sequence, **options)
    assert_same(run_sgd(problem, "m", max_passes=20, visits=sequence, **options).w, states[-1].w)


def test_multiplicity_one_is_sgd_s():
    problem = PROBLEMS["weights"]
    single, multiple = run_sgd(problem, "s", max_passes=30), run_sgd(problem, "m", max_passes=30, multiplicity=1)
    np.testing.assert_array_equal(single.w, multiple.w)


@any_storage
@any_problem
@any_kind
def test_certificates_are_true(problem, storage, kind):
    for passes in (1, 2, 7, 40):
        solution = run_sgd(problem, kind, storage=storage, max_passes=passes)
        assert_certified(problem, solution)
        assert (solution.reason, solution.epochs) == ("budget", passes)


@any_kind
def test_certificates_are_true_within_an_epoch(kind):
    problem = PROBLEMS["weights and bias"]
    for steps in (1, 2, problem.m - 1, problem.m + 1, 5 * problem.m + 3):
        solution = run_sgd(problem, kind, max_steps=steps)
        assert solution.steps == steps
        assert_certified(problem, solution)


@any_problem
@pytest.mark.parametrize("kind", ["s", "m"])
@pytest.mark.parametrize("seed", range(3))
def test_s3_proposition_2(problem, kind, seed):
    """After complete epochs the dual value is C M/T - 1/2 ||w||^2, its q are the shares of margin errors. The
    certificate has the highest of those that were looked at: after passes 1, 2, 4, ... and at the end."""
    _, value = optimum(problem)
    sequence = draw_sequence(problem, kind, passes=12, seed=seed)
    bounds = [state.L for state in reference(problem, kind, sequence) if state.L is not None]
    assert len(bounds) == 12
    for passes, L in enumerate(bounds, start=1):
        solution = run_sgd(problem, kind, visits=sequence, max_passes=passes)
        highest = max(bounds[count - 1] for count in {1, 2, 4, 8, passes} if count <= passes)
        assert solution.bounds.dual == pytest.approx(highest, rel=1e-9, abs=1e-9 * value)
        assert value * (1 + 1e-9) >= L
        if highest == L:
            assert_same(solution.w, problem.augmented.T @ (problem.C * problem.s * solution.q * problem.y))


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("C", [0.02, 0.5, 20.0])
def test_s3_proposition_1(C, kind):
    """||w_t|| <= sqrt(1 + (R^2/lam - 1)/t) / sqrt(lam), along the whole run, for rows without weights."""
    problem = make_problem(m=20, bias=0.5, C=math.sqrt(C**2 * 1.01))
    lam, R, sequence = 1 / (problem.C * problem.m), problem.R, draw_sequence(problem, kind, passes=6)
    for steps in range(1, len(sequence) + 1):
        found = run_sgd(problem, kind, visits=sequence, max_steps=steps)
        bound = np.sqrt((1 + (R**2 / lam - 1) / found.t) / lam)
        assert np.linalg.norm(found.w) <= bound * (1 + 1e-12)


def test_s3_footnote_4():
    """Random selection visits rows unequally often: the paper's alpha leaves the box, less and less; ours never."""
    problem = make_problem(m=20)
    _, value = optimum(problem)
    excess = []
    for passes in (1, 10, 100, 1000):
        sequence = draw_sequence(problem, "r", passes)
        errors, state = np.zeros(problem.m), None
        for k, after in zip(sequence, reference(problem, "r", sequence)[1:], strict=True):
            errors[k] += after.M - (state.M if state else 0)
            state = after
        alpha = errors / (state.lam * state.t)  # as in the proof of Proposition 2
        excess.append(alpha.max() / problem.C - 1)
        visits = np.bincount(sequence, minlength=problem.m)
        assert visits.min() < visits.max()
        solution = run_sgd(problem, "r", visits=sequence, max_passes=passes)
        assert_same(solution.w, state.w)
        assert_certified(problem, solution)
    assert excess[0] > 0.5  # far outside the box,
    assert 0 < excess[-1] < 0.15  # and nearly in it
    assert solution.bounds.dual >= 0.9 * value


@pytest.mark.parametrize("kind", ["s", "m"])
def test_s3_footnote_5(kind):
    """The objective is evaluated only where its free estimate promises `tol`; how much it must promise is f's say."""
    problem = make_problem(m=200, d=10, seed=3, C=math.sqrt(0.01))
    tol = 0.01
    eager, usual, strict = (
        run_sgd(problem, kind, tol=tol, check_factor=f, max_passes=10**5) for f in (math.inf, 1.2, 0.5)
    )
    for solution in (eager, usual, strict):
        assert solution.reason == "tol"
        assert native.relative_gap(solution.bounds.primal, solution.bounds.dual) <= tol
        assert_certified(problem, solution)
    assert len(eager.history) == eager.epochs  # each pass ended in an evaluation
    assert len(usual.history) < usual.epochs
    assert len(strict.history) <= len(usual.history)
    assert eager.epochs <= usual.epochs <= strict.epochs
    states = reference(problem, kind, draw_sequence(problem, kind, passes=10))
    estimates = [(state.J, problem.primal(state.w)) for state in states if state.J is not None]
    for J, primal in estimates[5:]:
        assert pytest.approx(primal, rel=0.1) == J


@any_storage
@any_kind
def test_tol_ends_a_run(storage, kind):
    problem = PROBLEMS["weights and bias"]
    solution = run_sgd(problem, kind, storage=storage, tol=0.05, max_passes=10**6)
    assert solution.reason == "tol"
    assert native.relative_gap(solution.bounds.primal, solution.bounds.dual) <= 0.05
    assert_certified(problem, solution)


def test_whole_weights_are_repeated_presentations():
    """A row of weight 2 in SGD-s is not two rows, but it has the same optimum, and certificates agree on it."""
    problem = make_problem(m=20)
    s = 1.0 + np.arange(problem.m) % 3
    weighted = Problem(problem.X, problem.y, s, problem.C)
    repeated = Problem(
        *(np.repeat(part, s.astype(int), axis=0) for part in (problem.X, problem.y, problem.s)), problem.C
    )
    ours, theirs = (run_sgd(each, "s", tol=0.01, max_passes=10**6) for each in (weighted, repeated))
    assert ours.bounds.dual <= theirs.bounds.primal
    assert theirs.bounds.dual <= ours.bounds.primal


def test_rows_of_no_weight_and_empty_rows():
    problem = make_problem(m=20)
    X = problem.X * (np.arange(problem.m) % 4 > 0)[:, None]
    bare = Problem(X, problem.y, (np.arange(problem.m) % 3 > 0).astype(float), problem.C)
    for kind in TWINS:
        sequence = draw_sequence(bare, kind, passes=12)
        solution = run_sgd(bare, kind, visits=sequence, max_passes=12)
        assert_same(solution.w, reference(bare, kind, sequence)[-1].w)
        assert_certified(bare, solution)


@any_kind
def test_warm_start_continues(kind):
    problem = PROBLEMS["weights and bias"]
    sequence = draw_sequence(problem, kind, passes=2)
    whole = run_sgd(problem, "s", visits=sequence, max_steps=len(sequence))
    for steps in (1, 7, problem.m):
        first = run_sgd(problem, "s", visits=sequence, max_steps=steps)
        rest = sequence[steps:]
        second = run_sgd(problem, "s", visits=rest, max_steps=len(rest), start_w=first.w, start_t=first.t)
        assert second.t == whole.t
        assert_same(second.w, whole.w)
        assert_certified(problem, second)


@any_kind
def test_the_seed_decides_the_run_bit_by_bit(kind):
    problem = PROBLEMS["weights and bias"]
    first, again, other = (run_sgd(problem, kind, seed=seed, max_passes=20) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w, again.w)
    np.testing.assert_array_equal(first.q, again.q)
    assert (first.w != other.w).any()


def test_time_limit(ticks):
    problem = PROBLEMS["plain"]
    solution = run_sgd(problem, "m", max_passes=2**62, max_seconds=0.05)
    assert solution.reason == "max_time"
    assert 0.05 <= solution.seconds < 1
    assert_certified(problem, solution)


def test_other_losses_are_refused():
    with pytest.raises(ValueError, match="loss 'logistic'"):
        run_sgd(PROBLEMS["plain"], loss="logistic")
