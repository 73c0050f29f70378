"""on_interrupt="keep": the best point of the last check, with its true certificate; searches end all the same."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base import progress
from pegasos.io import load_model, open_dataset, save_model, write_dataset
from pegasos.solvers import Pegasos

ENDLESS = {"tol": 1e-18, "max_iter": 10**8, "random_state": 0, "on_interrupt": "keep"}


@pytest.fixture
def interrupted(monkeypatch, ticks):
    """Ctrl-C after some checks, between two of them: at a heartbeat, which the clock of the tests makes frequent."""
    checks = []

    def after(count):
        def progressed(self, *_):
            if len(checks) >= count:
                raise KeyboardInterrupt

        monkeypatch.setattr(progress.Progress, "checked", lambda self, *record: checks.append(record))
        monkeypatch.setattr(progress.Progress, "progressed", progressed)
        return checks

    return after


def vectors(n_classes=2, n=400, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, (X @ random.normal(size=(d, n_classes)) + random.normal(size=(n, n_classes))).argmax(axis=1)


def sequences(seed=0):
    random = np.random.default_rng(seed)
    X = [[[f"w={random.integers(9)}"] for _ in range(5)] for _ in range(40)]
    return X, [[str(random.integers(3)) for _ in range(5)] for _ in range(40)]


CASES = {
    "pegasos": (LinearSVC(solver="pegasos"), vectors()),
    "sgd-s": (LinearSVC(solver="sgd-s"), vectors()),
    "sgd-m": (LinearSVC(solver="sgd-m"), vectors()),
    "perceptron": (LinearSVC(solver="perceptron"), vectors()),
    "search": (LinearSVC(intercept="free", solver=Pegasos(free_intercept="search")), vectors()),
    "early stopping": (LinearSVC(solver="pegasos", early_stopping=True, n_iter_no_change=10**6), vectors(n=4000, d=20)),
    "joint": (LinearSVC(solver="pegasos", multi_class="joint"), vectors(3)),
    "joint sgd": (LinearSVC(solver="sgd-s", multi_class="joint"), vectors(3)),
    "regression": (LinearSVR(solver="pegasos"), vectors()),
    "smo": (SVC(C=1e6), vectors()),
    "kernel sdca": (SVC(C=1e6, solver="sdca", fit_intercept=False), vectors()),
    "kernel pegasos": (SVC(C=1e6, solver="pegasos", fit_intercept=False), vectors()),
    "sbp": (SVC(C=1e6, solver="sbp"), vectors()),
    "kernel regression": (SVR(C=1e6), vectors()),
    "sequences": (SequenceSVC(C=10.0, solver="pegasos"), sequences()),
}


@pytest.mark.parametrize("case", CASES)
def test_kept(case, interrupted, tmp_path):
    model, (X, y) = CASES[case]
    model = type(model)(**{**model.get_params(deep=False), **ENDLESS})
    checks = interrupted(2)
    with pytest.warns(ConvergenceWarning, match="it was interrupted"):
        model.fit(X, y)
    found = model.certificate_
    assert found.reason == "interrupt"
    assert not found.converged
    assert found.dual <= found.primal < np.inf
    assert len(checks) >= 2
    if "early" not in case and "search" not in case:
        last = model.history_["primal"][-1], model.history_["dual"][-1]
        np.testing.assert_allclose(last, (found.primal, found.dual), rtol=1e-12)
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").certificate_ == found


@pytest.mark.parametrize("solver", ["pegasos", "sgd-m", "sdca"])
def test_the_certificate_is_that_of_the_weights(solver, interrupted):
    X, y = vectors()
    exact = LinearSVC(tol=1e-9, random_state=0).fit(X, y).certificate_
    for count in (1, 2, 5):
        checks = interrupted(count)
        checks.clear()
        model = LinearSVC(solver=solver, **{**ENDLESS, "tol": 0}).fit(X, y)
        assert model.certificate_.reason == "interrupt"
        z = np.where(y == 1, 1, -1) * model.decision_function(X)
        primal = (model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2) / 2 + np.maximum(0, 1 - z).sum()
        assert primal == pytest.approx(model.certificate_.primal, rel=1e-9)
        assert model.certificate_.dual <= exact.primal
        assert exact.dual <= model.certificate_.primal


def test_nothing_to_keep_is_raised(interrupted):
    X, y = vectors(n=20_000)  # an epoch is long enough for a heartbeat
    interrupted(0)
    model = LinearSVC(solver="pegasos", **ENDLESS)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_raise_is_the_default(interrupted):
    X, y = vectors()
    interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(solver="pegasos", tol=1e-18, max_iter=10**8).fit(X, y)
    with pytest.raises(ValueError, match="on_interrupt='stop': must be 'raise' or 'keep'"):
        LinearSVC(on_interrupt="stop").fit(X, y)


def test_classes_that_have_not_begun_are_none(interrupted):
    X, y = vectors(3)
    interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(solver="pegasos", n_jobs=1, **ENDLESS).fit(X, y)


@pytest.fixture
def interrupted_check(monkeypatch):
    """Ctrl-C when a check is told, for runs that are driven from Python."""

    def after(count):
        checks = []

        def checked(self, *record):
            checks.append(record)
            if len(checks) == count:
                raise KeyboardInterrupt

        monkeypatch.setattr(progress.Progress, "checked", checked)

    return after


def test_blocks(interrupted_check, tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = vectors(3)
    write_dataset(tmp_path / "a.ds", X, y)
    interrupted_check(9)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = LinearSVC(solver="pegasos", **{**ENDLESS, "tol": 1e-9}).fit(open_dataset(tmp_path / "a.ds"))
    assert {part.reason for part in model.certificate_.parts} == {"interrupt"}


def test_feature_maps(interrupted_check):
    X, y = vectors(n=50)
    interrupted_check(2)
    with pytest.warns(ConvergenceWarning):
        model = FeatureMapSVC(lambda x, k: x * (k + 1.0), **ENDLESS).fit(X, y)
    assert model.certificate_.reason == "interrupt"


SEARCHES = {
    "grid": lambda model: GridSearchCV(model, {"C": [1.0, 2.0]}, cv=2, error_score="raise"),
    "pipeline in a grid": lambda model: GridSearchCV(
        make_pipeline(StandardScaler(), model), {"linearsvc__C": [1.0]}, cv=2
    ),
    "one against the rest": OneVsRestClassifier,
}


@pytest.mark.parametrize("search", SEARCHES)
def test_searches_end(search, interrupted):
    X, y = vectors()
    interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        SEARCHES[search](LinearSVC(solver="pegasos", **ENDLESS)).fit(X, y)


def test_cross_validation_ends(interrupted):
    X, y = vectors()
    interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(LinearSVC(solver="pegasos", **ENDLESS), X, y, cv=2)
    with pytest.raises(KeyboardInterrupt):
        LinearSVCCV(solver="pegasos", Cs=2, cv=2, **ENDLESS).fit(X, y)


def test_a_pipeline_keeps(interrupted):
    X, y = vectors()
    interrupted(2)
    with pytest.warns(ConvergenceWarning):
        model = make_pipeline(StandardScaler(), LinearSVC(solver="pegasos", **ENDLESS)).fit(X, y)
    assert model[-1].certificate_.reason == "interrupt"
    assert model.predict(X).shape == y.shape
