"""Makes the files of the corpus that are written by the package: ``python -m tests.fuzz.seeds FOLDER``."""

import bz2
import gzip
import json
import lzma
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from tests.fuzz.checkpoints import FITS, TAGS, WORDS, X, Y, as_seed
from tests.fuzz.mutations import join_dataset, join_model, split_model

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC, TextHasher
from pegasos.io import save_model, write_dataset, write_liblinear_model, write_libsvm_model
from pegasos.sequence.templates import Template

TEXTS = ["good film", "bad film", "a good book", "a bad book"]
COLUMNS = [[("He", "PRP"), ("left", "VBD")], [("Why", "WRB")]]


def models():
    classes = np.arange(12) % 3
    dense = {"max_iter": 5, "tol": 0.5, "random_state": 0}
    return {
        "linear": LinearSVC(**dense).fit(X, Y),
        "linear-classes": LinearSVC(warm_start=True, class_weight="balanced", **dense).fit(X, classes),
        "linear-joint": LinearSVC(multi_class="joint", warm_start=True, **dense).fit(X, np.array(list("abc"))[classes]),
        "linear-scaled": LinearSVC(scale="auto", solver="sdca", **dense).fit(X, Y),
        "regression": LinearSVR(warm_start=True, **dense).fit(X, X[:, 0]),
        "stream": LinearSVC(alpha=0.1).partial_fit(X, classes, classes=[0, 1, 2]),
        "stream-adagrad": LinearSVR(solver="adagrad").partial_fit(X, X[:, 0]),
        "kernel": SVC(**dense).fit(X, Y),
        "kernel-classes": SVC(kernel="poly", class_weight={0: 1, 1: 2, 2: 1}, **dense).fit(sp.csr_matrix(X), classes),
        "kernel-precomputed": SVC(kernel="precomputed", **dense).fit(X @ X.T, Y),
        "kernel-regression": SVR(kernel="linear", scale="auto", **dense).fit(X, X[:, 0]),
        "sequence": SequenceSVC(warm_start=True, **dense).fit(WORDS, TAGS),
        "sequence-arrays": SequenceSVC(**dense).fit([X[:4], X[4:]], [Y[:4], Y[4:]]),
        "sequence-hashed": SequenceSVC(hash_bits=4, constraints="bio", **dense).fit(
            WORDS, [["B-x", "I-x"], ["O", "O"], ["O"]]
        ),
        "sequence-template": make_pipeline(Template(["U0:%x[0,0]", "U1:%x[-1,1]"]), SequenceSVC(**dense)).fit(
            COLUMNS, [["a", "b"], ["b"]]
        ),
        "text": make_pipeline(TextHasher(4), LinearSVC(**dense)).fit(TEXTS, [1, 0, 1, 0]),
        "words": make_pipeline(TfidfVectorizer(), LinearSVC(**dense)).fit(TEXTS, [1, 0, 1, 0]),
        "counts": make_pipeline(CountVectorizer(ngram_range=(1, 2)), LinearSVC(**dense)).fit(TEXTS, [1, 0, 1, 0]),
    }


def foreign_models():
    """Models as other programs have them: what writes them, and the models."""
    classes, dense = np.array([7, -2, 3])[np.arange(12) % 3], {"max_iter": 5, "tol": 0.5, "random_state": 0}
    return {
        "liblinear/two": (write_liblinear_model, LinearSVC(**dense).fit(X, Y)),
        "liblinear/classes": (write_liblinear_model, LinearSVC(loss="log_loss", **dense).fit(X, classes)),
        "liblinear/joint": (write_liblinear_model, LinearSVC(multi_class="joint", **dense).fit(X, Y)),
        "liblinear/regression": (write_liblinear_model, LinearSVR(fit_intercept=False, **dense).fit(X, X[:, 0])),
        "libsvm/rbf": (write_libsvm_model, SVC(**dense).fit(X, Y)),
        "libsvm/poly": (write_libsvm_model, SVC(kernel="poly", coef0=1.0, **dense).fit(X, classes)),
        "libsvm/precomputed": (write_libsvm_model, SVC(kernel="precomputed", **dense).fit(X @ X.T, Y)),
        "libsvm/regression": (write_libsvm_model, SVR(kernel="linear", **dense).fit(X, X[:, 0])),
    }


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "made"
        for name, model in models().items():
            save_model(model, path)
            metadata, tensors = split_model(path.read_bytes())
            write(folder / "model" / name, join_model(metadata, tensors))
            if "class_weight" in tensors:  # which older files do not have
                del tensors["class_weight"]
                write(folder / "model" / f"{name}-older", join_model(metadata, tensors))
        for name, (write_foreign, model) in foreign_models().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_foreign(model, folder / name)
        write(folder / "model" / "linear-checksum", path.read_bytes())
        sparse = sp.csr_matrix(np.where(np.abs(X) > 0.7, X, 0))
        for name, arguments, more in [
            ("dense", (X, Y), {}),
            ("sparse", (sparse, Y), {"sample_weight": np.arange(1.0, 13)}),
            ("words", (sparse.astype(np.float32), np.array(list("ab"))[(Y + 1) // 2]), {}),
            ("names", (pd.DataFrame(X, columns=list("xyz")), Y), {}),
            ("targets", (X.astype(np.float32), X[:, 0]), {}),
        ]:
            made = Path(temporary) / f"{name}.ds"
            write_dataset(made, *arguments, **more)
            header = json.loads((made / "header.json").read_text())
            write(
                folder / "dataset" / name, join_dataset(header, {a: (made / a).read_bytes() for a in header["arrays"]})
            )
    for which in FITS:
        write(folder / "checkpoint" / which, as_seed(which))
    raw = b"__label__a some words\n__label__b others\n"
    for name, compress in [("gzip", partial(gzip.compress, mtime=0)), ("bzip2", bz2.compress), ("xz", lzma.compress)]:
        write(folder / "raw_text" / name, compress(raw))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
