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
from datasets import chunks, dense, dense_values, load, text
from scipy.ndimage import zoom
from sklearn.datasets import load_digits

from pegasos.io import write_svmlight

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


def made(rows: int, make: Callable[..., Any], **parameters: Any) -> Data:
    data = make(rows, **parameters)
    return data.X, data.y


def svmlight_lines(rows: int) -> Data:
    """As bytes."""
    file = io.BytesIO()
    write_svmlight(*made(rows, text), file)
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
    X = text(rows).X
    random = np.random.default_rng(1)
    scores = X @ random.standard_normal((X.shape[1], 20))
    return X, (scores + 0.3 * scores.std() * random.standard_normal(scores.shape)).argmax(axis=1)


def text_values(rows: int) -> Data:
    X = text(rows).X
    random = np.random.default_rng(2)
    values = X @ random.standard_normal(X.shape[1])
    return X, values + 0.1 * random.standard_normal(rows)


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


# ---- Real data ----


def real(rows: int, name: str) -> Data | None:
    """So many of the examples, drawn at random; of sequences the first. None where the data are not here."""
    data = load(name)
    return None if data is None else (data.sample(rows).X, data.sample(rows).y)


# ---- The table ----

ALL = 10**9  # rows
HINGE = {"loss": "hinge", "C": 1.0}

LINEAR = [
    Case("linear-text", "LinearSVC", functools.partial(made, make=text), 50_000, HINGE),
    Case("linear-dense", "LinearSVC", functools.partial(made, make=dense, features=50), 50_000, HINGE),
    Case("linear-dense-wide", "LinearSVC", functools.partial(made, make=dense, features=300), 10_000, HINGE),
    Case("linear-text-classes", "LinearSVC", text_classes, 10_000, HINGE),
    Case(
        "linear-dense-classes", "LinearSVC", functools.partial(made, make=dense, features=50, classes=5), 10_000, HINGE
    ),
    Case("linear-text-values", "LinearSVR", text_values, 20_000, {"C": 1.0, "epsilon": 0.1}),
    Case(
        "linear-dense-values", "LinearSVR", functools.partial(made, make=dense_values, features=50), 20_000, {"C": 1.0}
    ),
    Case("linear-rcv1", "LinearSVC", functools.partial(real, name="rcv1"), ALL, HINGE, real=True),
    Case("linear-adult", "LinearSVC", functools.partial(real, name="adult"), ALL, HINGE, real=True),
    Case("linear-covtype", "LinearSVC", functools.partial(real, name="covtype-dense"), 100_000, HINGE, real=True),
    Case("linear-newsgroups", "LinearSVC", functools.partial(real, name="newsgroups"), ALL, HINGE, real=True),
    Case("linear-housing", "LinearSVR", functools.partial(real, name="housing"), ALL, {"C": 1.0}, real=True),
]
KERNEL = [
    Case("kernel-answers", "SVC", answers, 15_000, {"C": 1.0, "gamma": 0.05}),
    Case("kernel-images", "SVC", images, 6_000, {"C": 1.0, "gamma": 0.02}),
    Case("kernel-wide", "SVC", functools.partial(made, make=dense, features=200), 6_000, {"C": 1.0, "gamma": 0.005}),
    Case("kernel-narrow", "SVC", functools.partial(made, make=dense, features=8), 10_000, {"C": 1.0, "gamma": 0.1}),
    Case(
        "kernel-adult",
        "SVC",
        functools.partial(real, name="adult-single"),
        ALL,
        {"C": 1.0, "gamma": 0.05},
        real=True,
    ),
    Case(
        "kernel-mnist8",
        "SVC",
        functools.partial(real, name="mnist8"),
        ALL,
        {"C": 1.0, "gamma": 0.02, "cache_size": 4000},
        real=True,
    ),
    Case(
        "kernel-covtype",
        "SVC",
        functools.partial(real, name="covtype-dense"),
        10_000,
        {"C": 1.0, "gamma": 1.0},
        real=True,
    ),
]
SEQUENCE = [
    Case("sequence-chunks", "SequenceSVC", functools.partial(made, make=chunks), 1_000, {"C": 0.1, "tol": 0.01}),
    Case(
        "sequence-conll",
        "SequenceSVC",
        functools.partial(real, name="conll2000"),
        1_000,
        {"C": 0.1, "tol": 0.1},
        real=True,
    ),
]


def with_large_C(case: Case, C: int) -> Case:
    """The same case where rounding is felt more; named so that a prefix chooses these alone."""
    name = f"C{C}-{case.name.removeprefix('kernel-')}"
    parameters = case.parameters | {"C": float(C)}
    return Case(name, case.estimator, case.make, case.rows, parameters, case.real, default=False)


EXACT = {"C": 10.0, "tol": 1e-6, "fit_intercept": False}
OTHERS = [
    Case("exact-dense", "LinearSVC", functools.partial(made, make=dense, features=50), 20_000, EXACT),
    Case("exact-covtype", "LinearSVC", functools.partial(real, name="covtype-dense"), 50_000, EXACT, real=True),
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
