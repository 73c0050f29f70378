"""`pegasos report` and `pegasos train --report`: pages of the models and data that the command has."""

import html
import re
import shlex

import numpy as np
import pytest

from pegasos.datasets import make_text
from pegasos.io import load_model, write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_text(200, 30, random_state=0)
    write_svmlight(X, y, "two.svm")
    write_svmlight(X, np.random.default_rng(0).normal(size=200), "values.svm")
    (tmp_path / "table.csv").write_text("<b>width</b>,tall,kind\n" + "1,2,x\n2,1,y\n3,5,x\n0,7,y\n" * 5)
    (tmp_path / "raw.txt").write_text("good\tfine and well\nbad\tpoor and ill\n" * 10)
    (tmp_path / "words.vw").write_text("1 | fine well\n-1 | poor ill\n" * 10)
    (tmp_path / "chunks.txt").write_text("He PRP B-NP\nleft VBD O\n\nA DT B-NP\ndog NN I-NP\n\n" * 4)
    return tmp_path


def code(path):
    """What the page says to run."""
    return html.unescape(re.search(r"<pre[^>]*><code>(.*?)</code>", path.read_text(encoding="utf-8"), re.DOTALL)[1])


CASES = {
    "two classes": ("", "two.svm", "", "of 200 wrong"),
    "values": ("--task regression", "values.svm", "", "Residuals"),
    "kernel": ("--task svc", "two.svm", "", "of 200 wrong"),
    "table": ("--label kind", "table.csv", "--label kind", "&lt;b&gt;width&lt;/b&gt;"),
    "raw text": ("--format text", "raw.txt", "", "well"),
    "hashed": ("--hash-bits 6", "words.vw", "", "of 20 wrong"),
    "sequences": ("--task sequence", "chunks.txt", "", "F1 of chunks"),
    "C": ("--C auto", "two.svm", "", "of 200 wrong"),
    "C of a kernel": ("--task svc --C auto", "two.svm", "", "of 200 wrong"),
}


@pytest.mark.parametrize(("flags", "data", "more", "expected"), CASES.values(), ids=CASES)
def test_a_page_of_each_kind_of_data(folder, pegasos, flags, data, more, expected):
    if data == "table.csv":
        pytest.importorskip("pyarrow")
    done, out, _ = pegasos(f"train {flags} --random-state 0 --report train.html {data} a.model")
    assert done == 0
    assert "report   train.html\n" in out
    assert expected in (folder / "train.html").read_text(encoding="utf-8")
    assert "These are what it was trained on" in (folder / "train.html").read_text(encoding="utf-8")
    assert ("Choice of C" in (folder / "train.html").read_text(encoding="utf-8")) == ("--C auto" in flags)
    done, out, err = pegasos(f"report {more} a.model {data} -o page.html")
    assert (done, out, err) == (0, "report   page.html\n", "")
    assert expected in (folder / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "data", "expected"),
    [
        ("--validation 0.25", "two.svm", "of 50 wrong"),
        ("--validation other.svm", "two.svm", "of 40 wrong"),
        ("--validation 0.5 --label kind", "table.csv", "of 10 wrong"),
        ("--validation 0.5 --task sequence", "chunks.txt", "F1 of chunks"),
    ],
)
def test_the_page_is_on_examples_that_were_held_out(folder, pegasos, flags, data, expected):
    if data == "table.csv":
        pytest.importorskip("pyarrow")
    X, y = make_text(40, 30, random_state=1)
    write_svmlight(X, y, "other.svm")
    done, out, err = pegasos(f"train {flags} --random-state 0 --report page.html {data} a.model")
    assert (done, err) == (0, "")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert expected in page
    assert "It was not trained on these." in page
    error = re.search(r"error (\d+\.\d+%)", out)[1]
    assert f"<strong>{error}</strong>" in page


def test_the_command_of_the_page_trains_the_same_again(folder, pegasos):
    line = "train --alpha 0.01 --class-weight=-1=0.5 --no-fit-intercept -q --random-state 3 --report page.html two.svm"
    assert pegasos(f"{line} a.model")[0] == 0
    first, command = load_model("a.model"), shlex.split(code(folder / "page.html"))
    assert command[0] == "pegasos"
    (folder / "a.model").unlink()
    assert pegasos(" ".join(command[1:]))[0] == 0
    np.testing.assert_array_equal(load_model("a.model").coef_, first.coef_)


def test_a_loaded_model_tells_how_it_is_trained(folder, pegasos):
    pegasos("train -q --alpha 0.01 --tol 0.01 --random-state 0 two.svm a.model")
    assert pegasos("report -q a.model two.svm")[0] == 0
    told = code(folder / "a.model.html")
    assert told == "pegasos train --alpha 0.01 --random-state 0 --tol 0.01 TRAINING-DATA a.model"
    first = load_model("a.model").coef_
    assert pegasos(told.replace("TRAINING-DATA", "two.svm").removeprefix("pegasos "))[0] == 0
    np.testing.assert_array_equal(load_model("a.model").coef_, first)


