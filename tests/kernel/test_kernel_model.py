"""Model files of kernel machines: what is saved comes back, and nothing else gets in."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.datasets import load_iris, make_moons

from pegasos import SVC, SVR
from pegasos.io import load_model, save_model
from pegasos.solvers import SMO

X, Y = make_moons(120, noise=0.3, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[SPECIES]


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (SVC(C=2.0, solver=SMO(block=64), max_iter=50), X, Y),
        (SVC(), IRIS, NAMES),
        (SVC(multi_class="ovr", kernel="poly", degree=2, coef0=1.0), IRIS, NAMES),
        (SVC(), sp.csr_matrix(IRIS), SPECIES),
        (SVC(gamma=1.0), X + 100, Y),  # centred inside
        (SVC(kernel="precomputed"), X @ X.T, Y),
        (SVC(class_weight={0: 2.0, 1: 0.5}), X.astype(np.float32), Y),
        (SVR(epsilon=0.2, gamma=0.5), X, X[:, 0] ** 2),
        (SVR(loss="quantile", quantile=0.9, gamma=0.5), X, X[:, 0] ** 2),
        (SVR(kernel="linear", fit_intercept=False), sp.csr_array(X), X[:, 0]),
    ],
    ids=str,
)
def test_round_trip(tmp_path, model, X, y):
    model.fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    if isinstance(model, SVC):
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
        assert loaded.classes_.dtype == model.classes_.dtype
    assert repr(loaded) == repr(model)
    assert loaded.certificate_ == model.certificate_
    assert np.array_equal(loaded.n_iter_, model.n_iter_)
    assert loaded.shape_fit_ == model.shape_fit_
    assert loaded.n_kernel_evaluations_ == model.n_kernel_evaluations_
    np.testing.assert_array_equal(loaded.n_support_, model.n_support_)
    assert type(loaded.history_) is type(model.history_)


def test_continues(tmp_path):
    model = SVC(gamma=0.5, warm_start=True, tol=1e-4, solver="smo", max_iter=50).fit(X, Y)
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").fit(X, Y).history_["gap"][0] <= 2e-4


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_bound(tmp_path):
    model = SVC(kernel="sigmoid", gamma=1.0, max_iter=50).fit(X, Y)
    save_model(model, tmp_path / "m")
    found = load_model(tmp_path / "m").certificate_
    assert (found.dual, found.gap, found.reason) == (-np.inf, np.inf, model.certificate_.reason)


def test_functions_are_refused(tmp_path):
    model = SVC(kernel=lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(ValueError, match="kernel is a function"):
        save_model(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, header: header["kernel"].update(name="laplace"),
        lambda tensors, header: header["kernel"].update(gamma=-1.0),
        lambda tensors, header: header["kernel"].update(degree="3"),
        lambda tensors, header: header["kernel"].update(precision="float16"),
        lambda tensors, header: header["kernel"].update(name="precomputed"),
        lambda tensors, header: header.update(shape_fit=[150]),
        lambda tensors, header: header.update(shape_fit=[10, 4]),
        lambda tensors, header: header.update(n_kernel_evaluations=-1),
        lambda tensors, header: header.update(estimator="SVR"),
        lambda tensors, header: header["parameters"].update(multi_class="ovr"),
        lambda tensors, header: header["parameters"].update(solver={"name": "sdca", "options": {}}),
        lambda tensors, header: tensors["support"].__setitem__(0, 150),
        lambda tensors, header: tensors["support"].__setitem__(0, tensors["support"][1]),
        lambda tensors, header: tensors["n_support"].__setitem__(0, 1),
        lambda tensors, header: tensors.update(dual_coef=tensors["dual_coef"][:1]),
        lambda tensors, header: tensors["dual_coef"].__setitem__((0, 0), np.nan),
        lambda tensors, header: tensors.update(intercept=np.ones(2)),
        lambda tensors, header: tensors.pop("history.2"),
        lambda tensors, header: tensors["support_vectors.columns"].__setitem__(0, 4),
        lambda tensors, header: tensors["support_vectors.columns"].__setitem__(0, -1),
        lambda tensors, header: tensors["support_vectors.starts"].__setitem__(1, 10**9),
        lambda tensors, header: tensors["support_vectors.values"].__setitem__(0, np.inf),
        lambda tensors, header: tensors.update(shift=np.ones(3)),
    ],
)
def test_damaged_files(tmp_path, change):
    path = tmp_path / "m"
    save_model(SVC().fit(sp.csr_matrix(IRIS), SPECIES), path)
    load_model(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    tensors, header = load_file(path), json.loads(metadata["header"])
    del metadata["checksum"]
    change(tensors, header)
    save_file(tensors, path, metadata={**metadata, "header": json.dumps(header)})
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)
