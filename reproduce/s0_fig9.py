"""S0 Fig. 9: Pegasos beside Norma and beside steps of a constant size."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

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
from reproduce.common.linear import Budgeted, budgets, fit, optimum

LAMBDA = 2e-4
DATA = {"text": "made-up text for astro-ph", "rcv1": "RCV1 subset"}
ETAS = (1e-5, 0.001, 0.01, 0.1, 1, 10)


def methods(steps: int) -> dict[str, Any]:
    options: dict[str, Any] = {"max_steps": steps, "sampling": "replace", "average": "last"}
    return {
        "Pegasos": solver("pegasos", project=True, **options),
        "Norma": solver("norma", **options),
        **{f"eta {eta:g}": solver("constant-step", eta=eta, **options) for eta in ETAS},
    }


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(name: str, method: str) -> Any:
        data, points = split(name, mode), []
        for steps in budgets(1_000, mode(1_100_000, 40_000, 4_000), 10**0.5):
            found = fit(data, LAMBDA, Budgeted(methods(steps)[method]))
            loss = float(np.maximum(0, 1 - data.y_test * (data.X_test @ found.w)).mean())
            points.append({"steps": steps, "objective": found.objective, "test_loss": loss})
        return points

    for name in DATA:
        yield Job(f"{name}/optimum", lambda _, name=name: optimum(split(name, mode), LAMBDA))
        for method in methods(1):
            yield Job(f"{name}/{method}", lambda _, name=name, method=method: measure(name, method))


def report(found: Mapping[str, Any]) -> Report:
    panels, claims = [], []
    for name, title in DATA.items():
        known = {method: found[f"{name}/{method}"] for method in methods(1) if f"{name}/{method}" in found}
        if known and f"{name}/optimum" in found:
            low = found[f"{name}/optimum"]["dual"]
            left = [
                Curve(label, [p["steps"] for p in known[m]], [p[what] for p in known[m]], dashed=dashed, color=color)
                for color, m in enumerate(("Pegasos", "Norma"))
                for what, label, dashed in (("objective", m, False), ("test_loss", f"{m}, test loss", True))
                if m in known
            ]
            panels.append(Panel(title, "steps", "objective; test loss", left, log_y=True))
            others = [m for m in known if m != "Norma"]
            right = [Curve(m, [p["steps"] for p in known[m]], [p["objective"] for p in known[m]]) for m in others]
            panels.append(Panel(title, "steps", "objective", right, log_y=True, y_limits=(0.9 * low, 5 * low)))
        claims += claims_on(found, name, title)
    charts = [Chart("s0_fig9", "Pegasos beside Norma and constant steps", panels, across=2)] if panels else []
    notes = "lambda = 2e-4, the last iterate, one seed. astro-ph is not available."
    return Report(claims, charts=charts, notes=notes)


def claims_on(found: Mapping[str, Any], name: str, title: str) -> list[Claim]:
    def excess(points: Any, best: Mapping[str, float]) -> float:
        return points[-1]["objective"] / best["dual"] - 1

    def norma(best: Any, pegasos: Any, other: Any) -> tuple[str, str, str]:
        ours, theirs = excess(pegasos, best), excess(other, best)
        measured = f"{ours:.2%} and {theirs:.2%} above the optimum after {pegasos[-1]['steps']:,} steps"
        if ours < theirs / 2:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    def fails(best: Any, other: Any) -> tuple[str, str, str]:
        theirs = excess(other, best)
        measured = f"{theirs:.2%} above the optimum"
        return measured, *(
            (WITH_A_DIFFERENCE, "on other data than S0's") if theirs > 0.1 else (FAILED, "it has on these data")
        )

    def constant(best: Any, pegasos: Any, *others: Any) -> tuple[str, str, str]:
        ours, theirs = excess(pegasos, best), [excess(one, best) for one in others]
        good = [f"{eta:g}" for eta, one in zip(ETAS, theirs, strict=True) if one <= 2 * ours + 0.01]
        bad = [f"{eta:g}" for eta, one in zip(ETAS, theirs, strict=True) if one > 10 * ours + 0.01]
        measured = f"as near: eta {', '.join(good) or 'none'}; more than ten times as far: {', '.join(bad) or 'none'}"
        if good and bad and "1e-05" in bad:
            return measured, WITH_A_DIFFERENCE, "on other data than S0's"
        return measured, FAILED, "not so on these data"

    some = [f"{name}/{what}" for what in ("optimum", "Pegasos")]
    return [
        judged(found, [*some, f"{name}/Norma"], f"Pegasos outperforms Norma ({title})", "by the figure", norma),
        judged(
            found,
            [f"{name}/optimum", f"{name}/Norma"],
            f"Norma has not converged after a million steps ({title})",
            "not converged",
            fails,
        ),
        judged(
            found,
            [*some, *(f"{name}/eta {eta:g}" for eta in ETAS)],
            f"Some constant steps do as well as Pegasos, others fail, 1e-5 among them ({title})",
            "some do, some fail",
            constant,
        ),
    ]


EXPERIMENT = Experiment("s0_fig9", "S0 Fig. 9: other step sizes", jobs, report)

if __name__ == "__main__":
    main(EXPERIMENT)
