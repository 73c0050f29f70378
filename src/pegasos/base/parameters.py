"""Parameters of estimators and solvers, each stated once: its name, type, default, and what values it may have.

A class decorated with `parameters` is a dataclass whose fields are keywords of its constructor, which is all that
scikit-learn asks of an estimator. Its `options` are those of its own fields and of the classes it derives from. What a
fit stores is declared in classes that are not decorated, as annotations there are no fields.
"""

import functools
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Self, TypeVar, dataclass_transform, overload

import numpy as np
from sklearn.utils import check_random_state

from pegasos.base.checkpoint import Checkpoint
from pegasos.base.conventions import CallbackSupportMixin
from pegasos.base.notebook import Notebook
from pegasos.base.options import Accepted, Choice, Flag, Integer, Number, Option, names
from pegasos.base.outcome import inverse
from pegasos.base.solver import Solver
from pegasos.base.wording import meant

#: What an infinite C counts as: margins are then as good as hard.
INFINITE_C = 1e10
#: What -1 counts as in `max_iter`.
MOST_EPOCHS = 10**9

Value = TypeVar("Value")
Class = TypeVar("Class", bound=type[Any])


def parameter(default: Value, option: Option) -> Value:
    """A parameter with its default and what values it may have. Where these are the base's, give the default alone."""
    return field(default=default, metadata={"option": option})


@overload
def parameters(cls: Class, /) -> Class: ...
@overload
def parameters(*, kw_only: bool) -> Callable[[Class], Class]: ...
@dataclass_transform(kw_only_default=True, eq_default=False)
def parameters(cls: Any = None, /, *, kw_only: bool = True) -> Any:
    """Decorate a class whose annotations are its parameters; ``kw_only=False`` where its own may be given by place."""
    if cls is None:
        return functools.partial(parameters, kw_only=kw_only)
    options: dict[str, Option] = {}
    for base in reversed(cls.__mro__):
        options |= vars(base).get("options", {})
    made: Any = dataclass(kw_only=kw_only, eq=False, repr=False)(cls)
    own = {one.name: one.metadata["option"] for one in fields(made) if "option" in one.metadata}
    made.options = {one.name: (options | own)[one.name] for one in fields(made) if one.name in options | own}
    init = made.__init__

    @functools.wraps(init)
    def explained(self: Any, *args: Any, **kwargs: Any) -> None:
        who = type(self).__name__
        refuse_unknown(who, kwargs, [one.name for one in fields(made)])
        for one in [one for one in fields(made) if one.default is MISSING and not one.kw_only][len(args) :]:
            if one.name not in kwargs:
                raise TypeError(f"{who} needs {one.name}: write {who}({one.name}=...)")
        init(self, *args, **kwargs)

    made.__init__ = explained
    return made


def refuse_unknown(who: str, given: Iterable[str], known: Iterable[str], error: type[Exception] = TypeError) -> None:
    """Raise an error for a parameter that is not known."""
    known = list(known)
    for name in given:
        if name not in known:
            hint = meant(name, known) or f"; it has {', '.join(known) or 'none'}"
            raise error(f"{who} has no parameter {name!r}{hint}")


class Explained(CallbackSupportMixin, Notebook):
    """An estimator whose `set_params` has the advice that its constructor has."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__batch_size`` is the solver's `batch_size`."""
        known = self.get_params(deep=False)
        refuse_unknown(type(self).__name__, (name.partition("__")[0] for name in params), known, ValueError)
        solver = params.get("solver", known.get("solver"))
        for name in params:
            if name.startswith("solver__") and isinstance(solver, str):
                raise ValueError(
                    f"{name}: solver={solver!r} is a name, which has no options to set; pass an object, such as "
                    "solver=Pegasos(), first"
                )
        return super().set_params(**params)


@parameters
class Penalty:
    """What the loss weighs against the norm."""

    C: float = parameter(1.0, Number(low=0, open=True, help="weight of the loss"))
    alpha: float | None = parameter(
        None, Number(low=0, open=True, optional=True, help="the papers' lambda, instead of C: C = 1/(alpha n)")
    )

    def weight_of_loss(self, total: float) -> float:
        """C of the problem of examples that weigh so much in total."""
        if self.alpha is not None:
            return inverse("alpha", self.alpha, total, "C")
        return INFINITE_C if math.isinf(self.C) else float(self.C)


@parameters
class QuantileOfLoss:
    """What the quantile loss is the loss of."""

    quantile: float = parameter(
        0.5,
        Number(
            low=0,
            high=1,
            open=True,
            help="with the quantile loss and a free intercept: the share of targets below the prediction",
        ),
    )


def loss_parameter(estimator: Any) -> tuple[str, float]:
    """Name and value of the parameter that belongs to the estimator's loss; 0 where the loss has none."""
    name = "quantile" if estimator.loss == "quantile" else "epsilon"
    if name == "epsilon" and getattr(estimator, "quantile", 0.5) != 0.5:
        raise ValueError(
            f"quantile={estimator.quantile!r} is for loss='quantile', and the loss is {estimator.loss!r}; pass that "
            "loss, or leave quantile out"
        )
    value = getattr(estimator, name, None)
    if value is None:  # as in scikit-learn's LinearSVR and SGDRegressor
        value = 0.1 if estimator.loss == "huber" else 0.0
    return name, float(value)


