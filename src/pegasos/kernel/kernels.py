"""Kernels: parameters, precision, and the kernel matrix as the core takes it.

There are three kinds: a function of inner products that the core computes, a matrix that is given, and a Python
function. Each makes a source for some of the examples, and the sums ``sum_i coef_i K(x, x_i)`` of a decision.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from pegasos._core import native
from pegasos.base.rows import check_rows
from pegasos.base.scores import score_rows
from pegasos.io.csr import canonical
from pegasos.kernel.layout import Layout, blocks, squared_norms

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
Precision = type[np.float32] | type[np.float64]

#: Kernels that the core computes.
KERNELS = ("linear", "poly", "rbf", "sigmoid")

#: The relative difference of two numbers of a kernel matrix that should be equal.
ROUNDING = 1e-5
#: Bytes that a dense copy of sparse examples may take, where only differences of entries will do.
DENSE_BYTES = 2e9
#: Rows that a Python function is given at a time.
BLOCK = 256
#: Rows to predict that are taken as they are: fewer than a block of the core has.
FEW = 16


class Support(NamedTuple):
    """The examples that a decision is made of."""

    rows: NDArray[np.int32]  # in the data of the fit
    n_fit: int  # rows of these
    vectors: Any
    coef: Floats  # a column for each
    groups: Sequence[slice]  # which take part in different problems

    @property
    def sums(self) -> tuple[int, int]:
        """Groups, and rows of coefficients."""
        return len(self.groups), len(self.coef)


#: ``sum_i coef[k, i] K(x, x_i)`` for each example x, group of support vectors i, and row k of the coefficients; it is
#: called with the examples and a number of threads.
Decide = Callable[[Any, int], Floats]


class Kept:
    """What a first prediction made ready for the next ones; not pickled."""

    def __init__(self) -> None:
        self._entry: tuple[tuple[Any, ...], Any] = (), None

    def get(self, make: Callable[[], Decide], *model: Any) -> Decide:
        """What was made of the same objects, or what is made of these now."""
        known, made = self._entry
        if len(known) != len(model) or any(one is not other for one, other in zip(known, model, strict=True)):
            made = make()
            self._entry = model, made  # at once: other threads may predict too
        decide: Decide = made
        return decide

    def __reduce__(self) -> tuple[type["Kept"], tuple[()]]:
        return Kept, ()


class Kernel(Protocol):
    """A kernel, and the examples of a fit."""

    @property
    def precision(self) -> Precision:
        """That of the kernel matrix."""

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        """The kernel matrix of some examples; None is all."""

    def exact(self, rows: Rows | None) -> Iterator[native.KernelSums]:
        """Responses of some examples in double precision, then in ways that round less; none where there is no way."""

    def finer(self) -> "Kernel | None":
        """The same kernel with a matrix that is rounded less; None where there is none."""

    def square(self, rows: Rows) -> Floats:
        """The kernel matrix of some examples, as an array."""

    def diagonal(self) -> Floats:
        """The kernel of each example with itself."""

    def stripped(self) -> "Kernel":
        """The kernel without the examples, which is enough for decisions."""

    @property
    def kept(self) -> Kept:
        """What predictions have made ready."""

    def prepare(self, support: Support) -> Decide:
        """What decisions of many calls share."""


@dataclass(frozen=True)
class PointKernel:
    """A function of inner products."""

    name: str
    gamma: float
    coef0: float
    degree: int
    precision: Precision
    layout: Layout
    given: Any  # the examples in this layout, in the precision they were given in
    X: Any  # the same in the kernel's precision, without the shift
    differences: bool = False  # distances are sums of squared differences: slower, and accurate for any data
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)

    @property
    def is_definite(self) -> bool:
        """Whether it is known to be positive semi-definite on any examples."""
        return self.name in ("linear", "rbf") or (self.name == "poly" and self.coef0 >= 0)

    def core(self, differences: bool = False) -> native.Kernel:
        return native.Kernel(self.name, self.gamma, self.coef0, self.degree, differences)

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        points = _points(self.X if rows is None else self.X[rows])
        return native.point_source(points, self.core(self.differences), native.Run(n_jobs=n_jobs), self._entries_error)

    @property
    def _entries_error(self) -> float:
        """By which the entries of X may differ from what they stand for, relatively."""
        if self.differences or (self.layout.shift is None and self.X.dtype == self.given.dtype):
            return 0.0
        single = self.precision is np.float32
        return float(1.01 * np.finfo(self.precision).eps / 2) + (1e-30 * self.X.shape[1] if single else 0.0)

    def exact(self, rows: Rows | None) -> Iterator[native.KernelSums]:
        given = self.given if rows is None else self.given[rows]
        shift = self.layout.arranged_shift
        if not self.differences:
            yield native.point_sums(_points(given), self.core(), shift, False)
        if self.name in ("linear", "poly"):
            yield native.point_sums(_points(given), self.core(), shift, True)
        elif self.name == "rbf" and (dense := _dense(given)) is not None:
            yield native.point_sums(_points(dense), self.core(True), None, False)

    def finer(self) -> "PointKernel | None":
        if self.precision is np.float32:
            return replace(self, precision=np.float64, X=self.layout.convert(self.given, np.float64))
        if self.name != "rbf" or self.differences or (dense := _dense(self.given)) is None:
            return None
        return replace(self, given=dense, X=dense.astype(np.float64, copy=False), differences=True)

    def square(self, rows: Rows) -> Floats:
        X = self.X[rows]
        return self._of_products(np.asarray(safe_sparse_dot(X, X.T, dense_output=True), dtype=np.float64))

    def diagonal(self) -> Floats:
        if self.name == "rbf":
            return np.ones(self.X.shape[0])
        return self._of_products(squared_norms(self.X))

    def stripped(self) -> "PointKernel":
        return replace(self, X=None, given=None, kept=Kept())

    def prepare(self, support: Support) -> Decide:
        if len(support.rows) == 0:
            return lambda X, _: np.zeros((X.shape[0], *support.sums))
        laid_out = _points(self._laid_out(support.vectors, 1))
        vectors = native.support_vectors(self.core(self.differences), laid_out, native.Run())
        ends = np.array([group.indices(len(support.rows))[1] for group in support.groups], np.uint64)
        offsets = np.array([self.offsets(support.coef[:, one], support.vectors[one]) for one in support.groups])

        def decide(X: Any, n_jobs: int) -> Floats:
            rows = _points(self._laid_out(X, n_jobs))
            sums = vectors.decisions(support.coef, ends, rows, native.Run(n_jobs=n_jobs))
            return sums.reshape(X.shape[0], *support.sums) + offsets

        return decide

    def offsets(self, coef: Floats, vectors: Any) -> Floats:
        """By how much decisions of the linear kernel are larger without the shift; the coefficients sum to zero."""
        if self.name != "linear" or self.layout.shift is None:
            return np.zeros(len(coef))
        return self.weights(coef, vectors) @ self.layout.shift

    def intercept_without_shift(self, b: float, more: float, beta: Floats, rows: Rows | None) -> tuple[float, float]:
        """b + more without the shift, of the linear kernel, and by how much it is off; beta sums to zero."""
        used = np.flatnonzero(beta)
        vectors = self.given[used if rows is None else rows[used]]
        shift = self.layout.arranged_shift
        assert shift is not None
        vectors = (vectors.toarray() if sp.issparse(vectors) else vectors).astype(np.longdouble) - shift
        coef = beta[used].astype(np.longdouble)
        exact = (np.longdouble(b) - (coef @ vectors) @ shift) + more
        terms = float(np.abs(coef) @ np.abs(vectors) @ np.abs(shift)) + abs(b) + abs(more)
        error = (len(used) + len(shift) + 8) * float(np.finfo(np.longdouble).eps) * terms
        return float(exact), float(abs(exact - np.longdouble(float(exact)))) + error

    def weights(self, coef: Floats, vectors: Any) -> Floats:
        """Weights of the features, of the linear kernel."""
        shift = self.layout.shift
        plain = np.asarray(safe_sparse_dot(coef, vectors), dtype=np.float64)
        if shift is None:
            return plain
        filled = np.ones(len(shift), dtype=bool) if self.layout.filled is None else self.layout.filled
        dense = vectors[:, filled]
        plain[:, filled] = coef @ ((dense.toarray() if sp.issparse(dense) else dense) - shift[filled])
        return plain

    def _laid_out(self, X: Any, n_jobs: int) -> Any:
        """Examples to predict, as those of the fit are."""
        if self.differences:
            return (X.toarray() if sp.issparse(X) else X).astype(np.float64, copy=False)
        if self.layout.shift is None and X.shape[0] >= FEW:
            X = without_zeros(X, n_jobs)
        return self.layout.convert(self.layout.arrange(X), self.precision)

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
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        return native.given_source(self.K if rows is None else np.ascontiguousarray(self.K[np.ix_(rows, rows)]))

    def exact(self, rows: Rows | None) -> Iterator[native.KernelSums]:
        yield native.given_sums(self.K if rows is None else np.ascontiguousarray(self.K[np.ix_(rows, rows)]))

    def finer(self) -> "GivenKernel | None":
        if self.precision is np.float64:
            return None
        return GivenKernel(self.K.astype(np.float64), np.float64)

    def square(self, rows: Rows) -> Floats:
        return self.K[np.ix_(rows, rows)].astype(np.float64, copy=False)

    def diagonal(self) -> Floats:
        return self.K.diagonal().astype(np.float64)

    def stripped(self) -> "GivenKernel":
        return replace(self, K=None, kept=Kept())

    def prepare(self, support: Support) -> Decide:
        weights = np.zeros((*support.sums, support.n_fit))
        for own, group in zip(weights, support.groups, strict=True):
            own[:, support.rows[group]] = support.coef[:, group]
        flat = weights.reshape(-1, support.n_fit)
        return lambda X, n_jobs: score_rows(X, flat, 0.0, n_jobs).reshape(-1, *support.sums)


@dataclass(frozen=True)
class CalledKernel:
    """A Python function of two blocks of examples."""

    function: Callable[[Any, Any], Any]
    X: Any
    precision: Precision = np.float64
    kept: Kept = field(default_factory=Kept, compare=False, repr=False)

    def source(self, rows: Rows | None, n_jobs: int = 1) -> native.KernelSource:
        X = self.X if rows is None else self.X[rows]

        def fill(wanted: NDArray[np.uint32], out: Floats) -> None:
            out[:] = self._call(X[wanted.astype(np.intp)], X)

        return native.called_source(fill, self._diagonal_of(X))

    def exact(self, rows: Rows | None) -> Iterator[native.KernelSums]:
        return iter(())  # its values are those that the fit was given; to ask again may take long

    def finer(self) -> None:
        return None

    def square(self, rows: Rows) -> Floats:
        X = self.X[rows]
        return np.concatenate([self._call(X[k : k + BLOCK], X) for k in range(0, len(rows), BLOCK)])

    def diagonal(self) -> Floats:
        return self._diagonal_of(self.X)

    def stripped(self) -> "CalledKernel":
        return replace(self, X=None, kept=Kept())

    def prepare(self, support: Support) -> Decide:
        vectors = in_double(support.vectors)

        def decide(X: Any, _: int) -> Floats:
            out = np.zeros((X.shape[0], *support.sums))
            for k in range(0, X.shape[0] if len(support.rows) else 0, BLOCK):
                K = self._call(in_double(X[k : k + BLOCK]), vectors)
                for g, group in enumerate(support.groups):
                    out[k : k + BLOCK, g] = K[:, group] @ support.coef[:, group].T
            return out

        return decide

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


def as_objects(X: Any) -> NDArray[Any] | None:
    """Examples that are objects, such as texts, as a kernel that is a function takes them; None of rows of numbers."""
    if sp.issparse(X) or (hasattr(X, "ndim") and X.ndim != 1) or not hasattr(X, "__len__"):
        return None
    if not len(X) or not any(isinstance(X[0], kind) for kind in (str, bytes)):
        return None
    objects = np.empty(len(X), dtype=object)
    objects[:] = list(X)
    return objects


def in_double(X: Any) -> Any:
    """Rows of numbers in double precision; objects as they are."""
    return X if X.dtype == object else X.astype(np.float64, copy=False)


def check_points(X: Any, n_jobs: int) -> tuple[Any, native.RowsFacts]:
    """X without columns that come twice, and what is known of its rows; a ValueError where an entry is not finite."""
    _, facts = check_rows(X, 0.0, n_jobs)
    if sp.issparse(X) and X.shape[1] >= 2**31:
        raise ValueError(
            f"X has {X.shape[1]} columns, and with a kernel at most {2**31 - 1} can be used; drop the empty ones"
        )
    whole = canonical(X)
    return whole, facts if whole is X else check_rows(whole, 0.0, n_jobs)[1]


def check_matrix(K: Any) -> Any:
    """A kernel matrix that is given; a ValueError where it cannot be one."""
    if sp.issparse(K):
        raise TypeError("Sparse precomputed kernels are not supported: pass the kernel matrix as K.toarray()")
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


def _dense(X: Any) -> Any:
    """X as an array; None where that would take too much memory."""
    if not sp.issparse(X):
        return X
    return X.toarray() if X.shape[0] * X.shape[1] * 8 <= DENSE_BYTES else None


def without_zeros(X: Any, n_jobs: int) -> Any:
    """X as a CSR matrix where at most a third of it is not zero: the core is faster with fewer entries."""
    if sp.issparse(X) or X.shape[1] >= 2**31:
        return X
    found = native.sparse_entries(np.ascontiguousarray(X), X.size // 3, native.Run(n_jobs=n_jobs))
    return X if found is None else sp.csr_array(found, shape=X.shape)


def _points(X: Any) -> native.Points:
    """X in the core's hands."""
    if not sp.issparse(X):
        return native.dense_points(np.ascontiguousarray(X))
    X = canonical(X)
    return native.csr_points(
        np.ascontiguousarray(X.data),
        np.ascontiguousarray(X.indices, dtype=np.int32),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        X.shape[1],
    )
