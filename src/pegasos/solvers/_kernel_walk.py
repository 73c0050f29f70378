"""Pegasos and the Perceptron with a kernel: one walk over the examples in the core."""

import math

from pegasos._core import native
from pegasos.base.outcome import Budget, Solution
from pegasos.base.progress import Progress, make_run
from pegasos.problems.kernel import KernelPoint, KernelProblem

__all__ = ["walk"]

#: The core's names for the values of `average`.
OUTPUTS = {False: "last", "last": "last", True: "average", "suffix": "suffix", "random": "random"}


def walk(
    problem: KernelProblem,
    budget: Budget,
    seed: int,
    progress: Progress,
    *,
    solver: str,
    perceptron: bool = False,
    batch_size: int = 1,
    sampling: str,
    project: bool = False,
    average: bool | str,
    max_steps: int | None,
) -> Solution[KernelPoint]:
    """`cpp/kernel/solvers/kernel_walk.hpp` has the mathematics."""
    if batch_size > problem.n_rows:
        raise ValueError(f"batch_size={batch_size} is more than the {problem.n_rows} examples; lower it")
    steps = math.ceil(budget.max_iter * problem.n_rows / batch_size) if max_steps is None else int(max_steps)
    found = native.kernel_walk(
        problem.source,
        problem.core,
        make_run(budget, progress),
        cached_rows=problem.cached_rows,
        labels=problem.y,
        weights=problem.s if perceptron else problem.s * (problem.n_rows / problem.s.sum()),
        perceptron=perceptron,
        batch=int(batch_size),
        sampling=sampling,
        project=project,
        output=OUTPUTS[average],
        best=average is False or average == "suffix",
        lambda_=problem.alpha,
        tol=budget.tol,
        max_steps=steps,
        seed=seed,
        sequence=None,
        held_out=problem.held_out,
        patience=problem.patience,
    )
    reason = "max_iter" if max_steps is None else "max_steps"
    return Solution.from_core(found, problem.point(found), solver, reason)
