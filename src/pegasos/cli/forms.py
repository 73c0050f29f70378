"""Which form data has, by the model, the flags and the name of the file."""

from typing import Any

import click

from pegasos.cli.columns import Columns
from pegasos.cli.data import DataFlags, Form
from pegasos.cli.examples import OnDisk, Svmlight, Table
from pegasos.cli.options import refuse_other_folder
from pegasos.cli.text import HashedText, Texts, is_vectorizer
from pegasos.io.dataset import is_dataset
from pegasos.io.table_file import is_table
from pegasos.linear.text import TextHasher
from pegasos.sequence.svc import SequenceSVC
from pegasos.sequence.templates import Template
from pegasos.summary import machine_of

__all__ = ["form_of", "machine_of", "predictor_of", "template_of", "vectorizer_of"]


def template_of(model: Any) -> Template | None:
    """The template that is the first step of a pipeline."""
    first = _first_step(model)
    return first if isinstance(first, Template) else None


def vectorizer_of(model: Any) -> Any:
    """What makes features of raw text, as the first step of a pipeline; None where there is none."""
    first = _first_step(model)
    return first if is_vectorizer(first) else None


def predictor_of(model: Any) -> Any:
    """What predicts from data as a form reads it: of text the features."""
    return model if template_of(model) is not None else machine_of(model)


def form_of(name: str, model: Any, flags: DataFlags, data: str) -> Form:
    """The kind of file that a model is for, as the name of the data says; `name` is that of the model's file."""
    refuse_other_folder(data)
    if data == "-" and (flags.label or flags.text):
        flag = "--label" if flags.label else "--text"
        raise click.UsageError(
            f"{flag} is for tables, which are read from files and not from standard input; write the table to a file, "
            f"such as table.csv, or leave {flag} out"
        )
    machine, first = machine_of(model), _first_step(model)
    if first is None and hasattr(machine, "n_features_in_") and (flags.of_text or flags.text):
        raise click.UsageError(f"{name} was trained on features and not on text; leave out --text or --format")
    if first is not None and is_dataset(data):
        raise click.UsageError(f"{data} is a data set, and {name} is not for features; pass a file")
    if isinstance(first, TextHasher) or flags.form == "vw":
        return HashedText(first, flags)
    if is_vectorizer(first) or flags.form == "text":
        return Texts(first, machine, flags, data)
    flags.refuse("texts", "ngrams")
    if is_dataset(data):
        return OnDisk(machine, flags)
    if flags.memory_limit is not None:
        raise click.UsageError(f"--memory-limit is for data sets; {_remedy(data, flags, machine)}")
    if not isinstance(machine, SequenceSVC):
        return Table(model, flags) if is_table(data) and flags.form is None else Svmlight(model, flags)
    template = template_of(model)
    if template is None and hasattr(model, "classes_"):
        raise click.UsageError(
            f"{name} has no template, as it was trained on features and not on columns; use it from Python"
        )
    return Columns(template, flags)


def _remedy(data: str, flags: DataFlags, machine: Any) -> str:
    """What to do about a limit of memory on a file that is no data set."""
    if hasattr(machine, "n_features_in_") or isinstance(machine, SequenceSVC):
        return "leave it out"
    name = "data.ds" if data == "-" else f"{data}.ds"
    label = f"--label {flags.label} " if flags.label else "--label COLUMN " if is_table(data) else ""
    return f"make one first, by pegasos convert {label}{data} {name}, and train on {name}"


def _first_step(model: Any) -> Any:
    return model[0] if hasattr(model, "steps") else None
