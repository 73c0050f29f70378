"""Help with the flags of a command in groups, and commands in the order in which they are used."""

from typing import Any, ClassVar

import click

from pegasos.cli.data import DataFlags
from pegasos.cli.options import ALL_SOLVERS, TASKS

#: What has a heading, in this order, and its flags by the names of their parameters. Flags of solvers and LIBLINEAR's
#: are found by their names; what is nowhere states the problem.
DATA = {*DataFlags._fields, "one_pass", "classes", "validation"}
STOPPING = {"tol", "max_iter", "max_time", "max_steps", "early_stopping", "validation_fraction", "n_iter_no_change"}
STOPPING |= {"warm_start", "checkpoint", "checkpoint_every", "resume"}
OUTPUT = {"quiet", "verbose", "as_json", "report", "overwrite"}
METHOD = {"solver", "n_jobs", "random_state", "cache_size"}

HEADINGS = {
    "data": "Data",
    "problem": "Problem",
    "stopping": "When to stop, and to go on",
    "solver": "Solver",
    "output": "Output",
    "liblinear": "As in LIBLINEAR",
}


def group_of(name: str) -> str:
    """The group that a parameter of ``pegasos train`` belongs to."""
    if name in DATA:
        return "data"
    if name in STOPPING:
        return "stopping"
    if name in OUTPUT:
        return "output"
    of_solver = any(name in cls.options for cls in ALL_SOLVERS.values())
    of_task = any(name in cls.options for cls in TASKS.values())
    if name in METHOD or (of_solver and not of_task):
        return "solver"
    return "liblinear" if name.startswith("liblinear_") else "problem"


class Grouped(click.Command):
    """A command whose help has a heading for each group of flags."""

    #: What comes first in its group.
    first: ClassVar = ("form", "label", "text", "task", "C", "alpha", "loss", "kernel", "gamma", "tol", "solver")

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        rows: dict[str, list[tuple[int, Any]]] = {group: [] for group in HEADINGS}
        for parameter in self.get_params(context):
            record, name = parameter.get_help_record(context), str(parameter.name)
            if record is None or not isinstance(parameter, click.Option):  # arguments are in the text above
                continue
            place = self.first.index(name) if name in self.first else len(self.first)
            rows["output" if "--help" in parameter.opts else group_of(name)].append((place, record))
        for group, own in rows.items():
            with formatter.section(HEADINGS[group]):
                formatter.write_dl([record for _, record in sorted(own, key=lambda row: row[0])])


class InOrder(click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)
