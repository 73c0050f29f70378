"""Fits to data sets larger than memory: the same optimum, true certificates, bounded memory."""

import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, LinearSVC, LinearSVCCV, LinearSVR
from pegasos.base.parameters import loss_parameter
from pegasos.base.scaling import UnscaledColumns
from pegasos.datasets import make_text
from pegasos.io import DatasetWriter, load_model, open_dataset, save_model, write_dataset
from pegasos.linear.out_of_core import blocks, fit
from pegasos.linear.out_of_core.blocks import BlockReader
from pegasos.reference import losses as reference
from pegasos.solvers import SDCA, SGDM, Pegasos


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that even small data sets have many runs and several blocks, and none fits in memory."""
    monkeypatch.setattr(blocks, "RUN_BYTES", 1 << 10)
    monkeypatch.setattr(fit, "BLOCK_BYTES", 1 << 14)
    monkeypatch.setattr(fit, "SMALLEST_BLOCK", 1 << 12)
    monkeypatch.setattr(fit, "BASE_BYTES", 1 << 20)
    monkeypatch.setattr(fit, "fits_in_memory", lambda *_: False)
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)


def dense(n=600, d=12, classes=2, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=(d, classes)) + random.normal(size=(n, classes))
    return X.astype(dtype), scores.argmax(axis=1)


KINDS = {
    "dense": lambda X: X,
    "dense32": lambda X: X.astype(np.float32),
    "csr": sp.csr_matrix,
    "csr32": lambda X: sp.csr_matrix(X.astype(np.float32)),
}


def primal(machine, X, y, C, s=None):
    """Of a fit to two classes, computed afresh."""
    w = np.append(machine.coef_, machine.intercept_)
    rows = np.column_stack([X, np.ones(len(X))])
    s = np.ones(len(X)) if s is None else s
    return reference.primal(machine.loss, rows, y, s, C, w, loss_parameter(machine)[1])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda X: X + 1000,
            r"Column 0 and 11 more are around 1e\+03 .*StandardScaler\) before the data set is written",
        ),
        (
            lambda X: X * np.geomspace(1, 1e6, 12),
            r"Columns differ in size .*: scale them before the data set is written",
        ),
        (lambda X: X * 1000, r"Columns are large for C=1, .*: scale them before the data set is written"),
    ],
)
def test_unscaled_columns_are_named_before_a_fit_by_blocks(tmp_path, monkeypatch, change, words):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", change(X), y)
    with pytest.warns(UserWarning, match=words) as warned:
        LinearSVC(max_iter=3, tol=1e-9, random_state=0).fit(dataset)
    assert re.search(f"{words}.*raise memory_limit to 2 MB", str(warned[0].message))
    assert [warning.category for warning in warned] == [UnscaledColumns, ConvergenceWarning]
    assert str(warned[-1].message).endswith("Otherwise raise max_iter or tol.")

    def begin(*_):
        raise AssertionError("begun")

    monkeypatch.setattr("pegasos.linear.out_of_core.fit.FitByBlocks.solve", begin)
    with pytest.warns(UnscaledColumns, match=words), pytest.raises(AssertionError, match="begun"):
        LinearSVC().fit(dataset)


def test_columns_are_judged_by_rows_from_all_over(tmp_path, monkeypatch):
    monkeypatch.setattr("pegasos.io.dataset_reader.SOME_RUN", 1 << 10)
    X, y = dense()
    X[:, 0] = X[:, 0] / 10 + np.repeat([50, -50], len(X) // 2)  # the first rows are far from zero
    LinearSVC(C=0.1, tol=0.1, random_state=0).fit(write_dataset(tmp_path / "a.ds", X, y))


def test_blocks_have_every_row_once(tmp_path):
    X, y = make_text(3000, 200, random_state=0)
    weights = np.arange(3000.0)
    dataset = write_dataset(tmp_path / "a.ds", X, y, weights)
    reader = BlockReader(dataset, 1 << 14)
    assert reader.n_runs > 50
    orders = []
    for read in (reader.in_order(), reader.epoch(np.random.default_rng(0)), reader.epoch(np.random.default_rng(1))):
        seen = []
        for block in read:
            rows = block.take(np.arange(3000))
            seen.append(rows)
            assert block.take(weights).tolist() == block.weights.tolist()
            np.testing.assert_array_equal(block.targets[0], y[rows])
            assert block.nnz == X[rows].nnz
        assert len(seen) > 10
        orders.append(np.concatenate(seen))
        assert sorted(orders[-1].tolist()) == list(range(3000))
    assert orders[0].tolist() == list(range(3000))
    assert orders[1].tolist() != orders[2].tolist()


def test_what_is_put_is_taken(tmp_path):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    stored = np.zeros(len(y))
    for block in BlockReader(dataset, 1 << 14).epoch(np.random.default_rng(0)):
        block.put(stored, block.targets[0] + 1.0)
    np.testing.assert_array_equal(stored, y + 1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("kind", KINDS)
def test_sdca_reaches_the_optimum_and_certifies_it(tmp_path, kind, loss):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", KINDS[kind](X), y)
    machine = LinearSVC(C=0.1, tol=1e-4, loss=loss, random_state=0).fit(dataset)
    local = LinearSVC(C=0.1, tol=1e-7, loss=loss, random_state=0).fit(X, y)
    found, best = machine.certificate_, local.certificate_
    assert found.converged
    assert found.gap <= 1e-4
    assert found.dual <= best.primal * (1 + 1e-6)
    assert best.dual * (1 - 1e-6) <= found.primal <= best.primal * (1 + 2e-4)
    assert found.primal == pytest.approx(primal(machine, X, 2.0 * y - 1, 0.1), rel=1e-5)
    assert "by blocks of" in found.solver
    assert (machine.predict(X) == local.predict(X)).mean() > 0.99


@pytest.mark.parametrize("solver", ["sgd-s", "pegasos", Pegasos(project=True, average=True), Pegasos(average=False)])
def test_sub_gradient_solvers_certify_what_they_reach(tmp_path, solver):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    machine = LinearSVC(alpha=0.05, tol=0.03, max_iter=300, solver=solver, random_state=0).fit(dataset)
    best = LinearSVC(alpha=0.05, tol=1e-7, random_state=0).fit(X, y).certificate_
    found = machine.certificate_
    assert found.converged
    assert found.dual <= best.primal
    assert found.primal >= best.dual
    assert found.primal == pytest.approx(primal(machine, X, 2.0 * y - 1, 1 / (0.05 * len(y))), rel=1e-9)
    duals = machine.history_["dual"]
    assert (duals <= best.primal).all()


@pytest.mark.parametrize("average", [False, "suffix", "last", True])
def test_the_best_weights_are_returned_unless_others_are_asked_for(tmp_path, average):
    X, y = dense()
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    rises = 0
    for seed in range(5):
        machine = LinearSVC(C=1.0, tol=0, max_iter=20, solver=Pegasos(average=average), random_state=seed).fit(dataset)
        primals, duals = machine.history_["primal"], machine.history_["dual"]
        assert machine.certificate_.primal == primals[-1] == pytest.approx(primal(machine, X, 2.0 * y - 1, 1.0))
        assert (np.diff(duals) >= 0).all()
        rises += (np.diff(primals) > 0).sum()
    assert average == "last" or rises == 0
    assert average != "last" or rises > 0


@pytest.mark.parametrize("steps", [100, 700, 1500])
def test_steps_are_counted_and_a_part_of_an_epoch_has_a_true_bound(tmp_path, steps):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    solver = Pegasos(max_steps=steps)
    machine = LinearSVC(alpha=0.05, tol=0, solver=solver, random_state=0).fit(dataset)
    best = LinearSVC(alpha=0.05, tol=1e-7, random_state=0).fit(X, y).certificate_
    assert machine._last[0].t == steps
    assert machine.n_iter_ == -(-steps // 600)
    assert machine.certificate_.reason == "max_steps"
    assert 0 < machine.certificate_.dual <= best.primal


def test_without_a_pass_there_is_the_lower_bound_alone(tmp_path):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    with_pass, without = (
        LinearSVC(alpha=0.05, tol=0, solver=Pegasos(max_steps=700, certify=certify), random_state=0).fit(dataset)
        for certify in (True, False)
    )
    np.testing.assert_array_equal(with_pass.coef_, without.coef_)
    assert without.certificate_.dual == with_pass.certificate_.dual > 0
    assert without.certificate_.primal == np.inf == without.certificate_.gap
    with pytest.raises(ValueError, match="pegasos does not support certify=False with a linear problem in memory"):
        LinearSVC(solver=Pegasos(certify=False)).fit(X, y)


def test_a_fit_ends_a_stream(tmp_path):
    X, y = dense()
    machine = LinearSVC(alpha=0.01, random_state=0).partial_fit(X, y, classes=[0, 1])
    machine.fit(write_dataset(tmp_path / "a.ds", X, y))
    assert machine.certificate_.converged
    assert not hasattr(machine, "progressive_")


def test_predictions_for_a_data_set(tmp_path):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", sp.csr_matrix(X), y)
    machine = LinearSVC(C=0.1, random_state=0).fit(dataset)
    np.testing.assert_array_equal(machine.predict(dataset), machine.predict(X))


@pytest.mark.parametrize("solver", ["sdca", "sgd-s"])
def test_more_classes_share_the_blocks(tmp_path, solver):
    X, y = dense(classes=4)
    names = np.array(["d", "b", "a", "c"])[y]
    dataset = write_dataset(tmp_path / "a.ds", X, names)
    machine = LinearSVC(alpha=0.01, tol=0.02, max_iter=500, solver=solver, random_state=0).fit(dataset)
    local = LinearSVC(alpha=0.01, tol=1e-5, random_state=0).fit(X, names)
    assert machine.classes_.tolist() == ["a", "b", "c", "d"]
    assert len(machine.certificate_.parts) == 4 == len(machine.history_)
    assert machine.coef_.shape == (4, X.shape[1])
    for part, best in zip(machine.certificate_.parts, local.certificate_.parts, strict=True):
        assert part.converged
        assert part.dual <= best.primal
        assert part.primal <= best.primal * 1.02
    save_model(machine, tmp_path / "a.model")
    loaded = load_model(tmp_path / "a.model")
    np.testing.assert_array_equal(loaded.coef_, machine.coef_)
    assert [start.t for start in loaded._last] == [start.t for start in machine._last]


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive", "huber", "quantile"])
def test_regression(tmp_path, loss):
    X, _ = dense()
    y = X @ np.arange(12.0) / 10 + np.random.default_rng(1).normal(size=len(X))
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    own = {"quantile": 0.7} if loss == "quantile" else {"epsilon": 0.1}
    machine = LinearSVR(C=0.1, tol=1e-4, loss=loss, **own, random_state=0).fit(dataset)
    best = LinearSVR(C=0.1, tol=1e-7, loss=loss, **own, random_state=0).fit(X, y).certificate_
    assert machine.certificate_.converged
    assert machine.certificate_.dual <= best.primal * (1 + 1e-9)
    assert machine.certificate_.primal == pytest.approx(best.primal, rel=2e-4)
    assert machine.certificate_.primal == pytest.approx(primal(machine, X, y, 0.1), rel=1e-9)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_a_fit_in_memory(tmp_path, class_weight, weighted):
    X, y = dense()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float) if weighted else None
    dataset = write_dataset(tmp_path / "a.ds", X, y, weights)
    parameters = {"alpha": 0.01, "class_weight": class_weight, "random_state": 0}
    machine = LinearSVC(tol=1e-4, **parameters).fit(dataset)
    local = LinearSVC(tol=1e-6, **parameters).fit(X, y, weights)
    assert machine.certificate_.primal == pytest.approx(local.certificate_.primal, rel=2e-4)


def test_a_data_set_that_is_replaced_stays_what_it_was(tmp_path, monkeypatch):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    once = BlockReader.epoch

    def replace_first(self, random):
        write_dataset(tmp_path / "a.ds", X[::-1].copy(), y, overwrite=True)
        return once(self, random)

    monkeypatch.setattr(BlockReader, "epoch", replace_first)
    machine = LinearSVC(C=0.1, tol=1e-4, random_state=0).fit(dataset)
    assert machine.certificate_.primal == pytest.approx(primal(machine, X, 2.0 * y - 1, 0.1), rel=1e-9)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    dataset = write_dataset(tmp_path / "a.ds", *dense())

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(OSError, match="point TMPDIR at another folder"):
        LinearSVC(C=0.1).fit(dataset)


def test_without_a_call_that_reserves_room_zeros_are_written(tmp_path, monkeypatch):
    """As on macOS."""
    dataset = write_dataset(tmp_path / "a.ds", *dense())
    expected = LinearSVC(C=0.1, random_state=0).fit(dataset).coef_
    monkeypatch.delattr("os.posix_fallocate")
    np.testing.assert_array_equal(LinearSVC(C=0.1, random_state=0).fit(dataset).coef_, expected)


def test_the_same_seed_gives_the_same_bits(tmp_path):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    first, second, other = (LinearSVC(C=0.1, random_state=seed).fit(dataset).coef_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_a_time_limit_is_certified_and_warns(ticks, tmp_path):
    X, y = make_text(3000, 300, random_state=0)
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    with pytest.warns(UserWarning, match="did not reach tol"):
        machine = LinearSVC(C=1e5, tol=1e-9, max_time=0.3, max_iter=10**9, random_state=0).fit(dataset)
    assert machine.certificate_.reason == "max_time"
    assert machine.certificate_.primal >= machine.certificate_.dual >= 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "interior-point"}, "a data set larger than memory.*raise memory_limit"),
        ({"solver": SGDM()}, "a data set larger than memory.*raise memory_limit"),
        ({"solver": Pegasos(batch_size=8)}, "a data set larger than memory.*raise memory_limit"),
        (
            {"intercept": "free"},
            "a data set larger than memory; it supports 'penalized'; raise memory_limit to \\d+ MB",
        ),
        ({"scale": True}, "needs the data in memory"),
        ({"warm_start": True}, "auto does not support warm_start=True"),
        ({"multi_class": "joint"}, "needs the data in memory"),
        ({"class_weight": {7: 1.0}}, "no label of y"),
    ],
)
def test_what_needs_memory_says_so(tmp_path, parameters, message):
    dataset = write_dataset(tmp_path / "a.ds", *dense())
    with pytest.raises(ValueError, match=message):
        LinearSVC(**parameters).fit(dataset)


def test_labels_come_with_it(tmp_path):
    X, y = dense()
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    with pytest.raises(ValueError, match="y is given beside a data set"):
        LinearSVC().fit(dataset, y)
    with pytest.raises(ValueError, match="one class only"):
        LinearSVC().fit(write_dataset(tmp_path / "b.ds", X, np.ones(len(y))))
    with pytest.raises(ValueError, match=r"b\.ds has labels that are no whole numbers.*LinearSVR"):
        LinearSVC().fit(write_dataset(tmp_path / "b.ds", X, y + 0.5, overwrite=True))
    with pytest.raises(ValueError, match="needs numbers"):
        LinearSVR().fit(write_dataset(tmp_path / "c.ds", X, y.astype(str)))
    with pytest.raises(ValueError, match="requires y"):
        LinearSVC().fit(X)


def test_machines_with_a_kernel_say_how_to_pass_it(tmp_path):
    with pytest.raises(TypeError, match=r"fit\(dataset.X, dataset.y\)"):
        SVC().fit(write_dataset(tmp_path / "a.ds", *dense()))


def test_too_little_memory_says_how_much(tmp_path):
    write_dataset(tmp_path / "a.ds", *dense())
    with pytest.raises(
        ValueError,
        match=r"memory_limit=1MB is too small: the process itself and weights of 12 .*raise it to 2 MB",
    ):
        LinearSVC().fit(open_dataset(tmp_path / "a.ds", memory_limit="1MB"))


@pytest.mark.parametrize(
    ("name", "dtype", "value"),
    [("columns", "<i4", 10**6), ("columns", "<i4", -1), ("values", "<f4", np.nan), ("labels", "<i8", 5)],
)
def test_damaged_data_are_refused_and_never_read(tmp_path, name, dtype, value):
    X, y = make_text(2000, 100, random_state=0)
    write_dataset(tmp_path / "a.ds", X, y)
    array = np.memmap(tmp_path / "a.ds" / name, dtype, "r+")
    array[len(array) // 2] = value
    array.flush()
    with pytest.raises(ValueError, match=rf"{name} .*convert the data anew"):
        LinearSVC().fit(open_dataset(tmp_path / "a.ds"))


@pytest.mark.parametrize("value", [-1, 2**40, 3])
def test_damaged_starts_are_refused(tmp_path, value):
    X, y = make_text(2000, 100, random_state=0)
    write_dataset(tmp_path / "a.ds", X, y)
    for place in (0, 997, 2000):
        array = np.memmap(tmp_path / "a.ds" / "starts", "<i8", "r+")
        before, array[place] = array[place], value
        array.flush()
        with pytest.raises(ValueError, match=r"convert the data anew|is too small"):
            LinearSVC().fit(open_dataset(tmp_path / "a.ds"))
        array[place] = before


def test_no_thread_and_no_file_stays_open(tmp_path):
    dataset = write_dataset(tmp_path / "a.ds", *dense())
    LinearSVC(C=0.1, random_state=0).fit(dataset)
    read = BlockReader(dataset, 1 << 14).in_order()
    next(read)
    read.close()
    assert not [thread for thread in threading.enumerate() if "read-ahead" in thread.name]


MEMORY = """
import re, sys, threading
from pegasos import LinearSVC
from pegasos.io import open_dataset
dataset = open_dataset(sys.argv[1], memory_limit="280MB")
peak, done = 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.005):
        with open("/proc/self/status") as file:
            peak = max(peak, int(re.search(r"RssAnon:\\s+(\\d+)", file.read())[1]) * 1024)
