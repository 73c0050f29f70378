"""What linear machines share: hand the examples over to the core, call a solver, store what it found."""

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from pegasos.base import clock
from pegasos.base.estimator import Data, Machine, shortfall
from pegasos.base.options import Choice, Number, Option, names
from pegasos.base.outcome import Solution, WarmStart, check_finite
from pegasos.base.progress import Report, make_report
from pegasos.base.rows import check_rows, explain_not_finite, make_rows
from pegasos.base.scaling import describe_sizes, scale_columns
from pegasos.certificate import Certificate, History, certificate_of, history_from_records
from pegasos.io.dataset import Dataset
from pegasos.linear.out_of_core.machine import fit_dataset
from pegasos.problems.linear import Examples, Problem
from pegasos.solvers import SOLVERS, Solver
from pegasos.solvers.combinations import refuse_combinations

__all__ = ["LinearMachine", "State", "Task"]


class State(NamedTuple):
    """What a fit leaves for one that continues it, besides its weights: steps made, dual point, and for what loss."""

    t: int
    q: NDArray[np.float64] | None
    loss: str = "hinge"
    parts: tuple["State", ...] = ()  # of a fit of several problems


class Task(NamedTuple):
    """What is to be solved, how, and from where."""

    data: Data
    held_out: Data | None  # to tell when to stop
    examples: Examples
    C: float
    solver: Solver
    seed: int
    last: State | None
    started: float

    @property
    def elapsed(self) -> float:
        return clock.now() - self.started

    def check_finite(self, solution: Solution) -> Solution:
        """The solution; a ValueError where its numbers are not finite."""
        return check_finite(solution, self.C, self.examples.total_weight, self.examples.largest_norm)


