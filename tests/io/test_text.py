"""Text features by their hash, against a reader in Python (cpp/text/text.hpp)."""

import io
import math
import os
import threading
import time

import numpy as np
import pytest

from pegasos._core import native
from pegasos.io import hash_text, read_text
from pegasos.io.text import read_blocks, read_text_rows


def parse_line(line, bits, normalize=True):
    """(label, weight, {column: value}) of a line with features."""
    head, *spaces = line.split(b"|")
    fields = head.split()
    if len(fields) > 1 and not head.endswith((b" ", b"\t")):
        fields.pop()  # a tag
    fields = [field for field in fields if not field.startswith(b"'")]
    label, weight = [*map(float, fields), *[math.nan, 1.0][len(fields) :]]
    counts, values = {}, {}
    for space in spaces:
        seed, scale = 0, 1.0
        words = space.split()
        if space[:1].strip():
            name, _, value = words.pop(0).partition(b":")
            seed, scale = native.xxh3(name), float(value or 1)
        for word in words:
            word, _, value = word.partition(b":")
            column = native.xxh3(word, seed) % 2**bits
            if value or scale != 1:
                values[column] = values.get(column, 0.0) + scale * float(value or 1)
            else:
                counts[column] = counts.get(column, 0) + 1
    for column, count in counts.items():
        values[column] = values.get(column, 0.0) + 1 + math.log(count)
    norm = math.sqrt(sum(value**2 for value in values.values())) if normalize else 1
    return label, weight, {column: value / (norm or 1) for column, value in values.items()}


LINES = [
    b"1 | a b c a a",
    b"-1 2.5 | a",
    b"1 0 'tag| a:2 b:-0.5 a",
    b"-1 1.5 tag| x",
    b"0.25 |one a b |two a b",
    b"1 |one:2 a b:3 |two:0.5 a a",
    b"| nothing to learn",
    b"+1 |",
    b"-1e0 |name",
    b"1 |  two\tblanks   between  ",
    b"1 | averylongwordofmorethaneight " + b"x" * 8 + b" " + b"x" * 16 + b" " + b"y" * 17,
    "1 | für naïve Ωμέγα".encode(),
    b"1 | " + b" ".join(b"w%d" % (k % 700) for k in range(2000)),
]


def check(X, y, weights, lines, bits, normalize=True):
    assert X.shape == (len(lines), 2**bits)
    for k, line in enumerate(lines):
        label, weight, values = parse_line(line, bits, normalize)
        np.testing.assert_equal((y[k], weights[k]), (label, weight))
        row = X[[k]]
        assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == pytest.approx(values, rel=1e-5)


@pytest.mark.parametrize("bits", [1, 5, 18, 23])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_lines_are_the_twins(bits, normalize, newline):
    text = newline.join(LINES) + newline
    check(*read_text(io.BytesIO(text), bits, normalize=normalize), LINES, bits, normalize)


def test_every_length_and_place_of_a_word():
    """Words that end at every byte of a block of 64, and texts that end at every byte."""
    random = np.random.default_rng(0)
    for _ in range(60):
        words = [bytes(random.choice(list(b"abcxyz"), size=random.integers(1, 20))) for _ in range(40)]
        lines = [b"1 | " + b" ".join(words[: random.integers(0, 40)]) for _ in range(5)]
        check(*read_text(io.BytesIO(b"\n".join(lines)), 10), lines, 10)


