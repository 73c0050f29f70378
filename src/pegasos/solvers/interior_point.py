"""Mehrotra's interior-point method."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.outcome import Point, Solution
from pegasos.base.solver import LOSSES, Solver, Supports, Terms
from pegasos.problems.linear import LinearProblem

#: Features beyond which the matrix of the normal equations, three of 8 bytes an entry, no longer fits most memories.
MOST_FEATURES = 20_000


class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector interior-point method, with normal equations of the size of the weights.

    It takes 10 to 90 iterations, and only a few more for a smaller gap or a larger `C`. Features of very different size
    do no harm. On dense data an iteration costs about ``n_samples * n_features^2`` operations. The method needs memory
    for two matrices of ``n_features^2`` numbers, and for one more for each further thread. It supports the free
    intercept, ``LinearSVC(intercept="free")``, and every loss except the log loss.

    ``max_iter`` is the budget in iterations, and ``n_iter_`` counts them. The epochs in ``history_`` are passes over
    the examples: an iteration makes three.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LinearSVC(C=1000, tol=1e-9, solver="interior-point").fit(X, y)
    >>> clf.certificate_.gap <= 1e-9, clf.n_iter_ < 40
    (True, True)
    """

    name = "interior-point"

    def _linear(self, problem: LinearProblem, terms: Terms[Point], goal: float = 0.0) -> Solution[Point]:
        """`goal` is a gap below the tolerance to go for, where it can be had."""
        if problem.dimension - 1 > MOST_FEATURES:
            raise ValueError(
                f"X has {problem.dimension - 1} features, and interior-point would need a matrix of that size squared; "
                f"it takes at most {MOST_FEATURES}. Use solver='sdca', or fewer features"
            )
        start = terms.start
        known = start if start is not None and start.point.q is not None else None
        found = native.interior_point(
            problem.core,
            terms.run,
            max_iterations=terms.budget.max_iter,
            tol=terms.budget.tol,
            goal=goal,
            start_w=known.point.w if known else None,
            start_t=start.t if start else 0,
            start_q=known.point.q if known else None,
        )
        return Solution.from_core(found, Point(found.w, found.q), self.describe(), n_iter=found.steps)

    supports: ClassVar = {
        LinearProblem: Supports(
            _linear,
            losses=tuple(loss for loss in LOSSES if loss != "log_loss"),
            intercepts=("penalized", "free"),
            needs_dual=True,
        ),
    }
