"""Command-line flags, made from the options that estimators and solvers declare."""

import contextlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import click

from pegasos.base.checkpoint import Checkpoint
from pegasos.base.options import Accepted, Choice, Flag, Integer, Number, NumberOrName, Option
from pegasos.base.solver import listed
from pegasos.base.wording import meant
from pegasos.io.dataset import is_dataset
from pegasos.io.model import is_something_else
from pegasos.io.raw_text import as_labels
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.sequence.svc import SequenceSVC
from pegasos.solvers import ALL, STREAM_SOLVERS, Solver

Command = Callable[..., Any]

#: What to train, and the estimator for it.
Estimator = type[LinearSVC] | type[LinearSVR] | type[SVC] | type[SVR] | type[SequenceSVC]
TASKS: dict[str, Estimator] = {
    "classification": LinearSVC,
    "regression": LinearSVR,
    "svc": SVC,
    "svr": SVR,
    "sequence": SequenceSVC,
}

ALL_SOLVERS = {cls.name: cls for cls in ALL}

#: A line of predictions: a label, numbers, or the classes after a #.
_NUMBER = rb"-?(?:\d[\d.]*(?:e[-+]?\d+)?|inf)"
_PREDICTED = re.compile(rb"#.*|[^\s,:\0]*|%b(?: %b)*" % (_NUMBER, _NUMBER))

#: What `constraints` can be on a command line.
CONSTRAINTS = {"no": None, "bio": "bio"}


def check_name(flag: str, value: str, names: Iterable[str]) -> str:
    """The value; a mistake where it is none of the names."""
    if value not in names:
        raise click.UsageError(f"{flag} {value}: must be one of {', '.join(names)}{meant(value, names, str)}")
    return value


class Names(click.Choice):  # type: ignore[type-arg]  # generic from click 8.2 on only
    """One of a few names."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        return check_name(param.opts[0] if param is not None else "", value, self.choices)


class Path(click.Path):
    """The name of a file or folder."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        if value == "":
            name = param.human_readable_name if param is not None else "the name"
            raise click.UsageError(f"{name} is empty; name a file")
        return super().convert(value, param, context)


class NumberOrAuto(click.types.FloatParamType):
    """A number, or "auto"."""

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> Any:
        try:
            return value if value == "auto" else super().convert(value, param, context)
        except click.BadParameter:
            raise click.BadParameter(f"{value!r} is neither a number nor auto", context, param) from None


#: Whose these flags are besides: they are of texts too, which no estimator reads.
OF_TEXTS = {"min_count": "raw text", "hash_bits": "lines with --format vw"}


def flag(name: str, option: Option, help: str) -> Callable[[Command], Command]:
    """The click option for one of ours. Not given, it is None, so that the estimator's own default holds."""
    dashed = "--" + name.replace("_", "-")
    if isinstance(option, Flag):
        return click.option(f"{dashed}/--no-{dashed[2:]}", name, default=None, help=help)
    kind: Any = None
    if isinstance(option, Choice):
        kind = Names(list(option.values))
    elif isinstance(option, Integer):
        kind = click.INT
        if name in OF_TEXTS:
            help = help.replace(": ", f", {OF_TEXTS[name]}: ", 1)
    elif isinstance(option, NumberOrName):
        kind = click.STRING
    elif name == "C":
        kind, help = NumberOrAuto(), help.replace(" [", ", or auto: chosen by cross-validation [", 1)
    elif isinstance(option, Number):
        kind = click.FLOAT
        if name == "max_time":
            help = help.replace(" [", "; with --C auto for the choice of C and the last fit together [", 1)
    return click.option(dashed, name, type=kind, default=None, help=help)


def estimator_flags(command: Command) -> Command:
    """A flag for each parameter of the estimators; parameters of the same name are the same."""
    command = _flags(command, TASKS)
    command = click.option(
        "--class-weight",
        multiple=True,
        metavar="LABEL=WEIGHT|balanced",
        help=f"{_whose('class_weight')}weight of a class; may be repeated",
    )(command)
    command = click.option(
        "--cost",
        metavar="FILE",
        help=f"{_whose('cost')}text file with the cost of taking a label (line) for another (column) [1 each]",
    )(command)
    command = click.option(
        "--constraints",
        type=Names(list(CONSTRAINTS)),
        help=f"{_whose('constraints')}bio allows I-X only after B-X or I-X [no]",
    )(command)
    command = click.option("--random-state", type=int, help="seed of the order of visits")(command)
    command = click.option(
        "--task",
        type=Names(list(TASKS)),
        default=None,
        help="what to train: a linear estimator for classification or regression, one with a kernel for them "
        "(svc, svr), or one that labels sequences [classification]",
    )(command)
    tasks: dict[str, list[str]] = {}
    tasks_and_solvers = [*((task, cls.solvers) for task, cls in TASKS.items()), ("--one-pass", STREAM_SOLVERS)]
    for task, solvers in tasks_and_solvers:
        tasks.setdefault(", ".join(solvers), []).append(task)
    names = "; ".join(f"{', '.join(owners)}: {listing}" for listing, owners in tasks.items())
    known = sorted({solver for _, known in tasks_and_solvers for solver in known})

    def complete(context: click.Context, parameter: click.Parameter, begun: str) -> list[str]:
        return [name for name in known if name.startswith(begun)]

    return click.option("--solver", metavar="NAME", help=f"{names} [auto]", shell_complete=complete)(command)


