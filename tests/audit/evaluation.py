"""The objectives in long double, each with a bound on its own error.

A problem has `at(...)`, the objective at a model, as a `Value`. The least one seen is kept in `best`: an upper bound on
the optimum. Errors are bounded from the terms: a sum of k terms, computed in any order, is off by at most k units in
the last place of the sum of their sizes.

Examples are shifted by one of their values, and targets too, which changes no score; what the shift is worth in the
intercept is computed in whole numbers, without rounding. Without it large offsets would cost most digits.
"""

import itertools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

LONG = np.longdouble
#: The relative error of one operation.
UNIT = float(np.finfo(LONG).eps) / 2
#: Whether long double has more digits than double, enough for the audit.
IS_WIDE = np.finfo(LONG).nmant >= 63
REGRESSION_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile")
#: Bounds of errors are computed in double precision, and leave out products of errors.
SAFETY = 1.01


class Value(NamedTuple):
    """An objective, and how far off it can be."""

    value: np.longdouble
    error: float

    @property
    def below(self):
        """A number that the objective is not below."""
        return self.value - LONG(self.error)

    @property
    def above(self):
        """A number that the objective is not above."""
        return self.value + LONG(self.error)


class Problem:
    """Something with an optimum, and the least value that is known."""

    best = LONG(np.inf)

    def seen(self, value):
        if np.isfinite(value.value):
            self.best = min(self.best, value.above)
        return value


def total(norm, norm_error, cost, losses, errors):
    """``norm / 2 + sum(cost * losses)``, where `norm` is squared."""
    part = (cost * losses).sum()
    value = norm / 2 + part
    rounded = (len(cost) + 6) * UNIT * float(part) + 2 * UNIT * float(value)
    return Value(value, SAFETY * (norm_error / 2 + float(cost.astype(float) @ errors) + rounded))


def loss_of(loss, z, errors, y, epsilon):
    """Losses at margins or residuals z that are off by `errors`; and how far these are off.

    z is the score times the label y in classification, and the score minus the target in regression. The epsilon of
    the quantile loss is the quantile.
    """
    if loss == "log_loss":
        value = np.log1p(np.exp(-abs(z))) + np.maximum(-z, 0)
        return value, errors + 8 * UNIT * value.astype(float)
    if loss == "quantile":
        value = np.where(z < 0, -LONG(epsilon), 1 - LONG(epsilon)) * z
        return value, errors + 4 * UNIT * value.astype(float)
    if loss == "huber":
        size, bound = abs(z), LONG(epsilon)
        value = np.where(size <= bound, size**2 / 2, bound * (size - bound / 2))
        steepest = np.minimum(size.astype(float) + errors, float(epsilon))
        return value, steepest * errors + 4 * UNIT * value.astype(float)
    beyond = abs(z) - LONG(epsilon) if "epsilon" in loss else 1 - z
    errors = errors + UNIT * abs(beyond).astype(float)
    value = np.maximum(beyond, 0)
    if "squared" not in loss:
        return value, errors
    sizes = value.astype(float)
    return value**2, (2 * sizes + errors) * errors + 2 * UNIT * sizes**2


# Whole numbers, of which sums and products are exact.


