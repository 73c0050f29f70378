"""Columns far from zero for what they differ by, and other settings that end in a poor model: a word about them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC
from pegasos.base.scaling import describe_offsets

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 4))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("estimator", [LinearSVC(scale=True), SVC(scale=True)])
def test_scale_leaves_no_difference(estimator):
    with pytest.warns(UserWarning, match=r"does not centre them. Column 0 and 3 more are around 1e\+03 and differ by"):
        estimator.fit(X + 1000, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(X * [1, 10, 1e3, 1e6], Y)
        estimator.fit(X + 5, Y)


def test_advice_names_centring():
    words = "Column 0 and 3 more are around .*: centre them"
    with pytest.warns(ConvergenceWarning, match=words):
        LinearSVC(max_iter=2, tol=1e-9, solver="sdca").fit(X + 1000, Y)
    sequences = [X[k : k + 5] + 1000 for k in range(0, 200, 5)]
    with pytest.warns(ConvergenceWarning, match=words):
        SequenceSVC(max_iter=2, tol=1e-9).fit(sequences, [Y[k : k + 5] for k in range(0, 200, 5)])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("estimator", [LinearSVC(), LinearSVR()])
def test_a_penalised_intercept_and_columns_far_from_zero(estimator, make):
    """The fit converges, and its model is poor."""
    words = rf"{type(estimator).__name__}: Column 0 and 3 more are around .* intercept='free': of such columns little"
    with pytest.warns(UserWarning, match=words):
        far = clone(estimator).fit(make(X + 1000), Y)
    assert far.certificate_.converged
    centred = clone(estimator).fit(make(X), Y)
    able = clone(estimator).set_params(intercept="free").fit(make(X + 1000), Y)
    assert able.score(make(X + 1000), Y) == pytest.approx(centred.score(make(X), Y), abs=0.03)
    clone(estimator).set_params(fit_intercept=False).fit(make(X + 1000), Y)
    clone(estimator).fit(make(X + 5), Y)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("estimator", [SVC(), SVR()])
def test_a_kernel_that_sees_one_column_alone(estimator, make):
    with pytest.warns(UserWarning, match=r"Columns differ in size by a factor of .* 3 \(.*pass scale=True"):
        clone(estimator).fit(make(X * [1, 1, 1, 1e6]), Y)
    clone(estimator).fit(make(X + np.array([0, 0, 0, 1e6])), Y)  # distances are what they were
    clone(estimator).set_params(scale=True).fit(make(X * [1, 1, 1, 1e6]), Y)


def test_columns_without_such():
    assert describe_offsets(sp.csr_matrix((X + 1000) * (X > -0.5)), None) == ""  # zero and 1000 do differ
    assert describe_offsets(np.full((5, 2), 7.0), None) == ""  # a constant is none that was meant to differ
    assert "Column 'b' is" in describe_offsets(X[:, :2] + [0, 1000], np.array(["a", "b"], dtype=object))


def test_a_quantile_with_a_penalised_intercept():
    reg = LinearSVR(loss="quantile", quantile=0.9)
    with pytest.warns(UserWarning, match=r"[0-9.]+% of the targets are below.* quantile=0.9: .* Pass intercept='free'"):
        reg.fit(X, X[:, 0] + 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVR(loss="quantile", quantile=0.9, intercept="free").fit(X, X[:, 0] + 200)


def test_predictions_worse_than_a_constant_are_told():
    y = X[:, 0] + RANDOM.normal(size=200) + 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVR().fit(X, y)  # the intercept is small beside what it saves
        LinearSVR(C=100, loss="quantile", quantile=0.9).fit(X, y)
    with pytest.warns(
        UserWarning, match=r"Predictions are off by .* the constant 3.*Pass intercept='free'.* or raise C"
    ):
        LinearSVR(C=1e-4).fit(X, y)


LARGE_TARGETS = 1e5 * (X[:, 0] + 0.5 * RANDOM.normal(size=200) + 3)


@pytest.mark.parametrize("make", [np.float64, np.float32, sp.csr_matrix])
@pytest.mark.parametrize(
    "regressor",
    [
        LinearSVR(),
        LinearSVR(scale=True),
        LinearSVR(intercept="free"),
        LinearSVR(intercept="free", loss="quantile", quantile=0.9),
        LinearSVR(intercept="free", loss="huber"),
        SVR(),
        SVR(kernel="linear"),
        SVR(loss="quantile", quantile=0.1),
    ],
)
def test_a_c_that_is_small_for_large_targets(regressor, make):
    name = type(regressor).__name__
    with pytest.warns(UserWarning, match=rf"{name}: C=1 is small for targets.*TransformedTargetRegressor\({name}"):
        regressor.fit(make(X), LARGE_TARGETS)
    standardised = (LARGE_TARGETS - LARGE_TARGETS.mean()) / LARGE_TARGETS.std()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor.fit(make(X), standardised)
        clone(regressor).set_params(C=1e5 if "huber" not in regressor.loss else 1e6).fit(make(X), LARGE_TARGETS)


@pytest.mark.parametrize("regressor", [LinearSVR(intercept="free"), SVR(), SVR(kernel="linear")])
def test_c_is_not_to_blame_for_noise(regressor):
    noise = RANDOM.normal(size=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regressor.fit(RANDOM.normal(size=(1000, 20)), noise)
    with pytest.warns(UserWarning, match="C=1 is small for targets of this size"):  # there is nothing but C to see
        clone(regressor).fit(RANDOM.normal(size=(1000, 20)), 1e5 * noise)


def test_targets_whose_squares_overflow():
    with pytest.warns(UserWarning, match=r"They differ by about \d.*e\+1\d+, and the predictions only by"):
        SVR().fit(X[:, :2], 1e160 * X[:, 0])


def test_full_columns_of_sparse_data():
    words = r"Column 0 and \d more are around 1e\+03 and differ by about 0.9\d: centre them"
    with pytest.warns(UserWarning, match=words):
        LinearSVC(scale=True).fit(sp.csr_matrix(X + 1000), Y)
