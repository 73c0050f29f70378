"""Chains of labels (cpp/sequence): decoding, steps against the NumPy twins, certificates."""

import doctest
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from linear_helpers import IRRATIONAL, STORAGES, make_rows, storage_name

from pegasos._core import available, load, native
from pegasos.reference import chain
from pegasos.reference.chain import Chain

any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)


@cache
def make_chain(n=12, d=4, K=3, seed=0, C=IRRATIONAL, weighted=False, costs=False, barriers=False, **options):
    """Sequences of up to six positions, one of them empty; rows, weights and costs of few significant bits."""
    random = np.random.default_rng(seed)
    W, links = random.normal(size=(d, K)), random.normal(size=(K + 2, K))
    walls = np.zeros((K + 2, K))
    if barriers:
        walls[0, 1] = walls[K, 2] = walls[K + 1, 0] = -np.inf
    X, y = [], []
    for length in random.permutation(np.arange(n) % 7):
        x = random.integers(-4, 5, size=(length, d)) / 4 * (random.random((length, d)) < 0.8)
        X.append(x)
        noise = random.normal(size=(length, K))
        y.append(chain.best_labels(x @ W + noise, links + walls))
    s = random.integers(1, 9, size=n) / 4 if weighted else np.ones(n)
    cost = random.integers(1, 9, size=(K, K)) / 4 * (1 - np.eye(K)) if costs else 1 - np.eye(K)
    if K > 10 or costs:  # labels that are nobody's would score the same
        cost = cost * np.sqrt(1 + np.arange(K * K).reshape(K, K) / K**2)
    return Chain(X, y, s, C, cost, walls, **options)


PROBLEMS = {
    "plain": make_chain(),
    "two labels": make_chain(K=2, seed=1),
    "many labels": make_chain(K=20, n=16, seed=2),
    "more labels": make_chain(K=40, n=10, seed=3),
    "weights and costs": make_chain(weighted=True, costs=True, seed=4),
    "forbidden links": make_chain(barriers=True, K=4, n=20, seed=5),
    "no boundaries": make_chain(boundaries=False, costs=True, seed=6),
    "large C": make_chain(C=np.sqrt(4000.3), seed=7),
}
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())


def starts_of(problem):
    return np.cumsum([0, *map(len, problem.X)]).astype(np.uint64)


def core_of(problem, storage=STORAGES[1], core=native, bias=0.0):
    rows = make_rows(np.vstack(problem.X), storage, bias, core)
    labels = np.array([k for labels in problem.y for k in labels], dtype=np.uint16)
    return core.SequenceProblem(
        rows, starts_of(problem), labels, problem.s, problem.C, problem.cost, problem.barriers, problem.boundaries
    )


@dataclass(frozen=True, eq=False)
class Found:
    """What a solver returned."""

    run: object
    weights: np.ndarray
    links: np.ndarray
    owners: np.ndarray
    shares: np.ndarray
    labels: np.ndarray


def frank_wolfe(problem, storage=STORAGES[1], core=native, n_jobs=1, **options):
    defaults = {"tol": 0.0, "max_epochs": 1.0, "decodings": 1, "seed": 0, "visits": None}
    defaults |= {"owners": None, "shares": None, "labels": None}
    found = core.sequence_frank_wolfe(
        core_of(problem, storage, core), core.Run(n_jobs=n_jobs), **{**defaults, **options}
    )
    return Found(found.run, *found.take())


def pegasos(problem, storage=STORAGES[1], core=native, batches=None, n_jobs=1, **options):
    defaults = {"batch": 1, "sampling": "permute", "project": False, "output": "last", "max_steps": problem.n}
    defaults |= {"tol": 0.0, "seed": 0, "visits": None}
    if batches is not None:
        flat = np.array([i for batch in batches for i in batch], dtype=np.uint32)
        defaults |= {"visits": flat, "batch": len(batches[0]), "max_steps": len(batches)}
    found = core.sequence_pegasos(core_of(problem, storage, core), core.Run(n_jobs=n_jobs), **{**defaults, **options})
    return Found(found.run, *found.take())


