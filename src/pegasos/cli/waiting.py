"""A bar on the terminal while the command reads or predicts."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pegasos.base.wording import visible
from pegasos.io.chunks import READING


@contextmanager
def waiting(what: str, path: str | None = None, shown: bool = True) -> Iterator[None]:
    """Show that something takes its time, and how much of a file is read; nothing where there is no terminal."""
    if not shown or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    size = float(os.path.getsize(path)) if path is not None and os.path.isfile(path) else None
    columns = [TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TimeElapsedColumn()]
    columns += [] if size is None else [TimeRemainingColumn(), TextColumn("{task.fields[left]}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(what), total=None, left="")

        def told(count: int) -> None:
            bar.update(task, advance=count, total=size, left="left")

        token = READING.set(told)
        try:
            yield
        finally:
            READING.reset(token)
