"""Model files: what is saved comes back, and nothing else gets in."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.datasets import make_blobs, make_classification
from sklearn.svm import SVC as OtherSVC

from pegasos import LinearSVC, LinearSVCCV, LinearSVR
from pegasos.io import load_model, save_model
from pegasos.solvers import SGDM, SGDS, ConstantStep, Norma, Pegasos


@pytest.fixture
def data():
    return make_blobs(80, n_features=3, centers=2, random_state=1)


@pytest.fixture
def saved(data, tmp_path):
    path = tmp_path / "blobs.model"
    save_model(LinearSVC(C=1e-3, tol=0.1, random_state=0).fit(*data), path)
    return path


@pytest.mark.parametrize("labels", [[-1, 1], [0, 1], ["no", "yes"], [False, True], [2**40, 2**41]])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_round_trip(data, tmp_path, labels, fit_intercept):
    X, y = data
    y = np.array(labels)[y]
    model = LinearSVC(C=1e-3, tol=0.1, random_state=0, fit_intercept=fit_intercept, intercept_scaling=2.0).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.certificate_ == model.certificate_
    assert loaded.get_params() == model.get_params()
    assert loaded.n_iter_ == model.n_iter_
    for name, trace in model.history_.items():
        np.testing.assert_array_equal(loaded.history_[name], trace)


@pytest.mark.parametrize("labels", [[-1, 1, 3], ["no", "maybe", "yes"]])
@pytest.mark.parametrize("warm_start", [True, False])
def test_more_classes(tmp_path, labels, warm_start):
    X, y = make_blobs(90, n_features=3, centers=3, cluster_std=3.0, random_state=1)
    y = np.array(labels)[y]
    model = LinearSVC(C=0.1, tol=0, max_iter=9, random_state=0, solver="sdca", warm_start=warm_start).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate_ == model.certificate_
    assert len(loaded.certificate_.parts) == len(loaded.history_) == 3
    for history, before in zip(loaded.history_, model.history_, strict=True):
        np.testing.assert_array_equal(history["gap"], before["gap"])
    assert [start.t for start in loaded._last] == [start.t for start in model._last]
    assert (loaded._last[2].point is not None) == warm_start
    np.testing.assert_allclose(loaded.fit(X, y).coef_, model.fit(X, y).coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, header, metadata: header["certificate"]["parts"].pop(),
        lambda tensors, header, metadata: header["certificate"].update(parts=[1, 2, 3]),
        lambda tensors, header, metadata: header["certificate"]["parts"][1].update(gap="small"),
        lambda tensors, header, metadata: header.update(steps=3),
        lambda tensors, header, metadata: header["steps"].pop(),
        lambda tensors, header, metadata: header.update(steps=[1, 2, "3"]),
        lambda tensors, header, metadata: tensors.pop("history.1"),
        lambda tensors, header, metadata: tensors.update(coef=np.ones((1, 3))),
        lambda tensors, header, metadata: tensors.update(intercept=np.ones(1)),
        lambda tensors, header, metadata: tensors.update(classes=np.arange(2)),
        lambda tensors, header, metadata: tensors.update(dual_point=np.zeros(90, dtype=np.float32)),
        lambda tensors, header, metadata: header["parameters"].update(multi_class="joint"),
        lambda tensors, header, metadata: header["parameters"].update(cost=[[0, 1], [1, 0]]),
        lambda tensors, header, metadata: header.update(estimator="LinearSVR"),
    ],
)
def test_damage_to_more_classes_is_found(tmp_path, change):
    X, y = make_blobs(90, n_features=3, centers=3, random_state=1)
    save_model(LinearSVC(tol=0, max_iter=2, solver="sdca", warm_start=True).fit(X, y), tmp_path / "blobs.model")
    rewrite(tmp_path / "blobs.model", change)
    with pytest.raises(ValueError, match=r"blobs\.model: "):
        load_model(tmp_path / "blobs.model")


def test_files_without_parts_load(saved):
    """Those of version 0.1."""

    def forget(tensors, header, metadata):
        del header["certificate"]["parts"]
        for name in ("multi_class", "cost", "early_stopping", "validation_fraction", "n_iter_no_change"):
            del header["parameters"][name]

    before = load_model(saved)
    rewrite(saved, forget)
    assert load_model(saved).certificate_ == before.certificate_
    assert load_model(saved).get_params() == before.get_params()


@pytest.mark.parametrize("solver", [SGDS(check_factor=1.5), SGDM(check_factor=1.5), Norma(step_factor=0.5)])
def test_older_names_of_options_load(tmp_path, solver):
    X, y = make_blobs(30, random_state=1)
    save_model(LinearSVC(solver=solver, tol=0, max_iter=1).fit(X, y > 1), tmp_path / "m")
    older = {new: old for old, new in solver.older_names.items()}

    def rename(tensors, header, metadata):
        options = header["parameters"]["solver"]["options"]
        header["parameters"]["solver"]["options"] = {older.get(name, name): value for name, value in options.items()}

    rewrite(tmp_path / "m", rename)
    assert load_model(tmp_path / "m").solver.get_params() == solver.get_params()


@pytest.mark.parametrize("cost", [None, [[0, 1, 2], [1, 0, 1], [1, 3, 0]]])
def test_joint_classes(tmp_path, cost):
    X, y = make_blobs(90, n_features=3, centers=3, cluster_std=3.0, random_state=1)
    model = LinearSVC(multi_class="joint", cost=cost, C=0.1, tol=0.01, random_state=0, warm_start=True).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded._last[0].point, model._last[0].point)
    assert loaded.cost == cost


def test_regression(data, tmp_path):
    X, y = data
    model = LinearSVR(C=1e-3, epsilon=0.1, tol=0.01, random_state=0, warm_start=True).fit(X, y + X[:, 0])
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded) is LinearSVR
    assert (loaded.epsilon, loaded.coef_.shape) == (0.1, (3,))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.certificate_ == model.certificate_


def test_parameters_come_back(data, tmp_path):
    solver = ConstantStep(eta=0.05, batch_size=4)
    model = LinearSVC(alpha=0.1, tol=0, max_iter=3, class_weight={0: 2.0, 1: 0.5}, solver=solver, random_state=3)
    save_model(model.fit(*data), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded.solver, ConstantStep)
    assert loaded.solver.get_params() == solver.get_params()
    assert loaded.class_weight == {0: 2.0, 1: 0.5}
    assert loaded.alpha == 0.1


def test_feature_names(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    save_model(LinearSVC(C=1e-3, tol=0.1).fit(frame, y), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    loaded.predict(frame)


@pytest.mark.parametrize("solver", ["sdca", "interior-point", "ocas"])
def test_the_dual_point_comes_back(data, tmp_path, solver):
    X, y = data
    X = X + 3 * np.random.default_rng(0).normal(size=X.shape)
    options = {"C": 10.0, "tol": 1e-6, "max_iter": 10**5, "random_state": 0, "solver": solver}
    for warm_start in (False, True):
        model = LinearSVC(**options, warm_start=warm_start).fit(X, y)
        save_model(model, tmp_path / "m")
        assert ("dual_point" in load_file(tmp_path / "m")) == warm_start
    loaded = load_model(tmp_path / "m")
    np.testing.assert_allclose(loaded._last[0].point, model._last[0].point, atol=1e-7)
    assert loaded._last[0].t == model._last[0].t
    assert loaded.fit(X, y).certificate_.converged
    assert loaded.n_iter_ <= 2 < model.n_iter_


def test_a_loaded_model_continues_to_another_C_and_more_rows(tmp_path):
    X, y = make_classification(600, 10, flip_y=0.2, random_state=0)
    options = {"tol": 1e-3, "max_iter": 10**5, "solver": "sdca", "random_state": 0}
    save_model(LinearSVC(C=1.0, warm_start=True, **options).fit(X[:550], y[:550]), tmp_path / "m")
    loaded = load_model(tmp_path / "m").set_params(C=1.3)
    cold = LinearSVC(C=1.3, **options).fit(X, y)
    assert loaded.fit(X, y).certificate_.converged
    assert loaded.n_iter_ < cold.n_iter_
    assert loaded.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-3)


def test_scale_comes_back(data, tmp_path):
    X, y = data
    X = X * [1e-5, 1, 1e5]
    model = LinearSVC(tol=1e-4, scale=True, warm_start=True, random_state=0).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.scale_, model.scale_)
    assert loaded.certificate_.scaled
    assert str(loaded.certificate_) == str(model.certificate_)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.fit(X, y).n_iter_ == 1


def test_of_a_cross_validated_model_the_last_fit_is_saved(data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = LinearSVCCV(Cs=[1e-3, 1e-2], cv=3, random_state=0).fit(frame, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert (type(loaded), loaded.C) == (LinearSVC, model.C_)
    np.testing.assert_array_equal(loaded.decision_function(frame), model.decision_function(frame))


def test_warm_start_from_file(data, tmp_path):
    X, y = data
    model = LinearSVC(tol=0, max_iter=3, random_state=0, warm_start=True, solver=Pegasos(average=False)).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    loaded.fit(X, y)
    model.fit(X, y)
    # The dual point stays behind, but weights and step count come along, so that the same steps are made.
    np.testing.assert_allclose(loaded.coef_, model.coef_, rtol=1e-12)


def test_unfitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(LinearSVC(), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_strange_labels_are_refused(data, tmp_path):
    X, y = data
    model = LinearSVC(C=1e-3, tol=0.1).fit(X, y)
    model.classes_ = np.array([(0,), (1,)], dtype=object)
    with pytest.raises(ValueError, match="numbers or strings"):
        save_model(model, tmp_path / "m")


def test_labels_that_end_in_nul_are_refused(data, tmp_path):
    model = LinearSVC(C=1e-3, tol=0.1).fit(*data)
    model.classes_ = np.array(["a", "b\0"], dtype=object)
    with pytest.raises(ValueError, match="none that ends in a NUL character"):
        save_model(model, tmp_path / "m")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_no_models(tmp_path):
    os.mkfifo(tmp_path / "m")
    with pytest.raises(ValueError, match="m: a pipe or a device, and a model is read from a file"):
        load_model(tmp_path / "m")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none")


@pytest.mark.parametrize("keep", [0, 4, 8, 100, -1, -100])
def test_truncated(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"blobs\.model: .*truncated"):
        load_model(saved)


def test_foreign(tmp_path):
    path = tmp_path / "foreign"
    path.write_bytes(b"\x80\x04not a model at all" * 10)
    with pytest.raises(ValueError, match="foreign: not a pegasos model"):
        load_model(path)
    save_file({"w": np.ones(3)}, path)
    with pytest.raises(ValueError, match="foreign: a safetensors file, but not a pegasos model"):
        load_model(path)


def rewrite(path, change):
    """Change a saved model's tensors and header and write it back, without its checksum."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    tensors, header = load_file(path), json.loads(metadata["header"])
    del metadata["checksum"]
    change(tensors, header, metadata)
    if "raw" not in metadata:
        metadata["header"] = json.dumps(header)
    save_file(tensors, path, metadata=metadata)


