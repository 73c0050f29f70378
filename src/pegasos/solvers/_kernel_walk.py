"""Pegasos and the Perceptron with a kernel: one walk over the examples in the core."""

from pegasos._core import native
from pegasos.base.outcome import Solution
from pegasos.base.solver import Terms
from pegasos.problems.kernel import KernelPoint, KernelProblem
from pegasos.solvers._subgradient import SubgradientSolver

#: The core's names for the values of `average`.
OUTPUTS = {False: "last", "last": "last", True: "average", "suffix": "suffix", "random": "random"}


def walk(solver: SubgradientSolver, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
    """Always from zero; `cpp/kernel/solvers/kernel_walk.hpp` has the mathematics."""
    perceptron, average = solver.schedule == "perceptron", solver.average
    found = native.kernel_walk(
        problem.source,
        problem.core,
        terms.run,
        cached_rows=problem.cached_rows,
        labels=problem.y,
        weights=problem.s if perceptron else problem.s * (problem.n_rows / problem.s.sum()),
        perceptron=perceptron,
        batch=int(solver.batch_size),
        sampling=solver.sampling,
        project=bool(solver.project),
        output=OUTPUTS[average],
        best=average is False or average == "suffix",
        lambda_=problem.alpha,
        tol=terms.budget.tol,
        max_steps=solver.count_steps(terms.budget, problem.n_rows),
        seed=terms.seed,
        sequence=None,
        held_out=problem.held_out,
        patience=problem.patience,
    )
    return Solution.from_core(found, problem.point(found), solver.describe(), solver.budget_reason)
