"""LinearSVC with more than two classes: each against the rest, or all together."""

import functools
import itertools
import json
import os
import pickle
import signal
import threading
import time
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import suited_loss
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import LinearSVC as Liblinear

from pegasos import LinearSVC, LinearSVCCV, path
from pegasos.base import clock
from pegasos.base.bounds import Bounds
from pegasos.base.outcome import Point, Solution, UsedSolvers
from pegasos.base.rows import make_rows
from pegasos.base.solver import Supports
from pegasos.base.threads import run_all
from pegasos.problems.linear import Examples, JointProblem, LinearProblem
from pegasos.solvers import SDCA, SOLVERS, InteriorPoint, Pegasos

X, Y = make_classification(300, 8, n_informative=6, n_classes=4, flip_y=0.1, random_state=0)
LABELS = np.array(["ape", "bear", "cat", "dog"])[Y]


def fit(X=X, y=Y, sample_weight=None, **options):
    """A fixed seed, and 30 epochs of coordinate ascent whatever the gap."""
    options = {"tol": 0, "max_iter": 30, "random_state": 0, "solver": "sdca"} | options
    return LinearSVC(**options).fit(X, y, sample_weight)


class TestOneAgainstRest:
    @pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
    def test_shapes(self, store):
        clf = fit(store(X), LABELS)
        assert clf.classes_.tolist() == ["ape", "bear", "cat", "dog"]
        assert (clf.coef_.shape, clf.intercept_.shape) == ((4, 8), (4,))
        scores = clf.decision_function(store(X))
        np.testing.assert_allclose(scores, X @ clf.coef_.T + clf.intercept_)
        np.testing.assert_array_equal(clf.predict(store(X)), clf.classes_[scores.argmax(axis=1)])
        assert clf.score(X, LABELS) > 0.5
        assert (len(clf.history_), clf.n_iter_) == (4, 30)

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("intercept", [{}, {"fit_intercept": False}, {"intercept_scaling": 2.0}], ids=str)
    def test_it_is_a_binary_fit_of_each_class(self, solver, intercept):
        options = {"solver": solver, "loss": suited_loss(solver), "max_iter": 10, **intercept}
        clf = fit(n_jobs=2, **options)
        parts = [fit(y=(k == Y).astype(int), n_jobs=1, **options) for k in range(4)]
        np.testing.assert_array_equal(clf.coef_, np.vstack([part.coef_ for part in parts]))
        np.testing.assert_array_equal(clf.intercept_, np.hstack([part.intercept_ for part in parts]))
        for part, found in zip(parts, clf.certificate_.parts, strict=True):
            alone = part.certificate_
            assert (found.primal, found.dual, found.gap) == (alone.primal, alone.dual, alone.gap)

    def test_the_certificate_is_the_sum_of_its_parts(self):
        found = fit(tol=1e-2, max_iter=1000).certificate_
        assert len(found.parts) == 4
        assert found.primal == pytest.approx(sum(part.primal for part in found.parts))
        assert found.dual == pytest.approx(sum(part.dual for part in found.parts))
        assert found.gap == max(part.gap for part in found.parts) == found.parts[found.worst].gap <= 1e-2
        assert found.converged
        assert found.n_iter == max(part.n_iter for part in found.parts)
        assert found.seconds >= max(part.seconds for part in found.parts)
        assert not any(part.parts for part in found.parts)
        assert (
            f"4, all converged; the gap is that of the worst, parts[{found.worst}] ({found.worst} against the rest)"
            in str(found)
        )
        assert [part.problem for part in found.parts] == [f"{k} against the rest" for k in range(4)]
        assert found.problem == ""
        assert json.loads(json.dumps(found.to_dict()))["parts"][2]["dual"] == found.parts[2].dual
        assert fit(y=Y > 1).certificate_.parts == ()

    def test_not_converged_is_said_once(self):
        with pytest.warns(
            ConvergenceWarning, match=r"\d of 4 classes fell short. The worst, \d against the rest: LinearSVC did not"
        ) as told:
            clf = fit(tol=1e-9, max_iter=3)
        assert len(told) == 1
        assert told[0].filename == __file__
        assert not clf.certificate_.converged
        assert "not converged" in str(clf.certificate_)

    @pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos", "sgd-m"])
    def test_the_result_does_not_depend_on_n_jobs(self, solver):
        one, two, many = (fit(solver=solver, n_jobs=n_jobs) for n_jobs in (1, 2, 7))
        for other in (two, many):
            np.testing.assert_array_equal(one.coef_, other.coef_)
            assert one.certificate_.dual == other.certificate_.dual

    def test_auto_takes_threads_for_large_data(self, monkeypatch):
        used = []
        monkeypatch.setattr(
            "pegasos.linear.one_vs_rest.run_all",
            lambda works, n_jobs, *_: used.append(n_jobs) or run_all(works, n_jobs),
        )
        small = fit(solver="auto", tol=1e-3)
        monkeypatch.setattr("pegasos.linear.svc.ENTRIES_FOR_THREADS", 0)
        monkeypatch.setattr("pegasos.linear.svc.usable_threads", lambda: 3)
        large = fit(solver="auto", tol=1e-3)
        fit(solver="sdca")
        assert used == [1, 3, 1]
        np.testing.assert_array_equal(small.coef_, large.coef_)

    def test_whole_weights_are_repeated_rows(self):
        s = np.random.default_rng(0).integers(0, 4, len(Y))
        options = {"C": 0.1, "tol": 1e-9, "solver": "interior-point"}
        weighted = fit(sample_weight=s, **options).certificate_
        repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s), **options).certificate_
        for one, other in zip((weighted, *weighted.parts), (repeated, *repeated.parts), strict=True):
            assert one.primal == pytest.approx(other.primal, rel=1e-8)
            assert one.dual == pytest.approx(other.dual, rel=1e-8)

    @pytest.mark.parametrize("class_weight", [{0: 5.0, 2: 0.5}, "balanced"], ids=str)
    def test_class_weights_are_those_of_the_true_class(self, class_weight):
        s = np.random.default_rng(0).uniform(0.5, 2, len(Y))
        factor = np.array([5.0, 1.0, 0.5, 1.0])[Y] if class_weight != "balanced" else len(Y) / (4 * np.bincount(Y))[Y]
        clf = fit(sample_weight=s, class_weight=class_weight)
        np.testing.assert_array_equal(clf.coef_, fit(sample_weight=s * factor).coef_)

    def test_liblinear_agrees(self):
        ours = fit(tol=1e-9, solver="interior-point")
        peer = Liblinear(loss="hinge", tol=1e-8, max_iter=10**6, random_state=0).fit(X, Y)
        np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-3)
        np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-2)

    def test_rows_are_handed_over_once(self, monkeypatch):
        handed = []
        monkeypatch.setattr(
            "pegasos.linear.estimator.make_rows", lambda X, *rest: handed.append(X) or make_rows(X, *rest)
        )
        rows = X.copy()
        fit(rows, n_jobs=2)
        assert len(handed) == 1
        assert np.shares_memory(handed[0], rows)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_warm_start(self, n_jobs):
        clf = fit(warm_start=True, max_iter=5, n_jobs=n_jobs)
        duals = [part.dual for part in clf.certificate_.parts]
        clf.fit(X, Y)
        assert all(part.dual >= dual for part, dual in zip(clf.certificate_.parts, duals, strict=True))
        once = fit(max_iter=5).certificate_
        assert clf.certificate_.gap < once.gap
        twin = pickle.loads(pickle.dumps(clf))
        np.testing.assert_array_equal(twin.fit(X, Y).coef_, clf.fit(X, Y).coef_)
        assert fit().fit(X, Y)._last[0].point is None  # not kept, where it is not asked for
        with pytest.raises(ValueError, match="classes changed from"):
            clf.fit(X, Y + 1)

    def test_warm_start_continues_on_more_rows_and_to_two_ways(self):
        clf = fit(X[:250], Y[:250], warm_start=True, C=1.0, max_iter=200)
        before = clf.certificate_.dual
        assert clf.set_params(max_iter=1).fit(X, Y).certificate_.dual >= before * (1 - 1e-9)

    def test_max_time_is_for_all(self, ticks):
        for n_jobs in (1, 2):
            clf = fit(max_iter=10**9, max_time=4, n_jobs=n_jobs)
            assert clf.certificate_.seconds >= 4
            assert clf.certificate_.reason == "max_time"
            assert {part.reason for part in clf.certificate_.parts} == {"max_time"}
            if n_jobs == 1:  # two threads do not look at the clock in turn, and one may wait while the other looks
                assert clf.certificate_.seconds < 5
                assert min(history["epoch"][-1] for history in clf.history_) > 10  # the last have had their share

    def test_time_that_others_left_is_used(self, ticks):
        """Two of six classes lie on each other, and their shares are too short; the others need little of theirs."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 6, 600)
        Z = rng.normal(size=(600, 6)) + 8 * np.eye(6)[np.where(y == 1, 0, y)]
        clf = fit(Z, y, tol=1e-3, max_iter=10**6, max_time=22.0, n_jobs=1)
        assert clf.certificate_.converged
        assert clf.certificate_.seconds <= 22
        assert clf.certificate_.parts[0].seconds > clf.certificate_.parts[-1].seconds  # it went on after the others
        for history, part in zip(clf.history_, clf.certificate_.parts, strict=True):
            assert part.reason == "tol"
            assert all((np.diff(history[name]) >= 0).all() for name in ("seconds", "epoch", "dual"))
            assert (history["primal"][-1], history["dual"][-1]) == (part.primal, part.dual)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos", "newton", "interior-point"])
    def test_no_class_is_given_up_while_there_is_time(self, monkeypatch, n_jobs, solver):
        """Time stands still but for a moment, in which a share goes by, as on a busy machine."""
        looks = itertools.count()
        monkeypatch.setattr(clock, "read", lambda: float(next(looks) > 30))
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(200, 20)), np.arange(200) % 50
        loss = "squared_hinge" if solver == "newton" else "hinge"
        clf = LinearSVC(solver=solver, loss=loss, tol=0.05, max_time=20, n_jobs=n_jobs, random_state=0).fit(Z, y)
        assert next(looks) > 30
        assert clf.certificate_.converged
        assert "max_time" not in {part.reason for part in clf.certificate_.parts}

    def test_classes_whose_dual_points_take_too_much_memory_go_on_anew(self, ticks, monkeypatch):
        monkeypatch.setattr("pegasos.linear.one_vs_rest.MOST_BYTES", 0)
        clf = fit(tol=0, max_iter=10**9, max_time=4, n_jobs=1)
        assert clf.certificate_.dual <= clf.certificate_.primal

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("interrupts", [True, False], ids=["", "calls of the system go on"])
    def test_interrupt(self, n_jobs, interrupts, request):
        """Also after a library such as polars has set a handler that lets waiting go on."""
        before = threading.active_count()
        signal.siginterrupt(signal.SIGINT, interrupts)
        request.addfinalizer(functools.partial(signal.siginterrupt, signal.SIGINT, True))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        clf = LinearSVC(tol=0, max_iter=10**9, solver="sdca", n_jobs=n_jobs)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, Y)
        assert threading.active_count() <= before + 1  # the timer's may take a moment to end
        assert not hasattr(clf, "coef_")

    def test_an_error_in_one_ends_the_others(self):
        ended = []

        def fails(report):
            raise RuntimeError("no")

        def goes_on(report):
            for _ in range(2000):
                report.progressed(0.0, 0.0)
                time.sleep(0.01)
            ended.append(report)

        from pegasos.base.progress import Progress

        with pytest.raises(RuntimeError, match="no"):
            run_all([(goes_on, Progress()), (fails, Progress()), (goes_on, Progress())], 2)
        assert not ended

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_verbose_tells_the_class(self, capfd, n_jobs):
        clf = fit(y=LABELS, verbose=2, max_iter=4, n_jobs=n_jobs)
        lines = capfd.readouterr().err.splitlines()
        for label, history in zip(clf.classes_, clf.history_, strict=True):
            assert sum(line.startswith(f"'{label}': epoch") for line in lines) == len(history["gap"])

    def test_free_intercept_and_scale(self):
        clf = fit(solver=InteriorPoint(), intercept="free", scale=True, tol=1e-6)
        assert clf.certificate_.gap <= 1e-6
        assert clf.certificate_.scaled
        assert clf.scale_.shape == (8,)

    def test_among_scikit_learn_tools(self):
        assert GridSearchCV(LinearSVC(), {"C": [0.01, 1.0]}, cv=3).fit(X, LABELS).score(X, LABELS) > 0.5
        ours = fit(solver="interior-point", tol=1e-8)
        wrapped = OneVsRestClassifier(ours).fit(X, Y)
        np.testing.assert_allclose(wrapped.decision_function(X), ours.decision_function(X), atol=1e-5)

    def test_multilabel(self):
        rows, labels = make_multilabel_classification(150, 8, n_classes=3, random_state=0)
        svc = LinearSVC(C=0.1, random_state=0)
        for wrapper in (MultiOutputClassifier(svc), OneVsRestClassifier(svc)):
            assert wrapper.fit(rows, labels).predict(rows).shape == labels.shape
        with pytest.raises(ValueError, match=r"1d array.*\(150, 3\)"):
            svc.fit(rows, labels)

    def test_paths_serve_two_classes(self):
        with pytest.raises(ValueError, match=r"Only binary.*multiclass: y has 4 classes.*LinearSVCCV supports more"):
            path(X, Y)
        with pytest.raises(TypeError, match="no parameter 'multi_class'"):
            path(X, Y > 1, multi_class="joint")
        with pytest.raises(TypeError, match="LinearSVCCV has no parameter 'multi_class'"):
            LinearSVCCV(multi_class="ovr")


WRONG = [
    ({"multi_class": "joint", "loss": "squared_hinge"}, ["loss='squared_hinge'", "'hinge' and 'log_loss'", "ovr"]),
    (
        {"multi_class": "joint", "intercept": "free"},
        [
            "sdca does not support intercept='free' with multi_class='joint'",
            "it supports 'penalized'; use multi_class='ovr'",
        ],
    ),
    ({"multi_class": "joint", "solver": "sgd-m"}, ["sgd-m", "solver='auto', 'sdca', 'sgd-s' or 'pegasos'"]),
    (
        {"multi_class": "joint", "solver": "interior-point"},
        ["interior-point", "solver='auto', 'sdca', 'sgd-s' or 'pegasos'"],
    ),
    ({"cost": 1 - np.eye(4)}, ["cost is for multi_class='joint' with loss='hinge'", "'auto'"]),
    ({"multi_class": "joint", "loss": "log_loss", "cost": np.eye(4)}, ["cost is for", "'log_loss'"]),
    (
        {"loss": "log_loss", "solver": "perceptron"},
        ["perceptron does not support loss='log_loss'; it supports 'hinge'; use solver='auto'"],
    ),
    ({"multi_class": "multinomial"}, ["multi_class='multinomial': must be 'auto', 'ovr', 'joint' or 'crammer_singer'"]),
    (
        {"multi_class": "crammer_singer", "loss": "log_loss"},
        ["loss='log_loss': multi_class='crammer_singer' has the hinge loss", "multi_class='joint'"],
    ),
    ({"early_stopping": True}, ["sdca does not support early_stopping=True", "'sgd-s', 'sgd-m', 'sgd-r' or 'pegasos'"]),
    ({"early_stopping": True, "solver": "auto"}, ["auto does not support early_stopping=True"]),
    ({"early_stopping": True, "solver": Pegasos(max_steps=9)}, ["max_steps"]),
    ({"validation_fraction": 1.0}, ["validation_fraction=1.0: must be a finite number above 0 and below 1"]),
    ({"n_iter_no_change": 0}, ["n_iter_no_change=0: must be an integer of at least 1"]),
]


class Everything(SDCA):
    """Knows all losses, and solves joint problems by scipy: what the estimator makes of a solver's answer."""

    def _joint(self, problem, terms):
        rows, y, s, C, K, seen = problem.core
        seen.append(terms.start)

        def objective(w):
            scores = rows @ w.reshape(-1, K)
            slopes = C * s[:, None] * (softmax(scores, axis=1) - np.eye(K)[y])
            loss = C * s @ (logsumexp(scores, axis=1) - scores[np.arange(len(y)), y])
            return w @ w / 2 + loss, w + (rows.T @ slopes).ravel()

        found = minimize(objective, np.zeros(rows.shape[1] * K), jac=True, tol=1e-10)
        q = np.zeros(len(y) * K)
        records = [[0.1, 3.0, found.fun, found.fun]]
        bounds = Bounds(found.fun, found.fun)
        return Solution(Point(found.x, q), bounds, 3.0, 0.1, "tol", records, UsedSolvers(("all",)), 7)

    supports: ClassVar = {**SDCA.supports, JointProblem: Supports(_joint, losses=("hinge", "log_loss"))}


