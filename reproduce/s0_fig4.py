"""S0 Fig. 4: distance from the optimum and test error of linear machines as time goes on."""

from collections.abc import Mapping
from typing import Any

from reproduce.common.charts import Chart
from reproduce.common.data import STAND_INS, TITLES
from reproduce.common.experiment import FAILED, REPRODUCED, Experiment, Report, judged, main, on_other_data
from reproduce.common.linear import sub
from reproduce.common.over_time import panels
from reproduce.s0_table1 import METHODS, PUBLISHED, jobs


def report(found: Mapping[str, Any]) -> Report:
    shown = [name for name in PUBLISHED if f"{name}/optimum" in found]
    titles = {name: f"{PUBLISHED[name]['as']}: {TITLES[name]}" for name in shown}
    both = [panels(found, name, titles[name], METHODS, 2) for name in shown]
    claims = []
    for name, known in PUBLISHED.items():

        def judge(best: Any, pegasos: Any, sdca: Any) -> tuple[str, str, str]:
            ends = [min(sub(point, best) for point in points) for points in (pegasos, sdca)]
            measured = f"{ends[0]:.2g} by Pegasos, {ends[1]:.2g} by SDCA"
            if max(ends) <= PUBLISHED[name]["epsilon"]:  # noqa: B023
                return measured, REPRODUCED, ""
            behind = "Pegasos" if ends[0] > ends[1] else "SDCA"
            return measured, FAILED, f"{behind} did not come within epsilon in its budget"

        needs = [f"{name}/{what}" for what in ("optimum", "Pegasos", "SDCA")]
        text = f"Pegasos and SDCA fall steadily below epsilon, {known['as']}"
        claim = judged(found, needs, text, f"below {known['epsilon']:g}", judge)
        claims.append(on_other_data(claim, STAND_INS.get(name, "")))
    chart = Chart(
        "s0_fig4",
        "Distance from the optimum and test error over seconds, by method",
        [*(top for top, _ in both), *(low for _, low in both)],
    )
    return Report(claims, charts=[chart] if shown else [], notes="The runs are those of Table 1.")


EXPERIMENT = Experiment(
    "s0_fig4", "S0 Fig. 4: linear machines over time", jobs, report, stored_as="s0_table1", expensive=2
)

if __name__ == "__main__":
    main(EXPERIMENT)
