"""Traces of methods, seconds against distance from the optimum and test error, as S0's Tables 1 and 2 sum them up."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reproduce.common.charts import Curve, Panel
from reproduce.common.experiment import FAILED, REPRODUCED, Claim, judged
from reproduce.common.linear import sub

__all__ = ["bias_claim", "cell", "panels", "reached", "told"]


def reached(found: Mapping[str, Any], name: str, method: str, epsilon: float) -> dict[str, float] | None:
    """The first fit of the method within epsilon of the optimum."""
    if f"{name}/{method}" not in found or f"{name}/optimum" not in found:
        return None
    best = found[f"{name}/optimum"]
    return next((point for point in found[f"{name}/{method}"] if sub(point, best) <= epsilon), None)


def bias_claim(found: Mapping[str, Any], name: str, title: str) -> Claim:
    """A bias does not change the test error by more than two standard errors of the difference of two shares."""

    def judge(plain: Mapping[str, float], other: Mapping[str, float]) -> tuple[str, str, str]:
        share, off = max(plain["error"], other["error"]) / 100, other["error"] - plain["error"]
        limit = 200 * math.sqrt(2 * share * (1 - share) / other["tested"])
        measured = f"{plain['error']:.3g}% without, {other['error']:.3g}% with"
        if abs(off) <= limit:
            return measured, REPRODUCED, ""
        return measured, FAILED, f"{off:+.2f} points, and two standard errors are {limit:.2f}"

    text = f"A bias does not significantly change the test error, {title}"
    return judged(found, [f"{name}/optimum", f"{name}/with bias"], text, "no significant change", judge)


def cell(point: Mapping[str, float] | None) -> str:
    """What was measured, as S0 shows it."""
    return f"{point['seconds']:.2g} s ({point['error']:.3g}%)" if point else ""


def told(known: tuple[float, float | None] | None) -> str:
    """What was published: seconds and error, or seconds that were not enough."""
    if known is None:
        return ""
    seconds, error = known
    return f"{seconds:g} s ({error:.3g}%)" if error else f"> {seconds:g} s"


def panels(
    found: Mapping[str, Any], name: str, title: str, methods: Sequence[str], highest: float
) -> tuple[Panel, Panel]:
    """Distance from the optimum and test error over seconds, the latter up to so many times that of the optimum."""
    best = found[f"{name}/optimum"]
    away, wrong = [], []
    for method in methods:
        points = found.get(f"{name}/{method}", [])
        seconds = [point["seconds"] for point in points]
        if points:
            away.append(Curve(method, seconds, [sub(point, best) for point in points]))
            wrong.append(Curve(method, seconds, [point["error"] for point in points]))
    limits = (0.8 * best["error"], highest * max(best["error"], 0.1))
    return (
        Panel(title, "seconds", "above the optimum", away, log_y=True),
        Panel(title, "seconds", "test error, %", wrong, y_limits=limits),
    )
