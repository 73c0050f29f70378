"""Model files of LIBSVM."""

import io
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos.io.atomic import open_atomic
from pegasos.io.foreign import Header, Source, foreign, join_numbers, parse_numbers, read_lines, starts_with
from pegasos.io.svmlight import read_svmlight
from pegasos.io.svmlight_writer import write_svmlight

Floats = NDArray[np.float64]

TYPES = ("c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr")
CLASSIFIERS = ("c_svc", "nu_svc")
#: Kernels, with what we call them.
KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid", "precomputed": "precomputed"}
KEYS = ["svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label"]
KEYS += ["probA", "probB", "prob_density_marks", "nr_sv"]


@dataclass(frozen=True)
class LibsvmModel:
    """What a model file says."""

    kind: str
    kernel: str  # as we call it
    degree: int
    gamma: float
    coef0: float
    rho: Floats  # of each pair of classes
    labels: NDArray[np.int64] | None  # in their order there; None in regression
    counts: NDArray[np.int32]  # support vectors of each label
    coef: Floats  # a row less than there are labels
    vectors: Any  # a CSR matrix; of a kernel matrix the numbers of the rows, from 0


def read_libsvm_model(source: Source, *, n_features: int | None = None) -> Any:
    """Read a model file of LIBSVM as a fitted `SVC` or `SVR`.

    It has the same decision values, except that with two classes they belong to the larger label, ``classes_[1]``, and
    that classes are in increasing order. The file does not contain C, which keeps its default. The certificate says
    that nothing is known about the optimum.

    Parameters
    ----------
    source : path or binary file object
        What to read; compressed files too.
    n_features : int, optional
        The number of features, which the file does not contain. By default it is the largest feature number in a
        support vector. For a precomputed kernel it is the number of training examples.

    Raises
    ------
    ValueError
        If the file is no model of LIBSVM, or is damaged, or is a one-class model, or has probabilities. The message
        names file and line.
    """
    lines, named = read_lines(source)
    try:
        return foreign("libsvm").read((_parse(lines), n_features))
    except ValueError as error:
        raise named(error) from None


