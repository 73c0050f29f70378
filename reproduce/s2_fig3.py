"""S2 Fig. 3: the test error of Pegasos as steps go on."""

from collections.abc import Mapping
from typing import Any

from reproduce.common.charts import Chart, Curve, Panel
from reproduce.common.experiment import FAILED, WITH_A_DIFFERENCE, Experiment, Report, judged, main
from reproduce.common.linear import median
from reproduce.s2_fig2 import NOTES, SUBSET, jobs, starts


def report(found: Mapping[str, Any]) -> Report:
    runs = starts(found)
    steps = [point["steps"] for point in runs[0]] if runs else []
    errors = [median(points[k]["error"] for points in runs) for k in range(len(steps))]
    curves = [Curve("Pegasos", steps, errors)]
    if runs and "optimum" in found:
        curves.append(Curve("optimum", [1, steps[-1]], [found["optimum"]["error"]] * 2, dashed=True, color=7))

    def optimal(best: Any) -> tuple[str, str, str]:
        measured = f"{best['error']:.2f}%"
        return measured, WITH_A_DIFFERENCE if abs(best["error"] - 5.6) <= 1 else FAILED, SUBSET

    def soon(best: Any, *runs: Any) -> tuple[str, str, str]:
        at = median(point["error"] for points in runs for point in points if point["steps"] == 50)
        measured = f"{at:.2f}% after 50 steps, {best['error']:.2f}% at the optimum"
        return measured, WITH_A_DIFFERENCE if at <= best["error"] + 0.3 else FAILED, SUBSET

    needs = ["optimum", *(f"start {k}" for k in range(6))]
    text = "Within 50 steps the test error is nearly that of the optimum"
    claims = [
        judged(found, ["optimum"], "Test error of SVM-light, that is of the optimum", "5.6%", optimal),
        judged(found, needs, text, "5.8% within 50 steps, 5.6% by SVM-light", soon),
    ]
    charts = [Chart("s2_fig3", "Test error by steps", [Panel("", "steps", "test error, %", curves)])] if runs else []
    return Report(claims, charts=charts, notes=f"The runs are those of Fig. 2. {NOTES}")


EXPERIMENT = Experiment("s2_fig3", "S2 Fig. 3: test error", jobs, report, stored_as="s2_fig2")

if __name__ == "__main__":
    main(EXPERIMENT)
