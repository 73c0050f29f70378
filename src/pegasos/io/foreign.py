"""Model files of other programs: what their readers share.

This module knows no estimator, as `pegasos.io.model`: each folder of estimators registers how what a file says becomes
one of its models, and the other way round.
"""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pegasos.io.chunks import open_text, whole_lines
from pegasos.io.model import all_kinds

Source = str | os.PathLike[str] | BinaryIO

#: Labels that these programs have: whole numbers of 32 bits.
LOWEST, HIGHEST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Foreign:
    """How models of another program become ours, and ours its."""

    read: Callable[[Any], Any]  # given what the file says
    write: Callable[[Any], Any]  # gives that


_FOREIGN: dict[str, Foreign] = {}


def register_foreign(name: str, how: Foreign) -> None:
    """Let models of another program be read and written."""
    _FOREIGN[name] = how


def foreign(name: str) -> Foreign:
    """How models of this program are read and written."""
    all_kinds()  # which imports those who register
    return _FOREIGN[name]


class Header:
    """The lines of a file up to the one that begins its numbers: a key and its values each."""

    def __init__(self, lines: list[bytes], last: str, keys: Iterable[str]) -> None:
        self._values: dict[str, list[str]] = {}
        self._lines: dict[str, int] = {}
        known = list(keys)
        for number, line in enumerate(lines, 1):
            key, *values = _text(line, number).split()
            if key == last and not values:
                self.size = number
                return
            if key not in known:
                raise ValueError(f"line {number}: {key!r} is none of {', '.join(known)}, {last}; is it another file?")
            if key in self._values:
                raise ValueError(f"line {number}: {key!r} a second time; the first is line {self._lines[key]}")
            self._values[key], self._lines[key] = values, number
        raise ValueError(f"no line {last!r}, after which the numbers come; is the file cut off?")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def word(self, key: str, known: Iterable[str]) -> str:
        """One of these names."""
        (value,) = self._some(key, 1)
        if value not in (names := list(known)):
            raise self._error(key, f"{value!r} is none of {', '.join(names)}")
        return value

    def whole(self, key: str, low: int, high: int) -> int:
        """A whole number between these."""
        return self.wholes(key, 1, low, high)[0]

    def wholes(self, key: str, count: int, low: int, high: int) -> list[int]:
        """So many whole numbers between these."""
        found = []
        for value in self._some(key, count):
            try:
                number = int(value) if value.lstrip("-").isdigit() and len(value) < 20 else None
            except ValueError:  # digits that are none of ours
                number = None
            if number is None or not low <= number <= high:
                raise self._error(key, f"{value!r} is no whole number from {low} to {high}")
            found.append(number)
        return found

    def numbers(self, key: str, count: int) -> list[float]:
        """So many finite numbers."""
        return parse_numbers(self._some(key, count), f"line {self._lines.get(key, 0)}: {key}").tolist()

    def labels(self, count: int) -> NDArray[np.int64]:
        """The classes, each another."""
        found = self.wholes("label", count, LOWEST, HIGHEST)
        if len(set(found)) < count:
            raise self._error("label", "a label is there twice")
        return np.array(found, dtype=np.int64)

    def _some(self, key: str, count: int) -> list[str]:
        if key not in self._values:
            raise ValueError(f"there is no line {key!r}; is the file cut off?")
        values = self._values[key]
        if len(values) != count:
            raise self._error(key, f"{len(values)} values where {count} are expected")
        return values

    def _error(self, key: str, text: str) -> ValueError:
        return ValueError(f"line {self._lines[key]}: {key}: {text}")


def _text(line: bytes, number: int) -> str:
    try:
        text = line.decode("ascii")
    except UnicodeDecodeError:
        text = ""
    if not text.strip() or not text.isprintable():
        raise ValueError(f"line {number}: a key and its values are expected; is it a model file?")
    return text


def parse_numbers(words: Iterable[Any], where: str) -> NDArray[np.float64]:
    """Finite numbers, as a program in C would read them."""
    found = []
    for word in words:
        try:
            number = math.nan if b"_" in word.encode() else float(word)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{where}: {word[:40]!r} is no finite number")
        found.append(number)
    return np.array(found, dtype=np.float64)


def read_lines(source: Source) -> tuple[list[bytes], Callable[[ValueError], ValueError]]:
    """The lines of a file that are not empty at its end, and what names the file in an error."""
    with open_text(source) as text:
        try:
            lines = b"".join(whole_lines(text.chunks())).split(b"\n")
        except ValueError as error:
            raise text.named(error) from None
        while lines and not lines[-1].strip():
            lines.pop()
        return [line.rstrip(b"\r") for line in lines], text.named


def as_label_numbers(classes: NDArray[Any], where: str) -> NDArray[np.int64]:
    """Classes as whole numbers; a ValueError where they are none."""
    numbers = classes.astype(np.float64) if classes.dtype.kind in "biuf" else None
    whole = numbers is not None and (numbers == np.round(numbers)).all()
    if numbers is None or not whole or not ((numbers >= LOWEST) & (numbers <= HIGHEST)).all():
        raise ValueError(
            f"classes {classes.tolist()[:5]!r}: {where} has whole numbers as labels; fit to numbers, for example by "
            "sklearn.preprocessing.LabelEncoder"
        )
    return numbers.astype(np.int64)


def join_numbers(numbers: Iterable[float]) -> str:
    """Numbers in the shortest form that reads back as the same."""
    return " ".join(map(repr, map(float, numbers)))


def starts_with(path: str | os.PathLike[str], key: bytes) -> bool:
    """Whether it is a file whose first line has this key."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(key) + 1) == key + b" "
