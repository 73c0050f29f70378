"""The injection of faults: a short run of all kinds, and what its runner makes of faults that do harm."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="limits and forks are not of this system")

from faults.changes import changed
from faults.fault import CHANGED, REFUSED, UNHARMED, Harm, Kind
from faults.run import run_kind

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_no_fault_does_harm():
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--faults", "5000", "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def inject_by(what):
    """Faults of which some do harm."""

    def prepare(folder):
        def inject(random):
            (folder / "mark").touch()
            if random.random() < 0.5:
                return REFUSED
            return what() or UNHARMED

        return inject

    return Kind("planted", "by hand", 5, prepare, 2.0)


def fail():
    raise Harm(CHANGED, "another model")


@pytest.mark.parametrize(
    ("what", "outcome", "text"),
    [
        (os.abort, "crash", "Aborted"),
        (lambda: os._exit(3), "crash", "exit code 3"),
        (lambda: 1 / 0, "crash", "ZeroDivisionError"),
        (lambda: time.sleep(1000), "hang", "not over after 2 s"),
        (fail, "silent change", "another model"),
        (lambda: None, "unharmed", ""),
    ],
    ids=["crash", "exit", "exception", "hang", "harm", "none"],
)
def test_harm_is_counted_and_does_not_end_the_run(what, outcome, text):
    result = run_kind(inject_by(what), 3, range(4))
    assert result.total == 4
    assert result.counts["refused"] + result.counts[outcome] == 4
    assert result.counts[outcome] > 0
    assert all((told, text in what) == (outcome, True) for _, told, what in result.harms)
    assert len(result.harms) == (result.counts[outcome] if text else 0)
    again = run_kind(inject_by(what), 3, [harm[0] for harm in result.harms])
    assert again.harms == result.harms or outcome == "crash"


def test_changes_change_something():
    for number in range(300):
        data = bytes(range(40)) if number % 2 else b"7"
        new, told = changed(data, random.Random(number), (b"word",))
        assert new != data
        assert told
        assert (new, told) == changed(data, random.Random(number), (b"word",))
