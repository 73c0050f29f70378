"""Linear machines: their estimators and what only these need."""

from pegasos.io.foreign import register_foreign
from pegasos.io.model import register
from pegasos.linear.cv import LinearSVCCV
from pegasos.linear.liblinear import LIBLINEAR
from pegasos.linear.model_file import MODEL_KINDS
from pegasos.linear.path import RegularizationPath
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.linear.text import TextHasher

__all__ = ["LinearSVC", "LinearSVCCV", "LinearSVR", "RegularizationPath", "TextHasher"]

register(*MODEL_KINDS)
register_foreign("liblinear", LIBLINEAR)
