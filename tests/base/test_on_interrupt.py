"""on_interrupt="keep": Ctrl-C leaves the best point of the last check, with its true certificate, and is raised."""

from functools import partial
from types import SimpleNamespace

import fit_helpers
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base import progress
from pegasos.base.threads import run_all
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


def fit_until_interrupted(model, *data):
    """Without a warning, which could be an error that hides the interrupt."""
    with pytest.raises(KeyboardInterrupt, match="has the best point of the last check"):
        model.fit(*data)
    return model


vectors = partial(fit_helpers.vectors, n=400)
sequences = fit_helpers.sequences


CASES = {
    "pegasos": (LinearSVC(solver="pegasos"), vectors()),
    "sgd-s": (LinearSVC(solver="sgd-s"), vectors()),
    "ocas": (LinearSVC(solver="ocas", C=1e3), vectors(n=20_000, d=60)),
    "sgd-m": (LinearSVC(solver="sgd-m"), vectors()),
    "perceptron": (LinearSVC(solver="perceptron"), vectors()),
    "sgd-qn": (LinearSVC(solver="sgd-qn"), vectors()),
    "mpu": (LinearSVC(solver="mpu"), vectors()),
    "search": (LinearSVC(intercept="free", solver=Pegasos(free_intercept="search")), vectors()),
    "early stopping": (LinearSVC(solver="pegasos", early_stopping=True, n_iter_no_change=10**6), vectors(n=4000, d=20)),
    "joint": (LinearSVC(solver="pegasos", multi_class="joint"), vectors(3)),
    "joint sgd": (LinearSVC(solver="sgd-s", multi_class="joint"), vectors(3)),
    "regression": (LinearSVR(solver="pegasos"), vectors()),
    "smo": (SVC(C=1e6), vectors()),
    "kernel sdca": (SVC(C=1e6, solver="sdca", fit_intercept=False), vectors()),
    "kernel pegasos": (SVC(C=1e6, solver="pegasos", fit_intercept=False), vectors()),
    "sbp": (SVC(C=1e6, solver="sbp"), vectors()),
    "simba": (SVC(C=1e6, solver="simba"), vectors()),
    "lasvm": (SVC(C=1e6, solver="lasvm"), vectors()),
    "kernel regression": (SVR(C=1e6), vectors()),
    "sequences": (SequenceSVC(C=10.0, solver="pegasos"), sequences()),
}


