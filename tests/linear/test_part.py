"""Dual coordinate ascent on a part of the rows (cpp/linear/solvers/ascent.cpp): step by step against its twin, and
whole problems from parts."""

import numpy as np
import pytest
from linear_helpers import STORAGES, assert_same, make_problem, optimum, storage_name

from pegasos._core import native
from pegasos.base.bounds import Bounds
from pegasos.reference import dca
from pegasos.reference import losses as reference_losses
from pegasos.reference.losses import LOSSES

any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)


def core(problem, storage=STORAGES[1], loss="hinge", rows=None, epsilon=0.0):
    """The problem in the core's hands; `rows` has some of its rows."""
    if rows is None:
        return native.Problem(problem.rows(storage), problem.y, problem.s, problem.C, loss, False, epsilon)
    part = native.dense_rows(np.ascontiguousarray(problem.X[rows]), problem.bias)
    return native.Problem(part, problem.y[rows], problem.s[rows], problem.C, loss, False, epsilon)


def shuffled(n_rows, seed):
    return np.random.default_rng(seed).permutation(n_rows).astype(np.uint32)


@any_storage
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_every_step_is_the_twins(storage, sigma):
    problem = make_problem(weighted=True, bias=0.75)
    random = np.random.default_rng(0)
    sequence = random.integers(problem.m, size=40).astype(np.uint32)
    w0 = random.integers(-4, 5, size=problem.X.shape[1] + 1) / 8
    twin = dca.dca(problem.augmented, problem.y, problem.C, sequence, s=problem.s, w=w0, sigma=sigma)
    iterates = list(twin)
    for steps in range(1, len(sequence) + 1):
        q, w = np.zeros(problem.m), w0.copy()
        report = native.visit(core(problem, storage), native.Run(), q=q, w=w, caution=sigma, order=sequence[:steps])
        alpha, expected = iterates[steps]
        assert_same(w, expected)
        assert_same(q, alpha / (problem.C * problem.s))
        assert report.linear == pytest.approx(alpha.sum())
        assert report.count == steps


def test_the_intercept_is_by_the_method_of_multipliers():
    """A visit is that of the twin with the constant feature sqrt(step), at the fixed intercept kappa b."""
    problem, b, rho = make_problem(weighted=True, bias=1.0), 0.5, 1 / 3
    kappa, feature = 3 / 4, 1 / 2  # step = kappa rho = 1/4
    sequence = np.random.default_rng(0).integers(problem.m, size=40).astype(np.uint32)
    rows = np.column_stack([problem.X, np.full(problem.m, feature)])
    *_, (alpha, expected) = dca.dca(rows, problem.y, problem.C, sequence, s=problem.s, b=kappa * b)
    q, w = np.zeros(problem.m), np.zeros(problem.X.shape[1] + 1)
    native.visit(core(problem), native.Run(), q=q, w=w, order=sequence, b=b, rho=rho)
    np.testing.assert_allclose(q, alpha / (problem.C * problem.s), rtol=1e-12)
    np.testing.assert_allclose(w, expected / np.append(np.ones(problem.X.shape[1]), feature), rtol=1e-12)


def test_rows_at_a_bound_rest_and_a_measure_wakes_those_that_must_move():
    problem = make_problem(m=60)
    q, w, rest = np.zeros(60), np.zeros(problem.X.shape[1] + 1), np.zeros(60, np.uint8)
    block, visits = core(problem), []
    for seed in range(30):
        before = rest.copy()
        visits.append(native.visit(block, native.Run(), q=q, w=w, order=shuffled(60, seed), rest=rest).count)
        assert visits[-1] == (before == 0).sum()
        np.testing.assert_array_equal(rest[before > 0], before[before > 0] - 1)
        assert np.isin(q[(rest > 0) & (before == 0)], [0, 1]).all()
    assert visits[0] == 60
    assert sum(visits) < 0.8 * 30 * 60
    rest[:] = 9
    native.measure(block, native.Run(), w=np.zeros_like(w), q=np.zeros(60), rest=rest)
    assert not rest.any()  # at zero all want to move


@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_in_turn_reach_the_optimum(loss):
    problem = make_problem(weighted=True, bias=1.0, m=60)
    parts = np.array_split(np.random.default_rng(0).permutation(problem.m), 4)
    w, q = np.zeros(problem.X.shape[1] + 1), [np.zeros(len(part)) for part in parts]
    problems = [core(problem, loss=loss, rows=part, epsilon=0.1) for part in parts]
    for epoch in range(300):
        for block, own in zip(problems, q, strict=True):
            native.visit(block, native.Run(), q=own, w=w, order=shuffled(len(own), epoch))
    measures = [native.measure(block, native.Run(), w=w, q=own) for block, own in zip(problems, q, strict=True)]
    u = sum(part.u for part in measures)
    np.testing.assert_allclose(w, u, atol=1e-12)
    primal = w @ w / 2 + sum(part.losses for part in measures)
    dual = sum(part.linear for part in measures) - u @ u / 2
    assert dual <= primal * (1 + 1e-12)
    assert primal - dual <= 1e-5 * primal
    exact = reference_losses.primal(loss, problem.augmented, problem.y, problem.s, problem.C, w, 0.1)
    assert primal == pytest.approx(exact, rel=1e-12)
    if loss == "hinge":
        assert primal == pytest.approx(optimum(problem)[1], rel=1e-5)


