"""How rows are stored must not matter, and what is wrong with them must be found (cpp/rows)."""

import numpy as np
import pytest
import scipy.sparse
from linear_helpers import STORAGES, Problem, assert_same, make_problem, make_run, run, storage_name

from pegasos._core import native

PROBLEM = make_problem(weighted=True, bias=0.5)
OPTIONS = {"max_steps": 5 * PROBLEM.m, "project": True, "output": "suffix"}


class Stored(Problem):
    """A problem whose rows are given to the core as they are."""

    def rows(self, storage=None, core=native):
        if scipy.sparse.issparse(self.X):
            return core.csr_rows(self.X.data, self.X.indices, self.X.indptr, self.X.shape[1], self.bias)
        return core.dense_rows(self.X, self.bias)


def run_stored(X):
    return run(Stored(X, PROBLEM.y, PROBLEM.s, PROBLEM.C, PROBLEM.bias), **OPTIONS)


@pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
def test_every_storage_gives_the_same(storage):
    assert_same(run(PROBLEM, storage=storage, **OPTIONS).w, run(PROBLEM, **OPTIONS).w)


def test_dense_rows_need_not_follow_each_other():
    expected = run(PROBLEM, **OPTIONS).w
    wide = np.full((2 * PROBLEM.m, 9), np.nan)
    wide[::2, 2:7] = PROBLEM.X
    assert_same(run_stored(wide[::2, 2:7]).w, expected)
    assert_same(run_stored(PROBLEM.X[::-1].copy()[::-1]).w, expected)


def test_dense_columns_must():
    with pytest.raises(ValueError, match="contiguous"):
        native.dense_rows(np.asfortranarray(PROBLEM.X), 0.0)


def test_unsorted_repeated_and_explicitly_zero_entries():
    tidy = scipy.sparse.csr_array(PROBLEM.X)
    values, columns, starts = [], [], [0]
    for i in range(PROBLEM.m):
        row = slice(tidy.indptr[i], tidy.indptr[i + 1])
        values += [*(tidy.data[row] / 2)[::-1], *(tidy.data[row] / 2), 0.0]
        columns += [*tidy.indices[row][::-1], *tidy.indices[row], 4]
        starts.append(len(values))
    untidy = scipy.sparse.csr_array((values, columns, starts), shape=PROBLEM.X.shape)
    solution = run_stored(untidy)
    assert_same(solution.w, run(PROBLEM, **OPTIONS).w)
    assert solution.bounds.dual == pytest.approx(PROBLEM.dual(solution.q), rel=1e-9)


def test_empty_rows():
    X = PROBLEM.X * (np.arange(PROBLEM.m) % 3 > 0)[:, None]
    assert_same(run_stored(scipy.sparse.csr_array(X)).w, run_stored(X).w)


@pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
def test_inspect_finds_nothing_in_sound_rows(storage):
    report = native.inspect(PROBLEM.rows(storage), make_run())
    assert (report.bad_structure, report.not_finite) == (-1, -1)
    assert report.largest_squared_norm == pytest.approx(PROBLEM.R**2, rel=1e-12)
    assert report.canonical


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("columns", "starts", "canonical"),
    [
        ([0, 1, 0, 1], [0, 2, 4], True),
        ([0, 1, 0, 1], [0, 2, 2, 2, 4], True),  # rows without entries
        ([0, 1, 0, 1], [0, 4], False),
        ([1, 1], [0, 2], False),
        ([1, 1], [0, 1, 2], True),
        ([0, 2, 1], [0, 0, 1, 3], False),
        ([], [0, 0], True),
    ],
)
def test_inspect_tells_whether_columns_rise(index, columns, starts, canonical):
    columns, starts = np.array(columns, dtype=index), np.array(starts, dtype=index)
    rows = native.csr_rows(np.ones(len(columns)), columns, starts, 3, 0.0)
    assert native.inspect(rows, make_run()).canonical == canonical


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_inspect_finds_what_is_not_finite(kind, dtype, value):
    X = PROBLEM.X.copy()
    X[[7, 11], 2] = value
    storage = (kind, dtype, np.int32 if kind == "csr" else None)
    assert native.inspect(Problem(X, PROBLEM.y, PROBLEM.s, PROBLEM.C).rows(storage), make_run()).not_finite == 7


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("columns", "starts", "row"),
    [
        ([0, 1, 2], [0, 1, 2, 3], -1),
        ([0, 3, 2], [0, 1, 2, 3], 1),
        ([0, 1, -1], [0, 1, 2, 3], 2),
        ([0, 1, 2], [0, 2, 1, 3], 1),
        ([0, 1, 2], [0, 1, 2, 4], 2),
        ([0, 1, 2], [-1, 1, 2, 3], 0),
    ],
)
def test_inspect_finds_bad_structure(index, columns, starts, row):
    rows = native.csr_rows(np.ones(3), np.array(columns, dtype=index), np.array(starts, dtype=index), 3, 0.0)
    assert native.inspect(rows, make_run()).bad_structure == row
