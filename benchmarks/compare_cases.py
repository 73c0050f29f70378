"""The fits that `compare.py` times: an estimator by name, its parameters, and data, made up or real.

An estimator is named and not imported, as each commit has its own. `tol` and other parameters are the defaults unless
a case says otherwise; `random_state` is 0.
"""

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from kernel_problems import load_case
from multiclass import load_data
from problems import load, load_raw
from scipy.ndimage import zoom
from sequence import load_chunking, make_chunks
from sklearn.datasets import load_digits, make_classification

from pegasos.datasets import make_text
from pegasos.io import write_svmlight
from pegasos.sequence import Template

__all__ = ["CASES", "Case", "choose"]

TINY = 150  # rows, or sequences

Data = tuple[Any, Any]
Make = Callable[[int], Data | None]  # from the number of rows; None where real data are not here


@dataclass(frozen=True)
class Case:
    """A fit, and the data for it."""

    name: str
    estimator: str
    make: Make
    rows: int
    parameters: dict[str, Any] = field(default_factory=dict)
    real: bool = False
    default: bool = True

    def data(self, tiny: bool) -> Data | None:
        return self.make(min(self.rows, TINY) if tiny else self.rows)

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        notes = ["real data"] * self.real + ["not by default"] * (not self.default)
        return f"{self.name:26}  {self.estimator}({parameters})" + "".join(f", {note}" for note in notes)


# ---- Made-up data ----


def text(rows: int) -> Data:
    return make_text(rows, 20_000, random_state=0)


def svmlight_lines(rows: int) -> Data:
    """As bytes."""
    file = io.BytesIO()
    write_svmlight(*text(rows), file)
    return file.getvalue(), None


def word_lines(rows: int) -> Data:
    """Lines ``label | words``, as bytes."""
    random = np.random.default_rng(6)
    words = np.array([f"w{k}" for k in range(50_000)])
    lines = [
        f"{label} | {' '.join(words[random.zipf(1.3, 40) % (50_000 - 1000 * (label > 0))])}\n"
        for label in random.choice([-1, 1], rows).tolist()
    ]
    return "".join(lines).encode(), None


def text_classes(rows: int) -> Data:
    """Documents in twenty classes, each of which likes words of its own."""
    X, _ = text(rows)
    random = np.random.default_rng(1)
    scores = X @ random.standard_normal((X.shape[1], 20))
    return X, (scores + 0.3 * scores.std() * random.standard_normal(scores.shape)).argmax(axis=1)


def text_values(rows: int) -> Data:
    X, _ = text(rows)
    random = np.random.default_rng(2)
    values = X @ random.standard_normal(X.shape[1])
    return X, values + 0.1 * random.standard_normal(rows)


def dense(rows: int, features: int, classes: int = 2) -> Data:
    X, y = make_classification(
        rows,
        features,
        n_informative=min(features, 10),
        n_redundant=0,
        n_classes=classes,
        flip_y=0.02,
        random_state=0,
    )
    return X.astype(np.float32), y


def dense_values(rows: int, features: int) -> Data:
    random = np.random.default_rng(3)
    X = random.standard_normal((rows, features), dtype=np.float32)
    return X, X @ random.standard_normal(features) + random.standard_t(3, rows)


def answers(rows: int) -> Data:
    """Like Adult: 14 questions with 123 answers in all, a one for each answer given; a quarter has the label 1."""
    random = np.random.default_rng(4)
    counts = np.array([5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41])
    first = np.cumsum(counts) - counts
    given = np.column_stack([random.zipf(1.7, rows) % count for count in counts])
    columns = first + given
    X = sp.csr_matrix(
        (np.ones(columns.size, dtype=np.float32), columns.ravel(), np.arange(0, columns.size + 1, len(counts))),
        shape=(rows, int(counts.sum())),
    )
    alone = random.standard_normal(X.shape[1])
    together = random.standard_normal((X.shape[1], 8))
    scores = X @ alone + 0.3 * np.square(X @ together).sum(axis=1) / 8 + random.standard_normal(rows)
    return X, np.where(scores > np.quantile(scores, 0.75), 1, -1)


def images(rows: int) -> Data:
    """Like MNIST: scikit-learn's digits as images of 28 x 28 bytes, moved and blotted; 8 against the rest."""
    random = np.random.default_rng(5)
    digits, labels = load_digits(return_X_y=True)
    large = zoom(digits.reshape(-1, 8, 8), (1, 2.5, 2.5), order=1) * (255 / 16)
    chosen = random.integers(len(labels), size=rows)
    X = np.zeros((rows, 28, 28))
    for image, digit, (down, right) in zip(X, large[chosen], random.integers(1, 8, (rows, 2)), strict=True):
        image[down : down + 20, right : right + 20] = digit * random.uniform(0.7, 1.3, digit.shape)
    pixels = np.minimum(X, 255).astype(np.uint8).reshape(rows, -1)
    return pixels * np.float32(1 / 255), np.where(labels[chosen] == 8, 1, -1)


def sentences(rows: int) -> Data:
    made = make_chunks(rows)
    return Template.named("chunking").transform(made["X"]), made["y"]


# ---- Real data ----


def real_binary(rows: int, name: str) -> Data | None:
    problem = load(name)
    return None if problem is None else sample(problem.X, problem.y, rows)


def real_classes(rows: int, name: str) -> Data | None:
    found = load_data(name)
    return None if found is None else sample(found.X, found.y, rows)


