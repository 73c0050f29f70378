"""Tables with named columns: CSV, TSV, JSON lines, Parquet and Arrow files, through pyarrow."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pegasos.io.raw_text import changes_as_number
from pegasos.io.table_file import TO_UTF8, TableFile, pyarrow

#: Rows of a batch at most, and numbers.
_BATCH_ROWS, _BATCH_VALUES = 1 << 16, 1 << 20
_VALUES_PER_BLOCK = 1 << 17  # what is turned from columns into rows at a time: it should fit the cache


def read_table(
    source: Any, *, label: str | None = None, columns: Sequence[str] | None = None, dtype: DTypeLike | None = None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read a table with named columns from a CSV, TSV, JSON lines, Parquet or Arrow file.

    This needs the package pyarrow.

    Parameters
    ----------
    source : path or pyarrow.Table
        The first bytes of a file identify Parquet and Arrow (Feather). Other files are text: ``.jsonl`` and ``.ndjson``
        have an object on each line, ``.tsv`` has names in the first line and tabs between columns, and all others are
        CSV. Text may be compressed by gzip, bzip2, xz or zstd; its first bytes determine the format.
    label : str, optional
        The column of labels or targets.
    columns : sequence of str, optional
        The features, in this order. By default all columns but `label`, in the order of the table.
    dtype : {np.float64, np.float32}, optional
        The type of `X`. By default float32 if that holds the values of all columns (float32 and integers of up to 16
        bits), otherwise float64.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        The features, in C order.
    y : ndarray of shape (n_rows,) or None
        The labels: numbers as they are in the table, text and categories as strings. None without `label`.

    Raises
    ------
    ValueError
        If a column does not exist or has no numbers, a value is missing or infinite, or a file has no rows. The message
        names the column. It also gives the line in text files, the row (from 1) in other files, and the row (from 0)
        of a `pyarrow.Table`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pegasos.io import read_table
    >>> table = pa.table({"length": [1.5, 2.5], "width": [1, 2], "kind": ["oak", "elm"]})
    >>> X, y = read_table(table, label="kind")
    >>> X
    array([[1.5, 1. ],
           [2.5, 2. ]])
    >>> y
    array(['oak', 'elm'], dtype='<U3')
    """
    return read_labelled(source, label, columns, dtype, "numbers")


def read_labelled(
    source: Any, label: str | None, columns: Sequence[str] | None, dtype: DTypeLike | None, words: str
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """The same. `words` says how labels of CSV and TSV are read: "numbers" as such where they are, "words" as they are
    written, "auto" as numbers unless these would be written in another way, such as 007."""
    file = TableFile(source)
    plan = _Plan(file, label, columns, dtype)
    if file.text is None and (rows := file.dataset.count_rows()):
        return _gather(_iterate(file, plan, None), rows)
    table = file.read(plan.names, as_text(file, label, words))
    return plan.arrays(numbered(file, table, label, words), 0)


def as_text(file: TableFile, label: str | None, words: str) -> list[str]:
    """The label, where it is read as it is written."""
    if label is None or not file.delimited or words == "numbers":
        return []
    whole = pyarrow().types.is_integer(file.schema.field(label).type)
    return [label] if words == "words" or whole else []


def numbered(file: TableFile, table: Any, label: str | None, words: str) -> Any:
    """The table with whole numbers in place of labels that were read as text, unless they are to stay that."""
    if label is None or words != "auto" or not as_text(file, label, words):
        return table
    column = table.column(label)
    if changes_as_number(filter(None, column.unique().to_pylist())):
        return table
    try:
        made = column.cast(pyarrow().int64())
    except pyarrow().ArrowInvalid:  # other values come later
        made = file.read([label]).column(label)
    return table.set_column(table.schema.get_field_index(label), label, made)


def iter_table(
    source: Any,
    *,
    label: str | None = None,
    columns: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    batch_rows: int | None = None,
) -> Iterator[tuple[NDArray[Any], NDArray[Any] | None]]:
    """Read a table by batches of rows, for files larger than memory.

    The memory needed does not grow with the number of rows. It is that of a batch, and what the format takes beside it:
    some blocks of 1 MB of text, a page of each column of a Parquet file (mostly 1 MB), or a record batch of an Arrow
    file, as whoever wrote the file chose its size.

    Parameters
    ----------
    source, label, columns, dtype
        As for `read_table`. In text files, the first megabyte determines the types of the columns.
    batch_rows : int, optional
        The largest number of rows in a batch. By default a batch has at most 65,536 rows and 8 MB of float64.

    Yields
    ------
    X, y
        As from `read_table`, for some of the rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pegasos.io import iter_table
    >>> for X, y in iter_table(pa.table({"a": [1.0, 2, 3], "b": [1, -1, 1]}), label="b", batch_rows=2):
    ...     print(X.shape, y)
    (2, 1) [ 1 -1]
    (1, 1) [1]
    """
    if batch_rows is not None and batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows}: pass a positive number of rows")
    file = TableFile(source)
    return _iterate(file, _Plan(file, label, columns, dtype), batch_rows)


