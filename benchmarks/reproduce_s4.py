"""S4 section 5: test error against kernel evaluations (Fig. 2), the wall-clock claim, and the optima behind Table 2.

``python benchmarks/reproduce_s4.py`` makes three parts, of which ``--parts`` names some:

figure
    Test error against the number of kernel evaluations, without bias, on Adult (gamma 0.05, C = 1) and MNIST, 8 against
    the rest (gamma 0.02, C = 1). As in S4 the count is independent of the implementation: n for each change of one
    coefficient, whether or not its kernel row was at hand. So the whole kernel matrix is computed once, in single
    precision (14 GB for MNIST), and the solvers are given that.

    - SBP: one change a step; its nu is that of the optimum, as in S4, and its machine the mean of all iterates;
    - Pegasos: the last iterate;
    - SDCA: permutations of the examples, visits that change nothing costing nothing;
    - SMO, ours: its runs end at growing accuracy, not at a number of steps. It chooses among working sets, which S4's
      did not;
    - SMO of one variable: the textbook's, written here in NumPy: always the variable that gains most of all;
    - Perceptron: its mistakes.

wall-clock
    LIBSVM (scikit-learn's SVC, default tolerance, dense examples, with which it is fastest) with bias, and S4's
    parameters; then SBP for a quarter of its time, with S4's nu and with one found for C, from each seed: the mean
    error, and each.

anchors
    nu, the mean loss over the norm of w, at certified optima, beside the published values of Table 2.

A table of each, the points of the figure (``reproduce_s4.csv``) and a plot are written to the output folder.
"""

import argparse
import csv
import math
import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from kernel_problems import Case, as_kind, evaluate, load_case
from problems import results_folder
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as Libsvm
from timing import print_machine

from pegasos import SVC
from pegasos._core import native
from pegasos.base.outcome import Budget
from pegasos.problems.kernel import make_problem
from pegasos.solvers import SBP, SMO, Pegasos, Perceptron

PARTS = ("figure", "wall-clock", "anchors")
SOLVERS = ("SBP", "Pegasos", "SDCA", "SMO, ours", "SMO of one variable", "Perceptron")

#: S4 Table 2: gamma = 1 / (2 sigma^2), C = 1 / (lambda n), bias, nu.
TABLE_2 = {
    "adult": [(0.05, 1.0, False, 1.10e-2), (0.005, 100.0, True, 5.79e-4)],
    "mnist8": [(0.02, 1.0, False, 2.21e-4), (0.02, 1000.0, True, 6.42e-11)],
}
#: S4 section 5: LIBSVM's test error, and SBP's in a quarter of its time, in percent.
WALL_CLOCK = {"adult": (14.9, 15.0), "mnist8": (0.44, 0.46)}
#: Kernel evaluations, over n^2, at which the table tells the error.
COLUMNS = (1 / 16, 1 / 4, 1.0, 4.0, 10.0)


@dataclass(frozen=True)
class Point:
    """A machine: what it took, and its error on the test set."""

    data: str
    solver: str
    seed: int
    epochs: float  # steps or visits, over n
    evaluations: int  # n for each change of a coefficient
    error: float


