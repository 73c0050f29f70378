"""What reads each format: hostile bytes through the public API.

A file is read, or refused with a ValueError or OSError that names it. Anything else is a finding: another exception, a
message without the name, a crash, and what is read but cannot be used.
"""

import shutil
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from tests.audit.linear_cases import small_blocks
from tests.fuzz.checkpoints import load_checkpoint, put_checkpoint
from tests.fuzz.mutations import split_dataset

import pegasos
from pegasos.io import (
    iter_svmlight,
    load_model,
    open_dataset,
    read_conll,
    read_liblinear_model,
    read_libsvm_model,
    read_svmlight,
    read_text,
    save_model,
    write_liblinear_model,
    write_libsvm_model,
)
from pegasos.io.raw_text import as_labels, read_raw_text

#: Models and data sets with more features than this are read and not used: a few bytes ask for a lot of memory.
MOST_FEATURES = 10_000


class Format(NamedTuple):
    put: Callable[[bytes, Path], Path]  # write what the bytes stand for to a folder; what to load
    load: Callable[[Path], Any]
    use: Callable[[Any], None] = lambda loaded: None


def put_file(data: bytes, folder: Path) -> Path:
    path = folder / "hostile"
    path.write_bytes(data)
    return path


def load_svmlight(path: Path) -> None:
    found = []
    for options in ({"zero_based": "auto"}, {"zero_based": True, "multilabel": True}, {"dtype": np.float32}):
        found.append(attempt(lambda options=options: read_svmlight(path, **options)))
    chunks = attempt(lambda: list(iter_svmlight(path, chunk_bytes=10)))
    for X, *_ in [rows for rows in found if isinstance(rows, tuple)] + (chunks if isinstance(chunks, list) else []):
        X.check_format(full_check=True)
        assert np.isfinite(X.data).all()
    raise_all([*found, chunks])


def attempt(read: Callable[[], Any]) -> Any:
    """What is read, or the error that refuses it."""
    try:
        return read()
    except (ValueError, OSError) as error:
        return error


def raise_all(found: list[Any]) -> None:
    errors = [one for one in found if isinstance(one, Exception)]
    for error in errors[1:]:
        errors[0].add_note(str(error))
    if errors:
        raise errors[0]


def load_text(path: Path) -> None:
    X, y, weights = read_text(path, 10)
    X.check_format(full_check=True)
    assert np.isfinite(X.data).all()
    assert len(y) == len(weights) == X.shape[0]


def load_conll(path: Path) -> None:
    by_blanks, by_tabs = (attempt(lambda s=s: read_conll(path, separator=s)) for s in (None, "\t"))
    for sentences in (by_blanks, by_tabs):
        if not isinstance(sentences, Exception):
            assert len({len(position) for sentence in sentences for position in sentence}) == 1
            assert all(isinstance(word, str) for sentence in sentences for position in sentence for word in position)
    raise_all([by_blanks, by_tabs])


def load_raw_text(path: Path) -> None:
    texts, labels = read_raw_text(path)
    assert labels is None or len(labels) == len(texts)
    if labels is not None:
        assert len(as_labels(labels)) == len(texts)


def load_and_save(path: Path) -> tuple[Any, Any]:
    """A model, and what comes back after it was saved."""
    model = load_model(path)
    again = path.with_name("again")
    save_model(model, again, overwrite=True)
    return model, load_model(again)


def load_and_write(read: Callable[[Path], Any], write: Callable[[Any, Path], None], path: Path) -> tuple[Any, Any]:
    """A model of another program, and what comes back after it was written as one."""
    model = read(path)
    again = path.with_name("again")
    write(model, again)
    return model, read(again)


