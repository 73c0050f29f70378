"""The certificate of a fit: how far it is from the optimum, and the trace of how it got there."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native

__all__ = [
    "Certificate",
    "History",
    "all_converged",
    "history_from_records",
    "join_parts",
    "relative_gap",
    "rounds",
    "within",
]

#: The trace of a fit: equal-length arrays under ``seconds``, ``epoch``, ``primal``, ``dual`` and ``gap``.
History = dict[str, NDArray[np.float64]]

#: Seconds below which two decimals say too little of a time.
SHORT = 0.01

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
    "callback": "a listener stopped it",
    "indefinite": "the kernel is not positive semi-definite, so there is no bound",
    "imported": "it was trained elsewhere, so that no bound is known",
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


def within(gap: float, tol: float) -> bool | None:
    """Whether the gap is within `tol`; None where `tol` is 0, which requests no accuracy."""
    return bool(gap <= tol) if tol > 0 else None


@dataclass(frozen=True, repr=False)
class Certificate:
    """Bounds on the optimum of the problem a fit solved: ``dual <= optimum <= primal``.

    Attributes
    ----------
    primal : float
        The objective ``1/2 ||w||^2 + C sum_i s_i loss_i`` at the returned weights, plus an allowance for the rounding
        of its computation. So it is an upper bound.
    dual : float
        A lower bound on the optimum, from a feasible dual point; it allows for rounding too. With ``SBP(nu=...)`` and
        ``SIMBA(nu=...)``, which maximise a margin, it is that of the returned machine, and `primal` an upper bound.
    gap : float
        ``(primal - dual) / dual``: the objective at the returned weights is at most this fraction above the optimum.
    converged : bool or None
        Whether the gap is within ``tol``. None with ``tol=0``, which requests no accuracy.
    reason : str
        Why the fit stopped:

        - ``"tol"``, ``"max_iter"``, ``"max_steps"``, ``"max_time"``: it reached this parameter's value;
        - ``"precision"``: double precision allows no more progress;
        - ``"random_stop"``: it reached the last of the ``random_stops``;
        - ``"early_stopping"``: the score on held-out examples no longer improved;
        - ``"interrupt"``: Ctrl-C, with ``on_interrupt="keep"``;
        - ``"callback"``: a listener (`listen`) or a callback stopped it;
        - ``"indefinite"``: the kernel is not positive semi-definite, so nothing is bounded; `dual` is minus infinity;
        - ``"inconsistent"``: the bounds contradict each other, which no data should cause; `dual` is minus infinity;
        - ``"imported"``: another program trained the model, so nothing is known; the bounds are 0 and infinity.
    n_iter : int
        Epochs begun. An epoch is as many visits as there are examples. An iteration of interior-point, newton or ocas
        counts as an epoch.
    seconds : float
        Duration of the fit, including the validation of the input.
    solver : str
        The solver with its options.
    scaled : bool
        Whether the bounds belong to the problem in scaled features (``scale=True``).
    rounding : float
        What the allowance for rounding adds to the gap, relative to `dual`; with several problems, the worst.
    assumed : str
        The assumption behind the lower bound: "the kernel is positive semi-definite", if there are too many examples to
        check it; behind the upper bound on a margin, if rounding leaves it open. Empty if there is no assumption.
    problem : str
        For a part, the problem that it belongs to: "'a' against the rest", or "'a' against 'b'".
    parts : tuple of Certificate
        For a fit of several problems, such as each class against the rest, the certificate of each, in the order of
        ``classes_``, or of the pairs. `primal` and `dual` are then the sums over the parts. `gap`, `reason` and
        `solver` come from the part with the largest gap. `converged` says whether all parts converged, and `n_iter` is
        the largest. Empty for a single problem.

    Examples
    --------
    >>> Certificate(4801.82, 4774.3, 0.00576, True, "tol", n_iter=4, seconds=0.03, solver="SDCA(order='permute')")
    gap 0.0058, converged, 4 epochs, 0.03 s, SDCA
    """

    primal: float
    dual: float
    gap: float
    converged: bool | None
    reason: str
    n_iter: int
    seconds: float
    solver: str
    scaled: bool = False
    rounding: float = 0.0
    assumed: str = ""
    problem: str = ""
    parts: tuple["Certificate", ...] = ()

    @property
    def worst(self) -> int:
        """The number of the part with the largest gap, from 0; of a single problem 0."""
        return max(range(len(self.parts)), key=lambda k: self.parts[k].gap, default=0)

    @property
    def worst_named(self) -> str:
        """The same as an entry of `parts`, with the problem that it is of."""
        problem = self.parts[self.worst].problem
        return f"parts[{self.worst}]{f' ({problem})' if problem else ''}"

    def __repr__(self) -> str:
        ended = "converged" if self.reason == "tol" else f"stopped by {self.reason}"
        if not self.converged:
            ended = f"{'convergence not asked' if self.converged is None else 'not converged'} ({self.reason})"
        words = [f"gap {self.gap:.2g}", ended]
        words += [rounds(self), brief(self.seconds)]
        words += [self.solver.partition("(")[0], *([f"{len(self.parts)} problems"] if self.parts else [])]
        return ", ".join([*([self.problem] if self.problem else []), *words])

    def __str__(self) -> str:
        reason = REASONS.get(self.reason, self.reason)
        if self.converged is None:
            reason = f"convergence not asked: {reason}"
        elif not self.converged:
            reason = f"not converged: {reason}"
        elif self.reason == "tol":
            reason = f"converged: {reason}"
        lines = [
            f"primal   {self.primal:.8g}",
            f"dual     {self.dual:.8g}",
            f"gap      {self.gap:.3g}  ({reason})",
            f"epochs   {self.n_iter}",
            f"seconds  {self.seconds:.2{'f' if self.seconds >= SHORT else 'g'}}",
            f"solver   {self.solver}",
        ]
        if self.rounding > 0.1 * self.gap and self.reason != "tol":
            lines.insert(3, f"rounding {self.rounding:.3g}  (so much of the gap)")
        if self.assumed:
            lines.append(f"assumed  {self.assumed}")
        if self.scaled:
            lines.append("scaled   the bounds are those of the problem in the scaled features")
        if self.parts:
            short = sum(part.converged is False for part in self.parts)
            reached = "convergence not asked" if self.converged is None else "all converged"
            missed = f"{short} not converged" if short else reached
            lines.append(f"parts    {len(self.parts)}, {missed}; the gap is that of the worst, {self.worst_named}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The fields as a plain dictionary."""
        return asdict(self)


