"""What all machines share: parameters, validation, labels and weights, the certificate of what a solver found."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from pegasos._config import count_threads
from pegasos.base import clock
from pegasos.base.early_stopping import split
from pegasos.base.options import Flag, Option, check_options
from pegasos.base.outcome import Budget, Solution
from pegasos.base.parameters import (
    Budgets,
    ClassWeight,
    Explained,
    HeldOut,
    Intercept,
    Interrupts,
    Method,
    Penalty,
    Seeded,
    parameter,
    parameters,
)
from pegasos.base.rows import check_rows
from pegasos.base.scores import is_plain
from pegasos.base.solver import Solver, resolve
from pegasos.base.validation import check_weights, class_weights, number_labels, sum_weights
from pegasos.certificate import REASONS, Certificate, History, join_parts
from pegasos.io.dataset import Dataset

Estimator = TypeVar("Estimator")
Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

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


def at_once(
    fit: Callable[Concatenate[Estimator, Arguments], Any],
) -> Callable[Concatenate[Estimator, Arguments], Estimator]:
    """Decorate a method that fits: it changes the estimator at its end and in one go, or not at all.

    The method works on a copy, whose attributes become those of the estimator. So after an error or Ctrl-C the
    estimator is what it was, and another thread that predicts meanwhile has the old model whole.
    """

    @functools.wraps(fit)
    def run(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        working = object.__new__(type(self))
        working.__dict__.update(self.__dict__)
        fit(working, *args, **kwargs)
        self.__dict__ = working.__dict__
        return self

    return run


def of_one_model(
    predict: Callable[Concatenate[Estimator, Arguments], Result],
) -> Callable[Concatenate[Estimator, Arguments], Result]:
    """Decorate a method that predicts: it works with one whole model, also where another thread ends a fit."""

    @functools.wraps(predict)
    def run(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        still = object.__new__(type(self))
        still.__dict__ = self.__dict__  # which `at_once` does not change, but replaces
        return predict(still, *args, **kwargs)

    return run


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


def _text_columns(X: Any) -> str:
    """The columns of a data frame that may hold something other than numbers, for an error message."""
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return ""
    names = [str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if not _is_number(dtype)]
    return f" (look at column {', '.join(names)})" if names else ""


def _is_number(dtype: Any) -> bool:
    """Whether a column of a data frame has numbers; polars' types have names only."""
    kind = getattr(dtype, "kind", None)
    return kind in "biuf" if kind is not None else str(dtype).startswith(("Int", "UInt", "Float", "Boolean", "Decimal"))


@parameters
class Common(Seeded, Interrupts, Intercept, Method, Budgets, Penalty):
    """Parameters that all have whose problem is handed to a solver."""

    warm_start: bool = parameter(False, Flag(help="continue from the previous fit"))


