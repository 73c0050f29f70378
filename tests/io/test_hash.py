"""XXH3, the hash of features and of tables in memory (cpp/text/hash.hpp)."""

import pickle
import string
import subprocess
import sys

import numpy as np
import pytest

from pegasos._core import native
from pegasos.io import hash_text

PRIME32, PRIME64, MASK = 2654435761, 11400714785074694797, 2**64 - 1

#: Length, seed and hash of the first bytes of the buffer: published with xxHash 0.8 (cli/xsum_sanity_check.c).
VECTORS = [
    (0, 0, 0x2D06800538D394C2),
    (0, PRIME64, 0xA8A6B918B2F0364A),
    (1, 0, 0xC44BDFF4074EECDB),
    (1, PRIME64, 0x032BE332DD766EF8),
    (6, 0, 0x27B56A84CD2D7325),
    (6, PRIME64, 0x84589C116AB59AB9),
    (12, 0, 0xA713DAF0DFBB77E7),
    (12, PRIME64, 0xE7303E1B2336DE0E),
    (24, 0, 0xA3FE70BF9D3510EB),
    (24, PRIME64, 0x850E80FC35BDD690),
    (48, 0, 0x397DA259ECBA1F11),
    (48, PRIME64, 0xADC2CBAA44ACC616),
    (80, 0, 0xBCDEFBBB2C47C90A),
    (80, PRIME64, 0xC6DD0CB699532E73),
    (195, 0, 0xCD94217EE362EC3A),
    (195, PRIME64, 0xBA68003D370CB3D9),
    (403, 0, 0xCDEB804D65C6DEA4),
    (403, PRIME64, 0x6259F6ECFD6443FD),
    (512, 0, 0x617E49599013CB6B),
    (512, PRIME64, 0x3CE457DE14C27708),
    (2048, 0, 0xDD59E2C3A5F038E0),
    (2048, PRIME64, 0x66F81670669ABABC),
    (2240, 0, 0x6E73A90539CF2948),
    (2240, PRIME64, 0x757BA8487D1B5247),
    (2367, 0, 0xCB37AEB9E5D361ED),
    (2367, PRIME64, 0xD2DB3415B942B42A),
]


def make_buffer(size):
    state, bytes_ = PRIME32, []
    for _ in range(size):
        bytes_.append(state >> 56)
        state = state * PRIME64 & MASK
    return bytes(bytes_)


BUFFER = make_buffer(2500)


@pytest.mark.parametrize(("size", "seed", "expected"), VECTORS)
def test_published_vectors(size, seed, expected):
    assert native.xxh3(BUFFER[:size], seed) == expected


@pytest.mark.parametrize(("seed", "total"), [(0, 0xA689517F8E3B94B0), (PRIME64, 0x2D31F689C80A6448)])
def test_every_length(seed, total):
    """The totals are those of the reference, by the package xxhash 4.1."""
    assert sum(native.xxh3(BUFFER[:size], seed) for size in range(2500)) & MASK == total


@pytest.mark.parametrize("size", range(1, 20))
def test_words_hashed_together_as_alone(size):
    """Short words are hashed many at a time; the last ones of a text are read byte by byte."""
    random = np.random.default_rng(size)
    letters = np.array(list(string.ascii_letters))
    words = ["".join(random.choice(letters, size)) for _ in range(150)]
    for count in (1, 2, 63, 64, 65, 150):
        X = hash_text([" ".join(words[:count])], 28)
        assert set(X.indices.tolist()) == {native.xxh3(word.encode()) % 2**28 for word in words[:count]}


SEQUENCES = [[[f"w{k * k % 40}", f"suffix-of-some-length={k % 7}"] for k in range(n)] for n in range(1, 60)]


@pytest.mark.parametrize("min_count", [1, 3])
def test_results_do_not_depend_on_the_seed_of_a_table(min_count):
    """Numbers go by the first appearance; so does the state that is pickled."""
    found = []
    for seed in (0, 1, MASK):
        vocabulary = native.Vocabulary(seed)
        arrays = native.vectorize(SEQUENCES, vocabulary, 0, True, min_count)
        again = native.vectorize(SEQUENCES, vocabulary, 0, False, 1)
        np.testing.assert_array_equal(arrays[2], again[2])
        other = pickle.loads(pickle.dumps(vocabulary))
        np.testing.assert_array_equal(arrays[2], native.vectorize(SEQUENCES, other, 0, False, 1)[2])
        found.append([*map(bytes, arrays), *map(bytes, vocabulary.arrays())])
    assert found[0] == found[1] == found[2]


def test_hashed_features_are_the_same_in_every_process():
    columns = native.vectorize(SEQUENCES, native.Vocabulary(), 10, True, 1)[2]
    words = [word for sequence in SEQUENCES for position in sequence for word in position]
    assert columns.tolist() == [native.xxh3(word.encode()) % 2**10 for word in words]
    code = "from pegasos.io import hash_text; print(hash_text(['to be or not'], 18).indices.tolist())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(hash_text(["to be or not"], 18).indices.tolist())
