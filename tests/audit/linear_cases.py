"""Random cases of linear machines, in memory, along C, from streams and from disk."""

import contextlib
import functools
import itertools
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state

import pegasos
from pegasos import solvers
from pegasos.io import open_dataset, write_dataset

from . import oracle
from .case import (
    LINEAR_LOSSES,
    TOLS,
    class_weights,
    describe,
    draw_alpha,
    draw_budget,
    draw_fits,
    draw_intercept,
    draw_linear_solver,
    draw_loss,
    warmed_up,
)
from .checks import Bound, Claim, Finding
from .data import draw_C, draw_data, draw_huge_data, draw_labels, draw_targets, draw_weights, pick
from .evaluation import (
    LONG,
    JointProblem,
    LinearProblem,
    Rows,
)


def linear_case(case, random, classes=2, draw=draw_data):
    case.data = data = draw(random, n=None if classes == 2 else max(classes, int(random.integers(4, 61))))
    y = draw_labels(random, data.Z, classes)
    weights, (class_weight, own) = draw_weights(random, data.n), class_weights(random, y, classes)
    s = (np.ones(data.n) if weights is None else weights.copy()) * own
    loss, C = pick(random, LINEAR_LOSSES), draw_C(random)
    more, intercept, bias = draw_intercept(random)
    scale = pick(random, (None, "auto"), (3, 1))
    C, alpha = draw_alpha(random, C, s)
    shared = {"C": C, "alpha": alpha, "loss": loss, "class_weight": class_weight, "scale": scale, **more}
    signs = [np.where(y == k, 1.0, -1.0) for k in (range(classes) if classes > 2 else [1])]
    problems = LinearProblems(Rows(data.X), signs, C, s, loss, intercept=intercept, bias=bias)

    labels = np.array(["a", "b", "c", "d"])[y] if random.random() < 0.1 and not isinstance(class_weight, dict) else y
    for chosen in draw_fits(random, draw_linear_solver, {}, count=3 if classes > 2 else 4):
        estimator = pegasos.LinearSVC(**shared, **chosen)
        if random.random() < 0.1:
            estimator = warmed_up(case, estimator, random, data.X, labels, weights)
        if estimator is not None and case.attempt(estimator, data.X, labels, weights):
            problems.claim(case, estimator)
    if classes == 2 and random.random() < 0.1:
        _early_stopping(case, random, data, y, weights, own, shared, intercept, bias)
    problems.ask(case)


class LinearProblems:
    """The problems of linear machines on some rows; the scale is known after the first fit."""

    def __init__(self, rows, targets, C, s, loss, **more):
        self.rows, self.targets, self.loss, self.more = rows, targets, loss, more
        self.cost = LONG(C) * s.astype(LONG)
        self.known = {}

    def of(self, estimator):
        scale = estimator.scale_
        key = None if scale is None else scale.tobytes()
        if key not in self.known:
            self.known[key] = [
                LinearProblem(self.rows, y, self.cost, self.loss, scale=scale, **self.more) for y in self.targets
            ]
        return self.known[key]

    def claim(self, case, estimator, **more):
        problems = self.of(estimator)
        models = list(zip(np.atleast_2d(estimator.coef_), estimator.intercept_, strict=True))
        values = [problem.at(w, b) for problem, (w, b) in zip(problems, models, strict=True)]
        for problem, (w, _) in zip(problems, models, strict=True):
            problem.improve(w)
        case.claim(estimator, problems, values, **more)

    def ask(self, case):
        if case.asks(self.rows.n):
            for problem in itertools.chain.from_iterable(self.known.values()):
                oracle.improve(problem)


def _early_stopping(case, random, data, y, weights, own, shared, intercept, bias):
    """A fit that ends by the score on examples held out: the problem is that of the others."""
    state = int(random.integers(1000))
    estimator = pegasos.LinearSVC(
        **{**shared, "class_weight": None, "alpha": None},
        solver=pick(random, ("pegasos", "sgd-s", "sgd-r", "sgd-m")),
        early_stopping=True,
        validation_fraction=0.25,
        random_state=state,
    )
    if case.attempt(estimator, data.X, y, weights):
        seed = int(check_random_state(state).randint(2**31 - 1))
        train = np.sort(next(StratifiedShuffleSplit(1, test_size=0.25, random_state=seed).split(y, y))[0])
        s = (np.ones(data.n) if weights is None else weights)[train]
        signs = [np.where(y[train] == 1, 1.0, -1.0)]
        rows = Rows(data.X[train])
        problems = LinearProblems(rows, signs, shared["C"], s, shared["loss"], intercept=intercept, bias=bias)
        problems.claim(case, estimator)
        other = pegasos.LinearSVC(**{**shared, "class_weight": None, "alpha": None}, tol=1e-6, random_state=0)
        if case.attempt(other, data.X[train], y[train], None if weights is None else s):
            problems.claim(case, other)


