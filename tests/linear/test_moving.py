"""Rows that still move are copied as they are, within their budget, and epochs over them keep the certificate true."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import LinearSVC
from pegasos._core import native
from pegasos.datasets import make_text
from pegasos.io import write_dataset
from pegasos.io.dataset_reader import RunReader
from pegasos.linear.out_of_core import blocks, fit
from pegasos.linear.out_of_core.blocks import BlockReader
from pegasos.linear.out_of_core.moving import ROW_BYTES, MovingRows
from pegasos.reference import losses as reference
from pegasos.solvers._blocks import DualAscent

KINDS = {
    "dense": lambda X: X.toarray().astype(np.float64),
    "dense32": lambda X: X.toarray().astype(np.float32),
    "csr": lambda X: X.astype(np.float64),
    "csr32": lambda X: X.astype(np.float32),
}


@pytest.fixture(autouse=True)
def short_runs(monkeypatch):
    monkeypatch.setattr(blocks, "RUN_BYTES", 1 << 10)


@pytest.fixture(params=KINDS)
def given(request, tmp_path):
    """Rows, labels, weights, and the data set of them."""
    X, y = make_text(500, 60, random_state=0)
    X, weights = KINDS[request.param](X), np.arange(500.0)
    return X, y, weights, write_dataset(tmp_path / "a.ds", X, y, weights)


def copy(block, chosen, X):
    """Rows of a block, copied by the core, as an array."""
    count = int(block.lengths[chosen].sum())
    values, columns = np.empty(count, X.dtype), np.empty(count, np.int32)
    if not sp.issparse(X):
        native.copy_rows(block.rows, chosen.astype(np.uint32), values)
        return values.reshape(len(chosen), -1)
    native.copy_rows(block.rows, chosen.astype(np.uint32), values, columns)
    starts = np.append(0, np.cumsum(block.lengths[chosen]))
    return sp.csr_matrix((values, columns, starts), shape=(len(chosen), X.shape[1])).toarray()


def as_array(X):
    return X.toarray() if sp.issparse(X) else X


def test_copies_of_rows_are_the_rows(given):
    X, _, _, dataset = given
    random = np.random.default_rng(0)
    for block in BlockReader(dataset, 1 << 14).epoch(random):
        chosen = random.permutation(len(block))[: len(block) // 2]
        np.testing.assert_array_equal(copy(block, chosen, X), as_array(X)[block.numbers[chosen]])


def test_copies_stay_within_their_arrays(given):
    X, _, _, dataset = given
    block = next(BlockReader(dataset, 1 << 14).in_order())
    rows, other = np.arange(5, dtype=np.uint32), np.float64 if X.dtype == np.float32 else np.float32
    count = int(block.lengths[:5].sum())
    arrays = [np.zeros(count, X.dtype), np.zeros(count, np.int32)][: 1 + sp.issparse(X)]
    for short in ([array[:-1] for array in arrays], [arrays[0][:-1], *arrays[1:]], [*arrays[:-1], arrays[-1][:-1]]):
        with pytest.raises(ValueError, match="no room"):
            native.copy_rows(block.rows, rows, *short)
    with pytest.raises(ValueError, match="types differ"):
        native.copy_rows(block.rows, rows, arrays[0].astype(other), *arrays[1:])
    with pytest.raises(ValueError, match="types differ"):
        native.copy_rows(block.rows, rows, arrays[0], *([] if sp.issparse(X) else [np.empty(count, np.int32)]))
    with pytest.raises((ValueError, IndexError)):
        native.copy_rows(block.rows, np.array([len(block)], np.uint32), *arrays)


def collect(dataset, room, moves):
    moving = MovingRows(dataset, 1.0)
    moving.begin(room)
    for block in BlockReader(dataset, 1 << 14, 1.0).epoch(np.random.default_rng(0)):
        moving.add(block, block.take(moves))
    moving.end()
    return moving


def test_rows_that_move_are_kept_with_labels_and_weights_if_all_have_room(given):
    X, y, weights, dataset = given
    moves = np.random.default_rng(1).random(len(y)) < 0.3
    size = X.dtype.itemsize + 4 * sp.issparse(X)
    found = ROW_BYTES * moves.sum() + size * (X[moves].nnz if sp.issparse(X) else X[moves].size)
    moving = collect(dataset, int(found), moves)
    assert moving.found == found
    kept = moving.block
    assert sorted(kept.numbers.tolist()) == np.flatnonzero(moves).tolist()
    np.testing.assert_array_equal(copy(kept, np.arange(len(kept)), X), as_array(X)[kept.numbers])
    np.testing.assert_array_equal(kept.targets[0], y[kept.numbers])
    np.testing.assert_array_equal(kept.weights, weights[kept.numbers])
    without = collect(dataset, int(found) - 1, moves)
    assert without.block is None
    assert without.found == found


def test_nothing_is_kept_where_nothing_moves(given):
    _, y, _, dataset = given
    moving = collect(dataset, 1 << 20, np.zeros(len(y), bool))
    assert moving.block is None
    assert moving.found == 0


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_epochs_over_them_stay_in_memory_and_the_certificate_is_true(tmp_path, monkeypatch, share):
    monkeypatch.setattr(fit, "SMALLEST_BLOCK", 1 << 12)
    monkeypatch.setattr(fit, "BASE_BYTES", 1 << 20)
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    X, y = make_text(5000, 500, random_state=0)
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    room = int(share * dataset.nbytes)
    dataset.memory_limit = fit.BASE_BYTES + 8 * fit.VECTORS * (X.shape[1] + 1) + room
    calls = {"epochs": 0, "read": 0}
    taken = []
    begin_epoch, epoch, begin = DualAscent.begin_epoch, BlockReader.epoch, MovingRows.begin
    groups = RunReader.groups

    def count(name, method):
        def counted(*arguments):
            calls[name] += 1
            return method(*arguments)

        return counted

    def note_room(self, size):
        taken.append([size, 0])
        begin(self, size)

    def note_groups(self, order, block_bytes):
        taken[-1][1] = block_bytes
        return groups(self, order, block_bytes)

    monkeypatch.setattr(DualAscent, "begin_epoch", count("epochs", begin_epoch))
    monkeypatch.setattr(BlockReader, "epoch", count("read", epoch))
    monkeypatch.setattr(MovingRows, "begin", note_room)
    monkeypatch.setattr(RunReader, "groups", note_groups)
    machine = LinearSVC(C=1.0, tol=1e-3, solver="sdca", random_state=0).fit(dataset)
    assert calls["read"] < calls["epochs"]  # the others read nothing
    assert all(size + fit.BLOCKS * block <= room for size, block in taken)
    best = LinearSVC(C=1.0, tol=1e-7, solver="sdca", random_state=0).fit(X, y).certificate_
    found, w = machine.certificate_, np.append(machine.coef_, machine.intercept_)
    rows = np.column_stack([X.toarray(), np.ones(len(y))])
    value = reference.primal(machine.loss, rows, np.where(y == machine.classes_[1], 1.0, -1.0), np.ones(len(y)), 1.0, w)
    assert found.converged
    assert found.primal == pytest.approx(value, rel=1e-6)
    assert found.dual <= best.primal
    assert best.dual <= found.primal <= best.primal * (1 + 2e-3)
