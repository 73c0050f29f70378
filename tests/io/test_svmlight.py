"""The svmlight reader and writer."""

import io
import os
import re
import stat

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pegasos.io import read_svmlight, write_svmlight

DTYPES = [np.float32, np.float64]


def read(text, **options):
    return read_svmlight(io.BytesIO(text), **options)


def written(X, y, **options):
    file = io.BytesIO()
    write_svmlight(X, y, file, **options)
    return file.getvalue()


def random_data(dtype, seed=0, n_rows=60, n_features=40):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((n_rows, n_features)) * 10.0 ** rng.integers(-20, 20, (n_rows, n_features))
    X = sp.csr_matrix(np.where(rng.random(values.shape) < 0.3, values, 0).astype(dtype))
    return X, rng.choice([-1.0, 1.0, 2.5, 1e6], n_rows)


def assert_same(A, B):
    """The same matrix to the last bit, stored the same way."""
    assert A.shape == B.shape
    assert A.dtype == B.dtype
    np.testing.assert_array_equal(A.indptr, B.indptr)
    np.testing.assert_array_equal(A.indices, B.indices)
    assert A.data.tobytes() == B.data.tobytes()


# ---- Agreement with scikit-learn, round trips ----


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reads_what_sklearn_reads(tmp_path, dtype, zero_based):
    X, y = random_data(dtype)
    path = tmp_path / "data.txt"
    dump_svmlight_file(X, y, str(path), zero_based=zero_based, comment="made by scikit-learn")
    expected, labels = load_svmlight_file(str(path), dtype=dtype, zero_based=zero_based, n_features=40)
    ours, y_ours = read_svmlight(path, dtype=dtype, zero_based=zero_based, n_features=40)
    assert type(ours) is sp.csr_matrix
    assert ours.indices.dtype == ours.indptr.dtype == np.int32
    assert_same(ours, expected)
    np.testing.assert_array_equal(y_ours, labels)


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sklearn_reads_what_is_written(tmp_path, dtype, zero_based):
    X, y = random_data(dtype)
    write_svmlight(X, y, tmp_path / "data.txt", zero_based=zero_based)
    A, b = load_svmlight_file(str(tmp_path / "data.txt"), dtype=dtype, zero_based=zero_based, n_features=40)
    assert_same(A, X)
    np.testing.assert_array_equal(b, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_is_exact_for_any_bits(dtype):
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 256, 30_000 * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    info = np.finfo(dtype)
    special = np.array([0.0, -0.0, info.max, -info.max, info.tiny, info.smallest_subnormal, 1e15, 1e16, 0.1], dtype)
    short = (rng.integers(-(10**9), 10**9, 20_000) / 10.0 ** rng.integers(0, 11, 20_000)).astype(dtype)
    values = np.concatenate([special, short, bits[np.isfinite(bits)]])
    X = sp.csr_matrix((values, np.zeros(values.size, np.int32), np.arange(values.size + 1)), shape=(values.size, 1))
    y = values.astype(np.float64)
    A, b = read(written(X, y), dtype=dtype)
    assert_same(A, X)
    assert b.tobytes() == y.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_rounded_as_numpy_rounds_them(dtype):
    rng = np.random.default_rng(2)
    texts = [f"{rng.integers(10 ** rng.integers(1, 19))}.{rng.integers(10**6)}" for _ in range(3000)]
    texts += [f"{rng.integers(10 ** rng.integers(1, 12))}e{rng.integers(-30, 25)}" for _ in range(3000)]
    texts += ["16777217", "16777219", "9007199254740993", "0.30000001192092896", "12345678901", "1234567890.1", "007"]
    X, _ = read("".join(f"1 1:{text}\n" for text in texts).encode(), dtype=dtype)
    np.testing.assert_array_equal(X.data, np.array(texts, dtype=dtype))


# ---- The grammar ----

MATRIX = np.array([[0.5, 0, 2], [0, 0, 0], [0, 1, 0]])
LABELS = np.array([1.0, 0, -1])


@pytest.mark.parametrize(
    "text",
    [
        b"+1 1:0.5 3:2\n0\n-1 2:1\n",
        b"+1 1:0.5 3:2\n0\n-1 2:1",
        b"+1 1:0.5 3:2\r\n0\r\n-1 2:1\r\n",
        b"+1 1:0.5 3:2\r\n0\r\n-1 2:1\r",
        b"+1 1:0.5 3:2\n0\n-1 2:1\n\n\n",
        b"\n# a comment: 1:2\n+1 1:0.5 3:2\n \t \n0 # empty\n-1 2:1#c\n  # \xff\n",
        b" \t1.0\t 1:+.5  3:2.\t\n0e7 \n\t-1 2:1e0 ",
        b"1 qid:7 1:0.5 3:2\n0 qid:-1#c\n-1 qid:7 2:1\n",
        b"\xef\xbb\xbf1 01:0.5 000000000000003:2\n0\n-1 2:1\n",
    ],
)
def test_ways_to_write_the_same(text):
    X, y = read(text)
    np.testing.assert_array_equal(X.toarray(), MATRIX)
    np.testing.assert_array_equal(y, LABELS)
    assert X.has_canonical_format


def test_shapes():
    assert read(b"1 3:1\n")[0].shape == (1, 3)
    assert read(b"1 3:1\n", zero_based=True)[0].shape == (1, 4)
    assert read(b"1 3:1\n", n_features=3)[0].shape == (1, 3)
    assert read(b"1 2:1\n", n_features=3, zero_based=True)[0].shape == (1, 3)
    assert read(b"1\n2\n")[0].shape == (2, 0)
    assert read(b"1\n2\n", n_features=5)[0].shape == (2, 5)
    assert read(b"1 2147483646:1\n", zero_based=True)[0].shape == (1, 2**31 - 1)


def test_too_small_is_zero():
    X, y = read(b"-1e-999999999999999999999 1:1e-400 2:-0.%s1 3:0e999 4:1e-46\n" % (b"0" * 400), dtype=np.float32)
    np.testing.assert_array_equal(X.data, 0)
    np.testing.assert_array_equal(np.signbit(X.data), [False, True, False, False])
    assert y[0] == 0


ERRORS = [
    (b"x 1:1", {}, 1, 1, "label 'x' is not a number"),
    (b"1,2 1:1", {}, 1, 1, "label '1,2' is not a number; pass multilabel=True if rows have several labels"),
    (b"1:1", {}, 1, 1, "label '1:1' is not a number"),
    (b"+-1 1:1", {}, 1, 1, "label '+-1' is not a number"),
    (b"0x10 1:1", {}, 1, 1, "label '0x10' is not a number"),
    (b"1\n\n  nan 1:1", {}, 3, 3, "label 'nan' is not finite; remove or correct the line"),
    (b"1e999 1:1", {}, 1, 1, "label '1e999' is too large for float64; rescale it"),
    (b"1 x:1", {}, 1, 3, "index 'x' is not an integer; write index:value"),
    (b"1 1.5:1", {}, 1, 3, "index '1.5' is not an integer"),
    (b"1 :1", {}, 1, 3, "index '' is not an integer"),
    (b"1 1:1 qid:3", {}, 1, 7, "index 'qid' is not an integer"),
    (b"1 qid:x 1:1", {}, 1, 7, "qid 'x' is not an integer"),
    (b"1 1", {}, 1, 3, "no colon in '1'; write index:value"),
    (b"1 1 :1", {}, 1, 3, "no colon in '1'"),
    (b"1 1: 1", {}, 1, 5, "value missing"),
    (b"1 1:", {}, 1, 5, "value missing"),
    (b"1 1:#", {}, 1, 5, "value missing"),
    (b"1 1:x2", {}, 1, 5, "value 'x2' is not a number"),
    (b"1 1:1.2.3", {}, 1, 5, "value '1.2.3' is not a number"),
    (b"1 1:2:3", {}, 1, 5, "value '2:3' is not a number"),
    (b"1 1:" + b"z" * 99, {}, 1, 5, f"value '{'z' * 24}...' is not a number"),
    (b"1 1:\xe9", {}, 1, 5, r"value '\xe9' is not a number"),
    (b"1\n1 3:nan", {}, 2, 5, "value 'nan' is not finite; remove the entry or impute it"),
    (b"1 3:-inf", {}, 1, 5, "value '-inf' is not finite"),
    (b"1 3:+Infinity", {}, 1, 5, "value '+Infinity' is not finite"),
    (b"1 3:-1e400", {}, 1, 5, "value '-1e400' is too large for float64; rescale it"),
    (b"1 3:1%se-1" % (b"0" * 400), {}, 1, 5, f"value '1{'0' * 23}...' is too large for float64"),
    (b"1 3:1e39", {"dtype": np.float32}, 1, 5, "value '1e39' is too large for float32; pass dtype=np.float64"),
    (b"1 0:1", {}, 1, 3, "index 0 in a one-based file; pass zero_based=True"),
    (b"1 -3:1", {}, 1, 3, "index '-3' is negative; indices start at 1"),
    (b"1 1%s:1" % (b"0" * 18), {}, 1, 3, f"index '1{'0' * 18}' is too large; the largest is {10**18 - 1}"),
    (b"1 " + b"9" * 99 + b":1", {}, 1, 3, f"index '{'9' * 24}...' is too large"),
    (b"1 7:1 3:1", {}, 1, 7, "index 3 after 7: indices must increase; sort the entries of the line"),
    (b"1 7:1\t7:1", {}, 1, 7, "index 7 after 7: indices must increase; merge the two entries"),
    (b"1 0:1 0:1", {"zero_based": True}, 1, 7, "index 0 after 0: indices must increase"),
    (b"1\r\n1\r\n1 1:1 130:1", {"n_features": 123}, 3, 7, "index 130 is beyond n_features=123; pass a larger"),
    (b"1 3:1", {"n_features": 3, "zero_based": True}, 1, 3, "index 3 is beyond n_features=3"),
    (b"1 1:\x001", {}, 1, 5, "byte 0x00 is not text; is the file compressed or binary?"),
    (b"1 # a\x00", {}, 1, 6, "byte 0x00 is not text"),
    (b"\x1f\x8c\x08\x00", {}, 1, 1, "byte 0x1f is not text"),
    (b"\xff\xfe1\x00 \x00", {}, 1, 4, "byte 0x00 is not text"),
    (b"1 1:1\r2 1:1\n", {}, 1, 6, "carriage return inside a line; end lines with LF or CRLF"),
]


@pytest.mark.parametrize(("text", "options", "line", "column", "message"), ERRORS)
def test_errors_say_where_and_what(tmp_path, text, options, line, column, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(text)
    expected = re.escape(f"{path}: line {line}, column {column}: {message}")
    with pytest.raises(ValueError, match=f"^{expected}"):
        read_svmlight(path, **options)
    with pytest.raises(ValueError, match=rf"^<stream>: line {line + 1}, column {column}: "):
        read(b"1 1:1\n" + text, **options)


@pytest.mark.parametrize("text", [b"", b"\n", b"# nothing\r\n\r\n", b"  "])
def test_no_rows(tmp_path, text):
    path = tmp_path / "empty.txt"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"empty\.txt: no rows"):
        read_svmlight(path)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="dtype=int64: values are read as float32 or float64"):
        read(b"1", dtype=np.int64)
    with pytest.raises(ValueError, match="n_features=0: pass a number from 1"):
        read(b"1", n_features=0)
    with pytest.raises(TypeError, match="<stream>: read\\(\\) gave str, not bytes; open the file in binary mode"):
        read_svmlight(io.StringIO("1 1:1"))
    with pytest.raises(FileNotFoundError):
        read_svmlight("no/such/file")


