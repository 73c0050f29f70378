"""``pegasos convert``: text to data sets on disk and back, and the other commands on data sets."""

import gzip
import json

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos.datasets import make_text
from pegasos.io import open_dataset, read_svmlight, write_svmlight


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_text(300, 400, random_state=0)
    write_svmlight(X, y, "train.svm")
    return tmp_path


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_there_and_back(folder, pegasos, dtype):
    code, out, err = pegasos(f"convert train.svm train.ds --dtype {dtype}")
    assert (code, err) == (0, "")
    assert out.startswith("train.ds: 300 examples x 400 features, ")
    X, y = read_svmlight("train.svm", dtype=dtype)
    dataset = open_dataset("train.ds")
    assert (dataset.X != X).nnz == 0
    assert dataset.dtype == dtype
    assert dataset.y.dtype == np.int64  # whole labels, as in training on the text
    np.testing.assert_array_equal(dataset.y, y)
    code, _, err = pegasos("convert train.ds back.svm")
    assert (code, err) == (0, "")
    assert (read_svmlight("back.svm", dtype=dtype)[0] != X).nnz == 0


def test_compressed_text_and_json(folder, pegasos):
    with gzip.open("train.svm.gz", "wb") as file:
        file.write((folder / "train.svm").read_bytes())
    code, out, _ = pegasos("convert --json --verify --features 500 train.svm.gz train.ds")
    assert code == 0
    facts = json.loads(out)
    assert (facts["examples"], facts["features"], facts["verified"]) == (300, 500, True)


def test_fractions_stay_fractions(folder, pegasos):
    (folder / "targets.svm").write_text("0.5 1:1\n2 1:3\n")
    assert pegasos("convert -q targets.svm targets.ds") == (0, "", "")
    assert open_dataset("targets.ds").y.tolist() == [0.5, 2.0]


def test_tables(folder, pegasos):
    pytest.importorskip("pyarrow")
    (folder / "table.csv").write_text("a,b,kind\n1,2,x\n0.5,4,y\n")
    assert pegasos("convert -q table.csv table.ds --label kind") == (0, "", "")
    dataset = open_dataset("table.ds")
    assert dataset.X.tolist() == [[1, 2], [0.5, 4]]
    assert dataset.y.tolist() == ["x", "y"]
    assert "name its column of labels" in pegasos("convert table.csv other.ds")[2]
    assert "--label is for tables" in pegasos("convert --label kind train.svm other.ds")[2]


def test_verify(folder, pegasos):
    pegasos("convert train.svm train.ds")
    assert "checksums are right" in pegasos("convert --verify train.ds")[1]
    values = np.memmap("train.ds/values", "<f8", "r+")
    values[7] += 1
    values.flush()
    code, _, err = pegasos("convert --verify train.ds")
    assert code == 2
    assert "values has another checksum" in err


