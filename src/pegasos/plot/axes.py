"""Axes to draw on, and colours that are told apart without seeing colour."""

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Of Okabe and Ito, in an order in which neighbours differ in lightness.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
BLUE, RED, GREY = COLOURS[0], COLOURS[1], "#8a8f98"
#: Lines that have names in a legend; more of them are one grey sheaf.
MOST_NAMED = 10


def pyplot() -> Any:
    """matplotlib's `pyplot`; an ImportError that says what to install where there is none."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pegasos.plot needs the package matplotlib; install matplotlib") from None
    return plt


def make_axes(ax: Any, count: int = 1, size: tuple[float, float] = (6.4, 4.2), same_x: bool = False) -> list[Any]:
    """The axes given, or so many new ones in a figure of their own, each of that size in inches.

    With `same_x` new ones have the same range along x, also where a user zooms.
    """
    plt = pyplot()
    if ax is not None:
        given = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != count:
            raise ValueError(f"ax has {len(given)} axes, and there are {count} to draw on; pass as many, or None")
        return given
    columns = min(count, 3)
    rows = -(-count // columns)
    shape = (size[0] * columns, size[1] * rows)
    figure, made = plt.subplots(rows, columns, figsize=shape, squeeze=False, layout="constrained", sharex=same_x)
    found = list(made.ravel())
    for empty in found[count:]:
        figure.delaxes(empty)
    return found[:count]


def one_or_all(axes: Sequence[Any]) -> Any:
    """Axes as displays keep them: the only one, or an array."""
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def tidy(ax: Any) -> None:
    """No frame where there is no axis, and a faint grid behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#8a8f98", alpha=0.25, linewidth=0.8)
    ax.set_axisbelow(True)


def plain(text: Any) -> str:
    """A name as it is: a dollar sign in it begins no formula."""
    return str(text).replace("$", r"\$")
