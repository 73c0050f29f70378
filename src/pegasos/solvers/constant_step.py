"""Stochastic gradient descent with a constant step, the other method S0 compares Pegasos with."""

from pegasos.base.options import Number
from pegasos.base.parameters import parameter, parameters
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import Batches, SubgradientSolver


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
