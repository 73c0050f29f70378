"""Kernels: parameters, precision, and the kernel matrix as the core takes it.

There are three kinds: a function of inner products that the core computes, a matrix that is given, and a Python
function. Each makes a source for some of the examples, and the sums ``sum_i coef_i K(x, x_i)`` of a decision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from pegasos._config import usable_threads
from pegasos._core import native
from pegasos.problem import check_rows
from pegasos.solvers.base import Solver

__all__ = [
    "KERNELS",
    "Kernel",
    "PointKernel",
    "Support",
    "blocks",
    "check_points",
    "is_indefinite",
    "make_kernel",
    "scale_gamma",
]

#: Kernels that the core computes.
KERNELS = ("linear", "poly", "rbf", "sigmoid")

#: Rows up to which the kernel matrix is in double precision, and all of it is looked at for negative eigenvalues.
SMALL = 2000
#: Rows of the part that is looked at where there are more.
SAMPLE = 500
#: The tolerance below which single precision would be felt.
EXACT = 1e-5
#: The relative error of the bounds in single precision, over C times the kernel's values and the root of the rows.
ERROR = 1e-8
#: The gap that stochastic solvers may get to.
COARSE = 0.05
#: gamma ||x||^2 beyond which single precision does not tell distances well enough.
LONG = 1e3
#: The relative difference of two numbers of a kernel matrix that should be equal.
ROUNDING = 1e-5
#: Entries of X that are converted at a time for decisions.
ENTRIES = 2**24
#: Rows that a Python function is given at a time.
BLOCK = 256

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Precision = type[np.float32] | type[np.float64]

#: Values of the kernel beyond this, of which single and double precision round off what counts beside margins of 1.
LARGE: dict[Precision, float] = {np.float32: 1e3, np.float64: 1e11}


class Support(NamedTuple):
    """The examples that a decision is made of."""

    rows: NDArray[np.int32]  # in the data of the fit
    vectors: Any
    coef: Floats  # a column for each


class Kernel(Protocol):
    """A kernel, and the examples of a fit."""

    @property
    def precision(self) -> Precision:
        """That of the kernel matrix."""

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        """The kernel matrix of some examples; None is all."""

    def square(self, rows: Rows) -> Floats:
        """The same, as an array."""

    def diagonal(self) -> Floats:
        """The kernel of each example with itself."""

    def stripped(self) -> "Kernel":
        """The kernel without the examples, which is enough for decisions."""

    def decisions(self, support: Support, groups: Sequence[slice], X: Any, n_jobs: int) -> Floats:
        """``sum_i coef[k, i] K(x, x_i)`` for each example x, group of support vectors i, and row k of the weights."""


@dataclass(frozen=True)
class PointKernel:
    """A function of inner products."""

    name: str
    gamma: float
    coef0: float
    degree: int
    precision: Precision
    shift: Floats | None  # what is taken off each example, which does not change distances
    X: Any  # the examples, in this precision, shifted

    @property
    def is_definite(self) -> bool:
        """Whether it is known to be positive semi-definite on any examples."""
        return self.name in ("linear", "rbf") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def core(self) -> native.Kernel:
        return native.Kernel(self.name, self.gamma, self.coef0, self.degree)

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        points = _points(self.X if rows is None else self.X[rows])
        return native.point_source(points, self.core, native.Run(n_jobs=n_jobs))

    def square(self, rows: Rows) -> Floats:
        X = self.X[rows]
        return self._of_products(np.asarray(safe_sparse_dot(X, X.T, dense_output=True), dtype=np.float64))

    def diagonal(self) -> Floats:
        if self.name == "rbf":
            return np.ones(self.X.shape[0])
        return self._of_products(_squared_norms(self.X))

    def stripped(self) -> "PointKernel":
        return replace(self, X=None)

    def decisions(self, support: Support, groups: Sequence[slice], X: Any, n_jobs: int) -> Floats:
        if self.shift is None:
            X = _without_zeros(X, n_jobs)
        many, run = _points(_convert(X, self.precision, self.shift)), native.Run(n_jobs=n_jobs)
        out = np.zeros((X.shape[0], len(groups), len(support.coef)))
        for k, group in enumerate(groups):
            coef = support.coef[:, group]
            if coef.size:
                few = _points(_convert(support.vectors[group], self.precision, self.shift))
                flat = native.kernel_decisions(self.core, few, coef.T.ravel(), len(coef), many, run)
                out[:, k] = flat.reshape(-1, len(coef))
        return out

    def _of_products(self, products: Floats) -> Floats:
        """The kernel from inner products; the Gaussian one is none of these."""
        if self.name == "linear":
            return products
        with np.errstate(over="ignore"):  # what becomes of it is looked at
            scaled = self.gamma * products + self.coef0
            return np.tanh(scaled) if self.name == "sigmoid" else scaled**self.degree


@dataclass(frozen=True)
class GivenKernel:
    """A matrix that is given."""

    K: Any
    precision: Precision

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        return native.given_source(self.K if rows is None else np.ascontiguousarray(self.K[np.ix_(rows, rows)]))

    def square(self, rows: Rows) -> Floats:
        return self.K[np.ix_(rows, rows)].astype(np.float64, copy=False)

    def diagonal(self) -> Floats:
        return self.K.diagonal().astype(np.float64)

    def stripped(self) -> "GivenKernel":
        return replace(self, K=None)

    def decisions(self, support: Support, groups: Sequence[slice], X: Any, n_jobs: int) -> Floats:
        return np.stack([X[:, support.rows[group]] @ support.coef[:, group].T for group in groups], axis=1)


@dataclass(frozen=True)
class CalledKernel:
    """A Python function of two blocks of examples."""

    function: Callable[[Any, Any], Any]
    X: Any
    precision: Precision = np.float64

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        X = self.X if rows is None else self.X[rows]

        def fill(wanted: NDArray[np.uint32], out: Floats) -> None:
            out[:] = self._call(X[wanted.astype(np.intp)], X)

        return native.called_source(fill, self._diagonal_of(X))

    def square(self, rows: Rows) -> Floats:
        X = self.X[rows]
        return np.concatenate([self._call(X[k : k + BLOCK], X) for k in range(0, len(rows), BLOCK)])

    def diagonal(self) -> Floats:
        return self._diagonal_of(self.X)

    def stripped(self) -> "CalledKernel":
        return replace(self, X=None)

    def decisions(self, support: Support, groups: Sequence[slice], X: Any, n_jobs: int) -> Floats:
        out = np.zeros((X.shape[0], len(groups), len(support.coef)))
        if len(support.rows):
            for k in range(0, X.shape[0], BLOCK):
                K = self._call(X[k : k + BLOCK], support.vectors)
                for g, group in enumerate(groups):
                    out[k : k + BLOCK, g] = K[:, group] @ support.coef[:, group].T
        return out

    def _diagonal_of(self, X: Any) -> Floats:
        # Of small blocks: all but the diagonal of each is computed for nothing.
        small = BLOCK // 8
        blocks = (X[k : k + small] for k in range(0, X.shape[0], small))
        return np.concatenate([self._call(block, block).diagonal() for block in blocks])

    def _call(self, X: Any, Y: Any) -> Floats:
        """The kernel matrix of two blocks; a ValueError where it is none."""
        K = self.function(X, Y)
        K = K.toarray() if sp.issparse(K) else np.asarray(K)
        shape = (X.shape[0], Y.shape[0])
        if K.shape != shape or K.dtype.kind not in "biuf":
            raise ValueError(
                f"the kernel returned {K.dtype} of shape {K.shape} for {shape[0]} and {shape[1]} examples; a kernel "
                f"takes two matrices, and must return numbers of shape {shape}, one for each pair of their rows"
            )
        if not np.isfinite(K).all():
            raise ValueError("the kernel returned numbers that are not finite; look at what it does with large values")
        return K.astype(np.float64, copy=False)


def make_kernel(machine: Any, solver: Solver, X: Any, sample_weight: Floats | None, most: float = 1.0) -> Kernel:
    """The kernel that a machine's parameters ask for, of the validated examples X, as precise as its solver needs.

    `most` is the largest that a coefficient may be, C times a weight.
    """
    if isinstance(machine.kernel, str) and machine.kernel == "precomputed":
        return GivenKernel(_check_matrix(X), np.float32 if X.dtype == np.float32 else np.float64)
    X, report = check_points(X, machine._threads() or 1)
    if callable(machine.kernel):
        return CalledKernel(machine.kernel, X)
    gamma = scale_gamma(machine.gamma, X, sample_weight)
    shift, largest = None, report.largest_squared_norm
    X = _without_zeros(X, machine._threads() or usable_threads())
    if not sp.issparse(X) and machine.kernel == "rbf":
        shift, largest = _centre(X, gamma, largest)
    tol = machine.tol if solver.kernel_exact else max(machine.tol, COARSE)
    value = _largest_value(machine, gamma, largest)
    error = 0.0 if solver.kernel_margin else ERROR * most * value * np.sqrt(X.shape[0])
    tame = gamma * largest <= LONG and largest <= 1e30 if machine.kernel == "rbf" else value <= LARGE[np.float32]
    exact = X.shape[0] <= SMALL or tol < EXACT or error > 0.1 * tol or not tame
    precision: Precision = np.float64 if exact else np.float32
    coef0, degree = float(machine.coef0), int(machine.degree)
    kernel = PointKernel(machine.kernel, gamma, coef0, degree, precision, shift, _convert(X, precision, shift))
    value = float(np.abs(kernel.diagonal()).max(initial=0.0))
    if np.isfinite(value) and value > LARGE[np.float64]:
        raise ValueError(
            f"the kernel has values up to {value:.2g}, of which double precision rounds off what counts beside margins "
            "of 1; centre and scale the features, for example with sklearn.preprocessing.StandardScaler"
        )
    wrong = np.flatnonzero(~np.isfinite(kernel.diagonal()))
    if len(wrong):
        raise ValueError(
            f"the kernel of the example in row {wrong[0]} with itself is not finite; scale the features, or lower "
            "gamma, degree or coef0"
        )
    return kernel


def scale_gamma(gamma: Any, X: Any, sample_weight: Floats | None) -> float:
    """The number that `gamma` stands for. A row of weight 2 counts as two rows in the variance."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1 / X.shape[1]
    share = np.full(X.shape[0], 1 / X.shape[0]) if sample_weight is None else sample_weight / sample_weight.sum()
    mean = float(np.mean(share @ X))
    if sp.issparse(X):
        variance = float(np.mean(share @ X.multiply(X))) - mean**2
    else:
        parts = ((share[part], X[part].astype(np.float64)) for part in blocks(X))
        variance = sum(float(own @ ((rows - mean) ** 2).mean(axis=1)) for own, rows in parts)
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0


