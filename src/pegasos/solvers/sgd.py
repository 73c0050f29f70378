"""SGD-r, SGD-s and SGD-m: stochastic gradient descent with a stopping rule (S3)."""

from collections.abc import Mapping
from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Integer, Number, Option
from pegasos.base.outcome import Budget, Solution, WarmStart
from pegasos.base.progress import Report, make_run
from pegasos.base.solver import LOSSES, Solver, continued_seed
from pegasos.problems.joint import JointProblem
from pegasos.problems.linear import Problem

__all__ = ["SGDM", "SGDR", "SGDS"]

PATIENCE = Number(low=1, help="compute the objective in full when its free estimate is within f times tol")


class _SGD(Solver):
    """What the three share; `cpp/linear/solvers/sgd.hpp` has the mathematics."""

    complete_epochs: ClassVar[bool] = True
    # Options of some of them.
    f: float = 1.2
    multiplicity: int = 1
    period: int = 9
    burst: int = 5
    max_steps: int | None = None

    def solve(
        self, problem: Problem, budget: Budget, seed: int, start: WarmStart | None = None, report: Report | None = None
    ) -> Solution:
        found = native.sgd(
            problem.core,
            make_run(budget, report),
            complete_epochs=self.complete_epochs,
            multiplicity=int(self.multiplicity),
            period=int(self.period),
            burst=int(self.burst),
            patience=float(self.f),
            tol=budget.tol,
            max_passes=int(budget.max_iter) if self.max_steps is None else 2**63,
            max_steps=int(self.max_steps or 0),
            sampling="permute" if self.complete_epochs else "replace",
            seed=continued_seed(seed, start.t if start else 0),
            sequence=None,
            start_w=start.w if start else None,
            start_t=start.t if start else 0,
        )
        return Solution.from_core(found, self.describe(), "max_iter" if self.max_steps is None else "max_steps")


class SGDR(_SGD):
    """SGD-r (S3): examples drawn at random, in the variable ``a = alpha t w``, in which shrinking costs nothing.

    Its dual variables obey their bounds only asymptotically (S3 footnote 4), so the certificate uses the share of
    margin errors among the visits of each example instead.

    Parameters
    ----------
    max_steps : int, default=None
        Budget in steps (S3's t_max), in place of the estimator's ``max_iter`` epochs.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0, max_iter=20, solver="sgd-r", random_state=0).fit(X, y)
    >>> clf.certificate_.dual <= clf.certificate_.primal
    True
    """

    name = "sgd-r"
    losses = LOSSES
    complete_epochs = False
    options: ClassVar[Mapping[str, Option]] = {
        "max_steps": Integer(low=1, optional=True, help="budget in steps, in place of max_iter epochs"),
    }

    def __init__(self, *, max_steps: int | None = None) -> None:
        self.max_steps = max_steps


class SGDS(_SGD):
    """SGD-s (S3): complete epochs in random order, each example once, with S3's lower bound as stopping rule.

    Parameters
    ----------
    f : float, default=1.2
        The objective is computed in full only when its free estimate is within f times `tol` of the bound.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0.01, solver="sgd-s", random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    """

    name = "sgd-s"
    losses = LOSSES
    options: ClassVar[Mapping[str, Option]] = {"f": PATIENCE}

    def __init__(self, *, f: float = 1.2) -> None:
        self.f = f

    def solve_joint(
        self,
        problem: JointProblem,
        budget: Budget,
        seed: int,
        start: WarmStart | None = None,
        report: Report | None = None,
    ) -> Solution:
        """Solve the problem of all classes jointly; w and q of start and solution are matrices laid out flat."""
        found = native.joint_sgd(
            problem.core,
            make_run(budget, report),
            patience=float(self.f),
            tol=budget.tol,
            max_passes=int(budget.max_iter),
            max_steps=0,
            seed=continued_seed(seed, start.t if start else 0),
            sequence=None,
            start_w=start.w if start else None,
            start_t=start.t if start else 0,
        )
        return Solution.from_core(found, self.describe(), "max_iter")


class SGDM(_SGD):
    """SGD-m (S3): as `SGDS`, but in some epochs each example is presented several times at the cost of one.

    Parameters
    ----------
    multiplicity : int, default=5
        Presentations of an example at a time, in the epochs T (from 0) with ``0 < T mod period < burst``.
    period, burst : int, default=9 and 5
        Which epochs those are.
    f : float, default=1.2
        As in `SGDS`.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0.01, solver="sgd-m", random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    """

    name = "sgd-m"
    options: ClassVar[Mapping[str, Option]] = {
        "multiplicity": Integer(low=1, help="presentations of an example at a time, in some epochs"),
        "period": Integer(low=1, help="multiplicity in the epochs T with 0 < T mod period < burst"),
        "burst": Integer(low=0, help="multiplicity in the epochs T with 0 < T mod period < burst"),
        "f": PATIENCE,
    }

    def __init__(self, *, multiplicity: int = 5, period: int = 9, burst: int = 5, f: float = 1.2) -> None:
        self.multiplicity = multiplicity
        self.period = period
        self.burst = burst
        self.f = f
