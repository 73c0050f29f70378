"""Ctrl-C and SIGTERM: both end a command by a KeyboardInterrupt, so that it can save what it has."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Signals:
    """Which signal came, and whether it has to wait."""

    def __init__(self) -> None:
        self.received = 0
        self._waits = False

    @property
    def code(self) -> int:
        """The exit code of a command that was interrupted, as shells have it."""
        return 128 + (self.received or signal.SIGINT)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """While a command runs; a signal that is ignored stays so."""
        self.received = 0
        before = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, self._take)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """For work that is short and must not be cut in two."""
        self._waits = True
        try:
            yield
        finally:
            self._waits = False
        if self.received:
            raise KeyboardInterrupt

    def _take(self, number: int, frame: FrameType | None) -> None:
        self.received = number
        if not self._waits:
            raise KeyboardInterrupt


SIGNALS = Signals()