def loss_slopes(estimator: Any) -> tuple[float, float] | None:
    """What the loss of a regression costs at most for each unit of an error, of targets above the prediction and
    below; None where there is no most."""
    value = loss_parameter(estimator)[1]
    known = {"epsilon_insensitive": (1.0, 1.0), "huber": (value, value), "quantile": (value, 1 - value)}
    return known.get(estimator.loss)


@parameters
class Budgets:
    """When a fit ends."""

    tol: float = parameter(1e-3, Number(low=0, help="stop at this relative duality gap; 0 runs the whole budget"))
    max_iter: int = parameter(1000, Integer(low=1, unlimited=True, help="budget in epochs; -1 means no limit"))
    max_time: float | None = parameter(None, Number(low=0, open=True, optional=True, help="budget in seconds"))

    @property
    def _max_epochs(self) -> int:
        return MOST_EPOCHS if self.max_iter == -1 else int(self.max_iter)


@parameters
class Interrupts:
    """What becomes of a fit that Ctrl-C ends."""

    on_interrupt: str = parameter(
        "raise",
        Choice(
            values=names("raise", "keep"),
            help="what Ctrl-C leaves: what was there before, or the best point of the last check",
        ),
    )


@parameters
class Checkpointed:
    """What a fit leaves on disk while it runs."""

    checkpoint: Any = None

    def _check_checkpoint(self) -> None:
        if not isinstance(self.checkpoint, str | os.PathLike | Checkpoint | None):
            raise ValueError(
                f"checkpoint={self.checkpoint!r}: must be the name of a folder, pegasos.Checkpoint(folder, every=...), "
                "or None"
            )
        if isinstance(self.checkpoint, str | os.PathLike) and not os.fspath(self.checkpoint):
            raise ValueError("checkpoint='': must be the name of a folder; \".\" is the working directory")


@parameters
class Method:
    """How a problem is solved."""

    solver: str | Solver = "auto"
    n_jobs: int | None = parameter(
        None, Integer(low=-1, optional=True, help="threads; -1 means as many as there are processors")
    )


@parameters
class Intercept:
    """Whether there is an intercept."""

    fit_intercept: bool = parameter(True, Flag(help="have an intercept"))


@parameters
class WithoutShrinking:
    """What scikit-learn's estimators with a kernel have besides, and a solver decides here."""

    shrinking: bool = parameter(
        True, Accepted(values={"yes": True, "no": False}, help="leave variables out for a while")
    )


@parameters
class WithoutProbability:
    """What scikit-learn's `SVC` has besides: with True it is told at each fit where probabilities are to be had."""

    probability: bool | str = parameter(
        False, Accepted(values={"no": False, "yes": True, "deprecated": "deprecated"}, help="have probabilities")
    )


@parameters
class PrimalOrDual:
    """What scikit-learn's linear estimators have besides, and a solver decides here."""

    dual: bool | str = parameter(
        "auto", Accepted(values={"auto": "auto", "yes": True, "no": False}, help="which problem to solve")
    )


@parameters
class SquaredNorm:
    """What scikit-learn's `LinearSVC` has besides."""

    penalty: str = parameter(
        "l2",
        Accepted(values={"l2": "l2"}, help="the penalty"),
    )


@parameters
class Scaled:
    """Columns of one size."""

    scale: bool | str | None = parameter(
        False, Flag(also=("auto", None), help="divide each feature by its size before the fit")
    )


@parameters
class ClassWeight:
    """What the examples of each class weigh."""

    class_weight: Mapping[Any, float] | str | None = None


@parameters
class HeldOut:
    """Stopping by the score on examples held out."""

    early_stopping: bool = parameter(
        False, Flag(help="stop also when the score on held-out examples no longer improves")
    )
    validation_fraction: float = parameter(
        0.1, Number(low=0, high=1, open=True, help="share of the examples to hold out")
    )
    n_iter_no_change: int = parameter(5, Integer(low=1, help="stop after this many epochs without a better score"))


@parameters
class Seeded:
    """Where chance comes from, and what is told of the fit."""

    random_state: int | np.random.RandomState | None = None
    verbose: int = 0

    def _seed(self) -> int:
        try:
            return int(check_random_state(self.random_state).randint(2**31 - 1))
        except ValueError as error:
            raise ValueError(
                f"random_state={self.random_state!r}: must be an integer from 0 to 2**32 - 1, a "
                "numpy.random.RandomState, or None"
            ) from error


@parameters
class MaxSteps:
    """A budget of a solver that counts steps."""

    max_steps: int | None = parameter(None, Integer(low=1, optional=True, help="budget in steps, instead of epochs"))
