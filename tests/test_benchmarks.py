"""The benchmarks run, at a size at which their times mean nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SHARED = {"timing.py", "problems.py", "peers.py"}  # what scripts import
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in SHARED)


def test_there_are_benchmarks():
    expected = {
        "epoch.py",
        "steps.py",
        "import_time.py",
        "linear.py",
        "reproduce_s3.py",
        "exact.py",
        "memory.py",
        "multiclass.py",
        "path.py",
        "scaling.py",
    }
    assert expected <= set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_tiny(script):
    done = subprocess.run([sys.executable, FOLDER / script, "--tiny"], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "ratio" in done.stdout
    assert done.stderr == ""
