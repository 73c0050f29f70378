"""Error and norm along C."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pegasos.linear import LinearSVCCV, RegularizationPath
from pegasos.plot.axes import BLUE, RED, make_axes, tidy
from pegasos.sequence.input import look_up_labels


class PathDisplay:
    """The error along C, on a logarithmic scale, and the norm of the weights.

    Use `from_path` or `from_estimator`.

    Parameters
    ----------
    Cs : ndarray of shape (n_Cs,)
        The values of C.
    errors : ndarray of shape (n_Cs,), default=None
        The error at each C: 1 minus the score.
    norms : ndarray of shape (n_Cs,), default=None
        The norm of the weights at each C.
    deviations : ndarray of shape (n_Cs,), default=None
        The standard errors of the errors.
    C : float, default=None
        The chosen C.

    Attributes
    ----------
    ax_, figure_
        The matplotlib Axes of the error (of the norm, if there is no error), and the Figure.
    norm_ax_ : matplotlib Axes or None
        The axes of the norm, on the right.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import make_classification
    >>> from pegasos.plot import PathDisplay
    >>> X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    >>> display = PathDisplay.from_path(pegasos.path(X, y, Cs=5, random_state=0), X, y)
    >>> display.errors.shape
    (5,)
    >>> chosen = pegasos.LinearSVCCV(Cs=5, random_state=0).fit(X, y)
    >>> PathDisplay.from_estimator(chosen).C == chosen.C_
    True
    """

    ax_: Any
    figure_: Any
    norm_ax_: Any

    def __init__(
        self,
        Cs: ArrayLike,
        errors: ArrayLike | None = None,
        norms: ArrayLike | None = None,
        deviations: ArrayLike | None = None,
        C: float | None = None,
    ) -> None:
        self.Cs = np.asarray(Cs, dtype=np.float64)
        self.errors, self.norms, self.deviations = (_array(values) for values in (errors, norms, deviations))
        self.C = C

    @classmethod
    def from_path(
        cls, path: RegularizationPath, X: Any = None, y: Any = None, *, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a path of `pegasos.path`: the norms and, with examples X and labels y, the errors on them."""
        errors = None
        if X is not None:
            if y is None:
                raise ValueError("X has examples, and y no labels to compare with; pass both, or neither")
            right = look_up_labels(np.asarray(y).tolist(), path.classes)
            errors = ((path.decision_function(X) > 0) != right[:, None]).mean(axis=0)
        return cls(path.Cs, errors, np.linalg.norm(path.coefs, axis=1)).plot(ax, **options)

    @classmethod
    def from_estimator(cls, estimator: LinearSVCCV, *, ax: Any = None, **options: Any) -> Self:
        """Draw the results of cross-validation: the mean over the folds, its standard error, and the chosen C."""
        if not hasattr(estimator, "mean_score_"):
            raise ValueError(f"{type(estimator).__name__} has no scores along C; pass a fitted LinearSVCCV")
        norms = estimator.norms_.mean(axis=0)
        error = 1 - estimator.mean_score_
        return cls(estimator.Cs_, error, norms, estimator.standard_error_, estimator.C_).plot(ax, **options)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw; `line` is passed on to ``Axes.plot``."""
        (own,) = make_axes(ax)
        own.set_xscale("log")
        own.set_xlabel("C")
        tidy(own)
        self.ax_, self.figure_, self.norm_ax_ = own, own.figure, None
        if self.errors is not None:
            own.plot(self.Cs, self.errors, **{"color": RED, "marker": "o", "markersize": 4, **line})
            if self.deviations is not None:
                low, high = self.errors - self.deviations, self.errors + self.deviations
                own.fill_between(self.Cs, low, high, color=RED, alpha=0.15, linewidth=0)
            own.set_ylabel("error", color=RED)
        if self.C is not None:
            own.axvline(self.C, color="black", linewidth=0.8, linestyle="--")
            own.annotate(f"C = {self.C:.3g}", (self.C, 1), xycoords=own.get_xaxis_transform(), fontsize="small",
                         xytext=(4, -10), textcoords="offset points")  # fmt: skip
        if self.norms is not None:
            right = own if self.errors is None else own.twinx()
            right.plot(self.Cs, self.norms, **{"color": BLUE, "marker": "s", "markersize": 3, **line})
            right.set_yscale("log")
            right.set_ylabel("norm of the weights", color=BLUE)
            right.spines["top"].set_visible(False)
            self.norm_ax_ = right
        return self


def _array(values: ArrayLike | None) -> NDArray[np.float64] | None:
    return None if values is None else np.asarray(values, dtype=np.float64)
