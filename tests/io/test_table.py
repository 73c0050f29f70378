"""Tables: CSV, Parquet and Arrow files."""

import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from pegasos import LinearSVC
from pegasos.io import iter_table, read_table
from pegasos.io.table import read_text_column

pa = pytest.importorskip("pyarrow")
for name in ("csv", "feather", "json", "parquet"):
    pytest.importorskip(f"pyarrow.{name}")


def make_table(n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "a": rng.standard_normal(n_rows),
            "kind": pa.array(rng.choice(["oak", "elm", "yew"], n_rows)).dictionary_encode(),
            "b": rng.integers(0, 100, n_rows, dtype=np.int8),
            "c": rng.random(n_rows, dtype=np.float32),
            "d": rng.random(n_rows) < 0.5,
        }
    )


def write_ipc(table, path):
    with pa.ipc.new_file(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=300):
            writer.write_batch(batch)


WRITERS = {
    "parquet": lambda table, path: pa.parquet.write_table(table, path, row_group_size=333),
    "feather": pa.feather.write_feather,
    "arrow": write_ipc,
    "csv": pa.csv.write_csv,
    "tsv": lambda table, path: pa.csv.write_csv(table, path, pa.csv.WriteOptions(delimiter="\t")),
    "jsonl": lambda table, path: Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist())),
}


@pytest.fixture(params=[*WRITERS, "table"])
def source(request, tmp_path):
    if request.param == "table":
        return make_table()
    path = tmp_path / f"data.{request.param}"
    WRITERS[request.param](make_table(), str(path))
    return path


def expected_arrays():
    table = make_table()
    X = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in "abcd"])
    return X, np.array(table.column("kind").to_pylist())


def test_all_formats(source):
    X, y = read_table(source, label="kind")
    A, b = expected_arrays()
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    # CSV has float32 as text, the shortest that reads back as float32.
    np.testing.assert_allclose(X, A, rtol=1e-7 if str(source).endswith(("csv", "tsv")) else 0)
    np.testing.assert_array_equal(y, b)
    assert y.dtype.kind == "U"
    assert LinearSVC().fit(X, y).classes_.tolist() == ["elm", "oak", "yew"]


@pytest.mark.parametrize("batch_rows", [1, 7, 400, 100_000])
def test_batches_together_are_the_whole(source, batch_rows):
    X, y = read_table(source, label="kind", columns=["c", "a"])
    batches = list(iter_table(source, label="kind", columns=["c", "a"], batch_rows=batch_rows))
    assert all(0 < len(part) <= batch_rows for part, _ in batches)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in batches]), X)
    np.testing.assert_array_equal(np.concatenate([part for _, part in batches]), y)
    with pytest.raises(ValueError, match="batch_rows=0: pass a positive number"):
        iter_table(source, batch_rows=0)


def test_columns_and_types():
    table = make_table().drop_columns(["kind"])
    X, y = read_table(table)
    assert y is None
    assert X.shape == (1000, 4)
    assert read_table(table, columns=["b", "c", "d"])[0].dtype == np.float32
    assert read_table(table, columns=["b", "c"], dtype=np.float64)[0].dtype == np.float64
    narrow = read_table(table, dtype=np.float32)[0]
    assert narrow.dtype == np.float32
    np.testing.assert_array_equal(narrow, X.astype(np.float32))
    np.testing.assert_array_equal(read_table(table, columns=["c", "a"])[0], X[:, [2, 0]])
    for name, dtype in (("b", np.int8), ("a", np.float64), ("d", bool)):
        assert read_table(table, label=name)[1].dtype == dtype
        assert read_table(table, label=name)[0].shape == (1000, 3)
    wide = pa.table({f"x{j}": np.arange(300.0) + j for j in range(500)})  # of several blocks
    np.testing.assert_array_equal(read_table(wide)[0], np.arange(300.0)[:, None] + np.arange(500))
    assert read_table(pa.table({"x": pa.array([1, 2], pa.decimal128(5, 2))}))[0].tolist() == [[1], [2]]
    assert read_table(pa.table({"x": pa.array([], pa.float64())}))[0].shape == (0, 1)


