"""How a fit got to its certificate."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from pegasos.certificate import History
from pegasos.plot.axes import COLOURS, GREY, MOST_NAMED, make_axes, one_or_all, plain, tidy
from pegasos.summary import beginning_of, histories_of, machine_of, starts_late, work_of

LABELS = {"epochs": "epochs", "passes": "passes over the examples"}
#: Lines up to which points are marked, and names are in the picture; those of more stand beside it.
FEW = 4
#: How many times as far the longest line goes as the shortest where a linear scale would crush it.
CRUSHED = 50.0


class ConvergenceDisplay:
    """The bounds of one or several fits closing on each other, and the gap between them.

    Use `from_estimator` or `from_estimators`.

    Parameters
    ----------
    histories : list of dict of ndarray
        The traces, in the form of `history_`.
    names : list of str
        The name of each trace.
    began : list of float, default=None
        The second at which each problem began; its seconds count from there. None means 0.
    work : {"epochs", "passes"}, default="epochs"
        What "epoch" counts in the traces. For interior-point it counts passes over the examples, three per iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes, or ndarray of two
        The axes of the gap or of the bounds, or both: first the bounds, then the gap.
    figure_ : matplotlib Figure
        The figure.
    lines_ : list of matplotlib Line2D
        The lines, with the bounds first.

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

    def __init__(
        self,
        histories: Sequence[History],
        names: Sequence[str],
        began: Sequence[float] | None = None,
        work: str = "epochs",
    ) -> None:
        self.histories, self.names, self.work = list(histories), list(names), work
        self.began = [0.0] * len(self.histories) if began is None else list(began)

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **options: Any) -> Self:
        """Draw the convergence of one fit. With several problems, such as each class against the rest, each has a line.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted estimator, or a pipeline that ends with one.
        name : str, default=None
            The name in the legend; None is the name of the class.
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a new figure.
        **options
            Parameters of `plot`.
        """
        return cls.from_estimators({name or type(machine_of(estimator)).__name__: estimator}, ax=ax, **options)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any] | Sequence[Any], *, ax: Any = None, **options: Any) -> Self:
        """Draw several fits over one another: a dictionary from names to estimators, or a list of estimators.

        The estimators of a list are named by the parameters in which they differ. If a fit has several problems, such
        as each class against the rest, each problem begins at 0, whenever the fit began to work on it.
        """
        if not isinstance(estimators, Mapping):
            estimators = dict(zip(_names(estimators), estimators, strict=True))
        if not estimators:
            raise ValueError("there is no estimator to draw; pass one at least")
        histories, names, began = [], [], []
        for name, estimator in estimators.items():
            parts = histories_of(estimator)
            for problem, history in parts:
                histories.append(history)
                names.append(problem if problem and len(estimators) == 1 else f"{name}, {problem}" if problem else name)
                began.append(beginning_of(history) if len(parts) > 1 else 0.0)
        if len(histories) == 1 and starts_late(histories[0]):
            began = [beginning_of(histories[0])]
        counted = {work_of(estimator) for estimator in estimators.values()}
        return cls(histories, names, began, "passes" if "passes" in counted else "epochs").plot(ax, **options)

    def plot(self, ax: Any = None, *, x: str = "seconds", what: str | None = None, **line: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, default=None
            Where to draw; None makes a new figure.
        x : {"seconds", "epoch"}, default="seconds"
            The quantity along x. Short times are in milliseconds.
        what : {"bounds", "gap", "both"}, default=None
            Primal and dual, or the relative gap on a logarithmic scale. None means both, or with a single `ax` the gap.
        **line
            Passed on to ``Axes.plot``.
        """
        if x not in ("seconds", "epoch"):
            raise ValueError(f"x={x!r}: must be 'seconds' or 'epoch'")
        if what is None:
            what = "gap" if ax is not None and np.size(np.asarray(ax, dtype=object)) == 1 else "both"
        if what not in ("bounds", "gap", "both"):
            raise ValueError(f"what={what!r}: must be 'bounds', 'gap' or 'both'")
        axes = make_axes(ax, 2 if what == "both" else 1, (5.2, 3.8), same_x=True)
        self.lines_ = []
        for own, drawn in zip(axes, ("bounds", "gap") if what == "both" else (what,), strict=True):
            places, label = self._along(own, x)
            lines = self._draw(own, places, drawn, line)
            self._scale(own, places, lines)
            own.set_xlabel(label)
            tidy(own)
            self.lines_ += lines
        self._name(axes)
        self.ax_, self.figure_ = one_or_all(axes), axes[0].figure
        return self

    def _draw(self, ax: Any, places: Sequence[Any], what: str, line: dict[str, Any]) -> list[Any]:
        lines: list[Any] = []
        named, few = len(self.histories) <= MOST_NAMED, len(self.histories) <= FEW
        for number, (history, name) in enumerate(zip(self.histories, self.names, strict=True)):
            turn, colour = divmod(number, len(COLOURS))
            style = {"color": COLOURS[colour] if named else GREY, "label": plain(name), "markersize": 3}
            style |= {
                "marker": "o" if few or len(places[number]) == 1 else None,
                "linestyle": "-." if turn and named else "-",
                "linewidth": None if named else 0.8,
                **line,
            }
            along = places[number]
            if what == "gap":
                lines += ax.plot(along, _finite(history["gap"], positive=True), **style)
                continue
            primal, dual = _finite(history["primal"]), _finite(history["dual"])
            lines += ax.plot(along, primal, **style)
            lines += ax.plot(along, dual, **{**style, "label": None, "linestyle": "--"})
            if few:
                ax.fill_between(along, dual, primal, color=style["color"], alpha=0.12, linewidth=0)
        if what == "gap":
            ax.set_yscale("log")
            ax.set_ylabel("relative duality gap")
            if not named:
                ax.set_title(f"{len(self.histories)} problems", fontsize="medium")
        else:
            ax.set_ylabel("objective")
            ax.set_title("primal (above) and dual (dashed): the optimum is between", fontsize="medium")
        return lines

    def _along(self, ax: Any, x: str) -> tuple[list[Any], str]:
        """Where the checks of each problem are, and what that is called. What axes have already keeps its unit."""
        places = [history[x] for history in self.histories]
        if x != "seconds":
            return places, LABELS[self.work]
        places = [own - began for own, began in zip(places, self.began, strict=True)]
        short = max((float(own.max()) for own in places if own.size), default=0.0) < 1
        unit = "milliseconds" if short else "seconds"
        if ax.lines:
            unit = "milliseconds" if ax.get_xlabel().startswith("milliseconds") else "seconds"
        since = " since each problem began" if len(self.began) > 1 else " since the solver began"
        return [own * (1000 if unit == "milliseconds" else 1) for own in places], unit + since * any(self.began)

    def _scale(self, ax: Any, places: Sequence[Any], lines: Sequence[Any]) -> None:
        """From 0 to the end of the longest, whatever of it is drawn, with few ticks; a logarithmic scale as it is.

        It is logarithmic by itself where some end far before others.
        """
        ends = [float(own.max()) for own in places if own.size]
        end = max(ends, default=0.0)
        if ends and end > CRUSHED * min(ends) > 0:
            ax.set_xscale("log")
        ax.update_datalim([(0.0, 1.0), (end, 1.0)], updatey=False)
        for line in lines:
            line.sticky_edges.x.append(0.0)
        ax.autoscale_view(scaley=False)
        if ax.get_xscale() == "linear":
            ax.locator_params(axis="x", nbins=6)

    def _name(self, axes: Sequence[Any]) -> None:
        """Names of a few lines in each picture, of more beside the last."""
        if not 1 < len(self.histories) <= MOST_NAMED:
            return
        if len(self.histories) > FEW:
            axes[-1].legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
            return
        for ax in axes:
            ax.legend(frameon=False, fontsize="small")


def _finite(values: Any, positive: bool = False) -> Any:
    """Values with gaps where they are not finite, or on a logarithmic scale not above 0."""
    keep = np.isfinite(values) & ((values > 0) if positive else True)
    return np.where(keep, values, np.nan)


def _names(estimators: Sequence[Any]) -> list[str]:
    """What fits of a list are called: by their classes and the parameters in which they differ, or else by numbers."""
    machines = [machine_of(fit) for fit in estimators]
    kinds = [type(machine).__name__ for machine in machines]
    given = [machine.get_params(deep=False) if hasattr(machine, "get_params") else {} for machine in machines]
    common = [key for key in given[0] if all(key in own for own in given)] if given else []
    differ = [key for key in common if len({repr(own[key]) for own in given}) > 1]
    names = []
    for kind, own in zip(kinds, given, strict=True):
        parts = [kind] if len(set(kinds)) > 1 else []
        parts += [str(own[key]) if key == "solver" else f"{key}={own[key]}" for key in differ]
        names.append(", ".join(parts))
    if len(set(names)) == len(names) and all(0 < len(name) <= 60 for name in names):
        return names
    return [f"{number}: {kind}" for number, kind in enumerate(kinds, 1)]
