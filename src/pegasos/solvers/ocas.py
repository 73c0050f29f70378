"""Cutting planes."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Flag
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.linear import LinearProblem


@parameters
class OCAS(Solver):
    """The optimised cutting-plane algorithm (Franc and Sonnenburg 2008), or SVM-Perf's: a rival in S0 and S3.

    The loss is replaced by the largest of a few planes below it, one more in each iteration. The small problem that
    these make is solved exactly; its value is a lower bound on the optimum. A line search goes from the best weights so
    far towards its solution, and the next plane touches the loss close to where that ends.

    An iteration reads all examples once for their margins, and those with a loss once more; it counts as an epoch. The
    passes are shared among ``n_jobs`` threads. Nothing in it is random.

    Parameters
    ----------
    line_search : bool, default=True
        False is the plain cutting-plane algorithm, CPA, which is SVM-Perf's with one slack: the next plane touches the
        loss at the solution of the small problem.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LinearSVC(C=0.01, tol=1e-3, solver="ocas").fit(scale(X), y)
    >>> clf.certificate_.gap <= 1e-3
    True
    """

    name = "ocas"

    line_search: bool = parameter(True, Flag(help="go to the best point on the way to the planes' optimum"))

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        start = terms.start
        found = native.ocas(
            problem.core,
            terms.run,
            line_search=bool(self.line_search),
            max_iterations=terms.budget.max_iter,
            tol=terms.budget.tol,
            start_w=start.point.w if start else None,
            start_t=start.t if start else 0,
            start_q=start.point.q if start else None,
        )
        return self.solution(found)

    supports: ClassVar = {LinearProblem: Supports(_linear)}
