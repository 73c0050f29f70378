"""The scripts that make the papers' tables and figures again: what they store, how they judge, and that they run."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def reproduce(monkeypatch):
    """The package, which is in the root of the project."""
    monkeypatch.syspath_prepend(ROOT)
    return pytest.importorskip("reproduce.experiments")


@pytest.fixture
def experiment(reproduce):
    """The module that has experiments and verdicts."""
    import reproduce.common.experiment

    return reproduce.common.experiment


def run(*arguments):
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done


def test_each_table_and_figure_has_a_module_of_its_name(reproduce):
    names = [each.name for each in reproduce.EXPERIMENTS]
    modules = {path.stem for path in (ROOT / "reproduce").glob("s?_*.py")}
    assert set(names) == modules
    assert len(names) == len(set(names))


def make(experiment, jobs):
    """An experiment of these jobs, with one claim about the first."""

    def report(found):
        def judge(value):
            return str(value), experiment.REPRODUCED, ""

        return experiment.Report([experiment.judged(found, ["first"], "a claim", "1", judge)])

    return experiment.Experiment("made_up", "Made up", lambda mode: jobs, report)


def test_a_second_run_goes_on_where_the_first_ended(experiment, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiment, "folders", lambda mode: (tmp_path, tmp_path))
    calls = []

    def work(name, fails=False):
        def measure(found):
            calls.append((name, dict(found)))
            if fails:
                raise RuntimeError("the power went out")
            return {"value": 1}

        return experiment.Job(name, measure)

    mode = experiment.Mode("full")
    with pytest.raises(RuntimeError, match="power"):
        experiment.run(make(experiment, [work("first"), work("second", fails=True)]), mode)
    experiment.run(make(experiment, [work("first"), work("second")]), mode)
    assert [name for name, _ in calls] == ["first", "second", "second"]
    assert calls[-1][1] == {"first": {"value": 1}}  # later jobs are given what is stored
    stored = json.loads((tmp_path / "made_up.json").read_text())
    assert set(stored) == {"first", "second"}
    assert {"date", "processor", "load", "seconds", "versions"} <= set(stored["first"]["made"])
    assert platform.node() not in (tmp_path / "made_up.json").read_text() or not platform.node()
    assert "**reproduced**" in capsys.readouterr().out


def test_what_is_not_stored_was_not_run(experiment):
    claim = make(experiment, []).report({}).claims[0]
    assert (claim.verdict, claim.measured) == (experiment.NOT_RUN, "")
    assert "first" in claim.note


def test_absent_data_and_solvers_are_told_and_not_stored(experiment, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(experiment, "folders", lambda mode: (tmp_path, tmp_path))
    jobs = [
        experiment.Job("first", lambda found: experiment.solver("no-such-solver")),
        experiment.Job("second", lambda found: found["first"]),
    ]
    report = experiment.run(make(experiment, jobs), experiment.Mode("full"))
    output = capsys.readouterr().out
    assert "first: not run, this version has no solver 'no-such-solver'" in output
    assert "second: not run, it needs first" in output
    assert report.claims[0].verdict == experiment.NOT_RUN
    assert not list(tmp_path.iterdir())


def test_reduced_runs_are_stored_apart(reproduce):
    from reproduce.common.store import IMAGES, RESULTS, folders

    assert folders("full") == (RESULTS, IMAGES)
    for mode in ("quick", "smoke"):
        assert not {RESULTS, IMAGES} & set(folders(mode))


def test_every_claim_without_results_reads_not_run(reproduce, experiment):
    for each in reproduce.EXPERIMENTS:
        claims = each.report({}).claims
        assert claims
        assert {claim.verdict for claim in claims} == {experiment.NOT_RUN}


def test_stored_results_are_of_full_runs_and_name_no_machine(reproduce):
    from reproduce.common.store import RESULTS

    for file in RESULTS.glob("*.json"):
        for key, entry in json.loads(file.read_text()).items():
            assert set(entry) == {"made", "value"}, key
            assert set(entry["made"]) == {"date", "processor", "processors", "load", "seconds", "versions"}, key


@pytest.mark.parametrize(
    ("passes", "verdict"),
    [(10, "REPRODUCED"), (16, "REPRODUCED"), (17, "FAILED"), (7, "REPRODUCED"), (5, "FAILED"), (1, "FAILED")],
)
def test_passes_are_judged_by_their_ratio_both_ways(reproduce, experiment, passes, verdict):
    from reproduce.common.passes import passes_claim

    found = {"key": {"passes": passes, "eps": 0.1, "each": [passes], "seeds": 1, "tried": 45}}
    for name in ("adult", "covtype"):
        assert passes_claim(found, name, "sgd-s", 10, 0.07, "key").verdict == getattr(experiment, verdict)
    lost = {"key": {"passes": None, "each": [], "seeds": 1, "tried": 9}}
    assert passes_claim(lost, "adult", "sgd-s", 10, 0.07, "key").verdict == experiment.FAILED


def test_two_passes_more_or_less_are_no_difference(reproduce, experiment):
    from reproduce.common.passes import passes_claim

    for passes in (2, 6):
        found = {"key": {"passes": passes, "each": [passes], "seeds": 1, "tried": 45}}
        assert passes_claim(found, "web", "sgd-r", 4, None, "key").verdict == experiment.REPRODUCED


@pytest.mark.parametrize(
    ("published", "times", "verdict"),
    [
        ((1, 2), ([0.1, 0.1, 0.1], [0.3, 0.3, 0.3]), "REPRODUCED"),
        ((1, 2), ([0.3, 0.3, 0.3], [0.1, 0.1, 0.1]), "FAILED"),
        ((1, 1), ([0.1, 0.1, 0.1], [0.11, 0.12, 0.11]), "REPRODUCED"),  # a tie in both
        ((1, 1), ([0.1, 0.1, 0.1], [0.3, 0.3, 0.3]), "FAILED"),  # equal times say nothing of an order
        ((1, 1), ([0.1, 0.1, 0.1], [0.15, 0.15, 0.15]), "WITH_A_DIFFERENCE"),
        ((1, 2), ([0.1, 0.2, 0.5], [0.15, 0.3, 0.4]), "WITH_A_DIFFERENCE"),  # rounds overlap
        ((1, 3), ([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]), "FAILED"),
    ],
)
def test_orders_of_times_know_ties(reproduce, experiment, published, times, verdict):
    from reproduce.common.passes import order_claim

    settings = {f"adult/{method}": {"setting": 0.1} for method in ("DCD", "MPU")}
    found = {**settings, "adult/times": dict(zip(("DCD", "MPU"), times, strict=True))}
    known = dict(zip(("DCD", "MPU"), published, strict=True))
    assert order_claim(found, "adult", known, "DCD", "MPU").verdict == getattr(experiment, verdict)
    untimed = {**found, "adult/times": {"DCD": times[0]}}
    assert order_claim(untimed, "adult", known, "DCD", "MPU").verdict == experiment.NOT_RUN
    lost = {**untimed, "adult/MPU": {"setting": None}}
    assert order_claim(lost, "adult", known, "DCD", "MPU").verdict == experiment.FAILED


def test_a_stated_order_is_asked_for_where_times_are_level(reproduce, experiment):
    from reproduce.common.passes import order_claim

    settings = {f"adult/{method}": {"passes": 1} for method in ("Pegasos", "SVM-perf")}
    found = {**settings, "adult/times": {"Pegasos": [0.1], "SVM-perf": [0.3]}}
    known = {"Pegasos": 0.09, "SVM-perf": 0.11}
    claim = order_claim(found, "adult", known, "Pegasos", "SVM-perf", stated=True)
    assert claim.verdict == experiment.REPRODUCED


def test_methods_take_turns_when_they_are_timed(reproduce):
    from reproduce.common.passes import seconds_of

    calls = []
    times = seconds_of({name: lambda name=name: calls.append(name) for name in "ab"})
    assert calls == list("ababab")
    assert {name: len(one) for name, one in times.items()} == {"a": 3, "b": 3}


def test_a_seed_that_does_not_get_there_counts_as_more(reproduce, monkeypatch):
    from reproduce.common import passes

    monkeypatch.setattr(passes, "passed", lambda of, C, method, k, seed: (k, seed))
    monkeypatch.setattr(passes, "excess", lambda of, C, w, best: 0.0 if w[0] >= (3, 5, 10**6)[w[1]] else 1.0)
    found = passes.passes_to(None, 1.0, "sgd-r", {}, 20, 3)
    assert (found["passes"], found["each"], found["seeds"]) == (5, [3, 5], 3)
    assert passes.spread(found) == " (3 to more)"


def test_an_error_is_that_of_the_nearest_step(reproduce):
    """n/16 of 1,257 examples is 78.6 steps, which are rounded to 79."""
    from reproduce.s4_fig2 import error_at

    n = 1_257
    points = [{"seed": 0, "evaluations": steps * n, "error": steps} for steps in (39, 79, 80)]
    assert error_at(points, n * n / 16, n) == 79


def test_a_rise_is_above_the_lowest_before(reproduce):
    from reproduce.s0_fig4 import rise

    assert rise([4.0, 2.0, 3.0, 1.0]) == 1.5
    assert rise([4.0, 2.0, 1.0]) < 1


def test_kernel_evaluations_are_counted_by_changes(reproduce, experiment):
    """n for each change of a coefficient; a step or a visit changes at most one."""
    from reproduce import s4_fig2

    mode = experiment.Mode("smoke")
    n = s4_fig2.machine("adult", mode).n
    for method in ("SBP", "Pegasos", "SDCA", "Perceptron", "SMO of one variable"):
        points = list(s4_fig2.points_of("adult", method, 0, 1e-3, mode))
        assert points
        for point in points:
            changes, rest = divmod(point["evaluations"], n)
            assert rest == 0
            assert changes <= round(point["epochs"] * n)


def test_objectives_of_kernel_machines_are_those_of_the_definition(reproduce, experiment):
    """And not bounds of them, which allow for the rounding of a kernel matrix in single precision."""
    from objective import Problem, expansion_value
    from reproduce.s0_table2 import machine

    of = machine("adult", experiment.Mode("smoke"))
    best = of.optimum()
    assert 0 <= best["primal"] - best["dual"] <= 1e-4 * best["dual"]
    for found in (of.solve(experiment.solver("smo"), tol=1e-3), of.coordinate_ascent(2 * of.n, 0)):
        used = np.flatnonzero(found.point.beta)
        problem = Problem(of.case, "hinge", of.case.C, gamma=of.case.gamma)
        exact, _, _ = expansion_value(problem, used, found.point.beta[None, used])
        assert of.value(found) == pytest.approx(exact, rel=1e-5)
        assert of.lam * of.value(found) >= best["dual"] * (1 - 1e-5)


def test_charts_are_the_same_file_each_time(reproduce, tmp_path):
    pytest.importorskip("matplotlib")
    from reproduce.common.charts import Chart, Curve, Panel, draw

    chart = Chart("made_up", "", [Panel("", "x", "y", [Curve("a", [1, 10], [2, 3]), Curve("b", [1, 10], [3, 2])])])
    for folder in ("one", "two"):
        draw(chart, tmp_path / folder)
    first, second = ((tmp_path / folder / "made_up.svg").read_bytes() for folder in ("one", "two"))
    assert first == second


@pytest.mark.slow
def test_everything_runs_on_made_up_data(reproduce):
    done = run("reproduce", "--smoke")
    for each in reproduce.EXPERIMENTS:
        assert f"## {each.title} (smoke)" in done.stdout
    assert "This is no full run" in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_one_script_runs_by_itself():
    assert "| Adult | SGD-s |" in run("reproduce.s3_table2", "--smoke").stdout


def test_unknown_names_are_refused():
    command = [sys.executable, "-m", "reproduce", "s9_table1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    assert done.returncode != 0
    assert "no table or figure begins with s9_table1" in done.stderr
