"""SGD-r, SGD-s and SGD-m: stochastic gradient descent with a stopping rule (S3)."""

from collections.abc import Mapping
from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Integer, Number
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import MaxSteps, parameter, parameters
from pegasos.base.solver import LOSSES, Solver, Supports, Terms, as_continued
from pegasos.problems.linear import JOINT_LOSSES, BlocksProblem, JointProblem, LinearProblem
from pegasos.solvers._blocks import BlockFit, descent

CHECK_FACTOR = Number(low=1, help="compute the objective in full if its free estimate is within this factor of tol")


class _SGD(Solver):
    """What the three share; `cpp/linear/solvers/sgd.cpp` has the mathematics."""

    complete_epochs: ClassVar[bool] = True
    older_names: ClassVar[Mapping[str, str]] = {"f": "check_factor"}
    # Options of some of them.
    check_factor: float = 1.2
    multiplicity: int = 1
    period: int = 9
    burst: int = 5

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        found = native.sgd(
            problem.core,
            terms.run,
            complete_epochs=self.complete_epochs,
            multiplicity=int(self.multiplicity),
            period=int(self.period),
            burst=int(self.burst),
            max_passes=int(terms.budget.max_iter) if self.max_steps is None else 2**63,
            max_steps=int(self.max_steps or 0),
            sampling="permute" if self.complete_epochs else "replace",
            check_factor=float(self.check_factor),
            **as_continued(terms),
        )
        return self.solution(found)

    supports: ClassVar = {LinearProblem: Supports(_linear, losses=LOSSES, early_stopping=True)}


@parameters
class SGDR(MaxSteps, _SGD):
    """SGD-r (S3): examples drawn at random, in the variable ``a = alpha t w``, in which shrinking costs nothing.

    Its dual variables obey their bounds only in the limit (S3 footnote 4). So the certificate uses the share of margin
    errors among the visits of each example instead.

    Parameters
    ----------
    max_steps : int, default=None
        Budget in steps (S3's t_max), instead of the estimator's ``max_iter`` epochs.

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
    complete_epochs = False


@parameters
class SGDS(_SGD):
    """SGD-s (S3): complete epochs in random order, each example once, with S3's lower bound as stopping rule.

    Parameters
    ----------
    check_factor : float, default=1.2
        The objective is computed in full only when its free estimate is within `check_factor` times `tol` of the
        bound.

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

    check_factor: float = parameter(1.2, CHECK_FACTOR)

    def _joint(self, problem: JointProblem, terms: Terms[Point]) -> Solution[Point]:
        found = native.joint_sgd(
            problem.core,
            terms.run,
            check_factor=float(self.check_factor),
            max_passes=int(terms.budget.max_iter),
            max_steps=0,
            **as_continued(terms),
        )
        return self.solution(found)

    def _blocks(self, problem: BlocksProblem, tol: float) -> BlockFit:
        return descent(problem, tol)

    supports: ClassVar = {
        **_SGD.supports,
        JointProblem: Supports(_joint, losses=JOINT_LOSSES, early_stopping=True),
        BlocksProblem: Supports(_blocks, losses=LOSSES, continued=False),
    }


@parameters
class SGDM(_SGD):
    """SGD-m (S3): as `SGDS`, but in some epochs each example is presented several times at the cost of one.

    Parameters
    ----------
    multiplicity : int, default=5
        How often an example is presented at a time, in the epochs T (counted from 0) with ``0 < T mod period < burst``.
    period, burst : int, default=9 and 5
        The choice of these epochs.
    check_factor : float, default=1.2
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
    supports: ClassVar = {LinearProblem: Supports(_SGD._linear, early_stopping=True)}

    multiplicity: int = parameter(5, Integer(low=1, help="how often to present an example at a time, in some epochs"))
    period: int = parameter(9, Integer(low=1, help="multiplicity in the epochs T with 0 < T mod period < burst"))
    burst: int = parameter(5, Integer(low=0, help="multiplicity in the epochs T with 0 < T mod period < burst"))
    check_factor: float = parameter(1.2, CHECK_FACTOR)