def ovr_case(case, random):
    linear_case(case, random, classes=int(random.integers(3, 5)))


def regression_case(case, random, draw=draw_data):
    case.data = data = draw(random)
    y, shift = draw_targets(random, data.Z)
    case.data.notes.append(f"targets at {shift:g}")
    weights = draw_weights(random, data.n)
    s = np.ones(data.n) if weights is None else weights
    (loss, epsilon, parameters), C = draw_loss(random, True), draw_C(random)
    more, intercept, bias = draw_intercept(random)
    C, alpha = draw_alpha(random, C, s)
    scale = pick(random, (None, "auto"), (3, 1))
    shared = {"C": C, "alpha": alpha, "scale": scale, **parameters, **more}
    problems = LinearProblems(Rows(data.X), [y], C, s, loss, epsilon=epsilon, intercept=intercept, bias=bias)
    for chosen in draw_fits(random, draw_linear_solver, {}):
        estimator = pegasos.LinearSVR(**shared, **chosen)
        if random.random() < 0.1:
            estimator = warmed_up(case, estimator, random, data.X, y, weights)
        if estimator is not None and case.attempt(estimator, data.X, y, weights):
            problems.claim(case, estimator)
    problems.ask(case)


def joint_case(case, random):
    classes = int(random.integers(2, 5))
    case.data = data = draw_data(random, n=max(classes, int(random.integers(3, 41))))
    y = draw_labels(random, data.Z, classes)
    weights, (class_weight, own) = draw_weights(random, data.n), class_weights(random, y, classes)
    s = (np.ones(data.n) if weights is None else weights.copy()) * own
    loss, C = pick(random, ("hinge", "log_loss")), draw_C(random)
    has_intercept, bias = bool(random.random() < 0.7), pick(random, (1.0, 10.0))
    names = ("auto", "sdca", "pegasos", "sgd-s") + (("newton",) if loss == "log_loss" else ())
    cost = None
    if loss == "hinge" and random.random() < 0.4:
        cost = np.round(5 * random.random((classes, classes)), 2)
        np.fill_diagonal(cost, 0)
    delta = 1 - np.eye(classes) if cost is None else cost
    scale = pick(random, (None, "auto"), (3, 1))
    known = {}
    for chosen in draw_fits(random, lambda random: pick(random, names), {}, count=3):
        estimator = pegasos.LinearSVC(
            multi_class="joint",
            cost=cost,
            C=C,
            loss=loss,
            class_weight=class_weight,
            fit_intercept=has_intercept,
            intercept_scaling=bias,
            scale=scale,
            **chosen,
        )
        if random.random() < 0.1:
            estimator = warmed_up(case, estimator, random, data.X, y, weights)
        if estimator is None or not case.attempt(estimator, data.X, y, weights):
            continue
        key = None if estimator.scale_ is None else estimator.scale_.tobytes()
        if key not in known:
            costs = LONG(C) * s.astype(LONG)
            known[key] = JointProblem(
                Rows(data.X),
                y,
                classes,
                costs,
                loss,
                delta=delta,
                has_intercept=has_intercept,
                bias=bias,
                scale=estimator.scale_,
            )
        problem = known[key]
        case.claim(estimator, [problem], [problem.at(estimator.coef_, estimator.intercept_)])
    if case.asks(data.n):
        for problem in known.values():
            oracle.improve_joint(problem)


def path_case(case, random, draw=draw_data):
    case.data = data = draw(random)
    y, weights = draw_labels(random, data.Z), draw_weights(random, data.n)
    s = np.ones(data.n) if weights is None else weights
    loss = pick(random, LINEAR_LOSSES)
    more, intercept, bias = draw_intercept(random)
    Cs = sorted({draw_C(random) for _ in range(4)})
    parameters = {"loss": loss, **more, "solver": draw_linear_solver(random), **draw_budget(random)}
    try:
        pegasos.LinearSVC(**parameters).check_parameters()
    except ValueError:
        return
    run = functools.partial(pegasos.path, data.X, y, Cs=Cs, sample_weight=weights, **parameters)
    found = case.call(run, f"path(Cs={Cs}, {parameters})")
    if found is None:
        return
    rows, signs = Rows(data.X), np.where(y == 1, 1.0, -1.0)
    for C, w, b, certificate in zip(Cs, found.coefs, found.intercepts, found.certificates, strict=True):
        problem = LinearProblem(rows, signs, LONG(C) * s.astype(LONG), loss, intercept=intercept, bias=bias)
        value = problem.at(w, b)
        problem.improve(w)
        other = pegasos.LinearSVC(C=C, loss=loss, tol=1e-8, random_state=0, **more)
        if case.attempt(other, data.X, y, weights):
            case.claim(other, [problem], [problem.at(other.coef_[0], other.intercept_[0])])
            problem.improve(other.coef_)
        case.claims.append(Claim(f"path at C={C!r}, {parameters}", certificate, problem, value, parameters["tol"]))
        if case.asks(data.n):
            oracle.improve(problem)


