"""``pegasos train``"""

import math
import os
import sys
import time
import warnings
from typing import Any, NamedTuple

import click

from pegasos.base import clock
from pegasos.base.checkpoint import CUT_SHORT, Checkpoint, manifests
from pegasos.base.scaling import UnscaledColumns, columns_called
from pegasos.certificate import all_reasons
from pegasos.cli.choose import SHORTEST, Chosen, choose_C
from pegasos.cli.data import Data, DataFlags, Form, Summary, called, data_flags, quoted
from pegasos.cli.forms import form_of, machine_of
from pegasos.cli.help import Grouped
from pegasos.cli.liblinear import from_liblinear, liblinear_flags
from pegasos.cli.options import (
    TASKS,
    Names,
    Path,
    as_json_text,
    checkpoints,
    estimator_flags,
    given_parameters,
    overwrite_flag,
    refuse_folder,
    refuse_other_than_model,
    refuse_overwriting,
    solver_flags,
)
from pegasos.cli.report import command_line, feature_names, refuse_output, write_report
from pegasos.cli.signals import SIGNALS, not_written, written
from pegasos.cli.stream import StreamFlags, Talk, train_stream
from pegasos.cli.talk import say
from pegasos.cli.validation import Judges, Validation, cross_validate, validation_flag
from pegasos.cli.waiting import waiting
from pegasos.cli.wording import distinct, kept
from pegasos.io import load_model, save_model
from pegasos.io.dataset import Dataset, is_dataset
from pegasos.io.table_file import is_table
from pegasos.linear.estimator import LinearMachine, starts_anew
from pegasos.linear.out_of_core.machine import is_larger