@pytest.mark.parametrize("name", ["values", "labels"])
def test_no_text_of_damaged_data(folder, pegasos, name):
    pegasos("convert train.svm train.ds")
    dataset = open_dataset("train.ds")
    stored = np.memmap(f"train.ds/{name}", dataset.dtype_of(name), "r+")
    stored[-1] += 2
    stored.flush()
    code, _, err = pegasos("convert train.ds back.svm.gz")
    assert code == 2
    assert f"train.ds/{name} has another checksum than when it was written; convert the data anew" in err
    assert not (folder / "back.svm.gz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("convert train.svm", "name the TARGET"),
        ("convert nothing.svm train.ds", "nothing.svm"),
        ("convert train.svm .", "is no data set; choose another name"),
        ("convert bad.svm train.ds", "bad.svm"),
        (
            "convert train.svm news.onnx",
            "ends in .onnx; only a model becomes one in ONNX: name the TARGET such as news.ds",
        ),
        ("convert train.svm news.csv.gz", "ends in .csv.gz; tables are read and not written"),
        ("convert train.svm more.svm", "ends in .svm; only a data set becomes text: name the TARGET such as more.ds"),
        ("convert --features 10 train.svm train.ds", "index 20 is beyond n_features=10; pass a larger n_features"),
    ],
)
def test_mistakes_leave_nothing_behind(folder, pegasos, arguments, message):
    (folder / "bad.svm").write_text("1 1:1\n1 x\n")
    before = sorted(path.name for path in folder.iterdir())
    code, out, err = pegasos(arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(path.name for path in folder.iterdir()) == before


def test_nothing_is_replaced_without_a_word(folder, pegasos):
    pegasos("convert train.svm train.ds")
    pegasos("convert train.ds back.svm")
    before = {path: path.read_bytes() for path in (folder / "back.svm", folder / "train.ds" / "values")}
    (folder / "one.svm").write_text("1 1:1\n")
    for arguments in ("one.svm train.ds", "train.ds back.svm"):
        code, out, err = pegasos(f"convert {arguments}")
        assert (code, out) == (2, "")
        target = arguments.split()[1]
        assert f"{target} exists already; name another TARGET, or give --overwrite to replace it" in err
    assert {path: path.read_bytes() for path in before} == before
    out = pegasos("convert --overwrite one.svm train.ds")[1]
    assert out.startswith("train.ds: 1 example x 1 feature, 1 entries")
    assert pegasos("convert --overwrite --quiet train.ds back.svm") == (0, "", "")
    assert (folder / "back.svm").read_text() == "1 1:1\n"


def test_a_data_set_needs_a_wish(folder, pegasos):
    pegasos("convert train.svm train.ds")
    code, _, err = pegasos("convert train.ds")
    assert code == 2
    assert "is a data set already" in err


@pytest.mark.parametrize("task", ["", "--task svc --kernel linear "])
def test_train_and_predict(folder, pegasos, task):
    pegasos("convert train.svm train.ds")
    code, out, err = pegasos(f"train {task}--C 0.1 --random-state 0 train.ds/")
    assert (code, err) == (0, "")
    assert "train.ds/: 300 examples x 400 features" in out
    assert "model    train.ds.model" in out
    pegasos(f"train {task}--C 0.1 --random-state 0 train.svm text.model")
    texts = [
        pegasos(f"predict {data} {model}")[1]
        for data in ("train.ds", "train.svm")
        for model in ("train.ds.model", "text.model")
    ]
    assert len(set(texts)) == 1
    assert texts[0].startswith("error ")


def test_train_by_blocks(folder, pegasos):
    X, y = make_text(60_000, 400, random_state=0)
    write_svmlight(X, y, "long.svm")
    pegasos("convert --dtype float32 long.svm long.ds")
    code, out, err = pegasos("train --alpha 1e-3 --memory-limit 215MB --random-state 0 long.ds")
    assert (code, err) == (0, "")
    assert "by blocks of" in out
    assert "converged: the gap reached tol" in out


def test_unscaled_columns_are_named_before_the_fit(folder, pegasos):
    write_svmlight(sp.csr_matrix([[1e5, 1.0], [2e5, 0.5]] * 50), [1, -1] * 50, "large.svm")
    pegasos("convert large.svm large.ds")
    _, _, err = pegasos("train --memory-limit 50MB large.ds")  # there is no fit
    warning, error = err.splitlines()
    assert warning.startswith("pegasos: warning: By blocks such columns take very many epochs. Columns differ in size")
    assert "and pass scale=True." in warning
    assert "memory_limit=50MB is too small" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train --zero-based train.ds", "--zero-based is for text"),
        ("train --memory-limit 50MB train.ds", "memory_limit=50MB is too small: the process itself and weights of"),
        (
            "train --memory-limit 50MB --C auto train.ds",
            "more than memory_limit=50MB; raise it, or choose C on a part",
        ),
        ("train --memory-limit much train.ds", "such as '1GB'"),
        ("train --memory-limit 1GB train.svm", "--memory-limit is for data sets"),
        ("train --task sequence train.ds", "no sequences"),
        ("train --one-pass train.ds m.model", "train.ds"),
    ],
)
def test_mistakes_with_data_sets(folder, pegasos, arguments, message):
    pegasos("convert train.svm train.ds")
    code, _, err = pegasos(arguments)
    assert code == 2
    assert message in err


