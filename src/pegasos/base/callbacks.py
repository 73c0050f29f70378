"""Callbacks of scikit-learn (`sklearn.callback`, from 1.9 on), which hear of a fit as listeners do."""

import functools
import inspect
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from pegasos.base.checkpoint import Given
from pegasos.base.listen import Check, Told, unheard
from pegasos.base.progress import Progress, Weights
from pegasos.certificate import Certificate, history_from_records, within

__all__ = [
    "AgainstTheRest",
    "Problems",
    "Unseen",
    "called",
    "refitting",
    "with_callbacks",
]

#: Arguments of `fit` that scorers take too.
METADATA = ("sample_weight", "lengths")


class Problems:
    """What callbacks are told of the problems of a fit: their examples, and the estimator as a check finds it.

    Parameters
    ----------
    count : int
        How many there are.
    **known
        Attributes that an estimator needs besides its weights to predict.
    """

    def __init__(self, count: int = 1, **known: Any) -> None:
        self.count, self.known = count, known

    def examples(self, number: int, given: Given) -> Given:
        """Those of the problem of that number, of several."""
        return given

    def attributes(self, number: int | None, weights: Weights) -> dict[str, Any] | None:
        """What makes a fitted estimator of the weights of a check; None where these are not enough. A single problem
        has no number."""
        return {**self.known, **weights()}


class Unseen(Problems):
    """Problems whose weights are not those of the estimator."""

    def attributes(self, number: int | None, weights: Weights) -> None:
        return None


class AgainstTheRest(Problems):
    """Each class against the rest. To callbacks a problem has the labels True, of its class, and False."""

    def __init__(self, classes: Any) -> None:
        super().__init__(len(classes), classes_=np.array([False, True]))
        self.classes = classes

    def examples(self, number: int, given: Given) -> Given:
        return given if given.y is None else given._replace(y=np.asarray(given.y) == self.classes[number])


def with_callbacks(fit: Callable[..., Any]) -> Callable[..., Any]:
    """The method that fits, for an estimator that has callbacks."""
    from sklearn.callback import with_callbacks  # which ends them, whatever happens

    @functools.wraps(fit)
    def run(estimator: Any, *args: Any, **kwargs: Any) -> None:
        named = inspect.signature(fit).bind(estimator, *args, **kwargs).arguments
        fit(estimator, *args, **kwargs)
        _end(estimator, Given.of(named.get("X"), named.get("y"), **{name: named.get(name) for name in METADATA}))

    managed: Callable[..., Any] = with_callbacks(run)
    return managed


def called(progress: Progress, estimator: Any, problems: Problems, given: Given | None) -> Progress:
    """The listener, and with it the estimator's callbacks, if it has any."""
    if given is None or "_skl_callbacks" not in vars(estimator):
        return progress
    fit, open_task = _Fit(estimator, problems, given), estimator._init_callback_context
    root = Called(progress, fit, "", None, open_task, threading.Lock())
    root.enter(problems.count if problems.count > 1 else None)
    return root


@contextmanager
def refitting(estimator: Any, last: Any, number: int, given: Given) -> Iterator[None]:
    """Tell the callbacks of an estimator of its last task, of that number, in which another one is fitted."""
    context = vars(estimator).get("_callback_fit_ctx")
    if context is None:
        yield
        return
    task = context.subcontext(task_name="refit", task_id=number)
    with task.propagate_callback_context(last):
        task.call_on_fit_task_begin(estimator=estimator, **given._asdict())
        try:
            yield
            _end(last, given)
        finally:
            for name in ("_callback_fit_ctx", "_skl_callbacks_to_teardown"):
                vars(last).pop(name, None)
        task.call_on_fit_task_end(estimator=estimator, **given._asdict())


def _end(estimator: Any, given: Given) -> None:
    """The estimator is fitted."""
    context = vars(estimator).get("_callback_fit_ctx")
    if context is not None:
        with unheard():
            context.call_on_fit_task_end(estimator=estimator, **given._asdict(), reconstruction_attributes={})


