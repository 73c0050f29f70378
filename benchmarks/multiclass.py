"""More than two classes: time to come within 0.1% of the optimum, beside LIBLINEAR and logistic regression.

``python benchmarks/multiclass.py``: one against the rest (hinge) beside LinearSVC, Crammer and Singer's joint hinge
beside LinearSVC(multi_class="crammer_singer"), softmax beside LogisticRegression with lbfgs and with saga. No
intercept. Pegasos runs at tol equal to the target and certifies it; a peer runs at the loosest of its tolerances that
gets within the target of the optimum, found by trying them once. Then all take turns; medians, ratios to the peer
that is faster, and the accuracy on examples held out. Objectives are computed here in double precision; the optimum
is bounded by our most accurate run.
"""

import argparse
import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from problems import load_raw
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC as Liblinear
from timing import alternate, print_machine, seconds

from pegasos import LinearSVC

TOLERANCES = [m * 10.0**-e for e in range(-1, 7) for m in (1, 0.5, 0.2)]
OURS = "pegasos"


@dataclass(frozen=True, eq=False)
class Data:
    """Examples to train on, and some held out; labels are numbers from 0."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


@dataclass(frozen=True, eq=False)
class Kind:
    """A problem of several classes: its objective from scores, and who solves it."""

    losses: Callable[[Any, Any], Any]  # of scores and labels
    ours: dict[str, Any]
    peers: dict[str, Callable[[float, float], Any]]  # an estimator from C and tol


def against_the_rest(scores: Any, y: Any) -> Any:
    signs = -np.ones_like(scores)
    signs[np.arange(len(y)), y] = 1
    return np.maximum(0, 1 - signs * scores).sum(axis=1)


def crammer_singer(scores: Any, y: Any) -> Any:
    rows = np.arange(len(y))
    costs = np.ones_like(scores)
    costs[rows, y] = 0
    return (scores + costs).max(axis=1) - scores[rows, y]


def softmax(scores: Any, y: Any) -> Any:
    return logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]


def liblinear(C: float, tol: float, **options: Any) -> Any:
    return Liblinear(
        C=C, loss="hinge", tol=tol, fit_intercept=False, max_iter=10**6, random_state=0, dual=True, **options
    )


def logistic(C: float, tol: float, *, solver: str) -> Any:
    return LogisticRegression(C=C, tol=tol, fit_intercept=False, max_iter=10_000, solver=solver, random_state=0)


KINDS = {
    "ovr": Kind(against_the_rest, {}, {"LinearSVC": liblinear}),
    "crammer-singer": Kind(
        crammer_singer,
        {"multi_class": "joint"},
        {"LinearSVC": functools.partial(liblinear, multi_class="crammer_singer")},
    ),
    "softmax": Kind(
        softmax,
        {"multi_class": "joint", "loss": "log_loss"},
        {
            "LogisticRegression, lbfgs": functools.partial(logistic, solver="lbfgs"),
            "LogisticRegression, saga": functools.partial(logistic, solver="saga"),
        },
    ),
}


def load_data(name: str) -> Data | None:
    if name == "tiny":
        X, y = load_digits(return_X_y=True)
        return Data(name, *split(X[:400] / 16, y[:400]))
    raw = load_raw(name)
    if raw is None:
        return None
    if name == "mnist":
        return Data(name, raw["X"], raw["y"].astype(int), raw["X_test"], raw["y_test"].astype(int))
    X = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32).fit_transform(raw["X"] + raw.get("X_test", []))
    y = np.unique(list(raw["y"]) + list(raw.get("y_test", [])), return_inverse=True)[1]
    if "X_test" in raw:
        train = len(raw["X"])
        return Data(name, X[:train], y[:train], X[train:], y[train:])
    return Data(name, *split(X, y))


def split(X: Any, y: Any) -> tuple[Any, Any, Any, Any]:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    return X, y, X_test, y_test


def objective(kind: Kind, data: Data, C: float, coef: Any) -> float:
    coef = np.asarray(coef, dtype=np.float64)
    losses = [
        kind.losses(data.X[first : first + 5000] @ coef.T, data.y[first : first + 5000])
        for first in range(0, len(data.y), 5000)
    ]
    return float((coef * coef).sum() / 2 + C * np.concatenate(losses).sum())


def our_estimator(kind: Kind, C: float, tol: float, n_jobs: int) -> LinearSVC:
    return LinearSVC(C=C, tol=tol, fit_intercept=False, n_jobs=n_jobs, max_iter=100_000, random_state=0, **kind.ours)


def compare(name: str, data: Data, C: float, target: float, n_jobs: int, repeats: int, time_cap: float) -> None:
    kind = KINDS[name]
    n, d = data.X.shape
    best = our_estimator(kind, C, target / 20, n_jobs).fit(data.X, data.y).certificate_
    print(
        f"\n{name}: {data.name}, {n:,} x {d:,}, {data.n_classes} classes; C = {C:g}, optimum {best.primal:.8g}, "
        f"known to {best.primal / best.dual - 1:.1e}",
        flush=True,
    )
    models = {OURS: our_estimator(kind, C, target, n_jobs)}
    for peer, make in kind.peers.items():
        found = find_setting(peer, kind, data, C, target, best.dual, make, time_cap)
        if found is not None:
            models[peer] = found
    jobs = {
        who: functools.partial(seconds, functools.partial(model.fit, data.X, data.y)) for who, model in models.items()
    }
    medians = alternate(jobs, repeats)
    fastest = min((who for who in medians if who != OURS), key=medians.__getitem__, default=OURS)
    print(f"{'':26}  median s  ratio to {fastest}  above the optimum  accuracy held out")
    for who, model in models.items():
        value = objective(kind, data, C, model.coef_)
        print(
            f"{who:26}  {medians[who]:8.2f}  {medians[who] / medians[fastest]:{9 + len(fastest)}.3f}  "
            f"{value / best.dual - 1:17.1e}  {model.score(data.X_test, data.y_test):17.4f}"
        )
        if value < best.dual * (1 - 1e-9):
            print(f"VIOLATION: {value!r} is below the bound on the optimum, {best.dual!r}")
    found = models[OURS].certificate_
    gaps = [part.gap for part in found.parts] or [found.gap]
    print(f"certified: {len(gaps)} problems, the worst gap {max(gaps):.1e}")


def find_setting(
    peer: str, kind: Kind, data: Data, C: float, target: float, bound: float, make: Any, time_cap: float
) -> Any:
    """The peer at the loosest of its tolerances that comes within the target of the optimum."""
    last = math.inf
    for tol in TOLERANCES:
        model = make(C, tol)
        took = seconds(functools.partial(model.fit, data.X, data.y))
        excess = objective(kind, data, C, model.coef_) / bound - 1
        if excess != last:
            print(f"  tried {peer} at {tol:g}: {took:.2f} s, {excess:.1e} above the optimum", flush=True)
        last = excess
        if excess <= target:
            return model
        if took > time_cap:
            break
    print(f"  {peer} did not get there in {time_cap:g} s")
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="a part of scikit-learn's digits, to see that it runs")
    parser.add_argument("--data", nargs="+", default=["debian", "newsgroups", "mnist"])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--C", nargs="+", type=float, default=[1.0])
    parser.add_argument("--target", type=float, default=1e-3)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-cap", type=float, default=120, help="seconds for a fit of a peer")
    arguments = parser.parse_args()
    names, repeats = (["tiny"], 1) if arguments.tiny else (arguments.data, arguments.repeats)

    warnings.simplefilter("ignore", ConvergenceWarning)  # distances from the optimum are measured
    warnings.simplefilter("ignore", FutureWarning)
    print_machine()
    for name in names:
        data = load_data(name)
        if data is None:
            continue
        for kind in arguments.kinds:
            for C in arguments.C:
                n_jobs = 1 if arguments.tiny else arguments.n_jobs
                compare(kind, data, C, arguments.target, n_jobs, repeats, arguments.time_cap)
    print_machine()


if __name__ == "__main__":
    main()
