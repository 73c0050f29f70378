"""How long a solver may work, where it starts and what it found."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native

__all__ = ["Budget", "Solution", "WarmStart", "check_finite", "joined"]


@dataclass(frozen=True)
class Budget:
    """When to stop, and with how many threads. `max_time` counts from the start of the fit, `elapsed` ago."""

    tol: float
    max_iter: int
    max_time: float | None
    elapsed: float = 0.0
    n_jobs: int | None = 1  # None: the solver may choose


@dataclass(frozen=True)
class WarmStart:
    """The state of a finished run, for another to continue: weights, steps behind them, dual point."""

    w: NDArray[np.float64]
    t: int
    q: NDArray[np.float64] | None


@dataclass(frozen=True)
class Solution:
    """What a solver found."""

    w: NDArray[np.float64]
    q: NDArray[np.float64]
    t: int
    primal: float
    dual: float
    epochs: float
    seconds: float
    reason: str
    records: list[list[float]]
    solver: str  # with its options, and what it chose itself
    n_iter: int | None = None  # where it is not the number of epochs begun
    above: float = 0.0  # what rounding may add to the primal value, which allows for it,
    below: float = 0.0  # and take off the dual one

    @classmethod
    def from_core(
        cls, found: native.Solution, solver: str, budget_reason: str = "max_iter", n_iter: int | None = None
    ) -> Self:
        """What the core returned; `budget_reason` tells which budget it used up."""
        return cls(
            w=found.w,
            q=found.q,
            t=found.t,
            primal=found.bounds.primal,
            dual=found.bounds.dual,
            above=found.bounds.above,
            below=found.bounds.below,
            epochs=found.epochs,
            seconds=found.seconds,
            reason=budget_reason if found.reason == "budget" else found.reason,
            records=found.history,
            solver=solver,
            n_iter=n_iter,
        )


def joined(first: Solution, second: Solution, best: bool = True) -> Solution:
    """Two runs as one: the best of the bounds, with the point that each belongs to, and both histories.

    Where the `best` weights are not wanted those of the second run are taken, and its primal values.
    """
    better_w, better_q = not best or second.primal <= first.primal, second.dual >= first.dual
    upper, lower = second if better_w else first, second if better_q else first
    records = list(first.records)
    for seconds, epoch, primal, dual in second.records:
        primal = min(primal, first.primal) if best else primal
        records.append([seconds, first.epochs + epoch, primal, max(dual, first.dual)])
    iterations = None if second.n_iter is None else second.n_iter + round(first.epochs)
    before = first.solver.split(" with ")[0]
    return replace(
        second,
        w=upper.w,
        primal=upper.primal,
        above=upper.above,
        q=lower.q,
        dual=lower.dual,
        below=lower.below,
        t=first.t + second.t,
        epochs=first.epochs + second.epochs,
        n_iter=iterations,
        records=records,
        solver=second.solver if second.solver == first.solver else f"{before}, then {second.solver}",
    )


def check_finite(solution: Solution, C: float, total_weight: float, largest_norm: float) -> Solution:
    """The solution; a ValueError where its numbers are not finite."""
    if not (np.isfinite(solution.w).all() and math.isfinite(solution.primal) and math.isfinite(solution.dual)):
        raise ValueError(
            f"the numbers overflowed: C={C:.3g}, weights that sum to {total_weight:.3g} and an example of norm "
            f"{largest_norm:.3g} are too much together; lower C, or scale weights and features"
        )
    return solution
