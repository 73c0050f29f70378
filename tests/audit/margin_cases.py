"""Random cases of `SBP(nu=...)` and `SIMBA(nu=...)`, whose certificates are of the margin, not of an objective.

The margin of weights w is the largest gamma that slack nu allows, ``sum_i s_i max(0, gamma - y_i (<w, phi_i> + b)) <=
nu sum(s)``. The problem is to find the w, b of the largest margin with ``||w|| <= 1``. Of the machine that is returned,
the multiple by gamma has the margin gamma if ``gamma * mean loss <= nu`` and ``gamma ||w|| <= 1``.
"""

import warnings

import numpy as np
import scipy.sparse as sp

import pegasos
from pegasos import solvers

from . import oracle
from .case import describe
from .checks import Margin
from .data import draw_data, draw_labels, pick
from .evaluation import LONG, UNIT, KernelProblem, best_intercept, gram_given, gram_of_points
from .kernel_cases import coefficients, draw_kernel, kernel_parts


class MarginProblem(KernelProblem):
    """``max gamma`` as above; `best` is the largest margin known, and no upper bound as of other problems."""

    def __init__(self, gram, y, s, nu, *, has_intercept=True):
        super().__init__(gram, y, s, has_intercept=has_intercept)
        self.volume = LONG(nu) * self.cost.sum()
        self.best = self.volume / self._most_weight()  # of w = 0

    def _most_weight(self):
        """The weight under a level that is above all: of two levels, which rise together, twice that of a class."""
        classes = [self.cost[self.y * sign > 0].sum() for sign in (1, -1)]
        return 2 * min(classes) if self.has_intercept else sum(classes)

    def at(self, beta, b, rounding=0.0):
        """Bounds on the margin of a machine; the lower one with losses from so much above the level on."""
        beta = np.asarray(beta, dtype=np.float64)
        f, errors, norm, norm_error = self.responses(beta)
        loss = 1 - self.y * (f + LONG(b))
        errors = errors + 4 * UNIT * (1 + abs(f) + abs(LONG(b)))

        def bound(sign, more=0.0):
            if not beta.any():
                return LONG(0)
            losses = self.cost @ np.maximum(loss + sign * errors + LONG(more), 0)
            square = norm + sign * norm_error
            inside = 1 / np.sqrt(square) if square > 0 else LONG(np.inf)
            allowed = self.volume / losses if losses > 0 else LONG(np.inf)
            return min(inside, allowed) * (1 - sign * (len(beta) + 8) * UNIT)

        self.best = max(self.best, bound(1))
        # Rounding is taken off the level, by more than off a margin that losses near the level hardly change.
        return bound(1, 4 * rounding + 1e-9 if self.volume > 0 else 0.0), bound(-1)

    def improve(self, beta):
        """Look at these weights, of norm 1, with the best intercept."""
        beta = np.asarray(beta, dtype=np.float64)
        f, errors, norm, norm_error = self.responses(beta)
        if not norm > 0:
            return
        scale = 1 / np.sqrt(norm + norm_error)
        c, errors = f * scale, errors * scale + 4 * UNIT * abs(f * scale)

        def slack(gamma):
            b = best_intercept("hinge", c, self.y * gamma, self.cost, 0.0) if self.has_intercept else LONG(0)
            return self.cost @ np.maximum(gamma + errors - self.y * (c + b), 0)

        low, high = LONG(0), self.volume / self._most_weight() + 2 * abs(c).max() + 1
        if slack(low) > self.volume:
            return
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if slack(middle) <= self.volume else (low, middle)
        self.best = max(self.best, low - (len(c) + 64) * UNIT * (low + 2 * abs(c).max()))

    def ask(self):
        """The machine of another solver, from the dual: ``min ||sum_i p_i y_i phi_i|| + nu sum(s) max_i p_i / s_i``."""
        clarabel = oracle.clarabel
        used = np.flatnonzero(self.cost > 0)
        K, y, s = self.gram.K[np.ix_(used, used)], self.y[used].astype(float), self.cost[used].astype(float)
        if self.has_intercept:
            mean = K.mean(axis=0)
            K = K - mean[:, None] - mean[None, :] + mean.mean()
        values, vectors = np.linalg.eigh(K.astype(float))
        root = vectors * np.sqrt(np.maximum(values, 0))
        size = max(float(abs(root).max()), 1e-300)
        m = len(used)
        # p, then the largest p_i / s_i times the mean weight, then the norm, as a multiple of `size`.
        q = np.concatenate([np.zeros(m), [float(self.volume) / s.mean() / size], [1.0]])
        zero, one = np.zeros((m, 1)), np.ones((m, 1))
        equal = [np.r_[np.ones(m), 0, 0]] + [np.r_[y, 0, 0]] * self.has_intercept
        A = np.vstack(
            [
                *equal,
                np.hstack([-np.eye(m), zero, zero]),
                np.hstack([np.eye(m), -(s / s.mean())[:, None] * one, zero]),
                np.r_[np.zeros(m + 1), -1][None, :],
                np.hstack([-(root * y[:, None]).T / size, zero, zero]),
            ]
        )
        b = np.zeros(len(A))
        b[0] = 1
        cones = [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(2 * m), clarabel.SecondOrderConeT(m + 1)]
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            empty = sp.csc_matrix((len(q), len(q)))
            found = clarabel.DefaultSolver(empty, q, sp.csc_matrix(A), b, cones, settings).solve()
        p = np.array(found.x)[:m]
        if np.isfinite(p).all():
            beta = np.zeros(len(self.y))
            beta[used] = np.maximum(p, 0) * y
            self.improve(beta)


