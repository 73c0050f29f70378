"""Time to come within 0.1% of the optimum of a kernel SVM with a bias, beside scikit-learn and its Intel extension.

``python benchmarks/kernel.py``: Gaussian kernel, `pegasos.SVC`, `sklearn.svm.SVC` (LIBSVM) and `sklearnex.svm.SVC`
(scikit-learn-intelex), through their public interfaces. Pegasos gets the data as they come, runs at tol equal to the
target and certifies it. A peer gets the kind of input, dense or CSR in single or double precision, with which it was
fastest on a sample, and runs at the loosest of its tolerances that comes within the target, found by trying them from
loose to tight. Then all take turns, each fit in a process of its own that has the data already; medians, and ratios to
pegasos. Prediction on the test set is timed too. Objectives are computed here, in double precision, with the best
intercept, and compared with the bounds of our most accurate certified run.
"""

import argparse
import functools
import hashlib
import importlib
import math
import multiprocessing
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from kernel_problems import CASES, KINDS, Case, as_kind, evaluate, find_optimum, kind_of, load_case
from problems import Optimum, results_folder
from timing import alternate, print_machine

FORK = multiprocessing.get_context("fork")  # threads of a peer's run time are never started in this process
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.005, 0.003, 0.002, 0.001, 3e-4, 1e-4, 1e-5)
OURS = "pegasos"


@dataclass(frozen=True, eq=False)
class Contender:
    """A class with scikit-learn's parameters, and the package it comes from."""

    name: str
    package: str
    options: dict[str, Any]

    @property
    def ours(self) -> bool:
        return self.package == "pegasos"

    def make(self, case: Case, tol: float, cache_size: float) -> Any:
        options = dict(C=case.C, gamma=case.gamma, tol=tol, cache_size=cache_size, **self.options)
        return importlib.import_module(self.package).SVC(**options)


CONTENDERS = [
    Contender(OURS, "pegasos", {"random_state": 0}),
    Contender("pegasos, n_jobs=1", "pegasos", {"random_state": 0, "n_jobs": 1}),
    Contender("scikit-learn", "sklearn.svm", {}),
    Contender("scikit-learn-intelex", "sklearnex.svm", {}),
]


@dataclass(frozen=True, eq=False)
class Run:
    """One fit and one prediction: how long they took, and what came of them."""

    seconds: float = math.inf
    predicting: float = math.inf
    error: float = math.nan
    support: Any = None
    dual_coef: Any = None
    bound: float | None = None  # on the optimum, from below
    failure: str = ""


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    data: str
    contender: str
    kind: str
    tol: float
    seconds: float
    excess: float = math.nan  # of the objective over the optimum: the worst of the repeats
    predicting: float = math.nan
    error: float = math.nan
    failure: str = ""  # why there is no time; `seconds` is then what was spent in vain


def child(pipe: Any, contender: Contender, case: Case, kind: str, tol: float, cache_size: float) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # warnings of not having converged
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    try:
        X, X_test = as_kind(case.X, kind), as_kind(case.X_test, kind)
        some = np.unique(np.concatenate([np.flatnonzero(case.y == label)[:10] for label in np.unique(case.y)]))
        # What a package does once in a process is not timed.
        contender.make(case, tol, cache_size).fit(X[some], case.y[some]).predict(X_test[:10])
        model = contender.make(case, tol, cache_size)
        started = time.perf_counter()
        model.fit(X, case.y)
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        done = time.perf_counter()
        error = float((predicted != case.y_test).mean())
        bound = model.certificate_.dual if contender.ours else None
        dual_coef = as_kind(model.dual_coef_, "dense float64")
        pipe.send(Run(fitted - started, done - fitted, error, np.asarray(model.support_), dual_coef, bound))
    except Exception as error:
        pipe.send(Run(failure=" ".join(f"{type(error).__name__}: {error}".split())))


def fit_apart(
    contender: Contender, case: Case, kind: str, tol: float, cache_size: float, stop_after: float | None
) -> Run:
    """One fit in a process of its own, which is ended after some seconds: peers have no time limit."""
    ours, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=child, args=(theirs, contender, case, kind, tol, cache_size))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(stop_after) else Run(failure="stopped")
    except EOFError:
        return Run(failure=f"its process ended with code {process.exitcode}")
    finally:
        process.kill()
        process.join()