def iter_labelled(
    source: Any, label: str | None, columns: Sequence[str] | None, dtype: DTypeLike | None, words: str
) -> Iterator[tuple[NDArray[Any], NDArray[Any] | None]]:
    """The same, with the labels of text as `read_labelled` reads them for a model, whose labels are known: words as
    they are written, and whole numbers that fractions may follow as floats."""
    file = TableFile(source)
    return _iterate(file, _Plan(file, label, columns, dtype), None, words)


def table_columns(source: Any) -> list[str]:
    """The names of all columns of a table, in their order; `source` is as for `read_table`."""
    return list(TableFile(source).names)


def read_text_column(
    source: Any, text: str, label: str | None = None, words: str = "numbers"
) -> tuple[list[str], NDArray[Any] | None]:
    """A column of texts, and the labels as from `read_labelled`; a missing text is an empty one."""
    file = TableFile(source, texts=True)
    for name in (text,) if label is None else (text, label):
        file.check_present(name)
    if text == label:
        raise ValueError(f"{label!r} is both the label and the text; name another column")
    table = file.read([text] if label is None else [text, label], texts=[text, *as_text(file, label, words)])
    table = numbered(file, table, label, words)
    column = table.column(text)
    if pyarrow().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        raise ValueError(f"{file.name}: column {text!r} is of type {column.type}, not of text; name another")
    try:
        texts = [value or "" for value in column.to_pylist()]
    except UnicodeDecodeError:  # of JSON lines
        raise ValueError(f"{file.name}: column {text!r} has text that is not UTF-8; {TO_UTF8}") from None
    if label is None:
        return texts, None
    own = _Labels(file, label)
    own.check_missing(table.column(label), label, 0)
    return texts, own.labels(table.column(label), 0)


def is_text(kind: Any) -> bool:
    """Whether a column of this type has texts."""
    return bool(pyarrow().types.is_string(kind) or pyarrow().types.is_large_string(kind))


