"""Faults of data sets and checkpoints."""

import os
import pickle
import shutil
import signal

from sklearn.base import clone

from pegasos import Checkpoint, LinearSVC
from pegasos.base.checkpoint import Store
from pegasos.io import open_dataset, write_dataset
from pegasos.io.dataset_reader import read_rows

from ..audit.linear_cases import small_blocks
from .changes import changed
from .fault import REFUSED, UNHARMED, bits, kind, refused, same
from .fits import CLASSES, FITS, SPARSE, TARGETS, X, Y, result_of

WORDS = (b"NaN", b"Infinity", b"-1", b"1e999", b"null", b"[]", b"{}", b'"', b"true", b"9" * 30, b"[" * 3000)


def folders(folder):
    """Data sets of all kinds."""
    write_dataset(folder / "dense", X, Y)
    write_dataset(folder / "sparse", SPARSE, CLASSES.astype(str), [1.0 + k % 3 for k in range(60)])
    write_dataset(folder / "targets", X.astype("float32"), TARGETS)
    return sorted(path for path in folder.iterdir())


def changing(paths, random):
    """One of the files of a folder, changed; and how to put it back."""
    path = random.choice(paths)
    data = path.read_bytes()
    if random.random() < 0.03:
        path.unlink()
        told = "removed"
    else:
        new, told = changed(data, random, WORDS)
        path.write_bytes(new)
    return f"{path.name} {told}", lambda: path.write_bytes(data)


@kind(
    "data sets",
    "any file of one changed as model files are, or removed; then `open_dataset` and `load`, as fits in memory do",
    12_000,
)
def prepare_whole(folder):
    paths = folders(folder)
    expected = {path: bits(open_dataset(path).load()) for path in paths}

    def inject(random):
        path = random.choice(paths)
        told, put_back = changing(sorted(path.iterdir()), random)
        try:
            return same(bits(open_dataset(path).load()), expected[path], told)
        except (ValueError, FileNotFoundError) as error:
            return refused(error, path)
        finally:
            put_back()

    return inject


@kind("data sets by blocks", "the same, then a fit that reads them by blocks", 2_000)
def prepare_blocks(folder):
    path, estimator = folder / "sparse", LinearSVC(max_iter=5, tol=0.3, random_state=0)
    folders(folder)
    with small_blocks():
        expected = result_of(clone(estimator).fit(open_dataset(path)))

    def inject(random):
        told, put_back = changing(sorted(path.iterdir()), random)
        try:
            with small_blocks():
                return same(result_of(clone(estimator).fit(open_dataset(path))), expected, told)
        except (ValueError, FileNotFoundError) as error:
            return refused(error, path)
        finally:
            put_back()

    return inject


@kind(
    "data sets replaced while they are read",
    "another process replaces one all the time, by others of other sizes; it is opened, sent to a process, and read in "
    "memory and by blocks: each time as one of these, whole",
    1_000,
)
def prepare_replaced(folder):
    path, sets = folder / "a.ds", [(X, Y), (SPARSE, CLASSES), (X[:40, :3], TARGETS[:40]), (SPARSE[:50], Y[:50])]
    known = {}
    for pair in sets:
        dataset = write_dataset(path, *pair, overwrite=True)
        known[dataset.describe()] = bits(dataset.load()), [bits(part) for part in read_rows(dataset)]
    copies = [pickle.dumps(open_dataset(path))]

    def replace():
        for k in range(10_000):
            write_dataset(path, *sets[k % len(sets)], overwrite=True)

    def inject(random):
        writer = os.fork()
        if writer == 0:
            try:
                replace()
            finally:
                os._exit(3)
        refusals = 0
        try:
            for _ in range(random.randrange(1, 20)):
                dataset = open_dataset(path)
                whole, parts = known[dataset.describe()]
                if random.random() < 0.5:
                    same(bits(dataset.load()), whole, "a data set that was replaced")
                else:
                    same([bits(part) for part in read_rows(dataset)], parts, "a data set that was replaced, by blocks")
                copies.append(pickle.dumps(dataset))
                try:
                    copy = pickle.loads(copies.pop(0))
                except ValueError as error:
                    refused(error, path)
                    refusals += 1
                else:
                    same(bits(copy.load()), known[copy.describe()][0], "a copy of a data set that was replaced")
        finally:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
        return REFUSED if refusals else UNHARMED

    return inject


class Ended(Exception):
    pass


@kind(
    "checkpoints",
    "any file of one of a linear, kernel or sequence fit changed as model files are; then the fit goes on from it",
    4_000,
)
def prepare_checkpoints(folder):
    kept, expected = {}, {}
    for name in ("LinearSVC, Pegasos", "LinearSVC, one against the rest", "LinearSVC, joint", "SVC", "SequenceSVC"):
        estimator, data, y = FITS[name]
        estimator = clone(estimator).set_params(max_iter=9, tol=1e-9)
        expected[name] = result_of(clone(estimator).fit(data, y))
        own = folder / name
        estimator.set_params(checkpoint=Checkpoint(own, every=0))
        save, states = Store.save, []

        def ending(self, run, state, finished, save=save, states=states):
            save(self, run, state, finished)
            states.append(run)
            if len(states) == 2:
                raise Ended

        Store.save = ending
        try:
            clone(estimator).fit(data, y)
        except Ended:
            kept[name] = estimator, data, y, own
        finally:
            Store.save = save
    originals = folder / "originals"
    for name, (*_, own) in kept.items():
        shutil.copytree(own, originals / name)

    def inject(random):
        name = random.choice(sorted(kept))
        estimator, data, y, own = kept[name]
        told, _ = changing(sorted(path for path in own.rglob("*") if path.is_file()), random)
        try:
            return same(result_of(clone(estimator).fit(data, y)), expected[name], f"{name}, {told}")
        except (ValueError, OSError) as error:
            return refused(error, own)
        finally:
            shutil.rmtree(own)
            shutil.copytree(originals / name, own)

    return inject