def to_integers(values):
    """Whole numbers k and an exponent e with ``values = k * 2**e``."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    mantissas, exponents = np.frexp(flat)
    exponents = exponents - 53
    lowest = int(exponents[flat != 0].min(initial=0)) if flat.any() else 0
    wholes = (mantissas * 2.0**53).astype(np.int64).tolist()
    shifted = [k << (e - lowest) if k else 0 for k, e in zip(wholes, exponents.tolist(), strict=True)]
    out = np.empty(len(flat), dtype=object)
    out[:] = shifted
    return out.reshape(np.shape(values)), lowest


def to_long(whole, exponent):
    """``whole * 2**exponent`` in long double, off by one unit in the last place at most."""
    out = LONG(0)
    while whole:
        down = max(abs(whole).bit_length() - 53, 0)
        top = (abs(whole) >> down) * (1 if whole > 0 else -1)
        out += np.ldexp(LONG(top), exponent + down)
        whole -= top << down
        if down == 0 or abs(whole).bit_length() + 80 < down + 53:
            break
    return out


class Exact:
    """Sums of products of floats, without rounding: an integer and an exponent."""

    def __init__(self, whole=0, exponent=0):
        self.whole, self.exponent = whole, exponent

    def plus(self, whole, exponent):
        lowest = min(exponent, self.exponent) if self.whole else exponent
        own = self.whole << (self.exponent - lowest) if self.whole else 0
        return Exact(own + (whole << (exponent - lowest)), lowest)

    def plus_float(self, value):
        whole, exponent = to_integers([value])
        return self.plus(whole[0], exponent)

    def long(self):
        return to_long(self.whole, self.exponent)


class Rows:
    """Examples as they were given, in long double, without their shift."""

    def __init__(self, X):
        X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        self.X = X
        self.n, self.d = X.shape
        self.shift = np.sort(X, axis=0)[self.n // 2] if self.n else np.zeros(self.d)
        self.moved = X.astype(LONG) - self.shift.astype(LONG)
        self.sizes = abs(self.moved).astype(float)
        self.shift_integers = to_integers(self.shift)

    def take(self, rows):
        return Rows(self.X[rows])

    def shifted_intercept(self, w, b, target=0.0):
        """``<w, shift> + b - target``, in long double."""
        (m, me), (k, ke) = self.shift_integers, to_integers(w)
        return Exact(int(m @ k), me + ke).plus_float(b).plus_float(-target).long()

    def scores(self, w, t):
        """``<w, x - shift> + t``, and how far off they are."""
        z = self.moved @ w + t
        sizes = self.sizes @ abs(w).astype(float) + abs(float(t))
        return z, (self.d + 4) * UNIT * sizes


class LinearProblem(Problem):
    """``reg/2 ||w||^2 + sum_i cost_i loss(...)``; intercept is "penalized", "free" or None."""

    def __init__(self, rows, y, cost, loss, *, epsilon=0.0, intercept="penalized", bias=1.0, scale=None, reg=1):
        self.rows, self.loss, self.epsilon = rows, loss, float(epsilon)
        self.intercept, self.bias, self.reg = intercept, LONG(bias), LONG(reg)
        self.y = np.asarray(y, dtype=np.float64)
        self.cost = np.asarray(cost, dtype=LONG)
        self.scale = np.ones(rows.d, LONG) if scale is None else np.asarray(scale, dtype=LONG)
        self.is_regression = loss in REGRESSION_LOSSES
        self.target = float(np.sort(self.y)[len(self.y) // 2]) if self.is_regression else 0.0
        self.targets = self.y.astype(LONG) - LONG(self.target) if self.is_regression else self.y.astype(LONG)

    def at(self, w, b):
        """The objective at weights and intercept, which are float64."""
        w = np.asarray(w, dtype=np.float64).ravel()
        return self._at(w, self.rows.shifted_intercept(w, float(b), self.target), float(b))

    def at_shifted(self, w, t):
        """The same for a free intercept, given as what the score is at the shift, less the shift of the targets."""
        return self._at(np.asarray(w, dtype=np.float64), LONG(t), 0.0)

    def _at(self, w, t, b):
        w = w.astype(LONG)
        norm = ((w * self.scale) ** 2).sum()
        if self.intercept == "penalized":
            norm = norm + (LONG(b) / self.bias) ** 2
        norm = norm * self.reg
        losses, errors = self._losses(*self.rows.scores(w, t))
        return self.seen(total(norm, (self.rows.d + 8) * UNIT * float(norm), self.cost, losses, errors))

    def _losses(self, z, errors):
        if self.is_regression:
            z = z - self.targets
            errors = errors + UNIT * abs(z).astype(float)
        else:
            z = z * self.targets
        return loss_of(self.loss, z, errors, self.targets, self.epsilon)

    def improve(self, w):
        """Look at these weights with the best intercept, where that is free."""
        if self.intercept == "free":
            w = np.asarray(w, dtype=np.float64).ravel()
            z, _ = self.rows.scores(w.astype(LONG), LONG(0))
            self.at_shifted(w, best_intercept(self.loss, z, self.targets, self.cost, self.epsilon))


def best_intercept(loss, z, y, cost, epsilon):
    """The t with the least ``sum_i cost_i loss(z_i + t, y_i)``."""
    if loss in ("hinge", "epsilon_insensitive", "quantile"):
        # Slopes grow at each kink by its cost: the least value is where they pass zero.
        if loss == "hinge":
            kinks, growth, slope = y - z, cost, -cost[y > 0].sum()
        elif loss == "quantile":
            kinks, growth, slope = y - z, cost, -LONG(epsilon) * cost.sum()
        else:
            kinks = np.concatenate([y - z - LONG(epsilon), y - z + LONG(epsilon)])
            growth, slope = np.concatenate([cost, cost]), -cost.sum()
        order = np.argsort(kinks)
        passed = np.cumsum(growth[order]) + slope >= 0
        return kinks[order[int(passed.argmax()) if passed.any() else -1]]
    # Smooth ones: halve a bracket of the derivative's root.
    weight = cost.astype(float)
    if loss in REGRESSION_LOSSES:
        r = z - y
        low, high = float(-r.max()) - epsilon, float(-r.min()) + epsilon

        def slope_at(t):
            e = (r + t).astype(float)
            if loss == "huber":
                return weight @ np.clip(e, -epsilon, epsilon)
            return weight @ (np.sign(e) * np.maximum(abs(e) - epsilon, 0))
    else:
        m, sign = z.astype(float), y.astype(float)
        reach = float(abs(m).max()) + (1 if loss == "squared_hinge" else 800)
        low, high = -reach, reach

        def slope_at(t):
            e = sign * (m + t)
            q = np.maximum(1 - e, 0) if loss == "squared_hinge" else 1 / (1 + np.exp(np.clip(e, -700, 700)))
            return -(weight * sign) @ q

    for _ in range(80):
        middle = (low + high) / 2
        if slope_at(middle) < 0:
            low = middle
        else:
            high = middle
    return LONG((low + high) / 2)


# Kernels.


class Gram:
    """A kernel matrix in long double, and how far off its values are."""

    def __init__(self, K, errors):
        self.K = K
        self.errors = errors
        self.sizes = abs(K).astype(float)

    def take(self, rows):
        square = np.ix_(rows, rows)
        return Gram(self.K[square], 0.0 if np.isscalar(self.errors) else self.errors[square])


def gram_given(K):
    """Of a matrix that is given."""
    return Gram(np.asarray(K, dtype=LONG), 0.0)


def gram_of_points(X, name, gamma, coef0=0.0, degree=3):
    """Of examples: distances from differences, products from products, all in long double."""
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64).astype(LONG)
    n, d = X.shape
    gamma, coef0 = LONG(gamma), LONG(coef0)
    if name == "rbf":
        exponent = np.zeros((n, n), LONG)
        for x in X.T:
            exponent += (x[:, None] - x[None, :]) ** 2
        exponent *= gamma
        K = np.exp(-exponent)
        return Gram(K, SAFETY * (d + 8) * UNIT * (K * (1 + exponent)).astype(float))
    products = X @ X.T
    sizes = np.asarray(abs(X) @ abs(X).T, dtype=float)
    base = gamma * products + coef0
    error = (d + 3) * UNIT * (abs(float(gamma)) * sizes + abs(float(coef0)))
    if name == "sigmoid":
        return Gram(np.tanh(base), SAFETY * (error + 4 * UNIT))
    K = base**degree
    top = abs(base).astype(float) + error
    return Gram(K, SAFETY * (degree * top ** (degree - 1) * error + 4 * degree * UNIT * top**degree))


class KernelProblem(Problem):
    """``1/2 beta' K beta + sum_i cost_i loss(...)``, with a free intercept or none."""

    def __init__(self, gram, y, cost, loss="hinge", *, epsilon=0.0, has_intercept=True):
        self.gram, self.loss, self.epsilon, self.has_intercept = gram, loss, float(epsilon), has_intercept
        self.y = np.asarray(y, dtype=np.float64).astype(LONG)
        self.cost = np.asarray(cost, dtype=LONG)
        self.is_regression = loss in REGRESSION_LOSSES

    def at(self, beta, b):
        beta = np.asarray(beta, dtype=np.float64)
        return self._at(*self.responses(beta), beta, LONG(b))

    def responses(self, beta):
        """``K beta``, its errors, and the squared norm with its own."""
        size = abs(beta)
        f = self.gram.K @ beta.astype(LONG)
        errors = (len(beta) + 3) * UNIT * (self.gram.sizes @ size)
        if not np.isscalar(self.gram.errors):
            errors = errors + self.gram.errors @ size
        norm = beta.astype(LONG) @ f
        return f, errors, norm, float(size @ errors) + (len(beta) + 3) * UNIT * float(size @ abs(f).astype(float))

    def _at(self, f, errors, norm, norm_error, beta, b):
        if self.is_regression:
            z = f + (b - self.y)
            errors = errors + 2 * UNIT * (abs(f) + abs(b - self.y)).astype(float)
        else:
            z = (f + b) * self.y
            errors = errors + 2 * UNIT * (abs(f) + abs(b)).astype(float)
        losses, errors = loss_of(self.loss, z, errors, self.y, self.epsilon)
        return self.seen(total(norm, norm_error, self.cost, losses, errors))

    def improve(self, beta):
        beta = np.asarray(beta, dtype=np.float64)
        found = self.responses(beta)
        b = best_intercept(self.loss, found[0], self.y, self.cost, self.epsilon) if self.has_intercept else LONG(0)
        self._at(*found, beta, b)


