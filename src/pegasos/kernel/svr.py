"""Support vector regression with a kernel."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos.base.estimator import Data, Regressor, of_one_model
from pegasos.base.misfit import describe_small_C
from pegasos.base.onnx import Graph, Output
from pegasos.base.options import Choice, Number, names
from pegasos.base.parameters import QuantileOfLoss, loss_slopes, parameter, parameters
from pegasos.base.validation import near_middle
from pegasos.kernel.estimator import KernelMachine
from pegasos.kernel.fit import Subproblem
from pegasos.kernel.kernels import Kernel
from pegasos.kernel.onnx import write_regressor
from pegasos.problems.kernel import KernelPoint

Floats = NDArray[np.float64]


@parameters
class SVR(QuantileOfLoss, Regressor, KernelMachine):
    """Support vector regression with a kernel; a certificate proves how close each fit is to the optimum.

    It minimises ``1/2 ||w||^2 + C sum_i s_i loss(<w, phi(x_i)> + b - y_i)``, where ``<phi(x), phi(x')>`` is the kernel,
    and b is not in the norm. The loss is ``max(0, |z| - epsilon)``, or the quantile loss. It takes the parameters of
    `sklearn.svm.SVR`, but `tol` is the relative duality gap.

    Parameters
    ----------
    epsilon : float, default=0.1
        Errors up to this size cost nothing. ``loss="quantile"`` does not use it.
    loss : {"epsilon_insensitive", "quantile"}, default="epsilon_insensitive"
        The loss. "epsilon_insensitive" is the part of the error beyond `epsilon`. "quantile" is `quantile` times the
        error for targets above the prediction, and ``1 - quantile`` times the error for targets below.
    quantile : float, default=0.5
        With ``loss="quantile"``, the share of targets that should be below the prediction.
    C, alpha, kernel, degree, gamma, coef0, solver, tol, max_iter, max_time, fit_intercept, scale, cache_size, \
warm_start, on_interrupt, checkpoint, n_jobs, random_state, verbose, shrinking
        As in `SVC`.

    Attributes
    ----------
    support_, support_vectors_, certificate_, history_, fit_status_, n_kernel_evaluations_, n_updates_, shape_fit_, \
scale_, n_features_in_, feature_names_in_
        As in `SVC`.
    n_iter_ : int
        Epochs begun.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    dual_coef_ : ndarray or sparse matrix of shape (1, n_SV)
        The coefficients of the support vectors. Sparse if X was, like `coef_`.
    intercept_ : ndarray of shape (1,)
        Intercept; 0 with ``fit_intercept=False``.
    coef_ : ndarray or sparse matrix of shape (1, n_features)
        Weights of the features; only with ``kernel="linear"``.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import SVR
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> reg = SVR(C=10, epsilon=0.01).fit(X, np.sin(X).ravel())
    >>> reg.certificate_.converged, round(reg.score(X, np.sin(X).ravel()), 3)
    (True, 1.0)
    """

    docs_page = "kernel.md"

    epsilon: float = parameter(0.1, Number(low=0, help="errors up to this size cost nothing"))
    loss: str = parameter(
        "epsilon_insensitive", Choice(values=names("epsilon_insensitive", "quantile"), help="the loss")
    )

    @of_one_model
    def predict(self, X: Any) -> Floats:
        """The value of each example."""
        return self._scores(X).ravel()

    def _write_onnx(self, graph: Graph, x: str) -> dict[str, Output]:
        return write_regressor(self, graph, x)

    def _parts(self, data: Data) -> list[Subproblem]:
        y = np.ascontiguousarray(data.encoded, dtype=np.float64)
        shift = near_middle(y) if self.fit_intercept else 0.0
        with np.errstate(over="ignore"):  # an error tells of it
            return [Subproblem("", None, y - shift if shift else y, shift)]

    def _describe_small_C(self, data: Data, s: Floats, C: float, point: KernelPoint, kernel: Kernel) -> str:
        slopes = loss_slopes(self)
        if slopes is None or point.responses is None:
            return ""
        norm, own = point.squared_norm, point.beta * kernel.diagonal()
        return describe_small_C(data.encoded, point.responses, s, C, norm, slopes, type(self).__name__, own)

    def _store_machines(
        self, data: Data, parts: Sequence[Subproblem], betas: Sequence[Floats], intercepts: Floats
    ) -> None:
        used = np.flatnonzero(betas[0])
        self.support_ = used.astype(np.int32)
        self.n_support_ = np.array([len(used)], dtype=np.int32)
        self._dual_coef_ = betas[0][None, used]
        self.intercept_ = intercepts
