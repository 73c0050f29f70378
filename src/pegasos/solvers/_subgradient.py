"""What the stochastic sub-gradient solvers share: everything but the step sizes."""

import math
from collections.abc import Iterable
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.base.options import Choice, Integer, names
from pegasos.base.outcome import Budget, Point, Solution, Start
from pegasos.base.parameters import MaxSteps, parameter, parameters
from pegasos.base.solver import Solver, Supports, Terms, continued_seed
from pegasos.problems.kernel import KernelPoint, KernelProblem
from pegasos.problems.linear import LinearProblem

AVERAGE = Choice(
    values={"no": False, "last": "last", "yes": True, "suffix": "suffix"},
    help="what to return; no: the best iterate of the checks; last: the last iterate; yes: the mean of all iterates; "
    "suffix: the best mean of the last half to three quarters of them",
)

#: The core's names for the values of `average`.
OUTPUTS = {False: "best", "last": "last", True: "average", "suffix": "best_suffix"}
#: The same where nothing is checked, so that there is no best one, or where others see to that.
STREAM_OUTPUTS = {False: "last", "last": "last", True: "average", "suffix": "suffix"}
#: The same of a walk with a kernel, which is told beside it whether the best one is wanted.
KERNEL_OUTPUTS = {**STREAM_OUTPUTS, "random": "random"}


@parameters
class Batches:
    """Steps on several examples at a time."""

    batch_size: int = parameter(1, Integer(low=1, help="examples per step, k in S0 Fig. 2"))


@parameters
class Descent(MaxSteps):
    """In which order examples are visited, and which iterate is returned."""

    sampling: str = parameter(
        "auto",
        Choice(
            values=names("auto", "permute", "blocks", "fixed", "replace", "subset"),
            help="order of visits; permute: a new permutation each epoch; blocks: runs of neighbours in random order, "
            "faster, for data in random order; auto: whichever of these does better; fixed: one permutation, kept; "
            "replace: independent draws; subset: for each batch a subset without repetition",
        ),
    )
    average: bool | str = parameter("suffix", AVERAGE)


class SubgradientSolver(Descent, Solver):
    """Stochastic sub-gradient descent; see `cpp/linear/solvers/subgradient.cpp` for the mathematics."""

    schedule: ClassVar[str]

    batch_size: int  # an option of most
    # Options of Pegasos alone.
    project: bool = False
    count_idle_steps: bool = True
    random_stops: int = 0
    free_intercept: str = "subgradient"

    @property
    def returns_best(self) -> bool:
        """Whether the best of what checks looked at is returned, not an output that was asked for by name."""
        return not self.random_stops and OUTPUTS[self.average].startswith("best")

    def step_parameter(self, problem: LinearProblem, steps: int) -> float:
        """The number in the schedule, where it has one."""
        return 0.0

    def _linear(self, problem: LinearProblem, terms: Terms[Point]) -> Solution[Point]:
        start = terms.start or Start(Point(self.first_w(problem, terms.seed)))
        solver = self
        if self.sampling == "auto":
            solver = copy(self)
            solver.sampling = problem.choose_order(terms.seed)
        return solver.run(problem, terms, start, self.count_steps(terms.budget, problem.n_rows))

    @property
    def plain_sampling(self) -> str:
        """Where runs of neighbours are hardly faster: with a kernel, of sequences and of all classes together."""
        return "permute" if self.sampling == "auto" else self.sampling

    def run(self, problem: LinearProblem, terms: Terms[Point], start: Start[Point], steps: int) -> Solution[Point]:
        """At most so many steps from there."""
        return self.solution(self.descend(problem, terms, start, steps))

    def count_steps(self, budget: Budget, n: int, what: str = "examples") -> int:
        """The budget in steps, n examples being an epoch."""
        if self.batch_size > n:
            raise ValueError(f"batch_size={self.batch_size} is more than the {n} {what}; lower it")
        return math.ceil(budget.max_iter * n / self.batch_size) if self.max_steps is None else int(self.max_steps)

    def descend(
        self,
        problem: LinearProblem,
        terms: Terms[Point],
        start: Start[Point],
        steps: int,
        counterweights: Iterable[NDArray[np.float64]] = (),
    ) -> native.Solution:
        """One run of the core; `counterweights` are slopes met by others, at other fixed intercepts."""
        intercept = {"search": "fixed"}.get(self.free_intercept, self.free_intercept)
        return native.subgradient(
            problem.core,
            terms.run,
            schedule=self.schedule,
            step_parameter=float(self.step_parameter(problem, steps)),
            batch=int(self.batch_size),
            sampling=self.sampling,
            project=bool(self.project),
            radius=self.ball_radius(problem),
            count_idle_steps=bool(self.count_idle_steps),
            output="random_stop" if self.random_stops else OUTPUTS[self.average],
            random_stops=int(self.random_stops),
            stop_sample=self.stop_sample(problem, terms.budget),
            max_steps=steps,
            tol=terms.budget.tol,
            seed=continued_seed(terms.seed, start.t),
            intercept=intercept if problem.free_intercept else "in_w",
            visits=None,
            start_w=start.point.w,
            start_t=start.t,
            start_q=start.point.q,
            counterweights=list(counterweights),
        )

    def _kernel(self, problem: KernelProblem, terms: Terms[KernelPoint]) -> Solution[KernelPoint]:
        """One walk over the examples, always from zero; `cpp/kernel/solvers/walk.cpp` has the mathematics."""
        perceptron, average = self.schedule == "perceptron", self.average
        found = native.kernel_walk(
            problem.source,
            problem.core,
            terms.run,
            cached_rows=problem.cached_rows,
            labels=problem.y,
            weights=problem.s if perceptron else problem.s * (problem.n_rows / problem.s.sum()),
            perceptron=perceptron,
            batch=int(self.batch_size),
            sampling=self.plain_sampling,
            project=bool(self.project),
            output=KERNEL_OUTPUTS[average],
            best=average is False or average == "suffix",
            lambda_=problem.alpha,
            tol=terms.budget.tol,
            max_steps=self.count_steps(terms.budget, problem.n_rows),
            seed=terms.seed,
            visits=None,
            held_out=problem.held_out,
            patience=problem.patience,
        )
        return Solution.from_core(found, problem.point(found), self.describe(), self.budget_reason)

    def first_w(self, problem: LinearProblem, seed: int) -> NDArray[np.float64]:
        """Where a run that continues no other begins."""
        return np.zeros(problem.dimension)

    def ball_radius(self, problem: LinearProblem) -> float:
        """Of the ball to project onto; 0 is the one that must contain the optimum."""
        return 0.0

    def stop_sample(self, problem: LinearProblem, budget: Budget) -> int:
        """On how many examples to compare random stops; 0 is all."""
        return 0

    supports: ClassVar = {LinearProblem: Supports(_linear)}
