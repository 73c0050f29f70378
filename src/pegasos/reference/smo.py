"""Sequential minimal optimisation with second-order choice of the pair: Fan, Chen, Lin, 2005."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers

#: The least curvature: along a direction that is flat, a step goes to the bound.
TINY = 1e-12


def smo(K: Floats, t: Floats, lo: Floats, hi: Floats, row: RowNumbers, steps: int, pairs: bool) -> Iterator[Floats]:
    """Maximise ``sum_v t_v beta_v - 1/2 sum_vw beta_v beta_w K_vw`` by the steps that promise most.

    With an intercept (`pairs`) the beta sum to zero, and a step moves two, beta_i up and beta_j down: i has the largest
    slope u of those that may grow, and j, of those that may shrink, the largest gain by the estimate
    ``(u_i - u_j)^2 / (K_ii + K_jj - 2 K_ij)``. Without one a step moves the variable that gains most. Either is exact,
    up to the bounds.

    Parameters
    ----------
    t, lo, hi : arrays of shape (n,)
        The variables' targets and bounds.
    row : array of shape (n,)
        Their examples.
    steps : int
        How many to make; fewer where nothing moves.
    pairs : bool
        Whether there is an intercept.

    Yields
    ------
    array of shape (n,)
        beta after 0, 1, ... steps.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    >>> for beta in smo(X @ X.T, y, np.minimum(y, 0), np.maximum(y, 0), np.arange(3), 2, pairs=True):
    ...     print(beta)
    [0. 0. 0.]
    [ 0.5 -0.5  0. ]
    [ 0.  -0.5  0.5]
    """
    Q = K[np.ix_(row, row)]
    beta = np.zeros(len(t))
    yield beta
    for _ in range(steps):
        u = t - Q @ beta
        chosen = best_pair(Q, u, lo, hi, beta) if pairs else best_single(Q, u, lo, hi, beta)
        if chosen is None:
            return
        beta = beta.copy()
        for v, delta in chosen:
            end = hi[v] if delta > 0 else lo[v]
            beta[v] = end if delta == end - beta[v] else beta[v] + delta
        yield beta


def best_pair(Q: Floats, u: Floats, lo: Floats, hi: Floats, beta: Floats) -> list[tuple[int, float]] | None:
    """i and j with their changes; None at the optimum."""
    i = int(np.argmax(np.where(beta < hi, u, -np.inf)))
    curvature = np.maximum(Q[i, i] + Q.diagonal() - 2 * Q[i], TINY)
    gain = np.where((beta > lo) & (u < u[i]), (u[i] - u) ** 2 / curvature, 0.0)
    j = int(np.argmax(gain))
    delta = min((u[i] - u[j]) / curvature[j], hi[i] - beta[i], beta[j] - lo[j])
    return [(i, delta), (j, -delta)] if gain[j] > 0 and beta[i] < hi[i] else None


def best_single(Q: Floats, u: Floats, lo: Floats, hi: Floats, beta: Floats) -> list[tuple[int, float]] | None:
    """The variable with its change; None at the optimum."""
    curvature = np.maximum(Q.diagonal(), TINY)
    delta = np.clip(u / curvature, lo - beta, hi - beta)
    gain = delta * (u - curvature * delta / 2)
    i = int(np.argmax(gain))
    return [(i, float(delta[i]))] if gain[i] > 0 else None


def joint_step(K: Floats, t: Floats, lo: Floats, hi: Floats, beta: Floats, pairs: bool) -> Floats:
    """beta after Newton's step of all variables between their bounds, as far as the first bound.

    ``K_FF d = u_F``, with an intercept (`pairs`) ``K_FF d = u_F - b`` with the b for which the d sum to zero.

    Examples
    --------
    >>> import numpy as np
    >>> K, t, beta = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0]), np.array([0.1, 0.1])
    >>> joint_step(K, t, np.zeros(2), np.full(2, 3.0), beta, pairs=False)
    array([0., 1.])
    """
    free = np.flatnonzero((beta > lo) & (beta < hi))
    u, K_FF = (t - K @ beta)[free], K[np.ix_(free, free)]
    d = np.linalg.solve(K_FF, u)
    if pairs:
        y = np.linalg.solve(K_FF, np.ones(len(free)))
        d = d - d.sum() / y.sum() * y
    room = np.where(d > 0, hi[free] - beta[free], beta[free] - lo[free])
    first = int(np.argmin(room / np.abs(d)))
    length = min(1.0, float(room[first] / abs(d[first])))
    beta = beta.copy()
    beta[free] += length * d
    if length < 1:
        beta[free[first]] = hi[free[first]] if d[first] > 0 else lo[free[first]]
    return beta
