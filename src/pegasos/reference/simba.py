"""SIMBA: Hazan, Koren, Srebro, "Beating SGD: Learning SVMs in Sublinear Time", 2011, with a kernel (S4 section 4.1)."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats


def slack(density: Floats, s: Floats, volume: float) -> Floats:
    """The xi with the largest ``sum_i s_i density_i xi_i``, where ``0 <= xi_i <= 2`` and ``sum_i s_i xi_i <= volume``.

    It is 2 where the density is largest. Examples of the same density at the end share what is left.

    Examples
    --------
    >>> import numpy as np
    >>> slack(np.array([0.1, 0.5, 0.2, 0.2]), np.ones(4), 3.0)
    array([0. , 2. , 0.5, 0.5])
    """
    xi = np.zeros(len(s))
    for value in np.unique(density[s > 0])[::-1]:
        own = (density == value) & (s > 0)
        xi[own] = min(2.0, volume / s[own].sum())
        volume -= float((s * xi)[own].sum())
        if volume <= 0:
            break
    return xi


def simba(
    K: Floats, y: Floats, nu: float, uniforms: Floats, *, s: Floats | None = None, bias: bool = False
) -> Iterator[Floats]:
    """The paper's Algorithm 1, with the responses of the kernel where it estimates them by features.

    Weights w of norm 1 and slack xi play against a distribution p of the examples, for
    ``sum_i p_i (y_i <w, phi(x_i)> + xi_i)``. Step t draws j from p, takes ``w = z / max(R sqrt(2 t), ||z||)`` with z
    the sum of the y_j phi(x_j) so far and R the largest norm of a phi(x_i), and the best xi for p, which is up to 2 R.
    With v the margins that this gives, in units of R and cut off at 1/eta, ``eta = sqrt(log(m) / t)``, p is then
    multiplied by ``1 - eta v + eta^2 v^2``. The paper has the number of steps for t throughout.

    Parameters
    ----------
    nu : float
        The mean slack allowed.
    uniforms : array of shape (T,)
        Numbers in [0, 1), by which examples are drawn.
    bias : bool
        Whether there is an intercept: each class then has half of p.

    Yields
    ------
    array of shape (m,)
        The coefficients of w_1, ..., w_T.

    Examples
    --------
    >>> import numpy as np
    >>> for beta in simba(np.eye(2), np.array([1.0, -1.0]), 0.0, np.array([0.2, 0.9])):
    ...     print(beta.round(3))
    [0.707 0.   ]
    [ 0.5 -0.5]
    """
    s = np.ones(len(y)) if s is None else s
    R, eta_1 = float(np.sqrt(K.diagonal().max())), float(np.sqrt(np.log(max((s > 0).sum(), 2))))
    z, q = np.zeros(len(y)), np.ones(len(y))
    classes = [y > 0, y < 0] if bias else [np.ones(len(y), dtype=bool)]
    for t, uniform in enumerate(uniforms, start=1):
        density = sum(np.where(own, q, 0.0) / ((s * q)[own].sum() * len(classes)) for own in classes)
        j = int(np.searchsorted(np.cumsum(s * density), uniform, side="right"))
        z = z + np.where(np.arange(len(y)) == j, y, 0.0)
        beta = z / max(R * np.sqrt(2 * t), np.sqrt(z @ K @ z))
        yield beta
        eta = eta_1 / np.sqrt(t)
        v = np.clip(y * (K @ beta) / R + slack(density, s, nu * s.sum() / R), -1 / eta, 1 / eta)
        q = q * (1 - eta * v + eta**2 * v**2)
