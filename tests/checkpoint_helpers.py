"""Fits that are ended or killed again and again, until they come to their own end."""

import multiprocessing
import os
import random
import signal
import warnings
from contextlib import suppress

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from pegasos import Checkpoint
from pegasos.base.checkpoint import Store, pack


def bits_of(model):
    """The model, its bounds and the number of epochs, as one vector."""
    found = model.certificate_
    out = [np.array([found.primal, found.dual, found.n_iter])]
    for name in ("coef_", "intercept_", "dual_coef_", "support_", "transitions_"):
        try:
            value = getattr(model, name)
        except AttributeError:
            continue
        out.append(np.asarray(value.toarray() if sp.issparse(value) else value, dtype=np.float64).ravel())
    return np.concatenate(out)


class Killed(BaseException):
    """In place of a kill."""


def write_and_end(self, name, state, finished):
    """In place of `Store.save`: a fit ends with its first checkpoint."""
    with self.lock:
        self.waiting[name] = pack(state, finished, self.seconds())
        self._write()
    raise Killed


def fit_in_pieces(estimator, *data, folder, monkeypatch):
    """A fit that is ended after its first checkpoint and after every second one or so; how often it began.

    Which ones is drawn by lot: by count, two threads in step could end each other before either goes on.
    """
    lots, tries = random.Random(0), 0

    def save(self, name, state, finished):
        with suppress(Killed):
            write_and_end(self, name, state, finished)
        if tries == 1 or lots.random() < 0.5:
            raise Killed

    monkeypatch.setattr(Store, "save", save)
    estimator = clone(estimator).set_params(checkpoint=Checkpoint(folder, every=0))
    while True:
        tries += 1
        assert tries < 2000
        with suppress(Killed):
            return clone(estimator).fit(*data), tries


def _fit_and_store(estimator, data, path):
    warnings.simplefilter("ignore", ConvergenceWarning)
    bits = bits_of(clone(estimator).fit(*data))
    with open(path + ".part", "wb") as file:
        np.save(file, bits)
    os.replace(path + ".part", path)


def fit_under_fire(estimator, *data, folder, kills, longest=0.15):
    """The bits of each fit that came to its end, while so many were killed by kill -9, each at a random moment."""
    estimator = clone(estimator).set_params(checkpoint=Checkpoint(folder / "checkpoints", every=0))
    result, context, moments = str(folder / "bits.npy"), multiprocessing.get_context("fork"), random.Random(0)
    done = 0
    for _ in range(20 * kills):
        child = context.Process(target=_fit_and_store, args=(estimator, data, result))
        child.start()
        child.join(moments.uniform(0.0, longest) if done < kills else None)
        if child.is_alive():
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            done += 1
        elif os.path.exists(result):
            yield np.load(result)
            if done >= kills:
                return
            os.remove(result)
        else:
            raise AssertionError(f"the fit failed with {child.exitcode}")
    raise AssertionError(f"{done} of {kills} were killed")
