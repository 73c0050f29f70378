"""Where a mistake in a file of delimited columns is: a second look at it, after pyarrow found one or may have missed
one."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from pegasos.io.chunks import open_text, whole_lines

#: What is left of a quoted value, up to the quote that closes it; two quotes stand for one.
_CLOSED = re.compile(rb'[^"]*(?:""[^"]*)*"(?!")')
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
_RAGGED = re.compile(r"Expected (\d+) columns, got (\d+)")
_CONVERSION = re.compile(r"In CSV column #(\d+): CSV conversion error to (\w+): invalid value '(.*)'", re.DOTALL)


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a text file, which may be compressed, with their ends."""
    with open_text(name) as file:
        for part in whole_lines(file.chunks()):
            yield from io.BytesIO(part)


def may_span_lines(name: str, rows: int) -> bool:
    """Whether a quoted value of a file may have several lines, where there are so many rows after the names."""
    quotes, lines, last = False, 0, b"\n"
    with open_text(name) as file:
        for chunk in file.chunks():
            quotes = quotes or b'"' in chunk
            lines += chunk.count(b"\n")
            last = chunk[-1:]
    return quotes and lines + (last != b"\n") != rows + 1


def refuse_open_quote(name: str, delimiter: str) -> None:
    """Raise a ValueError where a quote is not closed, so that it takes other rows for its text."""
    found = find_open_quote(read_lines(name), delimiter.encode())
    if found is not None:
        opened, ended = found
        where = "anywhere after it" if not ended else f"before line {ended}, where a quote stands in the middle of text"
        raise ValueError(
            f'{name}: line {opened}: the quote (") is not closed {where}; close it, or write "" for a quote in a text'
        )


def find_open_quote(lines: Iterable[bytes], delimiter: bytes) -> tuple[int, int] | None:
    """The line of the first quote that is not closed, and that of a quote after which text goes on, 0 where there is
    none; None where all are closed.

    Examples
    --------
    >>> find_open_quote([b'a,"b', b'c,d'], b",")
    (1, 0)
    >>> find_open_quote([b'a,"b', b'c,"d"'], b",")
    (1, 2)
    >>> find_open_quote([b'5" pipe,"b', b'c",d'], b",")
    """
    field = re.compile(rb"[^\r\n" + re.escape(delimiter) + rb"]*[\r\n" + re.escape(delimiter) + rb"]?")
    opened = 0
    for number, line in enumerate(lines, 1):
        if b'"' not in line:
            continue
        place, within = 0, opened > 0
        while place < len(line):
            if within or line.startswith(b'"', place):
                closed = _CLOSED.match(line, place if within else place + 1)
                if closed is None:
                    opened = opened or number
                    break
                rest = field.match(line, closed.end())
                assert rest is not None
                if opened and rest[0].strip(delimiter + b" \t\r\n"):
                    return opened, number
                opened, within, place = 0, False, rest.end()
            else:
                rest = field.match(line, place)
                assert rest is not None
                place = rest.end()
    return (opened, 0) if opened else None


def explain(name: str, delimiter: str, columns: list[str], message: str) -> str:
    """pyarrow's message with column and line, where these can be found."""
    ragged, conversion = _RAGGED.search(message), _CONVERSION.search(message)
    if ragged is not None:
        count = int(ragged[2])
        line = _find(name, delimiter, lambda record: len(record) == count)
        return f"{f'line {line}: ' if line else ''}{message.removeprefix('CSV parse error: ')}"
    if conversion is not None and int(conversion[1]) < len(columns):
        column, value = int(conversion[1]), conversion[3]
        line = _find(name, delimiter, lambda record: len(record) > column and record[column].strip() == value.strip())
        kinds = {"bool": "true or false", "string": "text"}
        wanted = kinds.get(conversion[2], "a number")
        return f"column {columns[column]!r}{f', line {line}' if line else ''}: {value!r} is not {wanted}"
    return message


#: Words for a value that is missing, in lower case.
_MISSING = {"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none"}
#: Rows that are looked at to tell a column of numbers with a mistake from one of texts.
_LOOKED_AT = 100_000


def find_no_number(name: str, delimiter: str, place: int) -> tuple[int, str] | None:
    """Line and text of the first value that is not a number, in a column of which most are; else None."""
    numbers, others, found = 0, 0, None
    lines = (line.decode("utf-8", "replace") for line in read_lines(name))
    reader, first = csv.reader(lines, delimiter=delimiter), 1
    try:
        for record in islice(reader, _LOOKED_AT):
            if first > 1 and len(record) > place and record[place].strip().lower() not in _MISSING:
                try:
                    float(record[place])
                    numbers += 1
                except ValueError:
                    others += 1
                    found = found or (first, record[place])
            first = reader.line_num + 1
    except csv.Error:  # of a text that is too long for that module
        pass
    return found if numbers > others else None


def printable(text: str) -> str:
    """With signs that a terminal would act on written out."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def _find(name: str, delimiter: str, wanted: Callable[[list[str]], bool]) -> int:
    """The line of the first such record after the names; 0 where it is not found."""
    lines = (line.decode("utf-8", "replace") for line in read_lines(name))
    reader, first = csv.reader(lines, delimiter=delimiter), 1
    try:
        for record in reader:
            if first > 1 and record and wanted(record):
                return first
            first = reader.line_num + 1
    except csv.Error:  # of a text that is too long for that module
        pass
    return 0
