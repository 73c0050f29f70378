"""Raw text with labels, a line for each example."""

import gzip
import io
import re

import numpy as np
import pytest

from pegasos.io.raw_text import as_labels, read_raw_text


@pytest.mark.parametrize(
    ("content", "texts", "labels"),
    [
        ("spam\twin money\nham\tsee you\n", ["win money", "see you"], ["spam", "ham"]),
        ("1\ta\tb\r\n\r\n2\t\r\n", ["a\tb", ""], ["1", "2"]),
        ("not spam \t a b \n", [" a b "], ["not spam"]),
        (
            "__label__spam win money\n\n  __label__a-b   x  y\n__label__c",
            ["win money", "x  y", ""],
            ["spam", "a-b", "c"],
        ),
        ("\ufeffspam\té\n", ["é"], ["spam"]),
        ("win money\n\nsee you", ["win money", "", "see you"], None),
        ("see\nyou\tall\n", ["see", "you\tall"], None),
    ],
)
def test_formats(tmp_path, content, texts, labels):
    assert read_raw_text(io.BytesIO(content.encode())) == (texts, labels)
    (tmp_path / "t.gz").write_bytes(gzip.compress(content.encode()))
    assert read_raw_text(tmp_path / "t.gz") == (texts, labels)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\na\tb\nc d\n", "t: line 3: no label; write a label, a tab and the text, as line 2 has"),
        (b"a\tb\n\tc\n", "t: line 2: no label"),
        (b"__label__a b\nc d\n", "t: line 2: no label; write __label__x and the text, as line 1 has"),
        (b"__label__a b\n__label__ d\n", "t: line 2: no label"),
        (b"__label__a __label__b c\n", "t: line 1: several labels; write one"),
        (b"a\tb\nc\t\xe9\n", "t: line 2: not UTF-8, byte 0xe9; convert the file to UTF-8"),
        (b"a\tb\nc\0\td\n", "t: line 2: byte 0x00 is not text; is the file compressed or binary?"),
        (b"\n \n", "t: no text"),
        (b"", "t: no text"),
    ],
)
def test_errors_name_file_and_line(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        read_raw_text("t")


def test_labels_are_numbers_where_all_are():
    for words, kind in (
        (["1", "-1"], "i"),
        (["1", "0.5"], "f"),
        (["1", "x"], "U"),
        (["nan", "1"], "U"),
        (["inf"], "U"),
    ):
        assert as_labels(words).dtype.kind == kind
    assert as_labels(["1", "0.5"]).tolist() == [1, 0.5]
    assert as_labels(["99999999999999999999"], targets=True).tolist() == [1e20]
    assert as_labels(["99999999999999999999"]).tolist() == ["99999999999999999999"]
    assert as_labels(["007", "1"]).tolist() == ["007", "1"]
    assert as_labels(["a", "b"]).tolist() == np.array(["a", "b"]).tolist()
