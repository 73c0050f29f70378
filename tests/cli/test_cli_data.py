"""The command on compressed svmlight files and on tables."""

import numpy as np
import pytest

from pegasos.datasets import make_text
from pegasos.io import load_model, write_svmlight

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
    code, out, err = pegasos("predict features.csv m")
    assert (code, out) == (0, "300 examples labelled; features.csv has no labels, so no error is computed\n")


def test_targets_and_whole_numbers(tables, pegasos):
    assert pegasos(f"train --quiet --task regression --label size {SMALL} sizes.csv m")[0] == 0
    assert "mean squared error" in pegasos("predict --label size sizes.csv m")[1]
    assert pegasos(f"train --quiet --label whole {SMALL} whole.csv m")[0] == 0
    assert load_model("m").classes_.tolist() == [-1, 1]


MISTAKES = {
    "train kinds.csv": "column 'kind' is of type string, not of numbers; remove it, name it by --label",
    "train features.csv": "features.csv is a table; name its column of labels with --label",
    "train --label size kinds.csv": "kinds.csv: no column 'size'; there are 'a', 'kind', 'b'",
    "train --label kind --zero-based kinds.csv": "--zero-based is for svmlight files; leave it out",
    "train --label kind data.svm": "--label is for tables, such as .csv and .parquet files; leave it out",
    "train --task sequence --label kind data.txt": "--label is for tables, and the last column of a sequence",
    "predict sizes.csv m": "sizes.csv has 3 columns of features, but the model was trained on 2; name that of labels",
    "train --label kind none.csv": "none.csv: No such file or directory",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_get_one_line_and_exit_code_2(tables, pegasos, line):
    pegasos("train --quiet --label kind --tol 0.1 kinds.csv m")
    (tables / "data.svm").write_text("1 1:1\n-1 1:2\n")
    code, out, err = pegasos(line)
    assert code == 2
    assert err.startswith("pegasos: ")
    assert err.count("\n") == 1
    assert MISTAKES[line] in err
    assert "Traceback" not in out + err
