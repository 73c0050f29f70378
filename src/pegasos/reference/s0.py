"""S0: Shalev-Shwartz, Singer, Srebro, Cotter, "Pegasos: primal estimated sub-gradient solver for SVM".

All minimise ``f(w) = lam/2 ||w||^2 + 1/m sum_i max(0, 1 - y_i <w, x_i>)`` (eq. 1); a row of weight s_i counts
``m s_i / sum(s)`` times. In terms of C, ``lam = 1 / (C sum(s))``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RowNumbers = NDArray[np.integer[Any]]


def violators(X: Floats, y: Floats, w: Floats, A_t: RowNumbers, b: float = 0.0) -> RowNumbers:
    """A_t^+, the rows of the batch with a loss: y_i (<w, x_i> + b) < 1."""
    return A_t[y[A_t] * (X[A_t] @ w + b) < 1]


def sub_gradient(X: Floats, y: Floats, s: Floats, lam: float, w: Floats, A_t: RowNumbers, b: float = 0.0) -> Floats:
    """∇_t, a sub-gradient of f(w; A_t) (eq. 8)."""
    m, k = len(y), len(A_t)
    A_plus = violators(X, y, w, A_t, b)
    return lam * w - (m * s / s.sum() * y)[A_plus] @ X[A_plus] / k


def onto_ball(w: Floats, lam: float) -> Floats:
    """The point of the ball of radius 1/sqrt(lam) nearest to w (eq. 6)."""
    norm = np.linalg.norm(w)
    return w if norm == 0 else min(1.0, 1 / np.sqrt(lam) / norm) * w


class Options(TypedDict, total=False):
    """Options of :func:`descend` that the algorithms below take too."""

    s: Floats | None
    project: bool
    w_1: Floats | None
    t_0: int


def descend(
    X: Floats,
    y: Floats,
    lam: float,
    batches: RowNumbers,
    eta: Callable[[int], float],
    *,
    s: Floats | None = None,
    project: bool = False,
    w_1: Floats | None = None,
    t_0: int = 0,
    b: float = 0.0,
) -> Iterator[Floats]:
    """w_{t+1} = w_t - eta(t) ∇_t, projected or not: what the algorithms below have in common.

    Parameters
    ----------
    eta : callable
        The step size of step t = 1, 2, ...
    w_1 : array of shape (d,), optional
        The first iterate; zero when not given.
    t_0 : int
        Steps already behind w_1: the first step is t_0 + 1.
    b : float
        An intercept that stays as it is.

    Yields
    ------
    array of shape (d,)
        w_1, ..., w_{T+1}.
    """
    s = np.ones(len(y)) if s is None else s
    w = np.zeros(X.shape[1]) if w_1 is None else w_1
    yield w
    for t, A_t in enumerate(batches, start=t_0 + 1):
        w = w - eta(t) * sub_gradient(X, y, s, lam, w, A_t, b)
        if project:
            w = onto_ball(w, lam)
        yield w


def pegasos(X: Floats, y: Floats, lam: float, batches: RowNumbers, **options: Unpack[Options]) -> Iterator[Floats]:
    """Pegasos (Fig. 1 for batches of one row, Fig. 2 for larger ones): eta_t = 1/(λ t).

    Parameters and iterates are those of :func:`descend`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in pegasos(X, y, 0.5, np.array([[0], [1], [0]])):
    ...     print(w)
    [0. 0.]
    [2. 0.]
    [ 1. -2.]
    [ 0.66666667 -1.33333333]
    """
    return descend(X, y, lam, batches, lambda t: 1 / (lam * t), **options)


def kernel_pegasos(
    K: Floats, y: Floats, lam: float, batches: RowNumbers, *, s: Floats | None = None, project: bool = False
) -> Iterator[Floats]:
    """Pegasos with a kernel (Fig. 3): ``w_t = 1/(λ (t-1)) sum_j alpha_j y_j phi(x_j)``, alpha counting the losses met.

    Fig. 3 divides by λ t in the test for a loss; with t - 1 this is Fig. 1 in the space of the kernel, step by step
    (eq. 13). Batches, weights and the projection are as in :func:`pegasos`; the projection shrinks alpha.

    Yields
    ------
    array of shape (m,)
        The coefficients of w_1, ..., w_{T+1}: ``w_t = sum_j beta_j phi(x_j)``.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for beta in kernel_pegasos(X @ X.T, y, 0.5, np.array([[0], [1], [0]])):
    ...     print(beta)
    [0. 0.]
    [2. 0.]
    [ 1. -1.]
    [ 0.66666667 -0.66666667]
    """
    m = len(y)
    count = np.ones(m) if s is None else m * s / s.sum()
    alpha_y, beta = np.zeros(m), np.zeros(m)  # alpha_j y_j, and the same over λ (t-1)
    yield beta
    for t, A_t in enumerate(batches, start=1):
        A_plus = A_t[y[A_t] * (K[A_t] @ beta) < 1]
        np.add.at(alpha_y, A_plus, (count * y)[A_plus] / len(A_t))
        beta = alpha_y / (lam * t)
        norm = np.sqrt(beta @ K @ beta)
        if project and norm > 1 / np.sqrt(lam):
            shrink = 1 / np.sqrt(lam) / norm
            alpha_y, beta = shrink * alpha_y, shrink * beta
        yield beta


def norma(
    X: Floats, y: Floats, lam: float, p: float, batches: RowNumbers, **options: Unpack[Options]
) -> Iterator[Floats]:
    """NORMA as section 7.6 describes it: eta_t = p/(λ sqrt(t)) with 0 < p < 1.

    Parameters and iterates are those of :func:`descend`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in norma(X, y, 0.5, 0.75, np.array([[0], [0]])):
    ...     print(w)
    [0. 0.]
    [1.5 0. ]
    [0.70450487 0.        ]
    """
    return descend(X, y, lam, batches, lambda t: p / (lam * np.sqrt(t)), **options)


def constant_step(
    X: Floats, y: Floats, lam: float, eta: float, batches: RowNumbers, **options: Unpack[Options]
) -> Iterator[Floats]:
    """Zhang's stochastic gradient descent as section 7.6 describes it: eta_t = eta.

    Parameters and iterates are those of :func:`descend`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in constant_step(X, y, 0.5, 1.0, np.array([[0], [1]])):
    ...     print(w)
    [0. 0.]
    [1. 0.]
    [ 0.5 -2. ]
    """
    return descend(X, y, lam, batches, lambda t: eta, **options)


def average(iterates: Sequence[Floats]) -> Floats:
    """The mean of w_1, ..., w_T, given w_1, ..., w_{T+1} (Corollary 1).

    Examples
    --------
    >>> import numpy as np
    >>> average([np.array([1.0]), np.array([2.0]), np.array([10.0])])
    array([1.5])
    """
    return np.mean(iterates[:-1], axis=0)


def suffix_average(iterates: Sequence[Floats]) -> Floats:
    """The mean of w_{h+1}, ..., w_T, given w_1, ..., w_{T+1}; h is the largest power of two with 2h <= T, or 0.

    Not in the paper: an average that leaves out the first quarter to half of the iterates, when w was still far off.

    Examples
    --------
    >>> import numpy as np
    >>> suffix_average([np.array([w]) for w in (1.0, 2.0, 3.0, 5.0, 10.0)])
    array([4.])
    """
    T = len(iterates) - 1
    h = 2 ** (T.bit_length() - 2) if T > 1 else 0
    return np.mean(iterates[h:-1], axis=0)


def random_stop(iterates: Sequence[Floats], stops: Sequence[int], f: Callable[[Floats], float]) -> Floats:
    """The w_t of lowest f among the stopping times t drawn from {1, ..., T} (Lemma 3 and the remark after it).

    Examples
    --------
    >>> import numpy as np
    >>> random_stop([np.array([w]) for w in (4.0, 3.0, 5.0)], [1, 3], lambda w: float(w[0] ** 2))
    array([4.])
    """
    return min((iterates[t - 1] for t in stops), key=f)


def step_beside_intercept(
    X: Floats, y: Floats, s: Floats, lam: float, w: Floats, A_t: RowNumbers, slope: Floats, t: int, project: bool
) -> tuple[Floats, float]:
    """w_{t+1} of Pegasos and minus the sub-gradient in b, given the slopes of the batch's rows."""
    m, k = len(y), len(A_t)
    weight = slope * (m * s / s.sum() * y)[A_t]
    w = (1 - 1 / t) * w + 1 / (lam * t) * (weight @ X[A_t]) / k
    return (onto_ball(w, lam) if project else w), float(weight.sum()) / k