thread = threading.Thread(target=watch)
thread.start()
machine = LinearSVC(alpha=1e-4, tol=0, max_iter=2, solver=sys.argv[2], random_state=0).fit(dataset)
done.set()
thread.join()
assert "by blocks of 16.8" in machine.certificate_.solver, machine.certificate_.solver
print(dataset.nbytes, peak)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("solver", ["sdca", "pegasos"])
def test_memory_stays_within_its_limit(tmp_path, solver):
    """A data set of 290 MB in a process that may take 280 MB."""
    random = np.random.default_rng(0)
    X = random.normal(size=(50_000, 120)).astype(np.float32)
    with DatasetWriter(tmp_path / "a.ds") as writer:
        for _ in range(12):
            writer.append(X, (X[:, 0] > 0).astype(int))
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "a.ds"), solver], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    size, peak = map(int, done.stdout.split())
    assert peak < 280e6 < size


@pytest.mark.parametrize("options", [{"shrink": False}, {"order": "permute"}, {"order": "blocks"}])
def test_options_of_sdca(tmp_path, options):
    dataset = write_dataset(tmp_path / "a.ds", *dense())
    assert LinearSVC(C=0.1, solver=SDCA(**options), random_state=0).fit(dataset).certificate_.converged


@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_visits_and_bytes_are_not_much_more_than_in_memory(tmp_path, monkeypatch, tol, by_class):
    monkeypatch.setattr(fit, "BLOCK_BYTES", 1 << 18)
    X, y = make_text(5000, 2000, random_state=0)
    if by_class:
        X, y = X[np.argsort(y)], np.sort(y)
    dataset, read, load = write_dataset(tmp_path / "a.ds", X, y), [], BlockReader._load
    monkeypatch.setattr(BlockReader, "_load", lambda *given: read.append(load(*given)) or read[-1])
    memory = LinearSVC(solver="sdca", tol=tol, random_state=0).fit(X, y).history_["epoch"]
    blocks = LinearSVC(solver="sdca", tol=tol, random_state=0).fit(dataset).history_["epoch"]
    assert blocks[-1] <= 1.7 * memory[-1]
    assert sum(block.nnz for block in read) <= 2.5 * (memory[-1] + len(memory)) * X.nnz


