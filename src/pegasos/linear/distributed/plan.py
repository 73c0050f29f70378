"""What driver and workers of a fit to spread examples tell each other: what the shards hold, the problem that follows,
and in each round orders and replies.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import Measured
from pegasos.base.outcome import Point, Problem
from pegasos.base.validation import class_weights, sum_weights

#: How often a worker's shards take turns in an epoch.
TURNS = 32


@dataclass(frozen=True)
class Survey:
    """What a shard holds."""

    number: int
    n_rows: int
    n_features: int
    names: tuple[str, ...] | None  # of the features, where they have some
    classes: NDArray[Any]  # none in regression
    counts: NDArray[Any]  # of the examples of each class
    weights: NDArray[np.float64]  # of the examples of each class; in regression of all
    squares: float  # sum of the squares of all entries
    entries: float
    n_bytes: int  # of X
    largest_norm: float  # the largest norm of a row
    checksums: tuple[int, ...]  # of all that it holds: what is made again is the same, or refused


@dataclass(frozen=True, kw_only=True)
class Plan(Problem[Point]):
    """The problem, as each shard needs it."""

    machine: Any  # an estimator with the parameters, which validates
    seed: int
    classes: NDArray[Any]
    class_weights: NDArray[np.float64]
    n_features: int
    names: tuple[str, ...] | None
    entries: float
    n_bytes: int  # of X
    largest_norm: float  # of a row
    bias: float  # the constant feature of the problem; 0: no intercept
    step: float  # the intercept's, in the method of multipliers
    kappa: float

    @property
    def feature(self) -> float:
        """The constant feature that the rows are given: visits then make the steps that the intercept wants."""
        return math.sqrt(self.step)

    @property
    def targets(self) -> tuple[int, ...]:
        """The problems: which class is against the rest; with two classes and in regression one."""
        return tuple(range(len(self.classes))) if len(self.classes) > 2 else (1,)

    @property
    def dimension(self) -> int:
        return self.n_features + 1


def make_plan(machine: Any, surveys: Sequence[Survey], seed: int) -> Plan:
    """The problem of the machine on shards that were looked at."""
    held = [survey for survey in surveys if survey.n_rows]
    if not held:
        raise ValueError(f"X has no rows in any of its {len(surveys)} partitions; look at how it was made")
    first = held[0]
    for survey in held[1:]:
        if (survey.n_features, survey.names) != (first.n_features, first.names):
            what = "other feature names" if survey.n_features == first.n_features else f"{survey.n_features} features"
            raise ValueError(
                f"partition {survey.number} has {what}, and partition {first.number} has {first.n_features}; give all "
                "of them the same columns"
            )
    classes, counts, weights = _join_classes(held)
    by_class = class_weights(machine.class_weight, classes, counts) if len(classes) else np.ones(0)
    total = float((weights * by_class).sum()) if len(classes) else math.fsum(s.weights.sum() for s in held)
    sum_weights(np.array([total]))  # which must be positive and finite
    n_rows = sum(survey.n_rows for survey in held)
    C = machine.weight_of_loss(total)
    bias = float(machine.intercept_scaling) if machine.fit_intercept else 0.0
    squares = math.fsum(s.squares for s in held)
    step, kappa = native.multipliers(bias, squares, n_rows, C * total) if bias else (0.0, 0.0)
    return Plan(
        n_rows=n_rows,
        C=C,
        total_weight=total,
        loss=machine.loss,
        machine=machine,
        seed=seed,
        classes=classes,
        class_weights=by_class,
        n_features=first.n_features,
        names=first.names,
        entries=math.fsum(s.entries for s in held),
        n_bytes=sum(s.n_bytes for s in held),
        largest_norm=max(s.largest_norm for s in held),
        bias=bias,
        step=step,
        kappa=kappa,
    )


def _join_classes(held: Sequence[Survey]) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]:
    """All labels in order, how many examples each has, and their weight."""
    kinds = {"number" if survey.classes.dtype.kind in "biuf" else "text" for survey in held}
    if len(kinds) > 1:
        raise ValueError("y has numbers in some partitions and text in others; make its labels of one kind")
    classes = np.unique(np.concatenate([survey.classes for survey in held]))
    counts, weights = np.zeros(len(classes), dtype=np.int64), np.zeros(len(classes))
    for survey in held:
        places = np.searchsorted(classes, survey.classes)
        np.add.at(counts, places, survey.counts)
        if len(classes):
            np.add.at(weights, places, survey.weights)
    if len(classes) == 1:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}; a classifier needs examples of two classes")
    return classes, counts, weights


@dataclass(frozen=True)
class Order:
    """What a worker is to do for one problem, of several where each class is trained against the rest.

    First it keeps the share of its last changes, then it makes that many turns, of which an epoch has `TURNS`, from w;
    with none it measures at w.
    """

    target: int  # which class is against the rest
    w: NDArray[np.float64]
    share: float = 0.0
    caution: float = 1.0
    turns: int = 0


@dataclass(frozen=True)
class Message:
    """The orders of one round. A shard follows them if it stands at `expects`, and then stands at `becomes`.

    None expects nothing: what a shard has not joined in yet is taken back, and one that knows nothing starts at zero.
    Such a message has the checksums of all shards, by number, and one that holds other values refuses it.
    """

    plan: Plan
    expects: int | None
    becomes: int
    orders: tuple[Order, ...]
    seconds: float = np.inf  # left for it
    checksums: Mapping[int, tuple[int, ...]] | None = None


@dataclass(frozen=True)
class Visited:
    """A worker's changes during its turns."""

    change: NDArray[np.float64]  # of sum_i alpha_i y_i x_i
    linear: float  # of C sum_i s_i dual(q_i)
    gap: float  # of its rows, estimated from the margins met
    visits: float


@dataclass(frozen=True)
class Reply:
    """What a worker says after a round: an answer to each order, or that it does not stand where it should."""

    answers: tuple[Visited | Measured, ...] = ()
    stale: bool = False


def payload(message: Any) -> int:
    """Bytes of the vectors in a message or reply; the rest is small."""
    vectors = [order.w for order in getattr(message, "orders", ())]
    for answer in getattr(message, "answers", ()):
        vectors.append(answer.change if isinstance(answer, Visited) else answer.u)
    return sum(vector.nbytes for vector in vectors)
