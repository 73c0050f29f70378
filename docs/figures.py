"""Figures of the guide and of the first page: ``python docs/figures.py [NAME ...]`` draws them into docs/figures/.

Every figure is a function of the same name. They are drawn from fits, but for the flow chart, which is drawn from the
figures in `solvers/auto.py`, and `peers`, which is drawn from the run of docs/benchmarks.md: when that is replaced,
``python docs/figures.py peers`` follows.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pictures import STYLE
from sklearn.datasets import make_blobs, make_classification, make_moons
from solver_chart import chart

from pegasos import SVC, LinearSVC, path
from pegasos.reference import s0
from pegasos.reference.objective import primal

FOLDER = Path(__file__).parent / "figures"
RUN = FOLDER.parent / "benchmarks" / "run.json"
sys.path.append(str(FOLDER.parents[1] / "benchmarks"))

import summary  # noqa: E402

BLUE, ORANGE, GREEN, GREY = "#2563c9", "#d9480f", "#2b8a3e", "#8a93a3"
#: What is black on white on light pages, and the other way round on dark ones.
INKS = {"": "#1f2a44", "-dark": "#d5dbe6"}

Figure = Any


def ink_style(ink: str) -> dict[str, Any]:
    parts = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return {**STYLE, **dict.fromkeys(parts, ink), "axes.spines.top": False, "axes.spines.right": False,
            "legend.frameon": False, "legend.fontsize": "small", "font.family": "sans-serif"}  # fmt: skip


def subplots(*args: Any, **options: Any) -> tuple[Figure, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(*args, layout="constrained", **options)


def blobs() -> tuple[Any, Any]:
    return make_blobs(60, centers=[[-1.2, -1], [1.2, 1]], cluster_std=1.0, random_state=2)


def problem(ink: str) -> Figure:
    """Margin and slack in two dimensions, and the two losses."""
    X, y = blobs()
    signs = np.where(y == 1, 1.0, -1.0)
    clf = LinearSVC(C=0.1, intercept="free", random_state=0).fit(X, y)
    (w1, w2), b = clf.coef_[0], clf.intercept_[0]
    margins = signs * clf.decision_function(X)
    figure, (left, right) = subplots(1, 2, figsize=(8.6, 3.6), width_ratios=(1.25, 1))
    line = np.array([-6.0, 6.0])
    for level, style in ((-1, "--"), (0, "-"), (1, "--")):
        left.plot(line, (level - b - w1 * line) / w2, style, color=ink, linewidth=1)
    for label, colour in ((0, BLUE), (1, ORANGE)):
        inner, outer = (y == label) & (margins <= 1 + 1e-6), (y == label) & (margins > 1 + 1e-6)
        left.scatter(*X[outer].T, s=16, color=colour, alpha=0.4, linewidths=0)
        left.scatter(*X[inner].T, s=30, color=colour, edgecolors=ink, linewidths=0.8)
    w = clf.coef_[0]
    for x, sign, margin in zip(X, signs, margins, strict=True):
        if margin < 1 - 1e-3:  # to where its margin would be 1
            end = x + sign * (1 - margin) * w / (w @ w)
            left.plot(*np.transpose([x, end]), color=GREY, linewidth=1.1, zorder=0)
    left.set(xlim=(-4, 4), ylim=(-3.6, 3.6), aspect="equal", xticks=[], yticks=[])
    left.set_title("support vectors, and how far each lacks a margin of 1", fontsize="medium")
    z = np.linspace(-2, 2.5, 300)
    right.plot(z, np.maximum(0, 1 - z), color=BLUE, label="hinge")
    right.plot(z, np.maximum(0, 1 - z) ** 2, color=ORANGE, label="squared hinge")
    right.plot(z, np.log1p(np.exp(-z)), color=GREEN, label="log loss")
    right.plot(z, z < 0, color=GREY, linestyle=":", label="a mistake")
    right.set(xlabel="margin of an example", ylabel="loss", ylim=(0, 4))
    right.legend()
    return figure


def bounds(ink: str) -> Figure:
    """The primal values above, the dual values below, and the optimum between."""
    X, y = make_classification(2000, 30, n_informative=8, flip_y=0.1, random_state=0)
    fits = {name: LinearSVC(alpha=2e-3, solver=name, tol=2e-3, max_iter=2000, random_state=0).fit(X, y)
            for name in ("sdca", "pegasos")}  # fmt: skip
    best = LinearSVC(alpha=2e-3, tol=1e-10, random_state=0).fit(X, y).certificate_.primal
    figure, axes = subplots(1, 2, figsize=(8.6, 3.5))
    for colour, (name, clf) in zip((BLUE, ORANGE), fits.items(), strict=True):
        history = clf.history_
        epochs, above, below = history["epoch"], history["primal"] / best, history["dual"] / best
        axes[0].plot(epochs, above, "o-", color=colour, markersize=3, label=f"{name}: objective reached")
        axes[0].plot(epochs, below, "s--", color=colour, markersize=3, label=f"{name}: lower bound")
        axes[0].fill_between(epochs, below, above, color=colour, alpha=0.12, linewidth=0)
        axes[1].plot(epochs, history["gap"], "o-", color=colour, markersize=3, label=name)
    axes[0].axhline(1, color=ink, linewidth=0.8)
    axes[0].set(xscale="log", xlabel="epochs", ylabel="objective / optimum", ylim=(0.6, 1.4))
    axes[1].axhline(2e-3, color=ink, linewidth=0.8, linestyle=":")
    axes[1].text(1, 2.2e-3, "tol")
    axes[1].set(xscale="log", yscale="log", xlabel="epochs", ylabel="relative gap, certified")
    axes[0].legend(ncols=1)
    axes[1].legend()
    return figure


def lower_bound(ink: str) -> Figure:
    """A problem of one weight: the objective, and the parabolas that dual points put below it."""
    rng = np.random.default_rng(3)
    z, C = rng.normal(0.8, 1.0, 24), 0.25  # of each example its label times its one feature
    weights = np.linspace(-1.6, 3.2, 4801)
    values = weights**2 / 2 + C * np.maximum(0, 1 - np.outer(weights, z)).sum(axis=1)
    best = weights[values.argmin()]
    shares = (z * best < 1).astype(float)
    corner = np.abs(z * best - 1).argmin()  # its margin is 1: with its share the lowest point is the optimum
    shares[corner] = 0.0
    shares[corner] = np.clip((best - C * shares @ z) / (C * z[corner]), 0, 1)
    figure, ax = subplots(figsize=(6.4, 4.5))
    ax.plot(weights, values, color=BLUE, linewidth=2.4, label="objective")
    dual_points = {
        "a third of every example": (np.full_like(z, 1 / 3), GREY),
        "the examples with a loss at w = 2": ((z * 2 < 1).astype(float), GREEN),
        "the shares at the optimum": (shares, ORANGE),
    }
    for name, (q, colour) in dual_points.items():
        pull = C * q @ z
        ax.plot(weights, weights**2 / 2 + C * q.sum() - pull * weights, "--", color=colour, linewidth=1.2)
        ax.plot([pull], [C * q.sum() - pull**2 / 2], "o", color=colour, markersize=6, label=name)
    ax.axhline(values.min(), color=BLUE, linewidth=0.7, linestyle=":")
    ax.set(xlabel="weight w", ylabel="value", ylim=(values.min() - 3.2, values.min() + 4))
    figure.legend(title="lowest points of parabolas", title_fontsize="small", loc="outside lower center", ncols=2)
    return figure


def _flat_problem() -> tuple[Any, Any, float, Any]:
    """A problem of two weights, and values of its objective on a grid."""
    X, y = make_blobs(200, centers=[[-1, -0.6], [1, 0.6]], cluster_std=1.0, random_state=0)
    return X, np.where(y == 1, 1.0, -1.0), 0.05, np.linspace(-1.0, 2.4, 120)


def _value(X: Any, y: Any, lam: float, w: Any) -> float:
    return primal(X, y, np.ones(len(y)), 1 / (lam * len(y)), np.asarray(w)) * lam


def steps(ink: str) -> Figure:
    """The ways of three step sizes over the same examples, and what they reach."""
    X, y, lam, grid = _flat_problem()
    draws = [np.random.default_rng(seed).integers(len(y), size=(2000, 1)) for seed in range(8)]
    ways = {
        "1 / (alpha t)": ([list(s0.pegasos(X, y, lam, rows)) for rows in draws], BLUE),
        "constant, 0.1": ([list(s0.constant_step(X, y, lam, 0.1, rows)) for rows in draws], ORANGE),
        "1 / sqrt(t)": ([list(s0.norma(X, y, lam, lam, rows)) for rows in draws], GREEN),
    }
    heights = [[_value(X, y, lam, (a, b)) for a in grid] for b in grid]
    best = LinearSVC(alpha=lam, fit_intercept=False, tol=1e-10, random_state=0).fit(X, y)
    optimum = best.certificate_.primal * lam
    figure, (left, right) = subplots(1, 2, figsize=(8.8, 3.7))
    left.contour(grid, grid, heights, levels=optimum + np.geomspace(0.005, 1.5, 9), colors=GREY, linewidths=0.6)
    for runs, colour in ways.values():
        left.plot(*np.transpose(runs[0][:160]), "-", color=colour, linewidth=0.7, alpha=0.9)
    left.plot(*best.coef_[0], "*", color=ink, markersize=11)
    left.set(xlabel="first weight", ylabel="second weight", xlim=(-1, 2.4), ylim=(-1, 2.4), aspect="equal")
    left.set_title("160 steps, and the optimum", fontsize="medium")
    at = np.unique(np.geomspace(1, 2000, 80).astype(int))
    for name, (runs, colour) in ways.items():
        above = np.mean([[_value(X, y, lam, way[t]) - optimum for t in at] for way in runs], axis=0)
        right.loglog(at, above, color=colour, linewidth=1.2, label=name)
    right.set(xlabel="steps", ylabel="objective above the optimum, mean of 8 runs")
    right.legend()
    return figure


def averages(ink: str) -> Figure:
    """The last iterate, the mean of all and the mean of the last half."""
    X, y, lam, _ = _flat_problem()
    optimum = LinearSVC(alpha=lam, fit_intercept=False, tol=1e-10, random_state=0).fit(X, y).certificate_.primal * lam
    at = np.unique(np.geomspace(2, 4000, 70).astype(int))
    found: dict[str, list[Any]] = {"the last iterate": [], "mean of all": [], "mean of the last half": []}
    for seed in range(5):
        rows = np.random.default_rng(seed).integers(len(y), size=(4000, 1))
        way = np.array(list(s0.pegasos(X, y, lam, rows)))
        sums = np.cumsum(way, axis=0)
        means = [(way[t], sums[t] / (t + 1), (sums[t] - sums[t // 2]) / (t - t // 2)) for t in at]
        for name, column in zip(found, zip(*means, strict=True), strict=True):
            found[name].append([_value(X, y, lam, w) - optimum for w in column])
    figure, ax = subplots(figsize=(6, 3.5))
    for colour, (name, runs) in zip((GREY, ORANGE, BLUE), found.items(), strict=True):
        ax.loglog(at, np.mean(runs, axis=0), color=colour, label=name)
    ax.loglog(at, 0.6 / at, ":", color=ink, linewidth=0.8, label="proportional to 1 / t")
    ax.set(xlabel="steps", ylabel="objective above the optimum")
    ax.legend()
    return figure


def kernels(ink: str) -> Figure:
    """A ring that no line cuts off, the same points with one feature more, and the kernel machine's boundary."""
    rng = np.random.default_rng(0)
    radius = np.concatenate([rng.normal(0.5, 0.15, 60), rng.normal(1.5, 0.15, 60)])
    angle = rng.uniform(0, 2 * np.pi, 120)
    X, y = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), np.repeat([1, 0], 60)
    colours = np.where(y == 1, ORANGE, BLUE)
    figure, axes = subplots(1, 3, figsize=(9, 3.1))
    axes[0].scatter(*X.T, s=14, c=colours)
    axes[0].set_title("no line divides them", fontsize="medium")
    lifted = np.column_stack([X[:, 0], (X**2).sum(axis=1)])
    clf = LinearSVC(C=10, intercept="free", random_state=0).fit(lifted, y)
    ends = np.array([-2.0, 2.0])
    axes[1].scatter(*lifted.T, s=14, c=colours)
    axes[1].plot(ends, -(clf.intercept_[0] + clf.coef_[0, 0] * ends) / clf.coef_[0, 1], color=ink)
    axes[1].set_title("with the squared length as height, one does", fontsize="medium")
    machine = SVC(gamma=1, C=1).fit(X, y)
    grid = np.linspace(-2, 2, 90)
    points = np.array([[a, b] for b in grid for a in grid])
    axes[2].contourf(grid, grid, machine.decision_function(points).reshape(90, 90), levels=[-9, 0, 9],
                     colors=[BLUE, ORANGE], alpha=0.15)  # fmt: skip
    axes[2].scatter(*X.T, s=14, c=colours)
    axes[2].scatter(*machine.support_vectors_.T, s=50, facecolors="none", edgecolors=ink, linewidths=0.8)
    axes[2].set_title(f"a Gaussian kernel: {machine.n_support_.sum()} of 120 are supports", fontsize="medium")
    for ax in axes[[0, 2]]:
        ax.set(xlim=(-2, 2), ylim=(-2, 2), aspect="equal")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    return figure


