"""Hostile svmlight text: arrays that make sense, the same with threads and in scikit-learn, or an error."""

import bz2
import gzip
import io
import lzma
import random
import re

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from pegasos.io import iter_svmlight, read_svmlight, write_svmlight

SEEDS = [
    b"1 1:0.5 3:2\n-1 2:1 # c\n",
    b"+1 qid:3 1:1e-3 7:-4.25\r\n\r\n# only\r\n0 9:1",
    b"2.5\n-1 5:1e300 6:-1e-300 2147483646:0.1\n",
    b"1,2 1:0.25\n3 1:1 4:12345678.87654321\n 2:7\n",
    b"0 0:1 1:0.12345678901234567 2:123456789012345678\n1 qid:9 8:00000000000000000001.5\n",
]
PIECES = [
    *b" |\n|\r|:|,|#|qid:|nan|-inf|1e999|+|-|.|\0|1:1 |12345678:|e-5|\xef\xbb\xbf".split(b"|"),
    b"9" * 30,
    b"0" * 30,
]


def mutated(rng):
    text = bytearray(b"".join(rng.choices(SEEDS, k=rng.randint(1, 3))))
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(text))
        match rng.randrange(5):
            case 0:
                text[at:at] = rng.choice(PIECES)
            case 1:
                text[at : at + 1] = bytes([rng.randrange(256)])
            case 2:
                del text[at : at + rng.randint(1, 4)]
            case 3:
                del text[at:]
            case 4:
                text[at:at] = text[at : at + rng.randint(1, 20)]
    return bytes(text)


def outcome(text, **options):
    """Bytes of all arrays, or the message."""
    try:
        X, y, *qid = read_svmlight(io.BytesIO(text), **options)
    except ValueError as error:
        return str(error)
    X.check_format(full_check=True)
    assert np.isfinite(X.data).all()
    labels = y if options.get("multilabel") else y.tobytes()
    return X.shape, X.data.tobytes(), X.indices.tobytes(), X.indptr.tobytes(), labels, *map(bytes, qid)


def test_mutated_files(tmp_path, monkeypatch):
    rng = random.Random(3)
    parsed, messages, agreed = 0, [], 0
    for trial in range(2500):
        text = mutated(rng)
        options = {
            "zero_based": rng.choice([False, True, True, "auto"]),
            "dtype": rng.choice([np.float32, np.float64]),
            "query_id": rng.random() < 0.1,
            "multilabel": rng.random() < 0.6,
            "n_features": rng.choice([None, None, None, 9]),
        }
        monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", rng.choice([1, 5, 20, 1 << 18]))
        one = outcome(text, n_jobs=1, **options)
        monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", rng.choice([1, 5, 20, 1 << 18]))
        if trial % 4 == 0:  # threads take a while to start
            assert outcome(text, n_jobs=3, **options) == one
        (tmp_path / "data").write_bytes(text)
        if isinstance(one, str):
            messages.append(one)
            with pytest.raises(ValueError, match=re.escape(one.replace("<stream>", str(tmp_path / "data")))):
                read_svmlight(tmp_path / "data", **options)
            continue
        parsed += 1
        X, y = read_svmlight(tmp_path / "data", **(options | {"query_id": False}))
        assert X.data.tobytes() == one[1]
        agreed += agrees_with_sklearn(tmp_path / "data", X, y, options)
        if not (options["multilabel"] and () in y):
            file = io.BytesIO()
            write_svmlight(X, y, file, multilabel=options["multilabel"])
            again = outcome(file.getvalue(), dtype=options["dtype"], multilabel=options["multilabel"])
            assert again[1:] == one[1:5]
    assert parsed > 300
    assert agreed > 150
    assert len(messages) > 300
    assert all(re.match(r"<stream>: (line \d+, column \d+: |no rows)[ -~]+$", message) for message in messages)


def agrees_with_sklearn(path, X, y, options):
    """Whether scikit-learn accepts the file; what it reads is then the same."""
    if options["zero_based"] == "auto" or options["dtype"] == np.float32:  # it rounds to float32 by way of float64
        return False
    try:
        A, b = load_svmlight_file(
            str(path), zero_based=options["zero_based"], n_features=X.shape[1] or None, multilabel=options["multilabel"]
        )
    except (ValueError, OverflowError):
        return False
    assert A.data.tobytes() == X.data.tobytes()
    np.testing.assert_array_equal(A.indices, X.indices)
    np.testing.assert_array_equal(A.indptr, X.indptr)
    assert list(b) == list(y)
    return True


