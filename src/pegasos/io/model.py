"""Model files: safetensors with a JSON header. Loading runs no code and checks everything it uses.

This module knows no estimator. Each folder of estimators registers a `Kind` for each of them: how its models are
packed and unpacked.
"""

import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from pegasos.certificate import Certificate, History, history_from_records
from pegasos.io.atomic import open_atomic
from pegasos.io.dataset import checksum

FORMAT = "pegasos-model"
VERSION = 1

#: Parameters that say where to write: they belong to who fits, and a file must not choose them.
_NOT_OF_MODELS = {"checkpoint"}

Tensors = dict[str, NDArray[Any]]
Header = dict[str, Any]


@dataclass(frozen=True)
class Features:
    """What makes the features of a model, as the first of two steps of a pipeline."""

    name: str  # in the header
    estimators: Callable[[], tuple[type[Any], ...]]  # only called where there is a pipeline: some are slow to import
    pack: Callable[[Any], tuple[Tensors, Any]]  # gives tensors, and what goes into the header
    unpack: Callable[[Any, Tensors, Any], Any]  # given the entry of the header, tensors, and the model after it


@dataclass(frozen=True)
class Kind:
    """How the models of a class are written and read."""

    estimator: type[Any]
    solvers: Mapping[str, type[Any]]  # that it may have, by name
    pack: Callable[[Any], tuple[Tensors, Header]]
    #: Gives a model, which has its parameters and classes, what was packed. Returns the number of its problems, 0 for
    #: a single one, None where it has no certificate.
    unpack: Callable[[Any, Header, Tensors], int | None]
    features: tuple[Features, ...] = ()
    held_by: Mapping[type[Any], str] = field(default_factory=dict)  # estimators that hold one, and under which name


#: Where the estimators are that files can hold; each of these packages registers its own when it is imported.
_HOMES = ("pegasos.linear", "pegasos.kernel", "pegasos.sequence")
_KINDS: dict[str, Kind] = {}


def register(*kinds: Kind) -> None:
    """Let model files hold these kinds."""
    _KINDS.update({kind.estimator.__name__: kind for kind in kinds})


def all_kinds() -> dict[str, Kind]:
    """Models that a file can hold, by the name of their class; of packages too that nobody has asked for yet."""
    for home in _HOMES:
        import_module(home)
    return _KINDS


def is_model(path: str | os.PathLike[str]) -> bool:
    """Whether it is a file that `save_model` wrote, perhaps damaged."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return length <= os.path.getsize(path) and f'"{FORMAT}"'.encode() in file.read(length)


def is_something_else(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file that is neither a model nor empty, so that a model must not take its place."""
    return os.path.isfile(path) and os.path.getsize(path) > 0 and not is_model(path)


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a fitted model to a file, whole or not at all. A file that is no model is replaced only with `overwrite`.

    The file contains weights, classes, certificate, history and the parameters of the fit. If you changed parameters
    after the fit, only `n_jobs`, `warm_start`, `break_ties` and `decision_function_shape` are saved as they are now.
    Depending on the model, the file also contains:

    - with ``warm_start=True``, the dual point, so that a fit of the loaded model continues: four bytes for each example
      (and class against the rest), or eight with classes trained jointly;
    - for a kernel estimator, its support vectors; a loaded one can always continue. A model whose kernel is a Python
      function cannot be saved, because files contain no code;
    - for a `SequenceSVC`, its vocabulary, and in a pipeline with a `Template` the template;
    - for a linear estimator behind a `TextHasher`, or scikit-learn's `CountVectorizer` or `TfidfVectorizer`, that step;
    - after `partial_fit`, the state of the solver, so that the loaded model continues to learn.

    For a `LinearSVCCV`, only `best_estimator_` is written: `load_model` returns a `LinearSVC` with the chosen C, and
    the scores are not in the file. A `random_state` that is an object and not a number is not saved.

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

    if not overwrite and is_something_else(path):
        raise FileExistsError(
            f"{os.fspath(path)} exists and is no pegasos model; name another file, or pass overwrite=True to replace it"
        )
    before, model = _take_apart(model)
    kind, held = _kind_of(model)
    check_is_fitted(model)
    model = (model if held is None else getattr(model, held))._as_fitted()
    tensors, header = kind.pack(model)
    if before is not None:
        features, step = before
        more, header[features.name] = features.pack(step)
        tensors |= more
    header |= {"pegasos": version("pegasos"), "estimator": type(model).__name__, "parameters": _parameters(model, kind)}
    if hasattr(model, "certificate_"):
        header["certificate"] = model.certificate_.to_dict()
        tensors |= _pack_history(model.history_)
    if not is_regressor(model):
        if model.classes_.dtype.kind in "biuf":
            tensors["classes"] = model.classes_
        elif all(isinstance(label, str) and not label.endswith("\0") for label in model.classes_):
            header["classes"] = model.classes_.tolist()
        else:
            raise ValueError(
                f"classes {model.classes_!r} cannot be written to a model file; use numbers or strings as labels, and "
                "none that ends in a NUL character"
            )
    if hasattr(model, "feature_names_in_"):
        header["feature_names"] = model.feature_names_in_.tolist()
    tensors, text = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, json.dumps(header)
    metadata = {"format": FORMAT, "version": str(VERSION), "header": text, "checksum": _checksum(tensors, text)}
    data = save(tensors, metadata=metadata)
    with open_atomic(path) as file:
        file.write(data)


