"""The command on compressed svmlight files and on tables."""

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest

from pegasos import LinearSVC, LinearSVR
from pegasos.datasets import make_text
from pegasos.io import load_model, open_dataset, save_model, write_dataset, write_svmlight

SMALL = "--tol 0.1 --random-state 0"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_svmlight(tmp_path, monkeypatch, pegasos, suffix):
    monkeypatch.chdir(tmp_path)
    X, y = make_text(200, 100, random_state=0)
    write_svmlight(X, y, "plain.svm")
    write_svmlight(X, y, f"packed.svm{suffix}")
    assert pegasos(f"train --quiet {SMALL} plain.svm a") == (0, "", "")
    assert pegasos(f"train --quiet {SMALL} packed.svm{suffix} b") == (0, "", "")
    np.testing.assert_array_equal(load_model("a").coef_, load_model("b").coef_)
    code, out, _ = pegasos(f"predict packed.svm{suffix} b")
    assert code == 0
    assert out == pegasos("predict plain.svm a")[1]


@pytest.fixture
def tables(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    csv, parquet = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 300))
    kind = np.where(a + b + 0.1 * rng.standard_normal(300) > 0, "oak", "elm")
    table = pa.table({"a": a, "kind": kind, "b": b, "size": np.round(a + b, 1), "whole": np.sign(a)})
    kinds = table.select(["a", "kind", "b"])
    csv.write_csv(kinds, "kinds.csv")
    parquet.write_table(kinds, "kinds.parquet")
    feather.write_feather(kinds, "kinds.arrow")
    csv.write_csv(table.select(["a", "b"]), "features.csv")
    csv.write_csv(table.select(["a", "b", "size"]), "sizes.csv")
    csv.write_csv(table.select(["a", "b", "whole"]), "whole.csv")
    return tmp_path


@pytest.mark.parametrize("name", ["kinds.csv", "kinds.parquet", "kinds.arrow"])
def test_tables(tables, pegasos, name):
    code, out, err = pegasos(f"train --label kind {SMALL} {name} m")
    assert (code, err) == (0, "")
    assert f"{name}: 300 examples x 2 features, read in" in out
    model = load_model("m")
    assert model.classes_.tolist() == ["elm", "oak"]
    code, out, err = pegasos(f"predict --label kind {name} m labels.txt")
    assert (code, err) == (0, "")
    assert float(out.split()[1].rstrip("%")) < 10
    assert set((tables / "labels.txt").read_text().split()) == {"elm", "oak"}
    told = "300 examples predicted; features.csv has no labels, so no error is computed"
    code, out, err = pegasos("predict features.csv m")
    assert (code, out) == (0, f"{told}; name an OUTPUT for the predictions\n")


@pytest.mark.parametrize("task", ["classification", "svc"])
def test_columns_are_found_by_their_names(tables, pegasos, task):
    pa, csv = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.csv")
    table = csv.read_csv("kinds.csv")
    more = table.append_column("a2", pa.array(np.ones(300)))
    csv.write_csv(more.select(["b", "kind", "a2", "a"]), "other.csv")
    csv.write_csv(more.select(["b", "a"]), "bare.csv")
    assert pegasos(f"train -q --task {task} --label kind {SMALL} kinds.csv m") == (0, "", "")
    assert load_model("m").feature_names_in_.tolist() == ["a", "b"]
    assert pegasos("predict --label kind kinds.csv m first.txt")[0] == 0
    code, out, err = pegasos("predict --label kind other.csv m second.txt")
    assert (code, err) == (0, "")
    assert "wrong" in out
    assert pegasos("predict bare.csv m third.txt")[0] == 0
    first = (tables / "first.txt").read_text()
    assert first == (tables / "second.txt").read_text() == (tables / "third.txt").read_text()
    code, out, err = pegasos("predict other.csv m")
    told = "300 examples predicted; other.csv has columns 'kind', 'a2' and no --label, so no error is computed"
    told += "; name an OUTPUT for the predictions\n"
    assert (code, out, err) == (0, told, "")


def test_inspect_shows_names(tables, pegasos):
    pegasos(f"train -q --label kind {SMALL} kinds.csv m")
    out = pegasos("inspect m")[1]
    assert "count from 1" not in out
    assert out.rstrip().splitlines()[-1].split()[0] in ("a", "b")


