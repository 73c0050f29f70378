"""Choosing C: 20 values with 5 folds, beside scikit-learn's GridSearchCV over LIBLINEAR.

``python benchmarks/path.py``: LinearSVCCV follows a warm-started path in each fold and certifies every point; the grid
search fits LinearSVC(loss="hinge") anew for each value and fold, with its default tol and limit of iterations. Both
take turns, with as many threads or processes; medians, ratios to the grid search, the scores of the values chosen.
"""

import argparse
import functools
import os
import warnings

import numpy as np
from datasets import Data, load
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC as Liblinear
from timing import alternate, print_machine, print_table, seconds

from pegasos import LinearSVCCV

PEER = "GridSearchCV(sklearn LinearSVC)"


def compare(problem: Data, Cs: np.ndarray, folds: int, tol: float, n_jobs: int, repeats: int) -> None:
    print(f"\n{problem}; {len(Cs)} values of C from {Cs[0]:g} to {Cs[-1]:g}, {folds} folds, {n_jobs} jobs", flush=True)
    cv = StratifiedKFold(folds, shuffle=True, random_state=0)  # the same folds for both
    ours = LinearSVCCV(Cs=Cs, cv=cv, tol=tol, max_iter=100_000, n_jobs=n_jobs, random_state=0)
    theirs = GridSearchCV(Liblinear(loss="hinge", random_state=0), {"C": Cs}, cv=cv, n_jobs=n_jobs)
    fits = {"pegasos LinearSVCCV": ours, PEER: theirs}
    contenders = {
        name: functools.partial(seconds, functools.partial(model.fit, problem.X, problem.y))
        for name, model in fits.items()
    }
    print_table(alternate(contenders, repeats), PEER)
    gaps = [certificate.gap for fold in ours.certificates_ for certificate in fold]
    print(
        f"{sum(gap <= tol for gap in gaps)} of {len(gaps)} points certified to {tol:g}, the worst gap {max(gaps):.1e}"
    )
    found, peer = float(ours.mean_score_.max()), float(theirs.best_score_)
    error = float(ours.standard_error_[ours.mean_score_.argmax()])
    print(
        f"mean score {found:.4f} at C = {ours.C_:.3g}, theirs {peer:.4f} at C = {theirs.best_params_['C']:.3g}; "
        f"difference {found - peer:+.4f}, one standard error is {error:.4f}"
    )
    if found < peer - error:
        print("MISSED: more than one standard error below")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small synthetic data alone, to see that it runs")
    parser.add_argument("--data", nargs="+", default=["adult", "rcv1"])
    parser.add_argument("--Cs", type=int, default=20, help="how many values of C")
    parser.add_argument("--lowest", type=float, default=1e-4)
    parser.add_argument("--highest", type=float, default=10.0)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    names, number, repeats = arguments.data, arguments.Cs, arguments.repeats
    if arguments.tiny:
        names, number, repeats = ["tiny"], 3, 1

    warnings.simplefilter("ignore", ConvergenceWarning)  # of ours the certificates tell
    os.environ["PYTHONWARNINGS"] = "ignore"  # for the processes of the grid search
    print_machine()
    for name in names:
        problem = load(name)
        if problem:
            Cs = np.geomspace(arguments.lowest, arguments.highest, number)
            compare(problem, Cs, arguments.folds, arguments.tol, 1 if arguments.tiny else arguments.n_jobs, repeats)
    print_machine()


if __name__ == "__main__":
    main()
