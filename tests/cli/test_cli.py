"""The command line, run in this process where possible."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from pegasos.base.options import Accepted
from pegasos.cli.run import run
from pegasos.cli.waiting import waiting
from pegasos.datasets import make_text
from pegasos.io import load_model, write_svmlight
from pegasos.io.chunks import READING
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.sequence.svc import SequenceSVC
from pegasos.solvers import SEQUENCE_SOLVERS, SOLVERS, Norma, Pegasos


def test_train_predict_inspect(folder, pegasos):
    code, out, err = pegasos("train --alpha 0.01 --tol 0.01 --random-state 0 train.svm text.model")
    assert (code, err) == (0, "")
    assert "200 examples x 400 features" in out
    assert "converged: the gap reached tol" in out
    assert "SDCA(order='permute') with n_jobs=1, chosen by auto" in out
    model = load_model("text.model")
    assert model.certificate_.gap <= 0.01
    assert model.classes_.tolist() == [-1, 1]

    code, out, err = pegasos("predict test.svm text.model labels.txt")
    assert (code, err) == (0, "")
    assert out.startswith("error ")
    labels = np.loadtxt("labels.txt")
    assert set(labels) <= {-1, 1}
    assert len(labels) == 100

    code, out, err = pegasos("inspect --top 3 text.model")
    assert (code, err) == (0, "")
    assert "LinearSVC (loss=hinge, alpha=0.01, intercept=penalized), classes -1 and 1" in out
    assert "largest weights" in out


def test_more_classes(folder, pegasos):
    X, y = make_text(300, 400, random_state=0)
    write_svmlight(X, y + (np.arange(300) % 3 == 0), "three.svm")  # labels -1, 0, 1 and 2
    code, out, err = pegasos("train --alpha 0.01 --tol 0.01 --random-state 0 --n-jobs 2 three.svm m")
    assert (code, err) == (0, "")
    assert "parts    4, all converged; the gap is that of the worst" in out
    assert load_model("m").certificate_.gap <= 0.01
    _, out, err = pegasos("predict three.svm m -")
    assert {int(line) for line in out.splitlines()} <= {-1, 0, 1, 2}
    assert err.startswith("error ")
    _, out, _ = pegasos("predict --decision three.svm m -")
    assert np.array([line.split() for line in out.splitlines()], dtype=float).shape == (300, 4)
    code, out, _ = pegasos("inspect --top 2 m")
    assert code == 0
    assert "multi_class=ovr), classes -1, 0, 1 and 2" in out
    assert sum("dual" in line and "gap" in line for line in out.splitlines()) == 4
    assert " of " in out.splitlines()[-1]
    facts = json.loads(pegasos("inspect --json m")[1])
    assert [len(facts["certificate"]["parts"]), len(facts["intercept"])] == [4, 4]


def test_probabilities(folder, pegasos):
    assert pegasos("train --loss log_loss --tol 0.1 --quiet train.svm m")[0] == 0
    _, out, _ = pegasos("predict --proba test.svm m -")
    table = np.array([line.split() for line in out.splitlines()], dtype=float)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert table.shape == (100, 2)


def test_regression(folder, pegasos):
    X, _ = make_text(300, 400, random_state=0)
    write_svmlight(X, X @ np.linspace(-1, 1, 400), "values.svm")
    code, out, err = pegasos("train --task regression --epsilon 0.01 --C 10 --tol 0.1 values.svm m")
    assert (code, err) == (0, "")
    assert "gap" in out
    code, out, _ = pegasos("predict values.svm m out")
    assert code == 0
    assert out.startswith("mean squared error ")
    assert len(np.loadtxt("out")) == 300
    assert json.loads(pegasos("predict --json values.svm m")[1])["r2"] > 0
    assert "epsilon=0.01" in pegasos("inspect m")[1]
    assert "cannot continue" in pegasos("train --warm-start --task classification values.svm m")[2]
    for task, loss, text in [
        ("regression", "--loss huber --epsilon 0.05", "loss=huber, C=10.0, intercept=penalized, epsilon=0.05)"),
        ("regression", "--loss quantile --quantile 0.9", "loss=quantile, C=10.0, intercept=penalized, quantile=0.9)"),
        ("svr", "--loss quantile --quantile 0.9", "quantile=0.9)"),
    ]:
        assert pegasos(f"train --task {task} {loss} --C 10 --tol 0.1 --quiet values.svm m")[::2] == (0, "")
        assert text in pegasos("inspect m")[1]
    line = "train --task regression --loss huber --epsilon 0 values.svm"
    assert "loss='huber' needs epsilon above 0" in pegasos(line)[2]
    assert "--quantile is for --task regression or svr" in pegasos("train --quantile 0.9 train.svm")[2]


def test_kernel(folder, pegasos):
    line = "train --task svc --kernel rbf --gamma 2 --C 5 --solver smo --block 64 --max-iter 50 train.svm m"
    code, out, err = pegasos(line)
    assert (code, err) == (0, "")
    assert "SMO(block=64)" in out
    model = load_model("m")
    assert isinstance(model, SVC)
    assert (model.gamma, model.C, model.certificate_.converged) == (2.0, 5.0, True)
    assert pegasos("predict test.svm m labels.txt")[1].startswith("error ")
    assert set(np.loadtxt("labels.txt")) <= {-1, 1}
    out = pegasos("inspect m")[1]
    assert "SVC (loss=hinge, C=5.0, intercept=free, kernel=rbf, gamma=2.0), classes -1 and 1" in out
    assert "support vectors of 200 examples" in out
    assert json.loads(pegasos("inspect --json m")[1])["support_vectors"] == len(model.support_)
    assert "--gamma='big': must be 'scale', 'auto' or a finite" in pegasos("train --task svc --gamma big train.svm")[2]
    assert "--kernel is for --task svc" in pegasos("train --kernel rbf train.svm")[2]
    assert (
        "sdca does not support fit_intercept=True with a kernel"
        in pegasos("train --task svc --solver sdca train.svm")[2]
    )


def test_kernel_regression(folder, pegasos):
    assert pegasos("train --task svr --gamma scale --epsilon 0.1 --max-iter 50 train.svm m")[0] == 0
    assert isinstance(load_model("m"), SVR)
    assert "epsilon=0.1" in pegasos("inspect m")[1]
    assert pegasos("predict test.svm m")[1].startswith("mean squared error ")


def test_costs(folder, pegasos):
    (folder / "costs").write_text("0 1\n5 0\n")
    assert pegasos("train --multi-class joint --cost costs --tol 0.1 --quiet train.svm m") == (0, "", "")
    assert load_model("m").cost == [[0, 1], [5, 0]]


def test_default_model_name(folder, pegasos):
    assert pegasos("train --tol 0.1 train.svm")[0] == 0
    assert (folder / "train.svm.model").exists()


def test_quiet(folder, pegasos):
    assert pegasos("train --quiet --tol 0.1 train.svm m") == (0, "", "")
    assert pegasos("predict --quiet test.svm m out") == (0, "", "")


def test_json(folder, pegasos):
    code, out, _ = pegasos("train --json --tol 0.1 train.svm m")
    result = json.loads(out)
    assert code == 0
    assert result["examples"] == 200
    assert result["converged"] is True
    assert result["dual"] <= result["primal"]
    result = json.loads(pegasos("predict --json test.svm m")[1])
    assert result["error"] == result["wrong"] / 100
    assert json.loads(pegasos("inspect --json m")[1])["features"] == 400


def test_predictions_to_standard_output(folder, pegasos):
    pegasos("train --quiet --tol 0.1 train.svm m")
    code, out, err = pegasos("predict test.svm m -")
    assert code == 0
    assert len(out.split()) == 100
    assert "error" in err
    _, out, _ = pegasos("predict --decision test.svm m -")
    decisions = np.array(out.split(), dtype=float)
    assert ((decisions > 0) == (np.array(pegasos("predict test.svm m -")[1].split(), dtype=int) > 0)).all()


def test_unlabelled_data(folder, pegasos):
    pegasos("train --quiet --tol 0.1 train.svm m")
    (folder / "new.svm").write_text("0 1:1\n0 3:1\n")
    code, out, _ = pegasos("predict new.svm m out")
    assert code == 0
    assert "no error is computed" in out
    assert json.loads(pegasos("predict --json new.svm m")[1])["error"] is None


def test_standard_input(folder, pegasos, monkeypatch):
    import io

    class Stdin:
        buffer = io.BytesIO((folder / "train.svm").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert pegasos("train --tol 0.1 --quiet - m")[0] == 0
    code, _, err = pegasos("train -")
    assert code == 2
    assert "name the MODEL" in err


def test_not_converged_warns_and_succeeds(folder, pegasos):
    code, out, err = pegasos("train --max-iter 1 --tol 1e-9 train.svm m")
    assert code == 0
    assert "not converged" in out
    assert "pegasos: warning: LinearSVC did not reach tol=1e-09: the budget of max_iter epochs was used up. " in err
    assert pegasos("train --max-iter 1 --tol 1e-9 --quiet train.svm m") == (0, "", "")


def test_verbose_reports_lines_where_there_is_no_terminal(folder, pegasos):
    _, _, err = pegasos("train --verbose --max-iter 3 --tol 0 train.svm m")
    assert 1 <= len(err.splitlines()) <= 3
    assert all(line.startswith("gap ") for line in err.splitlines())
    assert pegasos("train --max-iter 3 --tol 0 train.svm m")[2] == ""


def test_warm_start_continues(folder, pegasos):
    pegasos(
        "train --quiet --tol 0 --max-iter 2 --alpha 0.01 --solver norma --step-factor 0.5 --random-state 0 train.svm m"
    )
    before = load_model("m")
    assert pegasos("train --quiet --warm-start --max-iter 3 train.svm m")[0] == 0
    after = load_model("m")
    assert after._last[0].t == before._last[0].t + 3 * 200
    assert isinstance(after.solver, Norma)
    assert (after.alpha, after.tol, after.max_iter) == (0.01, 0, 3)


def test_warm_start_tells_what_it_keeps(folder, pegasos):
    flags = "--warm-start --alpha 0.01 --loss squared_hinge --no-fit-intercept --class-weight 1=2"
    pegasos(f"train {flags} --solver sdca --order permute train.svm m")
    out = pegasos("train --warm-start --tol 0.01 train.svm m")[1]
    assert out.splitlines()[0].startswith("m: continued, with what it has set: ")
    for kept in ("--alpha 0.01", "--loss squared_hinge", "--no-fit-intercept", "its --class-weight", "--solver SDCA("):
        assert kept in out.splitlines()[0]
    assert "--tol" not in out.splitlines()[0]
    assert "--warm-start" not in out.splitlines()[0]
    pegasos("train --warm-start train.svm plain")
    assert pegasos("train --warm-start train.svm plain")[1].splitlines()[0] == "plain: continued"


def test_warm_start_begins_and_continues_a_dual_point(folder, pegasos):
    options = "--C 10 --tol 1e-6 --max-iter 100000 --random-state 0"
    code, out, _ = pegasos(f"train --warm-start {options} train.svm m")
    assert code == 0
    assert "m does not exist yet: starting anew" in out
    first = load_model("m")
    assert first.certificate_.n_iter > 1
    code, out, _ = pegasos("train --warm-start train.svm m")
    assert code == 0
    assert "anew" not in out
    assert load_model("m").certificate_.n_iter == 1
    pegasos("train --warm-start --C 12 train.svm m")
    pegasos(f"train {options} --C 12 train.svm cold")
    assert load_model("m").certificate_.n_iter < load_model("cold").certificate_.n_iter


def test_scale(folder, pegasos):
    code, out, _ = pegasos("train --warm-start --scale train.svm m")
    assert code == 0
    assert "scaled   the bounds are those of the problem in the scaled features" in out
    assert load_model("m").scale is True
    assert pegasos("train --quiet --warm-start --no-scale train.svm m")[0] == 0
    assert load_model("m").scale is False


def test_every_option_has_a_flag(pegasos):
    text = pegasos("train --help")[1]
    for owner in (LinearSVC, LinearSVR, SequenceSVC, *SOLVERS.values(), *SEQUENCE_SOLVERS.values()):
        for name in owner().get_params(deep=False):
            accepted = isinstance(owner.options.get(name), Accepted)  # and without effect
            kept = name == "on_interrupt"  # always, by the command
            assert (f"--{name.replace('_', '-')} " in text) != (accepted or kept), name


def test_solver_flags_reach_the_solver(folder, pegasos):
    flags = (
        "--solver pegasos --batch-size 8 --sampling subset --project --average no --random-stops 2 "
        "--stop-evaluation sample --start random --no-count-idle-steps --max-steps 50"
    )
    assert pegasos(f"train --tol 0 {flags} train.svm m")[0] == 0
    expected = Pegasos(
        batch_size=8,
        sampling="subset",
        project=True,
        average=False,
        random_stops=2,
        stop_evaluation="sample",
        start="random",
        count_idle_steps=False,
        max_steps=50,
    )
    assert load_model("m").solver.get_params() == expected.get_params()


def test_class_weight(folder, pegasos):
    assert pegasos("train --quiet --tol 0.1 --class-weight 1=2 --class-weight -1=0.5 train.svm m")[0] == 0
    assert load_model("m").class_weight == {1: 2.0, -1: 0.5}
    assert pegasos("train --quiet --tol 0.1 --class-weight balanced train.svm m")[0] == 0


MISTAKES = {
    "frobnicate": "No such command 'frobnicate'",
    "train": "Missing argument 'DATA'",
    "train none.svm": "none.svm: No such file or directory",
    "train --unknown 1 train.svm": "--unknown",
    "train --C 0 train.svm": "--C=0.0: must be a finite number above 0",
    "train --C x train.svm": "'x' is neither a number nor auto",
    "train --solver gauss train.svm": "solver='gauss': must be 'auto', 'sdca', 'sgd-s', 'sgd-m', 'sgd-r', 'pegasos'",
    "train --solver gauss --eta 1 train.svm": "must be one of auto, sdca, sgd-s, sgd-m, sgd-r, pegasos, norma",
    "train --solver norma --project train.svm": "--project is no option of the solver norma",
    "train --batch-size 8 train.svm": "no option of the solver auto, which has none; choose with --solver",
    "train --solver pegasos --batch-size 1000 train.svm": "batch_size=1000 is more than the 200 examples",
    "train --c 1 train.svm": "no option --c; did you mean --C?",
    "train --max_iter 1 train.svm": "no option --max_iter; did you mean --max-iter?",
    "train --nothing train.svm": "no option --nothing; pegasos train --help lists them",
    "train --solver sdka train.svm": "did you mean 'sdca'?",
    "train --loss squaredhinge train.svm": "--loss squaredhinge: must be one of hinge, squared_hinge, log_loss,",
    "train --task svc --kernel RBF train.svm": "; did you mean rbf?",
    "train --average maybe train.svm": "--average maybe: must be one of no, last, yes, suffix",
    "train --class-weight 1 train.svm": "must be LABEL=WEIGHT",
    "train train.svm no/such/folder/m": "no folder that can be written to",
    "train bad.svm": "bad.svm: line 2, column 3",
    "train --task regression --class-weight 1=2 train.svm": "--class-weight is for --task classification or svc; leave",
    "train --epsilon 0.1 train.svm": "--epsilon is for --task regression or svr; leave it out",
    "train --boundaries train.svm": "--boundaries is for --task sequence; leave it out",
    "train --template chunking train.svm": "--template is for --task sequence; leave it out",
    "train --separator tab train.svm": "--separator is for --task sequence; leave it out",
    "train --scheme iob1 train.svm": "--scheme is for --task sequence; leave it out",
    "predict --separator tab test.svm m": "--separator is for --task sequence; leave it out",
    "train --loss epsilon_insensitive train.svm": "must be one of hinge, squared_hinge, log_loss",
    "train --task regression --loss hinge train.svm": "must be one of epsilon_insensitive",
    "train --solver pegasos --average random train.svm": "--average random: must be one of no, last, yes, suffix",
    "train --multi-class joint --solver norma train.svm": "norma does not support multi_class='joint'; use",
    "train --early-stopping train.svm": "auto does not support early_stopping=True",
    "train --cost bad.svm train.svm": "--cost bad.svm: could not convert string to float: '1:1'",
    "predict --proba test.svm m": "a LinearSVC with --loss hinge has no probabilities; leave --proba out",
    "predict --proba --decision test.svm m": "leave one out",
    "train one.svm": "one class only",
    "train empty.svm": "empty.svm: no rows",
    "predict test.svm none.model": "none.model: No such file or directory",
    "predict test.svm train.svm": "train.svm: not a pegasos model",
    "predict wide.svm m": "wide.svm has 900 features, but the model was trained on 400",
    "predict test.svm": "Missing argument 'MODEL'",
    "inspect .": "Is a directory",
    "train --random-state -1 train.svm": "--random-state -1: must be a number from 0 to 4294967295",
    "train --class-weight 1=-2 train.svm": "--class-weight 1=-2: the weight must be finite and not negative",
    "train --n-jobs 0 train.svm": "1 to 1024, or None, or -1 for as many as there are processors\n",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_get_one_line_and_exit_code_2(folder, pegasos, line):
    pegasos("train --quiet --tol 0.1 train.svm m")
    (folder / "bad.svm").write_text("1 1:1\n1 x:1\n")
    (folder / "one.svm").write_text("1 1:1\n1 1:2\n")
    (folder / "empty.svm").write_text("")
    (folder / "wide.svm").write_text("1 900:1\n")
    code, out, err = pegasos(line)
    assert code == 2
    assert err.startswith("pegasos: ")
    assert err.count("\n") == 1
    assert MISTAKES[line] in err
    assert "Traceback" not in out + err


def test_help_and_version(pegasos):
    code, out, _ = pegasos("")
    assert code == 0
    assert "train" in out
    assert pegasos("--version")[1].startswith("pegasos, version ")
    commands = out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in commands] == ["train", "predict", "inspect", "report", "convert", "demo"]
    assert "..." not in "".join(commands)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["train", "", "m"], "DATA"),
        (["train", "missing", ""], "MODEL"),
        (["predict", "", "m"], "DATA"),
        (["predict", "missing", ""], "MODEL"),
        (["predict", "missing", "m", ""], "OUTPUT"),
        (["inspect", ""], "MODEL"),
        (["report", "m", ""], "DATA"),
        (["convert", "", "x"], "SOURCE"),
        (["convert", "missing", ""], "TARGET"),
    ],
)
def test_an_empty_name_is_told_before_anything_is_read(capsys, arguments, name):
    assert run(arguments) == 2
    assert capsys.readouterr().err == f"pegasos: {name} is empty; name a file\n"


def test_flags_of_train_have_headings(pegasos):
    text = pegasos("train --help")[1]
    headings = ["Data", "Problem", "When to stop, and to go on", "Solver", "Output", "As in LIBLINEAR"]
    places = [text.index(f"\n{heading}:\n") for heading in headings]
    assert places == sorted(places)
    parts = dict(zip(headings, (text[a:b] for a, b in zip(places, [*places[1:], None], strict=True)), strict=True))
    flags = {"Data": "--label", "Problem": "--loss", "When to stop, and to go on": "--tol", "Solver": "--batch-size"}
    for heading, flag in (flags | {"Output": "--json", "As in LIBLINEAR": "-s"}).items():
        assert f"\n  {flag} " in parts[heading]
    assert "\n  -q, --quiet " in parts["Output"]


def test_demo(tmp_path, pegasos):
    code, out, _ = pegasos(f"demo --rows 1000 --words 500 --directory {tmp_path / 'demo'}")
    assert code == 0
    assert "$ pegasos train" in out
    assert "gap " in out
    assert "$ pegasos predict" in out
    assert "error " in out
    left = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert left == ["report.html", "test.svm", "text.model", "train.svm"]


def command(*arguments, **keywords):
    line = [sys.executable, "-c", "from pegasos.cli import main; main()", *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)


def test_interrupt(folder):
    with command("train", "--verbose", "--tol", "0", "--max-iter", "100000000", "train.svm", "m") as process:
        process.stderr.readline()  # it is under way
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert err.splitlines()[-1].startswith(
        "pegasos: interrupted; the best point of the last check is saved in m; to be able"
    )
    assert (folder / "m").exists()


def test_reader_that_goes_away(folder):
    assert run(["train", "--quiet", "--tol", "0.1", "train.svm", "m"]) == 0
    with command("predict", "test.svm", "m", "-") as process:
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("train --tol 0 --max-iter 20000 train.svm m", ["LinearSVC", "epoch", "gap", "━"]),
        ("convert train.svm train.ds", ["reading train.svm", "━"]),
        ("convert [/b]\x1b[2J.svm train.ds", [r"reading [/b]\x1b[2J.svm", "━"]),
        ("train --tol 0 --max-iter 20000 --label kind kinds.csv m", [r"'[/b]\x9b2J': ", "━"]),
    ],
)
def test_bar_on_a_terminal(folder, arguments, words):
    os.mkdir("[")
    shutil.copy("train.svm", "[/b]\x1b[2J.svm")
    kinds = ["[/b]\x9b2J", "one", "two"]
    rows = "".join(f"{k % 7},{k % 5},{kinds[k % 3]}\n" for k in range(60))
    (folder / "kinds.csv").write_text(f"a,b,kind\n{rows}", encoding="utf-8")
    leader, follower = os.openpty()
    line = [sys.executable, "-c", "from pegasos.cli import main; main()"]
    process = subprocess.Popen([*line, *arguments.split()], stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    assert process.wait(60) == 0
    for word in words:
        assert word.encode() in shown
    assert b"\x1b[2J" not in shown
    assert b"\xc2\x9b" not in shown


def test_warm_start_keeps_the_solver(folder, pegasos):
    pegasos("train --quiet --tol 0 --max-iter 2 --solver norma --step-factor 0.5 train.svm m")
    assert pegasos("train --quiet --warm-start --batch-size 5 train.svm m")[0] == 0
    assert load_model("m").solver.get_params() == Norma(step_factor=0.5, batch_size=5).get_params()


def test_json_has_no_infinity(folder, pegasos):
    (folder / "hard.svm").write_text("1 1:1e3\n-1 1:1e3\n1 1:1\n")
    _, out, _ = pegasos("train --json --tol 0 --C 1e9 --solver perceptron --max-steps 1 hard.svm m")
    assert "Infinity" not in out
    assert "NaN" not in out
    json.loads(out)


def test_json_beside_predictions(folder, pegasos):
    pegasos("train --quiet --tol 0.1 train.svm m")
    _, out, err = pegasos("predict --json test.svm m -")
    assert len(out.split()) == 100
    assert json.loads(err)["examples"] == 100


def test_order_of_classes(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    write_svmlight(make_text(60, 20, random_state=0)[0], np.arange(60) % 3, "three.svm")
    assert pegasos("train -q --tol 0.1 --loss log_loss three.svm m") == (0, "", "")
    assert pegasos("predict -q --proba three.svm m plain") == (0, "", "")
    assert pegasos("predict -q --proba --header three.svm m headed") == (0, "", "")
    lines = (tmp_path / "headed").read_text().splitlines()
    assert lines[0] == "# 0 1 2"
    assert lines[1:] == (tmp_path / "plain").read_text().splitlines()
    np.testing.assert_array_equal(np.loadtxt("headed"), np.loadtxt("plain"))
    assert "--header is for --decision and --proba" in pegasos("predict --header three.svm m out")[2]


def test_weights_of_a_linear_kernel(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    write_svmlight(make_text(60, 20, random_state=0)[0], np.arange(60) % 3, "three.svm")
    for flags, names in (("", ["0 against 1", "0 against 2", "1 against 2"]), ("--multi-class ovr", ["0", "1", "2"])):
        assert pegasos(f"train -q --task svc --kernel linear {flags} three.svm m") == (0, "", "")
        told = json.loads(pegasos("inspect --top 4 --json m")[1])["largest"]
        coef = load_model("m").coef_.toarray()
        assert [weight for _, weight, _ in told] == sorted(coef.ravel(), key=abs, reverse=True)[:4]
        assert all(coef[names.index(name), feature - 1] == weight for feature, weight, name in told)
        assert "largest weights" in pegasos("inspect m")[1]
    assert pegasos("train -q --task svc three.svm m") == (0, "", "")
    assert pegasos("inspect m")[2] == ""
    assert "--top has nothing to show: its kernel is rbf" in pegasos("inspect --top 3 m")[2]


def test_quantiles_are_judged_by_their_own_loss(tmp_path, monkeypatch, pegasos):
    """R^2 is about the mean, and prefers a C that keeps the 95% quantile down near it."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X = random.uniform(0, 3, size=(300, 2))
    y = 20 * X[:, 0] + 10 * (0.5 + X[:, 1]) * random.exponential(size=300)
    write_svmlight(X, y, "values.svm")
    line = "train --task regression --loss quantile --quantile 0.95 --intercept free --random-state 0"
    code, out, err = pegasos(f"{line} --C auto --report page.html values.svm m")
    assert code == 0
    assert err.count("\n") == 1
    assert "is small for targets of this size" in err
    assert "cross-validation in 5 folds: pinball loss " in out
    told = json.loads(pegasos(f"{line} --C auto --json values.svm m")[1])["cross_validation"]
    assert told["score"] == "pinball loss"
    assert told["C"] == told["Cs"][int(np.argmin(told["mean_scores"]))]
    assert "Mean pinball loss" in (tmp_path / "page.html").read_text(encoding="utf-8")

    told, predicted = json.loads(pegasos("predict --json values.svm m")[1]), load_model("m").predict(X)
    assert told["share_below"] == pytest.approx(np.mean(y < predicted))
    assert 0.93 < told["share_below"] < 0.97
    assert told["pinball_loss"] == pytest.approx(mean_pinball_loss(y, predicted, alpha=0.95))
    out = pegasos("predict values.svm m")[1]
    assert out.startswith("pinball loss ")
    assert "% below (quantile 0.95), mean squared error " in out
    assert "folds: pinball loss " in pegasos(f"{line} -v 3 values.svm")[1]


def test_what_is_left_stands_behind_the_time(monkeypatch, tmp_path):
    """It stood behind the time that was gone."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal, path = Terminal(), tmp_path / "train.svm"
    path.write_text("1 1:1\n" * 100)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with waiting("reading", str(path)):
        READING.get()(300)
    assert re.search(r"0:00:0\d (-:--:--|0:00:0\d) left", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()))
