"""Every loss through every solver that supports it: steps, certificates, optima."""

import math
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from linear_helpers import (
    STORAGES,
    Problem,
    assert_same,
    draw_batches,
    make_run,
    run,
    run_interior_point,
    run_newton,
    run_sdca,
    run_sgd,
    storage_name,
)
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC, LinearSVR

from pegasos._core import native
from pegasos.base import solver
from pegasos.problems.linear import LinearProblem
from pegasos.reference import losses as reference
from pegasos.reference.losses import LOSSES
from pegasos.reference.newton import BENDS, newton
from pegasos.solvers import InteriorPoint

OTHERS = ["squared_hinge", "log_loss", "epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"]
#: Of losses that another epsilon than 0.1 shows more of. That of the quantile loss is the quantile.
EPSILONS = {"huber": 0.5, "quantile": 0.3}
any_loss = pytest.mark.parametrize("loss", ["hinge", *OTHERS])
other_loss = pytest.mark.parametrize("loss", OTHERS)
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
smooth_loss = pytest.mark.parametrize("loss", BENDS)
both_equations = pytest.mark.parametrize("exact", [True, False], ids=["cholesky", "cg"])
both_intercepts = pytest.mark.parametrize("free", [False, True], ids=["penalized", "free"])


@dataclass(frozen=True, eq=False)
class LossProblem(Problem):
    """A problem with a loss, evaluated from the definitions in `reference`."""

    loss: str = "hinge"
    epsilon: float = 0.0
    optima: dict = field(default_factory=dict)

    def primal(self, w):
        value = reference.primal(self.loss, self.augmented, self.y, self.s, self.C, w, self.epsilon)
        return value - w[-1] ** 2 / 2 if self.free else value

    def dual(self, q):
        alpha = self.s * q * LOSSES[self.loss].sign(self.y)
        if self.free and abs(math.fsum(alpha)) > 1e-12 * math.fsum(abs(alpha)):
            return -math.inf
        X = self.X if self.free else self.augmented
        return reference.dual(self.loss, X, self.y, self.s, self.C, q, self.epsilon)

    def bounds(self, q):
        """Of q, as the core sees the loss."""
        return {
            "hinge": (0, 1),
            "squared_hinge": (0, math.inf),
            "log_loss": (0, 1),
            "epsilon_insensitive": (-1, 1),
            "huber": (-self.epsilon, self.epsilon),
            "quantile": (self.epsilon - 1, self.epsilon),
        }.get(self.loss, (-math.inf, math.inf))


@cache
def make(loss, *, weighted=False, bias=0.0, free=False, m=40, d=5, seed=0, C=0.3):
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(m, d)) / 4 * (random.random((m, d)) < 0.7)
    scores = X @ random.normal(size=d) + 0.5 * random.normal(size=m)
    regression = LOSSES[loss].regression
    y = np.round(4 * scores) / 4 + 0.5 if regression else np.where(scores > 0, 1.0, -1.0)
    s = random.integers(1, 9, size=m) / 4 if weighted else np.ones(m)
    return LossProblem(X, y, s, C, 1.0 if free else bias, free, loss, EPSILONS.get(loss, 0.1) if regression else 0.0)


def options(problem):
    return {"loss": problem.loss, "epsilon": problem.epsilon}


@cache
def optimum(problem):
    """By SDCA to 1e-9; what it says of itself is checked against the definitions."""
    found = run_sdca(problem, tol=1e-9, max_epochs=10**6, rho=0.0, **options(problem))
    assert found.reason == "tol"
    assert found.bounds.primal == pytest.approx(problem.primal(found.w), rel=1e-10)
    assert found.bounds.dual == pytest.approx(problem.dual(found.q), rel=1e-8)
    return found.bounds.primal


def assert_true(problem, solution):
    low, high = problem.bounds(solution.q)
    assert solution.q.min() >= low
    assert solution.q.max() <= high
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w), rel=1e-9)
    # A dual point is a mixture or a shrunken one: the bound is at most its value, concave as that is.
    assert solution.bounds.dual <= problem.dual(solution.q) + 1e-9 * abs(solution.bounds.dual)
    assert solution.bounds.dual <= optimum(problem) * (1 + 1e-9)
    assert solution.bounds.primal >= optimum(problem) * (1 - 1e-9)


def test_each_loss_has_a_twin():
    assert set(LOSSES) == set(solver.LOSSES)


