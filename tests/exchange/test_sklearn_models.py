"""Fitted models to scikit-learn and back: the same predictions, and clear errors where there is no such model."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier

import pegasos
from pegasos import SVC, SVR, LinearSVC, LinearSVR
from pegasos.io import load_model, save_model

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["a", "bb", "ccc"])
TARGETS = load_diabetes(return_X_y=True)


def assert_same(one, other, X, atol=1e-10):
    """Whatever both predict."""
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for name in ("decision_function", "predict_proba"):
        if hasattr(one, name):
            np.testing.assert_allclose(getattr(one, name)(X), getattr(other, name)(X), rtol=1e-9, atol=atol)


OURS = {
    "linear": (LinearSVC(C=0.5, random_state=0), svm.LinearSVC),
    "squared": (LinearSVC(loss="squared_hinge", intercept_scaling=2), svm.LinearSVC),
    "free": (LinearSVC(intercept="free"), svm.LinearSVC),
    "without": (LinearSVC(fit_intercept=False), svm.LinearSVC),
    "scaled": (LinearSVC(scale=True), svm.LinearSVC),
    "joint": (LinearSVC(multi_class="joint"), svm.LinearSVC),
    "alpha": (LinearSVC(alpha=0.01), svm.LinearSVC),
    "softmax": (LinearSVC(loss="log_loss", multi_class="joint"), LogisticRegression),
    "rbf": (SVC(C=5, class_weight="balanced"), svm.SVC),
    "poly": (SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.5), svm.SVC),
    "linear kernel": (SVC(kernel="linear", C=10), svm.SVC),
    "by pair": (SVC(decision_function_shape="ovo"), svm.SVC),
    "ties": (SVC(break_ties=True, gamma=0.01, C=0.1), svm.SVC),
}


@pytest.mark.filterwarnings("ignore:Column")
@pytest.mark.parametrize("y", [Y, WORDS[Y], Y == 1, WORDS[(Y == 2) * 1]], ids=["3", "3 words", "2", "2 words"])
@pytest.mark.parametrize("name", OURS)
def test_there_and_back(name, y, tmp_path):
    ours, kind = OURS[name]
    ours = clone(ours).fit(X, y)
    theirs = ours.to_sklearn()
    assert type(theirs) is kind
    assert_same(ours, theirs, X)
    back = pegasos.from_sklearn(theirs)
    assert type(back) is type(ours)
    assert_same(ours, back, X)
    assert back.certificate_.reason == "imported"
    assert back.certificate_.gap == np.inf
    assert "no bound is known" in str(back.certificate_)
    save_model(back, tmp_path / "model")
    assert_same(back, load_model(tmp_path / "model"), X)


@pytest.mark.parametrize("y", [Y, Y == 1], ids=["3", "2"])
def test_logistic_against_the_rest(y):
    """More than two classes, each against the rest, are what scikit-learn's OneVsRestClassifier holds."""
    ours = LinearSVC(loss="log_loss", C=0.3).fit(X, y)
    theirs = ours.to_sklearn()
    assert isinstance(theirs, LogisticRegression if y.max() == 1 else OneVsRestClassifier)
    assert_same(ours, theirs, X)
    assert_same(ours, pegasos.from_sklearn(theirs), X)
    free = LinearSVC(loss="log_loss", intercept="free").fit(X, Y == 1)
    assert free.to_sklearn().solver == "lbfgs"
    assert pegasos.from_sklearn(free.to_sklearn()).intercept == "free"


@pytest.mark.parametrize(
    "ours",
    [LinearSVR(C=10), LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1), SVR(C=10), SVR(kernel="linear")],
)
def test_regression(ours):
    X, y = TARGETS
    ours.fit(X, y / 100)
    theirs = ours.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    np.testing.assert_allclose(theirs.predict(X), ours.predict(X), rtol=1e-9)
    back = pegasos.from_sklearn(theirs)
    assert type(back) is type(ours)
    assert back.epsilon == (ours.epsilon or 0.0)
    np.testing.assert_allclose(back.predict(X), ours.predict(X), rtol=1e-9)


def test_sparse_matrices_and_kernel_matrices():
    sparse = sp.csr_matrix(np.where(X > 2, X, 0))
    ours = SVC(C=5).fit(sparse, Y)
    theirs = ours.to_sklearn()
    assert_same(ours, theirs, sparse)
    assert_same(theirs, pegasos.from_sklearn(theirs), sparse)
    assert_same(svm.SVC().fit(sparse, Y), pegasos.from_sklearn(svm.SVC().fit(sparse, Y)), sparse)
    K = rbf_kernel(X)
    ours = SVC(kernel="precomputed").fit(K, Y)
    assert_same(ours, ours.to_sklearn(), K[:9])
    assert_same(ours, pegasos.from_sklearn(ours.to_sklearn()), K[:9])
    regression = SVR(kernel="precomputed").fit(K, X[:, 0])
    np.testing.assert_allclose(regression.to_sklearn().predict(K), regression.predict(K))
    weights = svm.LinearSVC().fit(X, Y).sparsify()
    assert_same(weights, pegasos.from_sklearn(weights), X)


