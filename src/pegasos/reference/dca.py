"""Dual coordinate ascent: S0's "stochastic DCA", S3's "DCD", S4's "SDCA" (section 4.4); Hsieh and others, 2008."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers


def dca(
    X: Floats,
    y: Floats,
    C: float,
    sequence: RowNumbers,
    *,
    s: Floats | None = None,
    b: float = 0.0,
    w: Floats | None = None,
    sigma: float = 1.0,
) -> Iterator[tuple[Floats, Floats]]:
    """Maximise the dual (S0 eq. 15) along one alpha_i at a time, exactly.

    ``alpha_i <- alpha_i + (1 - y_i <w, x_i>) / ||x_i||^2``, cut to [0, C s_i], where ``w = sum_i alpha_i y_i x_i``.

    Parameters
    ----------
    b : float, optional
        An intercept that stays as it is: margins are ``y_i (<w, x_i> + b)``.
    w : array of shape (d,), optional
        Where w begins, when these rows are a part of more; zero when not given.
    sigma : float, optional
        By how much curvature is overestimated, and changes of w with it (CoCoA+), when others work on other rows.

    Yields
    ------
    alpha, w : arrays of shape (m,) and (d,)
        After 0, 1, ..., T visits.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> for alpha, w in dca(X, y, 1.0, np.array([0, 1, 0])):
    ...     print(alpha, w)
    [0. 0.] [0. 0.]
    [1. 0.] [1. 0.]
    [1.  0.4] [ 0.6 -0.8]
    [1.  0.4] [ 0.6 -0.8]
    """
    s = np.ones(len(y)) if s is None else s
    alpha, w = np.zeros(len(y)), np.zeros(X.shape[1]) if w is None else w
    yield alpha, w
    for i in sequence:
        alpha, box, square = alpha.copy(), C * s[i], sigma * (X[i] @ X[i])
        before, slack = alpha[i], 1 - y[i] * (X[i] @ w + b)
        if square > 0:
            alpha[i] = min(max(before + slack / square, 0.0), box)
        else:  # an empty row always has a loss of 1
            alpha[i] = box
        w = w + sigma * (alpha[i] - before) * y[i] * X[i]
        yield alpha, w


def kernel_sdca(
    K: Floats, t: Floats, lo: Floats, hi: Floats, row: RowNumbers, sequence: RowNumbers
) -> Iterator[Floats]:
    """The same with a kernel: maximise ``sum_v t_v beta_v - 1/2 sum_vw beta_v beta_w K_vw`` along one beta_v at a time.

    Variable v belongs to example ``row[v]``. Hinge loss: one each, ``t = y``, ``y beta`` from 0 to ``C s``.
    Epsilon-insensitive loss: two each, ``t = y - epsilon`` with beta from 0 to ``C s``, and ``t = y + epsilon`` with
    beta from ``-C s`` to 0.

    Parameters
    ----------
    t, lo, hi : arrays of shape (n,)
        The variables' targets and bounds.
    row : array of shape (n,)
        Their examples.
    sequence : array of shape (T,)
        The variables in the order of visits.

    Yields
    ------
    array of shape (n,)
        beta after 0, 1, ..., T visits.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> for beta in kernel_sdca(X @ X.T, y, np.minimum(y, 0), np.maximum(y, 0), np.arange(2), np.array([0, 1, 0])):
    ...     print(beta)
    [0. 0.]
    [1. 0.]
    [ 1.  -0.4]
    [ 1.  -0.4]
    """
    beta = np.zeros(len(t))
    yield beta
    for v in sequence:
        i = row[v]
        slope = t[v] - K[i, row] @ beta
        beta = beta.copy()
        beta[v] = min(max(beta[v] + slope / max(K[i, i], 1e-12), lo[v]), hi[v])
        yield beta
