"""The Stochastic Batch Perceptron, for kernel machines."""

from typing import Any

from pegasos._core import native
from pegasos.base.parameters import parameters
from pegasos.solvers._margin import MarginSolver


@parameters
class SBP(MarginSolver):
    """The Stochastic Batch Perceptron (S4): stochastic gradient steps on the margin, given the slack that is allowed.

    It maximises the margin gamma of a w of norm 1, and forgives errors of `nu` on average. Each step adds an example
    drawn from those below the margin. So few kernel evaluations give a low test error, but high accuracy in the
    objective takes long.

    Parameters
    ----------
    nu : float, default=None
        The slack, S4's nu: the mean loss divided by the norm of w at the optimum. With None, bisection during the fit
        finds the nu that belongs to the estimator's C, and the certificate belongs to the regularised problem. If you
        pass nu, C has no effect, and the certificate bounds the margin: ``dual``, the margin of the machine returned,
        is at most gamma*, and ``primal`` at least.
    max_steps : int, default=None
        Budget in steps, instead of the estimator's ``max_iter`` epochs.

    Examples
    --------
    >>> from pegasos import SVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = SVC(solver="sbp", tol=0, max_iter=20, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    name = "sbp"

    def _solve(self, source: Any, core: Any, run: Any, **options: Any) -> Any:
        return native.sbp(source, core, run, proposals=None, **options)