def weights(problem, found):
    """One vector, as the twins have it."""
    table = found.weights.reshape(-1, problem.K)[:-1]  # without the constant feature
    links = np.where(np.isneginf(problem.barriers), 0, found.links.reshape(-1, problem.K))
    return np.concatenate([table.ravel(), links.ravel()])


def shares(problem, found):
    """The dual point, as the twins have it."""
    point, at = [{} for _ in problem.X], 0
    for i, share in zip(found.owners, found.shares, strict=True):
        labels = tuple(found.labels[at : at + len(problem.X[i])].tolist())
        at += len(labels)
        point[i][labels] = point[i].get(labels, 0.0) + share
    return point


def assert_certified(problem, found):
    """The bounds are those that the twin computes of the point, which is feasible."""
    w = weights(problem, found)
    assert found.run.bounds.primal == pytest.approx(problem.primal(w), rel=1e-9)
    point = shares(problem, found)
    for own in point:
        assert min(own.values()) >= 0
        assert sum(own.values()) == pytest.approx(1)
    assert found.run.bounds.dual == pytest.approx(problem.dual(point), rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(w, problem.weights(point), atol=1e-8)


@cache
def optimum(name):
    found = frank_wolfe(PROBLEMS[name], tol=1e-11, max_epochs=1e5)
    assert found.run.reason in ("tol", "precision")
    assert found.run.bounds.above + found.run.bounds.below < 1e-11 * found.run.bounds.dual
    return found.run.bounds.primal


def test_the_doctests_of_the_twins():
    assert doctest.testmod(chain).failed == 0


class TestViterbi:
    @pytest.mark.parametrize("K", [2, 3, 8, 17, 24, 25, 33])
    @pytest.mark.parametrize("length", [1, 2, 3])
    def test_against_enumeration(self, K, length):
        random = np.random.default_rng(K + 100 * length)
        scores = random.normal(size=(length, K))
        links = random.normal(size=(K + 2, K))
        links[random.random(links.shape) < 0.1] = -np.inf
        links[[0, K, K + 1], 0] = 0  # something is allowed
        starts = np.array([0, length], dtype=np.uint64)
        labels, marginals = native.sequence_decode(scores, starts, links, True, native.Run())
        value, best = chain.best_by_enumeration(scores, links)
        assert tuple(labels.tolist()) == best == chain.best_labels(scores, links)
        marginals = marginals.reshape(length, K)
        assert marginals[range(length), labels] == pytest.approx(value)
        for t in range(length):
            for k in range(0, K, 1 if K**length < 5000 else 7):
                held = scores.copy()
                held[t, np.arange(K) != k] = -np.inf
                assert marginals[t, k] == pytest.approx(chain.best_by_enumeration(held, links)[0])

    def test_long_sequences_and_threads(self):
        random = np.random.default_rng(0)
        lengths = [0, 1, 50, 7, 0, 300]
        scores, links = random.normal(size=(sum(lengths), 9)), random.normal(size=(11, 9))
        starts = np.cumsum([0, *lengths]).astype(np.uint64)
        first, second = (
            native.sequence_decode(scores, starts, links, False, native.Run(n_jobs=n_jobs))[0] for n_jobs in (1, 3)
        )
        np.testing.assert_array_equal(first, second)
        for i, length in enumerate(lengths):
            part = slice(int(starts[i]), int(starts[i]) + length)
            assert tuple(first[part].tolist()) == chain.best_labels(scores[part], links)

    def test_no_labels_allowed(self):
        links = np.full((4, 2), -np.inf)
        with pytest.raises(ValueError, match=r"allow no labels for X\[0\], of length 2; relax them"):
            native.sequence_decode(np.zeros((2, 2)), np.array([0, 2], dtype=np.uint64), links, False, native.Run())


class TestSteps:
    @any_problem
    @any_storage
    def test_frank_wolfe_is_its_twin(self, problem, storage):
        visits = np.random.default_rng(1).integers(problem.n, size=3 * problem.n).astype(np.uint32)
        visits = np.array([i for i in visits if len(problem.X[i])], dtype=np.uint32)
        *_, (w, point) = chain.chain_frank_wolfe(problem, visits.tolist())
        found = frank_wolfe(problem, storage, visits=visits)
        np.testing.assert_allclose(weights(problem, found), w, atol=1e-9)
        for ours, theirs in zip(shares(problem, found), point, strict=True):
            assert ours == pytest.approx(theirs)
        assert_certified(problem, found)

    @any_problem
    @pytest.mark.parametrize("project", [False, True])
    @pytest.mark.parametrize("size", [1, 3])
    def test_pegasos_is_its_twin(self, problem, project, size):
        random = np.random.default_rng(2)
        batches = [random.choice(problem.n, size, replace=False).tolist() for _ in range(20)]
        states = list(chain.chain_pegasos(problem, batches, project=project))
        for steps in (1, 2, 5, 20):
            found = pegasos(problem, batches=batches[:steps], project=project)
            w, dual = states[steps]
            np.testing.assert_allclose(weights(problem, found), w, atol=1e-9)
            assert found.run.bounds.primal == pytest.approx(problem.primal(w))
            assert found.run.bounds.dual >= dual - 1e-9

    @any_storage
    def test_pegasos_of_any_storage(self, storage):
        problem = PROBLEMS["weights and costs"]
        batches = [[i] for i in np.random.default_rng(3).permutation(problem.n).tolist()]
        *_, (w, dual) = chain.chain_pegasos(problem, batches)
        found = pegasos(problem, storage, batches=batches)
        np.testing.assert_allclose(weights(problem, found), w, atol=1e-9)
        assert found.run.bounds.dual == pytest.approx(max(dual, 0), abs=1e-9)

    @any_problem
    def test_the_mean_of_the_iterates(self, problem):
        batches = [[i] for i in np.random.default_rng(4).permutation(problem.n).tolist()]
        states = [w for w, _ in chain.chain_pegasos(problem, batches)]
        found = pegasos(problem, batches=batches, output="average")
        np.testing.assert_allclose(weights(problem, found), np.mean(states[:-1], axis=0), atol=1e-9)

    @pytest.mark.parametrize("level", available())
    def test_all_builds(self, level):
        problem, core = PROBLEMS["forbidden links"], load(level)
        found = frank_wolfe(problem, core=core, tol=1e-8, max_epochs=1e4)
        assert found.run.bounds.primal == pytest.approx(optimum("forbidden links"), rel=1e-7)


class TestCertificate:
    @pytest.mark.parametrize("name", PROBLEMS)
    @any_storage
    def test_the_gap_is_reached(self, name, storage):
        problem = PROBLEMS[name]
        for tol in (1e-2, 1e-4, 1e-8):
            found = frank_wolfe(problem, storage, tol=tol, max_epochs=1e5)
            assert found.run.reason == "tol"
            assert found.run.bounds.primal <= found.run.bounds.dual * (1 + tol)
            assert found.run.bounds.dual <= optimum(name) * (1 + 1e-9) <= found.run.bounds.primal * (1 + 1e-8)
            assert_certified(problem, found)

    @pytest.mark.parametrize("name", PROBLEMS)
    @pytest.mark.parametrize("options", [{"n_jobs": 3}, {"decodings": 3}], ids=str)
    def test_threads_and_decodings(self, name, options):
        found = frank_wolfe(PROBLEMS[name], tol=1e-6, max_epochs=1e5, **options)
        assert found.run.reason == "tol"
        assert found.run.bounds.primal == pytest.approx(optimum(name), rel=1e-5)
        assert_certified(PROBLEMS[name], found)

    def test_threads_do_not_change_the_result(self):
        problem = PROBLEMS["many labels"]
        first, second = (frank_wolfe(problem, n_jobs=n_jobs, max_epochs=5.0) for n_jobs in (1, 3))
        np.testing.assert_array_equal(first.weights, second.weights)
        np.testing.assert_array_equal(first.links, second.links)

    @pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "large C"])
    @pytest.mark.parametrize(
        "options", [{}, {"batch": 4, "project": True}, {"output": "suffix"}, {"sampling": "replace"}], ids=str
    )
    def test_pegasos_agrees(self, name, options):
        problem = PROBLEMS[name]
        found = pegasos(problem, max_steps=1_000_000, tol=1e-3 if "sampling" not in options else 0.05, **options)
        assert found.run.reason == "tol"
        assert found.run.bounds.dual <= optimum(name) * (1 + 1e-9)
        assert found.run.bounds.primal == pytest.approx(problem.primal(weights(problem, found)))
        assert found.run.bounds.primal == pytest.approx(optimum(name), rel=1e-3 if "sampling" not in options else 0.05)

    def test_a_start_at_the_optimum(self):
        problem = PROBLEMS["weights and costs"]
        first = frank_wolfe(problem, tol=1e-9, max_epochs=1e5)
        start = {"owners": first.owners, "shares": first.shares, "labels": first.labels}
        again = frank_wolfe(problem, tol=1e-8, max_epochs=1e5, **start)
        assert again.run.epochs == 0
        assert_certified(problem, again)

    def test_integer_weights_are_duplicates(self):
        problem = make_chain(seed=8, C=0.7)
        counts = np.arange(problem.n) % 3
        weighted = Chain(problem.X, problem.y, counts.astype(float), 0.7, problem.cost, problem.barriers)
        rows = np.repeat(np.arange(problem.n), counts)
        repeated = Chain(
            [problem.X[i] for i in rows],
            [problem.y[i] for i in rows],
            np.ones(len(rows)),
            0.7,
            problem.cost,
            problem.barriers,
        )
        ours, theirs = (frank_wolfe(each, tol=1e-8, max_epochs=1e5).run.bounds for each in (weighted, repeated))
        assert ours.primal == pytest.approx(theirs.primal, rel=1e-7)
        assert ours.dual == pytest.approx(theirs.dual, rel=1e-7)


