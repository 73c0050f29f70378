"""Linear support vector machines: validate, encode, call a solver, store what it found."""

import functools
import math
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from pegasos._config import usable_threads
from pegasos.certificate import REASONS, Certificate, history_from_records, relative_gap
from pegasos.options import Choice, Flag, Integer, Number, Option, check_options, names
from pegasos.problem import Budget, Examples, Problem, Solution, WarmStart, check_rows, explain_not_finite, make_rows
from pegasos.progress import make_report
from pegasos.scaling import describe_sizes, scale_columns
from pegasos.solvers import SOLVERS, Solver, resolve
from pegasos.solvers.base import Report

__all__ = ["LinearSVC"]

#: Parameters of other packages that users pass out of habit, and what to do instead.
HABITS = {
    "penalty": "the penalty is always the squared Euclidean norm ('l2'); leave it out",
    "dual": "which of primal and dual to work on is the solver's business; leave it out, or choose solver=...",
    "multi_class": "this version trains two classes; wrap it in sklearn.multiclass.OneVsRestClassifier for more",
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
    "Input y contains": "give every example one of two labels, or drop it",
    "feature names should match": "pass the columns the model was trained on",
    "is expecting": "pass the columns the model was trained on",
}


class Data(NamedTuple):
    """Examples that are validated, and which of the two classes each has."""

    X: Any  # a CSR matrix or a C-ordered array
    y: NDArray[Any]
    classes: NDArray[Any]
    encoded: NDArray[np.intp]
    sample_weight: NDArray[np.float64] | None

    def take(self, rows: Any) -> Self:
        """A copy of some of the examples."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return self._replace(X=self.X[rows], y=self.y[rows], encoded=self.encoded[rows], sample_weight=weights)


class State(NamedTuple):
    """What a fit leaves for one that continues it, besides its weights: steps made, dual point."""

    t: int
    q: NDArray[np.float64] | None


def _text_columns(X: Any) -> str:
    """The columns of a data frame that may hold something other than numbers, for an error message."""
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return ""
    names = [str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if dtype.kind not in "biuf"]
    return f" (look at column {', '.join(names)})" if names else ""


def explains_habits(init: Callable[..., None]) -> Callable[..., None]:
    """Turn "unexpected keyword" into advice for the parameters of `HABITS`."""

    @functools.wraps(init)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name in HABITS:
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}: {HABITS[name]}")
        init(self, *args, **kwargs)

    return wrapper


class LinearSVC(ClassifierMixin, BaseEstimator):
    """Linear support vector classifier whose every fit carries a certificate of how close to the optimum it is.

    It minimises ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i (<w, x_i> + b))``, where a penalised
    intercept b is part of w, and a free one is not.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss; larger means less regularised.
    alpha : float, default=None
        The papers' lambda, in place of C: ``C = 1 / (alpha n)``, n the total weight of the examples.
    loss : {"hinge"}, default="hinge"
        The loss.
    solver : str or object of `pegasos.solvers`, default="auto"
        How to solve it: by name, with the solver's default options, or as an object. ``"auto"`` chooses.
    tol : float, default=1e-3
        Stop when the relative duality gap is this small. 0 runs the whole budget.
    max_iter : int, default=1000
        Budget in epochs, or iterations of interior-point.
    max_time : float, default=None
        Budget in seconds.
    fit_intercept : bool, default=True
        Whether to have an intercept.
    intercept : {"penalized", "free"}, default="penalized"
        What kind of intercept. A penalised one, as in LIBLINEAR, is the weight of a constant feature of value
        `intercept_scaling`. A free one is not in the norm, as in LIBSVM; the solvers "auto", "interior-point",
        "sdca" and "pegasos" serve it.
    intercept_scaling : float, default=1.0
        The value of the constant feature; larger penalises the intercept less. A free intercept has none.
    scale : {"auto"}, default=None
        "auto" divides each column of X by its size, the root mean square of its entries that are not zero, before the
        fit; `coef_` is for X as it was given, and the certificate is that of the problem in the scaled columns.
        Nothing is centred, and a column of zeros stays. It takes a copy of the values of X, in double precision.
    class_weight : dict or "balanced", default=None
        Weights of the classes, which multiply the sample weights. "balanced" counts examples, not their weights, as in
        scikit-learn.
    warm_start : bool, default=False
        Whether `fit` continues from the previous one: `SDCA` and `InteriorPoint` from its dual point, the others from
        its weights and step count. There may be more examples than before, if the first are those of the previous fit;
        with fewer, `SDCA` and `InteriorPoint` start anew.
    n_jobs : int, default=None
        Threads for the fit; -1 is as many as there are processors. None is one, or with ``solver="auto"`` what suits
        the data. A solver that cannot use more works with one, and evaluates the objective with all.
    random_state : int, RandomState or None, default=None
        Seed of the order of visits. The same seed and `n_jobs` give the same result, bit for bit.
    verbose : int, default=0
        Whether to report progress on standard error.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept; 0 without one.
    classes_ : ndarray of shape (2,)
        The labels. Positive decisions mean the second.
    certificate_ : Certificate
        Bounds on the optimum, and how the fit ended.
    history_ : dict of ndarray
        ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap`` at each check.
    n_iter_ : int
        Epochs begun, or iterations of interior-point.
    scale_ : ndarray of shape (n_features,) or None
        What the columns were divided by, with ``scale="auto"``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(1000, 20, random_state=0)
    >>> clf = LinearSVC(C=0.01, tol=0.01, random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    >>> clf.predict(X[:3])
    array([0, 1, 1])
    """

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    scale_: NDArray[np.float64] | None

    options: ClassVar[Mapping[str, Option]] = {
        "C": Number(low=0, open=True, help="weight of the loss"),
        "alpha": Number(low=0, open=True, optional=True, help="the papers' lambda, in place of C: C = 1/(alpha n)"),
        "loss": Choice(values=names("hinge"), help="the loss"),
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

    @explains_habits
    def __init__(
        self,
        *,
        C: float = 1.0,
        alpha: float | None = None,
        loss: str = "hinge",
        solver: str | Solver = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        fit_intercept: bool = True,
        intercept: str = "penalized",
        intercept_scaling: float = 1.0,
        scale: str | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.alpha = alpha
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.fit_intercept = fit_intercept
        self.intercept = intercept
        self.intercept_scaling = intercept_scaling
        self.scale = scale
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to the examples X of shape (n_samples, n_features), dense or sparse, with labels y.

        X is used in place when it is a C-ordered array or a CSR matrix of float32 or float64, and never modified.
        """
        started = time.perf_counter()
        solver = self.check_parameters()
        last: State | None = getattr(self, "_last", None) if self.warm_start else None
        data = self._accept(X, y, sample_weight, reset=last is None)
        if last is not None and not np.array_equal(data.classes, self.classes_):
            raise ValueError(
                f"warm_start=True continues the previous fit, but the classes changed from {self.classes_.tolist()} to "
                f"{data.classes.tolist()}; pass the same ones, or a new estimator"
            )
        return self._fit(data, solver, self._seed(), last, started)

    def _fit(self, data: Data, solver: Solver, seed: int, last: State | None, started: float) -> Self:
        examples = self._hand_over(data)
        problem = examples.problem(float(self.C if self.alpha is None else 1 / (self.alpha * examples.total_weight)))
        start = None if last is None else examples.start(self.coef_[0], float(self.intercept_[0]), last.t, last.q)
        report = make_report(self.verbose)
        try:
            solution = self._solve(solver, problem, seed, start, report, time.perf_counter() - started)
        finally:
            report.close()
        self.classes_ = data.classes
        self._store(solution, examples)
        if not self.certificate_.converged:
            warnings.warn(
                self._advice(self.certificate_, problem.C, problem.largest_norm, data.X),
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def check_parameters(self) -> Solver:
        """Raise a ValueError where a parameter has a value it cannot have; return the solver. `fit` does this first."""
        check_options(self, self.options)
        self._threads()
        solver = resolve(self.solver)
        if self.loss not in solver.losses:
            raise ValueError(f"loss={self.loss!r} is none that {solver.name} serves: {', '.join(solver.losses)}")
        if self._free and "free" not in solver.intercepts:
            able = ", ".join(repr(name) for name, cls in SOLVERS.items() if "free" in cls.intercepts)
            raise ValueError(f"intercept='free' is none that {solver.name} serves; use solver={able}")
        if self._free and self.intercept_scaling != 1:
            raise ValueError(
                f"intercept_scaling={self.intercept_scaling}: a free intercept is not penalised, so there is nothing "
                "to scale; leave it at 1, or use intercept='penalized'"
            )
        return solver

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed distance to the hyperplane, times ``||w||``; positive for ``classes_[1]``."""
        check_is_fitted(self)
        X = self._validate(X, accept_large_sparse=True, reset=False)
        if issparse(X):
            check_rows(X)  # looks for column numbers out of bounds, which SciPy would read
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(safe_sparse_dot(X, self.coef_.T, dense_output=True), dtype=np.float64).ravel()
        # A row with an entry that is not finite has no finite score, so a pass over X to find one is not needed.
        wrong = np.flatnonzero(~np.isfinite(scores))
        if len(wrong):
            explain_not_finite(X, wrong[0])
        return scores + float(self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each example."""
        positive = self.decision_function(X) > 0
        return np.take(self.classes_, positive.astype(int))

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
        return Data(X, y, *self._encode(y), None if sample_weight is None else self._check_weights(sample_weight, X))

    def _validate_pair(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """X and y as the core takes them."""
        if y is None:
            raise ValueError("LinearSVC requires y to be passed, but the target y is None")
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

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The two classes, and for each example which one it has."""
        check_classification_targets(y)
        classes, encoded = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}: y has "
                f"{len(classes)} classes. Wrap the estimator in sklearn.multiclass.OneVsRestClassifier"
            )
        if len(classes) < 2:
            label = classes.tolist()[0]
            raise ValueError(f"y has one class only, {label!r}; a classifier needs examples of two classes")
        return classes, encoded

    def _check_weights(self, sample_weight: ArrayLike, X: Any) -> NDArray[np.float64]:
        given = np.asarray(sample_weight)
        if given.ndim == 1 and given.dtype.kind in "if":
            wrong = np.flatnonzero(~((given >= 0) & (given < np.inf)))
            if len(wrong):
                raise ValueError(
                    f"sample_weight[{wrong[0]}]={given[wrong[0]]}: weights must be finite and not negative; drop the "
                    "example or give it weight 0"
                )
        return _check_sample_weight(sample_weight, X, dtype=np.float64)

    def _weights(self, data: Data) -> NDArray[np.float64]:
        """The weight of each example: its own times that of its class."""
        s = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight.copy()
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=data.classes, y=data.y)
            if not ((weights >= 0) & (weights < np.inf)).all():
                raise ValueError(f"class_weight={self.class_weight}: weights must be finite and not negative")
            s *= weights[data.encoded]
        with np.errstate(over="ignore"):
            total = s.sum()
        if not 0 < total < np.inf:
            raise ValueError(f"the weights of the examples sum to {total}; the sum must be positive and finite")
        return s

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
        y = np.where(data.encoded == 1, 1.0, -1.0)
        return Examples(rows, report, y, s, X.shape[1] + 1, self._bias, self._free, self.loss, scale)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _solve(
        self, solver: Solver, problem: Problem, seed: int, start: WarmStart | None, report: Report, elapsed: float = 0.0
    ) -> Solution:
        """What the solver finds within the budget, which is finite."""
        budget = Budget(self.tol, self.max_iter, self.max_time, elapsed, self._threads())
        solution = solver.solve(problem, budget, seed, start, report)
        if not (np.isfinite(solution.w).all() and math.isfinite(solution.primal) and math.isfinite(solution.dual)):
            raise ValueError(
                f"the numbers overflowed: C={problem.C:.3g}, weights that sum to {problem.total_weight:.3g} and an "
                f"example of norm {problem.largest_norm:.3g} are too much together; lower C, or scale weights and "
                "features"
            )
        return solution

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
        self._last = State(solution.t, solution.q)
        coef, intercept = examples.weights(solution.w)
        self.coef_, self.intercept_ = coef[None, :], np.array([intercept])
        self.scale_ = examples.scale
        self.history_ = history_from_records(solution.records)
        self.certificate_ = self._certificate(solution)
        self.n_iter_ = self.certificate_.n_iter

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
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
