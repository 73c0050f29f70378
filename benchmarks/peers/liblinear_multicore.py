"""LIBLINEAR for several threads.

Its Python module has the name of LIBLINEAR's own, so that it is looked for in a folder apart:
``pip install --no-deps --target .venv/liblinear-multicore liblinear-multicore`` for the environment ``.venv``.
"""

import sys
from pathlib import Path

from objective import Problem

from peers import Way, threads
from peers.liblinear import doubles, solvers, trainer

PACKAGE = "liblinear-multicore"
MODULE = "liblinear.liblinearutil"

FOLDER = Path(sys.prefix) / "liblinear-multicore"  # where its module is looked for first
THREADED = (0, 1, 2, 3, 5, 6, 11, 21)


def ways(problem: Problem) -> list[Way]:
    option = f"-m {threads()}"
    return [
        Way(f"LIBLINEAR multicore, {name}", trainer(number, option), prepare=doubles)
        for name, number in solvers(problem).items()
        if number in THREADED
    ]
