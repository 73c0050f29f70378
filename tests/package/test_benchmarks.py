"""The benchmarks run, at a size at which their times mean nothing."""

import csv
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "benchmarks"
SHARED = {"timing.py", "problems.py", "kernel_problems.py", "peers.py"} | {  # what scripts import
    f"compare_{part}.py" for part in ("builds", "cases", "worker")
}
NOT_TIMED = {"golden.py"}
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in SHARED | NOT_TIMED)


def test_there_are_benchmarks():
    expected = {
        "epoch.py",
        "steps.py",
        "compare.py",
        "import_time.py",
        "linear.py",
        "kernel.py",
        "reproduce_s3.py",
        "reproduce_s4.py",
        "dask_fit.py",
        "defaults.py",
        "exact.py",
        "memory.py",
        "multiclass.py",
        "out_of_core.py",
        "path.py",
        "predict.py",
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


def test_golden_finds_what_differs(tmp_path):
    file = tmp_path / "golden.json"
    assert "0 of them errors" in run("golden.py", "make", file, "--tiny")
    assert ": 0 differ" in run("golden.py", "check", file, "--tiny")
    stored = json.loads(file.read_text())
    chosen = [name for name in stored if name.startswith("svc/")][:3]
    wrong = {name: dict(stored[name]) for name in chosen}
    wrong[chosen[0]]["n_iter"] = [0]
    wrong[chosen[1]]["primal"] = [value * (1 + 1e-11) for value in wrong[chosen[1]]["primal"]]
    wrong[chosen[2]]["weights"] = "other bits"
    file.write_text(json.dumps(wrong))
    command = [sys.executable, FOLDER / "golden.py", "check", file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert done.returncode == 1
    assert "3 fits: 2 differ, 2 have the same weights" in done.stdout
    assert f"{chosen[0]}: n_iter" in done.stdout
    assert f"{chosen[1]}: primal" in done.stdout


def test_compare_writes_what_it_prints(tmp_path):
    file = tmp_path / "found.json"
    chosen = ["--cases", "linear-text", "kernel-n", "C10-answers"]
    output = run("compare.py", "installed", "installed", "--tiny", *chosen, "--json", file)
    found = json.loads(file.read_text())
    names = ["linear-text", "kernel-narrow", "C10-answers"]  # one that has this name is meant alone
    assert [case["case"] for case in found["cases"]] == names
    assert all(name in output for name in names)
    for case in found["cases"]:
        for side in ("old", "new"):
            assert len(case[side]["wall"]) == len(case[side]["cpu"]) == 2
            assert case[side]["certificate"]["converged"]
        assert case["old"]["certificate"]["primal"] == case["new"]["certificate"]["primal"]  # the same data and seed
        assert case["interval"][0] <= case["ratio"] <= case["interval"][1]


def test_compare_refuses_what_it_does_not_know():
    for arguments, told in [(["--cases", "quantum"], "no case"), (["no-such-revision"], "no-such-revision")]:
        command = [sys.executable, FOLDER / "compare.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        assert done.returncode != 0
        assert told in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("n", "order", "certain"), [(15, 4, 0.9648), (20, 6, 0.9586), (6, 1, 0.96875), (3, 1, 0.75)])
def test_compare_interval_is_that_of_the_sign_test(n, order, certain, monkeypatch):
    """As in tables of it: the order-th smallest and largest of n."""
    monkeypatch.syspath_prepend(FOLDER)
    compare = importlib.import_module("compare")
    low, high, confidence = compare.median_interval(range(n, 0, -1))
    assert (low, high) == (order, n + 1 - order)
    assert confidence == pytest.approx(certain, abs=1e-4)
