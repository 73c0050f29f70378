"""w = a v and its tracked norm and sum of iterates (cpp/linear/scaled_vector.hpp)."""

import pytest
from linear_helpers import assert_same, draw_batches, make_problem, run

from pegasos._core import native
from pegasos.reference import s0


@pytest.mark.parametrize("factor", [1.0, 0.999, 0.5])
@pytest.mark.parametrize("steps", [1_000_000, 1_000_500], ids=["projected", "since projection"])
def test_tracked_norm_stays_true_over_a_million_steps(factor, steps):
    tracked, true = native.probe_tracked_norm(seed=1, n_features=100, steps=steps, factor=factor)
    assert tracked == pytest.approx(true, rel=1e-6)


def test_tracked_norm_survives_cancellation():
    # Few features and a factor of 1: w keeps returning close to zero.
    tracked, true = native.probe_tracked_norm(seed=2, n_features=1, steps=100_500, factor=1.0)
    assert tracked == pytest.approx(true, rel=1e-6)


@pytest.mark.parametrize("output", ["average", "suffix"])
@pytest.mark.parametrize(
    ("schedule", "parameter", "steps"),
    [
        ("pegasos", 0.0, lambda lam: lambda t: 1 / (lam * t)),
        ("norma", 0.7, lambda lam: lambda t: 0.7 / (lam * t**0.5)),
        ("constant", 0.05, lambda lam: lambda t: 0.05 / lam),
        ("constant", 0.9, lambda lam: lambda t: 0.9 / lam),
    ],
    ids=["pegasos", "norma", "constant 0.05", "constant 0.9"],
)
def test_sum_of_iterates_stays_true_while_the_scale_shrinks(schedule, parameter, steps, output):
    # After T steps NORMA has shrunk v by about exp(-1.4 sqrt(T)), a constant step by (1 - eta lambda)^T.
    problem, T = make_problem(), 3000
    batches = draw_batches(problem, T)
    iterates = list(s0.descend(problem.augmented, problem.y, problem.lam, batches, steps(problem.lam)))
    expected = {"average": s0.average, "suffix": s0.suffix_average}[output](iterates)
    if schedule == "constant":
        parameter /= problem.lam
    solution = run(problem, batches=batches, schedule=schedule, step_parameter=parameter, output=output)
    assert_same(solution.w, expected)
