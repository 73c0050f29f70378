"""The data of the benchmarks: scikit-learn's own sets and made-up ones, which anyone has, and real ones.

Real sets are looked for in the folder that PEGASOS_DATA names; where it is not set, they are left out.
"""

import functools
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

from pegasos.datasets import make_text
from pegasos.sequence import Template

__all__ = ["REAL", "SETS", "Data", "as_kind", "has_real_data", "load", "load_raw", "make_chunks"]


@dataclass(frozen=True, eq=False)
class Data:
    """Examples to train on and, of some sets, others to test on. Two classes are -1 and 1, more are numbers from 0."""

    name: str
    X: Any
    y: Any
    X_test: Any = None
    y_test: Any = None

    def __str__(self) -> str:
        if isinstance(self.X, list):
            return f"{self.name}: {len(self.X):,} sequences"
        n, d = self.X.shape
        storage = f"{self.X.nnz / n:.0f} entries a row" if sp.issparse(self.X) else "dense"
        return f"{self.name}: {n:,} x {d:,}, {storage}, {self.X.dtype}"

    def sample(self, rows: int) -> "Data":
        """The same with so many of the examples, drawn at random; of sequences the first."""
        if rows >= len(self.y):
            return self
        if isinstance(self.X, list):
            return replace(self, X=self.X[:rows], y=self.y[:rows])
        chosen = np.sort(np.random.default_rng(0).permutation(len(self.y))[:rows])
        return replace(self, X=self.X[chosen], y=self.y[chosen])


# ---- Data that anyone has ----


def text(rows: int, features: int = 20_000) -> Data:
    return Data("text", *make_text(rows, features, random_state=0))


def dense(rows: int, features: int, classes: int = 2) -> Data:
    informative = min(features, 10)
    X, y = make_classification(
        2 * rows,
        features,
        n_informative=informative,
        n_redundant=0,
        n_classes=classes,
        flip_y=0.02,
        random_state=0,
    )
    X, y = X.astype(np.float32), y if classes > 2 else 2 * y - 1
    return Data("dense", X[:rows], y[:rows], X[rows:], y[rows:])


def dense_values(rows: int, features: int) -> Data:
    """A linear function with errors of which some are large."""
    random = np.random.default_rng(3)
    X = random.standard_normal((rows, features), dtype=np.float32)
    return Data("dense-values", X, X @ random.standard_normal(features) + random.standard_t(3, rows))


def breast_cancer() -> Data:
    X, y = load_breast_cancer(return_X_y=True)
    return Data("breast-cancer", standardized(X), 2 * y - 1)


def diabetes() -> Data:
    X, y = load_diabetes(return_X_y=True)
    return Data("diabetes", standardized(X), (y - y.mean()) / y.std())


def digits(rows: int = 1_797) -> Data:
    X, y = load_digits(return_X_y=True)
    return held_out("digits", X[:rows] / 16, y[:rows])


def digits_8() -> Data:
    X, y = load_digits(return_X_y=True)
    return Data("digits-8", X / 16, np.where(y == 8, 1, -1))


def make_chunks(n: int, seed: int = 0) -> dict[str, Any]:
    """Sentences of made words and parts of speech, and chunks that mostly follow from these."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for length in random.integers(3, 12, n):
        kinds = random.integers(4, size=length)
        X.append([(f"w{kind}{random.integers(20)}", f"P{kind}") for kind in kinds])
        y.append([("B-NP", "I-NP", "B-VP", "O")[kind if random.random() < 0.95 else 0] for kind in kinds])
    return {"X": X, "y": y}


def chunks(rows: int = 1_000) -> Data:
    made, test = make_chunks(rows), make_chunks(rows // 2, seed=1)
    template = Template.named("chunking")
    return Data("chunks", template.transform(made["X"]), made["y"], template.transform(test["X"]), test["y"])


# ---- Real data ----


def folder() -> Path:
    return Path(os.environ.get("PEGASOS_DATA", ""))


def has_real_data() -> bool:
    return bool(os.environ.get("PEGASOS_DATA")) and (folder() / "load.py").exists()


@functools.cache
def _loader() -> Any:
    spec = importlib.util.spec_from_file_location("load", folder() / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_raw(name: str) -> dict[str, Any] | None:
    """The data of that name as they are; None, and a line that says so, where they are not here."""
    if not has_real_data():
        print(f"{name} is left out: PEGASOS_DATA names no folder of data")
        return None
    return _loader().load(name)


def _real(name: str) -> dict[str, Any]:
    raw = load_raw(name)
    if raw is None:
        raise FileNotFoundError(name)
    return raw


def two_classes(name: str, positive: Any = 1, scale: float = 1.0) -> Data:
    raw = _real(name)
    labels = {key: np.where(raw[key] == positive, 1, -1) for key in ("y", "y_test") if key in raw}
    X = {key: sp.csr_matrix(raw[key] * scale if scale != 1 else raw[key]) for key in ("X", "X_test") if key in raw}
    return Data(name, **X, **labels)


def documents(name: str) -> Data:
    raw = _real(name)
    X = TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32).fit_transform(raw["X"] + raw.get("X_test", []))
    y = np.unique(list(raw["y"]) + list(raw.get("y_test", [])), return_inverse=True)[1]
    train = len(raw["X"])
    return Data(name, X[:train], y[:train], X[train:], y[train:]) if "X_test" in raw else held_out(name, X, y)


def images() -> Data:
    raw = _real("mnist")
    return Data("mnist", raw["X"], raw["y"].astype(int), raw["X_test"], raw["y_test"].astype(int))


def eights() -> Data:
    data = images()
    return replace(data, name="mnist8", y=np.where(data.y == 8, 1, -1), y_test=np.where(data.y_test == 8, 1, -1))


def answers() -> Data:
    """Adult's zeros and ones in single precision, as they are read for a kernel."""
    raw = _real("adult")
    return Data("adult", raw["X"].astype(np.float32), raw["y"], raw["X_test"].astype(np.float32), raw["y_test"])


