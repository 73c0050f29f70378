"""Points near the optimum, from other solvers. What they are worth is found out by evaluating them: they need no trust.

Problems with kinks are solved by Clarabel, an interior-point method for cones; smooth ones by Newton's method.
"""

import warnings

import numpy as np
import scipy.sparse as sp

from .evaluation import LinearKernelProblem, LinearProblem, two_sides

try:
    import clarabel
except ImportError:  # a package of the dev extra; without it other points are compared with
    clarabel = None

#: Why oracle points are missing, where they are.
MISSING = "clarabel is not installed; install clarabel"


def solve_qp(P, q, A, b, n_equal=0):
    """Minimise ``x'Px/2 + q'x`` with ``A x = b`` in the first rows, ``A x <= b`` in the others: x and multipliers."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    settings.max_iter = 100
    cones = [clarabel.NonnegativeConeT(len(b) - n_equal)]
    if n_equal:
        cones.insert(0, clarabel.ZeroConeT(n_equal))
    P, A = sp.csc_matrix(sp.triu(P)), sp.csc_matrix(A)
    found = clarabel.DefaultSolver(P, np.asarray(q, float), A, np.asarray(b, float), cones, settings).solve()
    x, z = np.array(found.x), np.array(found.z)
    return (x, z) if np.isfinite(x).all() and np.isfinite(z).all() else (None, None)


def improve(problem):
    """Look for a lower value of a `LinearProblem` than is known."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if problem.loss in ("hinge", "epsilon_insensitive", "quantile"):
            if clarabel is not None:
                _improve_by_qp(problem)
        else:
            _improve_by_newton(problem)


def _columns(problem):
    """The examples in double precision, with the penalised intercept as a column; a free one is left to the shift."""
    rows = problem.rows
    if problem.intercept == "penalized":
        return np.column_stack([rows.X, np.full(rows.n, float(problem.bias))]), np.append(
            problem.scale.astype(float), 1
        )
    return (rows.moved.astype(float) if problem.intercept == "free" else rows.X), problem.scale.astype(float)


def _look(problem, v):
    """Evaluate weights of `_columns`."""
    if v is None or not np.isfinite(v).all():
        return
    if problem.intercept == "penalized":
        problem.at(v[:-1], v[-1] * float(problem.bias))
    elif problem.intercept == "free":
        LinearProblem.improve(problem, v)
    else:
        LinearProblem.at(problem, v, 0.0)


def _improve_by_qp(problem):
    X, scale = _columns(problem)
    d = X.shape[1]
    cost = problem.cost.astype(float)
    used = np.flatnonzero(cost > 0)
    X, cost, m = X[used], cost[used], len(used)
    y = problem.targets.astype(float)[used]
    if problem.intercept != "free":
        y = y + problem.target
    reg = float(problem.reg) * scale**2
    # Columns divided by their size, which the norm makes up for.
    size = np.maximum(abs(X).max(axis=0, initial=0), 1e-300)
    X, reg = X / size, reg / size**2
    free = problem.intercept == "free"
    one = np.ones((m, 1)) if free else np.zeros((m, 0))
    width = d + one.shape[1]
    # Bounds on the objective are relative: divide it by what it is at zero.
    unit = max(float(problem.best), 1e-300) if np.isfinite(problem.best) else 1.0
    P = sp.diags(np.concatenate([reg / unit, np.zeros(width - d + m)]))
    q = np.concatenate([np.zeros(width), cost / unit])
    slack = sp.identity(m)
    epsilon, above, below = two_sides(problem)
    if problem.is_regression:
        table = np.column_stack([X, one])
        A = sp.bmat([[below * table, -slack], [-above * table, -slack], [np.zeros((m, width)), -slack]])
        b = np.concatenate([below * (y + epsilon), above * (epsilon - y), np.zeros(m)])
    else:
        table = np.column_stack([X, one]) * y[:, None]
        A = sp.bmat([[-table, -slack], [np.zeros((m, width)), -slack]])
        b = np.concatenate([-np.ones(m), np.zeros(m)])
    x, z = solve_qp(P, q, A, b)
    if x is None:
        return
    _look(problem, x[:d] / size)
    # The weights that its multipliers make are often closer.
    slopes = below * z[:m] - above * z[m : 2 * m] if problem.is_regression else -z[:m] * y
    _look(problem, -(X.T @ slopes) * unit / (reg * size))


