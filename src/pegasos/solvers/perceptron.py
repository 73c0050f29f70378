"""The Perceptron, the baseline S4 compares with."""

from collections.abc import Mapping
from typing import ClassVar

from pegasos.options import Option
from pegasos.problem import Problem
from pegasos.solvers._subgradient import SHARED_OPTIONS, SubgradientSolver

__all__ = ["Perceptron"]


class Perceptron(SubgradientSolver):
    """The Perceptron (S4 section 4.5): an example on which the weights err is added to them.

    It does not minimise the objective of `LinearSVC`, only stops at its budget: one pass with ``max_iter=1``, or more,
    after which it may overfit. Its certificate tells how far from the optimum of that objective it is.

    Parameters
    ----------
    sampling : {"permute", "blocks", "fixed", "replace", "subset"}, default="permute"
        As in `Pegasos`.
    average : bool or "suffix", default=False
        The last weights, or their mean (S4's online-to-batch conversion).
    max_steps : int, default=None
        Budget in steps, in place of the estimator's ``max_iter`` epochs.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(solver="perceptron", max_iter=1, tol=0, random_state=0).fit(X, y)
    >>> clf.certificate_.dual <= clf.certificate_.primal
    True
    """

    name = "perceptron"
    schedule = "perceptron"
    options: ClassVar[Mapping[str, Option]] = {
        name: option for name, option in SHARED_OPTIONS.items() if name != "batch_size"
    }
    batch_size = 1

    def __init__(self, *, sampling: str = "permute", average: bool | str = False, max_steps: int | None = None) -> None:
        self.sampling = sampling
        self.average = average
        self.max_steps = max_steps

    def step_parameter(self, problem: Problem, steps: int) -> float:
        return problem.total_weight / problem.n_rows
