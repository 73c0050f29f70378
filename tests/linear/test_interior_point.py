"""InteriorPoint: iterate by iterate against its NumPy twin, to small gaps at every C, and the free intercept
(cpp/linear/solvers/interior_point.cpp)."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    make_problem,
    optimum,
    run_interior_point,
    run_sdca,
    run_sgd,
    storage_name,
    suited_loss,
)
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pegasos import LinearSVC
from pegasos._core import available, load, native
from pegasos.cli.run import run as command
from pegasos.io import load_model, save_model, write_svmlight
from pegasos.problems.linear import LinearProblem
from pegasos.reference.interior_point import interior_point
from pegasos.solvers import SOLVERS, InteriorPoint

PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights and bias": make_problem(weighted=True, bias=1.0),
    "more features than rows": make_problem(m=20, d=50, bias=1.0),
    "many rows": make_problem(m=700, d=30, weighted=True, bias=1.0),
}
CS = [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6]
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
both_intercepts = pytest.mark.parametrize("free", [False, True], ids=["penalized", "free"])


def gap(solution):
    return native.relative_gap(solution.bounds.primal, solution.bounds.dual)


def assert_true(problem, solution, rel=1e-9):
    """The bounds are those of the weights and the dual point returned, evaluated here."""
    assert solution.q.min() >= 0
    assert solution.q.max() <= 1
    assert solution.bounds.primal == pytest.approx(problem.primal(solution.w), rel=rel)
    assert solution.bounds.dual == pytest.approx(problem.dual(solution.q), rel=rel)
    assert tuple(solution.history[-1][1:]) == (solution.epochs, solution.bounds.primal, solution.bounds.dual)


def as_free(problem):
    return replace(problem, bias=1.0, free=True)


def sparse_rows(problem, density):
    """The same problem with most entries zero: CSR rows are then added entry by entry, not in blocks."""
    X = problem.X * (np.random.default_rng(3).random(problem.X.shape) < density)
    return replace(problem, X=X)


@any_storage
@both_intercepts
@any_problem
def test_every_iterate_is_the_twins(problem, free, storage):
    problem = as_free(problem) if free else problem
    twins = list(interior_point(problem.augmented, problem.y, problem.C, 8, s=problem.s, free=free))
    values = np.array([problem.primal(w) for _, w in twins])
    solution = run_interior_point(problem, storage=storage, tol=0, max_iterations=8)
    primals = np.array(solution.history)[:-1, 2]
    assert solution.steps == 8
    np.testing.assert_allclose(primals, np.minimum.accumulate(values)[: len(primals)], rtol=1e-8)
    if not free:
        alphas = [alpha / (problem.C * problem.s) for alpha, _ in twins]
        duals = np.maximum.accumulate([max(problem.dual(np.clip(q, 0, 1)), 0.0) for q in alphas])
        np.testing.assert_allclose(np.array(solution.history)[:-1, 3], duals[: len(primals)], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level):
    problem = PROBLEMS["many rows"]
    ours, other = (run_interior_point(problem, core=build, max_iterations=8, tol=0) for build in (native, load(level)))
    np.testing.assert_allclose(np.array(ours.history)[:, 2:], np.array(other.history)[:, 2:], rtol=1e-8, atol=1e-9)


@any_storage
@any_problem
def test_certificates_are_true(problem, storage):
    for most in (1, 2, 3, 5):
        solution = run_interior_point(problem, storage=storage, max_iterations=most, tol=1e-15)
        assert (solution.reason, solution.steps) == ("budget", most)
        assert_certified(problem, solution)
    solution = run_interior_point(problem, storage=storage)
    assert solution.reason == "tol"
    assert_certified(problem, solution)
    assert solution.bounds.primal == pytest.approx(optimum(problem)[1], rel=2e-9)


@any_storage
@both_intercepts
def test_small_gaps_at_every_C(storage, free):
    for problem in (PROBLEMS["many rows"], sparse_rows(PROBLEMS["many rows"], 0.2)):
        for C in CS:
            each = replace(as_free(problem) if free else problem, C=C)
            solution = run_interior_point(each, storage=storage)
            assert gap(solution) <= 1e-9, C
            assert solution.steps < 60
            assert_true(each, solution, rel=1e-8)


@both_intercepts
@pytest.mark.parametrize("C", CS)
def test_real_features_of_very_different_size(C, free):
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    for rows in (X, scale(X), scale(X) * 10.0 ** random.uniform(-6, 6, X.shape[1])):
        problem = Problem(rows, 2.0 * y - 1, np.ones(len(y)), C, 1.0, free)
        solution = run_interior_point(problem)
        assert gap(solution) <= 1e-9
        assert_true(problem, solution, rel=1e-7)


def test_sdca_finds_the_same_optimum():
    for C in (0.01, 1.0):
        problem = make_problem(m=500, d=20, weighted=True, bias=1.0, C=C * math.sqrt(0.3))
        ours, theirs = run_interior_point(problem), run_sdca(problem, tol=1e-8, max_epochs=10**6)
        assert ours.bounds.primal == pytest.approx(theirs.bounds.primal, rel=2e-8)
        np.testing.assert_allclose(ours.w, theirs.w, atol=1e-3 * np.abs(ours.w).max())


@both_intercepts
def test_repeated_rows_are_whole_weights(free):
    problem = make_problem(bias=1.0)
    s = np.arange(problem.m) % 4
    weighted = Problem(problem.X, problem.y, s.astype(float), problem.C, 1.0, free)
    repeated = Problem(np.repeat(problem.X, s, axis=0), np.repeat(problem.y, s), np.ones(s.sum()), problem.C, 1.0, free)
    ours, theirs = run_interior_point(weighted), run_interior_point(repeated)
    assert ours.bounds.primal == pytest.approx(theirs.bounds.primal, rel=2e-9)
    assert (ours.q[s == 0] == 0).all()
    assert_true(weighted, ours)


@both_intercepts
@any_storage
def test_odd_rows_and_columns(storage, free):
    """Rows without weight, empty or repeated; columns empty, constant, repeated; one feature; one row of a class."""
    base = make_problem(m=60, d=8, weighted=True, bias=1.0, C=10.0)
    X, y, s = base.X.copy(), base.y.copy(), base.s.copy()
    s[::5] = 0
    X[1::7] = 0
    X[2::7] = X[3::7][: len(X[2::7])]
    X[:, 2], X[:, 3], X[:, 5] = 0, 1, X[:, 4]
    alone = np.where(np.arange(60) == 7, 1.0, -1.0)
    for rows, labels in ((X, y), (X[:, :1], y), (X, alone), (X[:, 2:3], y), (1e-6 * X, y), (1e6 * X, y)):
        problem = Problem(rows, labels, s, base.C, 1.0, free)
        solution = run_interior_point(problem, storage=storage)
        assert solution.reason == "tol"
        assert gap(solution) <= 1e-9
        assert_true(problem, solution, rel=1e-7)


def test_a_class_without_weight_is_met_by_the_free_intercept():
    problem = as_free(make_problem())
    for sign in (-1, 1):
        each = replace(problem, s=np.where(problem.y == sign, 1.0, 0.0))
        solution = run_interior_point(each)
        assert (solution.bounds.primal, solution.bounds.dual, solution.reason) == (0, 0, "tol")
        assert solution.w[-1] == sign
        assert_true(each, solution)


def binary(load_data, positive):
    X, y = load_data(return_X_y=True)
    return scale(X), np.where(np.isin(y, positive), 1.0, -1.0)


@pytest.mark.parametrize(
    ("load_data", "positive"),
    [(load_iris, [2]), (load_wine, [1]), (load_breast_cancer, [1]), (load_digits, [8])],
    ids=["iris", "wine", "breast cancer", "digits"],
)
def test_the_free_intercept_is_libsvms(load_data, positive):
    X, y = binary(load_data, positive)
    random = np.random.default_rng(0)
    for C, s in ((0.01, np.ones(len(y))), (1.0, np.ones(len(y))), (1.0, random.integers(1, 5, len(y)) / 2)):
        other = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y, sample_weight=s)
        problem = Problem(X, y, s, C, 1.0, free=True)
        theirs = problem.primal(np.append(other.coef_, other.intercept_))
        clf = LinearSVC(C=C, intercept="free", tol=1e-9).fit(X, y, s)
        ours = problem.primal(np.append(clf.coef_, clf.intercept_))
        assert ours == pytest.approx(clf.certificate_.primal, rel=1e-9)
        assert ours == pytest.approx(theirs, rel=1e-4)
        assert clf.certificate_.dual <= theirs
        assert ours <= theirs * (1 + 1e-8)
        assert "InteriorPoint()" in clf.certificate_.solver


def test_any_dual_point_is_made_feasible_for_a_free_intercept():
    problem = as_free(make_problem(weighted=True))
    value = run_interior_point(problem).bounds.primal
    bound = native.Problem(problem.rows(), problem.y, problem.s, problem.C, "hinge", free_intercept=True)
    random = np.random.default_rng(0)
    for n_jobs in (1, 2):
        for q in (random.random(problem.m), np.where(problem.y > 0, 1.0, 0.0), np.ones(problem.m), np.zeros(problem.m)):
            w = random.normal(size=problem.X.shape[1] + 1)
            found = native.certify(bound, native.Run(n_jobs=n_jobs), w, q)
            masses = np.array([problem.s @ (q * (problem.y == sign)) for sign in problem.y])
            balanced = q * np.divide(masses.min(), masses, where=masses > 0, out=np.zeros(problem.m))
            assert found.dual == pytest.approx(problem.dual(balanced), rel=1e-10, abs=1e-12)
            assert found.dual <= value
            assert found.primal == pytest.approx(problem.primal(w), rel=1e-12)


def test_sgd_in_the_core_refuses_a_free_intercept():
    with pytest.raises(ValueError, match="free intercept"):
        run_sgd(as_free(make_problem()))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@both_intercepts
def test_threads_give_the_same_bits_each_time(n_jobs, free):
    problem = as_free(PROBLEMS["many rows"]) if free else PROBLEMS["many rows"]
    for storage in (STORAGES[1], STORAGES[4]):
        first, again = (run_interior_point(problem, storage=storage, n_jobs=n_jobs) for _ in range(2))
        np.testing.assert_array_equal(first.w, again.w)
        np.testing.assert_array_equal(first.q, again.q)
        alone = run_interior_point(problem, storage=storage)
        assert first.bounds.primal == pytest.approx(alone.bounds.primal, rel=1e-9)
        assert_true(problem, first)


def test_more_threads_than_rows():
    problem = make_problem(m=5, d=3, bias=1.0)
    assert gap(run_interior_point(problem, n_jobs=40)) <= 1e-9


def test_many_features():
    """Several panels of the factor, blocks of rows and threads at once."""
    X, y = make_classification(900, 300, n_informative=50, flip_y=0.1, random_state=0)
    problem = Problem(X, 2.0 * y - 1, np.ones(len(y)), 0.1, 1.0)
    for n_jobs in (1, 2):
        solution = run_interior_point(problem, n_jobs=n_jobs)
        assert gap(solution) <= 1e-9
        assert_true(problem, solution)


def test_without_tol_it_goes_as_far_as_it_can():
    for problem in (PROBLEMS["many rows"], as_free(PROBLEMS["many rows"])):
        solution = run_interior_point(problem, tol=0, max_iterations=1000)
        assert solution.reason == "precision"
        assert solution.steps < 200
        assert gap(solution) <= 1e-12
        assert_true(problem, solution)


@both_intercepts
def test_warm_start(free):
    problem = as_free(PROBLEMS["many rows"]) if free else PROBLEMS["many rows"]
    solved = run_interior_point(problem)
    again = run_interior_point(problem, start_w=solved.w, start_q=solved.q, start_t=solved.t)
    assert (again.reason, again.steps, again.t) == ("tol", 0, solved.t)
    assert_true(problem, again)
    stronger = replace(problem, C=1.5 * problem.C)
    cold, warm = run_interior_point(stronger), run_interior_point(stronger, start_w=solved.w, start_q=solved.q)
    assert warm.bounds.primal == pytest.approx(cold.bounds.primal, rel=2e-9)
    assert warm.steps < cold.steps + 5


@both_intercepts
@pytest.mark.parametrize("tol", [0.5, 0.02, 1e-3, 1e-5])
def test_a_start_by_coordinate_ascent_ends_at_the_same_optimum(free, tol):
    """Near the optimum most rows are left out; the certificate is that of all of them, unweighted ones included."""
    X, y = make_classification(2000, 20, flip_y=0.1, random_state=0)
    weights = np.where(np.arange(2000) % 10 == 0, 0.0, 1 + np.arange(2000) % 3)
    problem = Problem(X, 2.0 * y - 1, weights, 0.1, 1.0, free=free)
    start = run_sdca(problem, tol=tol, max_epochs=1000, rho=0.0)
    cold = run_interior_point(problem)
    warm = run_interior_point(problem, start_w=start.w, start_q=start.q)
    assert warm.reason == "tol"
    assert warm.bounds.primal == pytest.approx(cold.bounds.primal, rel=2e-9)
    assert_true(problem, warm)
    if tol < 0.02:
        assert warm.steps < cold.steps  # on fewer rows


def test_a_start_that_misleads_does_no_harm():
    """Weights near the optimum with the dual point of other labels, and the other way round."""
    problem = PROBLEMS["many rows"]
    solved = run_interior_point(problem)
    for w, q in ((solved.w, 1 - solved.q), (-solved.w, solved.q), (1e6 * solved.w, solved.q)):
        found = run_interior_point(problem, start_w=w, start_q=q)
        assert found.reason == "tol"
        assert found.bounds.primal == pytest.approx(solved.bounds.primal, rel=2e-9)
        assert_true(problem, found)


def test_warm_start_of_the_estimator_from_another_solver():
    problem = PROBLEMS["many rows"]
    clf = LinearSVC(C=problem.C, solver="sdca", tol=1e-2, warm_start=True, random_state=0)
    clf.fit(problem.X, problem.y, problem.s)
    found = clf.set_params(solver="interior-point", tol=1e-9).fit(problem.X, problem.y, problem.s).certificate_
    assert found.primal == pytest.approx(run_interior_point(problem).bounds.primal, rel=2e-9)
    clf.fit(problem.X[:-1], problem.y[:-1], problem.s[:-1])  # other examples: it starts anew
    assert clf.certificate_.converged


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit(ticks, n_jobs):
    X, y = make_classification(4000, 50, flip_y=0.2, random_state=0)
    problem = Problem(X, 2.0 * y - 1, np.ones(len(y)), 10.0, 1.0)
    solution = run_interior_point(problem, tol=1e-12, max_seconds=0.1, n_jobs=n_jobs)
    assert solution.reason == "max_time"
    assert 0.1 <= solution.seconds < 1
    assert_true(problem, solution)
    assert_true(problem, run_interior_point(problem, max_seconds=0.0))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.usefixtures("ticks")
def test_an_interrupt_ends_it(n_jobs):
    X, y = make_classification(4000, 50, flip_y=0.2, random_state=0)
    problem = Problem(X, 2.0 * y - 1, np.ones(len(y)), 10.0, 1.0)

    def interrupt(epoch, seconds):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_interior_point(problem, tol=1e-12, n_jobs=n_jobs, progress=interrupt)


def test_iterations_are_counted():
    X, y = make_classification(200, 5, flip_y=0.1, random_state=0)
    clf = LinearSVC(solver="interior-point", tol=1e-9).fit(X, y)
    assert clf.n_iter_ == clf.certificate_.n_iter < 40
    np.testing.assert_array_equal(np.diff(clf.history_["epoch"])[:-1], 3)  # passes over the rows
    short = LinearSVC(solver="interior-point", tol=0, max_iter=4).fit(X, y)
    assert (short.n_iter_, short.certificate_.reason) == (4, "max_iter")


def test_too_many_features_are_refused():
    X = scipy.sparse.csr_array((np.ones(2), ([0, 1], [0, 20_000])), shape=(2, 20_001))
    with pytest.raises(ValueError, match=r"20001 features.*solver='sdca'"):
        LinearSVC(solver=InteriorPoint()).fit(X, [0, 1])


def test_which_solvers_support_a_free_intercept():
    X, y = make_classification(50, 5, random_state=0)
    for name, solver in SOLVERS.items():
        clf = LinearSVC(intercept="free", solver=name, loss=suited_loss(name), tol=0.01, random_state=0)
        if "free" in solver.supports[LinearProblem].intercepts:
            assert clf.fit(X, y).certificate_.converged
        else:
            with pytest.raises(ValueError, match=rf"{name} does not support intercept='free'; .*'interior-point'"):
                clf.fit(X, y)
            clf.set_params(fit_intercept=False).check_parameters()  # no intercept of either kind
    with pytest.raises(ValueError, match=r"intercept_scaling=2.0: a free intercept is not penalised"):
        LinearSVC(intercept="free", intercept_scaling=2.0).fit(X, y)
    with pytest.raises(ValueError, match="intercept='none': must be 'penalized' or 'free'"):
        LinearSVC(intercept="none").fit(X, y)


def test_a_free_intercept_does_not_mind_where_the_origin_is():
    X, y = make_classification(300, 5, flip_y=0.1, random_state=0)
    here, there = (LinearSVC(intercept="free", tol=1e-10).fit(X + shift, y) for shift in (0, 1000))
    assert here.certificate_.primal == pytest.approx(there.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(here.coef_, there.coef_, atol=1e-4)


def test_free_intercept_in_model_files_and_on_the_command_line(tmp_path):
    X, y = make_classification(60, 4, random_state=0)
    clf = LinearSVC(intercept="free", tol=1e-6).fit(X, y)
    save_model(clf, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.intercept == "free"
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    write_svmlight(scipy.sparse.csr_array(X), y, tmp_path / "train.svm")
    line = ["train", "--intercept", "free", "--tol", "1e-6", str(tmp_path / "train.svm"), str(tmp_path / "other")]
    assert command(line) == 0
    other = load_model(tmp_path / "other")
    assert other.intercept == "free"
    assert other.certificate_.primal == pytest.approx(clf.certificate_.primal, rel=2e-6)


def test_the_certificate_tells_of_iterations():
    """Each takes several passes over the data, which are the epochs of the history."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    clf = LinearSVC(solver="interior-point").fit(X, X[:, 0] > 0)
    assert f"\nepochs   {clf.n_iter_}\n" in str(clf.certificate_)
    assert clf.history_["epoch"][-1] > clf.n_iter_
    assert "\nepochs   " in str(LinearSVC(solver="sdca").fit(X, X[:, 0] > 0).certificate_)