def test_parts_at_a_time_with_caution_never_fall():
    problem = make_problem(weighted=True, m=60)
    parts = np.array_split(np.arange(problem.m), 3)
    problems = [core(problem, rows=part) for part in parts]
    q, w, dual = [np.zeros(len(part)) for part in parts], np.zeros(problem.X.shape[1] + 1), 0.0
    for epoch in range(200):
        changed = [w.copy() for _ in parts]
        for block, own, local in zip(problems, q, changed, strict=True):
            native.visit(block, native.Run(), q=own, w=local, order=shuffled(len(own), epoch), caution=3.0)
        w = w + sum(local - w for local in changed) / 3
        measures = [native.measure(block, native.Run(), w=w, q=own) for block, own in zip(problems, q, strict=True)]
        now = sum(part.linear for part in measures) - w @ w / 2
        assert now >= dual - 1e-12
        dual = now
    assert dual == pytest.approx(optimum(problem)[1], rel=1e-6)


def test_rows_without_weight_rest_and_empty_rows_are_at_their_bound():
    problem = make_problem()
    X, s = problem.X.copy(), problem.s.copy()
    X[3] = 0
    s[5] = 0
    q, w = np.zeros(problem.m), np.zeros(problem.X.shape[1] + 1)
    block = native.Problem(native.dense_rows(X, 0.0), problem.y, s, problem.C, "hinge")
    for epoch in range(3):
        native.visit(block, native.Run(), q=q, w=w, order=shuffled(problem.m, epoch))
    assert q[3] == 1
    assert q[5] == 0


def test_lengths_must_fit():
    problem = make_problem()
    with pytest.raises(ValueError, match="lengths differ"):
        native.visit(
            core(problem), native.Run(), q=np.zeros(3), w=np.zeros(problem.X.shape[1] + 1), order=shuffled(3, 0)
        )


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
def test_sums_of_parts_allow_for_their_rounding(loss, C, scale):
    """Against values in more than double precision."""
    random, long = np.random.default_rng(0), np.longdouble
    X, s = scale * random.normal(size=(300, 7)), random.uniform(0, 2, size=300)
    y = random.normal(size=300) if loss == "epsilon_insensitive" else np.where(random.random(300) < 0.4, -1.0, 1.0)
    w, q = random.normal(size=8) / scale, random.random(300)
    fit = native.Ascent(8, 300, tol=0.0, usual=1.0)
    fit.set_point(native.Measure(0.0, 0.0, 0.0, 0.0, w, 0.0))
    fit.begin_check()
    for part in np.array_split(np.arange(300), 7):
        rows = native.dense_rows(np.ascontiguousarray(X[part]), 1.0)
        problem = native.Problem(rows, y[part], s[part], C, loss, False, 0.1)
        fit.measure(problem, native.Run(), q=q[part])
    fit.end_check(native.Run(), out_of_time=False, last=True)
    bounds = fit.bounds
    x, c, u, y = (
        np.column_stack([X, np.ones(300)]).astype(long),
        long(C) * s.astype(long),
        q.astype(long),
        y.astype(long),
    )
    if loss == "epsilon_insensitive":
        losses, duals, acts = np.maximum(abs(x @ w - y) - long(0.1), 0), y * u - long(0.1) * u, c * u
    else:
        power = 2 if loss == "squared_hinge" else 1
        losses = np.maximum(1 - y * (x @ w), 0) ** power
        duals, acts = u - u * u / 4 * (power - 1), c * u * y
    primal = w.astype(long) @ w.astype(long) / 2 + c @ losses
    dual = c @ duals - np.sum((acts @ x) ** 2) / 2
    assert primal <= bounds.primal <= float(primal) + 2 * bounds.above
    assert bounds.above <= 1e-12 * bounds.primal
    if dual <= 0:
        assert bounds.dual == 0
    else:
        assert float(dual) - 2 * bounds.below <= bounds.dual <= dual
        assert bounds.below <= 1e-11 * (float(c @ abs(duals)) + float(np.sum((acts @ x) ** 2)))


def test_the_best_of_bounds():
    first, second = Bounds(2.0, 1.0, 0.1, 0.2), Bounds(3.0, 1.5, 0.3, 0.4)
    assert first.best(second) == second.best(first) == Bounds(2.0, 1.5, 0.1, 0.4)
    assert first.gap == 1
    assert not first.mostly_rounding
    assert Bounds(1.0, 1.0 - 1e-9, 1e-9, 0.0).mostly_rounding
    assert native.primal_bound(np.zeros(2), 0.0, 0.0).primal == 0
    assert native.primal_bound(np.full(2, 1e-170), 0.0, 0.0).primal > 0
