"""Faults by the thousand, in processes that may crash or hang without harm to the run."""

import contextlib
import json
import os
import select
import signal
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from .fault import CRASH, HANG, OUTCOMES, Harm

#: Faults of one process at most.
BATCH = 5000
#: Harms that are told in full, of each kind.
TOLD = 20


@dataclass
class Result:
    """What came of the faults of a kind."""

    kind: object
    counts: dict = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    harms: list = field(default_factory=list)  # of number, outcome and text
    seconds: float = 0.0

    def add(self, number, outcome, text=""):
        self.counts[outcome] += 1
        if text:
            self.harms.append((number, outcome, text))

    @property
    def total(self):
        return sum(self.counts.values())


def run_kind(kind, seed, numbers, tell=lambda result: None):
    """Inject the faults of these numbers."""
    result, started, left = Result(kind), time.perf_counter(), list(numbers)
    while left:
        left = _run_batch(kind, seed, left[:BATCH], result) + left[BATCH:]
        result.seconds = time.perf_counter() - started
        tell(result)
    return result


def _run_batch(kind, seed, numbers, result):
    """Inject faults in a process of their own; the numbers of those that are left when it died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setsid()  # with all that it starts
            os.close(reader)
            _work(kind, seed, numbers, writer)
            os._exit(0)
        os._exit(3)
    os.close(writer)
    left, lines = list(numbers), _lines(reader, kind.seconds)
    try:
        for line in lines:
            if line is None:  # nothing was heard for long
                result.add(left.pop(0), HANG, f"not over after {kind.seconds:g} s")
                break
            told = json.loads(line)
            if "failed" in told:
                raise RuntimeError(f"{kind.name}: {told['failed']}")
            result.add(left.pop(0), told["outcome"], told["text"])
        else:
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
            status = os.waitpid(child, os.WNOHANG)[1]
            child = None
            if left and status:
                died = signal.strsignal(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else f"exit code {status >> 8}"
                result.add(left.pop(0), CRASH, died)
    finally:
        os.close(reader)
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return left


def _lines(reader, seconds):
    """Lines from a pipe; None, and no more, where none comes for so long."""
    begun = b""
    while True:
        if not select.select([reader], [], [], seconds)[0]:
            yield None
            return
        data = os.read(reader, 1 << 16)
        if not data:
            return
        *whole, begun = (begun + data).split(b"\n")
        yield from whole


def _work(kind, seed, numbers, writer):
    """Inject faults, and write a line on each."""

    def tell(**told):
        os.write(writer, json.dumps(told).encode() + b"\n")

    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # in memory, where there is such a folder
    with tempfile.TemporaryDirectory(dir=shared, ignore_cleanup_errors=True) as folder:
        try:
            inject = kind.prepare(Path(folder))
        except BaseException:
            tell(failed=traceback.format_exc())
            return
        for number in numbers:
            try:
                tell(outcome=inject(Random(f"{seed} {kind.name} {number}")), text="")
            except Harm as harm:
                tell(outcome=harm.outcome, text=harm.text)
            except BaseException:
                tell(outcome=CRASH, text=traceback.format_exc())
