"""`LinearSVC` and `LinearSVR` on Dask collections."""

from typing import Any

import numpy as np

from pegasos.base.available import available
from pegasos.base.conventions import ClassifierMixin, RegressorMixin
from pegasos.base.parameters import ClassWeight, parameters
from pegasos.dask.machine import DaskMachine
from pegasos.linear import svc, svr
from pegasos.linear.parameters import ClassificationLoss, RegressionLoss


@parameters
class LinearSVC(ClassWeight, ClassificationLoss, ClassifierMixin, DaskMachine):
    """`pegasos.LinearSVC` on Dask arrays, data frames and delayed partitions, with a certificate.

    Each worker makes steps of dual coordinate ascent on the examples it holds. In a round, a vector of the size of the
    weights goes to each worker and one comes back; the examples stay where they are. The certificate covers the whole
    problem.

    Parameters
    ----------
    C, alpha, loss, tol, max_time, on_interrupt, fit_intercept, intercept_scaling, class_weight, verbose
        As in `pegasos.LinearSVC`. The intercept is penalised. With more than two classes, each is trained against the
        rest, in the same rounds.
    max_iter : int, default=1000
        Budget in epochs.
    random_state : int, RandomState or None, default=None
        Seed of the order of visits. The same seed, partitions, number of workers and threads of each worker give the
        same result, unless persisted partitions are in other places. With a seed, partitions that are not persisted are
        loaded and then moved to workers by their numbers; without a seed they stay where they are loaded.
    local_epochs : float, default=None
        Epochs that a worker makes in a round. None chooses the number from the sizes, so that there is more work than
        messages: at most one, or with a single worker up to 8.
    timeout : float, default=60
        A fit fails after this number of seconds without any worker.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `pegasos.LinearSVC`.
    rounds_ : int
        Rounds of messages, including those that measure the gap.
    bytes_per_round_ : float
        Bytes of the vectors sent and received in a round, for all workers together.
    recoveries_ : int
        How often the fit recovered from the loss of workers.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import make_classification
    >>> from pegasos.dask import LinearSVC
    >>> client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0")
    >>> X, y = make_classification(1000, 20, random_state=0)
    >>> X, y = da.from_array(X, chunks=(250, 20)), da.from_array(y, chunks=250)
    >>> clf = LinearSVC(C=0.01, random_state=0).fit(X, y)
    >>> clf.certificate_.converged, clf.predict(X)[:3].compute()
    (True, array([0, 1, 1]))
    >>> clf.to_local().certificate_ == clf.certificate_
    True
    >>> client.close()
    """

    local = svc.LinearSVC
    score = DaskMachine.score  # not the mixin's, which would bring all examples to the client

    def decision_function(self, X: Any) -> Any:
        """Scores as in `pegasos.LinearSVC`; for a Dask collection, a lazy collection."""
        count = len(self.to_local().classes_)
        return self._predict_with("decision_function", X, count if count > 2 else 0, np.float64)

    def predict(self, X: Any) -> Any:
        """The label of each example; for a Dask collection, a lazy collection."""
        return self._predict_with("predict", X, 0, self.to_local().classes_.dtype)

    @available(lambda self: self._unfitted().predict_proba)
    def predict_proba(self, X: Any) -> Any:
        """Probabilities as in `pegasos.LinearSVC`, with ``loss="log_loss"``; for a Dask collection, lazy."""
        return self._predict_with("predict_proba", X, len(self.to_local().classes_), np.float64)

    @available(lambda self: self._unfitted().predict_log_proba)
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`."""
        return self._predict_with("predict_log_proba", X, len(self.to_local().classes_), np.float64)

    @staticmethod
    def _score_sums(local: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        if len(y) == 0:
            return np.zeros(2)
        right = local.predict(X) == np.asarray(y)
        weights = np.ones(len(right)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return np.array([weights @ right, weights.sum()])

    @staticmethod
    def _score_from(sums: Any) -> float:
        return float(sums[0] / sums[1])


@parameters
class LinearSVR(RegressionLoss, RegressorMixin, DaskMachine):
    """`pegasos.LinearSVR` on Dask arrays, data frames and delayed partitions, with a certificate.

    Parameters
    ----------
    epsilon, quantile, C, alpha, loss, tol, max_iter, max_time, on_interrupt, fit_intercept, intercept_scaling, verbose
        As in `pegasos.LinearSVR`. The intercept is penalised.
    local_epochs, timeout, random_state
        As in `pegasos.dask.LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, certificate_, history_, n_iter_, n_features_in_, feature_names_in_
        As in `pegasos.LinearSVR`.
    rounds_, bytes_per_round_, recoveries_
        As in `pegasos.dask.LinearSVC`.
    """

    local = svr.LinearSVR
    score = DaskMachine.score

    def predict(self, X: Any) -> Any:
        """The value of each example; for a Dask collection, a lazy collection."""
        return self._predict_with("predict", X, 0, np.float64)

    @staticmethod
    def _score_sums(local: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        if len(y) == 0:
            return np.zeros(4)
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        error = y - local.predict(X)
        return np.array([weights @ error**2, weights @ y**2, weights @ y, weights.sum()])

    @staticmethod
    def _score_from(sums: Any) -> float:
        error, squares, total, weight = sums
        return float(1 - error / (squares - total**2 / weight))
