"""Files of tables with named columns, whatever their format, through pyarrow."""

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pegasos.io.chunks import open_text
from pegasos.io.compression import KINDS
from pegasos.io.table_faults import explain, find_no_number, may_span_lines, printable, read_lines, refuse_open_quote

#: Bytes that are parsed at a time: of numbers, and of texts, which may be long.
BLOCK, TEXT_BLOCK = 1 << 20, 64 << 20
#: Bytes of each column of a Parquet file that are read at a time.
BUFFER = 1 << 16
#: What to do about text in another encoding.
TO_UTF8 = "convert the file, for example by iconv -f latin1 -t utf-8"
_NOT_UTF8 = re.compile(r"(?:In CSV column #(\d+): .*)?invalid (?:UTF8|value '.*\ufffd)", re.DOTALL)
#: Ends of the names of tables that are text, which may be compressed, and of others.
_TEXT, _COMPRESSED = (".csv", ".tsv", ".jsonl", ".ndjson"), ("", *(kind.suffix for kind in KINDS))
SUFFIXES = (*(end + more for end in _TEXT for more in _COMPRESSED), ".parquet", ".arrow", ".feather")
#: The same in messages and help.
NAMED = ".csv, .tsv, .jsonl, .parquet, .arrow, .feather"


def is_table(name: str) -> bool:
    """Whether the name is that of a table."""
    return name.lower().endswith(SUFFIXES)


def pyarrow(who: str = "tables") -> Any:
    """The package, with its readers."""
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.dataset
        import pyarrow.json
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{who} need the package pyarrow; install pyarrow") from None
    return pyarrow


