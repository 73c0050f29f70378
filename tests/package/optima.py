"""Small problems on data that scikit-learn ships, and their optima by solvers that are not ours.

``python -m tests.package.optima > tests/package/optima.json`` computes the table: quadratic programs by Clarabel,
smooth problems by Newton's method. An optimum is stored only where a lower bound is within 1e-9 of it, relatively.
Beside it stands the objective that LIBLINEAR or LIBSVM reaches.
"""

import json
import sys
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logsumexp, softmax
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

__all__ = ["PROBLEMS", "OptimumProblem"]

CLOSE = 1e-9


@cache
def load(name):
    """Examples and labels or targets; of digits the first 300."""
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X), y
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return scale(X), y
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return scale(X), y / 100
    X, y = load_digits(return_X_y=True)
    return X[:300] / 16, y[:300]


@dataclass(frozen=True)
class OptimumProblem:
    """An estimator of ours with its parameters, and the data."""

    estimator: str
    data: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def X(self):
        return load(self.data)[0]

    @property
    def y(self):
        return load(self.data)[1]


def linear(data, **parameters):
    return OptimumProblem("LinearSVR" if data == "diabetes" else "LinearSVC", data, parameters)


PROBLEMS = {
    "hinge": linear("cancer", C=0.1),
    "hinge, large C": linear("cancer", C=10.0),
    "hinge, no intercept": linear("cancer", C=0.1, fit_intercept=False),
    "hinge, free intercept": linear("cancer", C=0.1, intercept="free"),
    "squared hinge": linear("cancer", C=0.1, loss="squared_hinge"),
    "squared hinge, free intercept": linear("cancer", C=0.1, loss="squared_hinge", intercept="free"),
    "log loss": linear("cancer", C=1.0, loss="log_loss"),
    "one against the rest": linear("digits", C=0.1),
    "all classes, hinge": linear("digits", C=0.1, multi_class="joint"),
    "all classes of wine, hinge": linear("wine", C=1.0, multi_class="joint"),
    "all classes, log loss": linear("digits", C=0.1, multi_class="joint", loss="log_loss"),
    "epsilon insensitive": linear("diabetes", C=1.0, epsilon=0.2),
    "epsilon insensitive, free intercept": linear("diabetes", C=1.0, epsilon=0.2, intercept="free"),
    "squared epsilon insensitive": linear("diabetes", C=1.0, epsilon=0.2, loss="squared_epsilon_insensitive"),
    "kernel": OptimumProblem("SVC", "cancer", {"C": 1.0, "gamma": 0.03}),
    "kernel, no intercept": OptimumProblem("SVC", "cancer", {"C": 10.0, "gamma": 0.03, "fit_intercept": False}),
    "kernel, pairs of classes": OptimumProblem("SVC", "wine", {"C": 1.0, "gamma": 0.1}),
    "kernel, regression": OptimumProblem("SVR", "diabetes", {"C": 1.0, "gamma": 0.1, "epsilon": 0.2}),
}


def solve_program(P, q, A, b):
    """The least ``1/2 x'Px + q'x`` with ``Ax <= b``, some rows of A being equations, and its lower bound."""
    import clarabel

    (A, equations), settings = A, clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.max_iter = 200
    cones = [clarabel.ZeroConeT(equations), clarabel.NonnegativeConeT(A.shape[0] - equations)]
    P, A = sp.triu(sp.csc_matrix(P), format="csc"), sp.csc_matrix(A)
    found = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    return np.array(found.x), found.obj_val_dual


def columns(X, parameters):
    """X with the constant feature of the intercept, and which weights are in the norm."""
    if not parameters.get("fit_intercept", True):
        return X, np.ones(X.shape[1])
    penalty = np.ones(X.shape[1] + 1)
    penalty[-1] = parameters.get("intercept", "penalized") == "penalized"
    return np.column_stack([X, np.ones(len(X))]), penalty


def losses_of(loss, scores, y, epsilon):
    """Of all examples; y is -1 or 1, or a target."""
    excess = np.abs(scores - y) - epsilon if "epsilon" in loss else 1 - y * scores
    if loss == "log_loss":
        return np.logaddexp(0, -y * scores)
    return np.maximum(excess, 0) ** (2 if "squared" in loss else 1)


def objective(X, y, w, parameters):
    """Of weights with the intercept, by its definition."""
    rows, penalty = columns(X, parameters)
    loss = parameters.get("loss", "epsilon_insensitive" if "epsilon" in parameters else "hinge")
    sizes = losses_of(loss, rows @ w, y, parameters.get("epsilon", 0.0))
    return penalty @ w**2 / 2 + parameters["C"] * sizes.sum()