class Figure:
    """Points of one problem."""

    def __init__(self, case: Case, epochs: float) -> None:
        self.case = case
        self.n = len(case.y)
        self.epochs = epochs
        self.K, self.K_test = kernel_matrix(case, case.X), kernel_matrix(case, case.X_test)
        y, s = np.where(case.y > 0, 1.0, -1.0), np.ones(self.n)
        source = native.given_source(self.K)
        self.problem = make_problem(source, y, s, case.C, free_intercept=False, cached_rows=1_000)
        optimum = self.solve(SMO(), 0, tol=1e-4)
        loss = (optimum.bounds.primal - optimum.point.squared_norm / 2) / case.C
        self.nu = loss / self.n / math.sqrt(optimum.point.squared_norm)

    def solve(self, solver: Any, seed: int, tol: float = 0.0, max_iter: int = 10**6) -> Any:
        return solver.solve(self.problem, Budget(tol, max_iter, None, n_jobs=2), seed)

    def point(self, solver: str, seed: int, steps: float, changes: float, beta: Any) -> Point:
        # Single precision, as the whole test matrix in double precision would take as much memory as all the rest.
        wrong = (self.K_test @ beta.astype(np.float32) >= 0) != (self.case.y_test > 0)
        return Point(self.case.name, solver, seed, steps / self.n, round(changes) * self.n, float(wrong.mean()))

    def budgets(self, epochs: float) -> list[int]:
        """Steps, from n/256 up, by factors of two."""
        powers = [self.n * 2.0**k for k in range(-8, 10)]
        return [max(1, round(steps)) for steps in powers if steps < epochs * self.n] + [round(epochs * self.n)]

    def sbp(self, seed: int) -> Iterator[Point]:
        for steps in self.budgets(self.epochs):
            found = self.solve(SBP(nu=self.nu, max_steps=steps), seed).point
            if found.beta.any():  # a margin of zero or less has no machine yet
                yield self.point("SBP", seed, steps, found.updates, found.beta)

    def pegasos(self, seed: int) -> Iterator[Point]:
        for steps in self.budgets(self.epochs):
            found = self.solve(Pegasos(max_steps=steps, average="last"), seed).point
            yield self.point("Pegasos", seed, steps, found.updates, found.beta)

    def perceptron(self, seed: int, epochs: float) -> Iterator[Point]:
        for steps in self.budgets(epochs):
            found = self.solve(Perceptron(max_steps=steps), seed).point
            yield self.point("Perceptron", seed, steps, found.updates, found.beta)

    def sdca(self, seed: int) -> Iterator[Point]:
        random = np.random.default_rng(seed)
        order = np.concatenate([random.permutation(self.n) for _ in range(math.ceil(self.epochs))]).astype(np.uint32)
        for visits in self.budgets(self.epochs):
            found = native.kernel_sdca(
                self.problem.source,
                self.problem.core,
                native.Run(n_jobs=2),
                cached_rows=self.problem.cached_rows,
                tol=0.0,
                max_epochs=math.inf,
                seed=seed,
                visits=order[:visits],
                start=None,
            )
            yield self.point("SDCA", seed, visits, found.updates, found.beta)

    def smo(self, seed: int) -> Iterator[Point]:
        seen = -1.0
        for tol in (10.0, 3.0, 1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.003, 0.001, 1e-4):
            found = self.solve(SMO(), seed, tol=tol, max_iter=max(1, round(self.epochs))).point
            if found.updates > max(seen, 0):
                yield self.point("SMO, ours", seed, found.updates, found.updates, found.beta)
            seen = max(seen, found.updates)

    def smo_of_one_variable(self, time_cap: float) -> Iterator[Point]:
        """Coordinate ascent that always changes the variable with the most to gain."""
        y, C = np.where(self.case.y > 0, 1.0, -1.0), self.case.C
        alpha, slope = np.zeros(self.n), np.ones(self.n)
        budgets, started = self.budgets(self.epochs), time.perf_counter()
        for step in range(1, budgets[-1] + 1):
            # K(x, x) = 1
            change = np.clip(slope, -alpha, C - alpha)
            gains = change * (slope - change / 2)
            i = int(np.argmax(gains))
            done = gains[i] < 1e-7 or time.perf_counter() - started > time_cap
            if not done:
                alpha[i] += change[i]
                slope -= (change[i] * y[i]) * y * self.K[i]
            if done or step in budgets:
                yield self.point("SMO of one variable", 0, step, step, alpha * y)
            if done:
                return


def kernel_matrix(case: Case, X: Any) -> Any:
    """The Gaussian kernel of these with the case's examples, in single precision, a block at a time."""
    X, few = as_kind(case.X, "dense float32"), as_kind(X, "dense float32")
    squares, gamma = np.einsum("ij,ij->i", X, X), np.float32(case.gamma)
    K = np.empty((len(few), len(X)), dtype=np.float32)
    for first in range(0, len(few), 1_000):
        some, out = few[first : first + 1_000], K[first : first + 1_000]
        np.matmul(some, X.T, out=out)
        out *= 2
        out -= squares
        out -= np.einsum("ij,ij->i", some, some)[:, None]
        out *= gamma
        np.exp(np.minimum(out, 0, out=out), out=out)
    return K


def certified(case: Case, tol: float, cache_size: float) -> SVC:
    return SVC(
        C=case.C, gamma=case.gamma, fit_intercept=case.fit_intercept, tol=tol, cache_size=cache_size, random_state=0
    ).fit(case.X, case.y)


def nu_of(case: Case, model: Any) -> float:
    """The mean loss over the norm of w."""
    value = evaluate(case, model.support_, model.dual_coef_, case.fit_intercept)
    return value.loss / len(case.y) / math.sqrt(value.squared_norm)


