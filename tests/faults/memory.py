"""Faults of memory: it runs out, or one allocation of the core fails."""

import contextlib
import ctypes
import os
import re
import resource
from pathlib import Path

import numpy as np
from sklearn.base import clone

from pegasos import SVC, SVR, LinearSVC, LinearSVR, SequenceSVC
from pegasos.io import read_svmlight, read_text, write_svmlight

from .fault import CRASH, REFUSED, UNHARMED, Harm, kind, same
from .fits import FITS, SPARSE, TAGS, TEXTS, WORDS, Y, result_of
from .shim import SHIM

MEGABYTE = 1 << 20


@contextlib.contextmanager
def failing(number):
    """The allocation of this number fails, counted from now."""
    SHIM.fail_at(number)
    try:
        yield
    finally:
        SHIM.fail_at(0)


def works(folder, fits, rows, labels):
    """Fits and readers, by name, and what they find."""
    write_svmlight(rows, labels, folder / "a.svm")
    (folder / "a.txt").write_text("".join(f"{label} | {words}\n" for label, words in zip(Y, TEXTS, strict=True)))

    def fit(estimator, data, y):
        return lambda: result_of(clone(estimator).fit(data, y))

    def predict(estimator, data, y):
        model = clone(estimator).fit(data, y)
        return lambda: [*map(str, model.predict(data))]

    out = {name: fit(*own) for name, own in fits.items()}
    out |= {f"{name}, predict": predict(*own) for name, own in fits.items()}
    out["read_svmlight"] = lambda: read_svmlight(folder / "a.svm")[0].toarray().tolist()
    out["read_text"] = lambda: read_text(folder / "a.txt")[0].toarray().sum()
    return {name: (work, work()) for name, work in out.items()}


if SHIM is not None:

    @kind(
        "allocations that fail",
        "a call of the core's `operator new`, by number, during fits, predictions and reading, on one and two threads",
        4_000,
    )
    def prepare_allocations(folder):
        able, most = works(folder, FITS, SPARSE, Y), {}
        for name, (work, _) in able.items():
            with failing(1 << 40):
                work()
                most[name] = (1 << 40) - SHIM.left_to_fail()

        def inject(random):
            name = random.choice([name for name in able if most[name]])
            work, expected = able[name]
            number = random.randint(1, max(1, most[name]))
            try:
                with failing(number):
                    found = work()
            except MemoryError:
                return REFUSED  # and the next work is as good as ever, or it would be told there
            return same(found, expected, f"{name} without its allocation {number}")

        return inject


@kind(
    "memory that runs out",
    "a limit (`RLIMIT_DATA`) of 0 to 30 MB more than there is, in a process of its own; fits, predictions and reading",
    400,
)
def prepare_limits(folder):
    ctypes.CDLL(None).mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD: larger pieces go back when they are freed
    rows = np.random.default_rng(0).normal(size=(4000, 60))
    labels = np.digitize(rows[:, 0], [-0.5, 0.5])
    two, budget = (labels > 0).astype(int), {"max_iter": 3, "random_state": 0}
    fits = {
        "LinearSVC": (LinearSVC(solver="sdca", **budget), rows, two),
        "one against the rest": (LinearSVC(solver="pegasos", n_jobs=1, **budget), rows, labels),
        "joint": (LinearSVC(multi_class="joint", **budget), rows, labels),
        "interior point": (LinearSVC(solver="interior-point", **budget), rows, two),
        "Newton": (LinearSVC(solver="newton", loss="log_loss", **budget), rows, two),
        "LinearSVR": (LinearSVR(scale=True, **budget), rows, rows[:, 1]),
        "SVC": (SVC(**budget), rows[:1000], two[:1000]),
        "LASVM": (SVC(solver="lasvm", **budget | {"max_iter": 1}), rows[:1000], two[:1000]),
        "SBP": (SVC(solver="sbp", **budget | {"max_iter": 1}), rows[:1000], two[:1000]),
        "SIMBA": (SVC(solver="simba", **budget | {"max_iter": 1}), rows[:1000], two[:1000]),
        "SVR": (SVR(**budget), rows[:1000], rows[:1000, 1]),
        "SequenceSVC": (SequenceSVC(hash_bits=16, **budget), WORDS, TAGS),
    }
    able = works(folder, fits, rows[:500], two[:500])
    del able["read_text"]  # has threads of Python, which waits for ever for one that finds no memory to start with

    def attempt(work, expected, room):
        (used,) = re.findall(r"VmData:\s*(\d+) kB", Path("/proc/self/status").read_text())
        resource.setrlimit(resource.RLIMIT_DATA, (1024 * int(used) + room, resource.RLIM_INFINITY))
        try:
            found = work()
        except MemoryError:
            return 1
        return 0 if found == expected else 4

    def inject(random):
        name = random.choice(sorted(able))
        room = random.choice((random.randrange(MEGABYTE), random.randrange(30 * MEGABYTE)))
        child = os.fork()
        if child == 0:
            code = 5
            with contextlib.suppress(BaseException):
                code = attempt(*able[name], room)
            os._exit(code)
        status = os.waitpid(child, 0)[1]
        if status == 1 << 8:
            return REFUSED
        if status:
            raise Harm(CRASH, f"{name} with {room} bytes: status {status}")
        return UNHARMED

    return inject
