"""S4: Cotter, Shalev-Shwartz, Srebro, "The Kernelized Stochastic Batch Perceptron", and what it compares with."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers, onto_ball, sub_gradient


def perceptron(X: Floats, y: Floats, sequence: RowNumbers, *, s: Floats | None = None) -> Iterator[Floats]:
    """The Perceptron (section 4.5): a row on which w errs, y_i <w, x_i> <= 0, is added to w.

    Parameters
    ----------
    sequence : array of shape (T,)
        The row numbers in the order of visits: one pass for the online Perceptron, or several.
    s : array of shape (m,), optional
        The rows' weights, with which they are added; all 1 when not given.

    Yields
    ------
    array of shape (d,)
        w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in perceptron(X, y, np.array([0, 1, 0])):
    ...     print(w)
    [0. 0.]
    [1. 0.]
    [ 0. -2.]
    [ 1. -2.]
    """
    s = np.ones(len(y)) if s is None else s
    w = np.zeros(X.shape[1])
    yield w
    for i in sequence:
        if y[i] * (X[i] @ w) <= 0:
            w = w + s[i] * y[i] * X[i]
        yield w


def norm_ball(X: Floats, y: Floats, B: float, batches: RowNumbers, *, s: Floats | None = None) -> Iterator[Floats]:
    """SGD on the average hinge loss under ||w|| <= B (section 4.2).

    ``w_{t+1}`` is the point of the ball nearest to ``w_t + eta_t v_t``, v_t the mean of y_i x_i over the batch's rows
    with a loss, row i counted ``m s_i / sum(s)`` times. The paper gives no step size; this is Zinkevich's,
    ``eta_t = B / (R sqrt(t))`` with R the largest norm of a row.

    Parameters
    ----------
    B : float
        The radius of the ball.

    Yields
    ------
    array of shape (d,)
        w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in norm_ball(X, y, 1.0, np.array([[0], [1], [1]])):
    ...     print(w.round(3))
    [0. 0.]
    [0.5 0. ]
    [ 0.5   -0.707]
    [ 0.5   -0.707]
    """
    s = np.ones(len(y)) if s is None else s
    w, R = np.zeros(X.shape[1]), np.linalg.norm(X, axis=1).max()
    yield w
    for t, A_t in enumerate(batches, start=1):
        v_t = -sub_gradient(X, y, s, 0.0, w, A_t)  # without a regulariser
        w = onto_ball(w + B / (R * np.sqrt(t)) * v_t, 1 / B**2)
        yield w


def kernel_perceptron(K: Floats, y: Floats, sequence: RowNumbers, s: Floats | None = None) -> Iterator[Floats]:
    """The Perceptron with a kernel: ``w = sum_j beta_j phi(x_j)``, and an error at row i adds s_i y_i to beta_i.

    Parameters are those of :func:`perceptron`, with the kernel matrix in place of the rows. Yields the beta of
    w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> for beta in kernel_perceptron(X @ X.T, y, np.array([0, 1, 0])):
    ...     print(beta)
    [0. 0.]
    [1. 0.]
    [ 1. -1.]
    [ 2. -1.]
    """
    s = np.ones(len(y)) if s is None else s
    beta = np.zeros(len(y))
    yield beta
    for i in sequence:
        if y[i] * (K[i] @ beta) <= 0:
            beta = beta.copy()
            beta[i] += s[i] * y[i]
        yield beta


def water_level(c: Floats, volume: float, s: Floats | None = None) -> float:
    """The gamma with ``sum_i s_i max(0, gamma - c_i) = volume`` (section 3.2): how high water stands over the c_i.

    Examples
    --------
    >>> import numpy as np
    >>> water_level(np.array([3.0, 0.0, 1.0]), 3.0)
    2.0
    >>> water_level(np.array([3.0, 0.0, 1.0]), 0.0)
    0.0
    """
    s = np.ones(len(c)) if s is None else s
    order = np.flatnonzero(s > 0)[np.argsort(c[s > 0])]
    floor, under = c[order], np.cumsum(s[order])
    needed = np.cumsum(np.concatenate([[0.0], under[:-1] * np.diff(floor)]))  # to reach each floor
    i = np.flatnonzero(needed <= volume)[-1]
    return float(floor[i] + (volume - needed[i]) / under[i])


def class_levels(c: Floats, y: Floats, volume: float, s: Floats) -> tuple[float, float]:
    """The levels over the c_i of the positive and of the negative class that have the largest sum, for one volume.

    A level rises by one unit for as much water as there is weight under it, so the one with less is raised, up to the
    next floor, until the water is used up.
    """
    floors, weights = [], []
    for own in (y > 0, y < 0):
        floor, place = np.unique(c[own & (s > 0)], return_inverse=True)
        floors.append(np.append(floor, np.inf))
        weights.append(np.bincount(place, s[own & (s > 0)]))
    level, under, reached = [floors[0][0], floors[1][0]], [weights[0][0], weights[1][0]], [0, 0]
    while True:
        k = 1 if under[1] < under[0] else 0
        above = floors[k][reached[k] + 1]
        cost = under[k] * (above - level[k])
        if cost >= volume:
            level[k] += volume / under[k]
            return float(level[0]), float(level[1])
        volume -= cost
        level[k] = above
        reached[k] += 1
        under[k] += weights[k][reached[k]]


def water_level_with_bias(c: Floats, y: Floats, volume: float, s: Floats | None = None) -> tuple[float, float]:
    """The largest water level over the ``c_i + y_i b``, and the middle one of the b that have it (section 3.6).

    Examples
    --------
    >>> import numpy as np
    >>> water_level_with_bias(np.array([-1.0, 0.0, 3.0]), np.array([1.0, 1.0, -1.0]), 0.0)
    (1.0, 2.0)
    """
    s = np.ones(len(c)) if s is None else s
    x, z = class_levels(c, y, volume, s)
    # What the one level rises and the other sinks, from response to response, where that takes no more water.
    there = s > 0
    shifts = np.append(np.where(y > 0, c - x, z - c)[there], 0.0)
    depths = np.where(y > 0, x + shifts[:, None], z - shifts[:, None]) - c
    needed = np.maximum(depths[:, there], 0) @ s[there]
    free = shifts[needed <= volume + 1e-12 * (volume + np.abs(c[there]).max() * s.sum())]
    shift = (free.min() + free.max()) / 2
    return (x + z) / 2, (z - x) / 2 - float(shift)


def margin(K: Floats, y: Floats, beta: Floats, b: float, nu: float, s: Floats | None = None) -> float:
    """The margin of a machine: of the multiples of w in the unit ball that nu allows, ``gamma * mean loss <= nu``.

    Examples
    --------
    >>> import numpy as np
    >>> K, y = np.eye(2), np.array([1.0, -1.0])
    >>> round(margin(K, y, y, 0.0, 0.1), 4), margin(K, y, y / 2, 0.0, 0.1)
    (0.7071, 0.2)
    """
    f = K @ beta
    loss = np.average(np.maximum(0, 1 - y * (f + b)), weights=s)
    inside = float(1 / np.sqrt(beta @ f))
    return min(inside, nu / float(loss)) if loss > 0 else inside


def acceptances(c: Floats, y: Floats, volume: float, s: Floats, bias: bool) -> Floats:
    """The minimax distribution p at responses c (section 3.1), in terms of how often a row drawn uniformly is taken.

    It is uniform under the level. With an intercept as much weight is under the level of one class as of the other, for
    which rows exactly at it are taken with a part of their weight.
    """
    levels = class_levels(c, y, volume, s) if bias else (water_level(c, volume, s),)
    classes = [(y > 0) & (s > 0), (y < 0) & (s > 0)] if bias else [s > 0]
    weight = min(s[own & (c <= level)].sum() for own, level in zip(classes, levels, strict=True))
    share = np.zeros(len(c))
    for own, level in zip(classes, levels, strict=True):
        below, here = own & (c < level), own & (c == level)
        share[below] = 1.0
        if here.any():
            share[here] = min(max((weight - s[below].sum()) / s[here].sum(), 0.0), 1.0)
    return share * s / s.max()


def draw(draws: Iterator[tuple[int, float]], accepted: Floats) -> int | None:
    """The first row proposed that is taken; after 256 that are not, one of all rows. None where proposals end."""
    for i, uniform in islice(draws, 256):
        if uniform < accepted[i]:
            return i
    sums = np.cumsum(accepted)
    return next((int(np.searchsorted(sums, uniform * sums[-1], side="right")) for _, uniform in draws), None)


def sbp(
    K: Floats,
    y: Floats,
    nu: float,
    proposals: RowNumbers,
    uniforms: Floats,
    *,
    s: Floats | None = None,
    bias: bool = False,
) -> Iterator[Floats]:
    """The Stochastic Batch Perceptron (Algorithm 1): ascent on the margin that w has with slack nu, ||w|| <= 1.

    Step t draws j from the minimax distribution, by rejection, and makes ``w <- w + y_j phi(x_j) / (R sqrt(t))``, R the
    largest norm of a phi(x_i), which S4 takes to be 1, then goes back to the unit ball. What it returns is the mean
    of w^(1), ..., w^(T), divided by its own water level.

    Parameters
    ----------
    nu : float
        The mean slack allowed.
    proposals, uniforms : arrays of shape (N,)
        Rows proposed, and the numbers in [0, 1) that decide whether they are taken. The steps end with them.
    bias : bool
        Whether there is an intercept.

    Yields
    ------
    array of shape (m,)
        alpha^(t) y, the coefficients of w^(t), for t = 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> K, y = np.eye(2), np.array([1.0, -1.0])
    >>> for beta in sbp(K, y, 0.0, np.array([0, 0, 1]), np.array([0.5, 0.5, 0.5])):
    ...     print(beta.round(3))
    [0. 0.]
    [1. 0.]
    [ 0.816 -0.577]
    """
    s = np.ones(len(y)) if s is None else s
    draws = zip(map(int, proposals), map(float, uniforms), strict=True)
    beta, t, R = np.zeros(len(y)), 0, float(np.sqrt(K.diagonal().max()))
    yield beta
    while (j := draw(draws, acceptances(y * (K @ beta), y, nu * s.sum(), s, bias))) is not None:
        t += 1
        beta = beta.copy()
        beta[j] += y[j] / (R * np.sqrt(t))
        beta /= max(1.0, float(np.sqrt(beta @ K @ beta)))
        yield beta
