"""OCAS: its NumPy twin obeys the mathematics, the core is the twin, iteration by iteration, and both reach the optimum
(cpp/linear/solvers/ocas.cpp)."""

from dataclasses import replace

import numpy as np
import pytest
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    assert_same,
    make_problem,
    optimum,
    run_sdca,
    run_sgd,
    solve,
    storage_name,
)
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.reference.ocas import best_shares, best_step, ocas
from pegasos.solvers import OCAS

PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights and bias": make_problem(weighted=True, bias=1.0),
    "more features than rows": make_problem(m=20, d=50, bias=1.0),
    "many rows": make_problem(m=700, d=30, weighted=True, bias=1.0),
}
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
both = pytest.mark.parametrize("line_search", [True, False], ids=["OCAS", "CPA"])


def run_ocas(problem, **options):
    """``native.ocas`` with defaults: at most 1000 iterations to a gap of 1e-6."""
    defaults = {"line_search": True, "max_iterations": 1000, "tol": 1e-6, "start_w": None, "start_t": 0}
    return solve("ocas", problem, **(defaults | {"start_q": None} | options))


def gap(solution):
    return native.relative_gap(solution.bounds.primal, solution.bounds.dual)


def twin(problem, iterations, line_search=True):
    return list(ocas(problem.augmented, problem.y, problem.C, iterations, s=problem.s, line_search=line_search))


class TestTwin:
    def test_the_step_is_the_best_one(self):
        random = np.random.default_rng(0)
        for _ in range(50):
            A, c = random.normal(size=(20, 3)), random.random(20) * (random.random(20) < 0.8)
            w, towards = random.normal(size=(2, 3))

            def value(k, A=A, c=c, w=w, towards=towards):
                v = w + k * (towards - w)
                return 0.5 * v @ v + c @ np.maximum(0, 1 - A @ v)

            k = best_step(A, c, w, towards)
            assert k >= 0
            others = [*np.linspace(0, 3, 301), *(k + np.array([-1e-4, 1e-4]))]
            assert all(value(k) <= value(other) + 1e-12 for other in others if other >= 0)

    def test_shares_are_the_best(self):
        """Planes in use have the same slope, and no other has a larger one."""
        random = np.random.default_rng(0)
        for size in (2, 5, 12, 30):
            planes = np.vstack([np.zeros(4), random.normal(size=(size, 4))])
            H, b = planes @ planes.T, np.append(0.0, random.random(size))
            shares = best_shares(H, b, np.eye(size + 1)[0])
            assert shares.min() >= 0
            assert shares.sum() == pytest.approx(1)
            slopes = b - H @ shares
            np.testing.assert_allclose(slopes[shares > 1e-12], slopes.max(), atol=1e-9)

    @both
    @any_problem
    def test_bounds_close_in_on_the_optimum(self, problem, line_search):
        _, value = optimum(problem)
        found = twin(problem, 40, line_search)
        primals = np.array([problem.primal(w) for w, _ in found])
        duals = np.array([problem.dual(np.clip(q, 0, 1)) for _, q in found])
        assert (np.diff(primals) <= 1e-12 * value).all()
        assert (np.diff(duals) >= -1e-9 * value).all()
        assert (primals >= value * (1 - 1e-9)).all()
        assert (duals <= value * (1 + 1e-9)).all()
        assert primals[-1] - duals[-1] < 0.2 * (primals[0] - duals[0])


@any_storage
@both
@any_problem
def test_every_iterate_is_the_twins(problem, line_search, storage):
    for t, (w, q) in enumerate(twin(problem, 14, line_search), start=1):
        solution = run_ocas(problem, storage=storage, line_search=line_search, tol=0, max_iterations=t)
        assert (solution.reason, solution.steps, solution.epochs) == ("budget", t, t)
        assert_same(solution.w, w, rtol=1e-7)
        assert solution.bounds.primal == pytest.approx(problem.primal(w), rel=1e-9)
        assert solution.bounds.dual == pytest.approx(problem.dual(np.clip(q, 0, 1)), rel=1e-8, abs=1e-12)


@any_storage
@both
@any_problem
def test_certificates_are_true(problem, line_search, storage):
    for most in (1, 2, 3, 5):
        solution = run_ocas(problem, storage=storage, line_search=line_search, max_iterations=most, tol=1e-15)
        assert (solution.reason, solution.steps) == ("budget", most)
        assert_certified(problem, solution)
    solution = run_ocas(problem, storage=storage, line_search=line_search)
    assert solution.reason == "tol"
    assert_certified(problem, solution)
    assert solution.bounds.primal == pytest.approx(optimum(problem)[1], rel=2e-6)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2])
