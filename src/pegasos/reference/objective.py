"""The value of the problem and of its dual, evaluated from their definitions.

The problem is to minimise ``1/2 ||w||^2 + C sum_i s_i max(0, 1 - y_i <w, x_i>)``; its dual, to maximise
``sum_i alpha_i - 1/2 ||sum_i alpha_i y_i x_i||^2`` over ``0 <= alpha_i <= C s_i`` (S0 eq. 14 and 15). Any dual value
is at most any primal value.
"""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def primal(X: Floats, y: Floats, s: Floats, C: float, w: Floats) -> float:
    """The value of the problem at a weight vector.

    Parameters
    ----------
    w : array of shape (d,)
        The weight vector.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> X, y, s = np.array([[1.0], [3.0]]), np.array([1.0, -1.0]), np.ones(2)
    >>> primal(X, y, s, 0.5, np.zeros(1))
    1.0
    """
    losses = np.maximum(0.0, 1.0 - y * (X @ w))
    return 0.5 * math.fsum(w * w) + C * math.fsum(s * losses)


def dual(X: Floats, y: Floats, s: Floats, C: float, alpha: Floats) -> float:
    """The value of the dual: a lower bound on every primal value, or minus infinity where alpha is not feasible.

    Parameters
    ----------
    X, y, s, C
        The problem, as for :func:`primal`.
    alpha : array of shape (m,)
        The dual variables.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> X, y, s = np.array([[1.0], [3.0]]), np.array([1.0, -1.0]), np.ones(2)
    >>> dual(X, y, s, 0.5, np.array([0.5, 0.25]))
    0.71875
    >>> dual(X, y, s, 0.5, np.array([0.5, 0.75]))
    -inf
    """
    if np.any(alpha < 0) or np.any(alpha > C * s):
        return -math.inf
    u = X.T @ (alpha * y)
    return math.fsum(alpha) - 0.5 * math.fsum(u * u)
