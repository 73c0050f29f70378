"""S0 Fig. 4: distance from the optimum and test error of linear machines as time goes on."""

from collections.abc import Mapping, Sequence
from typing import Any

from reproduce.common.charts import Chart
from reproduce.common.data import STAND_INS, TITLES
from reproduce.common.experiment import (
    FAILED,
    REPRODUCED,
    WITH_A_DIFFERENCE,
    Experiment,
    Report,
    judged,
    main,
    on_other_data,
)
from reproduce.common.linear import sub
from reproduce.common.over_time import panels
from reproduce.s0_table1 import METHODS, PUBLISHED, jobs

STEADY = 1.1


def report(found: Mapping[str, Any]) -> Report:
    shown = [name for name in PUBLISHED if f"{name}/optimum" in found]
    titles = {name: f"{PUBLISHED[name]['as']}: {TITLES[name]}" for name in shown}
    both = [panels(found, name, titles[name], METHODS, 2) for name in shown]
    claims = []
    for name, known in PUBLISHED.items():

        def judge(best: Any, pegasos: Any, sdca: Any, epsilon: float = known["epsilon"]) -> tuple[str, str, str]:
            lines = [[sub(point, best) for point in points] for points in (pegasos, sdca)]
            ends, rises = [line[-1] for line in lines], [rise(line) for line in lines]
            measured = f"{ends[0]:.2g} by Pegasos, {ends[1]:.2g} by SDCA"
            if max(ends) > epsilon:
                behind = "Pegasos" if ends[0] > ends[1] else "SDCA"
                return measured, FAILED, f"{behind} did not come within epsilon in its budget"
            if max(rises) <= STEADY:
                return measured, REPRODUCED, ""
            which = "Pegasos" if rises[0] > rises[1] else "SDCA"
            note = f"not steadily: {which} rises, up to {max(rises):.2f} times as far as it was before"
            return measured, WITH_A_DIFFERENCE, note

        needs = [f"{name}/{what}" for what in ("optimum", "Pegasos", "SDCA")]
        text = f"Pegasos and SDCA fall steadily below epsilon, {known['as']}"
        claim = judged(found, needs, text, f"below {known['epsilon']:g}", judge)
        claims.append(on_other_data(claim, STAND_INS.get(name, "")))
    chart = Chart(
        "s0_fig4",
        "Distance from the optimum and test error over seconds, by method",
        [*(top for top, _ in both), *(low for _, low in both)],
    )
    steady = f"A curve falls steadily if no point is more than {STEADY:g} times as far as one before it."
    notes = f"The runs are those of Table 1. {steady}"
    return Report(claims, charts=[chart] if shown else [], notes=notes)


def rise(line: Sequence[float]) -> float:
    """How far the line rises at most above the lowest point before."""
    return max((one / min(line[:k]) for k, one in enumerate(line) if k), default=1.0)


EXPERIMENT = Experiment(
    "s0_fig4", "S0 Fig. 4: linear machines over time", jobs, report, stored_as="s0_table1", expensive=2
)

if __name__ == "__main__":
    main(EXPERIMENT)
