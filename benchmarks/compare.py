"""Two commits side by side: the same fits, in turn, and the ratio of their times with an interval.

``python benchmarks/compare.py OLD NEW``: each is a git revision, ``worktree`` (the files as they are) or ``installed``
(the package of the interpreter that runs this); HEAD and worktree where none is named. A revision is built once, for
this processor only, under ``build/compare``. Both sides get the same data, and fit in processes of their own, of which
one works at a time: once to warm up, then OLD NEW, NEW OLD and so on, more often where fits are short. The processes
are started anew a few times, as where a process has its memory may make it faster or slower for as long as it lives.

The ratio is the median of the ratios NEW/OLD of neighbouring fits. Its interval is that of the sign test: it assumes
nothing of how times are distributed, but that pairs are independent. An interval below 1.02 says: at most 2% slower.
Of the same code on both sides it holds 1 in 19 cases of 20; look at them together, and again with more repeats.
"""

import argparse
import functools
import json
import math
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from compare_builds import INSTALLED, ROOT, WORKTREE, Build, find_build, level
from compare_cases import CASES, Case, choose
from timing import alternate, print_machine

CONFIDENCE = 0.95
OLD, NEW = "old", "new"


class Worker:
    """A process that fits with the package of one side."""

    def __init__(self, build: Build) -> None:
        environment = dict(os.environ)
        if build.path is not None:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(build.path), os.environ.get("PYTHONPATH")]))
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).with_name("compare_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        package = Path(self._reply()["package"]).resolve()
        if build.path is not None and not package.is_relative_to(build.path):
            self.process.kill()
            raise RuntimeError(f"the worker of {build.revision} imported {package}, not what is in {build.path}")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._reply()

    def _reply(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended with status {self.process.wait()}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()


@dataclass
class Fits:
    """Those of one side: seconds of the wall clock and of processors, and the last certificate."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    certificate: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """The fits of a case; pairs have the same number on both sides."""

    case: Case
    data: Path
    repeats: int = 0  # of each side, once it is known how long a fit takes
    fits: dict[str, Fits] = field(default_factory=lambda: {OLD: Fits(), NEW: Fits()})
    error: str = ""

    def medians(self, clock: str) -> dict[str, float]:
        return {side: statistics.median(getattr(fits, clock)) for side, fits in self.fits.items()}

    def ratios(self, clock: str) -> list[float]:
        pairs = zip(getattr(self.fits[NEW], clock), getattr(self.fits[OLD], clock), strict=True)
        return [new / old for new, old in pairs]


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The narrowest interval of the sign test for the median that is at least so certain, and how certain it is.

    Between the k-th smallest and the k-th largest of n values the median is missed if fewer than k of them are on one
    side of it, as with n tosses of a coin. Of few values even the smallest and the largest may be less certain.
    """
    n, ordered = len(values), sorted(values)
    below = [sum(math.comb(n, j) for j in range(k)) / 2**n for k in range(n // 2 + 1)]  # fewer than k heads
    k = max((k for k in range(1, n // 2 + 1) if 1 - 2 * below[k] >= confidence), default=1)
    return ordered[k - 1], ordered[n - k], max(0.0, 1 - 2 * below[k]) if n > 1 else 0.0


def prepare(cases: Sequence[Case], folder: Path, tiny: bool) -> list[Result]:
    """The data of the cases in files, so that both sides have the same; without those whose data are not here."""
    results = []
    for case in cases:
        data = case.data(tiny)
        if data is None:
            continue
        file = folder / f"{case.name}.pickle"
        file.write_bytes(pickle.dumps(data, protocol=5))
        results.append(Result(case, file))
    return results


def measure(result: Result, workers: dict[str, Worker], turn: int, arguments: argparse.Namespace) -> None:
    """Warm up, then this turn's share of the pairs of fits, of which every other one begins with the new side."""
    parameters = {"random_state": 0, "n_jobs": arguments.n_jobs} | result.case.parameters
    request = {"data": str(result.data), "estimator": result.case.estimator, "parameters": parameters}
    replies = {side: worker.ask(request) for side, worker in workers.items()}
    result.error = "; ".join(f"{side}: {reply['error']}" for side, reply in replies.items() if "error" in reply)
    if result.error:
        return
    if not result.repeats:
        wanted = math.ceil(arguments.seconds / max(reply["wall"] for reply in replies.values()))
        result.repeats = max(arguments.repeats, min(wanted, 10 * arguments.repeats))

    def fit(side: str) -> float:
        reply, fits = workers[side].ask({"fit": True}), result.fits[side]
        if "error" in reply:
            raise RuntimeError(f"{result.case.name}, {side}: {reply['error']}")
        fits.wall.append(reply["wall"])
        fits.cpu.append(reply["cpu"])
        fits.certificate = reply["certificate"]
        return reply["wall"]

    first, last = (k * result.repeats // arguments.processes for k in (turn, turn + 1))
    for pair in range(first, last):
        sides = (OLD, NEW) if pair % 2 == 0 else (NEW, OLD)
        alternate({side: functools.partial(fit, side) for side in sides}, 1)


def print_results(results: Sequence[Result], clock: str) -> None:
    print()
    print_row("", "fits", "old s", "new s", "ratio", "interval", "gap old", "new", "rounding old", "new")
    for result in results:
        if result.error:
            print(f"{result.case.name:21}  left out: {result.error}")
            continue
        ratios, medians = result.ratios(clock), result.medians(clock)
        low, high, _ = median_interval(ratios)
        print_row(
            result.case.name,
            str(result.repeats),
            *(f"{medians[side]:.4f}" for side in (OLD, NEW)),
            f"{statistics.median(ratios):.3f}",
            f"{low:.3f} to {high:.3f}",
            *(tell(result.fits[side].certificate, "gap") for side in (OLD, NEW)),
            *(tell(result.fits[side].certificate, "rounding") for side in (OLD, NEW)),
        )


def print_row(name: str, *cells: str) -> None:
    widths = (4, 8, 8, 6, 14, 8, 8, 12, 8)
    print(f"{name:21}  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip())


def tell(certificate: dict[str, Any], name: str) -> str:
    """A number of the certificate; with a star where the fit did not get to its tolerance."""
    value = certificate[name]
    if value is None:
        return ""
    return f"{value:.1e}" + ("*" if name == "gap" and certificate["converged"] is False else "")


def as_dict(result: Result, clock: str) -> dict[str, Any]:
    case = result.case
    found: dict[str, Any] = {"case": case.name, "estimator": case.estimator, "parameters": case.parameters}
    if result.error:
        return found | {"error": result.error}
    ratios, medians = result.ratios(clock), result.medians(clock)
    low, high, confidence = median_interval(ratios)
    found |= {"ratio": statistics.median(ratios), "interval": [low, high], "confidence": confidence}
    return found | {side: {"median": medians[side], **asdict(fits)} for side, fits in result.fits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", help="revision, worktree or installed (default: HEAD)")
    parser.add_argument("new", nargs="?", help="the same (default: worktree)")
    parser.add_argument("--tiny", action="store_true", help="small data and few fits, to see that it runs")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--cases", nargs="+", metavar="NAME", help="names of cases, or how they begin")
    parser.add_argument("--repeats", type=int, default=15, help="fits of each side, at the least")
    parser.add_argument("--seconds", type=float, default=2.0, help="repeat short fits until they take so long together")
    parser.add_argument("--processes", type=int, default=3, help="how often the processes are started")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads of a fit")
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu for machines others use too")
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "compare", help="folder of the builds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    arguments = parser.parse_args()
    if arguments.list:
        print(*CASES, sep="\n")
        return
    try:
        cases = choose(arguments.cases)
    except ValueError as error:
        parser.error(str(error))
    if arguments.tiny:
        cases = [case for case in cases if not case.real]
        arguments.repeats, arguments.seconds, arguments.processes = 2, 0.0, 1
    arguments.processes = min(arguments.processes, arguments.repeats)
    if arguments.processes < 1:
        parser.error("--repeats and --processes must be at least 1")

    by_default = (INSTALLED, INSTALLED) if arguments.tiny else ("HEAD", WORKTREE)
    revisions = (arguments.old or by_default[0], arguments.new or by_default[1])
    try:
        found_builds = [find_build(revision, arguments.cache.resolve()) for revision in revisions]
    except RuntimeError as error:
        raise SystemExit(str(error)) from None
    builds = dict(zip((OLD, NEW), found_builds, strict=True))
    for side, build in builds.items():
        print(f"{side}: {build.revision}, {build.description}")
    print_machine()
    with tempfile.TemporaryDirectory() as folder:
        results = prepare(cases, Path(folder), arguments.tiny)
        for turn in range(arguments.processes):
            with Worker(builds[OLD]) as old, Worker(builds[NEW]) as new:
                for result in results:
                    if not result.error:
                        measure(result, {OLD: old, NEW: new}, turn, arguments)
            print(f"processes {turn + 1} of {arguments.processes} done", flush=True)
    if not results:
        print("no ratio: no case has data here")
        return
    print_results(results, arguments.clock)
    confidence = min(CONFIDENCE, median_interval(range(arguments.repeats))[2])
    print(f"\nMedians of so many fits of each side, {arguments.clock} clock, n_jobs={arguments.n_jobs}.")
    print(f"The ratio is new/old, its interval at least {confidence:.0%} certain. * not converged")
    print_machine()
    if arguments.json:
        sides = {side: {"revision": build.revision, "description": build.description} for side, build in builds.items()}
        settings = {name: getattr(arguments, name) for name in ("clock", "n_jobs", "processes")}
        found = [as_dict(result, arguments.clock) for result in results]
        arguments.json.write_text(json.dumps({**sides, **settings, "level": level(), "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
