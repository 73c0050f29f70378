"""What solvers of the slack-constrained problem share."""

import math
from typing import Any, ClassVar

from pegasos.base.options import Number
from pegasos.base.outcome import Solution
from pegasos.base.parameters import MaxSteps, parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.kernel import KernelPoint, KernelProblem


@parameters
class MarginSolver(MaxSteps, Solver):
    """A solver that maximises the margin of a w of norm 1, given the slack that is allowed."""

    nu: float | None = parameter(None, Number(low=0, optional=True, help="the slack allowed, instead of C"))

    @property
    def maximises_margin(self) -> bool:
        return self.nu is not None

    def _solve(self, source: Any, core: Any, run: Any, **options: Any) -> Any:
        """The core's function."""
        raise NotImplementedError

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        steps = terms.budget.max_iter * problem.n_rows if self.max_steps is None else self.max_steps
        found = self._solve(
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
            uniforms=None,
            held_out=problem.held_out,
            patience=problem.patience,
        )
        solver = self.describe() if self.nu is not None else f"{self.describe()} with nu={found.nu:.4g}"
        return Solution.from_core(found, problem.point(found), solver, self.budget_reason)

    supports: ClassVar = {
        KernelProblem: Supports(_kernel, intercepts=("free",), continued=False, early_stopping=True, exact=False),
    }
