"""What the command writes: it replaces nothing that it should not, and shows names rather than obeys them."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from pegasos import SVC, LinearSVC, SequenceSVC
from pegasos.cli.run import run
from pegasos.io import load_model, save_model
from pegasos.sequence.templates import Template


@pytest.mark.parametrize(
    "line",
    ["train train.svm train.svm", "predict test.svm m test.svm", "predict test.svm m m", "predict test.svm m ./m"],
)
def test_an_input_is_never_overwritten(folder, pegasos, line):
    pegasos("train --quiet --tol 0.1 train.svm m")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, _, err = pegasos(line)
    assert code == 2
    assert "would be overwritten" in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("one_pass", ["", "--one-pass "])
def test_a_model_replaces_models_only(folder, pegasos, one_pass):
    (folder / "empty").touch()
    for model in ("new", "new", "empty"):
        assert pegasos(f"train {one_pass}--quiet train.svm {model}") == (0, "", "")
    code, _, err = pegasos(f"train {one_pass}train.svm test.svm")
    told = "test.svm exists and is no pegasos model; name another MODEL, or give --overwrite to replace it"
    assert (code, err) == (2, f"pegasos: {told}\n")
    assert pegasos(f"train {one_pass}--overwrite --quiet train.svm test.svm") == (0, "", "")
    load_model("test.svm")


def test_predictions_replace_predictions_only(folder, pegasos):
    pegasos("train --quiet --tol 0.1 train.svm m")
    pegasos("train --quiet --tol 0.1 train.svm other.model")
    for flags in ("", "--decision", "--decision --header", ""):
        assert pegasos(f"predict --quiet {flags} test.svm m out.csv") == (0, "", "")
    (folder / "data.csv").write_text("a,b\n1,2\n")
    (folder / "columns").write_text("Confidence NN B-NP\n")
    for output in ("other.model", "train.svm", "data.csv", "columns"):
        before = (folder / output).read_bytes()
        code, _, err = pegasos(f"predict test.svm m {output}")
        assert code == 2
        assert f"{output} exists and does not look like predictions; name another OUTPUT" in err
        assert (folder / output).read_bytes() == before
    assert pegasos("predict --quiet --overwrite test.svm m data.csv") == (0, "", "")
    assert (folder / "data.csv").read_bytes() == (folder / "out.csv").read_bytes()


def test_data_and_model_swapped(folder, pegasos):
    pegasos("train --quiet --tol 0.1 train.svm m")
    code, _, err = pegasos("predict m test.svm")
    assert (code, err) == (2, "pegasos: m is a model, and DATA comes before it: pegasos predict test.svm m\n")


def test_a_model_is_not_written_to_standard_output(folder, pegasos):
    code, _, err = pegasos("train train.svm -")
    assert code == 2
    assert "name the MODEL" in err


#: A line break, one that is spelled out, an escape sequence with an override of the direction, a plain word.
LABELS = ["a\nb", r"a\nb", "\x1b]0;title\x07\u202e", "caf\u00e9"]
WRITTEN = [r"a\nb", r"a\\nb", r"\x1b]0;title\x07\u202e", "caf\u00e9"]


def is_plain(text):
    return all(char == "\n" or char.isprintable() for char in text)


@pytest.fixture
def hostile(folder):
    """Models whose labels and names of features are for a terminal to obey."""
    y = np.arange(80) % 4
    X = pd.DataFrame(np.eye(4)[y] + 0.1, columns=["\x1b[2J", "one\nprimal 0", "\x9b2J", "plain"])
    X.to_csv("data.csv", index=False)
    save_model(LinearSVC(random_state=0).fit(X, np.array(LABELS)[y]), "linear")
    save_model(SVC(kernel="linear").fit(X, np.array(LABELS)[y]), "kernel")
    sentences = [[[str(k)] for k in y[:5]], [[str(k)] for k in y[5:12]]]
    labels = [[f"B-{LABELS[int(k[0])]}" for k in own] for own in sentences]
    from sklearn.pipeline import make_pipeline

    save_model(make_pipeline(Template.window(1), SequenceSVC(random_state=0)).fit(sentences, labels), "sequence")
    (folder / "columns").write_text("\n\n".join("\n".join(k[0] for k in own) for own in sentences) + "\n")
    judged = ("\n".join(f"{k[0]} B-{WRITTEN[3]}" for k in own) for own in sentences)
    (folder / "judged").write_text("\n\n".join(judged) + "\n", encoding="utf-8")
    return y


class TestLabelsThatAreNoLines:
    @pytest.mark.parametrize("model", ["linear", "kernel"])
    @pytest.mark.parametrize("output", ["out", "-"])
    def test_a_line_for_each_row(self, hostile, folder, pegasos, model, output):
        code, out, _ = pegasos(f"predict --quiet data.csv {model} {output}")
        text = out if output == "-" else (folder / "out").read_text(encoding="utf-8")
        assert code == 0
        assert text.split("\n") == [*(WRITTEN[k] for k in hostile), ""]

    def test_of_a_header(self, hostile, folder, pegasos):
        pegasos("predict --quiet --decision --header data.csv linear out")
        text = (folder / "out").read_text(encoding="utf-8")
        assert text.splitlines()[0] == "# " + " ".join(WRITTEN[k] for k in np.argsort(LABELS))
        assert text.count("\n") == 81

    def test_of_sequences(self, hostile, folder, pegasos):
        assert pegasos("predict --quiet columns sequence out") == (0, "", "")
        found = (folder / "out").read_text(encoding="utf-8").split("\n")
        lines = [f"B-{WRITTEN[k]}" for k in hostile[:12]]
        assert found == [*lines[:5], "", *lines[5:], ""]


class TestNamesAreShown:
    @pytest.mark.parametrize("model", ["linear", "kernel", "sequence"])
    def test_inspect(self, hostile, pegasos, model):
        code, out, err = pegasos(f"inspect --top 20 {model}")
        assert (code, err) == (0, "")
        assert is_plain(out)
        assert r"\x1b]0;title\x07\u202e" in out
        assert "caf\u00e9" in out
        assert not any(line.startswith(("primal 0", "b")) for line in out.splitlines())
        assert sorted(json.loads(pegasos(f"inspect --json {model}")[1])["classes"])[-1][-4:] == "caf\u00e9"

    @pytest.mark.parametrize(
        "line",
        [
            "predict data.csv kernel",
            "predict judged sequence",
            "predict --label plain data.csv linear",
            "report --quiet data.csv linear",
            "report data.csv linear",
            "inspect 'a\x1b[2J\u202e'",
            "predict 'a\x1b[2J\nb' linear",
            "train 'a\x1b[2J.csv'",
            "convert linear 'a\x1b[2J'",
            "train --label plain data.csv 'a\x1b[2J\nb'",
            "train train.svm --\x1b[2J",
        ],
    )
    def test_messages(self, hostile, capsys, line):
        run(shlex.split(line))
        out, err = capsys.readouterr()
        assert is_plain(out + err)
        assert out + err
