"""NORMA, with the step sizes S0 compares Pegasos with."""

from collections.abc import Mapping
from typing import ClassVar

from pegasos.base.options import Number, Option
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import SHARED_OPTIONS, SubgradientSolver

__all__ = ["Norma"]


class Norma(SubgradientSolver):
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
    options: ClassVar[Mapping[str, Option]] = {
        **SHARED_OPTIONS,
        "p": Number(low=0, high=1, open=True, optional=True, help="step size p / (alpha sqrt(t)), between 0 and 1"),
    }

    def __init__(
        self,
        *,
        p: float | None = None,
        batch_size: int = 1,
        sampling: str = "permute",
        average: bool | str = "suffix",
        max_steps: int | None = None,
    ) -> None:
        self.p = p
        self.batch_size = batch_size
        self.sampling = sampling
        self.average = average
        self.max_steps = max_steps

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return float(0.5 * (2 + 0.5 * steps**-0.5) ** 0.5) if self.p is None else self.p
