"""Random cases: a data set, a problem, and several fits of it, all from a seed and a number."""

import collections
import contextlib
import functools
import inspect
import itertools
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state

import pegasos
from pegasos import solvers
from pegasos.io import open_dataset, write_dataset

from . import oracle
from .checks import Bound, Claim, Finding, check, check_bound, check_sum
from .data import dense, draw_C, draw_data, draw_labels, draw_targets, draw_weights, pick
from .evaluation import (
    LONG,
    JointProblem,
    KernelProblem,
    LinearKernelProblem,
    LinearProblem,
    Rows,
    VectorProblem,
    chain_problem,
    chain_vector,
    gram_given,
    gram_of_points,
)

TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 0.0)
LINEAR_LOSSES = ("hinge", "squared_hinge", "log_loss")
REGRESSION_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")

#: How often the oracle is asked, where the problem is small enough for it.
ORACLE = 0.2
#: Rows up to which it is.
ORACLE_ROWS = 60


@dataclass
class Case:
    """What came of one case."""

    seed: int
    number: int
    random: np.random.Generator = None
    kind: str = ""
    claims: list = field(default_factory=list)
    findings: list = field(default_factory=list)
    refusals: collections.Counter = field(default_factory=collections.Counter)
    fits: list = field(default_factory=list)  # what is known of each that was to be within 1e-3
    data: object = None
    seconds: float = 0.0
    rounding: float = 0.0

    @property
    def certificates(self):
        return len(self.claims)

    def attempt(self, estimator, *args, name="fit", **kwargs):
        """The fitted estimator; None where parameters do not go together, or the data is refused."""
        if hasattr(estimator, "check_parameters"):
            try:
                estimator.check_parameters()
            except ValueError:
                return None
        return self.call(functools.partial(getattr(estimator, name), *args, **kwargs), describe(estimator))

    def call(self, function, what):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "The targets are around")  # and the intercept is penalised
            try:
                return function()
            except ValueError as error:
                self.refusals[" ".join(str(error).split()[:6])] += 1
            except Exception as error:  # any other is one of the things that are looked for
                self.findings.append(Finding("exception", what, f"{type(error).__name__}: {error}"))
        return None

    def claim(self, estimator, problems, objectives, **more):
        """What the fitted estimator claims of each of its problems."""
        found, what = estimator.certificate_, describe(estimator)
        parts = found.parts or (found,)
        histories = estimator.history_ if found.parts else [estimator.history_]
        if found.parts:
            self.findings += check_sum(what, found)
        if not len(parts) == len(problems) == len(objectives) == len(histories):
            self.findings.append(Finding("parts", what, f"{len(parts)} certificates of {len(problems)} problems"))
            return
        more = {"is_best": not has_named_output(estimator), **more}
        for k, (part, problem, value, history) in enumerate(zip(parts, problems, objectives, histories, strict=True)):
            own = f"{what}, part {k}" if found.parts else what
            self.claims.append(Claim(own, part, problem, value, estimator.tol, history, **more))
        self.note(estimator, found)

    def note(self, estimator, found):
        """For the tables: fits that should be within the default tolerance."""
        if (
            estimator.solver == "auto"
            and estimator.tol == 1e-3
            and estimator.max_iter >= 1000
            and not estimator.max_time
        ):
            family = "kernel" if hasattr(estimator, "kernel") else "linear"
            self.fits.append((family, self.data.offset, self.data.scale, float(estimator.C), bool(found.converged)))

    def asks(self, n):
        """Whether to ask the oracle about a problem of so many rows."""
        return n <= ORACLE_ROWS and self.random.random() < ORACLE

    def finish(self):
        for claim in self.claims:
            if isinstance(claim, Bound):
                self.findings += check_bound(claim)
            else:
                self.findings += check(claim)
                rounding = getattr(claim.certificate, "rounding", 0.0)
                self.rounding = max(self.rounding, rounding if np.isfinite(rounding) else 0.0)


