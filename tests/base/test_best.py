"""What a fit records and returns: the best found so far, unless an output was asked for by name."""

import joint_helpers
import numpy as np
import pytest
from linear_helpers import make_problem, run, run_interior_point, run_sgd
from sklearn.datasets import make_classification

from pegasos import LinearSVC, LinearSVR, SequenceSVC
from pegasos.reference import objective
from pegasos.solvers import ConstantStep, Norma, NormBall, Pegasos, Perceptron, SvmSgd

#: Classes that overlap, so that the Perceptron goes on erring, and so large a C that short runs jump.
X, Y = make_classification(300, 12, n_informative=6, flip_y=0.2, class_sep=0.5, random_state=0)
C = 1.0
LINEAR = ["pegasos", "norma", "constant-step", "norm-ball", "perceptron", "sgd-r", "sgd-s", "sgd-m", "sdca"]
LINEAR += ["svm-sgd", "sgd-qn", "mpu"]
WITH_AVERAGE = [Pegasos, Norma, ConstantStep, NormBall, Perceptron, SvmSgd]

any_seed = pytest.mark.parametrize("seed", range(3))


def svc(solver, seed=0, max_iter=20, **options):
    return LinearSVC(C=C, tol=0, max_iter=max_iter, solver=solver, random_state=seed, **options)


def value_at(clf):
    """The objective at the weights returned."""
    signs = np.where(clf.classes_[1] == Y, 1.0, -1.0)
    w = np.append(clf.coef_, clf.intercept_)
    value = objective.primal(np.column_stack([X, np.ones(len(X))]), signs, np.ones(len(X)), C, w)
    return value - w[-1] ** 2 / 2 if clf.intercept == "free" else value


def assert_best(history, primal, dual):
    """The bounds are the best of the history, whose entries are the best so far."""
    assert (np.diff(history["primal"]) <= 0).all()
    assert (np.diff(history["dual"]) >= 0).all()
    assert (primal, dual) == (history["primal"].min(), history["dual"].max())
    assert (primal, dual) == (history["primal"][-1], history["dual"][-1])


def assert_best_run(solution):
    history = dict(zip(("seconds", "epoch", "primal", "dual"), np.array(solution.history).T, strict=True))
    assert_best(history, solution.bounds.primal, solution.bounds.dual)


@any_seed
@pytest.mark.parametrize("solver", [*LINEAR, "interior-point", "ocas", "auto"])
def test_every_solver_returns_the_best(solver, seed):
    clf = svc(solver, seed).fit(X, Y)
    assert len(clf.history_["primal"]) > 3
    assert_best(clf.history_, clf.certificate_.primal, clf.certificate_.dual)
    assert clf.certificate_.primal == pytest.approx(value_at(clf), rel=1e-12)


@any_seed
@pytest.mark.parametrize("average", [False, "suffix"])
@pytest.mark.parametrize("way", ["subgradient", "batch", "search"])
def test_every_way_to_a_free_intercept_returns_the_best(way, average, seed):
    clf = svc(Pegasos(free_intercept=way, batch_size=8, average=average), seed, intercept="free").fit(X, Y)
    assert_best(clf.history_, clf.certificate_.primal, clf.certificate_.dual)
    assert clf.certificate_.primal == pytest.approx(value_at(clf), rel=1e-12)


@any_seed
@pytest.mark.parametrize("kind", WITH_AVERAGE)
def test_the_best_iterate_and_the_last_one_by_name(kind, seed):
    """Runs that differ in what they return alone make the same steps, and look at the same iterates."""
    best, last = (svc(kind(average=average), seed).fit(X, Y) for average in (False, "last"))
    looked_at = last.history_["primal"]
    np.testing.assert_array_equal(best.history_["epoch"], last.history_["epoch"])
    np.testing.assert_array_equal(best.history_["dual"], last.history_["dual"])
    np.testing.assert_array_equal(best.history_["primal"], np.minimum.accumulate(looked_at))
    assert best.certificate_.primal == looked_at.min()
    assert last.certificate_.primal == looked_at[-1] == pytest.approx(value_at(last), rel=1e-12)
    if looked_at[-1] == looked_at.min():
        np.testing.assert_array_equal(best.coef_, last.coef_)


def test_the_last_one_is_not_the_best_here():
    """Or the tests above would not tell one from the other."""
    for kind in WITH_AVERAGE:
        values = [svc(kind(average="last"), seed).fit(X, Y).history_["primal"] for seed in range(3)]
        assert any(value[-1] > value.min() for value in values), kind
    problem = make_problem(m=30, bias=0.5, C=20.0)
    for kind in "rsm":
        values = [
            np.array(run_sgd(problem, kind, max_passes=11, seed=seed, last=True).history)[:, 2] for seed in range(9)
        ]
        assert any(value[-1] > value.min() for value in values), kind