def test_compressed_csv(tmp_path):
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0))
    X, y = read_table(tmp_path / "data.csv.gz", label="b")
    np.testing.assert_array_equal(X, [[1], [3]])
    np.testing.assert_array_equal(y, [2, 4])


ERRORS = [
    (b"a,b\n1,2\n3,\n", {"label": "a"}, "column 'b', line 3: the value is missing; drop the row, or impute"),
    (b"a,b\n1,2\n\n,3\n", {"label": "a"}, "column 'a', line 4: the value is missing; drop the row$"),
    (b"a,b\n1,2\nnan,3\n", {}, "column 'a', line 3: the value is missing"),
    (b"a,b\n1,2\n3,-inf\n", {}, "column 'b', line 3: the value is infinite; correct it, or drop the row"),
    (b"a,b\n1,2020-01-02\n", {}, "column 'b' has dates or times; leave it out, or make numbers of it"),
    (b"a,b\n1,\xff\xfe\n", {"label": "b"}, "column 'b' has text that is not UTF-8; convert the file"),
    (b"a,b\xff\n1,2\n", {}, "a column's name is not UTF-8; convert the file"),
    (b"a,b\n1,x\n2,y\0\n", {"label": "b"}, "column 'b', line 3: byte 0x00 is not text; correct it, or drop the row"),
    (b"a,b\n", {"label": "b"}, "the table has columns and no rows; add examples"),
    (b"a,b\n1,x\n2,y\n", {}, "column 'b' is of type string, not of numbers; leave it out, name it"),
    (b"a,b\n1,2\n", {"label": "c"}, "no column 'c'; there are 'a', 'b'"),
    (b"a,b\n1,2\n", {"columns": ["a", "z"]}, "no column 'z'; there are 'a', 'b'"),
    (b"a,a\n1,2\n", {}, "2 columns are named 'a'; rename them"),
    (b"a\n1\n", {"label": "a"}, "no columns of features; name some"),
    (b"a,b\n1,2\n3\n", {}, "line 3: Expected 2 columns, got 1"),
    (b'a,b\n1,x\n2,"y\n' + b"3,z\n" * 99, {"label": "b"}, 'line 3: the quote \\("\\) is not closed anywhere after it'),
    (b'a,b\n1,x\n2,"y\n4,u\n5,"v"\n', {"label": "b"}, "line 3: the quote .* is not closed before line 5, where a"),
    (b"a,b\n1,2\n3,4\nthree,4\n", {}, "column 'a', line 4: 'three' is not a number; correct it, or drop the row"),
    (b'a,b\n1,2\n3,4\n"3,000",4\n', {"label": "b"}, "column 'a', line 4: '3,000' is not a number"),
    (b"a,b\n1,2\n3,4\n2020-01-02,4\n", {}, "column 'a', line 4: '2020-01-02' is not a number"),
    (b"a,b\n1,2\n3,4\n5\0,4\n", {}, "column 'a', line 4: byte 0x00 is not text; correct it"),
    (b"a,b\n" + b"1,2\n" * 300_000 + b"\xe9,2\n", {}, "UTF-8; convert the file, for example by iconv -f latin1"),
    ("a,b\n1,2\n".encode("utf-16"), {}, "the text is UTF-16, not UTF-8; convert the file"),
    (b"a;b\n1;2\n", {"label": "b"}, "no column 'b'; there are 'a;b'"),
    (b"a, b\n1,2\n", {"label": "b"}, "no column 'b'; there are 'a', ' b'"),
    (b"a,b\n1,2\n\0\n", {}, r"line 3: Expected 2 columns, got 1: \\x00; correct the file"),
    (b"", {}, "the file is empty"),
    (b"PAR1 and no more", {}, "Parquet"),
    (b"ARROW1\0\0 and no more", {}, "not an Arrow file|Arrow|file"),
]


