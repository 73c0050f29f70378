"""Bounds on the optimum as Python holds them, and the units of rounding (`cpp/base/rounding.hpp`)."""

import math
from typing import NamedTuple

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
