"""Flags of LIBLINEAR's users, validation, help and completion."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from pegasos import LinearSVC, LinearSVR
from pegasos.cli.liblinear import TYPES
from pegasos.cli.run import pegasos as group
from pegasos.datasets import make_text
from pegasos.io import load_model, read_svmlight, write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_text(400, 60, random_state=0)
    write_svmlight(X[:300], y[:300], "train.svm")
    write_svmlight(X[300:], y[300:], "test.svm")
    write_svmlight(X[:300], np.arange(300) % 3, "three.svm")
    write_svmlight(X[:300], X[:300].sum(axis=1).A1, "values.svm")
    return tmp_path


LOSSES = ["log_loss", "squared_hinge", "squared_hinge", "hinge", "hinge", None, None, "log_loss"]


@pytest.mark.parametrize("number", range(8))
def test_types_of_solvers(number, folder, pegasos):
    code, _, err = pegasos(f"train -q -s {number} -c 0.5 -B 2 three.svm out.model")
    if LOSSES[number] is None:
        assert code == 2
        assert err.startswith(f"pegasos: -s {number} has an L1 penalty, which pegasos does not support; supported: 0")
        return
    assert (code, err) == (0, "")
    model = load_model("out.model")
    given = {"C": 0.5, "loss": LOSSES[number], "intercept_scaling": 2.0, "fit_intercept": True}
    given["multi_class"] = "joint" if number == 4 else "auto"
    assert type(model) is LinearSVC
    assert given.items() <= model.get_params().items()


@pytest.mark.parametrize("number", [11, 12, 13])
def test_types_of_regression(number, folder, pegasos):
    assert pegasos(f"train -q -s {number} values.svm out.model") == (0, "", "")
    model = load_model("out.model")
    assert type(model) is LinearSVR
    assert (model.epsilon, model.fit_intercept) == (0.1, False)
    assert model.loss == ("epsilon_insensitive" if number == 13 else "squared_epsilon_insensitive")
    assert pegasos(f"train -q -s {number} -p 0.3 values.svm out.model") == (0, "", "")
    assert load_model("out.model").epsilon == 0.3


def objective(model, X, y):
    """Of the problem that a model states, at its weights."""
    coef, intercepts = np.atleast_2d(model.coef_), np.ravel(model.intercept_)
    scores = X @ coef.T + intercepts
    penalty = (coef**2).sum() + ((intercepts / model.intercept_scaling) ** 2).sum()
    if not hasattr(model, "classes_"):
        losses = np.maximum(0, np.abs(scores[:, 0] - y) - 0.1) ** (2 if "squared" in model.loss else 1)
    elif model.multi_class == "joint":
        right = y[:, None] == model.classes_
        losses = (scores + ~right).max(axis=1) - scores[right]
    else:
        margins = np.where(y[:, None] == model.classes_, scores, -scores)
        if model.loss == "log_loss":
            losses = np.logaddexp(0, -margins)
        else:
            losses = np.maximum(0, 1 - margins) ** (2 if "squared" in model.loss else 1)
    return penalty / 2 + 0.1 * losses.sum()


@pytest.mark.parametrize("number", [0, 1, 3, 4, 7, 11, 13])
@pytest.mark.parametrize("bias", [-1, 1, 3])
def test_the_same_problem_as_in_liblinear(number, bias, folder, pegasos):
    """The same flags go to the real program, and to the same optimum."""
    reason = "the real LIBLINEAR: pip install liblinear-official"
    liblinear = pytest.importorskip("liblinear.liblinearutil", reason=reason)
    data = "values.svm" if number > 10 else "three.svm"
    assert pegasos(f"train -q -s {number} -c 0.1 -B {bias} --tol 1e-6 {data} out.model") == (0, "", "")
    X, y = read_svmlight(data)
    theirs = liblinear.train(y, X, f"-s {number} -c 0.1 -B {bias} -e 1e-5 -q")
    liblinear.save_model("theirs", theirs)
    assert pegasos("convert -q theirs theirs.model") == (0, "", "")
    ours, theirs = (objective(load_model(name), X, y) for name in ("out.model", "theirs.model"))
    assert ours <= theirs * (1 + 2e-6)
    assert theirs <= ours * 1.01


def test_what_differs_is_told(folder, pegasos):
    code, _, err = pegasos("train -s 1 -e 0.01 train.svm out.model")
    assert code == 0
    assert "pegasos: -s 1 without -B has no intercept, as in LIBLINEAR; -B 1 adds one\n" in err
    assert "pegasos: -e 0.01 is not used: " in err
    assert "--tol" in err
    assert not load_model("out.model").fit_intercept
    assert pegasos("train -q -s 1 -B 1 train.svm out.model") == (0, "", "")
    assert load_model("out.model").fit_intercept
    assert "no intercept" not in pegasos("train -s 1 --fit-intercept train.svm out.model")[2]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("-s 8", "-s 8 is no type of LIBLINEAR's"),
        ("-s 21", "-s 21 has one class"),
        ("-s 1 --loss hinge", "-s 1 says what --loss says"),
        ("-c 1 --C 2", "-c says what --C says"),
        ("-C -c 1", "-C says what --C says"),
        ("-B 1 --no-fit-intercept", "-B says what --fit-intercept says"),
        ("-s 3 --task svc", "-s 3 is for --task classification, and not for --task svc"),
        ("-s 13 --task classification", "-s 13 is for --task regression"),
        ("-C -v 3", "cross-validation in 5 folds; leave -v 3 out"),
        ("-c -1", "--C"),
        ("-v 1", "1 is not in the range"),
        ("-v 200", "-v 200 needs more examples"),
        ("-p 0.1", "--epsilon is for --task regression"),
    ],
)
def test_refusals(line, text, folder, pegasos):
    code, _, err = pegasos(f"train {line} train.svm out.model")
    assert (code, err.count("\n")) == (2, 1)
    assert text in err
    assert not os.path.exists("out.model")


def test_cross_validation(folder, pegasos):
    """As LIBLINEAR has it: a score, and no model."""
    code, out, err = pegasos("train -s 3 -B 1 -c 10 -v 5 train.svm")
    assert (code, err) == (0, "")
    assert out.startswith("cross-validation in 5 folds: accuracy ")
    assert not os.path.exists("train.svm.model")
    facts = json.loads(pegasos("train --json -v 4 --C 10 train.svm")[1])
    assert (facts["folds"], len(facts["scores"]), facts["score"]) == (4, 4, "accuracy")
    assert facts["mean"] == pytest.approx(np.mean(facts["scores"]))
    assert 0.6 < facts["mean"] <= 1
    assert "R^2" in pegasos("train -v 3 --task regression values.svm")[1]
    assert "accuracy" in pegasos("train -v 3 --task svc three.svm")[1]
    (folder / "tags.txt").write_text("He PRP\nleft VBD\n\nA DT\ndog NN\n\n" * 6)
    assert "accuracy" in pegasos("train -v 3 --task sequence tags.txt")[1]
    assert pegasos("convert -q train.svm train.ds") == (0, "", "")
    assert "accuracy" in pegasos("train -v 3 train.ds")[1]
    assert pegasos("train -q -v 3 train.svm") == (0, "", "")
    assert not list(folder.glob("*.model"))


def test_choice_of_C(folder, pegasos):
    for flags in ("-C", "-C -v 5"):
        code, out, _ = pegasos(f"train {flags} train.svm out.model")
        assert code == 0
        assert "cross-validation in 5 folds: accuracy" in out
        assert ("no model is written" in out) == ("-v" in flags)
        assert os.path.exists("out.model") == ("-v" not in flags)
        if "-v" not in flags:
            os.remove("out.model")
    facts = json.loads(pegasos("train --json -C -v 5 --random-state 0 train.svm out.model")[1])
    assert facts["C"] in facts["Cs"]
    assert facts["mean"] == pytest.approx(max(facts["mean_scores"]), abs=0.02)  # which a path found, to a gap


def test_validation_by_a_file(folder, pegasos):
    code, out, _ = pegasos("train --C 10 --random-state 0 --validation test.svm train.svm out.model")
    told = pegasos("predict test.svm out.model")[1].strip()
    assert code == 0
    assert f"tested   {told}, of test.svm\nmodel    out.model\n" in out
    facts = json.loads(pegasos("train --json --C 10 --random-state 0 --validation test.svm train.svm out.model")[1])
    assert facts["validation"]["examples"] == 100
    assert f"{100 * facts['validation']['error']:.2f}%" in told
    assert "no such file, and no share" in pegasos("train --validation missing.svm train.svm out.model")[2]
    assert "leave --validation and -v out" in pegasos("train --one-pass --validation test.svm train.svm o.model")[2]
    (folder / "raw.txt").write_text("good\tfine and well\nbad\tpoor and ill\n" * 10)
    (folder / "other.txt").write_text("bad\tpoor and strange\n")
    assert "tested   error 0.00%" in pegasos("train --format text --validation other.txt raw.txt text.model")[1]
    (folder / "tags.txt").write_text("He PRP B-NP\nleft VBD O\n\nA DT B-NP\ndog NN I-NP\n\n" * 6)
    (folder / "others.txt").write_text("A DT B-NP\ndog NN I-NP\n")
    out = pegasos("train --task sequence --validation others.txt tags.txt tags.model")[1]
    assert "(0 of 2 wrong), of others.txt\n" in out
    assert pegasos("convert -q train.svm train.ds") == (0, "", "")
    for first, second in [("test.svm", "train.ds"), ("train.ds", "test.svm")]:
        assert f"wrong), of {first}\n" in pegasos(f"train --validation {first} {second} out.model")[1]


@pytest.mark.parametrize(
    ("flags", "data", "expected"),
    [
        ("--validation garbage.svm", "train.svm", "garbage.svm"),
        ("--validation wide.svm", "train.svm", "wide.svm has 90 features, but the model was trained on 60"),
        ("--validation other.csv --label kind", "table.csv", "other.csv has no column 'b'"),
        ("--validation other.csv --format text", "raw.txt", "other.csv is a table; name its column of texts"),
        ("--validation columns.txt --task sequence", "tags.txt", "columns.txt has 4 columns"),
        ("--validation ./train.svm", "train.svm", "is the DATA that the model is trained on"),
    ],
)
def test_what_is_wrong_with_the_file_comes_up_before_the_fit(folder, pegasos, flags, data, expected):
    if ".csv" in flags:
        pytest.importorskip("pyarrow")
    write_svmlight(*make_text(20, 90, random_state=0), "wide.svm")
    (folder / "garbage.svm").write_text("1 what is this\n")
    (folder / "table.csv").write_text("a,b,kind\n" + "1,2,x\n2,1,y\n" * 10)
    (folder / "other.csv").write_text("a,c,kind\n1,2,x\n")
    (folder / "raw.txt").write_text("good\tfine and well\nbad\tpoor and ill\n" * 10)
    (folder / "tags.txt").write_text("He PRP B-NP\nleft VBD O\n\n" * 6)
    (folder / "columns.txt").write_text("He PRP x B-NP\n")
    code, _, err = pegasos(f"train {flags} {data} out.model")
    assert code == 2
    assert expected in err
    assert not (folder / "out.model").exists()


def test_a_model_that_cannot_be_judged_is_told_to_be_written(folder, pegasos):
    pytest.importorskip("pyarrow")
    (folder / "table.csv").write_text("a,b,size\n" + "1,2,3\n2,1,4\n" * 10)
    (folder / "words.csv").write_text("a,b,size\n1,2,large\n")
    code, _, err = pegasos("train --task regression --label size --validation words.csv table.csv out.model")
    assert code == 2
    assert err.endswith("the model was written before that, to out.model\n")
    assert (folder / "out.model").exists()


def test_validation_by_a_share(folder, pegasos):
    code, out, _ = pegasos("train --C 10 --validation 0.25 --random-state 3 train.svm out.model")
    assert code == 0
    assert "of 75 wrong), 75 examples held out" in out
    again = pegasos("train --C 10 --validation 0.25 --random-state 3 train.svm again.model")[1]
    assert [line for line in again.splitlines() if line.startswith("tested")] == [
        line for line in out.splitlines() if line.startswith("tested")
    ]
    facts = json.loads(pegasos("train --json --C 10 --validation 0.1 train.svm out.model")[1])
    assert (facts["examples"], facts["validation"]["examples"]) == (270, 30)
    (folder / "tags.txt").write_text("He PRP\nleft VBD\n\nA DT\ndog NN\n\n" * 10)
    assert "10 sentences held out" in pegasos("train --task sequence --validation 0.5 tags.txt tags.model")[1]
    assert "mean squared error" in pegasos("train --task regression --validation 0.5 values.svm out.model")[1]
    (folder / "table.csv").write_text("a,b,kind\n" + "1,2,x\n2,1,y\n" * 10)
    code, out, err = pegasos("train --label kind --validation 0.5 table.csv table.model")
    assert (code, err) == (0, "")
    assert "10 examples held out" in out
    assert load_model("table.model").feature_names_in_.tolist() == ["a", "b"]
    assert "between 0 and 1" in pegasos("train --validation 1.5 train.svm out.model")[2]
    assert pegasos("convert -q train.svm train.ds") == (0, "", "")
    assert "no share is held out" in pegasos("train --validation 0.5 train.ds out.model")[2]


@pytest.mark.parametrize("name", ["", *group.commands])
def test_help_has_examples(name, pegasos):
    """Each is a command line that the command takes."""
    code, out, _ = pegasos(f"{name} --help")
    assert code == 0
    lines = [line.strip() for line in out.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()]
    assert len(lines) >= 2
    assert all("pegasos " in line for line in lines)
    for line in lines:
        words = line.partition("  ")[0].partition("pegasos ")[2].partition(" | ")[0].split()
        command = group.commands[words[0]]
        command.make_context(command.name, words[1:])  # parses all flags


def test_types_are_all_told_of(pegasos):
    out = " ".join(pegasos("train --help")[1].split())
    for number, problem in TYPES.items():
        assert problem is None or str(number) in out.partition("the problem by its number")[2][:200]


def complete(*words):
    """What the tab key shows, as a shell asks for it."""
    asked = {"_PEGASOS_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    line = [sys.executable, "-m", "pegasos"]
    ended = subprocess.run(line, env=os.environ | asked, capture_output=True, text=True, check=True)
    return ended.stdout.split()


@pytest.mark.slow
def test_completion():
    assert complete("pegasos", "tr") == ["plain,train"]
    assert complete("pegasos", "train", "--los") == ["plain,--loss"]
    assert complete("pegasos", "train", "--loss", "h") == ["plain,hinge", "plain,huber"]
    assert complete("pegasos", "train", "--solver", "interior") == ["plain,interior-point"]
    assert complete("pegasos", "predict", "fi") == ["file,fi"]
    line, asked = [sys.executable, "-m", "pegasos"], {"_PEGASOS_COMPLETE": "bash_source"}
    ended = subprocess.run(line, env=os.environ | asked, capture_output=True, text=True)
    assert ended.returncode == 0
    assert "complete -o nosort -F _pegasos_completion pegasos" in ended.stdout
