"""Tables with named columns: CSV, Parquet and Arrow files, through pyarrow."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_VALUES_PER_BLOCK = 1 << 17  # what is turned from columns into rows at a time: it should fit the cache


def read_table(
    source: Any, *, label: str | None = None, columns: Sequence[str] | None = None, dtype: DTypeLike | None = None
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read a table with named columns from a CSV, Parquet or Arrow file.

    Needs the package pyarrow.

    Parameters
    ----------
    source : path or pyarrow.Table
        The first bytes of a file tell Parquet and Arrow (Feather) files; others are CSV with names in the first line,
        compressed ones by the end of their name.
    label : str, optional
        The column of labels or targets.
    columns : sequence of str, optional
        The features, in this order. By default all columns but `label`, in the order of the table.
    dtype : {np.float64, np.float32}, optional
        Type of `X`. By default float32 if that holds the values of all columns (float32 and integers of up to 16
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
        If a column is not there or not of numbers, or a value is missing. The message names column and row, which
        counts from 0.

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
    file = _TableFile(source)
    plan = _Plan(file, label, columns, dtype)
    return plan.arrays(file.read(plan.names), 0)


def iter_table(
    source: Any,
    *,
    label: str | None = None,
    columns: Sequence[str] | None = None,
    dtype: DTypeLike | None = None,
    batch_rows: int = 1 << 16,
) -> Iterator[tuple[NDArray[Any], NDArray[Any] | None]]:
    """Read a table by batches of rows, for files larger than memory.

    Parameters
    ----------
    source, label, columns, dtype
        As for `read_table`. The types of the columns of a CSV file are those of its first megabyte.
    batch_rows : int, default=2**16
        The most rows of a batch.

    Yields
    ------
    X, y
        As from `read_table`, of some rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pegasos.io import iter_table
    >>> for X, y in iter_table(pa.table({"a": [1.0, 2, 3], "b": [1, -1, 1]}), label="b", batch_rows=2):
    ...     print(X.shape, y)
    (2, 1) [ 1 -1]
    (1, 1) [1]
    """
    if batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows}: pass a positive number of rows")
    file = _TableFile(source)
    return _iterate(file, _Plan(file, label, columns, dtype), batch_rows)


def table_columns(source: Any) -> list[str]:
    """The names of all columns of a table, in their order; `source` is as for `read_table`."""
    return list(_TableFile(source).schema.names)


def read_text_column(source: Any, text: str, label: str | None = None) -> tuple[list[str], NDArray[Any] | None]:
    """A column of texts, and the labels as from `read_table`; a missing text is an empty one."""
    file = _TableFile(source, texts=True)
    for name in (text,) if label is None else (text, label):
        file.check_present(name)
    if text == label:
        raise ValueError(f"{label!r} is both the label and the text; name another column")
    table = file.read([text] if label is None else [text, label], texts=[text])
    column = table.column(text)
    if _pyarrow().types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (_pyarrow().types.is_string(column.type) or _pyarrow().types.is_large_string(column.type)):
        raise ValueError(f"{file.name}: column {text!r} is of type {column.type}, not of text; name another")
    texts = [value or "" for value in column.to_pylist()]
    if label is None:
        return texts, None
    own = _Labels(file, label)
    own.check_missing(table.column(label), label, 0)
    return texts, own.labels(table.column(label), 0)


def _iterate(file: "_TableFile", plan: "_Plan", batch_rows: int) -> Iterator[tuple[Any, Any]]:
    first = 0
    for batch in file.batches(plan.names, batch_rows, plan.features):
        for start in range(0, batch.num_rows, batch_rows):
            part = _pyarrow().Table.from_batches([batch.slice(start, batch_rows)])
            yield plan.arrays(part, first)
            first += part.num_rows


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.dataset
    except ImportError:
        raise ImportError("tables need the package pyarrow; install pyarrow") from None
    return pyarrow


class _TableFile:
    """A file, or a table in memory, whatever its format."""

    def __init__(self, source: Any, *, texts: bool = False) -> None:
        pa = _pyarrow()
        #: How a CSV file is read. Texts may have several lines and be long, for which others need not be searched.
        self.reading = {
            "parse_options": pa.csv.ParseOptions(newlines_in_values=texts),
            "read_options": pa.csv.ReadOptions(block_size=(64 if texts else 1) << 20),
        }
        self.dataset: Any = None  # of a CSV file none: its rows would have the types of its first ones
        if isinstance(source, pa.Table):
            self.name, self.dataset, self.schema = "<table>", pa.dataset.dataset(source), source.schema
            return
        self.name = os.fspath(source)
        with open(self.name, "rb") as file:
            head = file.read(6)
        with self._errors():
            if head[:4] == b"PAR1" or head == b"ARROW1":
                self.dataset = pa.dataset.dataset(self.name, format="parquet" if head[:4] == b"PAR1" else "ipc")
                self.schema = self.dataset.schema
            else:
                with pa.csv.open_csv(self.name, **self.reading) as reader:
                    self.schema = reader.schema

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """pyarrow's errors, with the name of the file."""
        try:
            yield
        except _pyarrow().ArrowInvalid as error:
            raise ValueError(f"{self.name}: {error}; correct the file") from None

    def check_present(self, name: str) -> None:
        """Raise a ValueError where there is no column of this name, or several."""
        count = self.schema.names.count(name)
        if count == 1:
            return
        if count:
            raise ValueError(f"{self.name}: {count} columns are named {name!r}; rename them")
        some = ", ".join(map(repr, self.schema.names[:8])) + (", ..." if len(self.schema.names) > 8 else "")
        raise ValueError(f"{self.name}: no column {name!r}; there are {some}")

    def read(self, names: list[str], texts: Sequence[str] = ()) -> Any:
        """These columns, all rows."""
        with self._errors():
            if self.dataset is not None:
                return self.dataset.to_table(columns=names)
            conversion = self._conversion(names, dict.fromkeys(texts, _pyarrow().string()))
            return _pyarrow().csv.read_csv(self.name, convert_options=conversion, **self.reading)

    def _conversion(self, names: list[str], types: dict[str, Any]) -> Any:
        """How a CSV file is read: an empty word is a missing one, and these columns are of these types."""
        return _pyarrow().csv.ConvertOptions(include_columns=names, strings_can_be_null=True, column_types=types)

    def batches(self, names: list[str], rows: int, numbers: Sequence[str]) -> Iterator[Any]:
        """These columns, in record batches; `numbers` are numbers, whatever the first ones look like."""
        with self._errors():
            if self.dataset is not None:
                yield from self.dataset.to_batches(columns=names, batch_size=rows, batch_readahead=1)
                return
            conversion = self._conversion(names, dict.fromkeys(numbers, _pyarrow().float64()))
            with _pyarrow().csv.open_csv(self.name, convert_options=conversion) as reader:
                yield from reader


