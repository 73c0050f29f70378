"""The command line on raw text, and the choice of C."""

import csv
import json
import re
import sys

import numpy as np
import pytest
from sequence_helpers import make_sentences
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from pegasos import LinearSVC, LinearSVCCV, LinearSVR
from pegasos.base import clock
from pegasos.datasets import make_text
from pegasos.io import load_model, save_model, write_dataset, write_svmlight

WORDS = {
    "spam": ["win", "money", "now", "free", "prize"],
    "ham": ["lunch", "see", "you", "train", "late"],
    "work": ["meeting", "draft", "budget", "report", "today"],
}


def make_texts(count, labels=("spam", "ham"), seed=0):
    """Texts of some common words and some of their label's, which is the first of each pair."""
    rng = np.random.default_rng(seed)
    pairs = []
    for k in range(count):
        label = labels[k % len(labels)]
        words = [*rng.choice(WORDS[label], 3), *rng.choice(["the", "a", "and", "of"], 4)]
        pairs.append((label, " ".join(rng.permutation(words))))
    return pairs


def write_csv(path, pairs):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["number", "kind", "body"])
        writer.writerows((k, label, text.replace(" ", "\n", 1)) for k, (label, text) in enumerate(pairs))


TRAIN, TEST = make_texts(60), make_texts(20, seed=1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, pairs in (("train", TRAIN), ("test", TEST)):
        write_csv(tmp_path / f"{name}.csv", pairs)
        (tmp_path / f"{name}.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in pairs))
        (tmp_path / f"{name}.ft").write_text("".join(f"__label__{label} {text}\n" for label, text in pairs))
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for _, text in pairs))
    return tmp_path


