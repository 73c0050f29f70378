"""scikit-learn-intelex: kernel machines and logistic regression with scikit-learn's interface, on Intel's oneDAL.

It hands what it cannot do to scikit-learn, which has a file of its own; only what it does itself is listed.
"""

import functools
import importlib

from datasets import as_kind
from objective import TARGETS, Problem

from peers import Way
from peers.sklearn import doubles, fit_libsvm, has_libsvm, logistic

PACKAGE = "scikit-learn-intelex"
MODULE = "sklearnex"

# It refuses tolerances of 1 and more.
TOLERANCES = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)


def ways(problem: Problem) -> list[Way]:
    if problem.kind == "kernel" and has_libsvm(problem):
        name = "sklearnex SVR" if problem.loss in TARGETS else "sklearnex SVC"
        fit = functools.partial(fit_libsvm, package="sklearnex.svm")
        return [
            Way(name, fit, TOLERANCES, doubles),
            Way(f"{name}, float32", fit, TOLERANCES, lambda problem: as_kind(problem.data.X, "dense float32")),
        ]
    joint = problem.joint or problem.n_classes == 2
    if problem.kind == "linear" and problem.loss == "log_loss" and problem.intercept != "penalized" and joint:
        return [Way("sklearnex LogisticRegression, lbfgs", logistic("lbfgs", "sklearnex.linear_model"), TOLERANCES)]
    return []


def limit(threads: int) -> None:
    importlib.import_module("daal4py").daalinit(threads)
