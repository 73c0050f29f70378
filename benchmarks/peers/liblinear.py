"""LIBLINEAR by its own Python package, with the intercept penalized or without one.

Its limit of iterations is fixed in the library, so that tight tolerances may not be reached.
"""

import importlib
from typing import Any

import numpy as np
from datasets import as_kind
from objective import Found, Problem

from peers import Way

PACKAGE = "liblinear-official"
MODULE = "liblinear.liblinearutil"

#: The solvers (option -s) of each loss, by what they do.
SOLVERS = {
    "hinge": {"dual": 3},
    "squared_hinge": {"dual": 1, "primal": 2},
    "log_loss": {"dual": 7, "primal": 0},
    "epsilon_insensitive": {"dual": 13},
    "squared_epsilon_insensitive": {"dual": 12, "primal": 11},
}
CRAMMER_SINGER = 4


def ways(problem: Problem) -> list[Way]:
    return [Way(f"LIBLINEAR, {name}", trainer(number), prepare=doubles) for name, number in solvers(problem).items()]


def solvers(problem: Problem) -> dict[str, int]:
    if problem.kind != "linear" or problem.intercept == "free":
        return {}
    if problem.joint:
        return {"Crammer-Singer": CRAMMER_SINGER} if problem.loss == "hinge" else {}
    return SOLVERS.get(problem.loss, {})


def doubles(problem: Problem) -> Any:
    """It copies what it gets to pairs of an index and a number in double precision, within its time."""
    return as_kind(problem.data.X, "CSR float64")


def trainer(number: int, options: str = "") -> Any:
    def fit(problem: Problem, X: Any, tol: float) -> Found:
        util = importlib.import_module(MODULE)
        bias = 1 if problem.intercept == "penalized" else -1
        command = f"-s {number} -c {problem.C!r} -e {tol!r} -B {bias} -p {problem.parameter!r} -q {options}"
        model = util.train(util.problem(problem.data.y.astype(np.float64), X), util.parameter(command))
        if problem.n_classes == 0:
            w, b = model.get_decfun(0)
            return Found(np.array(w), b if bias > 0 else 0.0)
        labels = model.get_labels()
        if problem.n_classes == 2:
            w, b = model.get_decfun(0)
            sign = 1 if labels[0] == 1 else -1
            return Found(np.array(w) * sign, b * sign if bias > 0 else 0.0)
        parts = [model.get_decfun(place) for place in np.argsort(labels)]
        return Found(np.array([w for w, _ in parts]), np.array([b for _, b in parts]) if bias > 0 else 0.0)

    return fit
