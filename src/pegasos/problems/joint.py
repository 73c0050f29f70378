"""The problem of all classes jointly, as handed to a solver."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos._core import native

__all__ = ["JointProblem", "check_cost"]


@dataclass(frozen=True)
class JointProblem:
    """Minimise ``1/2 ||W||^2 + C sum_i s_i l(x_i W, y_i)``; see `cpp/classes/multiclass.hpp` for the losses."""

    core: native.JointProblem
    n_rows: int
    dimension: int  # of a column of W: the features and the intercept
    n_classes: int
    entries: float  # in all rows together
    C: float
    total_weight: float

    @property
    def alpha(self) -> float:
        """The papers' lambda."""
        return 1 / (self.C * self.total_weight)


def check_cost(given: ArrayLike | None, n_classes: int) -> NDArray[np.float64]:
    """What it costs to take one class for another; 1 where nothing is given."""
    if given is None:
        return 1.0 - np.eye(n_classes)
    try:
        cost = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        cost = np.empty(0)
    if cost.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost must be {n_classes} rows of {n_classes} numbers, one for each class in the order of classes_"
        )
    if not ((cost >= 0) & (cost < np.inf)).all() or cost.diagonal().any():
        raise ValueError("cost must be finite, not negative, and zero on the diagonal: what is right costs nothing")
    return cost