@pytest.mark.parametrize(("options", "parts"), WRONG, ids=lambda value: str(value)[:60])
def test_what_does_not_go_together(options, parts):
    clf = LinearSVC(**({"solver": "sdca"} | options))
    with pytest.raises(ValueError, match="=") as refused:
        clf.fit(X, Y)
    for part in parts:
        assert part in str(refused.value)
    assert not hasattr(clf, "coef_")


@pytest.mark.parametrize(
    ("cost", "wrong"),
    [
        (np.ones((3, 3)), "4 rows of 4 numbers"),
        ("high", "4 rows of 4 numbers"),
        (np.ones((4, 4)), "zero on the diagonal"),
        (np.eye(4) - 1, "not negative"),
        (np.where(np.eye(4), 0, np.inf), "finite"),
    ],
)
def test_costs(cost, wrong):
    with pytest.raises(ValueError, match=wrong):
        LinearSVC(multi_class="joint", cost=cost).fit(X, Y)


class TestJointByAnotherSolver:
    """What becomes of the answer of a joint solver, whichever it is."""

    @pytest.fixture
    def seen(self, monkeypatch):
        """Where each solve started."""
        seen = []

        def joint_problem(examples, C, classes, cost):
            scaled = X if examples.scale is None else X / examples.scale
            rows = np.column_stack([scaled, np.full(len(X), examples.bias)])
            core = (rows, classes, examples.s, C, len(cost), seen)
            sizes = {"n_rows": len(X), "C": C, "total_weight": len(X), "largest_norm": 1.0, "entries": X.size}
            return JointProblem(core=core, dimension=rows.shape[1], n_classes=len(cost), loss="log_loss", **sizes)

        monkeypatch.setattr(Examples, "joint_problem", joint_problem)
        return seen

    def joint(self, y=Y, **options):
        options = {"multi_class": "joint", "loss": "log_loss", "C": 0.3, "solver": Everything()} | options
        return LinearSVC(**options).fit(X, y)

    def test_it_is_softmax_regression(self, seen):
        clf = self.joint(y=LABELS, fit_intercept=False)
        peer = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=10**4).fit(X, LABELS)
        np.testing.assert_allclose(clf.coef_, peer.coef_, atol=1e-4)
        np.testing.assert_allclose(clf.predict_proba(X), peer.predict_proba(X), atol=1e-4)
        np.testing.assert_array_equal(clf.predict(X), peer.predict(X))
        assert (clf.coef_.shape, clf.intercept_.tolist()) == ((4, 8), [0.0] * 4)
        assert clf.certificate_.parts == ()
        assert isinstance(clf.history_, dict)

    def test_two_classes(self, seen):
        clf = self.joint(y=Y > 1)
        assert clf.coef_.shape == (2, 8)
        scores = X @ clf.coef_.T + clf.intercept_
        np.testing.assert_allclose(clf.decision_function(X), scores[:, 1] - scores[:, 0])
        np.testing.assert_allclose(clf.predict_proba(X), softmax(scores, axis=1))
        np.testing.assert_array_equal(clf.predict(X), scores.argmax(axis=1).astype(bool))

    def test_scale_and_bias(self, seen):
        clf = self.joint(scale=True, intercept_scaling=2.0)
        assert clf.certificate_.scaled
        assert clf.score(X, Y) > 0.5

    def test_warm_start(self, seen):
        clf = self.joint(warm_start=True, intercept_scaling=2.0).fit(X, Y)
        assert seen[0] is None
        table = np.vstack([clf.coef_.T, clf.intercept_ / 2])
        np.testing.assert_allclose(seen[1].point.w, table.ravel(), atol=1e-6)
        assert seen[1].t == 7
        assert len(seen[1].point.q) == len(Y) * 4
        clf.set_params(multi_class="ovr", loss="hinge").fit(X, Y)  # starts anew
        clf.set_params(multi_class="joint", loss="log_loss").fit(X, Y)
        assert seen[2] is None


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos", "sgd-s"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_joint(solver, loss):
    clf = fit(X, LABELS, multi_class="joint", loss=loss, solver=solver, C=0.1, tol=0.05, max_iter=2000)
    assert clf.certificate_.gap <= 0.05
    scores = X @ clf.coef_.T + clf.intercept_
    if loss == "hinge":
        losses = (scores + 1 - np.eye(4)[Y]).max(axis=1) - scores[np.arange(len(Y)), Y]
    else:
        losses = logsumexp(scores, axis=1) - scores[np.arange(len(Y)), Y]
    value = (clf.coef_**2).sum() / 2 + (clf.intercept_**2).sum() / 2 + 0.1 * losses.sum()
    assert clf.certificate_.primal == pytest.approx(value, rel=1e-9)


