"""What a model file holds of scikit-learn's vectorisers: parameters, words, and how much each of them counts."""

from typing import Any

import numpy as np

from pegasos.io.model import Features, Header, Tensors, take

#: Parameters that would have to be code, or would make a model read files.
_FIXED = {"preprocessor": None, "tokenizer": None, "input": "content", "vocabulary": None}
_DTYPES = ("float64", "float32", "int64")


def _classes() -> tuple[type[Any], ...]:
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # not for all commands

    return CountVectorizer, TfidfVectorizer


def _pack(vectorizer: Any) -> tuple[Tensors, Header]:
    """Tensors, and what the header has of them."""
    name = type(vectorizer).__name__
    if type(vectorizer) not in _classes():
        raise TypeError(f"a {name} is no vectoriser of scikit-learn; write it whole with joblib.dump(model, path)")
    parameters = vectorizer.get_params() | {"vocabulary": None}  # that of the fit is among the tensors
    parameters = {key: value.item() if isinstance(value, np.generic) else value for key, value in parameters.items()}
    parameters["dtype"] = np.dtype(parameters["dtype"]).name
    _check(parameters)
    words = sorted(vectorizer.vocabulary_, key=vectorizer.vocabulary_.__getitem__)
    encoded = [word.encode() for word in words]
    tensors: Tensors = {
        "words.characters": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "words.ends": np.cumsum([len(word) for word in encoded], dtype=np.int64),
    }
    if _has_idf(name):
        tensors["words.idf"] = np.asarray(vectorizer.idf_, dtype=np.float64)
    header: Header = {"class": name, "parameters": parameters}
    if hasattr(vectorizer, "feature_names_in_"):
        header["column"] = str(vectorizer.feature_names_in_[0])
    return tensors, header


def _unpack(given: Header, tensors: Tensors, model: Any) -> Any:
    """The vectoriser that was packed; a ValueError where it is none, or does not fit the weights."""
    classes = {cls.__name__: cls for cls in _classes()}
    name = given["class"]
    if name not in classes or not set(given["parameters"]) <= set(classes[name]().get_params()):
        raise ValueError(f"a vectoriser {name!r} with parameters that this version of scikit-learn does not have")
    parameters = classes[name](dtype="float64").get_params() | given["parameters"]
    _check(parameters)
    parameters |= {"dtype": np.dtype(parameters["dtype"]).type, "ngram_range": tuple(parameters["ngram_range"])}
    vectorizer = classes[name](**parameters)
    vectorizer._validate_params()
    words = _words(tensors)
    if len(words) != model.n_features_in_:
        raise ValueError(f"{len(words)} words, and {model.n_features_in_} weights")
    vectorizer.vocabulary_ = {word: number for number, word in enumerate(words)}
    if len(vectorizer.vocabulary_) != len(words):
        raise ValueError("a vocabulary with the same word twice")
    vectorizer.fixed_vocabulary_ = False
    if _has_idf(name):
        vectorizer.idf_ = take(tensors, "words.idf", (len(words),))
    if "column" in given:
        vectorizer.feature_names_in_ = np.array([str(given["column"])], dtype=object)
    return vectorizer


def _has_idf(name: str) -> bool:
    return name == "TfidfVectorizer"


def _check(parameters: dict[str, Any]) -> None:
    """Refuse what a file cannot hold, and what no file should hold."""
    for name, value in _FIXED.items():
        if parameters[name] != value:
            raise ValueError(f"a vectoriser with {name}={parameters[name]!r}, where model files allow {value!r} only")
    for name, value in parameters.items():
        if callable(value):
            raise ValueError(f"a vectoriser whose {name} is a function, and model files hold no code")
    if parameters["dtype"] not in _DTYPES:
        raise ValueError(f"a vectoriser with dtype={parameters['dtype']!r}, and not one of {', '.join(_DTYPES)}")
    if not parameters.get("use_idf", True):
        raise ValueError("a TfidfVectorizer with use_idf=False; take a CountVectorizer")
    low, high = parameters["ngram_range"]
    if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high):
        raise ValueError(f"a vectoriser with ngram_range={parameters['ngram_range']!r}")


def _words(tensors: Tensors) -> list[str]:
    ends = take(tensors, "words.ends", (None,), dtype=np.int64)
    characters = take(tensors, "words.characters", (None,), dtype=np.uint8).tobytes()
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    if not (starts <= ends).all() or (int(ends[-1]) if len(ends) else 0) != len(characters):
        raise ValueError("'words.ends' does not divide 'words.characters' into words")
    return [characters[start:end].decode() for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


WORDS = Features("words", _classes, _pack, _unpack)
