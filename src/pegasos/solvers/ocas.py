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

    The largest of a few planes below the loss replaces the loss; each iteration adds a plane. The resulting small
    problem is solved exactly, and its value is a lower bound on the optimum. A line search goes from the best weights
    so far towards its solution, and the next plane touches the loss near the end of that line search.

    An iteration reads all examples once for their margins, and the examples with a loss once more. It counts as an
    epoch. ``n_jobs`` threads share the passes. Nothing is random.

    Parameters
    ----------
    line_search : bool, default=True
        False is the plain cutting-plane algorithm CPA, that of SVM-Perf with one slack: the next plane touches the loss
        at the solution of the small problem.

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
