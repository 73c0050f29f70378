"""The core's sub-gradient solvers, step by step against their NumPy twins (cpp/linear/solvers/subgradient.cpp)."""

import itertools
import math

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

from pegasos._core import available, load, native
from pegasos.reference import bottou, s0, s2, s4
from pegasos.solvers.step_sizes import best_power_of_two

T = 40
PROBLEMS = {
    "plain": make_problem(),
    "bias": make_problem(bias=0.75),
    "weights": make_problem(weighted=True),
    "weights and bias": make_problem(weighted=True, bias=1.0),
}
OUTPUTS = {"last": lambda iterates: iterates[-1], "average": s0.average, "suffix": s0.suffix_average}
NORMA_P = 0.7

any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_schedule = pytest.mark.parametrize("schedule", ["pegasos", "norma", "constant", "svm_sgd"])


def step_parameter(problem, schedule):
    return {"pegasos": 0.0, "norma": NORMA_P, "constant": 0.3 / problem.lam, "svm_sgd": 5.5}[schedule]


def reference(problem, schedule, batches, **options):
    """All iterates of the twin."""
    X, y, lam = problem.augmented, problem.y, problem.lam
    options = {"s": problem.s} | options
    parameter = step_parameter(problem, schedule)
    if schedule == "pegasos":
        return list(s0.pegasos(X, y, lam, batches, **options))
    twin = {"norma": s0.norma, "constant": s0.constant_step, "svm_sgd": bottou.svm_sgd}[schedule]
    return list(twin(X, y, lam, parameter, batches, **options))


def core(problem, schedule, batches, **options):
    return run(problem, batches=batches, schedule=schedule, step_parameter=step_parameter(problem, schedule), **options)


@any_storage
@any_problem
@any_schedule
@pytest.mark.parametrize("k", [1, 3, 30])
@pytest.mark.parametrize("project", [False, True])
def test_every_step_is_the_twins(problem, storage, schedule, k, project):
    batches = draw_batches(problem, T, k)
    iterates = reference(problem, schedule, batches, project=project)
    for output, t in itertools.product(OUTPUTS, range(1, T + 1)):
        options = {"max_steps": t, "project": project, "output": output, "storage": storage}
        solution = core(problem, schedule, batches, **options)
        assert_same(solution.w, OUTPUTS[output](iterates[: t + 1]))
        assert (solution.t, solution.steps, solution.epochs) == (t, t, pytest.approx(t * k / problem.m))


@any_storage
@any_problem
def test_every_step_of_the_perceptron_is_the_twins(problem, storage):
    """Two passes; the step parameter cancels the factor that makes the sub-gradient of weighted rows unbiased."""
    batches = np.vstack([draw_batches(problem, T), draw_batches(problem, T)])
    iterates = list(s4.perceptron(problem.augmented, problem.y, batches.ravel(), s=problem.s))
    options = {"schedule": "perceptron", "step_parameter": problem.s.sum() / problem.m, "storage": storage}
    for output, t in itertools.product(OUTPUTS, range(1, len(batches) + 1)):
        solution = run(problem, batches=batches, max_steps=t, output=output, **options)
        assert_same(solution.w, OUTPUTS[output](iterates[: t + 1]))
        assert_certified(problem, solution)


@any_storage
@any_problem
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("B", [0.3, 3.0])
def test_every_step_in_the_norm_ball_is_the_twins(problem, storage, k, B):
    batches = draw_batches(problem, T, k)
    iterates = list(s4.norm_ball(problem.augmented, problem.y, B, batches, s=problem.s))
    options = {"schedule": "norm_ball", "step_parameter": B / problem.R, "project": True, "radius": B}
    for output, t in itertools.product(OUTPUTS, range(1, T + 1)):
        solution = run(problem, batches=batches, max_steps=t, output=output, storage=storage, **options)
        assert_same(solution.w, OUTPUTS[output](iterates[: t + 1]))
        assert_certified(problem, solution)


def test_norm_ball_finds_the_optimum_of_the_average_loss_in_the_ball():
    """At B = ||w*||, w* of the regularised problem is one (S4 section 2)."""
    problem = PROBLEMS["weights and bias"]
    w, _ = optimum(problem)
    B = float(np.linalg.norm(w))
    options = {"schedule": "norm_ball", "step_parameter": B / problem.R, "project": True, "radius": B}
    found = run(problem, output="suffix", max_steps=300_000, **options).w
    assert np.linalg.norm(found) <= B * (1 + 1e-12)
    assert problem.primal(found) - found @ found / 2 <= (problem.primal(w) - w @ w / 2) * 1.01


def test_svm_sgd_from_t0_of_one_is_pegasos():
    problem = PROBLEMS["weights and bias"]
    ours, theirs = (run(problem, schedule=name, step_parameter=1.0, max_steps=500) for name in ("svm_sgd", "pegasos"))
    np.testing.assert_array_equal(ours.w, theirs.w)


