"""All classes in one problem (cpp/classes/multiclass.hpp): steps against the NumPy twins, certificates, the optimum."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from joint_helpers import (
    LOSSES,
    PROBLEMS,
    Problem,
    any_loss,
    any_problem,
    any_storage,
    assert_certified,
    gap,
    joint_problem,
    make_problem,
    optimum,
    run_pegasos,
    run_sdca,
)
from linear_helpers import IRRATIONAL, assert_same, draw_batches
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pegasos._core import available, load, native
from pegasos.base.outcome import Budget
from pegasos.reference import multiclass, s0
from pegasos.solvers import SDCA, Pegasos

# The steps.


def step_value(q, p, f, y, a, loss, cost):
    """What a visit maximises."""
    if loss == "hinge":
        g = cost[y] @ q
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            g = -np.sum(np.where(q > 0, q * np.log(q), 0))
    return g + f @ q - a / 2 * np.sum((q - p) ** 2)


@any_loss
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # of an older SciPy, by rounding
def test_steps_are_those_of_a_general_maximiser(loss):
    random = np.random.default_rng(0)
    for K in (2, 3, 7, 20):
        for _ in range(5):
            cost = random.random((K, K)) * (1 - np.eye(K))
            y, f, p = int(random.integers(K)), random.normal(size=K), random.dirichlet(np.ones(K))
            a = float(10 ** random.uniform(-1, 1.5))
            q, _ = native.probe_joint_step(loss, cost.ravel(), y, f, p, a)

            def negative(v, p=p, f=f, y=y, a=a, cost=cost):
                return -step_value(np.maximum(v, 0), p, f, y, a, loss, cost)

            found = scipy.optimize.minimize(
                negative,
                np.full(K, 1 / K),
                bounds=[(1e-12, 1)] * K,
                constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 1000},
            )
            assert step_value(np.array(q), p, f, y, a, loss, cost) >= -found.fun - 1e-9
            np.testing.assert_allclose(q, found.x, atol=2e-4)


@any_loss
@pytest.mark.parametrize("a", [1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 30.0, 1e4])
def test_steps_satisfy_the_conditions_of_a_maximum(loss, a, size):
    random = np.random.default_rng(1)
    for K in (2, 5, 17, 130):
        for p in (np.eye(K)[0], np.eye(K)[-1], random.dirichlet(np.ones(K)), random.dirichlet(np.full(K, 0.05))):
            p = p / p.sum()
            cost = random.random((K, K)) * (1 - np.eye(K))
            y, f = int(random.integers(K)), size * random.normal(size=K)
            q, term = native.probe_joint_step(loss, cost.ravel(), y, f, p, a)
            q = np.array(q)
            assert np.isfinite(q).all()
            assert q.min() >= 0
            assert q.sum() == pytest.approx(1, abs=1e-12)
            # The gap at the step is small next to what it promises: max over the simplex of <gradient, v - q>.
            with np.errstate(divide="ignore"):
                gradient = f - a * (q - p) + (cost[y] if loss == "hinge" else -np.log(q))
            scale = 1 + np.abs(f).max() + a
            support = q > (0 if loss == "hinge" else 1e-200)
            spread = gradient[support].max() - gradient[support].min()
            if loss == "hinge":
                assert gradient.max() - gradient[support].min() <= 1e-12 * scale
            else:
                assert q[support] @ (gradient[support].max() - gradient[support]) <= 1e-10 * scale
                assert spread <= 1e-6 * scale or a > 1e5
            assert term >= -1e-12 * scale


@any_loss
def test_steps_are_the_twins_whatever_their_size(loss):
    random = np.random.default_rng(2)
    for _ in range(300):
        K = int(random.integers(2, 40))
        cost = random.random((K, K)) * (1 - np.eye(K))
        y, p = int(random.integers(K)), random.dirichlet(np.full(K, 0.3))
        f, a = 10 ** random.uniform(-3, 2) * random.normal(size=K), float(10 ** random.uniform(-6, 6))
        q, _ = native.probe_joint_step(loss, cost.ravel(), y, f, p, a)
        np.testing.assert_allclose(q, multiclass.best_p(p, f, y, a, loss, cost), atol=1e-9)


# SDCA.


@any_loss
@any_storage
@any_problem
def test_every_step_is_the_twins(problem, storage, loss):
    sequence = np.random.default_rng(0).integers(problem.m, size=40).astype(np.uint32)
    iterates = list(
        multiclass.joint_sdca(
            problem.augmented, problem.y, problem.C, sequence, loss=loss, cost=problem.cost, s=problem.s
        )
    )
    for steps in (1, 2, 3, 7, 20, 40):
        solution = run_sdca(problem, loss, storage=storage, visits=sequence[:steps], shrink=False)
        P, W = iterates[steps]
        assert_same(solution.w, W.ravel(), rtol=1e-9)
        assert_same(solution.q, P.ravel(), rtol=1e-9)
        assert (solution.steps, solution.t) == (steps, steps)
        assert solution.epochs == pytest.approx(steps / problem.m)


@any_loss
@any_storage
@any_problem
def test_certificates_of_sdca_are_true(problem, storage, loss):
    for epochs in (1, 2, 10):
        solution = run_sdca(problem, loss, storage=storage, max_epochs=epochs)
        assert_certified(problem, loss, solution)
        assert (solution.reason, solution.epochs) == ("budget", epochs)


@any_loss
@pytest.mark.parametrize("way", [{"shrink": s, "blocks": b} for s in (False, True) for b in (False, True)], ids=str)
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_every_way_leads_to_the_optimum(loss, way, tol):
    for problem in PROBLEMS.values():
        solution = run_sdca(problem, loss, tol=tol, max_epochs=10**5, **way)
        assert solution.reason == "tol"
        assert gap(solution) <= tol
        assert solution.bounds.primal == pytest.approx(optimum(problem, loss), rel=tol)
        assert_certified(problem, loss, solution)


@any_loss
def test_oddities(loss):
    """Some rows without weight, some empty, some the same as others; a class without rows."""
    base = make_problem(weighted=True, m=60)
    X, y, s = base.X.copy(), base.y.copy(), base.s.copy()
    s[::5] = 0
    X[1::7] = 0
    X[2::7] = X[3::7][: len(X[2::7])]
    y[y == 2] = 0
    for bias in (0.0, 1.0):
        problem = Problem(X, y, s, base.C, bias, cost=base.cost)
        solution = run_sdca(problem, loss, tol=1e-8, max_epochs=10**5)
        assert solution.reason == "tol"
        assert_certified(problem, loss, solution)
        assert_certified(problem, loss, run_pegasos(problem, loss, max_steps=1000), exact=False)


@any_loss
def test_one_class(loss):
    problem = Problem(np.ones((3, 2)), np.zeros(3, int), np.ones(3), 1.0, cost=np.zeros((1, 1)))
    solution = run_sdca(problem, loss, tol=1e-3, max_epochs=10)
    assert (solution.bounds.primal, solution.bounds.dual) == (0, 0)
    np.testing.assert_array_equal(solution.w, 0)


def test_shrinking_saves_visits():
    problem = make_problem(m=1000, d=20, K=5, C=3 * IRRATIONAL)
    all_rows, few_rows = (
        run_sdca(problem, "hinge", tol=1e-6, max_epochs=10**5, shrink=shrink) for shrink in (False, True)
    )
    assert few_rows.steps < 0.8 * all_rows.steps


def crammer_singer(X, y, C):
    """LIBLINEAR's value of the problem."""
    found = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C, tol=1e-8, max_iter=10**6).fit(X, y)
    return found.coef_.T


