"""Data on which certificates were once false: each is honest now, by an evaluation in long double."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from audit import evaluation
from audit.checks import Claim, check
from audit.data import dense, linear_targets, normal_classes
from audit.evaluation import (
    LONG,
    JointProblem,
    Rows,
)
from audit.kernel_cases import KernelProblems, coefficients
from audit.linear_cases import LinearProblems

from pegasos import SVC, SVR, LinearSVC, LinearSVR
from pegasos.solvers import Pegasos

pytestmark = [
    pytest.mark.skipif(not evaluation.IS_WIDE, reason="long double is no wider than double on this machine"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def findings_of(problems, estimator, is_bounded=True):
    """What is wrong with the certificates of a fit, which must be honest about the data as it is stored."""
    claims = []
    case = SimpleNamespace(claim=lambda *found, **more: claims.append((found, more)), findings=[])
    problems.claim(case, estimator)
    ((_, own, values), _) = claims[0]
    found = estimator.certificate_
    parts = found.parts or (found,)
    out = list(case.findings)
    for part, problem, value in zip(parts, own, values, strict=True):
        out += check(Claim(type(estimator).__name__, part, problem, value, estimator.tol, is_bounded=is_bounded))
    return out


def kernel_problems(X, y, estimator, loss="hinge", epsilon=0.0):
    targets = np.where(y == 1, 1.0, -1.0) if loss == "hinge" else y
    return KernelProblems(X, [(None, targets)], estimator.C, np.ones(len(y)), loss, True, epsilon)


def look_at(problems, estimator, other):
    """Take the model of another fit, to nearly the same data, as a point of the problem of this one."""
    (problem,) = problems.of(estimator)
    problem.improve(coefficients(other, len(problem.y))[0])


def test_offset_columns_single_precision():
    Z, y = normal_classes(2100, 6, noise=1.0)
    X = sp.csr_matrix(Z + 23)
    clf = SVC(C=200, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, clf)
    look_at(problems, clf, SVC(C=200, gamma=clf._fitted_kernel.gamma, random_state=0).fit(dense(X) - 23, y))
    assert not findings_of(problems, clf)
    assert clf.certificate_.converged


def test_far_groups_single_precision():
    Z, y = normal_classes(2100, 6, noise=1.0)
    X = Z + np.where(np.arange(2100) % 2 == 0, 20.0, -20.0)[:, None]
    clf = SVC(C=200, gamma=0.3, random_state=0).fit(X, y)
    assert not findings_of(kernel_problems(X, y, clf), clf)
    assert clf.certificate_.converged


@pytest.mark.parametrize("offset", [1e6, 1e7, 1e8])
def test_offset_columns_gaussian_kernel(offset):
    Z, y = normal_classes(60, 3)
    X = sp.csr_matrix(Z + offset)
    clf = SVC(gamma=1.0, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, clf)
    look_at(problems, clf, SVC(gamma=1.0, random_state=0).fit(dense(X) - offset, y))
    assert not findings_of(problems, clf)
    assert clf.certificate_.converged


def test_far_groups_gaussian_kernel():
    Z, y = normal_classes(60, 3)
    side = np.where(np.arange(60) % 2 == 0, 1e8, -1e8)[:, None]
    X = Z + side
    clf = SVC(gamma=1.0, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, clf)
    # Other groups are so far away that their kernel is zero: 100 is as far as 1e8.
    look_at(problems, clf, SVC(gamma=1.0, random_state=0).fit(X - side + np.sign(side) * 100, y))
    assert not findings_of(problems, clf)
    assert clf.certificate_.converged


@pytest.mark.parametrize(("shift", "C"), [(1.6e12, 1.0), (1.6e12, 1e4), (1e6, 1e4)])
def test_large_targets_free_intercept(shift, C):
    for seed in range(3):
        X, y = linear_targets(shift, seed)
        reg = LinearSVR(C=C, intercept="free", tol=1e-6, random_state=0).fit(X, y)
        problems = LinearProblems(
            Rows(X), [y], C, np.ones(len(y)), "epsilon_insensitive", epsilon=0.0, intercept="free"
        )
        other = LinearSVR(C=C, intercept="free", tol=1e-8, random_state=0).fit(X, y - shift)  # which is exact
        problems.of(reg)[0].improve(other.coef_)
        assert not findings_of(problems, reg)


@pytest.mark.parametrize("C", [100.0, 1e4])
def test_offset_columns_linear_kernel(C):
    Z, y = normal_classes(60, 3)
    X = Z + 1e5
    clf = SVC(kernel="linear", C=C, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, clf)
    look_at(problems, clf, SVC(kernel="linear", C=C, random_state=0).fit(X - 1e5, y))
    assert not findings_of(problems, clf)
    assert clf.certificate_.converged


@pytest.mark.parametrize(
    ("dtype", "offset"), [(np.float32, 1e3), (np.float32, 1e4), (np.float32, 1e6), (np.float64, 1e8)]
)
def test_gamma_by_scale_of_sparse_data_with_an_offset(dtype, offset):
    Z, y = normal_classes(60, 3)
    X = sp.csr_matrix((Z + offset).astype(dtype))
    gamma = SVC(random_state=0).fit(X, y)._fitted_kernel.gamma
    values = dense(X).astype(LONG)
    assert gamma == pytest.approx(float(1 / (3 * values.var())), rel=1e-8)


@pytest.mark.parametrize("C", [100.0, 1e3, 1e4])
def test_projection_with_a_kernel(C):
    Z, y = normal_classes(30, 3)
    solver = Pegasos(project=True)
    clf = SVC(C=C, gamma=0.5, fit_intercept=False, solver=solver, tol=0.01, max_iter=10, random_state=0).fit(Z, y)
    problems = KernelProblems(Z, [(None, np.where(y == 1, 1.0, -1.0))], C, np.ones(30), "hinge", False)
    look_at(problems, clf, SVC(C=C, gamma=0.5, fit_intercept=False, random_state=0).fit(Z, y))
    assert not findings_of(problems, clf)


def lower_point(problem, beta, reach):
    """Look at coefficients up to `reach` that change no loss, along which the norm falls below zero."""
    responses = problem.responses(beta)[0]
    b = evaluation.best_intercept("hinge", responses, problem.y, problem.cost, 0.0)
    margins = ((responses + b) * problem.y).astype(float)
    K = problem.gram.K.astype(float)
    easy, others = np.flatnonzero(margins > 1 + 1e-3), np.flatnonzero(margins <= 1 + 1e-3)
    _, sizes, rows = np.linalg.svd(np.vstack([K[np.ix_(others, easy)], np.ones(len(easy))]))
    free = rows[int((sizes > 1e-13 * sizes[0]).sum()) :].T
    values, vectors = np.linalg.eigh(free.T @ K[np.ix_(easy, easy)] @ free)
    assert values[0] < 0
    step = np.zeros(len(beta))
    step[easy] = free @ vectors[:, 0]
    for t in reach / abs(step).max() * np.array([1, 0.5, -0.5, -1]):
        problem.improve(beta + t * step)


@pytest.mark.parametrize("kernel", ["precomputed", "sigmoid"])
def test_nearly_definite_kernel(kernel):
    random = np.random.default_rng(0)
    n = 60
    if kernel == "precomputed":
        C, y = 100.0, np.arange(n) % 2
        points = 3 * random.normal(size=(n, 2))
        points[:, 0] += np.where(y, 18, -18) * (1 + 0.2 * random.random(n))
        K = points @ points.T
        easy = np.flatnonzero(abs(points[:, 0]) > 18)
        v = np.zeros(n)
        v[easy] = np.linalg.svd(np.column_stack([points, np.ones(n)])[easy].T)[2][-1]
        K = K - 5e-7 * np.linalg.eigvalsh(K)[-1] * np.outer(v, v)
        X = (K + K.T) / 2
    else:
        X = random.normal(size=(n, 4))
        C, y = 1e4, (X[:, 0] + 0.1 * random.normal(size=n) > 0).astype(int)
    clf = SVC(C=C, kernel=kernel, gamma=2e-4, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, clf)
    lower_point(problems.of(clf)[0], coefficients(clf, n)[0], C)
    assert not findings_of(problems, clf, is_bounded=False)


def test_softmax_of_tiny_losses():
    random = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = 1e4 * (random.normal(size=(45, 4)) + 8 * np.eye(3, 4)[y])
    clf = LinearSVC(loss="log_loss", multi_class="joint", C=1.2e4, tol=1e-6, max_iter=200, random_state=0).fit(X, y)
    problem = JointProblem(Rows(X), y, 3, np.full(45, LONG(1.2e4)), "log_loss")
    value = problem.at(clf.coef_, clf.intercept_)
    assert not check(Claim("softmax", clf.certificate_, problem, value, clf.tol))


@pytest.mark.parametrize(("shift", "seed"), [(1e6, 0), (-1e6, 0)])
def test_large_targets_single_precision(shift, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(2100, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * random.normal(size=2100) + shift
    reg = SVR(C=1, gamma=0.5, epsilon=0.01, random_state=0).fit(X, y)
    problems = kernel_problems(X, y, reg, "epsilon_insensitive", 0.01)
    look_at(problems, reg, SVR(C=1, gamma=0.5, epsilon=0.01, random_state=0).fit(X, y - shift))
    assert not findings_of(problems, reg)
    assert reg.certificate_.converged


def test_kernel_matrix_given_in_single_precision():
    for seed in range(6):
        random = np.random.default_rng(seed)
        Z = random.normal(size=(50, 3))
        y = (Z @ random.normal(size=3) + 1.5 * random.normal(size=50) > 1).astype(int)  # so that there is an intercept
        K = np.exp(-0.5 * ((Z[:, None] - Z[None]) ** 2).sum(axis=2)) + 0.01 * np.eye(50)
        K = ((K + K.T) / 2).astype(np.float32)
        clf = SVC(kernel="precomputed", C=10, tol=1e-6, random_state=0).fit(K, y)
        problems = kernel_problems(K, y, clf)
        look_at(problems, clf, SVC(kernel="precomputed", C=10, tol=1e-8).fit(K.astype(np.float64), y))
        assert not findings_of(problems, clf)
        assert clf.certificate_.converged


@pytest.mark.parametrize("size", [1e90, 3e110])
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "quantile"])
def test_intercepts_whose_squares_overflow(size, loss):
    """A dual point of ordinary rows means huge weights on huge ones, and an intercept larger still."""
    for seed in range(12):
        Z, y = normal_classes(20, 2, seed)
        Z += 100
        target = np.where(y == 1, 1.0, -1.0) if loss == "hinge" else Z[:, 0] + y
        kind, epsilon = (LinearSVC, 0.0) if loss == "hinge" else (LinearSVR, 0.5 if loss == "quantile" else 0.0)
        model = kind(loss=loss, intercept="free", solver="sdca", max_iter=100, warm_start=True, random_state=0)
        for C, X in ((1.0, Z), (100.0, size * Z[::-1]), (100.0, size * Z)):
            model.set_params(C=C).fit(X, target)
            problems = LinearProblems(Rows(X), [target], C, np.ones(20), loss, epsilon=epsilon, intercept="free")
            assert not findings_of(problems, model)
