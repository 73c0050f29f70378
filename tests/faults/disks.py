"""Faults of disks: full ones, and a kill in the middle of writing."""

import contextlib
import os
import resource
import signal
import sys
import time
import traceback

from sklearn.base import clone

from pegasos import Checkpoint, LinearSVC
from pegasos.io import load_model, open_dataset, save_model, write_dataset, write_svmlight

from .fault import CHANGED, LOST, REFUSED, UNHARMED, Harm, bits, kind, refused, same
from .fits import CLASSES, FITS, MODELS, SPARSE, X, Y, fitted, result_of


@contextlib.contextmanager
def full_after(size):
    """Files can have so many bytes and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@kind(
    "full disks",
    "a limit on the size of files (`RLIMIT_FSIZE`), and `/dev/full`, while models, data sets, svmlight files and "
    "checkpoints are written over older ones; what was there stays whole",
    3_000,
)
def prepare_full(folder):
    models = [fitted(name) for name in MODELS]
    own = folder / "own"
    own.mkdir()
    estimator = LinearSVC(solver="pegasos", max_iter=3, tol=0, random_state=0)
    whole = result_of(clone(estimator).fit(X, Y))
    writers = {
        "model": lambda random: save_model(random.choice(models), own / "a.model"),
        "data set": lambda random: write_dataset(own / "a.ds", random.choice((X, SPARSE)), Y, overwrite=True),
        "svmlight": lambda random: write_svmlight(random.choice((X, SPARSE)), Y, own / "a.svm"),
    }
    for write in writers.values():
        write(type("First", (), {"choice": staticmethod(lambda given: given[0])}))

    def checkpoint(random):
        again = clone(estimator).set_params(checkpoint=Checkpoint(own / "checkpoints", every=0))
        try:
            with full_after(random.randrange(3000)):
                again.fit(X, Y)
        except OSError:
            found = clone(again).fit(X, Y)  # goes on from what there is
            same(result_of(found), whole, "a fit that goes on after a full disk")
            return REFUSED
        return same(result_of(again), whole, "a fit on a full disk")

    def inject(random):
        if random.random() < 0.1:
            try:
                save_model(random.choice(models), "/dev/full", overwrite=True)
            except OSError as error:
                return refused(error, "/dev/full")
            raise Harm(LOST, "a model is written to /dev/full without a word")
        if random.random() < 0.2:
            return checkpoint(random)
        name, before = random.choice(sorted(writers)), contents(own)
        try:
            with full_after(random.randrange(3000)):
                writers[name](random)
        except OSError as error:
            if contents(own) != before:
                raise Harm(LOST, f"{name}: {sorted(before)} became {sorted(contents(own))}") from error
            return refused(error, own)
        load_model(own / "a.model")
        open_dataset(own / "a.ds").verify()
        return UNHARMED

    return inject


def killed(work, delay, number=signal.SIGKILL):
    """Fork a process that works, send it a signal after so many seconds; how it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.close(reader)
            os.write(writer, b".")
            try:
                work()
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                raise
            os._exit(0)
        os._exit(3)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    time.sleep(delay)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, number)
    return os.waitpid(child, 0)[1]


@kind("kill -9 while saving", "at a random moment while models and data sets are written over older ones", 600)
def prepare_kills(folder):
    own = folder / "own"
    own.mkdir()
    models = [fitted("SVC"), fitted("LinearSVC, joint")]
    known = []
    for model in models:
        save_model(model, own / "a.model")
        known.append(bits(load_model(own / "a.model")))
    sets = [(X, Y), (SPARSE, CLASSES)]
    for pair in sets:
        write_dataset(own / "a.ds", *pair, overwrite=True)

    def write_models():
        for k in range(1000):
            save_model(models[k % 2], own / "a.model")

    def write_sets():
        for k in range(1000):
            write_dataset(own / "a.ds", *sets[k % 2], overwrite=True)

    def inject(random):
        work = random.choice((write_models, write_models, write_sets))
        killed(work, random.random() * 0.02)
        if bits(load_model(own / "a.model")) not in known:
            raise Harm(CHANGED, "a model that is neither the old nor the new one")
        open_dataset(own / "a.ds").load()
        save_model(models[0], own / "a.model")
        write_dataset(own / "a.ds", *sets[0], overwrite=True)
        left = sorted(os.listdir(own))
        if left != ["a.ds", "a.model"]:
            raise Harm(CHANGED, f"left behind: {left}")
        return UNHARMED

    return inject


@kind(
    "kill -9 of fits with checkpoints",
    "at a random moment of a linear, kernel or sequence fit; then the fit goes on, to the same bits",
    500,
)
def prepare_killed_fits(folder):
    fits = {}
    for name in ("LinearSVC, Pegasos", "LinearSVC, one against the rest", "LinearSVC, joint", "SVC", "SequenceSVC"):
        estimator, data, y = FITS[name]
        estimator = clone(estimator).set_params(max_iter=30, tol=1e-12)
        started = time.perf_counter()
        expected = result_of(clone(estimator).fit(data, y))
        estimator.set_params(checkpoint=Checkpoint(folder / name, every=0))
        clone(estimator).fit(data, y)
        fits[name] = estimator, data, y, expected, time.perf_counter() - started

    def inject(random):
        name = random.choice(sorted(fits))
        estimator, data, y, expected, seconds = fits[name]
        killed(lambda: clone(estimator).fit(data, y), random.random() * seconds)
        same(result_of(clone(estimator).fit(data, y)), expected, f"{name}: goes on to another end")
        if os.listdir(folder / name):
            raise Harm(CHANGED, f"{name}: left behind {os.listdir(folder / name)}")
        return UNHARMED

    return inject