@any_loss
def test_the_reference_is_a_loss_with_its_conjugate(loss):
    """Fenchel and Young: l(z) - dual(q) + q z >= 0, and 0 at q = slope(z); best() beats every other q."""
    kind, random = LOSSES[loss], np.random.default_rng(0)
    z, y = 3 * random.normal(size=300), random.normal(size=300) if LOSSES[loss].regression else np.ones(300)
    q = kind.slope(z, y, 0.1)
    np.testing.assert_allclose(kind.value(z, y, 0.1) + q * z, kind.dual(q, y, 0.1), atol=1e-9)
    for other in (random.random(300), random.normal(size=300)):
        assert (kind.value(z, y, 0.1) - kind.dual(other, y, 0.1) + other * z >= -1e-12).all()
    step = 1e-6
    slopes = (kind.value(z + step, y, 0.1) - kind.value(z - step, y, 0.1)) / (2 * step)
    np.testing.assert_allclose(np.median(np.abs(slopes + q)), 0, atol=1e-6)
    for k in range(60):
        before, size = float(np.clip(q[k] * random.random(), -1, 1)), float(10 ** random.uniform(-2, 2))

        def value(p, k=k, before=before, size=size):
            return kind.dual(np.float64(p), y[k], 0.1) - z[k] * p - size / 2 * (p - before) ** 2

        best = kind.best(before, size, float(z[k]), float(y[k]), 0.1)
        assert all(value(best) >= value(p) - 1e-9 for p in np.linspace(-3, 3, 301))


@other_loss
@any_storage
@pytest.mark.parametrize("weighted", [False, True])
def test_every_step_of_sdca_is_the_twins(loss, storage, weighted):
    problem = make(loss, weighted=weighted, bias=0.5)
    sequence = draw_batches(problem, 150, seed=1).ravel()
    twin = list(
        reference.dca(loss, problem.augmented, problem.y, problem.C, sequence, s=problem.s, epsilon=problem.epsilon)
    )
    for T in (1, 2, 10, 150):
        found = run_sdca(problem, storage=storage, visits=sequence[:T], shrink=False, **options(problem))
        q, _ = twin[T]
        tolerance = 1e-9 if storage[1] == np.float64 or loss != "log_loss" else 1e-6
        assert_same(found.q, q, tolerance)
        assert_true(problem, found)
        assert found.bounds.dual == pytest.approx(problem.dual(q), rel=1e-8)


@other_loss
@any_storage
@pytest.mark.parametrize(("k", "project"), [(1, False), (1, True), (4, False), (4, True)])
def test_every_step_of_pegasos_is_the_twins(loss, storage, k, project):
    problem = make(loss, weighted=True, bias=0.5)
    batches = draw_batches(problem, 100, k)
    given = {"s": problem.s, "project": project, "epsilon": problem.epsilon}
    twin = list(reference.pegasos(loss, problem.augmented, problem.y, problem.lam, batches, **given))
    for T in (1, 3, 100):
        found = run(problem, storage=storage, batches=batches[:T], project=project, **options(problem))
        assert_same(found.w, twin[T], 1e-7)
        assert_true(problem, found)


@other_loss
@any_storage
def test_every_step_of_sgd_s_is_the_twins(loss, storage):
    problem = make(loss, weighted=True, bias=0.5)
    random = np.random.default_rng(0)
    sequence = np.concatenate([random.permutation(problem.m) for _ in range(3)]).astype(np.uint32)
    twin = list(
        reference.sgd_s(loss, problem.augmented, problem.y, problem.C, sequence, s=problem.s, epsilon=problem.epsilon)
    )
    for T in (1, 2, 3):
        found = run_sgd(problem, storage=storage, visits=sequence, max_passes=T, **options(problem))
        w, L = twin[T * problem.m - 1]
        assert_same(found.w, w, 1e-7)
        assert found.bounds.dual >= L - 1e-6 * abs(L)  # the mean slopes' own value, by Jensen
        assert_true(problem, found)


@any_loss
@any_storage
@both_intercepts
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_sdca_reaches_the_optimum(loss, storage, free, n_jobs):
    problem = make(loss, weighted=True, bias=0.5, free=free)
    found = run_sdca(problem, storage=storage, tol=1e-6, max_epochs=10**5, rho=0.0, n_jobs=n_jobs, **options(problem))
    assert found.reason == "tol"
    assert_true(problem, found)


@any_loss
@any_storage
@both_intercepts
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interior_point_reaches_the_optimum(loss, storage, free, n_jobs):
    if loss not in InteriorPoint.supports[LinearProblem].losses:
        pytest.skip("not supported")
    for C in (0.01, 0.3, 100.0):
        problem = make(loss, weighted=True, bias=0.5, free=free, C=C)
        found = run_interior_point(problem, storage=storage, tol=1e-9, n_jobs=n_jobs, **options(problem))
        assert found.reason == "tol"
        assert found.steps < 60
        assert_true(problem, found)
        assert found.bounds.primal == pytest.approx(optimum(problem), rel=3e-9)