def _tasks_with(name: str) -> list[str]:
    """The tasks whose estimator has the parameter."""
    return [task for task, estimator in TASKS.items() if name in estimator().get_params(deep=False)]


def _whose(name: str) -> str:
    """The beginning of the help of a parameter that not all have."""
    owners = _tasks_with(name)
    return "" if len(owners) == len(TASKS) else f"{', '.join(owners)}: "


def solver_flags(command: Command) -> Command:
    """A flag for each option of each solver."""
    return _flags(command, ALL_SOLVERS)


def _flags(command: Command, owners: Mapping[str, Any]) -> Command:
    """A flag for each option of some classes, which go by these names; options of the same name are the same."""
    options: dict[str, Option] = {}
    defaults: dict[str, dict[str, list[str]]] = {}  # of each option, with those that have it
    for owner, cls in owners.items():
        for name, option in cls.options.items():
            if isinstance(option, Accepted) or name == "on_interrupt":  # the command keeps what there is
                continue
            before = options.setdefault(name, option)
            if isinstance(before, Choice) and isinstance(option, Choice):
                options[name] = replace(before, values={**before.values, **option.values})
            defaults.setdefault(name, {}).setdefault(_default(cls, name), []).append(owner)
    for name, option in reversed(list(options.items())):
        first, *others = defaults[name]
        default = "; ".join([first, *(f"{', '.join(defaults[name][other])}: {other}" for other in others)])
        having = [owner for owner, cls in owners.items() if name in cls.options]
        whose = "" if len(having) == len(owners) else f"{', '.join(having)}: "
        command = flag(name, option, f"{whose}{option.help} [{default}]")(command)
    return command


