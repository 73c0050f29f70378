"""The svmlight reader: threads, chunks, compressed files, query ids, several labels, wide indices."""

import bz2
import gzip
import io
import lzma
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from pegasos.io import iter_svmlight, read_svmlight, write_svmlight
from pegasos.io.compression import _Gzip

COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
SUFFIXES = [*COMPRESS, ".zst"]


def read(text, **options):
    return read_svmlight(io.BytesIO(text), **options)


def make_lines(n_rows=300, seed=0):
    """Text with rows of all lengths, and lines that are no rows."""
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n_rows):
        columns = np.flatnonzero(rng.random(30) < rng.random()) + 1
        entries = " ".join(f"{c}:{rng.standard_normal():.{rng.integers(1, 17)}g}" for c in columns)
        lines.append(f"{rng.integers(-1, 2)} qid:{i // 7} {entries}".encode())
        if rng.random() < 0.2:
            lines.append(rng.choice([b"", b"# a comment", b"  \t"]))
    return lines


def assert_same(ours, theirs, types=True):
    assert len(ours) == len(theirs)
    (X, y, *qid), (A, b, *qid_b) = ours, theirs
    assert X.shape == A.shape
    assert X.dtype == A.dtype
    for name in ("data", "indices", "indptr"):
        own, other = getattr(X, name), getattr(A, name)
        assert own.dtype == other.dtype or not types  # scikit-learn has int64 always
        assert own.tobytes() == other.astype(own.dtype).tobytes()
    np.testing.assert_array_equal(y, b)
    for own, other in zip(qid, qid_b, strict=True):
        np.testing.assert_array_equal(own, other)


def compress(suffix, text):
    if suffix == ".zst":
        return pytest.importorskip("zstandard").compress(text)
    return COMPRESS[suffix](text)


# ---- Threads ----


@pytest.mark.parametrize("block", [1, 2, 37, 1000])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_blocks_and_threads_change_nothing(tmp_path, monkeypatch, block, newline):
    text = newline.join(make_lines())
    whole = read(text, query_id=True, n_jobs=1)
    (tmp_path / "data").write_bytes(text)
    monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", block)
    for n_jobs in (1, 2, 5):
        assert_same(read(text, query_id=True, n_jobs=n_jobs), whole)
        assert_same(read_svmlight(tmp_path / "data", query_id=True, n_jobs=n_jobs), whole)