@both
def test_small_gaps(C, line_search):
    """For so many iterations that planes which are no longer of use are dropped."""
    problem = replace(PROBLEMS["many rows"], C=C)
    solution = run_ocas(problem, line_search=line_search, tol=1e-9, max_iterations=5000)
    assert gap(solution) <= 1e-9
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w), rel=1e-9)
    assert solution.bounds.dual == pytest.approx(problem.dual(solution.q), rel=1e-9)
    exact = run_sdca(problem, tol=1e-9, max_epochs=10**6)
    assert solution.bounds.primal == pytest.approx(exact.bounds.primal, rel=2e-9)


def test_rounding_ends_a_run():
    for tol in (0, 1e-300):
        solution = run_ocas(make_problem(bias=1.0), tol=tol, max_iterations=10**9)
        assert solution.reason in ("precision", "tol")
        assert gap(solution) < 1e-12


def test_the_line_search_saves_iterations():
    X, y = load_breast_cancer(return_X_y=True)
    problem = Problem(scale(X), 2.0 * y - 1, np.ones(len(y)), 0.1, 1.0)
    ours, plain = (run_ocas(problem, line_search=way, tol=1e-3, max_iterations=10_000) for way in (True, False))
    assert gap(ours) <= 1e-3
    assert gap(plain) <= 1e-3
    assert ours.steps < 0.8 * plain.steps


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    problem = PROBLEMS["many rows"]
    ours, other = (run_ocas(problem, core=build, tol=0, max_iterations=16) for build in (native, load(level)))
    np.testing.assert_allclose(np.array(ours.history)[:, 1:], np.array(other.history)[:, 1:], rtol=1e-9)


@any_storage
def test_threads(storage):
    problem = PROBLEMS["many rows"]
    alone, *several = (
        run_ocas(problem, storage=storage, tol=0, max_iterations=20, n_jobs=n_jobs) for n_jobs in (1, 3, 3)
    )
    assert_same(several[0].w, alone.w, rtol=1e-7)
    np.testing.assert_array_equal(several[0].w, several[1].w)
    np.testing.assert_array_equal(several[0].q, several[1].q)


def test_repeated_rows_are_whole_weights():
    problem = make_problem(bias=1.0)
    s = np.arange(problem.m) % 4
    weighted = Problem(problem.X, problem.y, s.astype(float), problem.C, 1.0)
    repeated = Problem(np.repeat(problem.X, s, axis=0), np.repeat(problem.y, s), np.ones(s.sum()), problem.C, 1.0)
    ours, theirs = (run_ocas(each, tol=1e-9) for each in (weighted, repeated))
    assert ours.bounds.primal == pytest.approx(theirs.bounds.primal, rel=2e-9)
    assert (ours.q[s == 0] == 0).all()


def test_no_row_has_a_weight():
    problem = make_problem()
    solution = run_ocas(replace(problem, s=np.zeros(problem.m)))
    assert (solution.reason, solution.bounds.primal, solution.steps) == ("tol", 0, 1)
    assert (solution.w == 0).all()


class TestContinued:
    problem = PROBLEMS["many rows"]

    def test_from_the_optimum(self):
        found = run_sdca(self.problem, tol=1e-7, max_epochs=10**5)
        again = run_ocas(self.problem, start_w=found.w, start_q=found.q, start_t=7)
        assert (again.reason, again.steps, again.t) == ("tol", 1, 8)
        assert_certified(self.problem, again)

    def test_from_nearby(self):
        """Bounds begin where those of the other run ended, and a run that knows more is no longer."""
        found = run_sdca(self.problem, tol=1e-2, max_epochs=10**5)
        first = run_ocas(self.problem, start_w=found.w, start_q=found.q, tol=0)
        assert first.history[0][2] <= found.bounds.primal * (1 + 1e-12)
        assert first.history[0][3] >= found.bounds.dual * (1 - 1e-12)
        cold, warm = run_ocas(self.problem), run_ocas(self.problem, start_w=found.w, start_q=found.q)
        assert warm.steps < cold.steps

    def test_from_weights_alone(self):
        found = run_sgd(self.problem, max_passes=20)
        assert gap(run_ocas(self.problem, start_w=found.w)) <= 1e-6


def test_a_time_limit(ticks):
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        clf = LinearSVC(solver="ocas", tol=1e-9, max_time=0.5).fit(X, y < 5)
    assert clf.certificate_.reason == "max_time"
    assert clf.certificate_.dual <= clf.certificate_.primal


def test_refusals():
    for options, text in (
        ({"loss": "squared_hinge"}, "ocas does not support loss='squared_hinge'; it supports 'hinge'"),
        ({"intercept": "free"}, "ocas does not support intercept='free'"),
        ({"multi_class": "joint"}, "ocas does not support multi_class='joint'"),
    ):
        with pytest.raises(ValueError, match=text):
            LinearSVC(solver=OCAS(line_search=False), **options).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="ocas supports the hinge loss alone"):
        run_ocas(make_problem(), loss="log_loss")
    with pytest.raises(ValueError, match="does not support a free intercept"):
        run_ocas(make_problem(free=True))