class LinearMachine(Machine):
    """Base of the linear machines."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    scale_: NDArray[np.float64] | None
    _last: State

    # Parameters; the subclasses' __init__ sets them.
    loss: str
    intercept: str
    intercept_scaling: float
    scale: str | None

    solvers = SOLVERS
    #: Those that all have but the loss.
    options: ClassVar[Mapping[str, Option]] = {
        **Machine.options,
        "intercept": Choice(values=names("penalized", "free"), help="kind of intercept: in the norm or not"),
        "intercept_scaling": Number(low=0, open=True, help="value of the constant feature behind the intercept"),
        "scale": Choice(values={"no": None, "auto": "auto"}, help="divide each feature by its size before the fit"),
    }

    def _fit_dataset(self, dataset: Dataset, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        fitted: Self = fit_dataset(self, dataset, y, sample_weight)
        return fitted

    def _refuse_combinations(self, solver: Solver) -> None:
        refuse_combinations(self, solver)

    def _last_fit(self) -> State | None:
        return getattr(self, "_last", None)

    def _fit(self, data: Data, solver: Solver, seed: int, last: State | None, started: float) -> Self:
        data, held_out = self._hold_out(data, seed)
        examples = self._hand_over(data)
        C = float(self.C if self.alpha is None else 1 / (self.alpha * examples.total_weight))
        report = make_report(self.verbose)
        try:
            self._run(Task(data, held_out, examples, C, solver, seed, last, started), report)
        finally:
            report.close()
        text = shortfall(self.certificate_, lambda worst: self._advice(worst, C, examples.largest_norm, data.X))
        if text:
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    @property
    def _free(self) -> bool:
        return bool(self.fit_intercept) and self.intercept == "free"

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _targets(self, data: Data) -> NDArray[np.float64]:
        """The y of the problem."""
        raise NotImplementedError

    def _hand_over(self, data: Data) -> Examples:
        """The examples in the core's hands, scaled if so wanted."""
        X, s = data.X, self._weights(data)
        n_jobs, scale = self._threads() or 1, None
        rows, report = make_rows(X, self._bias, n_jobs)
        if self.scale is not None:
            if issparse(X) and not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            X, scale = scale_columns(X, s)
            rows, report = make_rows(X, self._bias, n_jobs, rescaled=True)
        y = self._targets(data)
        return Examples(rows, report, y, s, X.shape[1] + 1, self._bias, self._free, self.loss, scale)

    def _solve(
        self, solver: Solver, problem: Problem, seed: int, start: WarmStart | None, report: Report, elapsed: float = 0.0
    ) -> Solution:
        """What the solver finds within the budget, which is finite."""
        solution = solver.solve(problem, self._budget(elapsed), seed, start, report)
        return check_finite(solution, problem.C, problem.total_weight, problem.largest_norm)

    def _run(self, task: Task, report: Report) -> None:
        """Solve, and store what was found."""
        start = None
        if task.last is not None:
            start = self._start(task.examples, np.ravel(self.coef_), float(self.intercept_[0]), task.last)
        problem = task.examples.problem(task.C)
        solution = self._solve(task.solver, problem, task.seed, start, report, task.elapsed)
        self._store(self._as_stored(solution, problem, task.examples), task.examples)

    def _as_stored(self, solution: Solution, problem: Problem, examples: Examples) -> Solution:
        """The solution with the weights that the model will have, and the bounds of these."""
        return solution

    def _start(self, examples: Examples, coef: NDArray[np.float64], intercept: float, last: State) -> WarmStart:
        """From where a fit continues the last one, whose dual point another loss may not allow."""
        return examples.start(coef, intercept, last.t, last.q if last.loss == self.loss else None)

    def _state(self, solution: Solution, keep_dual_point: bool = True) -> State:
        """What the next fit continues."""
        return State(solution.t, solution.q if keep_dual_point else None, self.loss)

    def _certificate(self, solution: Solution) -> Certificate:
        return certificate_of(solution, self.tol, solution.n_iter, scaled=self.scale is not None)

    def _store(self, solution: Solution, examples: Examples) -> None:
        """The result of a single problem."""
        coef, intercept = examples.weights(solution.w)
        self._store_weights(coef[None, :], np.array([intercept]))
        self._store_result(
            self._state(solution), examples, self._certificate(solution), history_from_records(solution.records)
        )

    def _store_weights(self, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> None:
        self.coef_, self.intercept_ = coef, intercept

    def _store_result(
        self, last: State, examples: Examples | None, certificate: Certificate, history: History | list[History]
    ) -> None:
        """All but the weights; `examples` are None where they are not in memory."""
        for name in ("_streams", "_stream_errors", "progressive_", "lower_bound_", "t_"):
            self.__dict__.pop(name, None)  # of a stream before
        self._last = last
        self.scale_ = None if examples is None else examples.scale
        self.history_ = history
        self.certificate_ = certificate
        self.n_iter_ = certificate.n_iter

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """The scores of the examples X, a column for each row of `coef_`."""
        check_is_fitted(self)
        if isinstance(X, Dataset):
            X = X.X
        X = self._validate(X, accept_large_sparse=True, reset=False)
        if issparse(X):
            check_rows(X)  # looks for column numbers out of bounds, which SciPy would read
        weights = np.atleast_2d(self.coef_).T
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(safe_sparse_dot(X, weights, dense_output=True), dtype=np.float64)
        # A row with an entry that is not finite has no finite score, so a pass over X to find one is not needed.
        wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if len(wrong):
            explain_not_finite(X, wrong[0])
        return scores + self.intercept_

    def _advice(self, found: Certificate, C: float, longest: float, X: Any) -> str:
        """Why a fit to X fell short of `tol`, and what to do about it; `longest` is the norm of an example."""
        sentences = self._bounds_reached(found)
        uneven = "" if self.scale else describe_sizes(X, getattr(self, "feature_names_in_", None))
        if uneven:
            sentences.append(uneven)
        elif longest > 100 and not self.scale:
            sentences.append(
                f"The longest example has norm {longest:.3g}: scale the features, with scale='auto'; where columns are "
                "far from zero, centre them (sklearn.preprocessing.StandardScaler)."
            )
        if C * longest**2 > 100:
            sentences.append(f"C={C:.3g} is large for data of this scale, a hard problem: try a smaller C.")
        sentences.append(self._raise_what(found, bool(sentences[2:])))
        return " ".join(sentences)
