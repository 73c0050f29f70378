"""What holds for all tests."""

import itertools
import signal

import pytest

from pegasos.base import clock
from pegasos.cli.run import run

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be every process started from here.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
