"""What a run of `run.py` says: ratios of rivals' times to ours, for charts and for the tables of the documentation.

``python benchmarks/summary.py RUN.json SHORT.json`` writes what these need of a run.
"""

import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Ratio", "Summary", "best_ways", "clock_of", "geometric_mean", "group_of", "losses", "read", "summaries"]

OURS = "pegasos"
SLOWER = 1.1  # times a rival's time: from here on we say that we lose


@dataclass(frozen=True)
class Ratio:
    """A package's best way on a problem: its time divided by ours; above 1 means that ours is faster."""

    package: str
    way: str
    problem: dict[str, Any]
    ratio: float
    ours: float  # seconds
    theirs: float


@dataclass(frozen=True)
class Summary:
    """A package over all problems that it can state."""

    package: str
    stated: int
    reached: int
    mean: float  # geometric, of the ratios
    worst: Ratio | None
    best: Ratio | None


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def clock_of(run: dict[str, Any]) -> str:
    """The field with the times of that run's clock."""
    return "processor" if run["clock"] == "cpu" else "seconds"


def group_of(problem: dict[str, Any]) -> str:
    """The kind of a problem, in words."""
    if problem["kind"] != "linear":
        return {"kernel": "Gaussian kernel", "sequence": "sequences"}[problem["kind"]]
    if problem["classes"] > 2:
        return "linear, several classes"
    return "linear, two classes" if problem["classes"] else "linear regression"


def best_ways(run: dict[str, Any]) -> list[Ratio]:
    """Of each package on each problem, the fastest of its ways that reached the goal."""
    clock, found = clock_of(run), {}
    for problem in run["problems"]:
        ours, *rivals = problem["contenders"]
        for line in rivals:
            if line["status"] != "reached":
                continue
            one = Ratio(line["peer"], line["way"], problem, line[clock] / ours[clock], ours[clock], line[clock])
            key = (one.package, problem["problem"])
            if key not in found or one.ratio < found[key].ratio:
                found[key] = one
    return list(found.values())


def summaries(run: dict[str, Any]) -> list[Summary]:
    """One for each package, the fastest first; those that reached nothing last."""
    ratios = best_ways(run)
    found = []
    for package in run["versions"]:
        if package == OURS:
            continue
        stated = sum(any(line["peer"] == package for line in problem["contenders"]) for problem in run["problems"])
        own = sorted((one for one in ratios if one.package == package), key=lambda one: one.ratio)
        mean = geometric_mean(one.ratio for one in own)
        found.append(Summary(package, stated, len(own), mean, own[0] if own else None, own[-1] if own else None))
    return sorted(found, key=lambda one: one.mean if one.reached else math.inf)


def losses(run: dict[str, Any]) -> list[Ratio]:
    """Problems on which a rival is more than 1.1 times as fast as we, with the fastest; largest difference first."""
    fastest: dict[str, Ratio] = {}
    for one in sorted(best_ways(run), key=lambda one: one.ratio):
        fastest.setdefault(one.problem["problem"], one)
    return [one for one in fastest.values() if one.ratio * SLOWER < 1]


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def shorten(run: dict[str, Any]) -> str:
    """The run as JSON without what its tables and charts do not need: a line for each package's best on a problem."""
    clock = clock_of(run)
    problems = []
    for problem in run["problems"]:
        best: dict[str, dict[str, Any]] = {}
        for line in sorted(problem["contenders"], key=lambda line: (line["status"] != "reached", line[clock] or 0)):
            best.setdefault(line["peer"], line)
        lines = [line for line in problem["contenders"] if line is best[line["peer"]]]
        contenders = [{key: line[key] for key in ("peer", "way", "status", clock) if key in line} for line in lines]
        head = {key: problem[key] for key in ("problem", "rows", "features", "kind", "classes")}
        rows = ",\n  ".join(map(json.dumps, contenders))
        problems.append(f'{json.dumps(head)[:-1]}, "contenders": [\n  {rows}\n ]}}')
    head = {key: value for key, value in run.items() if key not in ("problems", "stop_after")}
    head["load"] = [min(run["load"]), max(run["load"])]
    parts = ",\n ".join(problems)
    return f'{json.dumps(head)[:-1]}, "problems": [\n {parts}\n]}}\n'


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(shorten(read(Path(sys.argv[1]))), encoding="utf-8")