def widths(ink: str) -> Figure:
    """Errors and supports along gamma."""
    X, y = make_moons(600, noise=0.25, random_state=0)
    gammas = np.geomspace(0.01, 300, 19)
    machines = [SVC(gamma=gamma, C=1).fit(X[:300], y[:300]) for gamma in gammas]
    figure, ax = subplots(figsize=(6, 3.4))
    ax.plot(gammas, [1 - m.score(X[:300], y[:300]) for m in machines], "o-", color=GREY, markersize=3, label="fitted")
    ax.plot(gammas, [1 - m.score(X[300:], y[300:]) for m in machines], "o-", color=ORANGE, markersize=3, label="others")
    ax.set(xscale="log", xlabel="gamma", ylabel="error", ylim=(0, None))
    ax.legend(title="examples", title_fontsize="small", loc="center left")
    beside = ax.twinx()
    beside.plot(gammas, [m.n_support_.sum() / 300 for m in machines], "s--", color=BLUE, markersize=3)
    beside.set_ylabel("share that are supports", color=BLUE)
    beside.spines["right"].set_visible(True)
    beside.set_ylim(0, 1)
    return figure


def along_c(ink: str) -> Figure:
    """Error, supports, norm and epochs along C."""
    X, y = make_classification(1200, 60, n_informative=8, flip_y=0.15, class_sep=0.9, random_state=1)
    train, test = slice(0, 400), slice(400, None)
    Cs = np.geomspace(1e-5, 10, 25)
    found = path(X[train], y[train], Cs=Cs, random_state=0)
    signs = np.where(y == 1, 1, -1)[:, None]
    margins = signs * found.decision_function(X)
    cold = [LinearSVC(C=C, solver="sdca", max_iter=20_000, random_state=0).fit(X[train], y[train]) for C in Cs]
    figure, axes = subplots(1, 3, figsize=(9.4, 3))
    axes[0].plot(Cs, (margins[train] <= 0).mean(axis=0), color=GREY, label="fitted")
    axes[0].plot(Cs, (margins[test] <= 0).mean(axis=0), color=ORANGE, label="others")
    axes[0].set(ylabel="error", ylim=(0, None))
    axes[0].legend(title="examples", title_fontsize="small")
    axes[1].plot(Cs, (margins[train] <= 1 + 1e-6).mean(axis=0), color=BLUE)
    axes[1].set(ylabel="share that are supports", ylim=(0, 1.05))
    axes[2].plot(Cs, [clf.n_iter_ for clf in cold], color=GREEN)
    axes[2].set(ylabel="epochs of coordinate ascent", yscale="log")
    for ax in axes:
        ax.set(xscale="log", xlabel="C")
    return figure