def test_a_fit_that_continues_finds_its_columns(tables, pegasos):
    csv = pytest.importorskip("pyarrow.csv")
    csv.write_csv(csv.read_csv("kinds.csv").select(["b", "kind", "a"]), "other.csv")
    for name in ("kinds.csv", "other.csv"):
        code, out, err = pegasos(f"train --warm-start --label kind --random-state 0 {name} m")
        assert (code, err) == (0, "")
    assert load_model("m").feature_names_in_.tolist() == ["a", "b"]
    assert "epochs   1\n" in out


@pytest.mark.parametrize("task", ["classification", "svc"])
def test_data_sets_of_tables_keep_the_names(tables, pegasos, task):
    csv = pytest.importorskip("pyarrow.csv")
    csv.write_csv(csv.read_csv("kinds.csv").select(["b", "kind", "a"]), "other.csv")
    for name in ("kinds", "other"):
        assert pegasos(f"convert -q {name}.csv {name}.ds --label kind") == (0, "", "")
    assert pegasos(f"train -q --task {task} {SMALL} kinds.ds m") == (0, "", "")
    assert load_model("m").feature_names_in_.tolist() == ["a", "b"]
    told = [pegasos(f"predict {name} m")[1] for name in ("kinds.ds", "other.ds", "--label kind other.csv")]
    assert told[0] == told[1] == told[2]
    assert "wrong" in told[0]
    (tables / "lacking.csv").write_text("a,kind\n1,oak\n")
    assert pegasos("convert -q lacking.csv lacking.ds --label kind") == (0, "", "")
    assert "lacking.ds has no column 'b', which the model was trained on" in pegasos("predict lacking.ds m")[2]


