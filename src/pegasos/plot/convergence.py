"""How a fit got to its certificate."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pegasos.certificate import History
from pegasos.plot.axes import COLOURS, GREY, MOST_NAMED, make_axes, one_or_all, plain, tidy
from pegasos.summary import histories_of, machine_of

LABELS = {"seconds": "seconds", "epoch": "epochs"}


class ConvergenceDisplay:
    """The bounds of a fit closing on each other, and the gap between them; of several fits, one over the other.

    Use `from_estimator` or `from_estimators`.

    Parameters
    ----------
    histories : list of dict of ndarray
        The traces, as `history_` has them.
    names : list of str
        What each is called.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of two
        The axes of the gap or of the bounds, or those of the bounds and of the gap.
    figure_ : matplotlib Figure
        The figure.
    lines_ : list of matplotlib Line2D
        The lines, those of the bounds first.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from pegasos import LinearSVC
    >>> from pegasos.plot import ConvergenceDisplay
    >>> X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    >>> fits = {name: LinearSVC(solver=name, tol=0.01, random_state=0).fit(X, y) for name in ["sdca", "pegasos"]}
    >>> display = ConvergenceDisplay.from_estimators(fits, x="epoch")
    >>> [ax.get_xlabel() for ax in display.ax_]
    ['epochs', 'epochs']
    """

    ax_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, histories: Sequence[History], names: Sequence[str]) -> None:
        self.histories, self.names = list(histories), list(names)

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **options: Any) -> Self:
        """Draw how one fit got there; of several problems, such as one class against the rest, each has a line.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted. A pipeline's last step is meant.
        name : str, default=None
            What to call it; None is the name of its class.
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None is a new figure.
        **options
            Those of `plot`.
        """
        return cls.from_estimators({name or type(machine_of(estimator)).__name__: estimator}, ax=ax, **options)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any] | Sequence[Any], *, ax: Any = None, **options: Any) -> Self:
        """Draw several fits, one over the other: a dictionary from names to estimators, or a list of them."""
        if not isinstance(estimators, Mapping):
            numbered = enumerate(estimators, 1)
            estimators = {f"{number}: {type(machine_of(fit)).__name__}": fit for number, fit in numbered}
        if not estimators:
            raise ValueError("there is no estimator to draw; pass one at least")
        histories, names = [], []
        for name, estimator in estimators.items():
            for problem, history in histories_of(estimator):
                histories.append(history)
                names.append(problem if problem and len(estimators) == 1 else f"{name}, {problem}" if problem else name)
        return cls(histories, names).plot(ax, **options)

    def plot(self, ax: Any = None, *, x: str = "seconds", what: str | None = None, **line: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None is a new figure.
        x : {"seconds", "epoch"}, default="seconds"
            What the bounds are drawn against.
        what : {"bounds", "gap", "both"}, default=None
            Primal and dual, or the relative gap on a logarithmic scale. None is both, and with a single `ax` the gap.
        **line
            Passed on to ``Axes.plot``.
        """
        if x not in LABELS:
            raise ValueError(f"x={x!r}: must be 'seconds' or 'epoch'")
        if what is None:
            what = "gap" if ax is not None and np.size(np.asarray(ax, dtype=object)) == 1 else "both"
        if what not in ("bounds", "gap", "both"):
            raise ValueError(f"what={what!r}: must be 'bounds', 'gap' or 'both'")
        axes = make_axes(ax, 2 if what == "both" else 1, (5.2, 3.8))
        self.lines_ = []
        for own, drawn in zip(axes, ("bounds", "gap") if what == "both" else (what,), strict=True):
            self._draw(own, x, drawn, line)
            own.set_xlabel(LABELS[x])
            tidy(own)
        self.ax_, self.figure_ = one_or_all(axes), axes[0].figure
        return self

    def _draw(self, ax: Any, x: str, what: str, line: dict[str, Any]) -> None:
        named = len(self.histories) <= MOST_NAMED
        for number, (history, name) in enumerate(zip(self.histories, self.names, strict=True)):
            turn, colour = divmod(number, len(COLOURS))
            style = {"color": COLOURS[colour] if named else GREY, "label": plain(name), "markersize": 3}
            style |= {"marker": "s" if named and turn else "o", **line}
            if what == "gap":
                self.lines_ += ax.plot(history[x], _finite(history["gap"], positive=True), **style)
                continue
            primal, dual = _finite(history["primal"]), _finite(history["dual"])
            self.lines_ += ax.plot(history[x], primal, **style)
            self.lines_ += ax.plot(history[x], dual, **{**style, "label": None, "linestyle": "--"})
            ax.fill_between(history[x], dual, primal, color=style["color"], alpha=0.12, linewidth=0)
        if what == "gap":
            ax.set_yscale("log")
            ax.set_ylabel("relative duality gap")
        else:
            ax.set_ylabel("objective")
            ax.set_title("primal (solid) and dual (dashed): the optimum is between", fontsize="medium")
        if named and len(self.histories) > 1:
            ax.legend(frameon=False, fontsize="small")


def _finite(values: Any, positive: bool = False) -> Any:
    """Values with gaps where they are not finite, or on a logarithmic scale not above 0."""
    keep = np.isfinite(values) & ((values > 0) if positive else True)
    return np.where(keep, values, np.nan)
