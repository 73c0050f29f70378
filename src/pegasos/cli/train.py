"""``pegasos train``"""

import os
import sys
import time
import warnings
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from pegasos.cli.choose import choose_C
from pegasos.cli.data import DataFlags, called, data_flags, is_table
from pegasos.cli.forms import form_of, machine_of
from pegasos.cli.options import (
    TASKS,
    as_json_text,
    estimator_flags,
    given_parameters,
    refuse_folder,
    refuse_overwriting,
    solver_flags,
)
from pegasos.cli.signals import SIGNALS
from pegasos.cli.stream import StreamFlags, Talk, train_stream
from pegasos.cli.waiting import waiting
from pegasos.cli.wording import in_flags, kept
from pegasos.io import load_model, save_model
from pegasos.io.dataset import is_dataset


@click.command(context_settings={"max_content_width": 120, "show_default": False})
@click.argument("data")
@click.argument("model", required=False)
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--verbose", is_flag=True, help="report progress even where standard error is not a terminal")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
@estimator_flags
@solver_flags
@click.option(
    "--one-pass",
    is_flag=True,
    help="learn from each example once, as it is read, in place of a fit to all of them; with --solver adagrad, or "
    "pegasos with --alpha [adagrad; with --alpha pegasos]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["svmlight", "text", "vw"]),
    help="svmlight lines; text: a label, a tab and raw text, or fastText's __label__x text; vw: label | words in "
    "Vowpal Wabbit's format, by their hash [vw with --hash-bits, text with --text, else svmlight]",
)
@click.option("--ngrams", type=click.IntRange(1, 9), help="raw text: runs of up to so many words are features too [1]")
@click.option("--classes", metavar="LABELS", help="one pass: all labels there will be, with commas between [-1,1]")
@click.option(
    "--template",
    metavar="FILE|chunking|words",
    help="sequence: how features are made of columns, in CRF++'s notation; chunking is for words and parts of speech, "
    "words for words alone [each column of the position, the one before and the one after]",
)
@data_flags
def train(
    data: str,
    model: str | None,
    quiet: bool,
    verbose: bool,
    as_json: bool,
    task: str | None,
    one_pass: bool,
    classes: str | None,
    **given: Any,
) -> int:
    """Train on DATA, an svmlight file ("-": standard input), and write MODEL ([DATA].model if not given).

    DATA may be compressed, or a data set of any size, the folder that pegasos convert makes. A .csv, .parquet, .arrow
    or .feather file is a table, whose column of labels --label names.

    With --task sequence, DATA has sentences in columns: a line for each position, the label in its last column, and an
    empty line after each sentence.

    With --text COLUMN or --format text, DATA has raw texts, whose words are features; --min-count leaves rare ones out.
    The model keeps the words. With --hash-bits or --format vw, DATA has lines of words in Vowpal Wabbit's format.

    With --one-pass each example is learned from once, as it is read.

    Ctrl-C and SIGTERM end a fit: the best point of its last check is saved, where there is one.

    Of the options with [default], those with the name of a solver or a task before them belong to that.
    """
    if model is None:
        if data == "-":
            raise click.UsageError("data from standard input has no name to make one for the model of: name the MODEL")
        model = f"{data.rstrip(os.sep)}.model"
    # Whatever can be wrong without the data should come up before the data is read.
    if model == "-":
        raise click.UsageError("a model cannot be written to standard output: name the MODEL")
    refuse_overwriting(model, data)
    flags = _data_flags(task, given)
    if one_pass:
        if is_dataset(data):
            raise click.UsageError(
                f"{data} is a data set, and --one-pass is for text; --solver pegasos --max-iter 1 passes over it once"
            )
        if is_table(data):
            raise click.UsageError(
                f"{data} is a table, and --one-pass is for text; leave it out, or pegasos convert it"
            )
        stream = StreamFlags(classes, flags)
        return train_stream(data, model, task or "classification", stream, given, Talk(quiet, as_json))
    if classes is not None:
        raise click.UsageError("--classes is for --one-pass; leave it out, or add that")
    continued = given.get("warm_start") and os.path.exists(model)
    before = load_model(model) if continued else TASKS[task or "classification"]()
    estimator = machine_of(before)
    if hasattr(estimator, "progressive_"):
        raise click.UsageError(
            f"{model} learned in one pass, which --warm-start does not continue; name another MODEL, or go on with "
            "partial_fit from Python"
        )
    if task is not None and not isinstance(estimator, TASKS[task]):
        raise click.UsageError(f"{model} is a {type(estimator).__name__}, which --task {task} cannot continue")
    parameters = given_parameters(given, estimator.solver, type(estimator))
    choose = parameters.get("C") == "auto"
    if choose:
        if parameters.get("alpha") is not None:
            raise click.UsageError("--C auto chooses what --alpha says in another way; leave one of them out")
        parameters["C"] = 1.0  # for now
    if "C" in parameters:
        parameters.setdefault("alpha", None)  # of a model that is continued
    estimator.set_params(**parameters)
    estimator.check_parameters()
    form = form_of(model, before, flags, data)
    refuse_folder(model)
    started = time.perf_counter()
    talk = not quiet and not as_json
    with waiting(f"reading {data}", data, talk):
        examples = form.read(data)
    reading = time.perf_counter() - started
    if talk and given.get("warm_start"):
        own = kept(estimator, parameters)
        going_on = f": continued{', with what it has set: ' if own else ''}{own}"
        click.echo(f"{model}{going_on if continued else ' does not exist yet: starting anew'}")
    if talk:
        click.echo(f"{called(data)}: {examples.text}, read in {reading:.1f} s")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        if choose and examples.y is not None:
            with waiting("choosing C", shown=talk):
                chosen = choose_C(estimator, form.features(examples), examples.y, examples.weights)
            estimator.C = chosen.C
        estimator.verbose = int(verbose or (talk and sys.stderr.isatty()))
        estimator.on_interrupt = "keep"
        try:
            fitted = form.fit(estimator, examples)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"interrupted before there was a point to keep; {model} is not written") from None
    estimator.on_interrupt = "raise"
    save_model(fitted, model)
    if as_json:
        result = {"model": model, **examples.counts, "features": estimator.n_features_in_}
        result |= {"cross_validation": chosen.to_dict()} if choose else {}
        click.echo(as_json_text(result | estimator.certificate_.to_dict()))
    elif talk:
        click.echo(f"{estimator.certificate_}\n" + (f"{chosen}\n" if choose else "") + f"model    {model}")
    if not quiet:
        for warning in caught:
            click.echo(f"pegasos: warning: {in_flags(str(warning.message))}", err=True)
    if "interrupt" not in {found.reason for found in (estimator.certificate_, *estimator.certificate_.parts)}:
        return 0
    click.echo(f"pegasos: interrupted; the best point of the last check is saved in {model}", err=True)
    return SIGNALS.code


def _data_flags(task: str | None, given: dict[str, Any]) -> DataFlags:
    """What the flags say about data, taken out of those given."""
    flags = DataFlags(**{name: given.pop(name) for name in DataFlags._fields if name not in ("min_count", "hash_bits")})
    form = flags.form
    if flags.text is not None:
        if form not in (None, "text"):
            raise click.UsageError(f"--text is for raw text, and --format {form} is none; leave one of them out")
        form = "text"
    elif given.get("hash_bits") is not None and task != "sequence":
        if form == "svmlight":
            raise click.UsageError("--hash-bits is for text, and svmlight features have numbers; leave one of them out")
        form = form or "vw"
    flags = flags._replace(form=form)
    if not flags.of_text:
        return flags
    if task not in (None, "classification", "regression"):
        name = "--hash-bits" if given.get("hash_bits") is not None else "--text or --format"
        raise click.UsageError(
            f"text, by {name}, is for --task classification or regression, and not for --task {task}; leave one out"
        )
    return flags._replace(min_count=given.pop("min_count", None), hash_bits=given.pop("hash_bits", None))
