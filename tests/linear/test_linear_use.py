"""LinearSVC among the tools around it: seeds, clones, grids, pipelines, data frames, memory maps, warm starts."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from linear_helpers import suited_loss
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, UnsetMetadataPassedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import LinearSVC
from pegasos.base.rows import make_rows
from pegasos.datasets import make_text
from pegasos.solvers import SOLVERS, Pegasos

X, Y = make_classification(300, 10, flip_y=0.1, random_state=0)


def svc(**options):
    return LinearSVC(**({"tol": 0, "max_iter": 10, "random_state": 0} | options))


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_state(solver):
    options = {"solver": solver, "loss": suited_loss(solver)}
    first, again, other = (svc(random_state=seed, **options).fit(X, Y) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.coef_, again.coef_)
    assert first.certificate_.dual == again.certificate_.dual
    random = solver not in ("interior-point", "ocas", "newton")
    assert random != np.array_equal(first.coef_, other.coef_)
    generator = svc(random_state=np.random.RandomState(3), **options)
    np.testing.assert_array_equal(generator.fit(X, Y).coef_, first.coef_)
    assert random != np.array_equal(generator.fit(X, Y).coef_, first.coef_)


def test_clone_and_parameters():
    clf = svc(C=0.3, solver=Pegasos(batch_size=4))
    params = clf.get_params()
    assert params["solver__batch_size"] == 4
    twin = clone(clf)
    assert twin.solver is not clf.solver
    np.testing.assert_array_equal(twin.fit(X, Y).coef_, clf.fit(X, Y).coef_)
    assert twin.set_params(solver__batch_size=7, C=2.0) is twin
    assert (twin.solver.batch_size, clf.solver.batch_size, twin.C) == (7, 4, 2.0)
    assert twin.set_params(solver=Pegasos(), solver__project=True).solver.project


def test_fit_leaves_parameters_alone():
    solver = Pegasos(max_steps=100)
    clf = svc(solver=solver, class_weight={1: 2.0})
    before = {name: repr(value) for name, value in clf.get_params().items()}
    clf.fit(X, Y)
    assert {name: repr(value) for name, value in clf.get_params().items()} == before
    assert clf.solver is solver


def test_options_of_a_solver_given_by_name():
    with pytest.raises(ValueError, match=r"solver__batch_size: solver='pegasos' is a name.*solver=Pegasos\(\)"):
        svc(solver="pegasos").set_params(solver__batch_size=3)
    with pytest.raises(ValueError, match="Invalid parameter 'bach_size' for estimator Pegasos"):
        svc(solver=Pegasos()).set_params(solver__bach_size=3)


def test_grid_search_over_solver_options():
    grid = {"C": [0.01, 1.0], "solver__batch_size": [1, 10], "solver__average": [False, "suffix"]}
    search = GridSearchCV(svc(solver=Pegasos()), grid, cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_score_ > 0.8
    solvers = GridSearchCV(svc(), {"solver": ["pegasos", "norma", Pegasos(project=True)]}, cv=2).fit(X, Y)
    assert np.isfinite(solvers.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("duplicate", [lambda clf: pickle.loads(pickle.dumps(clf)), copy.copy, copy.deepcopy])
def test_copies_predict_and_continue(duplicate):
    clf = svc(warm_start=True, solver=Pegasos(batch_size=2)).fit(X, Y)
    twin = duplicate(clf)
    np.testing.assert_array_equal(twin.decision_function(X), clf.decision_function(X))
    assert twin.certificate_ == clf.certificate_
    np.testing.assert_array_equal(twin.history_["gap"], clf.history_["gap"])
    np.testing.assert_array_equal(twin.fit(X, Y).coef_, clf.fit(X, Y).coef_)


def test_pipelines():
    scaled = make_pipeline(StandardScaler(with_mean=False), svc())
    assert scaled.fit(sp.csr_matrix(X), Y).score(sp.csr_matrix(X), Y) > 0.8
    scaled.set_params(linearsvc__C=0.1)
    words = ["cheap pills now", "meeting at noon", "cheap watches now", "lunch at noon"] * 5
    labels = ["spam", "ham"] * 10
    text = make_pipeline(TfidfVectorizer(), svc()).fit(words, labels)
    assert text.score(words, labels) == 1
    assert cross_val_score(svc(), X, Y, cv=3).mean() > 0.7


def test_metadata_routing():
    s = np.where(Y == 1, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = svc(C=0.01).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(weighted, {"C": [0.01]}, cv=3).fit(X, Y, sample_weight=s)
        np.testing.assert_array_equal(search.best_estimator_.coef_, svc(C=0.01).fit(X, Y, s).coef_)
        found = cross_validate(weighted, X, Y, cv=3, params={"sample_weight": s}, return_estimator=True)
        plain = svc(C=0.01).set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
        ignored = cross_validate(plain, X, Y, cv=3, params={"sample_weight": s}, return_estimator=True)
        assert not np.allclose(found["estimator"][0].coef_, ignored["estimator"][0].coef_)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(svc(), X, Y, cv=3, params={"sample_weight": s})


def test_data_frames():
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    y = pd.Series(np.array(["no", "yes"])[Y])
    clf = svc().fit(frame, y)
    np.testing.assert_array_equal(clf.feature_names_in_, frame.columns)
    assert clf.n_features_in_ == 10
    np.testing.assert_array_equal(clf.coef_, svc().fit(X, Y).coef_)
    assert clf.score(frame, y) > 0.8
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(frame[frame.columns[::-1]])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        clf.predict(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_input_is_never_modified(kind, dtype):
    rows = X.astype(dtype) if kind == "dense" else sp.csr_matrix(X.astype(dtype))
    y, s = Y.copy(), np.linspace(0, 1, len(Y))
    arrays = [y, s, *([rows] if kind == "dense" else [rows.data, rows.indices, rows.indptr])]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    clf = svc(class_weight="balanced").fit(rows, y, s)
    clf.predict(rows)
    for array, old in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_memory_maps_are_used_in_place(tmp_path, monkeypatch):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    handed = []
    monkeypatch.setattr("pegasos.linear.estimator.make_rows", lambda X, *rest: handed.append(X) or make_rows(X, *rest))
    clf = svc().fit(mapped, Y)
    assert np.shares_memory(handed[0], mapped)
    np.testing.assert_array_equal(clf.coef_, svc().fit(X, Y).coef_)
    matrix = sp.csr_matrix(X.astype(np.float32))
    parts = {}
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / f"{name}.npy", getattr(matrix, name))
        parts[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    svc().fit(sp.csr_matrix(tuple(parts.values()), shape=matrix.shape, copy=False), Y)
    for name, part in parts.items():
        assert np.shares_memory(getattr(handed[-1], name), part)


def test_verbose_reports_on_standard_error(capfd):
    svc(verbose=2).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == len(svc().fit(X, Y).history_["gap"])
    for word in ("epoch", "primal", "dual", "gap", "10.0"):
        assert word in lines[-1]
    assert capfd.readouterr() == ("", "")  # not a word without it


class TestWarmStart:
    def test_continues(self):
        clf = svc(warm_start=True, max_iter=5)
        steps, duals, primals = [], [], []
        for _ in range(4):
            clf.fit(X, Y)
            steps.append(clf._last[0].t)
            duals.append(clf.certificate_.dual)
            primals.append(clf.certificate_.primal)
        assert steps == [1500, 3000, 4500, 6000]
        assert (np.diff(duals) >= -1e-9 * duals[0]).all()
        assert primals[1] <= primals[0] * 1.001
        once = svc(max_iter=10).fit(X, Y).certificate_
        assert primals[1] <= once.primal * 1.1
        assert once.dual <= primals[-1]

    def test_does_not_repeat_the_order_of_visits(self):
        halves = svc(warm_start=True, max_iter=1, solver=Pegasos(average=False)).fit(X, Y).fit(X, Y)
        fixed = svc(max_iter=2, solver=Pegasos(average=False, sampling="fixed")).fit(X, Y)
        assert not np.allclose(halves.coef_, fixed.coef_)

    def test_off_forgets(self):
        clf = svc().fit(X, Y)
        np.testing.assert_array_equal(clf.coef_.copy(), clf.fit(X, Y).coef_)
        assert clf._last[0].t == 3000

    def test_other_rows_are_welcome(self):
        clf = svc(warm_start=True).fit(X, Y).fit(X[:100], Y[:100])
        assert clf._last[0].t == 4000
        assert clf.certificate_.dual <= clf.certificate_.primal

    @pytest.mark.parametrize("solver", ["sdca", "interior-point", "ocas"])
    def test_added_rows_continue_the_dual_point(self, solver):
        options = {"C": 3.0, "tol": 1e-3, "max_iter": 10**5, "solver": solver}
        clf = svc(warm_start=True, **options).fit(X[:290], Y[:290])
        cold = svc(**options).fit(X, Y)
        clf.fit(X, Y)
        assert clf.certificate_.converged
        assert clf.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-3)
        assert solver != "sdca" or clf.n_iter_ < 0.8 * cold.n_iter_

    def test_added_rows_start_at_zero(self):
        """After one epoch of a budget the dual value is no less than that of the old rows alone."""
        clf = svc(warm_start=True, C=1.0, max_iter=300).fit(X[:200], Y[:200])
        before = clf.certificate_.dual
        assert clf.set_params(max_iter=1).fit(X, Y).certificate_.dual >= before * (1 - 1e-9)

    @pytest.mark.parametrize("factor", [1 / 2, 2])
    def test_another_C_needs_fewer_epochs_than_a_cold_start(self, factor):
        options = {"tol": 1e-5, "max_iter": 10**5}
        clf = svc(warm_start=True, C=2.0, **options).fit(X, Y).set_params(C=2.0 * factor).fit(X, Y)
        assert clf.certificate_.converged
        assert clf.n_iter_ < svc(C=2.0 * factor, **options).fit(X, Y).n_iter_

    def test_the_scale_may_change(self):
        clf = svc(warm_start=True, C=1.0, tol=1e-6, max_iter=10**5, solver=Pegasos(average=False, max_steps=3000))
        with pytest.warns(ConvergenceWarning):
            before = clf.fit(X, Y).coef_.copy()
        with pytest.warns(ConvergenceWarning):
            clf.set_params(scale=True, solver__max_steps=1).fit(X, Y)
        np.testing.assert_allclose(clf.coef_, before, rtol=0.1, atol=0.01)

    def test_changes_of_the_problem_are_certified(self):
        clf = svc(warm_start=True).fit(X, Y)
        fresh = svc(C=0.1, fit_intercept=False, max_iter=200).fit(X, Y).certificate_
        changed = clf.set_params(C=0.1, fit_intercept=False, max_iter=1).fit(X, Y)
        assert changed.intercept_[0] == 0
        w, loss = changed.coef_[0], np.maximum(0, 1 - np.where(Y == 1, 1, -1) * (X @ changed.coef_[0])).sum()
        assert changed.certificate_.primal == pytest.approx(w @ w / 2 + 0.1 * loss, rel=1e-12)
        assert changed.certificate_.dual <= fresh.primal

    def test_the_intercept_survives_another_scaling(self):
        """One step moves little: had the stored weight been kept, the intercept would be ten times as large."""
        clf = svc(warm_start=True, max_iter=100, solver=Pegasos(average=False)).fit(X + 1, Y)
        before = clf.intercept_[0]
        clf.set_params(intercept_scaling=10.0, solver__max_steps=1).fit(X + 1, Y)
        assert clf.intercept_[0] == pytest.approx(before, rel=0.3)

    def test_other_features_are_refused(self):
        clf = svc(warm_start=True).fit(X, Y)
        with pytest.raises(ValueError, match=r"X has 4 features, but LinearSVC is expecting 10"):
            clf.fit(X[:, :4], Y)
        assert clf.predict(X).shape == Y.shape  # still the model it was

    def test_other_classes_are_refused(self):
        clf = svc(warm_start=True).fit(X, Y)
        with pytest.raises(
            ValueError, match=r"warm_start=True.*classes changed from \[0, 1\] to \[5, 6\].*new estimator"
        ):
            clf.fit(X, Y + 5)


@pytest.mark.parametrize(
    ("large", "by_class", "chosen"), [(0, False, "blocks"), (0, True, "permute"), (50e6, False, "permute")]
)
def test_the_order_of_sub_gradient_steps_is_chosen_as_that_of_sdca(monkeypatch, large, by_class, chosen):
    monkeypatch.setattr("pegasos.problems.linear.LARGE", large)
    X, y = make_text(2000, 500, random_state=0)
    if by_class:
        X, y = X[np.argsort(y)], np.sort(y)
    options = {"alpha": 1e-3, "tol": 0, "max_iter": 2, "random_state": 0}
    auto, named = (LinearSVC(solver=solver, **options).fit(X, y) for solver in ("pegasos", Pegasos(sampling=chosen)))
    np.testing.assert_array_equal(auto.coef_, named.coef_)
    assert f"sampling={chosen!r}" in auto.certificate_.solver
    assert f"order={chosen!r}" in LinearSVC(solver="sdca", **options).fit(X, y).certificate_.solver