@any_seed
@pytest.mark.parametrize("kind", WITH_AVERAGE)
def test_the_mean_of_all_is_returned_whatever_it_is(kind, seed):
    clf = svc(kind(average=True), seed).fit(X, Y)
    assert clf.certificate_.primal == clf.history_["primal"][-1] == pytest.approx(value_at(clf), rel=1e-12)
    assert (np.diff(clf.history_["dual"]) >= 0).all()


@pytest.mark.parametrize(("best", "named"), [("best", "last"), ("best_suffix", "suffix")])
@pytest.mark.parametrize("schedule", ["pegasos", "norma", "constant", "norm_ball", "perceptron", "svm_sgd"])
def test_the_weights_are_those_of_the_best_check(schedule, best, named):
    problem = make_problem(m=30, bias=0.5, weighted=True)
    options = {"schedule": schedule, "step_parameter": 0.7, "project": schedule == "norm_ball", "radius": 2.0}
    for seed in range(5):
        steps = 13 * problem.m
        found = run(problem, max_steps=steps, output=best, seed=seed, **options)
        looked_at = run(problem, max_steps=steps, output=named, seed=seed, **options).history
        at = min(looked_at, key=lambda record: (record[2], -record[1]))
        there = run(problem, max_steps=round(at[1] * problem.m), output=named, seed=seed, **options)
        np.testing.assert_array_equal(found.w, there.w)
        assert found.bounds.primal == there.bounds.primal
        assert (found.t, found.steps) == (steps, steps)  # a later run continues the steps
        assert_best_run(found)


@pytest.mark.parametrize("kind", ["r", "s", "m"])
def test_sgd_returns_the_best_of_its_checks(kind):
    problem = make_problem(m=30, bias=0.5, C=20.0)
    for seed in range(9):
        found, last = (run_sgd(problem, kind, max_passes=11, seed=seed, last=last) for last in (False, True))
        at = min(last.history, key=lambda record: (record[2], -record[1]))
        there = run_sgd(problem, kind, max_passes=round(at[1]), seed=seed, last=True)
        np.testing.assert_array_equal(found.w, there.w)
        assert last.bounds.primal == last.history[-1][2] == pytest.approx(problem.primal(last.w), rel=1e-12)
        assert found.bounds.dual == pytest.approx(problem.dual(found.q), rel=1e-9)
        assert_best_run(found)


@joint_helpers.any_loss
@pytest.mark.parametrize("seed", range(4))
def test_all_classes_jointly(loss, seed):
    problem = joint_helpers.PROBLEMS["large C"]
    for best, named in (("best", "last"), ("best_suffix", "suffix")):
        found, other = (
            joint_helpers.run_pegasos(problem, loss, max_steps=11 * problem.m, output=output, seed=seed)
            for output in (best, named)
        )
        assert found.bounds.primal == min(record[2] for record in other.history)
        assert found.bounds.primal == pytest.approx(problem.primal(found.w, loss), rel=1e-9)
        assert_best_run(found)
    found, other = (joint_helpers.run_sgd(problem, loss, max_passes=11, seed=seed, last=last) for last in (False, True))
    assert found.bounds.primal == min(record[2] for record in other.history)
    assert found.bounds.primal == pytest.approx(problem.primal(found.w, loss), rel=1e-9)
    assert_best_run(found)


@pytest.mark.parametrize("solver", ["pegasos", "frank-wolfe", Pegasos(average=False)])
def test_sequences_of_the_estimator(solver):
    random = np.random.default_rng(0)
    sentences = [random.normal(size=(length, 4)) for length in random.integers(2, 9, size=40)]
    labels = [list(random.choice(["a", "b", "c"], size=len(x))) for x in sentences]
    model = SequenceSVC(C=3.0, tol=0, max_iter=20, solver=solver, random_state=0).fit(sentences, labels)
    assert_best(model.history_, model.certificate_.primal, model.certificate_.dual)


def test_interior_point_takes_back_what_rounding_promised():
    for seed in range(40):
        problem = make_problem(m=40, seed=seed, C=float(10.0 ** (seed % 7 - 3)), free=seed % 2 == 1)
        assert_best_run(run_interior_point(problem, tol=1e-12))


def test_a_stream_has_no_checks():
    """So False is the last iterate there."""
    best, last = (LinearSVC(alpha=0.1, solver=Pegasos(average=name), random_state=0) for name in (False, "last"))
    np.testing.assert_array_equal(best.partial_fit(X, Y, [0, 1]).coef_, last.partial_fit(X, Y, [0, 1]).coef_)


def test_early_stopping_returns_the_best_score():
    clf = svc("sgd-m", max_iter=200, early_stopping=True).fit(X, Y)
    assert clf.certificate_.primal == clf.history_["primal"][-1]
    assert (np.diff(clf.history_["dual"]) >= 0).all()


def test_regression():
    clf = LinearSVR(C=10.0, tol=0, max_iter=20, solver=Pegasos(average=False), random_state=0).fit(X, X[:, 0] - X[:, 1])
    assert_best(clf.history_, clf.certificate_.primal, clf.certificate_.dual)
