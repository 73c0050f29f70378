"""``pegasos report``, and the page of ``pegasos train --report``."""

import copy
import os
import shlex
import time
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from pegasos.cli.data import Data, DataFlags, called, data_flags, quoted
from pegasos.cli.forms import form_of, machine_of, predictor_of, vectorizer_of
from pegasos.cli.options import TASKS, Path, overwrite_flag, refuse_folder, refuse_overwriting
from pegasos.cli.talk import echo
from pegasos.cli.waiting import waiting
from pegasos.cli.wording import kept
from pegasos.io import load_model
from pegasos.io.model import is_model
from pegasos.reporting.page import is_report
from pegasos.reporting.page import report as make_report
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import FromOne


@click.command(short_help="Write a page on a model and its predictions.")
@click.argument("model", type=Path())
@click.argument("data", type=Path())
@click.option("-o", "--output", metavar="FILE", help="where to write the page [MODEL.html]")
@click.option("--top", type=click.IntRange(min=0), default=10, help="how many of the largest weights to show [10]")
@click.option("--title", help="title of the page [from the names of MODEL and DATA]")
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@overwrite_flag
@data_flags
def report(
    model: str, data: str, output: str | None, top: int, title: str | None, quiet: bool, overwrite: bool, **flags: Any
) -> None:
    """Write a page on MODEL and its predictions for DATA ("-": standard input): one HTML file that needs no network.

    It shows the certificate, the convergence of the fit, errors, margins, thresholds and the largest weights. DATA is
    what pegasos predict takes; without labels the page covers the fit alone. See also pegasos train --report.

    \b
    Examples:
      pegasos report news.model test.svm
      pegasos report --top 30 --title News news.model test.svm -o news.html
    """
    if is_model(data) and not is_model(model):
        raise click.UsageError(f"{data} is a model, and comes before the data: pegasos report {data} {model}")
    output = f"{model}.html" if output is None else output
    refuse_output(output, overwrite, data, model)
    fitted = load_model(model)
    names, form = feature_names(fitted), form_of(model, fitted, DataFlags(**flags), data)
    started = time.perf_counter()
    with waiting(f"reading {data}", data, not quiet):
        examples = form.read(data)
    timings = {f"reading {called(data)}": time.perf_counter() - started}
    with waiting("predicting", shown=not quiet):
        repeat = _training(fitted, model, DataFlags(**flags))
        write_report(output, fitted, examples, names, timings, repeat, top=top, title=title)
    if not quiet:
        if examples.y is None:
            others = getattr(form, "others", None)
            why = f"{quoted(others)} and no --label" if others else "no labels"
            echo(f"pegasos: {called(data)} has {why}, so the page is about the fit alone", err=True)
        echo(f"report   {output}")


def refuse_output(output: str, overwrite: bool, *inputs: str) -> None:
    """A page takes the place of a page, or of nothing; what is wrong with its name comes up before the work."""
    if output == "-":
        raise click.UsageError("a report cannot be written to standard output: name a FILE")
    refuse_overwriting(output, *inputs)
    refuse_folder(output)
    if not overwrite and os.path.isfile(output) and not is_report(output):
        raise click.UsageError(
            f"{output} exists and is no report; name another FILE, or give --overwrite to replace it"
        )


def feature_names(fitted: Any) -> Sequence[str] | None:
    """What the model's features are called, before a form takes their names for itself; None where the model tells."""
    vectorizer, machine = vectorizer_of(fitted), machine_of(fitted)
    if vectorizer is not None:
        return [str(name) for name in vectorizer.get_feature_names_out()]
    if hasattr(machine, "feature_names_in_"):
        return [str(name) for name in machine.feature_names_in_]
    return None if isinstance(machine, SequenceSVC) else FromOne(machine.n_features_in_)


def write_report(
    output: str,
    fitted: Any,
    examples: Data,
    names: Sequence[str] | None,
    timings: dict[str, float],
    repeat: str | None,
    training: bool | None = None,
    **options: Any,
) -> None:
    """Write a page on a model and the examples that a form has read."""
    predictor = predictor_of(fitted)
    if predictor is machine_of(fitted):
        predictor = copy.copy(predictor)
        vars(predictor).pop("feature_names_in_", None)  # what a form reads has no names
    page = make_report(
        predictor,
        examples.X,
        examples.y,
        data=called(examples.source),
        training=training,
        feature_names=names,
        repeat=repeat,
        timings=timings,
        **options,
    )
    page.save(output, overwrite=True)  # what may not be replaced was refused before


def command_line() -> str:
    """The command that runs, as it can be typed again."""
    context = click.get_current_context()
    words, arguments = ["pegasos", str(context.command.name)], []
    for parameter in context.command.params:
        name = str(parameter.name)
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[-1] if value else parameter.secondary_opts[-1])
        else:
            for one in value if parameter.multiple else [value]:
                text = str(one)  # one that begins with a dash would be taken for a flag
                words += [f"{parameter.opts[-1]}={text}"] if text.startswith("-") else [parameter.opts[-1], text]
    return shlex.join([*words, *arguments])


def _training(fitted: Any, model: str, given: DataFlags) -> str | None:
    """The command that trains such a model, where flags can say all of it; the name of the data is not known.

    Those data are taken to be such as these are: of a table, with the labels in the same column.
    """
    machine = machine_of(fitted)
    task = next((task for task, estimator in TASKS.items() if isinstance(machine, estimator)), None)
    flags = kept(machine, ())
    if machine is not fitted or task is None or hasattr(machine, "progressive_") or "(" in flags or "its --" in flags:
        return None
    words = ["pegasos train", *([] if task == "classification" else [f"--task {task}"]), *([flags] if flags else [])]
    words += [f"--label {shlex.quote(given.label)}"] if given.label is not None else []
    words += ["--zero-based"] if given.zero_based else []
    return f"{' '.join(words)} TRAINING-DATA {shlex.quote(model)}"