def test_large_files_are_those_of_sklearn(tmp_path):
    """Of many blocks of the usual size, with threads by default."""
    X = sp.random(10_000, 5_000, 0.01, random_state=0, format="csr")
    write_svmlight(X, np.arange(10_000) % 3, tmp_path / "data")
    assert os.path.getsize(tmp_path / "data") > 8 << 20
    expected = load_svmlight_file(str(tmp_path / "data"), n_features=5_000)
    for n_jobs in (None, 3):
        assert_same(read_svmlight(tmp_path / "data", n_features=5_000, n_jobs=n_jobs), expected, types=False)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_error_is_reported(tmp_path, monkeypatch, n_jobs):
    lines = make_lines()
    lines[150], lines[200], lines[299] = b"1 1:x", b"1 2:y", b"z"
    (tmp_path / "data").write_bytes(b"\n".join(lines))
    for block in (5, 64, 10_000):
        monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", block)
        for source in (tmp_path / "data", io.BytesIO(b"\n".join(lines))):
            with pytest.raises(ValueError, match=r": line 151, column 5: value 'x' is not a number"):
                read_svmlight(source, n_jobs=n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_line_longer_than_many_blocks(tmp_path, monkeypatch, n_jobs):
    monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", 100)
    entries = " ".join(f"{i}:{i}" for i in range(1, 20_001))
    (tmp_path / "data").write_bytes(f"1 {entries}\n-1 2:1\n".encode())
    X, y = read_svmlight(tmp_path / "data", n_jobs=n_jobs)
    np.testing.assert_array_equal(X[0].toarray()[0], np.arange(1, 20_001))
    np.testing.assert_array_equal(X[1].indices, [1])
    np.testing.assert_array_equal(y, [1, -1])


def test_wrong_n_jobs():
    with pytest.raises(ValueError, match="n_jobs=0: must be a number of threads"):
        read(b"1 1:1\n", n_jobs=0)


def test_interrupt(tmp_path):
    """Ctrl-C ends a read between blocks, from whichever source; the process is no worse for it."""
    path = tmp_path / "data"
    path.write_bytes(b"1 1:0.5 2:0.25 7:1\n" * 400_000)
    script = (
        "import sys, signal, os, threading, time\n"
        "from pegasos.io import read_svmlight\n"
        "main = threading.get_ident()\n"
        "read_svmlight(sys.argv[1], n_jobs=2)\n"
        "def kill():\n"
        "    time.sleep(0.5)\n"
        "    signal.pthread_kill(main, signal.SIGINT)\n"
        "threading.Thread(target=kill).start()\n"
        "try:\n"
        "    while True: read_svmlight(sys.argv[1], n_jobs=2)\n"
        "except KeyboardInterrupt:\n"
        "    print(read_svmlight(sys.argv[1], n_jobs=2)[0].shape)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=300)
    assert done.stdout == "(400000, 7)\n", done.stderr


# ---- Compressed files ----


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_compressed_files_by_their_first_bytes(tmp_path, suffix):
    text = b"\n".join(make_lines())
    whole = read(text, query_id=True)
    path = tmp_path / "name without a suffix"
    half = text.index(b"\n", len(text) // 2) - 3  # within a line
    path.write_bytes(compress(suffix, text[:half]) + compress(suffix, text[half:]))
    assert_same(read_svmlight(path, query_id=True), whole)
    assert_same(read(path.read_bytes(), query_id=True), whole)
    assert sum(X.shape[0] for X, _ in iter_svmlight(path, chunk_bytes=1000)) == whole[0].shape[0]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_writes_by_suffix(tmp_path, suffix):
    if suffix == ".zst":
        pytest.importorskip("zstandard")
    plain = read(b"\n".join(make_lines()))
    path = tmp_path / f"data.svm{suffix}"
    write_svmlight(*plain, path)
    content = path.read_bytes()
    assert content[:1] in b"\x1f\x42\xfd\x28"
    assert_same(read_svmlight(path, n_features=30), plain)
    write_svmlight(*plain, path)
    assert path.read_bytes() == content
    with pytest.raises(ValueError, match="must be finite"):
        write_svmlight([[np.nan]], [1], path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_cut_short(tmp_path, suffix):
    content = compress(suffix, b"\n".join(make_lines()))
    path = tmp_path / "data"
    for size in (8, 30, len(content) // 2, len(content) - 9, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(
            ValueError, match=rf"^{re.escape(str(path))}: the \w+ data end too early: .* make it again$"
        ):
            read_svmlight(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files(tmp_path, suffix):
    content = bytearray(compress(suffix, b"\n".join(make_lines())))
    path = tmp_path / "data"
    for at in range(40, len(content), max(1, len(content) // 60)):
        damaged = content.copy()
        damaged[at] ^= 0x55
        path.write_bytes(damaged)
        messages = []
        try:
            read_svmlight(path)
        except ValueError as error:
            messages.append(str(error))
        assert messages or suffix == ".zst"  # which alone has no check sum here
        assert all(message.startswith(f"{path}: ") for message in messages)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_second_part_and_what_else_follows(suffix):
    """Nothing is left out without a word, as it would be by the file objects of the libraries."""
    first, second = compress(suffix, b"1 1:1\n"), compress(suffix, b"2 2:2\n")
    damaged = bytearray(second)
    damaged[2] ^= 0x55
    for rest in (bytes(damaged), b"x" * 100):
        with pytest.raises(ValueError, match="damaged"):
            read(first + rest)
    for rest in (second[:3], second[:-1]):
        with pytest.raises(ValueError, match="end too early"):
            read(first + rest)


def test_gzip_by_zlib_and_by_isal(monkeypatch):
    text = b"1 1:1\n" * 3_000_000  # more than one step gives
    content = gzip.compress(text, 1) + gzip.compress(b"2 2:2\n") + b"\0" * 100
    whole = read(text + b"2 2:2\n")
    monkeypatch.setitem(sys.modules, "isal", None)
    assert_same(read(content), whole)
    with pytest.raises(ValueError, match="damaged gzip data"):
        read(content + b"x" * 100)
    monkeypatch.undo()
    pytest.importorskip("isal")
    monkeypatch.delattr(_Gzip, "decompress")
    assert_same(read(content), whole)
    with pytest.raises(ValueError, match="damaged gzip data"):
        read(content + b"x" * 100)


def test_without_zstandard(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(ImportError, match="install zstandard"):
        read(b"\x28\xb5\x2f\xfd\0\0\0\0")
    with pytest.raises(ImportError, match="zstandard"):
        write_svmlight([[1]], [1], tmp_path / "data.zst")
    assert os.listdir(tmp_path) == []


def test_errors_of_compressed_files_name_the_line(tmp_path):
    (tmp_path / "data").write_bytes(gzip.compress(b"\n".join([*make_lines(), b"1 1:x"])))
    with pytest.raises(ValueError, match=rf"data: line {len(make_lines()) + 1}, column 5: value 'x'"):
        read_svmlight(tmp_path / "data")


def test_pipes(tmp_path):
    text = b"\n".join(make_lines())
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(text,))
    writer.start()
    assert_same(read_svmlight(tmp_path / "pipe"), read(text))
    writer.join()


def test_no_thread_is_left_behind(tmp_path):
    (tmp_path / "data").write_bytes(gzip.compress(b"1 1:1\n" * 5_000_000, 1))
    before = threading.active_count()
    chunks = iter_svmlight(tmp_path / "data", chunk_bytes=1000)
    next(chunks)
    chunks.close()
    with pytest.raises(ValueError, match="line 1, column 3"):
        read_svmlight(tmp_path / "data", n_features=1, zero_based=True)
    assert threading.active_count() == before


# ---- Chunks ----


@pytest.mark.parametrize("size", [1, 100, 5000, 1 << 26])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_chunks_together_are_the_whole(tmp_path, size, n_jobs):
    text = b"\n".join(make_lines())
    whole = read(text, query_id=True)
    (tmp_path / "data").write_bytes(text)
    for source in (tmp_path / "data", io.BytesIO(text)):
        options = {"chunk_bytes": size, "n_features": 30, "query_id": True, "n_jobs": n_jobs}
        chunks = list(iter_svmlight(source, **options))
        assert all(X.shape[0] for X, *_ in chunks)
        X = sp.vstack([chunk[0] for chunk in chunks], format="csr")
        assert_same((X, *(np.concatenate([chunk[k] for chunk in chunks]) for k in (1, 2))), whole)
        # Nothing larger than asked for, but for one line.
        longest = max(map(len, make_lines())) + 1
        assert len(chunks) >= len(text) // (2 * size + longest)


def test_chunks_grow_wider():
    chunks = iter_svmlight(io.BytesIO(b"1 2:1\n1 5:1\n1 3:1\n"), chunk_bytes=1)
    assert [X.shape for X, _ in chunks] == [(1, 2), (1, 5), (1, 5)]


def test_errors_in_chunks(tmp_path):
    (tmp_path / "data").write_bytes(b"1 1:1\n\n" * 100 + b"1 1:z\n")
    chunks, seen = iter_svmlight(tmp_path / "data", chunk_bytes=50), []
    with pytest.raises(ValueError, match=r"data: line 201, column 5: value 'z' is not a number"):
        seen.extend(X.shape[0] for X, _ in chunks)
    assert 80 < sum(seen) <= 100
    with pytest.raises(ValueError, match="no rows"):
        list(iter_svmlight(io.BytesIO(b"# nothing\n" * 10), chunk_bytes=10))
    with pytest.raises(ValueError, match="zero_based='auto': chunks do not show the whole file; pass True or False"):
        iter_svmlight(tmp_path / "data", zero_based="auto")
    with pytest.raises(ValueError, match="chunk_bytes=0: pass a positive number"):
        iter_svmlight(tmp_path / "data", chunk_bytes=0)


# ---- The first index ----


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_zero_based_by_what_is_there(monkeypatch, n_jobs):
    monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", 8)
    auto = {"zero_based": "auto", "n_jobs": n_jobs}
    lines = [b"1 1:1 3:2", b"0", b"1 2:3"]
    assert_same(read(b"\n".join(lines), **auto), read(b"\n".join(lines)))
    lines.append(b"-1 0:5 2:1")
    assert_same(read(b"\n".join(lines), **auto), read(b"\n".join(lines), zero_based=True))
    assert_same(read(b"\n".join(lines), n_features=4, **auto), read(b"\n".join(lines), zero_based=True))
    assert read(b"1 3:1\n", n_features=3, **auto)[0].indices == [2]
    with pytest.raises(
        ValueError, match="line 4, column 4: index 0, but line 1 has index 3 = n_features; pass a larger"
    ):
        read(b"\n".join(lines), n_features=3, **auto)
    with pytest.raises(ValueError, match="line 2, column 12: index 3 = n_features, but line 1 has index 0"):
        read(b"\n".join([lines[-1], b"1 1:1  2:1 3:1", b"x"]), n_features=3, **auto)
    with pytest.raises(ValueError, match="index 4 is beyond n_features=3"):
        read(b"1 4:1", n_features=3, **auto)
    assert read(b"1\n2\n", **auto)[0].shape == (2, 0)
    with pytest.raises(ValueError, match="zero_based='yes': pass True, False or 'auto'"):
        read(b"1", zero_based="yes")


# ---- Query ids and several labels ----


def test_query_ids(tmp_path):
    text = b"1 qid:7 1:1\n0 qid:-9223372036854775808 2:1\n1 qid:+7 3:1\n"
    with pytest.raises(ValueError, match="line 3, column 7: qid '\\+7' is not an integer"):
        read(text, query_id=True)
    X, y, qid = read(text.replace(b"+7", b"8"), query_id=True)
    assert qid.dtype == np.int64
    np.testing.assert_array_equal(qid, [7, -(2**63), 8])
    write_svmlight(X, y, tmp_path / "data", query_id=qid)
    assert_same(read_svmlight(tmp_path / "data", query_id=True), (X, y, qid))
    with pytest.raises(ValueError, match="line 2, column 3: no qid after the label; write qid:N in every row"):
        read(b"1 qid:7 1:1\n0 2:1\n", query_id=True)
    with pytest.raises(ValueError, match=r"query_id has dtype float64 and shape \(3,\); pass 3 integers"):
        write_svmlight(X, y, tmp_path / "data", query_id=[1.0, 2.0, 3.0])


def test_query_ids_as_sklearn_reads_them(tmp_path):
    X, y = sp.identity(5, format="csr"), np.arange(5.0)
    dump_svmlight_file(X, y, str(tmp_path / "data"), zero_based=False, query_id=[3, 3, 1, 1, 2])
    expected = load_svmlight_file(str(tmp_path / "data"), query_id=True)
    assert_same(read_svmlight(tmp_path / "data", query_id=True), expected, types=False)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_several_labels_as_sklearn_reads_them(tmp_path, monkeypatch, n_jobs):
    monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", 16)
    text = b"3,1 1:1 2:1\n2 3:1\n 2:5 # no labels\n1.5,-2,1e3\n\n4,4 qid:3 1:1\n1:7\n"
    (tmp_path / "data").write_bytes(text)
    X, y = read_svmlight(tmp_path / "data", multilabel=True, n_jobs=n_jobs)
    A, b = load_svmlight_file(str(tmp_path / "data"), multilabel=True)
    assert y == b == [(1.0, 3.0), (2.0,), (), (-2.0, 1.5, 1000.0), (4.0, 4.0), ()]
    np.testing.assert_array_equal(X.toarray(), A.toarray())
    write_svmlight(X, y, tmp_path / "again", multilabel=True)
    B, again = read_svmlight(tmp_path / "again", multilabel=True)
    assert again == y
    np.testing.assert_array_equal(B.toarray(), X.toarray())
    assert load_svmlight_file(str(tmp_path / "again"), multilabel=True)[1] == y


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (b"1,,2 1:1", 3, "label missing beside a comma"),
        (b"1,2, 1:1", 5, "label missing beside a comma"),
        (b",1 1:1", 1, "label missing beside a comma"),
        (b"1,x 1:1", 3, "label 'x' is not a number"),
        (b"1,nan 1:1", 3, "label 'nan' is not finite"),
        (b"1 2 1:1", 3, "no colon in '2'"),
        (b"1,2:1", 1, "index '1,2' is not an integer"),
    ],
)
def test_wrong_labels(text, column, message):
    with pytest.raises(ValueError, match=f"line 1, column {column}: {message}"):
        read(text, multilabel=True)


def test_what_cannot_be_written_with_several_labels(tmp_path):
    path = tmp_path / "data"
    with pytest.raises(ValueError, match="row 1 has neither labels nor entries"):
        write_svmlight([[1], [0]], [(1, 2), ()], path, multilabel=True)
    with pytest.raises(ValueError, match=r"y has shape \(1,\), but X has 2 rows"):
        write_svmlight([[1], [0]], [(1, 2)], path, multilabel=True)
    with pytest.raises(ValueError, match="y has single labels; pass a sequence of labels for each row"):
        write_svmlight([[1], [0]], [1, 2], path, multilabel=True)
    with pytest.raises(ValueError, match="y has rows of different lengths; pass multilabel=True"):
        write_svmlight([[1], [0]], [(1, 2), ()], path)
    with pytest.raises(ValueError, match=r"y\[1\] is inf; labels must be finite"):
        write_svmlight([[1], [0]], [(1, 2), (np.inf,)], path, multilabel=True)
    assert os.listdir(tmp_path) == []


# ---- Types of indices ----


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_wide_indices(monkeypatch, n_jobs):
    """int32 as long as the number of features fits, then int64 for all."""
    monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", 16)
    small, large = b"1 1:1 2:2\n" * 20, b"-1 7:1 %d:3\n"
    for zero_based in (False, True, "auto"):
        last = 2**31 - 2 if zero_based is True else 2**31 - 1
        for top, dtype in ((last, np.int32), (last + 1, np.int64), (10**18 - 1, np.int64)):
            X, _ = read(small + large % top + small, zero_based=zero_based, n_jobs=n_jobs)
            assert X.indices.dtype == X.indptr.dtype == dtype
            first = int(zero_based is not True)
            assert X.shape == (41, top + 1 - first)
            expected = [1 - first, 2 - first] * 20 + [7 - first, top - first] + [1 - first, 2 - first] * 20
            np.testing.assert_array_equal(X.indices, expected)
            np.testing.assert_array_equal(X.data, [1.0, 2] * 20 + [1, 3] + [1, 2] * 20)
    assert read(small, n_features=2**31, n_jobs=n_jobs)[0].indices.dtype == np.int64
    X, y = read(small + large % 10**17)
    file = io.BytesIO()
    write_svmlight(X, y, file)
    assert file.getvalue() == small + large % 10**17


def test_interrupting_signal_is_not_lost():
    """What the poll raises comes through, from a reader that works on memory."""
    text = b"1 1:0.5 2:0.25 7:1\n" * 200_000
    previous = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(InterruptedError("alarm")))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(InterruptedError, match="alarm"):
            all(read(text, n_jobs=2) for _ in range(1000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
