"""Kernel machines as LIBSVM has them."""

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pegasos.base.exchange import as_fitted
from pegasos.base.warn import warn
from pegasos.io.foreign import Foreign, as_label_numbers
from pegasos.io.libsvm import LibsvmModel
from pegasos.kernel.exchange import fill_kernel, refuse_unsayable
from pegasos.kernel.kernels import PointKernel
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR

Floats = NDArray[np.float64]


def from_libsvm(given: tuple[LibsvmModel, int | None]) -> SVC | SVR:
    """The model that a file tells of, with so many features."""
    told, n_features = given
    if told.kind.startswith("nu"):
        warn(
            f"the model of LIBSVM is a {told.kind}: it predicts the same, and another fit of it has C in place of nu",
        )
    parameters: dict[str, Any] = {
        "kernel": told.kernel,
        "degree": told.degree,
        "gamma": told.gamma,
        "coef0": told.coef0,
    }
    rows, vectors = _placed(told, n_features)
    maker = f"LIBSVM's {told.kind}"
    made: Any
    if told.labels is None:
        made, counts, dual, intercepts = SVR(**parameters), told.counts, told.coef, -told.rho
    else:
        made, order = SVC(**parameters), np.argsort(told.labels)
        made.classes_ = told.labels[order]
        counts, dual, intercepts, places = _sorted(told, order)
        rows = rows[0][places], rows[1]
        vectors = vectors if vectors is None else vectors[places]
    return fill_kernel(made, vectors, dual, intercepts, counts=counts, gamma=told.gamma, rows=rows, maker=maker)


def _placed(told: LibsvmModel, n_features: int | None) -> tuple[tuple[NDArray[np.int32], tuple[int, int]], Any]:
    """The rows of the training data that support vectors were, as far as they are known, its shape, and the vectors."""
    count = told.coef.shape[1]
    if told.kernel == "precomputed":
        numbers = np.empty(0, np.int64) if told.vectors is None else told.vectors
        needed = int(numbers.max()) + 1 if count else 1
        width, vectors = needed if n_features is None else n_features, None
        rows = numbers.astype(np.int32), (width, width)
    else:
        needed = 1 if told.vectors is None else told.vectors.shape[1]
        width = needed if n_features is None else n_features
        vectors = csr_array((0, width)) if told.vectors is None else told.vectors
        rows = np.arange(count, dtype=np.int32), (max(count, 1), width)
    if width < needed:
        raise ValueError(f"n_features={n_features}, and the file has a feature or example {needed}; pass that or more")
    if vectors is not None and vectors.shape[1] < width:
        vectors.resize(count, width)
    return rows, vectors


def _sorted(told: LibsvmModel, order: NDArray[np.intp]) -> tuple[NDArray[np.int32], Floats, Floats, NDArray[np.intp]]:
    """Counts, coefficients, intercepts and places of support vectors, with the labels in increasing order."""
    count = len(order)
    ends = np.cumsum(told.counts)
    groups = [np.arange(end - size, end) for size, end in zip(told.counts, ends, strict=True)]
    places = np.concatenate([groups[k] for k in order]).astype(np.intp)
    if count == 2:  # decisions are for the label named first there, for the larger here
        sign = 1.0 if order[0] == 1 else -1.0
        return told.counts[order], sign * told.coef[:, places], -sign * told.rho, places
    pairs = {pair: number for number, pair in enumerate(combinations(range(count), 2))}
    dual, intercepts = np.zeros((count - 1, len(places))), np.empty(len(pairs))
    starts = np.concatenate([[0], np.cumsum(told.counts[order])])
    for (first, second), number in pairs.items():
        there = order[first], order[second]
        sign = 1.0 if there[0] < there[1] else -1.0
        intercepts[number] = -sign * told.rho[pairs[min(there), max(there)]]
        for own, other, row in ((first, second, second - 1), (second, first, first)):
            mine, theirs = order[own], order[other]
            source = theirs - 1 if mine < theirs else theirs
            dual[row, starts[own] : starts[own + 1]] = sign * told.coef[source, groups[mine]]
    return told.counts[order], dual, intercepts, places


def to_libsvm(model: Any) -> LibsvmModel:
    """What a file tells of the model."""
    if not isinstance(model, SVC | SVR):
        raise TypeError(f"LIBSVM's files hold an SVC or SVR, and not a {type(model).__name__}; use save_model")
    model = as_fitted(model)
    refuse_unsayable(model, "LIBSVM")
    if isinstance(model, SVR) and model.loss != "epsilon_insensitive":
        raise ValueError(f"loss={model.loss!r} is none of LIBSVM's; use 'epsilon_insensitive'")
    kernel = model._fitted_kernel
    if isinstance(kernel, PointKernel):
        name, degree, gamma, coef0 = kernel.name, kernel.degree, kernel.gamma, kernel.coef0
        vectors = model.support_vectors_
    else:
        name, degree, gamma, coef0, vectors = "precomputed", 3, 1.0, 0.0, model.support_
    labels = as_label_numbers(model.classes_, "LIBSVM") if isinstance(model, SVC) else None
    sign = -1.0 if labels is not None and len(labels) == 2 else 1.0  # decisions there are for the first label
    kind = "c_svc" if labels is not None else "epsilon_svr"
    counts, dual, rho = model.n_support_, sign * model._dual_coef_, -sign * model.intercept_
    return LibsvmModel(kind, name, degree, float(gamma), float(coef0), rho, labels, counts, dual, vectors)


LIBSVM = Foreign(from_libsvm, to_libsvm)