def optimum_of_two(X, y, parameters):
    """Optimum and lower bound of a linear problem whose y is -1 or 1, or a target."""
    rows, penalty = columns(X, parameters)
    (n, d), C = rows.shape, parameters["C"]
    loss = parameters.get("loss", "epsilon_insensitive" if "epsilon" in parameters else "hinge")
    if loss == "log_loss":
        return newton(rows, y, C)
    if "epsilon" in loss:
        upper = [y + parameters["epsilon"], parameters["epsilon"] - y]
        A = [[sp.csc_matrix(rows), -sp.eye(n)], [sp.csc_matrix(-rows), -sp.eye(n)]]
    else:
        upper = [-np.ones(n)]
        A = [[sp.csc_matrix(-y[:, None] * rows), -sp.eye(n)]]
    A = sp.bmat([*A, [sp.csc_matrix((n, d)), -sp.eye(n)]])
    square = "squared" in loss
    P = sp.diags(np.concatenate([penalty, np.full(n, 2 * C if square else 0.0)]))
    q = np.concatenate([np.zeros(d), np.full(n, 0.0 if square else C)])
    found, bound = solve_program(P, q, (A, 0), np.concatenate([*upper, np.zeros(n)]))
    return objective(X, y, found[:d], parameters), bound


def newton(rows, y, C):
    """The same of the log loss: the objective less half the squared gradient is a lower bound, as it is 1-convex."""
    w = np.zeros(rows.shape[1])
    for _ in range(50):
        share = expit(-y * (rows @ w))
        gradient = w - C * rows.T @ (y * share)
        w = w - np.linalg.solve(np.eye(len(w)) + C * rows.T @ ((share * (1 - share))[:, None] * rows), gradient)
    gradient = w - C * rows.T @ (y * expit(-y * (rows @ w)))
    value = w @ w / 2 + C * np.logaddexp(0, -y * (rows @ w)).sum()
    return value, value - gradient @ gradient / 2


def joint_objective(rows, y, W, parameters):
    """Of all classes together, by its definition."""
    scores, own = rows @ W.T, np.arange(len(y))
    if parameters.get("loss") == "log_loss":
        sizes = logsumexp(scores, axis=1) - scores[own, y]
    else:
        sizes = (scores + 1 - np.eye(len(W))[y]).max(axis=1) - scores[own, y]
    return (W**2).sum() / 2 + parameters["C"] * sizes.sum()


def optimum_of_joint(X, y, parameters):
    """Optimum and lower bound for all classes together."""
    rows, _ = columns(X, parameters)
    (n, d), C, k = rows.shape, parameters["C"], y.max() + 1
    if parameters.get("loss") == "log_loss":
        return joint_newton(rows, y, C, k)
    A = []
    for other in range(k):
        wrong = y != other
        pick = sp.csr_matrix((np.ones(n), (np.arange(n), y)), shape=(n, k))
        differ = sp.csr_matrix(np.eye(k)[[other] * n]) - pick
        block = sp.hstack([sp.diags(differ[:, [c]].toarray().ravel()) @ sp.csr_matrix(rows) for c in range(k)])
        A.append(sp.hstack([block, -sp.eye(n)]).tocsr()[wrong])
    A = sp.vstack([*A, sp.hstack([sp.csr_matrix((n, k * d)), -sp.eye(n)])])
    b = np.concatenate([-np.ones(A.shape[0] - n), np.zeros(n)])
    P, q = sp.diags(np.repeat([1.0, 0.0], [k * d, n])), np.repeat([0.0, C], [k * d, n])
    found, bound = solve_program(P, q, (A, 0), b)
    return joint_objective(rows, y, found[: k * d].reshape(k, d), parameters), bound


def joint_newton(rows, y, C, k):
    """As `newton`."""
    d = rows.shape[1]
    W, parameters = np.zeros((k, d)), {"C": C, "loss": "log_loss"}

    def gradient(W):
        return W - C * (np.eye(k)[y] - softmax(rows @ W.T, axis=1)).T @ rows

    for _ in range(30):
        p = softmax(rows @ W.T, axis=1)
        H = np.eye(k * d)
        for a in range(k):
            for b in range(k):
                factor = p[:, a] * ((a == b) - p[:, b])
                H[a * d : (a + 1) * d, b * d : (b + 1) * d] += C * rows.T @ (factor[:, None] * rows)
        W = W - np.linalg.solve(H, gradient(W).ravel()).reshape(k, d)
    value = joint_objective(rows, y, W, parameters)
    return value, value - (gradient(W) ** 2).sum() / 2


def optimum_of_kernel(X, y, parameters, epsilon=None):
    """Optimum and lower bound with a kernel: of the dual problem, whose multiplier is the intercept."""
    K, n, C = rbf_kernel(X, gamma=parameters["gamma"]), len(y), parameters["C"]
    equations = int(parameters.get("fit_intercept", True))
    if epsilon is None:
        P, q, signs = y[:, None] * K * y, -np.ones(n), y
    else:
        P = np.block([[K, -K], [-K, K]])
        q, signs = np.concatenate([epsilon - y, epsilon + y]), np.repeat([1.0, -1.0], n)
    size = len(q)
    box = [sp.eye(size), -sp.eye(size)]
    A = sp.vstack([sp.csr_matrix(signs[None, :]), *box] if equations else box)
    b = np.concatenate([np.zeros(equations), np.full(size, C), np.zeros(size)])
    found, bound = solve_program(P + 1e-15 * np.eye(size), q, (A, equations), b)
    found = np.clip(found, 0, C)
    return -bound, -(found @ P @ found / 2 + q @ found)


