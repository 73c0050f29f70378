"""Newton's method on all classes jointly (cpp/classes/solvers/joint_newton.cpp): the twin's steps, bounds, auto."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from joint_helpers import (
    PROBLEMS,
    any_problem,
    any_storage,
    assert_certified,
    gap,
    joint_problem,
    make_problem,
    optimum,
    run_newton,
)
from linear_helpers import assert_same
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.base.outcome import Budget
from pegasos.reference.newton import newton_jointly
from pegasos.solvers import Newton

MANY = make_problem(K=5, m=700, d=30, weighted=True, bias=1.0)
#: Columns of very different sizes and a large C: full steps overshoot.
STEEP = replace(MANY, X=MANY.X * 10.0 ** (np.arange(30) % 4), C=1e3)


def twin(problem, iterations, tol=0.0):
    return list(newton_jointly(problem.augmented, problem.y, problem.C, problem.K, iterations, s=problem.s, tol=tol))


@any_storage
@any_problem
def test_every_step_is_the_twins(problem, storage):
    states = twin(problem, 5)
    for steps in (1, 2, 3, 5):
        found = run_newton(problem, storage=storage, tol=0, max_iterations=steps)
        assert_same(found.w, states[steps - 1][0].ravel(), rtol=1e-6)
        assert (found.steps, found.epochs) == (steps, steps)


@pytest.mark.parametrize("problem", [MANY, STEEP])
def test_steps_that_are_cut_short(problem):
    """The objective falls at each step."""
    states = twin(problem, 12)
    values = [problem.primal(W.ravel(), "log_loss") for W, _ in states]
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    found = run_newton(problem, tol=0, max_iterations=6)
    assert_same(found.w, states[5][0].ravel(), rtol=1e-4)
    assert run_newton(problem, tol=1e-6, max_iterations=1000).reason == "tol"


@any_storage
@any_problem
def test_certificates(problem, storage):
    found = run_newton(problem, storage=storage)
    assert found.reason == "tol"
    assert gap(found) <= 1e-9
    assert_certified(problem, "log_loss", found)
    assert found.bounds.primal == pytest.approx(optimum(problem, "log_loss"), rel=1e-8)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads(n_jobs):
    alone = run_newton(MANY, tol=0, max_iterations=5)
    several = [run_newton(MANY, tol=0, max_iterations=5, n_jobs=n_jobs) for _ in range(2)]
    assert_same(several[0].w, alone.w, 1e-9)
    np.testing.assert_array_equal(several[0].w, several[1].w)
    np.testing.assert_array_equal(several[0].q, several[1].q)


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    ours, other = (run_newton(MANY, core=build, tol=0, max_iterations=5) for build in (native, load(level)))
    assert_same(other.w, ours.w, rtol=1e-8)


def test_weights():
    s = np.arange(MANY.m) % 4
    weighted = replace(MANY, s=s.astype(float))
    repeated = replace(MANY, X=np.repeat(MANY.X, s, axis=0), y=np.repeat(MANY.y, s), s=np.ones(s.sum()))
    assert_same(run_newton(weighted).w, run_newton(repeated).w, 1e-5)
    nothing = run_newton(replace(MANY, s=np.zeros(MANY.m)))
    assert (nothing.reason, nothing.bounds.primal) == ("tol", 0)
    huge = run_newton(replace(MANY, X=1e150 * MANY.X, C=1e200))
    assert huge.reason in ("precision", "tol")
    assert np.isfinite(huge.w).all()


def test_a_continued_run():
    problem = joint_problem(MANY, "log_loss")
    found = Newton().solve(problem, Budget(1e-3, 100, None), 0)
    same = Newton().solve(problem, Budget(1e-3, 100, None), 0, found.start)
    np.testing.assert_array_equal(same.point.w, found.point.w)
    more = Newton().solve(problem, Budget(1e-9, 100, None), 0, found.start)
    assert more.bounds.gap <= 1e-9


class TestEstimator:
    def test_scikit_learn_agrees(self):
        X, y = load_digits(return_X_y=True)
        X = X / 16
        ours = LinearSVC(multi_class="joint", loss="log_loss", tol=1e-9, fit_intercept=False).fit(X, y)
        theirs = LogisticRegression(tol=1e-8, max_iter=1000, fit_intercept=False).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
        assert ours.certificate_.solver.startswith("Newton(equations='cg')")

    def test_unscaled_columns(self):
        for C in (0.01, 1.0, 100.0):
            found = LinearSVC(multi_class="joint", loss="log_loss", C=C).fit(*load_wine(return_X_y=True)).certificate_
            assert found.converged
            assert found.solver.startswith("Newton")

    def test_auto(self):
        random = np.random.default_rng(0)
        few, many = random.normal(size=(600, 8)), sp.random(600, 6000, 0.005, "csr", random_state=random)
        y = np.arange(600) % 3
        options = {"multi_class": "joint", "random_state": 0}
        chosen = {
            "Newton": ({"loss": "log_loss"}, few),
            "SDCA": ({"loss": "log_loss"}, many),
            "SDCA(": ({"loss": "hinge"}, few),
            "SDCA(o": ({"loss": "log_loss", "tol": 0, "max_iter": 3}, few),
        }
        for name, (more, X) in chosen.items():
            assert LinearSVC(**options, **more).fit(X, y).certificate_.solver.startswith(name)

    def test_refusals(self):
        X, y = [[0.0], [1.0]], [0, 1]
        with pytest.raises(ValueError, match="newton does not support loss='hinge' with multi_class='joint'"):
            LinearSVC(multi_class="joint", solver="newton").fit(X, y)
        with pytest.raises(ValueError, match="it supports 'auto' and 'cg'"):
            LinearSVC(multi_class="joint", loss="log_loss", solver=Newton(equations="cholesky")).fit(X, y)
        with pytest.raises(ValueError, match="newton supports losses without corners alone"):
            run_newton(PROBLEMS["plain"], "hinge")
