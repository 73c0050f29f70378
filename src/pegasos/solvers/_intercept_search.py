"""The outer loop over a free intercept (S0 section 6, last approach): where to look next."""

from dataclasses import dataclass


@dataclass
class End:
    """An end of the bracket."""

    b: float
    slope: float


class RootSearch:
    """Looks for the root of a rising function, the derivative of the convex J(b), from values that carry noise.

    It steps out, twice as far each time, until the root is between two places, and then takes the secant's, by the
    Illinois rule. An end that has stood for three places is forgotten, as its value may have been wrong: the search
    steps out again from where it is.

    Examples
    --------
    >>> search = RootSearch(step=1.0)
    >>> b = 0.0
    >>> for _ in range(12):
    ...     b = search.after(b, b**3 - 5)
    >>> round(b, 4)
    1.71
    """

    def __init__(self, step: float = 1.0) -> None:
        self.step = step
        self.ends: dict[int, End] = {}  # by the sign of the derivative
        self.last_side = 0
        self.same_side = 0

    def after(self, b: float, slope: float) -> float:
        """Where to look after the derivative at b turned out to be `slope`."""
        if slope == 0:
            return b
        side = 1 if slope > 0 else -1
        self.same_side = self.same_side + 1 if side == self.last_side else 1
        self.last_side = side
        self.ends[side] = End(b, slope)
        other = self.ends.get(-side)
        if other is not None and self.same_side == 3:
            self.step = abs(other.b - b)
            del self.ends[-side]
            other = None
        if other is None or (other.b - b) * side >= 0:
            self.ends.pop(-side, None)
            self.step *= 2
            return b - side * self.step / 2
        if self.same_side > 1:
            other.slope /= 2
        share = slope / (slope - other.slope)  # of the way to the other end
        return b + min(max(share, 0.1), 0.9) * (other.b - b)
