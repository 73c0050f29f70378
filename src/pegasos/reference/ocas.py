"""The optimised cutting-plane algorithm.

V. Franc and S. Sonnenburg, Optimized cutting plane algorithm for support vector machines, 2008. Without its line search
it is the cutting-plane algorithm of T. Joachims, Training linear SVMs in linear time, 2006 (SVM-Perf).
"""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats

MU = 0.1
#: Margins that are 1 but for rounding.
CORNER = 1e-12


def ocas(
    X: Floats, y: Floats, C: float, iterations: int, *, s: Floats | None = None, line_search: bool = True
) -> Iterator[tuple[Floats, Floats]]:
    """Planes below the loss in place of it, one more in each iteration.

    A plane has errors ``q`` in {0, 1}: ``a = C sum_i s_i q_i y_i x_i`` and ``b = C sum_i s_i q_i``. The reduced problem
    is to minimise ``1/2 ||w||^2 + max_k (b_k - <a_k, w>)`` over the planes, the first of which is zero.

    Parameters
    ----------
    C : float
        What a unit of loss costs.
    iterations : int
        How many planes to add.
    s : array of shape (m,), optional
        The rows' weights; all 1 when not given.
    line_search : bool, default=True
        Whether the best point comes from a line search, and the next plane is taken close to it; otherwise at the
        solution of the reduced problem.

    Yields
    ------
    w, q : arrays of shape (d,) and (m,)
        The best weights, and the dual point that the shares of the planes make, after 1, 2, ..., `iterations` planes.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> *_, (w, q) = ocas(X, y, 1.0, 6)
    >>> bool(np.allclose(q, [1.0, 0.4])), bool(np.allclose(w, [0.6, -0.8]))
    (True, True)
    """
    A, c = X * y[:, None], C * (np.ones(len(y)) if s is None else s)

    def objective(w: Floats) -> float:
        return float(0.5 * w @ w + c @ np.maximum(0.0, 1 - A @ w))

    best = touch = np.zeros(X.shape[1])
    errors, shares = np.zeros((1, len(y))), np.ones(1)
    for _ in range(iterations):
        errors = np.vstack([errors, (A @ touch < 1 - CORNER) & (c > 0)])
        planes, heights = (c * errors) @ A, errors @ c
        shares = best_shares(planes @ planes.T, heights, np.append(shares, 0.0))
        w = shares @ planes
        if line_search:
            best = best + best_step(A, c, best, w) * (w - best)
            touch = best + MU * (w - best)
        else:
            best, touch = min(best, w, key=objective), w
        yield best, shares @ errors


def best_shares(H: Floats, b: Floats, shares: Floats) -> Floats:
    """Maximise ``<b, shares> - 1/2 <shares, H shares>`` over shares >= 0 of sum 1, from some such shares on.

    Planes come into use one at a time, that of the largest slope first; the best shares of those in use solve linear
    equations. Where some are negative, the way there ends at the first bound, and that plane falls out of use. Planes
    that depend on one another make H singular, hence a ridge.

    Examples
    --------
    >>> import numpy as np
    >>> shares = best_shares(np.diag([0.0, 2.0, 4.0]), np.array([0.0, 1.0, 3.0]), np.array([1.0, 0.0, 0.0]))
    >>> bool(np.allclose(shares, [0, 1 / 3, 2 / 3]))
    True
    """
    shares, used = shares.copy(), shares > 0
    scale = max(float(H.diagonal().max()), 1e-300)
    for _ in range(100 * len(b)):
        n = used.sum()
        inner = H[np.ix_(used, used)] / scale + 1e-12 * np.eye(n)
        system = np.block([[inner, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        wanted = shares.copy()
        for _ in range(3):  # the later ones take back what the ridge did
            wanted[used] += np.linalg.solve(system, np.append((b - H @ wanted)[used] / scale, 0.0))[:-1]
        if wanted.min() < 0:
            ways = np.full(len(b), np.inf)
            np.divide(shares, shares - wanted, out=ways, where=wanted < 0)
            first = int(ways.argmin())
            shares = np.maximum(shares + ways[first] * (wanted - shares), 0.0)
            shares[first], used[first] = 0.0, False
            continue
        shares, slopes = wanted, b - H @ wanted
        new = int(np.where(used, -np.inf, slopes).argmax())
        if used.all() or slopes[new] <= shares @ slopes + 1e-13 * np.abs(b).max():
            break
        used[new] = True
    return shares


def best_step(A: Floats, c: Floats, w: Floats, towards: Floats) -> float:
    """The k >= 0 at which ``1/2 ||v||^2 + sum_i c_i max(0, 1 - <a_i, v>)`` is least on ``v = w + k (towards - w)``.

    Its derivative grows by the jumps ``c_i |dz_i|`` where a margin passes through 1, and in between by ``||d||^2`` per
    unit.

    Examples
    --------
    >>> import numpy as np
    >>> best_step(np.array([[1.0]]), np.array([10.0]), np.zeros(1), np.array([4.0]))
    0.25
    """
    d = towards - w
    z, dz = A @ w, A @ d
    slope = float(w @ d - c @ (dz * ((z < 1) | ((z == 1) & (dz < 0)))))
    crosses = (1 - z) * dz > 0
    k, jump = (1 - z[crosses]) / dz[crosses], c[crosses] * np.abs(dz[crosses])
    before, square = 0.0, float(d @ d)
    if slope >= 0:
        return 0.0
    for at, by in sorted(zip(k.tolist(), jump.tolist(), strict=True)):
        if slope + square * (at - before) >= 0:
            break
        slope, before = slope + square * (at - before), at
        if slope + by >= 0:
            return at
        slope += by
    return before - slope / square
