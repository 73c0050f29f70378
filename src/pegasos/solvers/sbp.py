"""The Stochastic Batch Perceptron, for kernel machines."""

import math
from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Number
from pegasos.base.outcome import Solution
from pegasos.base.parameters import MaxSteps, parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.kernel import KernelPoint, KernelProblem


@parameters
class SBP(MaxSteps, Solver):
    """The Stochastic Batch Perceptron (S4): stochastic gradient steps on the margin, given the slack that is allowed.

    It maximises the margin gamma of a w of norm 1, where errors of `nu` on average are forgiven. Each step adds an
    example drawn from those below the margin, so that few kernel evaluations go far in test error; high accuracy in
    the objective takes it long.

    Parameters
    ----------
    nu : float, default=None
        The slack, S4's nu: the mean loss over the norm of w at the optimum. If None, the one that belongs to the
        estimator's C is found by bisection as the steps go on, and the certificate is that of the regularised problem.
        If given, C has no part in the fit, and the certificate bounds the margin: ``dual <= gamma* <= primal``.
    max_steps : int, default=None
        Budget in steps, in place of the estimator's ``max_iter`` epochs.

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

    nu: float | None = parameter(None, Number(low=0, optional=True, help="slack that is allowed, in place of C"))

    @property
    def maximises_margin(self) -> bool:
        return self.nu is not None

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        steps = terms.budget.max_iter * problem.n_rows if self.max_steps is None else self.max_steps
        found = native.sbp(
            problem.source,
            problem.core,
            terms.run,
            cached_rows=problem.cached_rows,
            labels=problem.y,
            weights=problem.s,
            nu=-1.0 if self.nu is None else float(self.nu),
            C=problem.C,
            tol=terms.budget.tol,
            max_steps=math.ceil(steps),
            seed=terms.seed,
            proposals=None,
            uniforms=None,
            held_out=problem.held_out,
            patience=problem.patience,
        )
        solver = self.describe() if self.nu is not None else f"{self.describe()} with nu={found.nu:.4g}"
        return Solution.from_core(found, problem.point(found), solver, self.budget_reason)

    supports: ClassVar = {
        KernelProblem: Supports(_kernel, intercepts=("free",), continued=False, early_stopping=True, exact=False),
    }
