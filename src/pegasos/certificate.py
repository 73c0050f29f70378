"""The certificate of a fit: how far it is from the optimum, and the trace of how it got there."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native

__all__ = ["Certificate", "History", "history_from_records", "join_parts", "relative_gap"]

#: The trace of a fit: equal-length arrays under ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap``.
History = dict[str, NDArray[np.float64]]

#: What each value of `Certificate.reason` means.
REASONS = {
    "tol": "the gap reached tol",
    "max_iter": "the budget of max_iter epochs was used up",
    "max_steps": "the budget of max_steps steps was used up",
    "max_time": "the time limit max_time was reached",
    "precision": "double precision allows no more progress",
    "inconsistent": "the lower bound came out above the upper one, so neither can be trusted",
    "random_stop": "the last random stopping time was reached",
    "early_stopping": "the score on the examples held out no longer improved",
    "interrupt": "it was interrupted",
    "indefinite": "the kernel is not positive semi-definite, so there is no bound",
}


def relative_gap(primal: float, dual: float) -> float:
    """``(primal - dual) / dual`` with the dual cut off at zero; 0 when both are 0.

    Examples
    --------
    >>> relative_gap(1.01, 1.0)
    0.010000000000000009
    >>> relative_gap(1.0, -0.5)
    inf
    """
    return native.relative_gap(primal, dual)


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimum of the problem a fit solved: ``dual <= optimum <= primal``.

    Attributes
    ----------
    primal : float
        The objective ``1/2 ||w||^2 + C sum_i s_i loss_i`` at the returned weights, or a little more: an upper bound of
        it that allows for the rounding of its own computation.
    dual : float
        A true lower bound on the optimum, from a feasible dual point, which allows for rounding too.
    gap : float
        ``(primal - dual) / dual``: the returned weights are at most this far, relatively, above the optimum.
    converged : bool
        Whether the gap is within ``tol`` (with ``tol=0`` nothing was asked for, and this is True).
    reason : str
        Why the fit stopped: ``"tol"``, ``"max_iter"``, ``"max_steps"``, ``"max_time"``, ``"precision"``,
        ``"random_stop"``, ``"early_stopping"``, ``"interrupt"`` (Ctrl-C, with ``on_interrupt="keep"``),
        ``"indefinite"`` (the kernel is not positive semi-definite: the dual value bounds nothing, and is given as minus
        infinity) or ``"inconsistent"`` (the bounds contradict each other, which no data should bring about: the dual
        value is given as minus infinity).
    n_iter : int
        Epochs begun (an epoch is as many visits of examples as there are examples), or iterations of interior-point.
    seconds : float
        Duration of the fit, validation of the input included.
    solver : str
        The solver with its options.
    scaled : bool
        Whether the bounds are those of the problem in scaled features (``scale="auto"``).
    rounding : float
        What the allowance for rounding adds to the gap, relative to `dual`; of several problems the worst.
    assumed : str
        What the lower bound takes for granted, of kernels too many rows to look at: "the kernel is positive
        semi-definite". Empty where it takes nothing for granted.
    parts : tuple of Certificate
        Of a fit of several problems, such as one class against the rest, the certificate of each, in the order of
        ``classes_``, or of their pairs. `primal` and `dual` are then their sums, `gap`, `reason` and `solver` those of
        the part with the largest gap, `converged` tells whether all are, and `n_iter` is the largest. Empty for a
        single problem.
    """

    primal: float
    dual: float
    gap: float
    converged: bool
    reason: str
    n_iter: int
    seconds: float
    solver: str
    scaled: bool = False
    rounding: float = 0.0
    assumed: str = ""
    parts: tuple["Certificate", ...] = ()

    @property
    def worst(self) -> int:
        """The number of the part with the largest gap, from 0; of a single problem 0."""
        return max(range(len(self.parts)), key=lambda k: self.parts[k].gap, default=0)

    def __str__(self) -> str:
        reason = REASONS.get(self.reason, self.reason)
        if not self.converged:
            reason = f"not converged: {reason}"
        elif self.reason == "tol":
            reason = f"converged: {reason}"
        lines = [
            f"primal   {self.primal:.8g}",
            f"dual     {self.dual:.8g}",
            f"gap      {self.gap:.3g}  ({reason})",
            f"epochs   {self.n_iter}",
            f"seconds  {self.seconds:.2f}",
            f"solver   {self.solver}",
        ]
        if self.rounding > 0.1 * self.gap and self.reason != "tol":
            lines.insert(3, f"rounding {self.rounding:.3g}  (so much of the gap)")
        if self.assumed:
            lines.append(f"assumed  {self.assumed}")
        if self.scaled:
            lines.append("scaled   the bounds are those of the problem in the scaled features")
        if self.parts:
            short = sum(not part.converged for part in self.parts)
            missed = f"{short} not converged" if short else "all converged"
            lines.append(f"parts    {len(self.parts)}, {missed}; the gap is that of the worst, parts[{self.worst}]")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields as a plain dictionary."""
        return asdict(self)


def join_parts(parts: Sequence[Certificate], seconds: float) -> Certificate:
    """The certificate of a fit of several problems, which took so long."""
    worst = max(parts, key=lambda part: part.gap)
    return replace(
        worst,
        primal=sum(part.primal for part in parts),
        dual=sum(part.dual for part in parts),
        converged=all(part.converged for part in parts),
        n_iter=max(part.n_iter for part in parts),
        seconds=seconds,
        rounding=max(part.rounding for part in parts),
        parts=tuple(parts),
    )


def history_from_records(records: Sequence[Sequence[float]]) -> History:
    """Arrays by name from rows of (seconds, epoch, primal, dual)."""
    table = np.array(records, dtype=np.float64).reshape(-1, 4)
    gaps = [relative_gap(primal, dual) for primal, dual in table[:, 2:]]
    columns = dict(zip(("seconds", "epoch", "primal", "dual"), table.T.copy(), strict=True))
    return {**columns, "gap": np.array(gaps)}
