"""Pegasos with a free intercept: S0 section 6's three ways, against their NumPy twins and an independent optimum."""

import itertools

import numpy as np
import pytest
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    assert_same,
    draw_batches,
    make_problem,
    optimum,
    run,
    storage_name,
)
from sklearn.exceptions import ConvergenceWarning

from pegasos import LinearSVC
from pegasos._core import native
from pegasos.reference import s0
from pegasos.solvers import Pegasos
from pegasos.solvers._intercept_search import RootSearch

T = 40
OUTPUTS = {"last": lambda iterates: iterates[-1], "average": s0.average, "suffix": s0.suffix_average}


def make_free(weighted=False, shift=0.0, seed=1, m=30, d=5):
    """Rows of single precision in general position, so that no two rows meet at a kink but where w is zero; `shift`
    moves them, and with them the best intercept."""
    few = make_problem(weighted, m=m, d=d, seed=seed)
    X = (few.X + np.random.default_rng(seed).standard_normal((m, d)) / 4 + shift).astype(np.float32).astype(np.float64)
    return Problem(X, few.y, few.s, few.C, bias=1.0, free=True)


PROBLEMS = {
    "plain": make_free(),
    "weights": make_free(weighted=True),
    "shifted": make_free(shift=0.5),
    "weights, shifted": make_free(weighted=True, shift=-0.5),
}
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_project = pytest.mark.parametrize("project", [False, True])


def joined(pairs):
    """(w, b) as the core has them: one vector."""
    return [np.append(w, b) for w, b in pairs]


@any_storage
@any_problem
@any_project
@pytest.mark.parametrize("k", [1, 3, 30])
def test_every_step_in_b_is_the_twins(problem, storage, k, project):
    batches = draw_batches(problem, T, k)
    twin = s0.pegasos_subgradient_intercept(problem.X, problem.y, problem.lam, batches, s=problem.s, project=project)
    iterates = joined(twin)
    for output, t in itertools.product(OUTPUTS, range(1, T + 1)):
        solution = run(problem, batches=batches, max_steps=t, project=project, output=output, storage=storage)
        assert_same(solution.w, OUTPUTS[output](iterates[: t + 1]))
        assert solution.t == t
        assert_certified(problem, solution)


@any_storage
@any_problem
@any_project
@pytest.mark.parametrize("k", [2, 7, 30])
def test_every_step_with_the_best_b_of_the_batch_is_the_twins(problem, storage, k, project):
    batches = draw_batches(problem, T, k)
    options = {"s": problem.s, "project": project}
    iterates = list(s0.pegasos_batch_intercept(problem.X, problem.y, problem.lam, batches, **options))
    one_class = [len(set(problem.y[A_t])) == 1 for A_t in batches]
    assert any(one_class) == (k == 2)
    for output, t in itertools.product(OUTPUTS, range(1, T + 1)):
        options = {"max_steps": t, "project": project, "output": output, "storage": storage}
        solution = run(problem, batches=batches, intercept="batch", **options)
        w = OUTPUTS[output](iterates[: t + 1])
        assert_same(solution.w[:-1], w)
        b, _ = s0.best_intercept(problem.X @ w, problem.y, problem.s)
        assert solution.w[-1] == pytest.approx(b, abs=1e-9)
        assert (solution.t, solution.steps) == (t - sum(one_class[:t]), t)
        assert_certified(problem, solution)


@any_storage
@any_problem
@any_project
@pytest.mark.parametrize("k", [1, 3])
def test_every_step_at_a_fixed_b_is_the_twins(problem, storage, k, project):
    batches = draw_batches(problem, T, k)
    b = -0.7
    options = {"s": problem.s, "project": project}
    iterates = list(s0.pegasos_fixed_intercept(problem.X, problem.y, problem.lam, b, batches, **options))
    start = np.append(np.zeros(problem.X.shape[1]), b)
    for output, t in itertools.product(OUTPUTS, range(1, T + 1)):
        options = {"max_steps": t, "project": project, "output": output, "storage": storage, "start_w": start}
        solution = run(problem, batches=batches, intercept="fixed", **options)
        assert_same(solution.w[:-1], OUTPUTS[output](iterates[: t + 1]))
        assert solution.w[-1] == pytest.approx(b, rel=1e-12)
        assert_certified(problem, solution)


