"""Whether what one fitted estimator claims is so; for fits that come from elsewhere than the cases of the audit."""

from types import SimpleNamespace

import numpy as np

import pegasos
from pegasos.base.parameters import loss_parameter

from .case import Case
from .checks import Finding
from .evaluation import LONG, JointProblem, Rows, chain_problem, chain_vector
from .kernel_cases import KernelProblems, kernel_parts
from .linear_cases import LinearProblems

#: Findings that are no harm where a warning tells of them: there is no bound, and none is claimed.
NO_BOUND = frozenset({"no bound", "primal not finite"})


def confirm(estimator, X, y, weights=None, lengths=None) -> list[Finding]:
    """All that is wrong with the certificate, by an evaluation in long double.

    Labels are 0, 1, ... and all occur. There are no class weights, and `C` is not given as `alpha`.
    """
    case = Case(0, 0)
    case.data = SimpleNamespace(offset=0.0, scale=1.0)
    with np.errstate(all="ignore"):
        if isinstance(estimator, pegasos.SequenceSVC):
            _sequence(case, estimator, X, y, weights, lengths)
        elif isinstance(estimator, pegasos.SVC | pegasos.SVR):
            _kernel(case, estimator, X, y, weights)
        else:
            _linear(case, estimator, X, y, weights)
        case.finish()
    return case.findings


def _shares(weights, count, C):
    """Weights of the examples; 0 where C times the weight is below what a double can be, and the cost is 0."""
    s = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.where(float(C) * s > 0, s, 0.0)


def _linear(case, estimator, X, y, weights):
    rows, is_regression = Rows(X), isinstance(estimator, pegasos.LinearSVR)
    s, intercept = _shares(weights, rows.n, estimator.C), estimator.intercept if estimator.fit_intercept else None
    if not is_regression and estimator.multi_class == "joint":
        classes = len(estimator.classes_)
        more = {"has_intercept": estimator.fit_intercept, "delta": 1 - np.eye(classes), "scale": estimator.scale_}
        problem = JointProblem(rows, y, classes, LONG(estimator.C) * s.astype(LONG), estimator.loss, **more)
        case.claim(estimator, [problem], [problem.at(estimator.coef_, estimator.intercept_)])
        return
    if is_regression:
        targets, epsilon = [np.asarray(y, dtype=np.float64)], loss_parameter(estimator)[1]
    else:
        classes = range(len(estimator.classes_)) if len(estimator.classes_) > 2 else [1]
        targets, epsilon = [np.where(y == k, 1.0, -1.0) for k in classes], 0.0
    problems = LinearProblems(rows, targets, estimator.C, s, estimator.loss, intercept=intercept, epsilon=epsilon)
    problems.claim(case, estimator)


def _kernel(case, estimator, X, y, weights):
    s = _shares(weights, X.shape[0], estimator.C)
    if isinstance(estimator, pegasos.SVR):
        parts, loss, epsilon = [(None, np.asarray(y, dtype=np.float64))], estimator.loss, loss_parameter(estimator)[1]
    else:
        parts, loss, epsilon = kernel_parts(y, len(estimator.classes_), "pairs"), "hinge", 0.0
    KernelProblems(X, parts, estimator.C, s, loss, estimator.fit_intercept, epsilon).claim(case, estimator)


def _sequence(case, estimator, X, y, weights, lengths):
    starts, classes = np.concatenate([[0], np.cumsum(lengths)]).tolist(), len(estimator.classes_)
    cost = LONG(estimator.C) * _shares(weights, len(lengths), estimator.C).astype(LONG)
    more = {"boundaries": estimator.boundaries, "has_intercept": estimator.fit_intercept, "forbidden": set()}
    problem = chain_problem(X, starts, y.tolist(), classes, cost, 1 - np.eye(classes), **more)
    case.claim(estimator, [problem], [problem.at(chain_vector(estimator))])
