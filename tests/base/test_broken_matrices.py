"""Sparse matrices that reach out of their bounds: SciPy would crash on them, and so they are refused before."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, io, path
from pegasos.io.csr import check_sparse
from pegasos.linear.distributed.shard import Shard

GOOD = sp.random(60, 30, density=0.3, format="csr", random_state=0)
Y = np.arange(60) % 2
T = Y.astype(float)
FAR = 10**8


def change(form, name, at, value, dtype=np.float64):
    """A matrix with another number in one of its arrays."""
    X = GOOD.asformat(form, copy=True).astype(dtype)
    array = getattr(X, name).copy()
    array[at] = value
    setattr(X, name, array)
    return X


def cut(form, name, to):
    X = GOOD.asformat(form, copy=True)
    setattr(X, name, getattr(X, name)[:to])
    return X


def long_numbers():
    X = GOOD.tocsc()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    X.indices[7] = 2**40
    return X


def long_lists():
    X = GOOD.tolil()
    X.rows[3], X.data[3] = [1, 2, 3], [1.0]
    return X


def far_lists():
    X = GOOD.tolil()
    X.rows[3], X.data[3] = [FAR], [1.0]
    return X


BROKEN = {
    **{
        f"{form}: {name}[{at}] = {value}": (lambda own=(form, name, at, value): change(*own))
        for form in ("csr", "csc")
        for name, at, value in [
            ("indices", 7, FAR),
            ("indices", 7, -FAR),
            ("indices", 7, 60),
            ("indptr", 5, -1),
            ("indptr", 5, FAR),
            ("indptr", -1, FAR),
            ("indptr", 0, 3),
        ]
        if (form, name) != ("csr", "indptr") or at  # the core takes rows that begin later
    },
    **{
        f"{form}: short {name}": (lambda own=(form, name): cut(*own, 5))
        for form in ("csr", "csc")
        for name in ("indices", "data", "indptr")
    },
    "csr of whole numbers": lambda: change("csr", "indptr", 5, -1, np.int32),
    "csc with 64 bits": long_numbers,
    "coo: row": lambda: change("coo", "row", 3, FAR),
    "coo: negative row": lambda: change("coo", "row", 3, -FAR),
    "coo: column": lambda: change("coo", "col", 3, FAR),
    "coo: short": lambda: cut("coo", "row", 3),
    "bsr: column": lambda: change("bsr", "indices", 3, FAR),
    "bsr: start": lambda: change("bsr", "indptr", 3, -FAR),
    "dia": lambda: cut("dia", "offsets", 3),
    "lil: lengths": long_lists,
    "lil: column": far_lists,
}


def features(x, label):
    return np.append(x.toarray().ravel() * label, 1.0)


LENGTHS = [10] * 6
LINEAR = LinearSVC(random_state=0).fit(GOOD, Y)
KERNEL = SVC(random_state=0).fit(GOOD, Y)
SEQUENCE = SequenceSVC(random_state=0).fit(GOOD, Y, lengths=LENGTHS)
MAPPED = FeatureMapSVC(features, tol=0.5, random_state=0).fit(GOOD, Y)
STREAM = {"solver": "pegasos", "alpha": 0.1, "random_state": 0}
EARLY = {"solver": "sgd-m", "early_stopping": True, "random_state": 0}
CALLS = {
    "LinearSVC.fit": lambda X: LinearSVC().fit(X, Y),
    "LinearSVC.fit, scaled": lambda X: LinearSVC(scale=True).fit(X, Y),
    "LinearSVC.fit, early stopping": lambda X: LinearSVC(**EARLY).fit(X, Y),
    "LinearSVC.partial_fit": lambda X: LinearSVC(**STREAM).partial_fit(X, Y, classes=[0, 1]),
    "LinearSVC.predict": LINEAR.predict,
    "LinearSVC.score": lambda X: LINEAR.score(X, Y),
    "LinearSVR.fit": lambda X: LinearSVR().fit(X, T),
    "LinearSVCCV.fit": lambda X: LinearSVCCV(Cs=2, random_state=0).fit(X, Y),
    "path": lambda X: path(X, Y, Cs=2),
    "path.decision_function": lambda X: path(GOOD, Y, Cs=2).decision_function(X),
    "SVC.fit": lambda X: SVC().fit(X, Y),
    "SVC.fit, early stopping": lambda X: SVC(solver="sbp", early_stopping=True, random_state=0).fit(X, Y),
    "SVC.fit, a function": lambda X: SVC(kernel=lambda A, B: (A @ B.T).toarray()).fit(X, Y),
    "SVC.predict": KERNEL.predict,
    "SVR.fit": lambda X: SVR().fit(X, T),
    "SequenceSVC.fit": lambda X: SequenceSVC().fit(X, Y, lengths=LENGTHS),
    "SequenceSVC.fit, a list": lambda X: SequenceSVC().fit([GOOD, X], [Y, Y]),
    "SequenceSVC.predict": lambda X: SEQUENCE.predict(X, lengths=LENGTHS),
    "FeatureMapSVC.fit": lambda X: FeatureMapSVC(features).fit(X, Y),
    "FeatureMapSVC.predict": MAPPED.predict,
    "a shard on Dask": lambda X: Shard(0, X, Y).survey(LinearSVC()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN.keys())
def test_broken_matrices_are_refused(make, call):
    with pytest.raises(ValueError, match=r"is a broken (CSR|CSC|COO|BSR|DIA|LIL) matrix"):
        call(make())


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN.keys())
def test_broken_matrices_are_not_written(tmp_path, make):
    with pytest.raises(ValueError, match="is a broken"):
        io.write_dataset(tmp_path / "a.ds", make(), Y)
    with pytest.raises(ValueError, match="is a broken"):
        io.write_svmlight(make(), Y, tmp_path / "a.svm")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sound_matrices_are_taken(form):
    for X in (GOOD, sp.csr_matrix((3, 4)), sp.csr_array(GOOD), sp.csr_matrix(np.eye(3)[:, :0])):
        if X.shape[1] or form not in ("bsr", "dia"):
            check_sparse(X.asformat(form))
    longer = GOOD.copy()  # arrays may be longer than they are filled
    longer.data, longer.indices = np.append(longer.data, 1.0), np.append(longer.indices, FAR)
    check_sparse(longer)
    np.testing.assert_array_equal(LINEAR.predict(GOOD.asformat(form)), LINEAR.predict(GOOD))


def test_what_is_given_stays_as_it_is():
    X = GOOD.tocsc()
    arrays = X.data, X.indices, X.indptr
    LINEAR.predict(X)
    assert all(a is b for a, b in zip((X.data, X.indices, X.indptr), arrays, strict=True))
