"""Learning from streams: the core against its twin, step by step (cpp/linear/solvers/stream.hpp)."""

import numpy as np
import pytest
from linear_helpers import STORAGES, assert_same, draw_batches, make_problem, make_rows, make_run, storage_name

from pegasos._core import native
from pegasos.reference import losses as reference_losses
from pegasos.reference import s0
from pegasos.reference.losses import LOSSES
from pegasos.reference.stream import adagrad_stream, pegasos_stream

EPSILON = 0.3
OUTPUTS = {"last": lambda iterates: iterates[-1], "average": s0.average, "suffix": s0.suffix_average}
PROBLEMS = {"plain": make_problem(), "weights and bias": make_problem(weighted=True, bias=1.0)}

any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_loss = pytest.mark.parametrize("loss", LOSSES)


def make_stream(problem, loss="hinge", **options):
    return native.Stream(problem.X.shape[1] + 1, loss, EPSILON, problem.lam, **options)


def part(problem, rows, storage=STORAGES[1]):
    """Some rows as the core takes them, with their labels and weights."""
    return make_rows(problem.X[rows], storage, problem.bias), problem.y[rows], problem.s[rows]


@any_storage
@any_problem
@any_loss
@pytest.mark.parametrize("project", [False, True])
def test_every_step_is_the_twins(problem, storage, loss, project):
    """A stream cut into calls of any size."""
    order = np.concatenate([np.random.default_rng(k).permutation(problem.m) for k in range(2)])
    options = {"s": problem.s, "project": project, "epsilon": EPSILON}
    steps = list(pegasos_stream(loss, problem.augmented, problem.y, problem.lam, order, **options))
    iterates = [step.w for step in steps]
    streams = {output: make_stream(problem, loss, project=project, output=output) for output in OUTPUTS}
    done = 0
    for size in [1, 1, 2, 3, 5, 1, 8, 19, 20]:
        rows, y, s = part(problem, order[done : done + size], storage)
        done += size
        for output, stream in streams.items():
            stream.learn(rows, y, s, make_run())
            assert_same(stream.iterate, iterates[done])
            assert_same(stream.w, OUTPUTS[output](iterates[: done + 1]))
        stream, step = streams["last"], steps[done]
        found = stream.lower_bound(), stream.progress.loss, stream.progress.errors
        assert found == pytest.approx((step.bound, step.loss, step.errors), rel=1e-9, abs=1e-12)
        met = problem.s[order[:done]].sum()
        assert (stream.progress.rows, stream.weight) == (done, pytest.approx(met))
        assert stream.progress.weight == pytest.approx(met)
    assert done == len(order)


@any_storage
@any_problem
@any_loss
def test_every_step_of_adagrad_is_the_twins(problem, storage, loss):
    order = np.concatenate([np.random.default_rng(k).permutation(problem.m) for k in range(2)])
    options = {"s": problem.s, "epsilon": EPSILON}
    iterates = list(adagrad_stream(loss, problem.augmented, problem.y, 0.5, order, **options))
    stream = native.Stream.adagrad(problem.X.shape[1] + 1, loss, EPSILON, 0.5)
    for t, i in enumerate(order, start=1):
        stream.learn(*part(problem, [i], storage), make_run())
        assert_same(stream.w, iterates[t], rtol=1e-9)
    other = native.Stream.adagrad(problem.X.shape[1] + 1, loss, EPSILON, 0.5)
    other.restore(*stream.state())
    for learner in (stream, other):
        learner.learn(*part(problem, slice(None), storage), make_run())
    np.testing.assert_array_equal(other.w, stream.w)
    with pytest.raises(ValueError, match="state"):
        other.restore(*make_stream(problem).state())


@pytest.mark.parametrize(
    ("loss", "project"),
    [("hinge", False), ("hinge", True), ("log_loss", False), ("log_loss", True), ("epsilon_insensitive", False)],
)
def test_the_twin_is_pegasos(loss, project):
    """Where weights are 1. Losses that need a later start, and the ball of targets, know all rows beforehand."""
    problem = PROBLEMS["plain"]
    order = draw_batches(problem, 60)
    X, y, lam = problem.augmented, problem.y, problem.lam
    options = {"project": project, "epsilon": EPSILON}
    steps = pegasos_stream(loss, X, y, lam, order.ravel(), **options)
    for step, w in zip(steps, reference_losses.pegasos(loss, X, y, lam, order, **options), strict=True):
        assert_same(step.w, w)


