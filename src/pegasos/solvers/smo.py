"""Sequential minimal optimisation, for kernel machines."""

import math
from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Integer
from pegasos.base.outcome import Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.kernel import KERNEL_LOSSES, KernelPoint, KernelProblem

#: Examples from which on it pays to solve parts of them on their own: kernel rows of all are long then.
PART_FROM = 40_000
#: With a time limit, so many seconds for each pair of examples must be left for that.
PART_SECONDS = 1e-8
#: With less than so many times as long left a fit begins with few examples at a time. With more it is the same fit as
#: without a limit.
GRADUAL_BELOW = 20
#: Variables up to which all may be chosen at a time.
SMALL = 512


@parameters
class SMO(Solver):
    """Sequential minimal optimisation with second-order choice of pairs, in nested working sets (Fan, Chen, Lin 2005).

    A few thousand variables are chosen at a time, by their gain, and the square of the kernel matrix that belongs to
    them is computed. Steps of pairs (with an intercept) or single variables (without) solve for these variables, in
    blocks that fit the caches. Whole rows of the kernel matrix are computed only for variables that changed.

    Parameters
    ----------
    working_set : int, default=8192
        Variables chosen at a time. Their square of the kernel matrix takes ``4 * working_set**2`` bytes in single
        precision, and the square of a block at most as much. If both are more than a quarter of ``cache_size``, fewer
        variables are chosen.
    block : int, default=512
        How many of these variables are solved for at a time; more if more of them are between their bounds.

    Examples
    --------
    >>> from pegasos import SVC
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = SVC(solver="smo", tol=1e-6).fit(X, y)
    >>> clf.certificate_.gap <= 1e-6
    True
    """

    name = "smo"

    working_set: int = parameter(8192, Integer(low=2, high=2**20, help="variables to choose at a time"))
    block: int = parameter(512, Integer(low=2, high=2**20, help="how many of these variables to solve for at a time"))

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        # The squares of chosen ones and of a block may take a quarter of the room for rows.
        room = int((problem.cached_rows * problem.n_rows / 8) ** 0.5)
        size = problem.core.size
        # All of them at a time would need every row whole, which takes two to twenty times as long.
        working_set = min(int(self.working_set), max(room, 64), size if size <= SMALL else size - 1)
        squares = 2 * working_set**2 // problem.n_rows
        # What is not done when the time is up is lost.
        budget = terms.budget
        left = math.inf if budget.max_time is None else budget.max_time - budget.elapsed
        usual = PART_SECONDS * problem.n_rows**2
        found = native.smo(
            problem.source,
            problem.core,
            terms.run,
            cached_rows=max(problem.cached_rows - squares, 64),
            tol=budget.tol,
            max_epochs=float(budget.max_iter),
            working_set=working_set,
            block=int(self.block),
            seed=terms.seed,
            part_from=PART_FROM if left >= usual else 2**31,
            gradual=left < GRADUAL_BELOW * usual,
            brief=budget.brief,
            start=terms.start.point.last_variables if terms.start else None,
        )
        return Solution.from_core(found, problem.point(found), self.describe())

    supports: ClassVar = {KernelProblem: Supports(_kernel, losses=KERNEL_LOSSES, intercepts=("free",))}