def cover_types() -> Data:
    """Dense, each column from 0 to 1."""
    raw = _real("covtype")
    X, y = raw["X"], np.where(raw["y"] == 1, 1, -1)
    return Data("covtype-dense", ((X - X.min(axis=0)) / np.maximum(np.ptp(X, axis=0), 1)).astype(np.float32), y)


def housing() -> Data:
    raw = _real("housing")
    return Data("housing", standardized(raw["X"]), (raw["y"] - raw["y"].mean()) / raw["y"].std())


def sentences() -> Data:
    raw, template = _real("conll2000"), Template.named("chunking")
    return Data("conll2000", template.transform(raw["X"]), raw["y"], template.transform(raw["X_test"]), raw["y_test"])


# ---- All of them ----

SETS: dict[str, Callable[[], Data]] = {
    "breast-cancer": breast_cancer,
    "digits": digits,
    "digits-8": digits_8,
    "diabetes": diabetes,
    "text": functools.partial(text, 20_000),
    "text-400k": functools.partial(text, 400_000, 47_236),
    "text-1600k": functools.partial(text, 1_600_000, 47_236),
    "dense": functools.partial(dense, 20_000, 50),
    "dense-classes": functools.partial(dense, 10_000, 50, 5),
    "dense-narrow": functools.partial(dense, 10_000, 8),
    "dense-values": functools.partial(dense_values, 20_000, 50),
    "chunks": chunks,
    "tiny": functools.partial(text, 2_000, 500),
    "tiny-classes": functools.partial(digits, 400),
    "tiny-dense": functools.partial(dense, 200, 8),
    "tiny-values": functools.partial(dense_values, 300, 5),
    "tiny-chunks": functools.partial(chunks, 60),
}
REAL: dict[str, Callable[[], Data]] = {
    "adult": functools.partial(two_classes, "adult"),
    "adult-single": answers,
    "web": functools.partial(two_classes, "web"),
    "covtype": functools.partial(two_classes, "covtype", scale=0.001),
    "covtype-dense": cover_types,
    "rcv1": functools.partial(two_classes, "rcv1"),
    "reuters": functools.partial(two_classes, "reuters"),
    "mnist": images,
    "mnist8": eights,
    "newsgroups": functools.partial(documents, "newsgroups"),
    "debian": functools.partial(documents, "debian"),
    "housing": housing,
    "conll2000": sentences,
}


@functools.lru_cache(maxsize=2)  # some are large
def load(name: str) -> Data | None:
    """The data of that name; ``name:rows`` has so many of the examples. None where they are not here."""
    whole, _, rows = name.partition(":")
    if whole not in SETS | REAL:
        raise ValueError(f"no data set is called {whole!r}; one of {', '.join(SETS | REAL)}")
    if rows:
        data = load(whole)
        return None if data is None else replace(data.sample(int(rows)), name=name)
    try:
        return replace((SETS | REAL)[whole](), name=name)
    except FileNotFoundError:
        return None


def standardized(X: Any) -> Any:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def held_out(name: str, X: Any, y: Any) -> Data:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    return Data(name, X, y, X_test, y_test)


def as_kind(X: Any, kind: str) -> Any:
    """The examples as an array or a CSR matrix, in single or double precision: "dense float32", "CSR float64"."""
    storage, dtype = kind.split()
    if storage == "CSR":
        return sp.csr_matrix(X, dtype=dtype)
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=dtype)