def test_lines_without_rows_and_last_newline():
    X, y, _ = read_text(io.BytesIO(b"\n  \n1 | a\n\t\r\n-1 | b"), 4)
    assert X.shape == (2, 16)
    np.testing.assert_array_equal(y, [1, -1])
    X, y, weights = read_text(io.BytesIO(b""), 4)
    assert (X.shape, len(y), len(weights)) == ((0, 16), 0, 0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("size", [1, 7, 64, 100, 5000])
def test_blocks_of_any_size(monkeypatch, tmp_path, size, n_jobs):
    """Blocks are whole lines; lines longer than one are kept whole."""
    monkeypatch.setattr("pegasos.io.text.read_blocks.__defaults__", (size,))
    path = tmp_path / "text.vw"
    path.write_bytes(b"\n".join(LINES))
    blocks = [bytes(block) for block in read_blocks(io.BytesIO(path.read_bytes()))]
    assert b"".join(blocks) == path.read_bytes() + b"\n"
    assert all(block.endswith(b"\n") for block in blocks)
    parts = list(read_text_rows(path, 9, n_jobs=n_jobs))
    assert sum(part.lines for part in parts) == len(LINES)
    check(*read_text(path, 9), LINES, 9)


@pytest.mark.parametrize(
    ("line", "place", "message"),
    [
        (b"1 a b", 1, "no '|' after the label in '1 a b'"),
        (b"x | a", 1, "'x' is not a finite number"),
        (b"nan | a", 1, "'nan' is not a finite number"),
        (b"1 -2 | a", 3, "a negative weight"),
        (b"1 2 3 | a", 5, "a third number, '3'"),
        (b"1 | a:x", 7, "'x' is not a finite number"),
        (b"1 | a:", 7, "no value after ':'; write name:value, or the name alone"),
        (b"1 | a:1e999", 7, "'1e999' is not a finite number"),
        (b"1 | a:1:2", 8, "a second ':'"),
        (b"1 | :2", 5, "a ':' without a feature before it"),
        (b"1 |:2 a", 4, "a ':' without a name before it"),
        (b"1 |b:c a", 6, "'c' is not a finite number"),
        (b"1 | a:1e30 b:1e30", 1, "values too large"),
    ],
)
@pytest.mark.parametrize("size", [8, 1000])
def test_bad_lines_are_refused_with_their_place(monkeypatch, tmp_path, line, place, message, size):
    monkeypatch.setattr("pegasos.io.text.read_blocks.__defaults__", (size,))
    path = tmp_path / "text.vw"
    path.write_bytes(b"1 | a\n\n-1 | b\n" + line + b"\n1 | c\n")
    with pytest.raises(ValueError, match=r"line 4, column \d+") as error:
        read_text(path)
    assert f"text.vw: line 4, column {place}: {message}" in str(error.value)


def test_nothing_is_read_after_an_error(monkeypatch):
    monkeypatch.setattr("pegasos.io.text.read_blocks.__defaults__", (6,))

    class Slow(io.RawIOBase):
        reads = 0

        def readinto(self, buffer):
            time.sleep(0.05)
            self.reads += 1
            memoryview(buffer)[:] = b"x | a\n"
            return 6

    file = Slow()
    with pytest.raises(ValueError, match="line 1, column 1: 'x' is not a finite number"):
        list(read_text_rows(file, 9))
    reads = file.reads
    time.sleep(0.2)
    assert file.reads == reads


def test_a_pipe_that_runs_dry():
    """Lines that are there are a block; the beginning of one waits for the rest."""
    reader, writer = os.pipe()
    with open(reader, "rb") as file, open(writer, "wb", buffering=0) as pipe:
        blocks = read_blocks(file)
        pipe.write(b"1 | a\n-1 | b")
        assert bytes(next(blocks)) == b"1 | a\n"
        pipe.write(b" c")
        threading.Timer(0.1, lambda: pipe.write(b" d\n1 | e\n1")).start()
        assert bytes(next(blocks)) == b"-1 | b c d\n1 | e\n"
        pipe.close()
        assert [bytes(block) for block in blocks] == [b"1\n"]


def test_hash_text():
    X = hash_text(["to be or not to be", "a|b:c", ""], 12)
    check(X, [1.0] * 3, [1.0] * 3, [b"1 | to be or not to be", b"1 | a b c", b"1 |"], 12)
    raw = hash_text(["to be or not to be"], 12, normalize=False)
    assert raw.max() == pytest.approx(1 + math.log(2))
    for bits in (0, 29):
        with pytest.raises(ValueError, match="hash_bits"):
            hash_text(["a"], bits)
        with pytest.raises(ValueError, match="hash_bits"):
            read_text(io.BytesIO(b""), bits)
