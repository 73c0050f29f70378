"""Fits by blocks that are killed and go on from a checkpoint end with the same bits as those that are not."""

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
from checkpoint_helpers import Killed, bits_of, fit_in_pieces, fit_under_fire, write_and_end
from sklearn.base import clone

from pegasos import Checkpoint, LinearSVC, LinearSVR, listen
from pegasos.base.checkpoint import Store, pack, read
from pegasos.datasets import make_text
from pegasos.io import write_dataset
from pegasos.linear.out_of_core import blocks, fit
from pegasos.linear.out_of_core.moving import MovingRows
from pegasos.solvers import SDCA, Pegasos

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(400, 8))
Y = (X @ RANDOM.normal(size=8) + RANDOM.normal(size=400) > 0).astype(int)
CLASSES = np.digitize(X[:, 0] + 0.5 * RANDOM.normal(size=400), [-0.5, 0.5])
TARGETS = X @ RANDOM.normal(size=8) + RANDOM.normal(size=400)
TEXT, LABELS = make_text(2000, 200, random_state=0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that even small data sets have many runs and several blocks, and none fits in memory."""
    monkeypatch.setattr(blocks, "RUN_BYTES", 1 << 10)
    monkeypatch.setattr(fit, "BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr(fit, "SMALLEST_BLOCK", 1 << 12)
    monkeypatch.setattr(fit, "BASE_BYTES", 1 << 20)
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)


def svc(**parameters):
    return LinearSVC(**{"random_state": 0, "max_iter": 15, "tol": 1e-9} | parameters)


def svr(**parameters):
    return LinearSVR(**{"random_state": 0, "max_iter": 15, "tol": 1e-9} | parameters)


CASES = {
    "two classes": (svc(), X, Y),
    "two classes in float32": (svc(), sp.csr_matrix(X).astype(np.float32), Y),
    "rows that move": (svc(C=0.1, tol=1e-5, max_iter=1000), TEXT, LABELS),
    "rows that move in float64": (svc(tol=1e-4, max_iter=1000), TEXT[:500].astype(np.float64).toarray(), LABELS[:500]),
    "no rests": (svc(solver=SDCA(shrink=False)), X, Y),
    "several classes": (svc(), X, CLASSES),
    "several classes in float32": (svc(tol=1e-3, max_iter=100), sp.csr_matrix(X).astype(np.float32), CLASSES),
    "regression": (svr(), X, TARGETS),
    "regression in float32": (svr(), X.astype(np.float32), TARGETS),
    "sgd-s": (svc(solver="sgd-s"), X, Y),
    "sgd-s and several classes": (svc(solver="sgd-s"), X, CLASSES),
    "pegasos": (svc(solver="pegasos"), X, Y),
    "pegasos in regression": (svr(solver=Pegasos(average=True, project=True)), X, TARGETS),
    "pegasos without a certificate": (svc(solver=Pegasos(max_steps=3000, certify=False), tol=0), X, Y),
}
any_case = pytest.mark.parametrize("name", CASES)


def prepare(name, folder):
    """Estimator and data set of a case; the latter has room for half of it, or for single blocks."""
    estimator, rows, y = CASES[name]
    weights = np.random.default_rng(1).integers(1, 4, len(y)) if "regression" in name else None
    dataset = write_dataset(folder / "a.ds", rows, y, weights)
    room = dataset.nbytes // 2 if "move" in name else fit.BLOCKS * fit.BLOCK_BYTES
    parts = len(np.unique(y)) if "several" in name else 1
    dataset.memory_limit = fit.BASE_BYTES + 8 * fit.VECTORS * parts * (rows.shape[1] + 1) + room
    return estimator, dataset


@any_case
def test_a_fit_that_goes_on_ends_with_the_same_bits(name, tmp_path, monkeypatch):
    copied, copy_again = [], MovingRows.copy_again
    monkeypatch.setattr(MovingRows, "copy_again", lambda *given: copied.append(copy_again(*given)))
    estimator, dataset = prepare(name, tmp_path)
    whole, folder = clone(estimator).fit(dataset), tmp_path / "checkpoints"
    fitted, tries = fit_in_pieces(estimator, dataset, folder=folder, monkeypatch=monkeypatch)
    assert np.array_equal(bits_of(fitted), bits_of(whole))
    assert tries > 2
    assert copied or "move" not in name
    assert not os.listdir(folder)  # the fit is over


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize(
    ("name", "kills"),
    [
        ("two classes", 50),
        ("rows that move", 50),
        ("several classes in float32", 50),
        ("regression", 50),
        ("pegasos", 10),
        ("sgd-s and several classes", 10),
    ],
)
def test_killed_at_random(name, kills, tmp_path):
    estimator, dataset = prepare(name, tmp_path)
    whole = bits_of(clone(estimator).fit(dataset))
    for bits in fit_under_fire(estimator, dataset, folder=tmp_path, kills=kills):
        assert np.array_equal(bits, whole)


def end_early(estimator, dataset, folder, monkeypatch):
    """A fit that is ended after its first checkpoint."""
    with monkeypatch.context() as patch:
        patch.setattr(Store, "save", write_and_end)
        with pytest.raises(Killed):
            clone(estimator).set_params(checkpoint=Checkpoint(folder, every=0)).fit(dataset)
    return next(path for path in folder.glob("*/*") if path.name != "manifest.json")


@pytest.mark.parametrize("in_memory", [False, True])
def test_free_memory_is_that_of_the_beginning(tmp_path, monkeypatch, in_memory):
    """It decides on blocks and copies, and on whether there are blocks at all."""
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", fit.fits_in_memory)
    monkeypatch.setattr(fit, "free_memory", lambda: (1 << 30) if in_memory else (3 << 20))
    dataset, folder = write_dataset(tmp_path / "a.ds", np.tile(X, (10, 1)), np.tile(Y, 10)), tmp_path / "checkpoints"
    estimator = svc(solver="sdca", tol=1e-4, random_state=None)
    path = end_early(estimator, dataset, folder, monkeypatch)
    manifest = json.loads(path.with_name("manifest.json").read_text())
    monkeypatch.setattr(LinearSVC, "_seed", lambda self: manifest["seed"])
    whole = clone(estimator).fit(dataset)
    assert ("by blocks" in whole.certificate_.solver) != in_memory
    monkeypatch.setattr(fit, "free_memory", lambda: (3 << 20) if in_memory else (1 << 30))
    resumed = clone(estimator).set_params(checkpoint=Checkpoint(folder, resume=True)).fit(dataset)
    assert np.array_equal(bits_of(resumed), bits_of(whole))


def test_too_little_memory_is_not_kept(tmp_path, monkeypatch):
    dataset, clf = write_dataset(tmp_path / "a.ds", X, Y), svc(checkpoint=Checkpoint(tmp_path / "checkpoints"))
    monkeypatch.setattr(fit, "free_memory", lambda: 1 << 20)
    with pytest.raises(ValueError, match="is too small"):
        clone(clf).fit(dataset)
    monkeypatch.undo()
    clone(clf).fit(dataset)
    assert not os.listdir(tmp_path / "checkpoints")


def test_another_data_set_or_limit_is_another_fit(tmp_path, monkeypatch):
    estimator, dataset = prepare("two classes", tmp_path)
    end_early(estimator, dataset, tmp_path / "checkpoints", monkeypatch)
    resumed = clone(estimator).set_params(checkpoint=Checkpoint(tmp_path / "checkpoints", resume=True))
    dataset.memory_limit += 1
    with pytest.raises(ValueError, match="has no checkpoint of this fit"):
        clone(resumed).fit(dataset)
    other = write_dataset(tmp_path / "b.ds", X, 1 - Y)
    other.memory_limit = dataset.memory_limit - 1
    with pytest.raises(ValueError, match="has no checkpoint of this fit"):
        clone(resumed).fit(other)


def test_a_state_of_another_run_is_refused(tmp_path, monkeypatch):
    """Whole by its checksum, and yet too short, too long, or with sizes that cannot be."""
    estimator, dataset = prepare("two classes", tmp_path)
    path = end_early(estimator, dataset, tmp_path / "checkpoints", monkeypatch)
    estimator, state = clone(estimator).set_params(checkpoint=tmp_path / "checkpoints"), read(path)[1]
    for other in (b"", state[:-1], state + b"0", b"\xff" * len(state), state[: len(state) // 2], state[8:]):
        path.write_bytes(b"".join(pack(other, False, 1.0)))
        with pytest.raises(ValueError, match="does not belong to this run: delete it, and start anew"):
            clone(estimator).fit(dataset)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="a damaged checkpoint"):
        clone(estimator).fit(dataset)


def test_a_fit_that_runs_out_of_time_leaves_its_checkpoint(tmp_path, ticks):
    estimator, dataset = prepare("two classes", tmp_path)
    folder = tmp_path / "checkpoints"
    short = clone(estimator).set_params(checkpoint=Checkpoint(folder, every=0), max_time=2.0).fit(dataset)
    assert short.certificate_.reason == "max_time"
    assert len(os.listdir(folder)) == 1
    resumed = clone(estimator).set_params(checkpoint=Checkpoint(folder, resume=True)).fit(dataset)
    assert np.array_equal(bits_of(resumed), bits_of(clone(estimator).fit(dataset)))
    assert resumed.certificate_.seconds > 2.0 - 0.5


def test_a_problem_that_a_listener_ends_goes_on(tmp_path):
    """Its last checkpoint is of before."""
    estimator, dataset = prepare("several classes", tmp_path)
    folder, kept = tmp_path / "checkpoints", {"checkpoint": Checkpoint(tmp_path / "checkpoints", every=0)}

    def stop_one(check):
        if check.part == "1" and check.epoch > 10:
            check.stop()

    with listen(stop_one):
        short = clone(estimator).set_params(tol=0, **kept).fit(dataset)
    assert [part.reason for part in short.certificate_.parts] == ["max_iter", "callback", "max_iter"]
    assert len(os.listdir(folder)) == 1
    resumed, whole = (clone(estimator).set_params(tol=0, **more).fit(dataset) for more in (kept, {}))
    assert np.array_equal(bits_of(resumed), bits_of(whole))
