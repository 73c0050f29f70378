"""All classes in one problem: Crammer and Singer's hinge loss with costs, and the log loss of a softmax (S0 section 5).

The problem is to minimise ``1/2 ||W||^2 + C sum_i s_i l(f_i, y_i)``, where ``f_i = x_i W`` are the K scores of row i
and y_i in 0, ..., K - 1 its class:

- "hinge": ``l(f, y) = max_k (cost_yk + f_k) - f_y``, with cost_yk >= 0 and cost_yy = 0;
- "log_loss": ``l(f, y) = log sum_k exp(f_k) - f_y``.

Its dual is to maximise ``C sum_i s_i g(p_i) - 1/2 ||U||^2``, ``U = sum_i C s_i x_i' (e_{y_i} - p_i)``, over p_i in the
simplex, with ``g(p) = <cost_y, p>`` for the hinge loss and the entropy of p for the log loss.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax, wrightomega, xlogy

from pegasos.reference.s0 import Floats, RowNumbers
from pegasos.reference.s3 import State

Labels = RowNumbers  # numbers of classes


def zero_one(K: int) -> Floats:
    """Costs of Crammer and Singer: 1 for every wrong class.

    Examples
    --------
    >>> zero_one(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1 - np.eye(K)


def losses(F: Floats, y: Labels, loss: str, cost: Floats) -> Floats:
    """l(f_i, y_i), given the scores of the rows."""
    own = F[np.arange(len(y)), y]
    if loss == "hinge":
        return (cost[y] + F).max(axis=1) - own
    return logsumexp(F, axis=1) - own


def slope(f: Floats, y: int, loss: str, cost: Floats) -> Floats:
    """The p in the simplex for which p - e_y is a sub-gradient of l in f; for the hinge loss e_y where it is one."""
    if loss == "log_loss":
        return softmax(f)
    g = cost[y] + f
    return np.eye(len(f))[y if g[y] == g.max() else np.argmax(g)]


def primal(X: Floats, y: Labels, s: Floats, C: float, W: Floats, loss: str, cost: Floats) -> float:
    """The value of the problem at W.

    Examples
    --------
    >>> import numpy as np
    >>> X, y, s = np.array([[1.0], [3.0]]), np.array([0, 1]), np.ones(2)
    >>> primal(X, y, s, 0.5, np.zeros((1, 2)), "hinge", zero_one(2))
    1.0
    """
    return 0.5 * math.fsum((W * W).ravel()) + C * math.fsum(s * losses(X @ W, y, loss, cost))


def dual(X: Floats, y: Labels, s: Floats, C: float, P: Floats, loss: str, cost: Floats) -> float:
    """The value of the dual: a lower bound on every primal value, or minus infinity where P is not feasible.

    Examples
    --------
    >>> import numpy as np
    >>> X, y, s = np.array([[1.0], [3.0]]), np.array([0, 1]), np.ones(2)
    >>> dual(X, y, s, 0.5, np.array([[0.5, 0.5], [0.125, 0.875]]), "hinge", zero_one(2))
    0.30859375
    >>> dual(X, y, s, 0.5, np.array([[0.5, 0.5], [0.25, 0.5]]), "hinge", zero_one(2))
    -inf
    """
    if np.any(P < 0) or np.any(np.abs(P.sum(axis=1) - 1) > 1e-9):
        return -math.inf
    g = (cost[y] * P).sum(axis=1) if loss == "hinge" else -xlogy(P, P).sum(axis=1)
    U = X.T @ (C * s[:, None] * (np.eye(len(cost))[y] - P))
    return C * math.fsum(s * g) - 0.5 * math.fsum((U * U).ravel())


def onto_simplex(v: Floats) -> Floats:
    """The point of the simplex nearest to v: max(v - tau, 0), with the tau for which that sums to 1.

    Examples
    --------
    >>> import numpy as np
    >>> onto_simplex(np.array([0.5, 1.0, -3.0]))
    array([0.25, 0.75, 0.  ])
    """
    falling = np.sort(v)[::-1]
    taus = (np.cumsum(falling) - 1) / np.arange(1, len(v) + 1)
    tau = taus[falling > taus][-1]
    return np.maximum(v - tau, 0)


def best_p(p: Floats, f: Floats, y: int, a: float, loss: str, cost: Floats) -> Floats:
    """The q in the simplex that maximises g(q) + <f, q> - a/2 ||q - p||^2.

    For the hinge loss a projection. For the log loss ``log q_k + a q_k = f_k + a p_k - mu``, so ``a q_k`` is Wright's
    omega function of ``f_k + a p_k - mu + log a``, and mu makes the sum 1.

    Examples
    --------
    >>> import numpy as np
    >>> best_p(np.array([1.0, 0.0]), np.zeros(2), 0, 4.0, "hinge", zero_one(2))
    array([0.875, 0.125])
    >>> best_p(np.array([1.0, 0.0]), np.zeros(2), 0, 4.0, "log_loss", zero_one(2)).round(3)
    array([0.815, 0.185])
    """
    if loss == "hinge":
        g = cost[y] + f
        return onto_simplex(p + (g - g.max()) / a)
    c = f + a * p
    low, high = c.max() - a, logsumexp(c)  # where the largest q is 1, and where all are at most their share

    def q(mu: float) -> Floats:
        return wrightomega(c - mu + math.log(a)) / a

    mu = brentq(lambda mu: q(mu).sum() - 1, low - 1e-9, high + 1e-9, xtol=1e-15, rtol=1e-15)
    return q(mu) / q(mu).sum()


def joint_sdca(
    X: Floats, y: Labels, C: float, sequence: RowNumbers, *, loss: str, cost: Floats, s: Floats | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """Maximise the dual over one row's p_i at a time, exactly, from e_{y_i} each, for which W = 0.

    Parameters
    ----------
    y : array of shape (m,)
        Their classes.
    loss : {"hinge", "log_loss"}
        l.
    cost : array of shape (K, K)
        What it costs to take a row of the class of the line for one of the class of the column.

    Yields
    ------
    P, W : arrays of shape (m, K) and (d, K)
        After 0, 1, ..., T visits.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    >>> for P, W in joint_sdca(X, y, 1.0, np.array([0, 1]), loss="hinge", cost=zero_one(2)):
    ...     print(P.tolist(), W.tolist())
    [[1.0, 0.0], [0.0, 1.0]] [[0.0, 0.0]]
    [[0.5, 0.5], [0.0, 1.0]] [[0.5, -0.5]]
    [[0.5, 0.5], [0.375, 0.625]] [[-0.25, 0.25]]
    """
    s = np.ones(len(y)) if s is None else s
    P, W = np.eye(len(cost))[y], np.zeros((X.shape[1], len(cost)))
    yield P, W
    for i in sequence:
        a = C * s[i] * (X[i] @ X[i])
        before, P = P[i], P.copy()
        P[i] = best_p(before, X[i] @ W, int(y[i]), max(a, 1e-100), loss, cost)
        W = W - C * s[i] * np.outer(X[i], P[i] - before)
        yield P, W


def joint_pegasos(
    X: Floats,
    y: Labels,
    lam: float,
    batches: RowNumbers,
    *,
    loss: str,
    cost: Floats,
    s: Floats | None = None,
    project: bool = False,
) -> Iterator[Floats]:
    """Pegasos: W_{t+1} = (1 - 1/t) W_t + 1/(λ t) 1/k sum_{i in A_t} x_i' (e_{y_i} - p_i), p_i the slope of row i.

    Parameters
    ----------
    X, y, loss, cost, s
        As for :func:`joint_sdca`.
    lam : float
        λ; in terms of C, 1 / (C sum(s)).
    project : bool
        Whether every step ends with the projection onto the ball of radius r, r^2 = C sum_i s_i l(0, y_i).

    Yields
    ------
    array of shape (d, K)
        W_1, ..., W_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    >>> for W in joint_pegasos(X, y, 0.5, np.array([[0], [1]]), loss="hinge", cost=zero_one(2)):
    ...     print(W.tolist())
    [[0.0, 0.0]]
    [[2.0, -2.0]]
    [[-1.0, 1.0]]
    """
    m, K = len(y), len(cost)
    s = np.ones(m) if s is None else s
    E = np.eye(K)[y]
    radius = math.sqrt((s @ losses(np.zeros((m, K)), y, loss, cost)) / (lam * s.sum()))
    W = np.zeros((X.shape[1], K))
    yield W
    for t, A_t in enumerate(batches, start=1):
        P = np.array([slope(X[i] @ W, int(y[i]), loss, cost) for i in A_t])
        V_t = X[A_t].T @ ((m * s / s.sum())[A_t, None] * (E[A_t] - P)) / len(A_t)
        W = (1 - 1 / t) * W + 1 / (lam * t) * V_t
        norm = np.linalg.norm(W)
        if project and norm > radius:
            W = W * (radius / norm)
        yield W


def joint_sgd_s(
    X: Floats, y: Labels, C: float, sequence: RowNumbers, *, loss: str, cost: Floats, s: Floats | None = None
) -> Iterator[State]:
    """SGD-s (S3): A_{t+1} = A_t + s_k x_k' (e_{y_k} - p), p the slope of row k at W_t = A_t / (λ t), λ = 1/(C m).

    In place of the margin errors M is the sum of ``s_k g(p)``, ``g(p) = l(f, y_k) - <p - e_{y_k}, f>``. After T epochs
    W is the U of the rows' mean slopes, which are in the simplex, and by Jensen's inequality their dual value is at
    least ``L = C M / T - 1/2 ||W||^2``.

    Parameters
    ----------
    X, y, C, loss, cost, s
        As for :func:`joint_sdca`.
    sequence : array of shape (T * m,)
        The row numbers in the order of presentation: in every epoch each row once. The last epoch may be cut short.

    Yields
    ------
    State
        At the start and after each row, with A for S3's a and W for its w. At the end of an epoch it has the bound L
        and the estimate J of the objective from the losses met (footnote 5).

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    >>> for state in joint_sgd_s(X, y, 0.25, np.array([0, 1]), loss="hinge", cost=zero_one(2)):
    ...     print(state.t, state.w.tolist(), state.M, state.L, state.J)
    0 [[0.0, 0.0]] 0.0 None None
    1 [[0.5, -0.5]] 1.0 None None
    2 [[-0.25, 0.25]] 2.0 0.4375 1.0625
    """
    m, K = len(y), len(cost)
    s, E = np.ones(m) if s is None else s, np.eye(K)
    state, met = State(0, np.zeros((X.shape[1], K)), 1 / (C * m)), 0.0
    yield state
    for count, k in enumerate(sequence, start=1):
        f, y_k = X[k] @ state.w, int(y[k])
        p = slope(f, y_k, loss, cost)
        value = float(losses(f[None], y[[k]], loss, cost)[0])
        g = value - float((p - E[y_k]) @ f)
        A = state.a + s[k] * np.outer(X[k], E[y_k] - p)
        state, met = State(count, A, state.lam, state.M + float(s[k]) * g, state.T), met + float(s[k]) * value
        if count % m == 0:
            T, half_square = state.T + 1, float(np.sum(state.w**2)) / 2
            L, J = C * state.M / T - half_square, half_square + C * met
            state, met = State(count, state.a, state.lam, state.M, T, L, J), 0.0
        yield state
