"""Files of every release are read: models predict what they predicted, data sets have the examples they had."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pegasos import LinearSVC, LinearSVR
from pegasos.io import load_model, open_dataset, save_model

FOLDER = Path(__file__).parents[1] / "golden"
RELEASES = {path.parent.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*/expected.json"))}
CASES = [(version, name) for version, entries in RELEASES.items() for name in entries if "answers" in entries[name]]


def inputs(version, name):
    """What the model of this name predicts for."""
    return unpacked(RELEASES[version][RELEASES[version][name]["X"]])


def unpacked(given):
    (kind, data), *_ = given.items()
    if kind == "frame":
        return pd.DataFrame(data)
    if kind == "list":
        return [unpacked(one) if isinstance(one, dict) else one for one in data]
    return sp.csr_array(np.array(data)) if kind == "sparse" else np.array(data)


def assert_same(found, expected):
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray) and expected.dtype.kind == "f":  # other processors round in other ways
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    else:
        np.testing.assert_array_equal(found, expected)


def test_there_are_some():
    assert "0.1.0" in RELEASES
    assert len(RELEASES["0.1.0"]) > 30


@pytest.mark.parametrize(("version", "name"), CASES)
def test_models(version, name, tmp_path):
    entry, path = RELEASES[version][name], FOLDER / version / f"{name}.model"
    model, X = load_model(path), inputs(version, name)
    for method, answer in entry["answers"].items():
        assert_same(getattr(model, method)(X), unpacked(answer))
    save_model(model, tmp_path / "again")
    again = load_model(tmp_path / "again")
    assert_same(again.predict(X), unpacked(entry["answers"]["predict"]))


@pytest.mark.parametrize("version", RELEASES)
def test_data_sets(version):
    sparse, dense = open_dataset(FOLDER / version / "sparse.ds"), open_dataset(FOLDER / version / "dense.ds")
    for dataset in (sparse, dense):
        dataset.verify()
        assert dataset.shape == (24, 4)
    np.testing.assert_array_equal(sparse.X.toarray(), inputs(version, "kernel-sparse").toarray())
    np.testing.assert_array_equal(dense.X, inputs(version, "kernel").astype(np.float32))
    assert sparse.y.tolist() == ["ham", "spam", "eggs"] * 8
    assert sparse.sample_weight.tolist() == [*range(1, 25)]
    LinearSVC(random_state=0).fit(sparse)
    LinearSVR(random_state=0).fit(dense)
