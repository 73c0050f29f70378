"""What linear machines share: validate, hand over to the core, call a solver, store what it found."""

import functools
import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from pegasos._config import usable_threads
from pegasos.certificate import REASONS, Certificate, History, history_from_records, relative_gap
from pegasos.combinations import refuse_combinations
from pegasos.options import Choice, Flag, Integer, Number, Option, check_options, names
from pegasos.problem import Budget, Examples, Problem, Solution, WarmStart, check_rows, explain_not_finite, make_rows
from pegasos.progress import make_report
from pegasos.scaling import describe_sizes, scale_columns
from pegasos.solvers import Solver, resolve
from pegasos.solvers.base import Report

__all__ = ["Data", "LinearMachine", "State", "Task", "check_finite", "check_weights", "explains_habits", "sum_weights"]

#: Parameters of other packages that users pass out of habit, and what to do instead.
HABITS = {
    "penalty": "the penalty is always the squared Euclidean norm ('l2'); leave it out",
    "dual": "which of primal and dual to work on is the solver's business; leave it out, or choose solver=...",
    "multi_class": "there are not more than two classes to treat one way or the other; leave it out",
    "n_iter": "the number of epochs is max_iter",
    "eta0": "step sizes belong to the solver: solver=ConstantStep(eta=...)",
    "learning_rate": "step sizes belong to the solver: solver=Pegasos(), Norma() or ConstantStep()",
}

#: What to do about input that scikit-learn's validation turns down, by a part of its message.
REMEDIES = {
    "could not convert": "encode columns that are not numbers, for example with sklearn.preprocessing.OneHotEncoder",
    "could not be promoted": "encode columns that are not numbers, dates for example as days since the first one",
    "inconsistent numbers of samples": "give one label for each row of X",
    "while a minimum of": "X needs at least one row and one column; look at how it was made",
    "Input y contains": "give every example a label or target, or drop it",
    "feature names should match": "pass the columns the model was trained on",
    "is expecting": "pass the columns the model was trained on",
}


