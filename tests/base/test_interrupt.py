"""Ctrl-C ends a fit promptly, wherever it is; other threads run while one fits."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from linear_helpers import make_problem, run_sdca

from pegasos import LinearSVC

#: Fits, sends itself SIGINT after each of the delays, and prints which case it was and how long the KeyboardInterrupt
#: took to arrive: 0.2 s at most on a machine that is not busy.
SCRIPT = """
import os, signal, threading, time
import numpy as np
from pegasos import SVC, LinearSVC
from pegasos.datasets import make_text
from pegasos.solvers import Pegasos

sent = []

def send(delay):
    time.sleep(delay)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

def interrupt(name, X, y, machine):
    for delay in (0.01, 0.1, 0.35):
        timer = threading.Thread(target=send, args=[delay])
        machine.set_params(tol=0, max_iter=10**9)
        try:
            timer.start()  # on a busy machine the signal may come before it returns
            machine.fit(X, y)
        except KeyboardInterrupt:
            print(f"{name}: {time.perf_counter() - sent[-1]:.3f} s")
        timer.join()
        assert not hasattr(machine, "coef_") and not hasattr(machine, "dual_coef_")

"""
LINEAR = """
text = make_text(20_000, 5_000, random_state=0)
short = np.eye(2), np.array([0, 1])
wide = np.random.default_rng(0).standard_normal((2000, 20_000), dtype=np.float32), np.arange(2000) % 2
interrupt("text", *text, LinearSVC(solver=Pegasos()))
interrupt("few short rows", *short, LinearSVC(solver=Pegasos()))
interrupt("wide rows", *wide, LinearSVC(solver=Pegasos()))
interrupt("the whole of wide rows at a time", *wide, LinearSVC(solver=Pegasos(batch_size=2000)))
interrupt("search", *short, LinearSVC(intercept="free", solver=Pegasos(free_intercept="search")))
interrupt("random stops", *text, LinearSVC(solver=Pegasos(average=False, random_stops=1000)))
"""
#: Nothing to learn, so that C makes it hard. The first, early one may come while the kernel matrix is looked at.
KERNEL = """
for solver in ("smo", "lasvm", "sdca", "pegasos", "perceptron", "sbp", "simba"):
    rows = {"smo": 3000, "perceptron": 60}.get(solver, 20_000)
    X, y = np.random.default_rng(0).normal(size=(rows, 20)), np.arange(rows) % 2
    kernel = "linear" if solver == "smo" else "rbf"
    interrupt(solver, X, y, SVC(solver=solver, kernel=kernel, C=1e6, fit_intercept=False, cache_size=200))
"""


@pytest.mark.parametrize(("cases", "count"), [(LINEAR, 6), (KERNEL, 7)], ids=["linear", "kernel"])
def test_keyboard_interrupt(cases, count):
    done = subprocess.run([sys.executable, "-c", SCRIPT + cases], capture_output=True, text=True, timeout=600)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    names = [line.rpartition(":")[0] for line in done.stdout.splitlines()]
    assert len(names) == 3 * count
    assert all(names.count(name) == 3 for name in names)


def test_other_threads_run_during_a_fit():
    """And not only when the core looks at the signals, which it does every 30 ms."""

    class Enough(Exception):
        pass

    done, counted, looks = threading.Event(), [], []

    def count():
        while not done.is_set():
            counted.append(len(looks))
            time.sleep(0.001)

    def look(epoch, seconds):
        looks.append(seconds)
        if len(counted) >= 200:
            raise Enough

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(Enough):
            run_sdca(make_problem(), max_epochs=1e18, progress=look)
    finally:
        done.set()
        thread.join()
    assert len(looks) < 190  # with the lock held in between, the other thread could count once for each


def test_fits_in_threads_do_not_disturb_one_another():
    X = np.random.default_rng(0).normal(size=(500, 20))
    y = np.arange(500) % 2
    alone = [LinearSVC(tol=0, max_iter=50, random_state=seed).fit(X, y).coef_ for seed in range(4)]
    together = [None] * 4

    def fit(seed):
        together[seed] = LinearSVC(tol=0, max_iter=50, random_state=seed).fit(X, y).coef_

    threads = [threading.Thread(target=fit, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(together, alone)
