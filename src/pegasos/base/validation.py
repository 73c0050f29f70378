"""Labels and targets, and the weights of examples and classes."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from pegasos.base.wording import shortened

#: How many times farther from zero than from each other targets are before they are shifted: what they have in common
#: would only cost digits.
FAR = 8.0

#: What to do about masked entries.
MASKED = {
    "X": "fill them (sklearn.impute.SimpleImputer)",
    "y": "give every example a label or target, or drop it",
    "sample_weight": "give every example a weight",
}


def require_targets(estimator: Any, y: Any) -> None:
    """Raise a ValueError where there are no labels or targets; it has scikit-learn's words."""
    if y is None:
        who = type(estimator).__name__
        raise ValueError(
            f"{who} requires y to be passed, but the target y is None; pass the labels or targets: fit(X, y)"
        )


def refuse_masked(name: str, values: Any, remedy: str) -> None:
    """Raise a ValueError where entries of an array are masked: all others would see what is below the mask."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked entries, which are missing values; {remedy}")


def refuse_missing(y: Any, what: str) -> None:
    """Raise a ValueError where an example has no label or target, whatever says so: None, NaN, or a frame's NA."""
    if not isinstance(y, Iterable) or getattr(y, "ndim", 1) != 1:
        return
    for i, value in enumerate(y):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or (_is_float(value) and value != value):
            raise ValueError(
                f"Input y contains NaN: y has no {what} for example {i + 1}, y[{i}] is {value!r}; give each example a "
                f"{what}, or drop it"
            )


def refuse_dates(X: Any) -> None:
    """Raise a ValueError where X, or a column of the data frame X, has dates, times, or what is between them."""
    remedy = "make numbers of them, such as days since the first"
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name, dtype in zip(X.columns, X.dtypes, strict=True):
            if _is_date(dtype):
                raise ValueError(f"X has dates or times in column {name}; {remedy}")
    if _is_date(getattr(X, "dtype", None)):
        raise ValueError(f"X has dates or times; {remedy}")


def _is_date(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", None)  # polars' types have names only
    return kind in ("M", "m") if kind is not None else str(dtype).startswith(("Date", "Time", "Duration"))


def refuse_text(X: Any) -> None:
    """Raise a ValueError where an entry of the examples X is text that is no number."""
    table = np.asarray(X)
    if table.dtype.kind not in "OU":
        return
    for place, value in np.ndenumerate(table):
        with suppress(TypeError, ValueError):
            float(value)
            continue
        if isinstance(value, str):
            column = f" in column {getattr(X, 'columns', range(place[1] + 1))[place[1]]}" if len(place) > 1 else ""
            raise ValueError(
                f"could not convert string to float: {shortened(repr(str(value)))}{column}; encode names with "
                "sklearn.preprocessing.OneHotEncoder, texts with TfidfVectorizer (sklearn.feature_extraction.text), "
                "some of the columns with sklearn.compose.ColumnTransformer"
            )


def refuse_mixed(y: Any) -> None:
    """Raise a ValueError where a list has strings and other labels, or strings that an array of them cannot hold."""
    if isinstance(y, list | tuple) or (getattr(y, "dtype", None) == np.dtype(object) and np.ndim(y) == 1):
        kinds = set(map(type, y))
        if any(issubclass(kind, str) for kind in kinds) and not all(issubclass(kind, str) for kind in kinds):
            refuse_missing(y, "label")
            named = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"labels are of mixed types: {named}; make all of them strings, or all whole numbers")
        wrong = next((label for label in set(y) if label.endswith("\0")), None) if str in kinds else None
        if wrong is not None:
            raise ValueError(f"y holds the label {wrong!r}, which an array cannot hold; name it otherwise")


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating)


def as_targets(y: ArrayLike, estimator: str) -> NDArray[np.float64]:
    """Targets in double precision; a ValueError where one is no number."""
    values = np.asarray(y)
    if values.dtype.kind not in "biuf":
        for i, value in enumerate(values.tolist()):
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = math.nan
            if not math.isfinite(number):
                raise ValueError(
                    f"could not convert y[{i}], {shortened(repr(value))}: targets of {estimator} are finite numbers; "
                    f"for labels use {estimator.replace('SVR', 'SVC')}"
                )
    return np.asarray(values, dtype=np.float64)


