"""Learning from a stream: each row is met once, and what is kept does not grow with their number.

Of the rows met it minimises ``lam/2 ||w||^2 + 1/W sum_t s_t loss(z_t)``, W the weight met. With weights 1 it is Pegasos
(S0 Fig. 1) with the rows in the order they come.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pegasos.reference.losses import LOSSES
from pegasos.reference.s0 import Floats, RowNumbers


class Step(NamedTuple):
    """What is known after some rows.

    Parameters
    ----------
    w : array of shape (d,)
        The iterate.
    bound : float
        A true lower bound on the objective of the rows met.
    loss, errors : float
        Sums over the rows met, each times its weight, of what the iterate before the row's step predicted: the loss;
        wrong signs, or in regression squared errors.
    """

    w: Floats
    bound: float
    loss: float
    errors: float


def pegasos_stream(
    loss: str,
    X: Floats,
    y: Floats,
    lam: float,
    order: RowNumbers,
    *,
    s: Floats | None = None,
    project: bool = False,
    epsilon: float = 0.0,
) -> Iterator[Step]:
    """Pegasos with the weight met in the place of t: ``w <- (1 - s/W) w + s/(lam W) slope y x``.

    ``a = sum s slope y x = lam W w`` and ``M = sum s dual(slope)`` give S3's bound ``M/W - ||a||^2/(2 lam W^2)``. A
    projection shrinks both. A loss without a bound on its slopes raises W by `idle`, as by rows without a loss, before
    a step that would overshoot.

    Yields
    ------
    Step
        After 0, 1, ..., T rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for step in pegasos_stream("hinge", X, y, 0.5, np.array([0, 1]), s=np.array([1.0, 3.0])):
    ...     print(step.w, round(step.bound, 3), step.loss)
    [0. 0.] 0.0 0.0
    [2. 0.] 0.0 1.0
    [ 0.5 -3. ] -1.312 4.0
    """
    kind, s = LOSSES[loss], np.ones(len(y)) if s is None else s
    sign, w = kind.sign(y), np.zeros(X.shape[1])
    W, idle, M, at_zero, losses, errors = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    yield Step(w, 0.0, losses, errors)
    for i in order:
        score = float(X[i] @ w)
        z = sign[i] * score
        losses += s[i] * float(kind.value(z, y[i], epsilon))
        errors += s[i] * float((score - y[i]) ** 2 if kind.regression else (score > 0) != (y[i] > 0))
        q = float(kind.slope(z, y[i], epsilon))
        least = 2 * s[i] * float(X[i] @ X[i]) / lam - s[i]
        if loss.startswith("squared") and q != 0 and least > W:
            w, idle, W = W / least * w, idle + least - W, least
        W += s[i]
        w = (1 - s[i] / W) * w + s[i] / (lam * W) * q * sign[i] * X[i]
        M += s[i] * float(kind.dual(np.float64(q), y[i], epsilon))
        if project:
            at_zero += s[i] * float(kind.value(0.0, y[i], epsilon))
            factor = min(1.0, math.sqrt(at_zero / (lam * (W - idle))) / max(float(np.linalg.norm(w)), 1e-300))
            w, M = factor * w, factor * M
        met, a = W - idle, lam * W * w
        yield Step(w, M / met - float(a @ a) / (2 * lam * met**2), losses, errors)


def adagrad_stream(
    loss: str, X: Floats, y: Floats, eta: float, order: RowNumbers, *, s: Floats | None = None, epsilon: float = 0.0
) -> Iterator[Floats]:
    """AdaGrad (Duchi, Hazan and Singer 2011, the diagonal update without a norm), one row at a step.

    Yields
    ------
    array of shape (d,)
        w after 0, 1, ..., T rows.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.5, 2.0]]), np.array([1.0, -1.0])
    >>> for w in adagrad_stream("hinge", X, y, 0.5, np.array([0, 1])):
    ...     print(w.round(3))
    [0. 0.]
    [0.5 0. ]
    [ 0.276 -0.5  ]
    """
    kind, s = LOSSES[loss], np.ones(len(y)) if s is None else s
    sign, w, G = kind.sign(y), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    yield w
    for i in order:
        g = float(kind.slope(sign[i] * (X[i] @ w), y[i], epsilon)) * sign[i] * X[i]
        G = G + s[i] * g * g
        w = w + eta * s[i] * g / np.sqrt(np.where(G > 0, G, 1.0))
        yield w