def run_case(seed, number, kind=None):
    """The case of this seed and number."""
    started = time.perf_counter()
    case = Case(seed, number, np.random.default_rng([seed, number]))
    names, weights = zip(*((name, weight) for name, (_, weight) in KINDS.items()), strict=True)
    drawn = pick(case.random, names, weights)
    case.kind = kind or drawn
    KINDS[case.kind][0](case, case.random)
    case.finish()
    case.seconds = time.perf_counter() - started
    case.random = None
    return case


def describe(estimator):
    """The estimator with what is not at its default, in one line; scikit-learn's own takes longer than a fit."""
    own = ", ".join(
        f"{name}={getattr(estimator, name)!r}"
        for name, default in defaults(type(estimator)).items()
        if getattr(estimator, name) is not default and repr(getattr(estimator, name)) != repr(default)
    )
    return " ".join(f"{type(estimator).__name__}({own})".split())


@functools.cache
def defaults(kind):
    """The parameters of a kind of estimator, with their default values."""
    return {name: parameter.default for name, parameter in inspect.signature(kind).parameters.items()}


def has_named_output(estimator):
    """Whether a certain vector was asked for, which need not be the best."""
    solver = getattr(estimator, "solver", None)
    named = getattr(solver, "average", "suffix") != "suffix" or getattr(solver, "random_stops", 0)
    return bool(named or getattr(estimator, "early_stopping", False))


# What fits of a problem differ in.


def draw_budget(random, slow=False):
    tol = pick(random, TOLS, (1, 2, 4, 2, 3, 3, 1))
    most = {} if random.random() < 0.7 else {"max_iter": int(pick(random, (1, 2, 5, 30)))}
    if slow and not most:
        most = {"max_iter": int(pick(random, (20, 100)))}
    if random.random() < 0.02:
        most["max_time"] = 0.01
    return {
        "tol": tol,
        **most,
        "n_jobs": pick(random, (None, 1, 2), (4, 2, 1)),
        "random_state": int(random.integers(1000)),
    }


def draw_linear_solver(random):
    if random.random() < 0.75:
        return pick(random, tuple(solvers.SOLVERS))
    return pick(
        random,
        (
            solvers.Pegasos(average=False),
            solvers.Pegasos(average=True),
            solvers.Pegasos(project=True),
            solvers.Pegasos(batch_size=2, sampling="replace"),
            solvers.Pegasos(average=False, random_stops=3),
            solvers.Pegasos(free_intercept="search"),
            solvers.Pegasos(count_idle_steps=False),
            solvers.SDCA(shrink=False),
            solvers.SDCA(order="blocks"),
            solvers.Norma(p=0.5),
            solvers.NormBall(radius=1.0),
            solvers.ConstantStep(eta=1e-3),
            solvers.Perceptron(average=True),
            solvers.SGDR(max_steps=50),
        ),
    )


def draw_kernel_solver(random):
    if random.random() < 0.85:
        return pick(random, tuple(solvers.KERNEL_SOLVERS))
    return pick(
        random, (solvers.SMO(working_set=4, block=2), solvers.Pegasos(average=False), solvers.Pegasos(project=True))
    )


def draw_fits(random, draw_solver, strong, count=4):
    """Parameters of several fits of a problem: one with all defaults, one to a small gap, and some others."""
    yield {"random_state": int(random.integers(1000))}
    yield {"tol": 1e-8, "random_state": 0, **strong}
    for _ in range(count):
        solver = draw_solver(random)
        yield {"solver": solver, **draw_budget(random)}


# Linear machines.


def class_weights(random, y, classes):
    """A parameter, and the weight of each example."""
    kind = pick(random, (None, "balanced", "dict"), (6, 1, 1))
    if kind is None:
        return None, np.ones(len(y))
    if kind == "balanced":
        return kind, (len(y) / (classes * np.bincount(y)))[y]
    own = {k: float(random.choice([0.1, 1.0, 3.0, 100.0])) for k in range(classes)}
    return own, np.array([own[k] for k in range(classes)])[y]


