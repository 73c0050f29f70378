"""What is minimised, and its value: an evaluation in double precision that knows nothing of how a model was found.

The objective is ``1/2 ||w||^2 + C sum_i loss_i``. Of more than two classes it is the sum over the problems of one class
against the rest, or one problem for all classes jointly; with a kernel, the sum over the pairs of classes. A penalized
intercept is in the norm. A free one is not, and counts as well as it could have been set, so that nobody suffers from
how it was.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from datasets import Data, as_kind
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

__all__ = ["TARGETS", "Found", "Problem", "accuracy", "evaluate", "expansion_value"]

BLOCK = 2_000  # rows at a time

#: Of margins: labels times scores.
MARGINS: dict[str, Callable[[Any], Any]] = {
    "hinge": lambda z: np.maximum(0, 1 - z),
    "squared_hinge": lambda z: np.maximum(0, 1 - z) ** 2,
    "log_loss": lambda z: np.logaddexp(0, -z),
}

#: Of errors, targets minus scores, with epsilon or the quantile.
TARGETS: dict[str, Callable[[Any, float], Any]] = {
    "epsilon_insensitive": lambda r, epsilon: np.maximum(0, abs(r) - epsilon),
    "squared_epsilon_insensitive": lambda r, epsilon: np.maximum(0, abs(r) - epsilon) ** 2,
    "huber": lambda r, epsilon: np.where(abs(r) <= epsilon, r * r / 2, epsilon * (abs(r) - epsilon / 2)),
    "quantile": lambda r, share: np.maximum(share * r, (share - 1) * r),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, and what is minimised on them."""

    data: Data
    loss: str
    C: float
    intercept: str = "none"  # or "penalized" or "free"
    gamma: float | None = None  # of a Gaussian kernel; None: linear
    parameter: float = 0.0  # epsilon, or the quantile
    joint: bool = False  # all classes in one problem

    @property
    def kind(self) -> str:
        if isinstance(self.data.X, list):
            return "sequence"
        return "linear" if self.gamma is None else "kernel"

    @property
    def n_classes(self) -> int:
        """0 for targets."""
        if self.kind == "sequence":
            return len({label for labels in self.data.y for label in labels})
        return 0 if self.loss in TARGETS else len(np.unique(self.data.y))

    @property
    def key(self) -> str:
        """What tells it apart, in words."""
        words = [self.data.name, self.kind, "joint" * self.joint, self.loss.replace("_", " ")]
        words += [f"{self.intercept} intercept" * (self.intercept != "none"), f"C={self.C:g}"]
        return ", ".join(word for word in words if word)


class Found(NamedTuple):
    """A model from any package.

    Linear: weights, a row for each class of several, and intercepts. Kernel: coefficients of the examples `support`,
    laid out as in scikit-learn. Sequences: what was predicted for those to test on.
    """

    coef: Any = None
    intercept: Any = 0.0
    support: Any = None
    predicted: Any = None
    dual: float | None = None  # a bound on the optimum, where the contender gives one


def evaluate(problem: Problem, found: Found) -> float:
    """The value of the objective; of sequences the share of wrong labels."""
    if problem.kind == "sequence":
        return 1 - accuracy(problem.data.y_test, found.predicted)
    if problem.kind == "kernel":
        return expansion_value(problem, found.support, found.coef)[0]
    coef = np.atleast_2d(np.asarray(found.coef, dtype=np.float64))
    intercept = np.ravel(np.asarray(found.intercept, dtype=np.float64))
    scores = _scores(problem.data.X, coef)
    norm = (coef * coef).sum()
    if problem.intercept == "penalized":
        norm += intercept @ intercept
    return float(norm / 2 + problem.C * _total_loss(problem, scores, intercept))


def accuracy(y_true: Any, y_pred: Any) -> float:
    """The share of right labels in sequences."""
    right = sum(a == b for truth, found in zip(y_true, y_pred, strict=True) for a, b in zip(truth, found, strict=True))
    return right / sum(map(len, y_true))


