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

    Each visit of an example maximises the dual along its own variable, exactly. With ``n_jobs`` threads each works on
    examples of its own with a copy of the weights of its own; the copies are joined several times an epoch by the best
    common step. Epochs of few examples, which threads would not make faster, are left to one. The result depends on the
    seed and `n_jobs`, not on timing. An epoch is as many visits as there are examples, so a pass over those that
    `shrink` leaves is a part of one.

    Parameters
    ----------
    shrink : bool, default=True
        Leave out examples whose dual variable sits at a bound, the longer the less it wants to leave it.
    order : {"auto", "permute", "blocks"}, default="auto"
        In which order examples are visited in an epoch: a random permutation, or runs of neighbours in random order,
        which is faster on data larger than the caches, and needs as many epochs where neighbours are no more alike than
        other examples. "auto" finds out.

    With a kernel there is no intercept, the responses of all examples are kept, and neither option matters.

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

    def _blocks(self, problem: BlocksProblem) -> DualAscent:
        return DualAscent(problem, bool(self.shrink))

    supports: ClassVar = {
        LinearProblem: Supports(_linear, losses=LOSSES, intercepts=("penalized", "free")),
        JointProblem: Supports(_joint, losses=JOINT_LOSSES),
        KernelProblem: Supports(_kernel, losses=KERNEL_LOSSES, intercepts=()),
        BlocksProblem: Supports(_blocks, losses=LOSSES, continued=False),
    }
