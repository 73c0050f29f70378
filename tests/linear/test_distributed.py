"""The distributed method without anything that carries it: shards, rounds, certificates, shards that are lost."""

import contextlib
import pickle
import sys
from itertools import chain, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from process_group import ProcessGroup

from pegasos import LinearSVC, LinearSVR
from pegasos._core import native
from pegasos.base.outcome import Budget
from pegasos.base.parameters import loss_parameter
from pegasos.linear.distributed.drive import Drive, Late, LocalGroup, Lost
from pegasos.linear.distributed.places import level
from pegasos.linear.distributed.plan import Message, Order, make_plan
from pegasos.linear.distributed.shard import Shard, serve, survey
from pegasos.reference import losses
from pegasos.solvers import SDCA


def make_data(n=600, d=12, seed=0, kind="classes"):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    scores = X @ random.normal(size=d) + 0.5 * random.normal(size=n) + 0.5
    return X, np.where(scores > 0, 1, 0) if kind == "classes" else scores


def cut(X, y, s=None, count=4):
    """Shards of rows, of different sizes."""
    edges = (np.linspace(0, 1, count + 1) ** 1.5 * len(y)).astype(int)
    return [
        Shard(number, X[first:last], y[first:last], None if s is None else s[first:last])
        for number, (first, last) in enumerate(pairwise(edges))
    ]


def fit(machine, shards, n_workers=2, group=None, local_epochs=None, max_time=None):
    surveys = survey(shards, machine)
    plan = make_plan(machine, surveys, seed=3)
    group = group or LocalGroup([shards[k::n_workers] for k in range(n_workers)])
    budget = Budget(machine.tol, machine.max_iter, max_time)
    found, tally = Drive(group, plan, surveys, budget, local_epochs).run()
    return plan, found, tally


def assert_true(machine, plan, found, shards, X, y, s=None):
    """The certificate is what an independent evaluation on all rows together gives, of a feasible dual point."""
    s = np.ones(len(y)) if s is None else s
    augmented = np.column_stack([X, np.full(len(y), plan.bias)])
    order = sorted(shards, key=lambda shard: shard.number)
    loss, (_, epsilon) = machine.loss, loss_parameter(machine)
    q = np.concatenate([shard.q[1] for shard in order])
    primal = losses.primal(loss, augmented, y, s, plan.C, found.point.w, epsilon)
    dual = losses.dual(loss, augmented, y, s, plan.C, q, epsilon)
    assert found.bounds.primal == pytest.approx(primal, rel=1e-9)
    best = [record[3] for record in found.records]
    if len(best) == 1 or best[-1] > best[-2]:  # the last measure has the best dual value
        assert found.bounds.dual == pytest.approx(dual, rel=1e-9)
    assert np.isfinite(dual)
    assert found.bounds.dual <= found.bounds.primal


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_is_certified_and_equals_one_process(loss, intercept, n_workers):
    X, y = make_data()
    machine = LinearSVC(C=0.05, loss=loss, fit_intercept=intercept, tol=1e-4)
    shards = cut(X, y)
    plan, (found,), tally = fit(machine, shards, n_workers)
    assert found.reason == "tol"
    assert found.bounds.primal <= found.bounds.dual * (1 + 1e-4)
    assert_true(machine, plan, found, shards, X, np.where(y > 0, 1.0, -1.0))
    one = LinearSVC(C=0.05, loss=loss, fit_intercept=intercept, tol=1e-6, solver=SDCA(), max_iter=10**5, random_state=0)
    bounds = one.fit(X, y).certificate_
    assert found.bounds.dual <= bounds.primal
    assert bounds.dual <= found.bounds.primal <= bounds.primal * (1 + 1.01e-4)
    assert tally.lost == 0
    assert tally.bytes > 0


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"])
def test_regression_and_weights(loss):
    X, y = make_data(kind="targets")
    s = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    own = {"quantile": 0.7} if loss == "quantile" else {"epsilon": 0.1}
    machine = LinearSVR(C=0.05, loss=loss, **own, tol=1e-3)
    shards = cut(X, y, s)
    plan, (found,), _ = fit(machine, shards)
    assert_true(machine, plan, found, shards, X, y, s)
    rows = np.repeat(np.arange(len(y)), s.astype(int))  # weights are repeated rows
    bounds = LinearSVR(C=0.05, loss=loss, **own, tol=1e-6).fit(X[rows], y[rows]).certificate_
    assert bounds.dual <= found.bounds.primal <= bounds.primal * (1 + 1.01e-3)


