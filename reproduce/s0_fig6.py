"""S0 Fig. 6: how far Pegasos and SDCA are from the optimum after so many steps, by lambda."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from reproduce.common.charts import Chart, Curve, Panel
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
from reproduce.common.linear import sub
from reproduce.s0_table2 import machine

DATA = {"digits8": "digits", "reuters": "Reuters"}
LAMBDAS = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
EPOCHS = (1, 4, 16)
MODERATE = 1e-4  # the least lambda that S0 calls so: about that of its Table 2
LEVEL = 5  # as far as this, and distances are comparable
UNHARMED = 3  # as far as this, and a smaller lambda does no harm


def jobs(mode: Mode) -> Iterable[Job]:
    def measure(name: str, lam: float) -> Any:
        of = machine(name, mode)
        C, n = 1 / (lam * of.n), of.n
        best = of.optimum(C=C)
        points = []
        for epochs in EPOCHS:
            steps = epochs * n
            walk = solver("pegasos", max_steps=steps, average="last", sampling="replace")
            for seed in range(mode(3, 1, 1)):
                both = {"Pegasos": of.solve(walk, seed, C=C), "SDCA": of.coordinate_ascent(steps, seed, C=C)}
                for method, found in both.items():
                    points.append({"method": method, "epochs": epochs, "objective": lam * of.value(found)})
        return {**best, "points": points}

    for name in DATA:
        for lam in LAMBDAS:
            yield Job(f"{name}/{lam:g}", lambda _, name=name, lam=lam: measure(name, lam))


def away(result: Mapping[str, Any], method: str, epochs: int) -> float:
    """The median over seeds."""
    chosen = [p for p in result["points"] if p["method"] == method and p["epochs"] == epochs]
    return float(np.median([sub(point, result) for point in chosen]))


def report(found: Mapping[str, Any]) -> Report:
    panels, claims = [], []
    for name, title in DATA.items():
        known = [lam for lam in LAMBDAS if f"{name}/{lam:g}" in found]
        if known:
            curves = [
                Curve(
                    f"{method}, {epochs} n steps",
                    known,
                    [away(found[f"{name}/{lam:g}"], method, epochs) for lam in known],
                    dashed=method == "SDCA",
                    color=number,
                )
                for method in ("Pegasos", "SDCA")
                for number, epochs in enumerate(EPOCHS)
            ]
            panels.append(Panel(title, "lambda", "above the optimum", curves, log_y=True))
        claims += claims_on(found, name, title)
    notes = (
        "S0 has USPS. Medians of three seeds; the last iterate of Pegasos, and the optimum certified to 0.01%. "
        f"Distances are at most that much too large. They are comparable within a factor of {LEVEL}; SDCA does not "
        f"suffer if it is at most {UNHARMED} times as far at 1e-7 as at 1e-4. It is much better behaved if Pegasos is "
        f"at least 10 times as far as SDCA at 1e-7, and that is {UNHARMED} times what it is at 1e-4."
    )
    charts = [Chart("s0_fig6", "Distance from the optimum by lambda", panels)] if panels else []
    return Report(claims, charts=charts, notes=notes)


def claims_on(found: Mapping[str, Any], name: str, title: str) -> list[Claim]:
    needs = [f"{name}/{lam:g}" for lam in LAMBDAS]

    def slope(*results: Any) -> tuple[str, str, str]:
        x = np.log(LAMBDAS)
        powers = [np.polyfit(x, np.log([away(r, "Pegasos", epochs) for r in results]), 1)[0] for epochs in EPOCHS]
        steps = ", ".join(f"{power:.2f} after {epochs} n" for power, epochs in zip(powers, EPOCHS, strict=True))
        measured = f"powers of {steps} steps"
        if all(-1.3 <= power <= -0.7 for power in powers):  # the claim is for any fixed number of steps
            return measured, WITH_A_DIFFERENCE, f"on {title}, not USPS"
        missed = [f"{epochs} n" for power, epochs in zip(powers, EPOCHS, strict=True) if not -1.3 <= power <= -0.7]
        return measured, FAILED, f"not a power of -0.7 to -1.3 after {', '.join(missed)} steps; on {title}, not USPS"

    def nearer(result: Any, epochs: int) -> float:
        """How many times as far Pegasos is as SDCA."""
        return away(result, "Pegasos", epochs) / away(result, "SDCA", epochs)

    def comparable(*results: Any) -> tuple[str, str, str]:
        chosen = [result for lam, result in zip(LAMBDAS, results, strict=True) if lam >= MODERATE]
        worst = {
            epochs: max((nearer(result, epochs) for result in chosen), key=lambda ratio: abs(np.log(ratio)))
            for epochs in EPOCHS
        }
        measured = "SDCA up to " + ", ".join(f"{ratio:.3g} times nearer after {e} n" for e, ratio in worst.items())
        if all(1 / LEVEL <= ratio <= LEVEL for ratio in worst.values()):
            return measured, WITH_A_DIFFERENCE, f"on {title}, not USPS"
        return measured, FAILED, f"more than {LEVEL} times; on {title}, not USPS"

    def unharmed(*results: Any) -> tuple[str, str, str]:
        least, moderate = results[0], results[LAMBDAS.index(MODERATE)]
        grown = {epochs: away(least, "SDCA", epochs) / away(moderate, "SDCA", epochs) for epochs in EPOCHS}
        measured = "as far at 1e-7 as at 1e-4: " + ", ".join(f"{g:.3g} times after {e} n" for e, g in grown.items())
        if max(grown.values()) <= UNHARMED:
            return measured, WITH_A_DIFFERENCE, f"on {title}, not USPS"
        return measured, FAILED, f"more than {UNHARMED} times as far; on {title}, not USPS"

    def behaved(*results: Any) -> tuple[str, str, str]:
        pairs = [(nearer(results[0], e), nearer(results[LAMBDAS.index(MODERATE)], e)) for e in EPOCHS]
        told = [f"{small:.3g} and {level:.3g} after {e} n" for e, (small, level) in zip(EPOCHS, pairs, strict=True)]
        measured = f"times nearer at 1e-7 and at 1e-4: {', '.join(told)}"
        if all(small >= 10 and small >= UNHARMED * level for small, level in pairs):
            return measured, WITH_A_DIFFERENCE, f"on {title}, not USPS"
        return measured, FAILED, f"not more so than at 1e-4 after every number of steps; on {title}, not USPS"

    text = f"After a fixed number of steps the distance of Pegasos is inversely proportional to lambda ({title})"
    level = f"Pegasos and SDCA are comparable at moderate lambda, here 1e-4 and more ({title})"
    same = f"SDCA does not suffer from small lambda ({title})"
    better = f"SDCA is much better behaved than Pegasos when lambda is very small ({title})"
    return [
        judged(found, needs, text, "a power of -1", slope),
        judged(found, needs, level, "comparable", comparable),
        judged(found, needs, same, "by the figure", unharmed),
        judged(found, needs, better, "much better behaved", behaved),
    ]


EXPERIMENT = Experiment("s0_fig6", "S0 Fig. 6: the regularisation parameter", jobs, report, expensive=2)

if __name__ == "__main__":
    main(EXPERIMENT)
