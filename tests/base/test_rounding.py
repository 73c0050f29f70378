"""Bounds allow for the rounding of their own computation: checked against exact rational arithmetic, and where there
are logarithms against extended precision."""

import math
from fractions import Fraction

import joint_helpers
import numpy as np
import pytest
import scipy.sparse as sp
from linear_helpers import STORAGES, make_rows, make_run, storage_name

from pegasos import LinearSVC, LinearSVR
from pegasos._core import native

REGRESSION = ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"]
LOSSES = ["hinge", "squared_hinge", "log_loss", *REGRESSION]
EPSILON = 0.3


def own_parameter(loss):
    return {"quantile" if loss == "quantile" else "epsilon": EPSILON}


any_loss = pytest.mark.parametrize("loss", LOSSES)
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)

#: What extended precision is off by itself, where it stands in for exact numbers.
EXTENDED = 1e-17

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*with a penalised intercept:UserWarning"),
]


def fractions(values):
    return [Fraction(float(x)) for x in np.ravel(values)]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def extended(x):
    """A fraction in extended precision, of whatever size it is."""
    high = np.longdouble(float(x))
    return high + np.longdouble(float(x - Fraction(float(x))))


def loss_of(loss, z, y):
    if loss == "log_loss":
        z = extended(y * z)
        value = np.log1p(np.exp(-z)) if z > 0 else np.log1p(np.exp(z)) - z
        return sum(fractions([float(value), float(value - float(value))]), Fraction(0))
    if loss == "huber":
        size, epsilon = abs(z - y), Fraction(EPSILON)
        return size**2 / 2 if size <= epsilon else epsilon * size - epsilon**2 / 2
    if loss == "quantile":
        return (Fraction(EPSILON) if z < y else Fraction(EPSILON) - 1) * (y - z)
    if "epsilon" in loss:
        over = max(abs(z - y) - Fraction(EPSILON), 0)
    else:
        over = max(1 - y * z, 0)
    return over**2 if loss.startswith("squared") else over


def primal_of(loss, X, y, s, C, w, n_penalized):
    """The objective, exactly; rows and weights with the constant feature."""
    weights, cost = fractions(w), Fraction(C)
    total = sum(x * x for x in weights[:n_penalized]) / 2
    for row, target, weight in zip(X, fractions(y), fractions(s), strict=True):
        total += cost * weight * loss_of(loss, dot(fractions(row), weights), target)
    return total


def entropy(q):
    q = extended(q)
    value = -q * np.log(q) if q > 0 else np.longdouble(0)
    return sum(fractions([float(value), float(value - float(value))]), Fraction(0))


def dual_of(loss, X, y, s, C, q, free):
    """The dual value, exactly; where the intercept is free that of the point it is balanced to."""
    targets, cost = fractions(y), Fraction(C)
    signs = [Fraction(1)] * len(targets) if loss in REGRESSION else targets
    alphas = [weight * share for weight, share in zip(fractions(s), fractions(q), strict=True)]
    if free:
        above = sum(a for a, sign in zip(alphas, signs, strict=True) if a * sign > 0)
        below = -sum(a for a, sign in zip(alphas, signs, strict=True) if a * sign < 0)
        if loss not in REGRESSION:
            above = sum(a for a, sign in zip(alphas, signs, strict=True) if sign > 0)
            below = sum(a for a, sign in zip(alphas, signs, strict=True) if sign < 0)
        factors = {True: min(1, below / above) if above else 1, False: min(1, above / below) if below else 1}
    else:
        factors = {True: Fraction(1), False: Fraction(1)}
    total, u = Fraction(0), [Fraction(0)] * X.shape[1]
    for row, target, sign, weight, share in zip(X, targets, signs, fractions(s), fractions(q), strict=True):
        factor = factors[sign * share > 0]
        if loss == "hinge":
            value = share
        elif loss == "squared_hinge":
            value = share - share**2 / 4
        elif loss == "log_loss":
            value = entropy(share) + entropy(1 - share)
        elif loss == "huber":
            value = target * share - share**2 / 2
        elif loss == "quantile":
            value = target * share
        else:
            value = target * share - Fraction(EPSILON) * abs(share)
            value -= share**2 / 4 if loss.startswith("squared") else 0
        total += cost * weight * factor * value  # of the point times the factor, concave, no more than its value
        for j, x in enumerate(fractions(row)):
            u[j] += cost * weight * factor * share * sign * x
    return total - sum(x * x for x in u[: X.shape[1] - free]) / 2