def test_the_slope_in_b_is_that_of_the_visits():
    """One epoch at a fixed b: each row is met once."""
    problem = PROBLEMS["weights, shifted"]
    batches = draw_batches(problem, 1, problem.m).reshape(-1, 1)
    iterates = list(s0.pegasos_fixed_intercept(problem.X, problem.y, problem.lam, 0.3, batches, s=problem.s))
    rows = batches.ravel()
    margins = problem.y[rows] * (np.array([problem.X[i] @ w for i, w in zip(rows, iterates, strict=False)]) + 0.3)
    start = np.append(np.zeros(problem.X.shape[1]), 0.3)
    solution = run(problem, batches=batches, intercept="fixed", start_w=start)
    expected = -((problem.s * problem.y)[rows] * (margins < 1)).sum() / problem.s.sum()
    assert solution.intercept_slope == pytest.approx(expected, rel=1e-12)


def test_dual_points_of_both_sides_make_a_better_one():
    """At an intercept that is far off, balancing loses much; mixed with a point from the other side, less is lost."""
    problem = PROBLEMS["weights, shifted"]
    w, value = optimum(problem)
    left, right = (np.append(np.zeros(len(w) - 1), w[-1] + side) for side in (-1.0, 1.0))
    options = {"intercept": "fixed", "output": "suffix", "max_steps": 200 * problem.m}
    first = run(problem, start_w=left, **options)
    alone = run(problem, start_w=right, start_q=first.q, **options)
    mixed = run(problem, start_w=right, start_q=first.q, counterweights=[first.met], **options)
    assert first.intercept_slope < 0 < alone.intercept_slope == mixed.intercept_slope
    assert value - mixed.bounds.dual < 0.7 * (value - alone.bounds.dual)
    for solution in (first, alone, mixed):
        assert_certified(problem, solution)


@pytest.mark.parametrize("intercept", ["subgradient", "batch", "fixed"])
def test_a_warm_start_continues(intercept):
    problem = PROBLEMS["weights, shifted"]
    batches = draw_batches(problem, T, 4)
    whole = run(problem, batches=batches, intercept=intercept)
    for t in range(1, T):
        first = run(problem, batches=batches[:t], intercept=intercept)
        start = {"start_w": first.w, "start_t": first.t, "start_q": first.q}
        second = run(problem, batches=batches[t:], intercept=intercept, **start)
        assert_same(second.w, whole.w)
        assert second.bounds.dual >= first.bounds.dual * (1 - 1e-12)
        assert_certified(problem, second)


def test_a_dual_point_to_continue_from_need_not_be_balanced():
    """One from a penalised intercept is not; what comes of it is."""
    problem = PROBLEMS["shifted"]
    q = (problem.y > 0) * 1.0
    q[0] = 0.5
    assert_certified(problem, run(problem, start_q=q, output="suffix", max_steps=10 * problem.m))