def test_rows_that_all_rest_are_woken(tmp_path):
    """Where each row is at its bound after an epoch: there must be an end."""
    X, y = np.eye(40), np.arange(40) % 2
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    found = LinearSVC(C=1e-3, tol=1e-9, random_state=0).fit(dataset).certificate_
    assert found.converged


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("solver", ["auto", "sgd-s"])
@pytest.mark.filterwarnings("ignore:LinearSVC did not reach", "ignore:By blocks such columns")
def test_the_bounds_allow_for_their_rounding(tmp_path, solver, C, scale):
    """Against values in more than double precision."""
    X, y = dense()
    X, s = scale * X, np.random.default_rng(1).uniform(0, 2, len(y))
    dataset = write_dataset(tmp_path / "a.ds", X, y, s)
    machine = LinearSVC(C=C, tol=1e-6, max_iter=100, solver=solver, random_state=0).fit(dataset)
    found, long = machine.certificate_, np.longdouble
    rows = np.column_stack([X, np.ones(len(y))]).astype(long)

    def objective(model):
        w = np.append(model.coef_, model.intercept_).astype(long)
        return w @ w / 2 + long(C) * (s.astype(long) @ np.maximum(1 - (2 * y - 1) * (rows @ w), 0))

    value = objective(machine)
    assert value <= found.primal
    assert found.primal <= value + 1e-11 * found.primal * max(1, C * scale)
    best = LinearSVC(C=C, tol=1e-9, max_iter=10**4, random_state=0).fit(X, y, s)
    assert found.dual <= objective(best)
    if scale == C == 1:
        assert found.rounding < 1e-9


