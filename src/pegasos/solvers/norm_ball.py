"""SGD on the average loss in a ball, which S4 compares with."""

from pegasos.base.options import Number
from pegasos.base.parameters import parameter, parameters
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import Batches, SubgradientSolver


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