def hinge_sum(b, z, y, s):
    return (s * np.maximum(0, 1 - y * (z + b))).sum()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_the_best_b_of_a_batch_against_brute_force(weighted, ties):
    random = np.random.default_rng(0)
    met_one_class = met_share = 0
    for _ in range(2000):
        k = random.integers(2, 12)
        z = random.integers(-4, 5, size=k) / 2.0 if ties else random.standard_normal(k)
        y = random.choice([-1.0, 1.0], size=k)
        s = random.integers(0, 5, size=k) / 2.0 if weighted else np.ones(k)
        b, slopes = native.probe_best_intercept(z, y, s)
        twin = s0.best_intercept(z, y, s)
        if not (s[y > 0].sum() > 0 and s[y < 0].sum() > 0):
            assert slopes == []
            assert twin is None
            met_one_class += 1
            continue
        slopes = np.array(slopes)
        assert b == twin[0]
        np.testing.assert_allclose(slopes[s > 0], twin[1][s > 0], atol=1e-15)
        # The sum is piecewise linear: it is least at a kink.
        assert hinge_sum(b, z, y, s) <= min(hinge_sum(kink, z, y, s) for kink in y - z) + 1e-12
        margins = y * (z + b)
        weight = s > 0
        assert ((slopes == 1) | (margins >= 1 - 1e-12))[weight].all()
        assert ((slopes == 0) | (margins <= 1 + 1e-12))[weight].all()
        assert (s * y * slopes).sum() == pytest.approx(0, abs=1e-12)
        met_share += ((slopes > 0) & (slopes < 1)).any()
    assert met_one_class > 10
    assert met_share > 100 or not (ties or weighted)


def test_the_slopes_at_the_best_b_are_a_sub_gradient_of_the_minimum():
    """g(w') >= g(w) - <v, w' - w> for all w', also where rows tie."""
    random = np.random.default_rng(1)
    for _ in range(200):
        X, y = random.integers(-2, 3, size=(8, 2)) / 1.0, np.repeat([-1.0, 1.0], 4)
        s = random.integers(1, 4, size=8) / 1.0
        w = random.integers(-1, 2, size=2) / 1.0

        def g(w, X=X, y=y, s=s):
            return hinge_sum(s0.best_intercept(X @ w, y, s)[0], X @ w, y, s)

        _, slopes = native.probe_best_intercept(X @ w, y, s)
        v = (s * y * np.array(slopes)) @ X
        for _ in range(20):
            other = w + random.standard_normal(2) * random.choice([0.01, 1.0])
            assert g(other) >= g(w) - v @ (other - w) - 1e-9


@any_storage
@any_problem
def test_the_sub_gradient_in_b_converges(problem, storage):
    w, value = optimum(problem)
    solution = run(problem, storage=storage, output="suffix", max_steps=300_000)
    assert solution.bounds.primal == pytest.approx(value, rel=1e-3)
    assert solution.bounds.dual == pytest.approx(value, rel=1e-2)
    np.testing.assert_allclose(solution.w[:-1], w[:-1], atol=0.03)
    assert_certified(problem, solution)


def test_small_batches_with_their_best_b_settle_off_the_optimum():
    """The expectation of a batch's minimum is not the minimum of the expectation; that of all rows is."""
    problem = PROBLEMS["weights, shifted"]
    _, value = optimum(problem)
    excess = {}
    for k in (2, 10, 30):
        options = {"intercept": "batch", "batch": k, "sampling": "subset", "output": "suffix"}
        solution = run(problem, max_steps=200_000, **options)
        assert_certified(problem, solution)
        excess[k] = solution.bounds.primal / value - 1
    assert excess[2] > 0.01
    assert excess[10] > 0.01
    assert excess[30] < 1e-4


class TestRootSearch:
    @pytest.mark.parametrize("root", [-50.0, -0.3, 0.0, 0.01, 7.0])
    def test_finds_the_root(self, root):
        search, b = RootSearch(), 0.0
        for _ in range(40):
            b = search.after(b, float(np.tanh(b - root)))
        assert b == pytest.approx(root, abs=1e-3)

    def test_a_wrong_sign_is_made_good(self):
        search, b = RootSearch(), 0.0
        for round_ in range(60):
            slope = float(np.tanh(b - 3.0))
            b = search.after(b, -slope if round_ in (2, 3, 7) else slope)
        assert b == pytest.approx(3.0, abs=1e-2)


def data(problem):
    return problem.X, problem.y, problem.s


def svc(problem, **options):
    solver = Pegasos(**{name: options.pop(name) for name in list(options) if hasattr(Pegasos(), name)})
    return LinearSVC(C=problem.C, intercept="free", random_state=0, solver=solver, **options)


