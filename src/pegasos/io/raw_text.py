"""Raw text with labels: a line for each example."""

import io
import os
import re
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pegasos.io.chunks import open_text, whole_lines

#: Whole numbers that begin with zeros, or have more digits than are kept.
_CHANGED = re.compile(r"[+-]?(0\d+|\d{19,})")

#: What begins a label in fastText's format.
FASTTEXT = "__label__"


def read_raw_text(source: str | os.PathLike[str] | BinaryIO) -> tuple[list[str], list[str] | None]:
    """Read texts, one a line, and their labels.

    The first line that is not empty tells the format: it begins with ``__label__``, as in fastText's files
    (``__label__x text``), or it has a tab after its label (``x<TAB>text``), or there are no labels and all of a line is
    text. Empty lines of a file with labels are left out. Files of gzip, bzip2, xz and zstd are decompressed.

    Returns
    -------
    texts : list of str
        The texts.
    labels : list of str or None
        None where there are none.

    Raises
    ------
    ValueError
        If a line has no label where the first has one, or several, or is not UTF-8, or there is no text. The message
        names file and line.
    """
    with open_text(source) as text:
        try:
            lines = (line for piece in whole_lines(text.chunks()) for line in io.BytesIO(piece))
            return _split([_decode(line, number) for number, line in enumerate(lines, 1)])
        except ValueError as error:
            raise text.named(error) from None


def _decode(line: bytes, number: int) -> str:
    if b"\0" in line:
        raise ValueError(f"line {number}: byte 0x00 is not text; is the file compressed or binary?")
    try:
        return line.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x}"
        raise ValueError(f"line {number}: not UTF-8, {found}; convert the file to UTF-8") from None


def _split(lines: list[str]) -> tuple[list[str], list[str] | None]:
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise ValueError("no text")
    fasttext = lines[first].lstrip().startswith(FASTTEXT)
    if not fasttext and "\t" not in lines[first]:
        return lines, None
    split = _split_fasttext if fasttext else _split_tab
    texts, labels = [], []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                label, text = split(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}, as line {first + 1} has") from None
            labels.append(label)
            texts.append(text)
    return texts, labels


def _split_tab(line: str) -> tuple[str, str]:
    label, tab, text = line.partition("\t")
    if not tab or not label.strip():
        raise ValueError("no label; write a label, a tab and the text")
    return label.strip(), text


def _split_fasttext(line: str) -> tuple[str, str]:
    label, *rest = line.split(maxsplit=1)
    if not label.startswith(FASTTEXT) or label == FASTTEXT:
        raise ValueError(f"no label; write {FASTTEXT}x and the text")
    if rest and rest[0].startswith(FASTTEXT):
        raise ValueError("several labels; write one")
    return label.removeprefix(FASTTEXT), rest[0] if rest else ""


def changes_as_number(words: Iterable[str]) -> bool:
    """Whether one of the words is a whole number that would be written in another way, such as 007.

    Examples
    --------
    >>> changes_as_number(["7", "-1", "+1", "1.0", "x"]), changes_as_number(["7", "007"])
    (False, True)
    """
    return any(_CHANGED.fullmatch(word.strip()) for word in words)


def as_labels(words: list[str], targets: bool = False) -> NDArray[Any]:
    """Numbers, where all are such, and where as labels they would be written in the same way; otherwise strings."""
    labels = np.asarray(words, dtype=str)
    if not targets and changes_as_number(set(words)):
        return labels
    for kind in (np.int64, np.float64):
        try:
            numbers: NDArray[Any] = labels.astype(kind)
        except (ValueError, OverflowError):
            continue
        if np.isfinite(numbers).all():
            return numbers
    return labels