def test_sparse_equals_dense():
    X, y = make_data()
    machine = LinearSVC(C=0.05, tol=1e-3)
    _, (dense,), _ = fit(machine, cut(X, y))
    _, (sparse,), _ = fit(machine, cut(sp.csr_matrix(X), y))
    np.testing.assert_allclose(sparse.point.w, dense.point.w, rtol=1e-6, atol=1e-9)


def test_the_seed_decides():
    X, y = make_data()
    runs = [fit(LinearSVC(C=0.05), cut(X, y))[1][0] for _ in range(2)]
    np.testing.assert_array_equal(runs[0].point.w, runs[1].point.w)


def test_empty_shards_are_passed_over():
    X, y = make_data()
    empty = Shard(9, X[:0], y[:0])
    plan, (found,), _ = fit(LinearSVC(C=0.05), [*cut(X, y), empty], n_workers=5)
    assert plan.n_rows == len(y)
    assert found.reason == "tol"
    with pytest.raises(ValueError, match="no rows in any of its 1 partitions"):
        fit(LinearSVC(), [empty], n_workers=1)


class Breaking(LocalGroup):
    """Loses some shards at some calls; they are made again, on other members."""

    def __init__(self, shards, make, lose_at):
        super().__init__([shards[:2], shards[2:]])
        self.make, self.lose_at, self.calls = make, lose_at, 0

    def call(self, messages, seconds):
        self.calls += 1
        replies = super().call(messages, seconds)
        if self.calls in self.lose_at:
            raise Lost("it was taken away")
        return replies

    def recover(self, seconds):
        old = list(chain(*self.shards))
        new = [self.make(shard.number) if shard.number in (0, 3) else shard for shard in old]
        self.shards = [new[:1], new[1:3], new[3:]]


@pytest.mark.parametrize("lose_at", [(1,), (2,), (3, 4), (5, 9, 13)])
def test_recovers_lost_shards(lose_at):
    X, y = make_data()
    machine = LinearSVC(C=0.05, tol=1e-3)
    shards = cut(X, y)
    group = Breaking(shards, lambda number: cut(X, y)[number], lose_at)
    plan, (found,), tally = fit(machine, shards, group=group, local_epochs=0.5)
    assert tally.lost == len(lose_at)
    assert found.reason == "tol"
    assert_true(machine, plan, found, list(chain(*group.shards)), X, np.where(y > 0, 1.0, -1.0))


def change_value(X, y, s):
    X.data[7] += 1e-12


def change_index(X, y, s):
    X.indices[8] = 11  # still in order


def change_row(X, y, s):
    X.indptr[2] += 1


def change_label(X, y, s):
    y[13] = 1 - y[13]


def change_class(X, y, s):
    y[13] = 7


def change_weight(X, y, s):
    s[13] += 1e-12


def change_to_nan(X, y, s):
    X.data[7] = np.nan


@pytest.mark.parametrize(
    "change",
    [change_value, change_index, change_row, change_label, change_class, change_weight, change_to_nan],
)
def test_a_shard_that_is_not_the_same_again_ends_the_fit(change):
    X, y = make_data()
    X[:3] = 0
    X[0, :9], X[1, :2], X[2, 5:7] = 1.0, 1.0, 1.0

    def make(number, change=lambda X, y, s: None):
        A, labels, s = sp.csr_matrix(X[:300]), y[:300].copy(), np.ones(300)
        change(A, labels, s)
        return Shard(number, A, labels, s)

    shards = [make(number) for number in range(4)]
    group = Breaking(shards, lambda number: make(number, change), (3,))
    with pytest.raises(ValueError, match=r"partition 0 was lost with its worker and is not the same .*; make it from"):
        fit(LinearSVC(C=0.05, tol=1e-6), shards, group=group)


