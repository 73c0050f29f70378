"""A folder with data for the command."""

import pytest

from pegasos.datasets import make_text
from pegasos.io import write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_text(300, 400, random_state=0)
    write_svmlight(X[:200], y[:200], "train.svm")
    write_svmlight(X[200:], y[200:], "test.svm")
    return tmp_path