def _improve_by_newton(problem):
    X, scale = _columns(problem)
    reg = float(problem.reg) * scale**2
    free = problem.intercept == "free"
    if free:
        X, reg = np.column_stack([X, np.ones(len(X))]), np.append(reg, 0.0)
    size = np.maximum(abs(X).max(axis=0, initial=0), 1e-300)
    X, reg = X / size, reg / size**2
    cost, y = problem.cost.astype(float), problem.targets.astype(float)
    if problem.is_regression and not free:
        y = y + problem.target
    loss, epsilon = problem.loss, problem.epsilon

    def parts(v):
        z = X @ v
        if problem.is_regression:
            r = z - y
            if loss == "huber":
                slopes, inside = np.clip(r, -epsilon, epsilon), abs(r) <= epsilon
                return slopes * (r - slopes / 2), slopes, 1.0 * inside
            over = np.maximum(abs(r) - epsilon, 0)
            return over**2, 2 * np.sign(r) * over, 2.0 * (abs(r) > epsilon)
        m = y * z
        if loss == "squared_hinge":
            over = np.maximum(1 - m, 0)
            return over**2, -2 * y * over, 2.0 * (m < 1)
        p = 1 / (1 + np.exp(np.clip(m, -700, 700)))
        return np.logaddexp(0, -m), -y * p, p * (1 - p)

    v = np.zeros(X.shape[1])
    value = np.inf
    for _ in range(60):
        losses, slopes, curves = parts(v)
        value = reg @ v**2 / 2 + cost @ losses
        gradient = reg * v + X.T @ (cost * slopes)
        H = (X * (cost * curves)[:, None]).T @ X + np.diag(reg)
        if not (np.isfinite(H).all() and np.isfinite(gradient).all()):
            break
        diagonal = np.sqrt(np.maximum(np.diag(H), 1e-300))
        H = H / diagonal[:, None] / diagonal + 1e-15 * np.eye(len(v))
        step = -_solve(H, gradient / diagonal) / diagonal
        t = 1.0
        while t > 1e-12:
            new = reg @ (v + t * step) ** 2 / 2 + cost @ parts(v + t * step)[0]
            if new <= value + 1e-4 * t * (gradient @ step):
                break
            t /= 2
        if t <= 1e-12 or not (np.isfinite(new) and np.isfinite(step).all()):
            break
        v = v + t * step
        if new >= value * (1 - 1e-16):
            break
    found = v / size
    _look(problem, found[:-1] if free else found)


def _solve(H, b):
    try:
        return np.linalg.lstsq(H, b, rcond=None)[0]
    except np.linalg.LinAlgError:
        return np.full(len(b), np.nan)


