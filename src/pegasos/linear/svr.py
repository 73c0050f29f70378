"""Linear support vector regression."""

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.available import available
from pegasos.base.early_stopping import split
from pegasos.base.estimator import Data, Regressor, at_once, of_one_model
from pegasos.base.misfit import ENOUGH, are_large, describe_small_C, standardised
from pegasos.base.onnx import Graph, Output
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import HeldOut, loss_parameter, loss_slopes, parameters
from pegasos.base.progress import Progress, make_run
from pegasos.base.rows import check_rows
from pegasos.base.scaling import some_step
from pegasos.base.scores import score_rows
from pegasos.base.solver import Elsewhere, Solver
from pegasos.base.validation import middle_and_spread, near_middle
from pegasos.base.warn import warn_of_fit
from pegasos.certificate import Certificate
from pegasos.linear.estimator import Task, mean
from pegasos.linear.exchange import regressor_to_sklearn
from pegasos.linear.onnx import write_regressor
from pegasos.linear.parameters import RegressionLoss
from pegasos.linear.stream import StreamMachine
from pegasos.problems.linear import Examples, LinearProblem

#: By how much the share below a quantile may be off.
QUANTILE_OFF = 0.02


@parameters
class LinearSVR(RegressionLoss, HeldOut, Regressor, StreamMachine):
    """Linear support vector regression; a certificate proves how close each fit is to the optimum.

    It minimises ``1/2 ||w||^2 + C sum_i s_i loss(<w, x_i> + b - y_i)``. A penalised intercept b is part of w; a free
    one is not. The loss is ``max(0, |z| - epsilon)``, its square, Huber's loss, or the quantile loss. It takes the
    parameters of `sklearn.svm.LinearSVR`, but `tol` is the relative duality gap.

    Parameters
    ----------
    epsilon : float or None, default=None
        Errors up to this size cost nothing. With "huber" they cost half their square, and `epsilon` must be above 0.
        "quantile" does not use it. None means 0, or 0.1 with "huber".
    quantile : float, default=0.5
        With ``loss="quantile"``, the share of targets that should be below the prediction. With ``intercept="free"``
        it is that share; a penalised intercept is drawn to 0, and the prediction with it.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"}, default="epsilon_insensitive"
        The loss. "epsilon_insensitive" is the part of the error beyond `epsilon`, and "squared_epsilon_insensitive"
        its square. "huber" is half the square of errors up to `epsilon`, and a straight line beyond. "quantile" is
        `quantile` times the error for targets above the prediction, and ``1 - quantile`` times the error for targets
        below.
    C, alpha, solver, tol, max_iter, max_time, fit_intercept, intercept, intercept_scaling, scale, warm_start, \
on_interrupt, checkpoint, n_jobs, random_state, verbose, dual
        As in `LinearSVC`.
    early_stopping, validation_fraction, n_iter_no_change
        As in `LinearSVC`. The score on held-out examples is R^2, or with the quantile loss its mean, negated.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Intercept; 0 with ``fit_intercept=False``.
    certificate_, history_, n_iter_, fit_status_, scale_, progressive_, lower_bound_, t_, n_features_in_, \
feature_names_in_
        As in `LinearSVC`.

    Examples
    --------
    >>> from pegasos import LinearSVR
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(1000, 20, noise=1.0, random_state=0)
    >>> reg = LinearSVR(epsilon=1.0, random_state=0).fit(X, y)
    >>> reg.certificate_.converged, round(reg.score(X, y), 2)
    (True, 1.0)
    """

    docs_page = "regression.md"

    @of_one_model
    def predict(self, X: Any) -> NDArray[np.float64]:
        """The value of each example."""
        return self._scores(X).ravel()

    @available(StreamMachine._check_partial_fit)
    @at_once
    def partial_fit(self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from the next examples of a stream, as in `LinearSVC`."""
        self._refuse_dataset(X)
        return self._learn_part(X, y, sample_weight, self._encode, lambda data: [self._targets(data)])

    def _as_sklearn(self) -> Any:
        return regressor_to_sklearn(self)

    def _write_onnx(self, graph: Graph, x: str) -> dict[str, Output]:
        return write_regressor(self, graph, x)

    def _targets(self, data: Data) -> NDArray[np.float64]:
        return np.ascontiguousarray(data.encoded, dtype=np.float64)

    def _hold_out(self, data: Data, seed: int) -> tuple[Data, Data | None]:
        if not self.early_stopping:
            return data, None
        check_rows(data.X)  # while rows have the numbers that the user knows them by
        train, test = split(data.encoded, float(self.validation_fraction), seed, classes=False)
        return data.take(train), data.take(test)

    def _score_held_out(self, held_out: Data, coef: NDArray[np.float64], intercept: float, number: int) -> float:
        """R^2, up to a constant and a factor; with the quantile loss its mean, negated."""
        errors = held_out.encoded - score_rows(held_out.X, coef[None, :], np.array([intercept]), n_jobs=1)[:, 0]
        if self.loss == "quantile":
            return -mean(held_out, np.maximum(self.quantile * errors, (self.quantile - 1) * errors))
        return -mean(held_out, errors**2)

    def _refuse_unsupported(
        self, solver: Solver, kind: type[Any], known: Mapping[str, type[Solver]], elsewhere: Elsewhere | None
    ) -> None:
        if self.loss == "huber" and self.epsilon == 0:
            raise ValueError(
                f"epsilon={self.epsilon!r}: loss='huber' needs epsilon above 0, the size of errors from which on it is "
                "a straight line; leave it out for 0.1, or pass the size of usual errors"
            )
        super()._refuse_unsupported(solver, kind, known, elsewhere)

    def _hand_over(self, data: Data) -> Examples:
        """A free intercept takes any shift of the targets, so it is left to solve for what they do not share."""
        examples = replace(super()._hand_over(data), parameter=loss_parameter(self)[1])
        shift = near_middle(examples.y) if self._free else 0.0
        return replace(examples, y=examples.y - shift, shift=shift) if shift else examples

    def _run(self, task: Task, progress: Progress) -> None:
        super()._run(task, progress)
        text = self._describe_small_C(task) or self._describe_misfit(task.data.X, task.examples)
        warn_of_fit(self.certificate_, text)

    def _describe_small_C(self, task: Task) -> str:
        """A sentence where C keeps the predictions near a constant; "" where it does not, or the fit fell short."""
        slopes, examples = loss_slopes(self), task.examples
        if slopes is None or self.certificate_.converged is False:
            return ""
        if not are_large(examples.y):
            return ""
        some = slice(None, None, some_step(task.data.X))
        predicted = score_rows(task.data.X[some], self._weight_rows(), np.zeros(1), self.n_jobs)[:, 0]
        y, s = examples.y[some], examples.s[some] * (len(examples.s) / len(predicted))
        w = self.coef_ if examples.scale is None else self.coef_ * examples.scale
        drawn = self.fit_intercept and not self._free and _are_far(y)
        return describe_small_C(
            y, predicted, s, task.C, float(np.einsum("i,i->", w, w)), slopes, type(self).__name__, drawn=drawn
        )

    def _describe_misfit(self, X: Any, examples: Examples) -> str:
        """A sentence where the price of a penalised intercept shows: a quantile that is off, or predictions that are
        worse than one constant; "" where it does not, or targets are about zero."""
        y, s = examples.y, examples.s
        if not self.fit_intercept or self._free or len(y) < ENOUGH or not _are_far(y):
            return ""
        predicted = score_rows(X, self._weight_rows(), self.intercept_, self.n_jobs)[:, 0]
        if self.loss == "quantile":
            share = np.average(y < predicted, weights=s)
            if abs(share - self.quantile) <= QUANTILE_OFF:
                return ""
            found = f"{share:.1%} of the targets are below the predictions, and quantile={float(self.quantile):g}"
        else:
            middle = float(np.median(y))
            error, constant = (np.average(np.abs(y - one), weights=s) for one in (predicted, middle))
            if error <= constant:
                return ""
            found = f"Predictions are off by {error:.3g} in the mean, the constant {middle:.6g} only by {constant:.3g}"
        return (
            f"{found}: a penalised intercept costs more the larger it is. Pass intercept='free', or standardise the "
            f"targets: {standardised(type(self).__name__)}; or raise C"
        )

    def _as_stored(self, solution: Solution[Point], problem: LinearProblem, examples: Examples) -> Solution[Point]:
        """With the shift given back the intercept is rounded once more; the upper bound is that of the model."""
        if examples.shift == 0:
            return solution
        budget, started = self._budget(solution.seconds), clock.now()
        w, bounds, known = solution.point.w.copy(), solution.bounds, solution.point.w[-1]
        w[-1] = examples.weights(w)[1] - examples.shift
        in_time = budget.max_time is None or solution.seconds < budget.max_time
        if in_time and solution.reason != "interrupt":
            if w[-1] != known:
                assert solution.point.q is not None
                found = native.certify(problem.core, make_run(budget), w, solution.point.q, budget.tol)
                bounds = bounds._replace(primal=found.primal, above=found.above)
            known = w[-1]
        moved = _off(examples, w[-1], known)
        if moved > 0:  # the loss of an example, or its root, rises by that at most
            total = problem.C * problem.total_weight
            smooth = self.loss in ("squared_epsilon_insensitive", "huber")  # the latter is below a square
            more = 1.01 * (moved * (2 * math.sqrt(total * bounds.primal) + total * moved if smooth else total))
            bounds = bounds._replace(primal=bounds.primal + more, above=bounds.above + more)
        reason = solution.reason
        if reason == "tol" and bounds.gap > budget.tol:
            reason = "precision"
        seconds = solution.seconds + clock.now() - started
        records = [[*row[:2], max(row[2], bounds.primal), row[3]] for row in solution.records]
        records[-1] = [seconds, records[-1][1], bounds.primal, bounds.dual]
        return replace(solution.moved(w=w), bounds=bounds, reason=reason, seconds=seconds, records=records)

    def _advice(self, found: Certificate, C: float, longest: float, X: Any) -> str:
        rounding = C * X.shape[0] * np.spacing(np.abs(self.intercept_[0]))
        if found.reason == "precision" and self._free and 2 * rounding > found.primal - found.dual:
            sentences = self._bounds_reached(found)
            sentences.append(
                f"The intercept, {self.intercept_[0]:.6g}, cannot be stored with more digits: take a constant off "
                "the targets, or raise tol."
            )
            return " ".join(sentences)
        return super()._advice(found, C, longest, X)

    def _store_weights(self, coef: NDArray[np.float64], intercept: NDArray[np.float64]) -> None:
        self.coef_, self.intercept_ = coef[0], intercept


def _are_far(y: NDArray[np.float64]) -> bool:
    """Whether targets are farther from zero than from each other."""
    middle, spread = middle_and_spread(y)
    return abs(middle) > spread > 0


def _off(examples: Examples, stored: float, known: float) -> float:
    """How far the model's intercept, stored for this weight, is from the one for which the primal value is known."""
    intercept = stored * examples.bias + examples.shift
    return float(abs(Fraction(intercept) - Fraction(examples.shift) - Fraction(known) * Fraction(examples.bias)))
