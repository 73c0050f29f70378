"""Support vector machines with a certificate: every fit says how far it is from the optimum."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegasos import datasets, io, plot, solvers
    from pegasos.base.checkpoint import Checkpoint
    from pegasos.base.listen import Check, listen
    from pegasos.certificate import Certificate
    from pegasos.config import show_config
    from pegasos.exchange import from_sklearn, register_onnx, to_onnx
    from pegasos.exchange.patch import patch_sklearn, unpatch_sklearn
    from pegasos.kernel import SVC, SVR
    from pegasos.linear import LinearSVC, LinearSVCCV, LinearSVR, RegularizationPath, TextHasher
    from pegasos.linear.path import path
    from pegasos.reporting import report
    from pegasos.sequence import FeatureMapSVC, SequenceSVC

    __version__: str

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "Check",
    "Checkpoint",
    "FeatureMapSVC",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "RegularizationPath",
    "SequenceSVC",
    "TextHasher",
    "datasets",
    "from_sklearn",
    "io",
    "listen",
    "patch_sklearn",
    "path",
    "plot",
    "register_onnx",
    "report",
    "show_config",
    "solvers",
    "to_onnx",
    "unpatch_sklearn",
]

#: Where names come from. They are imported when they are first asked for, so that the command, which is a module of
#: this package, hears Ctrl-C while that lasts.
_HOMES = {
    "config": ["show_config"],
    "base.checkpoint": ["Checkpoint"],
    "base.listen": ["Check", "listen"],
    "certificate": ["Certificate"],
    "exchange": ["from_sklearn", "register_onnx", "to_onnx"],
    "exchange.patch": ["patch_sklearn", "unpatch_sklearn"],
    "kernel": ["SVC", "SVR"],
    "linear": ["LinearSVC", "LinearSVCCV", "LinearSVR", "RegularizationPath", "TextHasher"],
    "linear.path": ["path"],
    "reporting": ["report"],
    "sequence": ["FeatureMapSVC", "SequenceSVC"],
}


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is not None:
        value = getattr(import_module(f"pegasos.{home}"), name)
    elif name in __all__:
        value = import_module(f"pegasos.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("pegasos")
    else:
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