def test_file_objects_and_strings(tmp_path):
    path = str(tmp_path / "data.txt")
    write_svmlight(MATRIX, LABELS, path)
    with open(path, "rb") as file:
        np.testing.assert_array_equal(read_svmlight(file)[0].toarray(), MATRIX)
    np.testing.assert_array_equal(read_svmlight(path)[1], LABELS)
    with open(path, "wb") as file:
        file.write(b"x")
    with open(path, "rb") as file, pytest.raises(ValueError, match=re.escape(f"{path}: line 1, column 1: ")):
        read_svmlight(file)


# ---- Hostile input ----


def test_colons_alone_claim_little_memory():
    with pytest.raises(ValueError, match="line 1, column 1: label ':::::::::::::::::::::::"):
        read(b":" * 10_000_000)


# ---- The writer ----


def test_text_written():
    X = np.array([[1.0, 0, 0.1], [0, 0, 0], [-0.5, 123456, 1e22]])
    assert written(X, [1, -1, 100000]) == b"1 1:1 3:0.1\n-1\n100000 1:-0.5 2:123456 3:1e+22\n"
    assert written(X, [1, -1, 2.5], zero_based=True).startswith(b"1 0:1 2:0.1\n-1\n2.5 0:")
    assert written(X.astype(np.float32), [1, 1, 1]).startswith(b"1 1:1 3:0.1\n")
    assert written(np.zeros((0, 3)), []) == b""


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16, ">f4", ">f8"])
def test_other_types(dtype):
    assert written(np.eye(2, dtype=dtype), np.ones(2, dtype=dtype)) == b"1 1:1\n1 2:1\n"


