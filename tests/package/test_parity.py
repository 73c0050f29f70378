"""Certified objectives against those of scikit-learn's own machines, on real data, with the same intercept.

A certificate says that ours is at most `tol` above theirs; that theirs is not far above ours either says that the
problem is the same. Values are computed here, from the definitions. With PEGASOS_FULL=1 in the environment all rows of
MNIST, 20 Newsgroups and Debian are taken, which takes the peers many minutes.
"""

import os
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import DATA, load_data, requires_data
from scipy.special import logsumexp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC as Liblinear
from sklearn.svm import LinearSVR as LiblinearSVR

from pegasos import LinearSVC, LinearSVR

pytestmark = requires_data

TOL = 1e-4
FULL = os.environ.get("PEGASOS_FULL") == "1"

#: Ours: a smaller gap than is asked for, so that there is room for the peer's own error.
OURS = {"tol": TOL / 5, "max_iter": 10**5, "random_state": 0}


def choose(y, count):
    """Numbers of so many rows at random, and of one of each class besides; of all where that is asked for."""
    if FULL:
        return np.arange(len(y))
    some = np.random.default_rng(0).permutation(len(y))[:count]
    return np.union1d(some, np.unique(y, return_index=True)[1])


@cache
def examples(name):
    """X, in double precision, and y. Of MNIST, 20 Newsgroups and Debian a few thousand rows, for the peers' sake."""
    if name == "rcv1":  # by itself: the loader also makes lists of topics, which takes half a minute
        file = np.load(DATA / "rcv1_subset.npz")
        X = sp.csr_matrix((file["data"], file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        return X.astype(np.float64), np.where(file["ccat"] > 0, 1, -1)
    data = load_data(name)
    if name == "housing":
        return scale(data["X"]), data["y"] / 1e5
    if name == "adult":
        return data["X"], data["y"]
    y = np.unique(data["y"], return_inverse=True)[1]
    rows = choose(y, 2000 if name == "mnist" else 3000)
    if name == "mnist":
        return data["X"][rows].astype(np.float64), y[rows]
    return TfidfVectorizer(sublinear_tf=True).fit_transform([data["X"][row] for row in rows]), y[rows]


def assert_parity(found, theirs):
    assert found.gap <= OURS["tol"]
    assert found.dual <= theirs * (1 + 1e-9)
    assert found.primal <= theirs * (1 + TOL)
    assert theirs <= found.primal * (1 + TOL)


def squared_norm(peer, intercept=True):
    return np.sum(peer.coef_**2) + (np.sum(np.square(peer.intercept_)) if intercept else 0)


@pytest.mark.parametrize("fit_intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(("loss", "power"), [("hinge", 1), ("squared_hinge", 2)])
@pytest.mark.parametrize(("name", "C"), [("adult", 0.1), ("rcv1", 1.0)])
def test_hinge(name, C, loss, power, fit_intercept):
    X, y = examples(name)
    options = {"C": C, "loss": loss, "fit_intercept": fit_intercept}
    found = LinearSVC(**options, **OURS).fit(X, y).certificate_
    peer = Liblinear(**options, dual=True, tol=1e-3, max_iter=10**5, random_state=0).fit(X, y)
    losses = np.maximum(0, 1 - y * peer.decision_function(X)) ** power
    assert_parity(found, squared_norm(peer) / 2 + C * losses.sum())


@pytest.mark.parametrize(("name", "C"), [("adult", 0.1), ("rcv1", 1.0)])
def test_log_with_a_free_intercept(name, C):
    X, y = examples(name)
    found = LinearSVC(C=C, loss="log_loss", intercept="free", **OURS).fit(X, y).certificate_
    peer = LogisticRegression(C=C, tol=1e-5, max_iter=10**4).fit(X, y)
    losses = np.logaddexp(0, -y * peer.decision_function(X))
    assert_parity(found, squared_norm(peer, intercept=False) / 2 + C * losses.sum())


@pytest.mark.parametrize(("loss", "power"), [("epsilon_insensitive", 1), ("squared_epsilon_insensitive", 2)])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_regression(loss, power, epsilon):
    X, y = examples("housing")
    options = {"C": 0.1, "loss": loss, "epsilon": epsilon}
    found = LinearSVR(**options, **OURS).fit(X, y).certificate_
    peer = LiblinearSVR(**options, dual=True, tol=1e-4, max_iter=10**5, random_state=0).fit(X, y)
    losses = np.maximum(0, np.abs(peer.predict(X) - y) - epsilon) ** power
    assert_parity(found, squared_norm(peer) / 2 + 0.1 * losses.sum())


@pytest.mark.parametrize(("name", "C"), [("mnist", 0.1), ("newsgroups", 1.0)])
def test_crammer_and_singer(name, C):
    X, y = examples(name)
    C = C / 30 if FULL and name == "mnist" else C  # as many rows more
    found = LinearSVC(multi_class="joint", C=C, fit_intercept=False, **OURS).fit(X, y).certificate_
    peer = Liblinear(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-4, max_iter=10**5, random_state=0
    ).fit(X, y)
    scores = peer.decision_function(X)
    losses = (scores + 1 - np.eye(len(peer.classes_))[y]).max(axis=1) - scores[np.arange(len(y)), y]
    assert_parity(found, squared_norm(peer) / 2 + C * losses.sum())


@pytest.mark.parametrize(("name", "C"), [("mnist", 0.1), ("debian", 1.0)])
def test_softmax(name, C):
    X, y = examples(name)
    C = C / 30 if FULL and name == "mnist" else C
    found = LinearSVC(multi_class="joint", loss="log_loss", C=C, fit_intercept=False, **OURS).fit(X, y).certificate_
    peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-5, max_iter=10**4).fit(X, y)
    scores = peer.decision_function(X)
    losses = logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]
    assert len(peer.classes_) == {"mnist": 10, "debian": 58}[name]
    assert_parity(found, squared_norm(peer) / 2 + C * losses.sum())
