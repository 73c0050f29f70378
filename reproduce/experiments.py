"""All experiments, in the order of the papers."""

import importlib

from reproduce.common.experiment import Experiment

__all__ = ["EXPERIMENTS"]

NAMES = (
    *(f"s0_table{number}" for number in (1, 2, 3)),
    *(f"s0_fig{number}" for number in (4, 5, 6, 7, 8, 9)),
    *(f"s2_fig{number}" for number in (2, 3, 4)),
    *(f"s3_table{number}" for number in range(1, 9)),
    "s4_fig2",
    "s4_fig3",
    "s4_table2",
    "s4_wall_clock",
)

EXPERIMENTS: tuple[Experiment, ...] = tuple(importlib.import_module(f"reproduce.{name}").EXPERIMENT for name in NAMES)
