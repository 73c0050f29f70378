"""Files and folders that appear whole or not at all."""

import ctypes
import errno
import os
import re
import secrets
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, ClassVar

try:
    import fcntl
except ImportError:  # of Windows
    fcntl = None  # type: ignore[assignment]  # Windows has none

_TEMPORARY = re.compile(r"\.[0-9a-f]{16}\.tmp")
_HERE = -100  # AT_FDCWD: paths are from the folder that the process is in


@contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name only when the block ends without an exception.

    Until then `path` is what it was. A pipe or a device is written in place: it cannot be replaced.
    """
    target = os.path.realpath(path)  # a link stays a link
    with named(path):
        if os.path.exists(path) and not os.path.isfile(path):  # not the target: links to pipes in /dev/fd have none
            with open(path, "wb") as file:
                yield file
            return
        folder, name = os.path.split(target)
        # In the same folder, or else the last step would be a copy. Not tempfile, whose files are private to the user.
        with temporary(os.path.join(folder, f".{name[:64]}"), _make_file) as made:
            with open(made, "wb") as file:
                yield file
            sync(made)  # or after a loss of power the name could be there, and what it names not
            os.replace(made, target)
            sync(folder)


def sync(*paths: str) -> None:
    """Have files and folders on disk, and not in the system's memory alone."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems that cannot
                raise
        finally:
            os.close(descriptor)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system on a temporary name, or on nothing by name, are on `path`, which users know."""
    try:
        yield
    except OSError as error:
        if error.filename is None or _TEMPORARY.search(str(error.filename)):
            raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
        raise


@contextmanager
def temporary(stem: str, make: Callable[[str], object]) -> Iterator[str]:
    """A name that begins with `stem`, of what `make` makes, a file or a folder; what is left at the end is removed.

    It is locked meanwhile. So what a process left behind that was killed can be told, and is removed here.
    """
    _clear(stem)
    lock, name, process = None, "", os.getpid()
    try:
        while True:
            name = f"{stem}.{secrets.token_hex(8)}.tmp"
            make(name)
            lock = _lock(name, wait=True)
            if os.path.exists(name):
                break
            _unlock(lock)  # another process took it for one that was left, before it was locked
        yield name
    finally:
        if name and os.getpid() == process:  # Ctrl-C may come before the name
            _remove(name)
        _unlock(lock)


def put_in_place(made: str, target: str) -> None:
    """Give a folder its name, at once, also where another one has it; that one then has the name `made`.

    Where the system cannot exchange names, there is a moment without a folder of that name; a process that is killed
    right then leaves the older one beside it, with a name that ends in ``.old``.
    """
    if not os.path.exists(target):
        os.rename(made, target)
    elif not _exchange(made, target):
        old = f"{target}.{secrets.token_hex(8)}.old"
        os.rename(target, old)
        os.rename(made, target)
        os.rename(old, made)


def _exchange(one: str, other: str) -> bool:
    """Exchange two names in one step; whether the system could."""
    try:
        library = ctypes.CDLL(None)
        names = os.fsencode(one), os.fsencode(other)
        if sys.platform == "darwin":
            return library.renamex_np(*names, 2) == 0  # RENAME_SWAP
        return library.renameat2(_HERE, names[0], _HERE, names[1], 2) == 0  # RENAME_EXCHANGE
    except (OSError, TypeError, AttributeError):  # Windows, or a library without it
        return False


class _Lock:
    """A file or folder that is open to be locked. A forked process closes its copy: it would keep the lock after a kill
    of this one."""

    #: Those of this process; nobody forks while one is opened or closed.
    all: ClassVar[set["_Lock"]] = set()
    forking = threading.RLock()

    def __init__(self, path: str | os.PathLike[str], flags: int) -> None:
        with self.forking:
            self.descriptor = os.open(path, flags, 0o666)
            self.all.add(self)

    def close(self) -> None:
        with self.forking:
            if self in self.all:
                self.all.remove(self)
                os.close(self.descriptor)

    @classmethod
    def forked(cls) -> None:
        """Close the copies of a forked process."""
        for lock in list(cls.all):
            lock.close()
        cls.forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_Lock.forking.acquire, after_in_parent=_Lock.forking.release, after_in_child=_Lock.forked
    )


class InUse(Exception):
    """Another has the lock; the text says who."""


@contextmanager
def held(path: str | os.PathLike[str]) -> Iterator[None]:
    """Have a lock, which is a file that is there for nothing else; a kill lets go of it.

    `InUse` where another process or thread has it. Where the system has no locks, nobody is kept out.
    """
    if fcntl is None:
        yield
        return
    lock, process = _hold(path), os.getpid()
    try:
        yield
    finally:
        if os.getpid() == process:
            with suppress(OSError):
                os.remove(path)
        lock.close()


def _hold(path: str | os.PathLike[str]) -> _Lock:
    while True:
        lock = _Lock(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(lock.descriptor), os.stat(path)):
                raise FileNotFoundError
        except BlockingIOError:
            who = os.read(lock.descriptor, 200).decode(errors="replace")
            lock.close()
            raise InUse(who or "another process") from None
        except FileNotFoundError:  # its last owner removed it before it was locked here
            lock.close()
            continue
        except OSError:  # of file systems without locks
            return lock
        with suppress(OSError):  # of a full disk
            os.ftruncate(lock.descriptor, 0)
            os.write(lock.descriptor, f"process {os.getpid()} on {os.uname().nodename}".encode())
        return lock


def _clear(stem: str) -> None:
    folder, begin = os.path.split(stem)
    left = re.compile(re.escape(begin) + _TEMPORARY.pattern)
    with suppress(OSError):
        for entry in os.scandir(folder):
            if left.fullmatch(entry.name):
                lock = _lock(entry.path, wait=False)
                if lock is not None:
                    _remove(entry.path)
                _unlock(lock)


def _lock(name: str, wait: bool) -> _Lock | None:
    """A file or folder in this process's hands; None where another has it, or there is no way to tell."""
    if fcntl is None:
        return None
    lock = None
    try:
        lock = _Lock(name, os.O_RDONLY)
        fcntl.flock(lock.descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        _unlock(lock)
        return None
    return lock


def _unlock(lock: _Lock | None) -> None:
    if lock is not None:
        lock.close()


def _make_file(name: str) -> None:
    with open(name, "xb"):
        pass


def _remove(name: str) -> None:
    if os.path.isdir(name):
        shutil.rmtree(name, ignore_errors=True)
    else:
        with suppress(OSError):
            os.remove(name)