class _Stream(io.RawIOBase):
    """Chunks of bytes, as a file to read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._rest = chunks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, to: Any) -> int:
        self._rest = self._rest or memoryview(next(self._chunks, b""))
        count = min(len(to), len(self._rest))
        to[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


@contextmanager
def _opened(name: str) -> Iterator[Any]:
    """What pyarrow is to read: the path of a file, or the content of one that is compressed."""
    with open_text(name) as text:
        yield name if text.kind is None else pyarrow().PythonFile(_Stream(text.chunks()), mode="r")


class _Delimited:
    """CSV, or columns with tabs between. Texts may have several lines and be long, for which others are not searched.

    Of a file read whole, columns have types that hold all their values, and not those of its first rows.
    """

    header = 1  # lines

    def __init__(self, name: str, tabs: bool, texts: bool) -> None:
        pa = pyarrow()
        self.name, self.delimiter = name, "\t" if tabs else ","
        self.reading = {
            "parse_options": pa.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=texts),
            "read_options": pa.csv.ReadOptions(block_size=TEXT_BLOCK if texts else BLOCK),
        }

    def schema(self) -> Any:
        with _opened(self.name) as file, pyarrow().csv.open_csv(file, **self.reading) as reader:
            return reader.schema

    def read(self, names: list[str], types: Mapping[str, Any]) -> Any:
        with _opened(self.name) as file:
            return pyarrow().csv.read_csv(file, convert_options=self._conversion(names, types), **self.reading)

    def batches(self, names: list[str], types: Mapping[str, Any]) -> Iterator[Any]:
        conversion = self._conversion(names, types)
        with (
            _opened(self.name) as file,
            pyarrow().csv.open_csv(file, convert_options=conversion, **self.reading) as reader,
        ):
            yield from reader

    def _conversion(self, names: list[str], types: Mapping[str, Any]) -> Any:
        """An empty word is a missing one, and these columns are of these types."""
        return pyarrow().csv.ConvertOptions(include_columns=names, strings_can_be_null=True, column_types=types)

    def records(self, lines: Iterator[str]) -> Iterator[int]:
        """The line that each record begins at; empty ones are none."""
        reader, first = csv.reader(lines, delimiter=self.delimiter), 1
        for record in reader:
            if record:
                yield first
            first = reader.line_num + 1


class _JSONLines:
    """An object on each line, whose names are columns."""

    header = 0

    def __init__(self, name: str, texts: bool) -> None:
        self.name, self.size = name, TEXT_BLOCK if texts else BLOCK
        if not hasattr(pyarrow().json, "open_json"):
            raise ImportError(f"{name}: JSON lines need pyarrow 20 or later; install it")

    def _options(self, types: Mapping[str, Any]) -> dict[str, Any]:
        pa = pyarrow()
        schema = pa.schema(list(types.items())) if types else None
        return {
            "parse_options": pa.json.ParseOptions(explicit_schema=schema),
            "read_options": pa.json.ReadOptions(block_size=self.size),
        }

    def schema(self) -> Any:
        with _opened(self.name) as file, pyarrow().json.open_json(file, **self._options({})) as reader:
            return reader.schema

    def read(self, names: list[str], types: Mapping[str, Any]) -> Any:
        with _opened(self.name) as file:
            return pyarrow().json.read_json(file, **self._options(types)).select(names)

    def batches(self, names: list[str], types: Mapping[str, Any]) -> Iterator[Any]:
        with _opened(self.name) as file, pyarrow().json.open_json(file, **self._options(types)) as reader:
            yield from (batch.select(names) for batch in reader)

    def records(self, lines: Iterator[str]) -> Iterator[int]:
        return (number for number, line in enumerate(lines, 1) if line.strip())


class TableFile:
    """A file, or a table in memory, whatever its format."""

    def __init__(self, source: Any, *, texts: bool = False) -> None:
        pa = pyarrow(f"{source}: tables")
        self.table = source if isinstance(source, pa.Table) else None
        self.dataset: Any = None  # of text none: its rows would have the types of its first ones
        self.text: _Delimited | _JSONLines | None = None
        if self.table is not None:
            self.name, self.dataset, self.schema = "<table>", pa.dataset.dataset(source), source.schema
            self.names = self.schema.names
            return
        self.name = os.fspath(source)
        with open(self.name, "rb") as file:
            head = file.read(6)
        self._check_head(head)
        with self._errors():
            if head[:4] == b"PAR1" or head == b"ARROW1":
                self.dataset = pa.dataset.dataset(self.name, format="parquet" if head[:4] == b"PAR1" else "ipc")
                self.schema = self.dataset.schema
            else:
                parts = os.path.basename(self.name).lower().split(".")[1:]
                json = "jsonl" in parts or "ndjson" in parts
                self.text = _JSONLines(self.name, texts) if json else _Delimited(self.name, "tsv" in parts, texts)
                self.schema = self.text.schema()
            self.names = self.schema.names

    def _check_head(self, head: bytes) -> None:
        """Raise a ValueError where a file cannot be what its name says."""
        if not head:
            raise ValueError(f"{self.name}: the file is empty; is it the right one?")
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ValueError(
                f"{self.name}: the text is UTF-16, not UTF-8; convert the file, for example by iconv -f utf-16 -t utf-8"
            )
        kind = {".parquet": "Parquet", ".arrow": "Arrow", ".feather": "Feather"}.get(
            os.path.splitext(self.name)[1].lower()
        )
        if kind is not None and head[:4] not in (b"PAR1", b"ARRO"):
            raise ValueError(f"{self.name}: no {kind} file, as it does not begin like one; copy or make the file again")

    @property
    def delimited(self) -> bool:
        """Whether it is CSV or TSV, whose values have no types of their own."""
        return isinstance(self.text, _Delimited)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """pyarrow's errors, with the name of the file."""
        try:
            yield
        except UnicodeDecodeError:
            raise ValueError(f"{self.name}: a column's name is not UTF-8; {TO_UTF8}") from None
        except (pyarrow().ArrowException, OSError) as error:
            if isinstance(error, MemoryError) or getattr(error, "filename", None) is not None:
                raise
            remedy = "copy or make the file again" if isinstance(error, OSError) else "correct the file"
            if (foreign := _NOT_UTF8.search(str(error))) is not None:
                names, place = getattr(self, "names", []), int(foreign[1] or 0)
                where = f"column {names[place]!r} has" if foreign[1] and place < len(names) else "there is"
                raise ValueError(f"{self.name}: {where} text that is not UTF-8; {TO_UTF8}") from None
            text = re.sub(r" in row (\d+)$", self._told, str(error).strip())
            if isinstance(self.text, _Delimited) and not isinstance(error, OSError):
                refuse_open_quote(self.name, self.text.delimiter)
                text = explain(self.name, self.text.delimiter, getattr(self, "names", []), text)
            raise ValueError(f"{self.name}: {printable(text)}; {remedy}") from None

    def _told(self, found: re.Match[str]) -> str:
        """Where pyarrow found an error in JSON: it counts from 0, anew in each block."""
        whole = self.text is not None and os.path.getsize(self.name) < BLOCK
        return f" in {self.place(int(found[1]))}" if whole else ""

    def check_present(self, name: str) -> None:
        """Raise a ValueError where there is no column of this name, or several."""
        count = self.names.count(name)
        if count == 1:
            return
        if count:
            raise ValueError(f"{self.name}: {count} columns are named {name!r}; rename them")
        some = ", ".join(map(repr, self.names[:8])) + (", ..." if len(self.names) > 8 else "")
        raise ValueError(f"{self.name}: no column {name!r}; there are {some}")

    def no_number(self, name: str) -> str:
        """What the first value that is not a number is, and where, in a column of text that mostly has numbers."""
        if not isinstance(self.text, _Delimited):
            return ""
        found = find_no_number(self.name, self.text.delimiter, self.names.index(name))
        if found is None:
            return ""
        line, value = found
        why = "byte 0x00 is not text" if "\0" in value else f"{value!r} is not a number"
        return f"column {name!r}, line {line}: {why}; correct it, or drop the row"

    def read(self, names: list[str], texts: Sequence[str] = ()) -> Any:
        """These columns, all rows."""
        with self._errors():
            if self.text is None:
                table = self.dataset.to_table(columns=names)
            else:
                table = self.text.read(names, dict.fromkeys(texts, pyarrow().string()))
        self._check_rows(table.num_rows)
        return table

    def batches(self, names: list[str], rows: int, numbers: Sequence[str], texts: Sequence[str] = ()) -> Iterator[Any]:
        """These columns, in record batches; `numbers` are numbers and `texts` texts, whatever the first look like."""
        count, pa = 0, pyarrow()
        with self._errors():
            if self.text is None:
                for batch in self._stored(names, rows):
                    count += batch.num_rows
                    yield batch.select(names)
            else:
                kinds = {name: self.schema.field(name).type for name in numbers}
                types = {name: pa.float64() for name, kind in kinds.items() if not pa.types.is_boolean(kind)}
                types |= dict.fromkeys(texts, pa.string())
                for batch in self.text.batches(names, types):
                    count += batch.num_rows
                    yield batch
        self._check_rows(count)

    def _stored(self, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of a table that is no text, one at a time; a dataset of pyarrow reads ahead without bounds."""
        pa = pyarrow()
        if self.table is not None:
            yield from self.table.select(names).to_batches(rows)
        elif self.dataset.format.default_extname == "parquet":
            with pa.parquet.ParquetFile(self.name, pre_buffer=False, buffer_size=BUFFER) as file:
                yield from file.iter_batches(rows, columns=names)
        else:
            fields = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in names])
            with pa.OSFile(self.name) as file, pa.ipc.open_file(file, options=fields) as reader:
                yield from map(reader.get_batch, range(reader.num_record_batches))

    def _check_rows(self, count: int) -> None:
        if isinstance(self.text, _Delimited) and may_span_lines(self.name, count):
            refuse_open_quote(self.name, self.text.delimiter)
        if not count and self.name != "<table>":
            raise ValueError(f"{self.name}: the table has columns and no rows; add examples")

    def place(self, row: int) -> str:
        """Where a row is, as people count; `row` counts from 0. Of a table in memory it is the row as in Python."""
        if self.name == "<table>":
            return f"row {row}"
        if self.text is None:
            return f"row {row + 1} (the first is 1)"
        try:
            lines = (line.decode("utf-8", "replace") for line in read_lines(self.name))
            for number, line in enumerate(self.text.records(lines)):
                if number == row + self.text.header:
                    return f"line {line}"
        except csv.Error:  # of a text that is too long for that module
            pass
        return f"row {row + 1} after the names"
