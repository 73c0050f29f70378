"""One problem of a distributed fit, as the driver sees it: dual coordinate ascent in rounds.

    maximise D(alpha) = sum_i dual(alpha_i, C s_i) - 1/2 ||u||^2,   u = sum_i alpha_i y_i x_i

Each of K workers starts a round from the same w = u and makes epochs of dual coordinate ascent on its own rows, with a
caution between 1 and K as in CoCoA+ (Ma and others 2015): as if the others made that many times its changes. It sends
d_k, what its changes add to u, and l_k, what they add to the first part of D. CoCoA+ adds all d_k. Here worker k keeps
the share g_k of its changes, with g in [0, 1]^K the best for

    D(alpha + sum_k g_k (change k)) >= D(alpha) + sum_k g_k (l_k - <w, d_k>) - 1/2 ||sum_k g_k d_k||^2

(equal for hinge), a problem in K variables. g = 1/K each would never lower D, so the best g does not, whatever the
caution; that follows from how far off the best common g was, as the threads' in ``cpp/linear/solvers/sdca.cpp``.

The intercept is by the method of multipliers, as there: b is a multiplier, and the constant feature of the rows is
sqrt(step), so that visits move the score of a row by step times the change of sigma = sum_i alpha_i y_i.

The certificate is a round of measuring: P at w and D from u summed anew, both in double precision. P is at the mean of
the last two u: where K changes are a bit too much together, every other u is on the other side.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.bounds import UNIT, Measured, bound_dual, bound_primal
from pegasos.base.outcome import Standing, refuse_overflow, sizes
from pegasos.linear.distributed.plan import Order, Plan, Visited


class Ascent(Standing):
    """Where the ascent on one problem stands."""

    def __init__(self, plan: Plan, target: int, tol: float, n_workers: int, turns: int) -> None:
        super().__init__(plan.n_rows)
        self.plan, self.target, self.tol = plan, target, tol
        self.turns = turns  # in a round
        self.u: NDArray[np.float64] = np.zeros(plan.dimension)
        self.b = 0.0
        self.linear = 0.0
        self.w = np.zeros(plan.dimension)
        self.join(n_workers)
        self._checks = native.Checks(tol, usual=1.0)

    def join(self, n_workers: int) -> None:
        """So many workers are there from now on; what they did last is taken back. Bounds hold for the same data."""
        self.shares = [0.0] * n_workers
        self.caution = float(n_workers)
        self.due = False  # a measure
        self._last: tuple[NDArray[np.float64], float] | None = None  # u and b before the last round

    def order(self, k: int) -> Order:
        """What worker k is to do next."""
        if self.due:
            w, b = self._mean()
            w[-1] = b / self.plan.feature if self.plan.bias else 0.0
            return Order(self.target, w, self.shares[k])
        return Order(self.target, self._start(), self.shares[k], self.caution, self.turns)

    def _mean(self) -> tuple[NDArray[np.float64], float]:
        """Where to measure: weights, the last entry aside, and the intercept."""
        if self._last is None:
            return self.u.copy(), self.b
        return (self.u + self._last[0]) / 2, (self.b + self._last[1]) / 2

    def _start(self) -> NDArray[np.float64]:
        """Where visits start: u, with the intercept's multiplier."""
        w = self.u.copy()
        w[-1] += self.plan.kappa * self.b / self.plan.feature if self.plan.bias else 0.0
        return w

    def take_visits(self, answers: Sequence[Visited]) -> None:
        """Join what the workers did."""
        changes = np.array([answer.change for answer in answers])
        w = self._start()
        linear = np.array([answer.linear for answer in answers])
        rise, products = linear - changes @ w, changes @ changes.T
        shares = best_shares(rise, products)
        best = max(float(rise.sum() / products.sum()), 0.0) if products.sum() > 0 else 1.0
        self.caution = min(max(self.caution / math.sqrt(min(max(best, 0.25), 4.0)), 1.0), float(len(answers)))
        self.shares = shares.tolist()
        self._last = (self.u, self.b)
        self.u = self.u + shares @ changes
        self.linear += float(shares @ linear)
        self.visits += sum(answer.visits for answer in answers)
        if self.plan.bias:
            self.b = self.plan.kappa * self.b + self.plan.feature * float(self.u[-1])
        self._checks.met(sum(answer.gap for answer in answers))
        u = self._penalised()
        self.due = self._checks.due(self.linear - float(u @ u) / 2)

    def _penalised(self) -> NDArray[np.float64]:
        """u, with the constant feature that the problem has."""
        u = self.u.copy()
        u[-1] *= self.plan.bias / self.plan.feature if self.plan.bias else 0.0
        return u

    def take_measures(self, answers: Sequence[Measured], seconds: float) -> None:
        """Bounds, exact: the best primal value so far with its w, and the best dual value."""
        w, b = self._mean()
        w[-1] = b / self.plan.bias if self.plan.bias else 0.0
        sums = self.set_point(answers)
        u, grown = self._penalised(), max(self.plan.bias / self.plan.feature, 1.0) if self.plan.bias else 1.0
        error = grown * sums.error + 4 * UNIT * math.sqrt(float(u @ u))
        found = bound_primal(w, sums.losses, sums.above).best(bound_dual(sums.linear, sums.linear_error, u, error))
        refuse_overflow(found.primal, found.dual, of=sizes(self.plan))
        self._checks.found(found.primal - found.dual)
        self.take(found, w, seconds)
        if self.tol > 0 and self.bounds.gap <= self.tol:
            self.reason = "tol"

    def set_point(self, answers: Sequence[Measured]) -> Measured:
        """Take over what the dual variables amount to, summed anew; the sums."""
        sums = Measured.nothing(self.plan.dimension)
        for answer in answers:
            sums.add(answer)
        self.u, self.linear = sums.u, sums.linear
        self.shares = [1.0] * len(answers)  # nothing is left to join
        self.due = False
        return sums


def best_shares(rise: NDArray[np.float64], products: NDArray[np.float64]) -> NDArray[np.float64]:
    """The g in [0, 1]^K that maximises ``rise @ g - g @ products @ g / 2``, by coordinate ascent.

    Examples
    --------
    >>> best_shares(np.array([1.0, 4.0]), np.array([[2.0, 0.0], [0.0, 2.0]]))
    array([0.5, 1. ])
    """
    total = float(products.sum())
    common = min(max(float(rise.sum()) / total, 0.0), 1.0) if total > 0 else 1.0
    shares = np.full(len(rise), common)
    for _ in range(100):
        largest = 0.0
        for k in range(len(rise)):
            if products[k, k] > 0:
                pull = float(rise[k] - products[k] @ shares)
                new = min(max(shares[k] + pull / products[k, k], 0.0), 1.0)
                largest, shares[k] = max(largest, abs(new - shares[k])), new
        if largest < 1e-6:
            break
    return shares
