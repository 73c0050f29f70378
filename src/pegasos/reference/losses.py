"""The losses of S0 section 5 for one score: value, slope, conjugate and dual step, from their definitions.

A loss is a convex function of z. For classification z is the margin ``y <w, x>``; for regression it is the score
``<w, x>``, and the loss depends on the target y too. A dual variable alpha of a row of cost ``c = C s`` adds
``dual(alpha, c, y) = -c l*(-alpha/c)`` to the dual, l* the conjugate.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers


@dataclass(frozen=True)
class Loss:
    """A loss by its parts. `epsilon` is the parameter of the loss; that of the quantile loss is the quantile.

    Parameters
    ----------
    value : callable
        ``value(z, y, epsilon)``: the loss.
    slope : callable
        ``slope(z, y, epsilon)``: minus a sub-gradient in z.
    dual : callable
        ``dual(q, y, epsilon)``: minus the conjugate at -q; minus infinity where that is infinite.
    best : callable
        ``best(q, size, z, y, epsilon)``: the q' that maximises ``dual(q') - z q' - size/2 (q' - q)^2``.
    regression : bool
        Whether y is a target, and not a label.

    Examples
    --------
    >>> hinge = LOSSES["hinge"]
    >>> float(hinge.value(0.25, 1, 0)), float(hinge.slope(0.25, 1, 0)), hinge.best(0.0, 2.0, 0.25, 1, 0)
    (0.75, 1.0, 0.375)
    """

    value: Callable[..., Floats]
    slope: Callable[..., Floats]
    dual: Callable[..., Floats]
    best: Callable[[float, float, float, float, float], float]
    regression: bool = False

    def sign(self, y: Floats) -> Floats:
        """What a row is multiplied by: its label, or 1."""
        return np.ones_like(y) if self.regression else y


def _entropy(q: Floats) -> Floats:
    return -q * np.log(np.where(q > 0, q, 1.0))


def _log_best(q: float, size: float, z: float, y: float, epsilon: float) -> float:
    """By halving the bracket of t, ``q' = 1/(1 + exp(-t))``."""
    low, high = -z - size * (1 - q), -z + size * q
    for _ in range(200):
        t = (low + high) / 2
        if -t - z - size * (_logistic(t) - q) > 0:
            low = t
        else:
            high = t
    return float(_logistic((low + high) / 2))


def _logistic(t: Floats | float) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * np.asarray(t))))


def _soft(target: float, epsilon: float) -> float:
    return math.copysign(max(abs(target) - epsilon, 0.0), target)


def _epsilon_best(q: float, size: float, z: float, y: float, epsilon: float) -> float:
    beyond = _soft(y - z + size * q, epsilon)
    if size == 0:
        return float(np.sign(beyond))
    return min(max(beyond / size, -1.0), 1.0)


def _quantile_best(q: float, size: float, z: float, y: float, quantile: float) -> float:
    best = q + (y - z) / size if size > 0 else math.copysign(1.0, y - z) if y != z else q
    return min(max(best, quantile - 1), quantile)