def real_values(rows: int, name: str) -> Data | None:
    found = load_raw(name)
    if found is None:
        return None
    X = found["X"].astype(np.float64)
    return sample((X - X.mean(axis=0)) / X.std(axis=0), found["y"], rows)


def real_kernel(rows: int, name: str) -> Data | None:
    case = load_case(name)
    return None if case is None else (case.sample(rows).X, case.sample(rows).y)


def real_covertype(rows: int) -> Data | None:
    """A part of Covertype, dense, each column from 0 to 1."""
    found = load_raw("covtype")
    if found is None:
        return None
    X, y = sample(found["X"], np.where(found["y"] == 1, 1, -1), rows)
    return ((X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1)).astype(np.float32), y


def real_sentences(rows: int) -> Data | None:
    found = load_chunking(tiny=False)
    return None if found is None else (found.X[:rows], found.y[:rows])


def sample(X: Any, y: Any, rows: int) -> Data:
    """So many of the examples, drawn at random; all of them where there are no more."""
    if rows >= len(y):
        return X, y
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
    return X[chosen], y[chosen]


# ---- The table ----

ALL = 10**9  # rows
HINGE = {"loss": "hinge", "C": 1.0}

LINEAR = [
    Case("linear-text", "LinearSVC", text, 50_000, HINGE),
    Case("linear-dense", "LinearSVC", functools.partial(dense, features=50), 50_000, HINGE),
    Case("linear-dense-wide", "LinearSVC", functools.partial(dense, features=300), 10_000, HINGE),
    Case("linear-text-classes", "LinearSVC", text_classes, 10_000, HINGE),
    Case("linear-dense-classes", "LinearSVC", functools.partial(dense, features=50, classes=5), 10_000, HINGE),
    Case("linear-text-values", "LinearSVR", text_values, 20_000, {"C": 1.0, "epsilon": 0.1}),
    Case("linear-dense-values", "LinearSVR", functools.partial(dense_values, features=50), 20_000, {"C": 1.0}),
    Case("linear-rcv1", "LinearSVC", functools.partial(real_binary, name="rcv1"), ALL, HINGE, real=True),
    Case("linear-adult", "LinearSVC", functools.partial(real_binary, name="adult"), ALL, HINGE, real=True),
    Case("linear-covtype", "LinearSVC", real_covertype, 100_000, HINGE, real=True),
    Case("linear-newsgroups", "LinearSVC", functools.partial(real_classes, name="newsgroups"), ALL, HINGE, real=True),
    Case("linear-housing", "LinearSVR", functools.partial(real_values, name="housing"), ALL, {"C": 1.0}, real=True),
]
KERNEL = [
    Case("kernel-answers", "SVC", answers, 15_000, {"C": 1.0, "gamma": 0.05}),
    Case("kernel-images", "SVC", images, 6_000, {"C": 1.0, "gamma": 0.02}),
    Case("kernel-wide", "SVC", functools.partial(dense, features=200), 6_000, {"C": 1.0, "gamma": 0.005}),
    Case("kernel-narrow", "SVC", functools.partial(dense, features=8), 10_000, {"C": 1.0, "gamma": 0.1}),
    Case(
        "kernel-adult",
        "SVC",
        functools.partial(real_kernel, name="adult"),
        ALL,
        {"C": 1.0, "gamma": 0.05},
        real=True,
    ),
    Case(
        "kernel-mnist8",
        "SVC",
        functools.partial(real_kernel, name="mnist8"),
        ALL,
        {"C": 1.0, "gamma": 0.02, "cache_size": 4000},
        real=True,
    ),
    Case("kernel-covtype", "SVC", real_covertype, 10_000, {"C": 1.0, "gamma": 1.0}, real=True),
]
SEQUENCE = [
    Case("sequence-chunks", "SequenceSVC", sentences, 1_000, {"C": 0.1, "tol": 0.01}),
    Case("sequence-conll", "SequenceSVC", real_sentences, 1_000, {"C": 0.1, "tol": 0.1}, real=True),
]


def with_large_C(case: Case, C: int) -> Case:
    """The same case where rounding is felt more; named so that a prefix chooses these alone."""
    name = f"C{C}-{case.name.removeprefix('kernel-')}"
    parameters = case.parameters | {"C": float(C)}
    return Case(name, case.estimator, case.make, case.rows, parameters, case.real, default=False)


EXACT = {"C": 10.0, "tol": 1e-6, "fit_intercept": False}
OTHERS = [
    Case("exact-dense", "LinearSVC", functools.partial(dense, features=50), 20_000, EXACT),
    Case("exact-covtype", "LinearSVC", real_covertype, 50_000, EXACT, real=True),
    Case("reader", "reader", svmlight_lines, 50_000),
    Case("stream", "stream", word_lines, 100_000),
]
CASES = [*LINEAR, *KERNEL, *SEQUENCE, *OTHERS, *(with_large_C(case, C) for C in (10, 100) for case in KERNEL)]


def choose(wanted: list[str] | None) -> list[Case]:
    """The cases whose names begin with one of these; without any, those of the default run."""
    if not wanted:
        return [case for case in CASES if case.default]
    for prefix in wanted:
        if not any(case.name.startswith(prefix) for case in CASES):
            raise ValueError(f"no case is called {prefix!r} or begins so; --list names them")
    names = {case.name for case in CASES}
    return [
        case
        for case in CASES
        if any(case.name == each or (each not in names and case.name.startswith(each)) for each in wanted)
    ]
