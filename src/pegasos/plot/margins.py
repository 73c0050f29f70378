"""How far examples are on the right side."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from pegasos.plot.axes import BLUE, GREY, RED, make_axes, tidy
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import flat, machine_of, margin_bins, margins_of, votes_of_pairs


class MarginDisplay:
    """A histogram of margins: errors, examples within the margin, and examples beyond it.

    With two classes, the margin of an example is its decision, times -1 for the first class. With more classes, it is
    the score of the right class minus the best score of the others. Below 0 the prediction is wrong. With the hinge
    losses and two classes, the training examples with a margin of at most 1 are the support vectors: all others could
    be left out.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,)
        The margins.

    Attributes
    ----------
    n_errors_, n_within_ : int
        The numbers of examples with a margin of at most 0, and of at most 1 (errors included).
    ax_, figure_
        The matplotlib Axes and Figure.
    bars_ : list of matplotlib BarContainer
        The bars of errors, of examples within the margin, and of those beyond.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from pegasos import LinearSVC
    >>> from pegasos.plot import MarginDisplay
    >>> X, y = make_classification(500, 20, flip_y=0.2, random_state=0)
    >>> display = MarginDisplay.from_estimator(LinearSVC(random_state=0).fit(X, y), X, y)
    >>> display.n_errors_ < display.n_within_ < 500
    True
    """

    ax_: Any
    figure_: Any
    bars_: list[Any]

    def __init__(self, margins: ArrayLike) -> None:
        self.margins: NDArray[np.float64] = np.asarray(margins, dtype=np.float64)
        self.n_errors_ = int(np.sum(self.margins <= 0))
        self.n_within_ = int(np.sum(self.margins <= 1))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the margins of the examples X with labels y.

        Parameters
        ----------
        estimator : estimator or Pipeline
            A fitted classifier, or a `SequenceSVC`, where each position has a margin.
        X, y
            Examples and their labels. Examples with labels that the model does not know are left out.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        **options
            Parameters of `plot`.
        """
        machine = machine_of(estimator)
        check_is_fitted(machine)
        if not hasattr(machine, "classes_"):
            raise ValueError(f"a {type(machine).__name__} predicts numbers, which have no margins; pass a classifier")
        if votes_of_pairs(machine):
            raise ValueError(
                "predictions by multi_class='ovo' are votes of pairs of classes, which have no margin; use "
                "multi_class='ovr'"
            )
        decisions = estimator.decision_function(X)
        if isinstance(machine, SequenceSVC):
            decisions, y = flat(decisions), flat(y)
        return cls.from_predictions(y, decisions, classes=machine.classes_, ax=ax, **options)

    @classmethod
    def from_predictions(
        cls, y_true: Any, decisions: Any, *, classes: ArrayLike | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the margins of decisions. `classes` are the classes of their columns, by default the sorted labels."""
        classes = np.unique(y_true) if classes is None else np.asarray(classes)
        margins, known = margins_of(decisions, y_true, classes)
        if not known.any():
            raise ValueError(f"none of the labels is among the classes, {', '.join(map(repr, classes.tolist()[:5]))}")
        return cls(margins).plot(ax, **options)

    def plot(self, ax: Any = None, *, bins: int = 40, **bar: Any) -> Self:
        """Draw with this number of bins; `bar` is passed on to ``Axes.bar``."""
        (own,) = make_axes(ax)
        edges, counts = margin_bins(self.margins, bins)
        width = edges[1] - edges[0]
        middle = (edges[:-1] + edges[1:]) / 2
        kinds = [
            (middle < 0, RED, f"wrong: {self.n_errors_:,}"),
            ((middle > 0) & (middle < 1), BLUE, f"within the margin: {self.n_within_ - self.n_errors_:,}"),
            (middle > 1, GREY, f"beyond: {len(self.margins) - self.n_within_:,}"),
        ]
        self.bars_ = [
            own.bar(middle[kind], counts[kind], width, **{"color": colour, "label": label, **bar})
            for kind, colour, label in kinds
        ]
        own.axvline(0, color="black", linewidth=0.8)
        own.axvline(1, color="black", linewidth=0.8, linestyle="--")
        own.set(xlabel="margin", ylabel="examples")
        own.legend(frameon=False, fontsize="small")
        tidy(own)
        self.ax_, self.figure_ = own, own.figure
        return self
