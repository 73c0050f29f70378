"""AdaGrad, for streams."""

from collections.abc import Mapping
from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Number, Option
from pegasos.base.solver import LOSSES, Solver

__all__ = ["AdaGrad"]


class AdaGrad(Solver):
    """AdaGrad (Duchi, Hazan and Singer 2011): each weight has a step size of its own, which falls as it is used.

    It learns from streams, by `partial_fit` or from a pipe, and minimises the mean loss without a norm. On text, where
    most words are rare, its predictions are good much sooner than those of steps of ``1 / (alpha t)``.

    Parameters
    ----------
    eta : float, default=0.5
        The step size of a weight when it is first used, times the value of its feature.

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
    losses = LOSSES
    #: Whether the problem has an `alpha`.
    has_alpha: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Option]] = {
        "eta": Number(low=0, open=True, help="step size"),
    }

    def __init__(self, *, eta: float = 0.5) -> None:
        self.eta = eta

    def make_stream(self, dimension: int, loss: str, epsilon: float, alpha: float | None) -> native.Stream:
        """A learner in the core's hands."""
        return native.Stream.adagrad(dimension, loss, epsilon, float(self.eta))
