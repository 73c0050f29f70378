"""What machines with a kernel share: the kernel matrix, the problems of a fit, decisions."""

import functools
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from pegasos._config import usable_threads
from pegasos._machine import Data, Machine, shortfall
from pegasos._parallel import TimeShare, run_all
from pegasos.certificate import REASONS, Certificate, certificate_of, history_from_records, join_parts
from pegasos.combinations import refuse_kernel_combinations
from pegasos.early_stopping import split
from pegasos.kernel_problem import KernelSolution, feasible_start, make_problem
from pegasos.kernels import KERNELS, CalledKernel, GivenKernel, Kernel, Support, blocks, is_indefinite, make_kernel
from pegasos.options import ChoiceOrFunction, Integer, Number, NumberOrName, Option, names
from pegasos.problem import Budget, check_rows, explain_not_finite
from pegasos.progress import make_report
from pegasos.solvers import KERNEL_SOLVERS, Solver
from pegasos.solvers.auto import ROWS_FOR_THREADS, Auto
from pegasos.solvers.base import Report

__all__ = ["KernelMachine", "Part"]

#: Rows kept of a kernel matrix, whatever `cache_size` is.
FEWEST_ROWS = 64
#: Values of the kernel from which on decisions are worth threads that nobody asked for.
VALUES_FOR_THREADS = 1_000_000

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """One of the problems of a fit."""

    name: str
    rows: NDArray[np.intp] | None  # None: all
    y: Floats


