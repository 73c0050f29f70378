"""Newton's method: its parts in NumPy, how runs end, and the solver as estimators have it.

cpp/linear/solvers/newton.cpp. Steps, certificates and optima of each loss are in test_losses.py."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import Problem, assert_same, make_problem, run_newton
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from pegasos import LinearSVC, LinearSVR
from pegasos._core import available, load, native
from pegasos.reference.newton import conjugate_gradients, newton, root, solved
from pegasos.solvers import Newton, auto

LOG = {"loss": "log_loss"}
MANY = make_problem(m=700, d=30, weighted=True, bias=1.0)
both = pytest.mark.parametrize("equations", ["cholesky", "cg"])


def gap(solution):
    return native.relative_gap(solution.bounds.primal, solution.bounds.dual)


class TestTwin:
    def test_equations(self):
        random = np.random.default_rng(0)
        B, b = random.normal(size=(20, 8)), random.normal(size=8)
        H = B.T @ B * np.outer(*2 * [10.0 ** np.arange(-4, 4)])
        for x in (solved(H, b), conjugate_gradients(H, b, 1e-12, lambda r: False)):
            np.testing.assert_allclose(H @ x, b, atol=1e-8)
        loose = conjugate_gradients(H, b, 0.3, lambda r: False)
        r, inverse = b - H @ loose, 1 / np.diag(H)
        assert 0 < r @ (inverse * r) <= 0.09 * b @ (inverse * b)
        assert np.abs(conjugate_gradients(H, b, 0, lambda r: True)).max() > 0  # one step is made

    @pytest.mark.parametrize("power", [1, 3, 9])
    def test_the_root_of_a_slope(self, power):
        def slope(t):
            return (2 * t) ** power - 0.5

        t = root(slope, -0.5, slope(1))
        assert 0 < t < 1
        assert -0.05 <= slope(t) <= 0

    def test_the_objective_falls(self):
        """Where full steps overshoot too: rows far beyond their margin have next to no curvature."""
        random = np.random.default_rng(0)
        X = random.normal(size=(60, 4)) * [1, 10, 100, 1000]
        y = np.where(X[:, 3] + 300 * random.normal(size=60) > 0, 1.0, -1.0)
        problem = Problem(X, y, np.ones(60), 1e3)
        values = [problem.C * 60 * np.log(2)]
        values += [
            0.5 * w @ w + problem.C * np.logaddexp(0, -y * (X @ w)).sum()
            for w, _ in newton("log_loss", X, y, problem.C, 30)
        ]
        assert (np.diff(values) <= 1e-12 * values[0]).all()
        found = run_newton(problem, tol=1e-10, **LOG)
        assert found.reason == "tol"
        assert found.bounds.primal == pytest.approx(values[-1], rel=1e-9)


def test_the_line_search_is_needed_and_made():
    """Targets far from all scores, and a width so small that nearly all rows are on a line."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    y = 100 * X @ random.normal(size=5) + 10 * random.standard_cauchy(size=200)
    for free in (False, True):
        problem = Problem(X, y, np.ones(200), 10.0, 1.0, free)
        options = {"loss": "huber", "epsilon": 0.01}
        found = run_newton(problem, tol=1e-6, max_iterations=1000, **options)
        assert found.reason == "tol"
        twin = list(newton("huber", problem.augmented, y, 10.0, 12, free=free, epsilon=0.01))
        same = run_newton(problem, tol=0, max_iterations=12, **options)
        assert_same(same.w, twin[-1][0], 1e-6)


@pytest.mark.parametrize("exact", [True, False])
def test_rounding_ends_a_run(exact):
    for tol in (0, 1e-300):
        solution = run_newton(make_problem(bias=1.0), tol=tol, max_iterations=10**6, exact=exact, **LOG)
        assert solution.reason in ("precision", "tol")
        assert gap(solution) < 1e-12


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    ours, other = (run_newton(MANY, core=build, tol=0, max_iterations=6, **LOG) for build in (native, load(level)))
    np.testing.assert_allclose(np.array(ours.history)[:, 1:], np.array(other.history)[:, 1:], rtol=1e-9)


