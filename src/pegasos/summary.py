"""What there is to show of a fitted model: how it got there, its margins and its largest weights."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pegasos.base.wording import counted
from pegasos.certificate import History
from pegasos.sequence.input import look_up_labels
from pegasos.sequence.svc import SequenceSVC

Floats = NDArray[np.float64]


def machine_of(model: Any) -> Any:
    """The machine that is the last step of a pipeline, or the model itself."""
    return model[-1] if hasattr(model, "steps") else model


def histories_of(model: Any) -> list[tuple[str, History]]:
    """The trace of each problem of a fit, with what it is called: the parts as they are stored."""
    machine = machine_of(model)
    check_is_fitted(machine)
    if not hasattr(machine, "history_"):
        raise ValueError(
            f"this {type(machine).__name__} has no history_, as it learned in one pass; fit it to have one"
        )
    if isinstance(machine.history_, dict):
        return [("", machine.history_)]
    parts = machine.certificate_.parts or [None] * len(machine.history_)
    names = [getattr(part, "problem", "") or f"problem {number}" for number, part in enumerate(parts)]
    return list(zip(names, machine.history_, strict=True))


def beginning_of(history: History) -> float:
    """The second at which a problem of several began, about: its epochs before the first check took as long as those
    after it."""
    seconds, epochs = history["seconds"], history["epoch"]
    if len(seconds) < 2 or not epochs[-1] > epochs[0]:
        return float(seconds[0]) if len(seconds) else 0.0
    before = epochs[0] * (seconds[-1] - seconds[0]) / (epochs[-1] - epochs[0])
    return float(max(seconds[0] - before, 0.0))


def work_of(model: Any) -> str:
    """What "epoch" counts in the traces: epochs, or passes, of which an iteration of interior-point makes three."""
    found = machine_of(model).certificate_
    ends = [history["epoch"][-1:].tolist() for _, history in histories_of(model)]
    told = zip(ends, found.parts or [found] * len(ends), strict=True)
    return "passes" if any(end and end[0] > part.n_iter for end, part in told) else "epochs"


def passes_of(model: Any) -> list[int]:
    """The passes over the examples that each problem took; nothing where epochs are counted."""
    if not hasattr(machine_of(model), "history_") or work_of(model) != "passes":
        return []
    return [round(max(history["epoch"].tolist(), default=0.0)) for _, history in histories_of(model)]


def starts_late(history: History) -> bool:
    """Whether most of the time was spent on the input, before the solver began."""
    return bool(beginning_of(history) > history["seconds"][-1] / 2)


def decimals(most: float, digits: int) -> int:
    """So many decimals that the largest of some numbers has so many digits that count.

    Examples
    --------
    >>> decimals(0.28, 2), decimals(5.1, 2), decimals(1200.0, 2)
    (2, 1, 0)
    """
    return max(0, digits - 1 - math.floor(math.log10(most)))


class FromOne(Sequence[str]):
    """Names of features by their numbers in svmlight text, which counts from 1; there may be billions."""

    def __init__(self, count: int) -> None:
        self.numbers = range(1, count + 1)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, place: Any) -> Any:
        return f"feature {self.numbers[place]}"


def feature_names_of(model: Any, given: ArrayLike | None = None) -> Sequence[str] | None:
    """What the features of a model are called; None where they have no names."""
    if isinstance(given, FromOne):
        return given
    if given is not None:
        return [str(name) for name in np.asarray(given).ravel().tolist()]
    machine = machine_of(model)
    if isinstance(machine, SequenceSVC):
        return machine.feature_names_
    if machine is not model:
        try:
            names = model[:-1].get_feature_names_out()  # None where nothing stands before the machine
            if names is not None:
                return [str(name) for name in names]
        except (AttributeError, ValueError, NotImplementedError):
            pass  # a step that does not tell, such as a hash
    names = getattr(machine, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def decides_by_pairs(machine: Any) -> bool:
    """Whether decisions have a column for each pair of classes, and none for each class."""
    return len(machine.classes_) > 2 and getattr(machine, "decision_function_shape", "") == "ovo"


def multi_class_of(machine: Any) -> str:
    """How more than two classes are trained: "ovr", "ovo" or "joint"; "" where there is no choice."""
    return getattr(machine, "_multi_class", "")


def votes_of_pairs(machine: Any) -> bool:
    """Whether predictions are votes of pairs of classes, which have no margin."""
    return len(machine.classes_) > 2 and multi_class_of(machine) == "ovo"


def margins_of(decisions: Any, y: Any, classes: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """How far each decision is on the right side, and which examples have a label that is among the classes.

    Of two classes it is the decision, times -1 for examples of the first. Of more it is the score of the right one less
    the best of the others. Examples with other labels have none.
    """
    decisions = np.asarray(decisions)
    if len(y) != len(decisions):
        raise ValueError(
            f"y has {counted(len(y), 'label')} for {counted(len(decisions), 'example')}; pass one for each"
        )
    wanted = "one number for each example" if len(classes) <= 2 else f"{len(classes)} columns, one for each class"
    columns = decisions.shape[1] if decisions.ndim == 2 else 1
    if decisions.dtype.kind not in "fiu" or (columns != len(classes) and (columns != 1 or len(classes) > 2)):
        raise ValueError(f"decisions are {wanted}; pass those of decision_function, and no labels")
    numbers = look_up_labels(np.asarray(y).tolist(), classes)
    known = numbers >= 0
    numbers, decisions = numbers[known], np.asarray(decisions, dtype=np.float64)[known]
    if decisions.ndim == 1:
        return np.where(numbers == 1, decisions, -decisions), known
    rows = np.arange(len(numbers))
    own, others = decisions[rows, numbers], decisions.copy()
    others[rows, numbers] = -np.inf
    return own - others.max(axis=1), known


def margin_bins(margins: Floats, about: int) -> tuple[Floats, NDArray[np.intp]]:
    """About so many bins of equal width, and how many margins are in each. Bins end at 0 and at 1."""
    low, high = min(margins.min(initial=0), 0.0), max(margins.max(initial=1), 1.0)
    width = (high - low) / about
    width = 1 / max(round(1 / width), 1) if width < 1 else float(np.ceil(width))
    edges = np.arange(np.floor(low / width), np.ceil(high / width) + 1) * width
    # What is 0 or 1 belongs to the bin below: it is an error, or within the margin.
    places = np.clip(np.searchsorted(edges, margins, side="left") - 1, 0, len(edges) - 2)
    return edges, np.bincount(places, minlength=len(edges) - 1)


def flat(sequences: Any) -> NDArray[Any]:
    """Values of the positions of all sequences, one after the other."""
    return np.concatenate([np.asarray(own) for own in sequences]) if len(sequences) else np.empty(0)


class Weights(NamedTuple):
    """The largest weights of one problem of a linear model."""

    title: str  # the class they speak for, a pair of classes, or nothing
    names: list[str]
    values: list[float]  # positive ones first


def has_weights(model: Any) -> bool:
    """Whether features have weights in the model: all but those with a kernel that is not linear."""
    return hasattr(machine_of(model), "coef_")


def largest_weights(
    model: Any, top: int, names: Sequence[str] | None = None, classes: Sequence[Any] | None = None
) -> list[Weights]:
    """The largest weights of each problem, up to so many of each sign; `classes` leaves only some of them.

    Of two classes the positive ones speak for the second. Features without a name are called as scikit-learn calls
    them: x0, x1, ...
    """
    machine = machine_of(model)
    coef = machine.coef_
    rows = coef.toarray() if issparse(coef) else np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if top < 0:
        raise ValueError(f"top={top}: must be at least 0")
    if names is not None and len(names) != rows.shape[1]:
        raise ValueError(f"feature_names has {counted(len(names), 'name')} for {counted(rows.shape[1], 'feature')}")
    found = []
    for title, label, row in zip(*_titles(machine, len(rows)), rows, strict=True):
        if classes is not None and label not in classes:
            continue
        order = np.argsort(-row, kind="stable")
        chosen = [j for j in order[:top].tolist() if row[j] > 0] + [j for j in order[-top:].tolist() if row[j] < 0]
        texts = [names[j] if names is not None else f"x{j}" for j in chosen]
        found.append(Weights(title, texts, [float(row[j]) for j in chosen]))
    return found


def _titles(machine: Any, count: int) -> tuple[list[str], list[Any]]:
    """What the rows of weights are called, and the class each belongs to, if it is one's own."""
    labels = getattr(machine, "classes_", np.empty(0)).tolist()
    if np.ndim(machine.coef_) == 1 or len(labels) < 2:
        return [""], [None]
    if count == 1:
        return [f"{labels[1]} against {labels[0]}"], [labels[1]]
    if multi_class_of(machine) == "ovo":
        return [f"{first} against {second}" for first, second in combinations(labels, 2)], [None] * count
    return [str(label) for label in labels], labels


def links_of(machine: SequenceSVC) -> tuple[Floats, list[str], list[str]]:
    """The weights of a label after another, what the rows are called and what the columns, start and end among them.

    Without `boundaries` there are no start and no end.
    """
    labels = [str(label) for label in machine.classes_.tolist()]
    if not machine.boundaries:
        return machine.transitions_, labels, labels
    links = np.vstack([machine.start_, machine.transitions_])
    return np.column_stack([links, np.append(np.nan, machine.end_)]), ["start", *labels], [*labels, "end"]
