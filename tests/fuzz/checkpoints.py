"""Checkpoints for the fuzzers: the name of a fit, a line with its manifest, and what the file of its first run says.

The state of the run is that of the fit. A checksum of null stands for the true one, of what is not changed. States and
checksums that are forged are no promise: a checkpoint is a fit's own memory.
"""

import functools
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from pegasos import SVC, Checkpoint, LinearSVC, LinearSVR, SequenceSVC
from pegasos.base.checkpoint import Store

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)).round(1)
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=12) > 0, 1, -1)
WORDS = [[["a"], ["b", "c"]], [["b"], ["a"]], [["c"]]]
TAGS = [["x", "y"], ["y", "x"], ["y"]]
COMMON: dict[str, Any] = {"max_iter": 20, "tol": 1e-9, "random_state": 0}

#: Fits that leave checkpoints.
FITS: dict[str, tuple[Any, Any, Any]] = {
    "linear": (LinearSVC(solver="sdca", **COMMON), X, Y),
    "regression": (LinearSVR(solver="pegasos", **COMMON), X, X @ [1, 2, 3]),
    "joint": (LinearSVC(multi_class="joint", solver="sdca", **COMMON), X, np.arange(12) % 3),
    "kernel": (SVC(solver="smo", fit_intercept=False, **COMMON | {"max_iter": 3}), X, Y),
    "sequence": (SequenceSVC(solver="frank-wolfe", **COMMON), WORDS, TAGS),
}


class Ended(Exception):
    """A fit was ended at a checkpoint."""


@functools.cache
def checkpoint_of(which: str, number: int = 2) -> tuple[str, str, bytes, bytes]:
    """Of a fit the names of its folder and its first run, the manifest, and that run at a later checkpoint."""
    estimator, data, y = FITS[which]
    saved: list[str] = []
    save, seconds = Store.save, Store.seconds

    def save_and_end(self: Store, name: str, state: Any, finished: bool) -> None:
        save(self, name, state, finished)
        self.flush()
        saved.append(name)
        if saved.count(saved[0]) > number:
            raise Ended

    # Methods are replaced on purpose, for one fit, and put back below.
    Store.save, Store.seconds = save_and_end, lambda self: 0.0  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory() as folder:
            with suppress(Ended):
                clone(estimator).set_params(checkpoint=Checkpoint(folder, every=0, keep=True)).fit(data, y)
            (made,) = Path(folder).iterdir()
            return made.name, saved[0], (made / "manifest.json").read_bytes(), (made / saved[0]).read_bytes()
    finally:
        Store.save, Store.seconds = save, seconds  # type: ignore[method-assign]


def as_seed(which: str) -> bytes:
    """What the fuzzers change: the name of a fit, its manifest, and what the file of a run says of it."""
    _, _, manifest, run = checkpoint_of(which)
    told = [json.loads(manifest), json.loads(run.split(b"\n", 2)[1])]
    return "\n".join([which, *(json.dumps(one | {"checksum": None}) for one in told)]).encode()


def with_checksum(told: bytes, true: bytes) -> bytes:
    """The same with the true checksum, where it has null for one."""
    try:
        tree = json.loads(told)
        if tree["checksum"] is None:
            return json.dumps(tree | {"checksum": json.loads(true)["checksum"]}).encode()
    except Exception:  # whatever is wrong with it
        pass
    return told


def put_checkpoint(data: bytes, folder: Path) -> Path:
    which, manifest, head = (*data.split(b"\n", 2), b"", b"")[:3]
    if which.decode(errors="replace") not in FITS:
        which = b"linear"
    name, run_name, true_manifest, run = checkpoint_of(which.decode())
    magic, true_head, state = run.split(b"\n", 2)
    path = folder / "hostile.checkpoint"
    shutil.rmtree(path, ignore_errors=True)
    (path / name).mkdir(parents=True)
    (path / "fit").write_bytes(which)
    (path / name / "manifest.json").write_bytes(with_checksum(manifest, true_manifest))
    (path / name / run_name).write_bytes(b"\n".join([magic, with_checksum(head, true_head), state]))
    return path


def load_checkpoint(path: Path) -> None:
    """Let the fit go on."""
    estimator, data, y = FITS[(path / "fit").read_text()]
    clone(estimator).set_params(checkpoint=Checkpoint(path, every=0, resume=True)).fit(data, y)
