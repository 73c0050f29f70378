"""The compiled core: one build per instruction set, the best one this processor runs chosen at import.

``PEGASOS_ISA=v2`` (``v3``, ``v4``, ``plain``) in the environment chooses another.
"""

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING

from pegasos._core import cpu

__all__ = ["available", "load", "native"]


def available() -> list[str]:
    """Builds that are installed and run on this processor, best first."""
    here = os.listdir(os.path.dirname(__file__))
    return [level for level in cpu.levels() if any(name.startswith(f"{level}.") for name in here)]


def load(level: str) -> ModuleType:
    """The core built for one instruction set."""
    return importlib.import_module(f"pegasos._core.{level}")


def _choose() -> str:
    levels = available()
    wanted = os.environ.get("PEGASOS_ISA", "")
    if wanted and wanted not in levels:
        raise ImportError(f"PEGASOS_ISA={wanted!r}: this processor runs {', '.join(levels) or 'no build'}; unset it")
    if not levels:
        raise ImportError(f"pegasos was built for other processors than this one ({', '.join(cpu.levels()) or '?'})")
    return wanted or levels[0]


if TYPE_CHECKING:
    from pegasos._core import native as native  # the stub, which serves all builds
else:
    native = load(_choose())