class LinearKernelProblem(LinearProblem):
    """The same for the linear kernel, where a model is a vector of weights; beta makes it without rounding."""

    def __init__(self, rows, y, cost, loss="hinge", *, epsilon=0.0, has_intercept=True):
        kind = "free" if has_intercept else None
        super().__init__(rows, y, cost, loss, epsilon=epsilon, intercept=kind)
        self.has_intercept = has_intercept
        self.integers = to_integers(rows.X)

    def at(self, beta, b):
        return self._exactly(beta, float(b))

    def _exactly(self, beta, b):
        (k, ke), (x, xe), (m, me) = to_integers(beta), self.integers, self.rows.shift_integers
        wholes = k @ x
        w = np.array([to_long(whole, ke + xe) for whole in wholes], dtype=LONG)
        t = Exact(int(wholes @ m), ke + xe + me).plus_float(b).plus_float(-self.target).long()
        return self._weighed(w, t)

    def _weighed(self, w, t):
        norm = (w**2).sum()
        losses, errors = self._losses(*self.rows.scores(w, t))
        return self.seen(total(norm, (self.rows.d + 8) * UNIT * float(norm), self.cost, losses, errors))

    def improve(self, beta):
        (k, ke), (x, xe) = to_integers(beta), self.integers
        w = np.array([to_long(whole, ke + xe) for whole in k @ x], dtype=LONG)
        if self.has_intercept:
            z, _ = self.rows.scores(w, LONG(0))
            self._weighed(w, best_intercept(self.loss, z, self.targets, self.cost, self.epsilon))


