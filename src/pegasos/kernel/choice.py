"""Which kernel the parameters of an estimator state for its examples, and how precise it has to be."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pegasos._threads import usable_threads
from pegasos.base.solver import Solver
from pegasos.kernel.kernels import (
    CalledKernel,
    Floats,
    GivenKernel,
    Kernel,
    PointKernel,
    Precision,
    check_matrix,
    check_points,
    in_double,
    without_zeros,
)
from pegasos.kernel.layout import Layout, blocks, centre
from pegasos.problems.kernel import KernelProblem

#: Rows up to which the kernel matrix is in double precision.
SMALL = 2000
#: The tolerance below which single precision would be felt.
EXACT = 1e-5
#: What rounding of the kernel matrix does to the gap, relative, over C times the kernel's values and the root of the
#: rows: measured, and a guess that chooses the precision of the fit. Its certificate does not rest on it.
ERROR: dict[Precision, float] = {np.float32: 1e-8, np.float64: 2e-17}
#: The share of `tol` that this may be: where it turns out to be more, the fit goes on with a finer matrix.
FELT = 0.3
#: The gap that stochastic solvers may get to.
COARSE = 0.05
#: Squared norms of examples for which squares and products of single precision neither overflow nor vanish.
SMALLEST, LARGEST = 1e-20, 1e30
#: Values of the kernel beyond this, of which single and double precision round off what counts beside margins of 1.
LARGE: dict[Precision, float] = {np.float32: 1e3, np.float64: 1e11}


class KernelRequest(NamedTuple):
    """What the parameters of an estimator say about its kernel, and about what it is for."""

    kernel: str | Callable[..., Any]
    gamma: float | str
    degree: int
    coef0: float
    fit_intercept: bool
    tol: float
    n_jobs: int | None  # a number of threads; None chooses


def make_kernel(
    asked: KernelRequest, solver: Solver, X: Any, sample_weight: Floats | None, most: float = 1.0
) -> Kernel:
    """The kernel that is asked for, of the validated examples X, as precise as the solver needs.

    `most` is the largest that a coefficient may be, C times a weight.
    """
    if isinstance(asked.kernel, str) and asked.kernel == "precomputed":
        given = GivenKernel(check_matrix(X), np.float32 if X.dtype == np.float32 else np.float64)
        _check_diagonal(given)
        return given
    if callable(asked.kernel):
        called = CalledKernel(asked.kernel, in_double(X if X.ndim == 1 else check_points(X, 1)[0]))
        _check_diagonal(called)
        return called
    X, facts = check_points(X, asked.n_jobs or 1)
    able = solver.supports[KernelProblem]
    gamma, rbf = scale_gamma(asked.gamma, X, sample_weight), asked.kernel == "rbf"
    layout, largest = Layout(), facts.largest_squared_norm
    # Without cancellation that matters: where rounding does no harm, nothing is centred.
    if rbf and gamma * largest > 1:
        layout, largest = centre(X, largest, 0.5)
    elif asked.kernel == "linear" and asked.fit_intercept and "free" in able.intercepts and able.exact:
        layout, largest = centre(X, largest, 0.1)
    if layout.shift is None:
        X = without_zeros(X, asked.n_jobs or usable_threads())
    given = layout.arrange(X)
    tol = asked.tol if able.exact else max(asked.tol, COARSE)
    value = _largest_value(asked, gamma, largest)

    def is_rounded(precision: Precision) -> bool:
        """Whether what a kernel matrix in this precision rounds off would be felt."""
        felt = ERROR[precision] * most * value * np.sqrt(X.shape[0]) * max(1.0, gamma * largest if rbf else 1.0)
        return not solver.maximises_margin and felt > FELT * tol

    tame = SMALLEST <= largest <= LARGEST and (value <= LARGE[np.float32] if not rbf else gamma * largest <= 1e3)
    exact = X.shape[0] <= SMALL or tol < EXACT or is_rounded(np.float32) or not tame
    precision: Precision = np.float64 if exact else np.float32
    converted = layout.convert(given, precision)
    named = (asked.kernel, gamma, asked.coef0, asked.degree)
    kernel = PointKernel(*named, precision, layout, given, converted)
    _check_diagonal(kernel)
    if exact and rbf and gamma * largest > 1 and is_rounded(np.float64):
        return kernel.finer() or kernel
    return kernel


def _check_diagonal(kernel: Kernel) -> None:
    """Raise a ValueError where the kernel of an example with itself is none that can be worked with."""
    diagonal = np.abs(kernel.diagonal())
    value = float(diagonal.max(initial=0.0))
    if np.isfinite(value) and value > LARGE[np.float64]:
        raise ValueError(
            f"the kernel has values up to {value:.2g}, of which double precision rounds off what counts beside margins "
            "of 1; centre and scale the features, for example with sklearn.preprocessing.StandardScaler"
        )
    wrong = np.flatnonzero(~np.isfinite(diagonal))
    if len(wrong):
        raise ValueError(
            f"the kernel of the example in row {wrong[0]} with itself is not finite; scale the features, or lower "
            "gamma, degree or coef0"
        )


def scale_gamma(gamma: Any, X: Any, sample_weight: Floats | None) -> float:
    """The number that `gamma` stands for. A row of weight 2 counts as two rows in the variance."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1 / X.shape[1]
    share = np.full(X.shape[0], 1 / X.shape[0]) if sample_weight is None else sample_weight / sample_weight.sum()
    d = X.shape[1]
    if sp.issparse(X):
        values, starts = X.data[: X.nnz].astype(np.float64), X.indptr
        of_entries = np.repeat(share, np.diff(starts))
        mean = float(of_entries @ values) / d
        zeros = float(share @ (d - np.diff(starts)))
        variance = (float(of_entries @ (values - mean) ** 2) + zeros * mean**2) / d
    else:
        mean = sum(float(share[part] @ X[part].mean(axis=1, dtype=np.float64)) for part in blocks(X))
        parts = ((share[part], X[part].astype(np.float64)) for part in blocks(X))
        variance = sum(float(own @ ((rows - mean) ** 2).mean(axis=1)) for own, rows in parts)
    return 1 / (d * variance) if variance > 0 else 1.0


def _largest_value(asked: KernelRequest, gamma: float, largest: float) -> float:
    """The largest number that comes up in a kernel, where the largest squared norm of an example is given."""
    if asked.kernel == "rbf":
        return 1.0
    base = abs(gamma) * largest + abs(asked.coef0) if asked.kernel != "linear" else largest
    with np.errstate(over="ignore"):
        power = float(np.float64(base) ** asked.degree) if asked.kernel == "poly" else base
    return max(power, largest)
