"""Listeners hear of each check, may ask for the weights that the fit would have, and may end it there."""

import sys
import threading

import numpy as np
import pytest
from fit_helpers import sequences, vectors
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

import pegasos
from pegasos import SVC, SVR, FeatureMapSVC, LinearSVC, LinearSVCCV, LinearSVR, SequenceSVC
from pegasos.io import open_dataset, write_dataset
from pegasos.solvers import Newton, Pegasos

ENDLESS = {"tol": 1e-18, "max_iter": 10**6, "random_state": 0}


class Stop:
    """Ends each problem at its check of this number, and keeps what there was."""

    def __init__(self, number=2):
        self.number, self.checks, self.weights = number, {}, {}

    def __call__(self, check):
        self.checks[check.part] = self.checks.get(check.part, 0) + 1
        if self.checks[check.part] >= self.number and not self.weights.get(check.part):
            self.weights[check.part] = check.weights()
            check.stop()


LINEAR = {
    "sdca": (LinearSVC(solver="sdca"), vectors()),
    "threads": (LinearSVC(solver="sdca", n_jobs=2), vectors()),
    "pegasos": (LinearSVC(solver="pegasos"), vectors()),
    "sgd-s": (LinearSVC(solver="sgd-s"), vectors()),
    "ocas": (LinearSVC(solver="ocas"), vectors()),
    "sgd-m": (LinearSVC(solver="sgd-m"), vectors()),
    "perceptron": (LinearSVC(solver="perceptron"), vectors()),
    "search": (LinearSVC(intercept="free", solver=Pegasos(free_intercept="search")), vectors()),
    "scaled": (LinearSVC(solver="pegasos", scale=True), vectors()),
    "joint": (LinearSVC(solver="pegasos", multi_class="joint"), vectors(3)),
    "joint sdca": (LinearSVC(solver="sdca", multi_class="joint"), vectors(3)),
    "joint sgd": (LinearSVC(solver="sgd-s", multi_class="joint"), vectors(3)),
    "regression": (LinearSVR(solver="pegasos"), vectors()),
}


def with_endless(model):
    return type(model)(**{**model.get_params(deep=False), **ENDLESS})


@pytest.mark.parametrize("case", LINEAR)
def test_linear(case):
    model, (X, y) = LINEAR[case]
    stop = Stop()
    with pegasos.listen(stop):
        model = with_endless(model).fit(X, y)  # and no warning
    assert model.certificate_.reason == "callback"
    assert not model.certificate_.converged
    assert list(stop.weights) == [""]
    for name, value in stop.weights[""].items():
        np.testing.assert_array_equal(value, getattr(model, name))
    assert model.certificate_.primal == model.history_["primal"][-1]


def test_interior_point():
    X, y = vectors(n=2000)
    for number in (1, 3):
        stop = Stop(number)
        with pegasos.listen(stop):
            model = LinearSVC(solver="interior-point", tol=1e-9).fit(X, y)
        found = model.certificate_
        assert found.reason == "callback"
        z = np.where(y == 1, 1, -1) * model.decision_function(X)
        primal = (model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2) / 2 + np.maximum(0, 1 - z).sum()
        assert primal == pytest.approx(found.primal, rel=1e-9)


@pytest.mark.parametrize("equations", ["cholesky", "cg"])
def test_newton(equations):
    X, y = vectors()
    for number in (1, 2):
        stop = Stop(number)
        with pegasos.listen(stop):
            model = LinearSVC(solver=Newton(equations=equations), loss="log_loss", tol=0).fit(X, y)
        assert (model.certificate_.reason, model.n_iter_) == ("callback", number)
        np.testing.assert_array_equal(stop.weights[""]["coef_"], model.coef_)


