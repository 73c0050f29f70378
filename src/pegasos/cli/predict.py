"""``pegasos predict``"""

import sys
from typing import Any

import click

from pegasos.cli.data import DataFlags, data_flags
from pegasos.cli.forms import form_of, machine_of, predictor_of
from pegasos.cli.options import as_json_text, refuse_overwriting
from pegasos.cli.waiting import waiting
from pegasos.io import load_model
from pegasos.io._atomic import open_atomic
from pegasos.linear.svc import LinearSVC


@click.command()
@click.argument("data")
@click.argument("model")
@click.argument("output", required=False)
@click.option("--decision", is_flag=True, help="write decision values instead of labels")
@click.option("--proba", is_flag=True, help="write probabilities instead of labels; of models with --loss log_loss")
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
@data_flags
def predict(
    data: str, model: str, output: str | None, decision: bool, proba: bool, quiet: bool, as_json: bool, **flags: Any
) -> None:
    """Label the examples of DATA ("-": standard input) with MODEL, write one label per line to OUTPUT ("-": standard
    output) if given, and print the error against the labels in DATA. A model of a regression writes values.

    Decision values and probabilities of more than two classes are on one line, in the order of the classes.

    A model that labels sequences is for sentences in columns, as it was trained on, with or without the one of labels.
    It writes an empty line between sentences, and prints precision, recall and F1 of each type, where labels are B-X,
    I-X and O. A model of raw text is for tables with a column of texts, and for files with one on each line.
    """
    if output not in (None, "-"):
        refuse_overwriting(output, data, model)
    fitted = load_model(model)
    machine, form = machine_of(fitted), form_of(model, fitted, DataFlags(**flags), data)
    _check_wanted(machine, decision, proba)
    talk = not quiet and not as_json
    with waiting(f"reading {data}", data, talk):
        examples, fitted = form.read(data), predictor_of(fitted)
    with waiting("predicting", shown=talk):
        predicted = fitted.predict(examples.X)
    if output is not None:
        values = predicted
        if decision or proba:
            values = fitted.predict_proba(examples.X) if proba else fitted.decision_function(examples.X)
        text = form.lines(values)
        if output == "-":
            sys.stdout.write(text)
        else:
            with open_atomic(output) as file:
                file.write(text.encode())
    result, summary = form.judge(predicted, examples, machine)
    if as_json:
        click.echo(as_json_text(result), err=output == "-")
    elif not quiet:
        click.echo(summary, err=output == "-")


def _check_wanted(fitted: Any, decision: bool, proba: bool) -> None:
    if decision and proba:
        raise click.UsageError("--decision and --proba are two things to write; leave one out")
    for flag, wanted, method in (("--decision", decision, "decision_function"), ("--proba", proba, "predict_proba")):
        if wanted and not hasattr(fitted, method):
            kind = type(fitted).__name__ + (f" with loss={fitted.loss}" if hasattr(fitted, "loss") else "")
            remedy = ", or train with --loss log_loss" if isinstance(fitted, LinearSVC) else ""
            raise click.UsageError(f"{flag} is nothing that a {kind} has; leave it out{remedy}")