class Values:
    """Objectives of machines; one that was seen before is not computed again."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.known: dict[str, float] = {}

    def primal(self, run: Run) -> float:
        if run.failure:
            return math.inf
        key = hashlib.sha256(run.support.tobytes() + run.dual_coef.tobytes()).hexdigest()
        if key not in self.known:
            self.known[key] = evaluate(self.case, run.support, run.dual_coef).primal
        return self.known[key]


def fastest_kind(contender: Contender, case: Case, cache_size: float, repeats: int) -> str:
    """The kind of input with which a fit of some of the examples is fastest, of those that the contender takes."""
    sample = replace(case.sample(4_000), X_test=case.X_test[:100], y_test=case.y_test[:100])

    def measure(kind: str) -> float:
        return fit_apart(contender, sample, kind, 0.1, cache_size, 300).seconds

    medians = alternate({kind: functools.partial(measure, kind) for kind in KINDS}, repeats)
    told = ", ".join(f"{kind} {value:.3f} s" for kind, value in medians.items() if value < math.inf)
    print(f"  {contender.name} on {len(sample.y):,} of the examples: {told}", flush=True)
    return min(medians, key=medians.__getitem__)


def search(
    contender: Contender,
    kind: str,
    values: Values,
    optimum: Optimum,
    target: float,
    loosest: float,
    fit: Callable[..., Run],
) -> Line:
    """The loosest tolerance that comes within the target; where none does, why."""
    name, best, tol, spent = values.case.name, math.inf, math.nan, 0.0
    for tol in (tol for tol in TOLERANCES if tol <= loosest):
        run = fit(contender, kind, tol)
        if run.failure:
            print(f"  tried {contender.name} at {tol:g}: {run.failure}", flush=True)
            if run.failure == "stopped":  # a tighter tolerance takes as long or longer
                return Line(name, contender.name, kind, tol, spent, best, failure=run.failure)
            continue  # some refuse a tolerance of 1
        excess, spent = optimum.excess(values.primal(run)), run.seconds
        print(f"  tried {contender.name} at {tol:g}: {spent:.2f} s, {excess:.1e} above the optimum", flush=True)
        best = min(best, excess)
        if excess <= target:
            return Line(name, contender.name, kind, tol, spent, excess)
    return Line(name, contender.name, kind, tol, spent, best, failure="not reached")


def compare(
    case: Case, contenders: Sequence[Contender], optimum: Optimum, arguments: argparse.Namespace, repeats: int
) -> list[Line]:
    """All the contenders on one problem."""
    target, cache_size, stop_after = arguments.target, arguments.cache_size, arguments.stop_after
    print(f"\n{case}; optimum {optimum.primal:.8g}, known to {optimum.gap:.1e}", flush=True)
    values = Values(case)

    def fit(contender: Contender, kind: str, tol: float) -> Run:
        run = fit_apart(contender, case, kind, tol, cache_size, None if contender.ours else stop_after)
        if not run.failure:
            for line in optimum.violations(values.primal(run), run.bound):
                print(f"{line} ({contender.name} at {tol:g})", flush=True)
        return run

    lines: dict[str, Line] = {}
    for contender in contenders:
        if contender.ours:
            lines[contender.name] = Line(case.name, contender.name, kind_of(case.X), target, math.nan)
        else:
            kind = fastest_kind(contender, case, cache_size, repeats)
            lines[contender.name] = search(contender, kind, values, optimum, target, arguments.loosest, fit)

    runs: dict[str, list[Run]] = {name: [] for name, line in lines.items() if not line.failure}

    def measure(contender: Contender) -> float:
        line = lines[contender.name]
        run = fit(contender, line.kind, line.tol)
        runs[contender.name].append(run)
        return run.seconds

    turns = {each.name: functools.partial(measure, each) for each in contenders if each.name in runs}
    medians = alternate(turns, repeats)
    for name, seconds in medians.items():
        line, made = lines[name], runs[name]
        failure = next((run.failure for run in made if run.failure), "")
        excess = max(optimum.excess(values.primal(run)) for run in made)
        if excess > target and not failure:
            print(f"MISSED: {name} at {line.tol:g} ends {excess:.2e} above the optimum")
        predicting = statistics.median(run.predicting for run in made)
        lines[name] = Line(
            case.name, name, line.kind, line.tol, seconds, excess, predicting, made[0].error, failure=failure
        )
    return list(lines.values())


HEAD = (
    "data",
    "contender",
    "input",
    "tol",
    "fit, s",
    "ratio",
    "above the optimum",
    "predict, s",
    "ratio",
    "test error",
)


def cells(line: Line, ours: Line, stop_after: float | None) -> list[str]:
    """A line of the table, with ratios to our fit and our prediction."""
    start = [line.data, line.contender, line.kind, f"{line.tol:g}"]
    if line.failure == "stopped" and stop_after is not None:
        return [*start, f"stopped after {stop_after:g}", f"> {stop_after / ours.seconds:.3g}", *4 * [""]]
    if line.failure:
        return [*start, line.failure.replace("|", "/"), "", f"{line.excess:.1e}", *3 * [""]]
    return [
        *start,
        f"{line.seconds:.3g}",
        f"{line.seconds / ours.seconds:.3g}",
        f"{line.excess:.1e}",
        f"{line.predicting:.3g}",
        f"{line.predicting / ours.predicting:.3g}",
        f"{line.error:.2%}",
    ]


def table(lines: Sequence[Line], stop_after: float | None) -> str:
    """Markdown."""
    ours = {line.data: line for line in lines if line.contender == OURS}
    rows = [f"| {' | '.join(HEAD)} |", "|" + len(HEAD) * "---|"]
    rows += [f"| {' | '.join(cells(line, ours[line.data], stop_after))} |" for line in lines]
    return "\n".join(rows)


def available(contenders: Sequence[Contender]) -> list[Contender]:
    """Those whose packages are installed; a line for each of the others."""
    found = []
    for contender in contenders:
        try:
            importlib.import_module(contender.package)
        except ImportError as error:
            print(f"{contender.name} is left out: {error}")
        else:
            found.append(contender)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small synthetic data alone, to see that it runs")
    parser.add_argument("--data", nargs="+", default=["adult", "mnist8", "mnist10"], choices=CASES)
    parser.add_argument("--rows", type=int, help="of the synthetic data, 2,000 if not given; of others, some at random")
    parser.add_argument("--target", type=float, default=1e-3, help="distance from the optimum to come within, relative")
    parser.add_argument("--loosest", type=float, default=1.0, help="tolerance of peers to begin the search with")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cache-size", type=float, default=4_000, help="megabytes of the kernel matrix kept, for all")
    parser.add_argument("--stop-after", type=float, help="end the fit of a peer after so many seconds")
    parser.add_argument("--optimum-tol", type=float, default=1e-6, help="gap of the run that finds the optimum")
    parser.add_argument("--time-cap", type=float, default=3_600, help="seconds for finding an optimum")
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="leave out contenders so named")
    parser.add_argument("--output", type=Path, help="folder of the table and the optima; default: results, beside this")
    arguments = parser.parse_args()
    folder = results_folder(arguments.output, arguments.tiny)
    names, rows, repeats = arguments.data, arguments.rows, arguments.repeats
    if arguments.tiny:
        names, rows, repeats = ["synthetic", "synthetic-classes"], 200, 1

    print_machine()
    contenders = [each for each in CONTENDERS if each.name == OURS or each.name not in arguments.without]
    contenders = available(contenders)
    lines: list[Line] = []
    for name in names:
        case = load_case(name, rows or 2_000)
        if case is None:
            continue
        if rows:
            case = case.sample(rows)
        optimum = find_optimum(
            case, folder, tol=arguments.optimum_tol, max_time=arguments.time_cap, cache_size=arguments.cache_size
        )
        lines += compare(case, contenders, optimum, arguments, repeats)
        (folder / "kernel.md").write_text(table(lines, arguments.stop_after) + "\n")
    print(f"\n{table(lines, arguments.stop_after)}")
    print_machine()


if __name__ == "__main__":
    main()