def test_version(saved):
    rewrite(saved, lambda tensors, header, metadata: metadata.update(version="99"))
    with pytest.raises(ValueError, match="format '99', where this version of pegasos reads 1: update"):
        load_model(saved)


def set_tensor(name, value):
    return lambda tensors, header, metadata: tensors.update({name: value})


def set_header(name, value):
    return lambda tensors, header, metadata: header.update({name: value})


def set_parameter(name, value):
    return lambda tensors, header, metadata: header["parameters"].update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        set_tensor("coef", np.ones((2, 3))),
        set_tensor("coef", np.ones(3)),
        set_tensor("coef", np.ones((1, 3), dtype=np.float32)),
        set_tensor("coef", np.full((1, 3), np.nan)),
        set_tensor("intercept", np.ones(2)),
        set_tensor("history", np.ones((2, 3))),
        set_tensor("dual_point", np.ones(80)),
        set_tensor("dual_point", np.ones((80, 1), dtype=np.float32)),
        set_tensor("dual_point", np.full(80, np.nan, dtype=np.float32)),
        set_tensor("dual_point", np.full(80, 1.5, dtype=np.float32)),
        set_tensor("dual_point", np.full(80, -0.5, dtype=np.float32)),
        set_tensor("scale", np.ones(2)),
        set_tensor("scale", np.zeros(3)),
        set_tensor("scale", np.array([1, 1, np.inf])),
        lambda tensors, header, metadata: header["certificate"].update(scaled="yes"),
        set_tensor("classes", np.ones(3)),
        set_tensor("classes", np.ones(2)),
        lambda tensors, header, metadata: tensors.pop("coef"),
        lambda tensors, header, metadata: tensors.pop("classes"),
        lambda tensors, header, metadata: header.pop("certificate"),
        lambda tensors, header, metadata: metadata.update(raw="", header="[" * 100_000),
        lambda tensors, header, metadata: metadata.update(raw="", header="[1]"),
        lambda tensors, header, metadata: metadata.update(raw="", header="no json"),
        set_header("estimator", "Other"),
        set_header("steps", -1),
        set_header("steps", "1"),
        set_header("feature_names", ["a"]),
        set_header("feature_names", [1, 2, 3]),
        set_header("certificate", {}),
        set_header("certificate", [1]),
        set_header("parameters", {"penalty": "l1"}),
        set_header("parameters", [1]),
        set_parameter("C", -1),
        set_parameter("C", "1"),
        set_parameter("scale", "minmax"),
        set_parameter("solver", {"name": "os.system", "options": {}}),
        set_parameter("solver", {"name": "pegasos", "options": {"batch_size": -1}}),
        set_parameter("solver", {"name": "pegasos", "options": {"other": 1}}),
        set_parameter("class_weight", [1, 2]),
    ],
)
def test_damage_is_found(saved, change):
    rewrite(saved, change)
    with pytest.raises(ValueError, match=r"blobs\.model: "):
        load_model(saved)


