"""Sub-gradient descent with other step sizes than those of Pegasos, which S0, S3 and S4 compare it with."""

from collections.abc import Callable, Mapping
from copy import copy
from typing import ClassVar

import numpy as np

from pegasos._core import native
from pegasos.base.options import Number
from pegasos.base.outcome import Point, Solution, refuse_overflow, sizes
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Supports, Terms
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import Batches, SubgradientSolver


@parameters
class Norma(Batches, SubgradientSolver):
    """Stochastic gradient descent, steps ``step_factor / (alpha sqrt(t))`` (Kivinen and others; S0 section 7.6).

    Parameters
    ----------
    step_factor : float, default=None
        Between 0 and 1. None is the value that is best for the bound on T steps, ``0.5 sqrt(2 + 0.5 / sqrt(T))``.
    batch_size, sampling, average, max_steps
        As in `Pegasos`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import Norma
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0, max_iter=20, solver=Norma(step_factor=0.5), random_state=0).fit(X, y)
    >>> clf.certificate_.dual <= clf.certificate_.primal
    True
    """

    name = "norma"
    schedule = "norma"

    older_names: ClassVar[Mapping[str, str]] = {"p": "step_factor"}

    step_factor: float | None = parameter(
        None,
        Number(low=0, high=1, open=True, optional=True, help="step sizes are this / (alpha sqrt(t)), between 0 and 1"),
    )

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        best = float(0.5 * (2 + 0.5 * steps**-0.5) ** 0.5)
        return best if self.step_factor is None else self.step_factor


T0 = Number(low=1, optional=True, help="the first step has size 1 / (alpha t0); if not set, trials choose it")

#: Examples on which first steps are tried, as many as in Bottou's svmsgd.
SAMPLE = 1000


def choose_t0(problem: LinearProblem, seed: int, least: float = 1) -> float:
    """The t0, at least `least`, of a first step of size ``1 / (alpha t0)`` that does best on a sample."""
    size = min(SAMPLE, problem.n_rows)
    sample = np.random.default_rng(seed).choice(problem.n_rows, size, replace=False).astype(np.uint32)
    most = 1 / problem.alpha / least
    eta = best_power_of_two(lambda eta: native.trial_objective(problem.core, eta, sample), most)
    t0 = 1 / problem.alpha / eta
    refuse_overflow(t0, of=sizes(problem))
    return t0


def best_power_of_two(cost: Callable[[float], float], most: float) -> float:
    """Beginning at 1, or at the largest one up to `most`: doubled while the cost falls, or else halved."""
    eta = 1.0
    while eta > most:
        eta /= 2
    now, factor = cost(eta), 0.5
    if 2 * eta <= most and (larger := cost(2 * eta)) < now:
        eta, now, factor = 2 * eta, larger, 2.0
    while factor * eta <= most and (other := cost(factor * eta)) < now:
        eta, now = factor * eta, other
    return eta


@parameters
class SvmSgd(SubgradientSolver):
    """SvmSgd (Bottou; S3 section 3): step size ``1 / (alpha (t0 + t))``, where trials on a sample choose t0.

    With ``t0=1`` the steps are those of `Pegasos`, and the first ones are large. The trials use powers of two as the
    size of the first step, ``1 / (alpha t0)``. Each is one pass over a sample of 1000 examples.

    Parameters
    ----------
    t0 : float, default=None
        At least 1. None means that the trials choose it.
    sampling, average, max_steps
        As in `Pegasos`. Bottou's program has ``sampling="fixed"`` and ``average="last"``.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import SvmSgd
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0.01, solver=SvmSgd(), random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    """

    name = "svm-sgd"
    schedule = "svm_sgd"
    batch_size = 1

    t0: float | None = parameter(None, T0)

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        solver = copy(self)
        solver.t0 = choose_t0(problem, terms.seed) if self.t0 is None else self.t0
        return SubgradientSolver._linear(solver, problem, terms)

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return 1.0 if self.t0 is None else self.t0

    supports: ClassVar = {LinearProblem: Supports(_linear)}


@parameters
class ConstantStep(Batches, SubgradientSolver):
    """Stochastic gradient descent with step size `eta` throughout (Zhang; S0 section 7.6).

    Parameters
    ----------
    eta : float, default=0.01
        The step size, below ``1 / alpha``. No value is good for all problems: S0's Fig. 9 shows 0.001 to 10.
    batch_size, sampling, average, max_steps
        As in `Pegasos`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import ConstantStep
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0, max_iter=20, solver=ConstantStep(eta=0.05), random_state=0).fit(X, y)
    >>> clf.certificate_.dual <= clf.certificate_.primal
    True
    """

    name = "constant-step"
    schedule = "constant"

    eta: float = parameter(0.01, Number(low=0, open=True, help="the step size, below 1/alpha"))

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        if self.eta * problem.alpha >= 1:
            raise ValueError(
                f"eta={self.eta:g} is not below 1/alpha={1 / problem.alpha:g}, so that a step would turn the weights "
                "round; make it smaller"
            )
        return self.eta


@parameters
class NormBall(Batches, SubgradientSolver):
    """Stochastic gradient descent on the average loss under ``||w|| <= radius`` (S4 section 4.2).

    There is no regulariser; the ball replaces it. The step size is ``radius / (R sqrt(t))``, where R is the largest
    norm of an example. The certificate still belongs to the regularised problem.

    Parameters
    ----------
    radius : float, default=None
        The radius of the ball. None means ``1 / sqrt(alpha)``; that ball contains the optimum of the regularised
        problem.
    batch_size, sampling, average, max_steps
        As in `Pegasos`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import NormBall
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(tol=0, max_iter=20, fit_intercept=False, solver=NormBall(radius=0.5), random_state=0).fit(X, y)
    >>> bool((clf.coef_**2).sum() <= 0.25 + 1e-9)
    True
    """

    name = "norm-ball"
    schedule = "norm_ball"

    project = True
    radius: float | None = parameter(
        None, Number(low=0, open=True, optional=True, help="radius of the ball that the weights stay in")
    )

    def ball_radius(self, problem: LinearProblem) -> float:
        return float(problem.alpha**-0.5 if self.radius is None else self.radius)

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return self.ball_radius(problem) / problem.largest_norm if problem.largest_norm > 0 else 1.0
