"""Small linear problems, the compiled core behind defaults, and real data where there is some."""

import importlib.util
import math
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from pegasos._core import native
from pegasos.base import clock
from pegasos.problems.linear import LinearProblem
from pegasos.reference import objective
from pegasos.solvers import SOLVERS

#: Storages the core takes: dense or CSR, values, indices.
STORAGES = [
    ("dense", np.float32, None),
    ("dense", np.float64, None),
    ("csr", np.float32, np.int32),
    ("csr", np.float32, np.int64),
    ("csr", np.float64, np.int32),
    ("csr", np.float64, np.int64),
]

IRRATIONAL = math.sqrt(0.3)


def make_rows(X, storage, bias=0.0, core=native):
    """Rows in that storage, as the core takes them."""
    kind, dtype, index = storage
    if kind == "dense":
        return core.dense_rows(X.astype(dtype), bias)
    X = scipy.sparse.csr_array(X.astype(dtype))
    return core.csr_rows(X.data, X.indices.astype(index), X.indptr.astype(index), X.shape[1], bias)


def storage_name(storage):
    return "-".join(part if isinstance(part, str) else np.dtype(part).name for part in storage if part)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, labels, weights, C; ``bias`` is the constant feature the core appends to each row, ``free`` whether its
    weight is left out of the norm."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    C: float
    bias: float = 0.0
    free: bool = False

    @property
    def m(self):
        return len(self.y)

    @property
    def lam(self):
        return 1 / (self.C * self.s.sum())

    @property
    def augmented(self):
        """The rows as the core sees them, the constant feature written out."""
        return np.column_stack([self.X, np.full(self.m, self.bias)])

    @property
    def R(self):
        return np.linalg.norm(self.augmented, axis=1).max()

    def primal(self, w):
        value = objective.primal(self.augmented, self.y, self.s, self.C, w)
        return value - w[-1] ** 2 / 2 if self.free else value

    def dual(self, q):
        alpha = self.C * self.s * q
        if self.free and abs(math.fsum(self.y * alpha)) > 1e-12 * math.fsum(alpha):
            return -math.inf
        return objective.dual(self.X if self.free else self.augmented, self.y, self.s, self.C, alpha)

    @cache  # noqa: B019, problems live as long as the tests
    def rows(self, storage=STORAGES[1], core=native):
        return make_rows(self.X, storage, self.bias, core)


@cache
def make_problem(weighted=False, bias=0.0, m=30, d=5, seed=0, C=IRRATIONAL, free=False):
    """Rows and weights of few significant bits, so that sums are nearly exact in any order; an irrational C, so that no
    margin is exactly 1. Labels are noisy: at the optimum some rows have a loss."""
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(m, d)) / 4 * (random.random((m, d)) < 0.7)
    y = np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=m) > 0, 1.0, -1.0)
    s = random.integers(1, 9, size=m) / 4 if weighted else np.ones(m)
    return Problem(X, y, s, C, 1.0 if free else bias, free)


@cache
def optimum(problem):
    """w* and the optimal value, by dual coordinate ascent to a gap of 1e-12; with a free intercept by the
    interior-point method to 1e-9, its bounds computed afresh."""
    if problem.free:
        found = run_interior_point(problem)
        value = problem.primal(found.w)
        assert value - problem.dual(found.q) <= 1e-8 * value
        return found.w, value
    X = problem.augmented * problem.y[:, None]
    square = np.maximum((X * X).sum(axis=1), 1e-300)
    q, w = np.zeros(problem.m), np.zeros(X.shape[1])
    for _ in range(20_000):
        for i, x in enumerate(X):
            box = problem.C * problem.s[i]
            if box == 0:
                continue
            new = min(max(q[i] + (1 - x @ w) / (square[i] * box), 0.0), 1.0)
            w += (new - q[i]) * box * x
            q[i] = new
        value, bound = problem.primal(w), problem.dual(q)
        if value - bound <= 1e-12 * value:
            return w, value
    raise AssertionError("the reference solve did not converge")


def draw_batches(problem, T, k=1, seed=0):
    """A_1, ..., A_T: batches of k different rows."""
    random = np.random.default_rng(seed)
    return np.array([random.permutation(problem.m)[:k] for _ in range(T)], dtype=np.uint32)


#: What goes into native.Run; all other options are the solver's own.
RUN_OPTIONS = ("n_jobs", "elapsed", "max_seconds", "report", "progress")


def make_run(core=native, **options):
    """Threads, time limit and callbacks; one thread, for ever, in silence unless told otherwise. Time goes by the clock
    of all fits."""
    return core.Run(**({"clock": clock.replaced()} | options))


def solve(solver, problem, *, core=native, storage=STORAGES[1], loss="hinge", epsilon=0.0, **options):
    """The core's solver of that name on the problem. `options` are those of native.Run and the solver's own."""
    bound = core.Problem(problem.rows(storage, core), problem.y, problem.s, problem.C, loss, problem.free, epsilon)
    settings = make_run(core, **{name: options.pop(name) for name in RUN_OPTIONS if name in options})
    return getattr(core, solver)(bound, settings, **options)


