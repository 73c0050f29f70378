"""MPU, the Margin Perceptron with Unlearning (Panagiotakopoulos and Tsampouka 2010), with which S3 compares.

S3 names it and its parameter δ. `cpp/linear/solvers/mpu.cpp` has what is decided besides, and proofs.
"""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers


def units(X: Floats, C: float, delta: float, s: Floats) -> Floats:
    """n_k, how many units the box of each row has: b C s_k with b = 2 R^2 / δ, rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> units(np.array([[1.0, 0.0], [0.0, 2.0]]), 0.7, 0.5, np.array([1.0, 2.0]))
    array([12., 23.])
    """
    R2 = float((X * X).sum(axis=1).max())
    return np.maximum(np.ceil(2 * R2 / delta * C * s), 1)


def mpu(
    X: Floats, y: Floats, C: float, delta: float, sequence: RowNumbers, *, s: Floats | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """A row learns, unit by unit, while its margin is at most 1, and unlearns while it is above 1 + δ.

    Yields
    ------
    N, w : arrays of shape (m,) and (d,)
        What each row has learned, and the weights, after 0, 1, ..., T visits.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    >>> for N, w in mpu(X, y, 1.0, 0.5, np.array([0, 1, 0])):
    ...     print(N, w)
    [0. 0.] [0. 0.]
    [20.  0.] [1. 0.]
    [20.  9.] [ 0.55 -0.9 ]
    [20.  9.] [ 0.55 -0.9 ]
    """
    s = np.ones(len(y)) if s is None else s
    N, w, n = np.zeros(len(y)), np.zeros(X.shape[1]), units(X, C, delta, s)
    yield N, w
    for k in sequence:
        N, h, y_k = N.copy(), C * s[k] / n[k], y[k] * X[k]
        z, square, before = float(w @ y_k), float(y_k @ y_k), N[k]
        while h > 0 and z + h * (N[k] - before) * square <= 1 and N[k] < n[k]:
            N[k] += 1
        while h > 0 and z + h * (N[k] - before) * square > 1 + delta and N[k] > 0:
            N[k] -= 1
        w = w + h * (N[k] - before) * y_k
        yield N, w


def bound_on_gap(delta: float) -> float:
    """The largest relative gap where no row has anything to learn or unlearn: 2 δ / (1 - δ).

    Examples
    --------
    >>> bound_on_gap(0.1 / 2.1)
    0.1
    """
    return 2 * delta / (1 - delta)
