"""What machines with a kernel share: the kernel matrix, the problems of a fit, decisions."""

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from pegasos.base.checkpoint import Context
from pegasos.base.display import listening
from pegasos.base.estimator import Data, Machine, is_hidden, of_one_model, shortfall
from pegasos.base.exchange import Exchanged
from pegasos.base.options import ChoiceOrFunction, Integer, Number, NumberOrName, names
from pegasos.base.outcome import Solution
from pegasos.base.parameters import Budgets, Penalty, Scaled, WithoutShrinking, parameter, parameters
from pegasos.base.rows import check_rows, check_scores
from pegasos.base.scaling import (
    LOOKED_AT_SHORTLY,
    describe_sizes,
    divide_columns,
    mostly_zeros,
    scale_columns,
    some_rows,
    warn_of_offsets,
)
from pegasos.base.scores import worth_threads
from pegasos.base.solver import EARLY_STOPPING, FREE, refuse_unsupported, wish_for_loss
from pegasos.base.warn import warn, warn_of_fit
from pegasos.certificate import REASONS, Certificate
from pegasos.config import make_csr
from pegasos.kernel.callbacks import KernelProblems
from pegasos.kernel.choice import KernelRequest, make_kernel
from pegasos.kernel.definiteness import Definiteness, definiteness
from pegasos.kernel.exchange import kernel_to_sklearn
from pegasos.kernel.fit import KernelFit, Subproblem
from pegasos.kernel.kernels import (
    KERNELS,
    CalledKernel,
    Decide,
    GivenKernel,
    Kernel,
    PointKernel,
    Support,
    as_objects,
    check_points,
)
from pegasos.kernel.layout import blocks
from pegasos.problems.kernel import KernelPoint, KernelProblem
from pegasos.solvers import KERNEL_SOLVERS, Solver

#: Products of entries that a thread should have to be worth its start.
PRODUCTS_FOR_THREADS = 10_000_000

Floats = NDArray[np.float64]


@parameters
class KernelParameters(WithoutShrinking, Scaled, Budgets, Penalty):
    """Parameters of all machines with a kernel."""

    C: float = parameter(1.0, Number(low=0, open=True, infinite=True, help="weight of the loss"))
    max_iter: int = 10_000
    kernel: Any = parameter("rbf", ChoiceOrFunction(values=names(*KERNELS, "precomputed"), help="the kernel"))
    degree: int = parameter(3, Integer(low=0, high=2**31 - 1, help="exponent of the polynomial kernel"))
    gamma: float | str = parameter(
        "scale", NumberOrName(values=("scale", "auto"), low=0, open=True, help="gamma of the kernel")
    )
    coef0: float = parameter(0.0, Number(help="coef0 of the polynomial and the sigmoid kernel"))
    cache_size: float = parameter(2000, Number(low=0, open=True, help="megabytes of the kernel matrix to keep"))


