"""LIBSVM by its own Python package, with a free intercept; it also solves linear problems, as kernel machines."""

import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from datasets import as_kind
from objective import TARGETS, Found, Problem

from peers import Way
from peers.sklearn import has_libsvm

PACKAGE = "libsvm-official"
MODULE = "libsvm.svmutil"

MOST_ROWS = 5_000  # of a linear problem: its time grows with their square


def ways(problem: Problem) -> list[Way]:
    small = problem.kind == "kernel" or (problem.kind == "linear" and len(problem.data.y) <= MOST_ROWS)
    if not small or problem.n_classes > 2 or not has_libsvm(problem):
        return []
    return [Way("LIBSVM", fit, prepare=lambda problem: as_kind(problem.data.X, "CSR float64"))]


def fit(problem: Problem, X: Any, tol: float) -> Found:
    util = importlib.import_module(MODULE)
    kernel = "-t 0" if problem.gamma is None else f"-t 2 -g {problem.gamma!r}"
    machine = 3 if problem.loss in TARGETS else 0
    command = f"-s {machine} {kernel} -c {problem.C!r} -p {problem.parameter!r} -e {tol!r} -m 2000 -q"
    y = problem.data.y.astype(np.float64)
    model = util.svm_train(util.svm_problem(y, X), util.svm_parameter(command))
    support = np.array(model.get_sv_indices(), dtype=int) - 1
    coef = np.array(model.get_sv_coef()).T
    if problem.loss not in TARGETS and model.get_labels()[0] != 1:
        coef = -coef  # positive is for it the label that comes first
    if problem.gamma is None:
        return Found(np.ravel(sp.csr_matrix(coef) @ X[support].toarray()))
    return Found(coef, support=support)
