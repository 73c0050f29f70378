"""A case: a data set, a problem and several fits of it; what all kinds of cases draw from."""

import collections
import functools
import inspect
import warnings
from dataclasses import dataclass, field

import numpy as np

from pegasos import solvers

from .checks import CHECKS, Bound, Claim, Finding, check_sum
from .data import pick
from .evaluation import REGRESSION_LOSSES

TOLS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 0.0)
LINEAR_LOSSES = ("hinge", "squared_hinge", "log_loss")

#: How often the oracle is asked, where the problem is small enough for it.
ORACLE = 0.2
#: Rows up to which it is.
ORACLE_ROWS = 60


def draw_loss(random, is_regression):
    """A loss and its epsilon, or quantile, and both as parameters of an estimator."""
    loss = pick(random, REGRESSION_LOSSES if is_regression else LINEAR_LOSSES)
    if not is_regression:
        return loss, 0.0, {"loss": loss}
    if loss == "quantile":
        quantile = pick(random, (0.5, 0.1, 0.9, 0.001))
        return loss, quantile, {"loss": loss, "quantile": quantile}
    epsilon = pick(random, (0.1 if loss == "huber" else 0.0, 0.1, 1.0, 1e-3))
    return loss, epsilon, {"loss": loss, "epsilon": epsilon}


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
        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", UserWarning)  # advice: on data, settings and fits that fall short
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
            self.findings += CHECKS[type(claim)](claim)
            if not isinstance(claim, Bound):
                rounding = getattr(claim.certificate, "rounding", 0.0)
                self.rounding = max(self.rounding, rounding if np.isfinite(rounding) else 0.0)


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
            solvers.Norma(step_factor=0.5),
            solvers.NormBall(radius=1.0),
            solvers.ConstantStep(eta=1e-3),
            solvers.Perceptron(average=True),
            solvers.SGDR(max_steps=50),
            solvers.SvmSgd(t0=10.0, average=False),
            solvers.SGDQN(skip=3),
            solvers.MPU(delta=0.3),
            solvers.OCAS(line_search=False),
            solvers.Newton(equations="cg"),
            solvers.Newton(equations="cholesky"),
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


def warmed_up(case, estimator, random, X, y, weights):
    """The estimator after a fit to something else, to be continued."""
    C = estimator.C
    estimator.set_params(warm_start=True, C=C * float(random.choice([0.01, 0.5, 1.0, 100.0])))
    other = weights if random.random() < 0.7 else None
    return estimator.set_params(C=C) if case.attempt(estimator, X, y, other) else None
