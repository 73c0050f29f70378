"""Chunks, and their scores, as conlleval counts them."""

import random

import pytest

from pegasos.sequence.chunks import chunk_scores, find_chunks, to_iob2


def starts(previous, label):
    """Whether a chunk begins here, by the cases that conlleval lists."""
    (tag, kind), (before, kind_before) = (each.partition("-")[::2] for each in (label, previous))
    listed = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}
    return (before, tag) in listed or (tag != "O" and kind_before != kind)


def ends(previous, label):
    """Whether a chunk has ended before this label, by the cases that conlleval lists."""
    (tag, kind), (before, kind_before) = (each.partition("-")[::2] for each in (label, previous))
    listed = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}
    return (before, tag) in listed or (before != "O" and kind_before != kind)


def count_as_conlleval(truth, predicted):
    """Its loop: numbers of true, predicted and correct chunks, by a flag that is up while both agree."""
    n_true = n_predicted = n_correct = 0
    in_correct = False
    last_true = last_predicted = "O"
    for a, b in zip([*truth, "O"], [*predicted, "O"], strict=True):
        kinds = [each.partition("-")[2] for each in (a, b, last_true, last_predicted)]
        if in_correct:
            both = ends(last_true, a), ends(last_predicted, b)
            if all(both) and kinds[2] == kinds[3]:
                in_correct = False
                n_correct += 1
            elif (any(both) and not all(both)) or kinds[0] != kinds[1]:
                in_correct = False
        begin = starts(last_true, a), starts(last_predicted, b)
        if all(begin) and kinds[0] == kinds[1]:
            in_correct = True
        n_true += begin[0]
        n_predicted += begin[1]
        last_true, last_predicted = a, b
    return n_true, n_predicted, n_correct


def test_any_labels_count_as_in_conlleval():
    rng = random.Random(0)
    labels = ["O", "B-A", "I-A", "B-B", "I-B"]
    for _ in range(3000):
        length = rng.randint(0, 8)
        truth = rng.choices(labels, k=length)
        predicted = [label if rng.random() < 0.7 else rng.choice(labels) for label in truth]
        scores = chunk_scores([truth], [predicted])
        assert (scores.n_true, scores.n_predicted, scores.n_correct) == count_as_conlleval(truth, predicted)


@pytest.mark.parametrize(
    ("labels", "chunks"),
    [
        ("", []),
        ("O O", []),
        ("B-A I-A O", [("A", 0, 2)]),
        ("O B-A I-A", [("A", 1, 3)]),
        ("I-A I-A", [("A", 0, 2)]),  # IOB1: B only between neighbours of one type
        ("I-A B-A I-A", [("A", 0, 1), ("A", 1, 3)]),
        ("B-A B-A", [("A", 0, 1), ("A", 1, 2)]),
        ("B-A I-B", [("A", 0, 1), ("B", 1, 2)]),
        ("B-A I-B I-A", [("A", 0, 1), ("B", 1, 2), ("A", 2, 3)]),
        ("I-A O I-A", [("A", 0, 1), ("A", 2, 3)]),
        ("B-A B-B I-B", [("A", 0, 1), ("B", 1, 3)]),
        ("B I O I", [("", 0, 2), ("", 3, 4)]),
        ("B I-A", [("", 0, 1), ("A", 1, 2)]),
        ("B-A-x I-A-x I-A", [("A-x", 0, 2), ("A", 2, 3)]),
    ],
)
def test_chunks(labels, chunks):
    assert find_chunks(labels.split()) == chunks


def test_scores():
    truth = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP", "B-NP", "O"], ["I-PP"], []]
    predicted = [["B-NP", "I-NP", "O", "B-NP"], ["B-NP", "I-NP", "O"], ["B-PP"], []]
    scores = chunk_scores(truth, predicted)
    assert (scores.n_true, scores.n_predicted, scores.n_correct) == (5, 4, 2)
    assert (scores.n_positions, scores.n_correct_positions) == (8, 5)
    assert scores.precision == 2 / 4
    assert scores.recall == 2 / 5
    assert scores.f1 == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    assert scores.accuracy == 5 / 8
    assert list(scores.by_type) == ["NP", "PP", "VP"]
    noun, verb = scores.by_type["NP"], scores.by_type["VP"]
    assert (noun.n_true, noun.n_predicted, noun.n_correct) == (3, 3, 1)
    assert (verb.precision, verb.recall, verb.f1) == (0, 0, 0)
    assert scores.by_type["PP"].f1 == 1


def test_a_chunk_does_not_go_on_in_the_next_sequence():
    assert chunk_scores([["B-A"], ["I-A"]], [["B-A"], ["I-A"]]).n_true == 2


def test_part_of_a_chunk_is_none():
    scores = chunk_scores([["B-A", "I-A", "I-A"]], [["B-A", "I-A", "O"]])
    assert (scores.n_true, scores.n_predicted, scores.n_correct) == (1, 1, 0)


def test_nothing_at_all():
    scores = chunk_scores([], [])
    assert (scores.precision, scores.recall, scores.f1, scores.accuracy) == (0, 0, 0, 0)
    assert chunk_scores([["O"]], [["O"]]).f1 == 0
    assert str(scores)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="y_true has 1 sequences and y_pred 2; pass as many of both"):
        chunk_scores([["O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="sequence 1 has 2 labels in y_true and 1 in y_pred; pass one for each"):
        chunk_scores([["O"], ["O", "O"]], [["O"], ["O"]])
    message = "sequence 1, position 1: label 'S-A' is none of O, B-type and I-type; convert the labels to IOB2"
    with pytest.raises(ValueError, match=message):
        chunk_scores([["O"], ["O", "O"]], [["O"], ["B-A", "S-A"]])
    for label in ("", "NP", "O-A", "o"):
        with pytest.raises(ValueError, match="is none of"):
            find_chunks([label])


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        (None, [["O"]], r"y_true is None; pass a list of label sequences"),
        ([["O"]], 5, r"y_pred is 5; pass a list"),
        ("O", ["O"], r"y_true is 'O'; pass a list"),
        (["O"], ["O"], r"sequence 0 is 'O'; pass a list of labels"),
        ([["O"]], [None], r"sequence 0 is None; pass a list of labels"),
        ([[1]], [["O"]], r"sequence 0, position 0: label 1 is no string"),
    ],
)
def test_arguments_of_other_types(y_true, y_pred, message):
    with pytest.raises((TypeError, ValueError), match=message):
        chunk_scores(y_true, y_pred)


def test_iob2_has_the_same_chunks_and_stays_as_it_is():
    rng = random.Random(1)
    for _ in range(500):
        labels = rng.choices(["O", "B-A", "I-A", "B-B-C", "I-B-C", "B", "I"], k=rng.randint(0, 8))
        converted = to_iob2(labels)
        assert find_chunks(converted) == find_chunks(labels)
        assert {label[0] for start in find_chunks(labels) for label in [converted[start[1]]]} <= {"B"}
        assert to_iob2(converted) == converted
    with pytest.raises(ValueError, match="position 1: label 'S-A' is none of O, B-type and I-type"):
        to_iob2(["O", "S-A"])
