"""What is installed, and which build of the core is in use."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import scipy.sparse as sp
from sklearn import get_config

from pegasos import _core

PACKAGES = ("numpy", "scipy", "scikit-learn", "safetensors", "click", "rich")


def usable_threads() -> int:
    """Processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_threads(n_jobs: int | None) -> int | None:
    """`n_jobs` as a number of threads; None stays None."""
    if n_jobs is not None and not (n_jobs == -1 or 1 <= n_jobs <= 1024):
        raise ValueError(
            f"n_jobs={n_jobs}: must be a number of threads from 1 to 1024, -1 for as many as there are processors, "
            "or None"
        )
    return usable_threads() if n_jobs == -1 else n_jobs


def make_csr(*args: Any, **kwargs: Any) -> Any:
    """A CSR matrix for users: an array where scikit-learn's `sparse_interface` (1.9 on) is "sparray"."""
    kind = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    return kind(*args, **kwargs)


def config() -> dict[str, str]:
    """The facts `show_config` prints."""

    def version_of(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    return {
        "pegasos": version("pegasos"),
        "core": f"{_core.native.level} (can run: {', '.join(_core.available())}; PEGASOS_ISA overrides)",
        "threads": str(usable_threads()),
        "python": f"{platform.python_version()} ({sys.implementation.name}, {platform.machine()}, {platform.system()})",
        **{package: version_of(package) for package in PACKAGES},
    }


def show_config() -> None:
    """Print versions, the build of the core in use and the number of threads; to go into a bug report.

    Examples
    --------
    >>> import pegasos
    >>> pegasos.show_config()  # doctest: +ELLIPSIS
    pegasos: ...
    core: ...
    """
    for name, value in config().items():
        print(f"{name}: {value}")
