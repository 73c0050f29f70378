"""Texts to features, as a step of a pipeline."""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

from pegasos.base.conventions import BaseEstimator, TransformerMixin
from pegasos.base.options import Flag, Integer, Option, check_options
from pegasos.base.parameters import parameter, parameters
from pegasos.io.text import MOST_HASH_BITS, hash_text


@parameters(kw_only=False)
class TextHasher(TransformerMixin, BaseEstimator):
    """Turn the words of texts into features, by their hash: see `pegasos.io.hash_text`.

    There is nothing to fit. In a pipeline before a linear estimator, it takes texts. A model file keeps both, and the
    command reads files in Vowpal Wabbit's line format with it.

    Parameters
    ----------
    hash_bits : int, default=18
        There are ``2 ** hash_bits`` features.
    normalize : bool, default=True
        Whether to divide each row by its Euclidean norm.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from pegasos import LinearSVC, TextHasher
    >>> texts, labels = ["good film", "bad film", "a good book", "a bad book"], [1, 0, 1, 0]
    >>> make_pipeline(TextHasher(10), LinearSVC()).fit(texts, labels).predict(["a good one", "bad"])
    array([1, 0])
    """

    options: ClassVar[Mapping[str, Option]]

    hash_bits: int = parameter(
        18, Integer(low=1, high=MOST_HASH_BITS, help="number features by this many bits of their hash")
    )
    _: KW_ONLY
    normalize: bool = parameter(True, Flag(help="divide each row by its Euclidean norm"))

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn from X."""
        check_options(self, self.options)
        return self

    def transform(self, X: Iterable[str]) -> Any:
        """The features of texts."""
        return hash_text(X, self.hash_bits, normalize=bool(self.normalize))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
