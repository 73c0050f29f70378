"""What all machines share: parameters, validation, labels and weights, the certificate of what a solver found."""

import copy
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from pegasos._threads import count_threads
from pegasos.base import clock
from pegasos.base.callbacks import with_callbacks
from pegasos.base.checkpoint import Context, Given, checkpointing
from pegasos.base.conventions import ClassifierMixin, RegressorMixin
from pegasos.base.early_stopping import split
from pegasos.base.options import Flag, Option, check_options
from pegasos.base.outcome import Budget, Solution
from pegasos.base.parameters import (
    Budgets,
    Checkpointed,
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
from pegasos.base.rows import check_rows, naming_columns
from pegasos.base.scores import is_plain
from pegasos.base.solver import Solver, resolve
from pegasos.base.validation import (
    MASKED,
    as_targets,
    check_weights,
    class_weights,
    number_labels,
    refuse_dates,
    refuse_masked,
    refuse_missing,
    refuse_mixed,
    refuse_text,
    require_targets,
    sum_weights,
)
from pegasos.certificate import REASONS, Certificate, History, all_reasons, join_parts
from pegasos.io.csr import check_sparse
from pegasos.io.dataset import Dataset
from pegasos.io.floats import FLOATS, float_types

#: A method, whose types its decorators leave to it: checkers cannot tell `Self` through a signature of theirs.
AnyMethod = TypeVar("AnyMethod", bound=Callable[..., Any])

#: Parameters that predictions and the next fit go by. Those of a model are as they are now, the others as at its fit.
NOT_OF_FITS = ("break_ties", "decision_function_shape", "n_jobs", "warm_start")

#: Objectives below it are probably zero, where rounding hides the optimum.
AS_GOOD_AS_ZERO = 1e-6


def at_once(fit: AnyMethod) -> AnyMethod:
    """Decorate a method that fits: it changes the estimator at its end and in one go, or not at all.

    The method works on a copy, whose attributes become those of the estimator. So after an error or Ctrl-C the
    estimator is what it was, and another thread that predicts meanwhile has the old model whole. With
    ``on_interrupt="keep"`` Ctrl-C leaves the best point, if there is one. It is raised all the same, so that a search
    or a loop around the fit ends too.
    """

    @functools.wraps(fit)
    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        working = object.__new__(type(self))
        working.__dict__.update(self.__dict__)
        try:
            with naming_columns(working):
                run_fit = with_callbacks(fit) if "_skl_callbacks" in vars(working) else fit
                run_fit(working, *args, **kwargs)
        except KeyboardInterrupt as error:
            if getattr(self, "on_interrupt", "") != "keep" or error.args:
                raise
            raise KeyboardInterrupt("interrupted before there was a point to keep: nothing is kept") from error
        self.__dict__ = working.__dict__
        found = vars(self).get("certificate_")
        if found is not None and "interrupt" in all_reasons(found):
            point = f"the best point of the last check, whose gap is {found.gap:.2g}"
            raise KeyboardInterrupt(f"interrupted: this {type(self).__name__} has {point}")
        return self

    return cast(AnyMethod, run)


def of_one_model(predict: AnyMethod) -> AnyMethod:
    """Decorate a method that predicts: it works with one whole model, also where another thread ends a fit."""

    @functools.wraps(predict)
    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        still = object.__new__(type(self))
        still.__dict__ = self.__dict__  # which `at_once` does not change, but replaces
        with naming_columns(still):
            return predict(still, *args, **kwargs)

    return cast(AnyMethod, run)


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


@parameters
class Common(Seeded, Interrupts, Checkpointed, Intercept, Method, Budgets, Penalty):
    """Parameters that all have whose problem is handed to a solver."""

    warm_start: bool = parameter(False, Flag(help="continue from the previous fit"))


class Machine(Common, Explained):
    """Base of the machines, linear or with a kernel."""

    certificate_: Certificate
    history_: History | list[History]
    n_iter_: int
    classes_: NDArray[Any]
    n_features_in_: int
    _fit_parameters: dict[str, Any]

    options: ClassVar[Mapping[str, Option]]
    #: Those it can be solved by.
    solvers: ClassVar[Mapping[str, type[Solver]]]

    @at_once
    def fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to the examples X of shape (n_samples, n_features), dense or sparse, with labels or targets y.

        X is used in place if it is a C-ordered array or a CSR matrix of float32 or float64, and is never modified. For
        linear estimators, X can also be a data set on disk (`pegasos.io.open_dataset`), which contains labels and
        weights.
        """
        if isinstance(X, Dataset):
            return self._fit_dataset(X, y, sample_weight)
        if isinstance(X, str | os.PathLike):
            raise TypeError(
                f"X is the path {os.fspath(X)!r}; pass examples: pegasos.io.open_dataset(path) of a data set, or X "
                "and y of pegasos.io.read_svmlight(path)"
            )
        started = clock.now()
        solver = self.check_parameters()
        data, last = self._continue(X, y, sample_weight)
        context = Context(started, self._seed(), Given.of(X, y, sample_weight=sample_weight))
        with checkpointing(self, context, data.X, data.y, data.sample_weight) as context:
            return self._fit(data, solver, last, context)

    def _continue(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Any]:
        """The arguments of `fit`, validated, and the fit that is continued with them, if there is one."""
        last = self._last_fit() if self.warm_start else None
        data = self._accept(X, y, sample_weight, reset=last is None)
        if last is not None:
            self._check_continued(data)
        return data, last

    def _fit_dataset(self, dataset: Dataset, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Self:
        """Fit to a data set on disk."""
        raise TypeError(f"{type(self).__name__} takes no data set on disk; pass its X and y: fit(dataset.X, dataset.y)")

    def _examples_to_score(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """The arguments of `score`; a data set on disk brings its own labels and weights along."""
        if isinstance(X, Dataset):
            raise TypeError(
                f"{type(self).__name__} takes no data set on disk; pass its X and y: score(dataset.X, dataset.y)"
            )
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            refuse_masked(name, values, MASKED[name])
        return X, y, sample_weight

    def _last_fit(self) -> Any:
        """What a fit can continue, None where there is nothing."""
        raise NotImplementedError

    def _fit(self, data: Data, solver: Solver, last: Any, context: Context) -> Self:
        """Fit to examples that are validated."""
        raise NotImplementedError

    def check_parameters(self) -> Solver:
        """Raise a ValueError if a parameter has an invalid value; return the solver. `fit` does this first."""
        check_options(self, self.options)
        self._threads()
        self._check_checkpoint()
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
        require_targets(self, y)
        return self._validate(X, y, order="C", accept_large_sparse=True, reset=reset)

    def _take(self, X: Any, **options: Any) -> Any:
        """Examples to predict, validated; those that need no change are not looked at for long."""
        plain = is_plain(X, getattr(self, "n_features_in_", 0)) and "feature_names_in_" not in vars(self)
        if plain and (not options or issparse(X) or X.flags.c_contiguous):
            return X
        return self._validate(X, accept_large_sparse=True, reset=False, **options)

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        """scikit-learn's `validate_data`, and what it does not say. NaN and infinity are left for later."""
        if type(arrays[0]).__name__ == "LazyFrame":
            raise TypeError("X is a lazy data frame, whose rows are not there yet; pass X.collect()")
        if getattr(arrays[0], "format", "") != "csr" or arrays[0].dtype not in FLOATS:
            check_sparse(arrays[0])  # which will be converted
        refuse_dates(arrays[0])
        what = "target" if isinstance(self, RegressorMixin) else "label"
        for name, values in zip("Xy", arrays, strict=False):
            refuse_masked(name, values, MASKED[name])
        try:
            taken = validate_data(
                self, *arrays, accept_sparse="csr", dtype=float_types(arrays[0]), ensure_all_finite=False, **options
            )
        except (ValueError, TypeError):
            if len(arrays) > 1:
                refuse_missing(arrays[1], what)
            refuse_text(arrays[0])
            raise
        if len(arrays) > 1 and taken[1].dtype.kind == "O":
            refuse_missing(taken[1], what)
        return taken

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
        return Budget(self.tol, self._max_epochs, self.max_time, elapsed, self._threads(), self.on_interrupt == "keep")

    def store_parameters(self) -> None:
        """Keep the parameters of this fit: later ones, set with `set_params`, are for the next."""
        names = [one.name for one in fields(self) if one.name not in NOT_OF_FITS]
        self._fit_parameters = {name: _copied(getattr(self, name)) for name in names}

    def _as_fitted(self) -> Self:
        """The model with the parameters of its fit."""
        fitted = object.__new__(type(self))
        fitted.__dict__ = vars(self) | vars(self).get("_fit_parameters", {})  # older models do not have these
        return fitted

    def _store_outcome(
        self, solutions: Sequence[Solution[Any]], certificates: Sequence[Certificate], seconds: float
    ) -> None:
        """The certificates of the problems of a fit, which took so long, and how it got there."""
        histories = [solution.history for solution in solutions]
        several = len(solutions) > 1
        if several:
            names = zip(certificates, self._problem_names(), strict=True)
            certificates = [replace(certificate, problem=name) for certificate, name in names]
        self.certificate_ = join_parts(certificates, seconds) if several else certificates[0]
        self.history_ = histories if several else histories[0]
        self._count_iterations()
        self.store_parameters()

    def _problem_names(self) -> list[str]:
        """What each of several problems is, in words."""
        return [f"{label!r} against the rest" for label in self.classes_.tolist()]

    def _count_iterations(self) -> None:
        """`n_iter_` as the certificate has it."""
        self.n_iter_ = self.certificate_.n_iter

    @property
    def fit_status_(self) -> int:
        """0 where the last fit reached `tol`, or was stopped early as asked for, and 1 where it fell short."""
        return int(bool(short_parts(self.certificate_)))

    def _bounds_reached(self, found: Certificate) -> list[str]:
        """What a fit that fell short of `tol` did reach, in sentences."""
        above = f"may be up to {found.gap:.3g} (relative) above the optimum, which is at least {found.dual:.6g}"
        if is_hidden(found):
            regression = isinstance(self, RegressorMixin)
            targets = "targets, " if regression else ""
            why = f"{targets}C or weights are so large, or differ so much, that rounding hides it"
            above = f"may be far above the optimum: {why}"
            if found.primal < AS_GOOD_AS_ZERO:
                one = "" if regression else "all examples with a weight are of one class, or where "
                above = f"may be zero but for rounding, as where {one}{targets}C or weights are tiny"
        return [
            f"{type(self).__name__} did not reach tol={float(self.tol):g}: {REASONS[found.reason]}.",
            f"The objective {found.primal:.6g} {above}.",
        ]

    def _raise_what(self, found: Certificate, otherwise: bool) -> str:
        """The last sentence of the advice on a fit that fell short."""
        if is_hidden(found):
            what = "weights and targets" if isinstance(self, RegressorMixin) else "weights"
            if found.primal < AS_GOOD_AS_ZERO:
                return f"No tol above 0 can be reached{f'; scale {what} up' if 'targets' in what else ''}."
            return f"Lower C, or bring {what} nearer to 1 and to each other."
        budget = found.reason if found.reason.startswith("max") else "max_iter"
        what = "tol" if found.reason == "precision" else f"{budget} or tol"
        return f"{'Otherwise raise' if otherwise else 'Raise'} {what}."

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


if TYPE_CHECKING:
    Mixed = Machine  # what the two below are mixed with
else:
    Mixed = object


class Classifier(HeldOut, ClassWeight, ClassifierMixin, Mixed):
    """Labels and weights of classes."""

    classes_: NDArray[Any]

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The share of the examples X that are predicted right, for the labels y. X is what `predict` takes.

        A data set on disk contains labels and weights.
        """
        return super().score(*self._examples_to_score(X, y, sample_weight))

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        """As for all, with labels of one kind."""
        if len(arrays) > 1:
            refuse_mixed(arrays[1])
        return super()._validate(*arrays, **options)

    def _check_continued(self, data: Data) -> None:
        if not np.array_equal(data.classes, self.classes_):
            raise ValueError(
                f"warm_start=True continues the previous fit, but the classes changed from {self.classes_.tolist()} to "
                f"{data.classes.tolist()}; pass the same ones, or a new estimator"
            )

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The classes, and for each example which one it has."""
        classes, encoded = number_labels(y)
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


class Regressor(RegressorMixin, Mixed):
    """Targets."""

    def score(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The coefficient of determination R^2 of the predictions for X, for the targets y. X is what `predict` takes.

        A data set on disk contains targets and weights.
        """
        return super().score(*self._examples_to_score(X, y, sample_weight))

    def _validate(self, *arrays: Any, **options: Any) -> Any:
        """As for all, with the targets in double precision."""
        taken = super()._validate(*arrays, **options)
        return (taken[0], as_targets(taken[1], type(self).__name__)) if len(arrays) > 1 else taken

    def _encode(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """No classes, and the targets."""
        return np.empty(0), y


def _copied(value: Any) -> Any:
    """A copy of a parameter, where changes of the original would change it."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Solver):
        return copy.copy(value)
    return copy.deepcopy(value) if isinstance(value, np.ndarray | list | set) else value


def is_hidden(found: Certificate) -> bool:
    """Whether rounding leaves nothing of the lower bound."""
    return found.reason == "precision" and found.dual <= 0


def copy_results(source: Any, target: Any) -> None:
    """Give an estimator what another one's fit stored, in place of what it had."""
    for name in [name for name in vars(target) if name.endswith("_")]:
        delattr(target, name)
    for name, value in list(vars(source).items()):
        if name.endswith("_"):
            setattr(target, name, value)


def short_parts(found: Certificate) -> list[Certificate]:
    """The problems of a fit that are not within its `tol`, and were not asked to end before."""
    asked = ("early_stopping", "callback")
    return [part for part in found.parts or (found,) if part.converged is False and part.reason not in asked]


def shortfall(
    found: Certificate, advice: Callable[[Certificate], str], earlier: float = 0.0, kind: str = "classes"
) -> str:
    """The advice on a fit that is not within its `tol`; empty where it is, and after Ctrl-C. It went on from a
    checkpoint so many seconds `earlier`."""
    short = short_parts(found)
    if not short or "interrupt" in all_reasons(found):
        return ""
    worst = max(short, key=lambda part: part.gap)
    text, named = advice(worst), f", {worst.problem}" if worst.problem else ""
    if earlier and worst.reason == "max_time":
        text += f" Of max_time {earlier:.3g} s had gone by when the fit went on from its checkpoint."
    return f"{len(short)} of {len(found.parts)} {kind} fell short. The worst{named}: {text}" if found.parts else text
