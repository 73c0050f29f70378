"""Charts in one style, as small SVG files. Without matplotlib there are none."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Chart", "Curve", "Panel", "draw"]

STYLE = {
    "svg.fonttype": "none",  # text as text: smaller files, and searchable
    "svg.hashsalt": "pegasos",  # the same file from the same results
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
MARKERS = "os^Dvp*XP<"


@dataclass(frozen=True)
class Curve:
    """A line of a panel; `dashed` for what was published, or goes on after the point of interest."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False
    color: int | None = None  # its number, where two curves share one


@dataclass(frozen=True)
class Panel:
    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    log_x: bool = True
    log_y: bool = False
    y_limits: tuple[float, float] | None = None
    bars: Sequence[str] = ()  # names of places on the x axis, for bars in place of lines


@dataclass(frozen=True)
class Chart:
    name: str  # of the file
    alt: str
    panels: Sequence[Panel]
    across: int = 3  # panels beside each other


def draw(chart: Chart, folder: Path) -> None:
    """Write the chart to the folder."""
    try:
        import matplotlib
    except ImportError:
        print(f"no chart {chart.name}: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        across = min(chart.across, len(chart.panels))
        down = -(-len(chart.panels) // across)
        size = (3.4 * across + 0.6, 2.7 * down + 0.2)
        figure, axes = pyplot.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
        for axis in axes.flat[len(chart.panels) :]:
            axis.set_visible(False)
        for panel, axis in zip(chart.panels, axes.flat, strict=False):
            _fill(axis, panel)
        figure.savefig(folder / f"{chart.name}.svg", metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def _fill(axis: Any, panel: Panel) -> None:
    from matplotlib.ticker import LogLocator

    if panel.bars:
        width = 0.8 / len(panel.curves)
        for number, curve in enumerate(panel.curves):
            places = [place + (number - (len(panel.curves) - 1) / 2) * width for place in curve.x]
            axis.bar(places, curve.y, width, label=curve.label, color=f"C{number}", alpha=0.5 if curve.dashed else 1)
        axis.set_xticks(range(len(panel.bars)), panel.bars)
    else:
        for number, curve in enumerate(panel.curves):
            color = number if curve.color is None else curve.color
            style = "--" if curve.dashed else "-"
            marker = MARKERS[color % len(MARKERS)] if len(curve.x) <= 40 else None
            axis.plot(curve.x, curve.y, style, marker=marker, color=f"C{color % 10}", label=curve.label)
        axis.set_xscale("log" if panel.log_x else "linear")
    axis.set_yscale("log" if panel.log_y else "linear")
    if panel.y_limits:
        axis.set_ylim(*panel.y_limits)
    low, high = axis.get_ylim()
    if panel.log_y and high < 50 * low:  # powers of ten alone would be too few
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
    axis.minorticks_off()  # most of a file would be these
    axis.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if any(curve.label for curve in panel.curves):
        axis.legend()
