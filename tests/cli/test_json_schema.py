"""What `--json` prints is what schema.json says, and nothing that it does not say."""

import copy
import json
from importlib.resources import files

import numpy as np
import pytest

from pegasos.cli.options import SCHEMAS
from pegasos.datasets import make_text
from pegasos.io import write_svmlight

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((files("pegasos.cli") / "schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def validator():
    """Refuses fields that the schema does not describe, which it allows others to have."""
    strict = copy.deepcopy(SCHEMA)
    for entry in strict["oneOf"]:
        strict["$defs"][entry["$ref"].rpartition("/")[2]]["unevaluatedProperties"] = False
    for certificate in (
        strict["$defs"]["certificate"]["properties"]["parts"]["items"],
        strict["$defs"]["inspect"]["properties"]["certificate"],
    ):
        certificate["unevaluatedProperties"] = False
    jsonschema.Draft202012Validator.check_schema(strict)
    return jsonschema.Draft202012Validator(strict)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(0)
    X, y = make_text(120, 30, random_state=0)
    write_svmlight(X, y, folder / "two.svm")
    write_svmlight(X, np.arange(120) % 3, folder / "three.svm")
    write_svmlight(X, random.normal(size=120), folder / "values.svm")
    write_svmlight(X, np.full(120, 7), folder / "unknown.svm")
    (folder / "table.csv").write_text("a,b,kind\n1,2,x\n2,1,y\n3,5,x\n0,7,y\n")
    (folder / "raw.txt").write_text("good\tfine and well\nbad\tpoor and ill\n" * 10)
    (folder / "words.vw").write_text("1 | fine well\n-1 | poor ill\n" * 10)
    (folder / "others.svm").write_bytes((folder / "two.svm").read_bytes())
    (folder / "chunks.txt").write_text("He PRP B-NP\nleft VBD O\n\nA DT B-NP\ndog NN I-NP\n\n" * 4)
    (folder / "tags.txt").write_text("He PRP\nleft VBD\n\nA DT\ndog NN\n\n" * 4)
    return folder


TRAIN = {
    "two classes": "two.svm",
    "not converged": "--tol 0 --max-iter 1 --solver perceptron two.svm",
    "not asked": "--tol 0 --max-iter 1 three.svm",
    "classes": "three.svm",
    "joint": "--multi-class joint three.svm",
    "values": "--task regression values.svm",
    "scaled": "--scale two.svm",
    "C auto": "--C auto two.svm",
    "C auto, quantile": "--task regression --loss quantile --quantile 0.9 --C auto values.svm",
    "validation": "--validation others.svm two.svm",
    "validation, a share": "--validation 0.5 --task regression values.svm",
    "kernel": "--task svc two.svm",
    "kernel, classes": "--task svc --kernel linear three.svm",
    "kernel, values": "--task svr values.svm",
    "table": "--label kind table.csv",
    "raw text": "--format text raw.txt",
    "hashed text": "--format vw --hash-bits 5 words.vw",
    "sequences": "--task sequence chunks.txt",
    "tags": "--task sequence tags.txt",
    "one pass": "--one-pass two.svm",
    "one pass, alpha": "--one-pass --alpha 0.1 two.svm",
    "one pass, classes": "--one-pass --classes 0,1,2 three.svm",
    "one pass, values": "--one-pass --task regression values.svm",
    "one pass, text": "--one-pass --hash-bits 5 words.vw",
}


@pytest.fixture
def objects(data, monkeypatch, pegasos, validator):
    """Run a command line with --json; the object, which is as the schema says."""
    monkeypatch.chdir(data)

    def call(line):
        code, out, err = pegasos(line)
        assert code == 0, err
        found = json.loads(out)
        validator.validate(found)
        return found

    return call


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", TRAIN)
def test_train_predict_inspect(case, objects):
    flags = TRAIN[case]
    kind = "train-one-pass" if "--one-pass" in flags else "train"
    assert objects(f"train --json --random-state 0 {flags} m")["schema"] == f"pegasos/{kind}/1"
    source = flags.split()[-1]
    label = "--label kind " if "--label" in flags else ""
    assert objects(f"predict --json {label}{source} m")["schema"] == "pegasos/predict/1"
    assert objects("inspect --json m")["schema"] == "pegasos/inspect/1"
    assert objects("inspect --json --top 0 m")["model"] == "m"


def test_predictions_without_an_error(objects):
    objects("train --json two.svm m")
    assert objects("predict --json unknown.svm m")["error"] is None


def test_convert(objects):
    assert objects("convert --json --overwrite two.svm two.ds")["schema"] == "pegasos/convert/1"
    assert objects("convert --json --verify two.ds")["target"] is None


def test_cross_validation(objects):
    assert objects("train --json -v 3 two.svm")["schema"] == "pegasos/cross-validation/1"
    assert objects("train --json -v 2 --task sequence chunks.txt")["sentences"] == 8


def test_convert_models(objects):
    objects("train --json two.svm linear.model")
    assert objects("convert --json linear.model linear.liblinear")["schema"] == "pegasos/convert-model/1"
    assert objects("convert --json linear.liblinear imported.model")["form"] == "pegasos"
    assert objects("inspect --json imported.model")["certificate"]["gap"] is None


def test_every_kind_is_described():
    described = {kind["properties"]["schema"]["const"] for kind in (SCHEMA["$defs"][name] for name in _names())}
    assert described == {f"pegasos/{kind}/{version}" for kind, version in SCHEMAS.items()}


def _names():
    return [entry["$ref"].rpartition("/")[2] for entry in SCHEMA["oneOf"]]
