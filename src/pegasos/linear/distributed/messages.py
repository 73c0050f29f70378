"""What the driver sends to the workers of a fit, and what they reply."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos.base.bounds import Measured
from pegasos.linear.distributed.plan import Plan, Survey

#: How often a worker's blocks take turns in an epoch.
TURNS = 32


@dataclass(frozen=True)
class Order:
    """What a worker is to do for one problem, of several where each class is trained against the rest.

    First it keeps the share of its last changes, then it makes that many turns, of which an epoch has `TURNS`, from w;
    with none it measures at w.
    """

    target: int  # which class is against the rest
    w: NDArray[np.float64]
    share: float = 0.0
    caution: float = 1.0
    turns: int = 0


@dataclass(frozen=True)
class Message:
    """The orders of one round. A block follows them if it stands at `expects`, and then stands at `becomes`.

    None expects nothing: what a block has not joined in yet is taken back, and one that knows nothing starts at zero.
    """

    plan: Plan
    expects: int | None
    becomes: int
    orders: tuple[Order, ...]
    seconds: float = np.inf  # left for it


@dataclass(frozen=True)
class Visited:
    """A worker's changes during its turns."""

    change: NDArray[np.float64]  # of sum_i alpha_i y_i x_i
    linear: float  # of C sum_i s_i dual(q_i)
    gap: float  # of its rows, estimated from the margins met
    visits: float


@dataclass(frozen=True)
class Reply:
    """What a worker says after a round: an answer to each order, or that it does not stand where it should."""

    answers: tuple[Visited | Measured, ...] = ()
    stale: bool = False
    surveys: tuple[Survey, ...] = field(default=())  # of blocks that began at zero


def payload(message: Any) -> int:
    """Bytes of the vectors in a message or reply; the rest is small."""
    vectors = [order.w for order in getattr(message, "orders", ())]
    for answer in getattr(message, "answers", ()):
        vectors.append(answer.change if isinstance(answer, Visited) else answer.u)
    return sum(vector.nbytes for vector in vectors)