def solve(problem):
    """Optimum and lower bound of one of the problems."""
    X, y, parameters = problem.X, problem.y, problem.parameters
    if problem.estimator in ("LinearSVR", "SVR"):
        if problem.estimator == "SVR":
            return optimum_of_kernel(X, y, parameters, parameters["epsilon"])
        return optimum_of_two(X, y, parameters)
    if parameters.get("multi_class") == "joint":
        return optimum_of_joint(X, y, parameters)
    one = optimum_of_kernel if problem.estimator == "SVC" else optimum_of_two
    k = y.max() + 1
    if k == 2:
        return one(X, 2.0 * y - 1, parameters)
    if problem.estimator == "SVC":
        pairs = [(np.isin(y, (a, b)), a) for a in range(k) for b in range(a + 1, k)]
        parts = [one(X[rows], np.where(y[rows] == a, 1.0, -1.0), parameters) for rows, a in pairs]
    else:
        parts = [one(X, np.where(y == label, 1.0, -1.0), parameters) for label in range(k)]
    return tuple(np.sum(parts, axis=0))


def solve_by_peer(problem):
    """The objective that LIBLINEAR or LIBSVM reaches, where it has the problem."""
    X, y, parameters = problem.X, problem.y, dict(problem.parameters)
    if problem.estimator in ("SVC", "SVR"):
        if not parameters.pop("fit_intercept", True):
            return None
        model = getattr(svm, problem.estimator)(tol=1e-8, **parameters).fit(X, y)
        if problem.data == "wine":
            return None
        K = rbf_kernel(X, X[model.support_], gamma=parameters["gamma"])
        beta, scores = model.dual_coef_[0], K @ model.dual_coef_[0] + model.intercept_[0]
        signs = y if problem.estimator == "SVR" else 2.0 * y - 1
        loss = "epsilon_insensitive" if problem.estimator == "SVR" else "hinge"
        sizes = losses_of(loss, scores, signs, parameters.get("epsilon", 0.0))
        return beta @ K[model.support_] @ beta / 2 + parameters["C"] * sizes.sum()
    if parameters.get("intercept") == "free" or (parameters.get("multi_class"), parameters.get("loss")) == (
        "joint",
        "log_loss",
    ):
        return None
    common = {"C": parameters["C"], "tol": 1e-9, "max_iter": 10**7, "random_state": 0}
    common["fit_intercept"] = parameters.get("fit_intercept", True)
    if problem.estimator == "LinearSVR":
        loss = parameters.get("loss", "epsilon_insensitive")
        model = svm.LinearSVR(loss=loss, epsilon=parameters["epsilon"], dual=True, **common).fit(X, y)
    elif parameters.get("loss") == "log_loss":
        model = LogisticRegression(solver="liblinear", **common).fit(X, y)
    elif parameters.get("multi_class") == "joint":
        model = svm.LinearSVC(multi_class="crammer_singer", **common).fit(X, y)
    else:
        model = svm.LinearSVC(loss=parameters.get("loss", "hinge"), dual=True, **common).fit(X, y)
    W = np.atleast_2d(model.coef_)
    if common["fit_intercept"]:
        W = np.column_stack([W, np.atleast_1d(model.intercept_)])
    if parameters.get("multi_class") == "joint":
        return joint_objective(columns(X, parameters)[0], y, W, parameters)
    if problem.estimator == "LinearSVR":
        return objective(X, y, W[0], parameters)
    if len(W) == 1:
        return objective(X, 2.0 * y - 1, W[0], parameters)
    return sum(objective(X, np.where(y == label, 1.0, -1.0), w, parameters) for label, w in enumerate(W))


def main():
    table = {}
    for name, problem in PROBLEMS.items():
        optimum, bound = solve(problem)
        peer = solve_by_peer(problem)
        told = "" if peer is None else f", peer {peer / optimum - 1:+.1e}"
        print(f"{name}: {optimum:.12g}, gap {1 - bound / optimum:.1e}{told}", file=sys.stderr)
        assert abs(optimum - bound) <= CLOSE * optimum, name
        assert peer is None or -CLOSE <= peer / optimum - 1 <= 1e-4, name
        table[name] = {"optimum": float(f"{optimum:.13g}"), "peer": None if peer is None else float(f"{peer:.13g}")}
    print(json.dumps(table, indent=2))


if __name__ == "__main__":
    main()
