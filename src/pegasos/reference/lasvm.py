"""LASVM, SMO that takes in the examples one by one: Bordes, Ertekin, Weston, Bottou, 2005."""

from collections.abc import Iterator

import numpy as np

from pegasos.reference.s0 import Floats, RowNumbers
from pegasos.reference.smo import TINY

#: Examples of each class that S has before the first visit.
SEEDS = 5
#: Slopes that differ by less are the same, but for rounding: of these the example that came first counts.
TIE = 1e-12


class Members:
    """S, the examples that are or may become support vectors, with beta and the slopes ``u = y - K beta`` of all."""

    def __init__(self, K: Floats, y: Floats, bound: Floats, tau: float, pairs: bool) -> None:
        self.K, self.y, self.tau, self.pairs = K, y, tau, pairs
        self.lo, self.hi = np.where(y < 0, -bound, 0.0), np.where(y > 0, bound, 0.0)
        self.beta, self.u = np.zeros(len(y)), y.astype(float)
        self.S: list[int] = []

    def add_seeds(self, sequence: RowNumbers) -> None:
        """Begin with the first few of each class that the sequence has; without pairs none is needed."""
        for label in (-1, 1) if self.pairs else ():
            own = [int(i) for i in dict.fromkeys(sequence.tolist()) if self.y[i] == label and self.lo[i] < self.hi[i]]
            self.S += own[:SEEDS]
        self.S.sort(key=sequence.tolist().index)

    def growing(self) -> int | None:
        """The member that may grow with the largest slope."""
        return self.steepest([i for i in self.S if self.beta[i] < self.hi[i]], self.u)

    def shrinking(self) -> int | None:
        """The member that may shrink with the smallest slope."""
        return self.steepest([i for i in self.S if self.beta[i] > self.lo[i]], -self.u)

    @staticmethod
    def steepest(able: list[int], slopes: Floats) -> int | None:
        """The first of these with the largest slope."""
        return next((i for i in able if slopes[i] >= slopes[able].max() - TIE), None)

    def delta(self) -> float:
        """How much the most violating pair, or variable, violates."""
        i, j = self.growing(), self.shrinking()
        if self.pairs:
            return -np.inf if i is None or j is None else float(self.u[i] - self.u[j])
        return max(0.0 if i is None else float(self.u[i]), 0.0 if j is None else float(-self.u[j]))

    def step(self, i: int | None, j: int | None) -> bool:
        """Let i grow and j shrink, as far as it gains, where they violate; without pairs one of them is None."""
        difference = (0.0 if i is None else self.u[i]) - (0.0 if j is None else self.u[j])
        if not difference > self.tau:
            return False
        chosen = [(k, sign) for k, sign in ((i, 1.0), (j, -1.0)) if k is not None]
        along = sum(sign * self.K[k] for k, sign in chosen)
        curvature = max(float(sum(sign * along[k] for k, sign in chosen)), TINY)
        room = [(self.hi[k] - self.beta[k] if sign > 0 else self.beta[k] - self.lo[k]) for k, sign in chosen]
        length = min(difference / curvature, *room)
        for (k, sign), most in zip(chosen, room, strict=True):
            end = self.hi[k] if sign > 0 else self.lo[k]
            self.beta[k] = end if length == most else self.beta[k] + sign * length
        self.u = self.u - length * along
        return True

    def process(self, k: int) -> None:
        """PROCESS: k joins S, and makes a step with the member that violates most with it."""
        if k in self.S or self.lo[k] == self.hi[k]:
            return
        other = (self.shrinking() if self.y[k] > 0 else self.growing()) if self.pairs else None
        self.S.append(k)
        if other is not None or not self.pairs:
            self.step(*((k, other) if self.y[k] > 0 else (other, k)))

    def reprocess(self) -> bool:
        """REPROCESS: a step of the most violating pair, after which those of no use leave S. False where none is."""
        i, j = self.growing(), self.shrinking()
        if self.pairs and (i is None or j is None):
            return False
        if not self.pairs:
            i, j = (i, None) if i is not None and (j is None or self.u[i] >= -self.u[j]) else (None, j)
        if not self.step(i, j):
            return False
        i, j = self.growing(), self.shrinking()
        top, bottom = (self.u[i], self.u[j]) if self.pairs else (0.0, 0.0)
        idle = np.where(self.y > 0, self.u <= bottom, self.u >= top) & (self.beta == 0)
        self.S = [s for s in self.S if not idle[s]]
        return True


def lasvm(
    K: Floats,
    y: Floats,
    bound: Floats,
    sequence: RowNumbers,
    *,
    tau: float = 1e-3,
    pairs: bool = True,
    choose: str = "random",
    sample: int = 50,
) -> Iterator[Floats]:
    """A pass over the sequence, PROCESS and REPROCESS for each, and the finish: REPROCESS until nothing violates.

    Parameters
    ----------
    bound : array of shape (m,)
        C s, how large a beta may be.
    sequence : array of shape (T,)
        The examples to visit. Other choices than "random" visit one of each `sample` that follow one another: of those
        outside of S the one with the largest loss ("gradient") or nearest to the border ("active").
    tau : float
        A pair makes a step where it violates by more than that.
    pairs : bool
        Whether there is an intercept, so that beta sums to zero.

    Yields
    ------
    array of shape (m,)
        beta after 0, 1, ... turns: a visit is one, and a step of the finish.

    Examples
    --------
    >>> import numpy as np
    >>> for beta in lasvm(np.eye(2), np.array([1.0, -1.0]), np.full(2, 3.0), np.array([0, 1])):
    ...     print(beta)
    [0. 0.]
    [ 1. -1.]
    [ 1. -1.]
    """
    members = Members(K, y, bound, tau, pairs)
    members.add_seeds(sequence)
    yield members.beta.copy()
    for some in sequence.reshape(-1, 1 if choose == "random" else sample):
        members.process(chosen(members, some, choose))
        members.reprocess()
        yield members.beta.copy()
    while members.delta() > tau:
        members.reprocess()
        yield members.beta.copy()


def chosen(members: Members, some: RowNumbers, choose: str) -> int:
    """The candidate to visit."""
    outside = [int(i) for i in some if int(i) not in members.S and members.lo[i] < members.hi[i]]
    if choose == "random" or not outside:
        return int(some[0])
    i, j = members.growing(), members.shrinking()
    b = 0.0 if not members.pairs or i is None or j is None else float(members.u[i] + members.u[j]) / 2
    response = members.y - members.u + b
    return min(outside, key=lambda k: float(abs(response[k]) if choose == "active" else members.y[k] * response[k]))
