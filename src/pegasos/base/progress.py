"""Progress of a fit on standard error: a live line on a terminal, one line per check elsewhere."""

import copy
import math
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pegasos._core import native
from pegasos.base import clock
from pegasos.base.outcome import Budget
from pegasos.certificate import relative_gap


class Progress:
    """Hears of a fit's progress. The base class keeps silent."""

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        """The bounds were computed."""

    def progressed(self, epoch: float, seconds: float) -> None:
        """A few tens of milliseconds of work were done."""

    def part(self, name: str) -> "Progress":
        """The listener to one of several problems of the fit, which may be solved at a time."""
        return self

    def close(self) -> None:
        """The fit is over."""


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


@contextmanager
def listening(verbose: int) -> Iterator[Progress]:
    """The listener for a level of verbosity, until the fit is over; 0 is silence."""
    progress = Progress() if not verbose else LiveLine() if sys.stderr.isatty() else Lines()
    try:
        yield progress
    finally:
        progress.close()


def _bounds(epoch: float, primal: float, dual: float, seconds: float) -> str:
    gap = relative_gap(primal, dual)
    return f"epoch {epoch:6.1f}  primal {primal:.6g}  dual {dual:.6g}  gap {gap:.3g}  {seconds:.1f} s"


class Lines(Progress):
    """One line per check."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def part(self, name: str) -> "Lines":
        return Lines(f"{name}: ")

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        # In one piece: several parts may have something to say at a time.
        sys.stderr.write(f"{self.prefix}{_bounds(epoch, primal, dual, seconds)}\n")
        sys.stderr.flush()


class LiveLine(Progress):
    """One line that is kept up to date."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._text = Text
        self._bounds: tuple[float, float] | None = None
        self._prefix = ""
        self._lock = threading.Lock()
        self._live = Live(Text("starting"), console=Console(stderr=True), auto_refresh=False, transient=False)
        self._live.start()

    def part(self, name: str) -> "LiveLine":
        twin = copy.copy(self)  # which shows the same line
        twin._bounds, twin._prefix = None, f"{name}: "
        return twin

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        self._bounds = (primal, dual)
        self.progressed(epoch, seconds)

    def progressed(self, epoch: float, seconds: float) -> None:
        if self._bounds is None:
            line = f"epoch {epoch:6.1f}  {seconds:.1f} s"
        else:
            line = _bounds(epoch, *self._bounds, seconds)
        with self._lock:
            self._live.update(self._text(self._prefix + line, no_wrap=True, overflow="ellipsis"), refresh=True)

    def close(self) -> None:
        self._live.stop()
