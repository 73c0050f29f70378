"""S0 Fig. 7: the size k of mini-batches, at a fixed amount kT of work."""

from collections.abc import Iterable, Mapping
from typing import Any

from reproduce.common.charts import Chart, Curve, Panel
from reproduce.common.data import split
from reproduce.common.experiment import (
    FAILED,
    WITH_A_DIFFERENCE,
    Claim,
    Experiment,
    Job,
    Mode,
    Report,
    judged,
    main,
    solver,
)
from reproduce.common.linear import Budgeted, fit, median, optimum, sub

#: What stands for S0's data, and lambda.
DATA = {"text": ("made-up text for astro-ph", 5e-5), "rcv1": ("RCV1 subset for CCAT", 1e-4)}
SIZES = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384)
WORK = (2**15, 2**18, 2**21)


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(name: str, work: int) -> Any:
        data, lam = split(name, mode), DATA[name][1]
        points = []
        for k in SIZES:
            if k > min(work, len(data.y)):
                continue
            for seed in range(mode(3, 1, 1)):
                walk = solver("pegasos", batch_size=k, max_steps=work // k, average="last", sampling="replace")
                points.append({"k": k, "objective": fit(data, lam, Budgeted(walk), seed).objective})
        return points

    for name, (_, lam) in DATA.items():
        yield Job(f"{name}/optimum", lambda _, name=name, lam=lam: optimum(split(name, mode), lam))
        for work in WORK:
            yield Job(f"{name}/{work}", lambda _, name=name, work=work: measure(name, work // mode(1, 8, 64)))


def away(points: Any, best: Mapping[str, float]) -> dict[int, float]:
    """The median over seeds, by k."""
    return {k: median(sub(p, best) for p in points if p["k"] == k) for k in sorted({p["k"] for p in points})}


def report(found: Mapping[str, Any]) -> Report:
    panels, claims = [], []
    for name, (title, _) in DATA.items():
        by_work = {w: away(found[f"{name}/{w}"], found[f"{name}/optimum"]) for w in WORK if f"{name}/{w}" in found}
        if by_work:
            left = [Curve(f"kT = 2^{w.bit_length() - 1}", list(by), list(by.values())) for w, by in by_work.items()]
            panels.append(Panel(title, "k", "above the optimum", left, log_y=True))
            sizes = [k for k in (256, 1_024, 4_096) if all(k in by for by in by_work.values())]
            right = [Curve(f"k = {k}", list(by_work), [by[k] for by in by_work.values()]) for k in sizes]
            panels.append(Panel(title, "kT", "above the optimum", right, log_y=True))
        claims += claims_on(found, name, title)
    notes = "Medians of three seeds, of the last iterate. astro-ph is not available, and of CCAT a part is."
    charts = [Chart("s0_fig7", "Distance from the optimum by size of mini-batches", panels, across=2)] if panels else []
    return Report(claims, charts=charts, notes=notes)


def claims_on(found: Mapping[str, Any], name: str, title: str) -> list[Claim]:
    needs = [f"{name}/{what}" for what in ("optimum", *WORK)]

    def flat(best: Any, *points: Any) -> tuple[str, str, str]:
        by = away(points[-1], best)
        ratio = max(by[k] / by[1] for k in by if k <= 256)
        measured = f"for k up to 256 at most {ratio:.3g} times that of k = 1, at kT = 2^21"
        if ratio <= 2:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    def fading(best: Any, *points: Any) -> tuple[str, str, str]:
        rows = [away(one, best) for one in points]
        large = max(k for k in rows[0] if k <= 4_096)
        ratios = [by[large] / by[1] for by in rows]
        measured = f"k = {large} against k = 1: " + ", ".join(f"{ratio:.3g}" for ratio in ratios) + " times"
        if ratios[0] > 2 and ratios[-1] < ratios[0] / 2:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    text = f"At a fixed kT, k up to a few hundred makes little difference ({title})"
    other = f"A k that is too large costs accuracy at first, and less as kT grows ({title})"
    return [
        judged(found, needs, text, "roughly horizontal curves", flat),
        judged(found, needs, other, "the curves meet", fading),
    ]


EXPERIMENT = Experiment("s0_fig7", "S0 Fig. 7: mini-batches", jobs, report)

if __name__ == "__main__":
    main(EXPERIMENT)