def test_the_command_to_repeat_it_has_numbers_in_full_and_the_column_of_labels(folder, pegasos):
    pytest.importorskip("pyarrow")
    C = 0.123456789012
    pegasos(f"train -q --C {C} --random-state 0 --label kind table.csv a.model")
    assert pegasos("report -q --label kind a.model table.csv")[0] == 0
    told = code(folder / "a.model.html")
    assert told == f"pegasos train --C {C} --random-state 0 --label kind TRAINING-DATA a.model"
    first = load_model("a.model").coef_
    assert pegasos(told.replace("TRAINING-DATA", "table.csv").removeprefix("pegasos "))[0] == 0
    np.testing.assert_array_equal(load_model("a.model").coef_, first)


def test_features_of_svmlight_text_count_from_1(folder, pegasos):
    pegasos("train -q --random-state 0 --report train.html two.svm a.model")
    pegasos("report -q a.model two.svm -o page.html")
    largest = f"feature {np.argmax(load_model('a.model').coef_[0]) + 1}<"
    for page in ("train.html", "page.html"):
        assert largest in (folder / page).read_text(encoding="utf-8")


def test_a_data_set_on_disk(folder, pegasos):
    assert pegasos("convert two.svm two.ds")[0] == 0
    assert pegasos("train -q --report page.html two.ds a.model")[0] == 0
    assert "of 200 wrong" in (folder / "page.html").read_text(encoding="utf-8")
    assert pegasos("report -q a.model two.ds -o other.html")[0] == 0
    assert "of 200 wrong" in (folder / "other.html").read_text(encoding="utf-8")


def test_data_without_labels(folder, pegasos):
    pegasos("train -q --task sequence chunks.txt a.model")
    (folder / "tags.txt").write_text("He PRP\nleft VBD\n\n")
    assert pegasos("report -q a.model tags.txt -o page.html")[0] == 0
    assert "about the fit alone" in (folder / "page.html").read_text(encoding="utf-8")
    assert "tags.txt has no labels, so the page is" in pegasos("report a.model tags.txt -o page.html")[2]


def test_a_column_of_labels_that_is_not_named(folder, pegasos):
    pytest.importorskip("pyarrow")
    pegasos("train -q --label kind table.csv a.model")
    done, out, err = pegasos("report a.model table.csv -o page.html")
    assert (done, out) == (0, "report   page.html\n")
    assert err == "pegasos: table.csv has column 'kind' and no --label, so the page is about the fit alone\n"
    assert pegasos("report -q a.model table.csv -o page.html") == (0, "", "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("report two.svm a.model", "pegasos report a.model two.svm"),
        ("report a.model two.svm -o two.svm", "is an input"),
        ("report a.model two.svm -o notes.txt", "is no report"),
        ("report a.model two.svm -o no/where.html", "no folder"),
        ("report a.model two.svm -o -", "standard output"),
        ("train --report two.svm two.svm b.model", "is an input"),
        ("train --report b.model two.svm b.model", "is the MODEL"),
        ("train --report notes.txt two.svm b.model", "is no report"),
        ("train --one-pass --report page.html two.svm b.model", "--one-pass keeps no examples"),
    ],
)
def test_slips_are_one_line_and_nothing_is_written(folder, pegasos, line, expected):
    pegasos("train -q two.svm a.model")
    (folder / "notes.txt").write_text("mine")
    before = sorted(path.name for path in folder.iterdir())
    done, _, err = pegasos(line)
    assert done == 2
    assert expected in err
    assert err.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == before
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_page_takes_the_place_of_a_page(folder, pegasos):
    pegasos("train -q two.svm a.model")
    assert pegasos("report -q a.model two.svm -o page.html")[0] == 0
    assert pegasos("report -q a.model two.svm -o page.html")[0] == 0
    (folder / "notes.txt").write_text("mine")
    assert pegasos("report -q --overwrite a.model two.svm -o notes.txt")[0] == 0
    assert (folder / "notes.txt").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_demo_ends_with_a_report(folder, pegasos, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    (folder / "temporary").mkdir()
    done, out, _ = pegasos("demo --rows 300 --words 30")
    assert done == 0
    (left,) = (folder / "temporary").iterdir()
    assert out.endswith(f"open {left / 'report.html'}\n")
    assert [path.name for path in left.iterdir()] == ["report.html"]
    assert pegasos("demo --rows 300 --words 30 --directory kept")[0] == 0
    assert (folder / "kept" / "report.html").exists()
