"""The same bits: across runs, memory layouts, processes and load; and threads that fit and predict at once."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.base import scores
from pegasos.datasets import make_text
from pegasos.io import open_dataset, write_dataset, write_svmlight
from pegasos.kernel import estimator as kernel_estimator

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 6))
TWO = (X[:, 0] + 0.5 * RANDOM.normal(size=150) > 0).astype(int)
THREE = (X[:, :3] + RANDOM.normal(size=(150, 3))).argmax(axis=1)
SENTENCES = [[[f"w={RANDOM.integers(9)}", f"i={i}"] for i in range(5)] for _ in range(20)]
TAGS = [[str(RANDOM.integers(3)) for _ in range(5)] for _ in range(20)]
SOME = {"tol": 0, "max_iter": 4, "random_state": 0, "n_jobs": 1}

MODELS = {
    "auto": (LinearSVC(**SOME), TWO),
    "sdca": (LinearSVC(solver="sdca", **SOME), TWO),
    "pegasos": (LinearSVC(solver="pegasos", alpha=0.01, **SOME), TWO),
    "interior point": (LinearSVC(solver="interior-point", **SOME), TWO),
    "ocas": (LinearSVC(solver="ocas", **SOME), TWO),
    "newton": (LinearSVC(solver="newton", loss="log_loss", **SOME), TWO),
    "three classes": (LinearSVC(**SOME), THREE),
    "joint": (LinearSVC(multi_class="joint", **SOME), THREE),
    "log loss": (LinearSVC(loss="log_loss", **SOME), TWO),
    "regression": (LinearSVR(**SOME), X[:, 0]),
    "kernel": (SVC(**SOME), TWO),
    "pairs": (SVC(kernel="linear", **SOME), THREE),
    "kernel regression": (SVR(**SOME), X[:, 0]),
}
any_model = pytest.mark.parametrize("name", MODELS)


def fingerprint(model, given):
    """All that a fit found and predicts, to the last bit."""
    digest = hashlib.blake2b()
    for name in ("coef_", "dual_coef_", "support_", "intercept_", "transitions_", "classes_"):
        value = getattr(model, name, None) if name != "coef_" or not hasattr(model, "dual_coef_") else None
        if value is not None:
            digest.update(np.ascontiguousarray(value.toarray() if sp.issparse(value) else value).tobytes())
    found = getattr(model, "certificate_", None)
    if found is not None:
        digest.update(repr((found.primal, found.dual, found.n_iter, found.reason)).encode())
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            answer = getattr(model, method)(given)
            digest.update(b"".join(np.asarray(one).tobytes() for one in answer))
    return digest.hexdigest()


def fit(name, given=X):
    model, y = MODELS[name]
    return clone(model).fit(given, y)


def layouts(tmp_path):
    wide, tall = np.zeros((150, 12)), np.zeros((300, 6))
    wide[:, ::2], tall[::2] = X, X
    mapped = np.memmap(tmp_path / "X", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    fixed = X.copy()
    fixed.flags.writeable = False
    shifted = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(float).reshape(X.shape)
    backwards = X[::-1].copy()[::-1]
    return {
        "columns": np.asfortranarray(X),
        "every other column": wide[:, ::2],
        "every other row": tall[::2],
        "transposed": np.ascontiguousarray(X.T).T,
        "backwards": backwards,
        "mapped": mapped,
        "read-only": fixed,
        "not aligned": shifted,
        "list": X.tolist(),
    }


@any_model
def test_layouts_of_arrays(name, tmp_path):
    expected = fingerprint(fit(name), X)
    for layout, given in layouts(tmp_path).items():
        assert fingerprint(fit(name, given), given) == expected, layout


SINGLE = (
    np.random.default_rng(3).normal(size=(1200, 6)).astype(np.float32)
)  # rows enough for kernels in single precision


@pytest.mark.parametrize("machine", [SVC, SVR, LinearSVC, LinearSVR], ids=lambda machine: machine.__name__)
def test_byte_orders(machine):
    y = (SINGLE[:, 0] + SINGLE[::-1, 1] > 0).astype(int)
    expected = fingerprint(machine(tol=0.1, random_state=0).fit(SINGLE, y), SINGLE)
    for order in "<>":
        given = SINGLE.astype(f"{order}f4")
        assert fingerprint(machine(tol=0.1, random_state=0).fit(given, y), given) == expected


def test_byte_orders_of_a_kernel_matrix():
    K, y = SINGLE[:200] @ SINGLE[:200].T, (SINGLE[:200, 0] > 0).astype(int)
    expected = fingerprint(SVC(kernel="precomputed", random_state=0).fit(K, y), K)
    other = K.astype(">f4")
    assert fingerprint(SVC(kernel="precomputed", random_state=0).fit(other, y), other) == expected


def test_byte_orders_in_files(tmp_path):
    y = np.arange(1200.0)
    for order in "<>":
        write_dataset(tmp_path / order, SINGLE.astype(f"{order}f4"), y)
        write_svmlight(SINGLE.astype(f"{order}f4"), y, tmp_path / f"{order}.svm")
    assert open_dataset(tmp_path / ">").X.dtype == np.float32
    assert (tmp_path / ">.svm").read_bytes() == (tmp_path / "<.svm").read_bytes()


@any_model
def test_layouts_of_sparse_matrices(name):
    rows = sp.csr_matrix(np.where(np.abs(X) > 0.5, X, 0))
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    expected = fingerprint(fit(name, rows), rows)
    for given in (wide, sp.csr_array(rows), rows.tocsc(), rows.tocoo()):
        assert fingerprint(fit(name, given), given) == expected, type(given)


def test_processes():
    """Whatever the seeds of Python's hashes and of our own tables of strings."""
    script = """
        import hashlib, numpy as np
        from pegasos import SVC, LinearSVC, SequenceSVC, TextHasher
        from pegasos.datasets import make_text
        texts = [f"word{k % 7} other{k % 5} third" for k in range(60)]
        X, y = make_text(500, 200, random_state=0)
        sentences = [[[f"w={(k * i) % 7}", f"i={i}"] for i in range(5)] for k in range(20)]
        tags = [["abc"[(k + i) % 3] for i in range(5)] for k in range(20)]
        some = dict(tol=0, max_iter=5, random_state=0)
        sequence = SequenceSVC(**some).fit(sentences, tags)
        hashed = LinearSVC(**some).fit(TextHasher(8).fit_transform(texts), np.arange(60) % 2)
        found = [LinearSVC(**some).fit(X, y).coef_, SVC(**some).fit(X.toarray(), y).dual_coef_, hashed.coef_]
        found += [sequence.coef_, sequence.transitions_]
        print(hashlib.blake2b(b"".join(array.tobytes() for array in found)).hexdigest())
    """
    told = set()
    for seed in ("0", "1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-c", textwrap.dedent(script)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=300)
        told.add(done.stdout)
    assert len(told) == 1