def _scores(X: Any, coef: Any) -> Any:
    parts = [X[first : first + BLOCK] @ coef.T for first in range(0, X.shape[0], BLOCK)]
    return np.concatenate(parts, dtype=np.float64)


def _total_loss(problem: Problem, scores: Any, intercept: Any) -> float:
    y = problem.data.y
    if problem.joint:
        return float(_joint(problem.loss, scores + intercept, y).sum())
    own = np.broadcast_to(intercept, scores.shape[1])
    if scores.shape[1] == 1:
        return _loss(problem, y, scores[:, 0], own[0])
    rest = _against_the_rest(y, scores.shape[1])
    return sum(_loss(problem, sign, score, b) for sign, score, b in zip(rest, scores.T, own, strict=True))


def _against_the_rest(y: Any, classes: int) -> list[Any]:
    return [np.where(y == label, 1.0, -1.0) for label in range(classes)]


def _joint(loss: str, scores: Any, y: Any) -> Any:
    rows = np.arange(len(y))
    if loss == "log_loss":
        return logsumexp(scores, axis=1) - scores[rows, y]
    costs = np.ones_like(scores)
    costs[rows, y] = 0
    return (scores + costs).max(axis=1) - scores[rows, y]


def _loss(problem: Problem, y: Any, scores: Any, own: float) -> float:
    """The sum over the examples, with the contender's own intercept or, if it is free, with the best."""

    def at(b: float) -> float:
        if problem.loss in TARGETS:
            return float(TARGETS[problem.loss](y - scores - b, problem.parameter).sum())
        return float(MARGINS[problem.loss](y * (scores + b)).sum())

    if problem.intercept != "free":
        return at(own if problem.intercept == "penalized" else 0.0)
    most = float(abs(scores).max() + abs(y).max())
    return float(minimize_scalar(at, bounds=(-most, most), method="bounded", options={"xatol": 1e-10}).fun)


# ---- With a kernel ----


def expansion_value(problem: Problem, support: Any, dual_coef: Any) -> tuple[float, float, float]:
    """Of a kernel expansion, or of all its pairs: the objective, the squared norm, and the sum of the losses."""
    squared_norm = loss = 0.0
    for rows, y, beta in _pairs(problem, np.asarray(support), as_kind(dual_coef, "dense float64")):
        used = np.flatnonzero(beta)
        f = _responses(problem.data.X[rows], problem.data.X[rows[used]], beta[used], problem.gamma)
        squared_norm += float(beta[used] @ f[used])
        loss += _loss(problem, y, f, 0.0)
    return squared_norm / 2 + problem.C * loss, squared_norm, loss


def _pairs(problem: Problem, support: Any, dual_coef: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Rows, labels -1 and 1 or targets, and coefficients of these rows: of one problem, or of each pair of classes."""
    y = problem.data.y
    weights = np.zeros((len(dual_coef), len(y)))
    weights[:, support] = dual_coef
    if problem.loss in TARGETS:
        yield np.arange(len(y)), np.asarray(y, dtype=np.float64), weights[0]
        return
    classes, encoded = np.unique(y, return_inverse=True)
    if len(classes) == 2:
        yield np.arange(len(y)), np.where(encoded == 1, 1.0, -1.0), weights[0]
        return
    for first, second in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((encoded == first) | (encoded == second))
        of_first = encoded[rows] == first
        yield rows, np.where(of_first, 1.0, -1.0), np.where(of_first, weights[second - 1, rows], weights[first, rows])


def _responses(X: Any, support_vectors: Any, beta: Any, gamma: float) -> Any:
    if len(beta) == 0:
        return np.zeros(X.shape[0])
    support_vectors = as_kind(support_vectors, "dense float64")
    squares = np.einsum("ij,ij->i", support_vectors, support_vectors)
    parts = []
    for first in range(0, X.shape[0], BLOCK):
        rows = as_kind(X[first : first + BLOCK], "dense float64")
        distances = np.einsum("ij,ij->i", rows, rows)[:, None] + squares - 2 * rows @ support_vectors.T
        parts.append(np.exp(-gamma * np.maximum(distances, 0)) @ beta)
    return np.concatenate(parts)