class _Fit(NamedTuple):
    """What callbacks are told of a fit."""

    estimator: Any
    problems: Problems
    given: Given

    def hooks(self, number: int | None) -> dict[str, Any]:
        """The arguments of hooks; examples are taken only for those that ask for them."""
        if number is None:
            return {"estimator": self.estimator, **self.given._asdict()}
        taken = functools.cache(lambda: self.problems.examples(number, self.given))
        return {
            "estimator": self.estimator,
            "X": lambda: taken().X,
            "y": lambda: taken().y,
            "metadata": lambda: taken().metadata,
        }

    def attributes(self, number: int | None, check: Check, records: list[list[float]]) -> dict[str, Any] | None:
        """Those of the estimator as if the problem ended at a check, the last of these records."""
        found = self.problems.attributes(number, check.weights)
        if found is None:
            return None
        machine, n_iter = self.estimator, math.ceil(check.epoch)
        certificate = Certificate(
            primal=check.primal,
            dual=check.dual,
            gap=check.gap,
            converged=within(check.gap, machine.tol),
            reason="callback",
            n_iter=n_iter,
            seconds=check.seconds,
            solver=str(getattr(machine, "solver", "")),
            scaled=bool(getattr(machine, "scale", False)),
            problem=check.part,
        )
        return {**found, "certificate_": certificate, "history_": history_from_records(records), "n_iter_": n_iter}


class Called(Told):
    """Calls callbacks: a fit is a task, each of its problems a subtask of it, and the way to each check one of that.

    A task is opened when there is news of it, as not before it is known whether it has parts.
    """

    def __init__(
        self,
        progress: Progress,
        fit: _Fit,
        name: str,
        number: int | None,
        open_task: Callable[..., Any],
        lock: threading.Lock,
    ) -> None:
        super().__init__(progress, type(fit.estimator).__name__, name, (self._end_check,), lock)
        self.fit, self.number, self.open_task = fit, number, open_task
        self.task: Any = None
        self.way: Any = None
        self.records: list[list[float]] = []

    def enter(self, parts: int | None = None) -> None:
        """Open the task, if it is not open: of so many parts, or else with checks."""
        with self.alone():
            if self.task is None:
                self.task = self.open_task(max_subtasks=parts, sequential_subtasks=parts is None)
                self.task.call_on_fit_task_begin(**self.fit.hooks(self.number))

    def _set_out(self) -> None:
        """There is work for the next check."""
        if self.way is None:
            self.enter()
            with self.alone():
                if self.task.sequential_subtasks:  # otherwise the work is that of its parts
                    self.way = self.task.subcontext(task_name="check")
                    self.way.call_on_fit_task_begin(**self.fit.hooks(self.number))

    def _end_check(self, check: Check) -> None:
        self.records.append([check.seconds, check.epoch, check.primal, check.dual])
        make = functools.partial(self.fit.attributes, self.number, check, self.records)
        way, self.way = self.way, None
        if way.call_on_fit_task_end(**self.fit.hooks(self.number), reconstruction_attributes=make):
            check.stop()

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        self._set_out()
        return super().checked(seconds, epoch, primal, dual, weights)

    def progressed(self, epoch: float, seconds: float) -> None:
        self._set_out()
        super().progressed(epoch, seconds)

    def part(self, name: str, number: int, of: int) -> "Called":
        self.enter(of)

        def open_task(**options: Any) -> Any:
            return self.task.subcontext(task_name=name, task_id=number, **options)

        progress = self.progress.part(name, number, of)
        return Called(progress, self.fit, self.named(name), number, open_task, self.lock)

    def close(self) -> None:
        super().close()
        if self.number is not None:  # the whole fit ends later
            self.enter()
            with self.alone():
                self.task.call_on_fit_task_end(**self.fit.hooks(self.number))
