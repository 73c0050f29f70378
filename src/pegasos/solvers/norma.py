"""NORMA, with the step sizes S0 compares Pegasos with."""

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
        None,
        Number(low=0, high=1, open=True, optional=True, help="step size p / (alpha sqrt(t)), between 0 and 1"),
    )

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return float(0.5 * (2 + 0.5 * steps**-0.5) ** 0.5) if self.p is None else self.p