def two_sides(problem):
    """Of losses with kinks: epsilon, and what a unit of error costs of targets above and below the score."""
    if problem.loss == "quantile":
        return 0.0, problem.epsilon, 1 - problem.epsilon
    return problem.epsilon, 1.0, 1.0


# Several classes together.


class JointProblem(Problem):
    """``1/2 ||W||^2 + sum_i cost_i max_k (delta[y_i, k] + z_ik - z_iy)``, or the softmax."""

    def __init__(self, rows, labels, n_classes, cost, loss, *, delta=None, has_intercept=True, bias=1.0, scale=None):
        self.rows, self.labels, self.n_classes, self.loss = rows, labels, n_classes, loss
        self.cost = np.asarray(cost, dtype=LONG)
        self.delta = None if delta is None else np.asarray(delta, dtype=LONG)
        self.has_intercept, self.bias = has_intercept, LONG(bias)
        self.scale = np.ones(rows.d, LONG) if scale is None else np.asarray(scale, dtype=LONG)

    def at(self, W, b):
        W, b = np.asarray(W, dtype=np.float64), np.asarray(b, dtype=np.float64)
        shifts = [self.rows.shifted_intercept(own, value) for own, value in zip(W, b, strict=True)]
        scored = [self.rows.scores(w.astype(LONG), t) for w, t in zip(W, shifts, strict=True)]
        z, errors = np.array([s for s, _ in scored]).T, np.array([e for _, e in scored]).T
        norm = ((W.astype(LONG) * self.scale) ** 2).sum()
        if self.has_intercept:
            norm = norm + ((b.astype(LONG) / self.bias) ** 2).sum()
        losses, errors = joint_losses(self.loss, z, errors, self.labels, self.delta)
        return self.seen(total(norm, (W.size + 8) * UNIT * float(norm), self.cost, losses, errors))

    def improve(self, W):
        """The intercept is penalised: there is no better one to be had for nothing."""


