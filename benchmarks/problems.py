"""The problems the benchmarks solve, and their optima: hinge loss, no intercept, ``1/2 ||w||^2 + C sum_i hinge_i``."""

import functools
import importlib.util
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from pegasos import LinearSVC
from pegasos.datasets import make_text

__all__ = [
    "NAMES",
    "Optimum",
    "Problem",
    "find_optimum",
    "load",
    "load_raw",
    "primal",
    "results_folder",
    "stored_optimum",
]

#: Real data is looked for in the folder PEGASOS_DATA names, or beside the repository in shared/data.
FOLDER = Path(os.environ.get("PEGASOS_DATA") or Path(__file__).parents[2] / "shared" / "data")
RESULTS = Path(__file__).parent / "results"

TEXTS = {"text-400k": (400_000, 47_236), "text-1600k": (1_600_000, 47_236), "tiny": (2_000, 500)}
NAMES = ("adult", "web", "covtype", "rcv1", "text-400k", "text-1600k")


@dataclass(frozen=True, eq=False)
class Problem:
    """Examples in CSR and labels -1 and 1."""

    name: str
    X: Any
    y: Any

    def __str__(self) -> str:
        n, d = self.X.shape
        return f"{self.name}: {n:,} x {d:,}, {self.X.nnz / n:.0f} entries a row, {self.X.dtype}"


@dataclass(frozen=True)
class Optimum:
    """Bounds on the optimum by a certified run, and what it took."""

    dual: float
    primal: float
    seconds: float
    entries: int  # of the data, to tell when it changed

    @property
    def gap(self) -> float:
        return self.primal / self.dual - 1

    def excess(self, value: float) -> float:
        """How far above the optimum the objective `value` is, relatively; at most this, as the bound is from below."""
        return value / self.dual - 1

    def violations(self, primal: float, dual: float | None) -> list[str]:
        """What a run claims that this one rules out."""
        found = []
        if primal < self.dual * (1 - 1e-9):
            found.append(f"VIOLATION: the objective {primal!r} is below the bound on the optimum, {self.dual!r}")
        if dual is not None and dual > self.primal * (1 + 1e-9):
            found.append(f"VIOLATION: the certificate's dual {dual!r} is above the optimum, {self.primal!r}")
        return found


def load_raw(name: str) -> dict[str, Any] | None:
    """The data of that name as they are; None, and a line that says so, where they are not here."""
    if not (FOLDER / "load.py").exists():
        print(f"{name} is left out: no data in {FOLDER}; PEGASOS_DATA may name another folder")
        return None
    return _loader().load(name)


def load(name: str) -> Problem | None:
    """The data of that name as a problem of two classes; None where they are not here."""
    if name in TEXTS:
        return Problem(name, *make_text(*TEXTS[name], random_state=0))
    data = load_raw(name)
    if data is None:
        return None
    X, y = data["X"], np.where(data["y"] == 1, 1, -1)
    if name == "covtype":
        X = X * 0.001
    return Problem(name, sp.csr_matrix(X), y)


@functools.cache
def _loader() -> Any:
    spec = importlib.util.spec_from_file_location("load", FOLDER / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def primal(problem: Problem, C: float, w: Any) -> float:
    """The objective in double precision."""
    w = np.asarray(w, dtype=np.float64)
    losses = np.maximum(0, 1 - problem.y * (problem.X @ w))
    return float(w @ w / 2 + C * losses.sum(dtype=np.float64))


def find_optimum(problem: Problem, C: float, folder: Path, *, tol: float = 1e-6, max_time: float = 600.0) -> Optimum:
    """Our most accurate certified run, or what an earlier call stored in the folder, where that is accurate enough."""

    def certify() -> Any:
        model = LinearSVC(
            C=C,
            fit_intercept=False,
            tol=tol,
            max_iter=10**9,
            max_time=max_time,
            n_jobs=1,
            random_state=12345,
        )
        return model.fit(problem.X, problem.y).certificate_

    key = f"{problem.name}, C = {C:g}"
    return stored_optimum(key, problem.X.nnz, folder, certify, tol=tol, max_time=max_time)


def stored_optimum(
    key: str, entries: int, folder: Path, certify: Callable[[], Any], *, tol: float, max_time: float
) -> Optimum:
    """The bounds of the certificate that `certify` returns, or those stored under that key, where they are as good."""
    file = folder / "optima.json"
    stored = json.loads(file.read_text()) if file.exists() else {}
    if key in stored:
        known = Optimum(**stored[key])
        if known.entries == entries and (known.gap <= tol or known.seconds >= max_time):
            return known
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the bound tells how far it came
        found = certify()
    optimum = Optimum(found.dual, found.primal, found.seconds, entries)
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(stored | {key: asdict(optimum)}, indent=1))
    return optimum


def results_folder(given: Path | None, tiny: bool) -> Path:
    """Where to write: the folder given, or ``results`` beside the scripts, or for a tiny run one that is forgotten."""
    import tempfile

    folder = given or (Path(tempfile.mkdtemp()) if tiny else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
