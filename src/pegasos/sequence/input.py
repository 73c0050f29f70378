"""Sequences as users have them: lists of feature strings or dictionaries, lists of arrays, a matrix with lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from pegasos._core import native
from pegasos.base.validation import MASKED, refuse_masked
from pegasos.base.wording import counted
from pegasos.io.csr import check_sparse
from pegasos.io.floats import float_types

#: How sequences are given, and what a prediction gives back: a list of lists, a list of arrays, an array.
KINDS = ("features", "arrays", "matrix")


@dataclass(frozen=True)
class Sequences:
    """The positions of all sequences, one after the other."""

    X: Any  # a CSR matrix or a C-ordered array, a row for each position
    starts: NDArray[np.uint64]  # of each sequence, and the end of the last
    kind: str

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        starts = self.starts.astype(np.int64)
        return starts[1:] - starts[:-1]

    def cut(self, values: NDArray[Any]) -> Any:
        """Values of the positions in the shape of the sequences."""
        parts = self.split(values)
        return [part.tolist() for part in parts] if self.kind == "features" and values.ndim == 1 else parts

    def split(self, values: NDArray[Any]) -> Any:
        """Values of the positions as an array for each sequence, or one of all where the sequences are one matrix."""
        if self.kind == "matrix":
            return values
        return np.split(values, self.starts[1:-1].astype(np.intp)) if len(self) else []


class Encoder:
    """Makes rows of numbers of sequences. What features there are, the sequences of the first call say."""

    def __init__(self, min_count: int, hash_bits: int | None) -> None:
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.kind = ""
        self.n_features = 0
        self.vocabulary = native.Vocabulary()

    def fit(self, X: Any, lengths: Any) -> Sequences:
        """The sequences to learn from."""
        found = self._encode(X, lengths, grow=True)
        self.kind = found.kind
        self.n_features = found.X.shape[1]
        return found

    def transform(self, X: Any, lengths: Any) -> Sequences:
        """Other sequences; of strings and names, those that were not there at first are left out."""
        return self._encode(X, lengths, grow=False)

    def names(self, given: NDArray[Any] | None = None) -> list[str]:
        """What the features are called."""
        if self.kind == "features" and self.hash_bits is None:
            return [self.vocabulary[number] for number in range(self.n_features)]
        return [str(name) for name in given] if given is not None else [str(k) for k in range(self.n_features)]

    def _encode(self, X: Any, lengths: Any, grow: bool) -> Sequences:
        if lengths is not None:
            matrix, kind = _check_matrix(X), "matrix"
            starts = _check_lengths(lengths, matrix.shape[0])
        else:
            X = _check_list(X)
            kind = "arrays" if any(_is_array(sequence) for sequence in X) else "features"
            if kind == "arrays":
                matrix, starts = _stack(X)
            elif not grow and self.kind != "features":
                matrix, starts = _stack(X)  # sequences without positions, or an error that says which is no array
            else:
                return self._vectorize(X, grow)
        if not grow:
            if self.kind == "features":
                raise ValueError(
                    "X holds arrays, but the model was trained on strings or dictionaries of features; pass those"
                )
            if matrix.shape[1] != self.n_features and matrix.shape[0]:
                raise ValueError(
                    f"X has {matrix.shape[1]} features, but SequenceSVC is expecting {self.n_features} features as "
                    "input; pass the columns the model was trained on"
                )
            if not matrix.shape[0]:
                matrix = sp.csr_array((0, self.n_features))
        return Sequences(matrix, starts, kind)

    def _vectorize(self, X: Sequence[Any], grow: bool) -> Sequences:
        bits = self.hash_bits or 0
        starts, row_starts, columns, values = native.vectorize(X, self.vocabulary, bits, grow, self.min_count)
        width = 2**bits if bits else len(self.vocabulary)
        if len(columns) < 2**31:
            row_starts = row_starts.astype(np.int32)
        matrix = sp.csr_array((values, columns, row_starts), shape=(len(row_starts) - 1, width))
        return Sequences(matrix, starts, "features")


def _is_array(sequence: Any) -> bool:
    return isinstance(sequence, np.ndarray) or sp.issparse(sequence)


def _check_list(X: Any) -> Sequence[Any]:
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        return X.tolist()
    if isinstance(X, np.ndarray) or sp.issparse(X) or hasattr(X, "iloc"):
        raise ValueError(
            "X is a matrix, which does not tell where one sequence ends and the next begins; pass lengths=[...], or a "
            "list with an array for each sequence"
        )
    if isinstance(X, str | bytes | dict) or not hasattr(X, "__iter__") or _is_of_crfsuite(X):
        raise ValueError(f"X is a {type(X).__name__}; it must be a list of sequences")
    found = X if isinstance(X, list | tuple) else list(X)
    if any(_is_of_crfsuite(sequence) for sequence in found):
        return [sequence.items() if _is_of_crfsuite(sequence) else sequence for sequence in found]
    return found


def _is_of_crfsuite(sequence: Any) -> bool:
    """Whether it is an `ItemSequence` of python-crfsuite, whose items are dictionaries of numbers."""
    return type(sequence).__name__ == "ItemSequence" and hasattr(sequence, "items")


def _check_matrix(X: Any) -> Any:
    """A CSR matrix or a C-ordered array, of single or double precision."""
    check_sparse(X)
    refuse_masked("X", X, MASKED["X"])
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=float_types(X),
            order="C",
            ensure_all_finite=False,  # the core looks
            ensure_min_samples=0,
            ensure_min_features=int(np.shape(X)[:1] > (0,)),
        )
    except ValueError as error:
        raise ValueError(
            f"{error}; lengths are for one matrix of all positions, with a row for each: pass that, or leave them out"
        ) from error


def _check_lengths(lengths: Any, n_rows: int) -> NDArray[np.uint64]:
    refuse_masked("lengths", lengths, "give the length of each sequence")
    counts = np.asarray(lengths)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu") or (counts < 0).any():
        raise ValueError(f"lengths={lengths!r}: must be a list of whole numbers of at least 0")
    total = int(counts.sum())
    if total != n_rows:
        raise ValueError(f"lengths sum to {total}, but X has {n_rows} rows; give the length of each sequence in X")
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.uint64)


def _stack(X: Sequence[Any]) -> tuple[Any, NDArray[np.uint64]]:
    """One matrix of all, and the starts."""
    width = next((sequence.shape[1] for sequence in X if _is_array(sequence) and sequence.ndim == 2), 0)
    parts = []
    for i, sequence in enumerate(X):
        if not _is_array(sequence):
            sequence = np.asarray(sequence)
        if sequence.ndim == 1 and sequence.size == 0:
            sequence = np.empty((0, width))
        if sequence.ndim != 2 or (not sp.issparse(sequence) and sequence.dtype.kind not in "biuf"):
            raise ValueError(
                f"X[{i}] is no matrix of numbers, with a row for each position, where other sequences are; pass all as "
                "matrices, or all as lists of strings or dictionaries"
            )
        if sequence.shape[1] != width:
            raise ValueError(
                f"X[{i}] has {sequence.shape[1]} features, where sequences before it have {width}; all positions need "
                "the same"
            )
        check_sparse(sequence, f"X[{i}]")
        refuse_masked(f"X[{i}]", sequence, MASKED["X"])
        parts.append(sequence)
    lengths = [part.shape[0] for part in parts]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    if not parts:
        return np.empty((0, width)), starts
    whole = sp.vstack(parts, format="csr") if any(sp.issparse(part) for part in parts) else np.concatenate(parts)
    return _check_matrix(whole), starts


class Labels(NamedTuple):
    """The labels of all positions."""

    classes: NDArray[Any]
    encoded: NDArray[np.uint16]


def take_labels(y: Any, sequences: Sequences) -> list[Any]:
    """The labels of the positions, one after the other; a ValueError where they are too few or too many."""
    if y is None:
        raise ValueError("SequenceSVC requires y to be passed, but the target y is None; pass the labels: fit(X, y)")
    if sequences.kind == "matrix":
        refuse_masked("y", y, "give every position a label")
        try:
            given = np.asarray(y)
        except ValueError:
            raise ValueError("y is no flat array; with lengths give one label for each row of X") from None
        if given.ndim != 1 or len(given) != sequences.X.shape[0]:
            raise ValueError(
                f"y has shape {given.shape}, but X has {sequences.X.shape[0]} rows; with lengths give one label for "
                "each row of X"
            )
        return list(given.tolist())
    if isinstance(y, str | bytes) or not hasattr(y, "__len__"):
        raise ValueError(f"y is a {type(y).__name__}; it must be a list with the labels of each sequence")
    if len(y) != len(sequences):
        raise ValueError(f"X has {len(sequences)} sequences, but y has {len(y)}; give the labels of each sequence")
    labels: list[Any] = []
    for i, (own, length) in enumerate(zip(y, sequences.lengths.tolist(), strict=True)):
        if isinstance(own, str | bytes) or not hasattr(own, "__len__"):
            raise ValueError(f"y[{i}] is {own!r}; it must be the list of labels of a sequence")
        refuse_masked(f"y[{i}]", own, "give every position a label")
        held = own.tolist() if isinstance(own, np.ndarray) else [*own]  # whatever length it tells
        if len(held) != length:
            raise ValueError(
                f"X[{i}] has {counted(length, 'position')}, but y[{i}] has {counted(len(held), 'label')}; give each "
                "position a label"
            )
        labels.extend(held)
    return labels


def encode_labels(labels: list[Any]) -> Labels:
    """The different labels in order, and which one each position has."""
    kinds = set(map(type, labels))
    texts = {kind for kind in kinds if issubclass(kind, str)}
    whole = {kind for kind in kinds if issubclass(kind, int | np.integer | np.bool_)}
    if kinds not in (texts, whole):
        wrong = next(label for label in labels if type(label) not in (texts or whole))
        raise ValueError(f"y holds {wrong!r}; labels must be strings, or whole numbers, and all of one kind")
    different = sorted(set(labels))
    if not different:
        raise ValueError("y has no labels: all sequences are empty; give some with positions")
    if len(different) < 2:
        raise ValueError(f"y has one label only, {different[0]!r}; one class is too few for a classifier")
    if len(different) > 65_535:
        raise ValueError(f"y has {len(different)} different labels; at most 65535 are supported")
    classes = np.array(different)
    alone = [label for label in different if np.array(label).dtype.kind == "O"]  # too large
    for label, kept in zip(alone or different, alone or classes.tolist(), strict=True):
        if label != kept or isinstance(kept, float) or classes.dtype.kind == "O":
            raise ValueError(f"y holds the label {label!r}, which an array cannot hold; name it otherwise")
    return Labels(classes, look_up_labels(labels, classes).astype(np.uint16))


def look_up_labels(labels: list[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Which of the classes each label is; -1 where it is none."""
    numbers = {label: number for number, label in enumerate(classes.tolist())}
    return np.fromiter(map(numbers.get, labels, repeat(-1)), dtype=np.int64, count=len(labels))
