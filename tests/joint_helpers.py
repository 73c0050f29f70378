"""Problems of all classes jointly, the core's solvers of them behind defaults, and what their certificates must say."""

from dataclasses import dataclass
from functools import cache

import linear_helpers
import numpy as np
import pytest
from linear_helpers import IRRATIONAL, RUN_OPTIONS, STORAGES, make_run, storage_name

from pegasos._core import native
from pegasos.problems.linear import JointProblem
from pegasos.reference import multiclass

LOSSES = ("hinge", "log_loss")
any_loss = pytest.mark.parametrize("loss", LOSSES)
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)


@dataclass(frozen=True, eq=False)
class Problem(linear_helpers.Problem):
    """With class numbers for labels, and costs."""

    cost: np.ndarray | None = None

    @property
    def K(self):
        return len(self.cost)

    def primal(self, w, loss):
        W = w.reshape(-1, self.K)
        return multiclass.primal(self.augmented, self.y, self.s, self.C, W, loss, self.cost)

    def dual(self, q, loss):
        P = q.reshape(self.m, self.K)
        return multiclass.dual(self.augmented, self.y, self.s, self.C, P, loss, self.cost)

    def core(self, loss, storage=STORAGES[1], core=native):
        rows = self.rows(storage, core)
        return core.JointProblem(rows, self.y.astype(np.uint32), self.s, self.C, loss, self.cost)


@cache
def make_problem(K=4, weighted=False, bias=0.0, m=30, d=5, seed=0, C=IRRATIONAL, costs=False):
    """Rows, weights and costs of few significant bits, an irrational C, noisy classes."""
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(m, d)) / 4 * (random.random((m, d)) < 0.7)
    y = (X @ random.normal(size=(d, K)) + 0.5 * random.normal(size=(m, K))).argmax(axis=1)
    s = random.integers(1, 9, size=m) / 4 if weighted else np.ones(m)
    cost = random.integers(1, 9, size=(K, K)) / 4 * (1 - np.eye(K)) if costs else multiclass.zero_one(K)
    return Problem(X, y, s, C, bias, cost=cost)


PROBLEMS = {
    "plain": make_problem(),
    "two classes": make_problem(K=2),
    "many classes": make_problem(K=35, m=60),
    "more classes": make_problem(K=150, m=40),
    "weights and bias": make_problem(weighted=True, bias=0.75),
    "costs": make_problem(K=6, weighted=True, costs=True, bias=1.0),
    "large C": make_problem(weighted=True, C=np.sqrt(400.3)),
}
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())


def solve(solver, problem, loss, core=native, storage=STORAGES[1], **options):
    settings = make_run(core, **{name: options.pop(name) for name in RUN_OPTIONS if name in options})
    return getattr(core, solver)(problem.core(loss, storage, core), settings, **options)


def run_sdca(problem, loss, **options):
    """``native.joint_sdca`` with defaults: one epoch in a random order."""
    defaults = {"shrink": True, "blocks": False, "max_epochs": 1.0, "tol": 0.0, "seed": 0, "visits": None}
    return solve("joint_sdca", problem, loss, **(defaults | {"start_w": None, "start_t": 0, "start_q": None} | options))


def run_pegasos(problem, loss, batches=None, **options):
    """``native.joint_subgradient`` with defaults: one epoch of plain Pegasos. `batches` sets the rows it visits."""
    defaults = {
        "batch": 1,
        "sampling": "permute",
        "project": False,
        "output": "last",
        "max_steps": problem.m,
        "tol": 0.0,
        "seed": 0,
        "visits": None,
        "start_w": None,
        "start_t": 0,
    }
    if batches is not None:
        options = {"visits": batches.ravel(), "batch": batches.shape[1], "max_steps": len(batches)} | options
    return solve("joint_subgradient", problem, loss, **(defaults | options))


def run_sgd(problem, loss, **options):
    """``native.joint_sgd`` with defaults: one pass of SGD-s; the last weights, as its twin has."""
    defaults = {"check_factor": 1.2, "tol": 0.0, "max_passes": 1, "max_steps": 0, "seed": 0, "visits": None}
    if "max_steps" in options:
        defaults["max_passes"] = 2**63
    return solve("joint_sgd", problem, loss, **(defaults | {"start_w": None, "start_t": 0, "last": True} | options))


def run_newton(problem, loss="log_loss", **options):
    """``native.joint_newton`` with defaults: 100 steps at most."""
    defaults = {"max_iterations": 100, "tol": 1e-9, "start_w": None, "start_t": 0}
    return solve("joint_newton", problem, loss, **(defaults | options))


def gap(solution):
    return native.relative_gap(solution.bounds.primal, solution.bounds.dual)


@cache
def optimum(problem, loss):
    """The optimal value: bounds to 1e-9 of each other, computed afresh."""
    found = run_sdca(problem, loss, tol=1e-10, max_epochs=10**6)
    value = problem.primal(found.w, loss)
    assert value - problem.dual(found.q, loss) <= 1e-9 * value
    return value


def assert_certified(problem, loss, solution, exact=True):
    """What the solution says of itself is so, and its lower bound never fell; `exact`: the bound is that of its dual
    point, not below it."""
    value = optimum(problem, loss)
    P = solution.q.reshape(problem.m, problem.K)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w, loss), rel=1e-9)
    assert solution.bounds.dual <= problem.dual(solution.q, loss) + 1e-9 * value
    if exact:
        assert solution.bounds.dual == pytest.approx(problem.dual(solution.q, loss), rel=1e-9, abs=1e-12)
    assert solution.bounds.dual <= value * (1 + 1e-9)
    assert solution.bounds.primal >= value * (1 - 1e-9)
    seconds, epochs, primals, duals = np.array(solution.history).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(epochs) > (0 if solution.reason != "max_time" else -1e-9)).all()
    assert (primals >= value * (1 - 1e-9)).all()
    assert (duals <= value * (1 + 1e-9)).all()
    assert (np.diff(duals) >= 0).all()
    assert (epochs[-1], primals[-1], duals[-1]) == (solution.epochs, solution.bounds.primal, solution.bounds.dual)


def joint_problem(problem, loss):
    return JointProblem(
        core=problem.core(loss),
        n_rows=problem.m,
        dimension=problem.X.shape[1] + 1,
        n_classes=problem.K,
        entries=problem.X.size,
        C=problem.C,
        total_weight=problem.s.sum(),
        loss=loss,
        largest_norm=1.0,
    )