def at_once(*works):
    """What each work returns, in threads that begin together."""
    barrier, results, errors = threading.Barrier(len(works)), [None] * len(works), []

    def run(number, work):
        try:
            barrier.wait()
            results[number] = work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def test_eight_threads_fit_and_predict_at_once():
    """Estimators of their own, more of them than processors: the same bits as alone."""
    alone = {name: fingerprint(fit(name), X) for name in MODELS}
    words = fingerprint(SequenceSVC(tol=0, max_iter=3, random_state=0).fit(SENTENCES, TAGS), SENTENCES)

    def work():
        found = {name: fingerprint(fit(name), X) for name in MODELS}
        return found, fingerprint(SequenceSVC(tol=0, max_iter=3, random_state=0).fit(SENTENCES, TAGS), SENTENCES)

    assert at_once(*[work] * 8) == [(alone, words)] * 8


def test_eight_threads_predict_with_one_estimator():
    for name in MODELS:
        model = fit(name)
        expected = fingerprint(model, X)
        fresh = fit(name)  # whose first prediction makes things ready for the next ones
        assert at_once(*[lambda model=fresh: fingerprint(model, X)] * 8) == [expected] * 8


def test_threads_of_a_fit_under_load():
    """The number of threads decides the bits, not which of them is faster."""
    rows, y = make_text(5000, 300, random_state=0)

    def work(n_jobs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return LinearSVC(solver="sdca", n_jobs=n_jobs, tol=0, max_iter=5, random_state=0).fit(rows, y)

    alone = [fingerprint(work(n_jobs), rows) for n_jobs in (1, 2, 3)]
    works = [lambda n_jobs=n_jobs: fingerprint(work(n_jobs), rows) for n_jobs in (1, 2, 3)] * 3
    assert at_once(*works) == alone * 3


INDEPENDENT = {
    "classes": (LinearSVC(**SOME), THREE),
    "pairs": (SVC(**SOME), THREE),
    "folds": (LinearSVCCV(Cs=2, cv=2, **SOME), TWO),
    **{
        solver: (LinearSVC(solver=solver, alpha=0.01, **SOME), TWO)
        for solver in (
            *("pegasos", "sgd-s", "sgd-m", "sgd-r", "norma", "constant-step", "norm-ball", "perceptron"),
            *("svm-sgd", "sgd-qn", "mpu"),
        )
    },
    **{
        f"kernel, {solver}": (SVC(solver=solver, fit_intercept=False, **SOME), TWO)
        for solver in ("sdca", "lasvm", "sbp", "simba", "pegasos", "perceptron")
    },
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_weights_that_do_not_depend_on_the_number_of_threads(name):
    model, y = INDEPENDENT[name]

    def weights(n_jobs):
        fitted = clone(model).set_params(n_jobs=n_jobs).fit(X, y)
        return fitted.dual_coef_ if hasattr(fitted, "dual_coef_") else fitted.coef_

    for n_jobs in (3, 2):
        np.testing.assert_array_equal(weights(n_jobs), weights(1))


@any_model
def test_predictions_do_not_depend_on_the_number_of_threads(name, monkeypatch):
    model, rows = fit(name), np.tile(X, (7, 1))
    alone = fingerprint(model, rows)
    monkeypatch.setattr(kernel_estimator, "PRODUCTS_FOR_THREADS", 1)
    monkeypatch.setattr(scores.worth_threads, "__defaults__", (1,))
    for n_jobs in (2, 3):
        assert fingerprint(model.set_params(n_jobs=n_jobs), rows) == alone


def squared(x, k):
    return (x if k else x**2).ravel()


LATER = {
    "linear": (LinearSVC(**SOME), X, (TWO, THREE)),
    "labels of other lengths": (LinearSVC(**SOME), X, (TWO.astype(str), np.char.add("class", THREE.astype(str)))),
    "joint": (LinearSVC(multi_class="joint", **SOME), X, (TWO, THREE)),
    "probabilities": (LinearSVC(loss="log_loss", **SOME), X, (TWO, THREE)),
    "scaled": (LinearSVC(scale=True, **SOME), X, (TWO, THREE)),
    "cross-validated": (LinearSVCCV(Cs=2, cv=2, **SOME), X, (TWO, THREE)),
    "regression": (LinearSVR(**SOME), X, (X[:, 0], -9 * X[:, 1])),
    "kernel": (SVC(**SOME), X, (TWO, THREE)),
    "linear kernel": (SVC(kernel="linear", **SOME), X, (TWO, THREE)),
    "one against the rest": (SVC(multi_class="ovr", **SOME), X, (TWO, THREE)),
    "kernel regression": (SVR(**SOME), X, (X[:, 0], -9 * X[:, 1])),
    "sequences": (SequenceSVC(**SOME), SENTENCES, (TAGS, [["a", "b", "a", "b", "a"]] * 20)),
    "feature map": (FeatureMapSVC(squared, tol=0, max_iter=3, random_state=0), X, (TWO, 1 - TWO)),
}


@pytest.mark.parametrize("name", LATER)
def test_predictions_during_a_refit_are_of_the_old_model_or_the_new(name):
    model, given, labels = LATER[name]
    # Not the certificate and other attributes: one is read after another, and a fit may end between them.
    wanted = ("predict", "decision_function", *(["predict_proba"] * (name == "probabilities")))
    methods = [*(one for one in wanted if hasattr(model, one)), *(["coef_"] * (name == "linear kernel"))]

    def ask(model, method):
        value = getattr(model, method)
        value = value(given) if callable(value) else value
        value = np.concatenate([np.ravel(one) for one in value])
        return str(value.dtype), value.tobytes()

    known = {method: {ask(clone(model).fit(given, y), method) for y in labels} for method in methods}
    model, over = clone(model).fit(given, labels[0]), threading.Event()

    def refit():
        try:
            for k in range(1, 12):
                model.fit(given, labels[k % 2])
        finally:
            over.set()

    def predict():
        seen = {method: set() for method in methods}
        while not over.is_set():
            for method in methods:
                seen[method].add(ask(model, method))
        return seen

    _, *found = at_once(refit, predict, predict, predict)
    for seen in found:
        for method in methods:
            assert seen[method] <= known[method], method


def test_predictions_while_a_stream_is_learned():
    """They are of the model after one of the parts."""
    model, twin = (LinearSVC(alpha=0.01, random_state=0) for _ in range(2))
    parts, known = np.split(np.arange(150), 15), set()
    for part in parts:
        twin.partial_fit(X[part], THREE[part], classes=[0, 1, 2])
        known.add(twin.decision_function(X).tobytes())
    model.partial_fit(X[parts[0]], THREE[parts[0]], classes=[0, 1, 2])
    over, seen = threading.Event(), set()

    def learn():
        try:
            for part in parts[1:]:
                model.partial_fit(X[part], THREE[part])
        finally:
            over.set()

    def predict():
        while not over.is_set():
            seen.add(model.decision_function(X).tobytes())

    at_once(learn, predict, predict)
    assert seen <= known
    assert model.decision_function(X).tobytes() == twin.decision_function(X).tobytes()
