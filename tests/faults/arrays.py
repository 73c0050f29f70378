"""Faults of what a program hands over: broken matrices, numbers that are none, objects that lie."""

import io
import warnings

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, path
from pegasos.io import read_conll, read_svmlight, write_dataset, write_svmlight
from pegasos.solvers import KERNEL_SOLVERS, SOLVERS

from ..audit.confirm import NO_BOUND, confirm
from .fault import CHANGED, REFUSED, UNHARMED, Harm, kind
from .fits import CLASSES, FITS, SPARSE, TAGS, TARGETS, WORDS, X, Y, fitted, matrix

LENGTHS = [10] * 6


def calls(folder):
    """What may be done with examples, by name."""
    linear, several, kernel = map(fitted, ("LinearSVC", "LinearSVC, one against the rest", "SVC"))
    sequence = SequenceSVC(random_state=0).fit(SPARSE, Y, lengths=LENGTHS)
    return {
        "LinearSVC.fit": lambda X: LinearSVC(random_state=0).fit(X, Y),
        "LinearSVC.fit, scaled": lambda X: LinearSVC(scale=True, random_state=0).fit(X, Y),
        "LinearSVC.fit, joint": lambda X: LinearSVC(multi_class="joint", random_state=0).fit(X, CLASSES),
        "LinearSVC.partial_fit": lambda X: LinearSVC(solver="pegasos", alpha=0.1).partial_fit(X, Y, classes=[0, 1]),
        "LinearSVC.predict": linear.predict,
        "LinearSVC.decision_function": several.decision_function,
        "LinearSVCCV.fit": lambda X: LinearSVCCV(Cs=2, cv=2, random_state=0).fit(X, Y),
        "LinearSVR.fit": lambda X: LinearSVR(random_state=0).fit(X, TARGETS),
        "path": lambda X: path(X, Y, Cs=2),
        "SVC.fit": lambda X: SVC(random_state=0).fit(X, CLASSES),
        "SVC.predict": kernel.predict,
        "SVR.fit": lambda X: SVR(random_state=0).fit(X, TARGETS),
        "SequenceSVC.fit": lambda X: SequenceSVC(random_state=0).fit(X, Y, lengths=LENGTHS),
        "SequenceSVC.predict": lambda X: sequence.predict(X, lengths=LENGTHS),
        "write_dataset": lambda X: write_dataset(folder / "a.ds", X, Y, overwrite=True),
        "write_svmlight": lambda X: write_svmlight(X, Y, folder / "a.svm"),
    }


# Sparse matrices


def broken(random):
    """A sparse matrix with a number that is out of its bounds, or an array that is too short."""
    form = random.choice(("csr", "csc", "coo", "bsr"))
    X = SPARSE.asformat(form, copy=True).astype(random.choice((np.float64, np.float32, np.int32)))
    if random.random() < 0.3:
        X = getattr(sp, f"{form}_array")(X)
    names = ("row", "col", "data") if form == "coo" else ("indices", "indptr", "data")
    name = random.choice(names[:2])
    array = getattr(X, name).astype(random.choice((np.int32, np.int64)))
    most = {
        "row": 60,
        "col": 6,
        "indices": X.shape[0] if form == "csc" else 6 // (X.blocksize[1] if form == "bsr" else 1),
    }
    if random.random() < 0.2:
        name = random.choice(names)
        array = getattr(X, name)[: random.randrange(len(getattr(X, name)) - 1)]
        told = f"{name} cut to {len(array)}"
    else:
        at = random.randrange(1, len(array))
        beyond = most.get(name, len(X.data) + 1)
        values = [-1, -(10**8), -(2**31), beyond, beyond + 1, 10**8, 2**31 - 1]
        if name == "indptr" and array[at - 1] > 0:
            values.append(array[at - 1] - 1)
        array[at] = value = random.choice(values)
        told = f"{name}[{at}] = {value}"
    setattr(X, name, array)
    return X, f"{form}: {told}"


@kind(
    "broken sparse matrices",
    "CSR, CSC, COO and BSR with indices or starts out of bounds, or arrays too short; fits, predictions, writers",
    6_000,
)
def prepare_matrices(folder):
    able = sorted(calls(folder).items())

    def inject(random):
        (name, call), (X, told) = random.choice(able), broken(random)
        try:
            call(X)
        except ValueError:
            return REFUSED
        raise Harm(CHANGED, f"{name} accepts {told}")

    return inject