#: By name.
LOSSES = {
    "hinge": Loss(
        value=lambda z, y, epsilon: np.maximum(0.0, 1 - z),
        slope=lambda z, y, epsilon: np.where(np.less(z, 1), 1.0, 0.0),
        dual=lambda q, y, epsilon: np.where((q >= 0) & (q <= 1), q, -np.inf),
        best=lambda q, size, z, y, epsilon: 1.0 if size == 0 else min(max(q + (1 - z) / size, 0.0), 1.0),
    ),
    "squared_hinge": Loss(
        value=lambda z, y, epsilon: np.maximum(0.0, 1 - z) ** 2,
        slope=lambda z, y, epsilon: 2 * np.maximum(0.0, 1 - z),
        dual=lambda q, y, epsilon: np.where(q >= 0, q - q * q / 4, -np.inf),
        best=lambda q, size, z, y, epsilon: max(q + (1 - z - q / 2) / (size + 0.5), 0.0),
    ),
    "log_loss": Loss(
        value=lambda z, y, epsilon: np.logaddexp(0.0, -z),
        slope=lambda z, y, epsilon: _logistic(-z),
        dual=lambda q, y, epsilon: np.where((q >= 0) & (q <= 1), _entropy(q) + _entropy(1 - q), -np.inf),
        best=_log_best,
    ),
    "epsilon_insensitive": Loss(
        value=lambda z, y, epsilon: np.maximum(0.0, np.abs(z - y) - epsilon),
        slope=lambda z, y, epsilon: np.sign(y - z) * np.greater(np.abs(z - y), epsilon),
        dual=lambda q, y, epsilon: np.where(np.abs(q) <= 1, y * q - epsilon * np.abs(q), -np.inf),
        best=_epsilon_best,
        regression=True,
    ),
    "squared_epsilon_insensitive": Loss(
        value=lambda z, y, epsilon: np.maximum(0.0, np.abs(z - y) - epsilon) ** 2,
        slope=lambda z, y, epsilon: 2 * np.sign(y - z) * np.maximum(0.0, np.abs(z - y) - epsilon),
        dual=lambda q, y, epsilon: y * q - epsilon * np.abs(q) - q * q / 4,
        best=lambda q, size, z, y, epsilon: _soft(y - z + size * q, epsilon) / (size + 0.5),
        regression=True,
    ),
    "huber": Loss(
        value=lambda z, y, epsilon: np.where(
            np.abs(y - z) <= epsilon, (y - z) ** 2 / 2, epsilon * np.abs(y - z) - epsilon**2 / 2
        ),
        slope=lambda z, y, epsilon: np.clip(y - z, -epsilon, epsilon),
        dual=lambda q, y, epsilon: np.where(np.abs(q) <= epsilon, y * q - q * q / 2, -np.inf),
        best=lambda q, size, z, y, epsilon: min(max((y - z + size * q) / (size + 1), -epsilon), epsilon),
        regression=True,
    ),
    "quantile": Loss(
        value=lambda z, y, quantile: np.where(np.less(z, y), quantile, quantile - 1) * (y - z),
        slope=lambda z, y, quantile: np.where(np.less(z, y), quantile, np.where(np.greater(z, y), quantile - 1, 0.0)),
        dual=lambda q, y, quantile: np.where((q >= quantile - 1) & (q <= quantile), y * q, -np.inf),
        best=_quantile_best,
        regression=True,
    ),
}


def primal(loss: str, X: Floats, y: Floats, s: Floats, C: float, w: Floats, epsilon: float = 0.0) -> float:
    """``1/2 ||w||^2 + C sum_i s_i l(z_i)``.

    Examples
    --------
    >>> import numpy as np
    >>> primal("squared_hinge", np.array([[1.0]]), np.ones(1), np.ones(1), 2.0, np.array([0.5]))
    0.625
    """
    kind = LOSSES[loss]
    return 0.5 * math.fsum(w * w) + C * math.fsum(s * kind.value(kind.sign(y) * (X @ w), y, epsilon))


def dual(loss: str, X: Floats, y: Floats, s: Floats, C: float, q: Floats, epsilon: float = 0.0) -> float:
    """``C sum_i s_i dual(q_i) - 1/2 ||sum_i C s_i q_i sign_i x_i||^2``: a lower bound on every primal value.

    Examples
    --------
    >>> import numpy as np
    >>> dual("squared_hinge", np.array([[1.0]]), np.ones(1), np.ones(1), 2.0, np.array([0.5]))
    0.375
    """
    kind = LOSSES[loss]
    u = X.T @ (C * s * q * kind.sign(y))
    return C * math.fsum(s * kind.dual(q, y, epsilon)) - 0.5 * math.fsum(u * u)


