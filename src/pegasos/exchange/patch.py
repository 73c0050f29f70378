"""scikit-learn's machines, fitted by pegasos where the problem is the same.

A class here is scikit-learn's own with another `fit`: it states the same problem to ours, and stores what is found as
scikit-learn would have. So parameters, attributes and predictions are scikit-learn's. What it does not take over is
left to scikit-learn's own `fit`, and told once.
"""

import logging
import math
import warnings
from abc import ABCMeta
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn import linear_model, svm
from sklearn.exceptions import ConvergenceWarning

from pegasos.certificate import REASONS
from pegasos.kernel import svc as kernel_svc
from pegasos.kernel import svr as kernel_svr
from pegasos.linear import svc as linear_svc
from pegasos.linear import svr as linear_svr

#: The gap that stands for the default `tol` of scikit-learn's; of a smaller `tol` it is as much smaller.
GAP = 1e-4
SMALLEST_GAP = 1e-10

LOGGER = logging.getLogger("pegasos")
_told: set[tuple[str, str]] = set()


class _LeftAlone(Exception):
    """Why a fit is scikit-learn's."""


class _Swapped(ABCMeta):
    """An estimator of scikit-learn's counts as one of the class that takes its place."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        wanted = vars(cls).get("original", cls)
        return wanted in subclass.__mro__


class _Patched:
    """An estimator of scikit-learn's that is fitted by ours."""

    original: ClassVar[type[Any]]
    default_tol: ClassVar[float]
    #: Iterations that scikit-learn has by default; fewer are left to it, as a limit that someone wants.
    default_iterations: ClassVar[int]

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit by pegasos to a relative duality gap of 1e-4 where it is the same problem, else by scikit-learn."""
        me: Any = self
        try:
            ours, weights = self._state(X, y, sample_weight)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # such a fit is left to scikit-learn
                    ours.fit(X, y, sample_weight=weights)
            except (ValueError, TypeError) as error:
                raise _LeftAlone(f"pegasos refuses it: {error}") from error
            if ours.certificate_.converged is False:
                raise _LeftAlone(f"pegasos did not reach its gap here, {REASONS[ours.certificate_.reason]}")
            made = ours.to_sklearn()
        except _LeftAlone as why:
            for name in ("certificate_", "history_"):
                vars(self).pop(name, None)
            # This class stands before scikit-learn's own, whose `fit` mypy does not see from here.
            super().fit(X, y, sample_weight=sample_weight)  # type: ignore[misc]
            _tell(type(self).__name__, str(why))
            return self
        parameters = me.get_params(deep=False)
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)
        vars(self).update({name: value for name, value in vars(made).items() if name not in parameters})
        me.certificate_, me.history_ = ours.certificate_, ours.history_
        return self

    def _state(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Our estimator of the same problem, and the weights; or why there is none."""
        me: Any = self
        me._validate_params()
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if not math.isfinite(me.C):
            raise _LeftAlone(f"C={me.C}: a problem without a penalty has no certificate")
        if weights is not None and not (weights >= 0).all():
            raise _LeftAlone("some weights of examples are negative")
        if 0 <= me.max_iter < self.default_iterations or (self.default_iterations < 0 <= me.max_iter):
            raise _LeftAlone(f"max_iter={me.max_iter} counts iterations of its own solver")
        given = self._problem(X, np.asarray(y), weights)
        tol = max(GAP * min(1.0, me.tol / self.default_tol), SMALLEST_GAP)
        if given.get("random_state") is None:
            given["random_state"] = 0  # most of them draw nothing, and so the same data give the same model
        return given.pop("estimator")(**given, tol=tol, verbose=int(me.verbose)), weights

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        """Our estimator, and the parameters that state the problem; or why there is none."""
        raise NotImplementedError

    def _carried(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def _refuse_balanced(self, weights: Any) -> None:
        if weights is not None and isinstance(getattr(self, "class_weight", None), str):
            raise _LeftAlone("class_weight='balanced' counts weights of examples there, and examples here")


def _tell(name: str, why: str) -> None:
    if (name, why) not in _told:
        _told.add((name, why))
        LOGGER.warning("%s is left to scikit-learn: %s", name, why)


class LinearSVC(_Patched, svm.LinearSVC, metaclass=_Swapped):
    """scikit-learn's `LinearSVC`, fitted by pegasos."""

    original, default_tol, default_iterations = svm.LinearSVC, 1e-4, 1000

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        given = self._carried("C", "fit_intercept", "class_weight", "random_state")
        given["intercept_scaling"] = float(self.intercept_scaling)
        if self.multi_class == "crammer_singer":
            given |= {"multi_class": "joint", "loss": "hinge"}
        elif self.penalty != "l2" or (self.loss == "hinge" and self.dual is False):
            raise _LeftAlone(f"penalty={self.penalty!r}, loss={self.loss!r}, dual={self.dual!r} is not solved here")
        else:
            given["loss"] = self.loss
        if self.class_weight is not None and len(np.unique(y)) > 2:
            raise _LeftAlone("class_weight of more than two classes is another problem there than here")
        self._refuse_balanced(weights)
        return given | {"estimator": linear_svc.LinearSVC}


class LinearSVR(_Patched, svm.LinearSVR, metaclass=_Swapped):
    """scikit-learn's `LinearSVR`, fitted by pegasos."""

    original, default_tol, default_iterations = svm.LinearSVR, 1e-4, 1000

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        if self.loss == "epsilon_insensitive" and self.dual is False:
            raise _LeftAlone(f"loss={self.loss!r} with dual=False is an error there")
        given = self._carried("C", "fit_intercept", "loss", "epsilon", "random_state")
        return given | {"intercept_scaling": float(self.intercept_scaling), "estimator": linear_svr.LinearSVR}


class LogisticRegression(_Patched, linear_model.LogisticRegression, metaclass=_Swapped):
    """scikit-learn's `LogisticRegression`, fitted by pegasos."""

    original, default_tol, default_iterations = linear_model.LogisticRegression, 1e-4, 100

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        if self.penalty not in ("l2", "deprecated") or self.l1_ratio:
            raise _LeftAlone(f"penalty={self.penalty!r}, l1_ratio={self.l1_ratio!r}: the penalty here is 'l2'")
        if self.dual and self.solver != "liblinear":
            raise _LeftAlone("dual=True is for solver='liblinear' there")
        if getattr(self, "multi_class", "deprecated") not in ("auto", "deprecated", "multinomial"):  # older versions
            raise _LeftAlone(f"multi_class={self.multi_class!r} is deprecated there")
        self._refuse_balanced(weights)
        given = self._carried("C", "fit_intercept", "class_weight", "random_state")
        given |= {"estimator": linear_svc.LinearSVC, "loss": "log_loss"}
        if len(np.unique(y)) <= 2:
            if self.solver == "liblinear":
                return given | {"intercept_scaling": float(self.intercept_scaling)}
            return given | {"intercept": "free"}
        if self.solver == "liblinear" or self.fit_intercept:
            raise _LeftAlone("of more than two classes the intercepts are not penalised there, and they are here")
        return given | {"multi_class": "joint"}


class _Kernel(_Patched):
    default_tol, default_iterations = 1e-3, -1

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        me: Any = self
        if callable(me.kernel):
            raise _LeftAlone("with a kernel that is a function it keeps the whole training set")
        if me.kernel == "sigmoid" or (me.kernel == "poly" and me.coef0 < 0):
            raise _LeftAlone(f"kernel={me.kernel!r} with coef0={me.coef0:g} is not positive semi-definite")
        if weights is not None and not (weights > 0).all():
            raise _LeftAlone("some weights of examples are zero, and it drops those")
        given = self._carried("C", "kernel", "degree", "gamma", "coef0")
        if weights is not None and me.gamma == "scale" and me.kernel != "precomputed":
            given["gamma"] = _scale(X)
        return given | {"cache_size": max(float(me.cache_size), 2000.0)}


def _scale(X: Any) -> float:
    """What ``gamma="scale"`` stands for in scikit-learn, where weights of examples do not count."""
    X = X.astype(np.float64) if issparse(X) else np.asarray(X, dtype=np.float64)
    variance = float(X.multiply(X).mean() - X.mean() ** 2 if issparse(X) else X.var())
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0


class SVC(_Kernel, svm.SVC, metaclass=_Swapped):
    """scikit-learn's `SVC`, fitted by pegasos."""

    original = svm.SVC

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        if self.probability is True:
            raise _LeftAlone("probability=True: there are no probabilities of this kind here")
        given = super()._problem(X, y, weights)
        return given | self._carried("class_weight", "random_state") | {"estimator": kernel_svc.SVC}


class SVR(_Kernel, svm.SVR, metaclass=_Swapped):
    """scikit-learn's `SVR`, fitted by pegasos."""

    original = svm.SVR

    def _problem(self, X: Any, y: Any, weights: Any) -> dict[str, Any]:
        given = super()._problem(X, y, weights)
        return given | {"estimator": kernel_svr.SVR, "epsilon": self.epsilon}


#: What takes the place of what, and where its name is.
MADE: tuple[type[Any], ...] = (LinearSVC, LinearSVR, SVC, SVR, LogisticRegression)
PATCHES: Mapping[str, type[Any]] = {made.__name__: made for made in MADE}
HOMES = {"LogisticRegression": ("sklearn.linear_model", "sklearn.linear_model._logistic")}
MACHINES = ("sklearn.svm", "sklearn.svm._classes")


class Patch:
    """Names that were swapped; as a context manager they are swapped back at its end."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: type[BaseException] | BaseException | TracebackType | None) -> None:
        _swap(self.names, back=True)


def patch_sklearn(*names: str | Iterable[str]) -> Patch:
    """Let scikit-learn's `LinearSVC`, `LinearSVR`, `SVC`, `SVR` and `LogisticRegression` be fitted by pegasos.

    After the call, ``from sklearn.svm import SVC`` and ``sklearn.svm.SVC`` give estimators with scikit-learn's
    parameters, defaults, attributes and predictions. Their `fit` is that of pegasos, to a relative duality gap of 1e-4,
    and they have a `certificate_`. If the problem differs here, scikit-learn's own `fit` solves it, and the logger
    "pegasos" says so once: an L1 penalty, probabilities of `SVC`, kernels that are functions, `max_iter` below
    scikit-learn's default, and a few more. Names that were imported before do not change.

    Parameters
    ----------
    *names : str, or an iterable of them
        The estimators to replace; by default all.

    Returns
    -------
    Patch
        A context manager. At the end of its block the names are scikit-learn's again, as after `unpatch_sklearn`.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> with pegasos.patch_sklearn():
    ...     from sklearn.svm import SVC
    ...     model = SVC(C=10).fit(X, y)
    >>> model.certificate_.gap <= 1e-4
    True
    """
    wanted = [name for given in names for name in ([given] if isinstance(given, str) else given)]
    unknown = [name for name in wanted if name not in PATCHES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of {', '.join(PATCHES)}")
    return Patch(_swap(wanted if names else list(PATCHES), back=False))


def unpatch_sklearn() -> None:
    """Undo `patch_sklearn`. Estimators made in the meantime stay as they are."""
    _swap(list(PATCHES), back=True)


def _swap(names: list[str], back: bool) -> list[str]:
    """Swap these names, where they are not so already; those that were."""
    swapped = []
    for name in names:
        made = PATCHES[name]
        wanted, other = (made.original, made) if back else (made, made.original)
        for home in HOMES.get(name, MACHINES):
            module = import_module(home)
            if getattr(module, name) is other:
                setattr(module, name, wanted)
                swapped.append(name)
    return list(dict.fromkeys(swapped))
