"""Model files of linear machines behind scikit-learn's vectorisers."""

import json
import re

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from pegasos import LinearSVC, LinearSVCCV, LinearSVR
from pegasos.io import load_model, save_model

TEXTS = ["good film", "bad film, é", "a good book", "a bad book"] * 5
LABELS = ["good", "bad"] * 10

VECTORIZERS = [
    TfidfVectorizer(),
    TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, dtype=np.float32),
    TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), norm=None, stop_words=None),
    CountVectorizer(stop_words=["film"], binary=True, dtype=np.float64, min_df=np.int64(1), max_df=np.float64(0.9)),
    CountVectorizer(vocabulary={"good": 1, "bad": 0}, token_pattern=r"\b\w+\b", lowercase=False),
]


@pytest.mark.parametrize("vectorizer", VECTORIZERS)
def test_models_are_kept_with_their_words(tmp_path, vectorizer):
    model = make_pipeline(vectorizer, LinearSVC(random_state=0)).fit(TEXTS, LABELS)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert type(loaded[0]) is type(vectorizer)
    assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()
    found, made = loaded[0].transform(TEXTS), model[0].transform(TEXTS)
    assert found.dtype == made.dtype
    np.testing.assert_array_equal(found.toarray(), made.toarray())
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), model.decision_function(TEXTS))
    assert loaded.fit(TEXTS, LABELS).predict(["a good one"]) == ["good"]  # and can be fitted again


def test_other_estimators(tmp_path):
    chosen = make_pipeline(TfidfVectorizer(), LinearSVCCV(Cs=2, cv=2, random_state=0)).fit(TEXTS, LABELS)
    save_model(chosen, tmp_path / "m")
    assert load_model(tmp_path / "m")[-1].C == chosen[-1].C_
    regression = make_pipeline(TfidfVectorizer(), LinearSVR(random_state=0)).fit(TEXTS, np.arange(20) % 4)
    save_model(regression, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(TEXTS), regression.predict(TEXTS))


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "a vectoriser with tokenizer=<method"),
        (CountVectorizer(preprocessor=str.lower), "a vectoriser with preprocessor=<method"),
        (CountVectorizer(analyzer=str.split), "whose analyzer is a function, and model files hold no code"),
        (CountVectorizer(strip_accents=str.lower), "whose strip_accents is a function, and model files hold no code"),
        (TfidfVectorizer(use_idf=False), "with use_idf=False; take a CountVectorizer"),
    ],
)
def test_what_a_file_cannot_hold(tmp_path, vectorizer, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        save_model(make_pipeline(vectorizer, LinearSVC()).fit(TEXTS, LABELS), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_subclasses_may_do_anything(tmp_path):
    class Own(TfidfVectorizer):
        pass

    with pytest.raises(
        TypeError, match=re.escape("a Own is no vectoriser of scikit-learn; write it whole with joblib")
    ):
        save_model(make_pipeline(Own(), LinearSVC()).fit(TEXTS, LABELS), tmp_path / "m")


def _change_header(header, tensors, name, value):
    header["words"]["parameters"][name] = value


def _change_tensor(header, tensors, name, value):
    tensors[name] = value


@pytest.mark.parametrize(
    ("change", "name", "value", "message"),
    [
        (_change_header, "input", "filename", "a vectoriser with input='filename', where model files allow 'content'"),
        (_change_header, "tokenizer", "os.system", "a vectoriser with tokenizer='os.system'"),
        (_change_header, "analyzer", "lines", "analyzer"),
        (_change_header, "vocabulary", ["a", "b"], "a vectoriser with vocabulary=['a', 'b']"),
        (_change_header, "dtype", "object", "a vectoriser with dtype='object'"),
        (_change_header, "ngram_range", [2, 1], "a vectoriser with ngram_range=[2, 1]"),
        (_change_header, "ngram_range", 3, "a damaged pegasos model"),
        (_change_header, "min_df", "many", "min_df"),
        (_change_header, "more", 1, "a vectoriser 'TfidfVectorizer' with parameters that this version of scikit-learn"),
        (_change_tensor, "words.ends", np.array([1, 2]), "'words.ends' does not divide 'words.characters' into words"),
        (_change_tensor, "words.ends", np.arange(4, 12)[::-1].copy(), "'words.ends' does not divide"),
        (_change_tensor, "words.idf", np.ones(2), "'words.idf' is float64 of shape (2,)"),
        (_change_tensor, "words.idf", np.array([np.nan, 1, 1, 1]), "'words.idf' has NaN or infinity in it"),
        (_change_tensor, "words.characters", np.full(15, 255, np.uint8), "codec can't decode"),
    ],
)
def test_damaged_files(tmp_path, change, name, value, message):
    path = tmp_path / "m"
    save_model(make_pipeline(TfidfVectorizer(), LinearSVC()).fit(["good film", "bad book"] * 2, [0, 1] * 2), path)
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = {key: own for key, own in file.metadata().items() if key != "checksum"}
    tensors, header = load_file(path), json.loads(metadata["header"])
    assert len(tensors["words.ends"]) == 4
    change(header, tensors, name, value)
    save_file(tensors, path, metadata | {"header": json.dumps(header)})
    with pytest.raises(ValueError, match=re.escape(message)):
        load_model(path)


def test_the_vocabulary_fits_the_weights(tmp_path):
    path = tmp_path / "m"
    save_model(make_pipeline(TfidfVectorizer(), LinearSVC()).fit(["good film", "bad book"] * 2, [0, 1] * 2), path)
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        metadata = {key: own for key, own in file.metadata().items() if key != "checksum"}
    for characters, ends, message in (
        (b"ab", [1, 2], "2 words, and 4 weights"),
        (b"abca", [1, 2, 3, 4], "a vocabulary with the same word twice"),
    ):
        tensors = load_file(path) | {
            "words.characters": np.frombuffer(characters, np.uint8),
            "words.ends": np.array(ends),
        }
        save_file(tensors, tmp_path / "n", metadata)
        with pytest.raises(ValueError, match=message):
            load_model(tmp_path / "n")
