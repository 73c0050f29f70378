"""Small data, and estimators of every kind to fit to them; a fit takes some milliseconds."""

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from pegasos import SVC, SVR, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC, TextHasher
from pegasos.sequence import Template

_random = np.random.default_rng(0)
X = np.round(_random.normal(size=(60, 6)), 3)
Y = (X[:, 0] + 0.5 * _random.normal(size=60) > 0).astype(int)
CLASSES = np.digitize(X[:, 0] + 0.3 * _random.normal(size=60), [-0.5, 0.5])
TARGETS = np.round(X @ _random.normal(size=6) + 0.3 * _random.normal(size=60), 3)
SPARSE = sp.csr_matrix(np.where(abs(X) > 0.7, X, 0.0))
_pairs = zip(*_random.integers(9, size=(2, 60)), Y, strict=True)
TEXTS = [f"w{a} w{b} {'good' if label else 'bad'} w{a * b % 7}" for a, b, label in _pairs]
WORDS = [[(f"w{k}", f"p{k % 3}") for k in _random.integers(9, size=5)] for _ in range(20)]
TAGS = [["ABC"[int(word[1:]) % 3] for word, _ in sentence] for sentence in WORDS]
NAMES = np.array(["no", "yes"])[Y]

#: Estimators, each with what it is fitted to.
FITS = {
    "LinearSVC": (LinearSVC(random_state=0), X, Y),
    "LinearSVC, float32": (LinearSVC(loss="squared_hinge", random_state=0), X.astype(np.float32), Y),
    "LinearSVC, sparse": (LinearSVC(solver="sdca", warm_start=True, random_state=0), SPARSE, NAMES),
    "LinearSVC, scaled": (LinearSVC(scale=True, class_weight={0: 1.0, 1: 3.0}, random_state=0), X, Y),
    "LinearSVC, Pegasos": (LinearSVC(solver="pegasos", tol=0.1, random_state=0), X, Y),
    "LinearSVC, one against the rest": (LinearSVC(random_state=0), X, CLASSES),
    "LinearSVC, two threads": (LinearSVC(solver="sdca", n_jobs=2, random_state=0), X, CLASSES),
    "LinearSVC, joint": (LinearSVC(multi_class="joint", random_state=0), X, CLASSES),
    "LinearSVR": (LinearSVR(random_state=0), X, TARGETS),
    "SVC": (SVC(random_state=0), X, Y),
    "SVC, sparse": (SVC(C=3.0, random_state=0), SPARSE, CLASSES),
    "SVC, linear": (SVC(kernel="linear", random_state=0), X, NAMES),
    "SVC, LASVM": (SVC(solver="lasvm", random_state=0), X, Y),
    "SVC, SBP": (SVC(solver="sbp", tol=0.1, random_state=0), X, Y),
    "SVC, SIMBA": (SVC(solver="simba", tol=0.1, random_state=0), X, Y),
    "SVR": (SVR(random_state=0), X, TARGETS),
    "SequenceSVC": (SequenceSVC(random_state=0), WORDS, TAGS),
}
#: Those that have model files beside.
MODELS = {
    **FITS,
    "LinearSVCCV": (LinearSVCCV(Cs=3, random_state=0), X, Y),
    "SequenceSVC, hashed": (SequenceSVC(hash_bits=6, random_state=0), WORDS, TAGS),
    "texts by their hash": (make_pipeline(TextHasher(hash_bits=6), LinearSVC(random_state=0)), TEXTS, NAMES),
    "words": (make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0)), TEXTS, Y),
    "counts": (make_pipeline(CountVectorizer(), LinearSVR(random_state=0)), TEXTS, TARGETS),
    "template": (make_pipeline(Template("U0:%x[0,0]\nU1:%x[-1,1]\nB\n"), SequenceSVC(random_state=0)), WORDS, TAGS),
}


def fitted(name):
    """A fitted estimator of this name."""
    estimator, data, y = MODELS[name]
    return clone(estimator).fit(data, y)


def learned():
    """One that learns from a stream."""
    return LinearSVC(solver="pegasos", alpha=0.1, random_state=0).partial_fit(X, CLASSES, classes=[0, 1, 2])


def matrix(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def result_of(model):
    """What a fit found, to the last bit, without the time it took."""
    found = model.certificate_
    out = [str((found.primal, found.dual, found.n_iter, found.converged)).encode()]
    for name in ("coef_", "intercept_", "dual_coef_", "support_", "transitions_", "classes_"):
        if hasattr(model, name):
            out.append(matrix(getattr(model, name)).tobytes())
    return b"|".join(out)