def draw_alpha(random, C, s):
    """Sometimes alpha in place of C; and the C that it means."""
    if random.random() < 0.9:
        return C, None
    alpha = float(1 / (C * s.sum()))
    return float(1 / (alpha * s.sum())), alpha


def draw_intercept(random):
    """Parameters of a linear machine, and the kind of its intercept."""
    kind = pick(random, ("penalized", "free", None), (3, 3, 1))
    if kind is None:
        return {"fit_intercept": False}, None, 1.0
    if kind == "free":
        return {"intercept": "free"}, kind, 1.0
    bias = pick(random, (1.0, 10.0, 0.1), (4, 1, 1))
    return {"intercept_scaling": bias}, kind, bias


def linear_case(case, random, classes=2):
    case.data = data = draw_data(random, n=None if classes == 2 else max(classes, int(random.integers(4, 61))))
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
            estimator = _warmed_up(case, estimator, random, data.X, labels, weights)
        if estimator is not None and case.attempt(estimator, data.X, labels, weights):
            problems.claim(case, estimator)
    if classes == 2 and random.random() < 0.1:
        _early_stopping(case, random, data, y, weights, own, shared, intercept, bias)
    problems.ask(case)


def _warmed_up(case, estimator, random, X, y, weights):
    """The estimator after a fit to something else, to be continued."""
    C = estimator.C
    estimator.set_params(warm_start=True, C=C * float(random.choice([0.01, 0.5, 1.0, 100.0])))
    other = weights if random.random() < 0.7 else None
    return estimator.set_params(C=C) if case.attempt(estimator, X, y, other) else None


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


def regression_case(case, random):
    case.data = data = draw_data(random)
    y, shift = draw_targets(random, data.Z)
    case.data.notes.append(f"targets at {shift:g}")
    weights = draw_weights(random, data.n)
    s = np.ones(data.n) if weights is None else weights
    loss, C = pick(random, REGRESSION_LOSSES), draw_C(random)
    epsilon = pick(random, (0.0, 0.1, 1.0, 1e-3))
    more, intercept, bias = draw_intercept(random)
    C, alpha = draw_alpha(random, C, s)
    scale = pick(random, (None, "auto"), (3, 1))
    shared = {"C": C, "alpha": alpha, "loss": loss, "epsilon": epsilon, "scale": scale, **more}
    problems = LinearProblems(Rows(data.X), [y], C, s, loss, epsilon=epsilon, intercept=intercept, bias=bias)
    for chosen in draw_fits(random, draw_linear_solver, {}):
        estimator = pegasos.LinearSVR(**shared, **chosen)
        if random.random() < 0.1:
            estimator = _warmed_up(case, estimator, random, data.X, y, weights)
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
    cost = None
    if loss == "hinge" and random.random() < 0.4:
        cost = np.round(5 * random.random((classes, classes)), 2)
        np.fill_diagonal(cost, 0)
    delta = 1 - np.eye(classes) if cost is None else cost
    scale = pick(random, (None, "auto"), (3, 1))
    known = {}
    for chosen in draw_fits(random, lambda random: pick(random, ("auto", "sdca", "pegasos", "sgd-s")), {}, count=3):
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
            estimator = _warmed_up(case, estimator, random, data.X, y, weights)
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


def path_case(case, random):
    case.data = data = draw_data(random)
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