class TestJoint:
    def test_softmax_regression_agrees(self):
        options = {"multi_class": "joint", "loss": "log_loss", "C": 0.3, "fit_intercept": False}
        ours = fit(y=LABELS, tol=1e-8, max_iter=10**5, **options)
        peer = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=10**5).fit(X, LABELS)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)

    @pytest.mark.parametrize("loss", ["hinge", "log_loss"])
    def test_warm_start(self, loss):
        options = {"multi_class": "joint", "loss": loss, "C": 1.0, "tol": 1e-4, "max_iter": 10**5}
        clf = fit(warm_start=True, **options)
        before = clf.n_iter_
        assert clf.fit(X, Y).n_iter_ < before
        assert clf.certificate_.converged
        clf.set_params(loss="hinge" if loss == "log_loss" else "log_loss").fit(X, Y)  # from the weights alone
        assert clf.certificate_.converged

    def test_two_classes_and_class_weights(self):
        y, s = Y > 1, np.where(Y > 1, 3.0, 1.0)
        weighted = fit(y=y, multi_class="joint", class_weight={True: 3.0})
        np.testing.assert_array_equal(weighted.coef_, fit(y=y, multi_class="joint", sample_weight=s).coef_)
        assert weighted.decision_function(X).shape == (300,)

    def test_early_stopping(self):
        clf = fit(multi_class="joint", solver="pegasos", tol=1e-9, max_iter=1000, early_stopping=True)
        assert clf.certificate_.reason == "early_stopping"
        assert clf.score(X, Y) > 0.4

    def test_interrupt(self):
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            fit(multi_class="joint", max_iter=10**9)