def joint_losses(loss, z, errors, labels, delta):
    """Losses from scores of shape (n, classes) that are off by `errors`."""
    places = np.arange(len(labels))
    margins = z - z[places, labels][:, None]
    errors = errors + errors[places, labels][:, None] + UNIT * abs(margins).astype(float)
    if loss == "hinge":
        worth = margins + delta[labels]
        return worth.max(axis=1), (errors + UNIT * abs(worth).astype(float)).max(axis=1)
    # log(sum exp) by its largest term; what is left is at most the number of classes, and log1p keeps it if small.
    top = margins.max(axis=1)
    terms = np.exp(margins - top[:, None])
    terms[places, margins.argmax(axis=1)] = 0
    value = top + np.log1p(terms.sum(axis=1))
    return value, errors.max(axis=1) + (z.shape[1] + 12) * UNIT * (value - top + abs(top)).astype(float)


class VectorProblem(Problem):
    """``1/2 ||w||^2 + sum_i cost_i max_k (delta_ik + <w, psi_ik>)``: psi has an array for each example.

    `sizes` are those of the terms that psi was summed from.
    """

    def __init__(self, psi, sizes, delta, cost):
        self.psi = [np.asarray(own, dtype=LONG) for own in psi]
        self.sizes = [np.asarray(own, dtype=float) for own in sizes]
        self.delta = [np.asarray(own, dtype=LONG) for own in delta]
        self.cost = np.asarray(cost, dtype=LONG)

    def at(self, w):
        w = np.asarray(w, dtype=np.float64).astype(LONG)
        values, errors = np.zeros(len(self.psi), LONG), np.zeros(len(self.psi))
        for i, (psi, sizes, delta) in enumerate(zip(self.psi, self.sizes, self.delta, strict=True)):
            values[i] = (delta + psi @ w).max()
            errors[i] = (len(w) + 20) * UNIT * (abs(delta).astype(float) + sizes @ abs(w).astype(float)).max()
        norm = (w**2).sum()
        return self.seen(total(norm, (len(w) + 4) * UNIT * float(norm), self.cost, values, errors))

    def improve(self, w):
        """There is nothing to be had for nothing."""


def chain_problem(X, starts, labels, n_labels, cost, delta, *, boundaries, has_intercept, forbidden=()):
    """A `VectorProblem` over all labellings of each sequence; its vector is what `chain_vector` makes of a model.

    `forbidden` are pairs of labels that must not follow one another, `n_labels` standing for start and end.
    """
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    psi, sizes, deltas = [], [], []
    for first, end in itertools.pairwise(starts):
        rows, right = X[first:end], labels[first:end]
        own = _chain_features(rows, right, n_labels, boundaries, has_intercept)
        own_sizes = _chain_features(abs(rows), right, n_labels, boundaries, has_intercept)
        vectors, terms, costs = [], [], []
        for other in itertools.product(range(n_labels), repeat=len(right)):
            links = itertools.pairwise([n_labels, *other, n_labels])
            if len(other) and any(link in forbidden for link in links):
                continue
            vectors.append(_chain_features(rows, other, n_labels, boundaries, has_intercept) - own)
            terms.append(_chain_features(abs(rows), other, n_labels, boundaries, has_intercept) + own_sizes)
            costs.append(sum((LONG(delta[j][k]) for j, k in zip(right, other, strict=True)), LONG(0)))
        psi.append(np.array(vectors))
        sizes.append(np.array(terms))
        deltas.append(np.array(costs, dtype=LONG))
    return VectorProblem(psi, sizes, deltas, cost)


def _chain_features(rows, labels, n_labels, boundaries, has_intercept):
    d = rows.shape[1]
    emitted, constant = np.zeros((n_labels, d), LONG), np.zeros(n_labels, LONG)
    links, first, last = np.zeros((n_labels, n_labels), LONG), np.zeros(n_labels, LONG), np.zeros(n_labels, LONG)
    for t, label in enumerate(labels):
        emitted[label] += rows[t].astype(LONG)
        constant[label] += has_intercept
        if t:
            links[labels[t - 1], label] += 1
    if len(labels) and boundaries:
        first[labels[0]] += 1
        last[labels[-1]] += 1
    return np.concatenate([emitted.ravel(), constant, links.ravel(), first, last])


def chain_vector(model):
    """The weights of a chain in one vector; those of forbidden links, minus infinity, are never used."""
    parts = [model.coef_, model.intercept_, model.transitions_, model.start_, model.end_]
    vector = np.concatenate([np.ravel(part) for part in parts])
    return np.where(np.isfinite(vector), vector, 0.0)
