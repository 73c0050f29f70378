"""LASVM, for kernel machines."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Choice, Number, names
from pegasos.base.outcome import Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.kernel import KernelPoint, KernelProblem


@parameters
class LASVM(Solver):
    """LASVM (Bordes, Ertekin, Weston, Bottou 2005): SMO that takes in the examples one by one.

    Each example makes a step with the support vector that forms the most violating pair with it. Then the most
    violating pair of all support vectors makes a step, and support vectors that are of no use are removed. One pass
    gives a good model. Steps of the most violating pair finish it. Further passes follow if the gap is above ``tol``.

    Parameters
    ----------
    tau : float, default=1e-3
        A pair of examples makes a step if their slopes differ by more than this. If no pair does and the gap is still
        above ``tol``, it is divided by ten.
    selection : {"random", "gradient", "active"}, default="random"
        The choice of the next example in the first pass. "random" takes all in random order. "gradient" draws 50
        examples and takes the one with the largest loss; "active" takes the one nearest to the border between the
        classes. Further passes take all examples in random order.

    Examples
    --------
    >>> from pegasos import SVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = SVC(solver="lasvm", tol=1e-6, random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 1e-6
    True
    """

    name = "lasvm"

    tau: float = parameter(1e-3, Number(low=0, open=True, help="violation above which a pair makes a step"))
    selection: str = parameter(
        "random", Choice(values=names("random", "gradient", "active"), help="choice of the next example")
    )

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        found = native.lasvm(
            problem.source,
            problem.core,
            terms.run,
            cached_rows=problem.cached_rows,
            tol=terms.budget.tol,
            max_epochs=float(terms.budget.max_iter),
            tau=float(self.tau),
            selection=self.selection,
            seed=terms.seed,
            visits=None,
            start=terms.start.point.last_variables if terms.start else None,
        )
        return Solution.from_core(found, problem.point(found), self.describe())

    supports: ClassVar = {KernelProblem: Supports(_kernel, intercepts=("free",))}
