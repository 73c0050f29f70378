"""The benchmarks run, at a size at which their times mean nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name != "timing.py")


def test_there_are_benchmarks():
    assert {"epoch.py", "steps.py", "import_time.py"} <= set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_tiny(script):
    done = subprocess.run([sys.executable, FOLDER / script, "--tiny"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "ratio" in done.stdout
    assert done.stderr == ""
