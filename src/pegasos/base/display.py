"""What is shown of a fit while it runs: a bar on a terminal or in a notebook, a few lines elsewhere, and the same lines
in the log."""

import bisect
import logging
import math
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np

from pegasos.base.callbacks import Problems, called
from pegasos.base.checkpoint import Context
from pegasos.base.listen import told
from pegasos.base.progress import Progress, Shifted, Weights
from pegasos.base.wording import visible
from pegasos.certificate import relative_gap

__all__ = ["Display", "listening", "seconds_left"]

LOGGER = logging.getLogger("pegasos")

#: How far the gap falls, and how long it takes, from one line to the next. Of at most so many parts each has its line.
FALL, SECONDS, FEW = 3.0, 10.0, 10
#: Seconds from one look of the bar to the next.
REFRESH = 0.1
#: Characters of a bar: where there is room for so many, before words beside it are left out, and at least.
WIDTH, ENOUGH, LEAST = 24, 16, 8


def _level(verbose: Any) -> int:
    """How much is told."""
    if not isinstance(verbose, Integral | np.bool_) or verbose < 0:
        raise ValueError(f"verbose={verbose!r}: must be 0, 1 or 2, or False or True")
    return int(verbose)


@contextmanager
def listening(estimator: Any, context: Context, problems: Problems | None = None, fits: int = 1) -> Iterator[Progress]:
    """The listener that an estimator's `verbose` asks for, who reads the log, `listen`, or callbacks, which are told of
    these problems, until the fit is over; or so many fits, each with the estimator's `max_time`."""
    verbose, name = _level(estimator.verbose), type(estimator).__name__
    shown = verbose or LOGGER.isEnabledFor(logging.INFO)
    limit = getattr(estimator, "max_time", None)
    end = math.inf if limit is None else float(limit) * fits
    display = Display(name, float(estimator.tol), verbose, context.label, end) if shown else None
    progress = display.whole if display else Progress()
    progress.runs = context.runs
    try:
        yield called(told(progress, name), estimator, problems or Problems(), context.given)
    finally:
        if display:
            display.close()


def seconds_left(seconds: list[float], logs: list[float], goal: float) -> float:
    """How long the logarithm of the gap takes to its goal if it goes on to fall as it did in the second half of the
    time; infinity where nobody knows."""
    if len(seconds) < 2:
        return math.inf
    then = min(bisect.bisect_left(seconds, seconds[-1] / 2), len(seconds) - 2)
    fallen, took = logs[then] - logs[-1], seconds[-1] - seconds[then]
    return max(logs[-1] - goal, 0.0) * took / fallen if fallen > 0 else math.inf


class Watched(Progress):
    """What is known of one problem of a fit; the display is told when that changes."""

    def __init__(self, display: "Display", name: str = "", whole: bool = False) -> None:
        self.display, self.name, self.is_whole = display, visible(name), whole
        self.epoch = self.seconds = 0.0
        self.primal, self.dual, self.gap = math.inf, -math.inf, math.inf
        self.times: list[float] = []
        self.logs: list[float] = []

    def checked(self, seconds: float, epoch: float, primal: float, dual: float, weights: Weights) -> bool:
        self.epoch, self.seconds, self.primal, self.dual = epoch, seconds, primal, dual
        self.gap = relative_gap(primal, dual)
        if 0 < self.gap < math.inf:
            self.times.append(seconds)
            self.logs.append(math.log(self.gap))
        self.display.heard(self, True)
        return False

    def progressed(self, epoch: float, seconds: float) -> None:
        self.epoch, self.seconds = max(self.epoch, epoch), seconds  # some solvers count epochs at checks alone
        self.display.heard(self, False)

    def part(self, name: str, number: int, of: int) -> Progress:
        if not self.is_whole:
            return Shifted(self, 0.0)  # of a part of a part, whose end is not the part's
        self.display.parts = of
        part = Watched(self.display, name)
        part.runs = self.runs
        return part

    def close(self) -> None:
        if not self.is_whole:
            self.display.ended(self)

    def describe(self, tol: float) -> str:
        words = [f"{self.name}: "] if self.name else []
        if self.gap < math.inf:
            words.append(f"gap {self.gap:.2g}" + (f" of tol {tol:g}  " if tol > 0 else "  "))
        words.append(f"epoch {self.epoch:.1f}  {self.seconds:.1f} s")
        return "".join(words)

    def describe_short(self, level: int, tol: float) -> str:
        """The same for a bar, whose length does not change with the digits; each level leaves something out."""
        words = [f"{self.name}: "] if self.name else []
        if self.gap < math.inf:
            words.append(f"gap {self.gap:<7.2g}" + (f" of tol {tol:g}  " if tol > 0 and level < 1 else "  "))
        if level < 2:
            words.append(f"epoch {self.epoch:5.1f}  ")
        return "".join(words) + f"{self.seconds:5.1f} s"

    def describe_bounds(self) -> str:
        name = f"{self.name}: " if self.name else ""
        bounds = f"primal {self.primal:.6g}  dual {self.dual:.6g}  gap {self.gap:.3g}"
        return f"{name}epoch {self.epoch:6.1f}  {bounds}  {self.seconds:.1f} s"


