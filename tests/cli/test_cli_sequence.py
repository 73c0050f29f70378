"""The command line on sentences in columns."""

import io
import json
import sys

import pytest
from sequence_helpers import as_strings, make_sentences

from pegasos import SequenceSVC
from pegasos.io import load_model, read_conll, save_model
from pegasos.sequence.chunks import chunk_scores
from pegasos.sequence.templates import Template
from pegasos.solvers import FrankWolfe

TRAIN, TEST = make_sentences(80), make_sentences(30, seed=1)


def write(path, sentences, labelled=True):
    """Columns: the word, its first letter, and the label."""
    rows = [[(word, word[0], label)[: 2 + labelled] for word, label in own] for own in sentences]
    path.write_text("\n".join("".join(" ".join(row) + "\n" for row in own) for own in rows))


def columns_of(path):
    """Without the label."""
    return [[position[:-1] for position in sentence] for sentence in read_conll(path)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "train.txt", TRAIN)
    write(tmp_path / "test.txt", TEST)
    write(tmp_path / "new.txt", TEST, labelled=False)
    (tmp_path / "template").write_text("# words\nU0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\nB\n")
    return tmp_path


def test_train_predict_inspect(folder, pegasos):
    code, out, err = pegasos("train --task sequence --template template --C 0.5 --random-state 0 train.txt m")
    assert (code, err) == (0, "")
    positions = sum(map(len, TRAIN))
    assert f"train.txt: 80 sentences of {positions} positions, 2 columns and 5 labels, read in" in out
    assert "FrankWolfe(), chosen by auto" in out
    pipeline = load_model("m")
    template, model = pipeline
    assert isinstance(model, SequenceSVC)
    assert (model.C, model.certificate_.converged) == (0.5, True)
    assert (template.n_columns, template.n_features_in_) == (2, 2)
    predicted = pipeline.predict(columns_of("test.txt"))

    code, out, err = pegasos("predict test.txt m labels.txt")
    assert (code, err) == (0, "")
    scores = chunk_scores([[label for _, label in own] for own in TEST], predicted)
    first, *table = out.splitlines()
    wrong = scores.n_positions - scores.n_correct_positions
    assert first == f"error {100 * (1 - scores.accuracy):.2f}%  ({wrong} of {scores.n_positions} wrong)"
    assert "\n".join(table) == scores.table()
    assert [line.split()[0] for line in table] == ["precision", "all", "X", "Y"]
    assert (folder / "labels.txt").read_text() == "\n".join("".join(f"{label}\n" for label in own) for own in predicted)
    assert [[label for (label,) in own] for own in read_conll("labels.txt")] == predicted

    code, out, err = pegasos("inspect --top 3 m")
    assert (code, err) == (0, "")
    assert "SequenceSVC (C=0.5, boundaries=True), classes B-X, B-Y, I-X, I-Y and O" in out
    assert "2 columns before the label, by a template" in out
    assert "largest weights of transitions" in out
    assert " -> " in out
    assert "  of " in out.splitlines()[-1]


def test_labels_are_not_needed_to_predict(folder, pegasos):
    pegasos("train --task sequence --quiet train.txt m")
    pegasos("predict --quiet test.txt m a")
    code, out, _ = pegasos("predict new.txt m b")
    assert code == 0
    assert out == (f"{sum(map(len, TEST))} positions predicted; new.txt has no labels, so no error is computed\n")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert json.loads(pegasos("predict --json new.txt m")[1])["error"] is None


def test_labels_that_are_new_are_wrong(folder, pegasos):
    pegasos("train --task sequence --quiet train.txt m")
    (folder / "some.txt").write_text("b-x1 b B-Z\no1 o O\n")
    code, out, _ = pegasos("predict some.txt m")
    assert code == 0
    assert out.startswith(
        "error 50.00%  (1 of 2 wrong); 1 of them has a label that the model does not know, such as B-Z\n"
    )
    assert "\nZ " in out
    (folder / "all.txt").write_text("b-x1 b ?\no1 o ?\n")
    assert "labels such as ?, and none that the model knows (" in pegasos("predict all.txt m")[1]


