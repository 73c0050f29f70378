"""What a certificate claims, and whether it is so."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .evaluation import LONG, Problem, Value

#: Of a number that double precision computes from others in one or two operations.
ULPS = 4 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Finding:
    """Something that is not as it is claimed."""

    kind: str
    what: str  # which fit, and which part of it
    text: str
    excess: float = math.inf  # relative, where it is a matter of numbers


@dataclass(frozen=True)
class Claim:
    """A certificate of one problem, with what it is about."""

    what: str
    certificate: Any
    problem: Problem
    objective: Value | None  # at the model; None where that is not returned
    tol: float
    history: Any = None
    is_best: bool = True  # whether the model must be the best recorded: no other output was asked for by name
    is_bounded: bool = True  # whether there must be a lower bound: the kernel is positive semi-definite


@dataclass(frozen=True)
class Bound:
    """A lower bound alone, on the sum of some optima."""

    what: str
    value: float
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Margin:
    """A certificate of a margin: `dual` is that of the machine, `primal` a bound on the largest one."""

    what: str
    certificate: Any
    problem: Problem  # whose `best` is the largest margin known
    objective: tuple[np.longdouble, np.longdouble]  # bounds on the margin of the machine, the lower one with rounding
    tol: float
    history: Any
    is_bounded: bool = True


def relative_gap(primal, dual):
    """As it is documented."""
    if dual <= 0:
        return 0.0 if primal <= 0 else math.inf
    return (primal - dual) / dual


def is_close(one, other):
    """Equal, but for an operation or two in double precision."""
    return one == other or (None not in (one, other) and abs(one - other) <= ULPS * max(abs(one), abs(other)))


def check(claim):
    """All that is wrong with a claim."""
    found = claim.certificate
    has_bound = found.dual > -math.inf
    out = []

    def add(kind, text, excess=math.inf):
        out.append(Finding(kind, claim.what, text, float(excess)))

    if found.reason == "inconsistent":
        add("inconsistent", "the bounds contradict each other")
    elif not has_bound and claim.is_bounded:
        add("no bound", f"dual is {found.dual} with reason {found.reason}")
    if not np.isfinite(found.primal):
        add("primal not finite", f"primal is {found.primal}")
        return out
    if not found.dual <= found.primal:
        add("dual above primal", f"dual {found.dual!r} > primal {found.primal!r}")
    if claim.objective is not None:
        _check_primal(claim, add)
    _check_dual("dual", LONG(found.dual), claim.problem.best, add)
    _check_rounding(found, add)
    _check_gap(claim, has_bound, add)
    if claim.history is not None:
        _check_history(claim, add)
    return out


def _check_primal(claim, add):
    primal, objective = LONG(claim.certificate.primal), claim.objective
    if primal < objective.below:
        excess = (objective.value - primal) / abs(objective.value)
        add("primal below objective", f"primal {primal}, objective {objective.value} +- {objective.error:.1e}", excess)
    rounding = getattr(claim.certificate, "rounding", None)
    if rounding is None or not math.isfinite(rounding) or claim.certificate.dual <= 0:
        return
    # The allowance for rounding is added to a number that may itself be too large by as much.
    most = objective.value + LONG(objective.error) + 2 * LONG(rounding) * LONG(claim.certificate.dual)
    if primal > most:
        excess = (primal - most) / abs(objective.value) if objective.value else math.inf
        text = f"primal {primal}, objective {objective.value} +- {objective.error:.1e}, rounding {rounding:.2e}"
        add("primal above objective", text, excess)


def _check_dual(name, dual, best, add):
    if dual > best:
        excess = (dual - best) / abs(best) if best else math.inf
        add(f"{name} above optimum", f"{name} {dual}, optimum at most {best}", excess)


def _check_rounding(found, add):
    rounding = getattr(found, "rounding", 0.0)
    # Relative to a dual value above zero it is finite, unless the gap that it is a part of is above all doubles.
    if not rounding >= 0 or (rounding == math.inf and found.dual > 0 and found.gap < math.inf):
        add("rounding", f"rounding is {rounding} with dual {found.dual}")


def _check_gap(claim, has_bound, add):
    found = claim.certificate
    gap = relative_gap(found.primal, found.dual)
    if not is_close(found.gap, gap if has_bound else math.inf):
        add("gap", f"gap is {found.gap!r}, and should be {gap!r}")
    converged = has_bound and (found.gap <= claim.tol if claim.tol > 0 else None)
    if found.converged != converged:
        add("converged", f"converged is {found.converged} with gap {found.gap:.3g} and tol {claim.tol:g}")


def _check_history(claim, add):
    found, history = claim.certificate, claim.history
    primals, duals = history["primal"], history["dual"]
    if len(primals) == 0:
        add("history", "it is empty")
        return
    if (primals[-1], duals[-1]) != (found.primal, found.dual):
        text = f"it ends with {primals[-1]!r}, {duals[-1]!r}; the certificate has {found.primal!r}, {found.dual!r}"
        add("history", text)
    _check_dual("dual of history", LONG(duals.max()), claim.problem.best, add)
    if claim.is_best and primals.min() < found.primal:
        excess = (found.primal - primals.min()) / abs(primals.min()) if primals.min() else math.inf
        add("not the best recorded", f"primal {found.primal!r}, recorded {primals.min()!r}", excess)


def check_margin(claim):
    """All that is wrong with a certificate of a margin."""
    found, (low, high), history = claim.certificate, claim.objective, claim.history
    out = []

    def add(kind, text, excess=math.inf):
        out.append(Finding(kind, claim.what, text, float(excess)))

    if found.reason == "inconsistent":
        add("inconsistent", "the bounds contradict each other")
        return out
    if not np.isfinite(found.primal):
        add("primal not finite", f"primal is {found.primal}")
        return out
    for name, primal in (("primal", found.primal), ("primal of history", history["primal"].min())):
        if primal < claim.problem.best:
            excess = claim.problem.best / LONG(primal) - 1 if primal > 0 else math.inf
            add(f"{name} below a margin", f"{name} {primal!r}, largest margin at least {claim.problem.best}", excess)
    if found.dual > high:
        excess = found.dual / high - 1 if high > 0 else math.inf
        add("dual above the machine's margin", f"dual {found.dual!r}, margin at most {high}", excess)
    if found.dual > 0 and low > found.dual * (1 + 4 * LONG(found.rounding) + ULPS):
        add("dual below the machine's margin", f"dual {found.dual!r}, margin at least {low}", low / found.dual - 1)
    if history["dual"].max() > found.dual:
        add("not the best recorded", f"dual {found.dual!r}, recorded {history['dual'].max()!r}")
    if (history["primal"][-1], history["dual"][-1]) != (found.primal, found.dual):
        add("history", f"it ends with {history['primal'][-1]!r}, {history['dual'][-1]!r}")
    _check_rounding(found, add)
    _check_gap(claim, True, add)
    return out


def check_bound(claim):
    """All that is wrong with a lower bound."""
    out = []
    best = sum((problem.best for problem in claim.problems), LONG(0))
    _check_dual(
        "lower bound",
        LONG(claim.value),
        best,
        lambda kind, text, excess: out.append(Finding(kind, claim.what, text, float(excess))),
    )
    return out


def _converged(answers):
    return None if None in answers and False not in answers else False not in answers


def check_sum(what, found):
    """What a certificate of several problems says of its parts."""
    parts, out = found.parts, []
    expected = {
        "primal": sum(part.primal for part in parts),
        "dual": sum(part.dual for part in parts),
        "gap": max(part.gap for part in parts),
        "converged": _converged({part.converged for part in parts}),
        "n_iter": max(part.n_iter for part in parts),
    }
    if hasattr(found, "rounding"):
        expected["rounding"] = max(part.rounding for part in parts)
    for name, value in expected.items():
        if not is_close(getattr(found, name), value):
            out.append(Finding("sum of parts", what, f"{name} is {getattr(found, name)!r}, of the parts {value!r}"))
    return out


#: What checks a claim of each kind.
CHECKS = {Claim: check, Margin: check_margin, Bound: check_bound}
