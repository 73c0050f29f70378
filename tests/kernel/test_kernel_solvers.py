"""The kernel solvers: certificates that are true, the optimum however it is reached, and what estimators do."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import sklearn.svm
from kernel_helpers import (
    PRECISIONS,
    make_case,
    optimum,
    plain,
    run_kernel_sdca,
    run_lasvm,
    run_sbp,
    run_simba,
    run_smo,
    run_walk,
)
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SVC, LinearSVC
from pegasos._core import native
from pegasos.base.early_stopping import split
from pegasos.reference import s4
from pegasos.solvers import SBP, SIMBA, Pegasos, Perceptron

CASES = {
    "plain": make_case(n=200, seed=11, C=1.7),
    "weights": make_case(n=200, weighted=True, seed=12, C=1.7),
    "some weights zero": make_case(n=200, weighted=True, seed=13, C=0.5, zeros=True),
}
REGRESSION = make_case(n=150, weighted=True, seed=14, C=2.0, loss="epsilon_insensitive", epsilon=0.1)
QUANTILE = make_case(n=150, weighted=True, seed=14, C=2.0, loss="quantile", epsilon=0.8)
#: Solvers with what they are run with, and whether there is an intercept.
SOLVERS = {
    "pegasos": (run_walk, {"max_steps": 2000}, False),
    "pegasos, batches": (run_walk, {"max_steps": 300, "batch": 7, "project": True, "output": "average"}, False),
    "pegasos, suffix": (run_walk, {"max_steps": 1600, "output": "suffix"}, False),
    "pegasos, random": (run_walk, {"max_steps": 1600, "output": "random"}, False),
    "perceptron": (run_walk, {"max_steps": 600, "perceptron": True}, False),
    "perceptron, mean": (run_walk, {"max_steps": 600, "perceptron": True, "output": "average"}, False),
    "sdca": (run_kernel_sdca, {"max_epochs": 3.0}, False),
    "sbp": (run_sbp, {"max_steps": 4000}, False),
    "sbp, intercept": (run_sbp, {"max_steps": 4000}, True),
    "simba": (run_simba, {"max_steps": 4000}, False),
    "simba, intercept": (run_simba, {"max_steps": 4000}, True),
    "lasvm": (run_lasvm, {"max_epochs": 0.7}, False),
    "lasvm, intercept": (run_lasvm, {"max_epochs": 0.7}, True),
    "lasvm, gradient": (run_lasvm, {"max_epochs": 0.3, "selection": "gradient"}, True),
    "lasvm, active": (run_lasvm, {"max_epochs": 0.3, "selection": "active"}, True),
    "smo": (run_smo, {"max_epochs": 0.3}, False),
    "smo, intercept": (run_smo, {"max_epochs": 0.3}, True),
}
any_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
any_precision = pytest.mark.parametrize("precision", PRECISIONS)
either = pytest.mark.parametrize("free", [False, True], ids=["no intercept", "intercept"])

X, Y = make_moons(300, noise=0.3, random_state=0)


class TestCertificate:
    @any_case
    @any_precision
    @pytest.mark.parametrize("name", SOLVERS)
    def test_it_is_true(self, case, precision, name):
        solve, options, free = SOLVERS[name]
        found = solve(case, free=free, precision=precision, **options)
        *_, value = optimum(case, free)
        exact = 1e-9 if precision is np.float64 else 1e-5
        value_there = case.primal(found.beta, found.b)
        assert plain(found.bounds)[0] == pytest.approx(value_there, rel=exact)
        assert value_there * (1 - 1e-13) <= found.bounds.primal <= value_there + 2 * found.bounds.above
        assert found.squared_norm == pytest.approx(found.beta @ case.K @ found.beta, rel=exact)
        assert 0 < found.bounds.dual <= value * (1 + 1e-13)
        assert found.bounds.primal >= value * (1 - 1e-9)
        _, epochs, primals, duals = np.array(found.history).T
        assert (np.diff(epochs) > 0).all()
        assert (primals >= value * (1 - 1e-9)).all()
        assert (duals <= value * (1 + 1e-13)).all()
        assert (epochs[-1], primals[-1], duals[-1]) == (found.epochs, found.bounds.primal, found.bounds.dual)

    @either
    @pytest.mark.parametrize("solve", [run_kernel_sdca, run_smo])
    @pytest.mark.parametrize("case", [REGRESSION, QUANTILE], ids=["epsilon", "quantile"])
    def test_of_regression(self, case, solve, free):
        if free and solve is run_kernel_sdca:
            pytest.skip("SDCA has no intercept")
        found = solve(case, free=free, max_epochs=1.0)
        beta = np.bincount(case.variables[3], found.beta)
        *_, value = optimum(case, free)
        assert found.bounds.primal == pytest.approx(case.primal(beta, found.b), rel=1e-9)
        assert found.bounds.dual <= value * (1 + 1e-9)

    @any_case
    def test_pegasos_and_sdca_come_near(self, case):
        *_, value = optimum(case, False)
        assert run_walk(case, max_steps=100 * case.n, output="average").bounds.primal < 1.03 * value
        found = run_kernel_sdca(case, max_epochs=1e5, tol=1e-7)
        assert found.reason == "tol"
        assert found.bounds.primal == pytest.approx(value, rel=1e-6)
        assert case.primal(found.beta) == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(("solve", "solver"), [(run_sbp, SBP), (run_simba, SIMBA)], ids=["sbp", "simba"])
class TestMargin:
    @any_case
    @any_precision
    @either
    def test_the_margin_is_between_its_bounds(self, case, precision, free, solve, solver):
        """At the regularised optimum nu is the mean loss over ||w||, and the margin 1/||w|| (S4 Lemma 2.1)."""
        beta, b, _ = optimum(case, free)
        norm = np.sqrt(beta @ case.K @ beta)
        nu = np.average(case.losses(beta, b), weights=case.s) / norm
        found = solve(case, nu=nu, free=free, precision=precision, max_steps=100 * case.n)
        assert found.bounds.dual * (1 - 1e-6) <= 1 / norm <= found.bounds.primal * (1 + 1e-6)
        assert found.bounds.dual > 0.97 / norm
        assert found.bounds.primal < 1.3 / norm
        assert found.nu == nu
        slack = np.average(case.losses(found.beta, found.b), weights=case.s)
        assert slack == pytest.approx(nu / found.bounds.dual, rel=1e-6)  # a w of level 1

    @any_case
    @either
    def test_the_nu_that_belongs_to_C(self, case, free, solve, solver):
        beta, b, value = optimum(case, free)
        norm = np.sqrt(beta @ case.K @ beta)
        found = solve(case, free=free, max_steps=400 * case.n)
        assert case.primal(found.beta, found.b) <= 1.02 * value
        assert found.nu == pytest.approx(np.average(case.losses(beta, b), weights=case.s) / norm, rel=0.2)
        assert found.bounds.dual >= 0.95 * value

    def test_tol_ends_it(self, solve, solver):
        found = solve(CASES["plain"], max_steps=10**6, tol=0.05)
        assert found.reason == "tol"
        assert native.relative_gap(found.bounds.primal, found.bounds.dual) <= 0.05

    @pytest.mark.parametrize("fit_intercept", [True, False])
    def test_with_nu_C_has_no_part(self, fit_intercept, solve, solver):
        options = {"fit_intercept": fit_intercept, "tol": 0, "max_iter": 5, "random_state": 0}
        one, two = (SVC(C=C, solver=solver(nu=0.05), **options).fit(X, Y) for C in (0.1, 10.0))
        np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
        assert one.certificate_.dual <= one.certificate_.primal

    def test_a_class_without_weight(self, solve, solver):
        X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
        with pytest.raises(ValueError, match=r"of one class; use fit_intercept=False, or solver='smo'"):
            SVC(solver=solver(), tol=0, max_iter=5).fit(X, y, sample_weight=y)
        assert SVC(solver=solver(), tol=0, max_iter=5, fit_intercept=False).fit(X, y, sample_weight=y).n_iter_ == 5

    @pytest.mark.parametrize("C", [0.5, 1.0, 10.0])
    def test_one_example_of_each_class(self, C, solve, solver):
        clf = SVC(C=C, gamma=1.0, solver=solver(), tol=0.02, max_iter=20_000, random_state=0).fit(
            [[0.0], [1.0]], [0, 1]
        )
        assert clf.certificate_.gap <= 0.02
        best = min(C, 1 / (1 - np.exp(-1.0)))  # both coefficients, of a problem solved by hand
        np.testing.assert_allclose(clf.dual_coef_[0], [-best, best], rtol=0.3)  # twice the root of the gap


class TestLasvm:
    @any_case
    @any_precision
    @either
    @pytest.mark.parametrize("selection", ["random", "gradient", "active"])
    def test_it_finds_the_optimum(self, case, precision, free, selection):
        found = run_lasvm(case, free=free, precision=precision, selection=selection, tol=1e-6)
        assert found.reason == "tol"
        assert case.primal(found.beta, found.b) == pytest.approx(optimum(case, free)[2], rel=2e-6)

    def test_one_pass_is_near(self):
        """As the paper has it: after a pass and the finish little is left to gain."""
        case = CASES["plain"]
        order = np.random.default_rng(0).permutation(case.n).astype(np.uint32)
        found = run_lasvm(case, free=True, visits=order)
        *_, value = optimum(case, True)
        assert case.primal(found.beta, found.b) <= 1.15 * value
        assert found.bounds.dual >= 0.95 * value

    def test_tau_is_made_smaller_where_the_gap_asks_for_it(self):
        found = run_lasvm(CASES["plain"], free=True, tau=0.5, tol=1e-7)
        assert found.reason == "tol"

    @either
    def test_nothing_left_to_gain(self, free):
        found = run_lasvm(CASES["weights"], free=free, tol=0.0)
        assert found.reason == "precision"
        assert native.relative_gap(*plain(found.bounds)) <= 1e-12

    def test_a_class_without_weight(self):
        X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
        clf = SVC(solver="lasvm").fit(X, y, sample_weight=y)
        assert len(clf.support_) == 0
        assert clf.certificate_.primal == clf.certificate_.gap == 0


class TestSmo:
    @pytest.mark.parametrize("case", [*CASES.values(), REGRESSION, QUANTILE], ids=[*CASES, "regression", "quantile"])
    @either
    def test_conditions_of_the_optimum(self, case, free):
        t, lo, hi, row = case.variables
        found = run_smo(case, free=free, tol=1e-8)
        beta = found.beta
        assert found.reason == "tol"
        assert (beta >= lo).all()
        assert (beta <= hi).all()
        if free:
            assert beta.sum() == pytest.approx(0, abs=1e-9)
        slope = t - (case.K @ np.bincount(row, beta))[row] - found.b
        # What a variable could still gain is all the gap there is.
        gap = slope * np.where(slope > 0, hi - beta, lo - beta)
        assert (gap >= -1e-15).all()
        assert gap.sum() == pytest.approx(found.bounds.primal - found.bounds.dual, abs=1e-9 * found.bounds.primal)
        assert gap.sum() <= 1.1e-8 * found.bounds.dual
        inside = (beta > lo + 1e-3 * (hi - lo)) & (beta < hi - 1e-3 * (hi - lo))
        assert inside.sum() > 3
        assert np.abs(slope[inside]).max() < 1e-3

    @any_precision
    @either
    @pytest.mark.parametrize(
        "options",
        [
            {"working_set": 32, "block": 16},
            {"working_set": 2, "block": 2},
            {"working_set": 64, "block": 1000},
            {"cached_rows": 64},
            {"cached_rows": 1, "working_set": 100, "block": 8},
        ],
        ids=str,
    )
    def test_parts_lead_to_the_same_optimum(self, options, free, precision):
        case = make_case(n=300, weighted=True, seed=15, C=3.0)
        *_, value = optimum(case, free)
        tol = 1e-8 if precision is np.float64 else 1e-5
        if options.get("working_set") == 2:
            tol = 1e-4
        found = run_smo(case, free=free, precision=precision, tol=tol, **options)
        assert found.reason == "tol"
        assert case.primal(found.beta, found.b) == pytest.approx(value, rel=2 * tol)

    @either
    def test_a_hard_problem_in_small_parts(self, free):
        case = make_case(n=1000, weighted=True, seed=15, C=100.0)
        found = run_smo(case, free=free, tol=1e-4, working_set=32, block=32)
        assert found.reason == "tol"
        assert native.relative_gap(found.bounds.primal, found.bounds.dual) <= 1e-4

    @any_precision
    @either
    @pytest.mark.parametrize("C", [1e4, 1e6])
    def test_a_large_C(self, C, free, precision):
        """Single steps undo one another here, and all between their bounds are solved for together."""
        case = make_case(n=150, seed=15, C=C)
        tol = 1e-6 if precision is np.float64 else 1e-3
        found = run_smo(case, free=free, precision=precision, tol=tol, max_epochs=10_000)
        assert found.reason == "tol"
        primal, dual = plain(found.bounds)
        assert case.primal(found.beta, found.b) == pytest.approx(primal, rel=1e-6)
        assert case.y @ found.beta - found.beta @ case.K @ found.beta / 2 == pytest.approx(dual, rel=1e-6)
        assert not free or abs(found.beta.sum()) < 1e-6 * np.abs(found.beta).sum()

    @pytest.mark.parametrize("seed", range(4))
    def test_pairs_among_many(self, seed):
        """A pair is little of the gap, and pairs chosen at random often have nothing to gain."""
        case = make_case(n=1000, seed=15, C=10.0)
        found = run_smo(case, free=True, tol=0.01, working_set=2, block=2, seed=seed)
        assert found.reason == "tol"

    @either
    def test_few_rows_kept_for_the_others(self, free):
        """A row that is no longer kept is computed again: nothing else changes."""
        case = CASES["weights"]
        runs = [lambda **options: run_sbp(case, free=free, max_steps=1000, **options)]
        runs += [lambda **options: run_simba(case, free=free, max_steps=1000, **options)]
        runs += [lambda **options: run_lasvm(case, free=free, max_epochs=3.0, **options)]
        if not free:
            runs.append(lambda **options: run_kernel_sdca(case, max_epochs=5.0, **options))
            runs += [lambda k=k, **options: run_walk(case, batch=k, max_steps=500, **options) for k in (1, 50)]
            runs.append(lambda **options: run_walk(case, batch=50, max_steps=500, output="average", **options))
        for solve in runs:
            few, many = solve(cached_rows=1), solve()
            np.testing.assert_allclose(few.beta, many.beta, rtol=1e-9, atol=1e-12)
            assert few.bounds.primal == pytest.approx(many.bounds.primal, rel=1e-9)
            assert few.bounds.dual == pytest.approx(many.bounds.dual, rel=1e-9)

    @pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
    @pytest.mark.parametrize("C", [0.3, 20.0])
    def test_regression_as_libsvm(self, epsilon, C):
        case = make_case(n=150, weighted=True, seed=16, C=C, loss="epsilon_insensitive", epsilon=epsilon)
        theirs = sklearn.svm.SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-8).fit(case.K, case.y, case.s)
        beta = np.zeros(case.n)
        beta[theirs.support_] = theirs.dual_coef_[0]
        value = case.primal(beta, theirs.intercept_[0])
        assert optimum(case, True)[2] == pytest.approx(value, rel=1e-6)

    def test_the_median_is_half_of_libsvms_absolute_error(self):
        case = make_case(n=150, weighted=True, seed=16, C=2.0, loss="quantile", epsilon=0.5)
        other = make_case(n=150, weighted=True, seed=16, C=1.0, loss="epsilon_insensitive")
        for free in (False, True):
            assert optimum(case, free)[2] == pytest.approx(optimum(other, free)[2], rel=1e-9)

    @either
    @pytest.mark.parametrize(
        "case", [CASES["weights"], REGRESSION, QUANTILE], ids=["classification", "regression", "quantile"]
    )
    def test_a_start(self, case, free):
        part = run_smo(case, free=free, max_epochs=0.2)
        assert part.reason == "budget"
        rest = run_smo(case, free=free, start=part.beta, max_epochs=0.0)
        assert rest.steps == 0
        assert rest.bounds.primal == pytest.approx(part.bounds.primal, rel=1e-9)
        assert rest.bounds.dual == pytest.approx(part.bounds.dual, rel=1e-9)
        whole = run_smo(case, free=free, start=part.beta)
        assert whole.bounds.primal == pytest.approx(optimum(case, free)[2], rel=1e-8)
        again = run_smo(case, free=free, start=whole.beta, tol=1e-9)
        assert (again.steps, again.reason) == (0, "tol")


class TestEarlyStopping:
    @pytest.mark.parametrize("solver", ["sbp", "simba", "pegasos", "perceptron"])
    @pytest.mark.parametrize("fit_intercept", [False, True])
    def test_it_stops_and_holds_examples_out(self, solver, fit_intercept):
        if fit_intercept and solver not in ("sbp", "simba"):
            pytest.skip("it has no intercept")
        clf = SVC(solver=solver, early_stopping=True, fit_intercept=fit_intercept, tol=1e-9, random_state=0)
        clf.set_params(validation_fraction=0.3, n_iter_no_change=3).fit(X, Y)
        assert clf.certificate_.reason == "early_stopping"
        assert clf.n_iter_ < 200
        train, test = split(Y, 0.3, int(np.random.RandomState(0).randint(2**31 - 1)))
        assert set(clf.support_) <= set(train)
        assert len(clf.support_) > 10
        assert clf.score(X[test], Y[test]) > 0.8
        y = np.where(Y == 1, 1, -1)
        beta = np.zeros(len(X))
        beta[clf.support_] = clf.dual_coef_[0]
        scores = clf.decision_function(X)
        norm = beta @ (scores - clf.intercept_[0])
        value = norm / 2 + np.maximum(0, 1 - y * scores)[train].sum()
        assert clf.certificate_.primal == pytest.approx(value, rel=1e-9)

    def test_several_classes(self):
        y = Y + (X[:, 0] > 1)
        clf = SVC(solver="sbp", early_stopping=True, tol=1e-9, random_state=0).fit(X, y)
        assert {part.reason for part in clf.certificate_.parts} == {"early_stopping"}
        assert clf.score(X, y) > 0.7

    @pytest.mark.parametrize("solver", ["smo", "lasvm", "sdca"])
    def test_of_the_dual_none(self, solver):
        with pytest.raises(ValueError, match=r"early_stopping=True.*solver=.*'pegasos'.*'sbp'|'sbp'.*'pegasos'"):
            SVC(solver=solver, early_stopping=True, fit_intercept=False).fit(X, Y)


class TestOptions:
    @pytest.mark.parametrize(
        "option", [{"random_stops": 3, "average": False}, {"start": "random"}, {"count_idle_steps": False}], ids=str
    )
    def test_what_pegasos_does_not_support_with_a_kernel(self, option):
        name = next(iter(option))
        with pytest.raises(ValueError, match=f"pegasos does not support {name}=.* with a kernel; it supports"):
            SVC(solver=Pegasos(**option), fit_intercept=False).fit(X, Y)

    @pytest.mark.parametrize("solver", ["pegasos", "perceptron", "sdca"])
    def test_no_intercept(self, solver):
        with pytest.raises(ValueError, match=r"fit_intercept=True.*'smo'.*fit_intercept=False"):
            SVC(solver=solver).fit(X, Y)

    def test_a_random_iterate_is_for_kernels(self):
        with pytest.raises(ValueError, match="perceptron does not support average='random' with a linear problem"):
            LinearSVC(solver=Perceptron(average="random"), max_iter=1, tol=0).fit(X, Y)
        clf = SVC(solver=Perceptron(average="random"), fit_intercept=False, max_iter=5, tol=0, random_state=0)
        assert clf.fit(X, Y).score(X, Y) > 0.6

    def test_a_batch_of_more_than_all_examples(self):
        with pytest.raises(ValueError, match="batch_size=301 is more than the 300 examples"):
            SVC(solver=Pegasos(batch_size=301), fit_intercept=False).fit(X, Y)

    @pytest.mark.parametrize(
        "solver", [Pegasos(max_steps=70), Perceptron(max_steps=70), SBP(max_steps=70), SIMBA(max_steps=70)], ids=str
    )
    def test_budget_in_steps(self, solver):
        with pytest.warns(ConvergenceWarning, match="max_steps"):
            clf = SVC(solver=solver, fit_intercept=False, tol=1e-6).fit(X, Y)
        assert clf.certificate_.reason == "max_steps"
        assert clf.n_iter_ == 1
        assert len(clf.support_) <= 70

    @pytest.mark.parametrize("solver", ["sbp", "simba", "lasvm", "pegasos", "perceptron", "sdca"])
    def test_time(self, ticks, solver):
        # Of so large a C no solver sees the end.
        clf = SVC(solver=solver, C=1e6, fit_intercept=False, tol=0, max_iter=10**9, max_time=0.2).fit(X, Y)
        assert clf.certificate_.reason == "max_time"


#: Prints by how many MB the memory of a fit passes that of Python with everything imported.
MEMORY = """
    import warnings
    import numpy as np
    from pegasos import SVC

    def peak():
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1e3

    warnings.simplefilter("ignore")
    SVC(max_iter=1).fit(np.eye(4), [0, 0, 1, 1])
    before = peak()
    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 50), dtype=np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    clf = SVC(cache_size=50, tol=0.5, solver="{solver}", fit_intercept=False, max_iter=2, n_jobs=1)
    clf.fit(X, y)
    print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "solver",
    ["smo", "pegasos", "sdca", *(pytest.param(name, marks=pytest.mark.slow) for name in ("lasvm", "sbp", "simba"))],
)
def test_memory(solver, record_property):
    script = textwrap.dedent(MEMORY).format(solver=solver)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    used = float(done.stdout)
    print(f"{solver}: {used:.0f} MB")
    record_property("MB", used)
    assert used < 50 + 4 + 256


