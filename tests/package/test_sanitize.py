"""The core under sanitizers; all of it is `make sanitize`."""

import shutil
import sys

import pytest
from tests.package.sanitize import ROOT, run

#: Hostile files, and of each kind of problem what reaches most of the core in little time.
REDUCED = [
    "tests/base/test_broken_matrices.py",
    "tests/base/test_rows.py",
    "tests/base/test_scaled_vector.py",
    "tests/fuzz/test_corpus.py",
    "tests/io/test_conll.py",
    "tests/io/test_text.py",
    "tests/kernel/test_byte_rows.py",
    "tests/linear/test_partial_fit.py",
    "tests/linear/test_scores.py",
    "tests/sequence/test_sequence_model.py",
]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not shutil.which("g++"), reason="needs gcc's sanitizers")
@pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="needs the sources")
def test_reduced_set():
    assert run("address", REDUCED) == 0