@pytest.mark.parametrize("case", CASES)
def test_kept(case, interrupted, tmp_path):
    model, (X, y) = CASES[case]
    model = type(model)(**{**model.get_params(deep=False), **ENDLESS})
    checks = interrupted(2)
    fit_until_interrupted(model, X, y)
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
        model = fit_until_interrupted(LinearSVC(solver=solver, **{**ENDLESS, "tol": 0}), X, y)
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
    with pytest.raises(KeyboardInterrupt, match="interrupted before there was a point to keep: nothing is kept"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_raise_is_the_default(interrupted):
    X, y = vectors()
    interrupted(2)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(solver="pegasos", tol=1e-18, max_iter=10**8).fit(X, y)
    with pytest.raises(ValueError, match="on_interrupt='stop': must be 'raise' or 'keep'"):
        LinearSVC(on_interrupt="stop").fit(X, y)


def test_pairs_that_have_not_begun_are_none(interrupted):
    X, y = vectors(3)
    interrupted(2)
    with pytest.raises(KeyboardInterrupt, match="when 1 of 3 problems had a point: a model needs them all"):
        SVC(solver="pegasos", fit_intercept=False, n_jobs=1, **ENDLESS).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("intercept", ["penalized", "free", None])
def test_classes_that_have_not_begun_do_not_win(loss, intercept, interrupted, tmp_path):
    X, y = vectors(7)
    weights = np.random.default_rng(0).uniform(size=len(y))
    interrupted(2)
    solver = "sdca" if intercept == "free" else "pegasos"
    model = LinearSVC(solver=solver, C=2.0, loss=loss, n_jobs=1, **ENDLESS)
    model.set_params(fit_intercept=intercept is not None, intercept=intercept or "penalized")
    fit_until_interrupted(model, X, y, weights)
    parts = model.certificate_.parts
    assert {part.reason for part in parts} == {"interrupt"}
    begun = np.flatnonzero(model.coef_.any(axis=1))
    assert 1 <= len(begun) < 7
    assert all(parts[k].primal < np.inf for k in begun)
    b = 0.0 if intercept is None else -1.0
    for k in set(range(7)).difference(begun):
        assert (parts[k].dual, parts[k].gap) == (0.0, np.inf)
        assert np.broadcast_to(model.intercept_, 7)[k] == pytest.approx(b, rel=1e-15)
        z = np.where(y == model.classes_[k], b, -b)
        losses = np.log1p(np.exp(-z)) if loss == "log_loss" else np.maximum(0, 1 - z) ** (1 + (loss != "hinge"))
        exact = 2.0 * weights @ losses + (b**2 / 2 if intercept == "penalized" else 0)
        assert exact * (1 - 1e-14) <= parts[k].primal <= exact * (1 + 1e-11)
        assert model.history_[k]["primal"].tolist() == [parts[k].primal]
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").certificate_ == model.certificate_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_without_a_point_of_any_class_nothing_is_kept(n_jobs, interrupted):
    X, y = vectors(3, n=20_000)
    interrupted(0)
    with pytest.raises(KeyboardInterrupt, match="interrupted before there was a point to keep: nothing is kept"):
        LinearSVC(solver="pegasos", n_jobs=n_jobs, **ENDLESS).fit(X, y)


def test_a_model_that_is_continued_is_not_replaced_by_zeros(interrupted):
    X, y = vectors(3)
    model = LinearSVC(solver="sdca", warm_start=True, n_jobs=1, random_state=0).fit(X, y)
    before = model.coef_.copy()
    interrupted(2)
    with pytest.raises(KeyboardInterrupt, match="of 3 problems had a point"):
        model.set_params(**ENDLESS).fit(X, y)
    np.testing.assert_array_equal(model.coef_, before)


def test_an_error_is_raised_whatever_is_kept():
    def fails(progress):
        raise RuntimeError("no")

    def interrupts(progress):
        raise KeyboardInterrupt

    for n_jobs in (1, 2):
        with pytest.raises(RuntimeError, match="no"):
            run_all([(fails, progress.Progress())] * 3, n_jobs, bool, str)
        assert run_all([(interrupts, progress.Progress())] * 3, n_jobs, bool, str) == ["0", "1", "2"]


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


def test_an_interrupt_with_the_last_check_keeps_the_fit(interrupted_check):
    X, y = vectors()
    whole = LinearSVC(solver="sdca", random_state=0).fit(X, y)
    interrupted_check(len(whole.history_["primal"]))
    kept = fit_until_interrupted(LinearSVC(solver="sdca", random_state=0, on_interrupt="keep"), X, y)
    assert kept.certificate_.reason == "interrupt"
    assert kept.certificate_.converged
    np.testing.assert_array_equal(kept.coef_, whole.coef_)


def test_blocks(interrupted_check, tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = vectors(3)
    write_dataset(tmp_path / "a.ds", X, y)
    interrupted_check(9)
    model = LinearSVC(solver="pegasos", **{**ENDLESS, "tol": 1e-9})
    fit_until_interrupted(model, open_dataset(tmp_path / "a.ds"))
    assert {part.reason for part in model.certificate_.parts} == {"interrupt"}


def test_feature_maps(interrupted_check):
    X, y = vectors(n=50)
    interrupted_check(2)
    model = fit_until_interrupted(FeatureMapSVC(lambda x, k: x * (k + 1.0), **ENDLESS), X, y)
    assert model.certificate_.reason == "interrupt"


SEARCHES = {
    "grid": lambda model: GridSearchCV(model, {"C": [1.0, 2.0]}, cv=2, error_score="raise"),
    "pipeline in a grid": lambda model: GridSearchCV(
        make_pipeline(StandardScaler(), model), {"linearsvc__C": [1.0]}, cv=2
    ),
    "one against the rest": OneVsRestClassifier,
    "a package that nobody knows": lambda model: SimpleNamespace(
        fit=lambda *data: [clone(model).fit(*data) for _ in range(2)]
    ),
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
    with pytest.raises(KeyboardInterrupt, match="interrupted while C was chosen: nothing is kept"):
        LinearSVCCV(solver="pegasos", Cs=2, cv=2, **ENDLESS).fit(X, y)


def test_a_pipeline_keeps(interrupted):
    X, y = vectors()
    interrupted(2)
    model = fit_until_interrupted(make_pipeline(StandardScaler(), LinearSVC(solver="pegasos", **ENDLESS)), X, y)
    assert model[-1].certificate_.reason == "interrupt"
    assert model.predict(X).shape == y.shape


def test_a_fit_goes_on_from_what_was_kept(interrupted, monkeypatch):
    X, y = vectors()
    model = LinearSVC(solver="sdca", warm_start=True, random_state=0, tol=1e-9, on_interrupt="keep")
    interrupted(2)
    fit_until_interrupted(model, X, y)
    first = model.certificate_
    monkeypatch.undo()
    model.set_params(max_iter=10**4).fit(X, y)
    assert model.certificate_.converged
    assert model.history_["primal"][0] <= first.primal


def test_the_last_fit_of_a_choice_of_C_is_kept(monkeypatch):
    X, y = vectors()
    fit = LinearSVC._fit

    def interrupted(self, *arguments):
        def checked(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(progress.Progress, "checked", checked)
            return fit(self, *arguments)

    monkeypatch.setattr(LinearSVC, "_fit", interrupted)
    search = fit_until_interrupted(LinearSVCCV(solver="sdca", Cs=2, cv=2, on_interrupt="keep"), X, y)
    assert search.certificate_.reason == search.best_estimator_.certificate_.reason == "interrupt"
    assert search.predict(X).shape == y.shape
