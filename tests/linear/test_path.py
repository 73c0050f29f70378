"""Paths over C and LinearSVCCV: certified at every point, faster for the warm start, and the C a plain search finds."""

import dataclasses
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import LinearSVC, LinearSVCCV
from pegasos.base import clock
from pegasos.certificate import relative_gap
from pegasos.datasets import make_text
from pegasos.reference import objective
from pegasos.solvers import SDCA, Pegasos

X, Y = make_classification(300, 10, n_informative=6, flip_y=0.1, random_state=0)
CS = np.geomspace(1e-3, 1, 7)


def fit_cv(X=X, y=Y, sample_weight=None, groups=None, **options):
    defaults = {"Cs": CS, "cv": 4, "random_state": 0, "max_iter": 10_000}
    return LinearSVCCV(**(defaults | options)).fit(X, y, sample_weight, groups=groups)


class TestPath:
    @pytest.mark.parametrize("storage", [np.asarray, np.float32, sp.csr_matrix], ids=["dense", "float32", "csr"])
    @pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"intercept": "free"}, {"scale": True}], ids=str)
    def test_every_point_is_certified(self, storage, options):
        found = pegasos.path(storage(X), Y, Cs=CS, tol=1e-4, max_iter=10**5, random_state=0, **options)
        assert found.converged
        assert len(found) == len(found.certificates) == 7
        assert found.coefs.shape == (7, 10)
        assert found.intercepts.shape == (7,)
        np.testing.assert_array_equal(found.Cs, CS)
        np.testing.assert_array_equal(found.classes, [0, 1])
        for C, certificate in zip(CS, found.certificates, strict=True):
            alone = LinearSVC(C=C, tol=1e-4, max_iter=10**5, random_state=0, **options).fit(storage(X), Y).certificate_
            assert certificate.gap == relative_gap(certificate.primal, certificate.dual) <= 1e-4
            assert certificate.dual <= alone.primal * (1 + 1e-12)
            assert alone.dual <= certificate.primal * (1 + 1e-12)
            assert certificate.scaled == ("scale" in options)

    def test_the_certificates_are_of_the_coefficients(self):
        found = pegasos.path(X, Y, Cs=CS, random_state=0)
        rows, signs = np.column_stack([X, np.ones(len(Y))]), 2.0 * Y - 1
        for C, coef, intercept, certificate in zip(CS, found.coefs, found.intercepts, found.certificates, strict=True):
            primal = objective.primal(rows, signs, np.ones(len(Y)), C, np.append(coef, intercept))
            assert certificate.primal == pytest.approx(primal, rel=1e-12)

    def test_warm_starts_need_fewer_epochs(self):
        rows, y = make_classification(2000, 20, flip_y=0.2, random_state=0)
        options = {"tol": 1e-3, "max_iter": 10**5, "random_state": 0, "solver": "sdca"}
        warm = [certificate.n_iter for certificate in pegasos.path(rows, y, Cs=CS, **options).certificates]
        cold = [LinearSVC(C=C, **options).fit(rows, y).n_iter_ for C in CS]
        assert warm[0] == cold[0]
        assert sum(warm) < 0.5 * sum(cold)

    def test_order_and_repetition_do_not_matter(self):
        shuffled = pegasos.path(X, Y, Cs=[1.0, 0.1, 1.0, 0.01], random_state=0)
        np.testing.assert_array_equal(shuffled.Cs, [0.01, 0.1, 1.0])
        ordered = pegasos.path(X, Y, Cs=[0.01, 0.1, 1.0], random_state=0)
        np.testing.assert_array_equal(shuffled.coefs, ordered.coefs)

    def test_a_number_of_values(self):
        found = pegasos.path(X, Y, Cs=3, tol=0.1, max_iter=10**5, random_state=0)
        np.testing.assert_allclose(found.Cs, [1e-4, np.sqrt(1e-3), 10])

    def test_labels_and_weights(self):
        y = np.array(["no", "yes"])[Y]
        s = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
        found = pegasos.path(X, y, Cs=[0.1], sample_weight=s, class_weight="balanced", tol=1e-6, random_state=0)
        alone = LinearSVC(C=0.1, class_weight="balanced", tol=1e-6, random_state=0).fit(X, y, s)
        np.testing.assert_array_equal(found.coefs, alone.coef_)
        assert found.classes.tolist() == ["no", "yes"]

    def test_decisions(self):
        found = pegasos.path(X, Y, Cs=CS, scale=True, random_state=0)
        decisions = found.decision_function(sp.csr_matrix(X))
        assert decisions.shape == (300, 7)
        np.testing.assert_allclose(decisions[:, 3], X @ found.coefs[3] + found.intercepts[3], rtol=1e-9)

    def test_other_solvers(self):
        found = pegasos.path(X, Y, Cs=[1e-3, 1e-2], solver=Pegasos(), tol=0.05, random_state=0)
        assert found.converged
        assert "Pegasos" in found.certificates[0].solver

    def test_one_warning_tells_of_all_points(self):
        with pytest.warns(ConvergenceWarning) as warned:
            found = pegasos.path(X * [1e6] + [0] * 10, Y, Cs=CS, max_iter=2, random_state=0)
        assert not found.converged
        assert len(warned) == 1
        short = sum(not certificate.converged for certificate in found.certificates)
        assert f"path: {short} of 7 fits fell short. The worst, at C=" in str(warned[0].message)
        assert warned[0].filename == __file__

    def test_uneven_columns_are_named(self):
        with pytest.warns(ConvergenceWarning, match=r"farthest out are 0 \(.*scale=True"):
            pegasos.path(X * 10.0 ** np.linspace(-6, 6, 10), Y, Cs=CS, max_iter=5, random_state=0)

    def test_listeners_are_told_the_time_of_all(self, ticks):
        checks = []
        with pegasos.listen(checks.append):
            found = pegasos.path(X, Y, Cs=[0.01, 0.1, 1.0], random_state=0)
        assert (np.diff([check.seconds for check in checks]) >= 0).all()
        spent = [part.seconds for part in found.certificates]
        assert checks[-1].seconds >= sum(spent)  # certificates have the time of each

    def test_verbose(self, capfd):
        found = pegasos.path(X, Y, Cs=[0.01, 0.1], verbose=1, random_state=0)
        assert len(capfd.readouterr().err.splitlines()) >= len(found)

    @pytest.mark.parametrize("Cs", [0, -1, True, [], [[1.0]], [0.0], [-1.0, 1.0], [np.nan], [np.inf], "abc", None, 1.5])
    def test_grids_that_are_none(self, Cs):
        for call in (lambda: pegasos.path(X, Y, Cs=Cs), lambda: LinearSVCCV(Cs=Cs).fit(X, Y)):
            with pytest.raises(ValueError, match="Cs="):
                call()

    @pytest.mark.parametrize("name", ["C", "alpha", "warm_start"])
    def test_parameters_it_does_not_have(self, name):
        with pytest.raises(TypeError, match=f"no parameter '{name}'.*Cs"):
            pegasos.path(X, Y, **{name: 1})
        with pytest.raises(TypeError):
            LinearSVCCV(**{name: 1})

    def test_a_path_is_frozen_and_pickles(self):
        found = pegasos.path(X, Y, Cs=[0.1], random_state=0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.Cs = None
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).coefs, found.coefs)


