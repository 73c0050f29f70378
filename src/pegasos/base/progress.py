"""Listeners to a fit: the core tells them of its work, and they may end it."""

import math

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.outcome import Budget


class Progress:
    """Hears of a fit's progress, and may end it by raising. The base class keeps silent."""

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        """The bounds were computed."""

    def progressed(self, epoch: float, seconds: float) -> None:
        """A few tens of milliseconds of work were done."""

    def part(self, name: str, of: int) -> "Progress":
        """The listener to one of so many problems of the fit, some of which may be solved at a time."""
        return self

    def close(self) -> None:
        """The fit, or this problem of it, is over."""


class Shifted(Progress):
    """Tells another listener of a run that began after some epochs."""

    def __init__(self, progress: Progress, epochs: float) -> None:
        self.progress = progress
        self.epochs = epochs

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        self.progress.checked(seconds, epoch + self.epochs, primal, dual)

    def progressed(self, epoch: float, seconds: float) -> None:
        self.progress.progressed(epoch + self.epochs, seconds)


def make_run(budget: Budget, progress: Progress | None = None) -> native.Run:
    """Threads, time limit and callbacks, as the core takes them."""
    progress = progress or Progress()
    return native.Run(
        n_jobs=budget.n_jobs or 1,
        elapsed=budget.elapsed,
        max_seconds=math.inf if budget.max_time is None else float(budget.max_time),
        report=progress.checked,
        progress=progress.progressed,
        clock=clock.replaced(),
        keep=budget.keep,
    )
