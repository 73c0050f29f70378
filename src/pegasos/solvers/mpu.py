"""MPU, the Margin Perceptron with Unlearning."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Choice, Number, names
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms, as_continued
from pegasos.problems.linear import LinearProblem

#: Where `tol` is 0: delta is halved when it is reached.
FIRST_DELTA = 1e-3


@parameters
class MPU(Solver):
    """The Margin Perceptron with Unlearning (Panagiotakopoulos, Tsampouka 2010; S3 section 3): dual ascent in units.

    An example with too small a margin is added to the weights, as often as necessary and as its bound allows. An
    example with a large margin is removed again. When nothing is left to do, the gap is below a bound that `delta`
    sets.

    Parameters
    ----------
    delta : float, default=None
        Margins from 1 to ``1 + delta`` are left as they are. None means ``tol / (2 + tol)``, which proves a gap of
        `tol` at the end, or 0.001 with ``tol=0``. It is halved if nothing is left to do and `tol` is not reached.
    order : {"auto", "permute", "blocks"}, default="auto"
        As in `SDCA`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(C=0.1, tol=1e-3, solver="mpu", random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 1e-3
    True
    """

    name = "mpu"

    delta: float | None = parameter(
        None, Number(low=0, high=1, open=True, optional=True, help="margins from 1 to 1 + delta are left as they are")
    )
    order: str = parameter(
        "auto", Choice(values=names("auto", "permute", "blocks"), help="order of visits in an epoch")
    )

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        tol = terms.budget.tol
        chosen = tol / (2 + tol) if tol > 0 else FIRST_DELTA
        order = problem.choose_order(terms.seed) if self.order == "auto" else self.order
        delta = chosen if self.delta is None else float(self.delta)
        found = native.mpu(
            problem.core,
            terms.run,
            delta=delta,
            blocks=order == "blocks",
            max_epochs=float(terms.budget.max_iter),
            start_q=terms.start.point.q if terms.start else None,
            **as_continued(terms),
        )
        return MPU(delta=delta, order=order).solution(found)

    supports: ClassVar = {LinearProblem: Supports(_linear, needs_dual=True)}