class Machine(Common, Explained):
    """Base of the machines, linear or with a kernel."""

    certificate_: Certificate
    history_: History | list[History]
    n_iter_: int

    options: ClassVar[Mapping[str, Option]]
    #: Those it can be solved by.
    solvers: ClassVar[Mapping[str, type[Solver]]]

    @at_once
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to the examples X of shape (n_samples, n_features), dense or sparse, with labels or targets y.

        X is used in place when it is a C-ordered array or a CSR matrix of float32 or float64, and never modified. For
        linear machines it can also be a data set on disk (`pegasos.io.open_dataset`), which has labels and weights of
        its own.
        """
        if isinstance(X, Dataset):
            return self._fit_dataset(X, y, sample_weight)
        started = clock.now()
        solver = self.check_parameters()
        last = self._last_fit() if self.warm_start else None
        data = self._accept(X, y, sample_weight, reset=last is None)
        if last is not None:
            self._check_continued(data)
        return self._fit(data, solver, self._seed(), last, started)

    def _fit_dataset(self, dataset: Dataset, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        """Fit to a data set on disk."""
        raise TypeError(f"{type(self).__name__} takes no data set on disk; pass its X and y: fit(dataset.X, dataset.y)")

    def _examples_to_score(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """The arguments of `score`; a data set on disk brings its own labels and weights along."""
        if isinstance(X, Dataset):
            raise TypeError(
                f"{type(self).__name__} takes no data set on disk; pass its X and y: score(dataset.X, dataset.y)"
            )
        return X, y, sample_weight

    def _last_fit(self) -> Any:
        """What a fit can continue, None where there is nothing."""
        raise NotImplementedError

    def _fit(self, data: Data, solver: Solver, seed: int, last: Any, started: float) -> Self:
        """Fit to examples that are validated."""
        raise NotImplementedError

    def check_parameters(self) -> Solver:
        """Raise a ValueError where a parameter has a value it cannot have; return the solver. `fit` does this first."""
        check_options(self, self.options)
        self._threads()
        if self.tol == 0 and self.max_iter == -1 and self.max_time is None:
            raise ValueError("tol=0 runs the whole budget, and max_iter=-1 is no limit; set max_iter, max_time or tol")
        solver = resolve(self.solver, self.solvers)
        self._refuse_combinations(solver)
        return solver

    def _refuse_combinations(self, solver: Solver) -> None:
        """Raise a ValueError where parameters do not go together."""
        raise NotImplementedError

    def _threads(self) -> int | None:
        """`n_jobs` as a number of threads; None leaves it to the solver."""
        return count_threads(self.n_jobs)

    def _accept(self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool = True) -> Data:
        """The arguments of `fit`, validated."""
        X, y = self._validate_pair(X, y, reset)
        return Data(X, y, *self._encode(y), None if sample_weight is None else check_weights(sample_weight, X))

    def _validate_pair(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        """X and y as the core takes them."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        try:
            return self._validate(X, y, order="C", accept_large_sparse=True, reset=reset)
        except ValueError as error:
            if reset or "feature" not in str(error):
                raise
            raise ValueError(f"{error}; or, as warm_start=True continues the previous fit, a new estimator") from error

    def _take(self, X: Any, **options: Any) -> Any:
        """Examples to predict, validated; those that need no change are not looked at for long."""
        plain = is_plain(X, getattr(self, "n_features_in_", 0)) and "feature_names_in_" not in vars(self)
        if plain and (not options or issparse(X) or X.flags.c_contiguous):
            return X
        return self._validate(X, accept_large_sparse=True, reset=False, **options)

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        """scikit-learn's `validate_data`, with a remedy in each message. NaN and infinity are left for later."""
        if type(arrays[0]).__name__ == "LazyFrame":
            raise TypeError("X is a lazy data frame, whose rows are not there yet; pass X.collect()")
        try:
            return validate_data(
                self, *arrays, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, **options
            )
        except (ValueError, TypeError) as error:
            text = str(error)
            if "Complex data" in text:  # the rest of the message is all the data
                advice = "Complex data not supported: pass real and imaginary parts as columns of their own"
                raise ValueError(advice) from None
            if "could not convert" in text and np.ndim(arrays[0]) == 1:
                advice = "X has texts and no columns: make features of them, for example with TfidfVectorizer"
                raise ValueError(f"{advice} (sklearn.feature_extraction.text)") from error
            for part, remedy in REMEDIES.items():
                if part in text:
                    raise ValueError(f"{text.strip().rstrip('.')}{_text_columns(arrays[0])}; {remedy}") from error
            raise

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes, and what each example has."""
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

    def _budget(self, elapsed: float = 0.0) -> Budget:
        return Budget(self.tol, self._max_epochs, self.max_time, elapsed, self._threads(), self._keeps)

    def _store_outcome(
        self, solutions: Sequence[Solution[Any]], certificates: Sequence[Certificate], seconds: float
    ) -> None:
        """The certificates of the problems of a fit, which took so long, and how it got there."""
        histories = [solution.history for solution in solutions]
        several = len(solutions) > 1
        self.certificate_ = join_parts(certificates, seconds) if several else certificates[0]
        self.history_ = histories if several else histories[0]
        self._count_iterations()

    def _count_iterations(self) -> None:
        """`n_iter_` as the certificate has it."""
        self.n_iter_ = self.certificate_.n_iter

    @property
    def fit_status_(self) -> int:
        """0 where the last fit reached `tol`, or was stopped early as asked for, and 1 where it fell short."""
        return int(bool(shortfall(self.certificate_, lambda _: "short")))

    def _bounds_reached(self, found: Certificate) -> list[str]:
        """What a fit that fell short of `tol` did reach, in sentences."""
        return [
            f"{type(self).__name__} did not reach tol={self.tol:g}: {REASONS[found.reason]}.",
            f"The objective {found.primal:.6g} may be up to {found.gap:.3g} (relative) above the optimum, which is at "
            f"least {found.dual:.6g}.",
        ]

    def _raise_what(self, found: Certificate, otherwise: bool) -> str:
        """The last sentence of the advice on a fit that fell short."""
        if found.reason == "interrupt":
            return "The best point of the last check was kept; fit again for more."
        budget = found.reason if found.reason.startswith("max") else "max_iter"
        what = "tol" if found.reason == "precision" else f"{budget} or tol"
        return f"{'Otherwise raise' if otherwise else 'Raise'} {what}."

    def _plain_advice(self, found: Certificate) -> str:
        """What to do about a fit that fell short, where nothing is known of the data."""
        return " ".join([*self._bounds_reached(found), self._raise_what(found, False)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Classifier(HeldOut, ClassWeight, ClassifierMixin):
    """Labels and weights of classes."""

    classes_: NDArray[Any]

    #: What to use where the labels are numbers that are not classes.
    regressor: ClassVar[str]

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The share of the examples X with labels y that are predicted right; X is what `predict` takes.

        A data set on disk has labels and weights of its own.
        """
        return float(super().score(*self._examples_to_score(X, y, sample_weight)))

    def _check_continued(self, data: Data) -> None:
        if not np.array_equal(data.classes, self.classes_):
            raise ValueError(
                f"warm_start=True continues the previous fit, but the classes changed from {self.classes_.tolist()} to "
                f"{data.classes.tolist()}; pass the same ones, or a new estimator"
            )

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes, and for each example which one it has."""
        classes, encoded = number_labels(y, self.regressor)
        if len(classes) < 2:
            label = classes.tolist()[0]
            raise ValueError(f"y has one class only, {label!r}; a classifier needs examples of two classes")
        return classes, encoded

    def _weigh_classes(self, data: Data, s: NDArray[np.float64]) -> None:
        if self.class_weight is None:
            return
        counts = np.bincount(data.encoded, minlength=len(data.classes))
        s *= class_weights(self.class_weight, data.classes, counts)[data.encoded]

    def _hold_out(self, data: Data, seed: int) -> tuple[Data, Data | None]:
        if not self.early_stopping:
            return data, None
        check_rows(data.X)  # while rows have the numbers that the user knows them by
        train, test = split(data.encoded, float(self.validation_fraction), seed)
        held_out = data.take(test)
        if self.class_weight is not None:  # errors count as much as in the loss
            weights = np.ones(len(test)) if held_out.sample_weight is None else held_out.sample_weight
            self._weigh_classes(held_out, weights)
            held_out = held_out._replace(sample_weight=weights)
        return data.take(train), held_out


class Regressor(RegressorMixin):
    """Targets."""

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The coefficient of determination R^2 of what is predicted of X against y; X is what `predict` takes.

        A data set on disk has targets and weights of its own.
        """
        return float(super().score(*self._examples_to_score(X, y, sample_weight)))

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        numeric = {"y_numeric": True} if len(arrays) > 1 else {}
        return super()._validate(*arrays, **options, **numeric)

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """No classes, and the targets in double precision."""
        return np.empty(0), np.asarray(y, dtype=np.float64)


def copy_results(source: Any, target: Any) -> None:
    """Give an estimator what another one's fit stored, in place of what it had."""
    for name in [name for name in vars(target) if name.endswith("_")]:
        delattr(target, name)
    for name, value in list(vars(source).items()):
        if name.endswith("_"):
            setattr(target, name, value)


def shortfall(found: Certificate, advice: Callable[[Certificate], str], kind: str = "classes") -> str:
    """The advice on a fit that is not within its `tol`; empty where it is."""
    short = [part for part in found.parts or (found,) if not part.converged and part.reason != "early_stopping"]
    if not short:
        return ""
    text = advice(max(short, key=lambda part: part.gap))
    return f"{len(short)} of {len(found.parts)} {kind} fell short. The worst: {text}" if found.parts else text
