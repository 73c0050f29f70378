"""SGD-QN: stochastic gradient descent with a diagonal matrix of step sizes."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Choice, Integer
from pegasos.base.outcome import Point, Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms, as_continued
from pegasos.problems.linear import LinearProblem
from pegasos.solvers._subgradient import OUTPUTS, Descent
from pegasos.solvers.step_sizes import T0, choose_t0

#: The cost of applying the regulariser to all weights, in steps on an example, is a sixteenth of the steps between.
SHARE = 16


@parameters
class SGDQN(Descent, Solver):
    """SGD-QN (Bordes, Bottou, Gallinari 2009, corrected 2010; S3 section 3): a step size of its own for each weight.

    The step sizes are a diagonal matrix. Its inverse is a sum of estimates of second derivatives, from differences of
    gradients. The estimates and the regulariser are applied every `skip` steps, so that the cost of a step is
    proportional to the number of nonzero features of the example.

    Parameters
    ----------
    skip : int, default=None
        Steps from one use of the regulariser to the next. None means ``16 n_features`` divided by the mean number of
        nonzero features of an example, at most the number of examples.
    t0 : float, default=None
        Step sizes begin at ``1 / (alpha t0)``; at least `skip`. None means that trials choose it, as in `SvmSgd`.
    sampling, max_steps
        As in `Pegasos`.
    average : False or "last", default=False
        False returns the best of the iterates that were checked, "last" the last iterate.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import SGDQN
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.1, tol=0.05, solver=SGDQN(), random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.05
    True
    """

    name = "sgd-qn"

    skip: int | None = parameter(
        None, Integer(low=1, optional=True, help="steps from one use of the regulariser to the next")
    )
    t0: float | None = parameter(None, T0)
    average: bool | str = parameter(
        False,
        Choice(
            values={"no": False, "last": "last"},
            help="what to return; no: the best iterate of the checks; last: the last iterate",
        ),
    )

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        n = problem.n_rows
        skip = choose_skip(problem) if self.skip is None else int(self.skip)
        t0 = choose_t0(problem, terms.seed, skip) if self.t0 is None else float(self.t0)
        if t0 < skip:
            raise ValueError(
                f"t0={t0:g} is below skip={skip}, so that the regulariser would turn weights round; make t0 larger, or "
                "skip smaller"
            )
        sampling = problem.choose_order(terms.seed) if self.sampling == "auto" else self.sampling
        found = native.sgd_qn(
            problem.core,
            terms.run,
            t0=t0,
            skip=skip,
            sampling=sampling,
            output=OUTPUTS[self.average],
            max_steps=terms.budget.max_iter * n if self.max_steps is None else int(self.max_steps),
            start_q=terms.start.point.q if terms.start else None,
            **as_continued(terms),
        )
        used = SGDQN(max_steps=self.max_steps, sampling=sampling, average=self.average, skip=skip, t0=t0)
        return used.solution(found)

    supports: ClassVar = {LinearProblem: Supports(_linear)}


def choose_skip(problem: LinearProblem) -> int:
    """As many steps as make the regulariser a small part of their cost; at least one use an epoch."""
    mean = max(problem.entries / problem.n_rows, 1.0)
    return max(1, min(int(SHARE * (problem.dimension - 1) / mean), problem.n_rows))
