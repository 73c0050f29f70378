"""What the command writes replaces nothing that it should not."""

import pytest

from pegasos.io import load_model


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
