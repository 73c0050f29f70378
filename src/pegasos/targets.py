"""Targets of a regression that are far from zero."""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["near_median"]

#: How many times farther from zero than from each other targets are before they are shifted.
FAR = 16.0


def near_median(y: NDArray[np.float64]) -> float:
    """A number near the median, of few digits, where the targets are much farther from zero than from it; else 0.

    A free intercept makes up for whatever is taken off all targets, and what is left of them has digits to spare.

    Examples
    --------
    >>> near_median(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]))
    1000000002.0
    >>> near_median(np.array([-1.0, 2.0, 3.0]))
    0.0
    """
    median = float(np.median(y))
    spread = float(np.abs(y - median).max())
    if not abs(median) > FAR * spread:
        return 0.0
    if spread == 0 or abs(median) / spread > 2.0**50:
        return median
    step = 2.0 ** math.floor(math.log2(spread))
    return round(median / step) * step
