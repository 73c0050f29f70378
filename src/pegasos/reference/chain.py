"""Sequences of labels: S0 section 5, example 5, and block-coordinate Frank-Wolfe in pairs (after Lacoste-Julien and
others, 2013).

The weights are one vector: those of features with each label, feature by feature; then those of links, (label, next
label), (start, label) and (end, label). A sequence is an array x with a row for each position and its labels y.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from pegasos.reference.s0 import Floats

Labels = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """Sequences with labels, weights, costs and C: the problem, and its values."""

    X: Sequence[Floats]
    y: Sequence[Labels]
    s: Floats
    C: float
    cost: Floats
    barriers: Floats  # zero, or minus infinity where a link is forbidden: labels before, start, end
    boundaries: bool = True

    @property
    def K(self) -> int:
        return len(self.cost)

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def dimension(self) -> int:
        return (self.X[0].shape[1] + self.K + 2) * self.K

    def features(self, i: int, labels: Labels) -> Floats:
        """phi(x_i, labels)."""
        x, K = self.X[i], self.K
        phi = np.zeros((x.shape[1] + K + 2, K))
        links = phi[x.shape[1] :]
        for t, k in enumerate(labels):
            phi[: x.shape[1], k] += x[t]
            if t > 0:
                links[labels[t - 1], k] += 1
        if self.boundaries and labels:
            links[K, labels[0]] += 1
            links[K + 1, labels[-1]] += 1
        return phi.ravel()

    def psi(self, i: int, labels: Labels) -> Floats:
        """phi(x_i, y_i) - phi(x_i, labels)."""
        return self.features(i, self.y[i]) - self.features(i, labels)

    def cost_of(self, i: int, labels: Labels) -> float:
        return float(sum(self.cost[a, b] for a, b in zip(self.y[i], labels, strict=True)))

    def split(self, w: Floats) -> tuple[Floats, Floats]:
        """Weights of features, and of links, those forbidden at minus infinity."""
        table = w.reshape(-1, self.K)
        d = len(table) - self.K - 2
        return table[:d], table[d:] + self.barriers

    def tables(self, i: int, w: Floats) -> tuple[Floats, Floats]:
        """Scores of labels at positions, costs added, and of links."""
        W, links = self.split(w)
        return self.X[i] @ W + self.cost[list(self.y[i])], links

    def score(self, i: int, labels: Labels, w: Floats) -> float:
        """m(labels) = cost + <w, phi(x_i, labels)>."""
        return self.cost_of(i, labels) + float(self.features(i, labels) @ w)

    def loss(self, i: int, w: Floats) -> float:
        best = best_labels(*self.tables(i, w))
        return self.score(i, best, w) - self.score(i, self.y[i], w)

    def primal(self, w: Floats) -> float:
        return float(w @ w) / 2 + self.C * sum(float(self.s[i]) * self.loss(i, w) for i in range(self.n))

    def weights(self, q: Sequence[dict[Labels, float]]) -> Floats:
        """w of a point of the dual: the shares of the labellings of each sequence."""
        w = np.zeros(self.dimension)
        for i, shares in enumerate(q):
            for labels, share in shares.items():
                w += self.C * self.s[i] * share * self.psi(i, labels)
        return w

    def dual(self, q: Sequence[dict[Labels, float]]) -> float:
        w = self.weights(q)
        linear = sum(
            self.C * float(self.s[i]) * share * self.cost_of(i, labels)
            for i, shares in enumerate(q)
            for labels, share in shares.items()
        )
        return linear - float(w @ w) / 2


def best_labels(scores: Floats, links: Floats) -> Labels:
    """The labels of the highest score (Viterbi); of equal ones the first, from the end on.

    Examples
    --------
    >>> import numpy as np
    >>> links = np.array([[0.0, 2.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])  # 1 after 0
    >>> best_labels(np.array([[0.0, 1.0], [0.0, 0.0]]), links)
    (0, 1)
    """
    length, K = scores.shape
    if length == 0:
        return ()
    ahead = [links[K] + scores[0]]
    for t in range(1, length):
        ahead.append((ahead[-1][:, None] + links[:K]).max(axis=0) + scores[t])
    labels = [int((ahead[-1] + links[K + 1]).argmax())]
    for t in range(length - 1, 0, -1):
        labels.append(int((ahead[t - 1] + links[:K, labels[-1]]).argmax()))
    return tuple(reversed(labels))


def best_by_enumeration(scores: Floats, links: Floats) -> tuple[float, Labels]:
    """The same by trying all labels, with their score."""
    length, K = scores.shape

    def score(labels: Labels) -> float:
        inner = sum(links[a, b] for a, b in pairwise(labels))
        return float(links[K, labels[0]] + links[K + 1, labels[-1]] + inner + sum(scores[range(length), list(labels)]))

    return max((score(labels), labels) for labels in product(range(K), repeat=length))


def chain_pegasos(
    chain: Chain, batches: Sequence[Sequence[int]], *, project: bool = False
) -> Iterator[tuple[Floats, float]]:
    """Pegasos on the structured hinge loss.

    Parameters
    ----------
    chain : Chain
        The problem.
    batches : sequence of sequences of int
        The sequences of each step.
    project : bool
        Whether to project onto the ball that holds the optimum.

    Yields
    ------
    array, float
        w after 0, 1, ... steps, and the lower bound on the optimum that belongs to it.
    """
    total = float(chain.s.sum())
    alpha = 1 / (chain.C * total)
    radius = np.sqrt(
        chain.C
        * sum(float(s) * sum(chain.cost[k].max() for k in labels) for s, labels in zip(chain.s, chain.y, strict=True))
    )
    w, linear, visits = np.zeros(chain.dimension), 0.0, np.zeros(chain.n)
    yield w, 0.0
    for t, batch in enumerate(batches, start=1):
        best = [best_labels(*chain.tables(i, w)) for i in batch]
        each = chain.n / (alpha * t * len(batch) * total)
        w, linear = (1 - 1 / t) * w, (1 - 1 / t) * linear
        for i, labels in zip(batch, best, strict=True):
            w = w + each * chain.s[i] * chain.psi(i, labels)
            linear += each * chain.s[i] * chain.cost_of(i, labels)
            visits[i] += 1
        if project:
            shrink = min(1.0, radius / max(float(np.linalg.norm(w)), 1e-300))
            w, linear = shrink * w, shrink * linear
        norm = float(w @ w)
        most = min(1.0, t * len(batch) / chain.n / visits.max())
        factor = float(np.clip(linear / norm, 0, most)) if norm > 0 else most
        yield w, factor * linear - factor**2 / 2 * norm


def chain_frank_wolfe(chain: Chain, visits: Sequence[int]) -> Iterator[tuple[Floats, list[dict[Labels, float]]]]:
    """Block-coordinate Frank-Wolfe in pairs.

    A visit of sequence i decodes it, adds the labels found to those that may have a share, and moves share from the
    labels of lowest score that have one to those of highest score, up to twice.

    Yields
    ------
    array, list of dict
        w and the dual point after 0, 1, ... visits.
    """
    q: list[dict[Labels, float]] = [{labels: 1.0} for labels in chain.y]
    w = np.zeros(chain.dimension)
    yield w, [dict(shares) for shares in q]
    for i in visits:
        shares, c = q[i], chain.C * float(chain.s[i])
        shares.setdefault(best_labels(*chain.tables(i, w)), 0.0)
        for _ in range(2):
            scores = {labels: chain.score(i, labels, w) for labels in shares}
            up = _first_highest(scores)
            down = _first_highest({labels: -scores[labels] for labels in shares if shares[labels] > 0})
            rise = scores[up] - scores[down]
            if up == down or rise <= 1e-14 * (abs(scores[up]) + abs(scores[down])):
                break
            across = chain.features(i, down) - chain.features(i, up)
            share = min(rise / (c * float(across @ across)), shares[down])
            shares[down] -= share
            shares[up] += share
            w = w + c * share * across
        q[i] = {labels: share for labels, share in shares.items() if share > 0}
        yield w, [dict(shares) for shares in q]


def _first_highest(scores: dict[Labels, float]) -> Labels:
    """Of those that score highest but for rounding, the first: a step makes two of them equal."""
    best = next(iter(scores))
    for labels, score in scores.items():
        if score > scores[best] + 1e-12 * (abs(score) + abs(scores[best])):
            best = labels
    return best