def pegasos_subgradient_intercept(
    X: Floats, y: Floats, lam: float, batches: RowNumbers, *, s: Floats | None = None, project: bool = False
) -> Iterator[tuple[Floats, float]]:
    """Section 6, second approach (eq. 23): a sub-gradient step in b too, which nothing shrinks.

    The step in b is min(1/(λ t), 1/sqrt(t)): f is not strongly convex in b, so the analysis of 1/(λ t) does not hold,
    and at first it is far too long.

    Parameters are those of :func:`descend`. Yields (w_1, b_1), ..., (w_{T+1}, b_{T+1}).

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [3.0]]), np.array([-1.0, 1.0])
    >>> for w, b in pegasos_subgradient_intercept(X, y, 0.5, np.array([[0], [1], [0]])):
    ...     print(w, round(b, 3))
    [0.] 0.0
    [-2.] -1.0
    [2.] -0.293
    [0.66666667] -0.87
    """
    s = np.ones(len(y)) if s is None else s
    w, b = np.zeros(X.shape[1]), 0.0
    yield w, b
    for t, A_t in enumerate(batches, start=1):
        slope = (y[A_t] * (X[A_t] @ w + b) < 1).astype(float)
        w, down = step_beside_intercept(X, y, s, lam, w, A_t, slope, t, project)
        b += min(1 / (lam * t), 1 / np.sqrt(t)) * down
        yield w, b


