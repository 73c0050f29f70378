"""Flags of LIBLINEAR's ``train``, where they state a problem that there is here too."""

from collections.abc import Callable
from typing import Any, NamedTuple

import click

from pegasos.cli.choose import FOLDS

Command = Callable[..., Any]

#: What each type of solver minimises, in our words; None where there is no such problem here.
TYPES: dict[int, dict[str, str] | None] = {
    0: {"loss": "log_loss"},
    1: {"loss": "squared_hinge"},
    2: {"loss": "squared_hinge"},
    3: {"loss": "hinge"},
    4: {"loss": "hinge", "multi_class": "joint"},
    5: None,
    6: None,
    7: {"loss": "log_loss"},
    11: {"loss": "squared_epsilon_insensitive"},
    12: {"loss": "squared_epsilon_insensitive"},
    13: {"loss": "epsilon_insensitive"},
    21: None,
}
REFUSED = {5: "an L1 penalty", 6: "an L1 penalty", 21: "one class"}
#: Our flags that say something of the intercept.
INTERCEPT = ("fit_intercept", "intercept", "intercept_scaling")
#: Errors that cost nothing in LIBLINEAR's regression, by default.
EPSILON = 0.1


class FromLiblinear(NamedTuple):
    """What its flags say beside the problem."""

    task: str | None
    folds: int | None  # of cross-validation
    notes: list[str]  # what differs, for people


def liblinear_flags(command: Command) -> Command:
    """Add the flags."""
    flags = {
        "-s": (click.INT, "TYPE", f"the problem by its number: {_numbers()}; without -B there is no intercept"),
        "-c": (click.FLOAT, "C", "as --C"),
        "-p": (click.FLOAT, "EPSILON", f"as --epsilon [with -s 11, 12 and 13: {EPSILON}]"),
        "-B": (click.FLOAT, "VALUE", "value of the constant feature behind the intercept; 0 or less: no intercept"),
        "-e": (click.FLOAT, "NUMBER", "ignored, with a note: it bounds a gradient there; here --tol bounds the gap"),
        "-v": (
            click.IntRange(min=2),
            "FOLDS",
            "cross-validation in this many folds, also with -C; writes no model",
        ),
    }
    command = click.option("-C", "liblinear_C", is_flag=True, help="as --C auto")(command)
    for name, (kind, metavar, help) in reversed(flags.items()):
        own = f"liblinear_{name[1:]}"
        command = click.option(name, own, type=kind, metavar=metavar, help=help)(command)
    return command


def _numbers() -> str:
    """What the numbers stand for, in words."""
    words: dict[str, list[str]] = {}
    for number, problem in TYPES.items():
        if problem is not None:
            words.setdefault(problem.get("multi_class", problem["loss"]), []).append(str(number))
    return ", ".join(f"{' and '.join(numbers)} {word}" for word, numbers in words.items())


def from_liblinear(task: str | None, given: dict[str, Any]) -> FromLiblinear:
    """Put what LIBLINEAR's flags say into those of ours, and take them out."""
    told = {name[-1]: given.pop(f"liblinear_{name[-1]}") for name in ("s", "c", "p", "B", "e", "v", "C")}
    notes: list[str] = []
    if told["s"] is not None:
        task = _state(told["s"], task, given)
        if told["B"] is None and all(given.get(name) is None for name in INTERCEPT):
            given["fit_intercept"] = False
            notes.append(f"-s {told['s']} without -B has no intercept, as in LIBLINEAR; -B 1 adds one")
    if told["B"] is not None:
        _set(given, "-B", fit_intercept=told["B"] > 0)
        if told["B"] > 0:
            _set(given, "-B", intercept_scaling=told["B"])
    if told["c"] is not None:
        _set(given, "-c", C=told["c"])
    if told["C"]:
        _set(given, "-C", C="auto")
    if told["v"] not in (None, FOLDS) and given.get("C") == "auto":
        raise click.UsageError(f"C is chosen by cross-validation in {FOLDS} folds; leave -v {told['v']} out, or -C")
    if told["p"] is not None:
        _set(given, "-p", epsilon=told["p"])
    elif told["s"] in (11, 12, 13) and given.get("epsilon") is None:
        given["epsilon"] = EPSILON
    if told["e"] is not None:
        notes.append(
            f"-e {told['e']:g} is not used: in LIBLINEAR it bounds a gradient or dual variables, and here the fit ends "
            "at a relative duality gap, --tol"
        )
    return FromLiblinear(task, told["v"], notes)


def _state(number: int, task: str | None, given: dict[str, Any]) -> str | None:
    """The problem of this number; the task that it needs."""
    if TYPES.get(number) is None:
        known = ", ".join(str(one) for one, problem in TYPES.items() if problem is not None)
        why = " is no type of LIBLINEAR's"
        if number in REFUSED:
            why = f" has {REFUSED[number]}, which pegasos does not support"
        raise click.UsageError(f"-s {number}{why}; supported: {known}")
    wanted = "regression" if number > 10 else "classification"
    if task not in (None, wanted):
        raise click.UsageError(f"-s {number} is for --task {wanted}, and not for --task {task}; leave one of them out")
    _set(given, f"-s {number}", **(TYPES[number] or {}))
    return wanted


def _set(given: dict[str, Any], flag: str, **values: Any) -> None:
    for name, value in values.items():
        if given.get(name) is not None:
            dashed = "--" + name.replace("_", "-")
            raise click.UsageError(f"{flag} says what {dashed} says; leave one of them out")
        given[name] = value
