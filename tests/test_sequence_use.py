"""Sequences in use: constraints, and fits that continue."""

import pytest
from bio_sentences import as_strings, make_sentences

from pegasos import SequenceSVC

X, Y = as_strings(make_sentences(60))


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