def _parse(lines: list[bytes]) -> LibsvmModel:
    header = Header(lines, "SV", KEYS)
    kind = header.word("svm_type", TYPES)
    if kind == "one_class":
        raise ValueError("one_class has no classes and no targets, and no counterpart here")
    if "probA" in header or "probB" in header:
        raise ValueError(
            "the model has probabilities (probA), of a kind that there is not here; train it without -b 1, or take "
            "the lines probA and probB out"
        )
    kernel = KERNELS[header.word("kernel_type", KERNELS)]
    degree = header.whole("degree", 0, 2**31 - 1) if kernel == "poly" else 3
    gamma = header.numbers("gamma", 1)[0] if kernel in ("poly", "rbf", "sigmoid") else 1.0
    if gamma <= 0:
        raise ValueError(f"gamma {gamma:g}: a number above 0 is expected")
    coef0 = header.numbers("coef0", 1)[0] if kernel in ("poly", "sigmoid") else 0.0
    total = header.whole("total_sv", 0, 2**31 - 1)
    rows = lines[header.size :]
    if len(rows) != total:
        raise ValueError(f"{len(rows)} support vectors where {total} are expected; is the file cut off?")
    count = header.whole("nr_class", 2, 46_341)  # of which there are as many pairs as 32 bits count
    labels, counts = None, [total]
    if kind in CLASSIFIERS:
        labels, counts = header.labels(count), header.wholes("nr_sv", count, 0, total)
        if sum(counts) != total:
            raise ValueError(f"nr_sv counts {sum(counts)} support vectors, and there are {total}")
    columns = count - 1 if labels is not None else 1
    rho = np.array(header.numbers("rho", count * columns // 2 if labels is not None else 1))
    coef, vectors = _parse_vectors(rows, columns, header.size, kernel == "precomputed")
    return LibsvmModel(kind, kernel, degree, gamma, coef0, rho, labels, np.array(counts, np.int32), coef, vectors)


def _parse_vectors(rows: list[bytes], columns: int, before: int, precomputed: bool) -> tuple[Floats, Any]:
    """Coefficients and support vectors. The latter are svmlight lines once the former are taken off."""
    parsed, rest = [np.empty((0, columns))], [b"#"] * before  # so that lines have their numbers
    for number, row in enumerate(rows):
        words, where = row.split(None, columns), f"line {before + number + 1}"
        if len(words) < columns or b":" in b"".join(words[:columns]):
            raise ValueError(f"{where}: {columns} coefficients are expected before the entries")
        parsed.append(parse_numbers((word.decode("latin-1") for word in words[:columns]), where))
        entries = words[columns] if len(words) > columns else b""
        if b"#" in entries or b"qid" in entries:
            raise ValueError(f"{where}: index:value pairs are expected after the coefficients")
        rest.append(b"0 " + entries)
    coef = np.ascontiguousarray(np.vstack(parsed).T)
    if not rows:
        return coef, None
    try:
        vectors, _ = read_svmlight(io.BytesIO(b"\n".join([*rest, b""])), zero_based=precomputed, dtype=np.float64)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("<stream>: ")) from None
    if vectors.shape[1] >= 2**31:
        raise ValueError(f"a feature {vectors.shape[1]}, and LIBSVM has at most {2**31 - 1}")
    if not precomputed:
        return coef, vectors
    numbers = vectors.data
    right = vectors.nnz == len(rows) == np.count_nonzero(np.diff(vectors.indptr)) and not vectors.indices.any()
    right = right and bool((numbers == np.round(numbers)).all() and (numbers >= 1).all())
    if not right or numbers.max() >= 2**31 or len(np.unique(numbers)) < len(numbers):
        raise ValueError("precomputed: each support vector is 0:N, the number N of a training example from 1 on")
    return coef, numbers.astype(np.int64) - 1


def write_libsvm_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted `SVC` or `SVR` as a model file of LIBSVM, whole or not at all.

    LIBSVM predicts the same with it. Labels must be whole numbers. With two classes, LIBSVM's decision values belong to
    the label that the file names first, ``classes_[0]``.

    Raises
    ------
    ValueError
        If LIBSVM has no such model: kernels that are functions, scaled columns, more than two classes each against the
        rest, other losses, or labels that are not numbers.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from pegasos import SVC
    >>> from pegasos.io import read_libsvm_model, write_libsvm_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model, path = SVC().fit(X, y), os.path.join(tempfile.mkdtemp(), "iris.libsvm")
    >>> write_libsvm_model(model, path)
    >>> bool((read_libsvm_model(path).predict(X) == model.predict(X)).all())
    True
    """
    told: LibsvmModel = foreign("libsvm").write(model)
    names = {ours: theirs for theirs, ours in KERNELS.items()}
    lines = [f"svm_type {told.kind}", f"kernel_type {names[told.kernel]}"]
    lines += [f"degree {told.degree}"] if told.kernel == "poly" else []
    lines += [f"gamma {told.gamma!r}"] if told.kernel in ("poly", "rbf", "sigmoid") else []
    lines += [f"coef0 {told.coef0!r}"] if told.kernel in ("poly", "sigmoid") else []
    lines += [f"nr_class {2 if told.labels is None else len(told.labels)}", f"total_sv {told.coef.shape[1]}"]
    lines.append(f"rho {join_numbers(told.rho)}")
    if told.labels is not None:
        lines.append(f"label {' '.join(map(str, told.labels.tolist()))}")
        lines.append(f"nr_sv {' '.join(map(str, told.counts.tolist()))}")
    with open_atomic(path) as file:
        file.write("\n".join([*lines, "SV", *_vector_lines(told), ""]).encode())


def _vector_lines(told: LibsvmModel) -> list[str]:
    coefs = list(map(join_numbers, told.coef.T))
    if told.kernel == "precomputed":
        return [f"{coef} 0:{number + 1}" for coef, number in zip(coefs, told.vectors.tolist(), strict=True)]
    if not coefs:
        return []
    text = io.BytesIO()
    write_svmlight(told.vectors, np.zeros(len(coefs)), text)
    rows = text.getvalue().decode().splitlines()
    return [f"{coef}{row.removeprefix('0')}" for coef, row in zip(coefs, rows, strict=True)]


def is_libsvm_model(path: str | os.PathLike[str]) -> bool:
    """Whether it is a file that begins like those of LIBSVM."""
    return starts_with(path, b"svm_type")