@pytest.mark.parametrize("exact", [True, False])
def test_threads(exact):
    alone, *several = (
        run_newton(MANY, exact=exact, tol=0, max_iterations=5, n_jobs=n_jobs, **LOG) for n_jobs in (1, 3, 3)
    )
    assert_same(several[0].w, alone.w, 1e-9)
    np.testing.assert_array_equal(several[0].w, several[1].w)
    np.testing.assert_array_equal(several[0].q, several[1].q)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge"])
def test_repeated_rows_are_whole_weights(loss):
    problem = make_problem(bias=1.0)
    s = np.arange(problem.m) % 4
    weighted = Problem(problem.X, problem.y, s.astype(float), problem.C, 1.0)
    repeated = Problem(np.repeat(problem.X, s, axis=0), np.repeat(problem.y, s), np.ones(s.sum()), problem.C, 1.0)
    ours, theirs = (run_newton(each, loss=loss) for each in (weighted, repeated))
    assert_same(ours.w, theirs.w, 1e-6)


def test_no_row_has_a_weight():
    problem = make_problem()
    for exact in (True, False):
        solution = run_newton(replace(problem, s=np.zeros(problem.m)), exact=exact, **LOG)
        assert (solution.reason, solution.bounds.primal, solution.steps) == ("tol", 0, 1)
        assert (solution.w == 0).all()


def test_numbers_that_are_too_large_end_a_run():
    problem = make_problem()
    huge = replace(problem, X=1e150 * problem.X, C=1e200)
    for exact in (True, False):
        solution = run_newton(huge, exact=exact, loss="squared_hinge")
        assert solution.reason in ("precision", "tol")
        assert np.isfinite(solution.w).all()


