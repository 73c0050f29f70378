"""Block-coordinate Frank-Wolfe, for sequences of labels."""

from typing import ClassVar

from pegasos._core import native
from pegasos.base.options import Integer
from pegasos.base.outcome import Solution
from pegasos.base.parameters import parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms
from pegasos.problems.sequence import Labellings, SequencePoint, SequenceProblem


@parameters
class FrankWolfe(Solver):
    """Block-coordinate Frank-Wolfe in pairs (Lacoste-Julien and others 2013): dual ascent, one sequence at a time.

    A visit decodes a sequence to find the labels that violate its margin most. It moves dual weight to them, by the
    best step, from the labels with weight that violate it least. The dual value is always known. The gap takes one
    decoding of all sequences; the visits give an estimate of it. Visits follow one another, because each needs the
    result of the previous one. ``n_jobs`` threads share the checks of the gap, and the result does not depend on their
    number.

    Parameters
    ----------
    decodings : int, default=1
        The largest number of times that a visit decodes its sequence: again after each of its own steps.

    Examples
    --------
    >>> from pegasos import SequenceSVC
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=dogs"], ["w=bark"]]]
    >>> y = [["D", "N", "V"], ["N", "V"]]
    >>> model = SequenceSVC(solver="frank-wolfe", tol=1e-6).fit(X, y)
    >>> model.certificate_.gap <= 1e-6
    True
    """

    name = "frank-wolfe"

    decodings: int = parameter(1, Integer(low=1, high=1000, help="how often a visit decodes its sequence, at most"))

    def _sequences(self, problem: SequenceProblem, terms: Terms[Labellings]) -> Solution[SequencePoint]:
        start = terms.start
        found = native.sequence_frank_wolfe(
            problem.core,
            terms.run,
            tol=terms.budget.tol,
            max_epochs=float(terms.budget.max_iter),
            decodings=int(self.decodings),
            seed=terms.seed,
            visits=None,
            owners=start.point.owners if start else None,
            shares=start.point.shares if start else None,
            labels=start.point.labels if start else None,
        )
        return Solution.from_core(found.run, SequencePoint.from_core(found), self.describe())

    supports: ClassVar = {SequenceProblem: Supports(_sequences)}
