"""Charts of what `run.py` found, as SVG: ``python benchmarks/plot.py RUN.json [FOLDER]``.

``peers.svg`` has for each package its ratios to our time, a point for each problem, and their geometric mean.
``problems.svg`` has for each problem the time of every package's best way.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from summary import Ratio, best_ways, clock_of, geometric_mean, group_of, read, summaries

#: One colour for each kind of problem, told apart by those who see fewer, and a shape besides.
STYLES = {
    "linear, two classes": ("#0072b2", "o"),
    "linear, several classes": ("#009e73", "s"),
    "linear regression": ("#d55e00", "D"),
    "Gaussian kernel": ("#cc79a7", "^"),
    "sequences": ("#5b2a86", "v"),
}
#: Of packages, in the order of their names.
COLOURS = (
    *("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b"),
    *("#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#003f5c", "#a05195"),
)
MARKERS = "osDv^<>Xph*P"
GREY = "#555555"


def prepare() -> Any:
    """pyplot, in the style of all charts; the same figures give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "pegasos",
            "svg.fonttype": "none",
            "font.size": 9,
            "font.family": "sans-serif",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.25,
            "axes.axisbelow": True,
            "legend.frameon": False,
        }
    )
    from matplotlib import pyplot

    return pyplot


def save(figure: Any, file: Path) -> None:
    figure.savefig(file, format="svg", metadata={"Date": None}, bbox_inches="tight")
    text = file.read_text(encoding="utf-8")
    file.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
    print(f"written: {file}")


def spread(values: Sequence[float]) -> list[float]:
    """Small shifts, so that points of a row do not hide each other."""
    return [0.28 * ((k * 0.618) % 1 - 0.5) for k in range(len(values))]


def plot_peers(run: dict[str, Any], file: Path) -> None:
    pyplot = prepare()
    rows = [one for one in summaries(run) if one.reached][::-1]
    ratios = best_ways(run)
    height = 1.2 + 0.42 * len(rows)
    figure, axis = pyplot.subplots(figsize=(8, height))
    for place, row in enumerate(rows):
        own = [one for one in ratios if one.package == row.package]
        for group, (colour, marker) in STYLES.items():
            some = [one.ratio for one in own if group_of(one.problem) == group]
            heights = [place + shift for shift in spread(some)]
            axis.scatter(some, heights, s=34, c=colour, marker=marker, alpha=0.8, linewidths=0, zorder=3)
        axis.plot([row.mean] * 2, [place - 0.36, place + 0.36], color="black", linewidth=2, zorder=2)
    axis.axvline(1, color=GREY, linewidth=1)
    axis.set(xscale="log", yticks=range(len(rows)), ylim=(-0.6, len(rows) - 0.4))
    axis.set_yticklabels([f"{row.package}  ({row.reached} of {row.stated})" for row in rows])
    what = "processor time" if clock_of(run) == "processor" else "time"
    axis.set_xlabel(f"{what} to within {run['target']:.1%} of the optimum, divided by that of pegasos")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    shown = {group_of(one.problem) for one in ratios}
    handles = [
        axis.scatter([], [], s=34, c=colour, marker=marker, label=group, linewidths=0)
        for group, (colour, marker) in STYLES.items()
        if group in shown
    ]
    handles += axis.plot([], [], color="black", linewidth=2, label="geometric mean")
    axis.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.4, -0.6 / height), ncols=3)
    save(figure, file)
    pyplot.close(figure)


def plot_problems(run: dict[str, Any], file: Path) -> None:
    pyplot = prepare()
    clock, ratios = clock_of(run), best_ways(run)
    problems = [one for group in STYLES for one in run["problems"] if group_of(one) == group][::-1]
    packages = sorted({one.package for one in ratios})
    styles = {name: (COLOURS[k % 12], MARKERS[k % 12]) for k, name in enumerate(packages)}
    height = 1 + 0.2 * len(problems)
    figure, axis = pyplot.subplots(figsize=(8, height))
    for place, problem in enumerate(problems):
        ours = problem["contenders"][0][clock]
        times = [(one.package, one.theirs) for one in ratios if one.problem is problem]
        everything = [ours, *(seconds for _, seconds in times)]
        axis.plot([min(everything), max(everything)], [place] * 2, color="#dddddd", linewidth=1, zorder=1)
        for package, seconds in times:
            colour, marker = styles[package]
            axis.scatter(seconds, place, s=18, color=colour, marker=marker, linewidths=0, zorder=2)
        axis.scatter(ours, place, s=60, facecolors="none", edgecolors="black", linewidths=1.4, zorder=3)
    axis.set(xscale="log", yticks=range(len(problems)), ylim=(-0.8, len(problems) - 0.2))
    axis.set_yticklabels([one["problem"] for one in problems], fontsize=7)
    unit = "processor seconds" if clock == "processor" else "seconds"
    axis.set_xlabel(f"{unit} to within {run['target']:.1%} of the optimum")
    handles = [axis.scatter([], [], s=60, facecolors="none", edgecolors="black", linewidths=1.4, label="pegasos")]
    handles += [
        axis.scatter([], [], s=18, color=colour, marker=marker, linewidths=0, label=package)
        for package, (colour, marker) in styles.items()
    ]
    axis.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.3, -0.55 / height), ncols=4)
    save(figure, file)
    pyplot.close(figure)


def print_groups(ratios: Sequence[Ratio]) -> None:
    """The geometric mean of the ratios, by kind of problem."""
    for group in STYLES:
        some = [one.ratio for one in ratios if group_of(one.problem) == group]
        if some:
            print(f"{group:24} mean ratio of {len(some)} {geometric_mean(some):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="what run.py wrote")
    parser.add_argument("folder", type=Path, nargs="?", help="of the charts; default: beside the run")
    arguments = parser.parse_args()
    run = read(arguments.run)
    folder = arguments.folder or arguments.run.parent
    folder.mkdir(parents=True, exist_ok=True)
    print_groups(best_ways(run))
    plot_peers(run, folder / "peers.svg")
    plot_problems(run, folder / "problems.svg")


if __name__ == "__main__":
    main()