class Hanging(LocalGroup):
    """Members that do not answer from some call on."""

    def __init__(self, shards, hangs_at, lost=False):
        super().__init__(shards)
        self.hangs_at, self.lost, self.calls = hangs_at, lost, 0

    def call(self, messages, seconds):
        self.calls += 1
        if self.calls >= self.hangs_at:
            raise Lost("one is gone") if self.lost else self.late(seconds)
        return super().call(messages, seconds)

    def recover(self, seconds):
        raise self.late(seconds)

    def late(self, seconds):
        assert np.isfinite(seconds)
        return Late()


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("hangs_at", [1, 2, 30])
def test_max_time_holds_while_a_worker_hangs(ticks, hangs_at, lost):
    X, y = make_data()
    shards = cut(X, y)
    machine = LinearSVC(C=10, tol=1e-12, max_iter=10**6)
    group = Hanging([shards[:2], shards[2:]], hangs_at, lost)
    plan, (found,), _ = fit(machine, shards, group=group, max_time=1000)
    assert found.reason == "max_time"
    if hangs_at < 30:
        assert found.bounds.gap == np.inf
        assert not found.point.w.any()
    else:
        augmented = np.column_stack([X, np.full(len(y), plan.bias)])
        primal = losses.primal("hinge", augmented, np.where(y > 0, 1.0, -1.0), np.ones(len(y)), 10, found.point.w, 0.0)
        assert found.bounds.primal == pytest.approx(primal, rel=1e-9)
        assert 0 < found.bounds.dual <= primal


class Joined(LocalGroup):
    """A member joins before some round, and is handed shards of the others."""

    def __init__(self, shards, joins_at):
        super().__init__([shards[:2], shards[2:]])
        self.joins_at, self.rounds = joins_at, 0

    def balance(self, seconds):
        self.rounds += 1
        if self.rounds == self.joins_at:
            (one, two), (three, four) = self.shards
            self.shards = [[one], [three, four], [pickle.loads(pickle.dumps(two))]]
        return self.rounds == self.joins_at


@pytest.mark.parametrize("joins_at", [1, 2, 7])
def test_a_member_that_joins_goes_on_where_others_were(joins_at):
    X, y = make_data()
    machine = LinearSVC(C=0.05, tol=1e-4)
    runs = []
    for _ in range(2):
        shards = cut(X, y)
        group = Joined(shards, joins_at)
        plan, (found,), tally = fit(machine, shards, group=group, local_epochs=0.5)
        assert group.rounds > joins_at
        assert found.reason == "tol"
        assert tally.lost == 0
        assert "of 3 workers" in str(found.used)
        assert_true(machine, plan, found, list(chain(*group.shards)), X, np.where(y > 0, 1.0, -1.0))
        runs.append(found)
    np.testing.assert_array_equal(runs[0].point.w, runs[1].point.w)


def test_a_loss_drops_no_bounds():
    X, y = make_data()
    shards = cut(X, y)
    group = Breaking(shards, lambda number: cut(X, y)[number], (25,))
    _, (found,), tally = fit(LinearSVC(C=10, tol=1e-4), shards, group=group)
    assert tally.lost == 1
    assert all(after[2] <= before[2] and after[3] >= before[3] for before, after in pairwise(found.records))


def test_shards_are_levelled_with_the_fewest_moves():
    random = np.random.default_rng(0)
    for _ in range(200):
        threads = {name: int(random.integers(1, 4)) for name in "abcd"}
        places = ["ab"[k] for k in random.integers(2, size=random.integers(1, 20))]
        moves = level(places, {"c", "d"}, threads)
        after = [moves.get(number, place) for number, place in enumerate(places)]
        assert set(moves.values()) <= {"c", "d"}
        loads = {name: after.count(name) / threads[name] for name in threads}
        for joined in "cd":
            assert max(loads.values()) <= loads[joined] + 1 / threads[joined] + 1e-12
        assert all(places[number] in "ab" for number in moves)
    assert level(["a", "b"], set(), {"a": 1, "b": 1}) == {}
    assert level(["a", "a"], {"b"}, {"a": 2, "b": 2}) == {1: "b"}
    assert level(["a", "a"], {"b"}, {"a": 4, "b": 1}) == {}


def make_one(number):
    return cut(*make_data())[number]


class Disturbed(ProcessGroup):
    """One process is killed, and another one is started some rounds later."""

    calls = 0

    def call(self, messages, seconds):
        self.calls += 1
        if self.calls == 3:
            self.processes[self.places[0]].kill()
        if self.calls == 9:
            self.start()
        return super().call(messages, seconds)


