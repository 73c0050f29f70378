"""``pegasos convert`` of models: to LIBLINEAR, LIBSVM and ONNX, and from the first two."""

import os
import time
import warnings
from typing import Any

import click

from pegasos.cli.forms import machine_of
from pegasos.cli.options import as_json_text, refuse_overwriting
from pegasos.cli.talk import echo
from pegasos.io import (
    load_model,
    read_liblinear_model,
    read_libsvm_model,
    save_model,
    write_liblinear_model,
    write_libsvm_model,
)
from pegasos.io.atomic import open_atomic
from pegasos.io.liblinear import is_liblinear_model
from pegasos.io.libsvm import is_libsvm_model
from pegasos.io.model import is_model
from pegasos.linear.estimator import LinearMachine


def is_any_model(source: str) -> bool:
    """Whether it is a model of ours, of LIBLINEAR or of LIBSVM."""
    return is_model(source) or is_liblinear_model(source) or is_libsvm_model(source)


def convert_model(
    source: str, target: str | None, features: int | None, overwrite: bool, quiet: bool, as_json: bool
) -> None:
    """Write a model of another program as ours, or ours as the other program has it."""
    started = time.perf_counter()
    if target is None:
        raise click.UsageError(f"{source} is a model; name the TARGET, the file to make of it")
    refuse_overwriting(target, source)
    if os.path.lexists(target) and not overwrite:
        raise click.UsageError(f"{target} exists already; name another TARGET, or give --overwrite to replace it")
    if features is not None and not is_libsvm_model(source):
        raise click.UsageError(f"--features is for models of LIBSVM, which do not tell; {source} does, so leave it out")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model, form = _convert(source, target, features)
    seconds = time.perf_counter() - started
    facts = {"estimator": type(model).__name__, "features": model.n_features_in_, "form": form}
    if as_json:
        echo(as_json_text("convert-model", {"source": source, "target": target, **facts, "seconds": seconds}))
    elif not quiet:
        echo(f"{target}: a {facts['estimator']} of {model.n_features_in_:,} features, as a model of {form}")
    if not quiet:
        for warning in caught:
            echo(f"pegasos: warning: {warning.message}", err=True)


def _convert(source: str, target: str, features: int | None) -> tuple[Any, str]:
    """The model, and the form it was written in."""
    model: Any
    if not is_model(source):
        model = read_liblinear_model(source) if is_liblinear_model(source) else None
        model = model or read_libsvm_model(source, n_features=features)
        save_model(model, target, overwrite=True)
        return model, "pegasos"
    loaded = load_model(source)
    model = machine_of(loaded)
    if model is not loaded:
        raise click.UsageError(f"{source} is a model of text or templates, which only pegasos has; use it from there")
    if not hasattr(model, "to_onnx"):
        raise click.UsageError(f"{source} is a {type(model).__name__}, which other programs do not have")
    if target.endswith(".onnx"):
        with open_atomic(target) as file:
            file.write(model.to_onnx().SerializeToString())
        return model, "ONNX"
    if isinstance(model, LinearMachine):
        write_liblinear_model(model, target)
        return model, "LIBLINEAR"
    write_libsvm_model(model, target)
    return model, "LIBSVM"