class KernelMachine(Exchanged, KernelParameters, Machine):
    """Base of the machines with a kernel."""

    support_: NDArray[np.int32]
    support_vectors_: Any
    n_support_: NDArray[np.int32]
    _dual_coef_: Floats
    intercept_: Floats
    class_weight_: Floats
    n_iter_: Any
    n_kernel_evaluations_: int
    n_updates_: int
    shape_fit_: tuple[int, int]
    scale_: Floats | None
    _fitted_kernel: Kernel
    # Of problems that were cut short, by number: the weights of all examples at the dual point, where to go on. The
    # machine is an earlier one, of a lower primal value.
    _goes_on: dict[int, Floats]

    loss: str  # a parameter, or the same for all
    solvers = KERNEL_SOLVERS

    @property
    @of_one_model
    def dual_coef_(self) -> Any:
        """What the support vectors weigh in the decisions; sparse where X was, but for kernels that are functions."""
        check_is_fitted(self)
        sparse = issparse(self.support_vectors_) and isinstance(self._fitted_kernel, PointKernel)
        return make_csr(self._dual_coef_) if sparse else self._dual_coef_

    @property
    @of_one_model
    def coef_(self) -> Any:
        """Weights of the features, a row for each problem, sparse if X was; only with ``kernel="linear"``."""
        check_is_fitted(self)
        kernel = self._fitted_kernel
        if not isinstance(kernel, PointKernel) or kernel.name != "linear":
            raise AttributeError(
                "coef_ is there with kernel='linear' only: with another one the weights are not those of features; use "
                "dual_coef_ and support_vectors_, or LinearSVC and LinearSVR"
            )
        weights = kernel.weights(self._problem_weights(), self._scaled(self.support_vectors_))
        weights = weights if self.scale_ is None else weights / self.scale_
        if issparse(self.support_vectors_):
            sparse = make_csr(weights)
            sparse.data.flags.writeable = False
            return sparse
        weights.flags.writeable = False  # they are made of dual_coef_, and a change would be lost
        return weights

    def _scaled(self, X: Any) -> Any:
        """Examples as the kernel takes them."""
        return X if self.scale_ is None else divide_columns(X, self.scale_)

    @property
    def gamma_(self) -> float:
        """The number that `gamma` stood for in the last fit; of kernels that have one."""
        check_is_fitted(self)
        if not isinstance(self._fitted_kernel, PointKernel):
            raise AttributeError("gamma_ is there with kernels by name only; a matrix or a function has none")
        return self._fitted_kernel.gamma

    _gamma = gamma_  # converters of scikit-learn's models look for it under this name

    def _refuse_combinations(self, solver: Solver) -> None:
        wishes = [wish_for_loss(self.loss)]
        if self.fit_intercept:
            wishes += [FREE._replace(text="fit_intercept=True", given_up="fit_intercept=False")]
        wishes += [EARLY_STOPPING] if getattr(self, "early_stopping", False) else []
        refuse_unsupported(solver, KernelProblem, KERNEL_SOLVERS, wishes)
        if self.scale and isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "scale=True divides the columns of X by their sizes, and with kernel='precomputed' X is the kernel "
                "matrix; leave it out, and scale the examples before their kernel is computed"
            )

    def _kernel_request(self) -> KernelRequest:
        """What its parameters say about the kernel."""
        given = (self.kernel, self.gamma, int(self.degree), float(self.coef0))
        return KernelRequest(*given, bool(self.fit_intercept), float(self.tol), self._threads())

    def _parts(self, data: Data) -> list[Subproblem]:
        """The problems of a fit."""
        raise NotImplementedError

    def _store_machines(
        self, data: Data, parts: Sequence[Subproblem], betas: Sequence[Floats], intercepts: Floats
    ) -> None:
        """Store what the examples weigh in each problem."""
        raise NotImplementedError

    def _problem_weights(self) -> Floats:
        """What the support vectors weigh, a row for each problem."""
        return self._dual_coef_

    def _accept(self, X: Any, y: Any, sample_weight: ArrayLike | None, reset: bool = True) -> Data:
        """Examples of a kernel that is a function may be objects of any kind, such as texts."""
        objects = as_objects(X) if callable(self.kernel) else None
        if objects is None:
            return super()._accept(X, y, sample_weight, reset)
        if self.scale:
            raise ValueError("scale=True divides columns of numbers by their sizes, and X has none; leave it out")
        return super()._accept(np.zeros((len(objects), 1)), y, sample_weight, reset)._replace(X=objects)

    def _last_fit(self) -> Floats | None:
        """The weight of each example of the last fit, a row for each problem."""
        if not hasattr(self, "_dual_coef_"):
            return None
        weights = self._problem_weights()
        all_rows = np.zeros((len(weights), self.shape_fit_[0]))
        all_rows[:, self.support_] = weights
        for number, weights_there in getattr(self, "_goes_on", {}).items():
            all_rows[number] = weights_there
        return all_rows

    def _fit(self, data: Data, solver: Solver, last: Floats | None, context: Context) -> Self:
        s = self._weights(data)
        C = self.weight_of_loss(s.sum())
        X, scale = data.X, None
        if self.scale:
            warn_of_offsets(X, getattr(self, "feature_names_in_", None))
            X, scale = scale_columns(check_points(X, self._threads() or 1)[0], s)
        kernel = make_kernel(self._kernel_request(), solver, X, data.sample_weight, C * float(s.max()))
        left = math.inf if self.max_time is None else float(self.max_time) - context.elapsed
        known = definiteness(kernel, context.seed, left)
        if solver.maximises_margin and (known.shift > 0 or known.asymmetry > 0):
            known = replace(known, assumed=True)  # bounds of a margin allow for neither
        parts = self._parts(data)
        if last is not None and last.shape != (len(parts), len(s)):
            last = None

        with listening(self, context, KernelProblems(data, parts, kernel, scale)) as progress:
            fit = KernelFit(self, solver, kernel, known, s, C, context)
            solved = fit.solve_all(parts, last, progress)
        found = [solution for solution, _ in solved]

        self.shape_fit_ = data.X.shape
        self.scale_ = scale
        self._fitted_kernel = max((used for _, used in solved), key=_fineness).stripped()
        points = [solution.point for solution in found]
        self._store_machines(data, parts, [point.beta for point in points], np.array([point.b for point in points]))
        self._goes_on = {
            k: fit.spread(parts[k], point.last_beta)
            for k, point in enumerate(points)
            if point.dual_variables is not None and found[k].reason not in ("tol", "precision")
        }
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, GivenKernel) else data.X[self.support_]
        self.n_kernel_evaluations_ = round(sum(point.evaluations for point in points))
        self.n_updates_ = sum(point.updates for point in points)
        certificates = [self._certificate(solution, known) for solution in found]
        self._store_outcome(found, certificates, context.elapsed)
        advice = functools.partial(self._advice, solver=solver, C=C, indefinite=known.indefinite, X=data.X)
        text = shortfall(self.certificate_, advice, context.earlier, "problems")
        if solver.maximises_margin and not known.indefinite and min(part.dual for part in certificates) <= 0:
            text = (
                f"{type(self).__name__} has no weights yet: {solver.describe()} found no margin above zero. There "
                "are no support vectors, and one class is predicted. Raise nu, max_iter or max_steps."
            )
        if text:
            warn(text, ConvergenceWarning)
        elif text := self._describe_small_C(data, s, C, points[0], kernel) or self._describe_spread(data.X):
            warn_of_fit(self.certificate_, text)
        return self

    def _certificate(self, solution: Solution[KernelPoint], known: Definiteness) -> Certificate:
        found = solution.certificate(self.tol, scaled=bool(self.scale))
        if known.indefinite:
            return replace(found, gap=math.inf, converged=False)
        return replace(found, assumed="the kernel is positive semi-definite" if known.assumed else "")

    def _advice(self, found: Certificate, solver: Solver, C: float, indefinite: bool, X: Any) -> str:
        """Why a fit fell short of `tol`, and what to do about it."""
        if indefinite:
            where = "where no step helped" if found.reason == "indefinite" else f"when {REASONS[found.reason]}"
            return (
                f"{type(self).__name__}: {REASONS['indefinite']} on the optimum. The fit ended {where}; use another "
                "kernel, or other parameters, for a certificate."
            )
        sentences = self._bounds_reached(found)
        if solver.maximises_margin:
            sentences[1] = f"The margin is {found.dual:.6g}, and the largest at most {found.primal:.6g}."
        elif not self.scale and (uneven := self._uneven(X)):
            sentences.append(uneven)
        elif found.reason == "precision" and found.rounding > 0.2 * found.gap:
            sentences.append(
                f"Of the gap {found.rounding:.2g} is rounding: centre and scale features and targets, or lower C."
            )
        elif found.reason == "precision" and np.abs(self.intercept_).max() > 1e6:
            sentences.append(
                f"The intercept, {self.intercept_[0]:.6g}, cannot be stored with more digits: take a constant off the "
                "targets."
            )
        elif C > 100 and not is_hidden(found):
            sentences.append(f"C={C:.3g} is large, a hard problem: try a smaller C, and scale the features.")
        return " ".join([*sentences, self._raise_what(found, bool(sentences[2:]))])

    def _uneven(self, X: Any) -> str:
        """A sentence on columns of very different size."""
        if not isinstance(self.kernel, str) or self.kernel == "precomputed":
            return ""
        return describe_sizes(X, getattr(self, "feature_names_in_", None))

    def _describe_small_C(self, data: Data, s: Floats, C: float, point: KernelPoint, kernel: Kernel) -> str:
        """A sentence where C keeps what is predicted near a constant; "" where it does not."""
        return ""

    def _describe_spread(self, X: Any) -> str:
        """The same where a kernel of distances sees little but some columns; sparse ones have mostly zeros."""
        if self.scale or self.kernel != "rbf" or mostly_zeros(X):
            return ""
        rows = some_rows(X, LOOKED_AT_SHORTLY)
        rows = (rows.toarray() if issparse(rows) else rows).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            centred = rows - rows.mean(axis=0)
        text = describe_sizes(centred, getattr(self, "feature_names_in_", None))
        return f"{type(self).__name__}: {text}" if text else ""

    def _as_sklearn(self) -> Any:
        return kernel_to_sklearn(self)

    def _groups(self) -> list[slice]:
        """The support vectors, in groups that take part in different problems."""
        return [slice(None)]

    def _combine(self, sums: Floats) -> Floats:
        """The decision of each problem, from the sums over each group of support vectors with each row of weights."""
        return sums[:, 0]

    def _scores(self, X: Any) -> Floats:
        """The decision of each problem, a column for each."""
        if "support_" not in vars(self):
            check_is_fitted(self)
        kernel, vectors, coef = self._fitted_kernel, self.support_vectors_, self._dual_coef_
        objects = as_objects(X) if isinstance(kernel, CalledKernel) else None
        X = self._take(X, order="C") if objects is None else objects
        if issparse(X) and isinstance(kernel, GivenKernel):
            raise TypeError("Sparse precomputed kernels are not supported: pass the kernel matrix as K.toarray()")
        if objects is None:
            check_rows(X)

        def prepare() -> Decide:
            groups = self._groups()
            return kernel.prepare(Support(self.support_, self.shape_fit_[0], self._scaled(vectors), coef, groups))

        decide = kernel.kept.get(prepare, vectors, coef, self.support_, self.n_support_, self.scale_)
        n, entries = X.shape[0], len(X.data) if issparse(X) else X.size
        n_jobs = worth_threads(self.n_jobs, entries * len(self.support_), PRODUCTS_FOR_THREADS)
        parts = blocks(X)
        if len(parts) == 1:
            scores = self._combine(decide(self._scaled(X), n_jobs))
        else:
            scores = np.empty((n, len(self.intercept_)))
            for part in parts:
                scores[part] = self._combine(decide(self._scaled(X[part]), n_jobs))
        check_scores(X, scores)
        return scores + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _fineness(kernel: Kernel) -> tuple[bool, bool]:
    """By which of two kernels decisions are rounded less."""
    return kernel.precision is np.float64, getattr(kernel, "differences", False)