def test_processes_die_and_join():
    X, y = make_data()
    machine = LinearSVC(C=0.05, tol=1e-4, max_iter=10**5)
    with contextlib.closing(Disturbed(make_one, 4, 2)) as group:
        surveys = group.survey(machine)
        budget = Budget(machine.tol, machine.max_iter, None)
        (found,), tally = Drive(group, make_plan(machine, surveys, seed=3), surveys, budget, 0.5).run()
        assert sorted(group.places) == ["worker 1"] * 2 + ["worker 2"] * 2
    assert tally.lost == 1
    assert found.reason == "tol"
    one = LinearSVC(C=0.05, tol=1e-6, max_iter=10**5, solver="interior-point").fit(X, y).certificate_
    assert one.dual <= found.bounds.primal <= one.primal * (1 + 1.01e-4)
    assert found.bounds.dual <= one.primal


def test_gives_up_where_workers_are_lost_again_and_again():
    X, y = make_data()
    shards = cut(X, y)
    group = Breaking(shards, lambda number: cut(X, y)[number], range(1000))
    with pytest.raises(RuntimeError, match="times in a row workers were lost"):
        fit(LinearSVC(C=0.05), shards, group=group)


def test_a_message_is_followed_once():
    """One that comes twice, or late, changes nothing."""
    X, y = make_data()
    shards = cut(X, y)
    plan = make_plan(LinearSVC(), survey(shards, LinearSVC()), seed=0)
    zero = np.zeros(plan.dimension)
    assert not serve(shards, Message(plan, None, 1, (Order(1, zero),))).stale
    message = Message(plan, 1, 2, (Order(1, zero, turns=8),))
    first = serve(shards, message)
    before = [shard.q[1].copy() for shard in shards]
    assert serve(shards, message).stale
    assert not first.stale
    for shard, q in zip(shards, before, strict=True):
        np.testing.assert_array_equal(shard.q[1], q)


def test_a_copy_of_a_shard_goes_on():
    X, y = make_data()
    shards = cut(X, y)
    plan = make_plan(LinearSVC(), survey(shards, LinearSVC()), seed=0)
    serve(shards, Message(plan, None, 1, (Order(1, np.zeros(plan.dimension)),)))
    visited = serve(shards, Message(plan, 1, 2, (Order(1, np.zeros(plan.dimension), turns=32),))).answers[0]
    copies = pickle.loads(pickle.dumps(shards))
    measured = serve(copies, Message(plan, 2, 3, (Order(1, visited.change, share=1.0),))).answers[0]
    np.testing.assert_allclose(measured.u, visited.change, rtol=1e-9, atol=1e-12)
    half = serve(shards, Message(plan, 2, 3, (Order(1, visited.change, share=0.5),))).answers[0]
    np.testing.assert_allclose(half.u, visited.change / 2, rtol=1e-9, atol=1e-12)


def test_size():
    """Dask spills and moves by it: it counts what the partition holds, in whatever form."""
    X, y = np.zeros((1000, 11)), np.zeros(1000)
    empty = sys.getsizeof(Shard(0, None, None))
    assert sys.getsizeof(Shard(0, X, y)) - empty == X.nbytes + y.nbytes
    pandas = pytest.importorskip("pandas")
    frame, series = pandas.DataFrame(X), pandas.Series(y)
    for form in (frame, frame.astype({0: "float32"}), frame.assign(name="a long name of a row")):
        size = sys.getsizeof(Shard(0, form, series)) - empty
        assert size == form.memory_usage(deep=True).sum() + series.memory_usage(deep=True)
    rows = sp.csr_matrix(np.eye(50))
    assert sys.getsizeof(Shard(0, rows, None)) - empty == 50 * (8 + 4) + 51 * 4
    shard = Shard(0, X, y)
    shard.q[1] = np.zeros(1000)
    assert sys.getsizeof(shard) - empty == X.nbytes + 2 * y.nbytes


