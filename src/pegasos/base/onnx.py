"""Predictions as ONNX graphs: what all kinds of estimators share.

Everything is computed in double precision, with operators of the default domain, so that what runs the graph rounds no
more than the estimator does, and needs no operators for machine learning.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: The oldest versions of operators and of the file format that have what is used.
OPSET, IR_VERSION = 17, 8
#: Bytes of constants that a file can hold, which is a message of Protocol Buffers.
MOST_BYTES = 2_000_000_000


def import_onnx() -> Any:
    """The package onnx, or an error that says how to get it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from error
    return onnx


class Output(NamedTuple):
    """What a graph computes: a value of it, of this type and of so many columns, 0 for none."""

    value: str
    kind: str  # a type of onnx.TensorProto
    columns: int = 0


class Graph:
    """A graph in the making. Values go by their names."""

    def __init__(self) -> None:
        self.onnx = import_onnx()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._bytes = 0
        self._names: Iterator[str] = (f"value_{number}" for number in range(10**9))

    def constant(self, given: ArrayLike) -> str:
        """A tensor that is known."""
        array, name = np.asarray(given), next(self._names)
        self._bytes += array.nbytes
        if self._bytes > MOST_BYTES:
            raise ValueError("the model has more than 2 GB of numbers, and an ONNX file has at most that")
        if array.dtype.kind in "UO":
            texts = [str(text).encode() for text in array.ravel()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def call(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The result of an operator."""
        name = next(self._names)
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def cast(self, value: str, kind: str) -> str:
        """The value as another type."""
        return self.call("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def affine(self, x: str, coef: Floats, intercept: Floats) -> str:
        """``x @ coef.T + intercept``"""
        return self.call("Add", self.call("MatMul", x, self.constant(coef.T)), self.constant(intercept))

    def flat(self, column: str) -> str:
        """A single column as a vector."""
        return self.call("Reshape", column, self.constant(np.array([-1])))

    def labels(self, numbers: str, classes: NDArray[Any]) -> Output:
        """The classes of these numbers."""
        if classes.dtype.kind in "iu":
            classes, kind = classes.astype(np.int64), "INT64"
        elif classes.dtype.kind == "b":
            kind = "BOOL"
        elif classes.dtype.kind == "f":
            classes, kind = classes.astype(np.float64), "DOUBLE"
        elif all(isinstance(label, str) for label in classes.tolist()):
            kind = "STRING"
        else:
            raise ValueError(f"classes {classes!r} cannot be written in ONNX; use numbers or strings as labels")
        return Output(self.call("Gather", self.constant(classes), numbers), kind)

    def floats(self, value: str, columns: int = 0) -> Output:
        """An output of single precision."""
        return Output(self.cast(value, "FLOAT"), "FLOAT", columns)


def make_onnx(model: Any) -> Any:
    """The graph of a fitted estimator as a model."""
    graph = Graph()
    onnx, helper = graph.onnx, graph.onnx.helper
    outputs = model._write_onnx(graph, graph.cast("X", "DOUBLE"))
    told = []
    for name, (value, kind, columns) in outputs.items():
        graph.nodes.append(helper.make_node("Identity", [value], [name]))
        shape = ["n_samples", columns] if columns else ["n_samples"]
        told.append(helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), shape))
    X = helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, ["n_samples", onnx_width(model)])
    made = helper.make_model(
        helper.make_graph(graph.nodes, type(model).__name__, [X], told, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="pegasos",
    )
    onnx.checker.check_model(made)
    return made


def onnx_width(model: Any) -> int:
    """Columns of the input: of a kernel matrix as many as there were examples."""
    return int(model.shape_fit_[0] if getattr(model, "kernel", "") == "precomputed" else model.n_features_in_)