@both
@pytest.mark.parametrize("intercept", ["penalized", "free"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_it_is_logistic_regression(equations, intercept, storage):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ours = LinearSVC(solver=Newton(equations=equations), intercept=intercept, tol=1e-10, **LOG).fit(storage(X), y)
    assert ours.certificate_.gap <= 1e-10
    assert ours.certificate_.solver.startswith(f"Newton(equations='{equations}')")
    free = intercept == "free"
    rows = X if free else np.column_stack([X, np.ones(len(X))])
    peer = LogisticRegression(C=1.0, fit_intercept=free, tol=1e-12, max_iter=10_000).fit(rows, y)
    np.testing.assert_allclose(ours.coef_[0], peer.coef_[0, :30], atol=1e-4)


def test_few_steps_to_any_gap():
    X, y = load_diabetes(return_X_y=True)
    for loss, epsilon in (("squared_epsilon_insensitive", 10.0), ("huber", 30.0)):
        for tol in (1e-3, 1e-10):
            svr = LinearSVR(loss=loss, epsilon=epsilon, C=100.0, tol=tol, intercept="free", solver="newton").fit(X, y)
            assert svr.certificate_.gap <= tol
            assert svr.n_iter_ < 20


def test_equations_are_chosen_by_size():
    random = np.random.default_rng(0)
    few, many = random.normal(size=(400, 20)), sp.random(400, 6000, 0.002, "csr", random_state=random)
    for X, chosen in ((few, "cholesky"), (many, "cg")):
        y = (X @ random.normal(size=X.shape[1]) > 0).astype(int)
        found = LinearSVC(solver="newton", **LOG).fit(X, y).certificate_
        assert found.converged
        assert found.solver.startswith(f"Newton(equations='{chosen}')")


class TestAuto:
    """When "auto" takes it."""

    random = np.random.default_rng(0)
    few = random.normal(size=(4000, 20))
    many = sp.random(2000, 6000, 0.005, "csr", random_state=random)

    def chosen(self, X, machine=LinearSVC, **options):
        y = X @ np.ones(X.shape[1])
        y += 0.1 * np.random.default_rng(1).normal(size=len(y)) - np.median(y)
        model = machine(n_jobs=1, random_state=0, **options).fit(X, y if machine is LinearSVR else y > 0)
        assert model.certificate_.converged is not False
        return model, y

    def test_few_features(self):
        for options in (LOG, {"loss": "squared_hinge"}):
            model, y = self.chosen(self.few, **options)
            assert model.certificate_.solver == "Newton(equations='cholesky') with n_jobs=1, chosen by auto"
            same = LinearSVC(solver="newton", n_jobs=1, **options).fit(self.few, y > 0)
            np.testing.assert_array_equal(model.coef_, same.coef_)
        for loss in ("huber", "squared_epsilon_insensitive"):
            model, _ = self.chosen(self.few, LinearSVR, loss=loss, epsilon=0.1, intercept="free")
            assert model.certificate_.solver.startswith("Newton")

    def test_many_features(self):
        for options in (LOG, {"loss": "squared_hinge"}):
            assert self.chosen(self.many, **options)[0].certificate_.solver.startswith("SDCA")
        few = self.chosen(self.many[:, :3000], **LOG)[0].certificate_
        assert few.solver.startswith("Newton(equations='cg')")

    def test_many_features_and_many_epochs(self, monkeypatch):
        """Coordinate ascent is left after some epochs, and continued from where it was."""
        monkeypatch.setattr(auto, "LONG", 3)
        model, y = self.chosen(self.many, **LOG, C=1e4, tol=1e-6)
        ascent, _, newton = model.certificate_.solver.partition(", then ")
        assert ascent.startswith("SDCA")
        assert newton.startswith("Newton(equations='cg')")
        assert model.certificate_.gap <= 1e-6
        assert model.history_["epoch"][0] == 3 < model.n_iter_
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            cut = LinearSVC(n_jobs=1, C=1e4, tol=1e-6, max_iter=4, random_state=0, **LOG).fit(self.many, y > 0)
        assert cut.n_iter_ == 4

    def test_tiny_problems_are_solved_to_rounding(self):
        for options in (LOG, {"loss": "squared_hinge"}):
            tiny = self.chosen(self.few[:100], **options)[0].certificate_
            assert tiny.solver.startswith("Newton")
            assert tiny.gap < 1e-12

    def test_neither_corners_nor_whole_budgets(self):
        assert "Newton" not in self.chosen(self.few)[0].certificate_.solver
        assert self.chosen(self.few[:100], tol=0, max_iter=3, **LOG)[0].certificate_.solver.startswith("SDCA")

    def test_a_continued_fit_that_is_good_stays(self):
        model, y = self.chosen(self.few, warm_start=True, **LOG)
        before = model.coef_.copy()
        model.fit(self.few, y > 0)
        np.testing.assert_array_equal(model.coef_, before)
        assert model.certificate_.converged
        model.set_params(tol=1e-9).fit(self.few, y > 0)
        assert model.certificate_.gap <= 1e-9


def test_a_time_limit(ticks):
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        clf = LinearSVC(solver="newton", tol=1e-12, max_time=0.05, **LOG).fit(X, y < 5)
    assert clf.certificate_.reason == "max_time"
    assert clf.certificate_.dual <= clf.certificate_.primal


def test_refusals():
    for loss in ("hinge", "epsilon_insensitive", "quantile"):
        machine = LinearSVC if loss == "hinge" else LinearSVR
        with pytest.raises(ValueError, match=f"newton does not support loss='{loss}'; it supports 'squared_hinge'"):
            machine(loss=loss, solver="newton").fit([[0.0], [1.0]], [0, 1])
        with pytest.raises(ValueError, match="newton supports losses without corners alone"):
            run_newton(make_problem(), loss=loss, epsilon=0.5)
