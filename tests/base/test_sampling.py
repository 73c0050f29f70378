"""The streams of row numbers and the generator behind them (cpp/base/sampling.hpp, cpp/base/random.hpp)."""

import numpy as np
import pytest
import scipy.stats

from pegasos._core import native


def sample(sampling, n_rows, epochs, batch=1, seed=0):
    count = n_rows * epochs
    return np.array(native.probe_sample(sampling, n_rows, batch, seed, count)).reshape(epochs, n_rows)


def p_value(counts):
    """Of the hypothesis that all outcomes are equally likely."""
    return scipy.stats.chisquare(counts).pvalue


@pytest.mark.parametrize("sampling", ["permute", "fixed"])
def test_an_epoch_visits_each_row_once(sampling):
    epochs = sample(sampling, 37, 20)
    np.testing.assert_array_equal(np.sort(epochs, axis=1), np.tile(np.arange(37), (20, 1)))


def test_permute_changes_the_order_and_fixed_does_not():
    assert len(np.unique(sample("permute", 37, 20), axis=0)) == 20
    assert len(np.unique(sample("fixed", 37, 20), axis=0)) == 1


def test_permutations_are_equally_likely():
    _, counts = np.unique(sample("permute", 4, 24_000), axis=0, return_counts=True)
    assert len(counts) == 24
    assert p_value(counts) > 0.001


def test_replace_is_uniform_and_independent():
    draws = sample("replace", 12, 10_000).ravel()
    assert p_value(np.bincount(draws, minlength=12)) > 0.001
    pairs = draws[:-1:2] * 12 + draws[1::2]
    assert p_value(np.bincount(pairs, minlength=144)) > 0.001


def test_subset_has_different_rows_each_equally_likely():
    batches = np.array(native.probe_sample("subset", 6, 3, 0, 3 * 20_000)).reshape(-1, 3)
    assert all(len(set(batch)) == 3 for batch in batches)
    assert p_value(np.bincount(batches.ravel(), minlength=6)) > 0.001
    _, counts = np.unique(np.sort(batches, axis=1), axis=0, return_counts=True)
    assert len(counts) == 20
    assert p_value(counts) > 0.001


@pytest.mark.parametrize("bound", [3, 7, 1000, 2**32 + 1, 3 * 2**62])
def test_draws_are_unbiased(bound):
    # 3 * 2**62: plain `next() % bound` would draw the first third twice as often as the others.
    draws = np.array(native.probe_draws(seed=1, bound=bound, count=60_000), dtype=np.uint64)
    assert draws.max() < bound
    thirds = np.bincount((draws.astype(float) / bound * 3).astype(int), minlength=3)
    if bound == 3 or bound > 1000:
        assert p_value(thirds) > 0.001
    if bound <= 1000:
        assert p_value(np.bincount(draws.astype(int), minlength=bound)) > 0.001


@pytest.mark.parametrize("sampling", ["permute", "fixed", "replace", "subset"])
def test_the_seed_decides_the_stream(sampling):
    first, again, other = (sample(sampling, 50, 2, batch=5, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
