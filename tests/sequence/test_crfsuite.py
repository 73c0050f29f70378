"""Features as python-crfsuite takes them: the same names and values, and its own sequences."""

import numpy as np
import pytest

from pegasos import SequenceSVC

crfsuite = pytest.importorskip("pycrfsuite", reason="beside the real CRFsuite: pip install python-crfsuite")

POSITIONS = [
    {"word": "He", "length": 2.5, "upper": True, "lower": False, "count": 4, "empty": ""},
    {"word": "went", "tags": {"a", "b"}, "list": ["x", "y"]},
    {"nested": {"key": "value", "number": 3.0, "deep": {"er": "still"}, "flag": True}, "minus": -1.5},
    ["a", "b:2", "word:He"],
    {"set", "of", "strings"},
    {},
    {"né": "ü", "a:b": 1.0, "a b": "c d"},
]
LABELS = ["A", "B", "A", "B", "A", "B", "A"]


def weights_by_name(model, sequence):
    """Of each position what features it has, as the model sees them."""
    X = model._encoder.transform([sequence], None).X.tocsr()
    names = model._encoder.names()
    return [{names[k]: X[t, k] for k in X[[t]].indices} for t in range(X.shape[0])]


def test_names_and_values_are_those_of_crfsuite():
    model = SequenceSVC(random_state=0).fit([POSITIONS], [LABELS])
    theirs = crfsuite.ItemSequence(POSITIONS).items()
    expected = [{name: value for name, value in position.items() if value} for position in theirs]
    assert weights_by_name(model, POSITIONS) == expected


def test_sequences_of_crfsuite():
    X = [POSITIONS, POSITIONS[:2], [{"word": "He"}]]
    y = [LABELS, ["A", "B"], ["A"]]
    theirs = [crfsuite.ItemSequence(sequence) for sequence in X]
    ours, taken = SequenceSVC(random_state=0).fit(X, y), SequenceSVC(random_state=0).fit(theirs, y)
    # Sets have no order, and neither have the features of CRFsuite; those of the same name have the same weight.
    weights = [dict(zip(model.feature_names_, model.coef_.T.tolist(), strict=True)) for model in (ours, taken)]
    assert weights[0].keys() == weights[1].keys()
    for name, weight in weights[0].items():
        np.testing.assert_allclose(weights[1][name], weight, atol=1e-9)
    assert ours.predict(X) == taken.predict(theirs) == ours.predict(theirs)
    assert ours.predict([X[0], theirs[0]])[0] == ours.predict(X)[0]  # one of each
    assert taken.score(theirs, y) == ours.score(X, y)
    with pytest.raises(ValueError, match="X is a ItemSequence; it must be a list of sequences"):
        ours.predict(theirs[0])


def test_what_a_trainer_learns_from(tmp_path):
    """The same lists go into CRFsuite's trainer and ours, and both learn them."""
    texts = ["he ran", "a dog sat", "he"]
    X = [[{"word": word, "place": t / 3} for t, word in enumerate(text.split())] for text in texts]
    y = [["N", "V"], ["D", "N", "V"], ["N"]]
    trainer = crfsuite.Trainer(verbose=False)
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(sequence, labels)
    trainer.train(str(tmp_path / "crf"))
    tagger = crfsuite.Tagger()
    with tagger.open(str(tmp_path / "crf")):
        assert [tagger.tag(sequence) for sequence in X] == y
    assert SequenceSVC(C=10, random_state=0).fit(X, y).predict(X) == y
