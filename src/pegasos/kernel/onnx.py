"""Kernel machines in ONNX."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from pegasos.base.onnx import Graph, Output
from pegasos.kernel.kernels import GivenKernel, PointKernel


def write_classifier(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """What an `SVC` predicts."""
    count, scores = len(model.classes_), _scores(model, graph, x)
    columns = count
    if count == 2:
        scores, columns = graph.flat(scores), 0
        numbers = graph.cast(graph.call("GreaterOrEqual", scores, graph.constant(0.0)), "INT64")
    elif not model._in_pairs():
        numbers = graph.call("ArgMax", scores, axis=1, keepdims=0)
    else:
        first, second = (np.eye(count)[numbers] for numbers in np.triu_indices(count, 1))
        by_pair = scores
        votes = _votes(graph, graph.call("Greater", by_pair, graph.constant(0.0)), first, second)
        numbers = graph.call("ArgMax", votes, axis=1, keepdims=0)
        if model.decision_function_shape == "ovo":
            columns = len(first)
        else:
            scores = _by_class(graph, by_pair, first, second)
        if model.break_ties and count > 2:
            numbers = graph.call("ArgMax", _by_class(graph, by_pair, first, second), axis=1, keepdims=0)
    return {"label": graph.labels(numbers, model.classes_), "scores": graph.floats(scores, columns)}


def write_regressor(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """What an `SVR` predicts."""
    return {"value": graph.floats(graph.flat(_scores(model, graph, x)))}


def _votes(graph: Graph, wins: str, first: Any, second: Any) -> str:
    """How many pairs each class wins, where it is told which pairs their first class does."""
    yes, no = (graph.cast(value, "DOUBLE") for value in (wins, graph.call("Not", wins)))
    votes = (graph.call("MatMul", value, graph.constant(won)) for value, won in ((yes, first), (no, second)))
    return graph.call("Add", *votes)


def _by_class(graph: Graph, by_pair: str, first: Any, second: Any) -> str:
    """A decision for each class: its votes, and less than half a vote for the decisions of its pairs."""
    wins = graph.call("Not", graph.call("Less", by_pair, graph.constant(0.0)))
    sums = graph.call("MatMul", by_pair, graph.constant(first - second))
    size = graph.call("Add", graph.call("Abs", sums), graph.constant(1.0))
    share = graph.call("Div", sums, graph.call("Mul", size, graph.constant(3.0)))
    return graph.call("Add", _votes(graph, wins, first, second), share)


def _scores(model: Any, graph: Graph, x: str) -> str:
    """The decision of each problem, a column for each."""
    kernel = model._fitted_kernel
    if isinstance(kernel, PointKernel) and kernel.name == "linear":
        coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
        return graph.affine(x, np.asarray(coef), model.intercept_)
    if isinstance(kernel, PointKernel):
        values = _kernel(model, kernel, graph, x)
    elif isinstance(kernel, GivenKernel):
        values = graph.call("Gather", x, graph.constant(model.support_.astype(np.int64)), axis=1)
    else:
        raise ValueError("a kernel that is a function cannot be written in ONNX; use one that has a name")
    return graph.affine(values, model._problem_weights(), model.intercept_)


def _kernel(model: Any, kernel: PointKernel, graph: Graph, x: str) -> str:
    """The kernel of each example with each support vector."""
    vectors = model._scaled(model.support_vectors_)
    vectors = np.asarray(vectors.toarray() if issparse(vectors) else vectors, dtype=np.float64)
    if model.scale_ is not None:
        x = graph.call("Div", x, graph.constant(model.scale_))
    if kernel.name == "rbf":
        # Distances are the same from anywhere, and near the middle of the support vectors they are rounded least.
        middle = vectors.mean(axis=0) if len(vectors) else np.zeros(vectors.shape[1])
        x, vectors = graph.call("Sub", x, graph.constant(middle)), vectors - middle
    products = graph.call("MatMul", x, graph.constant(vectors.T))
    if kernel.name == "rbf":
        squares = graph.call("ReduceSum", graph.call("Mul", x, x), graph.constant([1]), keepdims=1)
        sums = graph.call("Add", squares, graph.constant((vectors**2).sum(axis=1)))
        distances = graph.call("Sub", sums, graph.call("Mul", products, graph.constant(2.0)))
        return graph.call("Exp", graph.call("Mul", distances, graph.constant(-kernel.gamma)))
    scaled = graph.call("Mul", products, graph.constant(float(kernel.gamma)))
    scaled = graph.call("Add", scaled, graph.constant(float(kernel.coef0)))
    if kernel.name == "sigmoid":
        return graph.call("Tanh", scaled)
    return graph.call("Pow", scaled, graph.constant(float(kernel.degree)))
