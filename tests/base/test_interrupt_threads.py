"""Ctrl-C is heard at any moment of a fit in several threads, and a fit on a daemon thread does not outlive Python."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from pegasos import _cgroups, _threads
from pegasos.base import threads
from pegasos.base.memory import free_memory
from pegasos.base.progress import Progress
from pegasos.base.threads import run_all

#: Interrupts itself at random moments of fits that never end by themselves, from their start on.
INTERRUPTS = """
import os, random, signal, sys, threading, time
import numpy as np
from pegasos import LinearSVC, SVC

X, y = np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % 4
draw = random.Random(0)

def again(lost):  # Python itself loses what comes within a weak reference's callback or the like, and says so here
    if lost.exc_type is KeyboardInterrupt:
        signal.raise_signal(signal.SIGINT)

sys.unraisablehook = again

def send(delay):
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)

for number in range(30):
    model = LinearSVC if number % 3 else SVC
    timer = threading.Thread(target=send, args=[draw.choice([1e-3, 1e-2]) * draw.random()])
    try:
        timer.start()
        model(solver="pegasos", fit_intercept=False, tol=0, max_iter=10**9, n_jobs=2, random_state=0).fit(X, y)
    except KeyboardInterrupt:
        print("heard")
    timer.join()
"""
#: Leaves while a thread fits.
EXIT = """
import threading, time
import numpy as np
from pegasos import LinearSVC, SVC

X, y = np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % {classes}
model = {model}(solver="pegasos", fit_intercept=False, tol=0, max_iter=10**9, n_jobs={n_jobs})
threading.Thread(target=model.fit, args=[X, y], daemon=True).start()
time.sleep(0.2)
print("main ends")
"""


def run_script(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)


def test_no_interrupt_is_lost():
    done = run_script(INTERRUPTS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["heard"] * 30


@pytest.mark.parametrize(("model", "classes"), [("LinearSVC", 2), ("LinearSVC", 4), ("SVC", 2), ("SVC", 4)])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_python_exits_while_a_daemon_thread_fits(model, classes, n_jobs):
    done = run_script(EXIT.format(model=model, classes=classes, n_jobs=n_jobs))
    assert (done.returncode, done.stdout, done.stderr) == (0, "main ends\n", "")


def test_an_interrupt_while_threads_start_ends_those_that_run(monkeypatch):
    start, started = threading.Thread.start, []

    def interrupted(thread):
        start(thread)
        started.append(thread)
        raise KeyboardInterrupt

    def goes_on(progress):
        while True:
            progress.progressed(0.0, 0.0)

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_all([(goes_on, Progress()), (goes_on, Progress())], 2)
    started[0].join()
    assert len(started) == 1


def test_an_interrupt_while_they_work_is_raised_when_all_have_ended():
    """`Thread.join` of Python 3.11 returns at once, then and afterwards."""
    ended = []

    def works(progress):
        time.sleep(0.1)  # the main thread waits by now
        os.kill(os.getpid(), signal.SIGINT)
        try:
            while True:
                progress.progressed(0.0, 0.0)
        finally:
            time.sleep(0.2)
            ended.append(1)

    with pytest.raises(KeyboardInterrupt):
        run_all([(works, Progress())], 2)
    assert ended == [1]


def test_no_limit_of_a_control_group_is_told_by_an_error(monkeypatch):
    """While `int` writes the message of its error, it replaces a KeyboardInterrupt."""
    shown = []

    class Text(str):
        def __repr__(self):
            shown.append(str(self))
            return "?"

    groups = [("cpu", 2), ("memory", 1)]
    monkeypatch.setattr(_cgroups, "folders", lambda controller: groups)
    monkeypatch.setattr(_cgroups, "read", lambda folder, name: Text("max"))
    assert free_memory() > 0
    assert _threads._quotas_at.__wrapped__(0.0) == []
    assert shown == []


@pytest.mark.parametrize("keep", [True, False])
def test_an_interrupt_after_the_last_work_is_heard(monkeypatch, keep):
    """Unless what was found is to be kept, which it is then, whole."""
    wait, times = threads._wait, []

    def interrupted(*waiting):
        wait(*waiting)
        times.append(1)
        if len(times) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_wait", interrupted)
    works = [(lambda progress: 7, Progress())] * 3
    if keep:
        assert run_all(works, 2, lambda found: False) == [7, 7, 7]
    else:
        with pytest.raises(KeyboardInterrupt):
            run_all(works, 2)