def test_auto_does_not_go_on():
    X, y = vectors(n=3000, d=30)
    with pegasos.listen(Stop(1)):
        assert LinearSVC(tol=1e-12).fit(X, y).certificate_.reason == "callback"


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("shared", [False, True])
def test_each_class_is_stopped_by_itself(n_jobs, shared, monkeypatch):
    monkeypatch.setattr("pegasos.linear.one_vs_rest.is_worth_sharing", lambda *_: shared)
    X, y = vectors(4)
    stop = Stop()
    with pegasos.listen(stop):
        model = LinearSVC(solver="sdca", tol=1e-15, max_iter=10**6, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert {part.reason for part in model.certificate_.parts} == {"callback"}
    assert sorted(stop.weights) == ["0", "1", "2", "3"]
    for k in range(4):
        np.testing.assert_array_equal(stop.weights[str(k)]["coef_"][0], model.coef_[k])
        np.testing.assert_array_equal(stop.weights[str(k)]["intercept_"], model.intercept_[k : k + 1])

    def stop_one(check):
        if check.part == "2":
            check.stop()

    with pegasos.listen(stop_one):
        model = LinearSVC(solver="sdca", tol=1e-3, n_jobs=n_jobs, random_state=0).fit(X, y)
    assert [part.reason for part in model.certificate_.parts] == ["tol", "tol", "callback", "tol"]


KERNEL = {
    "smo": (SVC(C=1e3), vectors()),
    "sdca": (SVC(C=1e3, solver="sdca", fit_intercept=False), vectors()),
    "pegasos": (SVC(C=1e3, solver="pegasos", fit_intercept=False), vectors()),
    "sbp": (SVC(C=1e3, solver="sbp"), vectors()),
    "simba": (SVC(C=1e3, solver="simba"), vectors()),
    "lasvm": (SVC(C=1e3, solver="lasvm"), vectors()),
    "linear": (SVC(C=1e3, kernel="linear"), (vectors()[0] + 10, vectors()[1])),
    "regression": (SVR(C=1e3), vectors()),
    "pairs": (SVC(C=1e3, decision_function_shape="ovo"), vectors(3)),
}


@pytest.mark.parametrize("case", KERNEL)
def test_kernels(case):
    model, (X, y) = KERNEL[case]
    stop = Stop()
    with pegasos.listen(stop):
        model = with_endless(model).fit(X, y)
    found = model.certificate_
    assert {part.reason for part in found.parts or (found,)} == {"callback"}
    assert found.dual <= found.primal < np.inf
    assert len(stop.weights) == (3 if case == "pairs" else 1)
    scores = model.predict(X) if case == "regression" else model.decision_function(X)
    for k, weights in enumerate(stop.weights.values()):
        rows = weights["rows"]
        K = linear_kernel(X, X[rows]) if case == "linear" else rbf_kernel(X, X[rows], gamma=model.gamma_)
        expected = scores[:, k] if case == "pairs" else scores
        np.testing.assert_allclose(K @ weights["beta"] + weights["intercept_"], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("solver", ["frank-wolfe", "pegasos"])
def test_sequences(solver):
    X, y = sequences()
    stop = Stop()
    with pegasos.listen(stop):
        model = SequenceSVC(C=10.0, solver=solver, **ENDLESS).fit(X, y)
    assert model.certificate_.reason == "callback"
    assert set(stop.weights[""]) == {"coef_", "intercept_", "transitions_", "start_", "end_"}
    for name, value in stop.weights[""].items():
        np.testing.assert_allclose(value, getattr(model, name), rtol=1e-12)


def test_feature_maps():
    X, y = vectors(n=50)
    stop = Stop()
    with pegasos.listen(stop):
        model = FeatureMapSVC(lambda x, k: x * (k + 1.0), **ENDLESS).fit(X, y)
    assert model.certificate_.reason == "callback"
    np.testing.assert_array_equal(stop.weights[""]["coef_"], model.coef_)


def test_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = vectors(3)
    write_dataset(tmp_path / "a.ds", X, y)
    stop = Stop()
    with pegasos.listen(stop):
        model = LinearSVC(**{**ENDLESS, "tol": 1e-12}).fit(open_dataset(tmp_path / "a.ds"))
    assert {part.reason for part in model.certificate_.parts} == {"callback"}
    for k, weights in enumerate(stop.weights.values()):
        np.testing.assert_array_equal(weights["coef_"][0], model.coef_[k])


def test_folds_are_told_apart():
    X, y = vectors()
    parts = set()
    with pegasos.listen(lambda check: parts.add(check.part)):
        LinearSVCCV(Cs=[0.1, 1.0], cv=2).fit(X, y)
    assert parts == {"", *(f"fold {fold}, C={C}" for fold in (1, 2) for C in ("0.1", "1"))}


def test_bounds_and_names():
    X, y = vectors()
    checks = []
    with pegasos.listen(checks.append):
        model = LinearSVC(solver="pegasos", tol=1e-2, random_state=0).fit(X, y)
    assert {check.estimator for check in checks} == {"LinearSVC"}
    for name in ("seconds", "epoch", "primal", "dual", "gap"):
        np.testing.assert_array_equal([getattr(check, name) for check in checks], model.history_[name])
    with pytest.raises(RuntimeError, match="which is over; call it there"):
        checks[-1].weights()


def test_listening_changes_nothing():
    X, y = vectors(3)
    for model in (LinearSVC(random_state=0), SVC(), LinearSVC(multi_class="joint", random_state=0)):
        alone = model.fit(X, y).decision_function(X)
        with pegasos.listen(lambda check: check.weights()):
            np.testing.assert_array_equal(model.fit(X, y).decision_function(X), alone)


def test_an_error_ends_the_fit():
    class Own(Exception):
        pass

    def fail(check):
        raise Own

    X, y = vectors()
    model = LinearSVC()
    with pytest.raises(Own), pegasos.listen(fail):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_blocks_of_listeners_nest_and_are_of_one_thread():
    X, y = vectors()
    outer, inner = [], []
    with pegasos.listen(outer.append):
        with pegasos.listen(inner.append):
            LinearSVC().fit(X, y)
        heard = len(inner)
        assert heard == len(outer) > 0
        LinearSVC().fit(X, y)
        assert len(inner) == heard < len(outer)
        heard = len(outer)
        thread = threading.Thread(target=LinearSVC().fit, args=(X, y))
        thread.start()
        thread.join()
        assert (len(outer) > heard) == bool(getattr(sys.flags, "thread_inherit_context", False))
    heard = len(outer)
    LinearSVC().fit(X, y)
    assert len(outer) == heard


def test_fits_of_a_listener_are_not_heard():
    (X, y), heard = vectors(), []

    def fit(check):
        heard.append(check)
        LinearSVC(random_state=0).fit(X[:50], y[:50])

    with pegasos.listen(fit):
        LinearSVC(random_state=0).fit(X, y)
    assert {check.estimator for check in heard} == {"LinearSVC"}
    assert 0 < len(heard) < 50
    assert repr(heard[-1]).startswith("<check of LinearSVC: gap ")


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match=r"listen\(None\): must be a function"), pegasos.listen(None):
        pass
