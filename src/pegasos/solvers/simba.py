"""SIMBA, for kernel machines."""

from typing import Any

from pegasos._core import native
from pegasos.base.parameters import parameters
from pegasos.solvers._margin import MarginSolver


@parameters
class SIMBA(MarginSolver):
    """SIMBA (Hazan, Koren, Srebro 2011; S4 section 4.1): as `SBP`, but examples are drawn by mirror descent.

    It maximises the margin gamma of a w of norm 1, and forgives errors of `nu` on average. The distribution that
    examples are drawn from follows their margins by multiplicative steps. SBP takes the best distribution at each step
    instead. As S4 expects, SBP gets further with a kernel, because both know the margins of all examples there.

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
    >>> clf = SVC(solver="simba", tol=0, max_iter=20, random_state=0).fit(X, y)
    >>> clf.score(X, y) > 0.95
    True
    """

    name = "simba"

    def _solve(self, source: Any, core: Any, run: Any, **options: Any) -> Any:
        return native.simba(source, core, run, **options)
