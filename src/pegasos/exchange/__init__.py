"""Models and programs of other packages: scikit-learn and ONNX."""

from pegasos.exchange.onnx import register_onnx, to_onnx
from pegasos.exchange.sklearn import from_sklearn

__all__ = ["from_sklearn", "register_onnx", "to_onnx"]
