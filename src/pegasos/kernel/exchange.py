"""Kernel machines as those of scikit-learn, and back."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos.base.exchange import carry_names, store_imported
from pegasos.base.rows import check_rows
from pegasos.config import make_csr
from pegasos.kernel.kernels import KERNELS, GivenKernel, PointKernel
from pegasos.kernel.layout import Layout, centre, squared_norms

Floats = NDArray[np.float64]

#: Columns up to which a mean is taken off those of an imported model; a file of a few bytes may have a feature 2**31.
MOST_COLUMNS = 10**7

SHARED = ("C", "kernel", "degree", "gamma", "coef0")
SHARED_SVC = (*SHARED, "class_weight", "decision_function_shape", "break_ties", "random_state")
SHARED_SVR = (*SHARED, "epsilon")


def refuse_unsayable(model: Any, where: str) -> None:
    """Raise a ValueError where a kernel machine is none that LIBSVM, or scikit-learn with it, could have trained."""
    if not isinstance(model._fitted_kernel, PointKernel | GivenKernel):
        raise ValueError(f"{where} has no model whose kernel is a function; use a kernel that has a name")
    if model.scale_ is not None:
        raise ValueError(
            f"scale=True: {where} has no kernel of scaled columns; scale them before the fit, for example with "
            "sklearn.preprocessing.StandardScaler"
        )
    if len(getattr(model, "classes_", ())) > 2 and not model._in_pairs():
        raise ValueError(f"multi_class='ovr': {where} trains more than two classes in pairs; use multi_class='ovo'")


def kernel_to_sklearn(model: Any) -> Any:
    """An `SVC` or `SVR` of ours as scikit-learn's."""
    from sklearn import svm

    refuse_unsayable(model, "scikit-learn")
    classifies = hasattr(model, "classes_")
    given = {name: getattr(model, name) for name in (SHARED_SVC if classifies else SHARED_SVR)}
    if model.alpha is not None:
        del given["C"]
    if not classifies and model.loss != "epsilon_insensitive":
        raise ValueError(f"loss={model.loss!r} is none of scikit-learn's SVR; use 'epsilon_insensitive'")
    made: Any = svm.SVC(**given) if classifies else svm.SVR(**given)
    carry_names(model, made, ("classes_", "class_weight_", "n_features_in_", "feature_names_in_", "shape_fit_"))
    if not hasattr(made, "class_weight_"):
        made.class_weight_ = np.ones(len(model.classes_)) if classifies else np.empty(0)
    sign = -1.0 if classifies and len(model.classes_) == 2 else 1.0  # decisions of LIBSVM are for the first class
    vectors = model.support_vectors_
    made._sparse = sp.issparse(vectors)
    made.support_ = np.array(model.support_, dtype=np.int32)
    made.support_vectors_ = (
        make_csr(vectors, dtype=np.float64) if made._sparse else np.array(vectors, dtype=np.float64, order="C")
    )
    made._n_support = model.n_support_.astype(np.int32) if classifies else np.array([len(model.support_)] * 2, np.int32)
    made._probA = made._probB = np.empty(0)
    made._gamma = model.gamma_ if isinstance(model._fitted_kernel, PointKernel) else 0.0
    made._effective_probability = False
    made._num_iter = np.array(np.atleast_1d(model.n_iter_), dtype=np.int32)
    made.n_iter_ = made._num_iter if classifies else int(made._num_iter[0])
    made.fit_status_ = 0
    made.intercept_, made._intercept_ = model.intercept_.copy(), sign * model.intercept_
    dual = np.array(model._dual_coef_, order="C")
    made.dual_coef_, made._dual_coef_ = (_full_csr(d) if made._sparse else d for d in (dual, sign * dual))
    return made


def _full_csr(rows: Floats) -> Any:
    """A sparse matrix that has all entries written down, as LIBSVM takes coefficients."""
    columns = np.tile(np.arange(rows.shape[1], dtype=np.int32), len(rows))
    starts = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return make_csr((rows.ravel(), columns, starts), shape=rows.shape)


def kernel_from_sklearn(made: type[Any], estimator: Any) -> Any:
    """An `SVC` or `SVR` of scikit-learn's as ours."""
    if callable(estimator.kernel):
        raise ValueError("the kernel is a function, and with it scikit-learn keeps the whole training set; fit it here")
    if estimator._probA.size:
        raise ValueError(
            "probability=True: there are no probabilities of this kind here; fit it without, and for probabilities "
            "use sklearn.calibration.CalibratedClassifierCV"
        )
    classifies = hasattr(estimator, "classes_")
    model = made(**{name: getattr(estimator, name) for name in (SHARED_SVC if classifies else SHARED_SVR)})
    dual, sparse = estimator.dual_coef_, estimator._sparse
    carry_names(estimator, model, ("classes_", "class_weight_"))
    counts = estimator.n_support_ if classifies else [len(estimator.support_)]
    return fill_kernel(
        model,
        estimator.support_vectors_,
        np.array(dual.toarray() if sparse else dual, dtype=np.float64),
        np.array(estimator.intercept_, dtype=np.float64),
        counts=np.array(counts, dtype=np.int32),
        gamma=float(estimator._gamma),
        rows=(np.array(estimator.support_), tuple(estimator.shape_fit_)),
        maker=f"{type(estimator).__name__} of scikit-learn",
    )


def fill_kernel(
    model: Any,
    vectors: Any,
    dual: Floats,
    intercepts: Floats,
    *,
    counts: NDArray[np.int32],
    gamma: float,
    rows: tuple[NDArray[np.int32], tuple[int, int]],
    maker: str,
) -> Any:
    """Give a kernel machine of ours the support vectors that another program found.

    `rows` are their numbers in the training data, and its shape.
    """
    model.check_parameters()
    model.support_, model.shape_fit_ = rows
    model.n_support_, model._dual_coef_, model.intercept_, model.scale_ = counts, dual, intercepts, None
    model.n_features_in_ = model.shape_fit_[1]
    model.n_kernel_evaluations_ = model.n_updates_ = 0
    if model.kernel == "precomputed":
        model._fitted_kernel, model.support_vectors_ = GivenKernel(None, np.float64), np.empty((0, 0))
    else:
        assert model.kernel in KERNELS
        model.support_vectors_ = make_csr(vectors) if sp.issparse(vectors) else np.array(vectors, dtype=np.float64)
        check_rows(model.support_vectors_)
        layout = _layout(model, gamma)
        degree, coef0 = int(model.degree), float(model.coef0)
        model._fitted_kernel = PointKernel(model.kernel, gamma, coef0, degree, np.float64, layout, None, None)
    store_imported(model, maker, len(intercepts))
    return model


def _layout(model: Any, gamma: float) -> Layout:
    """Distances far from zero lose fewer digits once the mean is taken off, as in a fit."""
    vectors = model.support_vectors_
    if model.kernel != "rbf" or not len(model.support_) or vectors.shape[1] > MOST_COLUMNS:
        return Layout()
    largest = float(squared_norms(vectors).max())
    return centre(vectors, largest, 0.5)[0] if gamma * largest > 1 else Layout()
