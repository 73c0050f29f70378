"""Limits of time: what a kernel machine has when one ends its fit, and how it goes on."""

import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SVC, SVR, listen
from pegasos.base import clock
from pegasos.kernel import fit
from pegasos.solvers import SMO


class TestLimits:
    def test_time(self, ticks):
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(900, 5)), rng.integers(0, 3, 900)  # nothing to learn: slow at this C
        clf = SVC(C=1e6, tol=1e-12, max_time=0.6, solver="smo")
        with pytest.warns(ConvergenceWarning, match=r"3 of 3 problems fell short.*max_time"):
            clf.fit(Z, y)
        assert {part.reason for part in clf.certificate_.parts} == {"max_time"}

    @pytest.mark.parametrize("n_classes", [2, 3])
    @pytest.mark.parametrize("solver", ["smo", "lasvm", "sdca", "pegasos", "perceptron", "sbp", "simba"])
    def test_the_time_is_kept(self, ticks, solver, n_classes):
        """Work that is half done when it is over is given up."""
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(3000, 40)), rng.integers(0, n_classes, 3000)
        clf = SVC(C=1e6, tol=1e-12, max_time=20.0, max_iter=10**9, solver=solver, fit_intercept=False)
        with pytest.warns(ConvergenceWarning):
            clf.fit(Z, y)
        assert "max_time" in {clf.certificate_.reason, *(part.reason for part in clf.certificate_.parts)}
        assert clf.certificate_.seconds <= 1.05 * 20

    @pytest.mark.parametrize("limit", [4.0, 6.0])
    def test_out_of_time_it_has_the_best_bounds(self, ticks, limit):
        """A later point may be lower but for rounding, and there is no time for a closer look."""
        X, y = make_classification(4000, 30, n_informative=10, flip_y=0.4, random_state=0)
        heard = []
        with pytest.warns(ConvergenceWarning, match="max_time"), listen(heard.append):
            found = SVC(max_time=limit, n_jobs=1, random_state=0).fit(X, y).certificate_
        assert found.primal <= min(check.primal for check in heard) * (1 + 1e-9)
        assert found.dual >= max(check.dual for check in heard) * (1 - 1e-9)

    @pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
    def test_every_problem_has_a_machine(self, ticks, multi_class):
        """A share that is too short for the first step ends after it."""
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(3000, 40)), rng.integers(0, 6, 3000)
        with pytest.warns(ConvergenceWarning):
            clf = SVC(C=100, max_time=5.0, multi_class=multi_class, n_jobs=1, random_state=0).fit(Z, y)
        assert {part.reason for part in clf.certificate_.parts} == {"max_time"}
        assert all(part.gap < np.inf for part in clf.certificate_.parts)
        if multi_class == "ovo":  # of a class against many the best one may yet be to take none for it
            assert (clf._problem_weights() != 0).any(axis=1).all()
        assert clf.certificate_.seconds <= 1.05 * 5

    def test_time_that_others_left_is_used(self, ticks):
        """One of ten pairs is hard, and its share too short; the others need little of theirs."""
        rng = np.random.default_rng(0)
        y = rng.integers(0, 5, 1000)
        Z = rng.normal(size=(1000, 5)) + 8 * np.eye(5)[np.where(y == 1, 0, y)]
        clf = SVC(C=1e4, tol=1e-5, max_time=30.0, n_jobs=1, random_state=0).fit(Z, y)
        assert all(part.gap <= 1e-5 for part in clf.certificate_.parts)
        assert 3 < clf.certificate_.seconds <= 30  # more than the share

    @pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
    @pytest.mark.parametrize("limit", [1.0, 5.0])
    def test_a_short_limit_leaves_a_machine_of_some_rows(self, ticks, monkeypatch, multi_class, limit):
        monkeypatch.setattr("pegasos.kernel.fit.FIRST_ROWS", 1000)  # looks at the clock are dear here
        rng = np.random.default_rng(0)
        y = rng.integers(0, 4, 12_000)
        Z = rng.normal(size=(12_000, 20)) + 2 * np.eye(20)[y]
        clf = SVC(tol=1e-9, max_time=limit, multi_class=multi_class, n_jobs=1, random_state=0)
        with pytest.warns(ConvergenceWarning, match="max_time"):
            clf.fit(Z, y)
        found = clf.certificate_
        assert all(0 < part.dual <= part.primal < np.inf for part in found.parts)
        assert (clf.n_support_ > 0).all()
        assert clf.score(Z, y) >= 0.75  # 0.87 without a limit

    @pytest.mark.parametrize("kernel", ["rbf", "linear"])
    @pytest.mark.parametrize("machine", [SVC, SVR])
    def test_bounds_of_a_machine_of_some_rows(self, monkeypatch, machine, kernel):
        """For which there was no time to look at the others."""
        monkeypatch.setattr("pegasos.kernel.fit.MANY_ROWS", 500)
        monkeypatch.setattr("pegasos.kernel.fit.FIRST_ROWS", 100)
        rng = np.random.default_rng(0)
        Z = rng.normal(size=(1000, 4)) + 3
        y = Z[:, 0] > 3 if machine is SVC else Z[:, 0] + 50
        with pytest.warns(ConvergenceWarning, match="max_time"):
            clf = machine(kernel=kernel, max_time=1e-6, random_state=0).fit(Z, y)
        found, weights = clf.certificate_, clf.dual_coef_[0]
        assert len(clf.support_) <= 200
        K = rbf_kernel(clf.support_vectors_, gamma=clf.gamma_) if kernel == "rbf" else None
        K = clf.support_vectors_ @ clf.support_vectors_.T if K is None else K
        if machine is SVC:
            losses = np.maximum(0, 1 - np.where(y, 1, -1) * clf.decision_function(Z))
        else:
            losses = np.maximum(0, np.abs(clf.predict(Z) - y) - clf.epsilon)
        primal = weights @ K @ weights / 2 + losses.sum()
        best = machine(kernel=kernel, random_state=0).fit(Z, y).certificate_
        assert primal <= found.primal
        assert 0 < found.dual <= best.primal

    def test_a_limit_far_off_changes_nothing(self):
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(1500, 10)), rng.integers(0, 2, 1500)
        free, limited = (SVC(C=10, max_time=limit, random_state=0).fit(Z, y) for limit in (None, 1e4))
        np.testing.assert_array_equal(free.dual_coef_, limited.dual_coef_)

    def test_eigenvalues_keep_to_a_short_time(self):
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(1000, 5)), rng.integers(0, 2, 1000)
        for limit, assumed in ((None, ""), (1e4, ""), (0.3, "the kernel is positive semi-definite")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                clf = SVC(kernel=rbf_kernel, max_time=limit, max_iter=1).fit(Z, y)
            assert clf.certificate_.assumed == assumed

    def test_half_done_work_leaves_a_true_certificate(self, ticks):
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(2500, 30)), rng.integers(0, 2, 2500)
        duals = []
        for seconds in (2.0, 4.0, 16.0):
            with pytest.warns(ConvergenceWarning):
                clf = SVC(tol=1e-9, max_time=seconds, solver=SMO(working_set=300), random_state=0).fit(Z, y)
            found = clf.certificate_
            assert found.dual <= found.primal
            weights = clf.dual_coef_[0]
            K = rbf_kernel(clf.support_vectors_, gamma=clf.gamma_)
            margins = np.where(y == 1, 1, -1) * clf.decision_function(Z)
            primal = weights @ K @ weights / 2 + np.maximum(0, 1 - margins).sum()
            assert primal == pytest.approx(found.primal, rel=1e-5)
            assert abs(weights.sum()) < 1e-12
            duals.append(found.dual)
        assert duals[0] < duals[1] < duals[2]

    @pytest.mark.parametrize("machine", [SVC, SVR])
    def test_a_fit_that_was_cut_short_goes_on_from_its_dual_point(self, ticks, machine):
        """The machine is an earlier one, whose primal value was lower."""
        Z, labels = make_classification(3000, 60, n_informative=40, flip_y=0.2, random_state=0)
        y = labels if machine is SVC else Z[:, 0] + 0.1 * labels
        clf = machine(max_time=5.0, warm_start=True, solver=SMO(working_set=300), random_state=0)
        with pytest.warns(ConvergenceWarning, match="max_time"):
            before = clf.fit(Z, y).certificate_
        own = np.zeros(len(y))
        own[clf.support_] = clf.dual_coef_[0]
        assert np.abs(clf._last_fit()[0] - own).max() > 0.01
        clf.set_params(max_time=None).fit(Z, y)
        assert clf.history_["dual"][0] >= 0.999 * before.dual
        assert clf.certificate_.converged
        assert not clf._goes_on

    def test_from_a_poor_start_all_variables_are_gone_through(self):
        """What such a start says of gains is misleading; to go by it took longer than to start anew."""
        Z, y = make_classification(6000, 60, n_informative=40, flip_y=0.2, random_state=0)
        clf = SVC(solver=SMO(working_set=1000), warm_start=True, random_state=0).fit(Z, y)
        anew = clf.n_kernel_evaluations_
        clf._dual_coef_ = np.random.default_rng(1).permutation(clf._dual_coef_[0])[None]
        assert clf.fit(Z, y).certificate_.converged
        assert clf.n_kernel_evaluations_ < anew

    def test_the_last_look_in_double_precision_keeps_to_the_time(self, monkeypatch):
        """The bounds at hand must do."""
        rng = np.random.default_rng(0)
        Z, y = rng.normal(size=(1500, 60)), rng.integers(0, 2, 1500)
        clf = SVC(C=1e4, tol=1e-5, max_time=1000.0, random_state=0)
        within = clf.fit(Z, y).certificate_
        offset, certify = [0.0], fit.certify
        monkeypatch.setattr(clock, "read", lambda: time.perf_counter() + offset[0])

        def late(*arguments):
            offset[0] = 2000.0
            return certify(*arguments)

        monkeypatch.setattr(fit, "certify", late)
        with pytest.warns(ConvergenceWarning, match="max_time"):
            found = clf.fit(Z, y).certificate_
        assert found.reason == "max_time"
        assert found.dual <= within.dual <= within.primal <= found.primal
        assert found.gap > 1e-5 >= within.gap