def test_a_model_of_more_features_takes_a_narrower_data_set(folder, pegasos):
    (folder / "narrow.svm").write_text("1 1:1 2:1\n-1 3:1\n")
    pegasos("convert narrow.svm narrow.ds")
    pegasos("train -q --C 0.1 train.svm text.model")
    assert pegasos("predict narrow.ds text.model")[0] == 0
    pegasos("train -q --C 0.1 narrow.svm narrow.model")
    code, _, err = pegasos("predict train.svm narrow.model")
    assert code == 2
    assert "but the model was trained on 3" in err


LIBLINEAR = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 400\nbias 1\nw\n" + "0.5 \n" * 401


def test_models_of_liblinear(folder, pegasos):
    """There and back: the same decisions, and what the command can do with any model."""
    (folder / "given").write_text(LIBLINEAR)
    code, out, err = pegasos("convert given ours.model")
    assert (code, out, err) == (0, "ours.model: a LinearSVC of 400 features, as a model of pegasos\n", "")
    assert "no bound is known" in pegasos("inspect ours.model")[1]
    assert pegasos("predict -q --decision train.svm ours.model one.txt") == (0, "", "")
    assert json.loads(pegasos("convert --json ours.model back")[1])["form"] == "LIBLINEAR"
    assert pegasos("convert -q back again.model") == (0, "", "")
    assert pegasos("predict -q --decision train.svm again.model two.txt") == (0, "", "")
    np.testing.assert_allclose(np.loadtxt("one.txt"), np.loadtxt("two.txt"))
    assert "exists already" in pegasos("convert given ours.model")[2]
    assert pegasos("convert -q --overwrite given ours.model") == (0, "", "")
    (folder / "l1").write_text(LIBLINEAR.replace("L2R_LR", "L1R_LR"))
    assert "warning: the model of LIBLINEAR has penalty='l1'" in pegasos("convert l1 l1.model")[2]
    (folder / "damaged").write_text(LIBLINEAR[:-9])
    code, _, err = pegasos("convert damaged damaged.model")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("pegasos: damaged: 400 lines of weights where 401 are expected")


def test_models_of_libsvm_and_onnx(folder, pegasos):
    assert pegasos("train -q --task svc --tol 0.1 train.svm kernel.model") == (0, "", "")
    code, out, _ = pegasos("convert kernel.model kernel.libsvm")
    assert (code, out) == (0, "kernel.libsvm: a SVC of 400 features, as a model of LIBSVM\n")
    assert pegasos("convert -q --features 400 kernel.libsvm back.model") == (0, "", "")
    for model, output in (("kernel.model", "one.txt"), ("back.model", "two.txt")):
        assert pegasos(f"predict -q --decision train.svm {model} {output}") == (0, "", "")
    np.testing.assert_allclose(np.loadtxt("one.txt"), np.loadtxt("two.txt"), rtol=1e-6, atol=1e-6)
    assert "--features is for models of LIBSVM" in pegasos("convert --features 3 kernel.model x")[2]
    assert "name the TARGET" in pegasos("convert kernel.model")[2]
    pytest.importorskip("onnx", reason="models in ONNX need onnx")
    assert "as a model of ONNX" in pegasos("convert kernel.model kernel.onnx")[1]
    code, _, error = pegasos("convert kernel.onnx kernel.back")
    assert (code, "models in ONNX are written and not read" in error) == (2, True)


def test_models_that_other_programs_do_not_have(folder, pegasos):
    (folder / "raw.txt").write_text("good\tfine and well\nbad\tpoor and ill\n" * 10)
    (folder / "tags.txt").write_text("He PRP\nleft VBD\n\nA DT\ndog NN\n\n" * 4)
    assert pegasos("train -q --format text raw.txt text.model") == (0, "", "")
    assert "text or templates" in pegasos("convert text.model out")[2]
    assert pegasos("train -q --task sequence tags.txt tags.model") == (0, "", "")
    assert pegasos("convert tags.model out")[0] == 2