def hero(ink: str) -> Figure:
    """What every fit brings: bounds that close on the optimum."""
    X, y = make_classification(2000, 30, n_informative=8, flip_y=0.1, random_state=0)
    history = LinearSVC(alpha=2e-3, solver="pegasos", tol=5e-3, max_iter=2000, random_state=0).fit(X, y).history_
    epochs = history["epoch"]
    figure, ax = subplots(figsize=(5.2, 2.35))
    ax.fill_between(epochs, history["dual"], history["primal"], color=BLUE, alpha=0.15, linewidth=0)
    ax.plot(epochs, history["primal"], "o-", color="#d9480f" if ink == INKS[""] else "#ff9a62", markersize=4)
    ax.plot(epochs, history["dual"], "o-", color="#2563c9" if ink == INKS[""] else "#74a9ff", markersize=4)
    ax.set(xscale="log", yscale="log", xlabel="epochs of Pegasos", ylabel="objective")
    ax.set_yticks([100, 200, 400, 800], ["100", "200", "400", "800"])
    ax.minorticks_off()
    ax.text(epochs[1] * 1.25, history["primal"][1] * 1.05, "the objective reached", fontsize="large")
    ax.text(epochs[1] * 1.25, history["dual"][1] * 0.82, "no weights can go below", fontsize="large")
    ax.annotate(f"certified: within {history['gap'][-1]:.1%}", (epochs[-1], history["primal"][-1]), fontsize="large",
                xytext=(-4, 40), textcoords="offset points", ha="right",
                arrowprops={"arrowstyle": "->", "color": ink})  # fmt: skip
    return figure


