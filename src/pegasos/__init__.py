"""Support vector machines with a certificate: every fit says how far it is from the optimum."""

from importlib.metadata import version as _version

from pegasos import datasets, io, solvers
from pegasos._config import show_config
from pegasos.certificate import Certificate
from pegasos.kernel import SVC, SVR
from pegasos.linear import LinearSVC, LinearSVCCV, LinearSVR, Path, TextHasher
from pegasos.linear.path import path
from pegasos.sequence import FeatureMapSVC, SequenceSVC

__version__ = _version("pegasos")
__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "FeatureMapSVC",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "Path",
    "SequenceSVC",
    "TextHasher",
    "datasets",
    "io",
    "path",
    "show_config",
    "solvers",
]