@any_storage
@any_problem
def test_trials_of_a_first_step_are_the_twins(problem, storage):
    sample = np.random.default_rng(0).permutation(problem.m)[:20].astype(np.uint32)
    bound = native.Problem(problem.rows(storage), problem.y, problem.s, problem.C, "hinge")
    X, y, lam, s = problem.augmented, problem.y, problem.lam, problem.s
    for eta in (2.0**-6, 0.25, 1.0, 1 / lam):
        assert native.trial_objective(bound, eta, sample) == pytest.approx(bottou.trial(X, y, lam, eta, sample, s))
    for least in (1.0, 50.0):
        eta = best_power_of_two(lambda eta: native.trial_objective(bound, eta, sample), 1 / (lam * least))
        assert 1 / (lam * eta) == bottou.first_step(X, y, lam, sample, s=s, least=least) >= least


@pytest.mark.parametrize("best", range(-5, 6))
@pytest.mark.parametrize("most", [0.1, 1.0, 1000.0])
def test_the_best_power_of_two(best, most):
    """The lowest of a cost with one valley, as far as it may go."""
    found = best_power_of_two(lambda eta: abs(math.log2(eta) - best), most)
    assert found == min(2.0**best, 2.0 ** math.floor(math.log2(most)))
    assert best_power_of_two(lambda eta: 1.0, most) == min(1.0, 2.0 ** math.floor(math.log2(most)))


def test_projection_is_not_idle():
    """The runs above would not notice its absence otherwise."""
    problem = PROBLEMS["plain"]
    batches = draw_batches(problem, T)
    free, projected = (reference(problem, "pegasos", batches, project=project) for project in (False, True))
    assert np.linalg.norm(free[2]) > 1 / math.sqrt(problem.lam)
    assert max(np.linalg.norm(w) for w in projected) <= (1 + 1e-12) / math.sqrt(problem.lam)


@any_storage
@any_problem
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("project", [False, True])
def test_uncounted_idle_steps(problem, storage, k, project):
    batches = draw_batches(problem, 2 * T, k)
    X, y, lam = problem.augmented, problem.y, problem.lam
    iterates = list(s2.uncounted_idle_steps(X, y, lam, batches, s=problem.s, project=project))
    busy = [len(s0.violators(X, y, w, A_t)) > 0 for w, A_t in zip(iterates[:-1], batches, strict=True)]
    assert not all(busy)
    for t in range(1, 2 * T + 1):
        options = {"max_steps": t, "project": project, "storage": storage}
        solution = run(problem, batches=batches, count_idle_steps=False, **options)
        assert_same(solution.w, iterates[t])
        assert (solution.steps, solution.t) == (t, sum(busy[:t]))


@any_storage
@any_schedule
@pytest.mark.parametrize("output", OUTPUTS)
def test_random_start(storage, schedule, output):
    problem = PROBLEMS["weights and bias"]
    batches = draw_batches(problem, T, k=3)
    w_1 = s2.random_start(np.random.default_rng(5), problem.augmented.shape[1], problem.lam)
    iterates = reference(problem, schedule, batches, w_1=w_1)
    for t in range(1, T + 1):
        options = {"max_steps": t, "start_w": w_1, "output": output, "storage": storage}
        assert_same(core(problem, schedule, batches, **options).w, OUTPUTS[output](iterates[: t + 1]))


@any_schedule
@pytest.mark.parametrize("project", [False, True])
def test_warm_start_continues(schedule, project):
    problem = PROBLEMS["weights and bias"]
    batches = draw_batches(problem, T)
    whole = core(problem, schedule, batches, project=project)
    for t in range(1, T):
        first = core(problem, schedule, batches[:t], project=project)
        start = {"start_w": first.w, "start_t": first.t, "start_q": first.q}
        second = core(problem, schedule, batches[t:], project=project, **start)
        assert second.t == T
        assert_same(second.w, whole.w)
        assert second.bounds.dual >= first.bounds.dual * (1 - 1e-12)
        w_t = reference(problem, schedule, batches[:t], project=project)[-1]
        assert_same(second.w, reference(problem, schedule, batches[t:], project=project, w_1=w_t, t_0=t)[-1])


@any_storage
def test_batches_larger_than_a_block_of_draws(storage):
    problem = make_problem(m=3000, d=4)
    batches = draw_batches(problem, 6, k=1500)
    assert_same(run(problem, batches=batches, storage=storage).w, reference(problem, "pegasos", batches)[-1])


