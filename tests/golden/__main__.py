"""Write the files of the version that is installed. What is there already stays as it is."""

import json
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import scipy.sparse as sp

from pegasos.io import save_model, write_dataset

from .cases import SPARSE, VALUES, WORDS, X, models

PARTS = ("io", "solvers", "datasets", "sequence", "plot", "dask")
PACKAGES = ("pegasos", *(f"pegasos.{part}" for part in PARTS))


def packed(given):
    """What a model predicts for, or its predictions, as JSON."""
    if isinstance(given, pd.DataFrame):
        return {"frame": {name: given[name].tolist() for name in given}}
    if sp.issparse(given):
        return {"sparse": given.toarray().tolist()}
    if isinstance(given, np.ndarray) and given.dtype != object:
        return {"array": given.tolist()}
    return {"list": [packed(one) if isinstance(one, np.ndarray) else one for one in given]}


def public():
    """Public names, with the arguments of those that can be called."""
    found = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            is_called = callable(value) and not isinstance(value, ModuleType)
            found[f"{package}.{name}"] = list(signature(value).parameters) if is_called else None
    return found


def main():
    folder = Path(__file__).parent / version("pegasos")
    folder.mkdir()
    inputs, entries = {}, {}
    for name, (make, given) in models().items():
        model = make()
        save_model(model, folder / f"{name}.model")
        asked = [one for one in ("predict", "decision_function", "predict_proba") if hasattr(model, one)]
        answers = {one: packed(getattr(model, one)(given)) for one in asked}
        text = json.dumps(packed(given))
        entries[name] = {"X": inputs.setdefault(text, f"X{len(inputs)}"), "answers": answers}
    write_dataset(folder / "sparse.ds", SPARSE, WORDS, sample_weight=np.arange(1.0, 25.0), overwrite=True)
    write_dataset(folder / "dense.ds", X.astype(np.float32), VALUES, overwrite=True)
    (folder / "names.json").write_text(json.dumps(public(), indent=0) + "\n")
    lines = [f'"{name}": {text}' for text, name in inputs.items()]
    lines += [f'"{name}": {json.dumps(entry)}' for name, entry in entries.items()]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