class TestCrossValidation:
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
    @pytest.mark.parametrize(
        "options", [{}, {"scale": True}, {"class_weight": "balanced"}, {"intercept": "free"}], ids=str
    )
    def test_agrees_with_a_grid_search(self, storage, options):
        rows, shared = storage(X), {"tol": 1e-6, "max_iter": 10**5, "random_state": 0, **options}
        ours = fit_cv(rows, **shared)
        theirs = GridSearchCV(LinearSVC(**shared), {"C": CS}, cv=4).fit(rows, Y)
        scores = np.array([theirs.cv_results_[f"split{k}_test_score"] for k in range(4)])
        np.testing.assert_allclose(ours.scores_, scores, atol=2 / 75)  # an example at the border may fall either way
        np.testing.assert_allclose(ours.mean_score_, ours.scores_.mean(axis=0))
        assert CS[ours.mean_score_.argmax()] == ours.C_
        alone = LinearSVC(C=ours.C_, **shared).fit(rows, Y)
        np.testing.assert_allclose(ours.coef_, alone.coef_, atol=1e-3)
        assert ours.certificate_.converged
        assert ours.certificate_.scaled == ("scale" in options)
        np.testing.assert_array_equal(ours.predict(rows), ours.best_estimator_.predict(rows))

    def test_attributes(self):
        clf = fit_cv()
        assert clf.scores_.shape == (4, 7)
        assert clf.mean_score_.shape == clf.standard_error_.shape == clf.Cs_.shape == (7,)
        np.testing.assert_allclose(clf.standard_error_, clf.scores_.std(axis=0, ddof=1) / 2)
        assert [len(fold) for fold in clf.certificates_] == [7] * 4
        assert all(certificate.gap <= 1e-3 for fold in clf.certificates_ for certificate in fold)
        assert clf.coef_.shape == (1, 10)
        assert clf.n_iter_ == clf.certificate_.n_iter
        assert clf.history_["gap"][-1] == clf.certificate_.gap
        np.testing.assert_array_equal(clf.classes_, [0, 1])

    def test_one_standard_error(self):
        clf = fit_cv(rule="one_standard_error")
        best = clf.mean_score_.argmax()
        enough = clf.mean_score_ >= clf.mean_score_[best] - clf.standard_error_[best]
        assert clf.C_ == CS[enough][0] <= CS[best]
        with pytest.raises(ValueError, match="rule='worst': must be 'best' or 'one_standard_error'"):
            fit_cv(rule="worst")

    def test_threads_do_not_change_the_result(self):
        one, two = fit_cv(n_jobs=1), fit_cv(n_jobs=2)
        np.testing.assert_array_equal(one.scores_, two.scores_)
        np.testing.assert_array_equal(one.coef_, two.coef_)
        again = fit_cv(n_jobs=2)
        np.testing.assert_array_equal(again.coef_, two.coef_)

    @pytest.mark.parametrize("scoring", ["roc_auc", "f1", "balanced_accuracy", "neg_log_loss_of_margins"])
    def test_scoring(self, scoring):
        def margins(estimator, X, y):
            return -np.log1p(np.exp(-(2 * y - 1) * estimator.decision_function(X))).mean()

        scoring = margins if scoring == "neg_log_loss_of_margins" else scoring
        clf = fit_cv(scoring=scoring, tol=1e-6, max_iter=10**5)
        shared = {"tol": 1e-6, "max_iter": 10**5, "random_state": 0}
        theirs = GridSearchCV(LinearSVC(**shared), {"C": CS}, cv=4, scoring=scoring).fit(X, Y)
        np.testing.assert_allclose(clf.mean_score_, theirs.cv_results_["mean_test_score"], atol=0.01)
        assert clf.score(X, Y) == pytest.approx(theirs.score(X, Y), abs=0.05)

    def test_a_scorer_may_look_at_the_model(self):
        def sparsity(estimator, rows, y):
            assert estimator.score(X, Y) >= 0  # on other rows than those held out
            return -float(np.abs(estimator.coef_).sum()) * estimator.C

        assert CS[0] == fit_cv(scoring=sparsity).C_

    def test_weights_count_as_repetitions(self):
        groups = np.arange(len(Y)) % 3
        s = np.random.default_rng(0).integers(0, 4, len(Y))
        rows, y, repeated = np.repeat(X, s, axis=0), np.repeat(Y, s), np.repeat(groups, s)
        shared = {"cv": LeaveOneGroupOut(), "tol": 1e-9, "max_iter": 10**6, "Cs": CS[:4], "scale": True}
        weighted = fit_cv(sample_weight=s, groups=groups, **shared)
        plain = fit_cv(rows, y, groups=repeated, **shared)
        np.testing.assert_allclose(weighted.scores_, plain.scores_, atol=1e-9)
        assert weighted.C_ == plain.C_
        np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-4)
        assert weighted.score(X, Y, s) == pytest.approx(plain.score(rows, y))

    def test_weights_and_a_scorer_that_takes_none(self):
        s = np.ones(len(Y))
        accuracy = make_scorer(accuracy_score)
        clf = fit_cv(sample_weight=s, scoring=lambda *arguments: accuracy(*arguments))
        np.testing.assert_array_equal(clf.scores_, fit_cv(sample_weight=s).scores_)

    @pytest.mark.parametrize(
        "cv",
        [3, KFold(3), StratifiedKFold(3), [(np.arange(200), np.arange(200, 300))]],
        ids=lambda cv: type(cv).__name__,
    )
    def test_splitters(self, cv):
        clf = fit_cv(cv=cv)
        assert len(clf.scores_) == (1 if isinstance(cv, list) else 3)
        assert (clf.standard_error_ >= 0).all()

    def test_groups(self):
        clf = fit_cv(cv=GroupKFold(3), groups=np.arange(300) // 10)
        assert clf.scores_.shape == (3, 7)

    def test_a_fold_of_one_class_is_explained(self):
        order = np.argsort(Y, kind="stable")
        with pytest.raises(ValueError, match=r"fold 0 trains on one class only.*stratified"):
            fit_cv(X[order], Y[order], cv=KFold(2))
        with (
            pytest.warns(UserWarning, match="least populated class"),
            pytest.raises(
                ValueError, match=r"y has one example of class True, .* give more of that class, or use LinearSVC"
            ),
        ):
            fit_cv(y=np.arange(300) == 5)

    def test_data_frames_and_names(self):
        frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(10)])
        clf = fit_cv(frame, np.array(["a", "b"])[Y])
        assert clf.feature_names_in_.tolist() == frame.columns.tolist()
        assert clf.best_estimator_.feature_names_in_.tolist() == frame.columns.tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert set(clf.predict(frame)) == {"a", "b"}
            clf.best_estimator_.predict(frame)

    def test_warning_names_columns(self):
        frame = pd.DataFrame(X * 10.0 ** np.linspace(-6, 6, 10), columns=[f"f{j}" for j in range(10)])
        with pytest.warns(ConvergenceWarning) as warned:
            fit_cv(frame, max_iter=3)
        assert "fits fell short. The worst, at C=" in str(warned[0].message)
        for warning in warned:
            assert "'f9'" in str(warning.message)
            assert "scale=True" in str(warning.message)

    def test_among_scikit_learn_tools(self):
        clf = LinearSVCCV(Cs=3, solver=SDCA(), random_state=0)
        twin = clone(clf)
        assert twin.get_params()["solver__shrink"] is True
        assert twin.set_params(solver__shrink=False).solver.shrink is False
        assert "C" not in clf.get_params()
        pipeline = make_pipeline(StandardScaler(), LinearSVCCV(Cs=CS, cv=3, random_state=0)).fit(X, Y)
        assert pipeline.score(X, Y) > 0.7
        fitted = fit_cv()
        loaded = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
        with pytest.raises(TypeError, match="LinearSVCCV has no parameter 'penalty'"):
            LinearSVCCV(penalty="l1")

    def test_rows_are_handed_over_once_per_fold(self, monkeypatch):
        import pegasos.linear.estimator as linear

        seen = []
        original = linear.make_rows
        monkeypatch.setattr(linear, "make_rows", lambda X, *rest: seen.append(X.shape) or original(X, *rest))
        fit_cv(X.astype(np.float32))
        assert seen == [(225, 10)] * 4 + [(300, 10)]

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_interrupt(self, n_jobs):
        rows, y = make_text(20_000, 2_000, random_state=0)
        before = threading.active_count()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            fit_cv(rows, y, Cs=[1e4], tol=1e-12, max_iter=10**8, n_jobs=n_jobs)
        assert threading.active_count() <= before + 1  # the timer's may take a moment to end

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_max_time_is_for_the_whole_call(self, ticks, n_jobs):
        before = clock.now()
        with pytest.warns(ConvergenceWarning):
            clf = fit_cv(Cs=5, cv=4, solver="pegasos", tol=1e-15, max_iter=10**9, max_time=5.0, n_jobs=n_jobs)
        assert 4.5 < clock.now() - before < 5.5
        assert clf.certificate_.reason == "max_time"
        assert n_jobs == 2 or not np.isnan(clf.scores_).any()  # two threads look at one clock, now one, now the other

    @pytest.mark.parametrize("classes", [2, 3])
    def test_listeners_are_told_the_time_of_all(self, ticks, classes):
        checks = []
        y = np.arange(len(Y)) % 3 if classes == 3 else Y
        with pegasos.listen(checks.append):
            LinearSVCCV(Cs=3, cv=2, random_state=0).fit(X, y)
        assert (np.diff([check.seconds for check in checks]) >= 0).all()

    def test_a_short_max_time_leaves_out_fits(self, ticks):
        before = clock.now()
        with pytest.warns(ConvergenceWarning, match=r"max_time=0.05 left no time for 1\d of 20 fits"):
            clf = fit_cv(Cs=5, cv=4, tol=0, max_iter=10**9, max_time=0.05)
        assert clock.now() - before < 0.5
        assert not np.isnan(clf.scores_[0, 0])  # of one there always is
        assert np.isnan(clf.scores_).any()
        assert clf.C_ in clf.Cs_[~np.isnan(clf.scores_).all(axis=0)]
        assert [len(fold) for fold in clf.certificates_] == (~np.isnan(clf.scores_)).sum(axis=1).tolist()
        assert clf.predict(X).shape == Y.shape

    def test_scores_that_are_no_numbers(self):
        with pytest.raises(ValueError, match="gave NaN for every C"):
            fit_cv(scoring=lambda *_: np.nan)
        assert fit_cv(scoring=lambda model, *_: np.nan if model.C < 0.1 else -model.C).C_ >= 0.1

    def test_an_error_in_a_fold_ends_the_others(self):
        def fails(estimator, X, y):
            raise RuntimeError("no score")

        for n_jobs in (1, 2):
            with pytest.raises(RuntimeError, match="no score"):
                fit_cv(scoring=fails, n_jobs=n_jobs)


