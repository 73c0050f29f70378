"""A fit changes an estimator at its end, at once, or not at all."""

import copy
import pickle
from functools import partial

import fit_helpers
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base import progress
from pegasos.io import open_dataset, write_dataset


class Stop(BaseException):
    """As Ctrl-C, at a moment of the test's choice."""


@pytest.fixture
def stopped(monkeypatch):
    """Raise at the first check of a fit, whatever hears of it."""

    def stop(*_):
        raise Stop

    def arm():
        monkeypatch.setattr(progress.Progress, "checked", stop)

    return arm


vectors = partial(fit_helpers.vectors, n=120, d=4)
sequences = partial(fit_helpers.sequences, 20)


CASES = {
    "linear": (LinearSVC(tol=0, max_iter=3), vectors()),
    "three classes": (LinearSVC(tol=0, max_iter=3), vectors(3)),
    "joint": (LinearSVC(tol=0, max_iter=3, multi_class="joint"), vectors(3)),
    "interior point": (LinearSVC(tol=0, max_iter=3, solver="interior-point"), vectors()),
    "ocas": (LinearSVC(tol=0, max_iter=3, solver="ocas"), vectors()),
    "newton": (LinearSVC(tol=0, max_iter=3, solver="newton", loss="log_loss"), vectors()),
    "regression": (LinearSVR(tol=0, max_iter=3, intercept="free"), vectors()),
    "cross-validation": (LinearSVCCV(Cs=3, cv=2, tol=0, max_iter=3), vectors()),
    "kernel": (SVC(tol=0, max_iter=3), vectors()),
    "pairs": (SVC(tol=0, max_iter=3, n_jobs=2), vectors(3)),
    "kernel regression": (SVR(tol=0, max_iter=3), vectors()),
    "sequences": (SequenceSVC(tol=0, max_iter=3), sequences()),
    "feature map": (FeatureMapSVC(lambda x, k: x * (k + 1.0), tol=0, max_iter=3), vectors()),
}


def snapshot(model):
    """All it holds, as it was."""
    return {name: (value, copy.deepcopy(value)) for name, value in vars(model).items()}


def assert_unchanged(model, before):
    assert vars(model).keys() == before.keys()
    for name, (value, content) in before.items():
        assert getattr(model, name) is value
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, content)


@pytest.mark.parametrize("case", CASES)
def test_a_first_fit_that_ends_early_leaves_nothing(case, stopped):
    model, data = CASES[case]
    model = clone(model)
    before = snapshot(model)
    stopped()
    with pytest.raises(Stop):
        model.fit(*data)
    assert_unchanged(model, before)
    with pytest.raises(NotFittedError):
        model.predict(data[0])


@pytest.mark.parametrize("case", CASES)
def test_a_later_fit_that_ends_early_leaves_the_old_model(case, stopped):
    model, (X, y) = CASES[case]
    model = clone(model).fit(X, y)
    before, predicted = snapshot(model), model.predict(X)
    stopped()
    fewer = X if isinstance(X, list) else X[:, :3]  # which validation sees first
    with pytest.raises(Stop):
        model.fit(fewer, y)
    assert_unchanged(model, before)
    for one, other in zip(model.predict(X), predicted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_error_after_validation_leaves_the_old_model():
    X, y = vectors()
    model = LinearSVC().fit(X, y)
    before = snapshot(model)
    with pytest.raises(ValueError, match="overflow"):
        model.fit(np.full((len(X), 9), 1e200), y)
    assert_unchanged(model, before)


def test_blocks(tmp_path, monkeypatch, stopped):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = vectors(3)
    write_dataset(tmp_path / "a.ds", X, y)
    model = LinearSVC(tol=0, max_iter=3).fit(X[:, :2], y)
    before = snapshot(model)
    stopped()
    with pytest.raises(Stop):
        model.fit(open_dataset(tmp_path / "a.ds"))
    assert_unchanged(model, before)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", ["auto", "adagrad"])
def test_a_part_of_a_stream_that_ends_early_is_not_learned_from(solver, n_classes, monkeypatch):
    X, y = vectors(n_classes)
    model = LinearSVC(alpha=None if solver == "adagrad" else 1e-3, solver=solver, random_state=0)
    model.partial_fit(X, y, classes=np.unique(y))
    twin = pickle.loads(pickle.dumps(model))
    before = snapshot(model)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X * 1e300, y)
    assert_unchanged(model, before)
    with monkeypatch.context() as patch:
        patch.setattr(LinearSVC, "_store_weights", lambda *_: (_ for _ in ()).throw(Stop))
        with pytest.raises(Stop):
            model.partial_fit(X, y)
    assert_unchanged(model, before)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, twin.partial_fit(X, y).coef_, rtol=1e-12)
    assert model.t_ == 2 * len(X)


def test_a_first_part_that_ends_early_leaves_nothing():
    X, y = vectors()
    model = LinearSVC(alpha=1e-3)
    before = snapshot(model)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X * 1e300, y, classes=[0, 1])
    assert_unchanged(model, before)


def test_another_thread_has_the_old_model_whole(monkeypatch):
    X, y = vectors()
    model = LinearSVC(tol=0, max_iter=3).fit(X, y)
    predicted, seen = model.predict(X), []
    monkeypatch.setattr(progress.Progress, "checked", lambda *_: seen.append(model.predict(X)))
    model.fit(X[:, :2], y)
    assert seen
    np.testing.assert_array_equal(seen, [predicted] * len(seen))
    assert model.n_features_in_ == 2


def test_dask(stopped):
    distributed = pytest.importorskip("distributed")
    import dask.array as da

    import pegasos.dask

    X, y = vectors()
    with distributed.Client(n_workers=1, processes=False, dashboard_address=":0"):
        parts = da.from_array(X, chunks=(60, X.shape[1])), da.from_array(y, chunks=60)
        model = pegasos.dask.LinearSVC(tol=0, max_iter=3).fit(*parts)
        before = snapshot(model)
        stopped()
        with pytest.raises(Stop):
            model.fit(parts[0][:, :2].rechunk((60, 2)), parts[1])
    assert_unchanged(model, before)
