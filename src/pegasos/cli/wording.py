"""Messages of the package in the words of the command: flags in place of Python's parameters."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from pegasos.base.options import Accepted, Choice, Flag, Option
from pegasos.cli.options import ALL_SOLVERS, TASKS

#: What flags there are beside those that options declare.
_OTHERS = ("random_state", "class_weight", "cost", "constraints", "solver", "dtype", "n_features", "memory_limit")
_OPTIONS: dict[str, Option | None] = {
    **dict.fromkeys(_OTHERS),
    "zero_based": Flag(help=""),
    "resume": Flag(help=""),
    **{
        name: option
        for owner in (*TASKS.values(), *ALL_SOLVERS.values())
        for name, option in owner.options.items()
        if not isinstance(option, Accepted)
    },
}
_CALL = re.compile(r"(\w+\([^()]*\))")  # of Python, such as SDCA(order='permute')
_NAMES = "|".join(sorted(_OPTIONS, key=len, reverse=True))
_VALUE = r"'[^']*'|\"[^\"]*\"|[^\s,;:(){}\[\]'\"]+"
_GIVEN = re.compile(rf"(?<![\w.\-/'\"])({_NAMES})=({_VALUE})(?!\w)")
#: Names that are no words: they have an underscore, or are "tol".
_PLAIN = "|".join(name for name in sorted(_OPTIONS, key=len, reverse=True) if "_" in name or name == "tol")
_BARE = re.compile(rf"(?<![\w.\-/'\"=])({_PLAIN})(?![\w\-/'\"=(\[]|\.\w)")

_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")
_NONE = re.compile(",? or None")
_QUOTED = re.compile(r"'([\w-]+)'")
_WORDS = {
    *(solver for owner in TASKS.values() for solver in owner.solvers),
    *(word for option in _OPTIONS.values() for word in getattr(option, "values", ())),
}


def in_flags(message: str) -> str:
    """The message with ``--max-iter 10`` for ``max_iter=10``, and ``--max-iter`` for ``max_iter``."""
    parts = _CALL.split(message.replace(", or an object from pegasos.solvers", ""))  # every other one is a call
    parts[::2] = [_BARE.sub(lambda found: _dashed(found[1]), _GIVEN.sub(_given, part)) for part in parts[::2]]
    changed = "".join(parts)
    if changed == message:
        return message
    # Of the words that flags take none is in quotes, and what None means is said by leaving a flag out.
    return _QUOTED.sub(lambda found: found[1] if found[1] in _WORDS else found[0], _NONE.sub("", changed))


def distinct(messages: Iterable[str]) -> list[str]:
    """The messages, without those that differ from a later one in numbers alone."""
    found: dict[str, str] = {}
    for message in messages:
        key = _NUMBER.sub("#", message)
        found.pop(key, None)
        found[key] = message
    return list(found.values())


def kept(estimator: Any, given: Collection[str]) -> str:
    """The parameters of an estimator that are not those it has by default, but for those given, as flags."""
    defaults, flags = type(estimator)().get_params(deep=False), []
    for name, value in estimator.get_params(deep=False).items():
        option = _OPTIONS.get(name)
        if name in given or name in ("warm_start", "verbose") or (name not in _OPTIONS) or value == defaults[name]:
            continue
        if isinstance(option, Choice):
            value = next((key for key, allowed in option.values.items() if allowed == value), value)
        if isinstance(option, Flag):
            flags.append(_switch(name, bool(value)))
        elif value is None or isinstance(value, str | int | float):
            flags.append(f"{_dashed(name)} {_number(value) if isinstance(value, float) else value}")
        else:
            flags.append(f"its {_dashed(name)}" if name != "solver" else f"{_dashed(name)} {value.describe()}")
    return " ".join(flags)


def _number(value: float) -> str:
    """As short as it can be without becoming another one."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _given(found: re.Match[str]) -> str:
    name, value = found[1], found[2].strip("'\"").removeprefix("np.")
    dot = "." if value.endswith(".") else ""
    value, option = value.removesuffix("."), _OPTIONS[name]
    if isinstance(option, Flag) and value in ("True", "False"):
        return _switch(name, value == "True") + dot
    if isinstance(option, Choice):
        value = next((key for key, allowed in option.values.items() if repr(allowed) == value), value)
    return f"{_dashed(name)} {value}{dot}"


def _dashed(name: str) -> str:
    return "--features" if name == "n_features" else f"--{name.replace('_', '-')}"


def _switch(name: str, on: bool) -> str:
    return _dashed(name) if on else f"--no-{_dashed(name)[2:]}"
