"""Pegasos, in all the variants of S0 and S2."""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.options import Choice, Flag, Integer, names
from pegasos.base.outcome import Budget, Point, Solution, Start, joined
from pegasos.base.parameters import parameter, parameters
from pegasos.base.progress import Shifted
from pegasos.base.solver import LOSSES, Supports, Terms, as_continued
from pegasos.problems.kernel import KernelProblem
from pegasos.problems.linear import JOINT_LOSSES, BlocksProblem, JointProblem, LinearProblem, StreamProblem
from pegasos.problems.sequence import Labellings, SequencePoint, SequenceProblem
from pegasos.solvers._blocks import BlockFit, descent
from pegasos.solvers._intercept_search import RootSearch
from pegasos.solvers._subgradient import OUTPUTS, STREAM_OUTPUTS, Batches, SubgradientSolver

#: Steps of a run of the search over the intercept, as a share of the steps behind it.
GROWTH = 0.5


@parameters
class Pegasos(Batches, SubgradientSolver):
    """Primal estimated sub-gradient solver (S0): step size ``1 / (alpha t)``.

    Parameters
    ----------
    batch_size : int, default=1
        Examples per step (S0 Fig. 2), from 1 to all of them.
    sampling : {"auto", "permute", "blocks", "fixed", "replace", "subset"}, default="auto"
        The order of visits. "permute" visits all examples in a new random order each epoch. "blocks" visits runs of
        neighbours, the runs in a new random order each epoch; it is two to three times faster on data larger than the
        caches, but only for examples already in random order. "auto" takes "blocks" if the data are that large and
        neighbours are no more alike than other examples, and otherwise "permute". "fixed" visits all examples in one
        random order, which is kept. "replace" makes independent draws, as in S0's analysis. "subset" draws a random
        subset without repetition for each batch. S0 section 7.5 compares them.
    project : bool, default=False
        Whether each step projects onto the ball that must contain the optimum; for the hinge loss its radius is
        ``1 / sqrt(alpha)``.
    average : bool, "suffix" or "last", default="suffix"
        What each check evaluates: False is the iterate at that time, "suffix" the mean of the last half to three
        quarters of the iterates, which is the most accurate in practice. The fit returns the best that was checked. Two
        outputs can be requested by name: True is the mean of all iterates, as in S0's analysis, and "last" the last
        iterate, as in its experiments. The fit returns these whatever earlier checks found.
    random_stops : int, default=0
        If positive, stop at this number of random times and return the best of these iterates (S0 Lemma 3). This needs
        ``average=False``.
    stop_evaluation : {"exact", "sample"}, default="exact"
        Compare the random stops by the objective on all examples, or on a sample of ``1 / (alpha tol)`` examples (S0
        footnote 1). With ``tol=0`` the sample is that of 1e-3.
    start : {"zero", "random"}, default="zero"
        First weights: zero, or random in the ball (S2). The first step multiplies them by zero, so a random start only
        decides which examples of the first batch count as violated.
    count_idle_steps : bool, default=True
        If False, t does not advance on a step without a violation, so that steps shrink more slowly (S2 section 4.5).
    free_intercept : {"subgradient", "batch", "search"}, default="subgradient"
        How to find a free intercept, the estimator's ``intercept="free"`` (S0 section 6). "subgradient" makes a
        sub-gradient step along with the step of the weights, of size at most ``1 / sqrt(t)``. "batch" takes the best
        intercept of each batch; it is for large batches, because it is biased for small ones, and for the hinge loss
        only. "search" searches for the intercept, with a run at each value.
    max_steps : int, default=None
        Budget in steps, instead of the estimator's ``max_iter`` epochs.
    certify : bool, default=True
        Only for data sets on disk. False leaves out the pass over all examples for the objective, so that the time of a
        fit depends on the steps and not on the number of examples. The certificate then has the lower bound, which is
        free, and infinity as the upper bound.

    With a kernel (S0 section 4) there is no intercept, and `random_stops`, `start` and `count_idle_steps` are not
    supported.

    Examples
    --------
    >>> from pegasos import LinearSVC
    >>> from pegasos.solvers import Pegasos
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(200, centers=2, random_state=0)
    >>> clf = LinearSVC(alpha=0.01, tol=0.01, solver=Pegasos(batch_size=8, project=True), random_state=0).fit(X, y)
    >>> clf.certificate_.gap <= 0.01
    True
    """

    name = "pegasos"
    schedule = "pegasos"

    project: bool = parameter(False, Flag(help="project onto the ball of radius 1/sqrt(alpha) after each step"))
    random_stops: int = parameter(
        0, Integer(low=0, high=1_000_000, help="number of random stopping times; the best iterate wins (S0 Lemma 3)")
    )
    stop_evaluation: str = parameter(
        "exact", Choice(values=names("exact", "sample"), help="compare random stops on all examples or a sample")
    )
    start: str = parameter(
        "zero", Choice(values=names("zero", "random"), help="first weights: zero, or random in the ball (S2)")
    )
    count_idle_steps: bool = parameter(
        True, Flag(help="advance t also on steps without a violation (S2 section 4.5: no)")
    )
    free_intercept: str = parameter(
        "subgradient",
        Choice(
            values=names("subgradient", "batch", "search"),
            help="how to find a free intercept (S0 section 6): by its sub-gradient, as the best of each batch, or by a "
            "search around the descent",
        ),
    )
    certify: bool = parameter(
        True, Flag(help="for data sets on disk: end with a pass over all examples for the objective")
    )

    def check(self) -> None:
        super().check()
        if self.random_stops and self.average is not False:
            raise ValueError(
                f"random_stops={self.random_stops} chooses the iterate to return, and average={self.average!r} another "
                "output; pass average=False with it"
            )

    def _check_free_intercept(self, loss: str) -> None:
        """Raise a ValueError where the loss or another option does not go with `free_intercept`."""
        if self.free_intercept == "batch" and loss != "hinge":
            raise ValueError(
                "free_intercept='batch' takes the best intercept of each batch, which is known for loss='hinge' and "
                f"not for loss={loss!r}; use free_intercept='subgradient' or 'search'"
            )
        if self.free_intercept == "batch" and self.batch_size == 1:
            raise ValueError(
                "free_intercept='batch' takes the best intercept of each batch, and batch_size=1 has none: an example "
                "alone has no loss at some intercept; raise batch_size, or use free_intercept='subgradient'"
            )
        if self.free_intercept == "search" and self.random_stops:
            raise ValueError(
                f"random_stops={self.random_stops} ends a run at random, and free_intercept='search' makes many runs; "
                "leave one of them out"
            )

    def run(self, problem: LinearProblem, terms: Terms[Point], start: Start[Point], steps: int) -> Solution[Point]:
        if problem.free_intercept:
            self._check_free_intercept(problem.loss)
        if not (problem.free_intercept and self.free_intercept == "search"):
            return super().run(problem, terms, start, steps)
        # Runs at fixed intercepts, each from where the last one ended. One forgets what came before as its steps
        # outnumber those behind it, so runs grow with t, but a continued fit makes several of them too. The last one
        # takes what a short one would get. An intercept that an earlier fit found is near.
        root = RootSearch(step=0.1 if start.t else 1.0)
        made = 0
        whole: Solution[Point] | None = None
        slopes: dict[bool, NDArray[np.float64]] = {}  # met where the loss rises with the intercept, and where it falls
        per_epoch = math.ceil(problem.n_rows / self.batch_size)
        while True:
            longest = max(GROWTH * made, steps / 4)
            count = max(per_epoch, math.ceil(min(GROWTH * start.t, longest)))
            if made + 1.5 * count > steps:
                count = steps - made
            shifted = replace(terms, progress=Shifted(terms.progress, whole.epochs if whole else 0.0))
            try:
                found = self.descend(problem, shifted, start, count, slopes.values())
            except KeyboardInterrupt:
                if whole is None or not terms.budget.keep:
                    raise
                return replace(whole, reason="interrupt")
            made += found.steps
            more = self.solution(found)
            whole = more if whole is None else joined(whole, replace(more, t=more.t - whole.t), self.returns_best)
            if terms.budget.tol > 0 and whole.bounds.gap <= terms.budget.tol and found.reason != "callback":
                return replace(whole, reason="tol")
            if found.reason != "budget" or made >= steps:
                return whole
            slopes[found.intercept_slope > 0] = found.met
            w = found.w.copy()
            w[-1] = root.after(float(w[-1]), found.intercept_slope)
            start = Start(Point(w, found.q), found.t)
            terms = terms.within(elapsed=found.seconds)

    def first_w(self, problem: LinearProblem, seed: int) -> NDArray[np.float64]:
        if self.start == "zero":
            return super().first_w(problem, seed)
        random = np.random.default_rng(seed)
        direction = random.standard_normal(problem.dimension)
        if problem.free_intercept or not problem.has_intercept:
            direction[-1] = 0
        radius = random.random() ** (1 / problem.dimension) / math.sqrt(problem.alpha)
        return direction * (radius / np.linalg.norm(direction))

    def stop_sample(self, problem: LinearProblem, budget: Budget) -> int:
        if self.stop_evaluation == "exact":
            return 0
        share = problem.alpha * (budget.tol or 1e-3)  # which may be as good as zero
        size = math.ceil(1 / share) if share * problem.n_rows > 1 else problem.n_rows
        return size if size < problem.n_rows else 0

    def _joint(self, problem: JointProblem, terms: Terms[Point]) -> Solution[Point]:
        steps = self._steps(terms.budget, problem.n_rows, "examples")
        return self.solution(native.joint_subgradient(problem.core, terms.run, **steps, **as_continued(terms)))

    def _sequences(self, problem: SequenceProblem, terms: Terms[Labellings]) -> Solution[SequencePoint]:
        tol, steps = terms.budget.tol, self._steps(terms.budget, problem.n_rows, "sequences")
        found = native.sequence_pegasos(problem.core, terms.run, seed=terms.seed, tol=tol, visits=None, **steps)
        return Solution.from_core(found.run, SequencePoint.from_core(found), self.describe(), self.budget_reason)

    def _steps(self, budget: Budget, n: int, what: str) -> dict[str, Any]:
        """The steps on n examples, as the core takes them where weights are a matrix."""
        return {
            "batch": int(self.batch_size),
            "sampling": self.plain_sampling,
            "project": bool(self.project),
            "output": OUTPUTS[self.average],
            "max_steps": self.count_steps(budget, n, what),
        }

    def _blocks(self, problem: BlocksProblem, tol: float) -> BlockFit:
        output = STREAM_OUTPUTS[self.average]
        return descent(problem, tol, self.returns_best, project=bool(self.project), output=output)

    def _stream(self, problem: StreamProblem) -> native.Stream:
        if problem.alpha is None:
            raise ValueError("Pegasos on a stream needs alpha, the weight of the norm; pass alpha, such as alpha=1e-5")
        alpha, output = float(problem.alpha), STREAM_OUTPUTS[self.average]
        project = bool(self.project)
        return native.Stream(problem.dimension, problem.loss, problem.parameter, alpha, project=project, output=output)

    #: Values of options that are for one linear problem alone.
    _plain: ClassVar = {"random_stops": (0,), "start": ("zero",), "count_idle_steps": (True,)}
    _certified: ClassVar = {"certify": (True,)}
    supports: ClassVar = {
        LinearProblem: Supports(
            SubgradientSolver._linear,
            losses=LOSSES,
            intercepts=("penalized", "free"),
            early_stopping=True,
            options=_certified,
        ),
        JointProblem: Supports(_joint, losses=JOINT_LOSSES, early_stopping=True, options=_plain | _certified),
        KernelProblem: Supports(
            SubgradientSolver._kernel,
            intercepts=(),
            continued=False,
            early_stopping=True,
            exact=False,
            options=_plain | _certified,
        ),
        SequenceProblem: Supports(_sequences, continued=False, options=_plain | _certified),
        BlocksProblem: Supports(
            _blocks,
            losses=LOSSES,
            continued=False,
            options={**_plain, "batch_size": (1,), "sampling": ("auto", "permute", "blocks")},
        ),
        StreamProblem: Supports(
            _stream,
            losses=LOSSES,
            options={
                **_plain,
                **_certified,
                "batch_size": (1,),
                "sampling": ("auto", "permute"),
                "stop_evaluation": ("exact",),
                "free_intercept": ("subgradient",),
                "max_steps": (None,),
            },
        ),
    }
