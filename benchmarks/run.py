"""Pegasos beside other packages: the time to come within 0.1% of the optimum, over data, losses and kinds of problems.

``python benchmarks/run.py --against sklearn,snapml``; without it, beside all packages of ``peers/``. A problem is
stated to every package that can state it. Pegasos runs at tol equal to the target and certifies it. A rival runs at the
loosest of its settings that gets there, found by trying them from loose to tight, and is given up at ten times our
time. Then all take turns, each in a process of its own that has the data already; medians. Objectives are computed in
double precision (``objective.py``), and compared with the lower bound of our most accurate certified run. Sequences are
the exception: CRFsuite minimises something else, and so has to reach our share of right labels less 0.1%.

What is found is written as JSON. ``plot.py`` draws it, ``docs/tables.py`` makes the tables of docs/benchmarks.md of it.
"""

import argparse
import datetime
import json
import math
import os
import platform
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cases import CASES, TINY, Case
from contest import Contender, Run, contenders
from datasets import has_real_data
from objective import Problem
from peers import NAMES, OURS, Peer, get, limit_threads
from timing import load_average, print_machine, processor, results_folder

LEAST = 2.0  # seconds for a fit that a rival has at least
REACHED, MISSED, STOPPED = "reached", "did not reach", "stopped"


@dataclass
class Line:
    """A contender on a problem."""

    peer: str
    way: str
    status: str  # one of the three above, or why it failed
    setting: Any = None
    above: float = math.inf  # the optimum, relatively: the worst of the repeats, or the best of the search
    seconds: float = math.inf
    processor: float = math.inf
    times: list[float] = field(default_factory=list)
    processor_times: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Goal:
    """What is to be reached."""

    bound: float  # on the optimum, from below; of sequences our share of wrong labels
    target: float
    relative: bool

    def above(self, run: Run) -> float:
        return run.value / self.bound - 1 if self.relative else run.value - self.bound

    def reached(self, run: Run) -> bool:
        return self.above(run) <= self.target


def set_goal(ours: Contender, problem: Problem, target: float, max_time: float) -> tuple[Goal, float, float]:
    """The goal, the seconds of our fit that reaches it, and how well the optimum is known."""
    tol = tol_of(problem, target)
    first = ours.fit(tol, None)
    if first.failure:
        raise RuntimeError(f"pegasos on {problem.key}: {first.failure}")
    if problem.kind == "sequence":
        return Goal(first.value, target, relative=False), first.seconds, math.nan
    best = ours.fit(1e-6, None, max_time=max_time)
    if best.failure or best.dual is None:
        raise RuntimeError(f"pegasos on {problem.key}: {best.failure or 'no bound'}")
    return Goal(best.dual, target, relative=True), first.seconds, best.value / best.dual - 1


def tol_of(problem: Problem, target: float) -> float:
    return 0.1 if problem.kind == "sequence" else target


def search(contender: Contender, goal: Goal, limit: float) -> Line:
    """The loosest of its settings that reaches the goal; where none does, why."""
    line = Line(contender.peer.package, contender.name, MISSED)
    spent = 0.0
    for setting in contender.way.settings:
        run = contender.fit(setting, limit)
        if run.failure == "stopped":
            line.status = STOPPED
            return line
        if run.failure:
            line.status = run.failure
            if contender.process is None:
                return line
            continue  # some refuse loose settings
        check(contender, goal, run)
        line.above = min(line.above, goal.above(run))
        if goal.reached(run):
            return Line(line.peer, line.way, REACHED, setting, line.above, run.seconds)
        line.status = MISSED
        spent += run.seconds
        if spent > 1.5 * limit:
            line.status = STOPPED
            break
    return line


def check(contender: Contender, goal: Goal, run: Run) -> None:
    """An objective below the bound means that a model was misread, or that a certificate is wrong."""
    if goal.relative and run.value < goal.bound * (1 - 1e-7):
        print(f"VIOLATION: {contender.name}: {run.value!r} is below the bound on the optimum, {goal.bound!r}")