@pytest.mark.parametrize(("content", "options", "message"), ERRORS)
@pytest.mark.parametrize("read", [read_table, lambda *args, **options: list(iter_table(*args, **options))])
def test_errors_name_file_column_and_row(tmp_path, content, options, message, read):
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: .*({message})"):
        read(path, **options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.tsv", b"a\tb\n1\t2\n3\t\n", "column 'b', line 3: the value is missing"),
        ("data.jsonl", b'{"a": 1, "b": 2}\n\n{"a": 3}\n', "column 'b', line 3: the value is missing"),
        ("data.jsonl", b'{"a": 1}\n{"a": "x"}\n', r"changed from number to string in line 2; correct the file"),
        ("data.jsonl", b"", "the file is empty"),
        ("data.parquet", b"", "the file is empty"),
        ("data.parquet", b"a,b\n1,2\n", "no Parquet file"),
        ("data.csv.gz", gzip.compress(b"a,b\n1,2\n" * 1000, mtime=0)[:-20], "the gzip data end too early"),
        ("data.csv.gz", b"\x1f\x8b\x08 nothing", "copy or make the file again"),
    ],
)
@pytest.mark.parametrize("read", [read_table, lambda path: list(iter_table(path))])
def test_errors_by_the_name_of_the_file(tmp_path, name, content, message, read):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path / name))}: .*({message})"):
        read(tmp_path / name)


def test_json_lines_that_are_not_utf8(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"a": "\xff", "b": 2}\n')
    with pytest.raises(ValueError, match=r"data\.jsonl: column 'a' has text that is not UTF-8; convert the file"):
        read_table(path, label="a")
    with pytest.raises(ValueError, match=r"data\.jsonl: column 'a' has text that is not UTF-8; convert the file"):
        read_text_column(path, "a")


def test_rows_of_parquet_count_from_one(tmp_path):
    pa.parquet.write_table(pa.table({"a": [1.0, None]}), tmp_path / "data.parquet")
    with pytest.raises(ValueError, match=r"column 'a', row 2 \(the first is 1\): the value is missing"):
        read_table(tmp_path / "data.parquet")


def test_types_of_json_may_change_after_the_first_block(tmp_path):
    path = tmp_path / "data.ndjson.gz"
    rows = [{"a": 1, "b": True, "more": "x"}] * 50_000 + [{"b": False, "a": 2.5}]
    path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))
    batches = [X for X, _ in iter_table(path, columns=["a", "b"])]
    assert len(batches) > 1
    np.testing.assert_array_equal(np.concatenate(batches), [[1, 1]] * 50_000 + [[2.5, 0]])
    np.testing.assert_array_equal(read_table(path, columns=["a", "b"])[0], np.concatenate(batches))


def test_rows_count_on_in_batches():
    table = pa.table({"a": [1.0, 2, 3, None], "b": [1, 2, 3, 4]})
    batches = iter_table(table, batch_rows=3)
    next(batches)
    with pytest.raises(ValueError, match="<table>: column 'a', row 3: the value is missing"):
        next(batches)
    with pytest.raises(ValueError, match="column 'a', row 1: the value is missing"):
        read_table(pa.table({"b": [1, 2], "a": [1.0, np.nan]}))


def test_wrong_arguments(tmp_path):
    table = pa.table({"a": [1.0], "b": [1], "t": pa.array([0], pa.timestamp("s"))})
    with pytest.raises(ValueError, match="'b' is both the label and one of the columns"):
        read_table(table, label="b", columns=["a", "b"])
    with pytest.raises(ValueError, match="columns='ab': pass a list of names"):
        read_table(table, columns="ab")
    with pytest.raises(ValueError, match="dtype=int64: tables are read as float32 or float64"):
        read_table(table, columns=["a"], dtype=np.int64)
    with pytest.raises(ValueError, match="column 't' has dates or times; leave it out, or make numbers of it"):
        read_table(table, label="t")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


def test_without_pyarrow(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="install pyarrow"):
        read_table("data.csv")


