"""Whether C is what keeps a regression from its targets, as where these are large numbers."""

import numpy as np
from numpy.typing import NDArray

#: The standard deviation of the targets from which on standardised ones make a difference: it is like so much more C.
LARGE = 10.0
#: The share that half the squared norm has of what the weights gain, from which on C limits them.
LIMITED = 0.2
#: The share of the variance of the targets that stretched predictions would explain beside, for a warning to be due.
UNEXPLAINED = 0.1
#: The share of the targets' deviation that predictions have at most where C leaves next to nothing of either.
TINY = 0.02
#: Examples that tell something.
ENOUGH = 100

Floats = NDArray[np.float64]


def are_large(y: Floats) -> bool:
    """Whether targets, or some of them that weights may pick out, differ so much that standardised ones may help."""
    return float(np.ptp(y)) > LARGE


def describe_small_C(
    y: Floats,
    predicted: Floats,
    s: Floats,
    C: float,
    squared_norm: float,
    slopes: tuple[float, float],
    name: str,
    own: Floats | float = 0.0,
    drawn: bool = False,
) -> str:
    """A sentence on a C that is small for the targets y, which count with the weights s; "" where it is not.

    The loss costs `slopes` for each unit that a target is above the prediction, and below it. An example adds `own` to
    its own prediction. The intercept counts neither in `predicted` nor in the norm; it may be `drawn` to zero, from
    targets that are far from there.
    """
    if len(y) < ENOUGH or not s.any():
        return ""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # The slopes times C bound the dual variables. While most of these are at their bounds, w is C times a fixed
        # vector and takes ||w||^2 off the loss; the larger C, the more it takes for its norm.
        gained = float(np.einsum("i,i->", s, _costs(y, slopes) - _costs(y - predicted, slopes)))
        limited = squared_norm / 2 > LIMITED * C * gained
        unit = max(float(np.abs(y).max()), 1.0)  # of which squares do not overflow
        targets, share = _centred(y / unit, s), s / s.sum()
        deviation, spread = (_product(one, one, share) ** 0.5 for one in (targets, _centred(predicted / unit, s)))
        # Noise has such weights too, but stretching what others make of an example would not explain its target.
        others = _centred((predicted - own) / unit, s)
        variance = _product(others, others, share)
        stretch = np.divide(_product(targets, others, share), variance)
        promising = stretch > 1 and (stretch - 1) ** 2 * variance > UNEXPLAINED * deviation**2
        promising = promising or spread < TINY * deviation
        deviation, spread = unit * deviation, unit * spread
    if not (deviation > LARGE and limited and (drawn or promising)):
        return ""
    return (
        f"{name}: C={C:.3g} is small for targets of this size. They differ by about {deviation:.2g}, and the "
        f"predictions only by {spread:.2g}. Standardise the targets: {standardised(name)}; or raise C"
    )


def standardised(name: str) -> str:
    """How to fit a regression of that name to standardised targets."""
    return f"sklearn.compose.TransformedTargetRegressor({name}(), transformer=StandardScaler())"


def _centred(values: Floats, s: Floats) -> Floats:
    """The values less their mean. Not by BLAS, whose threads wait for long: as all sums here."""
    return values - np.einsum("i,i->", s, values) / s.sum()


def _product(a: Floats, b: Floats, share: Floats) -> float:
    return float(np.einsum("i,i,i->", share, a, b))


def _costs(targets: Floats, slopes: tuple[float, float]) -> Floats:
    """The losses of a constant that suits them."""
    above, below = slopes
    errors = targets - np.quantile(targets, above / (above + below))
    return np.maximum(above * errors, -below * errors)
