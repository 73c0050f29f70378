"""Random data that is hard on floating point: offsets, scales, far groups, repeated rows, constant columns."""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

OFFSETS = (1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
SCALES = (1e-8, 1e-6, 1e-4, 1e-2, 1e-1, 10.0, 1e2, 1e4, 1e6, 1e8)
HUGE = (1e70, 1e78, 1e90, 3e110, 1e130, 1e145, 1e152)
DISTANCES = (20.0, 1e2, 1e3, 1e4, 1e6, 1e8)
SHIFTS = (1.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12)


@dataclass
class Data:
    """Examples as an estimator is given them, and how they were made."""

    X: object
    Z: np.ndarray  # before offsets and scales: what labels and targets come from
    offset: float = 0.0
    scale: float = 1.0
    notes: list = field(default_factory=list)

    @property
    def n(self):
        return self.Z.shape[0]


def pick(random, values, weights=None):
    """One of the values, whatever they are."""
    p = None if weights is None else np.asarray(weights, dtype=float) / np.sum(weights)
    return values[int(random.choice(len(values), p=p))]


def draw_size(random, largest=200):
    """How many rows: mostly few."""
    n = pick(random, (2, 3, 5, 8, 12, 20, 30, 45, 60, 120, 200), (1, 1, 2, 3, 4, 6, 6, 4, 4, 1, 0.5))
    return min(n, largest)


def draw_points(random, n, d):
    """Numbers of ordinary size."""
    kind = pick(random, ("normal", "whole", "zeros", "heavy", "uniform"), (6, 1, 2, 1, 1))
    Z = random.normal(size=(n, d))
    if kind == "whole":
        Z = np.rint(2 * Z)
    elif kind == "zeros":
        Z[random.random((n, d)) < 0.6] = 0
    elif kind == "heavy":
        Z = Z * np.exp(random.normal(size=(n, 1)))
    elif kind == "uniform":
        Z = random.random((n, d))
    return Z


def draw_data(random, n=None, d=None, largest=200):
    n = draw_size(random, largest) if n is None else n
    d = int(random.integers(1, 9)) if d is None else d
    Z = draw_points(random, n, d)
    data = Data(None, Z)
    X = Z.copy()
    if random.random() < 0.15:
        copies = random.integers(0, n, size=n // 2)
        X[: n // 2], Z[: n // 2] = X[copies], Z[copies]
        data.notes.append("copies")
    if random.random() < 0.1:
        X[:, int(random.integers(d))] = pick(random, (0.0, 1.0, -3.0))
        data.notes.append("constant")
    if random.random() < 0.35:
        data.scale = pick(random, SCALES)
        few = random.random() < 0.4
        columns = random.random(d) < 0.5 if few else np.ones(d, bool)
        X[:, columns] *= data.scale
    if random.random() < 0.35:
        data.offset = pick(random, OFFSETS)
        signs = pick(random, (np.ones(d), random.choice([-1.0, 1.0], size=d), random.random(d)))
        X += data.offset * signs
    elif random.random() < 0.15:
        distance = pick(random, DISTANCES)
        X += np.where(random.random((n, 1)) < 0.5, distance, -distance)
        data.notes.append(f"groups at {distance:g}")
        data.offset = distance
    data.X = draw_storage(random, X)
    return data


def draw_huge_data(random, **shape):
    """Rows whose squares, or the squares of whose scores, are near the largest numbers or beyond."""
    data = draw_data(random, **shape)
    data.scale = pick(random, HUGE)
    data.X = draw_storage(random, dense(data.X) * data.scale, single=0)
    return data


def draw_storage(random, X, single=1):
    """Dense or sparse, in single or double precision, with indices of either size."""
    X = X.astype(pick(random, (np.float64, np.float32), (3, single)))
    if random.random() < 0.6:
        return np.ascontiguousarray(X)
    X = sp.csr_matrix(X) if random.random() < 0.5 else sp.csr_array(X)
    if random.random() < 0.3:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def draw_labels(random, Z, classes=2):
    """Labels that a linear rule, with noise, mostly tells; every class is there."""
    scores = Z @ random.normal(size=(Z.shape[1], classes)) + random.choice([0.1, 1.0, 5.0]) * random.normal(
        size=(len(Z), classes)
    )
    y = scores.argmax(axis=1)
    places = random.permutation(len(Z))[:classes]
    y[places] = np.arange(classes)
    return y


def draw_targets(random, Z):
    """Targets of ordinary size, and what they are then shifted and multiplied by."""
    y = Z @ random.normal(size=Z.shape[1]) + 0.3 * random.normal(size=len(Z))
    size = pick(random, (1.0, 1e-4, 1e3, 1e6), (6, 1, 1, 1))
    shift = pick(random, (0.0, *SHIFTS), (8, *np.ones(len(SHIFTS))))
    return y * size + shift, shift


def draw_weights(random, n):
    """Weights of the examples; mostly none."""
    kind = pick(random, (None, "some", "zeros", "ratio"), (6, 2, 1, 1))
    if kind is None:
        return None
    s = random.random(n) + 0.1
    if kind == "zeros":
        s[random.random(n) < 0.3] = 0.0
        s[:2] = 1.0
    elif kind == "ratio":
        s = 10.0 ** random.uniform(-6, 6, size=n)
    return s


def draw_C(random):
    return float(10 ** random.uniform(-6, 6)) if random.random() < 0.5 else pick(random, (0.01, 0.1, 1.0, 10.0, 100.0))


def dense(X):
    """The values of X as they are stored, in double precision."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def normal_classes(n, d, seed=0, noise=1.5):
    """Two classes around a plane."""
    random = np.random.default_rng(seed)
    Z = random.normal(size=(n, d))
    return Z, (Z @ random.normal(size=d) + noise * random.normal(size=n) > 0).astype(int)


def linear_targets(shift, seed=0):
    """Numbers around a linear function, far from zero."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3))
    return X, X @ random.normal(size=3) + 0.1 * random.normal(size=60) + shift