def make_data(loss, seed, offset, storage, m=25, d=4):
    random = np.random.default_rng(seed)
    X = (random.normal(size=(m, d)) + offset * (random.random(d) < 0.5)).astype(storage[1])
    scores = (X - X.mean(axis=0)) @ random.normal(size=d)
    y = scores + 0.1 * random.normal(size=m) if loss in REGRESSION else np.where(scores > 0, 1.0, -1.0)
    return random, X, y, random.random(m) + 0.1


def draw_point(loss, random, X, m):
    """Weights at which losses are near their corners, and a dual point; some of its variables at zero."""
    w = np.append(random.normal(size=X.shape[1]), random.normal())
    w[-1] -= np.median(X.astype(float) @ w[:-1])
    q = random.random(m) * (random.random(m) < 0.8)
    if loss in REGRESSION:
        q = q * random.choice([-1.0, 1.0], size=m)
    if loss == "quantile":
        return w, np.where(q > 0, EPSILON * q, (1 - EPSILON) * q)
    return w, q * (3 if loss.startswith("squared") else EPSILON if loss == "huber" else 1)


@any_loss
@any_storage
@pytest.mark.parametrize("free", [False, True], ids=["penalized", "free"])
def test_any_pair_of_points(loss, storage, free):
    """The exact values lie within the bounds, and no farther from them than the allowance."""
    for seed, (offset, C) in enumerate([(0, 1e-6), (0, 1.0), (1e4, 1.0), (1e8, 1e6), (1e8, 1e-3)]):
        random, X, y, s = make_data(loss, seed, offset, storage)
        w, q = draw_point(loss, random, X, len(y))
        rows = np.column_stack([X.astype(float), np.ones(len(y))])
        problem = native.Problem(make_rows(X, storage, 1.0), y, s, C, loss, free, EPSILON)
        exact_primal = primal_of(loss, rows, y, s, C, w, len(w) - free)
        exact_dual = dual_of(loss, rows, y, s, C, q, free)
        for n_jobs in (1, 2):
            found = native.certify(problem, make_run(n_jobs=n_jobs), w, q)
            room = EXTENDED * abs(float(exact_primal)), EXTENDED * (abs(float(exact_dual)) + C * s.sum())
            assert -room[0] <= found.primal - exact_primal <= 2.1 * found.above + room[0]
            assert -room[1] <= exact_dual - found.dual <= 2.1 * found.below + room[1]
            assert offset > 0 or found.above <= 1e-13 * found.primal


def exact_objective(fitted, X, y, C, penalized=True):
    dense = X.toarray() if sp.issparse(X) else X
    rows = np.column_stack([dense.astype(float), np.ones(len(y))])
    w = np.append(np.ravel(fitted.coef_), fitted.intercept_)
    return primal_of(fitted.loss, rows, y, np.ones(len(y)), C, w, len(w) if penalized else len(w) - 1)


