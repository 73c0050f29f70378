"""Small problems with a kernel, and the compiled kernel solvers behind defaults."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from linear_helpers import IRRATIONAL, make_run

from pegasos._core import native
from pegasos.problems import kernel as kernel_problem

PRECISIONS = (np.float64, np.float32)


@dataclass(frozen=True, eq=False)
class KernelCase:
    """A kernel matrix that both precisions hold exactly, labels or targets, weights, C."""

    K: np.ndarray
    y: np.ndarray
    s: np.ndarray
    C: float
    loss: str = "hinge"
    epsilon: float = 0.0  # with the quantile loss the quantile

    @property
    def n(self):
        return len(self.y)

    @property
    def lam(self):
        return 1 / (self.C * self.s.sum())

    @property
    def variables(self):
        """Targets, bounds and examples of the dual variables, written out."""
        bound, zero, rows = self.C * self.s, np.zeros(self.n), np.arange(self.n)
        if self.loss == "hinge":
            return self.y, np.where(self.y < 0, -bound, 0), np.where(self.y > 0, bound, 0), rows
        if self.loss == "quantile":
            return self.y, (self.epsilon - 1) * bound, self.epsilon * bound, rows
        t = np.concatenate([self.y - self.epsilon, self.y + self.epsilon])
        return t, np.concatenate([zero, -bound]), np.concatenate([bound, zero]), np.tile(rows, 2)

    def losses(self, beta, b=0.0):
        f = self.K @ beta + b
        if self.loss == "hinge":
            return np.maximum(0, 1 - self.y * f)
        if self.loss == "quantile":
            return np.maximum(self.epsilon * (self.y - f), (self.epsilon - 1) * (self.y - f))
        return np.maximum(0, np.abs(f - self.y) - self.epsilon)

    def primal(self, beta, b=0.0):
        """Its value from the definition, at ``w = sum_i beta_i phi(x_i)``."""
        return beta @ self.K @ beta / 2 + self.C * (self.s * self.losses(beta, b)).sum()

    def bound(self, free, precision=np.float64, **options):
        source = native.given_source(np.ascontiguousarray(self.K, dtype=precision))
        return kernel_problem.make_problem(
            source, self.y, self.s, self.C, loss=self.loss, parameter=self.epsilon, free_intercept=free, **options
        )


@cache
def make_case(n=32, weighted=False, seed=0, C=IRRATIONAL, gamma=0.5, loss="hinge", epsilon=0.0, zeros=False):
    """A Gaussian kernel in two dimensions, labels with noise; `zeros`: some weights are zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(np.float32).astype(float)
    score = np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * random.normal(size=n)
    s = random.uniform(0.2, 2, size=n) if weighted else np.ones(n)
    if zeros:
        s[::5] = 0
    return KernelCase(K, score if loss != "hinge" else np.where(score > 0, 1.0, -1.0), s, C, loss, epsilon)


def call(solver, case, *, free=False, precision=np.float64, cached_rows=2**31, max_seconds=np.inf, **options):
    problem = case.bound(free, precision)
    run = make_run(max_seconds=max_seconds)
    return getattr(native, solver)(problem.source, problem.core, run, cached_rows=cached_rows, **options)


def plain(bounds):
    """A primal and a dual value, without what they allow for rounding."""
    return bounds.primal - bounds.above, bounds.dual + bounds.below


def last_point(found):
    """The variables after the last step, which need not be those of the best machine."""
    return found.dual_beta if len(found.dual_beta) else found.beta


def run_walk(case, batches=None, *, perceptron=False, **options):
    """``native.kernel_walk`` with defaults: one epoch of Pegasos. `batches` sets the examples it visits."""
    defaults = {
        "labels": case.y,
        "weights": case.s if perceptron else case.n * case.s / case.s.sum(),
        "perceptron": perceptron,
        "batch": 1,
        "sampling": "permute",
        "project": False,
        "output": "last",
        "best": False,
        "lambda_": case.lam,
        "tol": 0.0,
        "max_steps": case.n,
        "seed": 0,
        "visits": None,
        "held_out": None,
        "patience": 0,
    }
    if batches is not None:
        defaults |= {"visits": batches.ravel(), "batch": batches.shape[1], "max_steps": len(batches)}
    return call("kernel_walk", case, **(defaults | options))


def run_kernel_sdca(case, **options):
    """``native.kernel_sdca`` with defaults: one epoch."""
    defaults = {"tol": 0.0, "max_epochs": 1.0, "seed": 0, "visits": None, "start": None}
    return call("kernel_sdca", case, **(defaults | options))


def run_lasvm(case, **options):
    """``native.lasvm`` with defaults: to a gap of 1e-7."""
    defaults = {"tol": 1e-7, "max_epochs": 1e6, "tau": 1e-3, "selection": "random", "seed": 0}
    return call("lasvm", case, **(defaults | {"visits": None, "start": None} | options))


def run_smo(case, **options):
    """``native.smo`` with defaults: to a gap of 1e-10, all variables in one block."""
    defaults = {"tol": 1e-10, "max_epochs": 1e6, "working_set": 10_000, "block": 10_000, "seed": 0, "start": None}
    defaults |= {"part_from": 10**6}
    return call("smo", case, **(defaults | options))


def run_sbp(case, *, nu=-1.0, **options):
    """``native.sbp`` with defaults: an epoch, for C unless `nu` is given."""
    defaults = {
        "labels": case.y,
        "weights": case.s,
        "nu": nu,
        "C": case.C,
        "tol": 0.0,
        "max_steps": case.n,
        "seed": 0,
        "proposals": None,
        "uniforms": None,
        "held_out": None,
        "patience": 0,
    }
    return call("sbp", case, **(defaults | options))


def run_simba(case, *, nu=-1.0, **options):
    """``native.simba`` with defaults: an epoch, for C unless `nu` is given."""
    given = {"labels": case.y, "weights": case.s, "nu": nu, "C": case.C, "tol": 0.0, "max_steps": case.n, "seed": 0}
    return call("simba", case, **(given | {"uniforms": None, "held_out": None, "patience": 0} | options))


@cache
def optimum(case, free):
    """beta, b and the value at the optimum."""
    found = run_smo(case, free=free)
    beta = np.bincount(case.variables[3], found.beta)
    value = case.primal(beta, found.b)
    assert value - plain(found.bounds)[1] <= 1e-9 * value
    return beta, found.b, value
