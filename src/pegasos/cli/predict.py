"""``pegasos predict``"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import click

from pegasos.cli.data import Data, DataFlags, data_flags
from pegasos.cli.forms import form_of, machine_of, predictor_of
from pegasos.cli.options import (
    Path,
    as_json_text,
    is_standard_output,
    overwrite_flag,
    refuse_other_than_predictions,
    refuse_overwriting,
)
from pegasos.cli.predictions import line_of
from pegasos.cli.talk import echo
from pegasos.cli.waiting import waiting
from pegasos.io import load_model
from pegasos.io.atomic import open_atomic
from pegasos.io.model import is_model
from pegasos.linear.svc import LinearSVC


@click.command(short_help="Predict labels or values for a file, and report the error.")
@click.argument("data", type=Path())
@click.argument("model", type=Path())
@click.argument("output", required=False, type=Path())
@click.option("--decision", is_flag=True, help="write decision values instead of labels")
@click.option("--proba", is_flag=True, help="write probabilities instead of labels; for models with --loss log_loss")
@click.option(
    "--header",
    is_flag=True,
    help="with --decision or --proba: first write a line with # and the classes in their order",
)
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
@overwrite_flag
@data_flags
def predict(
    data: str,
    model: str,
    output: str | None,
    decision: bool,
    proba: bool,
    header: bool,
    quiet: bool,
    as_json: bool,
    overwrite: bool,
    **flags: Any,
) -> None:
    """Predict the labels of DATA ("-": standard input) with MODEL, write one label per line to OUTPUT ("-": standard
    output) if given, and print the error against the labels in DATA. A regression model writes values.

    Decision values and probabilities of more than two classes are on one line, in the order of the classes. pegasos
    inspect shows this order, and --header writes it. With two classes, positive decisions mean the second.

    A sequence model takes sentences in columns, as for training, with or without the label column. It writes an empty
    line between sentences. If labels are B-X, I-X and O, it prints precision, recall and F1 of each type. A text model
    takes tables with a column of texts, and files with one text on each line.

    \b
    Examples:
      pegasos predict test.svm news.model                    the error alone
      pegasos predict test.svm news.model labels.txt
      pegasos predict --decision --header test.svm news.model - | head
      pegasos predict --proba test.svm logistic.model probabilities.txt
      zcat new.svm.gz | pegasos predict - news.model -       as a filter
    """
    if output is not None and is_standard_output(output):
        output = "-"
    elif output is not None:
        refuse_overwriting(output, data, model)
        refuse_other_than_predictions(output, overwrite)
    if is_model(data) and not is_model(model):
        raise click.UsageError(f"{data} is a model, and DATA comes before it: pegasos predict {model} {data}")
    fitted = load_model(model)
    machine, form = machine_of(fitted), form_of(model, fitted, DataFlags(**flags), data)
    _check_wanted(machine, decision, proba)
    if header and not ((decision or proba) and hasattr(machine, "classes_")):
        raise click.UsageError("--header is for --decision and --proba of classes; leave it out, or add one of these")
    talk = not quiet and not as_json
    if output == "-" and sys.stdout is None:
        raise click.UsageError("standard output is closed; name an OUTPUT file")
    fitted = predictor_of(fitted)
    with ExitStack() as stack:
        file: Any = None
        if output is not None:
            file = sys.stdout.buffer if output == "-" else stack.enter_context(open_atomic(output))

        def write(text: str) -> None:
            file.write(text.encode())
            file.flush()

        def predicted() -> Iterator[tuple[Any, Data]]:
            """Predictions for some examples at a time, which are written and forgotten."""
            if header and file:
                write(f"# {' '.join(map(line_of, machine.classes_.tolist()))}\n")
            for examples in form.parts(data):
                labels = values = fitted.predict(examples.X)
                if file and (decision or proba):
                    values = fitted.predict_proba(examples.X) if proba else fitted.decision_function(examples.X)
                if file:
                    write(form.lines(values))
                yield labels, examples

        with waiting(f"predicting {data}", data, talk):
            result, summary = form.judge(predicted(), machine)
    if as_json:
        echo(as_json_text("predict", result), err=output == "-")
    elif not quiet:
        if output is None and result.get("error", 0) is None:
            summary += "; name an OUTPUT for the predictions"
        echo(*summary.split("\n"), err=output == "-")


def _check_wanted(fitted: Any, decision: bool, proba: bool) -> None:
    if decision and proba:
        raise click.UsageError("--decision and --proba are two things to write; leave one out")
    asked = [
        ("--decision", decision, "decision_function", "decisions"),
        ("--proba", proba, "predict_proba", "probabilities"),
    ]
    for flag, wanted, method, what in asked:
        if wanted and not hasattr(fitted, method):
            kind = type(fitted).__name__ + (f" with --loss {fitted.loss}" if hasattr(fitted, "loss") else "")
            remedy = ", or train with --loss log_loss" if isinstance(fitted, LinearSVC) else ""
            raise click.UsageError(f"a {kind} has no {what}; leave {flag} out{remedy}")