@any_loss
@pytest.mark.parametrize("intercept", ["penalized", "free"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_fits(loss, intercept, offset):
    """P is no less than the objective at the stored weights, D no more than that of the best of all fits."""
    for storage in (STORAGES[1], STORAGES[2]):
        _, X, y, _ = make_data(loss, 3, offset, storage, m=40)
        stored = X if storage[0] == "dense" else sp.csr_array(X)
        for C in (1e-6, 1.0, 1e6):
            fits = []
            for solver, tol in (("auto", 1e-9), ("sdca", 1e-3), ("pegasos", 1e-2)):
                if solver == "pegasos" and offset > 1e3 and loss.startswith("squared"):
                    continue  # overflows
                options = {"loss": loss, "intercept": intercept, "C": C, "tol": tol, "max_iter": 300}
                if loss in REGRESSION:
                    machine = LinearSVR(solver=solver, random_state=0, **own_parameter(loss), **options)
                else:
                    machine = LinearSVC(solver=solver, random_state=0, **options)
                fits.append(machine.fit(stored, y))
            values = [exact_objective(fitted, X, y, C, intercept == "penalized") for fitted in fits]
            for fitted, value in zip(fits, values, strict=True):
                found = fitted.certificate_
                assert found.reason != "inconsistent"
                assert found.primal >= value * Fraction(1 - EXTENDED)
                assert found.dual <= min(values) * Fraction(1 + EXTENDED)
                if found.dual > 0:
                    assert found.primal - value <= 2.1 * found.rounding * found.dual


@pytest.mark.filterwarnings("ignore:scale=True divides")
@pytest.mark.parametrize("scale", [None, "auto"])
def test_a_tolerance_below_the_rounding_of_a_plain_pass(scale):
    """Reached by a closer look, or given up for it: never by all of max_iter."""
    for intercept in ("penalized", "free"):
        for solver, offset in (("auto", 1e6), ("interior-point", 1e6), ("sdca", 0)):
            random, X, y, _ = make_data("hinge", 0, offset, STORAGES[1], m=60)
            y = np.where(random.random(60) < 0.1, -y, y)
            clf = LinearSVC(
                tol=1e-11, solver=solver, intercept=intercept, scale=scale, max_iter=100_000, random_state=0
            )
            found = clf.fit(X, y).certificate_
            assert found.gap <= 1e-8
            assert found.reason == ("tol" if found.gap <= 1e-11 else "precision")
            assert found.rounding <= 1e-12


@pytest.mark.parametrize("loss", joint_helpers.LOSSES)
@any_storage
def test_any_pair_of_points_of_all_classes(loss, storage):
    K = 4
    cost = np.where(np.eye(K) > 0, 0.0, np.random.default_rng(0).random((K, K)) + 0.5)
    for seed, (offset, C) in enumerate([(0, 1e-6), (0, 1.0), (1e4, 1.0), (1e8, 1e6)]):
        random, X, y, s = make_data("hinge", seed, offset, storage)
        m = len(y)
        labels = random.integers(K, size=m)
        W = random.normal(size=(X.shape[1] + 1, K))
        W[-1] -= np.median(X.astype(float) @ W[:-1], axis=0)
        P = random.dirichlet(np.full(K, 0.3), size=m) * (random.random((m, K)) < 0.7)
        P[np.arange(m), labels] += 1e-9
        P /= P.sum(axis=1, keepdims=True)
        problem = native.JointProblem(make_rows(X, storage, 1.0), labels.astype(np.uint32), s, C, loss, cost)
        rows = np.column_stack([X.astype(float), np.ones(m)])
        value, dual = joint_values(loss, rows, labels, s, C, W, P, cost)
        for n_jobs in (1, 2):
            found = native.joint_certify(problem, make_run(n_jobs=n_jobs), W.ravel(), P.ravel())
            room = EXTENDED * abs(float(value)), EXTENDED * (abs(float(dual)) + C * s.sum())
            assert -room[0] <= found.primal - value <= 2.1 * found.above + room[0]
            assert -room[1] <= dual - found.dual <= 2.1 * found.below + room[1]


def joint_values(loss, rows, labels, s, C, W, P, cost):
    """Exact values; of a p that rounding took out of the simplex, with the largest 1 less the others."""
    K = P.shape[1]
    cost, total = [[Fraction(float(x)) for x in row] for row in cost], Fraction(C)
    columns = [fractions(W[:, k]) for k in range(K)]
    value = sum(x * x for column in columns for x in column) / 2
    dual, U = Fraction(0), [[Fraction(0)] * rows.shape[1] for _ in range(K)]
    for row, y, weight, p in zip(rows, labels, fractions(s), P, strict=True):
        row, p = fractions(row), fractions(p)
        largest = p.index(max(p))
        p[largest] = 1 - sum(p[k] for k in range(K) if k != largest)
        f = [dot(row, column) for column in columns]
        if loss == "hinge":
            value += total * weight * (max(cost[y][k] + f[k] for k in range(K)) - f[y])
            dual += total * weight * sum(cost[y][k] * p[k] for k in range(K))
        else:
            top = max(f)
            others = [np.exp(extended(x - top)) for k, x in enumerate(f) if k != f.index(top)]
            log = np.log1p(sum(others, np.longdouble(0)))
            value += total * weight * (sum(fractions([float(log), float(log - float(log))])) + top - f[y])
            dual += total * weight * sum(entropy(x) for x in p)
        for k in range(K):
            for j, x in enumerate(row):
                U[k][j] += total * weight * ((k == y) - p[k]) * x
    return value, dual - sum(x * x for column in U for x in column) / 2


def test_small_losses_of_softmax_keep_their_digits():
    X = np.array([[30.0, 0.0, 0.0], [0.0, 31.0, 0.0], [0.0, 0.0, 32.0]])
    problem = native.JointProblem(native.dense_rows(X, 0.0), np.arange(3, dtype=np.uint32), np.ones(3), 1.0, "log_loss",
                                  1 - np.eye(3))  # fmt: skip
    W = np.vstack([1e-300 * np.eye(3), np.zeros((1, 3))])
    for size in (0.5, 1.0, 1.2):
        W[:3] = size * np.eye(3)
        found = native.joint_certify(problem, make_run(), W.ravel(), np.eye(3).ravel())
        losses = sum(math.log1p(2 * math.exp(-size * z)) for z in (30.0, 31.0, 32.0))
        assert found.primal - found.above - 1.5 * size**2 == pytest.approx(losses, abs=4e-16)
    near = LinearSVC(multi_class="joint", loss="log_loss", C=1e7, tol=1e-6, random_state=0).fit(X, [0, 1, 2])
    assert near.certificate_.converged


class TestLargeTargets:
    """A free intercept leaves the solver what targets do not share; the intercept is as accurate as it is stored."""

    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = X @ np.array([1.0, -2.0, 0.5]) + 0.1 * np.random.default_rng(1).normal(size=60)

    @pytest.mark.parametrize("loss", LOSSES[3:])
    @pytest.mark.parametrize(("shift", "C"), [(1.6e12, 1.0), (1.6e12, 1e4), (1e6, 1e4), (-3e9, 1.0)])
    def test_bounds_are_those_of_the_model(self, loss, shift, C):
        y = np.round(self.Y * 2**10) / 2**10 + shift
        options = {"loss": loss, "C": C, "intercept": "free", "tol": 1e-6, "random_state": 0}
        options |= own_parameter(loss)
        for storage in (self.X, sp.csr_array(self.X), self.X.astype(np.float32)):
            reg = LinearSVR(**options).fit(storage, y)
            plain = LinearSVR(**options).fit(storage, y - shift)
            dense = np.asarray(storage.toarray() if sp.issparse(storage) else storage, dtype=float)
            value, best = exact_objective(reg, dense, y, C, False), exact_objective(plain, dense, y - shift, C, False)
            found = reg.certificate_
            assert value <= found.primal
            assert found.dual <= best
            assert best <= found.primal
            assert found.dual == pytest.approx(plain.certificate_.dual, rel=2e-6)
            assert found.converged or (found.reason == "precision" and abs(shift) > 1e9)
            np.testing.assert_allclose(reg.coef_, plain.coef_, atol=1e-3)

    def test_warm_starts_weights_and_scales(self):
        y, s = self.Y + 1e7, np.random.default_rng(0).random(60)
        options = {"C": 10.0, "epsilon": EPSILON, "intercept": "free", "tol": 1e-6, "random_state": 0}
        for scale in (None, "auto"):
            reg = LinearSVR(warm_start=True, scale=scale, solver="sdca", max_iter=10**5, **options)
            first = reg.fit(self.X, y, s).certificate_
            again = reg.fit(self.X, y, s).certificate_
            assert first.converged
            assert again.converged
            assert again.n_iter <= 3
            assert again.primal == pytest.approx(first.primal, rel=1e-5)
        moved = reg.fit(self.X, y + 1e3, s).certificate_
        assert moved.converged
        assert moved.primal == pytest.approx(first.primal, rel=1e-5)

    def test_no_time_for_a_pass(self):
        for loss in LOSSES[3:]:
            reg = LinearSVR(loss=loss, epsilon=EPSILON, intercept="free", tol=1e-6, max_time=1e-9, random_state=0)
            found = reg.fit(self.X, self.Y + 1.6e12).certificate_
            assert not found.converged
            assert exact_objective(reg, self.X, self.Y + 1.6e12, 1.0, False) <= found.primal

    def test_the_warnings_say_what_to_do(self):
        with pytest.warns(UserWarning, match="Pass intercept='free'"):
            LinearSVR(max_iter=5, tol=0).fit(np.tile(self.X, (2, 1)), np.tile(self.Y, 2) + 1e9)
        with pytest.warns(UserWarning, match="cannot be stored with more digits"):
            LinearSVR(C=1e4, epsilon=EPSILON, intercept="free", tol=1e-6).fit(self.X, self.Y + 1.6e12)

    def test_constant_targets(self):
        reg = LinearSVR(intercept="free", tol=1e-9).fit(self.X, np.full(60, 1 / 3))
        assert (reg.certificate_.primal, reg.certificate_.gap) == (0, 0)
        assert reg.intercept_[0] == 1 / 3