def test_random_bytes(monkeypatch):
    rng = random.Random(4)
    for trial in range(600):
        alphabet = rng.choice([bytes(range(256)), b"0123456789:.# \n", b"1: \n", b":\n", b"\0\n1", b"e+-.19 :\n\r\t,"])
        text = bytes(rng.choices(alphabet, k=rng.randint(0, 400)))
        options = {"zero_based": rng.choice([False, True, "auto"]), "multilabel": rng.random() < 0.5}
        one = outcome(text, n_jobs=1, **options)
        monkeypatch.setattr("pegasos.io.svmlight._BLOCK_BYTES", rng.choice([1, 3, 50, 1 << 18]))
        if trial % 4 == 0:
            assert outcome(text, n_jobs=3, **options) == one
        rows = []
        try:
            rows.extend(X.shape[0] for X, _ in iter_svmlight(io.BytesIO(text), chunk_bytes=rng.randint(1, 90)))
        except ValueError as error:
            rows.append(str(error))
        if options == {"zero_based": False, "multilabel": False}:
            assert (rows[-1] if isinstance(rows[-1], str) else None) == (one if isinstance(one, str) else None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_of_all_lengths(dtype):
    """Digits before and after the point, in all combinations that the quick way and the slow one share."""
    rng = random.Random(5)

    def digits(count):
        return "".join(rng.choices("0123456789", k=count))

    texts = [
        f"{rng.choice(['', '-', '+'])}{digits(whole)}.{digits(decimals)}"
        for whole in range(24)
        for decimals in range(24)
        for _ in range(12)
        if whole + decimals
    ]
    texts += [f"{digits(count)}" for count in range(1, 38) for _ in range(20)]
    # Halfway between two floats, and next to it, where rounding twice would differ from rounding once.
    for _ in range(3000):
        bits = np.uint32(rng.randrange(0x35000000, 0x4B000000))
        low, high = bits.view(np.float32), (bits + np.uint32(1)).view(np.float32)
        middle = (float(low) + float(high)) / 2
        texts += [f"{middle:.{places}f}" for places in (8, 12, 15)] + [repr(middle)]
    X, _ = read_svmlight(io.BytesIO("".join(f"1 1:{text} 2:{text}\n" for text in texts).encode()), dtype=dtype)
    # NumPy reads text as float32 by way of float64; Python's fractions know better.
    expected = np.repeat([nearest(text, dtype) for text in texts], 2)
    np.testing.assert_array_equal(X.data, expected)


def nearest(text, dtype):
    """The number of this type nearest to the text, ties to even."""
    from fractions import Fraction

    guess = dtype(float(text))
    if dtype is np.float64:
        return guess
    exact = Fraction(text)
    near = [guess, np.nextafter(guess, dtype(np.inf)), np.nextafter(guess, dtype(-np.inf))]
    return min(near, key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(np.uint32)) & 1))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_damaged_anywhere(compress):
    rng = random.Random(6)
    text = b"".join(rng.choices(SEEDS[:1], k=200))
    content = compress(text)
    whole = outcome(text)
    for _ in range(150):
        damaged = bytearray(content)
        if rng.random() < 0.5:
            del damaged[rng.randrange(len(damaged)) :]
        else:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        result = outcome(bytes(damaged))
        assert isinstance(result, str) or result == whole


def test_long_lines_and_long_tokens():
    size = 3_000_000
    for text, message in [
        (b"1" * size, "label '1{24}...' is too large for float64"),
        (b"1 " + b"1" * size + b":1", "index '1{24}...' is too large"),
        (b"1 1:" + b"0" * size + b"x", "value '0{24}...' is not a number"),
        (b" " * size + b"\0", f"line 1, column {size + 1}: byte 0x00 is not text"),
        (b"#" * size, "no rows"),
        (b"\n" * size + b":", f"line {size + 1}, column 1: label ':' is not a number"),
    ]:
        for n_jobs in (1, 3):
            with pytest.raises(ValueError, match=message):
                read_svmlight(io.BytesIO(text), n_jobs=n_jobs)
    X, _ = read_svmlight(io.BytesIO(b"1 1:0." + b"0" * size + b"1 2:1"), n_jobs=2)
    np.testing.assert_array_equal(X.data, [0, 1])


def test_bombs_are_bounded_by_chunks(tmp_path):
    """A megabyte that becomes a gigabyte: chunks come one at a time."""
    with gzip.open(tmp_path / "bomb", "wb", 6) as file:
        for _ in range(20):
            file.write(b"1 1:1\n" * 1_000_000)
    chunks = iter_svmlight(tmp_path / "bomb", chunk_bytes=1 << 20)
    first = next(chunks)[0]
    assert first.shape[0] < 2_000_000
    chunks.close()
