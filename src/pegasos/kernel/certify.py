"""The certificate of a kernel machine: bounds from responses that are computed anew where they matter.

A solver works with a kernel matrix in the precision that is fast, and its bounds allow for as much as the rounding of
that matrix may do. Where this is too much, the responses that the bounds rest on are computed again from the examples,
in double precision, or if that is not enough in a way that rounds less (`cpp/kernel/exact_sums.hpp`).
"""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import Bounds
from pegasos.base.outcome import Solution
from pegasos.kernel.definiteness import Definiteness
from pegasos.problems.kernel import KernelPoint, KernelProblem

#: The share of `tol`, and where that is not reached of the gap, that rounding may have without being looked at.
SHARE = 0.05


def certify(
    problem: KernelProblem,
    found: Solution[KernelPoint],
    ways: Iterable[native.KernelSums],
    tol: float,
    run: Callable[[], native.Run],
    b: float | None = None,
) -> Solution[KernelPoint]:
    """The solution with bounds that round as little as its `tol` asks for; `b` is its intercept, where it is given.

    Where the time of a `run` is up before that, the bounds are those at hand.
    """
    point, best = found.point, found
    if point.responses is None:
        return found
    for sums in ways:
        if not _is_rounded(best.bounds, tol):
            break
        judged = native.judge(sums, problem.core, run(), point.variables, point.responses, point.error, b, False)
        other = judged
        if point.dual_variables is not None:
            none = np.zeros(len(point.responses))
            other = native.judge(sums, problem.core, run(), point.dual_variables, none, 0.0, None, True)
        if judged is None or other is None:
            break
        dual = other.bounds
        if judged.bounds.primal < best.bounds.primal:
            best = best.moved(b=judged.b, squared_norm=judged.squared_norm)
            best = best.bounded(primal=judged.bounds.primal, above=judged.bounds.above)
        if dual.dual > best.bounds.dual:
            best = best.bounded(dual=dual.dual, below=dual.below)
    return best


def _is_rounded(found: Bounds, tol: float) -> bool:
    """Whether rounding is a part of the gap that counts."""
    allowed = max(tol * found.dual, found.primal - found.dual)
    return not found.above + found.below <= SHARE * allowed


def allow_for(kernel: Definiteness, problem: KernelProblem, found: Solution[KernelPoint]) -> Solution[KernelPoint]:
    """The solution with a lower bound that allows for eigenvalues below zero, and for values that differ by order."""
    if kernel.shift == 0 and kernel.asymmetry == 0:
        return found
    with np.errstate(over="ignore"):
        bound: NDArray[np.float64] = problem.C * problem.s
        eigenvalue = order = 0.0
        if kernel.shift > 0:  # zero times what overflows would be no number
            eigenvalue = 0.5 * kernel.shift * float(4 * bound @ bound if problem.in_twos else bound @ bound)
        if kernel.asymmetry > 0:
            order = 0.5 * kernel.asymmetry * float(np.abs(found.point.variables).sum() * bound.sum())
        less = (eigenvalue + order) * (1 + 1e-9)
    if not less < np.inf:
        return found.bounded(dual=-np.inf, below=0.0)
    return found.bounded(dual=found.bounds.dual - less, below=found.bounds.below + less)
