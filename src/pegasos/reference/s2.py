"""S2, the overview of Pegasos on the RCV1-v2 corpus: a random start, and steps without violation left uncounted."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference import s0
from pegasos.reference.s0 import Floats, RowNumbers


def random_start(random: np.random.Generator, d: int, lam: float) -> Floats:
    """A w_1 drawn uniformly from the ball of radius 1/sqrt(λ) (section 3.2.2, which misprints it as the diameter).

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.linalg.norm(random_start(np.random.default_rng(0), 3, 0.01)) <= 10)
    True
    """
    direction = random.normal(size=d)
    return direction / np.linalg.norm(direction) * random.uniform() ** (1 / d) / np.sqrt(lam)


def pegasos(X: Floats, y: Floats, lam: float, batches: RowNumbers, w_1: Floats) -> Iterator[Floats]:
    """The algorithm of section 3.2.2: Pegasos with projection, begun at a random w_1.

    The first step multiplies w_1 by 1 - eta_1 λ = 0, so all that it decides is which rows of A_1 count as violators.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in pegasos(X, y, 0.25, np.array([[0], [1]]), np.array([1.5, 0.0])):
    ...     print(w)
    [1.5 0. ]
    [0. 0.]
    [ 0. -2.]
    """
    return s0.pegasos(X, y, lam, batches, project=True, w_1=w_1)


def uncounted_idle_steps(
    X: Floats, y: Floats, lam: float, batches: RowNumbers, *, s: Floats | None = None, project: bool = True
) -> Iterator[Floats]:
    """Pegasos whose t, and with it the step size, stays when no row of the batch was violated (section 4.5).

    Such a step is taken all the same: it shrinks w by 1 - 1/t. Parameters and iterates are those of
    :func:`pegasos.reference.s0.descend`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for w in uncounted_idle_steps(X, y, 0.25, np.array([[0], [0], [0], [1]]), project=False):
    ...     print(w)
    [0. 0.]
    [4. 0.]
    [2. 0.]
    [1. 0.]
    [ 0.5 -4. ]
    """
    s = np.ones(len(y)) if s is None else s
    w, t = np.zeros(X.shape[1]), 1
    yield w
    for A_t in batches:
        eta, violated = 1 / (lam * t), len(s0.violators(X, y, w, A_t)) > 0
        w = w - eta * s0.sub_gradient(X, y, s, lam, w, A_t)
        w, t = s0.onto_ball(w, lam) if project else w, t + violated
        yield w
