"""Model files of LIBLINEAR."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos.io.atomic import open_atomic
from pegasos.io.foreign import Header, Source, foreign, join_numbers, parse_numbers, read_lines, starts_with

Floats = NDArray[np.float64]

CLASSIFIERS = (
    "L2R_LR",
    "L2R_L2LOSS_SVC_DUAL",
    "L2R_L2LOSS_SVC",
    "L2R_L1LOSS_SVC_DUAL",
    "MCSVM_CS",
    "L1R_L2LOSS_SVC",
    "L1R_LR",
    "L2R_LR_DUAL",
)
REGRESSORS = ("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL", "L2R_L1LOSS_SVR_DUAL")
JOINT = "MCSVM_CS"
KEYS = ("solver_type", "nr_class", "label", "nr_feature", "bias", "rho")


@dataclass(frozen=True)
class LiblinearModel:
    """What a model file says."""

    solver: str
    labels: NDArray[np.int64] | None  # in their order there; None in regression
    bias: float  # value of the constant feature; negative for none
    coef: Floats  # a row for each problem: of two classes the first against the second
    intercepts: Floats


def read_liblinear_model(source: Source) -> Any:
    """Read a model file of LIBLINEAR as a fitted `LinearSVC` or `LinearSVR`.

    It has the same decision values, except that with two classes they belong to the larger label, ``classes_[1]``. The
    file does not contain C and other parameters of the training; they keep their defaults. The certificate says that
    nothing is known about the optimum.

    Parameters
    ----------
    source : path or binary file object
        What to read; compressed files too.

    Raises
    ------
    ValueError
        If the file is no model of LIBLINEAR, or is damaged, or is a one-class model. The message names file and line.
    """
    lines, named = read_lines(source)
    try:
        return foreign("liblinear").read(_parse(lines))
    except ValueError as error:
        raise named(error) from None


def _parse(lines: list[bytes]) -> LiblinearModel:
    header = Header(lines, "w", KEYS)
    if header.word("solver_type", (*CLASSIFIERS, *REGRESSORS, "ONECLASS_SVM")) == "ONECLASS_SVM":
        raise ValueError("ONECLASS_SVM has no classes and no targets, and no counterpart here")
    solver = header.word("solver_type", (*CLASSIFIERS, *REGRESSORS))
    count = header.whole("nr_class", 2, 2**31 - 1 if solver in CLASSIFIERS else 2)
    n_features = header.whole("nr_feature", 1, 2**31 - 2)
    (bias,) = header.numbers("bias", 1)
    columns = 1 if count == 2 and solver != JOINT else count
    rows = lines[header.size :]
    wanted = n_features + (bias >= 0)
    if len(rows) != wanted:
        raise ValueError(f"{len(rows)} lines of weights where {wanted} are expected; is the file cut off?")
    labels = header.labels(count) if solver in CLASSIFIERS else None
    parsed = []  # no more than the file has, whatever its header says
    for number, row in enumerate(rows, header.size + 1):
        parsed.append(parse_numbers(row.decode("latin-1").split(), f"line {number}"))
        if len(parsed[-1]) != columns:
            raise ValueError(f"line {number}: {len(parsed[-1])} weights where {columns} are expected")
    weights = np.array(parsed)
    with np.errstate(over="ignore"):
        intercepts = bias * weights[-1] if bias >= 0 else np.zeros(columns)
    if not np.isfinite(intercepts).all():
        raise ValueError(f"bias {bias:g} times its weight is more than a number can be")
    return LiblinearModel(solver, labels, bias, np.ascontiguousarray(weights[:n_features].T), intercepts)


def write_liblinear_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted `LinearSVC` or `LinearSVR` as a model file of LIBLINEAR, whole or not at all.

    LIBLINEAR predicts the same with it. Labels must be whole numbers. With two classes, LIBLINEAR's decision values
    belong to the label that the file names first, which is ``classes_[1]``.

    Raises
    ------
    ValueError
        If LIBLINEAR has no such model: other losses, the softmax of all classes together, or labels that are not
        numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import LinearSVC
    >>> from pegasos.io import read_liblinear_model, write_liblinear_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model, path = LinearSVC(random_state=0).fit(X, y), os.path.join(tempfile.mkdtemp(), "iris.liblinear")
    >>> write_liblinear_model(model, path)
    >>> bool((read_liblinear_model(path).predict(X) == model.predict(X)).all())
    True
    """
    told: LiblinearModel = foreign("liblinear").write(model)
    weights = told.coef.T
    if told.bias >= 0:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            weights = np.vstack([weights, told.intercepts / told.bias])
    if not np.isfinite(weights).all():
        raise ValueError("the weights are too large for a file of LIBLINEAR")
    count = 2 if told.labels is None else len(told.labels)
    lines = [f"solver_type {told.solver}", f"nr_class {count}"]
    if told.labels is not None:
        lines.append(f"label {' '.join(map(str, told.labels.tolist()))}")
    lines += [f"nr_feature {told.coef.shape[1]}", f"bias {told.bias!r}", "w", *map(join_numbers, weights)]
    with open_atomic(path) as file:
        file.write("\n".join([*lines, ""]).encode())


def is_liblinear_model(path: str | os.PathLike[str]) -> bool:
    """Whether it is a file that begins like those of LIBLINEAR."""
    return starts_with(path, b"solver_type")