#: Problems that a package has to have solved to have a bar.
FEWEST = 5


def peers(ink: str) -> Figure:
    """Processor time of other packages to the same objective, as a multiple of ours."""
    run = summary.read(RUN)
    rows = [(one.package, one.mean, f"{one.reached} of {one.stated}") for one in shown_peers()]
    reached = sum(problem["contenders"][0]["status"] == "reached" for problem in run["problems"])
    rows.insert(0, ("pegasos", 1.0, f"{reached} of {len(run['problems'])}"))
    figure, ax = subplots(figsize=(4.6, 0.25 + 0.22 * len(rows)))
    names, means, solved = zip(*rows, strict=True)
    places = range(len(rows))
    colours = [BLUE if ink == INKS[""] else "#74a9ff", *["#a9b1bf" if ink == INKS[""] else "#6b7689"] * (len(rows) - 1)]
    ax.barh(places, means, 0.68, color=colours)
    ax.axvline(1, color=ink, linewidth=0.8, linestyle=":")
    for place, mean, count in zip(places, means, solved, strict=True):
        ax.annotate(f"{mean:.1f}×", (mean, place), xytext=(4, -0.5), textcoords="offset points", va="center",  # noqa: RUF001
                    fontweight="bold", fontsize=10)  # fmt: skip
        ax.annotate(count, (1, place), xycoords=("axes fraction", "data"), va="center", ha="right", fontsize=8.5)
    ax.set(yticks=places, ylim=(len(rows) - 0.5, -0.5), xlim=(0, 1.5 * max(means)), xticks=[])
    ax.set_yticklabels(names, fontsize=10)
    ax.tick_params(length=0)
    ax.spines[["bottom", "left"]].set_visible(False)
    ax.annotate("solved", (1, 1), xycoords="axes fraction", xytext=(0, 3), textcoords="offset points", ha="right",
                fontsize=8.5)  # fmt: skip
    return figure


