"""A model of each kind and way of training, on data small enough for files of a few kilobytes."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, TextHasher
from pegasos.sequence import Template
from pegasos.solvers import LASVM, SBP, SIMBA, Pegasos

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 4)).round(3)
TWO = np.arange(24) % 2
THREE = np.arange(24) % 3
VALUES = (X @ [1.0, -2.0, 0.5, 0.0]).round(3)
X[:, 0] += TWO
WORDS = np.array(["ham", "spam", "eggs"])[THREE]
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
FRAME = pd.DataFrame(X, columns=["height", "width", "depth", "weight"])
GRAM = X @ X.T
TEXTS = [f"{'good fine' if k % 2 else 'bad poor'} day number {k}" for k in range(24)]
SENTENCES = [[[f"w={'ab'[(k + i) % 2]}", f"i={i}"] for i in range(3)] for k in range(8)]
TAGS = [[["N", "V", "O"][(k + i) % 3] for i in range(3)] for k in range(8)]
COLUMNS = [[[word, word.upper()] for word in ["he", "saw", "a", "dog"]] for _ in range(4)]
CHUNKS = [["B-NP", "O", "B-NP", "I-NP"] for _ in range(4)]
ROWS = [X[k : k + 3] for k in range(0, 24, 3)]


def stream(model, **known):
    for rows in np.split(np.arange(24), 4):
        model.partial_fit(X[rows], (VALUES if isinstance(model, LinearSVR) else THREE)[rows], **known)
    return model


def models():
    """By name: what makes the model, and what it predicts for."""
    some = {"random_state": 0, "max_iter": 1000}
    return {
        "linear": (lambda: LinearSVC(**some).fit(X, TWO), X),
        "linear-sparse-float32": (lambda: LinearSVC(**some).fit(SPARSE.astype(np.float32), TWO), SPARSE),
        "linear-free-intercept": (lambda: LinearSVC(intercept="free", **some).fit(X, TWO), X),
        "linear-no-intercept": (lambda: LinearSVC(fit_intercept=False, **some).fit(X, TWO), X),
        "linear-interior-point": (lambda: LinearSVC(solver="interior-point", **some).fit(X, TWO), X),
        "linear-pegasos": (
            lambda: LinearSVC(
                alpha=0.1, tol=0.1, solver=Pegasos(batch_size=4, project=True, average=True), random_state=0
            ).fit(X, TWO),
            X,
        ),
        "linear-sgd": (lambda: LinearSVC(solver="sgd-m", tol=0.01, **some).fit(X, TWO), X),
        "linear-log-loss": (lambda: LinearSVC(loss="log_loss", **some).fit(X, TWO), X),
        "linear-squared-hinge": (lambda: LinearSVC(loss="squared_hinge", **some).fit(X, TWO), X),
        "linear-warm-start": (lambda: LinearSVC(warm_start=True, solver="sdca", **some).fit(X, TWO), X),
        "linear-scaled": (lambda: LinearSVC(scale=True, **some).fit(X, TWO), X),
        "linear-class-weight": (lambda: LinearSVC(class_weight={"ham": 2.0}, **some).fit(X, WORDS), X),
        "linear-feature-names": (lambda: LinearSVC(**some).fit(FRAME, WORDS), FRAME),
        "linear-one-vs-rest": (lambda: LinearSVC(**some).fit(X, THREE), X),
        "linear-joint": (lambda: LinearSVC(multi_class="joint", warm_start=True, **some).fit(X, THREE), X),
        "linear-joint-softmax": (lambda: LinearSVC(multi_class="joint", loss="log_loss", **some).fit(X, THREE), X),
        "linear-cross-validated": (lambda: LinearSVCCV(Cs=3, cv=2, **some).fit(X, TWO), X),
        "linear-stream-pegasos": (lambda: stream(LinearSVC(alpha=0.1, random_state=0), classes=[0, 1, 2]), X),
        "linear-stream-adagrad": (
            lambda: stream(LinearSVC(solver="adagrad", random_state=0), classes=[0, 1, 2]),
            X,
        ),
        "linear-text-hasher": (lambda: make_pipeline(TextHasher(6), LinearSVC(**some)).fit(TEXTS, TWO), TEXTS),
        "linear-tfidf": (lambda: make_pipeline(TfidfVectorizer(), LinearSVC(**some)).fit(TEXTS, TWO), TEXTS),
        "linear-counts": (
            lambda: make_pipeline(CountVectorizer(ngram_range=(1, 2), min_df=2), LinearSVC(**some)).fit(TEXTS, TWO),
            TEXTS,
        ),
        "regression": (lambda: LinearSVR(**some).fit(X, VALUES), X),
        "regression-huber": (lambda: LinearSVR(loss="huber", intercept="free", **some).fit(X, VALUES), X),
        "regression-stream": (lambda: stream(LinearSVR(alpha=0.1, random_state=0)), X),
        "kernel": (lambda: SVC(**some).fit(X, TWO), X),
        "kernel-sparse": (lambda: SVC(**some).fit(SPARSE, TWO), SPARSE),
        "kernel-pairs": (lambda: SVC(kernel="poly", degree=2, coef0=1.0, **some).fit(X, WORDS), X),
        "kernel-one-vs-rest": (lambda: SVC(multi_class="ovr", **some).fit(X, THREE), X),
        "kernel-linear": (lambda: SVC(kernel="linear", **some).fit(FRAME, THREE), FRAME),
        "kernel-precomputed": (lambda: SVC(kernel="precomputed", **some).fit(GRAM, TWO), GRAM),
        "kernel-sbp": (lambda: SVC(solver=SBP(), fit_intercept=False, tol=0.1, **some).fit(X, TWO), X),
        "kernel-lasvm": (lambda: SVC(solver=LASVM(tau=0.01), **some).fit(X, TWO), X),
        "kernel-simba": (lambda: SVC(solver=SIMBA(), fit_intercept=False, tol=0.1, **some).fit(X, TWO), X),
        "kernel-regression": (lambda: SVR(**some).fit(X, VALUES), X),
        "sequence": (lambda: SequenceSVC(random_state=0).fit(SENTENCES, TAGS), SENTENCES),
        "sequence-hashed": (lambda: SequenceSVC(hash_bits=5, random_state=0).fit(SENTENCES, TAGS), SENTENCES),
        "sequence-warm-start": (lambda: SequenceSVC(warm_start=True, random_state=0).fit(SENTENCES, TAGS), SENTENCES),
        "sequence-rows": (lambda: SequenceSVC(random_state=0).fit(ROWS, TAGS), ROWS),
        "sequence-template": (
            lambda: make_pipeline(Template("U0:%x[0,0]\nU1:%shape[0,1]"), SequenceSVC(constraints="bio")).fit(
                COLUMNS, CHUNKS
            ),
            COLUMNS,
        ),
    }