def _iterate(file: TableFile, plan: "_Plan", batch_rows: int | None, words: str = "") -> Iterator[tuple[Any, Any]]:
    """`words` as for `iter_labelled`; empty, the first block determines the type of labels."""
    first, batch_rows = 0, batch_rows or max(1, min(_BATCH_ROWS, _BATCH_VALUES // len(plan.names)))
    numbers, texts = plan.features, as_text(file, plan.label, words or "numbers")
    if (
        words
        and plan.label is not None
        and not texts
        and pyarrow().types.is_integer(file.schema.field(plan.label).type)
    ):
        numbers = plan.names
    for batch in file.batches(plan.names, batch_rows, numbers, texts):
        for start in range(0, batch.num_rows, batch_rows):
            part = pyarrow().Table.from_batches([batch.slice(start, batch_rows)])
            yield plan.arrays(part, first)
            first += part.num_rows


def _gather(parts: Iterator[tuple[Any, Any]], rows: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """All of so many rows in one array, without a table of them beside it."""
    X, labels, first = np.empty((0, 0)), [], 0
    for part, y in parts:
        X = X if first else np.empty((rows, part.shape[1]), part.dtype)
        X[first : first + len(part)] = part
        labels.append(y)
        first += len(part)
    return X, None if labels[0] is None else np.concatenate(labels)


class _Labels:
    """The column of labels, if there is one."""

    def __init__(self, file: TableFile, label: str | None) -> None:
        self.file, self.label = file, label

    def check_missing(self, column: Any, name: str, first: int) -> None:
        if column.null_count:
            row = np.flatnonzero(column.is_null().to_numpy())[0]
            self._fail_missing(name, first + int(row))

    def _fail(self, name: str, row: int, what: str) -> NoReturn:
        raise ValueError(f"{self.file.name}: column {name!r}, {self.file.place(row)}: {what}")

    def _fail_missing(self, name: str, row: int) -> NoReturn:
        more = "" if name == self.label else ", or impute (sklearn.impute.SimpleImputer)"
        self._fail(name, row, f"the value is missing; drop the row{more}")

    def _wrong_type(self, name: str, kind: Any, wanted: str, remedy: str) -> ValueError:
        """The error on a column of a type that it cannot have here."""
        types = pyarrow().types
        found = f"is of type {kind}, not of {wanted}"
        if types.is_temporal(kind):
            found, remedy = "has dates or times", "leave it out, or make numbers of it, such as days since the first"
        elif types.is_binary(kind) and self.file.text is not None:
            found, remedy = "has text that is not UTF-8", TO_UTF8
        return ValueError(f"{self.file.name}: column {name!r} {found}; {remedy}")

    def labels(self, column: Any, first: int) -> NDArray[Any]:
        types = pyarrow().types
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if is_text(kind):
            try:
                texts = column.to_pylist()
            except UnicodeDecodeError:  # of JSON lines, which are taken for text unseen
                raise self._wrong_type(str(self.label), pyarrow().binary(), "labels", "") from None
            if "\0" in "".join(texts):  # which NumPy drops at the end of strings
                row = next(row for row, text in enumerate(texts) if "\0" in text)
                self._fail(str(self.label), first + row, "byte 0x00 is not text; correct it, or drop the row")
            return np.asarray(texts, dtype=str)
        if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
            labels: NDArray[Any] = column.to_numpy()
            if labels.dtype.kind == "f" and np.isnan(labels).any():
                self._fail_missing(str(self.label), first + int(np.flatnonzero(np.isnan(labels))[0]))
            return labels
        raise self._wrong_type(str(self.label), kind, "labels", "use numbers or strings")


class _Plan(_Labels):
    """Which columns become what."""

    def __init__(
        self, file: TableFile, label: str | None, columns: Sequence[str] | None, dtype: DTypeLike | None
    ) -> None:
        super().__init__(file, label)
        if isinstance(columns, str):
            raise ValueError(f"columns={columns!r}: pass a list of names")
        names = [name for name in file.names if name != label] if columns is None else list(columns)
        for name in names if label is None else [*names, label]:
            file.check_present(name)
        if not names:
            raise ValueError(f"{file.name}: no columns of features; name some, or another label")
        if label in names:
            raise ValueError(f"{label!r} is both the label and one of the columns; leave it out of the columns")
        self.features = names
        small = [self._check_number(name) for name in names]
        self.dtype = np.dtype(dtype or (np.float32 if all(small) else np.float64))
        if self.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise ValueError(f"dtype={self.dtype}: tables are read as float32 or float64; pass one of these")

    @property
    def names(self) -> list[str]:
        return self.features if self.label is None else [*self.features, self.label]

    def _check_number(self, name: str) -> bool:
        """Whether float32 holds the values of the column; an error if they are not numbers."""
        types = pyarrow().types
        kind = self.file.schema.field(name).type
        if types.is_boolean(kind) or types.is_null(kind):
            return True
        if types.is_integer(kind) or types.is_floating(kind):
            return bool(kind.bit_width <= 16 or kind == pyarrow().float32())
        if types.is_decimal(kind):
            return False
        if is_text(kind) and (mistake := self.file.no_number(name)):
            raise ValueError(f"{self.file.name}: {mistake}")
        remedy = "leave it out, name it as the label, or encode it (sklearn.preprocessing.OneHotEncoder)"
        raise self._wrong_type(name, kind, "numbers", remedy)

    def arrays(self, table: Any, first: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """X and y of a table whose first row has this number."""
        for name in self.names:
            self.check_missing(table.column(name), name, first)
            if name != self.label and is_text(table.column(name).type):  # though the first values are numbers
                self._fail_text(table.column(name), name, first)
            if name != self.label and pyarrow().types.is_binary(table.column(name).type):
                raise self._wrong_type(name, table.column(name).type, "numbers", "")
        X = np.empty((table.num_rows, len(self.features)), self.dtype)
        start = 0
        for batch in table.select(self.features).to_batches(max(64, _VALUES_PER_BLOCK // len(self.features))):
            rows = X[start : start + batch.num_rows]
            for j, column in enumerate(batch.columns):
                values = column.to_numpy(zero_copy_only=False)
                with np.errstate(over="ignore"):
                    rows[:, j] = values
                if self.dtype == np.float32 and values.dtype.kind == "f":
                    self._check_range(values, rows[:, j], self.features[j], first + start)
            start += batch.num_rows
        if X.size and not (np.isfinite(np.min(X)) and np.isfinite(np.max(X))):
            row, j = map(int, np.argwhere(~np.isfinite(X))[0])
            if np.isnan(X[row, j]):
                self._fail_missing(self.features[j], first + row)
            self._fail(self.features[j], first + row, "the value is infinite; correct it, or drop the row")
        return X, None if self.label is None else self.labels(table.column(self.label), first)

    def _fail_text(self, column: Any, name: str, first: int) -> NoReturn:
        """Raise a ValueError about the first value that is not a number."""
        for row, value in enumerate(column.to_pylist()):
            try:
                float(value)
            except ValueError:
                self._fail(name, first + row, f"{value!r} is not a number; correct it, or drop the row")
        raise self._wrong_type(name, column.type, "numbers", "write numbers as numbers")

    def _check_range(self, values: NDArray[Any], rounded: NDArray[Any], name: str, first: int) -> None:
        wrong = np.flatnonzero(np.isinf(rounded) & np.isfinite(values))
        if len(wrong):
            text = f"{values[wrong[0]]:g} is too large for float32; pass dtype=np.float64"
            self._fail(name, first + int(wrong[0]), text)
