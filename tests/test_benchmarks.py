"""The benchmarks run, at a size at which their times mean nothing."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SHARED = {"timing.py", "problems.py", "kernel_problems.py", "peers.py"}  # what scripts import
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in SHARED)


def test_there_are_benchmarks():
    expected = {
        "epoch.py",
        "steps.py",
        "import_time.py",
        "linear.py",
        "kernel.py",
        "reproduce_s3.py",
        "reproduce_s4.py",
        "dask_fit.py",
        "exact.py",
        "memory.py",
        "multiclass.py",
        "path.py",
        "reader.py",
        "scaling.py",
        "sequence.py",
        "stream.py",
    }
    assert expected <= set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
def test_runs_tiny(script):
    done = subprocess.run([sys.executable, FOLDER / script, "--tiny"], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "ratio" in done.stdout
    assert done.stderr == ""


def run(script, *arguments):
    command = [sys.executable, FOLDER / script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernel_peers_agree_on_the_objective(tmp_path):
    """The optimum is ours, so that objectives below it, or far above, would mean that machines are misread."""
    output = run("kernel.py", "--data", "synthetic", "--rows", 600, "--repeats", 1, "--output", tmp_path)
    assert "VIOLATION" not in output
    assert "MISSED" not in output
    lines = [line.split(" | ") for line in (tmp_path / "kernel.md").read_text().splitlines()[2:]]
    by_name = {line[1]: line for line in lines}
    assert float(by_name["scikit-learn"][6]) <= 1e-3
    assert by_name["pegasos"][5] == "1"  # its ratio to itself


def test_kernel_peers_are_stopped(tmp_path):
    output = run(
        "kernel.py", "--data", "synthetic", "--rows", 300, "--repeats", 1, "--stop-after", 1e-3, "--output", tmp_path
    )
    assert "tried scikit-learn at 1: stopped" in output
    assert "stopped after 0.001" in (tmp_path / "kernel.md").read_text()


def test_s4_counts_kernel_evaluations(tmp_path):
    run("reproduce_s4.py", "--tiny", "--parts", "figure", "--output", tmp_path)
    with (tmp_path / "reproduce_s4.csv").open(newline="") as file:
        points = list(csv.DictReader(file))
    n = 300
    assert {point["solver"] for point in points} >= {"SBP", "Pegasos", "SDCA", "SMO, ours", "Perceptron"}
    for point in points:
        changes, rest = divmod(int(point["evaluations"]), n)
        assert rest == 0
        assert changes <= round(float(point["epochs"]) * n)  # a step or a visit changes at most one coefficient
