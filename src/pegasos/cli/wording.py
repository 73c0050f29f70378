"""Warnings once each, and parameters as flags."""

import re
from collections.abc import Collection, Iterable
from typing import Any

from pegasos.base.options import Accepted, Choice, Flag, Option
from pegasos.cli.options import ALL_SOLVERS, TASKS

#: What flags there are beside those that options declare.
_OTHERS = ("random_state", "class_weight", "cost", "constraints", "solver")
_OPTIONS: dict[str, Option | None] = {
    **dict.fromkeys(_OTHERS),
    **{
        name: option
        for owner in (*TASKS.values(), *ALL_SOLVERS.values())
        for name, option in owner.options.items()
        if not isinstance(option, Accepted)
    },
}
_NUMBER = re.compile(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?")


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


def _dashed(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _switch(name: str, on: bool) -> str:
    return _dashed(name) if on else f"--no-{_dashed(name)[2:]}"