def test_json_lines_with_an_older_pyarrow(tmp_path, monkeypatch):
    monkeypatch.delattr("pyarrow.json.open_json")
    (tmp_path / "data.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(ImportError, match="JSON lines need pyarrow 20 or later"):
        read_table(tmp_path / "data.jsonl")


def test_infinities_are_not_missing():
    for value in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="column 'a', row 1: the value is infinite"):
            read_table(pa.table({"a": [1.0, value]}))


def test_empty_words_and_nan_labels_are_missing(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,p\n2,\n")
    with pytest.raises(ValueError, match="column 'y', line 3: the value is missing"):
        read_table(tmp_path / "a.csv", label="y")
    with pytest.raises(ValueError, match="column 'y', row 0: the value is missing"):
        read_table(pa.table({"a": [1.0, 2.0], "y": [float("nan"), 2.0]}), label="y")


def test_values_too_large_for_single_precision(tmp_path):
    with pytest.raises(ValueError, match=r"column 'a', row 1: 1e\+300 is too large for float32"):
        read_table(pa.table({"a": [1.0, 1e300]}), dtype=np.float32)


def test_numbers_that_begin_whole(tmp_path):
    text = "a,y\n" + "1,0\n" * 600_000 + "1.5,1\n"
    (tmp_path / "a.csv").write_text(text)
    X = np.concatenate([X for X, _ in iter_table(tmp_path / "a.csv", label="y")])
    assert X[-1, 0] == 1.5


def test_mistakes_beyond_the_first_block_have_a_place(tmp_path):
    path, rows = tmp_path / "long.csv", 300_000
    path.write_text("a,b\n" + "1,2\n" * rows + "1,x\n" + "1,2\n")
    for read in (read_table, lambda path: list(iter_table(path))):
        with pytest.raises(ValueError, match=rf"long\.csv: column 'b', line {rows + 2}: 'x' is not a number"):
            read(path)
    path.write_text("a,b\n" + "1,2\n" * rows + "1\n" + "1,2\n")
    for read in (read_table, lambda path: list(iter_table(path))):
        with pytest.raises(ValueError, match=rf"long\.csv: line {rows + 2}: Expected 2 columns, got 1"):
            read(path)


def test_texts_of_several_lines_are_no_mistake(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('label,text\n1,"two\nlines, and a ""quote"""\n2,5" pipe\n3,"x" \n\n4,"last"')
    texts, y = read_text_column(path, "text", "label")
    assert texts == ['two\nlines, and a "quote"', '5" pipe', "x ", "last"]
    assert y.tolist() == [1, 2, 3, 4]
    path.write_text("label,text\n" + "1,fine\n" * 100 + '2,"oops fine\n' + "1,fine\n" * 99)
    with pytest.raises(
        ValueError, match=r'texts\.csv: line 102: the quote \("\) is not closed anywhere after it; close'
    ):
        read_text_column(path, "text", "label")


@pytest.mark.parametrize(("kind", "group"), [("parquet", 1 << 12), ("parquet", 1 << 20), ("arrow", 1 << 12)])
def test_batches_of_a_file_take_the_memory_of_some_batches(tmp_path, kind, group):
    table = pa.table({f"f{j}": np.random.default_rng(j).normal(size=1 << 18) for j in range(8)})
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=group, data_page_size=1 << 14, use_dictionary=False)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    size, most = table.nbytes, 0
    del table
    before = pa.total_allocated_bytes()
    for _ in iter_table(path, batch_rows=1 << 12):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < size / 8


def test_a_batch_of_a_wide_table_has_fewer_rows(tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({f"f{j}": np.zeros(2000) for j in range(1000)}), path)
    assert max(X.nbytes for X, _ in iter_table(path)) <= 8 << 20


def test_columns_whose_name_begins_like_that_of_another(tmp_path):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"a.b": [1.0, 2.0], "a": [3.0, 4.0], "y": [1, 0]}), path)
    X, y = read_table(path, columns=["a"], label="y")
    assert X.tolist() == [[3.0], [4.0]]
    assert y.tolist() == [1, 0]
