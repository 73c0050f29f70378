"""AdaGrad, for streams."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Number
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import LOSSES, Solver, Supports
from pegasos.problems.linear import StreamProblem


@parameters
class AdaGrad(Solver):
    """AdaGrad (Duchi, Hazan and Singer 2011): each weight has a step size of its own, which falls as it is used.

    It learns from streams, with `partial_fit` or from a pipe, and minimises the mean loss without a norm. On text,
    where most words are rare, its predictions are good much sooner than with steps of ``1 / (alpha t)``.

    Parameters
    ----------
    eta : float, default=0.5
        The step size: how far a weight moves when its feature first occurs, in an example of weight 1.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import AdaGrad
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(solver=AdaGrad(), random_state=0).partial_fit(X, y, classes=[0, 1])
    >>> clf.score(X, y) > 0.9
    True
    """

    name = "adagrad"

    eta: float = parameter(0.5, Number(low=0, open=True, help="step size"))

    def _stream(self, problem: StreamProblem) -> native.Stream:
        if problem.alpha is not None:
            raise ValueError(
                f"alpha={problem.alpha:g}: AdaGrad minimises the loss alone, without a norm to weigh; leave alpha out, "
                "or use solver='pegasos'"
            )
        return native.Stream.adagrad(problem.dimension, problem.loss, problem.parameter, float(self.eta))

    supports: ClassVar = {StreamProblem: Supports(_stream, losses=LOSSES)}
