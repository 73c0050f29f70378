"""The examples of one partition with their dual variables, and what a worker does with its shards in a round."""

import copy
import threading
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pegasos._core import native
from pegasos.base.parameters import loss_parameter
from pegasos.base.rows import check_rows
from pegasos.base.scaling import describe_offsets, describe_sizes
from pegasos.base.validation import check_weights, number_labels
from pegasos.io.csr import canonical
from pegasos.io.dataset import checksum
from pegasos.linear.distributed.plan import TURNS, Message, Order, Plan, Reply, Survey, Visited, sum_measures
from pegasos.problems.linear import Examples, are_runs_worth

#: Neighbouring rows that are visited one after the other, where they are no more alike than others.
RUN = 16


class Shard:
    """The examples of one partition and, during a fit, where it stands on them: their dual variables.

    It holds all that is not the driver's. A copy, on disk or on another worker, has the dual variables too.

    Parameters
    ----------
    number : int
        Which partition it is.
    X, y, sample_weight : array or data frame
        As `fit` of an estimator takes them.
    """

    def __init__(self, number: int, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.number = number
        self._given = (X, y, sample_weight)
        self._start()

    def _start(self) -> None:
        self._lock = threading.RLock()
        self._held: tuple[Any, NDArray[Any], NDArray[np.float64]] | None = None  # validated
        self._survey: Survey | None = None
        self._rows: native.Rows | None = None  # without a constant feature
        self._facts: native.RowsFacts | None = None
        self._examples: Examples | None = None
        self._turns: dict[int, list[NDArray[np.uint32]]] = {}  # rows of those to come in this epoch
        self.run = 1  # of neighbours visited one after the other
        self.stands: int | None = None  # at which message
        self.q: dict[int, NDArray[np.float64]] = {}
        self.before: dict[int, NDArray[np.float64]] = {}  # the last visits

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            names = ("number", "_given", "stands", "q", "before")
            return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start()
        self.__dict__.update(state)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(map(_bytes_of, (*self._given, *self.q.values(), *self.before.values())))

    def survey(self, machine: Any) -> Survey:
        """What it holds, validated as the machine validates; a ValueError names the partition."""
        with self._lock:
            if self._survey is None:
                try:
                    self._survey = self._look(machine)
                except (ValueError, TypeError) as error:
                    kind = TypeError if isinstance(error, TypeError) else ValueError
                    raise kind(f"partition {self.number}: {error}") from error
            return self._survey

    def _look(self, machine: Any) -> Survey:
        X, y, given = self._given
        if X.shape[0] == 0:
            names = tuple(map(str, getattr(X, "columns", ()))) or None
            return Survey(
                self.number, 0, X.shape[1], names, np.empty(0), np.empty(0), np.empty(0), 0.0, 0.0, 0, 0.0, ()
            )
        machine = copy.copy(machine)  # which it leaves its names of features on
        X, y = machine._validate_pair(X, y, True)
        s = np.ones(len(y)) if given is None else check_weights(given, X, part=True)
        self._rows, self._facts = check_rows(X)
        if (whole := canonical(X)) is not X:
            X, (self._rows, self._facts) = whole, check_rows(whole)
        self._held = (X, y, s)
        classes: NDArray[Any] = np.empty(0)
        counts: NDArray[Any] = np.empty(0)
        weights: NDArray[Any] = np.array([s.sum()])
        if hasattr(machine, "class_weight"):
            classes, encoded = number_labels(y)
            counts = np.bincount(encoded, minlength=len(classes))
            weights = np.bincount(encoded, weights=s, minlength=len(classes))
        values = (X.data if issparse(X) else X).ravel()
        names = getattr(machine, "feature_names_in_", None)
        return Survey(
            self.number,
            len(y),
            X.shape[1],
            None if names is None else tuple(names),
            classes,
            counts,
            weights,
            float(np.einsum("i,i->", values, values, dtype=np.float64)),
            float(self._facts.entries),
            _bytes_of(X),
            float(np.sqrt(self._facts.largest_squared_norm)),
            _checksums(X, y, s, names),
        )

    def check_same(self, machine: Any, checksums: Mapping[int, tuple[int, ...]]) -> None:
        """Raise a ValueError where it is not what it was before it was made again: bounds would be of other data."""
        try:
            if self.survey(machine).checksums == checksums[self.number]:
                return
            error = None
        except (ValueError, TypeError) as refused:
            error = refused
        raise ValueError(
            f"partition {self.number} was lost with its worker and is not the same after it was made again, so the fit "
            "cannot go on; make it from a fixed seed or from files that do not change, or save it to such files first"
        ) from error

    def describe(self, C: float) -> str:
        """A sentence on columns far from zero, of very different sizes or large for C; "" where there are none."""
        if self._held is None or self._survey is None:
            return ""
        X, names = self._held[0], self._survey.names
        how = " before the fit, such as X = (X - X.mean(axis=0)) / X.std(axis=0)"
        return describe_offsets(X, names, how) or describe_sizes(X, names, "divide each by its size before the fit", C)

    def examples(self, plan: Plan) -> Examples | None:
        """The examples in the core's hands, y being the numbers of their classes; None where there are none."""
        self.survey(plan.machine)
        if self._examples is None and self._held is not None and self._facts is not None:
            X, y, s = self._held
            if len(plan.classes):
                classes, encoded = number_labels(y)
                y = np.searchsorted(plan.classes, classes)[encoded]
                s = s * plan.class_weights[y]
            rows, (_, parameter) = self._rows, loss_parameter(plan.machine)
            if rows is None or plan.bias:
                rows, _ = check_rows(X, plan.bias)  # for the norms with the constant feature
            y = np.asarray(y, dtype=np.float64)
            self._examples = Examples(
                rows, self._facts, y, s, plan.dimension, plan.bias, False, plan.loss, None, parameter
            )
            problem = self._examples.problem(plan.C)
            self.run = RUN if are_runs_worth(problem.core, problem.entries / problem.n_rows, plan.seed) else 1
        return self._examples

    def next_rows(self, target: int, random: np.random.Generator) -> NDArray[np.uint32]:
        """The rows of the next turn: runs of neighbours in random order, so that memory is read in stretches."""
        turns = self._turns.setdefault(target, [])
        if not turns:
            n_rows, run = len(self.q[target]), self.run
            starts = random.permutation((n_rows + run - 1) // run).astype(np.uint32) * np.uint32(run)
            rows = (starts[:, None] + np.arange(run, dtype=np.uint32)).ravel()
            turns.extend(np.array_split(rows[rows < n_rows], TURNS))
        return turns.pop()

    def keep(self, target: int, share: float) -> None:
        """Keep that share of the changes of the last visits."""
        before = self.before.pop(target, None)
        if before is not None and share < 1:
            self.q[target] = before + share * (self.q[target] - before)


def _bytes_of(values: Any) -> int:
    """What an array, a sparse matrix, a data frame or a series takes."""
    if issparse(values):
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)
    if hasattr(values, "memory_usage"):
        return int(np.sum(values.memory_usage(deep=True)))
    return int(getattr(values, "nbytes", 0))


def survey(shards: Sequence[Shard], machine: Any) -> list[Survey]:
    """What a worker's shards hold."""
    return [shard.survey(machine) for shard in shards]


def serve(shards: Sequence[Shard], message: Message) -> Reply:
    """What a worker does in a round: the one function that is run there."""
    with ExitStack() as stack:
        for shard in shards:
            stack.enter_context(shard._lock)
        if message.expects is not None and any(shard.stands != message.expects for shard in shards):
            return Reply(stale=True)
        if message.checksums is not None:
            for shard in shards:
                shard.check_same(message.plan.machine, message.checksums)
        for shard in shards:
            shard.stands = message.becomes
        held = [(shard, examples) for shard in shards if (examples := shard.examples(message.plan)) is not None]
        return Reply(tuple(_follow(held, message, order) for order in message.orders))


def _follow(held: list[tuple[Shard, Examples]], message: Message, order: Order) -> Visited | native.Measure:
    """Follow one order on the shards that have examples."""
    plan = message.plan
    problems = []
    for shard, examples in held:
        if order.target not in shard.q:
            shard.q[order.target] = np.zeros(len(examples.y))
        shard.keep(order.target, order.share)
        if len(plan.classes):
            examples = replace(examples, y=np.where(examples.y == order.target, 1.0, -1.0))
        problems.append(examples.problem(plan.C).core)
    if order.turns == 0:
        return _measure(held, problems, order)
    return _visit(held, problems, message, order)


def _visit(
    held: list[tuple[Shard, Examples]], problems: list[native.Problem], message: Message, order: Order
) -> Visited:
    """Turns of the shards, all with the same w.

    One whole shard after the other would leave w, at the end, the last one's.
    """
    w, linear, visits = order.w.copy(), 0.0, 0.0
    for shard, _ in held:
        shard.before[order.target] = shard.q[order.target].copy()
    seed = [message.plan.seed, message.becomes, order.target, *(shard.number for shard, _ in held)]
    random, run = np.random.default_rng(seed), native.Run(max_seconds=message.seconds)
    gaps: list[tuple[float, float]] = []  # with the number of rows behind each
    for _ in range(order.turns):
        gap, seen = 0.0, 0.0
        for k in random.permutation(len(held)):
            shard = held[k][0]
            rows = shard.next_rows(order.target, random)
            if len(rows):
                q = shard.q[order.target]
                steps = native.visit(
                    problems[k], run, q=q, w=w, order=rows, caution=order.caution, b=order.b, rho=message.plan.rho
                )
                linear, gap, seen = linear + steps.linear, gap + steps.gap, seen + steps.count
        visits += seen
        gaps.append((gap, seen))
    gap, seen = (sum(column) for column in zip(*gaps[-TURNS:], strict=True))
    share = seen / max(sum(len(examples.y) for _, examples in held), 1)
    return Visited((w - order.w) / order.caution, linear, gap / share if share else 0.0, visits)


def _measure(held: list[tuple[Shard, Examples]], problems: list[native.Problem], order: Order) -> native.Measure:
    """The sums of all shards."""
    if not held:
        return native.Measure(0.0, 0.0, 0.0, 0.0, np.zeros(len(order.w)), 0.0)
    return sum_measures(
        [
            native.measure(problem, native.Run(), w=order.w, q=shard.q[order.target])
            for (shard, _), problem in zip(held, problems, strict=True)
        ]
    )


def _checksums(X: Any, y: NDArray[Any], s: NDArray[np.float64], names: Any) -> tuple[int, ...]:
    """Checksums of all that a shard holds: the shape and names, and each array whole."""
    labels = np.array(y.tolist()) if y.dtype.kind == "O" else y
    arrays = (X.data, X.indices, X.indptr, labels, s) if issparse(X) else (X, labels, s)
    heading = repr((X.shape, X.dtype.str, None if names is None else list(names)))
    return zlib.crc32(heading.encode()), *(checksum(np.ascontiguousarray(array)) for array in arrays)