@pytest.mark.parametrize("name", ["kinds.tsv", "kinds.tsv.gz", "kinds.jsonl"])
def test_tables_of_other_text(tables, pegasos, name):
    csv = pytest.importorskip("pyarrow.csv")
    table = csv.read_csv("kinds.csv")
    with pytest.importorskip("pyarrow").output_stream(name) as file:
        if "tsv" in name:
            csv.write_csv(table, file, csv.WriteOptions(delimiter="\t"))
        else:
            file.write("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode())
    told = []
    for source in ("kinds.csv", name):
        assert pegasos(f"train --quiet --label kind {SMALL} {source} m") == (0, "", "")
        told.append((load_model("m").coef_.tolist(), pegasos(f"predict --label kind {source} m")[1]))
        assert pegasos(f"convert -q --overwrite {source} kinds.ds --label kind") == (0, "", "")
    assert told[0] == told[1]


def test_targets_and_whole_numbers(tables, pegasos):
    assert pegasos(f"train --quiet --task regression --label size {SMALL} sizes.csv m")[0] == 0
    assert "mean squared error" in pegasos("predict --label size sizes.csv m")[1]
    assert pegasos(f"train --quiet --label whole {SMALL} whole.csv m")[0] == 0
    assert load_model("m").classes_.tolist() == [-1, 1]


MISTAKES = {
    "train kinds.csv": "column 'kind' is of type string, not of numbers; leave it out, name it as the label",
    "train features.csv": "features.csv is a table; name its column of labels with --label",
    "train --label size kinds.csv": "kinds.csv: no column 'size'; there are 'a', 'kind', 'b'",
    "train --label kind --zero-based kinds.csv": "--zero-based is for svmlight files; leave it out",
    "train --label kind data.svm": "--label is for tables, such as .csv and .parquet files; leave it out",
    "train --task sequence --label kind data.txt": "--label is for tables, and the last column of a sequence",
    "predict lacking.csv m": "lacking.csv has no columns 'a', 'b', which the model was trained on; add them",
    "predict sizes.csv old": "sizes.csv has 3 columns of features, but the model was trained on 2; name that of labels",
    "predict words.txt m": "line 1, column 1: label 'oak' is not a number",
    "predict --label a kinds.csv m": "column 'a' is a feature that the model was trained on, and no label; name that",
    "train --one-pass --label kind kinds.csv": "pegasos convert --label COLUMN kinds.csv t.ds, then pegasos",
    "train --label kind none.csv": "none.csv: No such file or directory",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_get_one_line_and_exit_code_2(tables, pegasos, line):
    pegasos("train --quiet --label kind --tol 0.1 kinds.csv m")
    model = load_model("m")
    del model.feature_names_in_
    save_model(model, "old")
    (tables / "lacking.csv").write_text("c,kind\n1,oak\n")
    (tables / "words.txt").write_text("oak\ta tree\nelm\tanother\n")
    (tables / "data.svm").write_text("1 1:1\n-1 1:2\n")
    code, out, err = pegasos(line)
    assert code == 2
    assert err.startswith("pegasos: ")
    assert err.count("\n") == 1
    assert MISTAKES[line] in err
    assert "Traceback" not in out + err


def test_labels_of_which_some_are_unknown_words(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.tsv").write_text("1\tgood fine\n2\tbad poor\n" * 10)
    assert pegasos("train --format text --quiet train.tsv m") == (0, "", "")
    (tmp_path / "test.txt").write_text("1\tgood\nx\tbad\n2\tpoor\n")
    out = pegasos("predict test.txt m")[1]
    assert out.startswith("error 33.33%  (1 of 3 wrong); 1 of them has a label that the model does not know, such as x")
    (tmp_path / "none.txt").write_text("y\tgood\nx\tbad\n")
    assert "labels such as y, and none that the model knows (1, 2), so no error is" in pegasos("predict none.txt m")[1]


def test_columns_beside_texts_are_told_of(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("price,text,kind\n1,good fine,x\n2,bad poor,y\n" * 1)
    told = "a.csv: column 'price': not used; --text reads text alone\n"
    assert told in pegasos("train --text text --label kind a.csv m")[1]
    assert pegasos("train --text text --label kind --json a.csv m")[::2] == (0, told)
    assert pegasos("train --text text --label kind --quiet a.csv m") == (0, "", "")


def test_warnings_name_columns_as_the_file_does(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 2)), random.choice([0, 1], size=100)
    X[:, 1] -= 1000
    rows = [f"{a!r},{b!r},{label}\n" for (a, b), label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "a.csv").write_text("size,height,kind\n" + "".join(rows))
    code, _, err = pegasos("train --label kind --scale --max-iter 1 --C 1000 a.csv m")
    assert code == 0
    assert "Column 'height' is around -1e+03" in err
    assert "Column 1" not in err
    code, _, err = pegasos("train --label kind --task svc --kernel linear --scale --C auto --max-iter 1 a.csv m")
    assert code == 0
    assert err.count("Column 'height' is around -1e+03") == 1


@pytest.mark.parametrize("flags", ["--label kind", "--label kind --text text", "--format text"])
def test_labels_with_zeros_before_them_are_words(tmp_path, monkeypatch, pegasos, flags):
    monkeypatch.chdir(tmp_path)
    columns = ("a", "1", "2") if flags == "--label kind" else ("text", "good", "bad")
    name = "a.txt" if flags == "--format text" else "a.csv"
    lines = [f"{columns[1]},007\n{columns[2]},010\n" * 10, f"{columns[1]},7\n{columns[2]},10\n" * 10]
    for rows, classes in zip(lines, (["007", "010"], [7, 10]), strict=True):
        if name == "a.csv":
            (tmp_path / name).write_text(f"{columns[0]},kind\n{rows}")
        else:
            words = [row.split(",") for row in rows.splitlines()]
            (tmp_path / name).write_text("".join(f"{label}\t{text}\n" for text, label in words))
        assert pegasos(f"train --quiet --C 100 {flags} {name} m") == (0, "", "")
        model = load_model("m")
        assert (model[-1] if hasattr(model, "steps") else model).classes_.tolist() == classes
        given = flags.replace("--format text", "").replace("--text text", "")
        assert "0 of 20 wrong" in pegasos(f"predict {given} {name} m out.txt")[1]
        assert (tmp_path / "out.txt").read_text().splitlines()[:2] == [str(label) for label in classes]


def test_targets_with_zeros_before_them_are_numbers(tmp_path, monkeypatch, pegasos):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,size\n" + "1,007\n2,010\n" * 10)
    assert pegasos("train --quiet --task regression --label size a.csv m") == (0, "", "")
    assert "mean squared error" in pegasos("predict --label size a.csv m")[1]


def test_labels_that_are_whole_at_first(tmp_path, monkeypatch, pegasos):
    """Types of the first block may not be those of all rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,kind\n" + "1,1\n" * 300_000 + "2,x\n" * 9)
    assert pegasos("train --quiet --label kind --max-iter 1 --solver perceptron a.csv m")[:2] == (0, "")
    assert load_model("m").classes_.tolist() == ["1", "x"]


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("kind", ["svm", "parquet", "csv", "ds"])
def test_predictions_are_made_in_parts(tables, monkeypatch, pegasos, kind, task):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = (
        np.where(X[:, 0] + rng.standard_normal(1000) > 0, 1.0, 0.0)
        if task == "classification"
        else X[:, 0] + X[:, 1] ** 2
    )
    table = pa.table({**{f"f{j}": X[:, j] for j in range(3)}, "y": y})
    write_svmlight(X, y, "a.svm")
    pa.parquet.write_table(table, "a.parquet")
    pa.csv.write_csv(table, "a.csv")
    write_dataset("a.ds", X, y)
    label = "--label y" if kind in ("parquet", "csv") else ""
    assert pegasos(f"train --task {task} {SMALL} {label} a.{kind} m")[0] == 0
    whole = pegasos(f"predict --json {label} a.{kind} m whole.txt")[1]
    monkeypatch.setattr("pegasos.io.table._BATCH_ROWS", 128)
    monkeypatch.setattr("pegasos.io.table_file.BLOCK", 1 << 13)
    monkeypatch.setattr("pegasos.cli.examples.PART_BYTES", 1 << 13)
    monkeypatch.setattr("pegasos.io.dataset_reader.ORDERED_RUN", 1 << 10)
    monkeypatch.setattr("pegasos.io.dataset_reader.ORDERED_BLOCK", 1 << 12)
    sizes = []
    machine = LinearSVC if task == "classification" else LinearSVR
    predict = machine.predict
    monkeypatch.setattr(machine, "predict", lambda own, X: sizes.append(X.shape[0]) or predict(own, X))
    parts = json.loads(pegasos(f"predict --json {label} a.{kind} m parts.txt")[1])
    assert sum(sizes) == 1000
    assert max(sizes) < 500
    np.testing.assert_allclose(np.loadtxt("parts.txt"), np.loadtxt("whole.txt"), rtol=1e-13)
    for name, value in json.loads(whole).items():
        assert parts[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)


def test_labels_may_have_fractions_after_the_first_block(tables, monkeypatch, pegasos):
    monkeypatch.setattr("pegasos.io.table_file.BLOCK", 1 << 10)
    rows = [f"{row % 7},{row % 5}" for row in range(1000)] + ["3,2.5"]
    (tables / "a.csv").write_text("a,y\n" + "\n".join(rows) + "\n")
    assert pegasos(f"train --task regression {SMALL} --label y a.csv m")[0] == 0
    code, out, _ = pegasos("predict --label y a.csv m")
    assert code == 0
    assert "(1,001 examples)" in out


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_compressed_tables(tables, pegasos, kind):
    rows = [(row % 7, row % 3, row % 2) for row in range(50)]
    between = "\t" if kind == "tsv" else ","
    lines = [between.join("aby"), *(between.join(map(str, row)) for row in rows)]
    if kind == "jsonl":
        lines = [json.dumps(dict(zip("aby", row, strict=True))) for row in rows]
    text = ("\n".join(lines) + "\n").encode()
    for suffix, compress in {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.items():
        (tables / f"t.{kind}{suffix}").write_bytes(compress(text))
        code, out, err = pegasos(f"convert --overwrite --label y t.{kind}{suffix} t.ds")
        assert (code, err) == (0, "")
        assert "50 examples x 2 features" in out
        (tables / f"t.{kind}{suffix}").write_bytes(compress(text)[:-12])
        code, _, err = pegasos(f"convert --overwrite --label y t.{kind}{suffix} t.ds")
        assert code == 2
        assert "data" in err


def test_convert_keeps_float32(tables, pegasos):
    pa = pytest.importorskip("pyarrow")
    single = pa.array(np.arange(4, dtype=np.float32))
    for name, other, dtype in (("a", single, np.float32), ("b", pa.array([0.1, 2, 3, 4]), np.float64)):
        pa.parquet.write_table(pa.table({"a": single, "b": other, "y": [0, 1, 0, 1]}), f"{name}.parquet")
        assert pegasos(f"convert --label y {name}.parquet {name}.ds")[0] == 0
        assert open_dataset(f"{name}.ds").dtype == dtype
    assert pegasos("convert --label y --dtype float64 a.parquet c.ds")[0] == 0
    assert open_dataset("c.ds").dtype == np.float64


def test_a_limit_of_memory_names_the_command_that_makes_a_data_set(tables, pegasos):
    code, _, err = pegasos("train --memory-limit 300MB --label kind kinds.parquet m")
    assert code == 2
    assert "pegasos convert --label kind kinds.parquet kinds.parquet.ds, and train on kinds.parquet.ds" in err
