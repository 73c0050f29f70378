"""Scripts written for scikit-learn's estimators: what they pass, and what they look for in a model."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
import sklearn.svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.pipeline import make_pipeline

import pegasos
from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR, TextHasher
from pegasos.io import hash_text, load_model, open_dataset, read_svmlight, save_model, write_dataset, write_svmlight

X, Y = make_classification(200, 6, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
T = X[:, 0] + X[:, 1] ** 2


ACCEPTED = [
    (LinearSVC, {"penalty": "l2"}),
    *((model, {"dual": value}) for model in (LinearSVC, LinearSVR) for value in (True, np.False_, "auto")),
    *((model, {"shrinking": value}) for model in (SVC, SVR) for value in (True, False)),
    *((SVC, {"probability": value}) for value in (False, "deprecated")),
    *((model, {"max_iter": -1, "verbose": False}) for model in (LinearSVC, LinearSVR, SVC, SVR)),
]


@pytest.mark.parametrize(("model", "given"), ACCEPTED, ids=str)
def test_parameters_that_change_nothing(model, given):
    y = T if model in (LinearSVR, SVR) else Y
    plain = model(random_state=0).fit(X, y)
    assert clone(model(**given)).get_params()[next(iter(given))] == next(iter(given.values()))
    for other in (model(random_state=0, **given), model(random_state=0).set_params(**given)):
        other.fit(X, y)
        np.testing.assert_array_equal(other.intercept_, plain.intercept_)
        assert other.certificate_.primal == plain.certificate_.primal


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["SVC", "SVR", "LinearSVC", "LinearSVR"])
def test_all_parameters_of_scikit_learn(name):
    given = getattr(sklearn.svm, name)().get_params()
    getattr(pegasos, name)(**given).fit(X, T if name.endswith("R") else Y)


def test_another_penalty():
    advice = r"penalty='l1': must be 'l2'"
    with pytest.raises(ValueError, match=advice):
        LinearSVC(penalty="l1").fit(X, Y)
    with pytest.raises(ValueError, match=advice):
        LinearSVC(penalty="l1", alpha=1e-3).partial_fit(X, Y, classes=[0, 1])


def test_probabilities():
    with pytest.warns(FutureWarning, match=r"probability=True has no effect: .*CalibratedClassifierCV\(SVC"):
        model = SVC(probability=True).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"has no predict_proba.*CalibratedClassifierCV\(sklearn.frozen"):
        model.predict_proba(X)


def test_crammer_and_singer():
    ours = LinearSVC(multi_class="crammer_singer", C=0.1, random_state=0).fit(IRIS, SPECIES)
    joint = LinearSVC(multi_class="joint", C=0.1, random_state=0).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(ours.coef_, joint.coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hard_margin():
    apart = np.r_[X[:, :2] * 0.1, X[:, :2] * 0.1 + 5]
    y = np.repeat([0, 1], 200)
    hard, soft = SVC(kernel="linear", C=np.inf).fit(apart, y), SVC(kernel="linear", C=1e10).fit(apart, y)
    np.testing.assert_array_equal(hard.coef_, soft.coef_)
    assert np.abs(hard.decision_function(apart)).min() == pytest.approx(1, rel=1e-3)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_status():
    assert LinearSVC().fit(X, Y).fit_status_ == SVC().fit(X, Y).fit_status_ == 0
    assert SVC(max_iter=1, tol=1e-9, C=100).fit(X, Y).fit_status_ == 1
    assert not hasattr(SVC(), "fit_status_")


@pytest.mark.parametrize("weight", [None, {0: 2.0, 2: 0.5}, "balanced"])
def test_weights_of_classes(tmp_path, weight):
    few = np.r_[:100, 100:110]
    ours = SVC(class_weight=weight).fit(IRIS[few], SPECIES[few])
    peer = sklearn.svm.SVC(class_weight=weight).fit(IRIS[few], SPECIES[few])
    np.testing.assert_allclose(ours.class_weight_, peer.class_weight_)
    save_model(ours, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").class_weight_, ours.class_weight_)


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
def test_weights_are_sparse_where_the_examples_are(container):
    dense, sparse = SVC(kernel="linear").fit(IRIS, SPECIES), SVC(kernel="linear").fit(container(IRIS), SPECIES)
    for name in ("dual_coef_", "coef_"):
        assert isinstance(getattr(sparse, name), sp.csr_matrix)
        np.testing.assert_allclose(getattr(sparse, name).toarray(), getattr(dense, name), atol=1e-6)
    for model in (dense, sparse):
        with pytest.raises((RuntimeError, ValueError)):
            model.coef_[0, 0] = 1.0
    assert not sp.issparse(SVC(kernel=lambda A, B: A @ B.T).fit(container(IRIS), SPECIES).dual_coef_)
    assert RFE(SVC(kernel="linear"), n_features_to_select=2).fit(container(IRIS), SPECIES).support_.sum() == 2


@pytest.mark.parametrize("model", [LinearSVC(warm_start=True), LinearSVC(multi_class="joint"), LinearSVR()], ids=str)
def test_sparsify(tmp_path, model):
    y = T if isinstance(model, LinearSVR) else SPECIES
    data = X if isinstance(model, LinearSVR) else IRIS
    model.set_params(random_state=0)
    before, plain = clone(model).fit(data, y), clone(model).fit(data, y)
    assert before.sparsify() is before
    assert isinstance(before.coef_, sp.csr_matrix)
    for rows in (data, sp.csr_matrix(data)):
        np.testing.assert_allclose(before.predict(rows), plain.predict(rows))
    save_model(before, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").coef_, plain.coef_)
    if model.warm_start:
        assert before.fit(data, y).n_iter_ == plain.fit(data, y).n_iter_
        before.sparsify()
    assert before.densify().coef_.shape == plain.coef_.shape
    assert SelectFromModel(LinearSVC(), prefit=False).fit(X, Y).transform(X).shape[1] < 6


@pytest.mark.parametrize("store", [list, np.array, lambda words: np.array(words, dtype=object)])
@pytest.mark.parametrize("model", [SVC, SVR])
def test_kernels_of_texts(model, store):
    words = ["a a", "a", "b", "b b", "a b", "b a a", "b b a"]
    counts = np.array([[word.count("a"), word.count("b")] for word in words], dtype=float)
    y = np.array([1, 1, 2, 2, 1, 1, 2])

    def kernel(A, B):
        assert isinstance(A[0], str)
        return np.array([[a.count("a") * b.count("a") + a.count("b") * b.count("b") for b in B] for a in A])

    texts = model(kernel=kernel).fit(store(words), y)
    numbers = model(kernel="linear").fit(counts, y)
    np.testing.assert_allclose(texts.predict(store(words)), numbers.predict(counts), rtol=1e-6)
    assert texts.support_vectors_.tolist() == [words[row] for row in texts.support_]
    with pytest.raises(ValueError, match="scale=True divides columns of numbers"):
        model(kernel=kernel, scale=True).fit(words, y)
    with pytest.raises(ValueError, match="could not convert string to float: 'a a'; encode"):
        model().fit(words, y)


def test_methods_that_are_there_for_some_parameters():
    for model in (LinearSVC, LinearSVCCV):
        assert not hasattr(model(), "predict_proba")
        assert hasattr(model(loss="log_loss"), "predict_log_proba")
        with pytest.raises(AttributeError, match="use loss='log_loss', or wrap it"):
            model.predict_proba(model(), X)
    for model in (LinearSVC, LinearSVR):
        assert not hasattr(model(), "partial_fit")
        assert hasattr(model(alpha=1e-3), "partial_fit")
        with pytest.raises(AttributeError, match="pass alpha = 1"):
            model().partial_fit(X, Y)


def test_routing_of_weights_to_streams():
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearSVC(alpha=1e-3).set_partial_fit_request(sample_weight=True, classes=False)
        asked = model.get_metadata_routing().partial_fit.requests
        assert LinearSVR(alpha=1e-3).set_partial_fit_request(sample_weight=True)
    assert asked == {"sample_weight": True, "classes": False}


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="scikit-learn 1.9 has sparse_interface")
@pytest.mark.parametrize(("interface", "kind"), [("sparray", sp.csr_array), ("spmatrix", sp.csr_matrix)])
def test_sparse_interface(tmp_path, interface, kind):
    write_svmlight(sp.csr_matrix(X), Y, tmp_path / "d.svm")
    write_dataset(tmp_path / "d", sp.csr_matrix(X), Y)
    model = SVC(kernel="linear").fit(sp.csr_matrix(X), Y)
    save_model(model, tmp_path / "m")
    with sklearn.config_context(sparse_interface=interface):
        found = [
            read_svmlight(tmp_path / "d.svm")[0],
            hash_text(["a b", "c"]),
            TextHasher(8).fit_transform(["a b", "c"]),
            open_dataset(tmp_path / "d").X,
            load_model(tmp_path / "m").support_vectors_,
            model.dual_coef_,
            model.coef_,
            LinearSVC().fit(X, Y).sparsify().coef_,
        ]
        assert LinearSVC().fit(found[0], Y).predict(found[3]).shape == (200,)
    assert [type(matrix) for matrix in found] == [kind] * len(found)


def test_models_inside_others(tmp_path):
    texts, labels = ["good film", "bad film", "a good book", "a bad book"] * 5, [1, 0, 1, 0] * 5
    for model in (
        make_pipeline(HashingVectorizer(), LinearSVC()),
        CalibratedClassifierCV(make_pipeline(TfidfVectorizer(), LinearSVC()), cv=2),
    ):
        model.fit(texts, labels)
        with pytest.raises(TypeError, match=r"whole with joblib.dump\(model, path\)"):
            save_model(model, tmp_path / "m")
        joblib.dump(model, tmp_path / "whole")
        np.testing.assert_array_equal(joblib.load(tmp_path / "whole").predict(texts), model.predict(texts))