def use_written(models: tuple[Any, Any]) -> None:
    """Both must decide the same, to rounding: an intercept is written as a weight times a constant."""
    width = max(models[0].n_features_in_, *getattr(models[0], "shape_fit_", (0,)))
    if width > MOST_FEATURES or models[0].n_features_in_ != models[1].n_features_in_:
        return
    X = examples(models[0], models[0])
    one, other = (attempt(lambda model=model: model._scores(X)) for model in models)
    if isinstance(one, ValueError) or isinstance(other, ValueError):  # huge numbers overflow
        return
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6 * np.abs(one).max(initial=1))


def use_models(models: tuple[Any, Any]) -> None:
    """Both must predict the same."""
    last = models[0][-1] if isinstance(models[0], Pipeline) else models[0]
    if max(last.n_features_in_, *getattr(last, "shape_fit_", (0,))) > MOST_FEATURES:
        return
    X = examples(models[0], last)
    one, other = (attempt(lambda model=model: model.predict(X)) for model in models)
    if isinstance(one, ValueError):  # huge numbers overflow
        assert str(one) == str(other)
        return
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def examples(model: Any, last: Any) -> Any:
    """Something that the model can predict from."""
    if isinstance(model, Pipeline):
        if isinstance(last, pegasos.SequenceSVC):
            columns = model[0].n_columns
            return [[("word",) * columns, ("other",) * columns]]
        return ["a good film", "bad", ""]
    if isinstance(last, pegasos.SequenceSVC) and last._encoder.kind == "features":
        return [[["a", "b"], ["c"], []], []]
    width = last.n_features_in_
    if isinstance(last, pegasos.SVC | pegasos.SVR) and last.kernel == "precomputed":
        width = last.shape_fit_[0]
    X = np.random.default_rng(0).normal(size=(3, width))
    if isinstance(last, pegasos.SequenceSVC):
        return [X]
    return X


def put_dataset(data: bytes, folder: Path) -> Path:
    path = folder / "hostile.ds"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    (path / "header.json").write_bytes(data.partition(b"\n")[0])
    try:
        arrays = split_dataset(data)[1]
    except Exception:
        arrays = {}
    for name in ("values", "columns", "starts", "labels", "weights"):
        if name in arrays:
            (path / name).write_bytes(arrays[name])
    return path


def use_dataset(dataset: Any) -> None:
    """Train on it, from memory and by blocks. What is wrong with entries is told by now at the latest.

    What trains from memory does by blocks. The other way round not, as blocks leave it to the header which classes
    there are.
    """
    if dataset.shape[1] > MOST_FEATURES:
        return
    kind = pegasos.LinearSVC if dataset.labels is not None else pegasos.LinearSVR
    estimator, found = kind(max_iter=2, tol=0.5, random_state=0), []
    for size in (nullcontext(), small_blocks()):
        with size:
            found.append(attempt(lambda: clone(estimator).fit(open_dataset(dataset.path))))
    assert isinstance(found[1], kind) or not isinstance(found[0], kind), found


FORMATS = {
    "svmlight": Format(put_file, load_svmlight),
    "text": Format(put_file, load_text),
    "conll": Format(put_file, load_conll),
    "raw_text": Format(put_file, load_raw_text),
    "liblinear": Format(put_file, partial(load_and_write, read_liblinear_model, write_liblinear_model), use_written),
    "libsvm": Format(put_file, partial(load_and_write, read_libsvm_model, write_libsvm_model), use_written),
    "model": Format(put_file, load_and_save, use_models),
    "dataset": Format(put_dataset, open_dataset, use_dataset),
    "checkpoint": Format(put_checkpoint, load_checkpoint),
}


def outcome(name: str, data: bytes, folder: Path) -> str:
    """What became of the bytes: ``""`` if they were read, or why they were refused."""
    given = FORMATS[name]
    path = given.put(data, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            loaded = given.load(path)
        except (ValueError, OSError) as error:
            for message in [str(error), *getattr(error, "__notes__", [])]:
                assert str(path) in message, f"does not name the file: {message}"
            return str(error).replace(str(path), "FILE")
        given.use(loaded)
    return ""