class _Labels:
    """The column of labels, if there is one."""

    def __init__(self, file: _TableFile, label: str | None) -> None:
        self.file, self.label = file, label

    def check_missing(self, column: Any, name: str, first: int) -> None:
        if column.null_count:
            row = np.flatnonzero(column.is_null().to_numpy())[0]
            self._fail_missing(name, first + int(row))

    def _fail_missing(self, name: str, row: int) -> None:
        remedy = "drop the row" if name == self.label else "drop the row, or impute (sklearn.impute.SimpleImputer)"
        raise ValueError(f"{self.file.name}: column {name!r}, row {row}: the value is missing; {remedy}")

    def labels(self, column: Any, first: int) -> NDArray[Any]:
        types = _pyarrow().types
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if types.is_string(kind) or types.is_large_string(kind):
            return np.asarray(column.to_pylist(), dtype=str)
        if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind):
            labels: NDArray[Any] = column.to_numpy()
            if labels.dtype.kind == "f" and np.isnan(labels).any():
                self._fail_missing(str(self.label), first + int(np.flatnonzero(np.isnan(labels))[0]))
            return labels
        raise ValueError(f"{self.file.name}: label {self.label!r} is of type {kind}; use numbers or strings")


class _Plan(_Labels):
    """Which columns become what."""

    def __init__(
        self, file: _TableFile, label: str | None, columns: Sequence[str] | None, dtype: DTypeLike | None
    ) -> None:
        super().__init__(file, label)
        if isinstance(columns, str):
            raise ValueError(f"columns={columns!r}: pass a list of names")
        names = [name for name in file.schema.names if name != label] if columns is None else list(columns)
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
        types = _pyarrow().types
        kind = self.file.schema.field(name).type
        if types.is_boolean(kind) or types.is_null(kind):
            return True
        if types.is_integer(kind) or types.is_floating(kind):
            return bool(kind.bit_width <= 16 or kind == _pyarrow().float32())
        if types.is_decimal(kind):
            return False
        raise ValueError(
            f"{self.file.name}: column {name!r} is of type {kind}, not of numbers; leave it out by columns=, name it "
            "as the label, or encode it (sklearn.preprocessing.OneHotEncoder)"
        )

    def arrays(self, table: Any, first: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """X and y of a table whose first row has this number."""
        for name in self.names:
            self.check_missing(table.column(name), name, first)
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
        if X.size and np.isnan(np.min(X)):
            row, j = np.argwhere(np.isnan(X))[0]
            self._fail_missing(self.features[j], first + int(row))
        return X, None if self.label is None else self.labels(table.column(self.label), first)

    def _check_range(self, values: NDArray[Any], rounded: NDArray[Any], name: str, first: int) -> None:
        wrong = np.flatnonzero(np.isinf(rounded) & np.isfinite(values))
        if len(wrong):
            raise ValueError(
                f"{self.file.name}: column {name!r}, row {first + int(wrong[0])}: {values[wrong[0]]:g} is too large "
                "for float32; pass dtype=np.float64"
            )
