"""S2 Fig. 4: the objective by the size k of batches, at a fixed amount kT of work."""

from collections.abc import Iterable, Mapping
from typing import Any

from reproduce.common.charts import Chart, Curve, Panel
from reproduce.common.data import split
from reproduce.common.experiment import FAILED, WITH_A_DIFFERENCE, Experiment, Job, Mode, Report, judged, main
from reproduce.common.linear import fit, median, optimum
from reproduce.s2_fig2 import LAMBDA, NOTES, walk

SIZES = (1, 8, 64, 512, 2_048, 8_192)
WORK = (2**17, 2**19, 2**21)


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(work: int, counted: bool) -> Any:
        data, points = split("rcv1", mode), []
        for k in SIZES[: mode(6, 6, 4)]:
            for seed in range(mode(3, 1, 1)):
                how = walk(work // k, mode, batch_size=k, count_idle_steps=counted)
                points.append({"k": k, "objective": fit(data, LAMBDA, how, seed).objective})
        return points

    yield Job("optimum", lambda _: optimum(split("rcv1", mode), LAMBDA, tol=1e-6))
    for work in WORK:
        less = work // mode(1, 8, 256)
        yield Job(f"kT {work}", lambda _, less=less: measure(less, True))
        yield Job(f"idle steps not counted, kT {work}", lambda _, less=less: measure(less, False))


def by_size(points: Any) -> dict[int, float]:
    return {k: median(p["objective"] for p in points if p["k"] == k) for k in sorted({p["k"] for p in points})}


def report(found: Mapping[str, Any]) -> Report:
    curves = []
    for number, work in enumerate(WORK):
        for key, dashed in ((f"kT {work}", False), (f"idle steps not counted, kT {work}", True)):
            if key in found and "optimum" in found:
                by = {k: value / found["optimum"]["dual"] - 1 for k, value in by_size(found[key]).items()}
                label = f"kT = 2^{work.bit_length() - 1}" + (", idle steps not counted" if dashed else "")
                curves.append(Curve(label, list(by), list(by.values()), dashed=dashed, color=number))
    needs = [f"kT {work}" for work in WORK]
    subset = "on a part of RCV1"

    def ordered(*points: Any) -> tuple[str, str, str]:
        rows = [by_size(one) for one in points]
        always = all(rows[i + 1][k] <= rows[i][k] * 1.0005 for i in range(2) for k in rows[0])
        measured = "everywhere" if always else "not everywhere"
        return measured, WITH_A_DIFFERENCE if always else FAILED, subset

    def small(best: Any, *points: Any) -> tuple[str, str, str]:
        rows = [by_size(one) for one in points]
        excess = [(row[1] / best["dual"] - 1, min(row.values()) / best["dual"] - 1) for row in rows]
        measured = "; ".join(f"k = 1: {one:.2%} above the optimum, best k: {other:.2%}" for one, other in excess)
        slower = all(one > 1.3 * other for one, other in excess)
        if slower:
            return measured, WITH_A_DIFFERENCE, subset
        return measured, FAILED, f"k = 1 is about as near as the best k, as S0 found; {subset}"

    def uncounted(best: Any, *points: Any) -> tuple[str, str, str]:
        plain, other = by_size(points[0])[1] / best["dual"] - 1, by_size(points[1])[1] / best["dual"] - 1
        measured = f"k = 1, kT = 2^21: {plain:.2%} with, {other:.2%} without counting them"
        if other < plain:
            return measured, WITH_A_DIFFERENCE, subset
        return measured, FAILED, f"counting them is better here; {subset}"

    claims = [
        judged(found, needs, "A larger kT is better at every k", "always", ordered),
        judged(found, ["optimum", *needs], "A k that is too small slows convergence down", "by the figure", small),
        judged(
            found,
            ["optimum", needs[-1], f"idle steps not counted, {needs[-1]}"],
            "Not counting steps without a violation can improve convergence at small k (section 4.5)",
            "improves, and remains slower",
            uncounted,
        ),
    ]
    chart = Chart(
        "s2_fig4",
        "The objective by size of batches",
        [Panel("", "k", "above the optimum, relative", curves, log_y=True)],
    )
    return Report(claims, charts=[chart] if curves else [], notes=f"Medians of three seeds. {NOTES}")


EXPERIMENT = Experiment("s2_fig4", "S2 Fig. 4: k and T", jobs, report)

if __name__ == "__main__":
    main(EXPERIMENT)