THEIRS = [
    svm.LinearSVC(C=0.1),
    svm.LinearSVC(multi_class="crammer_singer"),
    svm.LinearSVC(fit_intercept=False, loss="hinge"),
    LogisticRegression(C=2.0, max_iter=1000),
    LogisticRegression(fit_intercept=False, max_iter=1000),
    svm.SVC(kernel="sigmoid", gamma=0.01),
    svm.SVC(kernel="rbf", C=100, class_weight={0: 2, 1: 1, 2: 3}),
    svm.SVC(kernel="poly"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("theirs", THEIRS)
def test_from_fits_of_scikit_learn(theirs, two):
    y = Y % 2 if two else Y
    theirs = clone(theirs).fit(X, y)
    ours = pegasos.from_sklearn(theirs)
    assert_same(theirs, ours, X)
    assert ours.C == theirs.C
    ours.fit(X, y)  # it is an estimator like any other
    assert ours.certificate_.reason != "imported"


def test_names_of_columns(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    for estimator in (LinearSVC(), SVC()):
        ours = estimator.fit(frame, Y)
        theirs = ours.to_sklearn()
        assert theirs.feature_names_in_.tolist() == list("abcd")
        assert_same(ours, theirs, frame)
        assert pegasos.from_sklearn(theirs).feature_names_in_.tolist() == list("abcd")


@pytest.mark.filterwarnings("ignore:Column")
def test_no_such_model_there():
    with pytest.raises(ValueError, match="huber"):
        LinearSVR(loss="huber").fit(X, X[:, 0]).to_sklearn()
    with pytest.raises(ValueError, match="quantile"):
        SVR(loss="quantile").fit(X, X[:, 0]).to_sklearn()
    with pytest.raises(ValueError, match="multi_class='ovr'"):
        SVC(multi_class="ovr").fit(X, Y).to_sklearn()
    with pytest.raises(ValueError, match="scale=True"):
        SVC(scale=True).fit(X, Y).to_sklearn()
    with pytest.raises(ValueError, match="cost"):
        LinearSVC(multi_class="joint", cost=1 - np.eye(3)).fit(X, Y).to_sklearn()
    with pytest.raises(ValueError, match="function"):
        SVC(kernel=lambda a, b: a @ b.T).fit(X, Y).to_sklearn()
    with pytest.raises(ValueError, match="not fitted"):
        LinearSVC().to_sklearn()


@pytest.mark.filterwarnings("ignore:The `probability`:FutureWarning")
def test_no_such_model_here():
    with pytest.raises(TypeError, match="RidgeClassifier has no counterpart"):
        pegasos.from_sklearn(RidgeClassifier().fit(X, Y))
    with pytest.raises(TypeError, match="NuSVC"):
        pegasos.from_sklearn(svm.NuSVC(nu=0.3).fit(X, Y))
    with pytest.raises(ValueError, match="function"):
        pegasos.from_sklearn(svm.SVC(kernel=lambda a, b: a @ b.T).fit(X, Y))
    with pytest.raises(ValueError, match="probability=True"):
        pegasos.from_sklearn(svm.SVC(probability=True).fit(X, Y))
    with pytest.raises(ValueError, match="not fitted"):
        pegasos.from_sklearn(svm.SVC())
    broken = svm.LinearSVC().fit(X, Y)
    broken.coef_[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        pegasos.from_sklearn(broken)


def test_what_another_fit_would_change_is_told():
    sparse = svm.LinearSVC(penalty="l1", dual=False, max_iter=10**5).fit(X, Y)
    with pytest.warns(UserWarning, match="penalty='l1'"):
        assert_same(sparse, pegasos.from_sklearn(sparse), X)
    weighted = svm.LinearSVC(class_weight="balanced").fit(X, Y)
    with pytest.warns(UserWarning, match="class_weight is left out"):
        assert pegasos.from_sklearn(weighted).class_weight is None


def test_streams():
    """Weights of `partial_fit` are as good as others."""
    ours = LinearSVC(alpha=0.01, random_state=0).partial_fit(X, Y, classes=[0, 1, 2])
    assert_same(ours, ours.to_sklearn(), X)