@pytest.mark.parametrize("kind", [sp.csc_matrix, sp.coo_matrix, sp.csr_array, sp.lil_matrix, np.asfortranarray, list])
def test_any_kind_of_matrix(kind):
    expected = written(MATRIX, LABELS)
    assert written(kind(MATRIX), LABELS) == expected
    assert written(kind(MATRIX), np.repeat(LABELS, 2)[::2]) == expected


def test_unsorted_and_repeated_entries_leave_the_caller_alone():
    X = sp.csr_matrix((np.array([1.0, 2, 4]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert written(X, [1]) == b"1 1:2 3:5\n"
    np.testing.assert_array_equal(X.data, [1, 2, 4])
    np.testing.assert_array_equal(X.indices, [2, 0, 2])


def test_long_indices_and_many_blocks(monkeypatch):
    X, y = random_data(np.float64)
    whole = written(X, y)
    monkeypatch.setattr("pegasos.io.svmlight_writer._ENTRIES_PER_BLOCK", 50)
    assert written(X, y) == written(X.toarray(), y) == whole
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert written(X, y) == whole


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (MATRIX, [1, 2], r"y has shape \(2,\), but X has 3 rows; pass one label per row"),
        (MATRIX, [[1], [2], [3]], r"y has shape \(3, 1\)"),
        ([1, 2], [1, 2], r"X has 1 dimension\(s\)"),
        (MATRIX, ["a", "b", "c"], "y has dtype <U1; svmlight text holds real numbers"),
        (MATRIX * 1j, LABELS, "X has dtype complex128"),
        (sp.csr_matrix(MATRIX * 1j), LABELS, "X has dtype complex128"),
        (MATRIX, [1, np.nan, 1], r"y\[1\] is nan; labels must be finite"),
        (
            np.where(MATRIX == 1, np.inf, MATRIX),
            LABELS,
            r"X\[2, 1\] is inf; values must be finite: remove or impute it",
        ),
        (
            sp.csr_matrix(([1.0], [10**18 - 1], [0, 1]), shape=(1, 10**18)),
            [1],
            f"column {10**18 - 1} would get index {10**18}, and the largest is {10**18 - 1}; use fewer columns",
        ),
    ],
)
def test_what_cannot_be_written(tmp_path, X, y, message):
    path = tmp_path / "data.txt"
    with pytest.raises(ValueError, match=message):
        write_svmlight(X, y, path)
    assert os.listdir(tmp_path) == []


def test_the_file_comes_last():
    with pytest.raises(TypeError, match=r"X is the path 'a.svm'; the file comes last"):
        write_svmlight("a.svm", MATRIX, [1, 2, 3])


def test_failed_write_leaves_things_as_they_were(tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    path.write_bytes(b"before")
    monkeypatch.setattr("pegasos.io.svmlight_writer._ENTRIES_PER_BLOCK", 1)  # so that some of it is on disk already
    with pytest.raises(ValueError, match="must be finite"):
        write_svmlight([[1.0], [np.nan]], [1, 1], path)

    def refuse(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_svmlight(MATRIX, LABELS, path)
    assert os.listdir(tmp_path) == ["data.txt"]
    assert path.read_bytes() == b"before"
    with pytest.raises(FileNotFoundError):
        write_svmlight(MATRIX, LABELS, tmp_path / "no such folder" / "data.txt")


def test_written_files_are_ordinary(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "link").symlink_to("real")
    write_svmlight(MATRIX, LABELS, tmp_path / "new")
    write_svmlight(MATRIX, LABELS, tmp_path / "link")
    assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == stat.S_IMODE(os.stat(tmp_path / "plain").st_mode)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == (tmp_path / "new").read_bytes()
    write_svmlight(MATRIX, LABELS, "/dev/null")
    assert not os.path.isfile("/dev/null")
