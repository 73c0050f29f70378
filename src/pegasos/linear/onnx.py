"""Linear machines in ONNX."""

from typing import Any

from pegasos.base.onnx import Graph, Output


def write_classifier(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """What a `LinearSVC` predicts."""
    count = len(model.classes_)
    scores = graph.affine(x, model._weight_rows(), model.intercept_)
    if count > 2:
        return _outputs(model, graph, graph.call("ArgMax", scores, axis=1, keepdims=0), scores, count)
    if model._joint:
        first, second = (graph.call("Gather", scores, graph.constant(k), axis=1) for k in (0, 1))
        scores = graph.call("Sub", second, first)
    scores = graph.flat(scores)
    positive = graph.call("Greater", scores, graph.constant(0.0))
    return _outputs(model, graph, graph.cast(positive, "INT64"), scores, 0)


def _outputs(model: Any, graph: Graph, numbers: str, scores: str, columns: int) -> dict[str, Output]:
    outputs = {"label": graph.labels(numbers, model.classes_), "scores": graph.floats(scores, columns)}
    if model.loss == "log_loss":
        if columns and not model._joint:  # logarithms of probabilities against the rest
            small = graph.call("Exp", graph.call("Neg", graph.call("Abs", scores)))
            rest = graph.call("Log", graph.call("Add", small, graph.constant(1.0)))
            scores = graph.call("Sub", graph.call("Min", scores, graph.constant(0.0)), rest)
        if columns:
            probabilities = graph.call("Softmax", scores, axis=1)
        else:
            column = graph.call("Unsqueeze", scores, graph.constant([1]))
            both = graph.call("Concat", graph.call("Neg", column), column, axis=1)
            probabilities = graph.call("Sigmoid", both)
        outputs["probabilities"] = graph.floats(probabilities, columns or 2)
    return outputs


def write_regressor(model: Any, graph: Graph, x: str) -> dict[str, Output]:
    """What a `LinearSVR` predicts."""
    return {"value": graph.floats(graph.flat(graph.affine(x, model._weight_rows(), model.intercept_)))}
