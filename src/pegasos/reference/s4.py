"""S4: Cotter, Shalev-Shwartz, Srebro, "The Kernelized Stochastic Batch Perceptron": the methods it compares with."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers


def perceptron(
    X: Floats, y: Floats, sequence: RowNumbers, *, s: Floats | None = None, w_1: Floats | None = None
) -> Iterator[Floats]:
    """The Perceptron (section 4.5): a row on which w errs, y_i <w, x_i> <= 0, is added to w.

    Parameters
    ----------
    X : array of shape (m, d)
        The rows x_i.
    y : array of shape (m,)
        Their labels, +1 or -1.
    sequence : array of shape (T,)
        The row numbers in the order of visits: one pass for the online Perceptron, or several.
    s : array of shape (m,), optional
        The rows' weights, with which they are added; all 1 when not given.
    w_1 : array of shape (d,), optional
        The first iterate; zero when not given.

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
    w = np.zeros(X.shape[1]) if w_1 is None else w_1
    yield w
    for i in sequence:
        if y[i] * (X[i] @ w) <= 0:
            w = w + s[i] * y[i] * X[i]
        yield w


def norm_ball(
    X: Floats,
    y: Floats,
    B: float,
    batches: RowNumbers,
    *,
    s: Floats | None = None,
    w_1: Floats | None = None,
    t_0: int = 0,
) -> Iterator[Floats]:
    """SGD on the average hinge loss under ||w|| <= B (section 4.2).

    ``w_{t+1}`` is the point of the ball nearest to ``w_t + eta_t v_t``, v_t the mean of y_i x_i over the batch's rows
    with a loss, row i counted ``m s_i / sum(s)`` times. The paper gives no step size; this is Zinkevich's,
    ``eta_t = B / (R sqrt(t))`` with R the largest norm of a row.

    Parameters
    ----------
    X : array of shape (m, d)
        The rows x_i.
    y : array of shape (m,)
        Their labels, +1 or -1.
    B : float
        The radius of the ball.
    batches : array of shape (T, k)
        The row numbers of each step.
    s : array of shape (m,), optional
        The rows' weights; all 1 when not given.
    w_1 : array of shape (d,), optional
        The first iterate; zero when not given.
    t_0 : int
        Steps already behind w_1: the first step is t_0 + 1.

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
    w = np.zeros(X.shape[1]) if w_1 is None else w_1
    R = np.linalg.norm(X, axis=1).max()
    yield w
    for t, A_t in enumerate(batches, start=t_0 + 1):
        A_plus = A_t[y[A_t] * (X[A_t] @ w) < 1]
        v_t = (len(y) * s / s.sum() * y)[A_plus] @ X[A_plus] / len(A_t)
        w = w + B / (R * np.sqrt(t)) * v_t
        w = w * min(1.0, B / max(float(np.linalg.norm(w)), 1e-300))
        yield w
