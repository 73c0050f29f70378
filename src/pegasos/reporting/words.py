"""The certificate of a fit in plain words."""

import math
from typing import Any

from pegasos.certificate import REASONS, Certificate
from pegasos.reporting.markup import LARGE, number, relative


def headline(found: Certificate) -> tuple[str, bool]:
    """How the fit ended, in a word or two, and whether that is good."""
    if found.converged is None:
        return "Convergence not asked", True
    if found.converged:
        return ("Converged" if found.reason == "tol" else "Ended as asked"), True
    return ("Stopped early" if found.reason in ("early_stopping", "callback") else "Not converged"), False


def sentences(found: Certificate, tol: float, work: str, maximises_margin: bool = False) -> list[str]:
    """What the certificate says after so much work, and what it does not say."""
    told = [_bounds(found, maximises_margin), _end(found, tol, work)]
    if found.parts:
        short = sum(part.converged is False for part in found.parts)
        reached = "none was asked to converge" if found.converged is None else "all of them converged"
        how = f"{short} of them did not converge" if short else reached
        worst = found.parts[found.worst].problem
        told.append(
            f"There were {number(len(found.parts))} problems, and {how}. The gap is that of the worst"
            f"{f', {worst}' if worst else ''}; the two bounds are sums over all."
        )
    if found.scaled:
        told.append("The bounds are those of the problem in the scaled features.")
    if found.assumed:
        told.append(f"The {'upper' if maximises_margin else 'lower'} bound takes for granted that {found.assumed}.")
    if found.reason != "tol" and found.rounding > 0.1 * found.gap and math.isfinite(found.rounding):
        told.append(f"Of the gap, {relative(found.rounding)} allows for the rounding of the bounds themselves.")
    told.append("This is about the training problem. How well the model predicts is another question.")
    return told


def _bounds(found: Certificate, maximises_margin: bool) -> str:
    if maximises_margin:
        return f"The margin reached is {number(found.dual)}, and no weights have one above {number(found.primal)}."
    if not math.isfinite(found.gap) and not math.isfinite(found.dual):
        return f"The objective of these weights is {number(found.primal)}. Nothing is known about the best possible."
    if not math.isfinite(found.gap):
        return f"The objective of these weights is {number(found.primal)}. No bound above zero was found on the best."
    whose = "The objectives of these weights sum to" if found.parts else "The objective of these weights is"
    far = "" if found.parts else f", so these are within {relative(found.gap)} of it"
    if found.gap >= LARGE:
        far = f": a bound that says little, as the gap is {relative(found.gap)} as large"
        far += " in the worst of the problems" if found.parts else ""
    return f"{whose} {number(found.primal)}. No weights whatever have less than {number(found.dual)}{far}."


def _end(found: Certificate, tol: float, work: str) -> str:
    wanted = f"a gap of {relative(tol)}" if tol > 0 else "no gap in particular"
    why = REASONS.get(found.reason, found.reason)
    after = f"after {work}"
    if found.converged and found.reason == "tol":
        return f"The fit was asked for {wanted} (tol={tol:g}) and reached it {after}."
    return f"The fit was asked for {wanted} (tol={tol:g}). It ended {after}: {why}."


def problem(machine: Any) -> str:
    """What kind of machine it is, for the first line of the page."""
    kinds = {
        "LinearSVC": "A linear classifier",
        "LinearSVCCV": "A linear classifier whose C was chosen by cross-validation",
        "LinearSVR": "A linear regression",
        "SVC": "A classifier with a kernel",
        "SVR": "A regression with a kernel",
        "SequenceSVC": "A classifier that labels sequences",
        "FeatureMapSVC": "A classifier with features of example and label",
    }
    return kinds.get(type(machine).__name__, f"A {type(machine).__name__}")
