"""Which labels follow which."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pegasos.plot.axes import make_axes, plain
from pegasos.sequence.svc import SequenceSVC
from pegasos.summary import decimals, links_of, machine_of

#: Labels up to which each weight is written into its cell.
MOST_WRITTEN = 12


class TransitionsDisplay:
    """The weights of a label (row) followed by another (column), with the start and the end of a sequence.

    Use `from_estimator`.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The weights: minus infinity for a forbidden link, and NaN for a link that does not exist.
    rows, columns : list of str
        The names of the rows and of the columns.

    Attributes
    ----------
    ax_, figure_
        The matplotlib Axes and Figure.
    image_ : matplotlib AxesImage
        The picture.

    Examples
    --------
    >>> from pegasos import SequenceSVC
    >>> from pegasos.plot import TransitionsDisplay
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]]]
    >>> model = SequenceSVC(C=1.0, random_state=0).fit(X, [["D", "N", "V"], ["N", "V"]])
    >>> TransitionsDisplay.from_estimator(model).rows
    ['start', 'D', 'N', 'V']
    """

    ax_: Any
    figure_: Any
    image_: Any

    def __init__(self, weights: ArrayLike, rows: Sequence[str], columns: Sequence[str]) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.rows, self.columns = list(rows), list(columns)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw the transitions of a fitted `SequenceSVC`, or of a pipeline that ends with one."""
        machine = machine_of(estimator)
        if not isinstance(machine, SequenceSVC):
            raise ValueError(f"a {type(machine).__name__} has no transitions; pass a SequenceSVC")
        check_is_fitted(machine)
        return cls(*links_of(machine)).plot(ax, **options)

    def plot(self, ax: Any = None, *, colorbar: bool = True, **image: Any) -> Self:
        """Draw. Forbidden links have a cross; `image` is passed on to ``Axes.imshow``."""
        side = 2.4 + 0.32 * len(self.columns)
        (own,) = make_axes(ax, size=(side + 0.8, side))
        shown = np.where(np.isfinite(self.weights), self.weights, np.nan)
        most = float(np.nanmax(np.abs(shown), initial=0.0)) or 1.0
        self.image_ = own.imshow(shown, **{"cmap": "RdBu", "vmin": -most, "vmax": most, **image})
        own.set_facecolor("#e4e6ea")
        own.set_xticks(range(len(self.columns)), [plain(name) for name in self.columns], rotation=90)
        own.set_yticks(range(len(self.rows)), [plain(name) for name in self.rows])
        own.set(xlabel="next label", ylabel="label")
        for row, column in zip(*np.nonzero(np.isneginf(self.weights)), strict=True):
            own.text(column, row, "x", ha="center", va="center", color="#5b616e")
        if len(self.rows) <= MOST_WRITTEN:
            digits = decimals(most, 2)
            for (row, column), value in np.ndenumerate(shown):
                if np.isfinite(value):
                    colour = "white" if abs(value) > 0.6 * most else "black"
                    own.text(
                        column, row, f"{value:z.{digits}f}", ha="center", va="center", color=colour, fontsize="small"
                    )
        if colorbar:
            own.figure.colorbar(self.image_, ax=own, label="weight", shrink=0.8)
        self.ax_, self.figure_ = own, own.figure
        return self
