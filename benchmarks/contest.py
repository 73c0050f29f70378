"""Contenders in processes of their own: what `run.py` times."""

import contextlib
import math
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from datasets import Data
from objective import Problem, evaluate
from peers import Peer, Way

__all__ = ["Contender", "Run", "contenders"]

FORK = multiprocessing.get_context("fork")  # a rival is never imported in this process
START = 120.0  # seconds to import a package and to compile what it compiles


@dataclass(frozen=True)
class Run:
    """One fit: how long it took, and the objective of what came of it."""

    seconds: float = math.inf
    processor: float = math.inf  # seconds of all its threads
    value: float = math.inf
    dual: float | None = None
    failure: str = ""  # "stopped", or what it raised


class Contender:
    """A way of a package to solve a problem, in a process that has the data.

    The process imports the package and fits a few examples before anything is timed. It stands still while others work,
    as threads may spin after a fit.
    """

    def __init__(self, peer: Peer, way: Way, problem: Problem) -> None:
        self.peer, self.way, self.problem = peer, way, problem
        self.process: Any = None
        self.pipe: Any = None

    @property
    def name(self) -> str:
        return self.way.name

    def fit(self, setting: Any, limit: float | None, **options: Any) -> Run:
        """A fit, which is ended after `limit` seconds: most packages have no time limit."""
        if self.process is None:
            failure = self._start()
            if failure:
                return Run(failure=failure)
        os.kill(self.process.pid, signal.SIGCONT)
        self.pipe.send((setting, options))
        found = self._receive(limit)
        if not found.failure:
            found = self._receive(None)  # the same, evaluated
        if found.failure in ("stopped", "ended"):
            self.close()
        else:
            os.kill(self.process.pid, signal.SIGSTOP)
        return found

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self) -> str:
        self.pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=_serve, args=(theirs, self.peer, self.way, self.problem), daemon=True)
        self.process.start()
        theirs.close()
        failure = self._receive(START).failure
        if failure:
            self.close()
        return failure

    def _receive(self, limit: float | None) -> Run:
        try:
            return self.pipe.recv() if self.pipe.poll(limit) else Run(failure="stopped")
        except (EOFError, OSError):
            return Run(failure="ended")


@contextlib.contextmanager
def contenders(peers: Sequence[Peer], problem: Problem) -> Iterator[list[Contender]]:
    """All the ways of these packages to solve the problem; their processes end with the block."""
    found = [Contender(peer, way, problem) for peer in peers for way in peer.ways(problem)]
    try:
        yield found
    finally:
        for contender in found:
            contender.close()


def _serve(pipe: Any, peer: Peer, way: Way, problem: Problem) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what packages print, of not having converged above all
    os.dup2(nowhere, 2)
    warnings.simplefilter("ignore")
    try:
        peer.use()
        X = way.prepare(problem)
        few = replace(problem, data=_few(problem))
        loosest = way.settings[0] if way.settings else 0.1
        way.fit(few, way.prepare(few), loosest)
    except Exception as error:
        pipe.send(Run(failure=_told(error)))
        return
    pipe.send(Run())
    while True:
        setting, options = pipe.recv()
        try:
            started, processor = time.perf_counter(), time.process_time()
            found = way.fit(problem, X, setting, **options)
            seconds, processor = time.perf_counter() - started, time.process_time() - processor
            pipe.send(Run(seconds, processor))
            pipe.send(Run(seconds, processor, evaluate(problem, found), found.dual))
        except Exception as error:
            pipe.send(Run(failure=_told(error)))


def _few(problem: Problem) -> Data:
    """Ten examples of each class."""
    data = problem.data
    if problem.kind == "sequence":
        return replace(data, X=data.X[:10], y=data.y[:10], X_test=data.X_test[:2], y_test=data.y_test[:2])
    if problem.n_classes == 0:
        return data.sample(30)
    chosen = np.sort(np.concatenate([np.flatnonzero(data.y == label)[:10] for label in np.unique(data.y)]))
    return replace(data, X=data.X[chosen], y=data.y[chosen])


def _told(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