def best_intercept(z: Floats, y: Floats, s: Floats) -> tuple[float, Floats] | None:
    """The b that minimises sum_i s_i max(0, 1 - y_i (z_i + b)), and the rows' slopes there (eq. 24).

    The slope of the sum at b is the weight of the rows with ``r_i = y_i - z_i < b`` less that of the positive rows, so
    b is the weighted quantile of r at the rank of the positives' weight; the middle where a stretch of b minimises.
    Rows with r_i = b have a share of their slopes that makes those of the two classes equal. One class has no b: None.

    Examples
    --------
    >>> import numpy as np
    >>> best_intercept(np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 1.0, 1.0]), np.ones(3))
    (0.5, array([1., 1., 0.]))
    >>> best_intercept(np.zeros(3), np.array([-1.0, 1.0, 1.0]), np.ones(3))
    (1.0, array([1. , 0.5, 0.5]))
    """
    rank = s[y > 0].sum()
    if rank == 0 or rank == s.sum():
        return None
    r = y - z
    kinks = np.unique(r[s > 0])
    reached = np.array([s[r <= kink].sum() for kink in kinks])
    lower, upper = kinks[reached >= rank][0], kinks[reached > rank][0]
    b = lower + (upper - lower) / 2
    slope = ((r > b) == (y > 0)).astype(float)
    if lower == upper:
        share = (rank - s[r < b].sum()) / s[r == b].sum()
        slope[r == b] = np.where(y > 0, 1 - share, share)[r == b]
    return float(b), slope


def pegasos_batch_intercept(
    X: Floats, y: Floats, lam: float, batches: RowNumbers, *, s: Floats | None = None, project: bool = False
) -> Iterator[Floats]:
    """Section 6, third approach: descent on λ/2 ||w||^2 + g(w; A_t), where g is the batch's loss at its best b.

    A batch of one class is passed over, and t does not advance. The b that belongs to a w is
    :func:`best_intercept` on all rows. Parameters are those of :func:`descend`. Yields w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [3.0], [4.0]]), np.array([-1.0, 1.0, 1.0])
    >>> for w in pegasos_batch_intercept(X, y, 0.5, np.array([[0, 1], [1, 2], [0, 2]])):
    ...     print(w)
    [0.]
    [2.]
    [2.]
    [1.]
    """
    s = np.ones(len(y)) if s is None else s
    w, t = np.zeros(X.shape[1]), 1
    yield w
    for A_t in batches:
        best = best_intercept(X[A_t] @ w, y[A_t], s[A_t])
        if best is not None:
            _, slope = best
            w, _ = step_beside_intercept(X, y, s, lam, w, A_t, slope, t, project)
            t += 1
        yield w


def pegasos_fixed_intercept(
    X: Floats, y: Floats, lam: float, b: float, batches: RowNumbers, **options: Unpack[Options]
) -> Iterator[Floats]:
    """Pegasos on w alone, margins y_i (<w, x_i> + b): J(b; S) of eq. 25, with the regulariser it lacks there.

    Parameters are those of :func:`descend`. Yields w_1, ..., w_{T+1}.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0], [3.0]]), np.array([-1.0, 1.0])
    >>> for w in pegasos_fixed_intercept(X, y, 0.5, -2.0, np.array([[0], [1], [1]])):
    ...     print(w)
    [0.]
    [0.]
    [3.]
    [2.]
    """
    return descend(X, y, lam, batches, lambda t: 1 / (lam * t), b=b, **options)