@click.command(
    cls=Grouped,
    short_help="Train on a file, and write the model.",
    context_settings={"max_content_width": 120, "show_default": False},
)
@click.argument("data", type=Path())
@click.argument("model", required=False, type=Path())
@click.option("-q", "--quiet", is_flag=True, help="print nothing but errors")
@click.option("--verbose", is_flag=True, help="report progress even if standard error is not a terminal")
@click.option("--json", "as_json", is_flag=True, help="print the result as one JSON object")
@estimator_flags
@solver_flags
@click.option(
    "--one-pass",
    is_flag=True,
    help="learn from each example once, as it is read, instead of fitting all of them; by --solver adagrad, or by "
    "pegasos with --alpha [adagrad; with --alpha pegasos]",
)
@click.option(
    "--format",
    "form",
    type=Names(["svmlight", "text", "vw"]),
    help="svmlight: svmlight lines; text: a label, a tab and raw text, or fastText's __label__x text; vw: label | "
    "words in Vowpal Wabbit's format, by hash [vw with --hash-bits, text with --text, else svmlight]",
)
@click.option(
    "--ngrams", type=click.IntRange(1, 9), help="raw text: runs of up to this many words are features too [1]"
)
@click.option("--classes", metavar="LABELS", help="one pass: all labels that will occur, separated by commas [-1,1]")
@click.option(
    "--template",
    metavar="FILE|chunking|words",
    help="sequence: how to make features from columns, in CRF++'s notation; chunking is for words and parts of speech, "
    "words for words alone [each column of the position, the one before and the one after]",
)
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="write checkpoints to this folder; if the command is killed, the same command with --resume continues from "
    "the last one, to the same model; with --C auto only the last fit writes checkpoints, and C is chosen anew",
)
@click.option(
    "--report",
    metavar="FILE",
    help="write a page on the fit, as pegasos report does, with the examples of --validation, otherwise of DATA",
)
@click.option("--checkpoint-every", metavar="TIME", help="time between checkpoints, such as 30s, 5m or 1h [30s]")
@click.option("--resume", is_flag=True, help="continue from the checkpoint of the same command")
@validation_flag
@overwrite_flag
@data_flags
@liblinear_flags
def train(
    data: str,
    model: str | None,
    quiet: bool,
    verbose: bool,
    as_json: bool,
    task: str | None,
    one_pass: bool,
    classes: str | None,
    checkpoint: str | None,
    report: str | None,
    checkpoint_every: str | None,
    resume: bool,
    validation: str | None,
    overwrite: bool,
    **given: Any,
) -> int:
    """Train on DATA, an svmlight file ("-": standard input), and write MODEL ([DATA].model if not given).

    DATA may be compressed. It may also be a data set of any size: a folder that pegasos convert makes. A .csv, .tsv,
    .jsonl, .parquet, .arrow or .feather file is a table; --label names its column of labels.

    With --task sequence, DATA has sentences in columns: a line for each position, the label in its last column, and an
    empty line after each sentence.

    With --text COLUMN or --format text, DATA has raw texts, and their words are features; --min-count leaves rare ones
    out. The model stores the words. With --hash-bits or --format vw, DATA has lines of words in Vowpal Wabbit's format.

    With --one-pass the command learns from each example once, as it is read.

    Ctrl-C and SIGTERM end a fit: the best point of its last check is saved, if there was a check. It does not replace
    an older MODEL, unless it went on from it by --warm-start or --resume, but is saved as MODEL.interrupted.

    The default of a flag is in [brackets]. A flag whose help begins with names of solvers or tasks belongs to these.

    \b
    Examples:
      pegasos train news.svm                                  hinge loss, C=1, to a gap of 0.001
      pegasos train --C auto --validation test.svm news.svm   choose C, and test
      pegasos train --alpha 1e-4 --tol 0.01 news.svm news.model
      pegasos train --label kind table.csv                    a table
      pegasos train --text review --label stars reviews.csv   raw texts
      pegasos train --task svc --gamma 0.1 digits.svm         with a kernel
      pegasos train --task sequence tags.txt                  sequences of labels
      pegasos train -s 1 -c 4 -B 1 -v 5 heart_scale           as in LIBLINEAR
    """
    task, folds, notes = from_liblinear(task, given)
    judges, talk = Validation.of(validation), Talk(quiet, as_json)
    if notes and not quiet:
        say(*(f"pegasos: {note}" for note in notes), err=True)
    # Whatever can be wrong without the data should come up before the data is read.
    model = _name_model(data, folds) if model is None else model
    _check_files(data, model, report, folds, judges, overwrite)
    flags = _data_flags(task, given)
    kept_in = checkpoints(checkpoint, checkpoint_every, resume)
    if one_pass:
        _check_one_pass(data, report, folds, validation, kept_in, flags)
        return train_stream(data, model, task or "classification", StreamFlags(classes, flags), given, talk)
    if classes is not None:
        raise click.UsageError("--classes is for --one-pass; leave it out, or add that")
    plan = _plan(data, model, task, flags, kept_in, given)
    refuse_folder(model)
    started = time.perf_counter()
    with not_written(model, "while the data were read"), waiting(f"reading {data}", data, talk.at_all):
        examples = plan.form.read(data)
    reading = time.perf_counter() - started
    examples, held_out = judges.hold_out(plan.form, examples, plan.machine)
    if folds is not None:
        return cross_validate(plan.machine, plan.form, examples, folds, not quiet, as_json, plan.chooses)
    with not_written(model, "while the data were read"):
        held_out = held_out or judges.read(plan.form, examples, plan.machine, model, flags)
    with not_written(model, "while C was chosen" if plan.chooses else "before there was a point to keep"):
        _tell_data(plan, examples, reading, flags, talk)
        found = _fit(plan, examples, verbose or (talk.at_all and sys.stderr.isatty()), talk)
    wanted, model = model, _save(found, model, kept_in)
    if report is not None and not found.interrupted:
        with written(model):
            _report(report, found, examples, held_out, reading)
    with written(model):
        judged = held_out.judge(found.fitted) if held_out is not None else None
    _tell_result(found, model, report, examples, judged, talk)
    if kept_in and found.goes_on and not quiet:
        say(f"pegasos: the checkpoint in {kept_in.folder} is kept; --resume goes on from it", err=True)
    if not found.interrupted:
        return 0
    if report is not None:
        say(f"pegasos: {report} is not written, as the fit was cut short; pegasos report makes one", err=True)
    if not math.isfinite(found.machine.certificate_.gap):
        told = f"there was no bound on the optimum yet; what there is is in {model}"
    else:
        told = f"the best point of the last check is saved in {model}{_further(found.machine, kept_in, examples.X)}"
    if model != wanted:
        told += f"; {wanted} stays as it was"
    say(f"pegasos: interrupted; {told}", err=True)
    return SIGNALS.code


class Plan(NamedTuple):
    """What is to be fitted."""

    model: str  # its file
    machine: Any
    form: Form
    chooses: bool  # C
    origin: str  # what --warm-start begins with, for people
    kept_in: Checkpoint | None


class Found(NamedTuple):
    """What came of a fit."""

    machine: Any
    fitted: Any  # what is saved: the machine, with all that it needs to read other files
    chosen: Chosen | None  # C
    warnings: list[str]

    @property
    def interrupted(self) -> bool:
        return "interrupt" in all_reasons(self.machine.certificate_)

    @property
    def goes_on(self) -> bool:
        """Whether there is more to do, for which a checkpoint is worth keeping."""
        return not all_reasons(self.machine.certificate_).isdisjoint(CUT_SHORT)


