"""The Perceptron, the baseline S4 compares with."""

from typing import ClassVar

from pegasos.base.options import Choice
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Supports
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import AVERAGE, SubgradientSolver


@parameters
class Perceptron(SubgradientSolver):
    """The Perceptron (S4 section 4.5): an example on which the weights err is added to them.

    It does not minimise the objective of `LinearSVC`, and stops only at its budget: one pass with ``max_iter=1``, or
    more passes, after which it may overfit. Its certificate shows how far it is from the optimum of that objective.

    Parameters
    ----------
    sampling : {"auto", "permute", "blocks", "fixed", "replace", "subset"}, default="auto"
        As in `Pegasos`.
    average : bool, "suffix", "last" or "random", default=False
        What to return, as in `Pegasos`. With a kernel there is also "random", the weights after a random number of
        visits (S4's online-to-batch conversions). With a kernel there is no intercept.
    max_steps : int, default=None
        Budget in steps, instead of the estimator's ``max_iter`` epochs.

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
    batch_size = 1

    average: bool | str = parameter(
        False,
        Choice(values={**AVERAGE.values, "random": "random"}, help=f"{AVERAGE.help}; random: a random iterate"),
    )

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        return problem.total_weight / problem.n_rows

    supports: ClassVar = {
        LinearProblem: Supports(SubgradientSolver._linear, options={"average": tuple(AVERAGE.values.values())}),
        KernelProblem: Supports(
            SubgradientSolver._kernel, intercepts=(), continued=False, early_stopping=True, exact=False
        ),
    }