# Numbers that are none


def storage(X, random):
    """The same numbers, kept in another way."""
    form = random.choice(("C", "F", "strided", "float32", "csr", "csc", "frame", "list"))
    if form == "strided":
        return np.repeat(X, 2, axis=1)[:, ::2]
    makers = {"csr": sp.csr_matrix, "csc": sp.csc_array, "frame": pd.DataFrame, "list": np.ndarray.tolist}
    makers |= {"F": np.asfortranarray, "float32": lambda X: X.astype(np.float32), "C": np.ascontiguousarray}
    return makers[form](X)


@kind(
    "NaN and infinity",
    "in X, y or `sample_weight`; in arrays of all layouts, sparse matrices, frames and lists; fits and predictions",
    6_000,
)
def prepare_numbers(folder):
    able = sorted(calls(folder).items())
    weighted = [name for name, (_, _, y) in FITS.items() if getattr(y, "dtype", None) in (int, float)]

    def inject(random):
        value = random.choice((np.nan, np.inf, -np.inf))
        where = random.choice(("X", "X", "y", "sample_weight"))
        if where == "X":
            rows, (name, call) = X.copy(), random.choice(able)
            rows[random.randrange(60), random.randrange(6)] = value
            rows = storage(rows, random)
            if name.startswith(("Sequence", "write")) and not (sp.issparse(rows) or isinstance(rows, np.ndarray)):
                rows = X * value
        else:
            name = random.choice(weighted)
            estimator, data, y = FITS[name]
            y, weights = np.array(y, dtype=float), np.ones(60)
            (y if where == "y" else weights)[random.randrange(60)] = value

            def call(data):
                clone(estimator).fit(data, y, weights)

            rows = data
        try:
            call(rows)
        except ValueError:
            return REFUSED
        raise Harm(CHANGED, f"{name} accepts {value} in {where}")

    return inject


# Numbers that are far from 1

SIZES = (5e-324, 1e-310, 1e-300, 1e-150, 1e-30, 1e30, 1e150, 1e300, 1.7e308)


def extreme(array, random):
    """Some or all numbers of an array are huge or tiny now."""
    array, size = np.array(array, dtype=np.float64), random.choice(SIZES)
    how = random.choice(("all", "column", "row", "entry", "zero"))
    at = {"all": ..., "column": (..., 0), "row": random.randrange(len(array)), "zero": (..., -1)}
    at = at.get(how, (random.randrange(len(array)), *([0] * (array.ndim - 1))))
    with np.errstate(over="ignore"):
        array[at] *= 0.0 if how == "zero" else size
    return np.clip(array, -1.7e308, 1.7e308), f"{how} times {size}"


@kind(
    "huge and tiny numbers",
    "in X, y or `sample_weight`, from 5e-324 to 1.7e308, with any solver; what the certificate says is confirmed in "
    "long double",
    4_000,
)
def prepare_extremes(folder):
    names = [
        name
        for name, (_, data, y) in FITS.items()
        if getattr(y, "dtype", None) in (int, float) and "scaled" not in name
    ]

    def inject(random):
        name = random.choice(names)
        estimator, data, y = FITS[name]
        estimator, data, weights = clone(estimator).set_params(max_iter=100), np.array(matrix(data)), np.ones(60)
        if random.random() < 0.7:
            known = KERNEL_SOLVERS if isinstance(estimator, SVC | SVR) else SOLVERS
            estimator.set_params(solver=random.choice(list(known)))
            name = f"{name} by {estimator.solver}"
        where = random.choice(("X", "sample_weight", *(["y"] if y.dtype == float else [])))
        if where == "X":
            data, told = extreme(data, random)
        elif where == "y":
            y, told = extreme(y, random)
        else:
            weights, told = extreme(weights, random)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                estimator.fit(data, y, weights)
            except ValueError:
                return REFUSED
        found = [
            one
            for one in confirm(estimator, data, y, weights)
            if not (warned and one.kind in NO_BOUND) and one.excess > 1e-15  # sums in another order
        ]
        if found or not (estimator.certificate_.converged or warned):
            raise Harm(CHANGED, f"{name}, {where} {told}: {found or 'not converged, and no warning'}")
        return UNHARMED

    return inject


