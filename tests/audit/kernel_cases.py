"""Random cases of kernel machines."""

import functools
import itertools

import numpy as np
import scipy.sparse as sp

import pegasos

from . import oracle
from .case import class_weights, describe, draw_fits, draw_kernel_solver, warmed_up
from .checks import Finding
from .data import dense, draw_C, draw_data, draw_labels, draw_targets, draw_weights, pick
from .evaluation import (
    LONG,
    KernelProblem,
    LinearKernelProblem,
    Rows,
    gram_given,
    gram_of_points,
)


def intersection(X, Z):
    """A kernel of rows that are not negative; of multiples of 1/16 its sums are exact."""
    return np.minimum(dense(X)[:, None, :], dense(Z)[None, :, :]).sum(axis=2)


def draw_kernel(random, data):
    """Parameters of a kernel, X to fit to, and whether it is known to be positive semi-definite."""
    name = pick(random, ("rbf", "linear", "poly", "sigmoid", "precomputed", "function"), (8, 4, 3, 0.5, 2, 1))
    X = data.X
    if name == "function":
        X = np.rint(16 * np.clip(np.abs(data.Z), 0, 64)) / 16
        return {"kernel": intersection}, X, True
    if name == "precomputed":
        points = dense(X) if abs(dense(X)).max() < 100 else data.Z
        K = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
        if random.random() < 0.4:
            K = points @ points.T
        K = K + 1e-3 * max(abs(K).max(), 1e-3) * np.eye(len(K))
        return {"kernel": name}, ((K + K.T) / 2).astype(pick(random, (np.float64, np.float32))), True
    if name == "linear":
        return {"kernel": name}, X, True
    size = max(float(np.std(dense(X))), 1e-12) if random.random() < 0.5 else max(abs(data.scale), 1e-12)
    gamma = pick(random, ("scale", "auto", float(10 ** random.uniform(-2, 1) / size**2)), (2, 1, 2))
    if name == "rbf":
        return {"kernel": name, "gamma": gamma}, X, True
    more = {"coef0": pick(random, (0.0, 1.0, 0.1)), "degree": int(pick(random, (1, 2, 3)))}
    return {"kernel": name, "gamma": gamma, **more}, X, name == "poly"


class KernelProblems:
    """The problems of kernel machines; gamma and the scale are known after the first fit.

    With a scale the examples are the quotients as rounded to double precision.
    """

    def __init__(self, X, parts, C, s, loss, has_intercept, epsilon=0.0):
        self.X, self.parts, self.loss = X, parts, loss
        self.cost = LONG(C) * s.astype(LONG)
        self.more = {"epsilon": epsilon, "has_intercept": has_intercept}
        self.known = {}

    def of(self, estimator):
        gamma, scale = getattr(estimator._fitted_kernel, "gamma", None), estimator.scale_
        key = (gamma, None if scale is None else scale.tobytes())
        if key not in self.known:
            self.known[key] = self._make(estimator, gamma, self.X if scale is None else dense(self.X) / scale)
        return self.known[key]

    def _make(self, estimator, gamma, X):
        name = estimator.kernel
        if name == "linear":
            return [
                LinearKernelProblem(Rows(X if rows is None else X[rows]), y, self._cost(rows), self.loss, **self.more)
                for rows, y in self.parts
            ]
        if name == "precomputed":
            gram = gram_given(X)
        elif callable(name):
            gram = gram_given(name(X, X))
        else:
            gram = gram_of_points(X, name, gamma, estimator.coef0, estimator.degree)
        return [
            KernelProblem(gram if rows is None else gram.take(rows), y, self._cost(rows), self.loss, **self.more)
            for rows, y in self.parts
        ]

    def _cost(self, rows):
        return self.cost if rows is None else self.cost[rows]

    def claim(self, case, estimator, is_bounded=True):
        problems = self.of(estimator)
        betas = [
            beta if rows is None else beta[rows]
            for beta, (rows, _) in zip(coefficients(estimator, self.X.shape[0]), self.parts, strict=True)
        ]
        values = [p.at(beta, b) for p, beta, b in zip(problems, betas, estimator.intercept_, strict=True)]
        if self.more["has_intercept"]:
            for problem, beta in zip(problems, betas, strict=True):
                problem.improve(beta)
        case.claim(estimator, problems, values, is_bounded=is_bounded)
        if estimator.kernel != "precomputed" and not np.array_equal(
            dense(estimator.support_vectors_), dense(self.X)[estimator.support_]
        ):
            case.findings.append(Finding("support vectors", describe(estimator), "they are not rows of X"))

    def ask(self, case, is_bounded):
        if is_bounded and case.asks(self.X.shape[0]):
            for problem in itertools.chain.from_iterable(self.known.values()):
                oracle.improve_kernel(problem)


def coefficients(estimator, n):
    """What each example weighs in each problem of a kernel machine."""
    support, table = estimator.support_, estimator.dual_coef_
    if sp.issparse(table):
        table = table.toarray()
    classes = len(getattr(estimator, "classes_", ()))
    pairs = list(itertools.combinations(range(classes), 2))
    if classes <= 2 or len(table) == classes:
        out = np.zeros((len(table), n))
        out[:, support] = table
        return out
    ends = np.cumsum(estimator.n_support_)
    owner = np.searchsorted(ends, np.arange(len(support)), side="right")
    out = np.zeros((len(pairs), n))
    for beta, (first, second) in zip(out, pairs, strict=True):
        of_first, of_second = owner == first, owner == second
        beta[support[of_first]] = table[second - 1, of_first]
        beta[support[of_second]] = table[first, of_second]
    return out


