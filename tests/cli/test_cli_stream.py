"""``pegasos train --one-pass``: learning from a pipe, and models that go on learning."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import threading
import types

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline

from pegasos import LinearSVC, LinearSVR, TextHasher
from pegasos.datasets import make_text
from pegasos.io import load_model, read_svmlight, read_text, save_model, write_svmlight
from pegasos.reference.stream import adagrad_stream, pegasos_stream
from pegasos.solvers import AdaGrad, Pegasos


def make_lines(count=300, seed=0):
    """Texts whose label is in a few of their words."""
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        label = random.choice([-1, 1])
        words = [f"w{k}" for k in random.integers(0, 200, size=10)] + [
            f"{'good' if label > 0 else 'bad'}{k}" for k in range(2)
        ]
        lines.append(f"{label} | {' '.join(random.permutation(words))}")
    return lines


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.vw").write_text("\n".join(make_lines()) + "\n")
    (tmp_path / "test.vw").write_text("\n".join(make_lines(100, seed=1)) + "\n")
    X, y = make_text(300, 400, random_state=0)
    write_svmlight(X, y, "train.svm")
    return tmp_path


def test_text_learns_and_predicts(folder, pegasos):
    code, out, err = pegasos("train --one-pass --hash-bits 10 train.vw m")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["loss", "since", "last", "examples", "weight", "label", "score"]
    assert [line.split()[2] for line in lines[1:10]] == [f"{2**k:,}" for k in range(9)]
    assert "AdaGrad()" in out
    model = load_model("m")
    machine = model[-1]
    assert (model[0].hash_bits, machine.t_, machine.classes_.tolist()) == (10, 300, [-1, 1])

    X, y, _ = read_text("train.vw", 10)
    rows = np.column_stack([X.toarray(), np.ones(300)])
    iterates = list(adagrad_stream("hinge", rows, y, 0.5, np.arange(300)))
    np.testing.assert_allclose(machine.coef_[0], iterates[-1][:-1], rtol=1e-6, atol=1e-9)
    margins = y * np.array([row @ w for row, w in zip(rows, iterates[:-1], strict=True)])
    losses = np.maximum(0, 1 - margins)
    assert machine.progressive_.loss == pytest.approx(losses.mean(), rel=1e-6)
    told = [float(line.split()[0]) for line in lines[1:10]]
    assert told == pytest.approx([losses[: 2**k].mean() for k in range(9)], abs=1e-6)
    since = [float(line.split()[1]) for line in lines[2:10]]
    assert since == pytest.approx([losses[2**k : 2 ** (k + 1)].mean() for k in range(8)], abs=1e-6)

    code, out, err = pegasos("predict test.vw m labels.txt")
    assert (code, err) == (0, "")
    assert out.startswith("error 0.00%  (0 of 100 wrong)")
    np.testing.assert_array_equal(np.loadtxt("labels.txt"), read_text("test.vw", 10)[1])
    assert pegasos("inspect m")[1].splitlines()[2].startswith("progressive loss 0.")
    assert json.loads(pegasos("inspect --json m")[1])["progressive"]["n_rows"] == 300
    (folder / "new.vw").write_text("| good0 good1\n| bad0\n")
    code, out, _ = pegasos("predict new.vw m -")
    assert (code, out.split()) == (0, ["1", "-1"])
    assert load_model("m").predict(["good0 good1", "bad0"]).tolist() == [1, -1]


def test_pipe_is_learned_from_as_it_comes(folder):
    """What is told of an example does not wait for the next one."""
    command = [sys.executable, "-u", "-m", "pegasos", "train", "--one-pass", "--hash-bits", "10", "-", "m"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        process.stdin.write("".join(f"{line}\n" for line in make_lines(2)).encode())
        process.stdin.flush()
        lines = [process.stdout.readline().decode() for _ in range(3)]
        assert lines[2].split()[2] == "2"  # before the third is there
        process.stdin.write(b"1 | w1\n")
        process.stdin.close()
        rest = process.stdout.read().decode()
        assert "(3 examples" in rest
        watchdog.cancel()
    assert process.returncode == 0
    assert load_model("m")[-1].t_ == 3


def test_interrupt_while_a_pipe_is_silent(folder):
    command = [sys.executable, "-u", "-m", "pegasos", "train", "--one-pass", "--hash-bits", "10", "-", "m"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        process.stdin.write(b"1 | a\n")
        process.stdin.flush()
        for _ in range(2):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        told = "pegasos: interrupted; what was learned so far is saved in m"
        assert process.stderr.read().decode().strip() == told
        watchdog.cancel()
    assert load_model("m")[-1].t_ == 1


def test_standard_input_is_the_file(folder, pegasos, monkeypatch):
    assert pegasos("train --one-pass --hash-bits 10 --quiet train.vw one") == (0, "", "")
    with open("train.vw", "rb") as file:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(file))
        assert pegasos("train --one-pass --format vw --hash-bits 10 --quiet - other") == (0, "", "")
    np.testing.assert_array_equal(load_model("one")[-1].coef_, load_model("other")[-1].coef_)


@pytest.mark.parametrize("size", [200, 1 << 21])
def test_svmlight_in_one_pass(folder, pegasos, monkeypatch, size):
    """Features come up as the file is read, in blocks of any size."""
    monkeypatch.setattr("pegasos.io.text.read_blocks.__defaults__", (size,))
    code, out, err = pegasos("train --one-pass --alpha 0.01 --average no train.svm m")
    assert (code, err) == (0, "")
    assert "Pegasos(average=False)" in out
    X, y = read_svmlight("train.svm", dtype=np.float32)
    rows = np.column_stack([X.toarray().astype(float), np.ones(300)])
    *_, last = pegasos_stream("hinge", rows, y, 0.01, np.arange(300))
    machine = load_model("m")
    assert machine.coef_.shape == (1, X.shape[1])
    np.testing.assert_allclose(machine.coef_[0], last.w[:-1], rtol=1e-7, atol=1e-10)
    assert machine.progressive_.loss == pytest.approx(last.loss / 300)
    assert machine.lower_bound_ == pytest.approx(last.bound)
    assert pegasos("predict train.svm m")[0] == 0
    result = json.loads(pegasos("train --one-pass --alpha 0.01 --json train.svm m")[1])
    assert result["examples"] == 300
    assert result["progressive_loss"] == pytest.approx(last.loss / 300)
    assert result["lower_bound"] == pytest.approx(last.bound)


@pytest.mark.parametrize("text", [True, False])
def test_compressed_text_by_a_pipe(folder, pegasos, monkeypatch, text):
    flags, name = ("--hash-bits 12", "lines.vw") if text else ("", "lines.svm")
    lines = "1 | good film\n-1 | bad film\n" if text else "1 1:1\n-1 2:1\n"
    (folder / name).write_text(50 * lines)
    assert pegasos(f"train --one-pass -q {flags} {name} m")[0] == 0
    packed = io.BytesIO(gzip.compress((50 * lines).encode()))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=packed))
    assert pegasos(f"train --one-pass -q {flags} - n") == (0, "", "")
    machines = [model[-1] if text else model for model in (load_model("m"), load_model("n"))]
    np.testing.assert_array_equal(machines[0].coef_, machines[1].coef_)


def test_more_classes_weights_and_regression(folder, pegasos):
    (folder / "three.vw").write_text("".join(f"{k % 3} | a{k % 3} b{k % 7}\n" for k in range(300)))
    code, out, err = pegasos("train --one-pass --hash-bits 12 --classes 0,1,2 --class-weight 1=2 three.vw m")
    assert (code, err) == (0, "")
    assert "300 examples of weight 400" in out
    model = load_model("m")[-1]
    assert model.coef_.shape == (3, 4096)
    assert pegasos("predict three.vw m")[1].startswith("error 0.00%")
    (folder / "numbers.vw").write_text("".join(f"{k % 5} | a{k % 5}\n" for k in range(500)))
    code, out, err = pegasos("train --one-pass --hash-bits 12 --task regression numbers.vw m")
    assert (code, err) == (0, "")
    assert "mean squared error" in out
    assert isinstance(load_model("m")[-1], LinearSVR)
    assert "R^2 0.9" in pegasos("predict numbers.vw m")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "train --one-pass --hash-bits 40 train.vw m",
            "hash_bits=40: must be an integer of at least 1 and at most",
        ),
        ("train --one-pass --hash-bits 10 train.svm m", "train.svm: line 1, column 1: no '|' after the label"),
        ("train --one-pass --hash-bits 10 bad.vw m", "bad.vw: line 2, column 7: 'x' is not a finite number"),
        (
            "train --one-pass --hash-bits 10 unlabelled.vw m",
            "unlabelled.vw: an example between lines 1 and 2 has no label",
        ),
        ("train --one-pass --hash-bits 10 zero.vw m", "zero.vw: the label 0 is none of -1, 1; name all labels"),
        ("train --one-pass --hash-bits 10 empty.vw m", "empty.vw: no examples"),
        ("train --one-pass bad.svm m", "bad.svm: line 2, column 3: no colon in 'x'"),
        ("train --one-pass --hash-bits 10 --classes 1 train.vw m", "--classes must name two labels or more"),
        ("train --one-pass --hash-bits 10 --classes a,b train.vw m", "--classes a,b: must be numbers"),
        ("train --one-pass --hash-bits 10 --tol 0.1 train.vw m", "--tol does not go with --one-pass"),
        ("train --one-pass --hash-bits 10 --dtype float32 train.vw m", "--dtype does not go with --one-pass"),
        ("train --one-pass --hash-bits 10 --zero-based train.vw m", "--zero-based is for svmlight files"),
        ("train --one-pass --hash-bits 10 --format svmlight train.svm m", "--hash-bits is for text"),
        (
            "train --one-pass --hash-bits 10 --task svc train.vw m",
            "text, by --hash-bits, is for --task classification or",
        ),
        ("train --one-pass --task svc train.svm m", "--one-pass is for linear estimators"),
        ("train --hash-bits 10 --task svc train.vw m", "text, by --hash-bits, is for --task classification or"),
        ("train --one-pass --format text train.vw m", "--one-pass is for svmlight and vw lines, and not for raw text"),
        ("train --hash-bits 10 unlabelled.vw m", "unlabelled.vw has examples without a label to train on; write label"),
        ("train --hash-bits 10 --zero-based train.vw m", "--zero-based is for other files than text; leave it out"),
        ("train --one-pass --solver pegasos train.svm m", "--solver pegasos needs --alpha"),
        ("train --one-pass --solver sdca train.svm m", "solver='sdca': it is for fit of LinearSVC"),
        ("train --one-pass --solver adagrad --alpha 1 train.svm m", "AdaGrad minimises the loss alone"),
        ("train --one-pass --eta 0.1 --alpha 1 train.svm m", "--eta is no option of the solver pegasos"),
        (
            "train --one-pass --batch-size 2 --alpha 1 train.svm m",
            "pegasos does not support batch_size=2 with a stream",
        ),
        ("train --classes 0,1 train.svm m", "--classes is for --one-pass"),
        (
            "train --solver adagrad train.svm m",
            "solver='adagrad': it is for partial_fit of LinearSVC and LinearSVR (on the command line --one-pass)",
        ),
        ("train --one-pass train.svm nowhere/m", "no folder that can be written to"),
        ("predict --zero-based test.vw text.model", "--zero-based is for other files than text"),
        (
            "train --warm-start train.vw text.model",
            "text.model learned in one pass, which --warm-start does not continue",
        ),
    ],
)
def test_mistakes(folder, pegasos, arguments, message):
    (folder / "bad.vw").write_text("1 | a\n1 | a:x\n")
    (folder / "bad.svm").write_text("1 1:1\n1 x\n")
    (folder / "unlabelled.vw").write_text("1 | a\n | b\n")
    (folder / "zero.vw").write_text("1 | a\n0 | b\n")
    (folder / "empty.vw").write_text("\n\n")
    if "text.model" in arguments:
        pegasos("train --one-pass --hash-bits 10 --quiet train.vw text.model")
    code, _, err = pegasos(arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not os.path.exists("m")


@pytest.mark.parametrize("solver", [AdaGrad(eta=0.3), Pegasos(project=True), Pegasos(average=False), "auto"])
@pytest.mark.parametrize("centers", [2, 3])
def test_loaded_models_go_on_learning(tmp_path, solver, centers):
    X, y = make_blobs(300, centers=centers, random_state=0)
    labels = np.array(["a", "b", "c"])[y]
    alpha = None if isinstance(solver, AdaGrad) else 0.01
    clf = LinearSVC(alpha=alpha, solver=solver, random_state=0, intercept_scaling=2.0)
    clf.partial_fit(X[:150], labels[:150], classes=np.unique(labels))
    save_model(clf, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert loaded.progressive_ == clf.progressive_
    assert loaded.get_params(deep=False).keys() == clf.get_params(deep=False).keys()
    for machine in (clf, loaded):
        machine.partial_fit(X[150:], labels[150:])
    np.testing.assert_allclose(loaded.coef_, clf.coef_, rtol=1e-7)
    assert loaded.progressive_ == pytest.approx(clf.progressive_)
    assert not hasattr(loaded, "certificate_")


def test_a_fit_to_lines_of_words(folder, pegasos):
    code, out, err = pegasos("train --hash-bits 10 --tol 1e-4 --random-state 0 train.vw m")
    assert (code, err) == (0, "")
    assert "300 examples of text" in out
    model = load_model("m")
    assert model[-1].certificate_.gap <= 1e-4
    X, y, _ = read_text("train.vw", 10)
    np.testing.assert_array_equal(model[-1].coef_, LinearSVC(tol=1e-4, random_state=0).fit(X, y).coef_)
    assert pegasos("predict test.vw m")[1].startswith("error ")
    assert pegasos("train --format vw --tol 0.1 --quiet train.vw n") == (0, "", "")
    assert load_model("n")[0].hash_bits == 18
    (folder / "weights.vw").write_text("3 5 | a\n1 | a\n1 1 | b\n")  # weights after the labels
    assert pegasos("train --hash-bits 5 --C 10 --quiet weights.vw m") == (0, "", "")
    (folder / "new.vw").write_text("| a\n")
    assert pegasos("predict new.vw m -")[1] == "3\n"
    assert "1 example predicted; new.vw has examples without a label" in pegasos("predict new.vw m")[1]
    assert "--hash-bits is another than that" in pegasos("train --warm-start --hash-bits 6 weights.vw m")[2]


def test_fitted_models_of_text(tmp_path, monkeypatch, pegasos):
    texts, labels = ["good film", "bad film", "a good book", "a bad book"], [1, 0, 1, 0]
    model = make_pipeline(TextHasher(10, normalize=False), LinearSVC(random_state=0, warm_start=True)).fit(
        texts, labels
    )
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.decision_function(texts), model.decision_function(texts))
    assert loaded[0].get_params() == {"hash_bits": 10, "normalize": False}
    assert loaded[-1].certificate_ == model[-1].certificate_
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.vw").write_text("".join(f"{y} | {text}\n" for y, text in zip(labels, texts, strict=True)))
    code, out, _ = pegasos("train --warm-start --tol 1e-6 text.vw m")
    assert (code, load_model("m")[-1].certificate_.gap <= 1e-6) == (0, True)
    assert "4 examples of text" in out
    with pytest.raises(ValueError, match="hash_bits=0"):
        TextHasher(0).fit(texts)
    with pytest.raises(TypeError, match="of pipelines, save_model writes"):
        save_model(make_pipeline(TextHasher(10), TextHasher(10)), tmp_path / "m")


HASHED = {"hash_bits": 3, "normalize": True, "hash": "xxh3-64"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, tensors: header["stream"].update(features=7), "of shape"),
        (lambda header, tensors: header["stream"].update(features="7"), "a stream of '7' features"),
        (lambda header, tensors: header["parameters"].update(alpha=None), "needs alpha"),
        (lambda header, tensors: header["parameters"].update(solver="sdca"), "solver='sdca': it is for fit"),
        (lambda header, tensors: header.update(text=HASHED), "3 bits of a hash"),
        (
            lambda header, tensors: header.update(text={**HASHED, "hash": "x"}),
            "features hashed by 'x'",
        ),
        (lambda header, tensors: tensors.pop("stream.0.numbers"), "stream.0.numbers"),
        (lambda header, tensors: tensors.update({"stream.0.numbers": np.zeros(4)}), "not the state of a stream"),
        (lambda header, tensors: tensors["stream.0.vectors"].fill(np.nan), "NaN or infinity"),
    ],
)
def test_damaged_models_are_refused(tmp_path, change, message):
    X, y = make_blobs(50, centers=2, random_state=0)
    path = tmp_path / "m"
    save_model(LinearSVC(alpha=0.01).partial_fit(X, y, classes=[0, 1]), path)
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    header, tensors = json.loads(metadata["header"]), load_file(path)
    del metadata["checksum"]
    change(header, tensors)
    save_file(tensors, path, metadata=metadata | {"header": json.dumps(header)})
    with pytest.raises(ValueError, match=message):
        load_model(path)


def test_columns_far_from_zero_are_warned_of(tmp_path, monkeypatch, pegasos):
    """As partial_fit does."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.choice([-1, 1], size=200)
    X[:, 1] += 1000 + y
    write_svmlight(X, y, "far.svm")
    code, _, err = pegasos("train --one-pass far.svm m")
    assert code == 0
    assert err.startswith(
        "pegasos: warning: --one-pass learns little from these data. Column 'feature 2' is around 1e+03"
    )
    assert "StandardScaler): transform examples before they are learned from." in err
    assert len(err.splitlines()) == 1
    assert pegasos("train --one-pass --quiet far.svm m") == (0, "", "")
    write_svmlight(X[:, [0, 2]], y, "near.svm")
    assert pegasos("train --one-pass near.svm m")[2] == ""