def test_labels_that_are_no_chunks(folder, pegasos):
    (folder / "tags.txt").write_text("the D\ndog N\n\ndogs N\nbark V\n")
    assert pegasos("train --task sequence --quiet tags.txt m") == (0, "", "")
    assert pegasos("predict tags.txt m")[1] == "error 0.00%  (0 of 4 wrong)\n"
    assert pegasos("predict --quiet tags.txt m -")[1] == "D\nN\n\nN\nV\n"


def test_default_template(folder, pegasos):
    assert pegasos("train --task sequence --quiet train.txt m")[0] == 0
    template = load_model("m")[0]
    assert template.text == Template.window(2).text
    assert json.loads(pegasos("inspect --json m")[1])["template"]["columns"] == 2


def test_named_template(folder, pegasos):
    assert pegasos("train --task sequence --template chunking --quiet train.txt m")[0] == 0
    assert load_model("m")[0].text == Template.named("chunking").text


def test_parameters(folder, pegasos):
    (folder / "costs").write_text("\n".join(" ".join("0" if j == k else "2" for k in range(5)) for j in range(5)))
    flags = "--alpha 0.01 --tol 0.01 --max-iter 50 --hash-bits 8 --no-boundaries --no-fit-intercept --cost costs"
    flags += " --constraints bio --solver frank-wolfe --decodings 2 --n-jobs 2 --random-state 3 --max-time 60"
    code, out, err = pegasos(f"train --task sequence {flags} train.txt m")
    assert (code, err) == (0, "")
    assert "FrankWolfe(decodings=2)" in out
    model = load_model("m")[-1]
    assert (model.alpha, model.tol, model.hash_bits, model.boundaries, model.constraints) == (
        0.01,
        0.01,
        8,
        False,
        "bio",
    )
    assert model.solver.get_params() == FrankWolfe(decodings=2).get_params()
    assert (model.n_jobs, model.random_state, model.cost[0][:2]) == (2, 3, [0, 2])
    out = pegasos("inspect m")[1]
    assert "SequenceSVC (alpha=0.01, boundaries=False, constraints=bio, hash_bits=8)" in out
    assert "256 features" in out
    assert pegasos("train --task sequence --min-count 3 --quiet train.txt n")[0] == 0
    assert load_model("n")[-1].min_count == 3
    line = "train --task sequence --solver pegasos --batch-size 8 --project --tol 0.5 --quiet train.txt n"
    assert pegasos(line) == (0, "", "")


def test_separator(folder, pegasos):
    sentences = [[("the dog", "N"), ("barks", "V")], [("dogs", "N")]]
    (folder / "tabs.txt").write_text("the dog\tN\nbarks\tV\n\ndogs\tN\n")
    assert pegasos("train --task sequence --separator tab --quiet tabs.txt m")[0] == 0
    code, out, _ = pegasos(r"predict --separator \t --quiet tabs.txt m -")
    assert (code, out) == (0, "\n".join("".join(f"{label}\n" for _, label in own) for own in sentences))
    code, _, err = pegasos("train --task sequence --quiet tabs.txt m")
    assert code == 2
    assert "tabs.txt: line 2: 2 columns, but line 1 has 3; correct the line; or name the separator" in err


