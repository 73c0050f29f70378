"""The driver of a distributed fit: rounds until the duality gap of every problem is within `tol`.

Each worker starts a round from the same w and makes epochs of dual coordinate ascent on its own rows. Then the changes
of all are joined (``cpp/linear/solvers/ascent.hpp``). The certificate is a round of measuring: P and D from sums over
all rows, made anew and in double precision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.estimator import shortfall
from pegasos.base.memory import free_memory
from pegasos.base.outcome import Budget, Point, Solution, UsedSolvers, keeping, refuse_overflow, sizes
from pegasos.base.progress import Progress, Unsaved, make_run
from pegasos.certificate import Certificate
from pegasos.linear.distributed.plan import (
    TURNS,
    Message,
    Order,
    Plan,
    Reply,
    Survey,
    Visited,
    payload,
    sum_measures,
)
from pegasos.linear.distributed.shard import Shard, serve


class Lost(Exception):
    """A worker went away, or a shard is not where it was."""


class Late(Exception):
    """Workers did not answer in time."""


class Group(Protocol):
    """The workers of a fit: what a carrier such as Dask has to have.

    Every shard is with exactly one member. What a member does is `serve`, with its shards and a message. Each wait for
    members ends after `seconds` at the latest, with `Late`: a member may hang.
    """

    def __len__(self) -> int:
        """The number of members."""
        ...

    def call(self, messages: Sequence[Message], seconds: float) -> list[Reply]:
        """Send each member its message, and wait for all replies; `Lost` where one cannot come."""
        ...

    def recover(self, seconds: float) -> None:
        """After a loss: have all shards made that are no more, and share them out among those who are there."""
        ...

    def balance(self, seconds: float) -> bool:
        """Between rounds: move shards, as they are, to workers that joined; whether members have others now."""
        ...


class LocalGroup:
    """Shards shared out among members in this process, one after the other: the smallest carrier.

    Parameters
    ----------
    shards : list of list of Shard
        Those of each member.
    make_again : callable, default=None
        What `recover` shares out anew, after `call` was made to raise `Lost`.
    """

    def __init__(
        self, shards: Sequence[Sequence[Shard]], make_again: Callable[[], Sequence[Sequence[Shard]]] | None = None
    ) -> None:
        self.shards = shards
        self.make_again = make_again

    def __len__(self) -> int:
        return len(self.shards)

    def call(self, messages: Sequence[Message], seconds: float) -> list[Reply]:
        return [serve(shards, message) for shards, message in zip(self.shards, messages, strict=True)]

    def recover(self, seconds: float) -> None:
        if self.make_again is not None:
            self.shards = self.make_again()

    def balance(self, seconds: float) -> bool:
        return False


@dataclass
class Tally:
    """What a fit took."""

    rounds: int = 0
    bytes: int = 0
    lost: int = 0  # times workers were lost, and it recovered


#: What the turns of a round are chosen by: rough costs, and how much work messages should at least be beside.
SECONDS_PER_ENTRY, SECONDS_PER_ROUND, SECONDS_PER_BYTE, MESSAGES_WORTH = 4e-9, 0.03, 2e-9, 5
FEWEST_TURNS = 4

#: Seconds after `max_time` that workers have to answer, and how many times as long as is usual a pass may take them.
GRACE, SLOWEST = 5.0, 10

#: Where workers are lost more often than this without a round between, a fit gives up.
MOST_LOST_IN_A_ROW = 10


@dataclass
class Ascent:
    """The ascent on one problem of a fit: the core's, and what the members are told of it."""

    core: native.Ascent
    target: int
    listener: Progress
    shares: list[float] = field(default_factory=list)  # of their last changes that members have yet to keep
    due: bool = False  # a measure

    def order(self, k: int, turns: int) -> Order:
        """The next order for member k."""
        if self.due:
            return Order(self.target, self.core.weights, self.shares[k])
        return Order(self.target, self.core.w, self.shares[k], self.core.caution, turns, self.core.b)

    def begin(self, sums: native.Measure | None, n_members: int) -> None:
        """Begin joins of so many members, whose dual variables amount to the sums; None: they are zero."""
        self.core.begin_joins(n_members)
        self.due, self.shares = False, [0.0] * n_members
        if sums is not None:
            self.core.set_point(sums)

    def join(self, answers: Sequence[Visited]) -> None:
        steps = [native.Steps(answer.linear, answer.gap, answer.visits) for answer in answers]
        self.shares = self.core.join([answer.change for answer in answers], steps)
        self.due = self.core.end_epoch()

    def check(self, answers: Sequence[native.Measure], run: native.Run, out_of_time: bool, last: bool) -> None:
        for answer in answers:
            self.core.add(answer)
        self.core.end_check(run, out_of_time, last)
        self.due, self.shares = False, [1.0] * len(answers)