@pytest.mark.parametrize("problem", [PROBLEMS["shifted"], PROBLEMS["weights, shifted"]])
@pytest.mark.parametrize("options", [{"free_intercept": "subgradient"}, {"free_intercept": "search"}])
def test_the_estimator_reaches_tol(problem, options):
    X, y, s = data(problem)
    _, value = optimum(problem)
    clf = svc(problem, tol=0.01, max_iter=20_000, **options).fit(X, y, s)
    found = clf.certificate_
    assert found.converged
    assert found.dual <= value * (1 + 1e-9)
    assert value * (1 - 1e-9) <= found.primal <= found.dual * 1.01
    w = np.append(clf.coef_[0], clf.intercept_)
    assert found.primal == pytest.approx(problem.primal(w), rel=1e-9)


@pytest.mark.parametrize("way", ["subgradient", "batch", "search"])
def test_continued_fits_come_closer(way):
    problem = PROBLEMS["weights, shifted"]
    X, y, s = data(problem)
    clf = svc(problem, tol=0, max_iter=40, warm_start=True, free_intercept=way, batch_size=15)
    found = [clf.fit(X, y, s).certificate_ for _ in range(6)]
    assert clf._last[0].t == 6 * 80
    assert (np.diff([one.dual for one in found]) >= -1e-9 * found[0].dual).all()
    assert found[-1].gap < 0.7 * found[0].gap


def test_the_search_keeps_to_one_budget_and_one_history():
    problem = PROBLEMS["shifted"]
    X, y, _ = data(problem)
    clf = svc(problem, tol=0, max_iter=97, free_intercept="search").fit(X, y)
    assert (clf.n_iter_, clf.certificate_.reason) == (97, "max_iter")
    history = clf.history_
    assert (np.diff(history["epoch"]) > 0).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert (np.diff(history["dual"]) >= -1e-9 * history["dual"][-1]).all()
    assert history["epoch"][-1] == 97
    steps = svc(problem, tol=0, free_intercept="search", max_steps=100, batch_size=4).fit(X, y)
    assert (steps._last[0].t, steps.certificate_.reason) == (100, "max_steps")


def test_the_search_keeps_to_its_time(ticks, capfd):
    problem = PROBLEMS["shifted"]
    X, y, _ = data(problem)
    clf = svc(problem, tol=1e-12, max_iter=10**9, max_time=0.3, free_intercept="search", verbose=2)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        clf.fit(X, y)
    assert clf.certificate_.reason == "max_time"
    assert 0.3 <= clf.certificate_.seconds < 2
    epochs = [float(line.split()[1].rstrip(",")) for line in capfd.readouterr().err.splitlines() if "epoch" in line]
    assert epochs == sorted(epochs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"free_intercept": "median"}, "free_intercept='median'"),
        ({"free_intercept": "batch"}, r"free_intercept='batch'.*batch_size=1"),
        ({"free_intercept": "search", "random_stops": 2, "average": False}, r"random_stops=2.*free_intercept='search'"),
    ],
)
def test_combinations_that_do_not_go(options, message):
    problem = PROBLEMS["plain"]
    with pytest.raises(ValueError, match=message):
        svc(problem, **options).fit(problem.X, problem.y)


def test_a_penalised_intercept_asks_for_none_of_it():
    problem = PROBLEMS["plain"]
    X, y = problem.X, problem.y
    solvers = [Pegasos(free_intercept=way, batch_size=2) for way in ("subgradient", "batch", "search")]
    fits = [LinearSVC(tol=0, max_iter=3, random_state=0, solver=solver).fit(X, y) for solver in solvers]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    np.testing.assert_array_equal(fits[0].coef_, fits[2].coef_)


@pytest.mark.parametrize("options", [{"intercept": "in_w"}, {"intercept": "x"}])
def test_the_core_refuses_what_does_not_go_together(options):
    with pytest.raises(ValueError, match="intercept"):
        run(PROBLEMS["plain"], **options)
    with pytest.raises(ValueError, match="intercept"):
        run(make_problem(), intercept="fixed")
