"""Newton's method."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Choice, names
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.linear import JointProblem, LinearProblem

#: The losses without corners.
SMOOTH = ("squared_hinge", "log_loss", "squared_epsilon_insensitive", "huber")
#: Features beyond which the matrix is a burden on memory and time.
MOST_FEATURES = 4_000
#: Products of the matrix with a vector that a step of conjugate gradients takes, about.
PRODUCTS = 20


@parameters
class Newton(Solver):
    """Newton's method on the weights themselves, for losses without corners.

    A step minimises the parabola with the objective's value, slope and curvature at the present weights. With few
    features, it solves the equations with a matrix of ``n_features^2`` numbers, and a fit usually takes 1 to 20 steps.
    With many features, it uses conjugate gradients, which need no matrix. The difference between the bounds is half the
    squared norm of the gradient, so it is known after each step.

    An iteration counts as an epoch, whatever the number of its passes over the examples. ``n_jobs`` threads share the
    passes. Nothing is random. With all classes together (``multi_class="joint"``) it supports the log loss, by
    conjugate gradients.

    Parameters
    ----------
    equations : {"auto", "cholesky", "cg"}, default="auto"
        How to solve the equations of a step: exactly, with a matrix ("cholesky"), or by conjugate gradients, as
        accurately as the step needs ("cg"). "auto" takes the method that is likely to be faster for the size of the
        data.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LinearSVC(loss="log_loss", tol=1e-9, solver="newton").fit(scale(X), y)
    >>> clf.certificate_.gap <= 1e-9, clf.n_iter_ < 20
    (True, True)
    """

    name = "newton"

    equations: str = parameter(
        "auto", Choice(values=names("auto", "cholesky", "cg"), help="how to solve the equations of a step")
    )

    def _linear(self, problem: LinearProblem, terms: Terms[Point], goal: float = 0.0) -> Solution[Point]:
        """`goal` is a gap below the tolerance to go for, where it can be had."""
        equations = (
            choose_equations(problem.n_rows, problem.entries, problem.dimension)
            if self.equations == "auto"
            else self.equations
        )
        start = terms.start
        found = native.newton(
            problem.core,
            terms.run,
            exact=equations == "cholesky",
            max_iterations=terms.budget.max_iter,
            tol=terms.budget.tol,
            goal=goal,
            start_w=start.point.w if start else None,
            start_t=start.t if start else 0,
        )
        return Newton(equations=equations).solution(found)

    def _joint(self, problem: JointProblem, terms: Terms[Point]) -> Solution[Point]:
        start = terms.start
        found = native.joint_newton(
            problem.core,
            terms.run,
            max_iterations=terms.budget.max_iter,
            tol=terms.budget.tol,
            start_w=start.point.w if start else None,
            start_t=start.t if start else 0,
        )
        return Newton(equations="cg").solution(found)

    supports: ClassVar = {
        LinearProblem: Supports(_linear, losses=SMOOTH, intercepts=("penalized", "free")),
        JointProblem: Supports(_joint, losses=("log_loss",), options={"equations": ("auto", "cg")}),
    }


def is_dense(n_rows: int, entries: float, d: int) -> bool:
    """Whether rows are packed before they are multiplied, zeros and all."""
    return entries / n_rows >= d / 4


def choose_equations(n_rows: int, entries: float, d: int) -> str:
    """What is likely to be faster. The figures are nanoseconds, measured; only their ratio matters."""
    k, dense = entries / n_rows, is_dense(n_rows, entries, d)
    matrix = n_rows * (0.03 * d * d if dense else 0.6 * k * k) + 0.07 * d**3
    product = n_rows * (20 + (0.8 if dense else 3) * k)
    return "cholesky" if d - 1 <= MOST_FEATURES and matrix <= PRODUCTS * product else "cg"