class KernelMachine(Machine):
    """Base of the machines with a kernel."""

    support_: NDArray[np.int32]
    support_vectors_: Any
    n_support_: NDArray[np.int32]
    dual_coef_: Floats
    intercept_: Floats
    n_kernel_evaluations_: int
    n_updates_: int
    shape_fit_: tuple[int, int]
    _fitted_kernel: Kernel

    # Parameters; the subclasses' __init__ sets them.
    kernel: Any
    degree: int
    gamma: float | str
    coef0: float
    cache_size: float

    loss: ClassVar[str]
    solvers = KERNEL_SOLVERS
    options: ClassVar[Mapping[str, Option]] = {
        **Machine.options,
        "kernel": ChoiceOrFunction(values=names(*KERNELS, "precomputed"), help="the kernel"),
        "degree": Integer(low=0, high=2**31 - 1, help="exponent of the polynomial kernel"),
        "gamma": NumberOrName(values=("scale", "auto"), low=0, open=True, help="factor of the kernel's argument"),
        "coef0": Number(help="term of the polynomial and the sigmoid kernel"),
        "cache_size": Number(low=0, open=True, help="megabytes of the kernel matrix that are kept"),
    }

    @property
    def coef_(self) -> Floats:
        """Weights of the features, a row for each problem; with ``kernel="linear"`` only."""
        check_is_fitted(self)
        kernel = getattr(self._fitted_kernel, "name", None)
        if kernel != "linear":
            raise AttributeError(
                "coef_ is there with kernel='linear' only: with another one the weights are not those of features; use "
                "dual_coef_ and support_vectors_, or LinearSVC and LinearSVR"
            )
        return np.asarray(safe_sparse_dot(self._problem_weights(), self.support_vectors_), dtype=np.float64)

    def _refuse_combinations(self, solver: Solver) -> None:
        refuse_kernel_combinations(self, solver)

    def _parts(self, data: Data) -> list[Part]:
        """The problems of a fit."""
        raise NotImplementedError

    def _store_machines(self, data: Data, parts: Sequence[Part], betas: Sequence[Floats], intercepts: Floats) -> None:
        """Store what the examples weigh in each problem."""
        raise NotImplementedError

    def _problem_weights(self) -> Floats:
        """What the support vectors weigh, a row for each problem."""
        return self.dual_coef_

    def _last_fit(self) -> Floats | None:
        """The weight of each example of the last fit, a row for each problem."""
        if not hasattr(self, "dual_coef_"):
            return None
        weights = self._problem_weights()
        all_rows = np.zeros((len(weights), self.shape_fit_[0]))
        all_rows[:, self.support_] = weights
        return all_rows

    def _fit(self, data: Data, solver: Solver, seed: int, last: Floats | None, started: float) -> Self:
        s = self._weights(data)
        C = float(self.C if self.alpha is None else 1 / (self.alpha * s.sum()))
        kernel = make_kernel(self, solver, data.X, data.sample_weight, C * float(s.max()))
        indefinite = is_indefinite(kernel, seed)
        parts = self._parts(data)
        if last is not None and last.shape != (len(parts), len(s)):
            last = None

        report = make_report(self.verbose)
        try:
            found = self._solve_all(parts, kernel, s, C, solver, seed, last, started, report)
        finally:
            report.close()
        if indefinite:
            found = [_without_bound(solution) for solution in found]

        self.shape_fit_ = data.X.shape
        self._fitted_kernel = kernel.stripped()
        self._store_machines(data, parts, [solution.beta for solution in found], np.array([f.b for f in found]))
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, GivenKernel) else data.X[self.support_]
        self.n_kernel_evaluations_ = round(sum(solution.evaluations for solution in found))
        self.n_updates_ = sum(solution.updates for solution in found)
        certificates = [self._certificate(solution, indefinite) for solution in found]
        histories = [history_from_records(solution.records) for solution in found]
        several = len(found) > 1
        self.certificate_ = join_parts(certificates, time.perf_counter() - started) if several else certificates[0]
        self.history_ = histories if several else histories[0]
        self.n_iter_ = self.certificate_.n_iter
        text = shortfall(self.certificate_, lambda worst: self._advice(worst, solver, C, indefinite), "problems")
        if solver.kernel_margin and not indefinite and min(certificate.dual for certificate in certificates) <= 0:
            text = (
                f"{type(self).__name__} has no machine yet: {solver.describe()} found no margin above zero. There "
                "are no support vectors, and one class is predicted. Raise nu, max_iter or max_steps."
            )
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    def _solve_all(
        self,
        parts: Sequence[Part],
        kernel: Kernel,
        s: Floats,
        C: float,
        solver: Solver,
        seed: int,
        last: Floats | None,
        started: float,
        report: Report,
    ) -> list[KernelSolution]:
        """What the solver finds for each problem; several at a time, with one thread each."""
        n_jobs = self._threads()
        at_a_time = 1
        if len(parts) > 1:
            worth = isinstance(solver, Auto) and len(s) >= ROWS_FOR_THREADS and not isinstance(kernel, CalledKernel)
            at_a_time = n_jobs or (usable_threads() if worth else 1)
        share = TimeShare(self.max_time, len(parts), at_a_time)
        early = bool(getattr(self, "early_stopping", False))
        shared = not early and any(part.rows is None for part in parts)
        whole = kernel.source(None, n_jobs or usable_threads()) if shared else None

        def solve(number: int, report: Report) -> KernelSolution:
            part = parts[number]
            rows = np.arange(len(s)) if part.rows is None else part.rows
            train, held = self._hold_out_rows(part.y, seed)
            order = rows if held is None else rows[np.concatenate([train, held])]
            row_bytes = len(part.y) * np.dtype(kernel.precision).itemsize
            kept = float(self.cache_size) * 1e6 / row_bytes / min(at_a_time, len(parts))
            problem = make_problem(
                kernel.source(order) if whole is None else whole,
                part.y[train],
                s[rows[train]],
                C,
                loss=self.loss,
                epsilon=float(getattr(self, "epsilon", 0.0)),
                free_intercept=bool(self.fit_intercept),
                cached_rows=int(min(max(FEWEST_ROWS, kept), 2**31)),
                held_out=None if held is None else part.y[held],
                patience=int(getattr(self, "n_iter_no_change", 0)),
            )
            elapsed = time.perf_counter() - started
            threads = n_jobs if len(parts) == 1 else 1
            budget = Budget(self.tol, self.max_iter, share.limit(elapsed), elapsed, threads)
            start = None if last is None else feasible_start(problem, last[number, rows[train]])
            found = _check_finite(solver.solve_kernel(problem, budget, seed, start, report), C)
            if held is None:
                return found
            beta = np.zeros(len(part.y))
            beta[train] = found.beta
            return replace(found, beta=beta)

        several = len(parts) > 1
        works = [
            (functools.partial(solve, k), report.part(part.name) if several else report) for k, part in enumerate(parts)
        ]
        return run_all(works, at_a_time)

    def _hold_out_rows(self, y: Floats, seed: int) -> tuple[Any, NDArray[np.intp] | None]:
        """Which examples of a problem to train on, and which to tell when to stop by, if any."""
        if not getattr(self, "early_stopping", False):
            return slice(None), None
        return split(y, float(getattr(self, "validation_fraction", 0.1)), seed)

    def _certificate(self, solution: KernelSolution, indefinite: bool) -> Certificate:
        found = certificate_of(solution, self.tol)
        return replace(found, gap=math.inf, converged=False) if indefinite else found

    def _advice(self, found: Certificate, solver: Solver, C: float, indefinite: bool) -> str:
        """Why a fit fell short of `tol`, and what to do about it."""
        if indefinite:
            where = "where no step helped" if found.reason == "indefinite" else f"when {REASONS[found.reason]}"
            return (
                f"{type(self).__name__}: {REASONS['indefinite']} on the optimum. The fit ended {where}; use another "
                "kernel, or other parameters, for a certificate."
            )
        sentences = self._bounds_reached(found)
        if solver.kernel_margin:
            sentences[1] = f"The margin is {found.dual:.6g}, and the largest at most {found.primal:.6g}."
        elif C > 100:
            sentences.append(f"C={C:.3g} is large, a hard problem: try a smaller C, and scale the features.")
        return " ".join([*sentences, self._raise_what(found, bool(sentences[2:]))])

    def _groups(self) -> list[slice]:
        """The support vectors, in groups that take part in different problems."""
        return [slice(None)]

    def _combine(self, sums: Floats) -> Floats:
        """The decision of each problem, from the sums over each group of support vectors with each row of weights."""
        return sums[:, 0]

    def _scores(self, X: Any) -> Floats:
        """The decision of each problem, a column for each."""
        check_is_fitted(self)
        X = self._validate(X, order="C", accept_large_sparse=True, reset=False)
        kernel, support = self._fitted_kernel, Support(self.support_, self.support_vectors_, self.dual_coef_)
        if issparse(X) and isinstance(kernel, GivenKernel):
            raise ValueError("kernel='precomputed' takes the kernel matrix as an array, not sparse; pass K.toarray()")
        check_rows(X)
        n_jobs = self._threads() or (usable_threads() if X.shape[0] * len(self.support_) > VALUES_FOR_THREADS else 1)
        groups, scores = self._groups(), np.empty((X.shape[0], len(self.intercept_)))
        for part in blocks(X):
            scores[part] = self._combine(kernel.decisions(support, groups, X[part], n_jobs))
        wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if len(wrong):
            explain_not_finite(X, int(wrong[0]))
        return scores + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _without_bound(solution: KernelSolution) -> KernelSolution:
    """The solution of a problem that has no dual: the kernel is not positive semi-definite."""
    records = [[seconds, epoch, primal, -math.inf] for seconds, epoch, primal, _ in solution.records]
    reason = "indefinite" if solution.reason in ("tol", "precision") else solution.reason
    return replace(solution, dual=-math.inf, records=records, reason=reason)


def _check_finite(solution: KernelSolution, C: float) -> KernelSolution:
    """The solution; a ValueError where its numbers are not finite."""
    numbers = (solution.primal, solution.dual, solution.b, solution.squared_norm)
    if not (np.isfinite(solution.beta).all() and all(map(math.isfinite, numbers))):
        raise ValueError(
            f"the numbers overflowed: the values of the kernel and C={C:.3g} are too much together; scale the "
            "features, or lower C, gamma, degree or coef0"
        )
    return solution
