"""scikit-learn's checks of an estimator, with rows that are sequences of one position each."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import pegasos

NOT_EXACT = "asks for decisions equal to 1e-7, more than a duality gap of tol says"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": NOT_EXACT,
    "check_sample_weight_equivalence_on_sparse_data": NOT_EXACT,
}


def rows(X):
    """The examples, and a length of 1 for each."""
    X = X if sp.issparse(X) else np.asarray(X)
    return X, np.ones(X.shape[0] if X.ndim else 1, dtype=int)


def labels(y):
    """Labels that are whole numbers or strings."""
    y = np.asarray(y)
    return y.astype(int) if y.dtype.kind == "f" else y


class SequenceSVC(pegasos.SequenceSVC):
    """Each row of X is a sequence."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(rows(X)[0], None if y is None else labels(y), sample_weight, lengths=rows(X)[1])

    def score(self, X, y, sample_weight=None):
        return super().score(rows(X)[0], labels(y), sample_weight, lengths=rows(X)[1])

    def predict(self, X):
        return super().predict(*rows(X))

    def decision_function(self, X):
        return super().decision_function(*rows(X))

    def margins(self, X):
        return super().margins(*rows(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([SequenceSVC()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_masked_entries_are_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    hidden = np.ma.masked_array([0, 1, 0, 1], mask=[0, 1, 0, 0])
    for (*args, lengths), name in (
        ((np.ma.masked_array(X, mask=X > 0), y, None, [2, 2]), "X"),
        (([np.ma.masked_array(X, mask=X > 0)], [y], None, None), r"X\[0\]"),
        ((X, hidden, None, [2, 2]), "y"),
        (([X], [hidden], None, None), r"y\[0\]"),
        ((X, y, None, np.ma.masked_array([2, 2], mask=[0, 1])), "lengths"),
        ((X, y, np.ma.masked_array([1, 1], mask=[0, 1]), [2, 2]), "sample_weight"),
    ):
        with pytest.raises(ValueError, match=f"^{name} has masked entries, which are missing values; "):
            pegasos.SequenceSVC().fit(*args, lengths=lengths)


def test_arguments_have_the_order_of_other_estimators():
    X, y, s = np.eye(4), [0, 1, 0, 1], [1.0, 3.0]
    by_place = pegasos.SequenceSVC(random_state=0).fit(X, y, s, lengths=[2, 2])
    by_name = pegasos.SequenceSVC(random_state=0).fit(X, y, sample_weight=s, lengths=[2, 2])
    np.testing.assert_array_equal(by_place.coef_, by_name.coef_)
    assert by_place.score(X, y, s, lengths=[2, 2]) == 1
    with pytest.raises(TypeError):
        by_place.fit(X, y, s, [2, 2])
