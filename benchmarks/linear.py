"""Time to come within 1% and 0.1% of the optimum of a linear SVM, beside LIBLINEAR, SGD, Snap ML and Vowpal Wabbit.

``python benchmarks/linear.py``: hinge loss, no intercept. Pegasos runs at the tol of the target and certifies it; every
peer runs at the loosest of its settings that gets there, which is found by trying them once, from loose to tight. Then
all take turns, each fit in a process of its own that has the data already; medians, as seconds and as ratios to
scikit-learn's LinearSVC. A table, a plot and the optima are written to the output folder. Objectives are computed here,
in double precision, and compared with the bounds of our most accurate certified run.
"""

import argparse
import functools
import math
import multiprocessing
import os
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peers import PEER, PEERS, Contender, available, pegasos_contenders
from problems import NAMES, Optimum, Problem, find_optimum, load, primal, results_folder
from timing import alternate, print_machine

FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Run:
    """One fit: how long it took, and what came of it."""

    seconds: float
    primal: float
    dual: float | None = None
    processor: float = math.inf  # seconds of all its threads
    failure: str = ""


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    data: str
    C: float
    target: float
    contender: str
    setting: float | None  # None: none of them reached the target
    seconds: float
    excess: float  # of the objective over the optimum: the worst of the repeats, or the best of the search
    processor: float = math.nan  # seconds of all threads, median; tells more than `seconds` on a busy machine


def child(pipe: Any, contender: Contender, problem: Problem, prepared: Any, C: float, setting: float) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # their warnings of not having converged
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    X = problem.X if prepared is None else prepared
    try:
        started, processor = time.perf_counter(), time.process_time()
        found = contender.fit(X, problem.y, C, setting)
        elapsed, processor = time.perf_counter() - started, time.process_time() - processor
        pipe.send(Run(elapsed, primal(problem, C, found.w), found.dual, processor))
    except Exception as error:
        pipe.send(Run(math.inf, math.inf, failure=f"{type(error).__name__}: {error}"))