def improve_kernel(problem):
    """The same for a `KernelProblem`, by its dual, and for one with the linear kernel."""
    if isinstance(problem, LinearKernelProblem):
        improve(problem)
        return
    if clarabel is None:
        return
    K, y, cost = problem.gram.K, problem.y, problem.cost.astype(float)
    used = np.flatnonzero(cost > 0)
    m, cost = len(used), cost[used]
    K, y = K[np.ix_(used, used)], y[used]
    if problem.has_intercept:  # coefficients sum to zero, so that constants in rows and columns change nothing
        mean = K.mean(axis=0)
        K = K - mean[:, None] - mean[None, :] + mean.mean()
        y = y - np.sort(y)[m // 2] if problem.is_regression else y
    K, y = K.astype(float), y.astype(float)
    if problem.is_regression:
        P = np.block([[K, -K], [-K, K]])
        epsilon, above, below = two_sides(problem)
        q = np.concatenate([epsilon - y, epsilon + y])
        low, high, signs = (
            np.zeros(2 * m),
            np.concatenate([above * cost, below * cost]),
            np.concatenate([np.ones(m), -np.ones(m)]),
        )
    else:
        P, q, low, high, signs = K * np.outer(y, y), -np.ones(m), np.zeros(m), cost, y
    size = len(q)
    # Variables are shares of their bounds.
    P, q, signs = P * np.outer(high, high), q * high, signs * high
    unit = max(abs(q).max(), 1e-300)
    A = [sp.identity(size), -sp.identity(size)]
    b = np.concatenate([np.ones(size), low])
    if problem.has_intercept:
        A.insert(0, sp.csr_matrix(signs[None, :] / abs(signs).max()))
        b = np.concatenate([[0.0], b])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        x, _ = solve_qp(P / unit, q / unit, sp.vstack(A), b, int(problem.has_intercept))
        if x is None:
            return
        beta = np.clip(x, 0, 1) * signs
        full = np.zeros(len(problem.y))
        full[used] = beta[:m] + beta[m:] if problem.is_regression else beta
        problem.improve(full)


def improve_joint(problem):
    """The same for a `JointProblem`."""
    rows, labels, K = problem.rows, problem.labels, problem.n_classes
    X, scale = rows.X, problem.scale.astype(float)
    if problem.has_intercept:
        X, scale = np.column_stack([X, np.full(rows.n, float(problem.bias))]), np.append(scale, 1.0)
    size = np.maximum(abs(X).max(axis=0, initial=0), 1e-300)
    X, reg = X / size, (scale / size) ** 2
    cost = problem.cost.astype(float)
    n, d = X.shape
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if problem.loss == "hinge":
            if clarabel is None:
                return
            unit = max(float(problem.best), 1e-300) if np.isfinite(problem.best) else 1.0
            P = sp.diags(np.concatenate([np.tile(reg, K) / unit, np.zeros(n)]))
            q = np.concatenate([np.zeros(K * d), cost / unit])
            blocks, bounds = [], []
            for k in range(K):
                table = np.zeros((n, K, d))
                table[:, k] += X
                table[np.arange(n), labels] -= X
                blocks.append([table.reshape(n, K * d), -sp.identity(n)])
                bounds.append(-problem.delta.astype(float)[labels, k])
            x, _ = solve_qp(P, q, sp.bmat(blocks), np.concatenate(bounds))
            V = None if x is None else x[: K * d].reshape(K, d)
        else:
            V = _softmax(X, labels, K, cost, reg)
    if V is None or not np.isfinite(V).all():
        return
    V = V / size
    if problem.has_intercept:
        problem.at(V[:, :-1], V[:, -1] * float(problem.bias))
    else:
        problem.at(V, np.zeros(K))


def _softmax(X, labels, K, cost, reg):
    n, d = X.shape
    right = np.eye(K)[labels]
    V = np.zeros((K, d))

    def value_of(V):
        Z = X @ V.T
        top = Z.max(axis=1, keepdims=True)
        logs = top[:, 0] + np.log(np.exp(Z - top).sum(axis=1))
        return (reg * V**2).sum() / 2 + cost @ (logs - Z[np.arange(n), labels]), np.exp(Z - logs[:, None])

    for _ in range(60):
        value, p = value_of(V)
        gradient = (reg * V + ((p - right) * cost[:, None]).T @ X).ravel()
        H = np.zeros((K, d, K, d))
        for j in range(K):
            for k in range(K):
                weight = cost * (p[:, j] * ((j == k) - p[:, k]))
                H[j, :, k, :] = (X * weight[:, None]).T @ X
        H = H.reshape(K * d, K * d) + np.diag(np.tile(reg, K))
        if not (np.isfinite(H).all() and np.isfinite(gradient).all()):
            break
        diagonal = np.sqrt(np.maximum(np.diag(H), 1e-300))
        H = H / diagonal[:, None] / diagonal + 1e-15 * np.eye(K * d)
        step = -_solve(H, gradient / diagonal) / diagonal
        t = 1.0
        while t > 1e-12 and not value_of(V + t * step.reshape(K, d))[0] <= value + 1e-4 * t * (gradient @ step):
            t /= 2
        if t <= 1e-12:
            break
        V = V + t * step.reshape(K, d)
        if abs(gradient @ step) <= 1e-16 * value:
            break
    return V


def improve_vector(problem):
    """The same for a `VectorProblem`."""
    if clarabel is None:
        return
    D, n = problem.psi[0].shape[1], len(problem.psi)
    psi = np.concatenate(problem.psi).astype(float)
    owners = np.repeat(np.arange(n), [len(own) for own in problem.psi])
    slack = sp.csr_matrix((np.ones(len(owners)), (np.arange(len(owners)), owners)), shape=(len(owners), n))
    unit = max(float(problem.best), 1e-300) if np.isfinite(problem.best) else 1.0
    P = sp.diags(np.concatenate([np.ones(D) / unit, np.zeros(n)]))
    q = np.concatenate([np.zeros(D), problem.cost.astype(float) / unit])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        x, _ = solve_qp(P, q, sp.hstack([psi, -slack]), -np.concatenate(problem.delta).astype(float))
    if x is not None:
        problem.at(x[:D])
