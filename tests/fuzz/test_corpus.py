"""Hostile files through the public API: each is read, or refused with an error that names it."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from tests.fuzz.formats import FORMATS, outcome
from tests.fuzz.mutations import mutated

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("name", FORMATS)
def test_corpus(name, tmp_path):
    """What fuzzers found interesting, and what once broke a reader."""
    read = 0
    for file in sorted((CORPUS / name).iterdir()):
        try:
            read += outcome(name, file.read_bytes(), tmp_path) == ""
        except BaseException as error:
            error.add_note(f"with {file}")
            raise
    assert read > 0


@pytest.mark.parametrize("name", FORMATS)
def test_changed_files(name, tmp_path):
    """Files of the corpus that are read, changed by lot. Many are refused, some are still read; no checkpoint is."""
    rng, seeds = Random(1), [file.read_bytes() for file in sorted((CORPUS / name).iterdir())]
    seeds = [data for data in seeds if outcome(name, data, tmp_path) == ""]
    refused = Counter()
    for trial in range(150):
        data = rng.choice(seeds)
        for _ in range(rng.randint(1, 2)):
            data = mutated(name, data, rng)
        try:
            refused[outcome(name, data, tmp_path) != ""] += 1
        except BaseException as error:
            (tmp_path / "broken").write_bytes(data)
            error.add_note(f"trial {trial}, kept in {tmp_path / 'broken'}")
            raise
    assert refused[True] > 5
    assert refused[False] > 5 or name == "checkpoint"
