"""Checkpoints: what a fit leaves on disk while it runs, for another one to go on from if it is killed.

A fit is a tree of runs of the core: of each class, of each try. A run has a name that does not depend on time, such as
``2.0`` for the first run of the third class. Its state, or once it is over what it found, is a file of that name. A fit
that goes on makes the same runs: those that are over return at once what they found, one that was ended goes on from
its state, and the others begin. So the result has the same bits.
"""

import hashlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from pegasos import _core
from pegasos.base import clock
from pegasos.base.state import State
from pegasos.base.warn import warn
from pegasos.certificate import all_reasons
from pegasos.io.atomic import InUse, held, open_atomic

LOGGER = logging.getLogger("pegasos")

#: The first line of a file.
MAGIC = b"pegasos-checkpoint 1\n"
#: Bytes of the first lines at most.
LONGEST_LINE = 1000
#: Characters of what tells of a fit.
LONGEST_TEXT = 300
#: Other fits that a message names.
MOST_TOLD = 3
#: What reading a damaged file may raise.
DAMAGE = (ValueError, KeyError, TypeError, OverflowError, RecursionError)
#: Why a fit ends that another one may go on with.
CUT_SHORT = ("max_time", "interrupt", "callback")
#: Parameters that leave the result of a fit as it is, if it comes to its own end.
NO_MATTER = ("checkpoint", "verbose", "max_time", "on_interrupt")

#: Seconds of units of time.
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}

Piece = bytes | memoryview


@dataclass(frozen=True)
class Checkpoint:
    """Where a fit writes checkpoints, and how often.

    Parameters
    ----------
    folder : str or path-like
        The folder; it is created if it does not exist. Fits with other data or parameters can share it.
    every : float or str, default=30.0
        Seconds from one checkpoint to the next, or a time such as "30s", "5m" or "1h". Checkpoints are written at the
        end of an epoch, or of the solver's equivalent.
    resume : bool or None, default=None
        What to do about a checkpoint of the same fit. None resumes from it if there is one. True requires one, and
        False requires that there is none; otherwise they raise an error.
    keep : bool, default=False
        Whether checkpoints stay after the end of a fit; `clear` removes them.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_blobs
    >>> from pegasos import Checkpoint, LinearSVC
    >>> X, y = make_blobs(100, centers=2, random_state=0)
    >>> clf = LinearSVC(checkpoint=Checkpoint(tempfile.mkdtemp(), every=60), random_state=0).fit(X, y)
    >>> clf.certificate_.converged
    True
    """

    folder: str | os.PathLike[str]
    every: float | str = 30.0
    resume: bool | None = None
    keep: bool = False
    _made: list[Path] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.folder, str | os.PathLike) or not os.fspath(self.folder):
            raise ValueError(f'folder={self.folder!r}: must be the name of a folder; "." is the working directory')
        as_seconds(self.every)

    def clear(self) -> None:
        """Remove the checkpoints of the fits that used this object, and no others."""
        while self._made:
            shutil.rmtree(self._made.pop(), ignore_errors=True)


def as_seconds(time: Any) -> float:
    """A time such as 30, "30s", "5m" or "1h"."""
    try:
        number = time.rstrip("smh") if isinstance(time, str) else time
        seconds = float(number) * (UNITS[time[len(number) :]] if isinstance(time, str) else 1)
    except (TypeError, ValueError, KeyError):
        seconds = -1.0
    if not seconds >= 0:
        raise ValueError(f'every={time!r}: must be seconds, 0 or more, or a time such as "30s", "5m" or "1h"')
    return seconds


class Given(NamedTuple):
    """The arguments of `fit`, as the user passed them."""

    X: Any
    y: Any
    metadata: dict[str, Any]

    @classmethod
    def of(cls, X: Any, y: Any, **metadata: Any) -> Self:
        return cls(X, y, {name: value for name, value in metadata.items() if value is not None})


class Context(NamedTuple):
    """What a fit has besides data, parameters and the last fit."""

    started: float  # less the time that it was not at work
    seed: int = 0
    given: Given | None = None  # for callbacks
    label: str = ""  # that lines of progress begin with
    runs: "Runs | None" = None  # that leave checkpoints
    earlier: float = 0.0  # seconds of another process, which left a checkpoint

    @property
    def elapsed(self) -> float:
        """Seconds since the fit started."""
        return clock.now() - self.started


