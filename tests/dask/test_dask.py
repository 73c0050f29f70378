"""Linear machines on Dask collections, with worker processes: fits, certificates, predictions, bad input."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from pegasos import LinearSVC, LinearSVR
from pegasos.base.scaling import UnscaledColumns
from pegasos.io import load_model, save_model

pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import pandas as pd

import pegasos.dask as spread
from pegasos.linear.distributed.places import deal


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def make_data(n=1000, d=10, classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    return X, (X @ random.normal(size=(d, classes)) + 0.5 * random.normal(size=(n, classes))).argmax(axis=1)


def as_arrays(X, y, rows=250):
    return da.from_array(X, chunks=(rows, X.shape[1])), da.from_array(y, chunks=rows)


def as_delayed(X, rows=250):
    return [dask.delayed(X[start : start + rows]) for start in range(0, X.shape[0], rows)]


def hinge_objective(model, X, y, s=1.0):
    """From its definition, on all rows together."""
    C = model.C
    z = np.where(y == model.classes_[1], 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    penalty = model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2 / model.intercept_scaling**2
    return penalty / 2 + C * (s * np.maximum(0, 1 - z)).sum()


def load(X, start):
    return X[start : start + 125]


def test_the_same_bits_whichever_worker_loads_the_partitions(client):
    """Those that no worker holds yet go to workers by their numbers; those that are held stay where they are."""
    X, y = make_data()
    workers = sorted(client.scheduler_info()["workers"])
    found = []
    for first in (0, 1, 3):
        parts = []
        for number in range(8):
            with dask.annotate(workers=workers[(number // 2 if first == 3 else first) % 2]):
                parts.append(dask.delayed(load)(X, 125 * number, dask_key_name=f"load-{first}-{number}"))
        model = spread.LinearSVC(random_state=0, tol=1e-2).fit(parts, as_delayed(y, 125))
        assert "of 2 workers" in model.certificate_.solver
        found.append(model.coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    held = client.persist(parts)
    distributed.wait(held)
    models = [spread.LinearSVC(random_state=0, tol=1e-2).fit(held, as_delayed(y, 125)) for _ in range(2)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_partitions_are_dealt_alike_whatever_workers_are_called():
    for large in "abc":
        dealt = deal(["abc"] * 6, {"a": 1, "b": 1, "c": 1} | {large: 2})
        assert [worker == large for worker in dealt] == [True, False, False, True, True, False]
    assert deal(["a", "a", "ab", "ab"], {"a": 1, "b": 1}) == ["a", "a", "b", "b"]


@pytest.mark.parametrize("kind", ["float32", "float64", "csr"])
def test_the_size_of_the_data_is_told_as_it_is(client, kind):
    X, y = make_data(2000, 100)
    blocks = as_arrays(X.astype("float32" if kind == "float32" else "float64"), y, 1000)[0]
    size = blocks.nbytes
    if kind == "csr":
        blocks, size = blocks.map_blocks(sp.csr_matrix), 12 * (X != 0).sum()
    with pytest.warns(ConvergenceWarning, match=rf"These data take about {size / 1e6:.1f} MB"):
        spread.LinearSVC(C=1e4, tol=1e-9, max_iter=1, random_state=0).fit(blocks, y)


@pytest.mark.parametrize("kind", ["array", "sparse array", "delayed", "pairs", "frame"])
def test_two_workers_equal_one_process(client, kind):
    X, y = make_data()
    model = spread.LinearSVC(C=0.02, tol=1e-3, intercept_scaling=2.0, random_state=0)
    if kind == "array":
        model.fit(*as_arrays(X, y))
    elif kind == "sparse array":
        blocks = as_arrays(X, y)[0].map_blocks(sp.csr_matrix)
        model.fit(blocks, y)
    elif kind == "delayed":
        model.fit(as_delayed(sp.csr_matrix(X)), as_delayed(y))
    elif kind == "pairs":
        model.fit(list(zip(as_delayed(X), as_delayed(y), strict=True)))
    else:
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        frames = dd.from_pandas(frame, npartitions=4)
        model.fit(frames, dd.from_pandas(pd.Series(y), npartitions=4))
        assert model.feature_names_in_.tolist() == frame.columns.tolist()
    found = model.certificate_
    assert found.converged
    assert found.gap <= 1e-3
    assert found.primal == pytest.approx(hinge_objective(model, X, y), rel=1e-9)
    one = LinearSVC(C=0.02, tol=1e-6, intercept_scaling=2.0).fit(X, y).certificate_
    assert one.dual <= found.primal <= one.primal * (1 + 1e-3)
    assert found.dual <= one.primal
    workers = int(re.search(r"rounds of (\d) workers", found.solver)[1])
    assert workers in (1, 2)  # the scheduler decides where partitions go
    assert model.rounds_ > 1
    assert model.bytes_per_round_ == pytest.approx(workers * 2 * 8 * (X.shape[1] + 1))
    assert model.recoveries_ == 0
    assert model.n_features_in_ == X.shape[1]
    assert (np.diff(model.history_["dual"]) >= 0).all()


def test_several_classes_and_their_weights(client):
    X, y = make_data(classes=3)
    names = np.array(["ant", "bee", "cow"])[y]
    s = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    options = {"C": 0.02, "tol": 1e-3, "class_weight": "balanced"}
    model = spread.LinearSVC(**options, random_state=0)
    A, b = as_arrays(X, names)
    model.fit(A, b, da.from_array(s, chunks=400))
    one = LinearSVC(**options).fit(X, names, s)
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert len(model.certificate_.parts) == len(model.history_) == 3
    assert model.certificate_.converged
    for part, other in zip(model.certificate_.parts, one.certificate_.parts, strict=True):
        assert part.primal == pytest.approx(other.primal, rel=2e-3)
        assert part.dual <= other.primal
    lazy = model.decision_function(A)
    assert lazy.shape == (len(y), 3)
    np.testing.assert_allclose(lazy.compute(), model.decision_function(X))
    np.testing.assert_array_equal(model.predict(A).compute(), model.to_local().predict(X))
    assert model.score(A, b) == pytest.approx(np.mean(model.predict(X) == names))
    assert model.score(A, b, s) == pytest.approx(model.score(X, names, s))


def test_log_loss_and_alpha(client):
    X, y = make_data()
    A, b = as_arrays(X, y)
    model = spread.LinearSVC(alpha=0.05, loss="log_loss", random_state=0).fit(A, b)
    one = LinearSVC(alpha=0.05, loss="log_loss", tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-3)
    chances = model.predict_proba(A)
    assert isinstance(chances, da.Array)
    assert chances.shape == (len(y), 2)
    np.testing.assert_allclose(chances.compute(), model.predict_proba(X))
    np.testing.assert_allclose(model.predict_log_proba(A).compute(), np.log(chances.compute()))
    assert not hasattr(spread.LinearSVC(), "predict_proba")


@pytest.mark.parametrize("kind", [spread.LinearSVC, spread.LinearSVR])
def test_scores_are_computed_where_the_examples_are(client, kind, monkeypatch):
    X, y = make_data()
    model = kind(random_state=0).fit(*as_arrays(X, y))
    wanted = model.score(X, y)
    monkeypatch.setattr(kind, "predict", None)  # predictions would come back one by one
    assert model.score(*as_arrays(X, y)) == pytest.approx(wanted)


@pytest.mark.parametrize("loss", [{}, {"loss": "huber"}, {"loss": "quantile", "quantile": 0.8}], ids=str)
def test_regression(client, loss):
    X, _ = make_data()
    y = X @ np.arange(10.0) + np.random.default_rng(0).normal(size=len(X))
    A, b = as_arrays(X, y)
    model = spread.LinearSVR(epsilon=0.5, C=0.01, random_state=0, **loss).fit(A, b)
    one = LinearSVR(epsilon=0.5, C=0.01, tol=1e-6, **loss).fit(X, y)
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-3)
    assert model.coef_.shape == (10,)
    assert model.score(A, b) == pytest.approx(model.score(X, y))
    np.testing.assert_allclose(model.predict(A).compute(), model.predict(X))


def test_predictions_of_frames_and_lists(client):
    X, y = make_data()
    model = spread.LinearSVC(C=0.02, random_state=0).fit(as_delayed(X), as_delayed(y))
    frame = pd.DataFrame(X, index=np.arange(len(y)) * 3)
    lazy = model.predict(dd.from_pandas(frame, npartitions=3))
    assert isinstance(lazy, dd.Series)
    series = lazy.compute()
    np.testing.assert_array_equal(series.index, frame.index)
    np.testing.assert_array_equal(series, model.predict(X))
    parts = dask.compute(*model.decision_function(as_delayed(X)))
    np.testing.assert_allclose(np.concatenate(parts), model.decision_function(X))
    assert isinstance(model.predict(X), np.ndarray)


def test_a_local_estimator_and_copies(client, tmp_path):
    X, y = make_data()
    model = spread.LinearSVC(C=0.02, tol=1e-2, random_state=0)
    with pytest.raises(NotFittedError):
        model.to_local()
    model.client = client
    model.fit(*as_arrays(X, y))
    local = model.to_local()
    assert type(local) is LinearSVC
    assert (local.C, local.tol) == (0.02, 1e-2)
    assert local.certificate_ == model.certificate_
    np.testing.assert_array_equal(local.predict(X), model.predict(X))
    save_model(local, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None
    np.testing.assert_array_equal(copied.coef_, model.coef_)
    assert clone(model).get_params() == model.get_params()
    assert local.set_params(warm_start=True).fit(X, y).certificate_.converged


def test_data_do_not_move(client):
    """Partitions stay with the worker that made them."""
    workers = sorted(client.nthreads())
    X, y = make_data()
    rows = [client.submit(np.array, X[250 * k :][:250], workers=[workers[k // 3]], pure=False) for k in range(4)]
    distributed.wait(rows)
    model = spread.LinearSVC(C=0.02, random_state=0).fit([dask.delayed(part) for part in rows], as_delayed(y))
    assert "workers" in model.certificate_.solver
    places = client.who_has(rows)
    assert [list(places[part.key]) for part in rows] == [[workers[k // 3]] for k in range(4)]


def test_a_fit_within_a_task(client):
    def work():
        X, y = make_data(200)
        return spread.LinearSVC(C=0.02, random_state=0).fit(*as_arrays(X, y, 100)).certificate_.converged

    assert client.submit(work, pure=False).result(timeout=300)


def test_falls_short_with_a_warning(client):
    X, y = make_data()
    with pytest.warns(ConvergenceWarning, match="LinearSVC did not reach tol=1e-09: the budget of max_iter"):
        model = spread.LinearSVC(C=10, tol=1e-9, max_iter=2, random_state=0).fit(*as_arrays(X, y))
    assert not model.certificate_.converged
    assert model.n_iter_ <= 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X, r"These data take about 0\.\d MB: pegasos.LinearSVC, in memory.*smaller C"),
        (lambda X: X + 1000, r"Column 0 and .* before the fit, such as X = \(X - X.mean\(axis=0\)\)"),
        (
            lambda X: X * np.geomspace(1, 1e6, X.shape[1]),
            "Columns differ in size .*: divide each by its size before the",
        ),
    ],
)
def test_a_fit_that_falls_short_names_what_helps_on_dask(client, change, words):
    X, y = make_data()
    X = change(X.toarray() if sp.issparse(X) else X)
    with pytest.warns(UserWarning, match=words) as warned:
        spread.LinearSVC(C=10, tol=1e-9, max_iter=2, random_state=0).fit(*as_arrays(X, y))
    assert str(warned[-1].message).endswith("Otherwise raise max_iter or tol.")
    assert (warned[0].category is UnscaledColumns) == ("olumn" in words)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"C": -1}, ValueError, "C=-1: must be a finite number above 0"),
        ({"local_epochs": 0}, ValueError, "local_epochs=0: must be a finite number above 0"),
        ({"timeout": None}, ValueError, "timeout=None"),
        ({"intercept": "free"}, TypeError, "no parameter 'intercept'; did you mean 'fit_intercept'"),
        ({"scale": True}, TypeError, "no parameter 'scale'; it has C, "),
        ({"solver": "sdca"}, TypeError, "no parameter 'solver'"),
        ({"n_jobs": 2}, TypeError, "no parameter 'n_jobs'"),
        ({"penalty": "l2"}, TypeError, "no parameter 'penalty'"),
    ],
)
def test_parameters_are_checked(client, options, error, message):
    with pytest.raises(error, match=message):
        spread.LinearSVC(**options).fit(*as_arrays(*make_data(100)))


def test_bad_input_is_refused(client):
    X, y = make_data()
    A, b = as_arrays(X, y)
    model = spread.LinearSVC()
    with pytest.raises(TypeError, match="X is of type ndarray, which is not spread over workers"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"columns in 2 chunks.*rechunk"):
        model.fit(A.rechunk((250, 5)), b)
    with pytest.raises(ValueError, match="1000 and 999"):
        model.fit(A, b[:999])
    with pytest.raises(ValueError, match="X has 4 partitions and y has 3"):
        model.fit(as_delayed(X), as_delayed(y)[:3])
    with pytest.raises(ValueError, match="requires y"):
        model.fit(A)
    bad = X.copy()
    bad[300, 2] = np.inf
    with pytest.raises(ValueError, match="partition 1: Input X contains infinity: row 50, column 2"):
        model.fit(*as_arrays(bad, y))
    with pytest.raises(ValueError, match="y has one class only"):
        model.fit(A, np.zeros(len(y), dtype=int))
    model.client = "tcp://somewhere"
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        model.fit(A, b)


def test_it_is_no_local_estimator():
    for ours, local in ((spread.LinearSVC, LinearSVC), (spread.LinearSVR, LinearSVR)):
        assert not issubclass(ours, local)
        assert not hasattr(ours(alpha=1e-3), "partial_fit")
        assert set(ours().get_params()) - {"local_epochs", "timeout"} <= set(local().get_params())