def is_indefinite(kernel: Kernel, seed: int) -> bool:
    """Whether the kernel matrix is known to have a negative eigenvalue. Of many rows a random part is looked at."""
    if isinstance(kernel, PointKernel) and kernel.is_definite:
        return False
    diagonal = kernel.diagonal()
    if diagonal.min() < 0:
        return True
    rows = np.arange(len(diagonal))
    if len(rows) > SMALL:
        rows = np.sort(np.random.default_rng(seed).choice(rows, SAMPLE, replace=False))
    square = kernel.square(rows)
    if np.abs(square - square.T).max() > ROUNDING * np.abs(square).max():
        raise ValueError("the kernel is not symmetric: it has another value for (x, z) than for (z, x)")
    values = np.linalg.eigvalsh(square)
    return bool(values[0] < -1e-6 * max(values[-1], 0.0))


def check_points(X: Any, n_jobs: int) -> tuple[Any, native.RowsReport]:
    """X without columns that come twice, and what is known of its rows; a ValueError where an entry is not finite."""
    _, report = check_rows(X, 0.0, n_jobs)
    if sp.issparse(X):
        if X.shape[1] >= 2**31:
            raise ValueError(
                f"X has {X.shape[1]} columns; kernel machines count at most {2**31 - 1}; leave out those that are empty"
            )
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
            _, report = check_rows(X, 0.0, n_jobs)
    return X, report