def _checksum(tensors: Tensors, header: str) -> str:
    """Of all that a model file has beside its format."""
    found = zlib.crc32(header.encode())
    for name, tensor in sorted(tensors.items()):
        found = zlib.crc32(f"{name} {tensor.dtype.str} {tensor.shape}".encode(), found)
        found = checksum(np.ascontiguousarray(tensor), found)
    return f"{found:08x}"


def _pack_history(history: History | list[History]) -> Tensors:
    if isinstance(history, list):
        return {f"history.{k}": _records(part) for k, part in enumerate(history)}
    return {"history": _records(history)}


def _records(history: History) -> NDArray[np.float64]:
    return np.stack([history[name] for name in ("seconds", "epoch", "primal", "dual")], axis=1)


def _kind_of(model: Any) -> tuple[Kind, str | None]:
    """The kind of a model, and the attribute that holds it where the estimator is not one itself."""
    if hasattr(model, "to_local"):
        raise TypeError("an estimator of pegasos.dask is saved as a local one: save_model(model.to_local(), path)")
    for kind in all_kinds().values():
        for holder, name in kind.held_by.items():
            if isinstance(model, holder):
                return kind, name
        if type(model) is kind.estimator:
            return kind, None
    *most, last = all_kinds()
    raise TypeError(
        f"a {type(model).__name__}{_whose(model)} is no model of pegasos; save_model writes its {', '.join(most)} and "
        f"{last}. What holds one, such as scikit-learn's CalibratedClassifierCV, is written whole with "
        "joblib.dump(model, path)"
    )


def _whose(model: Any) -> str:
    """The package of a model of another one, which may have the name of one of ours."""
    package = type(model).__module__.partition(".")[0]
    return "" if package in ("pegasos", "builtins", "__main__") else f" of {package}"


def _take_apart(model: Any) -> tuple[tuple[Features, Any] | None, Any]:
    """Of a pipeline of what makes features and what uses them these two; else the model alone."""
    from sklearn.pipeline import Pipeline

    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps]
    for kind in all_kinds().values():
        for features in kind.features:
            pair = features.estimators(), (kind.estimator, *kind.held_by)
            if len(steps) == 2 and all(isinstance(step, wanted) for step, wanted in zip(steps, pair, strict=True)):
                return (features, steps[0]), steps[1]
    written = dict.fromkeys(
        f"{_names(kind)} and a {kind.estimator.__name__}" for kind in all_kinds().values() if kind.features
    )
    raise TypeError(
        f"of pipelines, save_model writes those of {', and of '.join(sorted(written))}; write this one whole with "
        "joblib.dump(model, path), or the last step alone with save_model(model[-1], path)"
    )


