"""What holds for all tests."""

import importlib.util
import itertools
import os
import signal

import pytest

from pegasos.base import clock
from pegasos.cli.run import run

#: A program, with nothing that pytest would run; and this file, as the folder of the docs has one of the same name.
collect_ignore = ["faults", "conftest.py"]

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be every process started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows


def pytest_collection_modifyitems(items):
    """Examples that draw are left out where there is nothing to draw with."""
    if importlib.util.find_spec("matplotlib") is None:
        for item in items:
            if isinstance(item, pytest.DoctestItem) and item.name.startswith(("pegasos.plot", "plots.md")):
                item.add_marker(pytest.mark.skip(reason="matplotlib is not installed"))


@pytest.fixture
def ticks(monkeypatch):
    """Time that goes on by 10 ms whenever someone looks at the clock, and not otherwise."""
    looks = itertools.count(1)
    monkeypatch.setattr(clock, "read", lambda: next(looks) / 100)


@pytest.fixture
def pegasos(capsys):
    """Run a command line; the exit code, standard output and standard error."""

    def call(line):
        code = run(line.split())
        out, err = capsys.readouterr()
        return code, out, err

    return call
