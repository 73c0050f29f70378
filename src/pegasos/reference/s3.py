"""S3: Panagiotakopoulos and Tsampouka, "The Stochastic Gradient Descent for the Primal L1-SVM Optimization Revisited".

All minimise ``J(w) = 1/2 ||w||^2 + C sum_k s_k max(0, 1 - w · y_k)``, where y_k is row k times its label (the paper's
"reflection"), in the variable ``a_t = λ t w_t`` (eq. 4) with ``λ = 1/(C m)``. A row of weight s_k enters ``a`` as
s_k y_k and the number of margin errors M as s_k.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers


@dataclass(frozen=True)
class State:
    """Where a run stands after t presentations."""

    t: int
    a: Floats
    lam: float
    M: float = 0.0  # margin errors made, each counted with its weight
    T: int = 0  # complete epochs; a pass of multiplicity l counts as l
    L: float | None = None  # lower bound on the optimum (eq. 9), at the end of a pass
    J: float | None = None  # estimate of the objective from the losses met (footnote 5), at the end of a pass

    @property
    def w(self) -> Floats:
        """w_t = a_t / (λ t) (eq. 4); w_0 = 0."""
        return self.a / (self.lam * self.t) if self.t > 0 else self.a


def l_plus(P: float, square: float, lam: float, multiplicity: int) -> int:
    """How often y_k is a margin error when it is presented l times at once (Proposition 3, eq. 13).

    Parameters
    ----------
    P : float
        a_t · y_k - λ t.
    square : float
        ||y_k||^2, times the weight s_k where it has one.
    multiplicity : int
        l.

    Returns
    -------
    int

    Examples
    --------
    >>> l_plus(-1.0, 2.0, 0.25, 5), l_plus(0.5, 2.0, 0.25, 5), l_plus(1.5, 2.0, 0.25, 5)
    (2, 1, 0)
    """
    slack = (multiplicity - 1) * lam - P
    if slack < 0:
        return 0
    return min(multiplicity, int(slack / max(square, lam)) + 1)


def present(X: Floats, y: Floats, s: Floats, state: State, k: int, multiplicity: int = 1) -> tuple[State, float]:
    """The state after row k was presented l times (eq. 5 to 7 and 14), and the row's loss before.

    At t = 0 the threshold λ t is 0, so the first row is always a margin error (footnote 2).
    """
    y_k = y[k] * X[k]
    p, theta = float(state.a @ y_k), state.lam * state.t
    errors = l_plus(p - theta, s[k] * float(y_k @ y_k), state.lam, multiplicity)
    loss = max(0.0, 1 - p / theta) if state.t > 0 else 1.0
    after = State(
        state.t + multiplicity, state.a + errors * s[k] * y_k, state.lam, state.M + errors * float(s[k]), state.T
    )
    return after, float(s[k]) * loss


def sgd_r(X: Floats, y: Floats, C: float, sequence: RowNumbers, *, s: Floats | None = None) -> Iterator[State]:
    """SGD-r: rows in any sequence, each presented once (section 2, first pseudo-code).

    Parameters
    ----------
    sequence : array of shape (t_max,)
        The row numbers in the order of presentation.

    Yields
    ------
    State
        After 0, 1, ..., t_max presentations.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for state in sgd_r(X, y, 1.0, np.array([0, 0, 1])):
    ...     print(state.t, state.a, state.M)
    0 [0. 0.] 0.0
    1 [1. 0.] 1.0
    2 [1. 0.] 1.0
    3 [ 1. -2.] 2.0
    """
    s = np.ones(len(y)) if s is None else s
    state = State(0, np.zeros(X.shape[1]), 1 / (C * len(y)))
    yield state
    for k in sequence:
        state, _ = present(X, y, s, state, int(k))
        yield state


def multiplicity_in_pass(T: int, multiplicity: int = 5, period: int = 9, burst: int = 5) -> int:
    """How often SGD-m presents each row in the pass after T passes (section 3).

    Examples
    --------
    >>> [multiplicity_in_pass(T) for T in range(12)]
    [1, 5, 5, 5, 5, 1, 1, 1, 1, 1, 5, 5]
    """
    return multiplicity if 0 < T % period < burst else 1


def sgd_m(
    X: Floats,
    y: Floats,
    C: float,
    sequence: RowNumbers,
    *,
    s: Floats | None = None,
    multiplicity: int = 5,
    period: int = 9,
    burst: int = 5,
) -> Iterator[State]:
    """SGD-m: complete epochs, in some of which each row is presented several times at once (section 3).

    Parameters
    ----------
    X, y, C, s
        As for :func:`sgd_r`.
    sequence : array of shape (passes * m,)
        The row numbers in the order of presentation: in every pass each row once. The last pass may be cut short.
    multiplicity, period, burst : int
        Each row is presented `multiplicity` times in the passes T = 0, 1, ... with ``0 < T mod period < burst``.

    Yields
    ------
    State
        At the start and after each row. At the end of a pass it has the bound L and the estimate J.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> for state in sgd_m(X, y, 1.0, np.array([0, 1, 1, 0])):
    ...     print(state.t, state.a, state.M, state.T, state.L, state.J)
    0 [0. 0.] 0.0 0 None None
    1 [1. 0.] 1.0 0 None None
    2 [ 1. -2.] 2.0 1 -0.5 4.5
    7 [ 1. -2.] 2.0 1 None None
    12 [ 6. -2.] 7.0 6 0.6111111111111112 1.2698412698412698
    """
    s, m = np.ones(len(y)) if s is None else s, len(y)
    state, losses = State(0, np.zeros(X.shape[1]), 1 / (C * m)), 0.0
    yield state
    for count, k in enumerate(sequence, start=1):
        times = multiplicity_in_pass((count - 1) // m, multiplicity, period, burst)
        state, loss = present(X, y, s, state, int(k), times)
        losses += loss
        if count % m == 0:
            T, half_square = state.T + times, float(state.w @ state.w) / 2
            L, J = C * state.M / T - half_square, half_square + C * losses
            state, losses = State(state.t, state.a, state.lam, state.M, T, L, J), 0.0
        yield state


def sgd_s(X: Floats, y: Floats, C: float, sequence: RowNumbers, *, s: Floats | None = None) -> Iterator[State]:
    """SGD-s: complete epochs, each row presented once (section 2, second pseudo-code).

    Parameters and states are those of :func:`sgd_m`.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> [state.L for state in sgd_s(X, y, 1.0, np.array([0, 1, 1, 0])) if state.L is not None]
    [-0.5, 0.5]
    """
    return sgd_m(X, y, C, sequence, s=s, multiplicity=1)