def shown_peers() -> list[Any]:
    """The packages that have a bar, the fastest first."""
    return [one for one in summary.summaries(summary.read(RUN)) if one.reached >= FEWEST]


#: Each figure, and whether it has a twin for dark pages.
FIGURES: dict[Callable[[str], Figure], bool] = {
    problem: False, lower_bound: False, bounds: False, steps: False, averages: False, kernels: False, widths: False,
    along_c: False, hero: True, peers: True,
}  # fmt: skip


def files() -> Iterator[str]:
    """The names of all figures, the flow chart's too."""
    for draw, twin in FIGURES.items():
        yield from (f"{draw.__name__}{suffix}.svg" for suffix in (INKS if twin else [""]))
    yield from (f"choosing{suffix}.svg" for suffix in INKS)
    yield "hero.png"


def main(names: list[str]) -> None:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    FOLDER.mkdir(exist_ok=True)
    for draw, twin in FIGURES.items():
        for suffix, ink in INKS.items() if twin else [("", INKS[""])]:
            if names and draw.__name__ not in names:
                continue
            with matplotlib.rc_context(ink_style(ink)):
                file = FOLDER / f"{draw.__name__}{suffix}.svg"
                figure = draw(ink)
                figure.savefig(file, metadata={"Date": None}, transparent=True)
                if draw is hero and not suffix:  # the README's, for PyPI shows no SVG
                    figure.savefig(FOLDER / "hero.png", dpi=180, facecolor="white")
                plt.close("all")
            print(f"{file.name}: {file.stat().st_size:,} bytes")
    for suffix, ink in INKS.items():
        (FOLDER / f"choosing{suffix}.svg").write_text(chart(ink), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