def compare(problem: Problem, peers: Sequence[Peer], options: argparse.Namespace) -> dict[str, Any] | None:
    """All the contenders on one problem."""
    print(f"\n{problem.key}; {problem.data}", flush=True)
    with contenders([get(OURS), *peers], problem) as (ours, *rivals):
        try:
            goal, took, gap = set_goal(ours, problem, options.target, options.optimum_time)
        except RuntimeError as error:
            print(f"left out: {error}")
            return None
        limit = max(options.stop_after * took, LEAST)
        lines = [Line(OURS, ours.name, REACHED, tol_of(problem, options.target), seconds=took)]
        lines += [search(rival, goal, limit) for rival in rivals]
        turns = [
            (contender, line) for contender, line in zip((ours, *rivals), lines, strict=True) if line.status == REACHED
        ]
        for _, line in turns:
            line.above = -math.inf
        for turn in range(options.repeats):
            for contender, line in turns:
                # What takes long, or several times ours, needs fewer.
                if turn < 3 or line.seconds < min(5 * took, 1.0):
                    measure(contender, line, goal, 2 * limit)
    for line in lines:
        if line.times:
            line.seconds, line.processor = statistics.median(line.times), statistics.median(line.processor_times)
    report(lines)
    return {
        "problem": problem.key,
        "data": problem.data.name,
        "rows": len(problem.data.y),
        "features": 0 if problem.kind == "sequence" else problem.data.X.shape[1],
        "kind": problem.kind,
        "loss": ("joint " if problem.joint else "") + problem.loss,
        "intercept": problem.intercept,
        "C": problem.C,
        "classes": problem.n_classes,
        "optimum_known_to": None if math.isnan(gap) else gap,
        "contenders": [
            {name: None if value in (math.inf, -math.inf) else value for name, value in asdict(line).items()}
            for line in lines
        ],
    }


def measure(contender: Contender, line: Line, goal: Goal, limit: float) -> None:
    run = contender.fit(line.setting, limit)
    if run.failure:
        line.status = STOPPED if run.failure == "stopped" else run.failure
        return
    check(contender, goal, run)
    line.above = max(line.above, goal.above(run))
    line.times.append(run.seconds)
    line.processor_times.append(run.processor)
    if not goal.reached(run):
        line.status = MISSED


def report(lines: Sequence[Line]) -> None:
    """One line per contender, with its ratio to ours."""
    ours = lines[0]
    width = max(len(line.way) for line in lines)
    print(f"{'':{width}}  median s   ratio  processor s   ratio  above the optimum  setting")
    for line in lines:
        if line.status != REACHED:
            print(f"{line.way:{width}}  {line.status}, at best {line.above:.1e} above")
            continue
        print(
            f"{line.way:{width}}  {line.seconds:8.4f}  {line.seconds / ours.seconds:6.2f}  {line.processor:11.4f}  "
            f"{line.processor / ours.processor:6.2f}  {line.above:17.1e}  {line.setting:g}",
            flush=True,
        )


def chosen_cases(options: argparse.Namespace) -> list[Case]:
    cases = TINY if options.tiny else [case for case in CASES if has_real_data() or not case.real]
    if options.data:
        cases = [case for case in cases if case.data.partition(":")[0] in options.data]
    return [case for case in cases if not options.losses or case.loss in options.losses]


def chosen_peers(names: Sequence[str]) -> tuple[list[Peer], list[str]]:
    """The packages that are installed, and the others."""
    peers = [get(name) for name in names]
    missing = [peer.package for peer in peers if peer.version is None]
    for package in missing:
        print(f"{package}: not installed")
    return [peer for peer in peers if peer.version is not None], missing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=lambda text: text.split(","), default=list(NAMES), metavar="NAME,NAME")
    parser.add_argument("--data", nargs="+", help="of these sets only")
    parser.add_argument("--kinds", nargs="+", choices=["linear", "kernel", "sequence"], help="problems of these kinds")
    parser.add_argument("--losses", nargs="+", help="of these losses only")
    parser.add_argument("--target", type=float, default=1e-3, help="distance from the optimum to come within, relative")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument(
        "--clock",
        choices=["wall", "cpu"],
        default="wall",
        help="what tables and charts show: the time that passes, or processor seconds, on a machine that others use",
    )
    parser.add_argument("--threads", type=int, help="for every contender; default: as many as each takes by itself")
    parser.add_argument("--stop-after", type=float, default=10.0, help="times our time: when to give a rival up")
    parser.add_argument("--optimum-time", type=float, default=20.0, help="seconds for finding an optimum")
    parser.add_argument("--output", type=Path, help="folder of run.json; default: results, beside this")
    parser.add_argument("--tiny", action="store_true", help="small made data alone, to see that it runs")
    options = parser.parse_args()
    if options.tiny:
        options.repeats = 1
    folder = results_folder(options.output, options.tiny)
    if options.threads:
        limit_threads(options.threads)

    print_machine()
    peers, missing = chosen_peers(options.against)
    found: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "clock": options.clock,
        "threads": options.threads,
        "target": options.target,
        "stop_after": options.stop_after,
        "versions": {peer.package: peer.version for peer in [get(OURS), *peers]},
        "not_installed": missing,
        "load": [load_average()],
        "problems": [],
    }
    with tempfile.TemporaryDirectory(prefix="pegasos-") as scratch:
        tempfile.tempdir = scratch  # of all contenders: those that are stopped leave their files
        for case in chosen_cases(options):
            problem = case.problem()
            if problem is None or (options.kinds and problem.kind not in options.kinds):
                continue
            one = compare(problem, peers, options)
            if one is not None:
                found["problems"].append(one)
                found["load"].append(load_average())
                (folder / "run.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nwritten: {folder / 'run.json'}")
    print_machine()


if __name__ == "__main__":
    main()
