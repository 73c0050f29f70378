"""The compiled core: one build per instruction set, the best one this processor runs chosen at import.

``PEGASOS_ISA=v2`` (``v3``, ``v4``, ``plain``) in the environment chooses another.
"""

import atexit
import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from pegasos._core import cpu

__all__ = ["available", "load", "native"]

#: How long the interpreter waits at its exit for fits on daemon threads to end.
SECONDS_AT_EXIT = 10.0

#: All builds there are, best first.
LEVELS = ("v4", "v3", "v2", "plain")


def installed() -> list[str]:
    """Builds that are installed."""
    here = os.listdir(os.path.dirname(__file__))
    return [level for level in LEVELS if any(name.startswith(f"{level}.") for name in here)]


def available() -> list[str]:
    """Builds that are installed and run on this processor, best first."""
    runs = cpu.levels()
    return [level for level in installed() if level in runs]


def load(level: str) -> ModuleType:
    """The core built for one instruction set."""
    return importlib.import_module(f"pegasos._core.{level}")


def choose() -> str:
    """The build to use."""
    levels = available()
    wanted = os.environ.get("PEGASOS_ISA", "")
    if not levels:
        raise ImportError(
            f"pegasos is built here for {', '.join(installed()) or 'no processor'}, and this processor runs "
            f"{', '.join(cpu.levels()) or 'no build of it'}; build it on this machine, or for all: "
            "pass -C cmake.define.PEGASOS_LEVELS='v2;v3;v4' to pip"
        )
    if wanted and wanted not in levels:
        raise ImportError(f"PEGASOS_ISA={wanted!r}: the builds that run here are {', '.join(levels)}; unset it")
    return wanted or levels[0]


if TYPE_CHECKING:
    from pegasos._core import native as native  # the stub, which serves all builds
else:
    native = load(choose())
    atexit.register(native.end_runs, SECONDS_AT_EXIT)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=native.forget_runs)
