"""What the benchmarks of kernel machines share: data with a kernel, and objectives computed in double precision.

The problem is ``1/2 ||w||^2 + C sum_i hinge_i`` with a Gaussian kernel; of more than two classes one such problem for
each pair. A machine is its coefficients and support vectors, from whichever package: they are laid out as in
scikit-learn. The intercept is the best one for these, so that nobody suffers from how it was set.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from problems import Optimum, load_raw, stored_optimum
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SVC
from pegasos.reference.s0 import best_intercept

__all__ = ["CASES", "KINDS", "Case", "Value", "as_kind", "evaluate", "find_optimum", "kind_of", "load_case"]

CASES = ("adult", "mnist8", "mnist10", "synthetic", "synthetic-classes")
KINDS = ("dense float32", "dense float64", "CSR float32", "CSR float64")
BLOCK = 2_000  # rows of the kernel matrix at a time


@dataclass(frozen=True, eq=False)
class Case:
    """Examples to train on and others to test on, labels, and the parameters of the machine."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    gamma: float
    C: float
    fit_intercept: bool = True

    def __str__(self) -> str:
        n, d = self.X.shape
        bias = "with" if self.fit_intercept else "without"
        return f"{self.name}: {n:,} x {d}, gamma = {self.gamma:g}, C = {self.C:g}, {bias} bias"

    def sample(self, rows: int) -> "Case":
        """The same with some of the examples, drawn at random."""
        if rows >= len(self.y):
            return self
        chosen = np.sort(np.random.default_rng(0).permutation(len(self.y))[:rows])
        return replace(self, X=self.X[chosen], y=self.y[chosen])


def load_case(name: str, rows: int = 2_000) -> Case | None:
    """The case of that name; None where its data are not here. The synthetic ones need none, and have so many rows."""
    if name.startswith("synthetic"):
        X, y = make_classification(
            2 * rows,
            20,
            n_informative=10,
            n_classes=3 if name.endswith("classes") else 2,
            flip_y=0.02,
            random_state=0,
        )
        X = X.astype(np.float32)
        return Case(name, X[:rows], y[:rows], X[rows:], y[rows:], gamma=0.02, C=1.0)
    raw = load_raw("adult" if name == "adult" else "mnist")
    if raw is None:
        return None
    data = [raw[key] for key in ("X", "y", "X_test", "y_test")]
    if name == "adult":
        data[0], data[2] = data[0].astype(np.float32), data[2].astype(np.float32)  # zeros and ones
        return Case(name, *data, gamma=0.05, C=1.0)
    data[1], data[3] = data[1].astype(int), data[3].astype(int)
    if name == "mnist8":
        data[1], data[3] = np.where(data[1] == 8, 1, -1), np.where(data[3] == 8, 1, -1)
    return Case(name, *data, gamma=0.02, C=1.0)


def kind_of(X: Any) -> str:
    return f"{'CSR' if sp.issparse(X) else 'dense'} {X.dtype}"


def as_kind(X: Any, kind: str) -> Any:
    """The examples as an array or a CSR matrix, in single or double precision."""
    storage, dtype = kind.split()
    if storage == "CSR":
        return sp.csr_matrix(X, dtype=dtype)
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=dtype)


@dataclass(frozen=True)
class Value:
    """Of a machine, or the sums over its pairs."""

    squared_norm: float
    loss: float  # the sum over the examples
    C: float

    @property
    def primal(self) -> float:
        return self.squared_norm / 2 + self.C * self.loss


def evaluate(case: Case, support: Any, dual_coef: Any, intercept: bool = True) -> Value:
    """The objective of a machine, with the best intercept or with none."""
    squared_norm = loss = 0.0
    for rows, y, beta in _problems(case, np.asarray(support), as_kind(dual_coef, "dense float64")):
        used = np.flatnonzero(beta)
        f = _responses(case.X[rows], case.X[rows[used]], beta[used], case.gamma)
        b = 0.0
        if intercept:
            best = best_intercept(f, y, np.ones(len(y)))
            b = best[0] if best is not None else 0.0
        squared_norm += float(beta[used] @ f[used])
        loss += float(np.maximum(0, 1 - y * (f + b)).sum())
    return Value(squared_norm, loss, case.C)


def _problems(case: Case, support: Any, dual_coef: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Rows, labels -1 and 1, and coefficients of these rows: for two classes, or for each pair of more."""
    classes, encoded = np.unique(case.y, return_inverse=True)
    weights = np.zeros((len(dual_coef), len(case.y)))
    weights[:, support] = dual_coef
    if len(classes) == 2:
        yield np.arange(len(case.y)), np.where(encoded == 1, 1.0, -1.0), weights[0]
        return
    for first, second in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((encoded == first) | (encoded == second))
        of_first = encoded[rows] == first
        yield rows, np.where(of_first, 1.0, -1.0), np.where(of_first, weights[second - 1, rows], weights[first, rows])


def _responses(X: Any, support_vectors: Any, beta: Any, gamma: float) -> Any:
    if len(beta) == 0:
        return np.zeros(X.shape[0])
    support_vectors = as_kind(support_vectors, "dense float64")
    parts = [
        rbf_kernel(as_kind(X[first : first + BLOCK], "dense float64"), support_vectors, gamma=gamma) @ beta
        for first in range(0, X.shape[0], BLOCK)
    ]
    return np.concatenate(parts)


def find_optimum(case: Case, folder: Path, *, tol: float, max_time: float, cache_size: float) -> Optimum:
    """Our most accurate certified run, or what an earlier call stored in the folder."""

    def certify() -> Any:
        model = SVC(
            C=case.C,
            gamma=case.gamma,
            fit_intercept=case.fit_intercept,
            tol=tol,
            max_time=max_time,
            cache_size=cache_size,
            random_state=12345,
        )
        return model.fit(case.X, case.y).certificate_

    # The sum tells data of the same size apart.
    entries = case.X.shape[0] * case.X.shape[1] + round(float(abs(case.X).sum()))
    return stored_optimum(str(case), entries, folder, certify, tol=tol, max_time=max_time)
