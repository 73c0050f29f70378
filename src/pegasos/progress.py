"""Progress of a fit on standard error: a live line on a terminal, one line per check elsewhere."""

import sys

from pegasos.certificate import relative_gap
from pegasos.solvers.base import Report

__all__ = ["make_report"]


def make_report(verbose: int) -> Report:
    """The report for a level of verbosity; 0 is silence."""
    if not verbose:
        return Report()
    return LiveLine() if sys.stderr.isatty() else Lines()


def _bounds(epoch: float, primal: float, dual: float, seconds: float) -> str:
    gap = relative_gap(primal, dual)
    return f"epoch {epoch:6.1f}  primal {primal:.6g}  dual {dual:.6g}  gap {gap:.3g}  {seconds:.1f} s"


class Lines(Report):
    """One line per check."""

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        print(_bounds(epoch, primal, dual, seconds), file=sys.stderr, flush=True)


class LiveLine(Report):
    """One line that is kept up to date."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._text = Text
        self._bounds: tuple[float, float] | None = None
        self._live = Live(Text("starting"), console=Console(stderr=True), auto_refresh=False, transient=False)
        self._live.start()

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        self._bounds = (primal, dual)
        self.progressed(epoch, seconds)

    def progressed(self, epoch: float, seconds: float) -> None:
        if self._bounds is None:
            line = f"epoch {epoch:6.1f}  {seconds:.1f} s"
        else:
            line = _bounds(epoch, *self._bounds, seconds)
        self._live.update(self._text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

    def close(self) -> None:
        self._live.stop()