def _check_matrix(K: Any) -> Any:
    """A kernel matrix that is given; a ValueError where it cannot be one."""
    if sp.issparse(K):
        raise ValueError("kernel='precomputed' takes the kernel matrix as an array, not sparse; pass K.toarray()")
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' takes a square matrix, the kernel of each two examples, and X is {K.shape[0]} x "
            f"{K.shape[1]}; pass K(X, X), or choose another kernel"
        )
    check_rows(K)
    for part in blocks(K):
        difference = np.abs(K[part] - K[:, part].T)
        if difference.max(initial=0) > ROUNDING * np.abs(K[part]).max(initial=0):
            i, j = np.unravel_index(difference.argmax(), difference.shape)
            i += part.start
            raise ValueError(
                f"kernel='precomputed' takes a symmetric matrix, but K[{i}, {j}] = {K[i, j]:.6g} and K[{j}, {i}] = "
                f"{K[j, i]:.6g}; pass (K + K.T) / 2 if the difference is rounding"
            )
    return K


def _centre(X: Any, gamma: float, largest: float) -> tuple[Floats | None, float]:
    """The mean of the rows, if they are much shorter without it, and the largest squared norm then."""
    if gamma * largest <= 1:  # rounding does no harm
        return None, largest
    mean = X.mean(axis=0, dtype=np.float64)
    without = max(float(_squared_norms(X[part] - mean).max()) for part in blocks(X))
    return (mean, without) if without < 0.5 * largest else (None, largest)