def draw_margin_weights(random, y):
    """Weights from 1e-3 to 1e3, also by class: the draws are then of one class at first; all the same for half."""
    kind = pick(random, ("same", "each", "class", "zeros"), (5, 3, 3, 1))
    if kind == "same":
        return None
    if kind == "class":
        return (10.0 ** random.uniform(-3, 3, size=y.max() + 1))[y]
    s = 10.0 ** random.uniform(-3, 3, size=len(y))
    if kind == "zeros":
        s[random.random(len(y)) < 0.3] = 0.0
        s[np.unique(y, return_index=True)[1]] = 1.0
    return s


def margin_case(case, random):
    classes = int(pick(random, (2, 3), (6, 1)))
    case.data = data = draw_data(random, largest=60)
    if data.n < classes + 1 and classes > 2:
        case.data = data = draw_data(random, n=classes + 4)
    parameters, X, is_bounded = draw_kernel(random, data)
    if not is_bounded:  # the sigmoid kernel
        parameters = {"kernel": "rbf", "gamma": "scale"}
    y = draw_labels(random, data.Z, classes)
    weights = draw_margin_weights(random, y)
    s = np.ones(data.n) if weights is None else weights
    has_intercept, parts = bool(random.random() < 0.7), kernel_parts(y, classes, "pairs")
    nus = pick(random, ((0.1,), (0.0,), (float(10 ** random.uniform(-9, 2)),), (1e-3, 1.0)), (3, 1, 4, 1))
    known = {}
    for nu in nus:
        for _ in range(4):
            solver = pick(random, (solvers.SBP, solvers.SIMBA))
            budget = {"max_iter": int(pick(random, (1, 2, 5, 30, 200)))}
            few = {"max_steps": int(pick(random, (1, 2, 3, 5, 10)))} if random.random() < 0.2 else {}
            more = {"tol": pick(random, (0.0, 1e-1, 3e-2, 1e-2, 1e-3)), "random_state": int(random.integers(1000))}
            estimator = pegasos.SVC(
                solver=solver(nu=nu, **few), fit_intercept=has_intercept, **parameters, **budget, **more
            )
            if case.attempt(estimator, X, y, weights) is None:
                continue
            if nu not in known:
                gram = gram_of(estimator, X)
                known[nu] = [
                    MarginProblem(
                        gram if rows is None else gram.take(rows),
                        labels,
                        s if rows is None else s[rows],
                        nu,
                        has_intercept=has_intercept,
                    )
                    for rows, labels in parts
                ]
            claim_margins(case, estimator, known[nu], parts, nu, data.n)
    if oracle.clarabel is not None:
        for problem in (problem for problems in known.values() for problem in problems):
            problem.ask()


def gram_of(estimator, X):
    if estimator.kernel == "precomputed":
        return gram_given(X)
    if callable(estimator.kernel):
        return gram_given(estimator.kernel(X, X))
    if estimator.kernel == "linear":
        return gram_of_points(X, "poly", 1.0, 0.0, 1)
    return gram_of_points(X, estimator.kernel, estimator._fitted_kernel.gamma, estimator.coef0, estimator.degree)


def claim_margins(case, estimator, problems, parts, nu, n):
    """What a certificate says of the margin of each of its problems."""
    found, what = estimator.certificate_, describe(estimator)
    certificates = found.parts or (found,)
    histories = estimator.history_ if found.parts else [estimator.history_]
    machines = zip(coefficients(estimator, n), estimator.intercept_, strict=True)
    for k, (certificate, problem, (rows, _), history, (beta, b)) in enumerate(
        zip(certificates, problems, parts, histories, machines, strict=True)
    ):
        own = beta if rows is None else beta[rows]
        margins = problem.at(own, b, certificate.rounding if certificate.dual > 0 else 0.0)
        problem.improve(own)
        text = f"{what}, part {k}" if found.parts else what
        case.claims.append(Margin(text, certificate, problem, margins, estimator.tol, history))