def test_json(folder, pegasos):
    result = json.loads(pegasos("train --task sequence --json train.txt m")[1])
    assert (result["sentences"], result["positions"]) == (80, sum(map(len, TRAIN)))
    assert result["features"] == load_model("m")[-1].n_features_in_
    assert result["converged"] is True
    result = json.loads(pegasos("predict --json test.txt m")[1])
    assert result["error"] == result["wrong"] / result["positions"]
    assert 0 < result["f1"] <= 1
    scores = chunk_scores(
        [[label for _, label in own] for own in TEST], load_model("m").predict(columns_of("test.txt"))
    )
    assert (result["chunks"], result["predicted"], result["correct"]) == (
        scores.n_true,
        scores.n_predicted,
        scores.n_correct,
    )
    assert list(result["types"]) == ["X", "Y"]
    assert result["types"]["X"] == {
        "precision": scores.by_type["X"].precision,
        "recall": scores.by_type["X"].recall,
        "f1": scores.by_type["X"].f1,
        "chunks": scores.by_type["X"].n_true,
        "predicted": scores.by_type["X"].n_predicted,
        "correct": scores.by_type["X"].n_correct,
    }
    facts = json.loads(pegasos("inspect --json --top 4 m")[1])
    assert [len(entry) for entry in facts["transitions"]] == [3] * 4
    assert [len(entry) for entry in facts["largest"]] == [3] * 4


def test_decision_values(folder, pegasos):
    pegasos("train --task sequence --quiet train.txt m")
    code, out, _ = pegasos("predict --quiet --decision test.txt m -")
    assert code == 0
    blocks = [block.splitlines() for block in out.split("\n\n")]
    assert [len(block) for block in blocks] == [len(own) for own in TEST]
    assert {len(line.split()) for block in blocks for line in block} == {5}


def test_warm_start(folder, pegasos):
    code, out, _ = pegasos("train --task sequence --warm-start --template template --C 10 --tol 1e-5 train.txt m")
    assert code == 0
    assert "m does not exist yet: starting anew" in out
    first = load_model("m")[-1]
    assert pegasos("train --warm-start --quiet train.txt m") == (0, "", "")
    assert load_model("m")[-1].n_iter_ < first.n_iter_
    assert load_model("m")[0].n_columns == 2
    assert pegasos("train --warm-start --template template --quiet train.txt m")[0] == 0
    assert (
        "--template is another than that of the model"
        in pegasos("train --warm-start --template chunking train.txt m")[2]
    )
    assert "cannot continue" in pegasos("train --warm-start --task svc train.txt m")[2]
    assert "new.txt has no column of labels to train on" in pegasos("train --warm-start new.txt m")[2]


def test_verbose_and_not_converged(folder, pegasos):
    code, _, err = pegasos("train --task sequence --verbose --C 100 --max-iter 1 train.txt m")
    assert code == 0
    assert err.splitlines()[0].startswith("gap ")
    assert "pegasos: warning: SequenceSVC did not reach tol=0.1" in err