def check_weights(sample_weight: ArrayLike, X: Any, part: bool = False, what: str = "row of X") -> NDArray[np.float64]:
    """The weights of the examples X; a ValueError where one cannot be a weight, or all are 0 and X is not a part.

    `what` is an example, in words.
    """
    refuse_masked("sample_weight", sample_weight, MASKED["sample_weight"])
    given = np.asarray(sample_weight)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if given.ndim and given.shape != (rows,):  # scikit-learn's words
        raise ValueError(f"sample_weight.shape == {given.shape}, expected ({rows},); give one weight for each {what}")
    if given.dtype.kind not in "biuf":
        for i, value in enumerate(given.ravel().tolist()):
            try:
                float("nan" if value is None else value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"sample_weight[{i}]={shortened(repr(value))}: weights must be numbers; give one for each {what}"
                ) from None
    if given.ndim == 1 and given.dtype.kind in "if":
        wrong = np.flatnonzero(~((given >= 0) & (given < np.inf)))
        if len(wrong):
            raise ValueError(
                f"sample_weight[{wrong[0]}]={given[wrong[0]]}: weights must be finite and not negative; drop the "
                "example or give it weight 0"
            )
        if not given.any():
            return _check_sample_weight(given + 1.0, X, dtype=np.float64) - 1.0 if part else _refuse_sum(0.0)
    return _check_sample_weight(sample_weight, X, dtype=np.float64)


def sum_weights(s: NDArray[np.float64]) -> float:
    """The total weight; a ValueError where there is none, or no end to it."""
    with np.errstate(over="ignore"):
        total = float(s.sum())
    if not 0 < total < np.inf:
        _refuse_sum(total)
    return total


def _refuse_sum(total: float) -> NoReturn:
    if total == 0:  # scikit-learn's words
        raise ValueError("Invalid input - all samples have zero or negative weights; give some a weight above 0")
    raise ValueError(f"the weights of the examples sum to {total}; the sum must be finite, so divide them by a number")


def class_weights(given: Any, classes: NDArray[Any], counts: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """The weight of each class; `counts` are the examples of each, which "balanced" goes by."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str) and given == "balanced" and counts is not None:
        return counts.sum() / (len(classes) * counts.astype(np.float64))
    if not isinstance(given, Mapping):
        raise ValueError(f"class_weight={given!r}: must be a dictionary, 'balanced' or None")
    labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    if unknown and any(label not in given for label in labels):
        raise ValueError(f"class_weight has {unknown[0]!r}, which is no label of y; correct it: {labels}")
    weights = np.array([float(given.get(label, 1.0)) for label in labels])
    if not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(f"class_weight={given}: weights must be finite and not negative")
    return weights


def number_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different labels in order, and which one each example has."""
    if y.dtype.kind in "iu":
        lowest, highest = int(y.min()), int(y.max())
        if highest - lowest < 10_000 and highest < 2**62:  # counting is many times faster than sorting
            places = y.astype(np.intp) - lowest
            there = np.bincount(places) > 0
            return (np.flatnonzero(there) + lowest).astype(y.dtype), (np.cumsum(there) - 1)[places]
    if y.dtype.kind == "O" and not all(isinstance(label, str) for label in y):
        wrong = next((label for label in y.tolist() if not isinstance(label, str | float)), y[0])
        raise ValueError(
            f"Unknown label type: y holds objects, such as {shortened(repr(wrong))}; labels are strings, or whole "
            "numbers between -2**63 and 2**64, in an array of such a type"
        )
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)


def check_cost(given: ArrayLike | None, n_classes: int) -> NDArray[np.float64]:
    """What it costs to take one class for another; 1 where nothing is given."""
    if given is None:
        return 1.0 - np.eye(n_classes)
    try:
        cost = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        cost = np.empty(0)
    if cost.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost must be {n_classes} rows of {n_classes} numbers, one for each class in the order of classes_"
        )
    if not ((cost >= 0) & (cost < np.inf)).all() or cost.diagonal().any():
        raise ValueError("cost must be finite, not negative, and zero on the diagonal: what is right costs nothing")
    return cost


def middle_and_spread(y: NDArray[np.float64]) -> tuple[float, float]:
    """The median of the targets, and that of their distances from it."""
    middle = float(np.median(y))
    with np.errstate(over="ignore"):
        return middle, float(np.median(np.abs(y - middle)))


def near_middle(y: NDArray[np.float64]) -> float:
    """A number near the median, where the targets are much farther from zero than from it; else 0.

    A free intercept makes up for whatever is taken off all targets. The number has as few digits as tell it from zero,
    so that what is left of the targets is seldom rounded, and the bounds allow for that.

    Examples
    --------
    >>> near_middle(np.array([1e9 + 1, 1e9 + 2, 1e9 + 4]))
    1000000002.0
    >>> near_middle(np.array([-1.0, 2.0, 3.0]))
    0.0
    """
    middle, spread = middle_and_spread(y)
    if not abs(middle) > FAR * spread:
        return 0.0
    digits = math.ldexp(1.0, math.frexp(spread)[1] - 1) if spread > 0 else 0.0
    return round(middle / digits) * digits if abs(middle) < 2**52 * digits else middle
