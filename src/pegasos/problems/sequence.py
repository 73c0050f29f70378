"""The problem of labelling sequences, as handed to a solver, and its points."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.outcome import Problem

Floats = NDArray[np.float64]


class Labellings(NamedTuple):
    """A dual point: labellings of the sequences with their shares."""

    owners: NDArray[np.uint32]
    shares: Floats
    labels: NDArray[np.uint16]


@dataclass(frozen=True)
class SequencePoint:
    """Weights and a dual point."""

    weights: Floats  # n_features + 1 by n_labels, flat; the constant feature last
    links: Floats  # n_labels + 2 by n_labels, flat: after each label, at the start, at the end
    labellings: Labellings

    @classmethod
    def from_core(cls, found: native.SequenceSolution) -> Self:
        """What the core found, which then has it no more."""
        weights, links, *labellings = found.take()
        return cls(weights, links, Labellings(*labellings))


@dataclass(frozen=True, kw_only=True)
class SequenceProblem(Problem[SequencePoint]):
    """Minimise ``1/2 ||w||^2 + C sum_i s_i max_y (cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>)``."""

    label: ClassVar[str] = "sequences of labels"
    estimators: ClassVar[str] = "SequenceSVC"

    core: native.SequenceProblem
    n_labels: int
