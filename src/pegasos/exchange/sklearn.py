"""Fitted estimators of scikit-learn as ours."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pegasos.base.exchange import carry_names
from pegasos.kernel.exchange import kernel_from_sklearn
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR
from pegasos.linear.exchange import (
    SHARED_SVR,
    classifier_parameters,
    fill_linear,
    logistic_parameters,
    warn_of_penalty,
    weights_of,
)
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR


def from_sklearn(estimator: Any) -> LinearSVC | LinearSVR | SVC | SVR:
    """The fitted pegasos estimator that predicts the same as a fitted scikit-learn estimator.

    Parameters
    ----------
    estimator : LinearSVC, LinearSVR, SVC, SVR or LogisticRegression of scikit-learn, fitted
        A `LogisticRegression`, or a `OneVsRestClassifier` of these, becomes a `LinearSVC` with ``loss="log_loss"``.

    Returns
    -------
    estimator of pegasos
        It has the parameters that mean the same; `tol` and `max_iter` do not. Its certificate says that nothing is
        known about the optimum: ``reason="imported"``.

    Raises
    ------
    ValueError
        If there is no such model here: kernels that are functions, and `SVC` with probabilities.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn import svm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = svm.SVC(C=10).fit(X, y)
    >>> ours = pegasos.from_sklearn(theirs)
    >>> bool((ours.predict(X) == theirs.predict(X)).all()), ours.certificate_.reason
    (True, 'imported')
    """
    from sklearn import linear_model, multiclass, svm

    check_is_fitted(estimator)
    made: Any
    if isinstance(estimator, svm.LinearSVC):
        made = _linear(LinearSVC(**classifier_parameters(estimator)), estimator)
    elif isinstance(estimator, linear_model.LogisticRegression):
        made = _linear(LinearSVC(**logistic_parameters(estimator)), estimator)
    elif isinstance(estimator, svm.LinearSVR):
        given = {name: getattr(estimator, name) for name in (*SHARED_SVR, "loss", "epsilon")}
        made = _linear(LinearSVR(**given), estimator)
    elif isinstance(estimator, svm.SVC):
        made = kernel_from_sklearn(SVC, estimator)
    elif isinstance(estimator, svm.SVR):
        made = kernel_from_sklearn(SVR, estimator)
    elif isinstance(estimator, multiclass.OneVsRestClassifier) and len(estimator.estimators_) > 2:
        made = _against_the_rest(estimator)
    else:
        raise TypeError(
            f"a {type(estimator).__name__} has no counterpart here; from_sklearn takes scikit-learn's LinearSVC, "
            "LinearSVR, SVC, SVR and LogisticRegression"
        )
    carry_names(estimator, made)
    return made


def _linear(model: Any, estimator: Any) -> Any:
    name, penalty = type(estimator).__name__, getattr(estimator, "penalty", "l2")
    if getattr(estimator, "l1_ratio", None):
        penalty = "elasticnet"
    if penalty in ("l1", "elasticnet", None):
        warn_of_penalty(name, penalty)
    coef, intercepts = weights_of(estimator)
    return fill_linear(model, coef, intercepts, getattr(estimator, "classes_", None), _maker(estimator))


def _against_the_rest(estimator: Any) -> Any:
    """What `LinearSVC.to_sklearn` makes of a class against the rest each, with the logistic loss."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    if not all(isinstance(part, LogisticRegression) for part in estimator.estimators_):
        raise TypeError("from_sklearn takes a OneVsRestClassifier of LogisticRegression only, each one fitted")
    parts = [weights_of(part) for part in estimator.estimators_]
    model = LinearSVC(**logistic_parameters(estimator.estimators_[0]))
    coef, intercepts = (np.concatenate(rows) for rows in zip(*parts, strict=True))
    return fill_linear(model, coef, intercepts, estimator.classes_, _maker(estimator))


def _maker(estimator: Any) -> str:
    return f"{type(estimator).__name__} of scikit-learn"