class Display:
    """Keeps a bar up to date, or writes a line now and then; threads may tell it of different parts.

    `verbose` of 1 is a bar on a terminal or in a notebook and a few lines elsewhere, of 2 a line for each check; with 0
    lines go to the log alone. `label` says at the beginning of each line which of several fits it is of. `limit` is the
    time in seconds at which the fit ends at the latest.
    """

    def __init__(self, title: str, tol: float, verbose: int, label: str = "", limit: float = math.inf) -> None:
        self.title, self.tol, self.verbose, self.label, self.limit = title, tol, verbose, visible(label), limit
        self.parts = self.done = 0
        self.whole = Watched(self, whole=True)
        self.last = self.whole
        self.worst = 0.0
        self._told_at, self._told_gap = 0.0, math.inf
        self._told_line, self._untold = "", False
        self._lock = threading.Lock()
        self._bar = _find_bar() if verbose == 1 else None

    def heard(self, watched: Watched, checked: bool) -> None:
        """A problem has news."""
        with self._lock:
            self.last = watched
            if checked and self.verbose > 1:
                self._say(watched.describe_bounds())
            elif self._is_due(watched, checked):
                self._tell()
            else:
                self._untold |= checked
            self._draw()

    def _is_due(self, watched: Watched, checked: bool) -> bool:
        fallen = checked and not self.parts and watched.gap < self._told_gap / FALL
        return self.verbose < 2 and (fallen or watched.seconds - self._told_at >= SECONDS)

    def ended(self, watched: Watched) -> None:
        """A part is solved."""
        with self._lock:
            self.last, self.done = watched, self.done + 1
            self.worst = max(self.worst, watched.gap)
            if self.parts <= FEW and self.verbose < 2:
                self._tell()

    def close(self) -> None:
        """The fit is over: the last line, if it was not told, and the bar as it is."""
        with self._lock:
            # A check may be made again, with more precision, and have nothing new but its seconds.
            new = self.describe().rpartition("  ")[0] != self._told_line.rpartition("  ")[0]
            if (self._untold and new) or (self.parts > FEW and self.verbose < 2):
                self._tell()
            self._draw(last=True)

    @property
    def share(self) -> float | None:
        """How much of the work is done, as far as anybody knows: of parts their number, of a gap its logarithm."""
        if self.parts:
            return self.done / self.parts
        logs = self.last.logs
        if not logs or self.tol <= 0:
            return None
        goal = math.log(self.tol)
        return 1.0 if logs[-1] <= goal else max(logs[0] - logs[-1], 0.0) / (logs[0] - goal)

    @property
    def left(self) -> float:
        """Seconds."""
        to_limit = max(self.limit - self.last.seconds, 0.0)
        if self.parts:
            return min(self.last.seconds * (self.parts / self.done - 1) if self.done else math.inf, to_limit)
        to_goal = seconds_left(self.last.times, self.last.logs, math.log(self.tol)) if self.tol > 0 else math.inf
        return min(to_goal, to_limit)

    def describe(self) -> str:
        """One line."""
        count = f"{self.done} of {self.parts}, " if self.parts else ""
        return count + self.last.describe(self.tol)

    def describe_short(self, level: int, last: bool) -> str:
        """What stands beside a bar; at the end no epoch, as those begun are counted then, and of parts the worst gap,
        as the certificate has it."""
        count = f"{self.done} of {self.parts}, " if self.parts else ""
        if last and self.parts and self.worst < math.inf:
            return f"{count}worst gap {self.worst:.2g}  {self.last.seconds:.1f} s"
        text = count + self.last.describe_short(2 if last else level, self.tol)
        left = "" if last or self.left == math.inf else f"about {_in_words(self.left)} left"
        return f"{text}  {left:<17}"

    def _tell(self) -> None:
        self._told_at, self._told_gap, self._untold = self.last.seconds, self.last.gap, False
        self._told_line = self.describe()
        self._say(self._told_line)

    def _say(self, line: str) -> None:
        line = f"{self.label}: {line}" if self.label else line
        LOGGER.info("%s: %s", self.title, line)
        if self.verbose and self._bar is None:
            try:  # in one piece: several parts may have something to say at a time
                sys.stderr.write(f"{line}\n")
                sys.stderr.flush()
            except (OSError, ValueError, AttributeError):  # it is full, closed or None: the fit goes on
                self.verbose = 0

    def _draw(self, last: bool = False) -> None:
        if self._bar is not None:
            try:
                self._bar.show(self, last)
            except (OSError, ValueError):  # the terminal is gone
                self._bar, self.verbose = None, 0


