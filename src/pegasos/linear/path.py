"""Many values of C: a path of fits, each from the dual point of the last."""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target

from pegasos.base import clock
from pegasos.base.checkpoint import Context
from pegasos.base.display import listening
from pegasos.base.estimator import Data
from pegasos.base.outcome import Budget, check_finite
from pegasos.base.parameters import Budgets, ClassWeight, Method, Scaled, Seeded, parameters, refuse_unknown
from pegasos.base.progress import Named, Progress, Shifted
from pegasos.base.scores import is_plain, score_rows
from pegasos.base.warn import warn
from pegasos.certificate import Certificate, all_converged
from pegasos.io.csr import check_sparse
from pegasos.io.floats import float_types
from pegasos.linear.parameters import ClassificationLoss, KindOfIntercept
from pegasos.linear.svc import LinearSVC
from pegasos.problems.linear import Examples
from pegasos.solvers import Solver

#: Where a grid given by its length begins and ends. At the lower end every example has a loss on data of unit length,
#: and the weights are proportional to C; at the upper end most problems are so close to a hard margin that more C
#: changes little but the time it takes.
LOWEST_C, HIGHEST_C = 1e-4, 10.0
#: The most values of C that can be asked for by their number.
MOST_CS = 10_000


@parameters
class PathParameters(Seeded, ClassWeight, Scaled, KindOfIntercept, Method, Budgets, ClassificationLoss):
    """Parameters of `LinearSVC` that mean something along a path."""


@dataclass(frozen=True, eq=False)
class RegularizationPath:
    """The solutions for several values of C, in increasing order of C.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
        The values of C.
    coefs : ndarray of shape (n_Cs, n_features)
        The weights of each.
    intercepts : ndarray of shape (n_Cs,)
        The intercept of each.
    certificates : tuple of Certificate
        The certificate of each.
    classes : ndarray of shape (2,)
        The labels. Positive decisions mean the second.
    """

    Cs: NDArray[np.float64]
    coefs: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    certificates: tuple[Certificate, ...]
    classes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.Cs)

    @property
    def converged(self) -> bool | None:
        """Whether every gap is within ``tol``; None with ``tol=0``."""
        return all_converged(self.certificates)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decisions of shape (n_samples, n_Cs), for a NumPy array or SciPy sparse matrix X, in one product."""
        if not is_plain(X, self.coefs.shape[1]):
            check_sparse(X)
            X = check_array(X, accept_sparse="csr", dtype=float_types(X), ensure_all_finite=False, ensure_min_samples=0)
        return np.asarray(score_rows(X, self.coefs, self.intercepts))


def path(
    X: Any, y: ArrayLike, *, Cs: int | ArrayLike = 20, sample_weight: ArrayLike | None = None, **parameters: Any
) -> RegularizationPath:
    """Fit a linear support vector classifier for each of several values of C.

    The smallest C comes first, and each fit starts where the last one ended. Every fit is certified to `tol`.

    Parameters
    ----------
    X, y, sample_weight
        As in `LinearSVC.fit`.
    Cs : int or array of float, default=20
        The values of C, or how many: evenly spaced on a logarithmic scale from 1e-4 to 10.
    **parameters
        The parameters of `LinearSVC`, except `C`, `alpha`, `warm_start`, and those for more than two classes and for
        early stopping. `max_iter` and `max_time` apply to each value of C.

    Returns
    -------
    RegularizationPath

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(500, 20, random_state=0)
    >>> found = pegasos.path(X, y, Cs=[0.001, 0.01, 0.1], random_state=0)
    >>> found.coefs.shape, found.converged
    ((3, 20), True)
    """
    known = [one.name for one in fields(PathParameters)]
    refuse_unknown("path", parameters, ["Cs", *known])
    svc, started = LinearSVC(**parameters), clock.now()
    grid, solver = make_grid(Cs), svc.check_parameters()
    data = two_classes(svc._accept(X, y, sample_weight))
    context = Context(started, svc._seed())
    with listening(svc, context, fits=len(grid)) as progress:
        points = list(follow(svc, solver, svc._hand_over(data), grid, context, progress, svc._budget))
    warn_of_shortfall("path", svc, points, data.X)
    return as_path(points, data.classes)


def two_classes(data: Data) -> Data:
    """The data; a ValueError where there are more classes."""
    if len(data.classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {type_of_target(data.y)}: y has "
            f"{len(data.classes)} classes. LinearSVCCV supports more, and so does LinearSVC for one C at a time"
        )
    return data


def make_grid(Cs: int | ArrayLike) -> NDArray[np.float64]:
    """The values of C, in increasing order."""
    if isinstance(Cs, Integral) and not isinstance(Cs, bool):
        if not 1 <= Cs <= MOST_CS:
            raise ValueError(f"Cs={Cs}: must be at least 1 and at most {MOST_CS}, or the values of C themselves")
        return np.geomspace(LOWEST_C, HIGHEST_C, int(Cs))
    try:
        grid = np.unique(np.asarray(Cs, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if np.ndim(Cs) != 1 or len(grid) == 0 or not ((grid > 0) & (grid < np.inf)).all():
        raise ValueError(f"Cs={Cs!r}: must be a number of values, or a list of finite numbers above 0")
    return grid


class Fitted(NamedTuple):
    """One solution of a path. It holds no examples, so that those of a fold can go."""

    C: float
    longest: float  # norm of an example
    coef: NDArray[np.float64]
    intercept: float
    certificate: Certificate


def follow(
    svc: LinearSVC,
    solver: Solver,
    examples: Examples,
    grid: NDArray[np.float64],
    context: Context,
    progress: Progress,
    next_budget: Callable[[], Budget | None],
) -> Iterator[Fitted]:
    """Solve for each C in turn, from the dual point of the last. Its variables are shares of their bounds C s_i: they
    are feasible for any C, and those at a bound stay there. Without a budget for the next C it ends. Certificates have
    the seconds of each fit, and listeners are told those since all started."""
    start = None
    for number, C in enumerate(grid):
        budget = next_budget()
        if budget is None:
            return
        problem = examples.problem(float(C))
        part = progress.part(f"C={C:.3g}", number, len(grid))
        part = Named(part, functools.partial(svc._name_weights, examples))
        told = Shifted(part, 0.0, context.elapsed)
        solution = check_finite(solver.solve(problem, budget, context.seed, start, told), problem)
        part.close()
        start, certificate = solution.start, solution.certificate(svc.tol, bool(svc.scale))
        yield Fitted(problem.C, problem.largest_norm, *examples.weights(solution.point.w), certificate)


def as_path(points: Sequence[Fitted], classes: NDArray[Any]) -> RegularizationPath:
    return RegularizationPath(
        Cs=np.array([point.C for point in points]),
        coefs=np.array([point.coef for point in points]),
        intercepts=np.array([point.intercept for point in points]),
        certificates=tuple(point.certificate for point in points),
        classes=classes,
    )


def warn_of_shortfall(who: str, svc: LinearSVC, points: Sequence[Fitted], X: Any) -> None:
    """One warning for all the fits that fell short of `tol`, with the advice for the worst."""
    short = [point for point in points if point.certificate.converged is False]
    if short:
        worst = max(short, key=lambda point: point.certificate.gap)
        found = max(worst.certificate.parts or (worst.certificate,), key=lambda part: part.gap)
        advice = svc._advice(found, worst.C, worst.longest, X)
        text = f"{who}: {len(short)} of {len(points)} fits fell short. The worst, at C={worst.C:.3g}: {advice}"
        warn(text, ConvergenceWarning)