def _name_model(data: str, folds: int | None) -> str:
    """Where the model goes that has no name."""
    if data == "-" and folds is None:
        raise click.UsageError("data from standard input has no name to make one for the model of: name the MODEL")
    return f"{data.rstrip(os.sep)}.model" if data != "-" else "stdin.model"


def _check_files(
    data: str, model: str, report: str | None, folds: int | None, judges: Validation, overwrite: bool
) -> None:
    """Refuse files that are the same, or would be overwritten."""
    if model == "-":
        raise click.UsageError("a model cannot be written to standard output: name the MODEL")
    judges.refuse_same(data)
    refuse_overwriting(model, data, judges.file or "-")
    refuse_other_than_model(model, overwrite or folds is not None)
    if report is None:
        return
    if folds is not None:
        raise click.UsageError("-v makes no model to report on; leave --report out")
    if os.path.abspath(report) == os.path.abspath(model):
        raise click.UsageError(f"{report} is the MODEL, and the report is another file; name one for it")
    refuse_output(report, overwrite, data, model)


def _check_one_pass(
    data: str,
    report: str | None,
    folds: int | None,
    validation: str | None,
    kept_in: Checkpoint | None,
    flags: DataFlags,
) -> None:
    """Refuse what does not go with one pass."""
    if report is not None:
        raise click.UsageError("--one-pass keeps no examples to report on; leave --report out, and use pegasos report")
    if kept_in:
        raise click.UsageError("--one-pass leaves no checkpoints; leave --checkpoint out, or train without it")
    if validation is not None or folds is not None:
        raise click.UsageError("--one-pass tells an error of its own; leave --validation and -v out")
    if is_dataset(data):
        raise click.UsageError(
            f"{data} is a data set, and --one-pass is for text; --solver pegasos --max-iter 1 passes over it once"
        )
    if is_table(data) and not flags.of_text:
        raise click.UsageError(
            f"{data} is a table, and --one-pass is for text; leave it out, or make svmlight text of it: pegasos "
            f"convert --label COLUMN {data} t.ds, then pegasos convert t.ds t.svm"
        )


def _plan(
    data: str, model: str, task: str | None, flags: DataFlags, kept_in: Checkpoint | None, given: dict[str, Any]
) -> Plan:
    """The machine that the flags state, and how it reads data; a continued one is that of the model."""
    continued = given.get("warm_start") and os.path.exists(model)
    before = load_model(model) if continued else TASKS[task or "classification"]()
    machine = machine_of(before)
    if hasattr(machine, "progressive_"):
        raise click.UsageError(
            f"{model} learned in one pass, which --warm-start does not continue; name another MODEL, or go on with "
            "partial_fit from Python"
        )
    if task is not None and not isinstance(machine, TASKS[task]):
        raise click.UsageError(f"{model} is a {type(machine).__name__}, which --task {task} cannot continue")
    parameters = given_parameters(given, machine.solver, type(machine))
    chooses = parameters.get("C") == "auto"
    if chooses:
        if parameters.get("alpha") is not None:
            raise click.UsageError("--C auto chooses what --alpha says in another way; leave one of them out")
        if kept_in and kept_in.resume and not manifests(kept_in.folder):  # else that comes up only once C is chosen
            raise click.UsageError(
                f"{kept_in.folder} has no checkpoints: the choice of C, by --C auto, leaves none; leave --resume out"
            )
        parameters["C"] = 1.0  # for now
    if "C" in parameters:
        parameters.setdefault("alpha", None)  # of a model that is continued
    machine.set_params(**parameters)
    machine.check_parameters()
    form = form_of(model, before, flags, data)
    if continued and isinstance(machine, LinearMachine) and starts_anew(machine):
        raise click.UsageError(
            f"{model} was trained without --warm-start, so that there is nothing to continue from: train it with "
            "--warm-start from the first time on, or leave --warm-start out to train it anew"
        )
    origin = ""
    if continued:
        own = kept(machine, parameters)
        origin = f"{model}: continued{', with what it has set: ' if own else ''}{own}"
    elif given.get("warm_start"):
        origin = f"{model} does not exist yet: starting anew"
    return Plan(model, machine, form, chooses, origin, kept_in)


def _tell_data(plan: Plan, examples: Data, reading: float, flags: DataFlags, talk: Talk) -> None:
    """Say what is fitted, before that takes its time."""
    source = called(examples.source)
    if talk.at_all and plan.origin:
        say(plan.origin)
    if talk.at_all:
        say(f"{source}: {examples.text}, read in {reading:.1f} s")
    if not talk.quiet and flags.text is not None and (unused := getattr(plan.form, "others", [])):
        say(f"{source}: {quoted(unused)}: not used; --text reads text alone", err=talk.as_json)