def test_budgets(ticks):
    X, y = make_data()
    _, (found,), _ = fit(LinearSVC(C=10, tol=1e-12, max_iter=3), cut(X, y))
    assert found.reason == "max_iter"
    assert 3 <= found.epochs <= 4
    _, (found,), _ = fit(LinearSVC(C=10, tol=1e-12, max_iter=10**6), cut(X, y), max_time=0.2)
    assert found.reason == "max_time"
    assert np.isfinite(found.bounds.primal)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:, :-1], y), "partition 1 has 11 features, and partition 0 has 12"),
        (lambda X, y: (np.where(X == 77.0, np.nan, X), y), "partition 1: Input X contains NaN: row 3, column 0"),
        (lambda X, y: (X, np.array(["a"] * len(y))), "y has numbers in some partitions and text in others"),
        (lambda X, y: (X, y + 0.5), "partition 1: .*Unknown label type: continuous"),
    ],
)
def test_bad_shards_are_named(change, message):
    X, y = make_data(seed=5)
    X[203, 0] = 77.0
    shards = [Shard(0, X[:200], y[:200]), Shard(1, *change(X[200:], y[200:]))]
    with pytest.raises(ValueError, match=message):
        fit(LinearSVC(), shards)


def test_examples_without_entries():
    X, y = make_data()
    plan, (found,), _ = fit(LinearSVC(C=0.05), cut(sp.csr_matrix(X.shape), y))
    assert plan.entries == 0
    assert found.reason == "tol"
    np.testing.assert_array_equal(found.point.w[:-1], 0)


def test_one_class_in_all_shards_is_refused():
    X, y = make_data()
    with pytest.raises(ValueError, match="y has one class only, 1"):
        fit(LinearSVC(), cut(X, np.ones(len(y), dtype=int)))


def test_best_shares_are_the_best():
    random = np.random.default_rng(0)
    for _ in range(5):
        D = random.normal(size=(3, 5))
        products, rise = D @ D.T, random.normal(size=3) + 1

        def value(g, rise=rise, products=products):
            return g @ rise - g @ products @ g / 2

        found = np.array(native.best_shares(rise.tolist(), products.ravel().tolist()))
        assert found.min() >= 0
        assert found.max() <= 1
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 11)] * 3), axis=-1).reshape(-1, 3)
        assert value(found) >= max(map(value, grid)) - 1e-6


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_bounds_allow_for_their_rounding(C, scale, intercept):
    """Against values in more than double precision."""
    X, y = make_data(n=200)
    X, s = scale * X, np.random.default_rng(1).uniform(0, 2, len(y))
    machine = LinearSVC(C=C, tol=1e-6, max_iter=300, fit_intercept=intercept)
    shards = cut(X, y, s)
    plan, (found,), _ = fit(machine, shards, n_workers=3)
    long = np.longdouble
    rows = np.column_stack([X, np.full(len(y), plan.bias)]).astype(long)
    signs, c, w = np.where(y > 0, 1, -1).astype(long), long(C) * s.astype(long), found.point.w.astype(long)
    primal = w @ w / 2 + c @ np.maximum(1 - signs * (rows @ w), 0)
    assert primal <= found.bounds.primal <= float(primal) + 2 * found.bounds.above
    q = np.concatenate([shard.q[1] for shard in sorted(shards, key=lambda shard: shard.number)]).astype(long)
    u = (c * q * signs) @ rows
    dual = c @ q - u @ u / 2
    duals = [-np.inf, *(record[3] for record in found.records)]
    if duals[-1] > duals[-2]:  # the last measure has the best one
        assert found.bounds.dual <= dual
    exact = LinearSVC(C=C, tol=1e-9, max_iter=10**5, fit_intercept=intercept, random_state=0)
    w = (model := exact.fit(X, y, s)).coef_[0]
    w = np.append(w, model.intercept_[0] / plan.bias if plan.bias else 0.0).astype(long)
    assert found.bounds.dual <= w @ w / 2 + c @ np.maximum(1 - signs * (rows @ w), 0)
    if scale == C == 1:
        assert found.bounds.above + found.bounds.below <= 1e-9 * found.bounds.dual


def test_no_rounds_without_use():
    X, y = make_data(n=60)
    _, (found,), _ = fit(LinearSVC(C=0.05, tol=1e-16, max_iter=10**5), cut(X, y))
    assert found.reason == "precision"
    assert found.bounds.primal - found.bounds.dual <= 1e-9 * found.bounds.dual
