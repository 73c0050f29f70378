"""How good predictions are, in figures."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from pegasos.io.dataset import Dataset
from pegasos.sequence.chunks import ChunkCounts, ChunkScores, chunk_scores
from pegasos.sequence.input import look_up_labels
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import decides_by_pairs, flat, machine_of, margins_of, multi_class_of, votes_of_pairs

Floats = NDArray[np.float64]

#: Points that are kept of a curve.
POINTS = 150


class Curve(NamedTuple):
    """Of one class against the rest: what comes of every threshold of its score."""

    label: Any
    false_rate: Floats  # along with `true_rate` and `thresholds`
    true_rate: Floats
    thresholds: Floats
    recall: Floats  # along with `precision` and `cuts`
    precision: Floats
    cuts: Floats
    area: float
    average_precision: float


@dataclass(frozen=True)
class Labelled:
    """Predictions of labels, of examples or of the positions of sequences."""

    classes: list[Any]
    confusion: NDArray[np.int64]  # rows are true classes, columns predicted ones
    n_unknown: int  # examples with labels that the model does not know: they count as wrong, and are in no row
    margins: Floats
    curves: list[Curve] = field(default_factory=list)
    chunks: ChunkScores | None = None
    noun: str = "example"

    @property
    def n_examples(self) -> int:
        return int(self.confusion.sum()) + self.n_unknown

    @property
    def n_wrong(self) -> int:
        return self.n_examples - int(np.trace(self.confusion))

    @property
    def error(self) -> float:
        return self.n_wrong / self.n_examples

    @property
    def rates(self) -> list[ChunkCounts]:
        """Of each class."""
        own = zip(self.confusion.sum(axis=1), self.confusion.sum(axis=0), np.diag(self.confusion), strict=True)
        return [ChunkCounts(*map(int, numbers)) for numbers in own]


@dataclass(frozen=True)
class Valued:
    """Predictions of numbers."""

    y: Floats
    predicted: Floats

    @property
    def n_examples(self) -> int:
        return len(self.y)

    @property
    def residuals(self) -> Floats:
        return np.asarray(self.predicted - self.y)

    @property
    def r2(self) -> float:
        spread = float(np.sum((self.y - self.y.mean()) ** 2))
        return 1 - float(np.sum(self.residuals**2)) / spread if spread else np.nan


Quality = Labelled | Valued


def judge(model: Any, X: Any, y: Any) -> Quality | None:
    """How good the predictions for X are; None where they cannot be compared with labels that the model knows."""
    machine = machine_of(model)
    if isinstance(X, Dataset) and y is None:
        y = X.y
    if X is None or y is None or len(y) == 0:
        return None
    if not isinstance(X, Dataset):
        check_consistent_length(X, y)
    if isinstance(machine, SequenceSVC):
        return _judge_sequences(model, machine, X, y)
    predicted = np.asarray(model.predict(X))
    if not hasattr(machine, "classes_"):
        targets = np.asarray(y, dtype=np.float64)
        if not np.isfinite(targets).all():
            raise ValueError("y has targets that are not finite; leave these examples out")
        return Valued(targets, predicted.astype(np.float64))
    y = _as_classes(np.asarray(y), machine.classes_)
    if not (look_up_labels(y.tolist(), machine.classes_) >= 0).any():
        return None
    decisions = None if decides_by_pairs(machine) else np.asarray(model.decision_function(X))
    joint = multi_class_of(machine) == "joint"
    found = _labelled(machine.classes_, y, predicted, decisions, joint=joint)
    return replace(found, margins=np.empty(0)) if votes_of_pairs(machine) else found


def _judge_sequences(model: Any, machine: SequenceSVC, X: Any, y: Any) -> Labelled | None:
    predicted, truth = model.predict(X), [list(own) for own in y]
    try:
        chunks = chunk_scores(truth, [list(own) for own in predicted])
    except (ValueError, TypeError, AttributeError):  # they are not labels of chunks
        chunks = None
    if not any(truth):
        return None
    labels = _as_classes(flat(truth), machine.classes_)
    if not (look_up_labels(labels.tolist(), machine.classes_) >= 0).any():
        return None
    decisions = flat(model.decision_function(X))
    found = _labelled(machine.classes_, labels, flat(predicted), decisions, curves=False)
    return Labelled(found.classes, found.confusion, found.n_unknown, found.margins, [], chunks, "position")


def _as_classes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels as strings where those of the model are."""
    return y.astype(str) if classes.dtype.kind == "U" and y.dtype.kind != "U" else y


def _labelled(
    classes: NDArray[Any],
    y: NDArray[Any],
    predicted: NDArray[Any],
    decisions: NDArray[Any] | None,
    curves: bool = True,
    joint: bool = False,
) -> Labelled:
    count = len(classes)
    rows, columns = (look_up_labels(labels.tolist(), classes) for labels in (y, predicted))
    known = rows >= 0
    cells = np.bincount(rows[known] * count + columns[known], minlength=count * count)
    margins: Floats = np.empty(0)
    found: list[Curve] = []
    if decisions is not None:
        margins, _ = margins_of(decisions, y, classes)
        if curves:
            found = _curves(classes, rows[known], decisions[known], joint)
    return Labelled(classes.tolist(), cells.reshape(count, count).astype(np.int64), int(np.sum(~known)), margins, found)


def _curves(classes: NDArray[Any], rows: NDArray[np.int64], scores: Floats, joint: bool) -> list[Curve]:
    """Of the second of two classes, or of each of more; of those that some examples have, and some have not."""
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve  # slow to import

    numbers = [1] if scores.ndim == 1 else range(len(classes))
    found = []
    for number in numbers:
        is_it, own = rows == number, scores if scores.ndim == 1 else scores[:, number]
        if scores.ndim == 2 and joint:  # only differences mean the same for all examples
            own = own - np.delete(scores, number, axis=1).max(axis=1)
        if is_it.all() or not is_it.any():
            continue
        rates = roc_curve(is_it, own)
        precision, recall, cuts = precision_recall_curve(is_it, own)
        area, average = float(auc(*rates[:2])), float(average_precision_score(is_it, own))
        points = _along(recall[:-1], precision[:-1], cuts)
        found.append(Curve(classes.tolist()[number], *_along(*rates), *points, area, average))
    return found


def _along(x: Floats, y: Floats, cuts: Floats) -> tuple[Floats, Floats, Floats]:
    """Points of a curve, not too many, evenly along its length."""
    length = np.cumsum(np.abs(np.diff(x, prepend=x[0])) + np.abs(np.diff(y, prepend=y[0])))
    keep = np.unique(np.searchsorted(length, np.linspace(0, length[-1], POINTS)).clip(max=len(x) - 1))
    keep = np.union1d(keep, [0, len(x) - 1]) if len(x) > POINTS else np.arange(len(x))
    return x[keep], y[keep], cuts[keep]