@dataclass
class Drive:
    """A fit to the problems of the plan. `local_epochs` is the number of epochs a worker makes in a round; None chooses
    from the sizes."""

    group: Group
    plan: Plan
    surveys: Sequence[Survey]
    budget: Budget
    local_epochs: float | None = None
    listeners: Sequence[Progress] = ()

    def __post_init__(self) -> None:
        self.listeners = self.listeners or [Progress() for _ in self.plan.targets]
        self.started = clock.now() - self.budget.elapsed
        self.tally = Tally()
        self.stands = 0
        self.turns = self._choose_turns()
        self.ascents = [self._make_ascent(*pair) for pair in zip(self.plan.targets, self.listeners, strict=True)]

    def _make_ascent(self, target: int, listener: Progress) -> Ascent:
        core = native.Ascent(self.plan.dimension, self.plan.n_rows, tol=self.budget.tol, usual=1.0)
        if self.plan.bias:
            core.set_intercept(self.plan.bias, self.plan.rho)
        return Ascent(core, target, listener)

    @property
    def seconds(self) -> float:
        return clock.now() - self.started

    def run(self) -> tuple[list[Solution[Point]], Tally]:
        """What was found for each problem, and what it took."""
        # The driver's products are small. Threads of a BLAS would for long wait for the next one on processors that the
        # workers may be on: two workers on two processors lost a third of their time to that.
        with threadpool_limits(1, "blas"), keeping(self.budget.keep, [one.core for one in self.ascents]):
            try:
                self._make_rounds()
            except Late:
                for ascent in self.ascents:
                    ascent.core.reason = ascent.core.reason or "max_time"
        return [self._found(ascent) for ascent in self.ascents], self.tally

    def _make_rounds(self) -> None:
        fresh, in_a_row = True, 0
        while any(not ascent.core.reason for ascent in self.ascents):
            try:
                if self.group.balance(self._patience()) or fresh:
                    self._synchronise()
                    fresh = False
                self._round()
                in_a_row = 0
            except Lost as loss:
                self.tally.lost += 1
                in_a_row += 1
                if in_a_row > MOST_LOST_IN_A_ROW:
                    raise RuntimeError(f"{in_a_row} times in a row workers were lost, at last: {loss}") from loss
                self.group.recover(self._patience())
                fresh = True

    def _patience(self) -> float:
        """Seconds that a wait for workers may take: what is left, and some to measure in."""
        if self.budget.max_time is None:
            return np.inf
        entries = self.plan.entries * len(self.plan.targets) / max(len(self.group), 1)
        grace = GRACE + SLOWEST * SECONDS_PER_ENTRY * entries
        return max(self.budget.max_time + grace - self.seconds, 0.0)

    def _synchronise(self) -> None:
        """Make the driver's vectors what the dual variables amount to, whatever happened to some of them."""
        begins, self.turns = self.stands == 0, self._choose_turns()
        # At the beginning all is zero; later it is measured, and where does not matter.
        zeros = np.zeros(self.plan.dimension)
        orders = () if begins else tuple(Order(ascent.target, zeros) for ascent in self.ascents)
        replies = self._call([orders] * len(self.group), expected=False)
        for number, ascent in enumerate(self.ascents):
            if not ascent.core.reason:
                answers = [] if begins else [cast(native.Measure, reply.answers[number]) for reply in replies]
                ascent.begin(sum_measures(answers) if answers else None, len(replies))

    def _round(self) -> None:
        """One round of all problems that are not done."""
        active = [ascent for ascent in self.ascents if not ascent.core.reason]
        out_of_time = self._is_out_of_time()
        for ascent in active:
            ascent.due = ascent.due or out_of_time or self._is_last(ascent)
            if ascent.due:
                ascent.core.begin_check()
        measured = [ascent.due for ascent in active]
        orders = [tuple(ascent.order(k, self.turns) for ascent in active) for k in range(len(self.group))]
        replies = self._call(orders)
        for number, ascent in enumerate(active):
            answers = [reply.answers[number] for reply in replies]
            if measured[number]:
                budget = replace(self.budget, elapsed=self.seconds, max_time=None, n_jobs=1, keep=False)
                run = make_run(budget, Unsaved(ascent.listener))
                ascent.check(cast(list[native.Measure], answers), run, self._is_out_of_time(), self._is_last(ascent))
                refuse_overflow(ascent.core.bounds.primal, of=sizes(self.plan))
            else:
                ascent.join(cast(list[Visited], answers))
                ascent.listener.progressed(ascent.core.epochs, self.seconds)

    def _call(self, orders: Sequence[tuple[Order, ...]], expected: bool = True) -> list[Reply]:
        left = np.inf if self.budget.max_time is None else max(self.budget.max_time - self.seconds, 0.0)
        expects = self.stands if expected else None
        checksums = None if expected else {survey.number: survey.checksums for survey in self.surveys}
        self.stands += 1
        messages = [Message(self.plan, expects, self.stands, order, left, checksums) for order in orders]
        replies = self.group.call(messages, self._patience())
        self.tally.rounds += any(orders)  # the first tells the plan only
        self.tally.bytes += sum(map(payload, messages)) + sum(map(payload, replies))
        if any(reply.stale for reply in replies):
            raise Lost("a worker has not what it had")
        return replies

    def _is_out_of_time(self) -> bool:
        return self.budget.max_time is not None and self.seconds >= self.budget.max_time

    def _is_last(self, ascent: Ascent) -> bool:
        return ascent.core.epochs >= self.budget.max_iter

    def _choose_turns(self) -> int:
        """Turns in a round: so many that its work is worth its messages, and that the budget is not overrun.

        From sizes, not times, so that a seed and the same workers give the same result.
        """
        epochs, fewest = self.local_epochs, 1
        if epochs is None:
            fewest = FEWEST_TURNS
            work = SECONDS_PER_ENTRY * self.plan.entries / len(self.group)  # of an epoch
            messages = SECONDS_PER_ROUND + SECONDS_PER_BYTE * len(self.group) * self.plan.dimension * 16
            epochs = MESSAGES_WORTH * messages / max(work, 1e-9)
            if len(self.group) > 1:
                # More than one epoch at a time hardly makes fewer rounds, where others work on the same weights, and
                # with part of one the gap falls when an epoch is complete: rounds should end there.
                epochs = 1 / max(round(1 / epochs), 1)
            else:
                epochs = min(max(epochs, 1), 8)
        return max(round(TURNS * min(epochs, self.budget.max_iter)), fewest)

    def _found(self, ascent: Ascent) -> Solution[Point]:
        per_round = self.tally.bytes / max(self.tally.rounds, 1)
        text = (
            f"SDCA in {self.tally.rounds} rounds of {len(self.group)} workers, {self.turns / TURNS:g} epochs and "
            f"{per_round:,.0f} bytes each"
        )
        return Solution.of_parts(ascent.core, self.seconds, UsedSolvers((text,)), "max_iter")