def _names(kind: Kind) -> str:
    """What can stand before a model."""
    return " or ".join(f"a {cls.__name__}" for features in kind.features for cls in features.estimators())


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save_model` wrote. If the file is damaged or no model, a ValueError names it.

    The whole file is compared with its checksum. Files of older versions have no checksum, and load without one.
    """
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
        raise ValueError(f"{name}: a pipe or a device, and a model is read from a file; write it to one")
    try:
        with open(name, "rb"):  # for the usual messages on missing and forbidden files
            pass
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise ValueError("a safetensors file, but not a pegasos model")
            if metadata.get("version") != str(VERSION):
                raise ValueError(
                    f"model format {metadata.get('version')!r}, where this version of pegasos reads {VERSION}: update"
                )
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118, not a dict
        known = {"format": FORMAT, "version": str(VERSION), "header": metadata["header"]}
        if metadata != known | {"checksum": _checksum(tensors, metadata["header"])} and metadata != known:
            raise ValueError("a damaged pegasos model: its checksum is another than when it was saved; save it anew")
        return _restore(json.loads(metadata["header"]), tensors)
    except SafetensorError as error:
        raise ValueError(f"{name}: not a pegasos model, or truncated ({error})") from None
    except (LookupError, TypeError, AttributeError, RecursionError, OverflowError, json.JSONDecodeError) as error:
        raise ValueError(f"{name}: a damaged pegasos model ({type(error).__name__}: {error})") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _parameters(model: Any, kind: Kind) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    parameters = {name: value for name, value in parameters.items() if name not in _NOT_OF_MODELS}
    solver = parameters["solver"]
    if not isinstance(solver, str):
        if kind.solvers.get(solver.name) is not type(solver):
            raise ValueError(f"solver={solver!r}: a solver of your own, and model files hold no code; pickle the model")
        options = {name: _plain(value) for name, value in solver.get_params().items()}
        parameters["solver"] = {"name": solver.name, "options": options}
    if not isinstance(parameters["random_state"], int | np.integer | None):
        parameters["random_state"] = None
    if isinstance(parameters.get("class_weight"), Mapping):
        parameters["class_weight"] = [[_plain(k), float(v)] for k, v in parameters["class_weight"].items()]
    if parameters.get("cost") is not None:
        parameters["cost"] = _numbers(parameters["cost"])
    if "constraints" in parameters:
        parameters["constraints"] = _lists(parameters["constraints"])
    return {name: _plain(value) for name, value in parameters.items()}


def _plain(value: Any) -> Any:
    """A value as JSON has it: of numbers of any kind the integer or the float."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool) or not isinstance(value, Real):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _numbers(given: Any) -> Any:
    """An array as JSON has it."""
    return np.asarray(given, dtype=np.float64).tolist()


def _lists(given: Any) -> Any:
    """Pairs as JSON has them."""
    return given if given is None or isinstance(given, str) else [[_plain(label) for label in pair] for pair in given]


def _restore(header: Header, tensors: Tensors) -> Any:
    kinds = all_kinds()
    if header["estimator"] not in kinds:
        raise ValueError(f"a model of kind {header['estimator']!r}, which this version does not know{_writer(header)}")
    kind = kinds[header["estimator"]]
    unknown = set(header["parameters"]) - (set(kind.estimator().get_params(deep=False)) - _NOT_OF_MODELS)
    if unknown:
        told = ", ".join(sorted(map(repr, unknown)))
        raise ValueError(f"{kind.estimator.__name__} has no parameter {told} in model files{_writer(header)}")
    model = kind.estimator(**_given_parameters(header["parameters"], kind))
    if not is_regressor(model):
        model.classes_ = _classes(header, tensors)
    n_parts = kind.unpack(model, header, tensors)
    names = header.get("feature_names")
    if names is not None:
        if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
            raise ValueError(f"the names of the features do not fit the {model.n_features_in_} weights")
        model.feature_names_in_ = np.array(names, dtype=object)
    if n_parts is not None:
        _unpack_result(model, header, tensors, n_parts)
    model.store_parameters()
    return _behind_features(model, kind, header, tensors)


def _writer(header: Header) -> str:
    """What to do about a file that may be of a newer version."""
    written = header.get("pegasos", version("pegasos"))
    return "" if written == version("pegasos") else f"; pegasos {written} wrote it, and this is {version('pegasos')}"


def _unpack_result(model: Any, header: Header, tensors: Tensors, n_parts: int) -> None:
    """Certificate and history."""
    model.certificate_ = _certificate(header["certificate"])
    if len(model.certificate_.parts) != n_parts:
        raise ValueError(f"a certificate of {len(model.certificate_.parts)} parts, not {n_parts}")
    model._count_iterations()
    histories = [
        history_from_records(take(tensors, name, (None, 4), finite=False).tolist())
        for name in ([f"history.{k}" for k in range(n_parts)] or ["history"])
    ]
    model.history_ = histories if n_parts else histories[0]


def _behind_features(model: Any, kind: Kind, header: Header, tensors: Tensors) -> Any:
    """The model, in a pipeline with what makes its features where the file has that."""
    names = {features.name for other in all_kinds().values() for features in other.features} & set(header)
    if not names:
        return model
    known = [features for features in kind.features if {features.name} == names]
    if not known:
        raise ValueError(f"a {', '.join(sorted(names))}, of which a {type(model).__name__} has no use")
    from sklearn.pipeline import make_pipeline

    return make_pipeline(known[0].unpack(header[known[0].name], tensors, model), model)


def _classes(header: Header, tensors: Tensors) -> NDArray[Any]:
    if "classes" in tensors:
        classes = tensors["classes"]
    elif all(isinstance(label, str) for label in header["classes"]):
        classes = np.array(header["classes"])
    else:
        raise ValueError("classes that are neither numbers nor strings")
    if classes.ndim != 1 or len(classes) < 2 or not (classes[:-1] < classes[1:]).all():
        raise ValueError(f"{classes!r} where two or more classes in increasing order are expected")
    return classes


def _given_parameters(parameters: dict[str, Any], kind: Kind) -> dict[str, Any]:
    parameters = dict(parameters)
    solver = parameters.get("solver")
    if isinstance(solver, dict):
        cls = kind.solvers[solver["name"]]
        parameters["solver"] = cls(**{cls.older_names.get(name, name): v for name, v in solver["options"].items()})
        parameters["solver"].check()
    weights = parameters.get("class_weight")
    if isinstance(weights, list | dict):
        pairs = weights.items() if isinstance(weights, dict) else weights
        parameters["class_weight"] = {label: float(weight) for label, weight in pairs}
    if parameters.get("cost") is not None:
        parameters["cost"] = _numbers(parameters["cost"])
    if isinstance(parameters.get("constraints"), list):
        parameters["constraints"] = [tuple(pair) for pair in parameters["constraints"]]
    return parameters


def _certificate(fields: dict[str, Any]) -> Certificate:
    parts = fields.get("parts", [])  # which older files do not have
    certificate = Certificate(**{**fields, "parts": tuple(_certificate(part) for part in parts)})
    numbers = (certificate.primal, certificate.dual, certificate.gap, certificate.seconds, certificate.rounding)
    if (
        not all(isinstance(number, int | float) for number in numbers)
        or not isinstance(certificate.n_iter, int)
        or not isinstance(certificate.converged, bool | None)
        or not isinstance(certificate.reason, str)
        or not isinstance(certificate.solver, str)
        or not isinstance(certificate.scaled, bool)
        or not isinstance(certificate.assumed, str)
        or not isinstance(certificate.problem, str)
    ):
        raise ValueError("a certificate with entries of the wrong type")
    return certificate


def take(
    tensors: Tensors, name: str, shape: tuple[int | None, ...], finite: bool = True, dtype: Any = np.float64
) -> NDArray[Any]:
    """The tensor of this name; a ValueError where it is not what it should be."""
    tensor = tensors[name]
    fits = len(tensor.shape) == len(shape) and all(s in (None, t) for s, t in zip(shape, tensor.shape, strict=True))
    if tensor.dtype != dtype or not fits:
        expected = " x ".join("any" if size is None else str(size) for size in shape)
        wanted = f"{np.dtype(dtype)} of shape {expected}"
        raise ValueError(f"{name!r} is {tensor.dtype} of shape {tensor.shape}, not {wanted}")
    if finite and not np.isfinite(tensor).all():
        raise ValueError(f"{name!r} has NaN or infinity in it")
    return tensor
