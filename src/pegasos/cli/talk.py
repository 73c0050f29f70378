"""What a command prints beside its work."""

import os
import sys
from contextlib import suppress

import click


def say(text: str, err: bool = False) -> None:
    """Print a line. If nobody reads any more, or nothing can be written, the work goes on in silence."""
    try:
        click.echo(text, err=err)
    except OSError:
        stream = sys.stderr if err else sys.stdout
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