def test_a_column_of_a_table(folder, pegasos):
    code, out, err = pegasos("train --text body --label kind --random-state 0 train.csv m")
    assert (code, err) == (0, "")
    assert "train.csv: 60 texts, 13 different words, " in out
    model = load_model("m")
    assert model[-1].certificate_.converged
    assert model[-1].classes_.tolist() == ["ham", "spam"]
    texts, labels = [text for _, text in TRAIN], [label for label, _ in TRAIN]
    by_hand = make_pipeline(TfidfVectorizer(sublinear_tf=True), LinearSVC(random_state=0)).fit(texts, labels)
    np.testing.assert_array_equal(model[-1].coef_, by_hand[-1].coef_)
    assert model.predict(["win a prize"]) == ["spam"]

    code, out, err = pegasos("predict test.csv m labels.txt")
    assert (code, err) == (0, "")
    assert out == "20 texts predicted; test.csv has columns 'number', 'kind' and no --label, so no error is computed\n"
    assert (folder / "labels.txt").read_text().split() == [label for label, _ in TEST]
    assert pegasos("predict --label kind test.csv m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    assert pegasos("predict test.tsv m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    write_csv(folder / "other.csv", TEST)
    other = (folder / "other.csv").read_text().replace("body", "mail", 1)
    (folder / "other.csv").write_text(other)
    assert "other.csv: no column 'body'; there are 'number', 'kind', 'mail'" in pegasos("predict other.csv m")[2]
    assert pegasos("predict --text mail --label kind other.csv m")[1] == "error 0.00%  (0 of 20 wrong)\n"


def test_parquet(folder, pegasos):
    import pyarrow as pa
    import pyarrow.parquet

    table = pa.table({"kind": [label for label, _ in TRAIN], "body": [text for _, text in TRAIN]})
    pa.parquet.write_table(table, "train.parquet")
    assert pegasos("train --text body --label kind --quiet train.parquet m") == (0, "", "")
    assert pegasos("predict --label kind test.csv m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    err = pegasos("train --text number --label kind train.csv m")[::2]
    assert err == (0, "")  # numbers in a CSV file are words, if that is what they are taken for


@pytest.mark.parametrize("end", ["tsv", "ft"])
def test_lines(folder, pegasos, monkeypatch, end):
    code, out, err = pegasos(f"train --format text train.{end} m")
    assert (code, err) == (0, "")
    assert f"train.{end}: 60 texts, 13 different words, " in out
    assert pegasos(f"predict test.{end} m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    assert pegasos("predict test.txt m labels.txt")[1] == (
        "20 texts predicted; test.txt has no labels, so no error is computed\n"
    )
    assert (folder / "labels.txt").read_text().split() == [label for label, _ in TEST]
    counts = {"schema": "pegasos/predict/1", "examples": 20, "wrong": 0, "error": 0.0}
    assert json.loads(pegasos(f"predict --json test.{end} m")[1]) == counts
    assert len(pegasos("predict --decision --quiet test.txt m -")[1].splitlines()) == 20
    assert "test.csv is a table; name its column of texts with --text" in pegasos("predict test.csv m")[2]

    class Stdin:
        buffer = open("test.txt", "rb")  # noqa: SIM115, the test closes it

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert pegasos("predict --quiet - m -")[1].split() == [label for label, _ in TEST]
    Stdin.buffer.close()


def test_several_classes_and_their_words(folder, pegasos):
    pairs = make_texts(90, tuple(WORDS))
    (folder / "three.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in pairs))
    assert pegasos("train --format text --class-weight work=2 --quiet three.tsv m") == (0, "", "")
    assert load_model("m")[-1].class_weight == {"work": 2.0}
    code, out, err = pegasos("inspect --top 3 m")
    assert (code, err) == (0, "")
    title, *lines = out.splitlines()[-4:]
    assert title == "largest weights of words for each class"
    assert "largest weights (" not in out
    told = json.loads(pegasos("inspect --top 3 --json m")[1])["words"]
    for line, label in zip(lines, ("ham", "spam", "work"), strict=True):
        assert line.split()[0] == label
        assert [word for word, _ in told[label]] == [part.split()[-2] for part in line.split(",")]
        assert {word for word, _ in told[label]} <= set(WORDS[label])
        assert [weight for _, weight in told[label]] == sorted((weight for _, weight in told[label]), reverse=True)


def test_words_of_two_classes(folder, pegasos):
    pegasos("train --format text --quiet train.tsv m")
    told = json.loads(pegasos("inspect --top 3 --json m")[1])
    assert list(told["words"]) == ["ham", "spam"]
    for label, words in told["words"].items():
        assert {word for word, _ in words} <= set(WORDS[label])
        assert all(weight > 0 for _, weight in words)
    assert "words for each class" not in pegasos("inspect --top 0 m")[1]


def test_runs_of_words_and_rare_ones(folder, pegasos):
    code, out, err = pegasos("train --format text --ngrams 2 --min-count 3 train.tsv m")
    assert (code, err) == (0, "")
    vectorizer = load_model("m")[0]
    assert (vectorizer.ngram_range, vectorizer.min_df) == ((1, 2), 3)
    assert any(" " in name for name in vectorizer.get_feature_names_out())
    assert f"{len(vectorizer.vocabulary_)} different features" in out


def test_numbers_as_labels_and_targets(folder, pegasos):
    numbers = {"spam": "1", "ham": "-1"}
    (folder / "numbers.tsv").write_text("".join(f"{numbers[label]}\t{text}\n" for label, text in TRAIN))
    assert pegasos("train --format text --quiet numbers.tsv m") == (0, "", "")
    assert load_model("m")[-1].classes_.tolist() == [-1, 1]
    assert "labels such as spam, and none that the model knows (-1, 1)" in pegasos("predict test.tsv m")[1]
    assert pegasos("train --format text --task regression --C 10 --quiet numbers.tsv r") == (0, "", "")
    assert isinstance(load_model("r")[-1], LinearSVR)
    assert pegasos("predict numbers.tsv r")[1].startswith("mean squared error ")
    assert "largest weights" in pegasos("inspect r")[1]
    pegasos("train --format text --quiet train.tsv words")
    assert "labels such as 1, and none that the model knows (ham, spam)" in pegasos("predict numbers.tsv words")[1]


def test_warm_start(folder, pegasos):
    assert pegasos("train --format text --warm-start --C 10 --tol 1e-6 --quiet train.tsv m") == (0, "", "")
    first = load_model("m")
    assert pegasos("train --warm-start --quiet train.tsv m") == (0, "", "")
    assert load_model("m")[-1].n_iter_ < first[-1].n_iter_
    assert load_model("m")[0].vocabulary_ == first[0].vocabulary_
    err = pegasos("train --warm-start --ngrams 2 train.tsv m")[2]
    assert "--ngrams is for training anew, and this model has its words; leave it out" in err


def test_models_of_python(folder, pegasos):
    texts, labels = [text for _, text in TRAIN], [label for label, _ in TRAIN]
    save_model(make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts, labels), "m")
    assert pegasos("predict test.tsv m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    assert pegasos("predict --text body --label kind test.csv m")[1] == "error 0.00%  (0 of 20 wrong)\n"
    assert pegasos("train --format text --loss log_loss --quiet train.tsv m") == (0, "", "")
    rows = [list(map(float, line.split())) for line in pegasos("predict --proba --quiet test.txt m -")[1].splitlines()]
    np.testing.assert_allclose(np.sum(rows, axis=1), 1)


def test_C_by_cross_validation(folder, pegasos):
    code, out, err = pegasos("train --format text --C auto --random-state 0 train.tsv m")
    assert (code, err) == (0, "")
    model = load_model("m")
    X, y = model[0].transform([text for _, text in TRAIN]), [label for label, _ in TRAIN]
    search = LinearSVCCV(random_state=0).fit(X, y)
    assert model[-1].C == search.C_
    assert type(model[-1]) is LinearSVC
    line = next(line for line in out.splitlines() if line.startswith("C  "))
    assert line.startswith(f"C        {search.C_:.4g}")
    assert line.endswith(f" accuracy {search.mean_score_.max():.2%}")
    told = json.loads(pegasos("train --format text --C auto --random-state 0 --json train.tsv m")[1])
    assert told["cross_validation"]["C"] == search.C_
    np.testing.assert_allclose(told["cross_validation"]["mean_scores"], search.mean_score_)
    assert "leave one of them out" in pegasos("train --format text --C auto --alpha 1 train.tsv m")[2]


def test_C_of_other_tasks(folder, pegasos):
    X, y = make_text(200, 50, random_state=0)
    write_svmlight(X, y, "two.svm")
    write_svmlight(X, y + (np.arange(200) % 3 == 0), "four.svm")
    write_dataset("four.ds", X, y + (np.arange(200) % 3 == 0))
    write_svmlight(X, X @ np.linspace(-1, 1, 50), "values.svm")
    rows = ["".join(f"{word} {label}\n" for word, label in own) for own in make_sentences(20)]
    (folder / "columns.txt").write_text("\n".join(rows))
    for flags in (
        "four.svm",
        "four.ds",
        "--multi-class joint two.svm",
        "--task regression values.svm",
        "--task svc two.svm",
        "--task sequence columns.txt",
    ):
        code, out, err = pegasos(f"train --C auto --tol 0.1 --random-state 0 {flags} m")
        assert (code, err) == (0, ""), flags
        line = next(line for line in out.splitlines() if line.startswith("C  "))
        tried = "0.1 to 1000" if "svc" in flags else "0.001 to 10"
        assert f"of 9 tried from {tried}; cross-validation in 5 folds: " in line
        assert ("R^2" in line) == ("regression" in flags)
        fitted = load_model("m")
        fitted = fitted[-1] if hasattr(fitted, "steps") else fitted
        assert f"{fitted.C:.4g}" == line.split()[1].rstrip(",")


def test_C_of_rare_classes(folder, pegasos):
    pairs = [*make_texts(30, tuple(WORDS)), ("rare", "once upon")]
    (folder / "rare.tsv").write_text("".join(f"{label}\t{text}\n" for label, text in pairs))
    assert pegasos("train --format text --C auto --tol 0.1 rare.tsv m")[::2] == (0, "")
    for lines in ("a\txx\nb\tyy\n", "a\txx\n" * 9 + "b\tyy\n"):
        (folder / "few.tsv").write_text(lines)
        err = pegasos("train --format text --C auto few.tsv m")[2]
        assert err == "pegasos: --C auto needs more examples for 5 folds of cross-validation; name a C\n"
    (folder / "one.tsv").write_text("a\txx\n" * 9)
    err = pegasos("train --format text --C auto one.tsv m")[2]
    assert err == "pegasos: y has one class only, 'a'; a classifier needs examples of two classes\n"


MISTAKES = {
    "train --format text train.txt": "train.txt has examples without a label to train on; write a label, a tab and the",
    "train --text body train.csv": "train.csv has examples without a label to train on; name the column of labels with",
    "train --text none --label kind train.csv": "train.csv: no column 'none'; there are 'number', 'kind', 'body'",
    "train --text kind --label kind train.csv": "'kind' is both the label and the text; name another column",
    "train --format text train.csv": "train.csv is a table; name its column of texts with --text",
    "train --text body train.tsv": "train.tsv: no column 'body'; there are",
    "train --text body train.txt": "--text is for tables, such as .csv and .parquet files; leave it out",
    "predict lines.txt svm.model": "label 'spam' is not a number; correct it",
    "train --format text --label kind train.txt": "--label is for tables",
    "train --text body --format vw train.csv": "--text is for raw text, and --format vw for another",
    "train --format text --task svc train.tsv": "text, by --text or --format, is for --task classification or",
    "train --format text --hash-bits 10 train.tsv": "--hash-bits is for vw lines, with --format vw; raw text has a voc",
    "train --format text --dtype float32 train.tsv": "--dtype is for other files than text; leave it out",
    "train --format text --task regression train.tsv": "train.tsv has labels that are no numbers, and a regression",
    "train --format text --min-count 99 train.tsv": "train.tsv: no words to make features of",
    "train --format text mixed.tsv": "mixed.tsv: line 2: no label; write a label, a tab and the text, as line 1 has",
    "train --ngrams 2 train.svm": "--ngrams is for texts; leave it out",
    "train --text body train.svm": "--text is for tables",
    "train --text body --label kind - m": "--label is for tables, which are read from files and not from",
    "train --text body - m": "--text is for tables, which are read from files and not from standard input; write the",
    "predict train.ds text.model": "train.ds is a data set, and text.model is not for features; pass a file",
    "train --warm-start --format text train.tsv svm.model": "svm.model was trained on features and not on text",
    "predict --text body test.csv svm.model": "svm.model was trained on features and not on text",
    "train --C much train.svm": "'much' is neither a number nor auto",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_get_one_line_and_exit_code_2(folder, pegasos, line):
    X, y = make_text(50, 20, random_state=0)
    write_svmlight(X, y, "train.svm")
    write_dataset("train.ds", X, y)
    (folder / "lines.txt").write_text("spam\ta the\n")
    (folder / "mixed.tsv").write_text("a\tb\nc d\n")
    assert pegasos("train --quiet --tol 0.1 train.svm svm.model")[0] == 0
    assert pegasos("train --quiet --format text train.tsv text.model")[0] == 0
    code, out, err = pegasos(line)
    assert code == 2, out
    assert err.startswith("pegasos: ")
    assert err.count("\n") == 1
    assert MISTAKES[line] in err


@pytest.mark.parametrize(
    ("flags", "lines"),
    [("--format text train.tsv", 5), ("--task svc train.svm", 9), ("--multi-class joint train.svm", 9)],
)
def test_the_choice_of_c_tells_of_its_progress(folder, pegasos, flags, lines):
    write_svmlight(*make_text(60, 20, random_state=0), "train.svm")
    code, _, err = pegasos(f"train --C auto --tol 0.1 --random-state 0 --verbose {flags} m")
    assert code == 0
    told = [line for line in err.splitlines() if re.match(rf"\d of {lines}, ", line)]
    assert len(told) >= lines
    assert f"{lines} of {lines}" in told[lines - 1]
    assert pegasos(f"train --C auto --tol 0.1 --random-state 0 {flags} m")[2] == ""


@pytest.mark.parametrize("flags", ["", "--task svc", "--multi-class joint"])
def test_max_time_is_for_the_choice_of_c_and_the_last_fit(folder, pegasos, flags, ticks):
    write_svmlight(*make_text(60, 20, random_state=0), "train.svm")
    began = clock.read()
    line = f"train --C auto --tol 1e-15 --max-iter 100000000 --max-time 5 --random-state 0 {flags} train.svm m"
    assert pegasos(line)[0] == 0
    assert clock.read() - began < 7
    assert load_model("m").max_time == 5
