"""Linear machines as those of scikit-learn, and back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pegasos.base.exchange import carry_names, store_imported
from pegasos.base.outcome import Start
from pegasos.base.warn import warn

Floats = NDArray[np.float64]

#: What an estimator of scikit-learn and one of ours both have, with the same meaning.
SHARED_SVC = ("C", "fit_intercept", "intercept_scaling", "class_weight", "random_state")
SHARED_SVR = ("C", "fit_intercept", "intercept_scaling", "random_state")


def classifier_to_sklearn(model: Any) -> Any:
    """A `LinearSVC` of ours as scikit-learn's, or as its `LogisticRegression`."""
    from sklearn.svm import LinearSVC

    if model.cost is not None:
        raise ValueError("cost: scikit-learn has no estimator whose errors differ in cost; fit one without it")
    rows, intercepts = model._weight_rows(), model.intercept_
    if model.loss == "log_loss":
        return _logistic(model, rows, intercepts)
    if model._joint and model.loss != "hinge":
        raise ValueError(f"loss={model.loss!r} of all classes jointly is no estimator of scikit-learn's; use 'hinge'")
    kind = {"multi_class": "crammer_singer"} if model._joint else {"loss": model.loss}
    made = LinearSVC(**kind, **_shared(model, SHARED_SVC))
    if len(model.classes_) == 2 and len(rows) == 2:
        rows, intercepts = rows[1:] - rows[:1], intercepts[1:] - intercepts[:1]
    return _filled(made, model, rows, intercepts)


def _logistic(model: Any, rows: Floats, intercepts: Floats) -> Any:
    from sklearn.linear_model import LogisticRegression

    shared = _shared(model, ("C", "fit_intercept", "class_weight", "random_state"))
    if len(model.classes_) == 2 and len(rows) == 2:
        rows, intercepts = rows[1:] - rows[:1], intercepts[1:] - intercepts[:1]
    if len(rows) > 1 and not model._joint:
        return _against_the_rest(model, rows, intercepts, shared)
    if len(rows) == 1 and not model._joint and model.fit_intercept and model.intercept == "penalized":
        shared |= {"solver": "liblinear", "intercept_scaling": model.intercept_scaling}
    return _filled(LogisticRegression(**shared), model, rows, intercepts)


def _against_the_rest(model: Any, rows: Floats, intercepts: Floats, shared: dict[str, Any]) -> Any:
    """Logistic regressions, one for each class, whose probabilities are divided by their sum."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    shared.pop("class_weight", None)  # an example has that of its own class, which there nobody knows any more
    made = OneVsRestClassifier(LogisticRegression(**shared))
    made.estimators_ = []
    for row, intercept in zip(rows, intercepts, strict=True):
        part = _filled(LogisticRegression(**shared), model, row[None, :], np.array([intercept]))
        part.classes_ = np.array([0, 1])
        made.estimators_.append(part)
    made.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
    carry_names(model, made)
    if not hasattr(made, "classes_"):  # which older versions take from the binarizer
        made.classes_ = made.label_binarizer_.classes_
    return made


def regressor_to_sklearn(model: Any) -> Any:
    """A `LinearSVR` of ours as scikit-learn's."""
    from sklearn.svm import LinearSVR

    if model.loss not in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        raise ValueError(
            f"loss={model.loss!r} is none of scikit-learn's LinearSVR; it has 'epsilon_insensitive' and "
            "'squared_epsilon_insensitive'"
        )
    made = LinearSVR(loss=model.loss, epsilon=float(model.epsilon or 0.0), **_shared(model, SHARED_SVR))
    return _filled(made, model, model._weight_rows()[0], model.intercept_)


def _shared(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    shared = {name: getattr(model, name) for name in names}
    if model.alpha is not None:
        del shared["C"]  # which is another number for each data set
    if "intercept_scaling" in shared:
        shared["intercept_scaling"] = float(shared["intercept_scaling"])
    return shared


def _filled(made: Any, model: Any, coef: Floats, intercept: Floats) -> Any:
    """The estimator with what a fit would have stored."""
    carry_names(model, made, ("classes_", "n_features_in_", "feature_names_in_"))
    made.coef_, made.intercept_ = coef.copy(), intercept.copy()
    n_iter = int(getattr(model, "n_iter_", 1))
    logistic = type(made).__name__ == "LogisticRegression"
    made.n_iter_ = np.array([n_iter], dtype=np.int32) if logistic else n_iter
    if not model.fit_intercept and not logistic:
        made.intercept_ = 0.0  # one number for all classes, as it has
    return made


def weights_of(estimator: Any) -> tuple[Floats, Floats]:
    """The weights of a linear estimator of scikit-learn's, a row for each problem, and its intercepts."""
    coef = estimator.coef_.toarray() if issparse(estimator.coef_) else np.asarray(estimator.coef_)
    coef = np.array(np.atleast_2d(coef), dtype=np.float64)
    intercepts = np.array(np.broadcast_to(np.ravel(estimator.intercept_), len(coef)), dtype=np.float64)
    if not (np.isfinite(coef).all() and np.isfinite(intercepts).all()):
        raise ValueError(f"the {type(estimator).__name__} has NaN or infinity among its weights; fit it again")
    return coef, intercepts


def fill_linear(model: Any, coef: Floats, intercepts: Floats, classes: Any, maker: str) -> Any:
    """Give a linear machine of ours the weights, a row for each problem, that another program found."""
    model.check_parameters()
    if classes is not None:
        model.classes_ = np.asarray(classes)
        if model._joint and len(model.classes_) == 2 and len(coef) == 1:
            coef, intercepts = np.vstack([-coef / 2, coef / 2]), np.concatenate([-intercepts / 2, intercepts / 2])
    model.n_features_in_, model.scale_ = coef.shape[1], None
    model._store_weights(coef, intercepts)
    count = len(coef) if classes is not None and not model._joint else 1
    model._last = tuple(Start(None, 0, model.loss) for _ in range(count))
    store_imported(model, maker, count)
    return model


def classifier_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of ours that a `LinearSVC` of scikit-learn's has."""
    given = {name: getattr(estimator, name) for name in SHARED_SVC}
    if len(estimator.classes_) > 2 and given["class_weight"] is not None:
        warn(
            "class_weight is left out: of more than two classes it is another problem in scikit-learn's LinearSVC",
        )
        given["class_weight"] = None
    if estimator.multi_class == "crammer_singer":
        return given | {"multi_class": "joint", "loss": "hinge"}
    return given | {"loss": estimator.loss}


def logistic_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of ours that a `LogisticRegression` of scikit-learn's has."""
    given = {name: getattr(estimator, name) for name in ("C", "fit_intercept", "class_weight", "random_state")}
    if not np.isfinite(given["C"]):
        del given["C"]  # no penalty, which there is not here
    given["loss"] = "log_loss"
    if len(estimator.classes_) > 2:
        several = getattr(estimator, "multi_class", "deprecated")  # which later versions do not have
        by_rest = several == "ovr" or (several != "multinomial" and estimator.solver == "liblinear")
        return given | {"multi_class": "ovr" if by_rest else "joint"}
    if estimator.solver == "liblinear":
        return given | {"intercept_scaling": float(estimator.intercept_scaling)}
    return given | {"intercept": "free"}


def warn_of_penalty(name: str, penalty: str) -> None:
    """Tell that another fit will be of another problem."""
    warn(
        f"the {name} has penalty={penalty!r}: the model predicts the same, and another fit of it has penalty='l2'",
    )