def points_of(case: Case, arguments: argparse.Namespace) -> Iterator[Point]:
    """All points of one problem, solver by solver."""
    print(f"\n{case}", flush=True)
    figure = Figure(case, arguments.epochs)
    perceptron_epochs = arguments.perceptron_epochs if case.name == "adult" else arguments.epochs
    for seed in range(arguments.seeds):
        runs = {
            "SBP": figure.sbp(seed),
            "Pegasos": figure.pegasos(seed),
            "SDCA": figure.sdca(seed),
            "SMO, ours": figure.smo(seed),
            "Perceptron": figure.perceptron(seed, perceptron_epochs),
        }
        if seed == 0:  # nothing in it is random
            runs["SMO of one variable"] = figure.smo_of_one_variable(arguments.time_cap)
        for name, run in runs.items():
            started, made = time.perf_counter(), list(run)
            yield from made
            end = f"{made[-1].evaluations:.3g} kernel evaluations, error {made[-1].error:.2%}" if made else "none"
            print(f"  seed {seed}, {name}: {end}, {time.perf_counter() - started:.1f} s", flush=True)


def make_figure(cases: Sequence[Case], arguments: argparse.Namespace, folder: Path) -> None:
    """Fig. 2: points, table, plot."""
    points: list[Point] = []
    file = folder / "reproduce_s4.csv"
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [field.name for field in fields(Point)])
        writer.writeheader()
        for case in cases:
            for point in points_of(case, arguments):
                points.append(point)
                writer.writerow(asdict(point))
    text = figure_table(points, {case.name: len(case.y) for case in cases})
    print(f"\nTest error with at most so many kernel evaluations, as ratios to n^2\n\n{text}")
    (folder / "reproduce_s4_figure.md").write_text(text + "\n")
    plot(points, folder / "reproduce_s4.png")


def figure_table(points: Sequence[Point], sizes: dict[str, int]) -> str:
    """The mean error over seeds, each at its last point that is not beyond the count."""
    rows = ["| data | solver | " + " | ".join(f"{column:g}" for column in COLUMNS) + " |"]
    rows.append("|" + (2 + len(COLUMNS)) * "---|")
    for data, n in sizes.items():
        for solver in SOLVERS:
            cells = []
            for column in COLUMNS:
                last: dict[int, Point] = {}
                for point in points:
                    if (point.data, point.solver) == (data, solver) and point.evaluations <= column * n * n:
                        last[point.seed] = point
                errors = [point.error for point in last.values()]
                cells.append(f"{statistics.mean(errors):.2%}" if errors else "")
            rows.append(f"| {data} | {solver} | {' | '.join(cells)} |")
    return "\n".join(rows)


def plot(points: Sequence[Point], file: Path) -> None:
    """A panel for each problem; the Perceptron is dashed after its first pass, as in S4."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(point.data for point in points))
    figure, axes = pyplot.subplots(1, len(names), figsize=(6 * len(names), 4.5), squeeze=False, layout="constrained")
    for name, axis in zip(names, axes[0], strict=True):
        for number, solver in enumerate(SOLVERS):
            mine = [point for point in points if (point.data, point.solver) == (name, solver)]
            means = mean_points(mine)
            later = [point for point in means if point.epochs >= 1] if solver == "Perceptron" else []
            first = [point for point in means if point.epochs <= 1] if later else means
            for style, part, label in (("-", first, solver), ("--", later, None)):
                counts, errors = [point.evaluations for point in part], [100 * point.error for point in part]
                axis.plot(counts, errors, style, color=f"C{number}", marker=".", label=label)
        lowest = min((point.error for point in points if point.data == name), default=0)
        axis.set(xscale="log", title=name, xlabel="kernel evaluations", ylabel="test error, %")
        axis.set_ylim(90 * lowest, max(300 * lowest, 100 * lowest + 5))
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize="small")
    figure.savefig(file, dpi=120)
    pyplot.close(figure)


def mean_points(points: Sequence[Point]) -> list[Point]:
    """Means over seeds of the points of the same budget; of runs without one, of the same place in the order."""
    groups: dict[int, list[Point]] = {}
    for seed in {point.seed for point in points}:
        mine = [point for point in points if point.seed == seed]
        for place, point in enumerate(reversed(mine)):
            groups.setdefault(place, []).append(point)
    return [
        replace(
            group[0],
            epochs=statistics.mean(point.epochs for point in group),
            evaluations=round(statistics.geometric_mean(max(1, point.evaluations) for point in group)),
            error=statistics.mean(point.error for point in group),
        )
        for _, group in sorted(groups.items(), reverse=True)
    ]


def race(cases: Sequence[tuple[Case, float]], arguments: argparse.Namespace, folder: Path) -> None:
    """The wall-clock claim: SBP with S4's nu, and one that finds a nu for C as it goes."""
    rows = [
        "| problem | LIBSVM, s | its error | SBP | s | error, each | difference, points | ratio of times | published |",
        "|" + 9 * "---|",
    ]
    for case, known in cases:
        X, X_test = as_kind(case.X, "dense float64"), as_kind(case.X_test, "dense float64")
        started = time.perf_counter()
        peer = Libsvm(C=case.C, gamma=case.gamma, cache_size=arguments.cache_size).fit(X, case.y)
        theirs = time.perf_counter() - started
        their_error = 100 * (1 - peer.score(X_test, case.y_test))
        published = " and ".join(f"{error:g}%" for error in WALL_CLOCK.get(case.name, ()))
        for nu in (None,) if math.isnan(known) else (known, None):
            errors, times = [], []
            for seed in range(arguments.seeds):
                model = SVC(
                    C=case.C,
                    gamma=case.gamma,
                    solver=SBP(nu=nu),
                    tol=0,
                    max_iter=10**6,
                    max_time=theirs / 4,
                    cache_size=arguments.cache_size,
                    random_state=seed,
                )
                started = time.perf_counter()
                model.fit(case.X, case.y)
                times.append(time.perf_counter() - started)
                errors.append(100 * (1 - model.score(case.X_test, case.y_test)))
            error, ours = statistics.mean(errors), max(times)
            each = ", ".join(f"{one:.2f}" for one in errors)
            rows.append(
                f"| {case} | {theirs:.2f} | {their_error:.2f}% | {f'nu = {nu:g}' if nu else 'nu for C'} | {ours:.2f} "
                f"| {error:.2f}% ({each}) | {error - their_error:+.2f} | {ours / theirs:.2f} | {published} |"
            )
            print(rows[-1], flush=True)
    write(rows, "SBP in a quarter of LIBSVM's time", folder / "reproduce_s4_wall_clock.md")