def test_any_change_is_found(saved):
    """Of a byte, wherever it is; spaces after the header of safetensors do not count."""
    data = saved.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    padding = range(8 + len(data[8:end].rstrip()), end)
    for place in sorted({*range(len(data))} - {*padding}):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        saved.write_bytes(changed)
        with pytest.raises(ValueError, match=r"blobs\.model: "):
            load_model(saved)


def test_files_without_a_checksum_load(saved, data):
    before = load_model(saved)
    rewrite(saved, lambda tensors, header, metadata: None)
    np.testing.assert_array_equal(load_model(saved).coef_, before.coef_)
    rewrite_with(saved, checksum="00000000")
    with pytest.raises(ValueError, match=r"blobs\.model: a damaged pegasos model: its checksum"):
        load_model(saved)
    rewrite_with(saved, other="")
    with pytest.raises(ValueError, match=r"blobs\.model: a damaged pegasos model: its checksum"):
        load_model(saved)


def rewrite_with(path, **more):
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    save_file(load_file(path), path, metadata={**metadata, **more})


@pytest.mark.parametrize("length", range(8))
def test_short_tables_of_streams(data, tmp_path, length):
    model = LinearSVC(alpha=0.01, solver="pegasos").partial_fit(*data, classes=[0, 1])
    path = tmp_path / "stream.model"
    save_model(model, path)
    rewrite(path, lambda tensors, *_: tensors.update({"stream.0.numbers": tensors["stream.0.numbers"][:length]}))
    with pytest.raises(ValueError, match=r"stream\.model: .*stream"):
        load_model(path)


