"""The CoNLL column format: a position a line, its columns side by side, an empty line after each sentence."""

import bz2
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any, BinaryIO

__all__ = ["read_conll", "read_lines"]

Sentences = list[list[tuple[str, ...]]]

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DOCUMENT = "-DOCSTART-"

# Spaces of Unicode, such as the one that does not break, belong to words.
_find_columns = re.compile(r"[^ \t\r\n\f\v]+").findall


def read_conll(source: str | os.PathLike[str] | BinaryIO, *, separator: str | None = None) -> Sentences:
    """Read a file of labelled sentences in columns.

    Parameters
    ----------
    source : path or binary file object
        What to read, to its end: text in UTF-8. A path that ends in ``.gz``, ``.xz`` or ``.bz2`` is decompressed.
    separator : str, optional
        What stands between two columns, such as ``"\\t"``. By default any number of spaces and tabs does; with a
        separator, columns may be empty or have spaces in them.

    Returns
    -------
    sentences : list of lists of tuples of str
        Of each sentence its positions, of each position its columns.

    Raises
    ------
    ValueError
        If a line has more or fewer columns than the first, the text is not UTF-8, or there is none. The message names
        file and line.

    Notes
    -----
    Lines without text end a sentence; several of them count as one. A line whose first column is ``-DOCSTART-``, which
    begins a document in some files, ends a sentence too and is left out. Equal lines give the same tuple.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import read_conll
    >>> read_conll(io.BytesIO(b"He PRP B-NP\\nleft VBD B-VP\\n\\nWhy WRB B-ADVP\\n"))
    [[('He', 'PRP', 'B-NP'), ('left', 'VBD', 'B-VP')], [('Why', 'WRB', 'B-ADVP')]]
    """
    return read_lines(source, separator)[0]


def read_lines(source: str | os.PathLike[str] | BinaryIO, separator: str | None) -> tuple[Sentences, list[int]]:
    """What `read_conll` reads, and the line of the first position of each sentence; others follow without a gap."""
    if separator is not None and (not separator or set(separator) & set("\r\n")):
        raise ValueError(f"separator={separator!r}: pass what stands between columns, such as '\\t', or None")
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        opened = _OPENERS.get(os.path.splitext(name)[1].lower(), open)(name, "rb")
    else:
        name, opened = str(getattr(source, "name", "<stream>")), nullcontext(source)
    try:
        with opened as lines:
            return _read_sentences(lines, separator)
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        # What the decompressors raise on bad data has no number, unlike an error of the system.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: not a compressed file of the kind its name says, or cut short ({error})") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _read_sentences(lines: Iterable[bytes], separator: str | None) -> tuple[Sentences, list[int]]:
    sentences: Sentences = []
    starts: list[int] = []
    sentence: list[tuple[str, ...]] = []
    seen: dict[bytes, tuple[str, ...]] = {}  # text repeats itself, and so the same lines are not split twice
    width = first = 0
    for number, line in enumerate(lines, 1):
        columns = seen.get(line)
        if columns is None:
            columns = _split(line, separator, number)
            if columns:
                if not width:
                    width, first = len(columns), number
                if len(columns) != width:
                    remedy = "" if separator else "; or pass separator='\\t' where tabs stand between the columns"
                    raise ValueError(
                        f"line {number}: {len(columns)} columns, but line {first} has {width}; correct the line{remedy}"
                    )
            seen[line] = columns
        if columns:
            if not sentence:
                starts.append(number)
            sentence.append(columns)
        elif sentence:
            sentences.append(sentence)
            sentence = []
    if sentence:
        sentences.append(sentence)
    if not sentences:
        raise ValueError("no sentences; expected lines such as 'He PRP B-NP', and empty ones between sentences")
    return sentences, starts


def _split(line: bytes, separator: str | None, number: int) -> tuple[str, ...]:
    """The columns; none of a line that ends a sentence."""
    if not isinstance(line, bytes):
        raise TypeError(f"lines are {type(line).__name__}, not bytes; open the file in binary mode")
    if number == 1:
        line = line.removeprefix(_BYTE_ORDER_MARK)
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not UTF-8; convert the file to UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"line {number}: byte 0x00 is not text; is the file compressed or binary?")
    columns = _find_columns(text)
    if not columns or columns[0] == _DOCUMENT:
        return ()
    return tuple(columns if separator is None else text.rstrip("\r\n").split(separator))
