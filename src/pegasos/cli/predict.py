"""``pegasos predict``"""

import sys
from typing import Any

import click
import numpy as np
from sklearn.base import is_regressor

from pegasos.cli.options import as_json_text, data_flags, read_data, refuse_overwriting
from pegasos.io import load_model
from pegasos.io._atomic import open_atomic
from pegasos.linear import LinearSVC

__all__ = ["predict"]


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
    data: str,
    model: str,
    output: str | None,
    decision: bool,
    proba: bool,
    quiet: bool,
    as_json: bool,
    zero_based: bool,
    dtype: str,
) -> None:
    """Label the examples of DATA ("-": standard input) with MODEL, write one label per line to OUTPUT ("-": standard
    output) if given, and print the error against the labels in DATA. A model of a regression writes values.

    Decision values and probabilities of more than two classes are on one line, in the order of the classes.
    """
    if output not in (None, "-"):
        refuse_overwriting(output, data, model)
    fitted = load_model(model)
    _check_wanted(fitted, decision, proba)
    X, y = read_data(data, zero_based=zero_based, dtype=dtype, width=fitted.n_features_in_)
    predicted = fitted.predict(X)
    if output is not None:
        values = fitted.predict_proba(X) if proba else fitted.decision_function(X) if decision else predicted
        text = "".join(f"{_line(value)}\n" for value in values.tolist())
        if output == "-":
            sys.stdout.write(text)
        else:
            with open_atomic(output) as file:
                file.write(text.encode())
    if is_regressor(fitted):
        result, summary = _judge_values(predicted, y)
    else:
        result, summary = _judge_labels(predicted, y, fitted.classes_, data)
    if as_json:
        click.echo(as_json_text(result), err=output == "-")
    elif not quiet:
        click.echo(summary, err=output == "-")


def _check_wanted(fitted: Any, decision: bool, proba: bool) -> None:
    if decision and proba:
        raise click.UsageError("--decision and --proba are two things to write; leave one out")
    for flag, wanted, method in (("--decision", decision, "decision_function"), ("--proba", proba, "predict_proba")):
        if wanted and not hasattr(fitted, method):
            kind = f"{type(fitted).__name__} with loss={fitted.loss}"
            remedy = ", or train with --loss log_loss" if isinstance(fitted, LinearSVC) else ""
            raise click.UsageError(f"{flag} is nothing that a {kind} has; leave it out{remedy}")


def _line(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(repr, value))
    return repr(value) if isinstance(value, float) else str(value)


def _judge_labels(labels: Any, y: Any, classes: Any, data: str) -> tuple[dict[str, Any], str]:
    """How many labels are wrong, and a line on it."""
    wrong = int(np.sum(labels != y))
    if not np.isin(y, classes).all():
        summary = f"{len(y):,} examples labelled; {data} has labels the model does not know, so no error is computed"
        return {"examples": len(y), "wrong": None, "error": None}, summary
    summary = f"error {100 * wrong / len(y):.2f}%  ({wrong:,} of {len(y):,} wrong)"
    return {"examples": len(y), "wrong": wrong, "error": wrong / len(y)}, summary


def _judge_values(values: Any, y: Any) -> tuple[dict[str, Any], str]:
    """How far the values are from the targets, and a line on it."""
    error, spread = float(np.mean((values - y) ** 2)), float(np.var(y))
    share = 1 - error / spread if spread else None  # as scikit-learn's score
    told = "" if share is None else f", R^2 {share:.4f}"
    summary = f"mean squared error {error:.6g}{told}  ({len(y):,} examples)"
    return {"examples": len(y), "mean_squared_error": error, "r2": share}, summary
