"""Stochastic dual coordinate ascent."""

from typing import Any, ClassVar

from pegasos._core import native
from pegasos.base.options import Choice, Flag, names
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import LOSSES, Solver, Supports, Terms, as_continued
from pegasos.problems.kernel import KERNEL_LOSSES, KernelPoint, KernelProblem
from pegasos.problems.linear import JOINT_LOSSES, BlocksProblem, JointProblem, LinearProblem
from pegasos.solvers._blocks import DualAscent


@parameters
class SDCA(Solver):
    """Stochastic dual coordinate ascent (S0's "stochastic DCA", S3's "DCD"), with threads.

    Each visit of an example maximises the dual exactly along the variable of this example. With ``n_jobs`` threads,
    each thread works on its own examples with its own copy of the weights. Several times per epoch, the best common
    step joins the copies. One thread makes epochs of few examples alone, because threads would not make them faster.
    The result depends on the seed and `n_jobs`, not on timing. An epoch is as many visits as there are examples, so a
    pass over the examples that `shrink` leaves is a fraction of an epoch.

    Parameters
    ----------
    shrink : bool, default=True
        Leave out examples whose dual variable is at a bound: for longer, the more firmly its gradient holds it there.
    order : {"auto", "permute", "blocks"}, default="auto"
        The order of visits in an epoch: a random permutation, or runs of neighbours in random order. Runs are faster on
        data larger than the caches, and need no more epochs if neighbours are no more alike than other examples. "auto"
        finds out.

    With a kernel there is no intercept, the responses of all examples are kept, and these options have no effect.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(C=0.1, tol=1e-6, solver="sdca", random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 1e-6
    True
    """

    name = "sdca"

    shrink: bool = parameter(True, Flag(help="leave out examples whose dual variable stays at a bound"))
    order: str = parameter(
        "auto", Choice(values=names("auto", "permute", "blocks"), help="order of visits in an epoch")
    )

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        order = problem.choose_order(terms.seed) if self.order == "auto" else self.order
        found = native.sdca(problem.core, terms.run, rho=0.0, joins=0, **self._visits(order, terms))
        return SDCA(shrink=self.shrink, order=order).solution(found)

    def _joint(self, problem: JointProblem, terms: Terms[Point]) -> Solution[Point]:
        # A visit reads the weights of all classes of each entry, so that runs of neighbours hardly make it faster.
        order = "permute" if self.order == "auto" else self.order
        found = native.joint_sdca(problem.core, terms.run, **self._visits(order, terms))
        return SDCA(shrink=self.shrink, order=order).solution(found)

    def _visits(self, order: str, terms: Terms[Point]) -> dict[str, Any]:
        """What the core is told of visits, and where they start."""
        return {
            "shrink": bool(self.shrink),
            "blocks": order == "blocks",
            "max_epochs": float(terms.budget.max_iter),
            "start_q": terms.start.point.q if terms.start else None,
            **as_continued(terms),
        }

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        # Random permutations, and no shrinking: a visit that changes nothing costs next to nothing there.
        found = native.kernel_sdca(
            problem.source,
            problem.core,
            terms.run,
            cached_rows=problem.cached_rows,
            tol=terms.budget.tol,
            max_epochs=float(terms.budget.max_iter),
            seed=terms.seed,
            visits=None,
            start=terms.start.point.last_variables if terms.start else None,
        )
        return Solution.from_core(found, problem.point(found), "SDCA()")

    def _blocks(self, problem: BlocksProblem, tol: float) -> DualAscent:
        return DualAscent(problem, tol, bool(self.shrink))

    supports: ClassVar = {
        LinearProblem: Supports(_linear, losses=LOSSES, intercepts=("penalized", "free"), needs_dual=True),
        JointProblem: Supports(_joint, losses=JOINT_LOSSES),
        KernelProblem: Supports(_kernel, losses=KERNEL_LOSSES, intercepts=()),
        BlocksProblem: Supports(_blocks, losses=LOSSES, continued=False),
    }
