"""What a command prints beside its work."""

import os
import sys
from contextlib import suppress

import click


class Lost:
    """What could not be written to standard output though somebody may wait for it."""

    why = ""


LOST = Lost()


def say(text: str, err: bool = False) -> None:
    """Print a line. If nobody reads any more, or nothing can be written, the work goes on; that the disk is full, of
    standard output, is told at the end."""
    try:
        click.echo(text, err=err)
    except OSError as error:
        if not err and not isinstance(error, BrokenPipeError):
            LOST.why = error.strerror or str(error)
        stream = sys.stderr if err else sys.stdout
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
