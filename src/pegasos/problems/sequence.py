"""The problem of labelling sequences, as solvers get it, and what they find."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native

__all__ = ["SequenceProblem", "SequenceSolution", "SequenceStart"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SequenceProblem:
    """Minimise ``1/2 ||w||^2 + C sum_i s_i max_y (cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>)``."""

    core: native.ChainProblem
    n_sequences: int
    n_labels: int
    C: float
    total_weight: float


class SequenceStart(NamedTuple):
    """Where a run continues another: labellings of the sequences with their shares."""

    owners: NDArray[np.uint32]
    shares: Floats
    labels: NDArray[np.uint16]


@dataclass(frozen=True)
class SequenceSolution:
    """What a solver found."""

    weights: Floats  # n_features + 1 by n_labels, flat; the constant feature last
    links: Floats  # n_labels + 2 by n_labels, flat: after each label, at the start, at the end
    primal: float
    dual: float
    epochs: float
    seconds: float
    reason: str
    records: list[list[float]]
    solver: str
    start: SequenceStart | None
    above: float = 0.0  # what rounding may add to the primal value, which allows for it,
    below: float = 0.0  # and take off the dual one

    @classmethod
    def from_core(cls, found: native.ChainSolution, solver: str, budget_reason: str = "max_iter") -> Self:
        """What the core returned."""
        run = found.run
        weights, links, *vertices = found.take()
        return cls(
            weights=weights,
            links=links,
            primal=run.bounds.primal,
            dual=run.bounds.dual,
            above=run.bounds.above,
            below=run.bounds.below,
            epochs=run.epochs,
            seconds=run.seconds,
            reason=budget_reason if run.reason == "budget" else run.reason,
            records=run.history,
            solver=solver,
            start=SequenceStart(*vertices),
        )