class Data(NamedTuple):
    """Examples that are validated."""

    X: Any  # a CSR matrix or a C-ordered array
    y: NDArray[Any]
    classes: NDArray[Any]  # none in regression
    encoded: NDArray[Any]  # the number of each example's class; in regression its target
    sample_weight: NDArray[np.float64] | None

    def take(self, rows: Any) -> Self:
        """A copy of some of the examples."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return self._replace(X=self.X[rows], y=self.y[rows], encoded=self.encoded[rows], sample_weight=weights)


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
        return time.perf_counter() - self.started

    def check_finite(self, solution: Solution) -> Solution:
        """The solution; a ValueError where its numbers are not finite."""
        return check_finite(solution, self.C, self.examples.total_weight, self.examples.largest_norm)


def _text_columns(X: Any) -> str:
    """The columns of a data frame that may hold something other than numbers, for an error message."""
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return ""
    names = [str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if dtype.kind not in "biuf"]
    return f" (look at column {', '.join(names)})" if names else ""


def explains_habits(init: Callable[..., None]) -> Callable[..., None]:
    """Turn "unexpected keyword" into advice for the parameters of `HABITS`."""
    known = inspect.signature(init).parameters

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name in HABITS and name not in known:
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}: {HABITS[name]}")
        init(self, *args, **kwargs)

    return wrapper


class LinearMachine(BaseEstimator):
    """Base of the linear machines."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    scale_: NDArray[np.float64] | None
    certificate_: Certificate
    history_: History | list[History]
    n_iter_: int
    _last: State

    # Parameters; the subclasses' __init__ sets them.
    C: float
    alpha: float | None
    loss: str
    solver: str | Solver
    tol: float
    max_iter: int
    max_time: float | None
    fit_intercept: bool
    intercept: str
    intercept_scaling: float
    scale: str | None
    warm_start: bool
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int

    #: Those that all have but the loss.
    options: ClassVar[Mapping[str, Option]] = {
        "C": Number(low=0, open=True, help="weight of the loss"),
        "alpha": Number(low=0, open=True, optional=True, help="the papers' lambda, in place of C: C = 1/(alpha n)"),
        "tol": Number(low=0, help="stop at this relative duality gap; 0 runs the whole budget"),
        "max_iter": Integer(low=1, help="budget in epochs"),
        "max_time": Number(low=0, open=True, optional=True, help="budget in seconds"),
        "fit_intercept": Flag(help="have an intercept"),
        "intercept": Choice(values=names("penalized", "free"), help="kind of intercept: in the norm or not"),
        "intercept_scaling": Number(low=0, open=True, help="value of the constant feature behind the intercept"),
        "scale": Choice(values={"no": None, "auto": "auto"}, help="divide each feature by its size before the fit"),
        "warm_start": Flag(help="continue from the previous fit"),
        "n_jobs": Integer(low=-1, optional=True, help="threads; -1 is as many as there are processors"),
    }

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to the examples X of shape (n_samples, n_features), dense or sparse, with labels or targets y.

        X is used in place when it is a C-ordered array or a CSR matrix of float32 or float64, and never modified.
        """
        started = time.perf_counter()
        solver = self.check_parameters()
        last: State | None = getattr(self, "_last", None) if self.warm_start else None
        data = self._accept(X, y, sample_weight, reset=last is None)
        if last is not None:
            self._check_continued(data)
        return self._fit(data, solver, self._seed(), last, started)

    def _fit(self, data: Data, solver: Solver, seed: int, last: State | None, started: float) -> Self:
        data, held_out = self._hold_out(data, seed)
        examples = self._hand_over(data)
        C = float(self.C if self.alpha is None else 1 / (self.alpha * examples.total_weight))
        report = make_report(self.verbose)
        try:
            self._run(Task(data, held_out, examples, C, solver, seed, last, started), report)
        finally:
            report.close()
        found = self.certificate_
        short = [part for part in found.parts or (found,) if not part.converged and part.reason != "early_stopping"]
        if short:
            worst = max(short, key=lambda part: part.gap)
            advice = self._advice(worst, C, examples.largest_norm, data.X)
            if found.parts:
                advice = f"{len(short)} of {len(found.parts)} classes fell short. The worst: {advice}"
            warnings.warn(advice, ConvergenceWarning, stacklevel=3)
        return self

    def check_parameters(self) -> Solver:
        """Raise a ValueError where a parameter has a value it cannot have; return the solver. `fit` does this first."""
        check_options(self, self.options)
        self._threads()
        solver = resolve(self.solver)
        refuse_combinations(self, solver)
        return solver

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__batch_size`` is the solver's `batch_size`."""
        solver = params.get("solver", self.solver)
        for name in params:
            if name.startswith("solver__") and isinstance(solver, str):
                raise ValueError(
                    f"{name}: solver={solver!r} is a name, which has no options to set; pass an object, such as "
                    "solver=Pegasos(), first"
                )
        return super().set_params(**params)

    def _threads(self) -> int | None:
        """`n_jobs` as a number of threads; None leaves it to the solver."""
        if self.n_jobs is not None and not (self.n_jobs == -1 or 1 <= self.n_jobs <= 1024):
            raise ValueError(
                f"n_jobs={self.n_jobs}: must be a number of threads from 1 to 1024, -1 for as many as there are "
                "processors, or None"
            )
        return usable_threads() if self.n_jobs == -1 else self.n_jobs

    @property
    def _free(self) -> bool:
        return bool(self.fit_intercept) and self.intercept == "free"

    @property
    def _bias(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _accept(self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool = True) -> Data:
        """The arguments of `fit`, validated."""
        X, y = self._validate_pair(X, y, reset)
        return Data(X, y, *self._encode(y), None if sample_weight is None else check_weights(sample_weight, X))

    def _validate_pair(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """X and y as the core takes them."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        try:
            pair: tuple[Any, NDArray[Any]] = self._validate(X, y, order="C", accept_large_sparse=True, reset=reset)
            return pair
        except ValueError as error:
            if reset or "feature" not in str(error):
                raise
            raise ValueError(f"{error}; or, as warm_start=True continues the previous fit, a new estimator") from error

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        """scikit-learn's `validate_data`, with a remedy in each message. NaN and infinity are left for later."""
        try:
            return validate_data(
                self, *arrays, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, **options
            )
        except (ValueError, TypeError) as error:
            text = str(error)
            if "Complex data" in text:  # the rest of the message is all the data
                advice = "Complex data not supported: pass real and imaginary parts as columns of their own"
                raise ValueError(advice) from None
            for part, remedy in REMEDIES.items():
                if part in text:
                    raise ValueError(f"{text.strip().rstrip('.')}{_text_columns(arrays[0])}; {remedy}") from error
            raise

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes, and what each example has."""
        raise NotImplementedError

    def _targets(self, data: Data) -> NDArray[np.float64]:
        """The y of the problem."""
        raise NotImplementedError

    def _check_continued(self, data: Data) -> None:
        """Raise a ValueError where this data cannot continue the last fit."""

    def _hold_out(self, data: Data, seed: int) -> tuple[Data, Data | None]:
        """Examples to train on, and those to tell when to stop by, if any."""
        return data, None

    def _weights(self, data: Data) -> NDArray[np.float64]:
        """The weight of each example."""
        s = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight.copy()
        self._weigh_classes(data, s)
        sum_weights(s)
        return s

    def _weigh_classes(self, data: Data, s: NDArray[np.float64]) -> None:
        """Multiply the weights of the examples by those of their classes, where there are any."""

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
            rows, report = make_rows(X, self._bias, n_jobs)
        epsilon = float(getattr(self, "epsilon", 0.0))
        return Examples(
            rows, report, self._targets(data), s, X.shape[1] + 1, self._bias, self._free, self.loss, scale, epsilon
        )

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _budget(self, elapsed: float = 0.0) -> Budget:
        return Budget(self.tol, self.max_iter, self.max_time, elapsed, self._threads())

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
        self._store(self._solve(task.solver, problem, task.seed, start, report, task.elapsed), task.examples)

    def _start(self, examples: Examples, coef: NDArray[np.float64], intercept: float, last: State) -> WarmStart:
        """From where a fit continues the last one, whose dual point another loss may not allow."""
        return examples.start(coef, intercept, last.t, last.q if last.loss == self.loss else None)

    def _state(self, solution: Solution, keep_dual_point: bool = True) -> State:
        """What the next fit continues."""
        return State(solution.t, solution.q if keep_dual_point else None, self.loss)

    def _certificate(self, solution: Solution) -> Certificate:
        gap = relative_gap(solution.primal, solution.dual)
        return Certificate(
            primal=solution.primal,
            dual=solution.dual,
            gap=gap,
            converged=self.tol == 0 or gap <= self.tol,
            reason=solution.reason,
            n_iter=max(1, math.ceil(solution.epochs) if solution.n_iter is None else solution.n_iter),
            seconds=solution.seconds,
            solver=solution.solver,
            scaled=self.scale is not None,
        )

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
        self, last: State, examples: Examples, certificate: Certificate, history: History | list[History]
    ) -> None:
        self._last = last
        self.scale_ = examples.scale
        self.history_ = history
        self.certificate_ = certificate
        self.n_iter_ = certificate.n_iter

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """The scores of the examples X, a column for each row of `coef_`."""
        check_is_fitted(self)
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
        sentences = [
            f"{type(self).__name__} did not reach tol={self.tol:g}: {REASONS[found.reason]}.",
            f"The objective {found.primal:.6g} may be up to {found.gap:.3g} (relative) above the optimum, which is at "
            f"least {found.dual:.6g}.",
        ]
        uneven = "" if self.scale else describe_sizes(X, getattr(self, "feature_names_in_", None))
        if uneven:
            sentences.append(uneven)
        elif longest > 100 and not self.scale:
            sentences.append(f"The longest example has norm {longest:.3g}: scale the features, with scale='auto'.")
        if C * longest**2 > 100:
            sentences.append(f"C={C:.3g} is large for data of this scale, a hard problem: try a smaller C.")
        budget = found.reason if found.reason.startswith("max") else "max_iter"
        what = "tol" if found.reason == "precision" else f"{budget} or tol"
        sentences.append(f"{'Otherwise raise' if len(sentences) > 2 else 'Raise'} {what}.")
        return " ".join(sentences)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_weights(sample_weight: ArrayLike, X: Any) -> NDArray[np.float64]:
    """The weights of the examples X; a ValueError where one cannot be a weight."""
    given = np.asarray(sample_weight)
    if given.ndim == 1 and given.dtype.kind in "if":
        wrong = np.flatnonzero(~((given >= 0) & (given < np.inf)))
        if len(wrong):
            raise ValueError(
                f"sample_weight[{wrong[0]}]={given[wrong[0]]}: weights must be finite and not negative; drop the "
                "example or give it weight 0"
            )
    return _check_sample_weight(sample_weight, X, dtype=np.float64)


def sum_weights(s: NDArray[np.float64]) -> float:
    """The total weight; a ValueError where there is none, or no end to it."""
    with np.errstate(over="ignore"):
        total = float(s.sum())
    if not 0 < total < np.inf:
        raise ValueError(f"the weights of the examples sum to {total}; the sum must be positive and finite")
    return total


def check_finite(solution: Solution, C: float, total_weight: float, largest_norm: float) -> Solution:
    """The solution; a ValueError where its numbers are not finite."""
    if not (np.isfinite(solution.w).all() and math.isfinite(solution.primal) and math.isfinite(solution.dual)):
        raise ValueError(
            f"the numbers overflowed: C={C:.3g}, weights that sum to {total_weight:.3g} and an example of norm "
            f"{largest_norm:.3g} are too much together; lower C, or scale weights and features"
        )
    return solution