def test_a_scorer_may_ask_the_estimator_for_its_score():
    clf = LinearSVCCV(Cs=2, cv=3, scoring=lambda model, rows, labels: model.score(rows, labels)).fit(X, Y)
    assert clf.score(X, Y) == clf.best_estimator_.score(X, Y)


def test_log_loss_is_chosen_by_its_probabilities():
    clf = LinearSVCCV(Cs=[0.001, 0.1], cv=3, loss="log_loss", scoring="neg_log_loss", random_state=0).fit(X, Y)
    assert clf.certificate_.converged
    assert clf.predict_proba(X).shape == (300, 2)
    assert clf.score(X, Y) == pytest.approx(-log_loss(Y, clf.predict_proba(X)))
    assert pegasos.path(X, Y, Cs=[0.001, 0.1], loss="log_loss").converged


def test_one_score_to_choose_by():
    with pytest.raises(ValueError, match="scoring="):
        LinearSVCCV(scoring=["accuracy", "f1"]).fit(X, Y)


class TestSeveralClasses:
    X, y = make_classification(240, 8, n_informative=6, n_classes=4, flip_y=0.1, random_state=0)

    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
    @pytest.mark.parametrize("loss", ["hinge", "log_loss"])
    def test_scores_are_those_of_fits_one_by_one(self, storage, loss):
        X, words = storage(self.X), np.array(["d", "a", "c", "b"])[self.y]
        options = {"loss": loss, "tol": 1e-9, "random_state": 0, "max_iter": 100_000}
        clf = LinearSVCCV(Cs=CS, cv=4, **options).fit(X, words)
        folds = list(StratifiedKFold(4).split(X, words))
        expected = [
            [LinearSVC(C=C, **options).fit(X[train], words[train]).score(X[test], words[test]) for C in CS]
            for train, test in folds
        ]
        np.testing.assert_array_equal(clf.scores_, expected)
        assert CS[np.mean(expected, axis=0).argmax()] == clf.C_
        assert clf.coef_.shape == (4, 8)
        assert clf.classes_.tolist() == ["a", "b", "c", "d"]
        np.testing.assert_array_equal(clf.coef_, LinearSVC(C=clf.C_, **options).fit(X, words).coef_)
        assert {len(one.parts) for fold in clf.certificates_ for one in fold} == {4}
        assert all(one.converged for fold in clf.certificates_ for one in fold)
        assert hasattr(clf, "predict_proba") == (loss == "log_loss")

    def test_threads_do_not_matter(self):
        one, two = (
            LinearSVCCV(Cs=CS, n_jobs=n_jobs, random_state=0).fit(self.X, self.y, np.arange(240) % 3)
            for n_jobs in (1, 2)
        )
        np.testing.assert_array_equal(one.scores_, two.scores_)
        np.testing.assert_array_equal(one.coef_, two.coef_)

    def test_a_class_that_a_fold_lacks(self):
        y = np.where(np.arange(240) == 7, 4, self.y)
        with pytest.warns(UserWarning, match="least populated class"):
            clf = LinearSVCCV(Cs=CS, cv=3, random_state=0).fit(self.X, y)
        assert clf.coef_.shape == (5, 8)
        assert np.isfinite(clf.scores_).all()

    def test_no_time(self, ticks):
        with pytest.warns(ConvergenceWarning, match=r"left no time for \d+ of 28 fits"):
            clf = LinearSVCCV(Cs=CS, cv=4, max_time=1.0, random_state=0).fit(self.X, self.y)
        assert np.isfinite(clf.mean_score_).any()
        assert clf.coef_.shape == (4, 8)