class Bar:
    """A bar on a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._column = BarColumn(bar_width=WIDTH)
        self._bar = Progress(
            TextColumn("{task.description}"),
            self._column,
            TextColumn("{task.fields[text]}", markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=None, text="")
        self._shown_at = -math.inf
        self._level = self._length = 0
        self._begin()

    def _width(self) -> int:
        return self._bar.console.width

    def _begin(self) -> None:
        self._bar.start()

    def _draw(self) -> None:
        self._bar.refresh()

    def _end(self) -> None:
        self._bar.stop()

    def show(self, display: Display, last: bool = False) -> None:
        """What the display has to say, if it did not a moment ago."""
        now = self._bar.get_time()
        if now - self._shown_at < REFRESH and not last:
            return
        self._shown_at = now
        share, text = display.share, self._fitted(display, last)
        done: dict[str, Any] = {} if share is None else {"total": 1.0, "completed": min(share, 1.0)}
        self._bar.update(self._task, description=display.title, text=text, **done)
        self._draw()
        if last:
            self._end()

    def _fitted(self, display: Display, last: bool) -> str:
        """A text that leaves the bar its room. What was left out once is left out for good, and the text gets no
        shorter: else the bar would jump."""
        room = self._width() - len(display.title) - 2
        text = display.describe_short(self._level, last)
        while self._level < 2 and len(text) > room - ENOUGH:
            self._level += 1
            text = display.describe_short(self._level, last)
        self._length = max(self._length, min(len(text), room - LEAST))
        self._column.bar_width = max(min(WIDTH, room - self._length), LEAST)
        return text.ljust(self._length)


class NotebookBar(Bar):
    """A bar below a cell, which is drawn again in its place; rich's own way needs ipywidgets."""

    def _begin(self) -> None:
        from IPython.display import display

        self._drawn = display(self._bar, display_id=True)

    def _width(self) -> int:
        from rich import get_console

        return get_console().width  # which draws whatever is shown in a notebook

    def _draw(self) -> None:
        self._drawn.update(self._bar)

    def _end(self) -> None:
        pass


def _find_bar() -> Bar | None:
    """The bar that there is a place for."""
    if sys.stderr is not None and sys.stderr.isatty():
        return Bar()
    if "IPython" not in sys.modules:
        return None
    from rich.console import Console

    return NotebookBar() if Console().is_jupyter else None


def _in_words(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