def fit_apart(contender: Contender, problem: Problem, prepared: Any, C: float, setting: float, limit: float) -> Run:
    """One fit in a process of its own, which is ended after `limit` seconds: peers have no time limit."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=child, args=(theirs, contender, problem, prepared, C, setting))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(limit + 5) else Run(math.inf, math.inf, failure="out of time")
    except EOFError:
        return Run(math.inf, math.inf, failure=f"its process ended with code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def check(run: Run, optimum: Optimum, who: str) -> None:
    for line in optimum.violations(run.primal, run.dual):
        print(f"{line} ({who})", flush=True)


def search(
    contender: Contender,
    problem: Problem,
    prepared: Any,
    C: float,
    targets: Sequence[float],
    optimum: Optimum,
    limit: float,
) -> tuple[dict[float, float], float]:
    """The loosest setting for each target that is reached, and the best excess seen."""
    reached: dict[float, float] = {}
    best, started = math.inf, time.perf_counter()
    for setting in contender.settings:
        run = fit_apart(contender, problem, prepared, C, setting, limit)
        check(run, optimum, f"{contender.name} at {setting:g}")
        excess = optimum.excess(run.primal)
        print(
            f"  tried {contender.name} at {setting:g}: {run.seconds:.2f} s, {excess:.1e} above the optimum", flush=True
        )
        best = min(best, excess)
        for target in targets:
            if excess <= target:
                reached.setdefault(target, setting)
        # A tighter setting takes about as long or longer; the whole search must not take forever either.
        if len(reached) == len(targets) or run.seconds > limit or time.perf_counter() - started > 5 * limit:
            break
    if run.failure and run.failure != "out of time":
        print(f"{contender.name} on {problem.name}, C = {C:g}: {run.failure}")
    return reached, best


def compare(
    problem: Problem,
    C: float,
    targets: Sequence[float],
    contenders: Iterable[Contender],
    repeats: int,
    time_cap: float,
    folder: Path,
    prepared: dict[str, Any],
) -> list[Line]:
    """All the contenders on one problem."""
    optimum = find_optimum(problem, C, folder, max_time=time_cap)
    print(f"\n{problem}; C = {C:g}, optimum {optimum.primal:.8g}, known to {optimum.gap:.1e}", flush=True)
    chosen: dict[Contender, dict[float, float]] = {}
    best: dict[Contender, float] = {}
    ours = 0.0
    for contender in contenders:
        if contender.name.startswith("pegasos"):
            chosen[contender] = {target: target for target in targets}
            tightest = fit_apart(contender, problem, None, C, min(targets), time_cap)
            best[contender] = optimum.excess(tightest.primal)
            ours = max(ours, tightest.seconds)
            continue
        if contender.prepare and contender.name not in prepared:
            prepared[contender.name] = contender.prepare(problem.X, problem.y)
        # Everything is compared with the peer, so it alone may take as long as there is.
        limit = time_cap if contender.name == PEER else min(time_cap, max(10 * ours, 1.0))
        before = prepared.get(contender.name)
        chosen[contender], best[contender] = search(contender, problem, before, C, targets, optimum, limit)

    worst: dict[tuple[Contender, float], float] = {}
    processor: dict[tuple[Contender, float], list[float]] = {}

    def measure(contender: Contender, setting: float) -> float:
        run = fit_apart(contender, problem, prepared.get(contender.name), C, setting, 2 * time_cap)
        check(run, optimum, f"{contender.name} at {setting:g}")
        key = (contender, setting)
        worst[key] = max(worst.get(key, -math.inf), optimum.excess(run.primal))
        processor.setdefault(key, []).append(run.processor)
        return run.seconds

    pairs = {(contender, setting) for contender, settings in chosen.items() for setting in settings.values()}
    order = sorted(pairs, key=lambda pair: (pair[0].name, pair[1]))
    medians = alternate({pair: functools.partial(measure, *pair) for pair in order}, repeats)

    lines = []
    for target in targets:
        for contender, settings in chosen.items():
            setting = settings.get(target)
            if setting is None:
                line = Line(problem.name, C, target, contender.name, None, math.nan, best[contender])
            else:
                pair = (contender, setting)
                busy = statistics.median(processor[pair])
                line = Line(problem.name, C, target, contender.name, setting, medians[pair], worst[pair], busy)
                if line.excess > target:
                    print(f"MISSED: {contender.name} at {setting:g} ends {line.excess:.2e} above the optimum")
            lines.append(line)
        print_lines([line for line in lines if line.target == target])
    return lines


def print_lines(lines: Sequence[Line]) -> None:
    """One line per contender, for a target."""
    reference = next((line.seconds for line in lines if line.contender == PEER), math.nan)
    width = max(len(line.contender) for line in lines)
    print(f"to {lines[0].target:g}{'':{width - 6}}   median s  ratio to {PEER}  CPU s  setting  above the optimum")
    for line in lines:
        if line.setting is None:
            print(f"{line.contender:{width}}  not reached, best {line.excess:.1e}")
        else:
            ratio = line.seconds / reference
            print(
                f"{line.contender:{width}}  {line.seconds:8.3f}  {ratio:18.3f}  {line.processor:5.2f}  "
                f"{line.setting:7g}  {line.excess:.1e}"
            )
    sys.stdout.flush()


def write_table(lines: Sequence[Line], file: Path) -> None:
    """Markdown: a line for each problem and target, a column of seconds (and ratio to the peer) for each contender."""
    names = list(dict.fromkeys(line.contender for line in lines))
    rows = [f"| data | C | target | {' | '.join(names)} |", "|" + (3 + len(names)) * "---|"]
    cases: dict[tuple[str, float, float], dict[str, Line]] = {}
    for line in lines:
        cases.setdefault((line.data, line.C, line.target), {})[line.contender] = line
    for (data, C, target), found in cases.items():
        reference = found[PEER].seconds if PEER in found else math.nan
        cells = []
        for name in names:
            if name not in found:
                cells.append("")
            elif found[name].setting is None:
                cells.append(f"not reached, best {found[name].excess:.1e}")
            else:
                cells.append(f"{found[name].seconds:.3g} s ({found[name].seconds / reference:.2f})")
        rows.append(f"| {data} | {C:g} | {target:g} | {' | '.join(cells)} |")
    title = f"Seconds to come within the target of the optimum, and in brackets the ratio to {PEER}'s."
    file.write_text("\n".join([title, "", *rows, ""]))


def plot(lines: Sequence[Line], file: Path) -> None:
    """Seconds by problem, a panel for each target."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    targets = list(dict.fromkeys(line.target for line in lines))
    cases = list(dict.fromkeys(f"{line.data}\nC = {line.C:g}" for line in lines))
    size = (3 + 0.7 * len(cases), 4 * len(targets))
    figure, axes = pyplot.subplots(len(targets), figsize=size, squeeze=False, layout="constrained")
    for target, axis in zip(targets, axes[:, 0], strict=True):
        for name, marker in zip(dict.fromkeys(line.contender for line in lines), "ospDv^<>*XPh", strict=False):
            mine = [line for line in lines if line.contender == name and line.target == target]
            places = [cases.index(f"{line.data}\nC = {line.C:g}") for line in mine]
            axis.plot(places, [line.seconds for line in mine], marker, label=name)
        axis.set(yscale="log", ylabel=f"seconds to {target:.1%}", xticks=range(len(cases)), xticklabels=cases)
        axis.grid(axis="y", alpha=0.3)
    axes[0, 0].legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(file, dpi=120)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small synthetic data alone, to see that it runs")
    parser.add_argument("--data", nargs="+", default=list(NAMES), choices=[*NAMES, "tiny"])
    parser.add_argument("--C", nargs="+", type=float, default=[0.05, 1, 10])
    parser.add_argument("--targets", nargs="+", type=float, default=[0.01, 0.001])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-cap", type=float, default=300, help="seconds for one fit, and for finding an optimum")
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="leave out contenders so named")
    parser.add_argument("--output", type=Path, help="folder of table, plot and optima; default: results, beside this")
    arguments = parser.parse_args()
    folder = results_folder(arguments.output, arguments.tiny)
    names, Cs, repeats, time_cap = arguments.data, arguments.C, arguments.repeats, arguments.time_cap
    if arguments.tiny:
        names, Cs, repeats, time_cap = ["tiny"], [1.0], 1, 1.0

    print_machine()
    contenders = available([*pegasos_contenders((1, 2), arguments.targets), *PEERS])
    contenders = [each for each in contenders if not any(each.name.startswith(name) for name in arguments.without)]
    lines: list[Line] = []
    for name in names:
        problem = load(name)
        prepared: dict[str, Any] = {}
        for C in Cs if problem else ():
            lines += compare(problem, C, arguments.targets, contenders, repeats, time_cap, folder, prepared)
            write_table(lines, folder / "linear.md")
    if lines:
        plot(lines, folder / "linear.png")
    print_machine()
    print(f"largest memory of a process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:.1f} GB")


if __name__ == "__main__":
    main()