@pytest.mark.parametrize("draws", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_random_stop_returns_the_best_of_the_drawn_iterates(draws, seed):
    problem = PROBLEMS["weights and bias"]
    batches = draw_batches(problem, T)
    iterates = reference(problem, "pegasos", batches)
    stops = [stop + 1 for stop in native.probe_draws(seed ^ 0x5709, T, draws)]
    solution = run(problem, batches=batches, output="random_stop", random_stops=draws, seed=seed)
    assert_same(solution.w, s0.random_stop(iterates, stops, problem.primal))
    assert solution.steps == max(stops) - 1
    assert solution.reason == "random_stop"


def test_random_stop_reaches_every_iterate():
    problem = PROBLEMS["plain"]
    steps = {run(problem, output="random_stop", max_steps=3, seed=seed).steps for seed in range(50)}
    assert steps == {0, 1, 2}


def test_random_stop_compares_on_a_sample():
    """A sample of the rows is enough, and the winner is still one of the drawn iterates."""
    problem = PROBLEMS["weights"]
    batches = draw_batches(problem, T)
    iterates = reference(problem, "pegasos", batches)
    stops = native.probe_draws(3 ^ 0x5709, T, 4)
    solution = run(problem, batches=batches, output="random_stop", random_stops=4, seed=3, stop_sample=10)
    assert any(np.allclose(solution.w, iterates[stop], rtol=1e-10, atol=1e-12) for stop in stops)


@pytest.mark.parametrize("level", available())
@any_storage
@pytest.mark.parametrize("output", OUTPUTS)
def test_every_build_gives_the_same(level, storage, output):
    problem = PROBLEMS["weights and bias"]
    options = {"batch": 2, "sampling": "subset", "output": output, "project": True, "max_steps": 10 * problem.m}
    ours, other = (run(problem, storage=storage, core=build, **options) for build in (native, load(level)))
    assert_same(other.w, ours.w)
    assert_same(other.q, ours.q)
    assert other.bounds.dual == pytest.approx(ours.bounds.dual, rel=1e-10)
    assert other.bounds.primal == pytest.approx(ours.bounds.primal, rel=1e-10)


@pytest.mark.parametrize("sampling", ["permute", "fixed", "replace", "subset"])
def test_sampling_is_the_stream_of_that_name(sampling):
    problem = PROBLEMS["plain"]
    k, steps = 4, 100
    stream = np.array(native.probe_sample(sampling, problem.m, k, 7, k * steps)).reshape(steps, k)
    solution = run(problem, sampling=sampling, batch=k, max_steps=steps, seed=7)
    assert_same(solution.w, reference(problem, "pegasos", stream)[-1])


@pytest.mark.parametrize("sampling", ["permute", "replace"])
@pytest.mark.parametrize("output", [*OUTPUTS, "random_stop"])
def test_the_seed_decides_the_run_bit_by_bit(sampling, output):
    problem = PROBLEMS["weights and bias"]
    options = {"sampling": sampling, "output": output, "random_stops": 2, "max_steps": 20 * problem.m}
    first, again, other = (run(problem, seed=seed, **options) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w, again.w)
    np.testing.assert_array_equal(first.q, again.q)
    assert [record[1:] for record in first.history] == [record[1:] for record in again.history]
    assert (first.w != other.w).any()


@any_storage
@pytest.mark.parametrize("k", [1, 3])
def test_pegasos_converges(storage, k):
    problem = PROBLEMS["weights and bias"]
    w, value = optimum(problem)
    solution = run(problem, storage=storage, batch=k, output="suffix", max_steps=300_000)
    assert solution.bounds.primal == pytest.approx(value, rel=1e-4)
    np.testing.assert_allclose(solution.w, w, atol=0.02)


def test_a_row_of_no_weight_counts_for_nothing():
    whole = PROBLEMS["plain"]
    few = Problem(whole.X[:20], whole.y[:20], np.ones(20), whole.C)
    padded = Problem(whole.X, whole.y, np.repeat([1.0, 0.0], [20, 10]), whole.C)
    batches = draw_batches(few, T, k=20)
    rest = np.tile(np.arange(20, 30, dtype=np.uint32), (T, 1))
    assert_same(run(padded, batches=np.hstack([batches, rest])).w, run(few, batches=batches).w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "subset", "batch": 31}, "cannot be larger"),
        ({"batch": 0}, "no rows"),
        ({"schedule": "x"}, "schedule 'x'"),
        ({"sampling": "x"}, "sampling 'x'"),
        ({"output": "x"}, "output 'x'"),
        ({"loss": "x"}, "loss 'x'"),
        ({"start_w": np.zeros(3)}, "lengths differ"),
        ({"start_q": np.zeros(3)}, "lengths differ"),
        ({"visits": np.array([30], dtype=np.uint32)}, "out of range"),
    ],
)
def test_senseless_requests_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        run(PROBLEMS["plain"], **options)
