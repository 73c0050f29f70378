"""The reader of CoNLL column files."""

import bz2
import gzip
import io
import lzma
import re

import pytest

from pegasos.io import read_conll, read_svmlight
from pegasos.io.conll import read_lines

TEXT = b"He PRP B-NP\nleft VBD B-VP\n\nWhy WRB B-ADVP\n"
SENTENCES = [[("He", "PRP", "B-NP"), ("left", "VBD", "B-VP")], [("Why", "WRB", "B-ADVP")]]


def read(text, **options):
    return read_conll(io.BytesIO(text), **options)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.rstrip(),
        TEXT + b"\n\n",
        b"\n \n" + TEXT,
        TEXT.replace(b"\n", b"\r\n"),
        TEXT.replace(b" ", b"\t"),
        TEXT.replace(b" ", b" \t  "),
        TEXT.replace(b"\n\n", b"\n \t\n\n\n"),
        b"\xef\xbb\xbf" + TEXT,
        b" " + TEXT,
        b"-DOCSTART- -X- O O\n\n" + TEXT,
        TEXT.replace(b"\n\n", b"\n-DOCSTART-\n"),
    ],
)
def test_ways_to_write_the_same(text):
    assert read(text) == SENTENCES


def test_a_separator_keeps_spaces_and_empty_columns():
    text = b"New York\t\tB-LOC\n\nis \tVBZ\tO\r\n\t\t\na\t\t\n"
    expected = [[("New York", "", "B-LOC")], [("is ", "VBZ", "O")], [("a", "", "")]]
    assert read(text, separator="\t") == expected
    assert read(b"a||b\n", separator="||") == [[("a", "b")]]


def test_spaces_of_unicode_belong_to_words():
    text = "10\u00a0000 CD\na\u2028b\u0085 NN\n"
    assert read(text.encode()) == [[("10\u00a0000", "CD"), ("a\u2028b\u0085", "NN")]]


def test_one_column():
    assert read(b"a\nb\n\nc") == [[("a",), ("b",)], [("c",)]]


def test_equal_lines_are_one_tuple():
    (first, second), (third,) = read(b"a b\na b\n\na b\n")
    assert first is second is third


@pytest.mark.parametrize(("end", "name"), [(".gz", "gzip"), (".xz", "xz"), (".bz2", "bzip2"), (".zst", "zstd")])
def test_a_name_that_promises_compression(tmp_path, end, name):
    """Of what begins otherwise something is missing, and it must not be taken for text."""
    path = tmp_path / f"train.txt{end}"
    path.write_bytes(TEXT)
    message = f"the name ends in {end}, and it is no {name} file; is it damaged?"
    for read in (read_conll, read_svmlight):
        with pytest.raises(ValueError, match=f"train.txt{end}: {message}"):
            read(path)


@pytest.mark.parametrize(("end", "module"), [(".gz", gzip), (".xz", lzma), (".bz2", bz2), (".GZ", gzip)])
def test_compressed_files(tmp_path, end, module):
    path = tmp_path / f"train.txt{end}"
    path.write_bytes(module.compress(TEXT))
    assert read_conll(path) == read_conll(str(path)) == SENTENCES
    whole = module.compress(TEXT * 100)
    half = len(whole) // 2
    for bad, message in [
        (whole[:-8], "the .* data end too early: the file is cut short; make it again"),
        (whole[:half] + b"\xff" * (len(whole) - half), "damaged .* data .*; copy or make the file again"),
    ]:
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {message}"):
            read_conll(path)
    plain = tmp_path / "train.txt"
    plain.write_bytes(module.compress(TEXT))  # which its first bytes tell, not its name
    assert read_conll(plain) == SENTENCES


ERRORS = [
    (b"a b c\n\nd e\n", {}, "line 3: 2 columns, but line 1 has 3; correct the line; or name the separator"),
    (b"\na b\na b c\n", {}, "line 3: 3 columns, but line 2 has 2; correct the line"),
    (b"a\tb\na\n", {"separator": "\t"}, "line 2: 1 columns, but line 1 has 2; correct the line"),
    (b"a b\ncaf\xe9 b\n", {}, "line 2, byte 4: 0xe9 is not UTF-8; convert the file to UTF-8"),
    ("a b\n".encode("utf-16"), {}, "line 1, byte 1: 0xff is not UTF-8"),
    (b"a\x00b\n", {}, "line 1: byte 0x00 is not text; is the file compressed or binary?"),
    (b"\n \n", {}, "no sentences; expected lines such as 'He PRP B-NP'"),
    (b"-DOCSTART- O\n", {}, "no sentences"),
]


@pytest.mark.parametrize(("text", "options", "message"), ERRORS)
def test_errors_say_where_and_what(tmp_path, text, options, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}: {message}')}"):
        read_conll(path, **options)
    with pytest.raises(ValueError, match=f"^{re.escape(f'<stream>: {message}')}"):
        read(text, **options)


def test_wrong_arguments(tmp_path):
    for separator in ("", "\n"):
        with pytest.raises(ValueError, match=re.escape(f"separator={separator!r}: pass what stands between columns")):
            read(TEXT, separator=separator)
    with pytest.raises(TypeError, match=r"read\(\) gave str, not bytes; open the file in binary mode"):
        read_conll(io.StringIO("a b\n"))
    with pytest.raises(FileNotFoundError):
        read_conll(tmp_path / "none.txt.gz")
    with pytest.raises(IsADirectoryError):
        read_conll(tmp_path)


def test_lines_of_sentences():
    """Where sentences begin, whatever is between them: messages name lines by it."""
    text = b"-DOCSTART- X\n\na X\nb X\n\n\nc X\n-DOCSTART- X\nd X\n"
    sentences, lines = read_lines(io.BytesIO(text), None)
    assert [len(sentence) for sentence in sentences] == [2, 1, 1]
    assert lines == [3, 7, 9]