def multinomial(X, y, C):
    found = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10**5).fit(X, y)
    return found.coef_.T


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")  # in scikit-learn 1.6, which is close all the same
@pytest.mark.parametrize("data", [load_digits, load_iris], ids=["digits", "iris"])
@pytest.mark.parametrize(("loss", "rival"), [("hinge", crammer_singer), ("log_loss", multinomial)], ids=LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_scikit_learn_finds_the_same(data, loss, rival, C):
    X, y = data(return_X_y=True)
    X, y = X[:600] / np.abs(X).max(), y[:600]
    K = y.max() + 1
    problem = Problem(X, y, np.ones(len(y)), C, cost=multiclass.zero_one(K))
    theirs = rival(X, y, C)
    value = multiclass.primal(X, y, problem.s, C, theirs, loss, problem.cost)
    ours = run_sdca(problem, loss, tol=1e-5, max_epochs=10**5)
    assert ours.reason == "tol"
    assert ours.bounds.primal == pytest.approx(value, rel=1e-4)
    assert ours.bounds.dual <= value * (1 + 1e-9)
    scores = X @ ours.w.reshape(-1, K)[:-1]
    assert (scores.argmax(axis=1) == (X @ theirs).argmax(axis=1)).mean() >= 0.99


@any_loss
def test_repeated_rows_are_whole_weights(loss):
    problem = make_problem(bias=0.5, costs=True)
    s = np.arange(problem.m) % 4
    weighted = replace(problem, s=s.astype(float))
    repeated = replace(problem, X=np.repeat(problem.X, s, axis=0), y=np.repeat(problem.y, s), s=np.ones(s.sum()))
    ours, theirs = (run_sdca(each, loss, tol=1e-12, max_epochs=10**6) for each in (weighted, repeated))
    assert ours.bounds.primal == pytest.approx(theirs.bounds.primal, rel=1e-10)
    np.testing.assert_allclose(ours.w, theirs.w, atol=1e-5)


def test_a_dear_confusion_becomes_rare():
    problem = make_problem(K=3, m=400, d=4, seed=3)
    dear = problem.cost.copy()
    dear[0, 1] = 30.0
    before, after = (
        run_sdca(replace(problem, cost=cost), "hinge", tol=1e-4, max_epochs=10**5) for cost in (problem.cost, dear)
    )
    counts = [
        ((problem.augmented @ found.w.reshape(-1, 3)).argmax(axis=1)[problem.y == 0] == 1).sum()
        for found in (before, after)
    ]
    assert counts[0] > 0
    assert counts[1] < counts[0]


@any_loss
def test_warm_start_continues_from_the_dual_point(loss):
    problem = PROBLEMS["weights and bias"]
    sequence = np.random.default_rng(0).integers(problem.m, size=60).astype(np.uint32)
    whole = run_sdca(problem, loss, visits=sequence)
    for steps in (1, 10, 59):
        first = run_sdca(problem, loss, visits=sequence[:steps])
        second = run_sdca(problem, loss, visits=sequence[steps:], start_q=first.q, start_t=first.t)
        assert second.t == whole.t
        assert_same(second.w, whole.w, rtol=1e-9)
    solved = run_sdca(problem, loss, tol=1e-8, max_epochs=10**5)
    again = run_sdca(problem, loss, tol=1e-7, max_epochs=10**5, start_q=solved.q, start_w=solved.w)
    assert again.reason == "tol"
    assert again.epochs <= 3


@any_loss
def test_threads_share_the_checks(loss):
    problem = make_problem(m=200, K=7, weighted=True, bias=1.0)
    alone, together = (run_sdca(problem, loss, tol=1e-6, max_epochs=10**5, n_jobs=n) for n in (1, 3))
    assert together.reason == "tol"
    assert_certified(problem, loss, together)
    assert_same(together.w, alone.w, rtol=1e-3)
    assert_certified(problem, loss, run_pegasos(problem, loss, max_steps=1000, n_jobs=3), exact=False)


# Pegasos.


@any_loss
@any_storage
@any_problem
@pytest.mark.parametrize("project", [False, True])
def test_every_step_of_pegasos_is_the_twins(problem, storage, loss, project):
    unlike = np.sqrt(1 + np.arange(problem.K**2).reshape(problem.cost.shape) / problem.K**2)
    problem = replace(problem, cost=problem.cost * unlike)  # no two classes have the same score and cost
    for k in (1, 3):
        batches = draw_batches(problem, 12, k)
        iterates = list(
            multiclass.joint_pegasos(
                problem.augmented,
                problem.y,
                problem.lam,
                batches,
                loss=loss,
                cost=problem.cost,
                s=problem.s,
                project=project,
            )
        )
        means = {"last": iterates[-1], "average": s0.average(iterates), "suffix": s0.suffix_average(iterates)}
        for output, W in means.items():
            solution = run_pegasos(problem, loss, batches, storage=storage, output=output, project=project)
            assert_same(solution.w, W.ravel(), rtol=1e-9)
            assert solution.steps == len(batches)


@any_problem
def test_of_equal_classes_pegasos_takes_the_first(problem):
    batches = np.array([[2]], dtype=np.uint32)
    *_, W = multiclass.joint_pegasos(
        problem.augmented, problem.y, problem.lam, batches, loss="hinge", cost=problem.cost, s=problem.s
    )
    assert_same(run_pegasos(problem, "hinge", batches).w, W.ravel())


@any_loss
@any_problem
@pytest.mark.parametrize("sampling", ["blocks", "permute", "fixed", "replace", "subset"])
def test_certificates_of_pegasos_are_true(problem, loss, sampling):
    for output in ("last", "average", "suffix"):
        for project in (False, True):
            for steps in (1, 100, 1000):
                solution = run_pegasos(
                    problem, loss, sampling=sampling, output=output, project=project, max_steps=steps, batch=2
                )
                assert_certified(problem, loss, solution, exact=loss == "hinge")


@any_loss
def test_pegasos_reaches_tol(loss):
    problem = make_problem(m=200, weighted=True)
    solution = run_pegasos(problem, loss, tol=0.01, output="suffix", max_steps=10**7)
    assert solution.reason == "tol"
    assert gap(solution) <= 0.01
    assert_certified(problem, loss, solution, exact=loss == "hinge")


@any_loss
def test_pegasos_continues(loss):
    problem = PROBLEMS["weights and bias"]
    batches = draw_batches(problem, 30)
    whole = run_pegasos(problem, loss, batches)
    first = run_pegasos(problem, loss, batches[:10])
    second = run_pegasos(problem, loss, batches[10:], start_w=first.w, start_t=first.t)
    assert second.t == whole.t
    assert_same(second.w, whole.w)


# Both.


@any_loss
@pytest.mark.parametrize("level", available())
def test_every_build_gives_the_same(level, loss):
    problem = PROBLEMS["weights and bias"]
    for solver in (run_sdca, run_pegasos):
        ours, other = (solver(problem, loss, core=build) for build in (native, load(level)))
        assert_same(other.w, ours.w, rtol=1e-9)


@any_loss
@pytest.mark.parametrize("tol", [0.0, 1e-3])
def test_the_seed_decides_the_run_bit_by_bit(loss, tol):
    problem = PROBLEMS["weights and bias"]
    for solver, options in ((run_sdca, {"max_epochs": 3}), (run_pegasos, {"max_steps": 100})):
        for n_jobs in (1, 2):
            first, again, other = (
                solver(problem, loss, seed=seed, n_jobs=n_jobs, tol=tol, **options) for seed in (1, 1, 2)
            )
            np.testing.assert_array_equal(first.w, again.w)
            np.testing.assert_array_equal(first.q, again.q)
            assert (first.w != other.w).any()


@any_loss
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_limit(ticks, loss, n_jobs):
    problem = PROBLEMS["plain"]
    for solver, options in ((run_sdca, {"max_epochs": 1e18}), (run_pegasos, {"max_steps": 2**62})):
        solution = solver(problem, loss, max_seconds=0.05, n_jobs=n_jobs, **options)
        assert solution.reason == "max_time"
        assert 0.05 <= solution.seconds < 1
        assert_certified(problem, loss, solution, exact=loss == "hinge" or solver is run_sdca)


@any_loss
def test_interrupts_end_a_run(loss):
    class Interrupt(Exception):
        pass

    def progress(epoch, seconds):
        raise Interrupt

    problem = PROBLEMS["plain"]
    for solver, options in ((run_sdca, {"max_epochs": 1e18}), (run_pegasos, {"max_steps": 2**62})):
        with pytest.raises(Interrupt):
            solver(problem, loss, progress=progress, **options)


@any_loss
def test_certify(loss):
    problem = PROBLEMS["costs"]
    found = run_sdca(problem, loss, max_epochs=3)
    core = problem.core(loss)
    for n_jobs in (1, 3):
        bounds = native.joint_certify(core, native.Run(n_jobs=n_jobs), found.w, found.q)
        assert bounds.primal == pytest.approx(found.bounds.primal, rel=1e-12)
        assert bounds.dual == pytest.approx(found.bounds.dual, rel=1e-12)
    assert native.joint_certify(core, native.Run(), found.w, 2 * found.q).dual == -np.inf
    assert native.joint_certify(core, native.Run(), found.w, found.q - 1e-3).dual == -np.inf


def test_wrong_arguments_are_refused():
    problem = PROBLEMS["plain"]
    rows = native.dense_rows(problem.X, 0.0)
    y, s, cost = problem.y.astype(np.int32), problem.s, problem.cost
    native.JointProblem(rows, y, s, 1.0, "hinge", cost)
    for wrong, message in [
        ((rows, y[1:], s, 1.0, "hinge", cost), "lengths differ"),
        ((rows, y, s[1:], 1.0, "hinge", cost), "lengths differ"),
        ((rows, y, s, 1.0, "hinge", cost[:-1]), "not a square"),
        ((rows, y, s, 1.0, "hinge", cost[:-1, :-1].copy()), "label out of range"),
        ((rows, y - 1, s, 1.0, "hinge", cost), "label out of range"),
        ((rows, y, s, 1.0, "hinge", -cost), "negative"),
        ((rows, y, s, 1.0, "hinge", np.full_like(cost, np.nan)), "not finite"),
        ((rows, y, s, 1.0, "hinge", cost + 1), "right class"),
        ((rows, y, s, 1.0, "squared", cost), "unknown loss"),
    ]:
        with pytest.raises(ValueError, match=message):
            native.JointProblem(*wrong)
    for options in ({"start_q": np.zeros(3)}, {"start_w": np.zeros(3)}):
        with pytest.raises(ValueError, match="lengths differ"):
            run_sdca(problem, "hinge", **options)
    with pytest.raises(ValueError, match="out of range"):
        run_sdca(problem, "hinge", visits=np.array([99], dtype=np.uint32))
    with pytest.raises(ValueError, match="unknown output"):
        run_pegasos(problem, "hinge", output="random_stop")


# The solvers' classes.


@any_loss
@pytest.mark.parametrize("order", ["auto", "permute", "blocks"])
def test_the_class_of_sdca(loss, order):
    problem = PROBLEMS["costs"]
    budget = Budget(tol=1e-6, max_iter=10**5, max_time=None)
    found = SDCA(order=order).solve(joint_problem(problem, loss), budget, 0)
    assert found.reason == "tol"
    assert found.bounds.primal == pytest.approx(optimum(problem, loss), rel=1e-6)
    again = SDCA().solve(joint_problem(problem, loss), budget, 0, found.start)
    assert again.epochs < found.epochs / 2


@any_loss
def test_the_class_of_pegasos(loss):
    problem = PROBLEMS["costs"]
    budget = Budget(tol=0.05, max_iter=10**5, max_time=None)
    solver = Pegasos(batch_size=4, project=True)
    found = solver.solve(joint_problem(problem, loss), budget, 0)
    assert found.reason == "tol"
    assert found.bounds.primal == pytest.approx(optimum(problem, loss), rel=0.05)
    again = Pegasos(max_steps=7).solve(joint_problem(problem, loss), budget, 0, found.start)
    assert again.t == found.t + 7
    for wrong in (
        {"random_stops": 2, "average": False},
        {"count_idle_steps": False},
        {"start": "random"},
        {"batch_size": 1000},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Pegasos(**wrong).solve(joint_problem(problem, loss), budget, 0)
