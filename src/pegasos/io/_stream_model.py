"""What is in the file of a model that learned from a stream."""

from typing import Any, TypeGuard

import numpy as np

from pegasos.io._tensors import Tensors, take
from pegasos.linear.stream import StreamMachine

__all__ = ["is_stream", "pack", "unpack"]


def is_stream(model: Any) -> TypeGuard[StreamMachine]:
    """Whether the last thing a machine did was `partial_fit`."""
    return "_streams" in vars(model)


def pack(model: StreamMachine) -> tuple[Tensors, dict[str, Any]]:
    """Tensors and entries of the header. Weights are those of the learners."""
    tensors: Tensors = {}
    for k, learner in enumerate(model._streams):
        numbers, vectors = learner.core.state()
        tensors[f"stream.{k}.numbers"] = numbers
        tensors[f"stream.{k}.vectors"] = np.array(vectors)
    return tensors, {"stream": {"errors": model._stream_errors, "features": model.n_features_in_}}


def unpack(model: StreamMachine, stored: dict[str, Any], tensors: Tensors) -> None:
    """Give a machine its learners back, and what follows from them."""
    errors, n_features = stored["errors"], stored["features"]
    if not isinstance(errors, float) or not isinstance(n_features, int) or not 0 < n_features < 2**31:
        raise ValueError(f"a stream of {n_features!r} features with {errors!r} errors")
    count = len(getattr(model, "classes_", ()))
    model._begin_stream(model.check_stream_parameters(), n_features, count if count > 2 else 1)
    for k, learner in enumerate(model._streams):
        numbers = take(tensors, f"stream.{k}.numbers", (None,))
        vectors = take(tensors, f"stream.{k}.vectors", (None, n_features + 1))
        if (numbers[0] < 0) or not (0 <= numbers[3] < 2**53):
            raise ValueError(f"a stream of {numbers[3]:g} examples of weight {numbers[0]:g}")
        learner.core.restore(numbers, list(vectors))
    model._stream_errors = errors
    model.n_features_in_ = n_features
    model._store_streams()
