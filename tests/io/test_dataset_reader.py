"""Data sets are compared with their checksums whenever they are read: what changes meanwhile is an error."""

import itertools
import os
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from checkpoint_helpers import Killed, write_and_end
from sklearn.base import clone

from pegasos import Checkpoint, LinearSVC, LinearSVR
from pegasos._core import native
from pegasos.base.checkpoint import Store
from pegasos.io import dataset_reader, open_dataset, write_dataset
from pegasos.io.dataset_reader import Buffers, RunReader, read_rows
from pegasos.linear.out_of_core import blocks
from pegasos.linear.out_of_core.blocks import BlockReader

ARRAYS = ("values", "columns", "starts", "labels", "weights")
CHANGES = ("cut", "overwritten", "emptied")


class TestChecksums:
    data = np.random.default_rng(0).integers(0, 256, 5000, np.uint8)

    @pytest.mark.parametrize("before", [0, 1, 0xDEADBEEF])
    def test_those_of_zlib(self, before):
        for length in (*range(600), 1023, 1024, 1025, 4999, 5000):
            for first in (0, 3):
                part = self.data[first : first + length]
                assert native.crc32(part, before) == zlib.crc32(part, before)

    def test_parts_give_the_whole(self):
        borders = np.array([0, 0, 1, 64, 65, 65, 1000, 5000])
        parts = [zlib.crc32(self.data[a:b]) for a, b in itertools.pairwise(borders)]
        assert native.join_checksums(np.array(parts), np.diff(borders)) == zlib.crc32(self.data)

    def test_pieces_of_a_file(self, tmp_path):
        (tmp_path / "a").write_bytes(self.data)
        begins, sizes = np.array([4000, 10, 0, 700]), np.array([1000, 0, 5, 300])
        to = np.empty(1305, np.uint8)
        with open(tmp_path / "a", "rb") as file:
            found = native.read_pieces(file.fileno(), begins, sizes, to)
            wanted = [self.data[a : a + n] for a, n in zip(begins, sizes, strict=True)]
            assert found.tolist() == [zlib.crc32(piece) for piece in wanted]
            np.testing.assert_array_equal(to, np.concatenate(wanted))
            with pytest.raises(EOFError):
                native.read_pieces(file.fileno(), begins + 1, sizes, to)
            with pytest.raises(ValueError, match="no room"):
                native.read_pieces(file.fileno(), begins, sizes, to[:-1])
            with pytest.raises(ValueError, match="no room"):
                native.read_pieces(file.fileno(), begins, -sizes, to)
        with pytest.raises(OSError, match="Bad file descriptor"):
            native.read_pieces(10**6, begins, sizes, to)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "RUN_BYTES", 1 << 10)
    monkeypatch.setattr("pegasos.linear.out_of_core.fit.BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr("pegasos.linear.out_of_core.fit.SMALLEST_BLOCK", 1 << 12)
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    monkeypatch.setattr(dataset_reader, "ORDERED_RUN", 1 << 10)
    monkeypatch.setattr(dataset_reader, "ORDERED_BLOCK", 1 << 13)


@pytest.fixture
def dataset(tmp_path):
    X = sp.random(400, 30, density=0.3, format="csr", random_state=0)
    return write_dataset(tmp_path / "a.ds", X, np.arange(400) % 2, np.ones(400))


def change(dataset, name, how):
    """Cut a file short, or make numbers of it that could be: two that differ change their places."""
    path = dataset.file(name)
    if how == "overwritten":
        stored = np.memmap(path, dataset.dtype_of(name), "r+")
        if name == "starts":
            stored[200] -= 1
        elif name == "columns":
            stored[0] = 0 if stored[0] else stored[1] - 1 or 1
        elif name == "weights":
            stored[200] = 2.0
        else:
            other = np.flatnonzero(stored != stored[0])[-1]
            stored[[0, other]] = stored[[other, 0]]
        stored.flush()
    else:
        os.truncate(path, 0 if how == "emptied" else os.path.getsize(path) - 8)


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("estimator", [LinearSVC(), LinearSVR(), LinearSVC(solver="pegasos", max_iter=5)], ids=str)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_files_that_change_during_a_fit(dataset, monkeypatch, estimator, name, how, after):
    """Before the first pass, or after some."""
    passes, read = [], BlockReader._read

    def count(self, order):
        passes.append(order)
        if len(passes) == after + 1:
            change(dataset, name, how)
        return read(self, order)

    monkeypatch.setattr(BlockReader, "_read", count)
    with pytest.raises(ValueError, match=rf"{name} .*(short|changed|checksum|begin).*convert the data anew"):
        clone(estimator).set_params(tol=1e-9, random_state=0).fit(dataset)


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("name", ARRAYS)
def test_files_that_change_before_predictions(dataset, name, how):
    model = LinearSVC(tol=0.1).fit(dataset)
    change(dataset, name, how)
    with pytest.raises(ValueError, match=f"{name} .*convert the data anew"):
        model.score(dataset)
    with pytest.raises(ValueError, match=f"{name} .*convert the data anew"):
        dataset.verify()
    if name in ("values", "columns", "starts"):
        with pytest.raises(ValueError, match=f"{name} .*convert the data anew"):
            model.predict(dataset)


def test_files_that_change_while_a_fit_is_killed(dataset, tmp_path, monkeypatch):
    """The checkpoint has the checksums of what was read before."""
    estimator = LinearSVC(tol=1e-9, random_state=0, checkpoint=Checkpoint(tmp_path / "checkpoints", every=0))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "save", write_and_end)
        with pytest.raises(Killed):
            clone(estimator).fit(dataset)
    change(dataset, "values", "overwritten")
    with pytest.raises(ValueError, match="values was changed while it was read"):
        clone(estimator).fit(open_dataset(dataset.path))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dense", [False, True])
