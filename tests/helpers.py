"""Small problems, and the compiled core behind defaults, for every test of it."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy.sparse

from pegasos._core import native
from pegasos.reference import objective

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


def storage_name(storage):
    return "-".join(part if isinstance(part, str) else np.dtype(part).name for part in storage if part)


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, labels, weights, C; ``bias`` is the constant feature the core appends to each row."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    C: float
    bias: float = 0.0

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
        return objective.primal(self.augmented, self.y, self.s, self.C, w)

    def dual(self, q):
        return objective.dual(self.augmented, self.y, self.s, self.C, self.C * self.s * q)

    @cache  # noqa: B019, problems live as long as the tests
    def rows(self, storage=STORAGES[1], core=native):
        """The rows in that storage, as the core takes them."""
        kind, dtype, index = storage
        if kind == "dense":
            return core.dense_rows(self.X.astype(dtype), self.bias)
        X = scipy.sparse.csr_array(self.X.astype(dtype))
        return core.csr_rows(X.data, X.indices.astype(index), X.indptr.astype(index), X.shape[1], self.bias)


@cache
def make_problem(weighted=False, bias=0.0, m=30, d=5, seed=0, C=IRRATIONAL):
    """Rows and weights of few significant bits, so that sums are nearly exact in any order; an irrational C, so that no
    margin is exactly 1. Labels are noisy: at the optimum some rows have a loss."""
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(m, d)) / 4 * (random.random((m, d)) < 0.7)
    y = np.where(X @ random.normal(size=d) + 0.5 * random.normal(size=m) > 0, 1.0, -1.0)
    s = random.integers(1, 9, size=m) / 4 if weighted else np.ones(m)
    return Problem(X, y, s, C, bias)


@cache
def optimum(problem):
    """w* and the optimal value, by dual coordinate ascent to a gap of 1e-12."""
    X = problem.augmented * problem.y[:, None]
    square = np.maximum((X * X).sum(axis=1), 1e-300)
    q, w = np.zeros(problem.m), np.zeros(X.shape[1])
    for _ in range(20_000):
        for i, x in enumerate(X):
            box = problem.C * problem.s[i]
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


def run(problem, *, core=native, storage=STORAGES[1], batches=None, **options):
    """``core.subgradient`` with defaults: a run of one epoch of plain Pegasos. `batches` sets the rows it visits."""
    defaults = {
        "loss": "hinge",
        "schedule": "pegasos",
        "step_parameter": 0.0,
        "batch": 1,
        "sampling": "permute",
        "project": False,
        "count_idle_steps": True,
        "output": "last",
        "random_stops": 1,
        "stop_sample": 0,
        "max_steps": problem.m,
        "tol": 0.0,
        "seed": 0,
        "elapsed": 0.0,
        "max_seconds": math.inf,
        "sequence": None,
        "start_w": None,
        "start_t": 0,
        "start_q": None,
        "report": None,
        "progress": None,
    }
    if batches is not None:
        options = {"sequence": batches.ravel(), "batch": batches.shape[1], "max_steps": len(batches)} | options
    rows = problem.rows(storage, core)
    return core.subgradient(rows, problem.y, problem.s, problem.C, **(defaults | options))


def assert_same(w, expected, rtol=1e-10):
    """Equal up to rtol of the largest entry."""
    np.testing.assert_allclose(w, expected, rtol=0, atol=rtol * max(np.abs(expected).max(), 1e-300))
