"""Linear machines as LIBLINEAR has them."""

from typing import Any

import numpy as np

from pegasos.base.exchange import as_fitted
from pegasos.io.foreign import Foreign, as_label_numbers
from pegasos.io.liblinear import JOINT, REGRESSORS, LiblinearModel
from pegasos.linear.exchange import fill_linear, warn_of_penalty
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR

#: How models are written, by the loss.
SOLVERS = {
    "log_loss": "L2R_LR",
    "squared_hinge": "L2R_L2LOSS_SVC_DUAL",
    "hinge": "L2R_L1LOSS_SVC_DUAL",
    "squared_epsilon_insensitive": "L2R_L2LOSS_SVR_DUAL",
    "epsilon_insensitive": "L2R_L1LOSS_SVR_DUAL",
}


def from_liblinear(told: LiblinearModel) -> LinearSVC | LinearSVR:
    """The model that a file tells of."""
    if told.solver.startswith("L1R"):
        warn_of_penalty("model of LIBLINEAR", "l1")
    given: dict[str, Any] = {"loss": _loss(told.solver), "fit_intercept": told.bias > 0}
    if told.bias > 0:
        given["intercept_scaling"] = told.bias
    maker = f"LIBLINEAR's {told.solver}"
    if told.labels is None:
        return fill_linear(LinearSVR(**given), told.coef, told.intercepts, None, maker)
    coef, intercepts, order = told.coef, told.intercepts, np.argsort(told.labels)
    if told.solver == JOINT:
        given["multi_class"] = "joint"
    if len(coef) == 1:
        sign = 1.0 if order[0] == 1 else -1.0  # decisions are for the label named first there, for the larger here
        coef, intercepts = sign * coef, sign * intercepts
    else:
        coef, intercepts = coef[order], intercepts[order]
    return fill_linear(LinearSVC(**given), coef, intercepts, told.labels[order], maker)


def _loss(solver: str) -> str:
    if solver in REGRESSORS:
        return "epsilon_insensitive" if "L1LOSS" in solver else "squared_epsilon_insensitive"
    if "LR" in solver.split("_")[1:]:
        return "log_loss"
    return "squared_hinge" if "L2LOSS" in solver else "hinge"


def to_liblinear(model: Any) -> LiblinearModel:
    """What a file tells of the model."""
    if not isinstance(model, LinearSVC | LinearSVR):
        if hasattr(model, "best_estimator_"):
            raise TypeError(f"a {type(model).__name__} is a search for C: pass its best_estimator_")
        raise TypeError(
            f"LIBLINEAR's files hold a LinearSVC or LinearSVR, and not a {type(model).__name__}; use save_model"
        )
    model = as_fitted(model)
    if model.loss not in SOLVERS:
        raise ValueError(f"loss={model.loss!r} is none of LIBLINEAR's; use one of {', '.join(SOLVERS)}")
    solver, rows, intercepts = SOLVERS[model.loss], model._weight_rows(), model.intercept_
    bias = float(model.intercept_scaling) if model.fit_intercept else -1.0
    if isinstance(model, LinearSVR):
        return LiblinearModel(solver, None, bias, rows, intercepts)
    labels = as_label_numbers(model.classes_, "LIBLINEAR")
    if model._joint:
        if model.loss != "hinge" or model.cost is not None:
            raise ValueError(
                f"loss={model.loss!r} of all classes together{' with cost' if model.cost is not None else ''}: "
                "LIBLINEAR has the hinge loss without cost there; use multi_class='ovr'"
            )
        return LiblinearModel(JOINT, labels, bias, rows, intercepts)
    if len(labels) == 2:
        labels = labels[::-1]
    return LiblinearModel(solver, labels, bias, rows, intercepts)


LIBLINEAR = Foreign(from_liblinear, to_liblinear)
