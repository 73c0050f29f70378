"""S0 section 6's ways to a free intercept: how far from the optimum Pegasos is after some epochs with each.

``python benchmarks/free_intercept.py``. The optimum is interior-point's, to a gap of 1e-8. For each way it prints how
far the objective is above the optimum and the certificate's bound below it, as ratios to the optimum, means over seeds.
"""

import argparse
import warnings

import numpy as np
from datasets import load
from sklearn.exceptions import ConvergenceWarning
from timing import print_machine

from pegasos import LinearSVC
from pegasos.solvers import Pegasos

WAYS = {
    "subgradient": Pegasos(free_intercept="subgradient"),
    "batch, 64 rows": Pegasos(free_intercept="batch", batch_size=64),
    "batch, 512 rows": Pegasos(free_intercept="batch", batch_size=512),
    "search": Pegasos(free_intercept="search"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--epochs", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    names, epochs, seeds = ("adult", "web"), arguments.epochs, arguments.seeds
    if arguments.tiny:
        names, epochs, seeds = ("tiny",), [2], 1

    print_machine()
    for name in names:
        problem = load(name)
        if problem is None:
            continue
        for C in (0.01, 0.1, 1.0):
            settings = {"C": C, "intercept": "free"}
            exact = LinearSVC(solver="interior-point", tol=1e-8, **settings).fit(problem.X, problem.y)
            optimum = exact.certificate_.primal
            print(f"\n{name}, C = {C:g}, optimum {optimum:.6g}")
            print(f"{'way':<16}{'epochs':>7}{'above, ratio':>14}{'below, ratio':>14}{'seconds':>9}")
            for way, solver in WAYS.items():
                for count in epochs:
                    found = [
                        LinearSVC(solver=solver, tol=0, max_iter=count, random_state=seed, **settings)
                        .fit(problem.X, problem.y)
                        .certificate_
                        for seed in range(seeds)
                    ]
                    above = np.mean([one.primal for one in found]) / optimum - 1
                    below = 1 - np.mean([one.dual for one in found]) / optimum
                    seconds = np.mean([one.seconds for one in found])
                    print(f"{way:<16}{count:>7}{above:>14.1e}{below:>14.1e}{seconds:>9.2f}")


if __name__ == "__main__":
    main()
