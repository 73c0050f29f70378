"""Bounds that are put together in Python, from passes of the core over parts of the rows or from NumPy's sums.

They allow for their rounding as the core's do (`cpp/base/rounding.hpp`). A sum of k terms is off by at most k `UNIT`
times the sum of their sizes, whatever the order; one more addition by `UNIT` times its result. Errors of vectors are in
norm.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.certificate import relative_gap

#: Half the distance from 1 to the next number: the largest relative error of an operation.
UNIT = 2.0**-53

#: Numbers below its root have squares that lose digits, or vanish.
VANISHING = 1e-300


class Bounds(NamedTuple):
    """An upper and a lower bound on the optimum, and what rounding has added to the one and taken off the other."""

    primal: float = math.inf
    dual: float = -math.inf
    above: float = 0.0
    below: float = 0.0

    @property
    def gap(self) -> float:
        return relative_gap(self.primal, self.dual)

    @property
    def plain_gap(self) -> float:
        """The gap without an allowance for rounding."""
        return relative_gap(self.primal - self.above, self.dual + self.below)

    @property
    def rounding(self) -> float:
        """The allowance for rounding as a part of the gap; infinite where there is no gap either."""
        size = self.above + self.below
        return 0.0 if size == 0 else size / self.dual if self.dual > 0 else math.inf

    @property
    def mostly_rounding(self) -> bool:
        """Whether what is left between the bounds is rounding for the most part, so that no more steps can help."""
        rounding = self.above + self.below
        return rounding > 0 and self.primal - self.dual <= 2 * rounding

    def best(self, other: "Bounds") -> "Bounds":
        """The lower one of the upper bounds, the higher one of the lower bounds; of equals the other's."""
        first = other if other.primal <= self.primal else self
        second = other if other.dual >= self.dual else self
        return Bounds(first.primal, second.dual, first.above, second.below)


def square(w: NDArray[np.float64]) -> float:
    """``||w||^2``. Not by BLAS: its threads take longer to begin than the sum takes, and more so on a busy machine."""
    return float(np.einsum("i,i->", w, w))


def half_square(w: NDArray[np.float64]) -> tuple[float, float]:
    """``||w||^2 / 2``, and how far it may be off."""
    half = square(w) / 2
    vanished = VANISHING * len(w) if half < VANISHING * len(w) / UNIT and w.any() else 0.0
    return half, UNIT * (len(w) + 4) * half + vanished


def bound_primal(w: NDArray[np.float64], losses: float, error: float) -> Bounds:
    """An upper bound of ``||w||^2 / 2 + losses``, where the losses may be off by `error`."""
    half, own = half_square(w)
    above = error + own + 8 * UNIT * (half + losses)
    return Bounds(primal=half + losses + above, above=above)


def bound_dual(linear: float, linear_error: float, u: NDArray[np.float64], error: float) -> Bounds:
    """A lower bound of ``linear - ||u||^2 / 2``, where these may be off by the errors."""
    half, own = half_square(u)
    below = linear_error + error * (1.01 * math.sqrt(2 * (half + own)) + error) + own
    below += 8 * UNIT * (half + abs(linear))
    return Bounds(dual=linear - half - below, below=below)


@dataclass
class Measured:
    """Sums over rows at weights w and their dual variables, in double precision, and how far they may be off."""

    u: NDArray[np.float64]  # sum_i alpha_i y_i x_i
    losses: float = 0.0  # C sum_i s_i loss_i at w
    linear: float = 0.0  # C sum_i s_i dual(q_i)
    above: float = 0.0  # what rounding may add to the losses
    linear_error: float = 0.0
    error: float = 0.0  # of u

    @classmethod
    def nothing(cls, dimension: int) -> Self:
        """Of no rows."""
        return cls(np.zeros(dimension))

    def add(self, other: "Measured | native.Measure") -> None:
        """Count other rows."""
        self.losses += other.losses
        self.linear += other.linear
        self.u += other.u
        self.above += other.above + UNIT * abs(self.losses)
        self.linear_error += other.linear_error + UNIT * abs(self.linear)
        self.error += other.error + UNIT * math.sqrt(square(self.u))
