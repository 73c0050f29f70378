"""The CoNLL column format: a position a line, its columns side by side, an empty line after each sentence."""

import io
import os
import re
from collections.abc import Iterable
from typing import BinaryIO

from pegasos.io.chunks import open_text, whole_lines

Sentences = list[list[tuple[str, ...]]]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DOCUMENT = "-DOCSTART-"

# Spaces of Unicode, such as the one that does not break, belong to words.
_find_columns = re.compile(r"[^ \t\r\n\f\v]+").findall


def read_conll(source: str | os.PathLike[str] | BinaryIO, *, separator: str | None = None) -> Sentences:
    """Read a file of labelled sentences in columns.

    Parameters
    ----------
    source : path or binary file object
        What to read, to its end: text in UTF-8. Files of gzip, bzip2, xz and zstd are decompressed.
    separator : str, optional
        The string that separates columns, such as ``"\\t"``. By default any number of spaces and tabs separates them.
        With a separator, columns may be empty or contain spaces.

    Returns
    -------
    sentences : list of lists of tuples of str
        For each sentence its positions, and for each position its columns.

    Raises
    ------
    ValueError
        If a line has more or fewer columns than the first, or the text is not UTF-8 or empty. The message names file
        and line.

    Notes
    -----
    An empty line ends a sentence; several empty lines count as one. A line whose first column is ``-DOCSTART-``, which
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
    with open_text(source) as text:
        try:
            lines = (line for piece in whole_lines(text.chunks()) for line in io.BytesIO(piece))
            return _read_sentences(lines, separator)
        except ValueError as error:
            raise text.named(error) from None


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
                    remedy = "" if separator else "; or name the separator, where it is the tab"
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