@any_loss
@any_problem
@pytest.mark.parametrize("project", [False, True])
def test_the_bound_is_below_the_optimum_of_the_rows_met(problem, loss, project):
    """And close to it in the end, without projection: each row counts as often as it was met."""
    stream = make_stream(problem, loss, project=project)
    optimum = native.sdca(
        native.Problem(*part(problem, slice(None)), problem.C, loss, False, EPSILON),
        make_run(),
        shrink=True,
        blocks=False,
        max_epochs=10_000.0,
        tol=1e-9,
        rho=np.inf,
        joins=1,
        seed=0,
        visits=None,
        start_w=None,
        start_t=0,
        start_q=None,
    ).bounds.primal
    value = optimum * problem.lam
    for epoch in range(300):
        stream.learn(*part(problem, slice(None)), make_run(), seed=epoch)
        assert stream.lower_bound() <= value * (1 + 1e-9)
    assert project or stream.lower_bound() >= 0.9 * value


def test_squared_losses_do_not_overshoot():
    problem = PROBLEMS["plain"]
    stream = native.Stream(problem.X.shape[1] + 1, "squared_hinge", 0.0, 1e-6)
    rows, y, s = part(problem, slice(None))
    for seed in range(20):
        progress = stream.learn(rows, y, s, make_run(), seed=seed)
    assert stream.idle > 0
    assert progress.loss / progress.weight < 1


def test_orders():
    """A given one, and one from the seed: of all rows, each once."""
    problem = PROBLEMS["weights and bias"]
    rows, y, s = part(problem, slice(None))
    order = np.random.default_rng(0).permutation(problem.m).astype(np.uint32)
    given, arranged, drawn, again, other = (make_stream(problem) for _ in range(5))
    given.learn(rows, y, s, make_run(), order=order)
    arranged.learn(*part(problem, order), make_run())
    assert_same(given.w, arranged.w)
    for stream, seed in ((drawn, 3), (again, 3), (other, 4)):
        assert stream.learn(rows, y, s, make_run(), seed=seed).rows == problem.m
    np.testing.assert_array_equal(drawn.w, again.w)
    assert (drawn.w != other.w).any()
    empty = given.learn(rows, y, s, make_run(), order=np.empty(0, dtype=np.uint32))
    assert (empty.rows, given.progress.rows) == (0, problem.m)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("project", [False, True])
def test_state_comes_back(output, project):
    problem = PROBLEMS["weights and bias"]
    one, other = (make_stream(problem, project=project, output=output) for _ in range(2))
    first, second = part(problem, slice(0, 13)), part(problem, slice(13, None))
    one.learn(*first, make_run())
    other.restore(*one.state())
    np.testing.assert_array_equal(other.iterate, one.iterate)
    for stream in (one, other):
        stream.learn(*second, make_run())
    assert_same(other.w, one.w)
    assert other.lower_bound() == pytest.approx(one.lower_bound())
    for name in ("weight", "loss", "errors", "rows", "score"):
        assert getattr(other.progress, name) == pytest.approx(getattr(one.progress, name))


def test_wrong_states_and_lengths_are_refused():
    problem = PROBLEMS["plain"]
    rows, y, s = part(problem, slice(None))
    stream, other = make_stream(problem), make_stream(problem, output="average")
    with pytest.raises(ValueError, match="state"):
        stream.restore(*other.state())
    with pytest.raises(ValueError, match="state"):
        stream.restore(np.zeros(3), [])
    with pytest.raises(ValueError, match="lengths"):
        stream.learn(rows, y[1:], s, make_run())
    with pytest.raises(ValueError, match="lengths"):
        native.Stream(3, "hinge", 0.0, 1.0).learn(rows, y, s, make_run())
    with pytest.raises(ValueError, match="unknown loss"):
        native.Stream(3, "hinges", 0.0, 1.0)
    with pytest.raises(ValueError, match="random stop"):
        native.Stream(3, "hinge", 0.0, 1.0, output="random_stop")
    with pytest.raises(ValueError, match="order"):
        stream.learn(rows, y, s, make_run(), order=np.zeros(1, dtype=np.uint32), seed=0)