def _largest_value(machine: Any, gamma: float, largest: float) -> float:
    """The largest number that comes up in a kernel, where the largest squared norm of an example is given."""
    if machine.kernel == "rbf":
        return 1.0
    base = abs(gamma) * largest + abs(machine.coef0) if machine.kernel != "linear" else largest
    with np.errstate(over="ignore"):
        power = float(np.float64(base) ** machine.degree) if machine.kernel == "poly" else base
    return max(power, largest)


def _convert(X: Any, precision: Precision, shift: Floats | None) -> Any:
    """X in this precision, without the shift; in place where it is so already."""
    if shift is not None:
        X = X.toarray() if sp.issparse(X) else X
        out = np.empty(X.shape, dtype=precision)
        for part in blocks(X):
            np.subtract(X[part], shift, out=out[part], casting="same_kind")
        return out
    with np.errstate(over="ignore"):  # what becomes of it is looked at
        return X.astype(precision, copy=False)


def _without_zeros(X: Any, n_jobs: int) -> Any:
    """X as a CSR matrix where at most a third of it is not zero: the core is faster with fewer entries."""
    if sp.issparse(X) or X.shape[1] >= 2**31:
        return X
    found = native.sparse_entries(np.ascontiguousarray(X), X.size // 3, native.Run(n_jobs=n_jobs))
    return X if found is None else sp.csr_array(found, shape=X.shape)


def _points(X: Any) -> native.Points:
    """X in the core's hands."""
    if not sp.issparse(X):
        return native.dense_points(np.ascontiguousarray(X))
    if not X.has_canonical_format:  # the norm of a row with a column twice is not that of its entries
        X = X.copy()
        X.sum_duplicates()
    return native.csr_points(
        np.ascontiguousarray(X.data),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        X.shape[1],
    )


def blocks(X: Any) -> list[slice]:
    """The rows in blocks, so that a copy of each takes little memory."""
    n = X.shape[0]
    entries = X.nnz if sp.issparse(X) else X.size
    size = max(256, int(ENTRIES * n / max(entries, 1)))
    return [slice(k, min(k + size, n)) for k in range(0, n, size)]


def _squared_norms(X: Any) -> Floats:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)
