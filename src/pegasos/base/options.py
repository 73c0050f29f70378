"""Kinds of options: what values are allowed, said once for Python, the command line and the docs."""

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from pegasos.base.wording import meant


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: its one-line help, and whether None (meaning "not set") is allowed."""

    help: str
    optional: bool = False

    def accepts(self, value: Any) -> bool:
        raise NotImplementedError

    def wanted(self) -> str:
        """What the value should be, to follow "must be"."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError that names the option, the value and what is allowed."""
        if self.optional and value is None:
            return
        if not self.accepts(value):
            none = " or None" if self.optional else ""
            raise ValueError(f"{name}={value!r}: must be {self.wanted()}{none}{self.meant(value)}")

    def meant(self, value: Any) -> str:
        """The value that this one is probably a slip for, to end a message with."""
        return ""


@dataclass(frozen=True, kw_only=True)
class Integer(Option):
    """A whole number between `low` and `high`."""

    low: int = 0
    high: int = 2**48
    unlimited: bool = False  # whether -1 is allowed, for no limit

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            return False
        return self.low <= int(value) <= self.high or (self.unlimited and int(value) == -1)

    def wanted(self) -> str:
        most = f" and at most {self.high}" if self.high < 2**48 else ""
        return f"an integer of at least {self.low}{most}{', or -1 for no limit' if self.unlimited else ''}"


@dataclass(frozen=True, kw_only=True)
class Number(Option):
    """A finite real number between `low` and `high`, the ends included or (`open`) not; `infinite` allows infinity."""

    low: float = -np.inf
    high: float = np.inf
    open: bool = False
    infinite: bool = False

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if self.infinite and number == np.inf:
            return True
        inside = self.low < number < self.high if self.open else self.low <= number <= self.high
        return inside and np.isfinite(number)

    def wanted(self) -> str:
        at_least, at_most = ("above", "below") if self.open else ("at least", "at most")
        bounds = [f"{at_least} {self.low:g}"] if np.isfinite(self.low) else []
        bounds += [f"{at_most} {self.high:g}"] if np.isfinite(self.high) else []
        return " ".join([f"a {'' if self.infinite else 'finite '}number", " and ".join(bounds)]).strip()


@dataclass(frozen=True, kw_only=True)
class NumberOrName(Number):
    """A number, or one of a few names for a number that depends on the data."""

    values: tuple[str, ...]

    def accepts(self, value: Any) -> bool:
        return value in self.values if isinstance(value, str) else super().accepts(value)

    def wanted(self) -> str:
        return f"{', '.join(map(repr, self.values))} or {super().wanted()}"


@dataclass(frozen=True, kw_only=True)
class Choice(Option):
    """One of a few values; on the command line they go by their names."""

    values: Mapping[str, Any]

    def accepts(self, value: Any) -> bool:
        value = value.item() if isinstance(value, np.bool_) else value
        kind = str if isinstance(value, str) else type(value)  # of a string of NumPy's, too
        return any(kind is type(allowed) and value == allowed for allowed in self.values.values())

    def meant(self, value: Any) -> str:
        return meant(value, self.values.values())

    def wanted(self) -> str:
        *most, last = [repr(value) for value in self.values.values()]
        return f"{', '.join(most)} or {last}" if most else last


@dataclass(frozen=True, kw_only=True)
class Accepted(Choice):
    """A parameter of scikit-learn's estimators that changes nothing here. The command line has none of these."""


@dataclass(frozen=True, kw_only=True)
class ChoiceOrFunction(Choice):
    """One of a few values, or a Python function."""

    def accepts(self, value: Any) -> bool:
        return callable(value) or super().accepts(value)

    def wanted(self) -> str:
        return f"{super().wanted()}, or a function"


@dataclass(frozen=True, kw_only=True)
class Flag(Option):
    """True or False. `also` are other values for them: strings are True, and None is False."""

    also: tuple[str | None, ...] = ()

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_) or (isinstance(value, str | None) and value in self.also)

    def wanted(self) -> str:
        return "True or False"


def names(*values: str) -> dict[str, str]:
    """The values of a `Choice` whose names are themselves."""
    return {value: value for value in values}


def check_options(owner: Any, options: Mapping[str, Option]) -> None:
    """Check each of the options against the attribute of the same name."""
    for name, option in options.items():
        option.check(name, getattr(owner, name))