class Runs:
    """The runs of a part of a fit, one after the other."""

    def __init__(self, store: "Store", name: str = "") -> None:
        self.store = store
        self.name = name
        self.made = 0

    def part(self, number: int) -> "Runs":
        """Those of one of several parts, which may be at work at the same time."""
        return Runs(self.store, f"{self.name}{number}.")

    def next(self) -> dict[str, Any]:
        """The arguments of the core's run that comes next."""
        name, self.made = f"{self.name}{self.made}", self.made + 1
        state, finished = self.store.load(name)

        def save(state: bytes, finished: bool) -> None:
            self.store.save(name, state, finished)

        return {
            "state": state,
            "finished": finished,
            "save": save,
            "save_at": self.store.due,
            "save_every": self.store.every,
        }

    def own(self) -> "OwnRun":
        """The run that comes next, if it is driven from Python."""
        name, self.made = f"{self.name}{self.made}", self.made + 1
        return OwnRun(self.store, name)

    def choice(self, name: str, make: Callable[[], float]) -> float:
        """What was chosen by the state of the machine, when the fit began."""
        return self.store.choice(self.name + name, make)


class OwnRun:
    """A run that is driven from Python, of which an object with a method `state` (`State`) has all there is."""

    def __init__(self, store: "Store", name: str) -> None:
        self.store, self.name = store, name

    def resume(self, driven: Any) -> None:
        """Go on from the checkpoint, where there is one."""
        path = self.store.folder / self.name
        if path.exists():
            with opened(path) as (_, file):
                state = State(file)
                driven.state(state)
                state.end()

    def offer(self, driven: Any) -> None:
        """Write a checkpoint, if one is due."""
        if self.store.seconds() >= self.store.due:
            state = State()
            driven.state(state)
            self.store.save(self.name, state.pieces, False)