# Objects that lie


class Liar(list):
    """A list that says another length than it has, or another one each time; and gives more or less than that."""

    def __init__(self, items, random):
        super().__init__(items)
        self.random, self.lie = random, random.choice(("more", "less", "none", "turns", "huge", "breaks", "shrinks"))

    def __len__(self):
        n = super().__len__()
        lies = {"more": n + 3, "less": max(n - 3, 0), "none": 0, "huge": 2**40}
        if self.lie == "turns":
            return self.random.choice((n, n + 1, max(n - 1, 0)))
        return lies.get(self.lie, n)

    def __getitem__(self, at):
        if self.lie == "breaks" and self.random.random() < 0.2:
            raise RuntimeError("a lie")
        if self.lie == "shrinks" and self.random.random() < 0.2:
            self.clear()
        return super().__getitem__(at)

    def __iter__(self):
        if self.lie == "shrinks":
            self.pop()
        return super().__iter__()


class Turning:
    """Examples that are other ones each time they are asked for."""

    def __init__(self, random):
        self.random = random

    def __array__(self, dtype=None, copy=None):
        rows, columns = self.random.choice(((60, 6), (60, 6), (59, 6), (60, 5), (0, 0), (600, 60)))
        return np.ones((rows, columns), dtype or self.random.choice((np.float64, object, np.int8, complex)))

    def __len__(self):
        return self.random.choice((60, 59, 0, 600))

    @property
    def shape(self):
        return self.random.choice(((60, 6), (61, 6), (60,), ()))


class File(io.RawIOBase):
    """A file whose `read` gives more than there is, other types, or an error."""

    def __init__(self, data, random):
        self.data, self.random = data, random

    def read(self, size=-1):
        part, self.data = self.data[: max(size, 0)], self.data[max(size, 0) :]
        lie = self.random.choice((part, part, part * 2, part.decode(), None, bytearray(part), b"", 7))
        if self.random.random() < 0.1:
            raise OSError("a lie")
        return lie

    def readinto(self, buffer):
        return self.random.choice((0, 1, len(buffer), len(buffer) + 1, -1, None))


def wrong_kernel(random):
    def kernel(A, B):
        good = np.asarray(A) @ np.asarray(B).T
        rows, columns = good.shape
        wrong = (good[:-1], good[:, :-1], np.full(good.shape, np.nan), good.astype(complex), None, "a", good.tolist())
        return random.choice((good, good.T, np.ones((rows, columns + 1)), *wrong))

    return kernel


@kind(
    "objects that lie",
    "lists, arrays, files and kernel functions that give another length, type or content than they say, or change it",
    3_000,
)
def prepare_liars(folder):
    sequence, given = fitted("SequenceSVC"), [name for name in FITS if name != "SequenceSVC"]
    write_svmlight(SPARSE, Y, folder / "a.svm")
    text = (folder / "a.svm").read_bytes()

    def lie(random):
        what = random.choice(("sequences", "predicted", "rows", "labels", "weights", "arrays", "file", "kernel"))
        estimator, data, y = FITS[random.choice(given)]
        liar = Liar([Liar(sentence, random) for sentence in WORDS], random)
        if what == "sequences":
            SequenceSVC(random_state=0).fit(
                liar, random.choice((TAGS, Liar(TAGS, random), [Liar(own, random) for own in TAGS]))
            )
        elif what == "predicted":
            sequence.predict(liar)
        elif what == "rows":
            clone(estimator).fit(Liar(X.tolist(), random), y)
        elif what == "labels":
            clone(estimator).fit(data, Liar(y.tolist(), random))
        elif what == "weights":
            clone(estimator).fit(data, y, Liar([1.0] * 60, random))
        elif what == "arrays":
            clone(estimator).fit(Turning(random), y)
        elif what == "file":
            random.choice((read_svmlight, read_conll))(File(text, random))
        else:
            SVC(kernel=wrong_kernel(random), random_state=0).fit(X, Y).predict(X)

    def inject(random):
        try:
            lie(random)
        except (ValueError, TypeError, LookupError, OverflowError, RuntimeError, MemoryError, OSError, AttributeError):
            return REFUSED
        return UNHARMED

    return inject
