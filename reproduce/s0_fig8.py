"""S0 Fig. 8: draws with replacement, one permutation kept, and a new permutation for each epoch."""

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
from reproduce.common.linear import Budgeted, budgets, fit, median, optimum, sub
from reproduce.s0_fig7 import DATA

ORDERS = {"replace": "with replacement", "fixed": "one permutation", "permute": "new permutations"}


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(name: str, order: str) -> Any:
        data, lam = split(name, mode), DATA[name][1]
        points = []
        for epochs in budgets(1, mode(64, 16, 4)):
            for seed in range(mode(5, 2, 1)):
                walk = solver("pegasos", max_steps=epochs * len(data.y), average="last", sampling=order)
                points.append({"epochs": epochs, "objective": fit(data, lam, Budgeted(walk), seed).objective})
        return points

    for name, (_, lam) in DATA.items():
        yield Job(f"{name}/optimum", lambda _, name=name, lam=lam: optimum(split(name, mode), lam))
        for order in ORDERS:
            yield Job(f"{name}/{order}", lambda _, name=name, order=order: measure(name, order))


def away(points: Any, best: Mapping[str, float]) -> dict[int, float]:
    """The median over seeds, by epochs."""
    return {e: median(sub(p, best) for p in points if p["epochs"] == e) for e in sorted({p["epochs"] for p in points})}


def report(found: Mapping[str, Any]) -> Report:
    panels, claims = [], []
    for name, (title, _) in DATA.items():
        known = {
            order: away(found[f"{name}/{order}"], found[f"{name}/optimum"])
            for order in ORDERS
            if f"{name}/{order}" in found
        }
        if known:
            curves = [Curve(ORDERS[order], list(by), list(by.values())) for order, by in known.items()]
            panels.append(Panel(title, "epochs", "above the optimum", curves, log_y=True))
        claims += claims_on(found, name, title)
    charts = [Chart("s0_fig8", "Distance from the optimum by order of visits", panels)] if panels else []
    return Report(claims, charts=charts, notes="Medians of five seeds, of the last iterate.")


def claims_on(found: Mapping[str, Any], name: str, title: str) -> list[Claim]:
    needs = [f"{name}/{what}" for what in ("optimum", *ORDERS)]

    def without(best: Any, *points: Any) -> tuple[str, str, str]:
        draws, fixed, new = (away(one, best) for one in points)
        ratios = [draws[e] / max(fixed[e], new[e]) for e in draws if e >= 2]
        measured = f"{min(ratios):.3g} to {max(ratios):.3g} times nearer from the second epoch on"
        if median(ratios) > 1.2:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    def renewed(best: Any, *points: Any) -> tuple[str, str, str]:
        _, fixed, new = (away(one, best) for one in points)
        ratios = [fixed[e] / new[e] for e in fixed if e >= 2]
        measured = f"{min(ratios):.3g} to {max(ratios):.3g} times nearer, median {median(ratios):.3g}"
        if median(ratios) > 1:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    text = f"Visits without replacement are nearer to the optimum than draws ({title})"
    other = f"A new permutation for each epoch is slightly better than one that is kept ({title})"
    return [
        judged(found, needs, text, "significantly better", without),
        judged(found, needs, other, "slightly better", renewed),
    ]


EXPERIMENT = Experiment("s0_fig8", "S0 Fig. 8: the order of visits", jobs, report)

if __name__ == "__main__":
    main(EXPERIMENT)