#: Fits with so many MB to spare, and prints what became of each.
SHORT_OF_MEMORY = """
    import resource, warnings
    import numpy as np
    from pegasos import SVC

    warnings.simplefilter("ignore")
    random = np.random.default_rng(0)
    X = random.standard_normal((5000, 4))
    y = X[:, 0] + random.standard_normal(5000) > 0
    clf = SVC(solver="{solver}", kernel="rbf", fit_intercept=False, max_iter=1, tol=0, random_state=0, n_jobs=1)
    clf.fit(X[:100], y[:100])
    for spare in (5, 45, 60, 80):
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (spare << 20), resource.RLIM_INFINITY))
        try:
            print(clf.fit(X, y).certificate_.primal)
        except MemoryError:
            print("nan")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("solver", ["smo", "lasvm", "sbp", "simba", "pegasos", "sdca"])
def test_short_of_memory(solver):
    """Fewer rows of the kernel matrix are kept than were planned for, or there is a MemoryError."""
    script = textwrap.dedent(SHORT_OF_MEMORY).format(solver=solver)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    primals = [float(line) for line in done.stdout.split()]
    assert np.isnan(primals[0])
    known = [value for value in primals if not np.isnan(value)]
    assert known
    # Of SMO the steps depend on which rows are kept.
    np.testing.assert_allclose(known, known[-1], rtol=0.5 if solver == "smo" else 1e-6)


@pytest.mark.parametrize("solver", [SBP, SIMBA])
class TestMarginMachine:
    """What SVC makes of SBP and SIMBA where there is little to go by."""

    @pytest.mark.parametrize("options", [{"C": 1e-6}, {"C": 1e-3}, {"nu": 1.0}, {"nu": 1e6}])
    @pytest.mark.parametrize("weight", [None, "balanced"])
    def test_the_intercept_is_in_the_middle(self, options, weight, solver):
        """With as many examples of either class under the level, any of a range of intercepts is as good."""
        X, y = make_moons(200, noise=0.2, random_state=0)
        X, y = (X, y) if weight is None else (X[y.argsort()][40:], np.sort(y)[40:])
        options = {"solver": solver(nu=options["nu"])} if "nu" in options else {"solver": solver(), **options}
        clf = SVC(**options, class_weight=weight, tol=0, max_iter=50, random_state=0).fit(X, y)
        assert clf.score(X, y) > 0.8

    @pytest.mark.parametrize("n", [2, 50])
    def test_rows_that_tell_nothing(self, n, solver):
        clf = SVC(solver=solver(), random_state=0).fit(np.ones((n, 1)), np.arange(n) % 2)
        assert clf.certificate_.converged
        assert clf.certificate_.primal == pytest.approx(n)

    @pytest.mark.parametrize("scale", [1e-4, 1e4])
    def test_the_scale_of_the_kernel_is_all_the_same(self, scale, solver):
        X, y = make_moons(200, noise=0.2, random_state=0)
        X = X - X.mean(axis=0)
        options = {"kernel": "linear", "solver": solver(), "tol": 0, "max_iter": 5, "random_state": 0}
        plain, scaled = (SVC(C=1 / c**2, **options).fit(c * X, y) for c in (1.0, scale))
        assert scaled.certificate_.primal == pytest.approx(plain.certificate_.primal / scale**2, rel=1e-6)
        np.testing.assert_allclose(
            scaled.decision_function(scale * X), plain.decision_function(X), rtol=1e-5, atol=1e-8
        )

    def test_a_small_C_has_a_large_nu(self, solver):
        X, y = make_moons(200, noise=0.2, random_state=0)
        clf = SVC(C=1e-14, solver=solver(), fit_intercept=False, random_state=0).fit(X, y)
        assert clf.certificate_.converged

    @pytest.mark.parametrize("seed", range(6))
    def test_draws_of_one_class(self, seed, solver):
        """With two orthogonal examples of norm 1, half of p is on each: sqrt(1/2) + nu sum(s) / 2."""
        options = {"gamma": 1.0, "tol": 0.1, "max_iter": 20, "random_state": seed}
        for steps in (None, 1, 2):
            clf = SVC(solver=solver(nu=0.1, max_steps=steps), **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                clf.fit([[0.0], [10.0]], [0, 1], sample_weight=[1, 10])
            best = np.sqrt(0.5) + 0.1 * 11 / 2
            found = clf.certificate_
            assert found.dual <= best <= found.primal * (1 + 1e-15)
            assert found.primal <= 1 + 0.1 * 11 / 2 + 1e-9
            assert found.converged == (found.primal <= 1.1 * found.dual)

    @pytest.mark.parametrize("early_stopping", [False, True])
    @pytest.mark.parametrize("fit_intercept", [False, True])
    @pytest.mark.parametrize("nu", [0.01, 0.3])
    def test_the_certificate_is_that_of_the_machine(self, nu, fit_intercept, early_stopping, solver):
        for seed in range(8):
            X, y = make_moons(60, noise=0.3, random_state=seed)
            clf = SVC(solver=solver(nu=nu), gamma=2.0, tol=0, max_iter=20, random_state=seed)
            clf.set_params(fit_intercept=fit_intercept, early_stopping=early_stopping).fit(X, y)
            beta, train = np.zeros(60), np.arange(60)
            if early_stopping:
                train, _ = split(y, clf.validation_fraction, int(np.random.RandomState(seed).randint(2**31 - 1)))
            beta[clf.support_] = clf.dual_coef_[0]
            K, signs = rbf_kernel(X[train], gamma=2.0), 2.0 * y[train] - 1
            margin = s4.margin(K, signs, beta[train], clf.intercept_[0], nu)
            assert clf.certificate_.dual == pytest.approx(margin, rel=1e-6)
            assert clf.history_["dual"].max() == clf.certificate_.dual

    def test_the_warning_speaks_of_the_margin(self, solver):
        X, y = make_moons(200, noise=0.2, random_state=0)
        with pytest.warns(ConvergenceWarning, match=r"The margin is .*, and the largest at most") as caught:
            clf = SVC(solver=solver(nu=0.01), max_iter=5, random_state=0).fit(X, y)
        assert f"is {clf.certificate_.dual:.6g}, and the largest at most {clf.certificate_.primal:.6g}" in str(
            caught[0].message
        )

    @pytest.mark.parametrize("tol", [0, 1e-3])
    def test_no_margin(self, tol, solver):
        X, y = make_moons(200, noise=0.2, random_state=0)
        with pytest.warns(
            ConvergenceWarning, match=rf"no weights yet: {solver.__name__}\(nu=0\) found no margin above zero"
        ):
            clf = SVC(kernel="linear", solver=solver(nu=0), tol=tol, max_iter=2, random_state=0).fit(X, y)
        assert len(clf.support_) == 0

    def test_indefinite(self, solver):
        A = np.random.default_rng(0).normal(size=(200, 200))
        with pytest.warns(ConvergenceWarning, match="ended when the budget of max_iter epochs was used up"):
            clf = SVC(kernel="precomputed", solver=solver(nu=0.02), max_iter=2).fit(A + A.T, np.arange(200) % 2)
        assert clf.certificate_.dual == -np.inf


@pytest.mark.parametrize("solver", ["simba", "sbp", "pegasos", "perceptron"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_lower_bound_on_record_never_falls(solver):
    """Not at the end either, where the last bound allows for more rounding."""
    random = np.random.default_rng(0)
    points, labels = random.normal(size=(30, 3)), (random.random(30) < 0.5).astype(int)
    options = {"kernel": "precomputed", "C": 1e6, "fit_intercept": False, "max_iter": 30, "tol": 1e-9}
    clf = SVC(solver=solver, random_state=0, **options).fit(points @ points.T, labels)
    assert (np.diff(clf.history_["dual"]) >= 0).all()
    assert (np.diff(clf.history_["primal"]) <= 0).all()
    assert clf.history_["dual"][-1] == clf.certificate_.dual
