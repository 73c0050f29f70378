"""What the papers prove of every run, checked along runs of the core."""

import numpy as np
import pytest
from linear_helpers import draw_batches, make_problem, optimum, run

from pegasos._core import native
from pegasos.reference import s0

T = 200
PROBLEMS = {
    "C 0.55": make_problem(),
    "C 20": make_problem(C=np.sqrt(400.3), seed=1),
    "C 0.001, bias": make_problem(C=np.sqrt(0.8e-6), seed=2, bias=1.0),
}
any_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS.keys())
any_seed = pytest.mark.parametrize("seed", range(4))


def iterates(problem, batches, project):
    """w_1, ..., w_{T+1} of the core."""
    lengths = range(1, len(batches) + 1)
    first = np.zeros(problem.augmented.shape[1])
    return [first, *(run(problem, batches=batches, max_steps=t, project=project).w for t in lengths)]


@any_problem
@any_seed
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("project", [False, True])
def test_s0_theorem_1(problem, seed, k, project):
    """1/T sum f(w_t; A_t) <= 1/T sum f(w*; A_t) + c (1 + ln T) / (2 lam T) for every T >= 3."""
    X, y, lam, R = problem.augmented, problem.y, problem.lam, problem.R
    batches = draw_batches(problem, T, k, seed)

    def f(w, A_t):
        return lam / 2 * w @ w + np.maximum(0, 1 - y[A_t] * (X[A_t] @ w)).mean()

    w_star, _ = optimum(problem)
    c = (np.sqrt(lam) + R) ** 2 if project else 4 * R**2
    pairs = list(zip(iterates(problem, batches, project)[:-1], batches, strict=True))
    t = np.arange(1, T + 1)
    regret = np.cumsum([f(w_t, A_t) - f(w_star, A_t) for w_t, A_t in pairs]) / t
    bound = c * (1 + np.log(t)) / (2 * lam * t)
    assert (regret[2:] <= bound[2:]).all()


@any_problem
@any_seed
def test_s3_proposition_1(problem, seed):
    """||w_t|| <= sqrt(1 + (R^2/lam - 1)/t) / sqrt(lam) without projection, t counted from 0 as in S3."""
    lam, R = problem.lam, problem.R
    for t, w_t in enumerate(iterates(problem, draw_batches(problem, T, 1, seed), False)):
        if t > 0:
            assert np.linalg.norm(w_t) <= np.sqrt((1 + (R**2 / lam - 1) / t) / lam) * (1 + 1e-12)


@any_problem
@any_seed
@pytest.mark.parametrize("project", [False, True])
def test_s0_corollary_1(problem, seed, project):
    """With A_t = S, f at the average is within c (1 + ln T) / (2 lam T) of the optimum."""
    lam, R = problem.lam, problem.R
    c = (np.sqrt(lam) + R) ** 2 if project else 4 * R**2
    _, value = optimum(problem)
    steps = 50 * (seed + 1)
    solution = run(problem, batch=problem.m, sampling="subset", output="average", max_steps=steps, project=project)
    assert lam * (solution.bounds.primal - value) <= c * (1 + np.log(steps)) / (2 * lam * steps)


@any_problem
@any_seed
def test_s3_proposition_2(problem, seed):
    """After one epoch of plain Pegasos the certificate is at least C M - 1/2 ||w||^2, M the margin errors met."""
    solution = run(problem, sampling="permute", seed=seed)
    batches = np.array(native.probe_sample("permute", problem.m, 1, seed, problem.m))[:, None]
    w_t = list(s0.pegasos(problem.augmented, problem.y, problem.lam, batches))
    M = sum(len(s0.violators(problem.augmented, problem.y, w, A_t)) for w, A_t in zip(w_t[:-1], batches, strict=True))
    bound = problem.C * M - w_t[-1] @ w_t[-1] / 2
    assert solution.bounds.dual >= bound - 1e-9 * abs(bound)
    _, value = optimum(problem)
    assert solution.bounds.dual <= value * (1 + 1e-9)
