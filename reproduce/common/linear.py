"""Fits of linear machines without intercept, as S0 and S2 have them: ``lambda/2 ||w||^2 + mean hinge``."""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pegasos import SVC, LinearSVC
from reproduce.common.data import Split

__all__ = ["Budgeted", "budgets", "by_lasvm", "fit", "median", "optimum", "sub", "trace", "with_bias"]


class Budgeted(NamedTuple):
    """A solver with a budget: steps are its own option, or else a number of epochs or a tolerance."""

    solver: Any
    max_iter: int = 10**9
    tol: float = 0.0


class Fitted(NamedTuple):
    w: Any
    seconds: float  # of the processor
    objective: float
    epochs: float


def fit(data: Split, lam: float, how: Budgeted, seed: int = 0, max_time: float | None = None) -> Fitted:
    started = time.process_time()
    model = LinearSVC(
        alpha=lam,
        fit_intercept=False,
        solver=how.solver,
        tol=how.tol,
        max_iter=how.max_iter,
        max_time=max_time,
        n_jobs=1,
        random_state=seed,
    ).fit(data.X, data.y)
    seconds = time.process_time() - started
    return Fitted(model.coef_[0], seconds, lam * model.certificate_.primal, float(model.history_["epoch"][-1]))


def optimum(data: Split, lam: float, tol: float = 1e-5, max_time: float = 600.0) -> dict[str, float]:
    """Bounds on the optimum by a certified run, and its test error."""
    model = LinearSVC(alpha=lam, fit_intercept=False, tol=tol, max_iter=10**9, max_time=max_time, n_jobs=1)
    found = model.set_params(random_state=12345).fit(data.X, data.y).certificate_
    return {"dual": lam * found.dual, "primal": lam * found.primal, "error": data.error(model.coef_[0])}


def with_bias(data: Split, lam: float, tol: float = 1e-3, max_time: float = 300.0) -> dict[str, float]:
    """The test error with an intercept that is not in the norm."""
    model = LinearSVC(alpha=lam, intercept="free", tol=tol, max_iter=10**9, max_time=max_time, n_jobs=1, random_state=0)
    error = 100 * (1 - model.fit(data.X, data.y).score(data.X_test, data.y_test))
    return {"error": error, "gap": model.certificate_.gap, "tested": len(data.y_test)}


def by_lasvm(data: Split, lam: float, tol: float) -> dict[str, float]:
    """A linear machine as one with a linear kernel."""
    n, started = len(data.y), time.process_time()
    options: dict[str, Any] = {"kernel": "linear", "solver": "lasvm", "fit_intercept": False, "cache_size": 2_000}
    model = SVC(C=1 / (lam * n), tol=tol, n_jobs=1, random_state=0, **options).fit(data.X, data.y)
    seconds = time.process_time() - started
    coefficients = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    w = data.X[model.support_].T @ coefficients[0]
    loss = float(np.maximum(0, 1 - data.y * (data.X @ w)).mean())
    return {"budget": tol, "seconds": seconds, "objective": lam / 2 * float(w @ w) + loss, "error": data.error(w)}


def trace(
    data: Split,
    lam: float,
    runs: Iterable[tuple[float, Budgeted]],
    seed: int = 0,
    enough: Callable[[dict[str, float]], bool] | None = None,
) -> list[dict[str, float]]:
    """Fits of growing budget, each from the start: the budget, processor seconds, objective and test error.

    The seconds are less what a fit of next to no work takes: it validates the data and computes the objective once.
    """
    from pegasos.solvers import Pegasos

    idle = Budgeted(Pegasos(max_steps=1))
    overhead = min(fit(data, lam, idle).seconds for _ in range(3))
    points = []
    for budget, how in runs:
        found = fit(data, lam, how, seed)
        seconds = max(found.seconds - overhead, 1e-4)
        point = {"budget": budget, "seconds": seconds, "objective": found.objective, "error": data.error(found.w)}
        points.append(point)
        if enough and enough(point):
            break
    return points


def budgets(least: float, most: float, factor: float = 2.0) -> list[int]:
    """Whole numbers from the least to the most, each so many times the one before."""
    count = max(0, math.floor(math.log(most / least, factor) + 1e-9))
    return sorted({max(1, round(least * factor**k)) for k in range(count + 1)})


def sub(point: dict[str, float], best: dict[str, float]) -> float:
    """How far the objective is above the optimum; at most this, as that is known from below."""
    return max(point["objective"] - best["dual"], 1e-12)


def median(values: Iterable[float]) -> float:
    return float(np.median(list(values)))
