"""What a fit to spread examples leaves in an estimator."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pegasos.base.estimator import shortfall
from pegasos.base.outcome import Point, Solution
from pegasos.linear.distributed.plan import Plan

__all__ = ["store"]


def store(machine: Any, plan: Plan, found: Sequence[Solution[Point]]) -> str:
    """Give the estimator what was found. Returns what to do about it where it is not within `tol`."""
    coef = np.array([one.point.w[:-1] for one in found])
    machine._store_weights(coef, np.array([float(one.point.w[-1]) * plan.bias for one in found]))
    machine._store(found, found[0].seconds)
    machine.n_features_in_ = plan.n_features
    if plan.names is not None:
        machine.feature_names_in_ = np.array(plan.names, dtype=object)
    if len(plan.classes):
        machine.classes_ = plan.classes
    return shortfall(machine.certificate_, machine._plain_advice)
