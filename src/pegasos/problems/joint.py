"""The problem of all classes jointly, as handed to a solver."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos._core import native
from pegasos.base.outcome import Point
from pegasos.base.problem import Problem

#: The losses that have a form for all classes together.
JOINT_LOSSES = ("hinge", "log_loss")


@dataclass(frozen=True, kw_only=True)
class JointProblem(Problem[Point]):
    """Minimise ``1/2 ||W||^2 + C sum_i s_i l(x_i W, y_i)``; see `cpp/classes/multiclass.hpp` for the losses."""

    label: ClassVar[str] = "multi_class='joint'"

    core: native.JointProblem
    dimension: int  # of a column of W: the features and the intercept
    n_classes: int
    largest_norm: float  # of a row
    entries: float  # in all rows together


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