# What is returned.


@any_problem
def test_the_best_weights_are_returned(problem):
    def assert_best(found):
        _, _, primals, duals = np.array(found.run.history).T
        assert (np.diff(primals) <= 0).all()
        assert (np.diff(duals) >= 0).all()
        assert (found.run.bounds.primal, found.run.bounds.dual) == (primals[-1], duals[-1])
        assert found.run.bounds.primal == pytest.approx(problem.primal(weights(problem, found)), rel=1e-9)

    for best, named in (("best", "last"), ("best_suffix", "suffix")):
        for seed in range(3):
            found, other = (
                pegasos(problem, max_steps=11 * problem.n, output=output, seed=seed) for output in (best, named)
            )
            assert_best(found)
            assert found.run.bounds.primal == min(record[2] for record in other.run.history)
            assert other.run.bounds.primal == other.run.history[-1][2]
    assert_best(frank_wolfe(problem, max_epochs=40))


LONG = np.longdouble


def exact_primal(problem, found):
    """By enumeration of all labellings, in more than double precision."""
    W = found.weights.reshape(-1, problem.K)[:-1].astype(LONG)
    links = found.links.reshape(-1, problem.K).astype(LONG)
    finite = links[np.isfinite(links)]
    value = (np.sum(W * W) + np.sum(finite * finite)) / 2
    for x, y, s in zip(problem.X, problem.y, problem.s, strict=True):
        if len(x) == 0:
            continue
        scores = x.astype(LONG) @ W
        every = np.array(list(product(range(problem.K), repeat=len(x))))

        def totals(labels, scores=scores):
            ends = links[problem.K, labels[:, 0]] + links[problem.K + 1, labels[:, -1]]
            inner = links[labels[:, :-1], labels[:, 1:]].sum(axis=1)
            return scores[np.arange(len(scores)), labels].sum(axis=1) + inner + ends

        cost = problem.cost.astype(LONG)[np.array(y), every].sum(axis=1)
        loss = np.max(cost + totals(every)) - totals(np.array([y]))[0]
        value += LONG(problem.C) * LONG(s) * max(loss, LONG(0))
    return value


