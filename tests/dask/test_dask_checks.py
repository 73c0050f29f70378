"""scikit-learn's checks of an estimator, with examples that are cut into two partitions."""

import dask
import distributed
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import pegasos.dask

NOT_EXACT = "asks for decisions equal to 1e-7, more than a duality gap of tol says"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": NOT_EXACT,
    "check_sample_weight_equivalence_on_sparse_data": NOT_EXACT,
}


@pytest.fixture(scope="module", autouse=True)
def client():
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.Client(**options) as client:
        yield client


def cut(X, *others):
    """Two partitions of all of them."""
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    arrays = [X, *(np.asarray(other) for other in others if other is not None)]
    half = len(arrays[1]) // 2
    parts = [slice(half), slice(half, None)] if half else [slice(None)]
    return [dask.delayed(tuple(array[part] for array in arrays), pure=False) for part in parts]


class Cut:
    """A fit to arrays."""

    def fit(self, X, y=None, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        return super().fit(cut(X, y, sample_weight))


class LinearSVC(Cut, pegasos.dask.LinearSVC):
    pass


class LinearSVR(Cut, pegasos.dask.LinearSVR):
    pass


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")  # of Dask, that a graph with arrays in it is large
@parametrize_with_checks([LinearSVC(), LinearSVR()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_weights_of_delayed_partitions_count():
    """Of a delayed tuple nobody knows beforehand whether it has weights."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 5)), random.integers(0, 2, 200)
    s = random.integers(0, 3, 200).astype(float)
    s[:100] = 0  # a whole partition
    weighted = pegasos.dask.LinearSVC(random_state=0).fit(cut(X, y, s))
    alone = pegasos.LinearSVC(random_state=0).fit(X, y, s)
    assert weighted.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=2e-3)
    with pytest.raises(ValueError, match="all samples have zero or negative weights"):
        pegasos.dask.LinearSVC().fit(cut(X, y, 0 * s))
