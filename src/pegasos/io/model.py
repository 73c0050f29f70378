"""Model files: safetensors with a JSON header. Loading runs no code and checks everything it uses."""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pegasos.certificate import Certificate, History, history_from_records
from pegasos.io import _kernel_model, _sequence_model, _stream_model
from pegasos.io._atomic import open_atomic
from pegasos.io._tensors import Tensors, take
from pegasos.kernel.svc import SVC, SVR
from pegasos.linear.estimator import State
from pegasos.linear.path import LinearSVCCV
from pegasos.linear.svc import LinearSVC
from pegasos.linear.svr import LinearSVR
from pegasos.linear.text import TextHasher
from pegasos.sequence.svc import SequenceSVC
from pegasos.sequence.templates import Template
from pegasos.solvers import STREAM_SOLVERS, Solver

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["load_model", "save_model"]

FORMAT = "pegasos-model"
VERSION = 1

LinearModel = LinearSVC | LinearSVR
KernelModel = SVC | SVR
Model = LinearModel | KernelModel | SequenceSVC

#: Models that a file can hold, by the name of their class.
KINDS: dict[str, type[Model]] = {kind.__name__: kind for kind in (LinearSVC, LinearSVR, SVC, SVR, SequenceSVC)}


def save_model(model: "Model | Pipeline", path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whole or not at all.

    The file holds weights, classes, parameters, certificate and history, and of a model with ``warm_start=True`` the
    dual point, four bytes an example (and class against the rest; eight for classes trained jointly), so that a fit of
    the loaded model continues. A `random_state` that is an object and not a number is not kept. Of a `LinearSVCCV` its
    `best_estimator_` is written. A kernel machine is its support vectors, and a fit of it always continues; one whose
    kernel is a Python function has no file, as files hold no code. A `SequenceSVC` is written with its vocabulary, and
    with ``warm_start=True`` its dual point; one behind a `Template` in a pipeline of these two with the template. A
    linear machine after `partial_fit` is written with what its learners know, so that the loaded one goes on learning,
    and one behind a `TextHasher` with that.

    Examples
    --------
    >>> import tempfile, os
    >>> from pegasos import LinearSVC, io
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(100, centers=2, random_state=0)
    >>> model = LinearSVC(tol=0.1, random_state=0).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "blobs.model")
    >>> io.save_model(model, path)
    >>> bool((io.load_model(path).predict(X) == model.predict(X)).all())
    True
    """
    from safetensors.numpy import save
    from sklearn.utils.validation import check_is_fitted

    before, model = _take_apart(model)
    if hasattr(model, "to_local"):
        raise TypeError("a machine of pegasos.dask is saved as a local one: save_model(model.to_local(), path)")
    if not isinstance(model, Model):
        *most, last = KINDS
        raise TypeError(
            f"a {type(model).__name__} is no model of pegasos; save_model writes {', '.join(most)} and {last}"
        )
    check_is_fitted(model)
    if isinstance(model, LinearSVCCV):
        model = model.best_estimator_
    tensors, header = _pack(model)
    if isinstance(before, Template):
        header["template"] = _sequence_model.pack_template(before)
    elif before is not None:
        header["text"] = before.get_params()
    header |= {"estimator": type(model).__name__, "parameters": _parameters(model)}
    if not _stream_model.is_stream(model):
        header["certificate"] = model.certificate_.to_dict()
        tensors |= _pack_history(model.history_)
    if not isinstance(model, LinearSVR | SVR):
        if model.classes_.dtype.kind in "biuf":
            tensors["classes"] = model.classes_
        elif all(isinstance(label, str) for label in model.classes_):
            header["classes"] = model.classes_.tolist()
        else:
            raise ValueError(
                f"classes {model.classes_!r} cannot be written to a model file; use numbers or strings as labels"
            )
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = model.feature_names_in_.tolist()
    metadata = {"format": FORMAT, "version": str(VERSION), "header": json.dumps(header)}
    data = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, metadata=metadata)
    with open_atomic(path) as file:
        file.write(data)


def _pack_history(history: History | list[History]) -> Tensors:
    if isinstance(history, list):
        return {f"history.{k}": _records(part) for k, part in enumerate(history)}
    return {"history": _records(history)}


def _take_apart(model: Any) -> tuple[Template | TextHasher | None, Any]:
    """Of a pipeline of what makes features and what uses them these two; else the model alone."""
    from sklearn.pipeline import Pipeline

    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps]
    first, last = (*steps, None, None)[:2]
    sequences = isinstance(first, Template) and isinstance(last, SequenceSVC)
    texts = isinstance(first, TextHasher) and isinstance(last, LinearModel)
    if len(steps) != 2 or not (sequences or texts):
        raise TypeError(
            "of pipelines, save_model writes those of a Template and a SequenceSVC, and of a TextHasher and a linear "
            "machine; save the last step alone"
        )
    return steps[0], steps[1]


def _pack(model: Model) -> tuple[Tensors, dict[str, Any]]:
    """Tensors of a machine, and its entries of the header."""
    if isinstance(model, SequenceSVC):
        return _sequence_model.pack(model)
    if _stream_model.is_stream(model):
        return _stream_model.pack(model)
    return _kernel_model.pack(model) if isinstance(model, KernelModel) else _pack_linear(model)


def _pack_linear(model: LinearModel) -> tuple[Tensors, dict[str, Any]]:
    """Tensors of a linear machine, and its entries of the header."""
    last = model._last
    tensors: Tensors = {"coef": model.coef_, "intercept": model.intercept_}
    if model.scale_ is not None:
        tensors["scale"] = model.scale_
    if model.warm_start:
        tensors |= _dual_point(model)
    return tensors, {"steps": [state.t for state in last.parts] if last.parts else last.t}


def _records(history: History) -> NDArray[np.float64]:
    return np.stack([history[name] for name in ("seconds", "epoch", "primal", "dual")], axis=1)


def _is_joint(model: LinearModel) -> bool:
    return isinstance(model, LinearSVC) and model.multi_class == "joint"


def _dual_point(model: LinearModel) -> Tensors:
    """The dual point, where there is one; a row for each class against the rest."""
    last = model._last
    states = last.parts or (last,)
    points = [state.q for state in states if state.q is not None]
    if len(points) < len(states):
        return {}
    if _is_joint(model):
        return {"dual_point": points[0]}  # several numbers of an example have a sum, which rounding would change
    rounded = np.array(points, dtype=np.float32)  # as feasible
    return {"dual_point": rounded if last.parts else rounded[0]}


def load_model(path: str | os.PathLike[str]) -> "Model | Pipeline":
    """Read a model that `save_model` wrote. Raises a ValueError that names the file where it is not one."""
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    try:
        with open(name, "rb"):  # for the usual messages on missing and forbidden files
            pass
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError("a safetensors file, but not a pegasos model")
            if metadata.get("version") != str(VERSION):
                raise ValueError(
                    f"model format {metadata.get('version')!r}, of another version of pegasos; this one reads {VERSION}"
                )
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, not a dict
        return _restore(json.loads(metadata["header"]), tensors)
    except SafetensorError as error:
        raise ValueError(f"{name}: not a pegasos model, or truncated ({error})") from None
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError, json.JSONDecodeError) as error:
        raise ValueError(f"{name}: a damaged pegasos model ({type(error).__name__}: {error})") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _parameters(model: Model) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    solver = parameters["solver"]
    if isinstance(solver, Solver):
        options = {name: _plain(value) for name, value in solver.get_params().items()}
        parameters["solver"] = {"name": solver.name, "options": options}
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters["random_state"] = None
    if isinstance(parameters.get("class_weight"), Mapping):
        parameters["class_weight"] = [[_plain(k), float(v)] for k, v in parameters["class_weight"].items()]
    if parameters.get("cost") is not None:
        parameters["cost"] = np.asarray(parameters["cost"], dtype=np.float64).tolist()
    if "constraints" in parameters:
        parameters["constraints"] = _sequence_model.pack_constraints(parameters["constraints"])
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _restore(header: dict[str, Any], tensors: Tensors) -> "Model | Pipeline":
    if header["estimator"] not in KINDS:
        raise ValueError(f"a model of kind {header['estimator']!r}, which this version does not know")
    kind = KINDS[header["estimator"]]
    model = kind(**_given_parameters(header["parameters"], kind))
    streamed = "stream" in header
    if streamed:
        model.check_stream_parameters()
    else:
        model.check_parameters()
    if not isinstance(model, LinearSVR | SVR):
        model.classes_ = _classes(header, tensors)
    n_parts = 0
    if streamed:
        _stream_model.unpack(model, header["stream"], tensors)
    else:
        n_parts = _unpack(model, header, tensors)
    names = header.get("feature_names")
    if names is not None:
        if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
            raise ValueError(f"the names of the features do not fit the {model.n_features_in_} weights")
        model.feature_names_in_ = np.array(names, dtype=object)
    if not streamed:
        _unpack_result(model, header, tensors, n_parts)
    return _behind_features(model, header)


def _unpack_result(model: Model, header: dict[str, Any], tensors: Tensors, n_parts: int) -> None:
    """Certificate and history."""
    model.certificate_ = _certificate(header["certificate"])
    if len(model.certificate_.parts) != n_parts:
        raise ValueError(f"a certificate of {len(model.certificate_.parts)} parts, not {n_parts}")
    model.n_iter_ = model.certificate_.n_iter
    histories = [
        history_from_records(take(tensors, name, (None, 4), finite=False).tolist())
        for name in ([f"history.{k}" for k in range(n_parts)] or ["history"])
    ]
    model.history_ = histories if n_parts else histories[0]


def _behind_features(model: Model, header: dict[str, Any]) -> "Model | Pipeline":
    """The model, in a pipeline with what makes its features where the file has that."""
    if "template" not in header and "text" not in header:
        return model
    from sklearn.pipeline import make_pipeline

    if "template" in header:
        if not isinstance(model, SequenceSVC):
            raise ValueError(f"a template, of which a {type(model).__name__} has no use")
        return make_pipeline(_sequence_model.unpack_template(header["template"]), model)
    hasher = TextHasher(**header["text"]).fit([])
    if model.n_features_in_ != 1 << hasher.hash_bits:
        raise ValueError(f"{model.n_features_in_} weights, and {hasher.hash_bits} bits of a hash")
    return make_pipeline(hasher, model)


def _unpack(model: Model, header: dict[str, Any], tensors: Tensors) -> int:
    """Give a machine what was packed, and return the number of its problems, 0 for a single one."""
    if isinstance(model, SequenceSVC):
        _sequence_model.unpack(model, header, tensors)
        return 0
    if isinstance(model, KernelModel):
        _kernel_model.unpack(model, header, tensors)
        return _kernel_model.count_parts(model)
    return _unpack_linear(model, header, tensors)


def _unpack_linear(model: LinearModel, header: dict[str, Any], tensors: Tensors) -> int:
    """Give a linear machine what was packed, and return the number of its problems, 0 for a single one."""
    n_parts, rows = 0, 1  # problems where there are several, and rows of coef_
    if isinstance(model, LinearSVC):
        count = len(model.classes_)
        n_parts = count if count > 2 and model.multi_class == "ovr" else 0
        rows = count if count > 2 or model.multi_class == "joint" else 1
        model._check_cost(count)
    model.coef_ = take(tensors, "coef", (rows, None) if isinstance(model, LinearSVC) else (None,))
    model.intercept_ = take(tensors, "intercept", (rows,))
    n_features = model.n_features_in_ = model.coef_.shape[-1]
    model.scale_ = take(tensors, "scale", (n_features,)) if "scale" in tensors else None
    if model.scale_ is not None and not (model.scale_ > 0).all():
        raise ValueError("'scale' has numbers in it that are not positive")
    model._last = _state(model, header["steps"], tensors, n_parts)
    return n_parts


def _state(model: LinearModel, steps: Any, tensors: Tensors, n_parts: int) -> State:
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
    states = tuple(State(count, point, model.loss) for count, point in zip(counts, points, strict=True))
    return State(max(counts), None, model.loss, states) if n_parts else states[0]


def _classes(header: dict[str, Any], tensors: Tensors) -> NDArray[Any]:
    if "classes" in tensors:
        classes = tensors["classes"]
    elif all(isinstance(label, str) for label in header["classes"]):
        classes = np.array(header["classes"])
    else:
        raise ValueError("classes that are neither numbers nor strings")
    if classes.ndim != 1 or len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ValueError(f"{classes!r} where two or more classes in increasing order are expected")
    return classes


def _given_parameters(parameters: dict[str, Any], kind: type[Model]) -> dict[str, Any]:
    if not isinstance(parameters, dict) or not set(parameters) <= set(kind().get_params(deep=False)):
        raise ValueError(f"parameters that {kind.__name__} does not have")
    parameters = dict(parameters)
    solver = parameters.get("solver")
    if isinstance(solver, dict):
        parameters["solver"] = {**STREAM_SOLVERS, **kind.solvers}[solver["name"]](**solver["options"])
        parameters["solver"].check()
    if isinstance(parameters.get("class_weight"), list):
        parameters["class_weight"] = {label: float(weight) for label, weight in parameters["class_weight"]}
    if "constraints" in parameters:
        parameters["constraints"] = _sequence_model.unpack_constraints(parameters["constraints"])
    return parameters


def _certificate(fields: dict[str, Any]) -> Certificate:
    parts = fields.get("parts", [])  # which older files do not have
    certificate = Certificate(**{**fields, "parts": tuple(_certificate(part) for part in parts)})
    numbers = (certificate.primal, certificate.dual, certificate.gap, certificate.seconds, certificate.rounding)
    if (
        not all(isinstance(number, int | float) for number in numbers)
        or not isinstance(certificate.n_iter, int)
        or not isinstance(certificate.converged, bool)
        or not isinstance(certificate.reason, str)
        or not isinstance(certificate.solver, str)
        or not isinstance(certificate.scaled, bool)
        or not isinstance(certificate.assumed, str)
    ):
        raise ValueError("a certificate with entries of the wrong type")
    return certificate
