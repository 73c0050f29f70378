"""Random cases by kind, all from a seed and a number."""

import time

import numpy as np

from .case import Case
from .data import pick
from .kernel_cases import kernel_case, large_kernel_case, scaled_kernel_case
from .linear_cases import (
    cross_validation_case,
    disk_case,
    joint_case,
    linear_case,
    overflow_case,
    ovr_case,
    path_case,
    regression_case,
    stream_case,
)
from .margin_cases import margin_case
from .sequence_cases import feature_map_case, sequence_case

#: Kinds of cases, and how often each is drawn.
KINDS = {
    "linear": (linear_case, 20),
    "ovr": (ovr_case, 8),
    "joint": (joint_case, 8),
    "regression": (regression_case, 16),
    "path": (path_case, 4),
    "cross-validation": (cross_validation_case, 2),
    "stream": (stream_case, 4),
    "disk": (disk_case, 1.5),
    "overflow": (overflow_case, 3),
    "kernel": (kernel_case, 30),
    "scaled kernel": (scaled_kernel_case, 3),
    "large kernel": (large_kernel_case, 0.02),
    "margin": (margin_case, 4),
    "sequence": (sequence_case, 4),
    "feature map": (feature_map_case, 2),
}


def run_case(seed, number, kind=None):
    """The case of this seed and number."""
    started = time.perf_counter()
    case = Case(seed, number, np.random.default_rng([seed, number]))
    names, weights = zip(*((name, weight) for name, (_, weight) in KINDS.items()), strict=True)
    drawn = pick(case.random, names, weights)
    case.kind = kind or drawn
    KINDS[case.kind][0](case, case.random)
    case.finish()
    case.seconds = time.perf_counter() - started
    case.random = None
    return case
