"""Chunks of labelled sequences, and how many of them were found, counted as by conlleval of the CoNLL shared tasks."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pegasos.base.wording import visible

Chunk = tuple[str, int, int]  # type, first position, and the one after the last


@dataclass(frozen=True)
class ChunkCounts:
    """Numbers of chunks, and the shares that follow from them. Without chunks a share is 0."""

    n_true: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted chunks that are true."""
        return _share(self.n_correct, self.n_predicted)

    @property
    def recall(self) -> float:
        """Share of the true chunks that are predicted."""
        return _share(self.n_correct, self.n_true)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return _share(2 * self.n_correct, self.n_true + self.n_predicted)


@dataclass(frozen=True)
class ChunkScores(ChunkCounts):
    """Counts of all chunks, of the chunks of each type (`by_type`), and of positions whose labels are equal."""

    n_positions: int
    n_correct_positions: int
    by_type: Mapping[str, ChunkCounts] = field(repr=False)

    @property
    def accuracy(self) -> float:
        """Share of the positions whose labels are equal, including positions outside of chunks."""
        return _share(self.n_correct_positions, self.n_positions)

    def table(self) -> str:
        """Shares and counts, a line for all chunks and one for each type."""
        named = {visible(name): counts for name, counts in self.by_type.items()}
        width = max(map(len, (*named, "all")))
        lines = [f"{'':{width}}  precision   recall       F1  chunks  predicted  correct"]
        for name, counts in (("all", self), *named.items()):
            shares = f"{counts.precision:9.2%}  {counts.recall:7.2%}  {counts.f1:7.2%}"
            lines.append(f"{name:{width}}  {shares}  {counts.n_true:6}  {counts.n_predicted:9}  {counts.n_correct:7}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.table()}\naccuracy of {self.n_positions} positions: {self.accuracy:.2%}"


def chunk_scores(y_true: Sequence[Sequence[str]], y_pred: Sequence[Sequence[str]]) -> ChunkScores:
    """Compare the chunks of predicted label sequences with the true ones, as conlleval does.

    A predicted chunk is correct if a true one has the same type and the same positions.

    Parameters
    ----------
    y_true, y_pred : sequences of sequences of str
        Labels ``O``, ``B-type`` and ``I-type``, in IOB1 or IOB2; see `find_chunks`.

    Returns
    -------
    scores : ChunkScores
        It has `precision`, `recall`, `f1` and `accuracy` as shares from 0 to 1 (conlleval prints per cent), their
        counts, and `by_type`.

    Examples
    --------
    >>> from pegasos.sequence.chunks import chunk_scores
    >>> scores = chunk_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "B-VP", "I-VP"]])
    >>> scores.f1, scores.accuracy
    (0.5, 0.5)
    >>> scores.by_type["NP"].f1
    1.0
    >>> print(scores)
         precision   recall       F1  chunks  predicted  correct
    all     50.00%   50.00%   50.00%       2          2        1
    NP     100.00%  100.00%  100.00%       1          1        1
    VP       0.00%    0.00%    0.00%       1          1        0
    accuracy of 4 positions: 50.00%
    """
    for name, sequences in (("y_true", y_true), ("y_pred", y_pred)):
        if isinstance(sequences, str) or not isinstance(sequences, Collection):
            raise TypeError(f"{name} is {sequences!r}; pass a list of label sequences, such as [['B-NP', 'O']]")
    if len(y_true) != len(y_pred):
        raise ValueError(f"y_true has {len(y_true)} sequences and y_pred {len(y_pred)}; pass as many of both")
    n_true: Counter[str] = Counter()
    n_predicted: Counter[str] = Counter()
    n_correct: Counter[str] = Counter()
    n_positions = n_correct_positions = 0
    for number, (truth, predicted) in enumerate(zip(y_true, y_pred, strict=True)):
        for labels in (truth, predicted):
            if isinstance(labels, str) or not isinstance(labels, Collection):
                raise TypeError(f"sequence {number} is {labels!r}; pass a list of labels, such as ['B-NP', 'O']")
        if len(truth) != len(predicted):
            raise ValueError(
                f"sequence {number} has {len(truth)} labels in y_true and {len(predicted)} in y_pred; pass one for "
                f"each position in both"
            )
        try:
            chunks, found = find_chunks(truth), find_chunks(predicted)
        except ValueError as error:
            raise ValueError(f"sequence {number}, {error}") from None
        n_true.update(kind for kind, _, _ in chunks)
        n_predicted.update(kind for kind, _, _ in found)
        n_correct.update(kind for kind, _, _ in set(chunks) & set(found))
        n_positions += len(truth)
        n_correct_positions += sum(a == b for a, b in zip(truth, predicted, strict=True))
    by_type = {
        kind: ChunkCounts(n_true[kind], n_predicted[kind], n_correct[kind]) for kind in sorted(n_true | n_predicted)
    }
    return ChunkScores(
        n_true.total(), n_predicted.total(), n_correct.total(), n_positions, n_correct_positions, by_type
    )


def find_chunks(labels: Sequence[str]) -> list[Chunk]:
    """The chunks of a label sequence: for each its type, its first position and the position after its last.

    A chunk begins at ``B-type``. It also begins at ``I-type`` if this comes first, after ``O`` or after another type.
    It continues with ``I-type`` of the same type. So every sequence of such labels has a meaning, whether it follows
    IOB1, IOB2 or neither. The type is everything after the first hyphen; it may be empty.

    Examples
    --------
    >>> from pegasos.sequence.chunks import find_chunks
    >>> find_chunks(["I-NP", "I-NP", "B-NP", "O", "I-NP", "I-VP"])
    [('NP', 0, 2), ('NP', 2, 3), ('NP', 4, 5), ('VP', 5, 6)]
    """
    chunks: list[Chunk] = []
    start, inside = 0, None  # inside: the type of the chunk that goes on, if any
    for k, label in enumerate(labels):
        if not isinstance(label, str):
            raise ValueError(f"position {k}: label {label!r} is no string; labels are O, B-type and I-type")
        tag, _, kind = label.partition("-")
        if tag == "I" and kind == inside:
            continue
        if inside is not None:
            chunks.append((inside, start, k))
        if tag in ("B", "I"):
            start, inside = k, kind
        elif label == "O":
            inside = None
        else:
            raise ValueError(
                f"position {k}: label {label!r} is none of O, B-type and I-type; convert the labels to IOB2"
            )
    if inside is not None:
        chunks.append((inside, start, len(labels)))
    return chunks


def to_iob2(labels: Sequence[str]) -> list[str]:
    """The same chunks with labels in IOB2: a chunk always begins with ``B-type`` and continues with ``I-type``.

    In IOB1, as in the files of CoNLL-2003, a chunk begins with ``I-type``, unless it follows a chunk of the same type.
    Labels in IOB2 stay as they are.

    Examples
    --------
    >>> from pegasos.sequence.chunks import to_iob2
    >>> to_iob2(["I-NP", "I-NP", "B-NP", "O", "I-NP", "I-VP"])
    ['B-NP', 'I-NP', 'B-NP', 'O', 'B-NP', 'B-VP']
    """
    converted = list(labels)
    for _, start, _ in find_chunks(labels):
        converted[start] = f"B{labels[start][1:]}"
    return converted


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