def _default(owner: Any, name: str) -> str:
    value = owner().get_params(deep=False)[name]
    option = owner.options[name]
    if isinstance(option, Choice):
        return next(key for key, allowed in option.values.items() if allowed == value and type(allowed) is type(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return {None: "not set", True: "yes", False: "no"}.get(value, f"{value}")


def given_parameters(
    flags: Mapping[str, Any],
    solver_before: str | Solver = "auto",
    estimator: Estimator = LinearSVC,
    solvers: Mapping[str, type[Solver]] | None = None,
) -> dict[str, Any]:
    """The parameters of the estimator that the flags given set, the solver with its options among them.

    Options of the solver without ``--solver`` are for `solver_before`, and leave its other options as they were.
    """
    given = {name: value for name, value in flags.items() if value not in (None, ())}
    known = estimator().get_params(deep=False)
    for name in given:
        owners = _tasks_with(name)
        if owners and name not in known:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is for --task {listed(owners, 'or')}; leave it out, or name that task"
            )
    parameters = {name: given.pop(name) for name in [*estimator.options, "random_state"] if name in given}
    for name, option in estimator.options.items():
        if name in parameters:
            parameters[name] = _value(name, option, parameters[name])
    if not 0 <= parameters.get("random_state", 0) < 1 << 32:
        raise click.UsageError(
            f"--random-state {parameters['random_state']}: must be a number from 0 to {(1 << 32) - 1}"
        )
    if "class_weight" in given:
        parameters["class_weight"] = _class_weight(given.pop("class_weight"))
    if "cost" in given:
        parameters["cost"] = _cost(given.pop("cost"))
    if "constraints" in given:
        parameters["constraints"] = CONSTRAINTS[given.pop("constraints")]
    solver = given.pop("solver", None)
    if given:
        parameters["solver"] = _make_solver(solver or solver_before, given, solvers or estimator.solvers)
    elif solver:
        parameters["solver"] = solver
    return parameters


def _value(name: str, option: Option, given: Any) -> Any:
    """What is meant by the value of a flag; a mistake where the option cannot have it."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(option, Choice):
        return option.values[check_name(flag, given, option.values)]
    if isinstance(option, NumberOrName):
        with contextlib.suppress(ValueError):
            given = float(given)
    if (name, given) != ("C", "auto"):
        option.check(flag, given)
    return given


def _cost(source: str) -> list[list[float]]:
    with open(source, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    try:
        return [[float(word) for word in line] for line in lines if line]
    except ValueError as error:
        raise click.UsageError(f"--cost {source}: {error}; write numbers, a line for each class") from None


def _make_solver(base: str | Solver, given: Mapping[str, Any], solvers: Mapping[str, type[Solver]]) -> Solver:
    if isinstance(base, str):
        base = solvers[check_name("--solver", base, solvers)]()
    known = type(base)
    options = base.get_params()
    for option_name, value in given.items():
        option = known.options.get(option_name)
        if option is None:
            flags = ", ".join("--" + other.replace("_", "-") for other in known.options) or "none; choose with --solver"
            raise click.UsageError(
                f"--{option_name.replace('_', '-')} is no option of the solver {known.name}, which has {flags}"
            )
        options[option_name] = _value(option_name, option, value)
    return known(**options)


def _class_weight(given: tuple[str, ...]) -> dict[Any, float] | str:
    if given == ("balanced",):
        return "balanced"
    if "balanced" in given:
        raise click.UsageError("--class-weight is either balanced or LABEL=WEIGHT, and not both; leave one of them out")
    weights: dict[Any, float] = {}
    for pair in given:
        label, _, weight = pair.rpartition("=")
        try:
            if not label:
                raise ValueError
            value = weights[as_labels([label])[0].item()] = float(weight)
        except ValueError:
            raise click.UsageError(
                f"--class-weight {pair}: must be LABEL=WEIGHT, such as -1=0.5, or balanced"
            ) from None
        if not 0 <= value < math.inf:
            raise click.UsageError(f"--class-weight {pair}: the weight must be finite and not negative")
    return weights


def refuse_overwriting(output: str, *inputs: str) -> None:
    """An output that is one of the inputs is a slip, and would be the end of that input."""
    for name in inputs:
        if name != "-" and os.path.exists(output) and os.path.exists(name) and os.path.samefile(output, name):
            raise click.UsageError(f"{output} would be overwritten, and it is an input; name another file to write to")


def is_standard_output(target: str) -> bool:
    """Whether it is standard output, or the file that this goes to, which no other file may replace."""
    try:
        return target == "-" or os.path.samestat(os.stat(target), os.fstat(1))
    except OSError:  # no such file, or no standard output
        return False


def refuse_standard_output(target: str) -> None:
    """A file cannot take the place of standard output."""
    if is_standard_output(target):
        raise click.UsageError(f"{target} is the standard output, and TARGET is a file or folder of its own; name one")


def overwrite_flag(command: Command) -> Command:
    """The flag that allows to replace what this command did not write."""
    return click.option("--overwrite", is_flag=True, help="replace even a file that this command did not write")(
        command
    )


def refuse_other_than_model(output: str, overwrite: bool) -> None:
    """A model takes the place of a model, or of nothing."""
    if not overwrite and is_something_else(output):
        raise click.UsageError(
            f"{output} exists and is no pegasos model; name another MODEL, or give --overwrite to replace it"
        )


def refuse_other_than_predictions(output: str, overwrite: bool) -> None:
    """Predictions take the place of predictions, or of nothing; they have a word or numbers on each line."""
    if overwrite or not os.path.isfile(output):
        return
    with open(output, "rb") as file:
        lines = file.read(1 << 16).split(b"\n")
    if not all(_PREDICTED.fullmatch(line) for line in lines[: max(len(lines) - 1, 1)]):
        raise click.UsageError(
            f"{output} exists and does not look like predictions; name another OUTPUT, or give --overwrite to replace "
            "it"
        )


def refuse_other_folder(data: str) -> None:
    """A folder that is no data set."""
    if os.path.isdir(data) and not is_dataset(data):
        raise click.UsageError(
            f"{data} is a folder, and no data set: it has no header.json; name a file, or make a data set by pegasos "
            "convert"
        )


def refuse_folder(output: str) -> None:
    """That the model cannot be written should come up before the work."""
    if is_standard_output(output):
        raise click.UsageError(f"{output} is the standard output; name a file")
    if os.path.isdir(output):
        raise click.UsageError(f"{output} is a folder; name a file in it, such as {os.path.join(output, 'a.model')}")
    folder = os.path.dirname(os.path.abspath(output))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        raise click.UsageError(f"{output}: {folder} is no folder that can be written to")


#: The version of each kind of JSON object, as schema.json has them.
KINDS = ("train", "train-one-pass", "predict", "inspect", "convert", "convert-model", "cross-validation")
SCHEMAS = dict.fromkeys(KINDS, 1)


def as_json_text(kind: str, facts: dict[str, Any]) -> str:
    """Facts of a kind that schema.json describes, with null for infinity and NaN, for which JSON has no words."""

    def finite(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: finite(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [finite(item) for item in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps({"schema": f"pegasos/{kind}/{SCHEMAS[kind]}"} | finite(facts))


def checkpoints(folder: str | None, every: str | None, resume: bool) -> Checkpoint | None:
    """Where the flags say that a fit leaves checkpoints."""
    if folder is None:
        if every is not None or resume:
            raise click.UsageError(f"{'--resume' if resume else '--checkpoint-every'} needs --checkpoint FOLDER")
        return None
    if not folder:
        raise click.UsageError('--checkpoint "": must name a folder')
    try:
        return Checkpoint(folder, "30s" if every is None else every, resume, keep=True)
    except ValueError:
        raise click.UsageError(f"--checkpoint-every {every}: must be a time, such as 30s, 5m or 1h") from None
