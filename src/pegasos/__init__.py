"""Support vector machines with a certificate: every fit says how far it is from the optimum."""

from importlib.metadata import version as _version

from pegasos import datasets, io, solvers
from pegasos._config import show_config
from pegasos.certificate import Certificate
from pegasos.feature_map import FeatureMapSVC
from pegasos.kernel import SVC, SVR
from pegasos.linear import LinearSVC
from pegasos.path import LinearSVCCV, Path, path
from pegasos.regression import LinearSVR
from pegasos.sequence import SequenceSVC
from pegasos.text import TextHasher

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