def test_standard_input(folder, pegasos, monkeypatch):
    class Stdin:
        buffer = io.BytesIO((folder / "train.txt").read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert pegasos("train --task sequence --quiet - m") == (0, "", "")


def to_iob1(labels):
    """By its definition: B-X only between two chunks of type X."""
    before = ["O", *labels]
    return [
        f"I{label[1:]}" if label[0] == "B" and before[k][1:] != label[1:] else label for k, label in enumerate(labels)
    ]


def test_iob1(folder, pegasos):
    for name, sentences in (("train", TRAIN), ("test", TEST)):
        old = [
            list(zip([word for word, _ in own], to_iob1([label for _, label in own]), strict=True)) for own in sentences
        ]
        assert old != sentences
        write(folder / f"{name}1.txt", old)
    for name, flags in (("a", "train.txt"), ("b", "--scheme iob1 train1.txt")):
        assert pegasos(f"train --task sequence --constraints bio --random-state 0 --quiet {flags} {name}") == (
            0,
            "",
            "",
        )
    assert pegasos("predict test.txt a a.txt")[1] == pegasos("predict --scheme iob1 test1.txt b b.txt")[1]
    assert (folder / "a.txt").read_bytes() == (folder / "b.txt").read_bytes()
    err = pegasos("train --task sequence --constraints bio train1.txt m")[2]
    assert "which --constraints forbids; mend the label, leave --constraints out, or give --scheme iob1 if" in err


def test_prefixes_suffixes_and_shapes(folder, pegasos):
    (folder / "template").write_text("U0:%prefix[0,0,1]\nU1:%suffix[-1,0,2]/%shape[0,0]\nU2:%lower[1,0]\n")
    assert pegasos("train --task sequence --template template --quiet train.txt m") == (0, "", "")
    assert pegasos("predict --quiet new.txt m labels.txt") == (0, "", "")
    text = load_model("m").predict(columns_of("test.txt"))
    assert [[label for (label,) in own] for own in read_conll("labels.txt")] == text
    assert "U1:" in pegasos("inspect --top 50 m")[1]


MISTAKES = {
    "train --task sequence none.txt": "none.txt: No such file or directory",
    "train --task sequence words.txt": "words.txt has one column, and the last is the label; add columns",
    "train --task sequence ragged.txt": "ragged.txt: line 3: 2 columns, but line 1 has 3; correct the line",
    "train --task sequence empty.txt": "empty.txt: no sentences",
    "train --task sequence one.txt": "y has one label only, 'N'",
    "train --task sequence --constraints bio broken.txt": "broken.txt: line 5: the label 'I-X' after 'O', which "
    "--constraints forbids; mend the label, leave --constraints out, or give --scheme iob1",
    "train --task sequence --template no train.txt": "--template no: no such file, and no template is named 'no'",
    "train --task sequence --template bad train.txt": "bad: line 2, column 3: '%x[0]' is no %x[row,column]",
    "train --task sequence --template chunking one.txt": "one.txt has 1 column before the label, but the template uses",
    "train --task sequence --zero-based train.txt": "--zero-based is for svmlight files, and sequences come in columns",
    "train --task sequence --dtype float64 train.txt": "--dtype is for svmlight files",
    "train --task sequence --loss hinge train.txt": "--loss is for --task classification, regression or svr; leave",
    "train --task sequence --solver sdca train.txt": "solver='sdca': it is for fit of LinearSVC",
    "train --task sequence --constraints iob train.txt": "--constraints iob: must be one of no, bio",
    "train --task sequence --warm-start --solver pegasos train.txt": "pegasos does not support warm_start=True with",
    "train --task sequence --hash-bits 99 train.txt": "--hash-bits=99: must be an integer of at least 1 and at most 28",
    "train --task sequence --scheme iob1 tags.txt": "tags.txt: the sentence at line 3, position 1: label 'V' is none "
    "of O, B-type and I-type; leave --scheme out",
    "predict words.txt m": "words.txt has 1 column, but the model was trained on 2 columns and labels after them",
    "predict --proba test.txt m": "a SequenceSVC has no probabilities; leave --proba out",
    "predict --dtype float32 test.txt m": "--dtype is for svmlight files",
    "predict test.txt features.model": "features.model has no template, as it was trained on features and not",
    "predict test.txt m test.txt": "would be overwritten",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_get_one_line_and_exit_code_2(folder, pegasos, line):
    assert pegasos("train --task sequence --quiet train.txt m")[0] == 0
    save_model(SequenceSVC().fit(*as_strings(TRAIN)), "features.model")
    (folder / "words.txt").write_text("a\nb\n")
    (folder / "ragged.txt").write_text("a b N\n\na N\n")
    (folder / "empty.txt").write_text("\n\n")
    (folder / "tags.txt").write_text("a I-X\n\na O\nb V\n")
    (folder / "one.txt").write_text("a N\nb N\n")
    (folder / "broken.txt").write_text("a B-X\na I-X\n\na O\na I-X\n")
    (folder / "bad").write_text("U0:%x[0,0]\nU:%x[0]\n")
    code, out, err = pegasos(line)
    assert code == 2
    assert err.startswith("pegasos: ")
    assert err.count("\n") == 1
    assert MISTAKES[line] in err
    assert "Traceback" not in out + err