def test_costs_count():
    cost = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [9, 9, 9, 0]])
    plain = fit(multi_class="joint", C=0.1, tol=1e-3, max_iter=2000)
    costly = fit(multi_class="joint", C=0.1, tol=1e-3, max_iter=2000, cost=cost)
    assert np.sum((costly.predict(X) != 3) & (Y == 3)) < np.sum((plain.predict(X) != 3) & (Y == 3))


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # in scikit-learn 1.6, which is close all the same
def test_joint_agrees_with_liblinear():
    ours = fit(multi_class="joint", C=0.1, tol=1e-6, max_iter=10**5)
    peer = Liblinear(multi_class="crammer_singer", C=0.1, tol=1e-8, max_iter=10**6, random_state=0).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-2)


def test_joint_whole_weights_are_repeated_rows():
    s = np.random.default_rng(0).integers(0, 4, len(Y))
    options = {"multi_class": "joint", "C": 0.1, "tol": 1e-5, "max_iter": 10**4}
    weighted = fit(sample_weight=s, **options).certificate_
    repeated = fit(np.repeat(X, s, axis=0), np.repeat(Y, s), **options).certificate_
    assert weighted.primal == pytest.approx(repeated.primal, rel=2e-5)


class TestProbabilities:
    def model(self, rows, labels, **options):
        """A model whose weights are not from a fit."""
        clf = LinearSVC(loss="log_loss", **options)
        clf.classes_, clf.n_features_in_ = np.unique(labels), X.shape[1]
        random = np.random.default_rng(0)
        clf.coef_, clf.intercept_ = random.normal(size=(rows, 8)), random.normal(size=rows)
        return clf

    def peer(self, clf):
        """scikit-learn's own, with these weights."""
        peer = LogisticRegression()
        peer.classes_, peer.coef_, peer.intercept_ = clf.classes_, clf.coef_, clf.intercept_
        peer.n_features_in_ = X.shape[1]
        return peer

    def test_two_classes(self):
        clf = self.model(1, Y > 1)
        np.testing.assert_allclose(clf.predict_proba(X), self.peer(clf).predict_proba(X), rtol=1e-9)

    def test_one_against_rest(self):
        clf = self.model(4, Y)
        found = clf.predict_proba(X)
        np.testing.assert_allclose(found, self.peer(clf)._predict_proba_lr(X), rtol=1e-9)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        np.testing.assert_array_equal(clf.classes_[found.argmax(axis=1)], clf.predict(X))

    def test_jointly(self):
        clf = self.model(4, Y, multi_class="joint")
        np.testing.assert_allclose(clf.predict_proba(X), self.peer(clf).predict_proba(X), rtol=1e-9)

    @pytest.mark.parametrize("multi_class", ["ovr", "joint"])
    def test_far_out(self, multi_class):
        clf = self.model(4, Y, multi_class=multi_class)
        clf.intercept_ = np.array([-1e6, -2e6, -3e6, -4e6])
        logs = clf.predict_log_proba(X)
        assert np.isfinite(logs).all()
        np.testing.assert_array_equal(clf.predict_proba(X), np.eye(4)[np.zeros(len(X), dtype=int)])

    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_hinge_losses_have_none(self, loss):
        clf = LinearSVC(loss=loss)
        for name in ("predict_proba", "predict_log_proba"):
            assert not hasattr(clf, name)
            with pytest.raises(AttributeError, match=r"'log_loss'.*CalibratedClassifierCV"):
                getattr(clf, name)
        assert hasattr(LinearSVC(loss="log_loss"), "predict_proba")

    @pytest.mark.parametrize("y", [Y > 1, LABELS], ids=["two", "four"])
    def test_calibration(self, y):
        clf = CalibratedClassifierCV(LinearSVC(C=0.1, random_state=0), cv=3).fit(X, y)
        found = clf.predict_proba(X)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert clf.score(X, y) > 0.5

    @pytest.mark.parametrize("y", [Y > 1, LABELS], ids=["two", "four"])
    def test_logistic_regression_agrees(self, y):
        ours = fit(y=y, loss="log_loss", C=0.3, tol=1e-7, max_iter=10**5, solver="auto", fit_intercept=False)
        peer = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-10, max_iter=10**5)
        peer = (OneVsRestClassifier(peer) if y is LABELS else peer).fit(X, y)
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize(
    "solver", [name for name, cls in SOLVERS.items() if "squared_hinge" in cls.supports[LinearProblem].losses]
)
def test_squared_hinge(solver):
    ours = fit(load_iris().data, load_iris().target, loss="squared_hinge", C=0.01, solver=solver, max_iter=300)
    assert ours.certificate_.dual <= ours.certificate_.primal
    assert ours.score(load_iris().data, load_iris().target) > 0.6
