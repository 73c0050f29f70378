"""What a model file holds of a linear machine: weights, and where a fit or a stream continues."""

from typing import Any

import numpy as np

from pegasos.base.outcome import Start
from pegasos.io.model import Features, Header, Kind, Tensors, take
from pegasos.io.text import HASH, check_hash
from pegasos.linear.cv import LinearSVCCV
from pegasos.linear.estimator import LastFit
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.linear.text import TextHasher
from pegasos.linear.vectorizer_file import WORDS
from pegasos.solvers import SOLVERS, STREAM_SOLVERS

LinearModel = LinearSVC | LinearSVR


def _pack(model: LinearModel) -> tuple[Tensors, Header]:
    """Tensors and entries of the header."""
    if "_streams" in vars(model):
        model.check_stream_parameters()
        return _pack_stream(model)
    model.check_parameters()
    counts = [start.t for start in model._last]
    rows = model._weight_rows()
    tensors: Tensors = {"coef": rows if isinstance(model, LinearSVC) else rows[0], "intercept": model.intercept_}
    if model.scale_ is not None:
        tensors["scale"] = model.scale_
    if model.warm_start:
        tensors |= _dual_point(model)
    return tensors, {"steps": counts if len(counts) > 1 else counts[0]}


def _is_joint(model: LinearModel) -> bool:
    return isinstance(model, LinearSVC) and model._joint


def _dual_point(model: LinearModel) -> Tensors:
    """The dual point, where there is one; a row for each class against the rest."""
    points = [start.point for start in model._last if start.point is not None]
    if len(points) < len(model._last):
        return {}
    if _is_joint(model):
        return {"dual_point": points[0]}  # several numbers of an example have a sum, which rounding would change
    rounded = np.array(points, dtype=np.float32)  # as feasible
    return {"dual_point": rounded if len(points) > 1 else rounded[0]}


def _unpack(model: LinearModel, header: Header, tensors: Tensors) -> int | None:
    """Give the model what was packed; a ValueError where it does not fit together."""
    if "stream" in header:
        _unpack_stream(model, header["stream"], tensors)
        return None
    model.check_parameters()
    n_parts, rows = 0, 1  # problems where there are several, and rows of coef_
    if isinstance(model, LinearSVC):
        count = len(model.classes_)
        n_parts = count if count > 2 and not model._joint else 0
        rows = count if count > 2 or model._joint else 1
        model._check_cost(count)
    model.coef_ = take(tensors, "coef", (rows, None) if isinstance(model, LinearSVC) else (None,))
    model.intercept_ = take(tensors, "intercept", (rows,))
    n_features = model.n_features_in_ = model.coef_.shape[-1]
    model.scale_ = take(tensors, "scale", (n_features,)) if "scale" in tensors else None
    if model.scale_ is not None and not (model.scale_ > 0).all():
        raise ValueError("'scale' has numbers in it that are not positive")
    model._last = _last_fit(model, header["steps"], tensors, n_parts)
    return n_parts


def _last_fit(model: LinearModel, steps: Any, tensors: Tensors, n_parts: int) -> LastFit:
    """Where a fit of the model continues."""
    counts = steps if n_parts else [steps]
    if not isinstance(counts, list) or len(counts) != max(n_parts, 1):
        raise ValueError(f"step counts {steps!r} of {n_parts} parts")
    for count in counts:
        if not isinstance(count, int) or not 0 <= count < 2**63:
            raise ValueError(f"a step count of {count!r}")
    points: Any = [None] * len(counts)
    if "dual_point" in tensors:
        shape = (n_parts, None) if n_parts else (None,)
        dtype = np.float64 if _is_joint(model) else np.float32
        q = np.atleast_2d(take(tensors, "dual_point", shape, dtype=dtype).astype(np.float64))
        if model.loss == "hinge" and not ((q >= 0) & (q <= 1)).all():
            raise ValueError("'dual_point' has numbers in it that are not between 0 and 1")
        points = list(q)
    return tuple(Start(point, count, model.loss) for count, point in zip(counts, points, strict=True))


def _pack_stream(model: LinearModel) -> tuple[Tensors, Header]:
    """After `partial_fit`. Weights are those of the learners."""
    tensors: Tensors = {}
    for k, learner in enumerate(model._streams):
        numbers, vectors = learner.core.state()
        tensors[f"stream.{k}.numbers"] = numbers
        tensors[f"stream.{k}.vectors"] = np.array(vectors)
    return tensors, {"stream": {"errors": model._stream_errors, "features": model.n_features_in_}}


def _unpack_stream(model: LinearModel, stored: dict[str, Any], tensors: Tensors) -> None:
    """Give a machine its learners back, and what follows from them."""
    errors, n_features = stored["errors"], stored["features"]
    if not isinstance(errors, float) or not isinstance(n_features, int) or not 0 < n_features < 2**31:
        raise ValueError(f"a stream of {n_features!r} features with {errors!r} errors")
    count = len(getattr(model, "classes_", ()))
    states = [_stream_state(tensors, k, n_features) for k in range(count if count > 2 else 1)]
    model._begin_stream(model.check_stream_parameters(), n_features, len(states))
    for learner, state in zip(model._streams, states, strict=True):
        learner.core.restore(*state)
    model._stream_errors = errors
    model.n_features_in_ = n_features
    model._store_streams()


def _stream_state(tensors: Tensors, k: int, n_features: int) -> tuple[Any, list[Any]]:
    """What a learner knows; of so many features, so that no more memory is taken than the file has."""
    numbers = take(tensors, f"stream.{k}.numbers", (None,))
    vectors = take(tensors, f"stream.{k}.vectors", (None, n_features + 1))
    if len(numbers) < 4 or len(vectors) < 1:
        raise ValueError(f"a stream of {len(numbers)} numbers and {len(vectors)} vectors")
    if (numbers[0] < 0) or not (0 <= numbers[3] < 2**53):
        raise ValueError(f"a stream of {numbers[3]:g} examples of weight {numbers[0]:g}")
    return numbers, list(vectors)


def _pack_text(hasher: TextHasher) -> tuple[Tensors, Header]:
    return {}, {**hasher.get_params(), "hash": HASH}


def _unpack_text(given: dict[str, Any], tensors: Tensors, model: LinearModel) -> TextHasher:
    check_hash(given.pop("hash", None))
    hasher = TextHasher(**given).fit([])
    if model.n_features_in_ != 1 << hasher.hash_bits:
        raise ValueError(f"{model.n_features_in_} weights, and {hasher.hash_bits} bits of a hash")
    return hasher


TEXT = Features("text", lambda: (TextHasher,), _pack_text, _unpack_text), WORDS
ALL_SOLVERS = {**STREAM_SOLVERS, **SOLVERS}

MODEL_KINDS = [
    Kind(LinearSVC, ALL_SOLVERS, _pack, _unpack, TEXT, {LinearSVCCV: "best_estimator_"}),
    Kind(LinearSVR, ALL_SOLVERS, _pack, _unpack, TEXT),
]
