"""The certificate of a kernel machine: bounds from responses that are computed anew where they matter.

A solver works with a kernel matrix in the precision that is fast, and its bounds allow for as much as the rounding of
that matrix may do. Where this is too much, the responses that the bounds rest on are computed again from the examples,
in double precision, or if that is not enough in a way that rounds less (`cpp/kernel/exact_sums.hpp`).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.kernel.kernels import Definiteness
from pegasos.problems.kernel import KernelProblem, KernelSolution

__all__ = ["allow_for", "certify"]

#: The share of `tol`, and where that is not reached of the gap, that rounding may have without being looked at.
SHARE = 0.05


def certify(
    problem: KernelProblem,
    found: KernelSolution,
    ways: Iterable[native.KernelSums],
    tol: float,
    run: native.Run,
    b: float | None = None,
) -> KernelSolution:
    """The solution with bounds that round as little as its `tol` asks for; `b` is its intercept, where it is given."""
    if found.responses is None:
        return found
    best = found
    for sums in ways:
        if not _is_rounded(best, tol):
            break
        judged = native.judge(sums, problem.core, run, found.variables, found.responses, found.error, b, False)
        dual = judged.bounds
        if found.dual_variables is not None:
            none = np.zeros(len(found.responses))
            dual = native.judge(sums, problem.core, run, found.dual_variables, none, 0.0, None, True).bounds
        if judged.bounds.primal < best.primal:
            best = replace(best, b=judged.b, squared_norm=judged.squared_norm)
            best = replace(best, primal=judged.bounds.primal, above=judged.bounds.above)
        if dual.dual > best.dual:
            best = replace(best, dual=dual.dual, below=dual.below)
    return best


def _is_rounded(found: KernelSolution, tol: float) -> bool:
    """Whether rounding is a part of the gap that counts."""
    allowed = max(tol * found.dual, found.primal - found.dual)
    return not found.above + found.below <= SHARE * allowed


def allow_for(kernel: Definiteness, problem: KernelProblem, found: KernelSolution) -> KernelSolution:
    """The solution with a lower bound that allows for eigenvalues below zero, and for values that differ by order."""
    if kernel.shift == 0 and kernel.asymmetry == 0:
        return found
    bound: NDArray[np.float64] = problem.C * problem.s
    eigenvalue = 0.5 * kernel.shift * float(4 * bound @ bound if problem.loss != "hinge" else bound @ bound)
    order = 0.5 * kernel.asymmetry * float(np.abs(found.variables).sum() * bound.sum())
    less = (eigenvalue + order) * (1 + 1e-9)
    return replace(found, dual=found.dual - less, below=found.below + less)
