"""Faults of files of examples: what is read is what a plain reading of the changed text gives, or it is refused."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re

import numpy as np
import zstandard

from pegasos.io import read_conll, read_svmlight, read_table, read_text, write_svmlight

from .changes import changed
from .fault import CHANGED, Harm, bits, kind, refused, same
from .fits import SPARSE, TAGS, TEXTS, WORDS, X, Y

NUMBERS = (b"nan", b"-inf", b"1e999", b"1e-320", b"+", b"-", b".", b"e", b"9" * 30, b"0" * 30, b"\0", b"\r", b"\xff")


def reading(path, words, files, read, plain):
    """Faults of text that has no checksum: `plain` reads what `read` accepts, and must find the same."""

    def inject(random):
        new, told = changed(random.choice(files), random, words)
        path.write_bytes(new)
        try:
            found = read(path)
        except ValueError as error:
            return refused(error, path)
        try:
            expected = plain(new)
        except Exception as error:  # what no plain reading can make sense of was accepted
            raise Harm(CHANGED, f"{told}: accepted, and a plain reading says {error!r}") from error
        return same(found, expected, f"{told}: read as something else than what it says")

    return inject


def lines_of(data):
    return data.removeprefix(b"\xef\xbb\xbf").decode().split("\n")


# svmlight


def svmlight(path):
    X, y = read_svmlight(path, zero_based=True, dtype=np.float64)
    X.sort_indices()
    return y.tolist(), [
        (X.indices[a:b].tolist(), X.data[a:b].tolist()) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def plain_svmlight(data):
    labels, rows = [], []
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.partition(b"#")[0].split()
        if words:
            pairs = sorted((int(k), float(v)) for k, v in (word.split(b":") for word in words[1:]) if k != b"qid")
            labels.append(float(words[0]))
            rows.append(([k for k, _ in pairs], [v for _, v in pairs]))
    return labels, rows


@kind(
    "svmlight files", "bytes and pieces changed, and pieces that mean something inserted; then `read_svmlight`", 8_000
)
def prepare_svmlight(folder):
    files = []
    for rows in (SPARSE[:3], SPARSE[:20], X[:2]):
        write_svmlight(rows, Y[: rows.shape[0]], folder / "whole", zero_based=True)
        files.append((folder / "whole").read_bytes())
    words = (*NUMBERS, b"qid:3 ", b":", b"#", b"1:1 ", b"\n", b"12345678:")
    return reading(folder / "a.svm", words, files, svmlight, plain_svmlight)


# CoNLL


def plain_conll(data):
    sentences, sentence = [], []
    for line in lines_of(data):
        words = [word for word in line.replace("\t", " ").translate(dict.fromkeys(b"\r\f\v", " ")).split(" ") if word]
        if words and words[0] != "-DOCSTART-":
            sentence.append(tuple(words))
        elif sentence:
            sentences.append(sentence)
            sentence = []
    return [*sentences, sentence] if sentence else sentences


@kind("CoNLL files", "the same; then `read_conll`", 6_000)
def prepare_conll(folder):
    rows = [
        "\n".join(f"{word} {part} {tag}" for (word, part), tag in zip(*own, strict=True))
        for own in zip(WORDS, TAGS, strict=True)
    ]
    files = ["\n\n".join(rows[:count]).encode() for count in (1, 3, 20)]
    words = (b"\n", b"\n\n", b" ", b"\t", b"\0", b"\xff", b"\r\n", b"-DOCSTART- ", "\u00a0".encode(), "\u2028".encode())
    return reading(folder / "a.conll", words, files, read_conll, plain_conll)


# Text in Vowpal Wabbit's format


def text(path):
    rows, labels, weights = read_text(path, 8, normalize=False)
    assert np.isfinite(rows.data).all()
    assert rows.shape == (len(labels), 256)
    return np.nan_to_num(labels, nan=-9e99).tolist(), weights.tolist()


def plain_text(data):
    labels, weights = [], []
    for line in data.split(b"\n"):
        if line.strip():
            head, bar, _ = line.removesuffix(b"\r").partition(b"|")
            numbers = [word for word in re.split(rb"[ \t]+", head) if word]
            if len(numbers) > 1 and bar and head[-1:] not in b" \t":
                numbers.pop()  # a tag, as are those with a mark
            numbers = [word for word in numbers if not word.startswith(b"'")]
            labels.append(float(numbers[0]) if numbers else -9e99)
            weights.append(float(numbers[1]) if len(numbers) > 1 else 1.0)
    return labels, weights


@kind("text files", "the same, in Vowpal Wabbit's format; then `read_text`", 6_000)
def prepare_text(folder):
    rows = [
        f"{label} 1.5 | {words}" if k % 2 else f"{label} |a {words} x:2.5"
        for k, (label, words) in enumerate(zip(Y, TEXTS, strict=True))
    ]
    files = ["\n".join(rows[:count]).encode() for count in (1, 3, 30)]
    words = (*NUMBERS, b"|", b" |", b":", b"\n", b"'tag", b"|b:0.5 ")
    return reading(folder / "a.txt", words, files, text, plain_text)


# Tables


def table(path):
    rows, labels = read_table(path, label="kind")
    return rows.astype(float).tolist(), [str(label) for label in labels]


def plain_csv(data, delimiter=","):
    names, *rows = [
        row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=delimiter) if row
    ]
    at = names.index("kind")
    return [[float(v) for k, v in enumerate(row) if k != at] for row in rows], [row[at] for row in rows]


def plain_json(data):
    text, rows = data.decode("utf-8-sig").lstrip(), []
    while text:
        row, end = json.JSONDecoder().raw_decode(text)
        rows.append(row)
        text = text[end:].lstrip()
    return [[float(v) for k, v in row.items() if k != "kind"] for row in rows], [row["kind"] for row in rows]


def table_kind(ending, words, write, plain):
    def prepare(folder):
        files = [write(count).encode() for count in (1, 3, 20)]
        return reading(folder / f"a.{ending}", words, files, table, plain)

    return prepare


def write_csv(count, delimiter=","):
    names = delimiter.join(["a", "b", "c", "kind"])
    rows = [delimiter.join([*map(str, row[:3]), "xy"[label]]) for row, label in zip(X[:count], Y, strict=False)]
    return "\n".join([names, *rows, ""])


def write_json(count):
    rows = [
        dict(zip("abc", map(float, row), strict=False)) | {"kind": "xy"[label]}
        for row, label in zip(X[:count], Y, strict=False)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


MARKS = (*NUMBERS, b",", b'"', b"\n", b"\t", b"''", b"NA", b"true", b"2020-01-01")
kind("CSV files", "the same; then `read_table`", 4_000)(table_kind("csv", MARKS, write_csv, plain_csv))
kind("JSON lines", "the same; then `read_table`", 2_000)(
    table_kind("jsonl", (*NUMBERS, b"{}", b"null", b"[", b",", b'"', b"}\n{", b"true"), write_json, plain_json)
)


# Compressed files, which have checksums

PACKERS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True, write_content_size=True).compress,
}


@kind(
    "compressed files",
    "gzip, bzip2, xz and zstd files of svmlight, CSV and CoNLL changed as model files are; then read",
    8_000,
)
def prepare_compressed(folder):
    write_svmlight(SPARSE, Y, folder / "whole", zero_based=True)
    lines = "\n".join(f"{word} {part} A" for sentence in WORDS for word, part in sentence).encode()
    sources = {
        "svm": ((folder / "whole").read_bytes(), svmlight),
        "csv": (write_csv(20).encode(), table),
        "conll": (lines, read_conll),
    }
    files = []
    for ending, pack in PACKERS.items():
        for name, (data, read) in sources.items():
            if (name, ending) == ("csv", "xz"):  # which pyarrow does not read
                continue
            path = folder / f"a.{name}.{ending}"
            path.write_bytes(pack(data))
            files.append((path, path.read_bytes(), read, bits(read(path))))

    def inject(random):
        path, data, read, expected = random.choice(files)
        new, told = changed(data, random)
        path.write_bytes(new)
        try:
            found = read(path)
        except ValueError as error:
            return refused(error, path)
        return same(bits(found), expected, f"{path.name}: {told}")

    return inject
