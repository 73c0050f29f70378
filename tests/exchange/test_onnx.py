"""Models in ONNX: onnxruntime predicts what the estimators do."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR

pytest.importorskip("onnx", reason="models in ONNX need onnx")
runtime = pytest.importorskip("onnxruntime", reason="to run ONNX models")

X, Y = load_iris(return_X_y=True)
WORDS = np.array(["setosa", "versicolor", "the third, é"])


def run(model, X):
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(X, dtype=np.float32)}), strict=True))


def check(model, X):
    """All outputs against the estimator, given the same numbers of single precision."""
    X = np.asarray(X, dtype=np.float32)
    found = run(model.to_onnx(), X)
    if "value" in found:
        np.testing.assert_allclose(found["value"], model.predict(X), rtol=1e-5, atol=1e-5)
        return found
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["scores"], model.decision_function(X), rtol=1e-5, atol=1e-5)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
    else:
        assert "probabilities" not in found
    return found


CLASSIFIERS = {
    "linear": LinearSVC(),
    "squared": LinearSVC(loss="squared_hinge", intercept="free"),
    "joint": LinearSVC(multi_class="joint"),
    "logistic": LinearSVC(loss="log_loss"),
    "softmax": LinearSVC(loss="log_loss", multi_class="joint"),
    "rbf": SVC(),
    "rbf by pair": SVC(decision_function_shape="ovo"),
    "ties": SVC(break_ties=True, gamma=0.01, C=0.1),
    "against the rest": SVC(multi_class="ovr", kernel="poly", degree=2, coef0=1.0),
    "sigmoid": SVC(kernel="sigmoid", gamma=0.01),
    "linear kernel": SVC(kernel="linear"),
    "scaled": SVC(scale=True),
    "scaled linear kernel": SVC(kernel="linear", scale=True),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the sigmoid kernel
@pytest.mark.filterwarnings("ignore:Column")  # which are far from zero
@pytest.mark.parametrize("y", [Y, WORDS[Y], Y == 1, Y.astype(float)], ids=["numbers", "strings", "booleans", "floats"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, y):
    check(CLASSIFIERS[name].fit(X, y), X)


@pytest.mark.parametrize(
    "model", [LinearSVR(C=10), SVR(C=100), SVR(kernel="poly", C=10), SVR(kernel="linear"), SVR(C=100, scale=True)]
)
def test_regression(model):
    X, y = load_diabetes(return_X_y=True)
    check(model.fit(10 * X, (y - 150) / 50), 10 * X)


def test_far_from_zero():
    """Distances between points that are all far from zero keep their digits."""
    far = (X + 1000).astype(np.float32)
    check(SVC(gamma=1.0, C=10).fit(far, Y), far)


def test_sparse_and_kernel_matrices():
    check(SVC(C=10).fit(sp.csr_matrix(X), Y), X)
    K = rbf_kernel(X).astype(np.float32)
    check(SVC(kernel="precomputed").fit(K, Y), K[:7])
    sparse = LinearSVC().fit(X, Y).sparsify()
    check(sparse, X)


def test_imported_model():
    check(pegasos.from_sklearn(SVC(C=3).fit(X, Y).to_sklearn()), X)


def test_search_and_refusals():
    X, y = load_breast_cancer(return_X_y=True)
    search = LinearSVCCV(Cs=[0.1, 1], cv=2).fit(StandardScaler().fit_transform(X), y)
    Z = StandardScaler().fit_transform(X).astype(np.float32)
    np.testing.assert_array_equal(run(pegasos.to_onnx(search), Z)["label"], search.predict(Z))
    called = SVC(kernel=lambda a, b: a @ b.T, tol=0.1).fit(Z[:50], y[:50])
    with pytest.raises(ValueError, match="function cannot be written in ONNX"):
        called.to_onnx()


@pytest.mark.parametrize("y", [Y, WORDS[Y], Y == 1], ids=["numbers", "strings", "two"])
@pytest.mark.parametrize("last", [LinearSVC(), LinearSVC(loss="log_loss"), SVC(C=5)], ids=["linear", "logistic", "rbf"])
def test_pipelines(last, y):
    """skl2onnx converts pipelines with our estimators at their end."""
    pytest.importorskip("skl2onnx", reason="pipelines in ONNX need skl2onnx")
    model = make_pipeline(StandardScaler(), last).fit(X, y)
    made = pegasos.to_onnx(model)
    label, second = run(made, X).values()
    assert made.graph.output[1].name == ("probabilities" if hasattr(model, "predict_proba") else "scores")
    inputs = X.astype(np.float32)
    np.testing.assert_array_equal(label, model.predict(inputs))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(second, model.predict_proba(inputs), atol=1e-5)
    else:
        decided = model.decision_function(inputs)
        decided = np.column_stack([-decided, decided]) if decided.ndim == 1 else decided
        np.testing.assert_allclose(second, decided, rtol=1e-4, atol=1e-4)  # the scaler rounds to single precision


def test_pipeline_of_regression():
    pytest.importorskip("skl2onnx", reason="pipelines in ONNX need skl2onnx")
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVR(C=10)).fit(X, y)
    (value,) = run(pegasos.to_onnx(model), X).values()
    np.testing.assert_allclose(value.ravel(), model.predict(X.astype(np.float32)), rtol=1e-4, atol=1e-4)
