"""Models that go to other packages and come from them: what all kinds of estimators share."""

import math
from collections.abc import Iterable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from pegasos.base.onnx import make_onnx
from pegasos.certificate import Certificate, history_from_records, join_parts


class Exchanged:
    """An estimator that can be told to scikit-learn and in ONNX."""

    def to_sklearn(self) -> Any:
        """The fitted scikit-learn estimator that predicts the same.

        Parameters that mean the same there are carried over; `tol`, the solver and `alpha` are not. If scikit-learn has
        no such model, a ValueError says why.
        """
        return as_fitted(self)._as_sklearn()

    def to_onnx(self) -> Any:
        """An ONNX model that predicts the same from an input "X" of float32, of shape (n_samples, n_features).

        A classifier has the outputs "label" and "scores", the results of `predict` and `decision_function`, and with
        ``loss="log_loss"`` also "probabilities". A regression has the output "value". The graph computes in double
        precision, and its numbers are float32. This needs the package onnx. `pegasos.to_onnx` takes pipelines too.
        """
        return make_onnx(as_fitted(self))

    def _as_sklearn(self) -> Any:
        """The estimator of scikit-learn."""
        raise NotImplementedError


def as_fitted(model: Any) -> Any:
    """The model with the parameters of its fit; an error where there was none."""
    check_is_fitted(model)
    return model._as_fitted()


def carry_names(source: Any, target: Any, names: Iterable[str] = ("n_features_in_", "feature_names_in_")) -> None:
    """Give another estimator those of these attributes that one has."""
    for name in names:
        if hasattr(source, name):
            setattr(target, name, getattr(source, name))


def store_imported(model: Any, maker: str, n_problems: int) -> None:
    """Give a model that another program trained a certificate which says that nothing is known."""
    count = max(n_problems, 1)
    names = model._problem_names() if count > 1 else [""]
    parts = [Certificate(math.inf, 0.0, math.inf, False, "imported", 0, 0.0, maker, problem=name) for name in names]
    histories = [history_from_records([]) for _ in parts]
    model.certificate_ = join_parts(parts, 0.0) if count > 1 else parts[0]
    model.history_ = histories if count > 1 else histories[0]
    model._count_iterations()
    model.store_parameters()