def exact_dual(problem, found):
    """Of the labellings with their shares, which are made to sum to one, in more than double precision."""
    W, links = np.zeros((problem.X[0].shape[1], problem.K), LONG), np.zeros((problem.K + 2, problem.K), LONG)
    value = LONG(0)
    for i, own in enumerate(shares(problem, found)):
        x, y = problem.X[i].astype(LONG), problem.y[i]
        total = sum(map(LONG, own.values()))
        for labels, share in own.items():
            if len(x) == 0:
                continue
            c = LONG(problem.C) * LONG(problem.s[i]) * LONG(share) / total
            other = np.array(y) != np.array(labels)  # common labels would cancel, but for rounding
            for sign, each in ((1, y), (-1, labels)):
                np.add.at(W.T, np.array(each)[other], sign * c * x[other])
                inner = list(pairwise(each))
                ends = [(problem.K, each[0]), (problem.K + 1, each[-1])] if problem.boundaries else []
                for before, after in inner + ends:
                    links[before, after] += sign * c
            value += c * problem.cost.astype(LONG)[list(y), list(labels)].sum()
    return value - (np.sum(W * W) + np.sum(links * links)) / 2


class TestRounding:
    """The bounds allow for their own rounding."""

    @pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("name", ["plain", "weights and costs", "forbidden links", "no boundaries"])
    def test_frank_wolfe(self, name, C, scale):
        random = np.random.default_rng(0)
        plain = PROBLEMS[name]
        problem = replace(
            plain, C=C, X=[scale * (x + 0.1 * random.normal(size=x.shape)) for x in plain.X], s=plain.s + 1 / 3
        )
        for options in ({"max_epochs": 3.0}, {"max_epochs": 300.0, "tol": 1e-12}):
            found = frank_wolfe(problem, **options)
            bounds, primal, dual = found.run.bounds, exact_primal(problem, found), exact_dual(problem, found)
            assert primal <= bounds.primal <= float(primal) + 2 * bounds.above
            assert float(dual) - 2 * bounds.below <= bounds.dual <= dual
            assert bounds.above + bounds.below <= 1e-11 * max(bounds.primal, bounds.dual) * max(1, C * scale)

    @pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
    @pytest.mark.parametrize("options", [{}, {"batch": 3, "project": True}, {"output": "average"}], ids=str)
    def test_pegasos(self, C, scale, options):
        plain = PROBLEMS["weights and costs"]
        random = np.random.default_rng(0)
        problem = replace(plain, C=C, X=[scale * (x + 0.1 * random.normal(size=x.shape)) for x in plain.X])
        found = pegasos(problem, max_steps=1000, **options)
        bounds, primal = found.run.bounds, exact_primal(problem, found)
        assert primal <= bounds.primal <= float(primal) + 2 * bounds.above
        assert bounds.dual <= exact_primal(problem, frank_wolfe(problem, max_epochs=300.0))
        assert bounds.above <= 1e-11 * bounds.primal

    def test_features_that_stand_twice_in_a_row(self):
        """Their values add up, and so do the allowances."""
        problem = PROBLEMS["plain"]
        X = np.vstack(problem.X)
        columns = np.tile(np.repeat(np.arange(4, dtype=np.int32), 2), len(X))
        starts = np.arange(0, len(columns) + 1, 8, dtype=np.int32)
        rows = native.csr_rows(np.repeat(X / 2, 2, axis=1).ravel(), columns, starts, 4, 0.0)
        labels = np.array([k for labels in problem.y for k in labels], dtype=np.uint16)
        core = native.SequenceProblem(
            rows, starts_of(problem), labels, problem.s, problem.C, problem.cost, problem.barriers, True
        )
        options = {"tol": 1e-6, "max_epochs": 1e4, "decodings": 1, "seed": 0, "visits": None}
        options |= {"owners": None, "shares": None, "labels": None}
        twice = native.sequence_frank_wolfe(core, native.Run(), **options).run.bounds
        once = frank_wolfe(problem, tol=1e-6, max_epochs=1e4).run.bounds
        assert twice.primal == pytest.approx(once.primal)
        assert once.above <= twice.above <= 2 * once.above
        assert once.below <= twice.below <= 2 * once.below

    @any_problem
    def test_no_visits_without_use(self, problem):
        """Where rounding is most of what is left, a fit ends."""
        found = frank_wolfe(problem, tol=1e-16, max_epochs=1e5)
        assert found.run.reason == "precision"
        assert found.run.epochs < 1e5
        assert found.run.bounds.primal - found.run.bounds.dual <= 1e-9 * found.run.bounds.dual