def check_anchors(
    cases: Sequence[Case], published: Sequence[float], arguments: argparse.Namespace, folder: Path
) -> None:
    """nu of Table 2."""
    rows = ["| problem | published nu | nu | ratio | gap | test error | LIBSVM's nu |", "|" + 7 * "---|"]
    for case, known in zip(cases, published, strict=True):
        model = certified(case, arguments.tol, arguments.cache_size)
        nu = nu_of(case, model)
        error = 1 - model.score(case.X_test, case.y_test)
        theirs = ""
        if (case.name in ("adult", "synthetic")) and case.fit_intercept:
            X = as_kind(case.X, "dense float64")
            peer = Libsvm(C=case.C, gamma=case.gamma, cache_size=arguments.cache_size).fit(X, case.y)
            theirs = f"{nu_of(case, peer):.4g}"
        rows.append(
            f"| {case} | {known:g} | {nu:.4g} | {nu / known:.3f} | {model.certificate_.gap:.1e} | {error:.2%} "
            f"| {theirs} |"
        )
        print(rows[-1], flush=True)
    write(rows, "nu at the optimum", folder / "reproduce_s4_anchors.md")


def write(rows: Sequence[str], title: str, file: Path) -> None:
    text = "\n".join(rows)
    print(f"\n{title}\n\n{text}", flush=True)
    file.write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data without published numbers, to see that it runs")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--data", nargs="+", default=list(TABLE_2), choices=list(TABLE_2))
    parser.add_argument("--epochs", type=float, default=10)
    parser.add_argument("--perceptron-epochs", type=float, default=100, help="of the Perceptron on Adult, as in S4")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tol", type=float, default=1e-4, help="gap of the anchors")
    parser.add_argument("--cache-size", type=float, default=4_000, help="megabytes of the kernel matrix kept, for all")
    parser.add_argument("--time-cap", type=float, default=1_800, help="seconds of the SMO written here")
    parser.add_argument("--output", type=Path, help="folder of tables, points and plot; default: results, beside this")
    arguments = parser.parse_args()
    folder = results_folder(arguments.output, arguments.tiny)
    warnings.simplefilter("ignore", ConvergenceWarning)  # budgets are meant to end fits
    settings = {name: TABLE_2[name] for name in arguments.data}
    if arguments.tiny:
        settings = {"synthetic": [(0.02, 1.0, False, math.nan), (0.02, 10.0, True, math.nan)]}
        arguments.epochs, arguments.seeds = 2, 2

    print_machine()
    cases = [
        (replace(case, gamma=gamma, C=C, fit_intercept=bias), nu)
        for name, known in settings.items()
        if (case := load_case(name, 300)) is not None
        for gamma, C, bias, nu in known
    ]
    if "anchors" in arguments.parts:
        check_anchors([case for case, _ in cases], [nu for _, nu in cases], arguments, folder)
    if "wall-clock" in arguments.parts:
        race([(case, nu) for case, nu in cases if case.fit_intercept], arguments, folder)
    if "figure" in arguments.parts:
        make_figure([case for case, _ in cases if not case.fit_intercept], arguments, folder)
    print_machine()


if __name__ == "__main__":
    main()
