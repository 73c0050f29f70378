"""River: learning online, one example at a time in Python; passes over the data, without an intercept.

It is made for streams, not for the optimum of a given set.
"""

import importlib
import math
from typing import Any

import numpy as np
from datasets import as_kind
from objective import Found, Problem

from peers import Way, plain_sum

PACKAGE = "river"
MODULE = "river"

PASSES = (1, 2, 5, 10, 20, 50, 100)
MOST_ENTRIES = 1_000_000  # counting zeros; more take it longer than anyone would wait for an optimum
LOSSES = {"hinge": "Hinge", "log_loss": "Log"}


def ways(problem: Problem) -> list[Way]:
    if problem.loss not in LOSSES or not plain_sum(problem) or problem.intercept != "none" or problem.n_classes != 2:
        return []
    return [Way("River", fit, PASSES, as_dictionaries)] if math.prod(problem.data.X.shape) <= MOST_ENTRIES else []


def as_dictionaries(problem: Problem) -> Any:
    """Examples as it takes them: the entries of a row by the numbers of their columns."""
    X = as_kind(problem.data.X, "CSR float64")
    X.eliminate_zeros()
    ends = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in ends]


def fit(problem: Problem, rows: Any, passes: int) -> Found:
    river = importlib.import_module(MODULE)
    optim = importlib.import_module("river.optim")
    linear_model = importlib.import_module("river.linear_model")
    n = len(rows)
    rate = 1 / (problem.C * n)  # of the mean loss, as the steps see it
    schedule = optim.schedulers.InverseScaling(learning_rate=1 / rate / n, power=0.5)
    model = linear_model.LogisticRegression(
        optimizer=optim.SGD(schedule), loss=getattr(optim.losses, LOSSES[problem.loss])(), l2=rate, intercept_lr=0.0
    )
    assert river is not None
    labels = (problem.data.y == 1).tolist()
    for _ in range(passes):
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
    w = np.zeros(problem.data.X.shape[1])
    for column, weight in model.weights.items():
        w[column] = weight
    return Found(w)
