"""Ctrl-C and SIGTERM: both end a command by a KeyboardInterrupt, so that it can save what it has."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click


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
        self.received = self.received or number  # the core may tell of one again, as if it were Ctrl-C
        if not self._waits:
            raise KeyboardInterrupt


SIGNALS = Signals()


@contextmanager
def written(model: str) -> Iterator[None]:
    """Say of whatever goes wrong that there is a model."""
    told = f"; the model was written before that, to {model}"
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{told}") from None
    except click.ClickException as error:
        raise click.UsageError(f"{error.format_message()}{told}") from None
    except OSError as error:
        text = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
        raise click.UsageError(f"{text}{told}") from None
    except (ValueError, TypeError, ImportError) as error:
        raise click.UsageError(f"{error}{told}") from None


@contextmanager
def not_written(model: str, when: str) -> Iterator[None]:
    """Say of an interrupt when it came, unless it says that itself, and that there is no model."""
    told = f"; {model} is not written"
    try:
        yield
    except KeyboardInterrupt as error:
        if str(error).endswith(told):
            raise
        why = str(error).removesuffix(": nothing is kept").removesuffix(", and nothing is kept")
        raise KeyboardInterrupt(f"{why or f'interrupted {when}'}{told}") from None
