"""The audit of certificates: random fits against an independent evaluation in long double, and planted faults."""

import itertools
import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from audit import evaluation, oracle
from audit.cases import KINDS, run_case
from audit.checks import Bound, Claim, Margin, check, check_bound, check_margin, check_sum, relative_gap
from audit.data import linear_targets, normal_classes
from audit.evaluation import (
    LONG,
    REGRESSION_LOSSES,
    JointProblem,
    KernelProblem,
    LinearKernelProblem,
    LinearProblem,
    Rows,
)
from audit.kernel_cases import coefficients, kernel_parts
from audit.margin_cases import MarginProblem
from audit.report import Report
from audit.run import run, run_chunk

from pegasos import SVC, LinearSVC, LinearSVR
from pegasos.reference import s4
from pegasos.solvers import SBP

pytestmark = [
    pytest.mark.skipif(not evaluation.IS_WIDE, reason="long double is no wider than double on this machine"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
needs_oracle = pytest.mark.skipif(oracle.clarabel is None, reason=oracle.MISSING)

SEED = 20
#: Cases of each kind: first and how many.
PARTS = [
    *[("linear", first, 25) for first in (0, 25, 50, 75)],
    *[("regression", first, 30) for first in (0, 30, 60)],
    *[("kernel", first, 25) for first in (0, 25, 50, 75, 100)],
    ("ovr", 0, 20),
    ("joint", 0, 25),
    ("path", 0, 12),
    ("cross-validation", 0, 6),
    ("stream", 0, 15),
    ("disk", 0, 4),
    ("overflow", 0, 60),
    ("scaled kernel", 0, 25),
    ("large kernel", 0, 2),
    *[("margin", first, 25) for first in (0, 25)],
    ("sequence", 0, 15),
    ("feature map", 0, 8),
]


@pytest.mark.parametrize(("kind", "first", "count"), PARTS, ids=lambda value: str(value))
def test_random_fits(kind, first, count):
    report = run_chunk(SEED, first, kind, count)
    assert report.certificates > 0
    assert not report.findings, "\n" + report.tell(tables=False)


def test_every_kind_of_case_is_run():
    assert {kind for kind, _, _ in PARTS} == set(KINDS)


# The evaluation itself, against fractions and decimals.


def exact_objective(X, y, cost, loss, w, b, epsilon=0.0, intercept="penalized", bias=1.0):
    """In fractions."""
    w, b = [Fraction(v) for v in w], Fraction(b)
    value = sum(v * v for v in w) / 2
    if intercept == "penalized":
        value += (b / Fraction(bias)) ** 2 / 2
    for x, target, c in zip(X.tolist(), y.tolist(), cost, strict=True):
        z = sum(v * Fraction(entry) for v, entry in zip(w, x, strict=True)) + b
        if loss == "huber":
            size, bound = abs(z - Fraction(target)), Fraction(epsilon)
            value += Fraction(c) * (size**2 / 2 if size <= bound else bound * size - bound**2 / 2)
            continue
        if loss == "quantile":
            error = Fraction(target) - z
            value += Fraction(c) * max(Fraction(epsilon) * error, (Fraction(epsilon) - 1) * error)
            continue
        over = abs(z - Fraction(target)) - Fraction(epsilon) if "epsilon" in loss else 1 - Fraction(target) * z
        over = max(over, Fraction(0))
        value += Fraction(c) * (over**2 if "squared" in loss else over)
    return value


def as_fraction(value):
    high = float(value)
    return Fraction(high) + Fraction(float(value - LONG(high)))


def assert_within(value, exact):
    """The long double is as close to the exact value as it says, and that is close."""
    assert abs(as_fraction(value.value) - exact) <= Fraction(value.error)
    assert value.error < 1e-9 * abs(exact)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", *REGRESSION_LOSSES])
def test_linear_objective(loss, offset):
    random = np.random.default_rng(1)
    X = random.normal(size=(20, 3)) + offset
    is_regression = loss in REGRESSION_LOSSES
    y = random.normal(size=20) + 10 * offset if is_regression else random.choice([-1.0, 1.0], size=20)
    w, b = random.normal(size=3), float(random.normal() + 9 * offset)
    cost, epsilon = random.random(20), 0.1 if is_regression else 0.0
    for intercept in ("penalized", "free"):
        problem = LinearProblem(Rows(X), y, cost, loss, epsilon=epsilon, intercept=intercept, bias=0.1)
        exact = exact_objective(X, y, cost.tolist(), loss, w, b, epsilon, intercept, 0.1)
        assert_within(problem.at(w, b), exact)


def test_kernel_objectives():
    random = np.random.default_rng(2)
    X, y = random.normal(size=(12, 2)) + 1e8, random.choice([-1.0, 1.0], size=12)
    beta, b, cost = random.normal(size=12), 0.25, random.random(12)
    w = [sum(Fraction(v) * Fraction(x) for v, x in zip(beta, column, strict=True)) for column in X.T]
    exact = exact_objective(X, y, cost.tolist(), "hinge", w, b, intercept=None)
    assert_within(LinearKernelProblem(Rows(X), y, cost).at(beta, b), exact)
    with localcontext() as context:
        context.prec = 60
        K = [
            [
                Fraction(
                    (-Decimal("0.5") * sum((Decimal(a) - Decimal(c)) ** 2 for a, c in zip(x, z, strict=True))).exp()
                )
                for z in X.tolist()
            ]
            for x in X.tolist()
        ]
    f = [sum(Fraction(v) * k for v, k in zip(beta, row, strict=True)) for row in K]
    exact = sum(Fraction(v) * own for v, own in zip(beta, f, strict=True)) / 2
    for own, target, c in zip(f, y, cost, strict=True):
        exact += Fraction(c) * max(Fraction(0), 1 - Fraction(target) * (own + Fraction(b)))
    assert_within(KernelProblem(evaluation.gram_of_points(X, "rbf", 0.5), y, cost).at(beta, b), exact)


def test_log_losses():
    random = np.random.default_rng(3)
    X, y = random.normal(size=(9, 2)) * 40, np.arange(9) % 3
    W, b, cost = random.normal(size=(3, 2)), random.normal(size=3), random.random(9)
    signs = np.where(y == 1, 1.0, -1.0)

    def decimal(value):
        return Decimal(value.numerator) / Decimal(value.denominator)

    with localcontext() as context:
        context.prec = 60
        two = sum(Fraction(v) ** 2 for v in [*W[0], b[0]]) / 2
        joint = sum(Fraction(v) ** 2 for v in [*W.ravel(), *b]) / 2
        for x, sign, label, c in zip(X.tolist(), signs, y, cost, strict=True):
            z = [
                sum(Fraction(v) * Fraction(e) for v, e in zip(w, x, strict=True)) + Fraction(t)
                for w, t in zip(W, b, strict=True)
            ]
            two += Fraction(c) * Fraction((1 + decimal(-Fraction(sign) * z[0]).exp()).ln())
            joint += Fraction(c) * Fraction(sum(decimal(own - z[label]).exp() for own in z).ln())
    assert_within(LinearProblem(Rows(X), signs, cost, "log_loss").at(W[0], b[0]), two)
    assert_within(JointProblem(Rows(X), y, 3, cost, "log_loss").at(W, b), joint)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss", *REGRESSION_LOSSES])
def test_best_intercept(loss):
    random = np.random.default_rng(4)
    y = random.normal(size=15) if loss in REGRESSION_LOSSES else np.where(random.random(15) < 0.4, 1.0, -1.0)
    problem = LinearProblem(
        Rows(random.normal(size=(15, 2))), y, random.random(15), loss, epsilon=0.1, intercept="free"
    )
    w = random.normal(size=2)
    problem.improve(w)
    best = problem.best
    for t in np.linspace(-3, 3, 301):
        assert problem.at_shifted(w, t).value >= best * (1 - LONG(1e-12))


# Planted faults: each must be found.


def certificate(primal, dual, tol=1e-3, **more):
    gap = relative_gap(primal, dual)
    return SimpleNamespace(
        **{
            "primal": primal,
            "dual": dual,
            "gap": gap,
            "converged": gap <= tol,
            "reason": "tol",
            "rounding": 1e-15,
            "n_iter": 1,
            "parts": (),
            **more,
        }
    )


def upwards(value):
    return float(np.nextafter(float(value.above), math.inf))


def downwards(value):
    return float(np.nextafter(float(value), -math.inf))


def linear_model(loss="hinge", intercept="free"):
    Z, y = normal_classes(40, 3)
    clf = LinearSVC(loss=loss, intercept=intercept, tol=1e-9, max_iter=5000, random_state=0).fit(Z, y)
    problem = LinearProblem(Rows(Z), np.where(y == 1, 1.0, -1.0), np.ones(40), loss, intercept=intercept)
    return problem, (clf.coef_[0], clf.intercept_[0]), clf.certificate_.dual


def regression_model():
    X, y = linear_targets(100.0)
    reg = LinearSVR(C=0.5, intercept="free", epsilon=0.05, tol=1e-9, random_state=0).fit(X, y)
    cost = np.full(60, LONG(0.5))
    problem = LinearProblem(Rows(X), y, cost, "epsilon_insensitive", epsilon=0.05, intercept="free")
    return problem, (reg.coef_, reg.intercept_[0]), reg.certificate_.dual


def kernel_model():
    Z, y = normal_classes(40, 3)
    clf = SVC(gamma=0.5, tol=1e-9, random_state=0).fit(Z, y)
    gram = evaluation.gram_of_points(Z, "rbf", 0.5)
    problem = KernelProblem(gram, np.where(y == 1, 1.0, -1.0), np.ones(40))
    return problem, (coefficients(clf, 40)[0], clf.intercept_[0]), clf.certificate_.dual


def joint_model():
    random = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = random.normal(size=(30, 3)) + np.eye(3)[y]
    clf = LinearSVC(multi_class="joint", C=0.1, tol=1e-9, max_iter=20_000, random_state=0).fit(X, y)
    problem = JointProblem(Rows(X), y, 3, np.full(30, LONG(0.1)), "hinge", delta=1 - np.eye(3))
    return problem, (clf.coef_, clf.intercept_), clf.certificate_.dual


MODELS = {
    "hinge": linear_model,
    "squared hinge": lambda: linear_model("squared_hinge", "penalized"),
    "log loss": lambda: linear_model("log_loss", "penalized"),
    "regression": regression_model,
    "kernel": kernel_model,
    "joint": joint_model,
}


def found_in(problem, value, primal=None, dual=None, **more):
    """The kinds of findings in a certificate that is honest but for what is given."""
    own = {key: more.pop(key) for key in ("history", "is_best", "is_bounded") if key in more}
    primal = upwards(value) if primal is None else float(primal)
    dual = downwards(problem.best) if dual is None else float(dual)
    claim = Claim("planted", certificate(primal, dual, **more), problem, value, 1e-3, **own)
    return {finding.kind for finding in check(claim)}


@pytest.fixture(params=MODELS, ids=lambda name: name.replace(" ", "-"))
def model(request):
    problem, point, dual = MODELS[request.param]()
    value = problem.at(*point)
    problem.improve(point[0])
    return problem, point, value, dual


def test_an_honest_certificate_passes(model):
    problem, _, value, _ = model
    assert found_in(problem, value) == set()


def test_wrong_primal_values_are_found(model):
    problem, point, value, _ = model
    norm = total_without(problem, point, cost=False)
    wrong = {
        "half of the norm": value.value - norm / 2,
        "no norm": value.value - norm,
        "norm subtracted": value.value - 2 * norm,
        "losses alone counted once too few": total_without(problem, point, row=most_costly(problem, point)),
        "relative 1e-14": value.value * (1 - LONG(1e-14)),
    }
    for fault, primal in wrong.items():
        assert "primal below objective" in found_in(
            problem, value, primal, min(float(primal), downwards(problem.best))
        ), fault


def total_without(problem, point, row=None, cost=True):
    """The objective without the loss of a row, or the norm's part of it alone."""
    kept = problem.cost
    try:
        problem.cost = kept.copy()
        problem.cost[slice(None) if not cost else row] = 0
        best = problem.best
        return problem.at(*point).value
    finally:
        problem.cost, problem.best = kept, best


def most_costly(problem, point):
    """The row whose loss is the largest part of the objective."""
    values = [float(total_without(problem, point, row)) for row in range(len(problem.cost))]
    return int(np.argmin(values))


def test_wrong_models_are_found(model):
    problem, (w, b), value, _ = model
    most = np.unravel_index(abs(w).argmax(), w.shape)
    flipped, dropped = w.copy(), w.copy()
    flipped[most] *= -1
    dropped[most] = 0
    for other in [(flipped, b), (dropped, b), (w, -b - 1), (-w, b)]:
        mutated = problem.at(*other)
        assert mutated.value > value.value
        assert "primal below objective" in found_in(problem, mutated, upwards(value))


@needs_oracle
def test_a_dual_value_slightly_above_the_optimum_is_found(model):
    problem, _, value, dual = model
    if isinstance(problem, JointProblem):
        oracle.improve_joint(problem)
    elif isinstance(problem, KernelProblem):
        oracle.improve_kernel(problem)
    else:
        oracle.improve(problem)
    assert problem.best <= dual * (1 + 1e-9)
    assert found_in(problem, value, dual=dual * (1 - 1e-12)) == set()
    assert "dual above optimum" in found_in(problem, value, dual=dual * (1 + 2e-9), primal=2 * float(value.value))


def test_other_faults_are_found(model):
    problem, _, value, _ = model
    primal, dual = upwards(value), downwards(problem.best)
    gap = relative_gap(primal, dual)
    faults = {
        "gap": {"gap": gap + 1e-9},
        "converged": {"converged": False},
        "inconsistent": {"reason": "inconsistent"},
        "rounding": {"rounding": -1e-16},
    }
    for kind, fault in faults.items():
        assert kind in found_in(problem, value, **fault)
    assert "rounding" in found_in(problem, value, rounding=math.inf)
    assert "rounding" in found_in(problem, value, rounding=math.nan)
    assert "primal above objective" in found_in(problem, value, primal * (1 + 1e-8))
    assert "primal above objective" not in found_in(problem, value, primal * (1 + 1e-8), rounding=2e-8)
    assert "dual above primal" in found_in(problem, value, primal, primal * (1 + 1e-6))
    assert "no bound" in found_in(problem, value, dual=-math.inf, gap=math.inf, converged=False)
    assert not found_in(problem, value, dual=-math.inf, gap=math.inf, converged=False, is_bounded=False)
    assert "converged" in found_in(problem, value, dual=-math.inf, gap=math.inf, converged=True, is_bounded=False)
    assert "primal not finite" in found_in(problem, value, math.inf)


def test_faults_of_histories_are_found(model):
    problem, _, value, _ = model
    primal, dual = upwards(value), downwards(problem.best)

    def of(primals, duals, **more):
        history = {"primal": np.array(primals), "dual": np.array(duals)}
        return found_in(problem, value, history=history, **more)

    assert of([2 * primal, primal], [0.0, dual]) == set()
    assert "history" in of([], [])
    assert "history" in of([2 * primal, primal * (1 + 1e-15)], [0.0, dual])
    assert "history" in of([2 * primal, primal], [0.0, dual * (1 - 1e-15)])
    assert "dual of history above optimum" in of([2 * primal, primal], [primal * (1 + 1e-6), dual])
    assert "not the best recorded" in of([primal * (1 - 1e-12), primal], [0.0, dual])
    assert of([primal * (1 - 1e-12), primal], [0.0, dual], is_best=False) == set()


def test_faults_of_sums_are_found():
    parts = (certificate(2.0, 1.0, rounding=1e-12), certificate(3.0, 2.0))
    right = {"gap": 1.0, "converged": False, "rounding": 1e-12, "parts": parts}
    assert not check_sum("sum", certificate(5.0, 3.0, **right))
    faults = [{"gap": 0.5}, {"converged": True}, {"n_iter": 2}, {"rounding": 1e-15}, {"primal": 4.0}, {"dual": 2.0}]
    for fault in faults:
        assert check_sum("sum", certificate(**{"primal": 5.0, "dual": 3.0, **right, **fault}))


def margin_model(has_intercept):
    """The problem of a margin, and a machine near the best one: its coefficients, its intercept and its certificate."""
    X, y = normal_classes(30, 2)
    clf = SVC(gamma=0.5, solver=SBP(nu=0.1), tol=0.1, max_iter=1000, fit_intercept=has_intercept, random_state=0)
    clf.fit(X, y)
    gram = evaluation.gram_of_points(X, "rbf", 0.5)
    problem = MarginProblem(gram, np.where(y == 1, 1.0, -1.0), np.ones(30), 0.1, has_intercept=has_intercept)
    return problem, coefficients(clf, 30)[0], clf.intercept_[0], clf.certificate_


@pytest.mark.parametrize("has_intercept", [False, True])
def test_faults_of_margins_are_found(has_intercept):
    problem, beta, b, honest = margin_model(has_intercept)

    def found_in(beta=beta, b=b, **wrong):
        own = SimpleNamespace(**{**honest.to_dict(), **wrong})
        own.gap = wrong.get("gap", relative_gap(own.primal, own.dual))
        own.converged = wrong.get("converged", own.gap <= 0.1)
        history = {"primal": np.array([own.primal]), "dual": np.array([own.dual])}
        claim = Margin("planted", own, problem, problem.at(beta, b, own.rounding), 0.1, history)
        return {finding.kind for finding in check_margin(claim)}

    problem.improve(beta)
    assert found_in() == set()
    assert honest.rounding < 1e-6
    assert found_in(dual=honest.dual * (1 + 1e-5)) == {"dual above the machine's margin"}
    assert found_in(dual=honest.dual * (1 - 1e-5)) == {"dual below the machine's margin"}
    assert found_in(beta=0.99 * beta) == {"dual above the machine's margin"}
    assert "dual above the machine's margin" in found_in(b=b + 0.1)
    assert "primal below a margin" in found_in(primal=float(problem.best) * (1 - 1e-9))
    assert found_in(converged=False) == {"converged"}
    assert found_in(gap=0.0) == {"gap"}
    assert found_in(reason="inconsistent") == {"inconsistent"}


@needs_oracle
@pytest.mark.parametrize("has_intercept", [False, True])
def test_the_best_margin(has_intercept):
    """The oracle's machine against a bound by its own distribution, and levels against those of the paper."""
    problem, beta, _, honest = margin_model(has_intercept)
    y, K = problem.y.astype(float), problem.gram.K.astype(float)
    norm = np.sqrt(beta @ K @ beta)
    c = y * (K @ beta) / norm
    level = s4.water_level_with_bias(c, y, 3.0)[0] if has_intercept else s4.water_level(c, 3.0)
    problem.improve(beta)
    assert float(problem.best) == pytest.approx(level, rel=1e-12)
    problem.ask()
    assert max(level, honest.dual) < problem.best <= honest.primal


def test_a_wrong_lower_bound_is_found(model):
    problem, _, _, _ = model
    assert not check_bound(Bound("stream", downwards(2 * problem.best), (problem, problem)))
    assert check_bound(Bound("stream", float(2 * problem.best) * (1 + 1e-12), (problem, problem)))


def test_chain_against_its_definition():
    """A score by hand: the enumeration has all labellings, all weights and no forbidden link."""
    random = np.random.default_rng(0)
    X, y, starts = random.normal(size=(5, 2)), [0, 1, 1, 0, 1], [0, 3, 5]
    options = {"boundaries": True, "has_intercept": True, "forbidden": {(0, 0)}}
    problem = evaluation.chain_problem(X, starts, y, 2, [0.5, 2.0], 1 - np.eye(2), **options)
    names = ("coef_", "intercept_", "transitions_", "start_", "end_")
    shapes = ((2, 2), (2,), (2, 2), (2,), (2,))
    model = SimpleNamespace(**{name: random.normal(size=shape) for name, shape in zip(names, shapes, strict=True)})
    model.transitions_[0, 0] = -math.inf

    def score(rows, labels):
        out = model.start_[labels[0]] + model.end_[labels[-1]]
        out += sum(model.coef_[k] @ x + model.intercept_[k] for x, k in zip(rows, labels, strict=True))
        return out + sum(model.transitions_[j, k] for j, k in itertools.pairwise(labels))

    expected = evaluation.chain_vector(model) @ evaluation.chain_vector(model) / 2
    for cost, (first, end) in zip([0.5, 2.0], itertools.pairwise(starts), strict=True):
        rows, right = X[first:end], y[first:end]
        others = itertools.product(range(2), repeat=len(right))
        worth = [sum(j != k for j, k in zip(right, own, strict=True)) + score(rows, own) for own in others]
        expected += cost * (max(worth) - score(rows, right))
    assert float(problem.at(evaluation.chain_vector(model)).value) == pytest.approx(expected, rel=1e-13)


# The audit as a program.


def test_a_case_is_the_same_each_time():
    for kind in ("linear", "kernel"):
        first, second = (run_case(SEED, 3, kind) for _ in range(2))
        bounds = [
            [(claim.what, claim.certificate.primal, claim.certificate.dual) for claim in case.claims]
            for case in (first, second)
        ]
        assert bounds[0] == bounds[1]
        assert first.certificates > 0


def test_the_report(tmp_path):
    report = run(SEED, 20)
    assert report.certificates >= 20
    told = report.tell()
    assert f"seed {SEED}" in told
    assert "within tol=1e-3, by offset" in told
    written = json.loads(json.dumps(report.to_dict()))
    assert written["certificates"] == report.certificates
    whole = Report(SEED)
    whole.join(report)
    assert whole.to_dict() == report.to_dict()


def test_pairs_of_classes():
    y = np.array([0, 1, 2, 0])
    parts = kernel_parts(y, 3, "pairs")
    assert [rows.tolist() for rows, _ in parts] == [[0, 1, 3], [0, 2, 3], [1, 2]]
    assert [labels.tolist() for _, labels in parts] == [[1, -1, 1], [1, -1, 1], [1, -1]]