@other_loss
@both_intercepts
def test_interior_point_starts_from_another_run(loss, free):
    if loss not in InteriorPoint.supports[LinearProblem].losses:
        pytest.skip("not supported")
    problem = make(loss, weighted=True, bias=0.5, free=free)
    start = run_sdca(problem, tol=1e-3, max_epochs=10**4, rho=0.0, **options(problem))
    found = run_interior_point(problem, tol=1e-9, start_w=start.w, start_q=start.q, **options(problem))
    assert found.reason == "tol"
    assert_true(problem, found)
    again = run_interior_point(problem, tol=1e-9, start_w=found.w, start_q=found.q, **options(problem))
    assert again.steps == 0


@smooth_loss
def test_bends_are_those_of_the_losses(loss):
    kind, random = LOSSES[loss], np.random.default_rng(0)
    z, y, step = 3 * random.normal(size=300), random.normal(size=300), 1e-6
    slopes = [kind.slope(z + sign * step, y, 0.5) for sign in (-1, 1)]
    np.testing.assert_allclose(BENDS[loss](z, y, 0.5), (slopes[0] - slopes[1]) / (2 * step), atol=1e-6)


@smooth_loss
@any_storage
@both_intercepts
@both_equations
def test_every_step_of_newton_is_the_twins(loss, storage, free, exact):
    for C, T in ((0.3, 4), (100.0, 4)):
        problem = make(loss, weighted=True, bias=0.5, free=free, C=C)
        given = {"s": problem.s, "free": free, "epsilon": problem.epsilon, "exact": exact}
        for t, (w, gap) in enumerate(newton(loss, problem.augmented, problem.y, C, T, **given), start=1):
            found = run_newton(problem, storage=storage, exact=exact, tol=0, max_iterations=t, **options(problem))
            assert (found.reason, found.steps, found.epochs) == ("budget", t, t)
            assert_same(found.w, w, 1e-8)
            assert_true(problem, found)
            if not free:  # what is told of the gap is the gap, and the certificate has it or a better one
                q = LOSSES[loss].slope(
                    LOSSES[loss].sign(problem.y) * (problem.augmented @ w), problem.y, problem.epsilon
                )
                assert problem.primal(w) - problem.dual(q) == pytest.approx(gap, rel=1e-6, abs=1e-9)
                assert found.bounds.dual >= problem.dual(q) - 1e-8 * problem.primal(w)


@smooth_loss
@any_storage
@both_intercepts
@both_equations
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_newton_reaches_the_optimum(loss, storage, free, exact, n_jobs):
    for C in (0.01, 0.3, 100.0):
        problem = make(loss, weighted=True, bias=0.5, free=free, C=C)
        found = run_newton(problem, storage=storage, exact=exact, n_jobs=n_jobs, **options(problem))
        assert found.reason == "tol"
        assert found.steps < 30
        assert_true(problem, found)
        assert found.bounds.primal == pytest.approx(optimum(problem), rel=3e-9)


@smooth_loss
@both_intercepts
@both_equations
def test_newton_starts_from_another_run(loss, free, exact):
    problem = make(loss, weighted=True, bias=0.5, free=free)
    found = run_newton(problem, exact=exact, **options(problem))
    again = run_newton(problem, exact=exact, start_w=found.w, start_t=7, **options(problem))
    assert (again.reason, again.steps, again.t) == ("tol", 0, 7)
    np.testing.assert_array_equal(again.w, found.w)
    assert_true(problem, again)
    rough = run_newton(problem, exact=exact, tol=0.1, **options(problem))
    better = run_newton(problem, exact=exact, start_w=rough.w, **options(problem))
    assert better.reason == "tol"
    assert better.steps <= found.steps


@other_loss
@both_intercepts
def test_pegasos_comes_near_the_optimum(loss, free):
    problem = make(loss, weighted=True, bias=0.5, free=free)
    found = run(problem, max_steps=100_000, output="suffix", tol=0.05, **options(problem))
    assert found.reason == "tol"
    assert_true(problem, found)


@other_loss
@pytest.mark.parametrize("complete", [True, False])
def test_sgd_comes_near_the_optimum(loss, complete):
    problem = make(loss, weighted=True, bias=0.5)
    found = run_sgd(
        problem,
        max_passes=20_000,
        tol=0.05,
        complete_epochs=complete,
        sampling="permute" if complete else "replace",
        **options(problem),
    )
    assert found.reason == "tol"
    assert_true(problem, found)