def stream_case(case, random):
    classes = int(pick(random, (2, 3)))
    case.data = data = draw_data(random, n=max(classes, int(random.integers(3, 61))))
    is_regression = random.random() < 0.3
    loss = pick(random, REGRESSION_LOSSES if is_regression else LINEAR_LOSSES)
    y = draw_targets(random, data.Z)[0] if is_regression else draw_labels(random, data.Z, classes)
    alpha = float(10 ** random.uniform(-5, 2))
    bias = pick(random, (1.0, 0.0))
    more = {"fit_intercept": bool(bias), "loss": loss}
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
    from pegasos.out_of_core import blocks, fit, machine

    with (
        mock.patch.object(blocks, "RUN_BYTES", 1 << 8),
        mock.patch.object(fit, "BLOCK_BYTES", 1 << 12),
        mock.patch.object(fit, "SMALLEST_BLOCK", 1 << 10),
        mock.patch.object(fit, "BASE_BYTES", 1 << 10),
        mock.patch.object(fit, "fits_in_memory", return_value=False),
        mock.patch.object(machine, "fits_in_memory", return_value=False),
    ):
        yield


def disk_case(case, random):
    classes = int(pick(random, (2, 3)))
    case.data = data = draw_data(random, n=int(pick(random, (30, 60, 200))))
    is_regression = random.random() < 0.3
    y = draw_targets(random, data.Z)[0] if is_regression else draw_labels(random, data.Z, classes)
    weights, C = draw_weights(random, data.n), draw_C(random)
    s = np.ones(data.n) if weights is None else weights
    loss = pick(random, REGRESSION_LOSSES if is_regression else LINEAR_LOSSES)
    bias = pick(random, (1.0, 0.0))
    targets = [y] if is_regression else [np.where(y == k, 1.0, -1.0) for k in (range(classes) if classes > 2 else [1])]
    more = {"intercept": "penalized" if bias else None}
    problems = LinearProblems(Rows(data.X), targets, C, s, loss, **more)
    kind = pegasos.LinearSVR if is_regression else pegasos.LinearSVC
    shared = {"C": C, "loss": loss, "fit_intercept": bool(bias)}
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


# Kernel machines.


def intersection(X, Z):
    """A kernel of rows that are not negative; of multiples of 1/16 its sums are exact."""
    return np.minimum(dense(X)[:, None, :], dense(Z)[None, :, :]).sum(axis=2)


