"""Sentences in columns."""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click
import numpy as np
from sklearn.base import clone

from pegasos.base.wording import counted
from pegasos.cli.data import Data, DataFlags, Summary, file_of, fit_or_keep
from pegasos.cli.predictions import judge_labels, line_of, no_error, none_known, unknown_labels
from pegasos.io.conll import read_lines
from pegasos.sequence.chunks import ChunkCounts, chunk_scores, to_iob2
from pegasos.sequence.svc import ForbiddenLink
from pegasos.sequence.templates import Template


class Columns:
    """Sentences in columns, of which the last is the label; a template makes features of the others."""

    def __init__(self, template: Template | None, flags: DataFlags) -> None:
        flags.refuse("svmlight files, and sequences come in columns", "zero_based", "dtype")
        flags.refuse("tables, and the last column of a sequence is its label", "label")
        #: Columns of the files the model was trained on, but for the label.
        self.width: int | None = getattr(template, "n_features_in_", None)
        self.separator = "\t" if flags.separator in ("tab", "\\t") else flags.separator
        if self.separator is not None and (not self.separator or set(self.separator) & set("\r\n")):
            raise click.UsageError(f"--separator {self.separator!r}: give what stands between columns, such as tab")
        self.iob1 = flags.scheme == "iob1"
        self.template = template
        if flags.template is None:
            return
        self.template = _template(flags.template)
        if template is not None and self.template.text != template.text:
            raise click.UsageError("--template is another than that of the model, which it continues; leave it out")

    def read(self, source: str) -> Data:
        sentences, lines = read_lines(file_of(source), self.separator)
        width = len(sentences[0][0])
        labelled = self.width is None or width == self.width + 1
        if self.width is not None and width not in (self.width, self.width + 1):
            raise click.UsageError(
                f"{source} has {_columns(width)}, but the model was trained on {_columns(self.width)} and labels after "
                "them; pass a file with these, with labels or without"
            )
        if self.width is None and width < 2:
            raise click.UsageError(
                f"{source} has one column, and the last is the label; add columns that the label depends on, or "
                "tell with --separator what is between them"
            )
        used = self.template.n_columns if self.template is not None else 0
        if labelled and used > width - 1:
            raise click.UsageError(
                f"{source} has {_columns(width - 1)} before the label, but the template uses {used}; choose another "
                "with --template"
            )
        positions = sum(map(len, sentences))
        counts = {"sentences": len(sentences), "positions": positions}
        text = f"{counted(len(sentences), 'sentence')} of {counted(positions, 'position')}"
        if not labelled:
            return Data(source, sentences, None, counts, text, lines=lines)
        X = [[position[:-1] for position in sentence] for sentence in sentences]
        y = [[position[-1] for position in sentence] for sentence in sentences]
        if self.iob1:
            y = [_from_iob1(own, f"{source}: the sentence at line {line}") for own, line in zip(y, lines, strict=True)]
        different = len({label for own in y for label in own})
        return Data(
            source, X, y, counts, f"{text}, {_columns(width - 1)} and {counted(different, 'label')}", lines=lines
        )

    def parts(self, source: str) -> Iterator[Data]:
        yield self.read(source)

    def fit(self, machine: Any, data: Data) -> Any:
        if data.y is None or data.lines is None:
            raise click.UsageError(f"{data.source} has no column of labels to train on; add it as the last one")
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        try:
            return fit_or_keep(make_pipeline(self._template_for(data), machine), data.X, data.y)
        except ForbiddenLink as error:
            line = data.lines[error.sequence] + error.position
            raise click.UsageError(
                f"{data.source}: line {line}: {error.link}, which --constraints forbids; mend the label, leave "
                "--constraints out, or give --scheme iob1 if chunks begin with I-"
            ) from None

    def features(self, data: Data) -> Any:
        return self._template_for(data).transform(data.X)

    def called(self, data: Data) -> Sequence[str] | None:
        return None

    def unfitted(self, machine: Any, data: Data) -> Any:
        from sklearn.pipeline import make_pipeline  # not for all commands: it takes a while

        return make_pipeline(clone(self._template_for(data)).fit(data.X), machine)

    def _template_for(self, data: Data) -> Template:
        return self.template or Template.window(len(data.X[0][0]))

    def lines(self, values: Any) -> str:
        """A line for each position, and an empty one between sentences."""
        texts = ("".join(f"{line_of(value)}\n" for value in np.asarray(own).tolist()) for own in values)
        return "\n".join(texts)

    def judge(self, parts: Iterable[tuple[Any, Data]], machine: Any) -> Summary:
        [(predicted, data)] = parts
        if data.y is None:
            return no_error(data.source, data.counts, "position", data.counts["positions"], "no labels")
        known = set(machine.classes_.tolist())
        pairs = [pair for own, made in zip(data.y, predicted, strict=True) for pair in zip(own, made, strict=True)]
        unknown = sum(label not in known for label, _ in pairs)
        if unknown == len(pairs):
            return no_error(data.source, data.counts, "position", len(pairs), none_known(pairs[0][0], machine))
        result, summary = judge_labels(sum(label != made for label, made in pairs), len(pairs), data.counts)
        summary += unknown_labels(unknown, next((label for label, _ in pairs if label not in known), None))
        try:
            scores = chunk_scores(data.y, predicted)
        except ValueError:  # they are not labels of chunks
            return result, summary
        types = {kind: _facts(counts) for kind, counts in scores.by_type.items()}
        return result | _facts(scores) | {"types": types}, f"{summary}\n{scores.table()}"


def _columns(count: int) -> str:
    return counted(count, "column")


def _from_iob1(labels: list[str], where: str) -> list[str]:
    try:
        return to_iob2(labels)
    except ValueError as error:
        raise click.UsageError(
            f"{where}, {error}".replace("convert the labels to IOB2", "leave --scheme out")
        ) from None


def _facts(counts: ChunkCounts) -> dict[str, Any]:
    """Shares of chunks, and their numbers."""
    shares = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
    return {**shares, "chunks": counts.n_true, "predicted": counts.n_predicted, "correct": counts.n_correct}


def _template(given: str) -> Template:
    try:
        return Template.named(given)
    except ValueError as error:
        if not os.path.exists(given):
            raise click.UsageError(f"--template {given}: no such file, and {error}") from None
    return Template.from_file(given)