def _fit(plan: Plan, examples: Data, shown: bool, talk: Talk) -> Found:
    """Choose C, if that is wanted, and fit."""
    machine, form, limit, chosen = plan.machine, plan.form, plan.machine.max_time, None
    caught: list[str] = []

    def note(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if not issubclass(category, UnscaledColumns):
            caught.append(str(message))
        elif not talk.quiet:  # at once, as it saves the wait
            say(f"pegasos: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = note
        if plan.chooses and (examples.y is not None or isinstance(examples.X, Dataset)):
            if talk.at_all and plan.kept_in:
                say("choosing C, which leaves no checkpoints; the last fit does", err=True)
            began = clock.now()
            with columns_called(form.called(examples)):
                chosen = choose_C(machine, form.features(examples), examples.y, examples.weights, shown, began)
            machine.C = chosen.C
            if limit is not None:
                machine.max_time = max(limit - (clock.now() - began), SHORTEST)
        machine.verbose = int(shown)
        machine.on_interrupt, machine.checkpoint = "keep", plan.kept_in
        when = "before there was a point to keep"
        with not_written(plan.model, when), columns_called(form.called(examples)):
            fitted = form.fit(machine, examples)
    machine.on_interrupt, machine.checkpoint, machine.max_time = "raise", None, limit
    machine.store_parameters()
    return Found(machine, fitted, chosen, distinct(caught))


def _save(found: Found, model: str, kept_in: Checkpoint | None) -> str:
    """Write the model; to which file. The checkpoints of a fit that is over are of no more use.

    An older model that took longer may be better than that of an interrupted fit, unless this one went on from it and
    knows a bound.
    """
    goes_on = found.machine.warm_start or (kept_in is not None and kept_in.resume)
    bounded = math.isfinite(found.machine.certificate_.gap)
    if found.interrupted and not (goes_on and bounded) and os.path.isfile(model):
        model += ".interrupted"
    save_model(found.fitted, model, overwrite=True)
    if kept_in and not found.goes_on:
        kept_in.clear()
    return model


def _report(report: str, found: Found, examples: Data, held_out: Judges | None, reading: float) -> None:
    """Write the page on the fit."""
    machine, chosen = found.machine, found.chosen
    if chosen is not None:  # what a LinearSVCCV knows, for the page; the model is saved without it
        machine.C_, machine.Cs_, machine.mean_score_ = chosen.C, chosen.Cs, chosen.scores
        machine.scored_by_ = chosen.score
    timings = {f"reading {called(examples.source)}": reading}
    others = held_out is not None and held_out.data.y is not None
    shown_on = held_out.data if held_out is not None and others else examples
    write_report(report, found.fitted, shown_on, feature_names(found.fitted), timings, command_line(), not others)


def _tell_result(
    found: Found, model: str, report: str | None, examples: Data, judged: Summary | None, talk: Talk
) -> None:
    """Print the certificate, with what else is known, and the warnings of the fit."""
    machine, chosen = found.machine, found.chosen
    if talk.as_json:
        result = {"model": model, **examples.counts, "features": machine.n_features_in_}
        result |= {"cross_validation": chosen.to_dict()} if chosen is not None else {}
        result |= {"validation": judged[0]} if judged else {}
        say(as_json_text("train", result | machine.certificate_.to_dict()))
    elif talk.at_all:
        more = [str(chosen)] if chosen is not None else []
        more += f"tested   {judged[1]}".split("\n") if judged else []
        say(*str(machine.certificate_).split("\n"), *more, f"model    {model}")
        if report is not None and not found.interrupted:
            say(f"report   {report}")
    if not talk.quiet:
        for text in found.warnings:
            say(f"pegasos: warning: {text}", err=True)


def _further(machine: Any, kept_in: Checkpoint | None, X: Any) -> str:
    """How another run goes on, where nothing else says so."""
    if kept_in is not None:
        return ""
    if machine.warm_start:
        return "; the same command goes on from it"
    if isinstance(X, Dataset) and is_larger(X):
        return "; to be able to go on, train with --checkpoint from the first time on, and then --resume"
    return "; to be able to go on, train with --warm-start or --checkpoint from the first time on"


def _data_flags(task: str | None, given: dict[str, Any]) -> DataFlags:
    """What the flags say about data, taken out of those given."""
    flags = DataFlags(**{name: given.pop(name) for name in DataFlags._fields if name not in ("min_count", "hash_bits")})
    form = flags.form
    if flags.text is not None:
        if form not in (None, "text"):
            raise click.UsageError(f"--text is for raw text, and --format {form} for another; leave one of them out")
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
