"""Support vector machines with a certificate: every fit says how far it is from the optimum."""

from importlib.metadata import version as _version

from pegasos import datasets, io, solvers
from pegasos._config import show_config
from pegasos.certificate import Certificate
from pegasos.kernel.svc import SVC, SVR
from pegasos.linear.path import LinearSVCCV, Path, path
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.linear.text import TextHasher
from pegasos.sequence.feature_map import FeatureMapSVC
from pegasos.sequence.svc import SequenceSVC

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
