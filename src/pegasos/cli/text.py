"""Texts as data: raw ones in files and tables, and words after labels in Vowpal Wabbit's lines."""

from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np
from sklearn.base import is_regressor

from pegasos.base.wording import counted
from pegasos.cli.data import Data, DataFlags, file_of, fit_or_keep, quoted
from pegasos.cli.examples import Svmlight, whole, words_of
from pegasos.io import read_text
from pegasos.io.raw_text import as_labels, read_raw_text
from pegasos.io.table import read_text_column, table_columns
from pegasos.io.table_file import is_table
from pegasos.io.text import read_text_rows
from pegasos.linear.text import TextHasher

DEFAULT_BITS = 18


def is_vectorizer(step: Any) -> bool:
    """Whether it makes features of raw text."""
    return hasattr(step, "build_analyzer") and hasattr(step, "vocabulary_")


class _Behind(Svmlight):
    """Examples whose features a step before the model makes; what is read are the features."""

    step: Any
    names = None

    def fit(self, machine: Any, data: Data) -> Any:
        if data.y is None:
            raise click.UsageError(f"{data.source} has examples without a label to train on; {self.remedy}")
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        return make_pipeline(self.step, fit_or_keep(machine, data.X, data.y, data.weights))

    def unfitted(self, machine: Any, data: Data) -> Any:
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        return make_pipeline(self.step, super().unfitted(machine, data))

    def called(self, data: Data) -> Sequence[str] | None:
        return None

    @property
    def remedy(self) -> str:
        return "write label | features"


class HashedText(_Behind):
    """Examples, one a line, as words after a label, in Vowpal Wabbit's format."""

    def __init__(self, hasher: TextHasher | None, flags: DataFlags) -> None:
        flags.refuse("other files than text", "zero_based", "dtype", "template", "separator", "scheme", "memory_limit")
        flags.refuse("raw text, and a hash is of lines with label | words", "text", "ngrams", "min_count")
        flags.refuse("tables", "label")
        if hasher is not None and flags.hash_bits not in (None, hasher.hash_bits):
            raise click.UsageError("--hash-bits is another than that of the model, which it continues; leave it out")
        self.step = hasher or TextHasher(DEFAULT_BITS if flags.hash_bits is None else flags.hash_bits).fit([])

    def read(self, source: str) -> Data:
        return self._hashed(source, *read_text(file_of(source), self.step.hash_bits, normalize=self.step.normalize))

    def parts(self, source: str) -> Iterator[Data]:
        bits, empty = self.step.hash_bits, True
        for rows in read_text_rows(file_of(source), bits, normalize=self.step.normalize):
            if len(rows.labels):
                empty = False
                yield self._hashed(source, rows.matrix(bits), rows.labels, rows.weights)
        if empty:
            raise click.UsageError(f"{source}: no examples")

    def _hashed(self, source: str, X: Any, y: Any, weights: Any) -> Data:
        if not X.shape[0]:
            raise click.UsageError(f"{source}: no examples")
        text = f"{counted(X.shape[0], 'example')} of text, {X.nnz:,} entries"
        labels = None if np.isnan(y).any() else whole(y)
        return Data(source, X, labels, {"examples": X.shape[0]}, text, None if (weights == 1).all() else weights)

    @property
    def unlabelled(self) -> str:
        return "examples without a label"


class Texts(_Behind):
    """Raw texts, a line each after its label, or in a column of a table; words are features."""

    what = "text"

    def __init__(self, vectorizer: Any, machine: Any, flags: DataFlags, data: str) -> None:
        flags.refuse("other files than text", "zero_based", "dtype", "template", "separator", "scheme", "memory_limit")
        flags.refuse("vw lines, with --format vw; raw text has a vocabulary", "hash_bits")
        self.fitted, self.machine, self.label = vectorizer is not None, machine, flags.label
        if self.fitted:
            flags.refuse("training anew, and this model has its words", "ngrams", "min_count")
        self.step = vectorizer if self.fitted else _vectorizer(flags)
        self.column = flags.text
        if self.column is None and hasattr(self.step, "feature_names_in_"):
            self.column = str(self.step.feature_names_in_[0])
        self.table = is_table(data)
        if ".tsv" in data.lower() and flags.text is None and flags.label is None:
            # A label, a tab and a text on each line have that name too, but not the one of the column.
            self.table = self.column is not None and self.column in table_columns(data)
        if not self.table:
            flags.refuse("tables, such as .csv and .parquet files", "text", "label")
        if self.table and self.column is None:
            raise click.UsageError(f"{data} is a table; name its column of texts with --text")

    @property
    def remedy(self) -> str:
        if self.table:
            return "name the column of labels with --label"
        return "write a label, a tab and the text, or __label__x and the text, on each line"

    def parts(self, source: str) -> Iterator[Data]:
        yield self.read(source)

    def read(self, source: str) -> Data:
        self.others: list[str] = []
        if self.table and self.column is not None:
            texts, y = read_text_column(source, self.column, self.label, words=words_of(self.machine))
            self.others = [name for name in table_columns(source) if name not in (self.column, self.label)]
            y = None if y is None else whole(y)
        else:
            texts, labels = read_raw_text(file_of(source))
            y = None if labels is None else self._labels(source, labels)
        if not texts:
            raise click.UsageError(f"{source}: no texts")
        X = self._features(texts, source)
        what = "word" if self.step.analyzer == "word" and self.step.ngram_range == (1, 1) else "feature"
        text = f"{counted(len(texts), 'text')}, {counted(X.shape[1], f'different {what}')}, {X.nnz:,} entries"
        return Data(source, X, y, {"examples": len(texts)}, text)

    def _labels(self, source: str, words: list[str]) -> Any:
        """Labels of lines: numbers if all are such, and strings for a model whose labels are."""
        known = getattr(self.machine, "classes_", None)
        if known is not None and known.dtype.kind == "U":
            return np.asarray(words)
        labels = as_labels(words, is_regressor(self.machine))
        if is_regressor(self.machine) and labels.dtype.kind == "U":
            raise click.UsageError(f"{source} has labels that are no numbers, and a regression needs targets")
        return labels

    def _features(self, texts: list[str], source: str) -> Any:
        if self.fitted:
            return self.step.transform(texts)
        try:
            X = self.step.fit_transform(texts)
        except ValueError as error:  # of a vocabulary that is empty
            remedy = ", or lower --min-count" if self.step.min_df > 1 else ""
            raise click.UsageError(f"{source}: no words to make features of ({error}); is it text?{remedy}") from None
        if self.table:
            self.step.feature_names_in_ = np.array([self.column], dtype=object)
        return X

    @property
    def unlabelled(self) -> str:
        return f"{quoted(self.others)} and no --label" if self.others else super().unlabelled


def _vectorizer(flags: DataFlags) -> Any:
    """Words count by the logarithm of their number in a text, and the more the fewer texts have them."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # not for all commands: it takes a while

    return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, flags.ngrams or 1), min_df=flags.min_count or 1)