@other_loss
def test_the_optimum_is_that_of_a_general_solver(loss):
    problem = make(loss, weighted=True, bias=0.5)
    X, d, m = problem.augmented, problem.X.shape[1] + 1, problem.m
    if loss in ("epsilon_insensitive", "quantile"):  # not smooth: a quadratic programme in w and the losses xi
        above, below, epsilon = 1.0, 1.0, problem.epsilon
        if loss == "quantile":
            above, below, epsilon = problem.epsilon, 1 - problem.epsilon, 0.0
        A = np.block([[above * X, np.eye(m)], [-below * X, np.eye(m)], [np.zeros((m, d)), np.eye(m)]])
        b = np.concatenate([above * (problem.y - epsilon), -below * (problem.y + epsilon), np.zeros(m)])
        costs = np.concatenate([np.zeros(d), problem.C * problem.s])
        value = minimize(
            lambda v: v[:d] @ v[:d] / 2 + costs @ v,
            np.concatenate([np.zeros(d), np.abs(problem.y)]),
            jac=lambda v: np.concatenate([v[:d], np.zeros(m)]) + costs,
            constraints={"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A},
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-12},
        ).fun
    else:
        value = minimize(problem.primal, np.zeros(d), method="BFGS", options={"gtol": 1e-9}).fun
    assert optimum(problem) == pytest.approx(value, rel=1e-7)


@other_loss
def test_repeated_rows_are_whole_weights(loss):
    problem = make(loss, bias=0.5)
    counts = 1 + np.arange(problem.m) % 3
    weighted = replace(problem, s=counts.astype(float))
    repeated = replace(
        problem, X=np.repeat(problem.X, counts, axis=0), y=np.repeat(problem.y, counts), s=np.ones(counts.sum())
    )
    assert optimum(weighted) == pytest.approx(optimum(repeated), rel=2e-9)


def test_libsvm_and_scikit_learn_agree():
    """Free intercepts against LIBSVM and LogisticRegression, none at all against LIBLINEAR."""
    for loss in OTHERS[:4]:  # they have no other with a norm
        plain = make(loss, m=200, d=8, seed=3)
        if loss == "log_loss":
            other = LogisticRegression(C=plain.C, fit_intercept=False, tol=1e-10, max_iter=10_000)
        elif loss == "squared_hinge":
            other = LinearSVC(C=plain.C, loss=loss, fit_intercept=False, tol=1e-10, max_iter=10**6, dual=True)
        else:
            other = LinearSVR(
                C=plain.C, epsilon=plain.epsilon, loss=loss, fit_intercept=False, tol=1e-10, max_iter=10**6, dual=True
            )
        w = np.append(other.fit(plain.X, plain.y).coef_.ravel(), 0.0)
        assert optimum(plain) == pytest.approx(plain.primal(w), rel=1e-4)
        assert optimum(plain) <= plain.primal(w) * (1 + 1e-8)
    free = make("log_loss", m=200, d=8, seed=3, free=True)
    other = LogisticRegression(C=free.C, tol=1e-10, max_iter=10_000).fit(free.X, free.y)
    assert optimum(free) == pytest.approx(free.primal(np.append(other.coef_, other.intercept_)), rel=1e-6)
    hinge = make("hinge", m=200, d=8, seed=3, free=True)
    svc = SVC(kernel="linear", C=hinge.C, tol=1e-8).fit(hinge.X, hinge.y)
    assert optimum(hinge) == pytest.approx(hinge.primal(np.append(svc.coef_, svc.intercept_)), rel=1e-6)


@other_loss
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_extreme_costs(loss, C):
    problem = make(loss, bias=0.5, C=C)
    found = run_sdca(problem, max_epochs=200, **options(problem))
    assert np.isfinite(found.w).all()
    assert found.bounds.dual <= found.bounds.primal * (1 + 1e-12)
    assert found.bounds.primal == pytest.approx(problem.primal(found.w), rel=1e-9)


@other_loss
def test_empty_rows_do_no_harm(loss):
    problem = make(loss, bias=0.0)
    X = problem.X.copy()
    X[::3] = 0
    problem = replace(problem, X=X)
    assert np.isfinite(optimum(problem))


def test_what_a_loss_does_not_do_is_refused():
    problem = make("log_loss")
    with pytest.raises(ValueError, match="hinge loss alone"):
        run(problem, schedule="norma", step_parameter=1.0, loss="log_loss")
    with pytest.raises(ValueError, match="hinge loss alone"):
        run_sgd(problem, multiplicity=5, loss="log_loss")
    with pytest.raises(ValueError, match="hinge loss alone"):
        run(make("log_loss", free=True), intercept="batch", batch=5, loss="log_loss")
    with pytest.raises(ValueError, match="unknown loss 'zero_one'"):
        run_sdca(problem, loss="zero_one")
    bound = native.Problem(problem.rows(), problem.y, problem.s, problem.C, "log_loss")
    with pytest.raises(ValueError, match="interior-point does not support the log loss"):
        native.interior_point(bound, make_run(), max_iterations=5, tol=1e-3, start_w=None, start_t=0, start_q=None)