def dca(
    loss: str, X: Floats, y: Floats, C: float, sequence: RowNumbers, *, s: Floats | None = None, epsilon: float = 0.0
) -> Iterator[tuple[Floats, Floats]]:
    """Dual coordinate ascent: each visit takes the best q_i, ``alpha_i = C s_i q_i``.

    Yields
    ------
    q, w : arrays of shape (m,) and (d,)
        After 0, 1, ..., T visits.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
    >>> *_, (q, w) = dca("squared_epsilon_insensitive", X, y, 0.5, np.array([0, 1]))
    >>> q, w
    (array([1. , 0.8]), array([1.3]))
    """
    kind, s = LOSSES[loss], np.ones(len(y)) if s is None else s
    sign = kind.sign(y)
    q, w = np.zeros(len(y)), np.zeros(X.shape[1])
    yield q, w
    for i in sequence:
        q, before, c = q.copy(), q[i], C * s[i]
        q[i] = kind.best(before, c * float(X[i] @ X[i]), float(sign[i] * (X[i] @ w)), float(y[i]), epsilon)
        w = w + c * (q[i] - before) * sign[i] * X[i]
        yield q, w


def first_t(loss: str, X: Floats, s: Floats, lam: float) -> int:
    """The steps of size ``1/(lam t)`` that a loss without a bound on its slopes leaves out.

    Its second derivative is 2, so a step on row i is a descent from ``t = 2 m s_i / sum(s) ||x_i||^2 / lam`` on.

    Examples
    --------
    >>> import numpy as np
    >>> first_t("hinge", np.eye(2), np.ones(2), 0.1), first_t("squared_hinge", np.eye(2), np.ones(2), 0.1)
    (0, 20)
    """
    if not loss.startswith("squared"):
        return 0
    return math.ceil(2 * len(s) / s.sum() * np.max(s * (X * X).sum(axis=1)) / lam)


def pegasos(
    loss: str,
    X: Floats,
    y: Floats,
    lam: float,
    batches: RowNumbers,
    *,
    s: Floats | None = None,
    project: bool = False,
    epsilon: float = 0.0,
) -> Iterator[Floats]:
    """Pegasos (S0 Fig. 2) with the sub-gradients of S0 section 5.

    Yields
    ------
    array of shape (d,)
        w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> *_, w = pegasos("log_loss", X, y, 0.5, np.array([[0], [1]]))
    >>> w
    array([ 0.5, -1. ])
    """
    kind, s, m = LOSSES[loss], np.ones(len(y)) if s is None else s, len(y)
    sign, w = kind.sign(y), np.zeros(X.shape[1])
    radius = math.sqrt(float(s @ kind.value(np.zeros(m), y, epsilon)) / (lam * s.sum()))
    yield w
    for t, A in enumerate(batches, start=first_t(loss, X, s, lam) + 1):
        q = kind.slope(sign[A] * (X[A] @ w), y[A], epsilon)
        w = (1 - 1 / t) * w + (m * s[A] / s.sum() * q * sign[A]) @ X[A] / len(A) / (lam * t)
        if project:
            w = min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300)) * w
        yield w


def sgd_s(
    loss: str, X: Floats, y: Floats, C: float, sequence: RowNumbers, *, s: Floats | None = None, epsilon: float = 0.0
) -> Iterator[tuple[Floats, float | None]]:
    """SGD-s (S3) for any of the losses: whole epochs, ``w = a / (lam t)``, and its bound.

    Yields
    ------
    w, L : array of shape (d,), float or None
        After 1, ..., T visits; the lower bound on the optimum after whole epochs.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> [round(L, 4) for _, L in sgd_s("log_loss", X, y, 1.0, np.array([0, 1])) if L is not None]
    [0.7613]
    """
    kind, s, m = LOSSES[loss], np.ones(len(y)) if s is None else s, len(y)
    sign, lam, a, M = kind.sign(y), 1 / (C * m), np.zeros(X.shape[1]), 0.0
    late = math.ceil(2 * np.max(s * (X * X).sum(axis=1)) / lam) if loss.startswith("squared") else 0
    for t, k in enumerate(sequence, start=late):
        z = sign[k] * (X[k] @ a) / (lam * t) if t > 0 else 0.0
        q = float(kind.slope(z, y[k], epsilon))
        a, M = a + q * s[k] * sign[k] * X[k], M + float(s[k] * kind.dual(np.float64(q), y[k], epsilon))
        T, rest = divmod(t + 1 - late, m)
        u = C / max(T, 1) * a
        yield a / (lam * (t + 1)), C * M / T - 0.5 * float(u @ u) if rest == 0 else None
