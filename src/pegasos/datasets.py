"""Synthetic data for demonstrations, tests and benchmarks."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import check_random_state

__all__ = ["make_text"]


def make_text(
    n_samples: int = 200_000,
    n_features: int = 50_000,
    *,
    mean_length: float = 100.0,
    flip: float = 0.02,
    dtype: DTypeLike = np.float32,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """A synthetic binary text classification problem, as bags of words.

    Words follow Zipf's law, and document lengths a log-normal distribution. Entries are tf-idf, and rows have unit
    norm. The label is the sign of a linear function of the document, with noise at the border and a few labels flipped.

    Parameters
    ----------
    n_samples, n_features : int
        The numbers of documents, and of words in the vocabulary.
    mean_length : float, default=100
        The mean number of words in a document. Repeated words share an entry, so rows have fewer entries.
    flip : float, default=0.02
        The share of labels to flip.
    dtype : {np.float32, np.float64}, default=np.float32
        The type of the entries.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        The documents.
    y : ndarray of shape (n_samples,)
        The labels, -1 and 1.

    Examples
    --------
    >>> from pegasos.datasets import make_text
    >>> X, y = make_text(100, 500, random_state=0)
    >>> X.shape
    (100, 500)
    """
    for name, value in (("n_samples", n_samples), ("n_features", n_features)):
        if value < 1:
            raise ValueError(f"{name}={value}: must be at least 1")
    if mean_length <= 0 or not 0 <= flip <= 1:
        raise ValueError(f"mean_length={mean_length} must be positive and flip={flip} between 0 and 1")
    random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    sigma = 0.6
    lengths = random.lognormal(np.log(mean_length) - sigma**2 / 2, sigma, n_samples)
    counts = _count_words(random, np.maximum(lengths.astype(np.int64), 1), n_features)

    document_frequency = np.bincount(counts.indices, minlength=n_features)
    idf = np.log((1 + n_samples) / (1 + document_frequency)) + 1
    counts.data = (1 + np.log(counts.data)) * idf[counts.indices]
    norms = np.sqrt(np.add.reduceat(counts.data**2, counts.indptr[:-1]))
    counts.data /= np.repeat(norms, np.diff(counts.indptr))

    # Words too rare to learn from mean little.
    concept = random.standard_normal(n_features) * np.sqrt(document_frequency / (document_frequency + n_samples / 200))
    scores: NDArray[Any] = counts @ concept
    scores += 0.1 * scores.std() * random.standard_normal(n_samples)
    y = np.where(scores > np.median(scores), 1, -1)
    y[random.random(n_samples) < flip] *= -1
    return counts.astype(dtype, copy=False), y


def _count_words(random: np.random.Generator, lengths: NDArray[np.int64], n_features: int) -> sp.csr_matrix:
    """Word counts of documents of these lengths: CSR, float64, columns in order."""
    cumulative = np.cumsum(1 / (np.arange(n_features) + 2.7))
    word_of_rank = random.permutation(n_features)  # so that frequent words do not all have low numbers
    parts = []
    for block in np.array_split(lengths, max(1, int(lengths.sum()) // 5_000_000)):
        ranks = np.searchsorted(cumulative, random.random(int(block.sum())) * cumulative[-1], side="right")
        words = word_of_rank[np.minimum(ranks, n_features - 1)]
        rows = np.repeat(np.arange(len(block)), block)
        ones = np.ones(len(words))
        parts.append(sp.csr_matrix((ones, (rows, words)), shape=(len(block), n_features)))
    return sp.vstack(parts, format="csr")
