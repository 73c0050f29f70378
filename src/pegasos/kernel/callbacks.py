"""What callbacks are told of the problems of a kernel machine's fit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from pegasos.base.callbacks import AgainstTheRest, Problems
from pegasos.base.checkpoint import Given
from pegasos.base.estimator import Data
from pegasos.base.progress import Weights
from pegasos.kernel.fit import Subproblem
from pegasos.kernel.kernels import GivenKernel, Kernel


class KernelProblems(Problems):
    """One problem; or each class against the rest; or pairs of classes, which have the examples and labels of both."""

    def __init__(self, data: Data, parts: Sequence[Subproblem], kernel: Kernel, scale: Any) -> None:
        super().__init__(len(parts), scale_=scale, shape_fit_=data.X.shape)
        self.data, self.parts, self.kernel = data, parts, kernel

    def examples(self, number: int, given: Given) -> Given:
        rows = self.parts[number].rows
        if rows is None:
            return AgainstTheRest(self.data.classes).examples(number, given)
        metadata = {name: _safe_indexing(value, rows) for name, value in given.metadata.items()}
        return Given(_safe_indexing(given.X, rows), _safe_indexing(given.y, rows), metadata)

    def attributes(self, number: int | None, weights: Weights) -> dict[str, Any]:
        found, part, X = weights(), self.parts[number or 0], self.data.X
        beta, b, classes = found["beta"], found["intercept_"], self.data.classes
        sides = np.zeros(len(beta), np.intp)
        if len(classes):
            if part.rows is not None:  # of a pair, whose first class is the positive one
                classes = np.unique(self.data.y[part.rows])
                beta, b = -beta, -b
                sides = (self.data.y[found["rows"]] == classes[1]).astype(np.intp)
            else:
                classes = classes if number is None else np.array([False, True])
                sides = (part.y[found["rows"]] > 0).astype(np.intp)
        order = np.flatnonzero(beta)
        order = order[np.argsort(sides[order], kind="stable")]
        support = found["rows"][order]
        return {
            **self.known,
            **({"classes_": classes} if len(classes) else {}),
            "_fitted_kernel": self.kernel.stripped(),
            "support_": support.astype(np.int32),
            "support_vectors_": np.empty((0, 0)) if isinstance(self.kernel, GivenKernel) else X[support],
            "n_support_": np.bincount(sides[order], minlength=max(len(classes), 1)).astype(np.int32),
            "_dual_coef_": beta[None, order],
            "intercept_": b,
        }
