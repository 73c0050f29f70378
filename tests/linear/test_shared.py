"""Classes against the rest that share passes (cpp/classes/solvers/shared_sdca.cpp): step by step against its
NumPy twin, certificates by independent evaluation, and the estimator's fits beside those of each class alone."""

import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import STORAGES, assert_same, make_problem, storage_name
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from pegasos import LinearSVC
from pegasos._core import native
from pegasos.base.rows import make_rows
from pegasos.linear import one_vs_rest
from pegasos.problems.linear import Examples
from pegasos.reference import dca
from pegasos.reference import losses as reference_losses
from pegasos.solvers import SDCA, Auto, Pegasos

LOSSES = ["hinge", "squared_hinge", "log_loss"]
X, Y = make_classification(300, 8, n_informative=6, n_classes=4, flip_y=0.1, random_state=0)


def labels_of(problem, count):
    return np.random.default_rng(1).integers(count, size=problem.m)


def signs(labels, k):
    return np.where(labels == k, 1.0, -1.0)


def run(problem, labels, storage=STORAGES[1], loss="hinge", first=0, last=None, run=None, **options):
    """``native.shared_sdca`` with defaults: one epoch of all classes in a random order."""
    core = native.Problem(problem.rows(storage), labels.astype(float), problem.s, problem.C, loss)
    defaults = {
        "shrink": True,
        "blocks": False,
        "max_epochs": 1.0,
        "shared_epochs": np.inf,
        "keep_points": True,
        "tol": 0.0,
        "seed": 0,
        "visits": None,
        "report": None,
    }
    last = labels.max() + 1 if last is None else last
    return native.shared_sdca(core, run or native.Run(), first=first, last=last, **(defaults | options))


@pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
@pytest.mark.parametrize("classes", [(0, 3), (1, 4), (0, 20)], ids=str)
def test_every_step_is_the_twins(storage, classes):
    problem = make_problem(weighted=True, bias=0.75)
    labels = labels_of(problem, classes[1])
    sequence = np.random.default_rng(0).integers(problem.m, size=25).astype(np.uint32)
    twins = [
        list(dca.dca(problem.augmented, signs(labels, k), problem.C, sequence, s=problem.s)) for k in range(*classes)
    ]
    for steps in range(1, len(sequence) + 1):
        found = run(problem, labels, storage, "hinge", *classes, visits=sequence[:steps])
        for solution, twin in zip(found, twins, strict=True):
            alpha, w = twin[steps]
            assert_same(solution.w, w)
            assert_dual_point(problem, solution, alpha)
            assert (solution.steps, solution.reason) == (steps, "budget")