def cross_validation_case(case, random):
    case.data = data = draw_data(random, n=int(random.integers(12, 61)))
    y = draw_labels(random, data.Z)
    order = random.permutation(data.n)
    halves = [np.sort(order[: data.n // 2]), np.sort(order[data.n // 2 :])]
    if any(len(np.unique(y[half])) < 2 for half in halves):
        return
    weights, loss = draw_weights(random, data.n), pick(random, LINEAR_LOSSES)
    s = np.ones(data.n) if weights is None else weights
    more, intercept, bias = draw_intercept(random)
    Cs, tol = sorted({draw_C(random) for _ in range(2)}), pick(random, TOLS)
    parameters = {"loss": loss, "scale": pick(random, (None, "auto"), (3, 1)), **more}
    estimator = pegasos.LinearSVCCV(Cs=Cs, cv=[halves, halves[::-1]], tol=tol, random_state=0, **parameters)
    if not case.attempt(estimator, data.X, y, weights):
        return
    signs = np.where(y == 1, 1.0, -1.0)
    shared = {"intercept": intercept, "bias": bias}
    problems = LinearProblems(Rows(data.X), [signs], estimator.C_, s, loss, **shared)
    best = estimator.best_estimator_
    problems.claim(case, best)
    problems.ask(case)
    # The models of the folds are not kept: their certificates are compared with other fits.
    for train, certificates in zip(halves, estimator.certificates_, strict=True):
        for C, certificate in zip(Cs, certificates, strict=True):
            problems = LinearProblems(Rows(data.X[train]), [signs[train]], C, s[train], loss, **shared)
            other = pegasos.LinearSVC(C=C, tol=1e-8, random_state=0, **parameters)
            if not case.attempt(other, data.X[train], y[train], None if weights is None else s[train]):
                continue
            problems.claim(case, other)
            what = f"fold of {describe(estimator)} at C={C!r}"
            case.claims.append(Claim(what, certificate, problems.of(other)[0], None, tol))
            if certificate.primal < other.certificate_.dual:
                text = f"primal {certificate.primal!r} below the dual {other.certificate_.dual!r} of another fit"
                case.findings.append(Finding("primal below optimum", what, text))


def stream_case(case, random, draw=draw_data):
    classes = int(pick(random, (2, 3)))
    case.data = data = draw(random, n=max(classes, int(random.integers(3, 61))))
    is_regression = random.random() < 0.3
    loss, epsilon, parameters = draw_loss(random, is_regression)
    y = draw_targets(random, data.Z)[0] if is_regression else draw_labels(random, data.Z, classes)
    alpha = float(10 ** random.uniform(-5, 2))
    bias = pick(random, (1.0, 0.0))
    more = {"fit_intercept": bool(bias), **parameters}
    solver = pick(random, ("auto", solvers.Pegasos(project=True), solvers.Pegasos(average=False)))
    kind = pegasos.LinearSVR if is_regression else pegasos.LinearSVC
    estimator = kind(alpha=alpha, solver=solver, random_state=0, **more)
    weights = draw_weights(random, data.n)
    s = np.ones(data.n) if weights is None else weights
    targets = [y] if is_regression else [np.where(y == k, 1.0, -1.0) for k in (range(classes) if classes > 2 else [1])]
    ends = np.unique([*random.integers(1, data.n + 1, size=3), data.n])
    for first, end in itertools.pairwise([0, *ends.tolist()]):
        known = {} if is_regression else {"classes": np.arange(classes)}
        own = {} if weights is None else {"sample_weight": weights[first:end]}
        learn = functools.partial(estimator.partial_fit, data.X[first:end], y[first:end], **known, **own)
        if case.call(learn, f"stream {describe(estimator)}") is None:
            return
        met = slice(0, end)
        weight = s[met].astype(LONG).sum()
        if weight == 0:
            continue
        rows = Rows(data.X[met])
        problems = [
            LinearProblem(
                rows,
                target[met],
                s[met].astype(LONG) / weight,
                loss,
                epsilon=epsilon,
                intercept="penalized" if bias else None,
                reg=alpha,
            )
            for target in targets
        ]
        for problem, w, b in zip(problems, np.atleast_2d(estimator.coef_), estimator.intercept_, strict=True):
            problem.at(w, b)
        reference = kind(C=float(1 / (LONG(alpha) * weight)), tol=1e-8, random_state=0, **more)
        if is_regression or len(np.unique(y[met])) == classes:
            if not case.attempt(reference, data.X[met], y[met], None if weights is None else s[met]):
                continue
            for problem, w, b in zip(problems, np.atleast_2d(reference.coef_), reference.intercept_, strict=True):
                problem.at(w, b)
        for problem in problems:
            if case.asks(end):
                oracle.improve(problem)
        case.claims.append(Bound(f"stream {describe(estimator)} after {end}", estimator.lower_bound_, tuple(problems)))


@contextlib.contextmanager
def small_blocks():
    """So that even small data sets have several blocks, and none is taken into memory."""
    from pegasos.linear.out_of_core import blocks, fit, machine

    with (
        mock.patch.object(blocks, "RUN_BYTES", 1 << 8),
        mock.patch.object(fit, "BLOCK_BYTES", 1 << 12),
        mock.patch.object(fit, "SMALLEST_BLOCK", 1 << 10),
        mock.patch.object(fit, "BASE_BYTES", 1 << 10),
        mock.patch.object(fit, "fits_in_memory", return_value=False),
        mock.patch.object(machine, "fits_in_memory", return_value=False),
    ):
        yield


def disk_case(case, random, draw=draw_data):
    classes = int(pick(random, (2, 3)))
    case.data = data = draw(random, n=int(pick(random, (30, 60, 200))))
    is_regression = random.random() < 0.3
    y = draw_targets(random, data.Z)[0] if is_regression else draw_labels(random, data.Z, classes)
    weights, C = draw_weights(random, data.n), draw_C(random)
    s = np.ones(data.n) if weights is None else weights
    loss, epsilon, parameters = draw_loss(random, is_regression)
    bias = pick(random, (1.0, 0.0))
    targets = [y] if is_regression else [np.where(y == k, 1.0, -1.0) for k in (range(classes) if classes > 2 else [1])]
    more = {"intercept": "penalized" if bias else None}
    problems = LinearProblems(Rows(data.X), targets, C, s, loss, epsilon=epsilon, **more)
    kind = pegasos.LinearSVR if is_regression else pegasos.LinearSVC
    shared = {"C": C, "fit_intercept": bool(bias), **parameters}
    with tempfile.TemporaryDirectory() as folder, small_blocks():
        write_dataset(Path(folder) / "rows.ds", data.X, y, weights)
        dataset = open_dataset(Path(folder) / "rows.ds")
        for solver in ("auto", "sgd-s", "pegasos", solvers.Pegasos(average=False)):
            budget = {"tol": pick(random, TOLS), "max_iter": int(pick(random, (3, 50))), "random_state": 0}
            estimator = kind(solver=solver, **shared, **budget)
            if case.attempt(estimator, dataset):
                problems.claim(case, estimator)
    other = kind(tol=1e-8, random_state=0, **shared)
    if case.attempt(other, data.X, y, weights):
        problems.claim(case, other)
    problems.ask(case)


def overflow_case(case, random):
    """Data whose squares, or whose scores' squares, overflow."""
    kinds = (_warm_chain, linear_case, regression_case, path_case, stream_case, disk_case)
    kind = pick(random, kinds, (12, 1, 1, 1, 1, 0.3))
    with np.errstate(over="ignore", invalid="ignore"):  # errors of the evaluation, which then checks nothing
        kind(case, random, draw=draw_huge_data)


def _warm_chain(case, random, draw):
    """Fits that go on from the dual point of other rows: of ordinary ones it means huge weights for huge ones."""
    case.data = data = draw(random)
    is_regression = random.random() < 0.4
    y = draw_targets(random, data.Z)[0] if is_regression else draw_labels(random, data.Z)
    target = y if is_regression else np.where(y == 1, 1.0, -1.0)
    loss, epsilon, parameters = draw_loss(random, is_regression)
    more, intercept, bias = draw_intercept(random)
    solver = pick(random, ("sdca", draw_linear_solver(random)))
    kind = pegasos.LinearSVR if is_regression else pegasos.LinearSVC
    estimator = kind(warm_start=True, solver=solver, **parameters, **more, **draw_budget(random))
    for step in range(6):
        X = (data.Z if step == 0 or random.random() < 0.2 else data.X)[random.permutation(data.n)]
        weights, C = draw_weights(random, data.n), draw_C(random)
        if case.attempt(estimator.set_params(C=C), X, y, weights):
            s = np.ones(data.n) if weights is None else weights
            more = {"epsilon": epsilon, "intercept": intercept, "bias": bias}
            LinearProblems(Rows(X), [target], C, s, loss, **more).claim(case, estimator)