def test_full_disk_leaves_the_old_file(saved, data, monkeypatch):
    before = saved.read_bytes()
    import pegasos.io.atomic as atomic

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        save_model(LinearSVC(C=1e-3, tol=0.5).fit(*data), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_numpy_numbers_in_solver_options(data, tmp_path):
    save_model(LinearSVC(C=1e-3, tol=0.1, solver=Pegasos(batch_size=np.int64(2))).fit(*data), tmp_path / "m")
    assert load_model(tmp_path / "m").solver.batch_size == 2


def test_only_a_model_is_replaced(tmp_path):
    model = LinearSVC(random_state=0).fit([[0.0], [1.0]], [0, 1])
    path, other = tmp_path / "m", tmp_path / "data.csv"
    save_model(model, path)
    save_model(model, path)
    other.write_text("a,b\n1,2\n")
    with pytest.raises(FileExistsError, match=r"data\.csv exists and is no pegasos model; name another file"):
        save_model(model, other)
    assert other.read_text() == "a,b\n1,2\n"
    save_model(model, other, overwrite=True)
    load_model(other)


def test_a_model_of_another_package_is_told_by_its_name(tmp_path):
    with pytest.raises(TypeError, match="a SVC of sklearn is no model of pegasos; save_model writes its "):
        save_model(OtherSVC(), tmp_path / "m")
