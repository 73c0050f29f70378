"""An experiment of a paper: jobs that measure, each stored when it is done, and a report made of what is stored."""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

from pegasos import solvers
from reproduce.common.charts import Chart, draw
from reproduce.common.store import Store, folders

__all__ = [
    "FAILED",
    "MODES",
    "NOT_RUN",
    "REPRODUCED",
    "WITH_A_DIFFERENCE",
    "Absent",
    "Claim",
    "Experiment",
    "Job",
    "Mode",
    "Report",
    "Table",
    "judged",
    "main",
    "on_other_data",
    "run",
    "solver",
]

REPRODUCED = "reproduced"
WITH_A_DIFFERENCE = "reproduced with a difference"
FAILED = "not reproduced"
NOT_RUN = "not run"

MODES = ("full", "quick", "smoke")


class Absent(Exception):
    """Data or a solver that a job needs is not here."""


class Found(dict[str, Any]):
    """What is stored so far; a job that needs what could not be made cannot be done either."""

    def __missing__(self, key: str) -> Any:
        raise Absent(f"it needs {key}")


class Mode(NamedTuple):
    """How much work is asked for: all of it, a reduced budget, or made-up data for the tests."""

    name: str

    def __call__(self, full: Any, quick: Any, smoke: Any) -> Any:
        """The value for this mode."""
        return {"full": full, "quick": quick, "smoke": smoke}[self.name]

    @property
    def smoke(self) -> bool:
        return self.name == "smoke"


class Job(NamedTuple):
    """A measurement: the name it is stored under, and what makes it, of plain values."""

    key: str
    work: Callable[[Mapping[str, Any]], Any]  # given what is stored so far


@dataclass(frozen=True)
class Claim:
    """What a paper says, beside what was found."""

    text: str
    published: str
    measured: str
    verdict: str
    note: str = ""  # the difference, or the reason


@dataclass(frozen=True)
class Table:
    """Rows of cells under names of columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join(f"| {' | '.join(cell or '–' for cell in cells)} |" for cells in lines)


@dataclass(frozen=True)
class Report:
    """What is shown of an experiment."""

    claims: Sequence[Claim]
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: str = ""  # how it was measured, and what differs from the paper


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of a paper."""

    name: str  # of the module
    title: str
    jobs: Callable[[Mode], Iterable[Job]]
    report: Callable[[Mapping[str, Any]], Report]
    stored_as: str = ""  # the experiment whose measurements these are, where it is another one
    expensive: int = 1  # the cheap ones run first

    @property
    def store_name(self) -> str:
        return self.stored_as or self.name


def judged(
    found: Mapping[str, Any],
    needs: Sequence[str],
    text: str,
    published: str,
    judge: Callable[..., tuple[str, str, str]],
    why_not: str = "",
) -> Claim:
    """The claim with what `judge` makes of the results that it needs: measured, verdict, note."""
    missing = [key for key in needs if key not in found]
    if missing:
        return Claim(text, published, "", NOT_RUN, why_not or f"no full run of {', '.join(missing)} is stored")
    return Claim(text, published, *judge(*(found[key] for key in needs)))


def on_other_data(claim: Claim, data: str) -> Claim:
    """The claim, where data stand in for the paper's: they can show the same with a difference at most."""
    if not data or claim.verdict == NOT_RUN:
        return claim
    verdict = WITH_A_DIFFERENCE if claim.verdict == REPRODUCED else claim.verdict
    return replace(claim, verdict=verdict, note=f"{claim.note}; {data}" if claim.note else data)


def solver(name: str, **options: Any) -> Any:
    """The solver of that name in the registry."""
    for cls in solvers.ALL:
        if cls.name == name:
            return cls(**options)
    raise Absent(f"this version has no solver {name!r}")


def run(experiment: Experiment, mode: Mode, chosen: str = "") -> Report:
    """Make what is not stored yet, then print the report and draw its charts."""
    results, images = folders(mode.name)
    store = Store(results / f"{experiment.store_name}.json")
    print(f"\n## {experiment.title} ({mode.name})\n", flush=True)
    for job in experiment.jobs(mode):
        if job.key in store.values or chosen not in job.key:
            continue
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # budgets are meant to end fits
                value = job.work(Found(store.values))
        except Absent as reason:
            print(f"{job.key}: not run, {reason}", flush=True)
            continue
        seconds = time.perf_counter() - started
        store.add(job.key, value, seconds)
        print(f"{job.key}: {seconds:.1f} s", flush=True)
    report = experiment.report(store.values)
    for table in report.tables:
        print(f"\n{table}")
    print(f"\n{claims_table(report.claims)}", flush=True)
    if mode.name != "full":
        print("\nThis is no full run: the verdicts are those of the code, not of the paper.")
    for chart in report.charts:
        draw(chart, images)
    return report


def claims_table(claims: Sequence[Claim]) -> Table:
    rows = [
        [
            claim.text,
            f"**{claim.verdict}**" + (f": {claim.note}" if claim.note else ""),
            claim.published,
            claim.measured,
        ]
        for claim in claims
    ]
    return Table(["claim", "verdict", "published", "measured"], rows)


def arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--quick", action="store_true", help="reduced budgets, in minutes; stored apart")
    group.add_argument("--smoke", action="store_true", help="made-up data, in seconds; not stored")
    parser.add_argument("--only", default="", metavar="TEXT", help="only measurements with this in their names")


def mode_of(given: argparse.Namespace) -> Mode:
    return Mode("quick" if given.quick else "smoke" if given.smoke else "full")


def main(experiment: Experiment) -> None:
    """The script of one experiment."""
    parser = argparse.ArgumentParser(description=experiment.title)
    arguments(parser)
    given = parser.parse_args()
    run(experiment, mode_of(given), given.only)
