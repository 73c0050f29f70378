"""Sequences in use: constraints, and fits that continue."""

import numpy as np
import pytest
from sequence_helpers import as_arrays, as_strings, make_sentences

from pegasos import SequenceSVC

SENTENCES = make_sentences(60)
X, Y = as_strings(SENTENCES)


def test_a_fit_that_continues_under_new_constraints_keeps_a_true_bound():
    """Labellings of the last fit that are forbidden now have no share in the dual."""
    model = SequenceSVC(warm_start=True, tol=1e-6, random_state=0).fit(X, Y)
    model.set_params(constraints="bio").fit(X, Y)
    cold = SequenceSVC(constraints="bio", tol=1e-6, random_state=0).fit(X, Y)
    assert model.certificate_.converged
    assert model.certificate_.dual <= cold.certificate_.primal * (1 + 1e-12)
    assert cold.certificate_.dual <= model.certificate_.primal * (1 + 1e-12)
    assert model.n_iter_ < cold.n_iter_


@pytest.mark.parametrize("constraints", ["iob", 3, iter([("O", "I-X")])])
def test_constraints_that_are_none(constraints):
    with pytest.raises(ValueError, match="must be 'bio', a list of pairs of labels, or None"):
        SequenceSVC(constraints=constraints).fit(X, Y)


def test_labels_that_break_constraints_are_named():
    with pytest.raises(ValueError, match=r"y\[1\] has the label 'I-X' after 'B-Y', at position 2, which constraints"):
        SequenceSVC(constraints="bio").fit([[["a"]], [["a"]] * 4], [["O"], ["B-X", "B-Y", "I-X", "O"]])
    with pytest.raises(ValueError, match=r"y\[0\] has the label 'I-X' at the start, at position 0"):
        SequenceSVC(constraints="bio").fit([[["a"]], [["a"]]], [["I-X"], ["O"]])
    with pytest.raises(ValueError, match=r"y\[2\] has the label 'O' at the end, at position 1"):
        SequenceSVC(constraints=[("O", None)]).fit([[["a"]], [], [["a"]] * 2], [["B-X"], [], ["B-X", "O"]])


def test_a_fit_that_cannot_continue_has_the_features_of_its_own_sequences():
    model = SequenceSVC(warm_start=True, random_state=0).fit(X[:10], Y[:10])
    others = [[[f"new {text}" for text in position] for position in sequence] for sequence in X[10:60]]
    model.fit(iter(others), Y[10:60])
    cold = SequenceSVC(random_state=0).fit(others, Y[10:60])
    assert model.n_features_in_ == cold.n_features_in_
    np.testing.assert_array_equal(model.coef_, cold.coef_)


def test_a_fit_continues_with_sequences_added():
    model = SequenceSVC(C=0.1, warm_start=True, random_state=0, tol=1e-4).fit(X[:55], Y[:55])
    cold = SequenceSVC(C=0.1, random_state=0, tol=1e-4).fit(X, Y)
    model.fit(X, Y)
    assert model.history_["epoch"][0] == 0
    assert model.history_["gap"][0] < 0.1
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=2e-4)


@pytest.mark.parametrize("make", [as_strings, as_arrays])
def test_no_sequences_and_empty_ones(make):
    sequences, labels = make(SENTENCES)
    model = SequenceSVC(random_state=0).fit(sequences, labels)
    for method in (model.predict, model.margins, model.decision_function):
        assert method([]) == []
        assert [len(part) for part in method([[], sequences[0], []])] == [0, len(sequences[0]), 0]
    assert model.decision_function([[]])[0].shape == (0, 5)


def test_a_matrix_without_rows():
    sequences, labels = as_arrays(SENTENCES)
    lengths = [len(own) for own in labels]
    model = SequenceSVC(random_state=0).fit(np.concatenate(sequences), np.concatenate(labels), lengths=lengths)
    assert model.predict(np.empty((0, 3)), [0, 0]).shape == (0,)
    assert model.margins(np.empty((0, 3)), []).shape == (0,)


def test_what_users_of_crfs_look_for():
    model = SequenceSVC()
    for name in ("predict_marginals", "predict_proba"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="margins"):
            getattr(model, name)