def name_weights(machine: Any, plan: Plan, w: NDArray[np.float64]) -> dict[str, Any]:
    """The attributes that the estimator would have of the weights of one problem."""
    named: dict[str, Any] = machine._name_rows(w[None, :-1], w[-1:] * plan.bias)
    return named


def store(machine: Any, plan: Plan, found: Sequence[Solution[Point]], uneven: str = "") -> str:
    """Give the estimator what was found. Returns what to do about it where it is not within `tol`; `uneven` is a
    sentence on the columns."""
    if len(plan.classes):
        machine.classes_ = plan.classes
    coef = np.array([one.point.w[:-1] for one in found])
    machine._store_weights(coef, np.array([float(one.point.w[-1]) * plan.bias for one in found]))
    machine._store(found, found[0].seconds)
    machine.n_features_in_ = plan.n_features
    if plan.names is not None:
        machine.feature_names_in_ = np.array(plan.names, dtype=object)
    return shortfall(machine.certificate_, lambda worst: _advice(machine, plan, worst, uneven))


def _advice(machine: Any, plan: Plan, worst: Certificate, uneven: str) -> str:
    """Why a fit fell short, and what to do about it: data that one machine can hold are better off there."""
    more = []
    if plan.n_bytes < free_memory() / 2:
        name, size = f"pegasos.{type(machine).__name__}", max(plan.n_bytes / 1e6, 0.1)
        more = [f"These data take about {size:,.1f} MB: {name}, in memory, takes a fraction of the time."]
    if not uneven and plan.C * plan.largest_norm**2 <= 100:  # of which there is a sentence
        more.append(f"Here a smaller C than {plan.C:.3g} takes fewer epochs.")
    advice: str = machine._advise(worst, plan.C, plan.largest_norm, uneven, "before the fit", *more)
    return advice