def test_rows_without_weight_and_time_limit():
    problem = PROBLEMS["plain"]
    rows, y, s = part(problem, slice(None))
    stream = make_stream(problem)
    stream.learn(rows, y, np.zeros_like(s), make_run())
    assert not stream.w.any()
    assert stream.lower_bound() == 0
    many = np.tile(np.arange(problem.m, dtype=np.uint32), 10_000)
    told = stream.learn(rows, y, s, make_run(max_seconds=0.0), order=many)
    assert 0 < told.rows < len(many)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("lam", [1e-6, 1.0, 1e4])
def test_the_bound_allows_for_its_rounding(loss, scale, lam):
    """It is below its formula in more than double precision, and close to it."""
    random, long = np.random.default_rng(0), np.longdouble
    X, s = scale * random.normal(size=(400, 5)), random.uniform(0.1, 3, size=400)
    y = np.where(random.random(400) < 0.5, -1.0, 1.0) if "hinge" in loss else random.normal(size=400)
    stream = native.Stream(6, loss, EPSILON, lam)
    a, total, weight = np.zeros(6, dtype=long), long(0), long(0)
    for t in range(400):
        rows = native.dense_rows(X[t : t + 1], 1.0)
        z = stream.learn(rows, y[t : t + 1], s[t : t + 1], make_run()).score
        own, x = long(y[t]), np.append(X[t], 1.0).astype(long)
        if loss == "epsilon_insensitive":
            q = long(np.sign(y[t] - z) if abs(z - y[t]) > EPSILON else 0.0)
            total += long(s[t]) * (own * q - long(EPSILON) * abs(q))
            a += long(s[t]) * q * x
        else:
            left = long(max(1 - y[t] * z, 0.0))
            q = 2 * left if loss == "squared_hinge" else long(left > 0)
            total += long(s[t]) * (q - q * q / 4 if loss == "squared_hinge" else q)
            a += long(s[t]) * q * own * x
        weight += long(s[t])
        exact, half = total / weight, a @ a / (2 * long(lam) * weight**2)
        bound = stream.lower_bound()
        assert bound <= exact - half
        assert bound >= exact - half - 1e-9 * (abs(exact) + half)


def test_columns_that_stand_twice_in_a_row_count_more_rounding():
    values, columns, starts = np.ones(4), np.array([0, 1, 0, 1], dtype=np.int32), np.array([0, 4], dtype=np.int32)
    twice, once = (native.Stream(3, "hinge", 0.0, 1.0) for _ in range(2))
    for _ in range(3):
        twice.learn(native.csr_rows(values, columns, starts, 2, 1.0), np.ones(1), np.ones(1), make_run())
        once.learn(native.dense_rows(np.array([[2.0, 2.0]]), 1.0), np.ones(1), np.ones(1), make_run())
    np.testing.assert_array_equal(twice.w, once.w)
    assert once.error < twice.error < 10 * once.error


def test_a_state_from_before_errors_were_kept():
    """What rounding did to it is not known: it goes on, and has the bound that is always true."""
    problem = PROBLEMS["plain"]
    stream, other = make_stream(problem, output="suffix"), make_stream(problem, output="suffix")
    stream.learn(*part(problem, slice(None)), make_run())
    numbers, vectors = stream.state()
    other.restore(np.concatenate([numbers[:11], numbers[15:]]), vectors)
    np.testing.assert_array_equal(other.w, stream.w)
    for learner in (stream, other):
        learner.learn(*part(problem, slice(None)), make_run())
    assert_same(other.w, stream.w)
    assert other.lower_bound() == 0 < stream.lower_bound()
    assert np.isfinite(other.state()[0]).all()
    make_stream(problem, output="suffix").restore(*other.state())