def test_rows_in_order(tmp_path, dense, dtype):
    X = sp.random(700, 30, density=0.3, format="csr", random_state=0, dtype=dtype)
    X, y = X.toarray() if dense else X, np.arange(700) % 3
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    found = [block.copy() for block in read_rows(dataset)]
    assert len(found) > 3
    assert {block.dtype for block in found} == {np.dtype(dtype)}
    both = np.concatenate(found) if dense else sp.vstack(found)
    assert (both != X).sum() == 0
    model = LinearSVC(tol=0.1).fit(X, y)
    np.testing.assert_allclose(model.decision_function(dataset), model.decision_function(X), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(dataset), model.predict(X))
    assert model.score(dataset) == model.score(X, y)


def test_rows_without_entries(tmp_path):
    """Runs of nothing have a checksum too."""
    X = sp.csr_matrix(([1.0, 2.0], ([500, 999], [0, 1])), shape=(1000, 2))
    dataset = write_dataset(tmp_path / "a.ds", X, np.arange(1000) % 2)
    assert (sp.vstack([block.copy() for block in read_rows(dataset)]) != X).nnz == 0
    dataset.verify()
    assert LinearSVC(random_state=0).fit(dataset).certificate_.converged


def test_rows_whose_scores_overflow_are_named(tmp_path):
    X = np.ones((1000, 2))
    X[900] = 1e200
    dataset = write_dataset(tmp_path / "a.ds", X, np.arange(1000) % 2)
    model = LinearSVC(tol=0.1).fit(X[:10], np.arange(10) % 2)
    model.coef_ = np.array([[1e200, 1e200]])
    with pytest.raises(ValueError, match=r"a\.ds, counted from row 504 on: X has values so large in row 396 "):
        model.predict(dataset)


def test_pieces_have_their_rows(dataset):
    runs = RunReader(dataset, 1 << 10, ("labels", "weights"))
    assert runs.n_runs > 10
    piece = runs.read(np.array([runs.n_runs - 1, 0, 3]), Buffers())
    np.testing.assert_array_equal(piece.besides["labels"], piece.numbers % 2)
    np.testing.assert_array_equal(piece.lengths, np.diff(dataset.X.indptr)[piece.numbers])
    np.testing.assert_array_equal(piece.entries[0], dataset.X[piece.numbers].data)
    assert not runs.verified
    for _ in runs.blocks(np.arange(runs.n_runs), 1 << 12, runs.read):
        pass
    assert runs.verified