def kernel_case(case, random, scaled=False):
    kind = pick(random, ("two", "pairs", "ovr", "regression"), (4, 1, 1, 3))
    classes = int(random.integers(3, 5)) if kind in ("pairs", "ovr") else 2
    case.data = data = draw_data(random)
    if data.n < classes + 1:
        case.data = data = draw_data(random, n=classes + 4)
    parameters, X, is_bounded = draw_kernel(random, data)
    if scaled and parameters["kernel"] != "precomputed":
        parameters["scale"] = True
    weights, C = draw_weights(random, data.n), draw_C(random)
    s = np.ones(data.n) if weights is None else weights.copy()
    has_intercept = bool(random.random() < 0.7)
    shared = {"C": C, "fit_intercept": has_intercept, **parameters}
    if kind == "regression":
        y, shift = draw_targets(random, data.Z)
        data.notes.append(f"targets at {shift:g}")
        loss = pick(random, ("epsilon_insensitive", "quantile"), (2, 1))
        epsilon = pick(random, (0.5, 0.1, 1e-3, 0.9) if loss == "quantile" else (0.0, 0.1, 1e-3, 1.0))
        shared |= {"loss": loss, "quantile" if loss == "quantile" else "epsilon": epsilon}
        problems = KernelProblems(X, [(None, y)], C, s, loss, has_intercept, epsilon)
    else:
        y = draw_labels(random, data.Z, classes)
        shared["class_weight"], own = class_weights(random, y, classes)
        s *= own
        parts = kernel_parts(y, classes, kind)
        shared["multi_class"] = "ovr" if kind == "ovr" else "ovo"
        problems = KernelProblems(X, parts, C, s, "hinge", has_intercept)
    machine = pegasos.SVR if kind == "regression" else pegasos.SVC
    for chosen in draw_fits(random, draw_kernel_solver, {"max_iter": 2000}, count=3):
        slow = chosen.get("solver", "auto") not in ("auto", "smo", "lasvm", "sdca")
        if chosen.get("solver", "auto") != "auto" and "max_iter" not in chosen:
            chosen["max_iter"] = int(pick(random, (10, 50))) if slow else 1000
        estimator = machine(**shared, **chosen)
        if random.random() < 0.1:
            estimator = warmed_up(case, estimator, random, X, y, weights)
        if estimator is not None and case.attempt(estimator, X, y, weights):
            problems.claim(case, estimator, is_bounded)
    problems.ask(case, is_bounded)


def scaled_kernel_case(case, random):
    """With ``scale=True``."""
    kernel_case(case, random, scaled=True)


def kernel_parts(y, classes, kind):
    """Rows (None is all) and labels of each problem."""
    if classes == 2:
        return [(None, np.where(y == 1, 1.0, -1.0))]
    if kind == "ovr":
        return [(None, np.where(y == k, 1.0, -1.0)) for k in range(classes)]
    parts = []
    for first, second in itertools.combinations(range(classes), 2):
        rows = np.flatnonzero((y == first) | (y == second))
        parts.append((rows, np.where(y[rows] == first, 1.0, -1.0)))
    return parts


def large_kernel_case(case, random):
    """More rows than there are with a kernel matrix in double precision."""
    n, d = int(pick(random, (2100, 2500))), int(random.integers(2, 7))
    Z = random.normal(size=(n, d))
    case.data = data = draw_data(random, n=n, d=d)
    data.Z = Z
    offset = pick(random, (0.0, 3.0, 23.0, 100.0))
    X = Z + (offset * np.where(random.random((n, 1)) < 0.5, 1, -1) if random.random() < 0.3 else offset)
    data.X, data.offset, data.scale = pick(random, (sp.csr_matrix(X), X)), offset, 1.0
    C, gamma = pick(random, (0.1, 1.0, 10.0)), pick(random, ("scale", 0.1, 0.5))
    has_intercept = bool(random.random() < 0.8)
    if random.random() < 0.4:
        y = np.sin(2 * Z[:, 0]) + 0.1 * random.normal(size=n) + pick(random, (0.0, 1e3, 1e6))
        machine, loss, epsilon = functools.partial(pegasos.SVR, epsilon=0.3), "epsilon_insensitive", 0.3
    else:
        y = (Z[:, 0] ** 2 + Z[:, 1] + 0.5 * random.normal(size=n) > 1).astype(int)
        machine, loss, epsilon = pegasos.SVC, "hinge", 0.0
    target = y if machine is not pegasos.SVC else np.where(y == 1, 1.0, -1.0)
    problems = KernelProblems(data.X, [(None, target)], C, np.ones(n), loss, has_intercept, epsilon)
    for tol in (1e-3, 1e-6):
        estimator = machine(C=C, gamma=gamma, tol=tol, fit_intercept=has_intercept, random_state=0)
        if case.attempt(estimator, data.X, y):
            problems.claim(case, estimator)
