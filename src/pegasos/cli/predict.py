"""``pegasos predict``"""

import sys

import click
import numpy as np

from pegasos.cli.options import as_json_text, data_flags, read_data, refuse_overwriting
from pegasos.io import load_model
from pegasos.io._atomic import open_atomic

__all__ = ["predict"]


@click.command()
@click.argument("data")
@click.argument("model")
@click.argument("output", required=False)
@click.option("--decision", is_flag=True, help="write decision values instead of labels")
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
@data_flags
def predict(
    data: str,
    model: str,
    output: str | None,
    decision: bool,
    quiet: bool,
    as_json: bool,
    zero_based: bool,
    dtype: str,
) -> None:
    """Label the examples of DATA ("-": standard input) with MODEL, write one label per line to OUTPUT ("-": standard
    output) if given, and print the error against the labels in DATA.
    """
    if output not in (None, "-"):
        refuse_overwriting(output, data, model)
    fitted = load_model(model)
    X, y = read_data(data, zero_based=zero_based, dtype=dtype, width=fitted.n_features_in_)
    scores = fitted.decision_function(X)
    labels = fitted.classes_[(scores > 0).astype(int)]
    if output is not None:
        lines = (f"{value!r}" for value in scores.tolist()) if decision else (str(label) for label in labels.tolist())
        text = "".join(f"{line}\n" for line in lines)
        if output == "-":
            sys.stdout.write(text)
        else:
            with open_atomic(output) as file:
                file.write(text.encode())
    wrong = int(np.sum(labels != y))
    known = bool(np.isin(y, fitted.classes_).all())
    error = wrong / len(y) if known else None
    if as_json:
        result = {"examples": len(y), "wrong": wrong if known else None, "error": error}
        click.echo(as_json_text(result), err=output == "-")
    elif not quiet:
        if known:
            summary = f"error {100 * wrong / len(y):.2f}%  ({wrong:,} of {len(y):,} wrong)"
        else:
            summary = (
                f"{len(y):,} examples labelled; {data} has labels the model does not know, so no error is computed"
            )
        click.echo(summary, err=output == "-")
