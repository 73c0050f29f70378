"""SvmSgd (Bottou's svmsgd) and SGD-QN (Bordes, Bottou, Gallinari 2009, corrected 2010), with which S3 compares."""

from collections.abc import Iterator
from typing import Unpack

import numpy as np

from pegasos.reference import s0
from pegasos.reference.s0 import Floats, Options, RowNumbers


def svm_sgd(
    X: Floats, y: Floats, lam: float, t0: float, batches: RowNumbers, **options: Unpack[Options]
) -> Iterator[Floats]:
    """SvmSgd: eta_t = 1/(λ (t - 1 + t0)), t = 1, 2, ...

    Parameters and iterates are those of :func:`pegasos.reference.s0.descend`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in svm_sgd(X, y, 0.5, 4.0, np.array([[0], [1]])):
    ...     print(w)
    [0. 0.]
    [0.5 0. ]
    [ 0.4 -0.8]
    """
    return s0.descend(X, y, lam, batches, lambda t: 1 / (lam * (t - 1 + t0)), **options)


def trial(X: Floats, y: Floats, lam: float, eta: float, sample: RowNumbers, s: Floats | None = None) -> float:
    """The objective on the sample after one pass over it with steps of size eta.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> trial(X, y, 0.5, 0.25, np.array([0]))
    0.765625
    """
    s = np.ones(len(y)) if s is None else s
    *_, w = s0.constant_step(X, y, lam, eta, sample[:, None], s=s)
    losses = len(y) * s / s.sum() * np.maximum(0, 1 - y * (X @ w))
    return float(lam / 2 * w @ w + losses[sample].mean())


def first_step(
    X: Floats, y: Floats, lam: float, sample: RowNumbers, *, s: Floats | None = None, least: float = 1.0
) -> float:
    """The t0 >= `least` of the first step 1/(λ t0), a power of two, after which trials get worse.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> first_step(X, y, 0.5, np.array([0, 1, 0]))
    4.0
    """

    def cost(power: int) -> float:
        eta = 2.0**power
        return np.inf if eta * lam * least > 1 else trial(X, y, lam, eta, sample, s)

    power = 0
    while np.isinf(cost(power)):
        power -= 1
    step = 1 if cost(power + 1) < cost(power) else -1
    while cost(power + step) < cost(power):
        power += step
    return float(1 / (lam * 2.0**power))


def sgd_qn(
    X: Floats, y: Floats, lam: float, t0: float, skip: int, sequence: RowNumbers, *, s: Floats | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """SGD-QN: a diagonal matrix B of step sizes; the regulariser and B's estimate every `skip` steps.

    Yields
    ------
    w, B : arrays of shape (d,)
        After 0, 1, ..., T steps.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w, B in sgd_qn(X, y, 0.5, 4.0, 2, np.array([0, 1, 0])):
    ...     print(w, B)
    [0. 0.] [0.5 0.5]
    [0.5 0. ] [0.5 0.5]
    [ 0.25 -1.  ] [0.5 0.5]
    [ 0.58333333 -1.        ] [0.33333333 0.33333333]
    """
    m = len(y)
    count = np.ones(m) if s is None else m * s / s.sum()
    w, B, before = np.zeros(X.shape[1]), np.full(X.shape[1], 1 / (lam * t0)), None

    def loss_gradient(w: Floats, i: int) -> Floats:
        return -count[i] * (y[i] * (X[i] @ w) < 1) * y[i] * X[i]

    yield w, B
    for t, i in enumerate(sequence, start=1):
        gradient = loss_gradient(w, i)
        if before is not None:
            step, rise = w - before, gradient - loss_gradient(before, i)
            with np.errstate(divide="ignore", invalid="ignore"):
                h = np.where(step != 0, rise / step, np.where(rise != 0, np.inf, 0))
            B = 1 / (1 / B + skip * np.clip(lam + h, lam / 10, 100 * lam))
            before = None
        if t % skip == 0:
            before, w = w, w - skip * lam * B * w
        w = w - B * gradient
        yield w, B