def brief(seconds: float) -> str:
    """A time that counts: short ones in milliseconds.

    Examples
    --------
    >>> brief(2.314), brief(0.141), brief(0.00132), brief(0)
    ('2.31 s', '0.14 s', '1.3 ms', '0 ms')
    """
    return f"{seconds:.2f} s" if seconds >= SHORT else f"{1000 * seconds:.2g} ms"


def rounds(found: Certificate) -> str:
    """How many epochs a fit took, in words; an iteration is one, of solvers that make such."""
    return f"{found.n_iter:,} epoch{'' if found.n_iter == 1 else 's'}"


def all_converged(found: Sequence[Certificate]) -> bool | None:
    """Whether all converged; None where this was not asked."""
    answers = {one.converged for one in found}
    return None if None in answers and False not in answers else False not in answers


def join_parts(parts: Sequence[Certificate], seconds: float) -> Certificate:
    """The certificate of a fit of several problems, which took so long."""
    worst = max(parts, key=lambda part: part.gap)
    return replace(
        worst,
        primal=sum(part.primal for part in parts),
        dual=sum(part.dual for part in parts),
        converged=all_converged(parts),
        n_iter=max(part.n_iter for part in parts),
        seconds=seconds,
        rounding=max(part.rounding for part in parts),
        problem="",
        parts=tuple(parts),
    )


def all_reasons(certificate: Certificate) -> set[str]:
    """Why each problem of a fit ended."""
    return {part.reason for part in (certificate, *certificate.parts)}


def history_from_records(records: Sequence[Sequence[float]]) -> History:
    """Arrays by name from rows of (seconds, epoch, primal, dual)."""
    table = np.array(records, dtype=np.float64).reshape(-1, 4)
    gaps = [relative_gap(primal, dual) for primal, dual in table[:, 2:]]
    columns = dict(zip(("seconds", "epoch", "primal", "dual"), table.T.copy(), strict=True))
    return {**columns, "gap": np.array(gaps)}
