"""The rivals, one file each, by the name of the file.

A file has ``PACKAGE``, its name on PyPI; ``MODULE``, which is imported when it is used and not before; and ``ways``, of
a problem: the ways of the package to solve it, none if it cannot state it. A file may have ``FOLDER``, where its module
is looked for first, and ``limit``, which tells it the number of threads. A way has settings that say how accurate it
should be, from loose to tight, so that the loosest that reaches an objective can be found.
"""

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from objective import Found, Problem
from threadpoolctl import threadpool_limits

__all__ = [
    "LIMIT",
    "NAMES",
    "OURS",
    "PASSES",
    "TOLERANCES",
    "Peer",
    "Way",
    "get",
    "limit_threads",
    "plain_sum",
    "threads",
]

OURS = "pegasos"
NAMES = (
    "sklearn",
    "intelex",
    "liblinear",
    "liblinear_multicore",
    "libsvm",
    "snapml",
    "vowpal_wabbit",
    "crfsuite",
    "rehline",
    "skglm",
    "torchkm",
    "river",
)

LIMIT = "PEGASOS_BENCHMARK_THREADS"

TOLERANCES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7)
PASSES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 5000)


@dataclass(frozen=True, eq=False)
class Way:
    """One way to solve a problem: an algorithm of a package with its settings."""

    name: str
    fit: Callable[[Problem, Any, Any], Found]  # of the problem, its examples as they were prepared, and a setting
    settings: Sequence[Any] = TOLERANCES
    #: The examples as the package takes them, made before the clock starts; where a package takes several kinds, those
    #: with which it is fastest.
    prepare: Callable[[Problem], Any] = lambda problem: problem.data.X


@dataclass(frozen=True)
class Peer:
    """A package."""

    name: str
    package: str
    module: str
    ways: Callable[[Problem], list[Way]]
    folder: Path | None = None  # where it is looked for first
    limit: Callable[[int], None] | None = None  # how it is told the number of threads, if in a way of its own

    @property
    def version(self) -> str | None:
        """None where it is not installed."""
        path = [str(self.folder)] if self.folder else sys.path
        found = next(iter(importlib.metadata.distributions(name=self.package, path=path)), None)
        return None if found is None else found.version

    def use(self) -> None:
        """Import it; done in the process that fits and in no other."""
        if self.folder:
            sys.path.insert(0, str(self.folder))
        importlib.import_module(self.module)
        if LIMIT in os.environ:
            threadpool_limits(threads())  # of libraries that were there before
            if self.limit:
                self.limit(threads())


def get(name: str) -> Peer:
    """The rival whose file has that name."""
    if name not in (*NAMES, OURS):
        raise ValueError(f"no rival is called {name!r}; one of {', '.join(NAMES)}")
    file = importlib.import_module(f"peers.{name}")
    return Peer(name, file.PACKAGE, file.MODULE, file.ways, getattr(file, "FOLDER", None), getattr(file, "limit", None))


def limit_threads(count: int) -> None:
    """So many threads for every contender, in place of what each would take; to be called before one is started."""
    for name in (LIMIT, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(count)


def threads() -> int:
    """How many a contender may have: the limit, or one for each processor."""
    return int(os.environ.get(LIMIT) or os.cpu_count() or 1)


def plain_sum(problem: Problem) -> bool:
    """Whether it is linear and each example has a loss of its own score: no joint classes, no kernel."""
    return problem.kind == "linear" and not problem.joint
