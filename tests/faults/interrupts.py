"""Faults of time: signals, forks and changed files in the middle of a fit."""

import os
import signal
import threading
import time

import numpy as np
from sklearn.base import clone

from pegasos import SVC, SVR, Checkpoint, LinearSVC, LinearSVR, SequenceSVC
from pegasos.io import load_model, open_dataset, read_svmlight, save_model, write_dataset, write_svmlight

from ..audit.linear_cases import small_blocks
from ..fork_helpers import fork_at, lines_of
from .disks import killed
from .fault import LOST, REFUSED, UNHARMED, Harm, bits, kind, refused, same
from .fits import FITS, TAGS, WORDS, result_of

_random = np.random.default_rng(1)
ROWS = _random.normal(size=(1500, 10))
LABELS = (ROWS[:, 0] + _random.normal(size=1500) > 0).astype(int)
THREE = np.digitize(ROWS[:, 0] + _random.normal(size=1500), [-0.5, 0.5])
BUDGET = {"tol": 1e-12, "random_state": 0}
#: Fits of some tens of milliseconds.
LONGER = {
    "LinearSVC": (LinearSVC(solver="sdca", max_iter=100, **BUDGET), ROWS, LABELS),
    "LinearSVC, two threads": (LinearSVC(solver="sdca", n_jobs=2, max_iter=100, **BUDGET), ROWS, LABELS),
    "one against the rest": (LinearSVC(solver="sdca", max_iter=30, **BUDGET), ROWS, THREE),
    "one against the rest, two threads": (LinearSVC(solver="sdca", max_iter=30, n_jobs=2, **BUDGET), ROWS, THREE),
    "joint": (LinearSVC(multi_class="joint", max_iter=30, **BUDGET), ROWS, THREE),
    "interior point": (LinearSVC(solver="interior-point", **BUDGET), ROWS, LABELS),
    "Newton": (LinearSVC(solver="newton", loss="log_loss", **BUDGET), ROWS, LABELS),
    "LinearSVR": (LinearSVR(solver="pegasos", max_iter=50, **BUDGET), ROWS, ROWS[:, 1]),
    "SVC": (SVC(max_iter=20, **BUDGET), ROWS[:400], THREE[:400]),
    "SVC, two threads": (SVC(max_iter=20, n_jobs=2, **BUDGET), ROWS[:400], THREE[:400]),
    "SVR": (SVR(max_iter=20, **BUDGET), ROWS[:400], ROWS[:400, 1]),
    "SequenceSVC": (SequenceSVC(max_iter=20, **BUDGET), WORDS, TAGS),
}


class Fitted:
    """A fit, what it finds and how long it takes."""

    def __init__(self, estimator, data, y):
        self.estimator, self.data, self.y = estimator, data, y
        started = time.perf_counter()
        self.expected = result_of(self.fit())
        self.seconds = time.perf_counter() - started

    def fit(self):
        return clone(self.estimator).fit(self.data, self.y)

    def is_repeated(self):
        """Whether another fit finds the same, and predicts."""
        model = self.fit()
        model.predict(self.data)
        return result_of(model) == self.expected


def after(delay, do):
    """Do something on another thread, after so many seconds."""

    def wait():
        time.sleep(delay)
        do()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@kind(
    "Ctrl-C",
    "SIGINT at a random moment of a fit, on one and two threads; the estimator is as before or fitted whole",
    800,
)
def prepare_interrupts(folder):
    fits = {name: Fitted(*own) for name, own in LONGER.items()}

    def inject(random):
        name = random.choice(sorted(fits))
        own, estimator = fits[name], clone(fits[name].estimator)
        if random.random() < 0.5:
            estimator.set_params(max_iter=1).fit(own.data, own.y)
            estimator.set_params(max_iter=own.estimator.max_iter)
        held, thread, caught = bits(estimator), None, False
        try:
            thread = after(random.random() * 1.1 * own.seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
            estimator.fit(own.data, own.y)
            while thread.is_alive():
                time.sleep(0.001)
            time.sleep(0.001)
        except KeyboardInterrupt:
            caught = True
        if thread is not None:
            thread.join()
        if not caught:
            raise Harm(LOST, f"{name}: a Ctrl-C that nobody heard of")
        if bits(estimator) != held:
            return same(result_of(estimator), own.expected, f"{name}: neither as before nor whole")
        same(result_of(estimator.fit(own.data, own.y)), own.expected, f"{name}: the next fit differs")
        return REFUSED

    return inject


@kind(
    "forks during fits",
    "a process forked at a random moment of a fit on another thread; it fits and predicts, as web workers do",
    300,
)
def prepare_forks(folder):
    fits = {name: Fitted(*own) for name, own in LONGER.items()}

    def inject(random):
        name, other = random.choice(sorted(fits)), random.choice(sorted(fits))
        own, found = fits[name], []
        thread = threading.Thread(target=lambda: found.append(result_of(own.fit())))
        thread.start()
        time.sleep(random.random() * own.seconds)
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if fits[other].is_repeated() else 5)
            finally:
                os._exit(6)
        status = os.waitpid(child, 0)[1]
        thread.join()
        same(found, [own.expected], f"{name}: another result where a process was forked meanwhile")
        return same(status, 0, f"{other} in a process that was forked during {name}: status {status}")

    return inject


