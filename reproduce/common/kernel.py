"""Fits of kernel machines without intercept below the estimator, where kernel evaluations are counted."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from objective import Problem, expansion_value

from pegasos import SVC
from pegasos._core import native
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Solution
from pegasos.problems.kernel import KernelProblem, make_problem
from reproduce.common.data import Case

__all__ = ["Machine", "nu_of"]

BLOCK = 1_000  # rows of a kernel matrix at a time


def nu_of(case: Case, support: Any, dual_coef: Any, bias: bool) -> float:
    """S4's nu of a machine, as scikit-learn has its coefficients: the mean loss over the norm, with the best bias."""
    problem = Problem(case, "hinge", case.C, "free" if bias else "none", case.gamma)
    _, squared_norm, loss = expansion_value(problem, support, dual_coef)
    return loss / len(case.y) / math.sqrt(squared_norm)


def squared_norms(X: Any) -> Any:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


class Machine:
    """A problem with a Gaussian kernel; so many bytes of its matrix, in single precision, are kept.

    `whole`: all of it is computed beforehand where memory has the room. That is faster, and for experiments that count
    evaluations however they were made.
    """

    def __init__(self, case: Case, cache: float = 4e9, n_jobs: int = 1, whole: bool = False) -> None:
        self.case, self.cache, self.n_jobs = case, cache, n_jobs
        self.n = len(case.y)
        self.lam = 1 / (case.C * self.n)
        self.y = np.where(case.y > 0, 1.0, -1.0)
        # The examples in single precision, in CSR where they are sparse.
        if sp.issparse(case.X):
            self.rows = sp.csr_matrix(case.X, dtype=np.float32)
            self.rows.sum_duplicates()
            columns, starts = self.rows.indices.astype(np.int32), self.rows.indptr.astype(np.int64)
            points = native.csr_points(self.rows.data, columns, starts, self.rows.shape[1])
        else:
            self.rows = np.ascontiguousarray(case.X, dtype=np.float32)
            points = native.dense_points(self.rows)
        kernel = native.Kernel("rbf", case.gamma, 0.0, 0, False)
        self.source = native.point_source(points, kernel, native.Run(n_jobs=n_jobs), 0.0)
        self.K = None
        if whole and 1.2 * 4 * self.n**2 <= free_memory():
            self.K = np.empty((self.n, self.n), np.float32)
            for first, block in zip(range(0, self.n, BLOCK), self.kernel_rows(self.rows, slice(None)), strict=True):
                self.K[first : first + BLOCK] = block
            np.fill_diagonal(self.K, 1)
            self.source = native.given_source(self.K)

    def problem(self, C: float | None = None) -> KernelProblem:
        rows = int(max(self.cache / (4 * self.n), 100))
        options: dict[str, Any] = {"free_intercept": False, "cached_rows": rows}
        return make_problem(self.source, self.y, np.ones(self.n), C or self.case.C, **options)

    def solve(self, solver: Any, seed: int = 0, tol: float = 0.0, max_iter: int = 10**6, C: float | None = None) -> Any:
        return solver.solve(self.problem(C), Budget(tol, max_iter, None, n_jobs=self.n_jobs), seed)

    def coordinate_ascent(self, visits: int, seed: int, C: float | None = None) -> Any:
        """SDCA with so many visits, in random permutations of the examples."""
        problem, random = self.problem(C), np.random.default_rng(seed)
        order = np.concatenate([random.permutation(self.n) for _ in range(math.ceil(visits / self.n))])
        found = native.kernel_sdca(
            problem.source,
            problem.core,
            native.Run(n_jobs=self.n_jobs),
            cached_rows=problem.cached_rows,
            tol=0.0,
            max_epochs=math.inf,
            seed=seed,
            visits=order[:visits].astype(np.uint32),
            start=None,
        )
        return Solution.from_core(found, problem.point(found), "SDCA()")

    def optimum(self, tol: float = 1e-4, C: float | None = None) -> dict[str, float]:
        """Bounds on the optimum in S0's scale, its test error, and S4's nu: the mean loss over the norm of w.

        They are those of a fit that is certified in double precision.
        """
        case = replace(self.case, C=C or self.case.C)
        options = {"C": case.C, "gamma": case.gamma, "fit_intercept": False, "cache_size": self.cache / 1e6}
        model = SVC(tol=tol, n_jobs=self.n_jobs, random_state=0, **options).fit(case.X, case.y)
        lam = 1 / (case.C * self.n)
        return {
            "dual": lam * model.certificate_.dual,
            "primal": lam * model.certificate_.primal,
            "error": 100 * (1 - model.score(case.X_test, case.y_test)),
            "nu": nu_of(case, model.support_, model.dual_coef_, False),
            "supports": len(model.support_),
        }

    def with_bias(self, tol: float = 1e-3) -> dict[str, float]:
        """The test error of the optimum with a bias."""
        options = {"C": self.case.C, "gamma": self.case.gamma, "cache_size": self.cache / 1e6}
        model = SVC(tol=tol, n_jobs=self.n_jobs, random_state=0, **options).fit(self.case.X, self.case.y)
        error = 100 * (1 - model.score(self.case.X_test, self.case.y_test))
        return {"error": error, "gap": model.certificate_.gap, "tested": len(self.case.y_test)}

    @staticmethod
    def value(found: Any) -> float:
        """The objective of a solution as it was computed.

        Bounds allow for the rounding of a kernel matrix in single precision besides, which is as much as epsilon is.
        """
        return found.bounds.primal - found.bounds.above

    def kernel_rows(self, X: Any, chosen: Any) -> Iterator[Any]:
        """The kernel of examples with chosen ones of the fit, a block at a time."""
        few = self.rows[chosen]
        squares, gamma = squared_norms(few), np.float32(self.case.gamma)
        for first in range(0, X.shape[0], BLOCK):
            some = X[first : first + BLOCK].astype(np.float32)
            out = some @ few.T
            out = out.toarray() if sp.issparse(out) else out
            out *= 2
            out -= squares
            out -= squared_norms(some)[:, None]
            out *= gamma
            yield np.exp(np.minimum(out, 0, out=out), out=out)

    @lru_cache(maxsize=10_000)  # noqa: B019, a machine lives as long as the script
    def row(self, i: int) -> Any:
        """The kernel of all examples with one of them."""
        if self.K is not None:
            return self.K[i]
        return next(self.kernel_rows(self.rows[[i]], slice(None)))[0]

    def error(self, beta: Any) -> float:
        """The share of test examples that the machine gets wrong, in percent."""
        used = np.flatnonzero(beta)
        if not len(used):
            return 100.0 * float((self.case.y_test > 0).mean())
        weights = beta[used].astype(np.float32)
        scores = np.concatenate([block @ weights for block in self.kernel_rows(self.case.X_test, used)])
        return 100 * float(((scores >= 0) != (self.case.y_test > 0)).mean())

    def point(self, found: Any, budget: float, seconds: float) -> dict[str, float]:
        """What is stored of a fit."""
        return {
            "budget": budget,
            "seconds": seconds,
            "objective": self.lam * self.value(found),
            "error": self.error(found.point.beta),
            "updates": found.point.updates,
            "evaluations": found.point.evaluations,
        }

    def trace(
        self, runs: Iterable[tuple[float, Callable[[], Any]]], enough: Callable[[dict[str, float]], bool]
    ) -> list[dict[str, float]]:
        """Fits of growing budget, each from the start, until one is good enough."""
        points = []
        for budget, fit in runs:
            started = time.process_time()
            found = fit()
            points.append(self.point(found, budget, time.process_time() - started))
            if enough(points[-1]):
                break
        return points
