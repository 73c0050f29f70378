"""Models in ONNX, alone or as a step of what skl2onnx converts."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pegasos.base.exchange import Exchanged
from pegasos.base.onnx import Graph, Output
from pegasos.kernel.svc import SVC
from pegasos.kernel.svr import SVR
from pegasos.linear.cv import LinearSVCCV
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR


def to_onnx(model: Any, initial_types: Any = None) -> Any:
    """A fitted model in ONNX, which predicts the same to rounding.

    Parameters
    ----------
    model : estimator of pegasos, or a pipeline or other estimator of scikit-learn that holds one
        For an estimator of pegasos, this is its `to_onnx`. A pipeline or other estimator goes through skl2onnx, after a
        call of `register_onnx`.
    initial_types : list, default=None
        For skl2onnx: names and types of the inputs. None means one input "X", a matrix of float32.

    Returns
    -------
    onnx.ModelProto
        ``model.SerializeToString()`` gives the content of a file.

    Examples
    --------
    >>> import pegasos
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> made = pegasos.to_onnx(pegasos.SVC().fit(X, y))
    >>> [output.name for output in made.graph.output]
    ['label', 'scores']
    """
    if isinstance(model, Exchanged):
        return model.to_onnx()
    if isinstance(model, LinearSVCCV):
        check_is_fitted(model)
        return model.best_estimator_.to_onnx()
    register_onnx()
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType

    check_is_fitted(model)
    if initial_types is None:
        if not hasattr(model, "n_features_in_"):
            raise ValueError(f"a {type(model).__name__} does not tell how many columns it takes; pass initial_types")
        initial_types = [("X", FloatTensorType([None, model.n_features_in_]))]
    last = model[-1] if hasattr(model, "steps") else model
    options = {id(last): {"zipmap": False}} if hasattr(last, "classes_") else None
    made = skl2onnx.to_onnx(model, initial_types=initial_types, options=options)
    if isinstance(last, LinearSVC | SVC) and not hasattr(last, "predict_proba"):
        _rename(made.graph, "probabilities", "scores")  # skl2onnx has one name for both
    return made


def _rename(graph: Any, name: str, to: str) -> None:
    for node in graph.node:
        node.input[:] = [to if one == name else one for one in node.input]
        node.output[:] = [to if one == name else one for one in node.output]
    for output in graph.output:
        if output.name == name:
            output.name = to


def register_onnx() -> None:
    """Let skl2onnx convert the estimators of pegasos, alone and as steps of pipelines.

    A classifier has two outputs: the label, and probabilities with ``loss="log_loss"``, otherwise scores. With two
    classes, the second output has a column for each.
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import (
            calculate_linear_classifier_output_shapes,
            calculate_linear_regressor_output_shapes,
        )
    except ImportError as error:
        raise ImportError("pipelines in ONNX need the package skl2onnx: pip install skl2onnx") from error
    known = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    for classifier in (LinearSVC, SVC):
        update_registered_converter(
            classifier,
            f"Pegasos{classifier.__name__}",
            calculate_linear_classifier_output_shapes,
            _convert,
            options=known,
        )
    for regressor in (LinearSVR, SVR):
        name = f"Pegasos{regressor.__name__}"
        update_registered_converter(regressor, name, calculate_linear_regressor_output_shapes, _convert)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Put the graph of an estimator into that of skl2onnx."""
    model, given, graph = operator.raw_operator, operator.inputs[0].full_name, Graph()
    outputs = model._write_onnx(graph, graph.cast(given, "DOUBLE"))
    results = _two_outputs(model, graph, outputs) if "label" in outputs else [_column(graph, outputs["value"])]
    names = {given: given}
    for tensor in graph.constants:
        names[tensor.name] = tensor.name = scope.get_unique_variable_name("pegasos")
        container.initializers.append(tensor)
    for node in graph.nodes:
        names[node.output[0]] = scope.get_unique_variable_name("pegasos")
        attributes = {one.name: graph.onnx.helper.get_attribute_value(one) for one in node.attribute}
        _add(scope, container, node.op_type, [names[name] for name in node.input], names[node.output[0]], attributes)
    for result, wanted in zip(results, operator.outputs, strict=True):
        _add(scope, container, "Identity", [names[result]], wanted.full_name, {})


def _add(scope: Any, container: Any, kind: str, inputs: list[str], output: str, attributes: dict[str, Any]) -> None:
    name = scope.get_unique_operator_name(kind)
    container.add_node(kind, inputs, [output], op_version=container.target_opset, name=name, **attributes)


def _two_outputs(model: Any, graph: Graph, outputs: dict[str, Output]) -> list[str]:
    """Label, and probabilities or scores with a column for each class, as skl2onnx has them."""
    label, second = outputs["label"], outputs.get("probabilities", outputs["scores"])
    numbers = label.value
    if label.kind not in ("STRING", "INT64"):
        if not np.array_equal(model.classes_, model.classes_.astype(np.int64)):
            raise ValueError(f"classes {model.classes_!r}: skl2onnx takes whole numbers and strings as labels")
        numbers = graph.cast(label.value, "INT64")
    if second.columns:
        return [numbers, second.value]
    positive = _column(graph, second)
    return [numbers, graph.call("Concat", graph.call("Neg", positive), positive, axis=1)]


def _column(graph: Graph, output: Output) -> str:
    return graph.call("Unsqueeze", output.value, graph.constant([1]))