def draw_kernel(random, data):
    """Parameters of a kernel, X to fit to, and whether it is known to be positive semi-definite."""
    name = pick(random, ("rbf", "linear", "poly", "sigmoid", "precomputed", "function"), (8, 4, 3, 0.5, 2, 1))
    X = data.X
    if name == "function":
        X = np.rint(16 * np.clip(np.abs(data.Z), 0, 64)) / 16
        return {"kernel": intersection}, X, True
    if name == "precomputed":
        points = dense(X) if abs(dense(X)).max() < 100 else data.Z
        K = np.exp(-0.5 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
        if random.random() < 0.4:
            K = points @ points.T
        K = K + 1e-3 * max(abs(K).max(), 1e-3) * np.eye(len(K))
        return {"kernel": name}, ((K + K.T) / 2).astype(pick(random, (np.float64, np.float32))), True
    if name == "linear":
        return {"kernel": name}, X, True
    size = max(float(np.std(dense(X))), 1e-12) if random.random() < 0.5 else max(abs(data.scale), 1e-12)
    gamma = pick(random, ("scale", "auto", float(10 ** random.uniform(-2, 1) / size**2)), (2, 1, 2))
    if name == "rbf":
        return {"kernel": name, "gamma": gamma}, X, True
    more = {"coef0": pick(random, (0.0, 1.0, 0.1)), "degree": int(pick(random, (1, 2, 3)))}
    return {"kernel": name, "gamma": gamma, **more}, X, name == "poly"


class KernelProblems:
    """The problems of kernel machines; gamma is known after the first fit."""

    def __init__(self, X, parts, C, s, loss, has_intercept, epsilon=0.0):
        self.X, self.parts, self.loss = X, parts, loss
        self.cost = LONG(C) * s.astype(LONG)
        self.more = {"epsilon": epsilon, "has_intercept": has_intercept}
        self.known = {}

    def of(self, estimator):
        kernel = estimator._fitted_kernel
        key = getattr(kernel, "gamma", None)
        if key not in self.known:
            self.known[key] = self._make(estimator, key)
        return self.known[key]

    def _make(self, estimator, gamma):
        name = estimator.kernel
        if name == "linear":
            return [
                LinearKernelProblem(
                    Rows(self.X if rows is None else self.X[rows]), y, self._cost(rows), self.loss, **self.more
                )
                for rows, y in self.parts
            ]
        if name == "precomputed":
            gram = gram_given(self.X)
        elif callable(name):
            gram = gram_given(name(self.X, self.X))
        else:
            gram = gram_of_points(self.X, name, gamma, estimator.coef0, estimator.degree)
        return [
            KernelProblem(gram if rows is None else gram.take(rows), y, self._cost(rows), self.loss, **self.more)
            for rows, y in self.parts
        ]

    def _cost(self, rows):
        return self.cost if rows is None else self.cost[rows]

    def claim(self, case, estimator, is_bounded=True):
        problems = self.of(estimator)
        betas = [
            beta if rows is None else beta[rows]
            for beta, (rows, _) in zip(coefficients(estimator, self.X.shape[0]), self.parts, strict=True)
        ]
        values = [p.at(beta, b) for p, beta, b in zip(problems, betas, estimator.intercept_, strict=True)]
        if self.more["has_intercept"]:
            for problem, beta in zip(problems, betas, strict=True):
                problem.improve(beta)
        case.claim(estimator, problems, values, is_bounded=is_bounded)
        if estimator.kernel != "precomputed" and not np.array_equal(
            dense(estimator.support_vectors_), dense(self.X)[estimator.support_]
        ):
            case.findings.append(Finding("support vectors", describe(estimator), "they are not rows of X"))

    def ask(self, case, is_bounded):
        if is_bounded and case.asks(self.X.shape[0]):
            for problem in itertools.chain.from_iterable(self.known.values()):
                oracle.improve_kernel(problem)


def coefficients(estimator, n):
    """What each example weighs in each problem of a kernel machine."""
    support, table = estimator.support_, estimator.dual_coef_
    classes = len(getattr(estimator, "classes_", ()))
    pairs = list(itertools.combinations(range(classes), 2))
    if classes <= 2 or len(table) == classes:
        out = np.zeros((len(table), n))
        out[:, support] = table
        return out
    ends = np.cumsum(estimator.n_support_)
    owner = np.searchsorted(ends, np.arange(len(support)), side="right")
    out = np.zeros((len(pairs), n))
    for beta, (first, second) in zip(out, pairs, strict=True):
        of_first, of_second = owner == first, owner == second
        beta[support[of_first]] = table[second - 1, of_first]
        beta[support[of_second]] = table[first, of_second]
    return out


def kernel_case(case, random):
    kind = pick(random, ("two", "pairs", "ovr", "regression"), (4, 1, 1, 3))
    classes = int(random.integers(3, 5)) if kind in ("pairs", "ovr") else 2
    case.data = data = draw_data(random)
    if data.n < classes + 1:
        case.data = data = draw_data(random, n=classes + 4)
    parameters, X, is_bounded = draw_kernel(random, data)
    weights, C = draw_weights(random, data.n), draw_C(random)
    s = np.ones(data.n) if weights is None else weights.copy()
    has_intercept = bool(random.random() < 0.7)
    shared = {"C": C, "fit_intercept": has_intercept, **parameters}
    if kind == "regression":
        y, shift = draw_targets(random, data.Z)
        data.notes.append(f"targets at {shift:g}")
        epsilon = pick(random, (0.0, 0.1, 1e-3, 1.0))
        shared["epsilon"] = epsilon
        problems = KernelProblems(X, [(None, y)], C, s, "epsilon_insensitive", has_intercept, epsilon)
    else:
        y = draw_labels(random, data.Z, classes)
        shared["class_weight"], own = class_weights(random, y, classes)
        s *= own
        parts = kernel_parts(y, classes, kind)
        shared["multi_class"] = "ovr" if kind == "ovr" else "ovo"
        problems = KernelProblems(X, parts, C, s, "hinge", has_intercept)
    machine = pegasos.SVR if kind == "regression" else pegasos.SVC
    for chosen in draw_fits(random, draw_kernel_solver, {"max_iter": 2000}, count=3):
        slow = chosen.get("solver", "auto") not in ("auto", "smo", "sdca")
        if chosen.get("solver", "auto") != "auto" and "max_iter" not in chosen:
            chosen["max_iter"] = int(pick(random, (10, 50))) if slow else 1000
        estimator = machine(**shared, **chosen)
        if random.random() < 0.1:
            estimator = _warmed_up(case, estimator, random, X, y, weights)
        if estimator is not None and case.attempt(estimator, X, y, weights):
            problems.claim(case, estimator, is_bounded)
    problems.ask(case, is_bounded)


def kernel_parts(y, classes, kind):
    """Rows (None is all) and labels of each problem."""
    if classes == 2:
        return [(None, np.where(y == 1, 1.0, -1.0))]
    if kind == "ovr":
        return [(None, np.where(y == k, 1.0, -1.0)) for k in range(classes)]
    parts = []
    for first, second in itertools.combinations(range(classes), 2):
        rows = np.flatnonzero((y == first) | (y == second))
        parts.append((rows, np.where(y[rows] == first, 1.0, -1.0)))
    return parts


def large_kernel_case(case, random):
    """More rows than there are with a kernel matrix in double precision."""
    n, d = int(pick(random, (2100, 2500))), int(random.integers(2, 7))
    Z = random.normal(size=(n, d))
    case.data = data = draw_data(random, n=n, d=d)
    data.Z = Z
    offset = pick(random, (0.0, 3.0, 23.0, 100.0))
    X = Z + (offset * np.where(random.random((n, 1)) < 0.5, 1, -1) if random.random() < 0.3 else offset)
    data.X, data.offset, data.scale = pick(random, (sp.csr_matrix(X), X)), offset, 1.0
    C, gamma = pick(random, (0.1, 1.0, 10.0)), pick(random, ("scale", 0.1, 0.5))
    has_intercept = bool(random.random() < 0.8)
    if random.random() < 0.4:
        y = np.sin(2 * Z[:, 0]) + 0.1 * random.normal(size=n) + pick(random, (0.0, 1e3, 1e6))
        machine, loss, epsilon = functools.partial(pegasos.SVR, epsilon=0.3), "epsilon_insensitive", 0.3
    else:
        y = (Z[:, 0] ** 2 + Z[:, 1] + 0.5 * random.normal(size=n) > 1).astype(int)
        machine, loss, epsilon = pegasos.SVC, "hinge", 0.0
    target = y if machine is not pegasos.SVC else np.where(y == 1, 1.0, -1.0)
    problems = KernelProblems(data.X, [(None, target)], C, np.ones(n), loss, has_intercept, epsilon)
    for tol in (1e-3, 1e-6):
        estimator = machine(C=C, gamma=gamma, tol=tol, fit_intercept=has_intercept, random_state=0)
        if case.attempt(estimator, data.X, y):
            problems.claim(case, estimator)


# Labels of sequences, and features of example and label.


def sequence_case(case, random):
    n_labels, count = int(random.integers(2, 4)), int(random.integers(1, 6))
    lengths = random.integers(0 if count > 1 else 2, 5 if n_labels == 2 else 4, size=count)
    lengths[0] = max(lengths[0], 2)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    case.data = data = draw_data(random, n=int(starts[-1]), d=int(random.integers(1, 4)))
    y = random.integers(0, n_labels, size=data.n)
    y[: min(n_labels, data.n)] = np.arange(n_labels)[: data.n]
    n_labels = len(np.unique(y))
    y = np.unique(y, return_inverse=True)[1]
    cost = None
    if random.random() < 0.3:
        cost = np.round(3 * random.random((n_labels, n_labels)), 2)
        np.fill_diagonal(cost, 0)
    constraints, forbidden = None, set()
    if random.random() < 0.3:
        used = {link for a, b in itertools.pairwise(starts) for link in itertools.pairwise([None, *y[a:b], None])}
        others = [(j, k) for j in range(n_labels) for k in range(n_labels) if (j, k) not in used]
        if others:
            constraints = [pick(random, others)]
            forbidden = set(constraints)
    weights = None if random.random() < 0.7 else random.random(count) + 0.1
    s, C = np.ones(count) if weights is None else weights, draw_C(random)
    boundaries, has_intercept = bool(random.random() < 0.6), bool(random.random() < 0.6)
    problem = chain_problem(
        data.X,
        starts.tolist(),
        y.tolist(),
        n_labels,
        LONG(C) * s.astype(LONG),
        1 - np.eye(n_labels) if cost is None else cost,
        boundaries=boundaries,
        has_intercept=has_intercept,
        forbidden=forbidden,
    )
    choices = [{}, {"tol": 1e-8, "max_iter": 2000}]
    choices += [
        {"solver": pick(random, tuple(solvers.SEQUENCE_SOLVERS)), **draw_budget(random, True)} for _ in range(2)
    ]
    for chosen in choices:
        estimator = pegasos.SequenceSVC(
            C=C,
            cost=cost,
            constraints=constraints,
            boundaries=boundaries,
            fit_intercept=has_intercept,
            **{"random_state": 0, **chosen},
        )
        if case.attempt(estimator, data.X, y, lengths, weights):
            case.claim(estimator, [problem], [problem.at(chain_vector(estimator))])
    if case.random.random() < 2 * ORACLE:
        oracle.improve_vector(problem)


def feature_map_case(case, random):
    labels, n, D = int(random.integers(2, 4)), int(random.integers(3, 13)), int(random.integers(1, 6))
    case.data = data = draw_data(random, n=n * labels, d=D)
    phi = dense(data.X).reshape(n, labels, D)
    y = random.integers(0, labels, size=n)
    y[:labels] = np.arange(labels)
    weights, C = draw_weights(random, n), draw_C(random)
    s = np.ones(n) if weights is None else weights
    cost = None
    if random.random() < 0.4:
        cost = np.round(3 * random.random((labels, labels)), 2)
        np.fill_diagonal(cost, 0)
    delta = 1 - np.eye(labels) if cost is None else cost
    own = phi[np.arange(n), y][:, None, :]
    psi = phi.astype(LONG) - own.astype(LONG)
    problem = VectorProblem(psi, abs(phi) + abs(own), delta[y], LONG(C) * s.astype(LONG))
    for tol in (1e-3, 1e-7, pick(random, TOLS)):
        estimator = pegasos.FeatureMapSVC(
            lambda i, label: phi[int(i), int(label)], cost=cost, C=C, tol=tol, max_iter=100, random_state=0
        )
        if case.attempt(estimator, np.arange(n), y, weights):
            value = problem.at(estimator.coef_)
            what = f"FeatureMapSVC(C={C!r}, tol={tol:g})"
            case.claims.append(Claim(what, estimator.certificate_, problem, value, tol, estimator.history_))
    if case.random.random() < 2 * ORACLE:
        oracle.improve_vector(problem)


#: Kinds of cases, and how often each is drawn.
KINDS = {
    "linear": (linear_case, 20),
    "ovr": (ovr_case, 8),
    "joint": (joint_case, 8),
    "regression": (regression_case, 16),
    "path": (path_case, 4),
    "cross-validation": (cross_validation_case, 2),
    "stream": (stream_case, 4),
    "disk": (disk_case, 1.5),
    "kernel": (kernel_case, 30),
    "large kernel": (large_kernel_case, 0.02),
    "sequence": (sequence_case, 4),
    "feature map": (feature_map_case, 2),
}
