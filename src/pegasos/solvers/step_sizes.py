"""Sub-gradient descent with other step sizes than those of Pegasos, which S0 and S4 compare it with."""

from pegasos.base.options import Number
from pegasos.base.parameters import parameter, parameters
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import Batches, SubgradientSolver


@parameters
class Norma(Batches, SubgradientSolver):
    """Stochastic gradient descent with step size ``p / (alpha sqrt(t))`` (Kivinen and others; S0 section 7.6).

    Parameters
    ----------
    p : float, default=None
        Between 0 and 1. None is the value that is best for the bound on T steps, ``0.5 sqrt(2 + 0.5 / sqrt(T))``.
    batch_size, sampling, average, max_steps
        As in `Pegasos`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import Norma
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0, max_iter=20, solver=Norma(p=0.5), random_state=0).fit(X, y)
    >>> clf.certificate_.dual <= clf.certificate_.primal
    True
    """

    name = "norma"
    schedule = "norma"

    p: float | None = parameter(
        None, Number(low=0, high=1, open=True, optional=True, help="step size p / (alpha sqrt(t)), between 0 and 1")
    )

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return float(0.5 * (2 + 0.5 * steps**-0.5) ** 0.5) if self.p is None else self.p


@parameters
class ConstantStep(Batches, SubgradientSolver):
    """Stochastic gradient descent with step size `eta` throughout (Zhang; S0 section 7.6).

    Parameters
    ----------
    eta : float, default=0.01
        The step size, below ``1 / alpha``. There is no good value for all problems: S0's Fig. 9 shows 0.001 to 10.
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

    No regulariser: the ball takes its place. Step size ``radius / (R sqrt(t))``, R the largest norm of an example. The
    certificate is that of the regularised problem all the same.

    Parameters
    ----------
    radius : float, default=None
        Of the ball. None is ``1 / sqrt(alpha)``, which contains the optimum of the regularised problem.
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
        None, Number(low=0, open=True, optional=True, help="of the ball the weights are kept in")
    )

    def ball_radius(self, problem: LinearProblem) -> float:
        return float(problem.alpha**-0.5 if self.radius is None else self.radius)

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return self.ball_radius(problem) / problem.largest_norm if problem.largest_norm > 0 else 1.0
