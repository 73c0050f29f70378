"""make_text: documents that look like documents."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import LinearSVC
from pegasos.datasets import make_text


@pytest.fixture(scope="module")
def text():
    return make_text(4000, 2000, random_state=0)


def test_shapes_and_types(text):
    X, y = text
    assert sp.isspmatrix_csr(X)
    assert X.shape == (4000, 2000)
    assert X.dtype == np.float32
    assert X.indices.dtype == np.int32
    assert y.shape == (4000,)
    assert set(np.unique(y)) == {-1, 1}
    assert 0.4 < np.mean(y > 0) < 0.6
    assert make_text(10, 20, dtype=np.float64, random_state=0)[0].dtype == np.float64


def test_rows_have_unit_norm(text):
    X, _ = text
    np.testing.assert_allclose(sp.linalg.norm(X.astype(np.float64), axis=1), 1, rtol=1e-5)
    assert X.data.min() > 0
    assert np.diff(X.indptr).min() >= 1


def test_columns_are_in_order_and_occur_once(text):
    X, _ = text
    fresh = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
    assert fresh.has_canonical_format
    X.check_format(full_check=True)


def test_words_follow_zipf(text):
    X, _ = text
    frequency = np.sort(np.bincount(X.indices, minlength=X.shape[1]))[::-1]
    assert frequency[0] > 5 * frequency[100] > 25 * frequency[1900]
    ranks = np.arange(100, 1000)  # below the words that are in nearly every document
    slope = np.polyfit(np.log(ranks), np.log(frequency[ranks]), 1)[0]
    assert -1.2 < slope < -0.8
    common = np.argsort(np.bincount(X.indices, minlength=X.shape[1]))[-200:]
    assert 0.3 < np.mean(common < 1000) < 0.7  # frequent words are anywhere in the vocabulary


def test_lengths_follow_mean_length():
    short, long = (make_text(500, 2000, mean_length=length, random_state=0)[0] for length in (20, 200))
    assert 12 < short.nnz / 500 < 20
    assert 80 < long.nnz / 500 < 200


def test_a_linear_model_learns_it(text):
    X, y = text
    clf = LinearSVC(C=1.0, tol=0, max_iter=30, random_state=0).fit(X[:3000], y[:3000])
    assert clf.score(X[3000:], y[3000:]) > 0.7


def test_flip():
    clean, noisy = (make_text(2000, 500, flip=flip, random_state=0)[1] for flip in (0, 0.3))
    assert 0.25 < np.mean(clean != noisy) < 0.35


def test_seed(text):
    X, y = make_text(4000, 2000, random_state=0)
    assert (text[0] != X).nnz == 0
    np.testing.assert_array_equal(y, text[1])
    assert (make_text(4000, 2000, random_state=1)[0] != X).nnz > 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 2)])
def test_small(shape):
    X, y = make_text(*shape, random_state=0)
    assert X.shape == shape
    assert len(y) == shape[0]
    assert np.isfinite(X.data).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples=0: must be at least 1"),
        ({"n_features": -3}, "n_features=-3: must be at least 1"),
        ({"mean_length": 0}, "mean_length=0 must be positive"),
        ({"flip": 1.5}, r"flip=1\.5 between 0 and 1"),
        ({"flip": float("nan")}, "flip=nan between 0 and 1"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        make_text(**({"n_samples": 10, "n_features": 10} | options))
