"""Mehrotra's predictor-corrector method.

S. Mehrotra, On the implementation of a primal-dual interior point method, 1992. The linear equations of a step are
reduced to the size of w, as by the Sherman-Morrison-Woodbury formula in M. Ferris and T. Munson, Interior-point methods
for massive support vector machines, 2002.
"""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats


def interior_point(
    X: Floats, y: Floats, C: float, iterations: int, *, s: Floats | None = None, free: bool = False
) -> Iterator[tuple[Floats, Floats]]:
    """Follow the central path: ``alpha p = beta xi = mu``, mu falling to zero.

    The problem is to minimise ``1/2 w' R w + sum_i c_i xi_i`` where ``y_i <w, x_i> - 1 + xi_i = p_i`` and xi, p >= 0.
    alpha and ``beta = c - alpha`` are the multipliers of p >= 0 and xi >= 0, and ``R w = sum_i alpha_i y_i x_i``.

    Parameters
    ----------
    C : float
        What a unit of loss costs; ``c = C s``.
    iterations : int
        How many steps to make.
    s : array of shape (m,), optional
        The rows' weights, positive; all 1 when not given.
    free : bool, default=False
        Whether the last entry of w is left out of the norm: R is the identity, without its last entry.

    Yields
    ------
    alpha, w : arrays of shape (m,) and (d,)
        After 0, 1, ..., `iterations` steps.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> *_, (alpha, w) = interior_point(X, y, 1.0, 5)
    >>> bool(np.allclose(alpha, [1.0, 0.4], atol=1e-3)), bool(np.allclose(w, [0.6, -0.8], atol=1e-3))
    (True, True)
    """
    A = X * y[:, None]
    c = C * (np.ones(len(y)) if s is None else s)
    R = np.ones(X.shape[1])
    R[-1] = not free
    w, alpha, beta = np.zeros(X.shape[1]), c / 2, c / 2
    p, xi = np.full(len(y), 0.5), np.full(len(y), 1.5)
    yield alpha, w
    for _ in range(iterations):
        _, dalpha, dp, dxi = newton_step(A, R, w, alpha, beta, p, xi, np.zeros(len(y)), np.zeros(len(y)))
        t = min(1.0, way_to_bound(alpha, beta, p, xi, dalpha, dp, dxi))
        products = alpha @ p + beta @ xi
        left = (alpha + t * dalpha) @ (p + t * dp) + (beta - t * dalpha) @ (xi + t * dxi)
        target = (left / products) ** 3 * products / (2 * len(y))
        to_p, to_xi = (target - dalpha * dp) / alpha, (target + dalpha * dxi) / beta
        dw, dalpha, dp, dxi = newton_step(A, R, w, alpha, beta, p, xi, to_p, to_xi)
        t = min(1.0, 0.995 * way_to_bound(alpha, beta, p, xi, dalpha, dp, dxi))
        w, alpha, beta = w + t * dw, alpha + t * dalpha, beta - t * dalpha
        p, xi = p + t * dp, xi + t * dxi
        yield alpha, w


def newton_step(
    A: Floats, R: Floats, w: Floats, alpha: Floats, beta: Floats, p: Floats, xi: Floats, to_p: Floats, to_xi: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """The changes of w, alpha, p and xi that aim at the products ``alpha to_p`` and ``beta to_xi``."""
    D = 1 / (p / alpha + xi / beta)
    M = np.diag(R) + A.T @ (D[:, None] * A)
    h = 1 - A @ w + to_p - to_xi
    right = A.T @ alpha - R * w + A.T @ (D * h)
    scale = 1 / np.sqrt(np.diag(M))
    dw = scale * np.linalg.solve(M * np.outer(scale, scale), scale * right)
    dalpha = D * (h - A @ dw)
    return dw, dalpha, to_p - p - p * dalpha / alpha, to_xi - xi + xi * dalpha / beta


def way_to_bound(alpha: Floats, beta: Floats, p: Floats, xi: Floats, dalpha: Floats, dp: Floats, dxi: Floats) -> float:
    """How many times the step until the first of alpha, beta, p and xi is zero; beta changes by -dalpha."""
    return float(1 / max(np.max(-dalpha / alpha), np.max(dalpha / beta), np.max(-dp / p), np.max(-dxi / xi)))
