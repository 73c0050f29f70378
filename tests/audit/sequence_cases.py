"""Random cases of labels of sequences, and of features of example and label."""

import itertools

import numpy as np

import pegasos
from pegasos import solvers

from . import oracle
from .case import ORACLE, TOLS, draw_budget
from .checks import Claim
from .data import dense, draw_C, draw_data, draw_weights, pick
from .evaluation import (
    LONG,
    VectorProblem,
    chain_problem,
    chain_vector,
)


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
        if case.attempt(estimator, data.X, y, weights, lengths=lengths):
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