class Store:
    """The checkpoints of one fit, in a folder of its own."""

    def __init__(
        self, folder: Path, every: float, started: float, manifest: dict[str, Any], told: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.every = every
        self.started = started
        self.manifest = manifest
        self.told = told or {}
        self.lock = threading.Lock()
        #: A process that was forked meanwhile leaves the files alone.
        self.process = os.getpid()
        #: The contents of files: of runs that are over, to be written with the next state.
        self.waiting: dict[str, list[Piece]] = {}
        self.is_manifest_written = True
        self.is_failure_told = False
        self.due = self.seconds() + every

    def seconds(self) -> float:
        """Since the fit started."""
        return clock.now() - self.started

    def load(self, name: str) -> tuple[bytes | None, bool]:
        """The state of a run, if there is one, and whether it is what the run found."""
        path = self.folder / name
        if not path.exists():
            return None, False
        head, data = read(path)
        return data, head["finished"]

    def save(self, name: str, state: bytes | list[Piece], finished: bool) -> None:
        """Write the state of a run; that of one which is over may wait for the next."""
        with self.lock:
            self.waiting[name] = pack(state, finished, self.seconds())
            if not finished or self.seconds() >= self.due:
                self._write()
            if not finished:
                self.waiting.pop(name, None)  # where it could not be written: the run goes on, and changes it

    def choice(self, name: str, make: Callable[[], float]) -> float:
        with self.lock:
            choices = self.manifest["choices"]
            if name not in choices:
                choices[name] = make()
                self.is_manifest_written = False
                with self._going_on():
                    self.write_manifest()
            return float(choices[name])

    def flush(self) -> None:
        """Write what waits."""
        with self.lock:
            self._write()

    def remove(self) -> None:
        """Remove the folder."""
        if os.getpid() == self.process:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self) -> None:
        if os.getpid() != self.process:
            return
        with self._going_on():
            if not self.is_manifest_written:
                self.write_manifest()  # first: a state is of no use without the choices that it rests on
            while self.waiting:
                name, pieces = next(iter(self.waiting.items()))
                with open_atomic(self.folder / name) as file:
                    file.writelines(pieces)
                del self.waiting[name]
        self.due = self.seconds() + self.every

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Where a file cannot be written, the fit goes on, and the files that were there are whole."""
        try:
            yield
        except OSError as error:
            if not self.is_failure_told:
                self.is_failure_told = True
                warn(
                    f"{self.folder}: no checkpoint could be written ({error.strerror or error}); the fit goes on, the "
                    "last whole checkpoint stays, and another is tried when it is due",
                    RuntimeWarning,
                )

    def write_manifest(self) -> None:
        if os.getpid() != self.process:
            return
        with open_atomic(self.folder / "manifest.json") as file:
            whole = self.told | self.manifest | {"checksum": _digest(self.manifest).hexdigest()}
            file.write(json.dumps(whole, indent=1).encode())
        self.is_manifest_written = True


def pack(state: bytes | list[Piece], finished: bool, seconds: float) -> list[Piece]:
    """The contents of a file."""
    head, pieces = {"finished": finished, "seconds": seconds}, [state] if isinstance(state, bytes) else state
    digest = _digest(head)
    for piece in pieces:
        digest.update(piece)
    return [MAGIC, json.dumps(head | {"checksum": digest.hexdigest()}).encode() + b"\n", *pieces]


def read(path: Path) -> tuple[dict[str, Any], bytes]:
    """What a file says of a state, and the state."""
    with opened(path) as (head, file):
        return head, file.read()


@contextmanager
def opened(path: Path, checked: bool = True) -> Iterator[tuple[dict[str, Any], BinaryIO]]:
    """What a file says of a state, and the file, of which the state comes next; its checksum is compared before."""
    with open(path, "rb") as file:
        try:
            magic, head = file.readline(LONGEST_LINE), json.loads(file.readline(LONGEST_LINE))
            begin, told = file.tell(), {"finished": bool(head["finished"]), "seconds": float(head["seconds"])}
            whole = not checked or hashlib.file_digest(file, lambda: _digest(told)).hexdigest() == head["checksum"]
        except DAMAGE:
            whole = False
        if not whole or magic != MAGIC:
            raise ValueError(f"{path}: a damaged checkpoint; delete it, and that run of the fit starts anew")
        file.seek(begin)
        yield told, file


def _digest(begin: dict[str, Any]) -> Any:
    """What becomes a checksum, with what it begins with."""
    return hashlib.blake2b(json.dumps(begin, sort_keys=True).encode(), digest_size=16)


@contextmanager
def checkpointing(estimator: Any, context: Context, *data: Any) -> Iterator[Context]:
    """What a fit to the data goes on with. Its checkpoints are removed when it is over, and kept where it is ended."""
    wanted = estimator.checkpoint
    if wanted is None:
        yield context
        return
    settings = wanted if isinstance(wanted, Checkpoint) else Checkpoint(wanted)
    _check(settings, estimator)
    with _folder_of(settings, fingerprint(estimator, data)) as folder:
        store = _open(settings, folder, context.seed, context.started, _tell(estimator, data))
        earlier = max(context.started - store.started, 0.0)
        context = context._replace(
            started=store.started, seed=store.manifest["seed"], runs=Runs(store), earlier=earlier
        )
        yield from _checkpointing(settings, estimator, store, context)


def _checkpointing(settings: Checkpoint, estimator: Any, store: "Store", context: Context) -> Iterator[Context]:
    try:
        yield context
    except BaseException as error:
        store.flush()
        if isinstance(error, Exception) and not _states(store.folder):  # there is nothing to go on from
            store.remove()
        if isinstance(error, ValueError) and "checkpoint does not belong" in str(error):  # the core knows no files
            raise ValueError(f"{store.folder}: {error}") from None
        raise
    if settings.keep or not all_reasons(estimator.certificate_).isdisjoint(CUT_SHORT):
        store.flush()
    else:
        store.remove()


def _check(settings: Checkpoint, estimator: Any) -> None:
    if estimator.warm_start:
        raise ValueError(
            "checkpoint does not go with warm_start=True, as the fit that is continued is not in the checkpoint; leave "
            "one of them out"
        )


@contextmanager
def _folder_of(settings: Checkpoint, name: str) -> Iterator[Path]:
    """The folder of a fit, in its hands alone."""
    folder = Path(settings.folder) / name
    if settings.resume:
        _require(folder)
    with ExitStack() as hands:
        try:
            with _made_or_told(folder):
                folder.parent.mkdir(parents=True, exist_ok=True)
                hands.enter_context(held(folder.with_suffix(".lock")))
        except InUse as who:
            raise ValueError(
                f"{folder} is in use by another fit of the same data and parameters ({who}): wait for it, or name "
                "another folder"
            ) from None
        settings._made.append(folder)
        yield folder


def _require(folder: Path) -> None:
    if not (folder / "manifest.json").exists():
        raise ValueError(
            f"{folder.parent} has no checkpoint of this fit: the same data, parameters and version of pegasos; leave "
            f"resume=True out{_others(folder.parent)}"
        )


def _tell(estimator: Any, data: tuple[Any, ...]) -> dict[str, str]:
    """Whose a checkpoint is, for people to read."""
    given = {name: value for name, value in estimator.get_params(deep=False).items() if name not in NO_MATTER}
    text = " ".join(repr(type(estimator)(**given)).split())
    return {
        "estimator": text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 3]}...",
        "data": " x ".join(map(str, data[0].shape)),
        "began": datetime.now().astimezone().isoformat(" ", "seconds"),
    }


def manifests(folder: str | os.PathLike[str]) -> list[Path]:
    """Of all fits that have checkpoints in the folder."""
    return list(Path(folder).glob("*/manifest.json"))


def _others(folder: Path) -> str:
    """The fits that have checkpoints in the folder, the latest first, to end a message with."""
    fits = []
    for path in manifests(folder):
        with suppress(OSError, *DAMAGE):
            told = {name: str(value) for name, value in dict(json.loads(path.read_bytes())).items()}
            names = (told.get("began", ""), told.get("estimator", "a fit of unknown name"), told.get("data", "?"))
            fits.append(["".join(filter(str.isprintable, name))[:LONGEST_TEXT] for name in names])
    texts = [f"{name} of {size} data, {began or 'long ago'}" for began, name, size in sorted(fits, reverse=True)]
    more = [f"{len(texts) - MOST_TOLD} more"] if len(texts) > MOST_TOLD else []
    return f". There are checkpoints of other fits: {'; '.join(texts[:MOST_TOLD] + more)}" if texts else ""


@contextmanager
def _made_or_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"no checkpoint can be made ({error.strerror})", str(folder)) from error


def _open(settings: Checkpoint, folder: Path, seed: int, started: float, told: dict[str, str]) -> Store:
    manifest_path = folder / "manifest.json"
    there = manifest_path.exists()
    if there and settings.resume is False:
        raise ValueError(
            f"{settings.folder} has a checkpoint of this fit already; go on from it with resume=True, or delete "
            f"{folder}"
        )
    if settings.resume:
        _require(folder)  # which another fit may have come to the end of
    if there:
        try:
            found = json.loads(manifest_path.read_bytes())
            manifest = {"seed": int(found["seed"]), "choices": dict(found["choices"])}
            if found["checksum"] != _digest(manifest).hexdigest():
                raise ValueError
            told |= {name: str(found[name]) for name in told if name in found}
        except DAMAGE:
            raise ValueError(f"{manifest_path}: a damaged checkpoint; delete {folder}") from None
        past = max(map(_seconds, _states(folder)), default=0.0)
        LOGGER.info("going on from the checkpoint in %s, after %.3g s", folder, past)
        return Store(folder, as_seconds(settings.every), started - past, manifest, told)
    store = Store(folder, as_seconds(settings.every), started, {"seed": seed, "choices": {}}, told)
    with _made_or_told(folder):
        try:
            folder.mkdir(exist_ok=True)
            store.write_manifest()
        except OSError:
            with suppress(OSError):
                folder.rmdir()  # if there is nothing in it
            raise
    return store


def _states(folder: Path) -> list[Path]:
    """The files of runs."""
    return [path for path in folder.glob("*") if path.suffix not in (".json", ".tmp")]


def _seconds(path: Path) -> float:
    """How long a fit had taken when it wrote the file."""
    with opened(path, checked=False) as (head, _):
        return float(head["seconds"])


def fingerprint(estimator: Any, data: tuple[Any, ...]) -> str:
    """What a fit rests on, as 32 digits: estimator, parameters, data and the build of the core."""
    digest = hashlib.blake2b(digest_size=16)
    of_all = f"{type(estimator).__module__}.{type(estimator).__qualname__} {version('pegasos')} {_core.native.__name__}"
    digest.update(of_all.encode())
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name in NO_MATTER or (name == "random_state" and not isinstance(value, int | np.integer)):
            continue  # the seed is in the checkpoint
        digest.update(f"\n{name}=".encode())
        _add(digest, value)
    for part in data:
        _add(digest, part)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    if issparse(value):
        rows = value.tocsr()
        for part in (np.asarray(rows.shape), rows.indptr, rows.indices, rows.data):
            _add(digest, part)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    elif isinstance(value, np.ndarray | list | tuple):
        digest.update(f"{len(value)}".encode())
        for one in value:
            _add(digest, one)
    elif callable(value) and hasattr(value, "__qualname__"):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    elif hasattr(value, "describe"):
        digest.update(value.describe().encode())
    else:
        digest.update(repr(value).encode() + b"\0")
