"""The benchmarks run, at a size at which their times mean nothing."""

import importlib
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "benchmarks"
SHARED = {f"{part}.py" for part in ("timing", "datasets", "objective", "cases", "contest", "summary")} | {
    f"compare_{part}.py" for part in ("builds", "cases", "worker")
}
APART = {"golden.py", "run.py", "plot.py"}  # tested below
SCRIPTS = sorted(path.name for path in FOLDER.glob("*.py") if path.name not in SHARED | APART)
PEERS = sorted(path.stem for path in (FOLDER / "peers").glob("*.py") if path.stem not in ("__init__", "pegasos"))


def test_there_are_benchmarks():
    expected = {
        "epoch.py",
        "steps.py",
        "compare.py",
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


def run(script, *arguments, timeout=180):
    command = [sys.executable, FOLDER / script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def modules(monkeypatch):
    """The benchmarks' own modules, by name."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


def test_all_rivals_are_known(modules):
    assert sorted(modules("peers").NAMES) == PEERS


@pytest.mark.parametrize("name", PEERS)
def test_rival_is_read_correctly(name, modules, tmp_path):
    """The optimum is ours, so that objectives below it, or far above everywhere, would mean that models are misread."""
    peer = modules("peers").get(name)
    if peer.version is None:
        pytest.skip(f"{peer.package} is not installed")
    output = run("run.py", "--tiny", "--against", name, "--stop-after", 100, "--output", tmp_path, timeout=600)
    assert "VIOLATION" not in output
    found = json.loads((tmp_path / "run.json").read_text())
    assert found["versions"][peer.package] == peer.version
    assert "host" not in found
    lines = [line for problem in found["problems"] for line in problem["contenders"][1:]]
    assert lines
    assert not [line for line in lines if line["status"] not in ("reached", "did not reach", "stopped")]
    if name not in ("vowpal_wabbit", "river"):  # made for streams: they need not come close
        assert any(line["status"] == "reached" for line in lines)
    for line in lines:
        if line["status"] == "reached":
            assert line["above"] <= found["target"]
            assert line["seconds"] in line["times"]


def test_ours_is_certified_and_the_reference(tmp_path):
    run("run.py", "--tiny", "--against", "sklearn", "--output", tmp_path, timeout=600)
    found = json.loads((tmp_path / "run.json").read_text())
    assert {problem["kind"] for problem in found["problems"]} == {"linear", "kernel", "sequence"}
    for problem in found["problems"]:
        ours = problem["contenders"][0]
        assert (ours["peer"], ours["status"]) == ("pegasos", "reached")
        if problem["kind"] != "sequence":
            assert problem["optimum_known_to"] <= 1e-6
            assert ours["above"] <= found["target"]


def test_what_is_not_installed_is_said(modules, monkeypatch, capsys):
    runner, peers = modules("run"), modules("peers")
    monkeypatch.setattr(peers.Peer, "version", None)
    assert runner.chosen_peers(["snapml"]) == ([], ["snapml"])
    assert "snapml: not installed" in capsys.readouterr().out


def test_slow_rivals_are_stopped(modules, tmp_path):
    if modules("peers").get("river").version is None:
        pytest.skip("river is not installed")
    output = run(
        "run.py", "--tiny", "--against", "river", "--losses", "hinge", "--kinds", "linear", "--output", tmp_path
    )
    assert "River" in output
    lines = [
        line
        for problem in json.loads((tmp_path / "run.json").read_text())["problems"]
        for line in problem["contenders"][1:]
    ]
    assert {line["status"] for line in lines} <= {"stopped", "did not reach", "reached"}


def test_charts_are_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib")
    stored = FOLDER.parent / "docs" / "benchmarks" / "run.json"
    for folder in ("first", "second"):
        assert "written" in run("plot.py", stored, tmp_path / folder)
    for name in ("peers.svg", "problems.svg"):
        assert (tmp_path / "first" / name).read_text() == (tmp_path / "second" / name).read_text()


def test_benchopt_solver():
    """As benchopt would: an instance, the objective, a run, the result."""
    try:
        importlib.metadata.distribution("benchopt")  # not by an import: the folder of its solver has that name
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("benchopt is not installed")
    code = """
import importlib.util, sys
from pathlib import Path
from sklearn.datasets import make_classification
spec = importlib.util.spec_from_file_location("benchopt_pegasos", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
X, y = make_classification(200, 5, random_state=0)
solver = module.Solver.get_instance(solver="auto")
solver.set_objective(X=X, y=2 * y - 1, C=0.1)
solver.run(1e-4)
print(len(solver.get_result()["beta"]), solver.model.certificate_.gap <= 1e-4)
"""
    command = [sys.executable, "-c", code, str(FOLDER / "benchopt" / "solvers" / "pegasos.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, cwd=FOLDER.parent)
    assert done.stdout == "5 True\n", done.stderr


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
