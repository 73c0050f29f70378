"""Listeners to a fit: the core tells them of its work, and they may ask for its weights and end it."""

import math
from collections.abc import Callable
from typing import Any

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.checkpoint import Runs
from pegasos.base.outcome import Budget

#: Makes a copy of the weights that a run would return now. It may be called while a check is told, not later.
Weights = Callable[[], Any]


class Progress:
    """Hears of a fit's progress, and may end it. The base class keeps silent."""

    #: Where the runs of the fit leave checkpoints; a listener to a part of it has the same.
    runs: Runs | None = None

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        """The bounds were computed; True ends the run, with the best it has."""
        return False

    def progressed(self, epoch: float, seconds: float) -> None:
        """A few tens of milliseconds of work were done; may raise."""

    def part(self, name: str, number: int, of: int) -> "Progress":
        """The listener to one of so many problems of the fit, by its number from 0; some may be solved at a time."""
        return self

    def close(self) -> None:
        """The fit, or this problem of it, is over."""


class Shifted(Progress):
    """Tells another listener of a run that began after some epochs, or whose clock began after some seconds."""

    def __init__(self, progress: Progress, epochs: float, seconds: float = 0.0) -> None:
        self.progress = progress
        self.epochs, self.seconds = epochs, seconds
        self.runs = progress.runs

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        return self.progress.checked(seconds + self.seconds, epoch + self.epochs, primal, dual, weights)

    def progressed(self, epoch: float, seconds: float) -> None:
        self.progress.progressed(epoch + self.epochs, seconds + self.seconds)


class Passing(Progress):
    """Passes what it hears on to another listener."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.runs = progress.runs

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        return self.progress.checked(seconds, epoch, primal, dual, weights)

    def progressed(self, epoch: float, seconds: float) -> None:
        self.progress.progressed(epoch, seconds)

    def close(self) -> None:
        self.progress.close()


class Opened(Passing):
    """Opens each part once, for a problem that is left and gone on with later."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress)
        self.parts: dict[int, Progress] = {}

    def part(self, name: str, number: int, of: int) -> Progress:
        if number not in self.parts:
            self.parts[number] = self.progress.part(name, number, of)
        return self.parts[number]


class Unsaved(Passing):
    """Of a run that leaves no checkpoints."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(progress)
        self.runs = None


class Named(Passing):
    """Tells of weights under the names of an estimator's attributes; `name` makes these of what a run has."""

    def __init__(self, progress: Progress, name: Callable[[Any], dict[str, Any]]) -> None:
        super().__init__(progress)
        self.name = name

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        return super().checked(seconds, epoch, primal, dual, lambda: self.name(weights()))

    def part(self, name: str, number: int, of: int) -> "Named":
        return Named(self.progress.part(name, number, of), self.name)


def make_run(budget: Budget, progress: Progress | None = None) -> native.Run:
    """Threads, time limits and callbacks, as the core takes them."""
    listener = progress or Progress()

    def report(seconds: float, epoch: float, primal: float, dual: float, check: native.Check) -> bool:
        return listener.checked(seconds, epoch, primal, dual, check.weights)

    return native.Run(
        n_jobs=budget.n_jobs or 1,
        elapsed=budget.elapsed,
        max_seconds=math.inf if budget.max_time is None else float(budget.max_time),
        last_seconds=0.0 if budget.last_time is None else float(budget.last_time),
        report=report,
        progress=listener.progressed,
        clock=clock.replaced(),
        keep=budget.keep,
        **(listener.runs.next() if listener.runs else {}),
    )
