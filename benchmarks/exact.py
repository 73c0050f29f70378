"""Large C: our time to a certified gap of 1e-6 beside LIBLINEAR's to a much larger distance from the optimum.

``python benchmarks/exact.py``: Covertype (x 0.001) at C = 0.1, 1, 10 beside LinearSVC to 1e-4; Adult and Web at C = 10
and 1000 beside LinearSVC to 1%. No intercept. LinearSVC runs at the loosest of its tolerances that gets there, found by
trying them, and is stopped at ten times our time. Both take turns, each fit in a process of its own; medians.
"""

import argparse
import functools
import math

from linear import Run, fit_apart, search
from peers import PEER, PEERS, Contender, pegasos_contenders
from problems import Problem, find_optimum, load, results_folder
from timing import alternate, print_machine

TOL = 1e-6
CASES = {"covtype": ((0.1, 1, 10), 1e-4), "adult": ((10, 1000), 0.01), "web": ((10, 1000), 0.01)}
LIBLINEAR = next(peer for peer in PEERS if peer.name == PEER)
MARGIN = 10  # times our time: when to give a peer up


def measure(contender: Contender, problem: Problem, C: float, setting: float, limit: float, found: list[Run]) -> float:
    found.append(fit_apart(contender, problem, None, C, setting, limit))
    return found[-1].seconds


def compare(
    problem: Problem, C: float, target: float, repeats: int, n_jobs: int, optimum_of: functools.partial
) -> None:
    ours = pegasos_contenders([n_jobs], [TOL])[0]
    optimum = optimum_of(problem, C)
    print(f"\n{problem}; C = {C:g}, optimum {optimum.primal:.9g}, known to {optimum.gap:.1e}", flush=True)
    first = fit_apart(ours, problem, None, C, TOL, 600)
    limit = max(MARGIN * first.seconds, 1.0)
    reached, best = search(LIBLINEAR, problem, None, C, [target], optimum, limit)
    runs: dict[str, list[Run]] = {ours.name: [], PEER: []}
    contenders = {ours.name: functools.partial(measure, ours, problem, C, TOL, 600, runs[ours.name])}
    if target in reached:
        contenders[PEER] = functools.partial(measure, LIBLINEAR, problem, C, reached[target], limit, runs[PEER])
    medians = alternate(contenders, repeats)
    certified = max(run.primal / run.dual - 1 if run.dual else math.inf for run in runs[ours.name])
    print(f"{ours.name}: {medians[ours.name]:.3f} s to a certified gap of {certified:.1e}")
    for run in runs[ours.name]:
        for line in optimum.violations(run.primal, run.dual):
            print(line)
    if PEER in medians:
        ratio = medians[PEER] / medians[ours.name]
        print(f"{PEER}: {medians[PEER]:.3f} s to {target:g}; ratio to ours {ratio:.2f}", flush=True)
    else:
        print(f"{PEER}: {best:.1e} above the optimum, {target:g} asked; ratio to ours above {MARGIN}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small synthetic data alone, to see that it runs")
    parser.add_argument("--data", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    folder = results_folder(None, arguments.tiny)
    cases = {"tiny": ((10,), 0.01)} if arguments.tiny else {name: CASES[name] for name in arguments.data}
    optimum_of = functools.partial(find_optimum, folder=folder, tol=1e-8)
    print_machine()
    for name, (Cs, target) in cases.items():
        problem = load(name)
        for C in Cs if problem else ():
            compare(problem, C, target, 1 if arguments.tiny else arguments.repeats, arguments.n_jobs, optimum_of)
    print_machine()


if __name__ == "__main__":
    main()