@pytest.mark.filterwarnings("ignore:LinearSVC did not reach")
def test_no_epochs_without_use(tmp_path):
    X, y = dense(100)
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    found = LinearSVC(C=0.1, tol=1e-16, max_iter=10**5, random_state=0).fit(dataset).certificate_
    assert found.reason == "precision"
    assert found.gap <= 1e-9


@pytest.mark.parametrize("estimator", [LinearSVC(max_iter=2), LinearSVR(max_iter=2), LinearSVCCV(Cs=2, cv=2)])
@pytest.mark.parametrize("weighted", [False, True])
def test_score_of_a_data_set(tmp_path, estimator, weighted):
    X, y = dense()
    words = y if is_regressor(estimator) else np.array(["no", "yes"])[y]
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    dataset = write_dataset(tmp_path / "a.ds", X, words, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).fit(dataset)
    assert model.score(dataset) == model.score(X, words, weights)
    with pytest.raises(ValueError, match="beside a data set"):
        model.score(dataset, words)


def test_cross_validation_keeps_to_the_memory_limit(tmp_path):
    write_dataset(tmp_path / "a.ds", *dense())
    with pytest.raises(ValueError, match=r"LinearSVCCV has .* 2 MB, more than memory_limit=1MB; raise it"):
        LinearSVCCV(Cs=2, cv=2).fit(open_dataset(tmp_path / "a.ds", memory_limit="1MB"))


def test_kernels_score_no_data_set(tmp_path):
    dataset = write_dataset(tmp_path / "a.ds", *dense(60))
    model = SVC().fit(dataset.X, dataset.y)
    with pytest.raises(TypeError, match=r"score\(dataset.X, dataset.y\)"):
        model.score(dataset)
