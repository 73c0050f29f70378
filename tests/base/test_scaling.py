"""Scaling: sizes of columns, the problem in scaled columns, and warnings that name the columns."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from linear_helpers import suited_loss
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, SVR, LinearSVC, LinearSVR
from pegasos.base.scaling import column_sizes, describe_sizes, scale_columns
from pegasos.solvers import SOLVERS

X, Y = make_classification(300, 9, n_informative=6, flip_y=0.05, random_state=0)
UNITS = 10.0 ** np.linspace(-6, 6, X.shape[1])
X = X * (np.random.default_rng(0).random(X.shape) < 0.7)


def svc(**options):
    return LinearSVC(**({"C": 0.1, "max_iter": 10**5, "random_state": 0} | options))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes(dtype, monkeypatch):
    rows = np.array([[3, 0, 1, -2e-6], [0, 0, 1, 0], [-4, 0, 1, 2e-6]], dtype=dtype)
    expected = [np.sqrt(12.5), 0, 1, 2e-6]
    stored = sp.csr_matrix(rows)
    stored.data[1] = 0  # a zero that is stored is still one
    for block in (1, 1 << 20):
        monkeypatch.setattr("pegasos.base.scaling.BLOCK", block)
        np.testing.assert_allclose(column_sizes(rows), expected, rtol=1e-6)
        np.testing.assert_allclose(column_sizes(sp.csr_array(rows)), expected, rtol=1e-6)
        np.testing.assert_allclose(column_sizes(stored)[2], 1, rtol=1e-6)
        weighted = column_sizes(rows, np.array([1.0, 1.0, 3.0]))
        np.testing.assert_allclose(weighted, column_sizes(rows[[0, 1, 2, 2, 2]]), rtol=1e-12)
        np.testing.assert_allclose(column_sizes(sp.csr_array(rows), np.array([1.0, 1.0, 3.0])), weighted, rtol=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_a_word_on_sizes_takes_some_of_the_rows(storage, monkeypatch):
    rows = storage(X * UNITS)
    monkeypatch.setattr("pegasos.base.scaling.LOOKED_AT", 500)
    rows[1] *= 1e300  # which is passed over
    assert re.match(r"Columns differ in size by a factor of (9e\+11|1e\+12)", describe_sizes(rows, None))


def test_sizes_of_extreme_numbers():
    sizes = column_sizes(np.array([[1e300, 1e-300], [1e300, 1e-300]]))
    assert (np.isfinite(sizes) & (sizes > 0)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_a_scaled_copy(storage, dtype):
    rows = storage((X * UNITS).astype(dtype))
    before = rows.copy()
    scaled, sizes = scale_columns(rows, np.ones(len(Y)))
    assert scaled.dtype == np.float64
    assert type(scaled) is type(rows)
    np.testing.assert_allclose(column_sizes(scaled), 1, rtol=1e-6)
    assert abs(rows - before).max() == 0
    if sp.issparse(rows):
        assert np.shares_memory(scaled.indices, rows.indices)
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_allclose(dense * sizes, X * UNITS, rtol=1e-6)


def test_zeros_and_ones_stay():
    rows = np.array([[0.0, 1, 0], [0, 0, 0], [0, 1, 1]])
    scaled, sizes = scale_columns(rows, np.ones(3))
    np.testing.assert_array_equal(scaled, rows)
    np.testing.assert_array_equal(sizes, 1)


def test_room_in_a_csr_matrix_is_not_read():
    rows = sp.csr_matrix(np.eye(2))
    rows.data, rows.indices = np.append(rows.data, np.nan), np.append(rows.indices, np.int32(10**6))
    assert scale_columns(rows, np.ones(2))[0].nnz == 2


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_the_unit_of_a_column_does_not_matter(storage):
    plain = svc(scale=True, tol=1e-9).fit(storage(X), Y)
    other = svc(scale=True, tol=1e-9).fit(storage(X * UNITS), Y)
    np.testing.assert_allclose(other.decision_function(storage(X * UNITS)), plain.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(other.coef_ * UNITS, plain.coef_, atol=1e-4)
    assert other.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-8)


@pytest.mark.filterwarnings("ignore:.*differ")
@pytest.mark.parametrize("model", [LinearSVC, LinearSVR, SVC, SVR])
def test_scale_is_true_or_false(model):
    """Older names for them are taken still."""
    assert model().scale is False
    for names in ((True, "auto", np.True_), (False, None, np.False_)):
        fits = [model(scale=name, max_iter=5, tol=0, random_state=0).fit(X * UNITS, Y) for name in names]
        assert len({(fit.certificate_.primal, fit.certificate_.scaled) for fit in fits}) == 1
        assert fits[0].certificate_.scaled is bool(names[0])
        assert all((fit.scale_ is not None) == bool(names[0]) for fit in fits)


def test_the_certificate_is_of_the_scaled_problem():
    clf = svc(scale=True).fit(X * UNITS, Y)
    scaled, sizes = scale_columns(X * UNITS, np.ones(len(Y)))
    by_hand = svc().fit(scaled, Y)
    np.testing.assert_array_equal(clf.coef_, by_hand.coef_ / sizes)
    np.testing.assert_array_equal(clf.scale_, sizes)
    # But for the rounding of scaled columns and weights, which the bounds of the one allow for.
    assert clf.certificate_.primal == pytest.approx(by_hand.certificate_.primal, rel=1e-13)
    assert clf.certificate_.dual == pytest.approx(by_hand.certificate_.dual, rel=1e-13)
    assert clf.certificate_.scaled
    assert "problem in the scaled features" in str(clf.certificate_)
    assert by_hand.scale_ is None
    assert not by_hand.certificate_.scaled
    assert "scaled" not in str(by_hand.certificate_)


def test_duplicates_in_a_csr_matrix_are_summed_first():
    rows = sp.coo_matrix(X * UNITS)
    twice = sp.coo_matrix((np.tile(rows.data / 2, 2), (np.tile(rows.row, 2), np.tile(rows.col, 2))), rows.shape)
    order = np.argsort(twice.row, kind="stable")
    starts = np.searchsorted(twice.row[order], np.arange(len(Y) + 1))
    doubled = sp.csr_matrix((twice.data[order], twice.col[order], starts), rows.shape)
    assert not doubled.has_canonical_format
    np.testing.assert_allclose(
        svc(scale=True).fit(doubled, Y).coef_, svc(scale=True).fit(rows.tocsr(), Y).coef_, rtol=1e-9
    )


def test_broken_entries_are_found_before_scaling():
    rows = X.copy()
    rows[4, 2] = np.nan
    with pytest.raises(ValueError, match="row 4, column 2"):
        svc(scale=True).fit(rows, Y)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="scale='minmax': must be True or False"):
        svc(scale="minmax").fit(X, Y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_uneven_columns_are_certified_or_warned_of(solver):
    """A fit on columns from 1e-6 to 1e6 that says nothing is within tol."""
    frame = pd.DataFrame(X * UNITS, columns=[f"feature {j}" for j in range(X.shape[1])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = svc(solver=solver, loss=suited_loss(solver), max_iter=50, tol=1e-3).fit(frame, Y)
    assert clf.certificate_.dual <= clf.certificate_.primal
    if clf.certificate_.gap <= 1e-3:
        assert not caught
        return
    text = str(caught[0].message)
    assert re.search(r"Columns differ in size by a factor of \de\+1[12], the farthest out are", text)
    assert "pass scale=True" in text
    for name in ("feature 0", "feature 8"):
        assert f"'{name}'" in text
    assert text.count("feature ") == 5
    assert "'feature 4'" not in text


def test_columns_without_names_go_by_number():
    with pytest.warns(ConvergenceWarning, match=r"farthest out are 0 \(.*, 8 \("):
        svc(solver="sdca", max_iter=20).fit(sp.csr_matrix(X * UNITS), Y)


def test_even_columns_are_not_named():
    with pytest.warns(ConvergenceWarning) as warned:
        svc(max_iter=1, tol=1e-9).fit(X, Y)
    assert "Columns" not in str(warned[0].message)
    with pytest.warns(ConvergenceWarning) as warned:
        svc(max_iter=1, tol=1e-9, scale=True).fit(X * UNITS, Y)
    assert "scale" not in str(warned[0].message)


def test_scaling_is_the_remedy():
    assert svc(scale=True, max_iter=1000).fit(X * UNITS, Y).certificate_.converged


@pytest.mark.filterwarnings("ignore:scale=True divides")
def test_the_certificate_of_scaled_float32_is_true():
    """Scaled values rounded to single precision would be another problem."""
    rows = (X + 1e3).astype(np.float32)
    C = 1e6
    clf = svc(C=C, scale=True, intercept="free", solver="interior-point", tol=1e-9).fit(rows, Y)
    w = clf.coef_[0] * clf.scale_
    signs = 2.0 * Y - 1
    margins = signs * (rows.astype(np.float64) @ clf.coef_[0] + clf.intercept_[0])
    assert clf.certificate_.primal == pytest.approx(w @ w / 2 + C * np.maximum(0, 1 - margins).sum(), rel=1e-8)
