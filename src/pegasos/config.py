"""What is installed, and which build of the core is in use."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import scipy.sparse as sp
from sklearn import get_config

from pegasos import _core
from pegasos._threads import usable_threads

PACKAGES = ("numpy", "scipy", "scikit-learn", "safetensors", "click", "rich")


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
