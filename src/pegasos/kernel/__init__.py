"""Kernel machines: their estimators and what only these need."""

from pegasos.io.foreign import register_foreign
from pegasos.io.model import register
from pegasos.kernel.libsvm import LIBSVM
from pegasos.kernel.model_file import MODEL_KINDS
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR

__all__ = ["SVC", "SVR"]

register(*MODEL_KINDS)
register_foreign("libsvm", LIBSVM)
