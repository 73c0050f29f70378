"""Targets of a regression that are far from zero."""

import math

import numpy as np
from numpy.typing import NDArray

#: How many times farther from zero than from each other targets are before they are shifted: what they have in common
#: would only cost digits.
FAR = 8.0


def middle_and_spread(y: NDArray[np.float64]) -> tuple[float, float]:
    """The median of the targets, and that of their distances from it."""
    middle = float(np.median(y))
    with np.errstate(over="ignore"):
        return middle, float(np.median(np.abs(y - middle)))


def near_middle(y: NDArray[np.float64]) -> float:
    """A number near the median, where the targets are much farther from zero than from it; else 0.

    A free intercept makes up for whatever is taken off all targets. The number has as few digits as tell it from zero,
    so that what is left of the targets is seldom rounded, and the bounds allow for that.

    Examples
    --------
    >>> near_middle(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]))
    1000000002.0
    >>> near_middle(np.array([-1.0, 2.0, 3.0]))
    0.0
    """
    middle, spread = middle_and_spread(y)
    if not abs(middle) > FAR * spread:
        return 0.0
    digits = math.ldexp(1.0, math.frexp(spread)[1] - 1) if spread > 0 else 0.0
    return round(middle / digits) * digits if abs(middle) < 2**52 * digits else middle
