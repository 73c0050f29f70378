"""Newton's method on the weights, for losses without corners.

S. Keerthi and D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, 2005.
C.-J. Lin, R. Weng and S. Keerthi, Trust region Newton method for large-scale logistic regression, 2008: only products
of the matrix with vectors are needed.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from pegasos.reference.losses import LOSSES
from pegasos.reference.s0 import Floats

#: Second derivatives, by the name of the loss; where one jumps, either value.
BENDS: dict[str, Callable[[Floats, Floats, float], Floats]] = {
    "squared_hinge": lambda z, y, epsilon: np.where(z < 1, 2.0, 0.0),
    "log_loss": lambda z, y, epsilon: 0.25 / np.cosh(z / 2) ** 2,
    "squared_epsilon_insensitive": lambda z, y, epsilon: np.where(np.abs(z - y) > epsilon, 2.0, 0.0),
    "huber": lambda z, y, epsilon: np.where(np.abs(z - y) <= epsilon, 1.0, 0.0),
}


def newton(
    loss: str,
    X: Floats,
    y: Floats,
    C: float,
    iterations: int,
    *,
    s: Floats | None = None,
    free: bool = False,
    epsilon: float = 0.0,
    exact: bool = True,
    tol: float = 0.0,
) -> Iterator[tuple[Floats, float]]:
    """Steps to where the parabola of the objective at w is least, cut short where the objective does not follow it.

    Parameters
    ----------
    loss : str
        One without corners.
    C : float
        What a unit of loss costs; ``c = C s``.
    iterations : int
        How many steps to make.
    s : array of shape (m,), optional
        The rows' weights; all 1 when not given.
    free : bool, default=False
        Whether the last entry of w is left out of the norm.
    epsilon : float, default=0.0
        The parameter of the loss.
    exact : bool, default=True
        Whether the equations of a step are solved exactly; otherwise by conjugate gradients.
    tol : float, default=0.0
        The gap that is wanted: conjugate gradients go no further than it takes.

    Yields
    ------
    w, gap : array of shape (d,), float
        After 1, ..., `iterations` steps; the gap is half the squared norm of the gradient, and what a free intercept
        adds.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [2.0]]), np.array([1.0, -1.0])
    >>> *_, (w, gap) = newton("squared_hinge", X, y, 1.0, 3)
    >>> np.round(w, 4), gap < 1e-20
    (array([-0.1818]), True)
    """
    kind, R = LOSSES[loss], np.ones(X.shape[1])
    R[-1] = not free
    A, c = X * kind.sign(y)[:, None], C * (np.ones(len(y)) if s is None else s)

    def value(w: Floats) -> float:
        return float(0.5 * w @ (R * w) + c @ kind.value(A @ w, y, epsilon))

    def gradient(w: Floats) -> Floats:
        return R * w - A.T @ (c * kind.slope(A @ w, y, epsilon))

    def gap_of(g: Floats, w: Floats) -> float:
        return float(0.5 * g @ (R * g)) + (abs(float(w[-1] * g[-1])) if free else 0.0)

    w, share = np.zeros(X.shape[1]), 1.0
    for _ in range(iterations):
        F, g, z = value(w), gradient(w), A @ w
        bend = BENDS[loss](z, y, epsilon)
        if loss == "huber":  # a line beyond epsilon: there, a share of the parabola that is nowhere below the loss
            bend = bend + share * (epsilon / np.maximum(np.abs(z - y), epsilon) - bend)
        H, gap = np.diag(R) + A.T @ ((c * bend)[:, None] * A), gap_of(g, w)
        if exact:
            d = solved(H, -g)
        else:
            eta, goal = min(0.3, (gap / F) ** 0.25), tol * max(F - gap, 0.0) / 4

            def will_do(r: Floats, w: Floats = w, goal: float = goal) -> bool:
                return gap_of(r, w) <= goal

            d = conjugate_gradients(H, -g, eta, will_do)
        promised, ended = float(g @ d), float(gradient(w + d) @ d)
        t = 1.0
        if value(w + d) > F + 0.1 * promised + 64 * 2**-53 * F and ended > 0 > promised:

            def slope(t: float, w: Floats = w, d: Floats = d) -> float:
                return float(gradient(w + t * d) @ d)

            t, share = root(slope, promised, ended), min(1.0, 10 * share)
        elif F - value(w + d) >= -0.25 * promised:
            share = max(1e-6, share / 10)
        w = w + t * d
        yield w, gap_of(gradient(w), w)


def solved(H: Floats, b: Floats) -> Floats:
    """``H^-1 b``, with H scaled to a unit diagonal; unknowns that H does not have are 0.

    Examples
    --------
    >>> import numpy as np
    >>> solved(np.array([[4.0, 0.0], [0.0, 0.0]]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    x, there = np.zeros(len(b)), np.diag(H) > 0
    scale = 1 / np.sqrt(np.diag(H)[there])
    x[there] = scale * np.linalg.solve(H[np.ix_(there, there)] * np.outer(scale, scale), scale * b[there])
    return x


def conjugate_gradients(H: Floats, b: Floats, eta: float, will_do: Callable[[Floats], bool]) -> Floats:
    """An x with ``H x`` close to b: by a factor of eta, as H's diagonal measures it, or as far as will do.

    Examples
    --------
    >>> import numpy as np
    >>> conjugate_gradients(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 3.0]), 1e-6, lambda r: False)
    array([1., 1.])
    """
    inverse = np.divide(1, np.diag(H), out=np.zeros(len(b)), where=np.diag(H) > 0)
    x, r, p = np.zeros(len(b)), b.copy(), inverse * b
    size = float(r @ p)
    small = eta**2 * size
    for _ in range(10 + 2 * len(b)):
        along = float(p @ H @ p)
        if size <= small or not along > 0:
            break
        x, r = x + size / along * p, r - size / along * (H @ p)
        if will_do(r):
            break
        before, size = size, float(r @ (inverse * r))
        p = inverse * r + size / before * p
    return x


def root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Where a slope that rises from `low` < 0 at 0 to `high` > 0 at 1 is between `low` / 10 and 0: false position.

    Examples
    --------
    >>> root(lambda t: 4 * t - 1, -1.0, 3.0)
    0.25
    """
    goal, left, right, side = -0.1 * low, 0.0, 1.0, 0
    for _ in range(40):
        t = (left * high - right * low) / (high - low)
        found = slope(t)
        if found <= 0:
            left, low, high = t, found, high / 2 if side < 0 else high
            if -found <= goal:
                break
        else:
            right, high, low = t, found, low / 2 if side > 0 else low
        side = -1 if found <= 0 else 1
    return left


def newton_jointly(
    X: Floats, y: NDArray[np.integer], C: float, K: int, iterations: int, *, s: Floats | None = None, tol: float = 0.0
) -> Iterator[tuple[Floats, float]]:
    """The same on all classes jointly with the log loss, by conjugate gradients.

    A share m of each row's curvature is that of a parabola that is nowhere below its loss: D. Boehning, Multinomial
    logistic regression algorithm, 1992.

    Parameters
    ----------
    y : array of shape (m,)
        The number of each row's class, from 0.
    K : int
        How many classes there are.
    C, iterations, s, tol
        As in `newton`.

    Yields
    ------
    W, gap : array of shape (d, K), float
        After 1, ..., `iterations` steps; the gap is half the squared norm of the gradient.

    Examples
    --------
    >>> import numpy as np
    >>> *_, (W, gap) = newton_jointly(np.array([[1.0], [2.0], [-1.0]]), np.array([0, 0, 1]), 1.0, 2, 5)
    >>> np.round(W, 3), gap < 1e-6
    (array([[ 0.613, -0.613]]), True)
    """
    own, c = np.eye(K)[y], C * (np.ones(len(y)) if s is None else s)

    def value(W: Floats) -> float:
        f = X @ W
        return float(0.5 * np.sum(W**2) + c @ (np.logaddexp.reduce(f, axis=1) - np.sum(own * f, axis=1)))

    def shares(W: Floats) -> Floats:
        f = X @ W
        return np.asarray(np.exp(f - np.logaddexp.reduce(f, axis=1)[:, None]))

    def gradient(W: Floats) -> Floats:
        return np.asarray(W - X.T @ (c[:, None] * (own - shares(W))))

    W, m = np.zeros((X.shape[1], K)), 0.01
    for _ in range(iterations):
        F, G, p = value(W), gradient(W), shares(W)
        gap = float(0.5 * np.sum(G**2))
        bends = np.array([(1 - m) * (np.diag(q) - np.outer(q, q)) + m / 2 * (np.eye(K) - 1 / K) for q in p])
        H = np.eye(W.size) + np.einsum("i,ia,ikl,ib->akbl", c, X, bends, X).reshape(W.size, W.size)
        eta, goal = min(0.3, (gap / F) ** 0.25), tol * max(F - gap, 0.0) / 4

        def will_do(r: Floats, goal: float = goal) -> bool:
            return float(0.5 * r @ r) <= goal

        d = conjugate_gradients(H, -G.ravel(), eta, will_do).reshape(W.shape)
        promised, ended = float(np.sum(G * d)), float(np.sum(gradient(W + d) * d))
        t = 1.0
        if value(W + d) > F + 0.1 * promised + 64 * 2**-53 * F and ended > 0 > promised:

            def slope(t: float, W: Floats = W, d: Floats = d) -> float:
                return float(np.sum(gradient(W + t * d) * d))

            t, m = root(slope, promised, ended), min(1.0, max(10 * m, 0.01))
        elif F - value(W + d) >= -0.25 * promised:
            m = max(1e-12, m / 10)
        W = W + t * d
        yield W, float(0.5 * np.sum(gradient(W) ** 2))