def assert_dual_point(problem, solution, alpha):
    """The dual point is alpha, but that of one sign it may be less (the intercept's side)."""
    q = alpha / (problem.C * problem.s)
    kept = q > 0
    assert (solution.q[~kept] == 0).all()
    factors = solution.q[kept] / q[kept]
    distinct = np.unique(factors.round(9))
    assert len(distinct) <= 2
    assert len(distinct) == 0 or distinct.max() == 1 or (problem.bias > 0 and distinct.max() < 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_other_losses_step_as_alone(loss):
    problem = make_problem(weighted=True)
    labels = labels_of(problem, 5)
    sequence = np.random.default_rng(0).integers(problem.m, size=60).astype(np.uint32)
    for k, solution in enumerate(run(problem, labels, loss=loss, visits=sequence)):
        alone = native.sdca(
            native.Problem(problem.rows(), signs(labels, k), problem.s, problem.C, loss),
            native.Run(),
            shrink=True,
            blocks=False,
            max_epochs=1.0,
            tol=0.0,
            rho=np.inf,
            joins=1,
            seed=0,
            visits=sequence,
            start_w=None,
            start_t=0,
            start_q=None,
        )
        assert_same(solution.w, alone.w, rtol=1e-9)
        np.testing.assert_allclose(solution.q, alone.q, atol=1e-9)
        assert solution.bounds.primal == pytest.approx(alone.bounds.primal, rel=1e-10)
        assert solution.bounds.dual == pytest.approx(alone.bounds.dual, rel=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", [0.0, 1.5])
@pytest.mark.parametrize("tol", [1e-3, 1e-7])
def test_certificates_hold(loss, bias, tol):
    problem = make_problem(weighted=True, bias=bias, m=80)
    problem = replace(problem, s=np.where(np.arange(problem.m) == 7, 0.0, problem.s))
    labels = labels_of(problem, 19)
    told = []
    found = run(
        problem, labels, STORAGES[2], loss, tol=tol, max_epochs=5000.0, report=lambda *record: told.append(record)
    )
    assert len(found) == 19
    for k, solution in enumerate(found):
        y, Z = signs(labels, k), problem.augmented
        primal = reference_losses.primal(loss, Z, y, problem.s, problem.C, solution.w)
        dual = reference_losses.dual(loss, Z, y, problem.s, problem.C, solution.q)
        assert solution.bounds.primal == pytest.approx(primal, rel=1e-9)
        assert solution.bounds.dual == pytest.approx(dual, rel=1e-9)
        assert solution.reason == "tol"
        assert primal - dual <= tol * dual * (1 + 1e-9)
        assert [list(record[1:5]) for record in told if record[0] == k] == solution.history
        assert solution.history[-1][1:] == [solution.epochs, solution.bounds.primal, solution.bounds.dual]


def test_points_are_kept_where_asked_for():
    problem = make_problem()
    labels = labels_of(problem, 3)
    options = {"tol": 1e-2, "max_epochs": 1000.0}
    assert [len(part.q) for part in run(problem, labels, keep_points=False, **options)] == [0, 0, 0]
    assert [len(part.q) for part in run(problem, labels, **options)] == [problem.m] * 3


def test_what_is_not_there_is_refused():
    problem = make_problem()
    with pytest.raises(ValueError, match="label out of range"):
        run(problem, labels_of(problem, 3) - 1)
    with pytest.raises(ValueError, match="no classes"):
        run(problem, labels_of(problem, 3), first=2, last=2)
    with pytest.raises(ValueError, match="no classes"):
        run(problem, labels_of(problem, 3), loss="epsilon_insensitive")


@pytest.fixture
def shared(monkeypatch):
    """Classes share passes whatever the data, in groups of three."""
    monkeypatch.setattr("pegasos.linear.one_vs_rest.is_worth_sharing", lambda *_: True)
    monkeypatch.setattr("pegasos.linear.one_vs_rest.GROUP", 3)


def fit(y=Y, sample_weight=None, rows=X, **options):
    options = {"tol": 1e-3, "C": 0.1, "max_iter": 10_000, "random_state": 0, "solver": "sdca"} | options
    return LinearSVC(**options).fit(rows, y, sample_weight)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_fits_agree_with_those_of_each_class_alone(shared, store, loss, fit_intercept):
    s = np.random.default_rng(0).uniform(0, 2, len(Y)).round(1)
    options = {"loss": loss, "fit_intercept": fit_intercept, "class_weight": {0: 2.0}, "sample_weight": s}
    clf = fit(rows=store(X), **options)
    weights = np.where(Y == 0, 2 * s, s)
    options = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-6, "sample_weight": weights}
    assert "SDCA(order='permute') on 2 classes at once" in clf.certificate_.solver
    assert len(clf.history_) == len(clf.certificate_.parts) == 4
    for k, part in enumerate(clf.certificate_.parts):
        alone = fit(y=(k == Y).astype(int), **options).certificate_
        assert part.gap <= 1e-3
        assert part.dual <= alone.primal * (1 + 1e-9)
        assert part.primal >= alone.dual * (1 - 1e-9)
        assert clf.history_[k]["primal"][-1] == part.primal
        value = reference_losses.primal(
            loss,
            np.column_stack([X, np.ones(len(X))]),
            signs(Y, k),
            weights,
            0.1,
            np.append(clf.coef_[k], clf.intercept_[k]),
        )
        assert part.primal == pytest.approx(value, rel=1e-9)
    assert clf.certificate_.converged
    assert clf.certificate_.gap == max(part.gap for part in clf.certificate_.parts)


@pytest.mark.parametrize("solver", ["sdca", SDCA(shrink=False, order="blocks")], ids=str)
def test_the_result_does_not_depend_on_n_jobs(shared, solver):
    one, two, many = (fit(solver=solver, n_jobs=n_jobs) for n_jobs in (1, 2, 7))
    for other in (two, many):
        np.testing.assert_array_equal(one.coef_, other.coef_)
        np.testing.assert_array_equal(one.intercept_, other.intercept_)
        assert [part.dual for part in one.certificate_.parts] == [part.dual for part in other.certificate_.parts]


def test_three_classes_and_none_converged(shared):
    with pytest.warns(ConvergenceWarning, match="of 3 classes fell short"):
        clf = fit(y=np.minimum(Y, 2), tol=1e-9, max_iter=3)
    assert {part.reason for part in clf.certificate_.parts} == {"max_iter"}
    assert clf.n_iter_ == 3
    assert not clf.certificate_.converged


@pytest.mark.parametrize("solver", ["sdca", "auto"])
def test_what_takes_long_goes_on_alone(shared, monkeypatch, solver):
    monkeypatch.setattr("pegasos.linear.one_vs_rest.SHARED_EPOCHS", 2)
    clf = fit(tol=1e-5, solver=solver, loss="squared_hinge")
    texts = [part.solver for part in clf.certificate_.parts]
    assert any("at once, then " in text for text in texts)
    assert all(part.gap <= 1e-5 for part in clf.certificate_.parts)
    for history in clf.history_:
        assert (np.diff(history["epoch"]) > 0).all()
        assert (np.diff(history["dual"]) >= 0).all()
    with pytest.warns(ConvergenceWarning):
        short = fit(tol=1e-12, max_iter=5)
    assert short.n_iter_ <= 6


def test_max_time_is_for_all(shared, ticks):
    for n_jobs in (1, 2):
        clf = fit(tol=0, max_iter=10**9, max_time=4, n_jobs=n_jobs)
        assert clf.certificate_.seconds >= 4
        assert {part.reason for part in clf.certificate_.parts} == {"max_time"}
        if n_jobs == 1:  # two threads do not look at the clock in turn, and one may wait while the other looks
            assert clf.certificate_.seconds < 5
            assert min(history["epoch"][-1] for history in clf.history_) > 20  # the last have had their share


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt(shared, monkeypatch, n_jobs):
    monkeypatch.setattr("pegasos.linear.one_vs_rest.SHARED_EPOCHS", 1e12)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        fit(tol=0, max_iter=10**9, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_verbose_tells_the_class(shared, capfd, n_jobs):
    clf = fit(y=np.array(["ape", "bear", "cat", "dog"])[Y], verbose=2, tol=1e-5, n_jobs=n_jobs)
    lines = capfd.readouterr().err.splitlines()
    for label, history in zip(clf.classes_, clf.history_, strict=True):
        assert sum(line.startswith(f"'{label}': epoch") for line in lines) == len(history["gap"])


def test_warm_start_continues_alone(shared):
    clf = fit(warm_start=True, tol=1e-2)
    duals = [part.dual for part in clf.certificate_.parts]
    clf.set_params(tol=1e-4)
    clf.fit(X, Y)
    assert all(part.dual >= dual for part, dual in zip(clf.certificate_.parts, duals, strict=True))
    assert clf.certificate_.gap <= 1e-4


class TestWhen:
    """When classes share passes."""

    def examples(self, rows=4000, features=5000, per_row=70, loss="hinge", free=False):
        random = np.random.default_rng(0)
        columns = np.argsort(random.random((rows, min(features, 5000))), axis=1)[:, :per_row].ravel()
        data = sp.csr_matrix((np.ones(rows * per_row), columns, np.arange(rows + 1) * per_row), (rows, features))
        handed, report = make_rows(data, 0.0)
        y = np.ones(rows)
        return Examples(handed, report, y, y, features + 1, 1.0 if free else 0.0, free, loss)

    def test_sparse_data_of_some_size_and_classes(self):
        usual = self.examples()
        for count in (14, 16, 58, 1000):
            assert one_vs_rest.is_worth_sharing(usual, count, SDCA(), 1e-3)
            assert one_vs_rest.is_worth_sharing(usual, count, Auto(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(usual, 13, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(usual, 20, SDCA(), 1e-3)  # two groups of ten
        assert not one_vs_rest.is_worth_sharing(usual, 100_000, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(usual, 16, Pegasos(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(self.examples(rows=300), 16, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(self.examples(features=100), 16, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(self.examples(free=True), 16, SDCA(), 1e-3)

    def test_the_log_loss_unless_examples_are_long_and_dense(self):
        small = self.examples(rows=10, features=80, loss="log_loss")
        assert one_vs_rest.is_worth_sharing(small, 3, SDCA(), 1e-3)
        assert one_vs_rest.is_worth_sharing(small, 3, Auto(), 1e-3)
        few = self.examples(features=200, per_row=10, loss="log_loss")
        assert one_vs_rest.is_worth_sharing(few, 3, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(few, 3, Auto(), 1e-3)  # Newton solves them, with a matrix
        assert one_vs_rest.is_worth_sharing(few, 3, Auto(), 0.0)
        assert not one_vs_rest.is_worth_sharing(small, 3, Pegasos(), 1e-3)
        dense = self.examples(rows=10, features=500, per_row=500, loss="log_loss")
        assert not one_vs_rest.is_worth_sharing(dense, 3, SDCA(), 1e-3)
        assert one_vs_rest.is_worth_sharing(dense, 5, SDCA(), 1e-3)
        assert one_vs_rest.is_worth_sharing(self.examples(rows=10, per_row=500, loss="log_loss"), 3, SDCA(), 1e-3)

    def test_auto_only_where_it_would_ascend(self):
        few = self.examples(features=1000)
        assert one_vs_rest.is_worth_sharing(few, 16, SDCA(), 1e-3)
        assert not one_vs_rest.is_worth_sharing(few, 16, Auto(), 1e-3)
        assert one_vs_rest.is_worth_sharing(few, 16, Auto(), 0.0)

    def test_a_fit_tells_of_it(self, monkeypatch):
        monkeypatch.setattr("pegasos.linear.one_vs_rest.ENTRIES", 10_000)
        monkeypatch.setattr("pegasos.linear.one_vs_rest.FULL", 8)
        rows = sp.random(2000, 5000, 0.006, format="csr", random_state=0)
        y = (rows @ np.random.default_rng(0).normal(size=(5000, 8))).argmax(axis=1)
        clf = LinearSVC(random_state=0, C=0.1).fit(rows, y)
        assert clf.certificate_.solver == "SDCA(order='permute') on 8 classes at once with n_jobs=1, chosen by auto"
        np.testing.assert_array_equal(clf.coef_, LinearSVC(random_state=0, C=0.1, n_jobs=2).fit(rows, y).coef_)

    @pytest.mark.parametrize("count", [3, 16, 17, 58, 1000])
    def test_groups(self, count):
        groups = one_vs_rest.group_classes(count)
        assert [k for group in groups for k in group] == list(range(count))
        assert max(map(len, groups)) <= 16
        assert max(map(len, groups)) - min(map(len, groups)) <= 1
