"""What a command prints beside its work."""

import io
import os
import sys
from contextlib import suppress
from typing import TextIO

import click

from pegasos.base.wording import visible


class Lost:
    """What could not be written to standard output though somebody may wait for it."""

    why = ""


LOST = Lost()


def echo(*lines: str, err: bool = False) -> None:
    """Print lines, in which names from files may be."""
    click.echo("\n".join(map(visible, lines)), err=err)


def say(*lines: str, err: bool = False) -> None:
    """Print lines. If nobody reads any more, or nothing can be written, the work goes on; that the disk is full, of
    standard output, is told at the end."""
    try:
        echo(*lines, err=err)
    except OSError as error:
        if not err and not isinstance(error, BrokenPipeError):
            LOST.why = error.strerror or str(error)
        drop(sys.stderr if err else sys.stdout)


def drop(stream: TextIO) -> None:
    """What is still to be written to a stream that takes no more goes nowhere; Python would fail at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_whole() -> None:
    """Have all of an output written, or an error, where Python does not buffer (PYTHONUNBUFFERED, python -u): it then
    asks the system once, which may write a part and say so, and takes no notice."""
    stream = sys.stdout
    if stream is not None and isinstance(getattr(stream, "buffer", None), io.RawIOBase):
        sys.stdout = open(  # noqa: SIM115 - it stays open as long as the process
            stream.fileno(), "w", buffering=1, encoding=stream.encoding, errors=stream.errors, closefd=False
        )
