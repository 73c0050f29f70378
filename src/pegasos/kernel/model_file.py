"""What a model file holds of a kernel machine: support vectors, their weights, the kernel."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.base.options import Integer, Number
from pegasos.base.rows import check_rows
from pegasos.config import make_csr
from pegasos.io.model import Header, Kind, Tensors, take
from pegasos.kernel.kernels import KERNELS, GivenKernel, PointKernel, Precision
from pegasos.kernel.layout import Layout
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR
from pegasos.solvers import KERNEL_SOLVERS

PRECISIONS: dict[str, Precision] = {"float32": np.float32, "float64": np.float64}


def _pack(model: SVC | SVR) -> tuple[Tensors, Header]:
    """Tensors and entries of the header."""
    model.check_parameters()
    kernel, vectors = model._fitted_kernel, model.support_vectors_
    tensors: Tensors = {
        "support": model.support_,
        "n_support": model.n_support_,
        "dual_coef": model._dual_coef_,
        "intercept": model.intercept_,
    }
    header: Header = {
        "shape_fit": list(model.shape_fit_),
        "n_kernel_evaluations": model.n_kernel_evaluations_,
        "n_updates": model.n_updates_,
        "kernel": {"name": "precomputed", "precision": np.dtype(kernel.precision).name},
    }
    if model.scale_ is not None:
        tensors["scale"] = model.scale_
    if hasattr(model, "class_weight_"):  # not where an older file was loaded
        tensors["class_weight"] = model.class_weight_
    if isinstance(kernel, PointKernel):
        header["kernel"] |= {"name": kernel.name, "gamma": kernel.gamma, "coef0": kernel.coef0, "degree": kernel.degree}
        header["kernel"]["differences"] = kernel.differences
        if kernel.layout.shift is not None:
            tensors["shift"] = kernel.layout.shift
        if kernel.layout.filled is not None:
            tensors["filled"] = kernel.layout.filled.astype(np.uint8)
        if sp.issparse(vectors):
            tensors |= {
                "support_vectors.values": vectors.data,
                "support_vectors.columns": vectors.indices.astype(np.int64),
                "support_vectors.starts": vectors.indptr.astype(np.int64),
            }
        else:
            tensors["support_vectors"] = vectors
    elif not isinstance(kernel, GivenKernel):
        raise ValueError(
            "a model whose kernel is a function cannot be written to a model file, which holds no code; pickle it, or "
            "use a kernel that has a name"
        )
    return tensors, header


def _count_parts(model: SVC | SVR) -> int:
    """Problems of the fit, 0 for a single one."""
    count = len(model.classes_) if isinstance(model, SVC) else 0
    if count <= 2 or not isinstance(model, SVC):
        return 0
    return count * (count - 1) // 2 if model._multi_class == "ovo" else count


def _unpack(model: SVC | SVR, header: Header, tensors: Tensors) -> int:
    """Give the model what was packed; a ValueError where it does not fit together."""
    model.check_parameters()
    classes = len(model.classes_) if isinstance(model, SVC) else 1
    several = _count_parts(model)
    rows = 1 if not several else classes - 1 if isinstance(model, SVC) and model._multi_class == "ovo" else classes
    n_rows, n_features = model.shape_fit_ = _shape(header["shape_fit"])
    model.n_features_in_ = n_features
    model.support_ = take(tensors, "support", (None,), dtype=np.int32)
    n_support = len(model.support_)
    model.n_support_ = take(tensors, "n_support", (classes,), dtype=np.int32)
    if "class_weight" in tensors:  # which older files do not have
        model.class_weight_ = take(tensors, "class_weight", (classes,))
    if (model.n_support_ < 0).any() or int(model.n_support_.sum()) != n_support:
        raise ValueError(f"'n_support' does not count {n_support} support vectors")
    if not ((model.support_ >= 0) & (model.support_ < n_rows)).all() or len(np.unique(model.support_)) < n_support:
        raise ValueError(f"'support' has numbers in it that are not rows of {n_rows}, or twice")
    model._dual_coef_ = take(tensors, "dual_coef", (rows, n_support))
    model.intercept_ = take(tensors, "intercept", (several or 1,))
    for name in ("n_kernel_evaluations", "n_updates"):
        Integer(high=2**62, help="").check(name, header[name])
        setattr(model, f"{name}_", header[name])
    model.scale_ = take(tensors, "scale", (n_features,)) if "scale" in tensors else None
    if model.scale_ is not None and not (model.scale_ > 0).all():
        raise ValueError("'scale' has numbers in it that are not above zero")
    _unpack_kernel(model, header["kernel"], tensors)
    return several


def _unpack_kernel(model: SVC | SVR, kernel: dict[str, Any], tensors: Tensors) -> None:
    precision, name = PRECISIONS[kernel["precision"]], kernel["name"]
    shape = len(model.support_), model.n_features_in_
    if name == "precomputed":
        if model.shape_fit_[0] != model.shape_fit_[1]:
            raise ValueError(f"a kernel matrix of shape {model.shape_fit_}")
        model._fitted_kernel, model.support_vectors_ = GivenKernel(None, precision), np.empty((0, 0))
        return
    if name not in KERNELS:
        raise ValueError(f"a kernel {name!r}, which this version does not know")
    Number(low=0, open=True, help="").check("gamma", kernel["gamma"])
    Number(help="").check("coef0", kernel["coef0"])
    Integer(high=2**31 - 1, help="").check("degree", kernel["degree"])
    shift = take(tensors, "shift", (shape[1],)) if "shift" in tensors else None
    filled = take(tensors, "filled", (shape[1],), dtype=np.uint8).astype(bool) if "filled" in tensors else None
    differences = kernel.get("differences", False)  # which older files do not have
    if not isinstance(differences, bool) or (differences and name != "rbf"):
        raise ValueError(f"a kernel {name!r} with differences={differences!r}")
    gamma, coef0, degree = float(kernel["gamma"]), float(kernel["coef0"]), int(kernel["degree"])
    layout = Layout(shift, filled)
    model._fitted_kernel = PointKernel(name, gamma, coef0, degree, precision, layout, None, None, differences)
    sparse = "support_vectors.values" in tensors
    values = tensors["support_vectors.values" if sparse else "support_vectors"]
    if values.dtype not in (np.float32, np.float64):
        raise ValueError(f"support vectors of {values.dtype}")
    if sparse:
        values = take(tensors, "support_vectors.values", (None,), dtype=values.dtype)
        columns = take(tensors, "support_vectors.columns", (len(values),), dtype=np.int64)
        starts = take(tensors, "support_vectors.starts", (shape[0] + 1,), dtype=np.int64)
        if shape[1] >= 2**31:
            raise ValueError(f"support vectors of {shape[1]} columns")
        model.support_vectors_ = make_csr((values, columns, starts), shape=shape)
        check_rows(model.support_vectors_)
    else:
        model.support_vectors_ = take(tensors, "support_vectors", shape, dtype=values.dtype)


def _shape(given: Any) -> tuple[int, int]:
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(n, int) and 0 < n < 2**48 for n in given):
        raise ValueError(f"data of shape {given!r}")
    return given[0], given[1]


MODEL_KINDS = [Kind(estimator, KERNEL_SOLVERS, _pack, _unpack) for estimator in (SVC, SVR)]