@kind(
    "forks at lines of a fit",
    "a process forked when a fit on another thread is at any line of Python, its own or a library's; then as above",
    1000,
)
def prepare_forks_at_lines(folder):
    fits = {name: Fitted(*own) for name, own in FITS.items()}
    lines = {name: lines_of(own.is_repeated) for name, own in fits.items()}

    def inject(random):
        name = random.choice(sorted(fits))
        other = random.choice([name, *sorted(fits)])
        code, number = random.choice(lines[name])
        status, found = fork_at((code, number), fits[name].is_repeated, fits[other].is_repeated)
        where = f"{name} at {code.co_filename}:{number}"
        same(found, [True], f"{where}: another result where a process was forked meanwhile")
        return same(status, 0, f"{other} in a process that was forked during {where}: status {status}")

    return inject


@kind(
    "forks and kill -9 of fits with checkpoints",
    "a process forked at a random moment of a fit with checkpoints outlives the fit, which is killed at another; then "
    "the fit goes on, to the same bits",
    300,
)
def prepare_forks_and_kills(folder):
    fits = {name: Fitted(*LONGER[name]) for name in ("LinearSVC", "one against the rest, two threads", "SVC")}
    for name, own in fits.items():
        own.estimator = clone(own.estimator).set_params(checkpoint=Checkpoint(folder / name, every=0))

    def inject(random):
        name = random.choice(sorted(fits))
        own, (reader, writer) = fits[name], os.pipe()
        moments = sorted(random.random() * 1.2 * own.seconds for _ in range(2))

        def outlive():
            if os.fork() == 0:
                os.close(writer)
                os.read(reader, 1)  # until it is closed elsewhere
                os._exit(0)

        def fit():
            after(moments[0], outlive)
            own.fit()
            time.sleep(60)

        killed(fit, moments[1])
        os.close(reader)
        try:
            same(result_of(own.fit()), own.expected, f"{name}: goes on to another end")
        finally:
            os.close(writer)
        if os.listdir(folder / name):
            raise Harm(LOST, f"{name}: left behind {os.listdir(folder / name)}")
        return UNHARMED

    return inject


def spoil(path, random):
    """A file cut short, or overwritten in place."""

    def cut():
        os.truncate(path, random.randrange(path.stat().st_size))

    def overwrite():
        with open(path, "r+b") as file:
            file.write(random.randbytes(path.stat().st_size))

    return random.choice((cut, overwrite))


@kind(
    "files changed during a fit",
    "files of a data set cut short or overwritten in place at a random moment of a fit, in memory and by blocks",
    300,
)
def prepare_spoilt(folder):
    write_dataset(folder / "whole", ROWS, LABELS)
    estimator = LinearSVC(solver="sdca", max_iter=20, tol=1e-12, random_state=0)
    path, files = folder / "a.ds", sorted(file.name for file in (folder / "whole").iterdir())

    def fit(by_blocks):
        if not by_blocks:
            return clone(estimator).fit(open_dataset(path))
        with small_blocks():
            return clone(estimator).fit(open_dataset(path))

    def put_back():
        path.mkdir(exist_ok=True)
        for name in files:
            (path / name).write_bytes((folder / "whole" / name).read_bytes())

    put_back()
    expected, seconds = {}, {}
    for by_blocks in (False, True):
        started = time.perf_counter()
        expected[by_blocks] = result_of(fit(by_blocks))
        seconds[by_blocks] = time.perf_counter() - started

    def inject(random):
        by_blocks, name = random.random() < 0.5, random.choice(files)
        thread = after(random.random() * seconds[by_blocks], spoil(path / name, random))
        try:
            found = result_of(fit(by_blocks))
        except (ValueError, OSError) as error:
            return refused(error, path)
        finally:
            thread.join()
            put_back()
        return same(found, expected[by_blocks], f"{name} changed during a fit, by blocks: {by_blocks}")

    return inject


@kind(
    "files changed while they are read",
    "model and svmlight files cut short or overwritten in place at a random moment of reading",
    600,
)
def prepare_read(folder):
    model = SVC(random_state=0).fit(ROWS[:600], LABELS[:600])
    save_model(model, folder / "a.model")
    write_svmlight(ROWS, LABELS, folder / "a.svm")
    files = {}
    for path, read in ((folder / "a.model", load_model), (folder / "a.svm", read_svmlight)):
        started = time.perf_counter()
        found = bits(read(path))
        files[path] = read, path.read_bytes(), found, time.perf_counter() - started

    def inject(random):
        path = random.choice(sorted(files))
        read, data, expected, seconds = files[path]
        thread = after(random.random() * seconds, spoil(path, random))
        try:
            found = bits(read(path))
        except (ValueError, OSError) as error:
            return refused(error, path)
        finally:
            thread.join()
            path.write_bytes(data)
        if path.suffix == ".svm":  # has no checksum
            return UNHARMED
        return same(found, expected, f"{path.name} changed while it was read")

    return inject