def run(problem, *, batches=None, **options):
    """``native.subgradient`` with defaults: a run of one epoch of plain Pegasos. `batches` sets the rows it visits."""
    defaults = {
        "schedule": "pegasos",
        "step_parameter": 0.0,
        "batch": 1,
        "sampling": "permute",
        "project": False,
        "radius": 0.0,
        "count_idle_steps": True,
        "output": "last",
        "random_stops": 1,
        "stop_sample": 0,
        "max_steps": problem.m,
        "tol": 0.0,
        "seed": 0,
        "intercept": "subgradient" if problem.free else "in_w",
        "visits": None,
        "start_w": None,
        "start_t": 0,
        "start_q": None,
        "counterweights": [],
    }
    if batches is not None:
        options = {"visits": batches.ravel(), "batch": batches.shape[1], "max_steps": len(batches)} | options
    return solve("subgradient", problem, **(defaults | options))


def run_sgd(problem, kind="s", **options):
    """``native.sgd`` with S3's defaults: one pass of SGD-r, SGD-s or SGD-m; the last weights, as its twins have."""
    defaults = {
        "complete_epochs": kind != "r",
        "multiplicity": 5 if kind == "m" else 1,
        "period": 9,
        "burst": 5,
        "check_factor": 1.2,
        "tol": 0.0,
        "max_passes": 1,
        "max_steps": 0,
        "sampling": "replace" if kind == "r" else "permute",
        "seed": 0,
        "visits": None,
        "start_w": None,
        "start_t": 0,
        "last": True,
    }
    if "max_steps" in options:
        defaults["max_passes"] = 2**63
    return solve("sgd", problem, **(defaults | options))


def run_sdca(problem, **options):
    """``native.sdca`` with defaults: one epoch in a random order. `visits` sets the rows it visits, once."""
    defaults = {
        "shrink": True,
        "blocks": False,
        "max_epochs": 1.0,
        "tol": 0.0,
        "rho": math.inf,
        "joins": 1,
        "seed": 0,
        "visits": None,
        "start_w": None,
        "start_t": 0,
        "start_q": None,
    }
    return solve("sdca", problem, **(defaults | options))


def run_interior_point(problem, **options):
    """``native.interior_point`` with defaults: at most 200 iterations to a gap of 1e-9."""
    defaults = {"max_iterations": 200, "tol": 1e-9, "start_w": None, "start_t": 0, "start_q": None}
    return solve("interior_point", problem, **(defaults | options))


def run_newton(problem, **options):
    """``native.newton`` with defaults: exact steps, at most 100 of them, to a gap of 1e-9."""
    defaults = {"exact": True, "max_iterations": 100, "tol": 1e-9, "start_w": None, "start_t": 0}
    return solve("newton", problem, **(defaults | options))


def suited_loss(solver):
    """A loss of classifiers that the solver of that name has: hinge, unless it has not."""
    return "hinge" if "hinge" in SOLVERS[solver].supports[LinearProblem].losses else "squared_hinge"


def assert_same(w, expected, rtol=1e-10):
    """Equal up to rtol of the largest entry."""
    np.testing.assert_allclose(w, expected, rtol=0, atol=rtol * max(np.abs(expected).max(), 1e-300))


def assert_certified(problem, solution):
    """What the solution says of itself is so, and its lower bound never fell."""
    _, value = optimum(problem)
    assert solution.q.min() >= 0
    assert solution.q.max() <= 1
    assert solution.bounds.dual == pytest.approx(problem.dual(solution.q), rel=1e-9)
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w), rel=1e-9)
    assert solution.bounds.dual <= value * (1 + 1e-9)
    assert solution.bounds.primal >= value * (1 - 1e-9)
    seconds, epochs, primals, duals = np.array(solution.history).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(epochs) > (0 if solution.reason != "max_time" else -1e-9)).all()  # time may end during a check
    assert (primals >= value * (1 - 1e-9)).all()
    assert (duals <= value * (1 + 1e-9)).all()
    assert (np.diff(duals) >= 0).all()
    assert (epochs[-1], primals[-1], duals[-1]) == (solution.epochs, solution.bounds.primal, solution.bounds.dual)


#: The folder of real data, which has a load.py; none where PEGASOS_DATA is not set.
DATA = Path(os.environ.get("PEGASOS_DATA") or os.devnull)

#: Skips a test where it is not there.
requires_data = pytest.mark.skipif(
    not (DATA / "load.py").exists(),
    reason=f"needs real data: PEGASOS_DATA={os.environ.get('PEGASOS_DATA', '')!r} names no folder with a load.py",
)


@cache
def load_data(name):
    """The set of that name, a dictionary with X and y."""
    spec = importlib.util.spec_from_file_location("load", DATA / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name)
