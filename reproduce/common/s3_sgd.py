"""S3 Tables 2, 4 and 6: the SGD algorithms to 1% of the optimum, for one C each."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from reproduce.common.charts import Chart, Curve, Panel
from reproduce.common.experiment import (
    FAILED,
    REPRODUCED,
    WITH_A_DIFFERENCE,
    Claim,
    Experiment,
    Job,
    Mode,
    Report,
    Table,
    judged,
)
from reproduce.common.passes import (
    DATA,
    by_passes,
    known_optimum,
    other_rows,
    passes_claim,
    seconds_to,
    stochastic,
)

METHODS = {"Pegasos": "pegasos", "SGD-r": "sgd-r", "SGD-s": "sgd-s", "SGD-m": "sgd-m"}

#: By data and method: passes, seconds, and the bound where the method has one; None: it failed.
Published = Mapping[str, Mapping[str, tuple[int, float, float | None] | None]]


def experiment(table: int, C: float, published: Published) -> Experiment:
    """The table of this number."""

    def jobs(mode: Mode) -> Iterable[Job]:
        for name in DATA:
            yield Job(f"{name}/optimum", lambda _, name=name: known_optimum(name, C, mode))
            for shown, method in METHODS.items():
                known = published[name][shown]
                expected = known[0] if known else published[name]["SGD-r"][0]

                def measure(
                    found: Mapping[str, Any], name: str = name, method: str = method, expected: int = expected
                ) -> Any:
                    best, passes = found[f"{name}/optimum"], mode(expected, min(expected, 30), 5)
                    if method in ("sgd-s", "sgd-m"):
                        return stochastic(name, C, method, best, passes, mode)
                    options = {"average": "last", "sampling": "replace"} if method == "pegasos" else {}
                    return seconds_to(name, C, best, by_passes(C, method, 3 * passes + 5, **options), mode)

                yield Job(f"{name}/{shown}", measure)

    def report(found: Mapping[str, Any]) -> Report:
        rows, claims = [], []
        for name, title in DATA.items():
            for shown in METHODS:
                known, run = published[name][shown], found.get(f"{name}/{shown}")
                eps = known[2] if known else None
                told = f"{known[0]} passes, {known[1]:g} s" + (f", bound {eps:g}" if eps else "") if known else "failed"
                rows.append([title, shown, told, cell(run)])
                if known:
                    claims.append(passes_claim(found, name, shown, known[0], eps, f"{name}/{shown}"))
            claims.append(order_claim(found, name, published))
        claims.append(other_rows())
        chart = chart_of(found, table, C, published)
        notes = (
            f"C = {C:g}, no intercept. Passes of SGD-s and SGD-m are medians of three seeds; those of Pegasos and "
            "SGD-r, of one seed, the first of a series of budgets, each 1.2 times the one before, that is within 1%. "
            "Seconds are processor seconds of one fit by one thread, validation included."
        )
        return Report(claims, [Table(["data", "method", "S3", "measured"], rows)], [chart] if chart else [], notes)

    title = f"S3 Table {table}: SGD algorithms, C = {C:g}"
    return Experiment(f"s3_table{table}", title, jobs, report, expensive=3 if C <= 1 else 6)


def passes_of(run: Mapping[str, Any] | None) -> float | None:
    return None if run is None else run["passes"] if "passes" in run else run["setting"]


def cell(run: Mapping[str, Any] | None) -> str:
    passes = passes_of(run)
    if run is None or passes is None:
        return "-" if run is None else f"not within {run['tried']:g} passes"
    bound = f", bound {run['eps']:.3f}" if "eps" in run else ""
    return f"{passes:g} passes, {run['seconds']:.2g} s{bound}"


def order_claim(found: Mapping[str, Any], name: str, published: Published) -> Claim:
    text = f"Training time falls from Pegasos over SGD-r and SGD-s to SGD-m, {DATA[name]}"
    seconds = [known[1] if known else None for known in (published[name][m] for m in METHODS)]
    told = ", ".join(f"{one:g} s" if one else "failed" for one in seconds)

    def judge(*runs: Mapping[str, Any]) -> tuple[str, str, str]:
        times = [run["seconds"] if passes_of(run) is not None else float("inf") for run in runs]
        measured = ", ".join(f"{one:.2g} s" for one in times)
        if all(later <= 1.05 * before for before, later in pairwise(times)):
            return measured, REPRODUCED, ""
        if min(times[2:]) <= min(times[:2]):
            return measured, WITH_A_DIFFERENCE, "SGD-s or SGD-m is the fastest, but not all are in this order"
        return measured, FAILED, "SGD-s and SGD-m, which evaluate the objective to stop, are not the fastest here"

    return judged(found, [f"{name}/{method}" for method in METHODS], text, told, judge)


def chart_of(found: Mapping[str, Any], table: int, C: float, published: Published) -> Chart | None:
    """Passes, published beside measured."""
    panels = []
    for name, title in DATA.items():
        runs = {method: passes_of(found.get(f"{name}/{method}")) for method in METHODS}
        known = {method: published[name][method] for method in METHODS}
        if any(runs.values()):
            places = range(len(METHODS))
            theirs = [known[method][0] if known[method] else 0 for method in METHODS]
            ours = [runs[method] or 0 for method in METHODS]
            bars = [Curve("S3", places, theirs, dashed=True), Curve("measured", places, ours)]
            panels.append(Panel(f"{title}, C = {C:g}", "", "passes to 1%", bars, bars=list(METHODS)))
    return Chart(f"s3_table{table}", f"Passes to 1% of the optimum, C = {C:g}", panels) if panels else None
