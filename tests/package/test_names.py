"""Public names of every release are there, with their parameters, unless their time is over."""

import json
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

#: What went, after releases with a FutureWarning, or before anybody depended on it: "pegasos.name", or
#: "pegasos.name(parameter)".
GONE = ("pegasos.Path", "pegasos.solvers.Norma(p)", "pegasos.solvers.SGDM(f)", "pegasos.solvers.SGDS(f)")

RELEASES = sorted((Path(__file__).parents[1] / "golden").glob("*/names.json"))


@pytest.mark.parametrize("path", RELEASES, ids=lambda path: path.parent.name)
def test_names(path):
    missing = []
    for name, parameters in json.loads(path.read_text()).items():
        if name.startswith("pegasos.dask"):
            pytest.importorskip("dask")
        package, _, last = name.rpartition(".")
        value = getattr(import_module(package), last, None)
        if value is None:
            missing.append(name)
        elif parameters is not None:
            known = signature(value).parameters
            missing += [f"{name}({parameter})" for parameter in parameters if parameter not in known]
    assert set(missing) == set(GONE)
