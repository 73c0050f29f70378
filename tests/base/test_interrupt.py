"""Ctrl-C ends a fit promptly, wherever it is; other threads run while one fits."""

import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from helpers import PROBLEMS, run_sdca

from pegasos import LinearSVC

#: Fits, sends itself SIGINT after each of the delays, and prints how long the KeyboardInterrupt took to arrive: 0.2 s
#: at most on a machine that is not busy.
SCRIPT = """
    import os, signal, threading, time
    import numpy as np
    import scipy.sparse as sp
    from pegasos import SVC, LinearSVC
    from pegasos.datasets import make_text
    from pegasos.solvers import Pegasos

    {data}
    sent = []

    def send(delay):
        time.sleep(delay)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    for delay in (0.01, 0.1, 0.2, 0.35, 0.5):
        timer = threading.Thread(target=send, args=[delay])
        clf = {machine}.set_params(tol=0, max_iter=10**9)
        try:
            timer.start()  # on a busy machine the signal may come before it returns
            clf.fit(X, y)
        except KeyboardInterrupt:
            print(time.perf_counter() - sent[-1])
        timer.join()
        assert not hasattr(clf, "coef_")
"""
WIDE = """
    X = np.random.default_rng(0).standard_normal(({rows}, 20_000), dtype=np.float32)
    y = np.arange({rows}) % 2
"""
CASES = {
    "text": ("X, y = make_text(20_000, 5_000, random_state=0)", ""),
    "few short rows": ("X, y = np.eye(2), np.array([0, 1])", ""),
    "wide rows": (WIDE.format(rows=2000), ""),
    "the whole of wide rows at a time": (WIDE.format(rows=2000), "batch_size=2000"),
    "search for the intercept": ("X, y = np.eye(2), np.array([0, 1])", "free_intercept='search'"),
    "random stops": ("X, y = make_text(20_000, 5_000, random_state=0)", "average=False, random_stops=1000"),
}
#: Nothing to learn, so that C makes it hard.
KERNEL_DATA = "X, y = np.random.default_rng(0).normal(size=({rows}, 20)), np.arange({rows}) % 2"
KERNEL_CASES = [("smo", 3000), ("sdca", 20_000), ("pegasos", 20_000), ("perceptron", 60), ("sbp", 20_000)]


def interrupt(data, machine):
    """The longest that an interrupt took to end a fit."""
    script = textwrap.dedent(SCRIPT).format(data=textwrap.dedent(data).strip(), machine=machine)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    delays = [float(line) for line in done.stdout.splitlines()]
    assert len(delays) == 5
    print(f"{machine}: at most {max(delays):.3f} s")
    return max(delays)


@pytest.mark.parametrize("case", CASES)
def test_keyboard_interrupt(case, record_property):
    data, solver = CASES[case]
    intercept = "free" if "free_intercept" in solver else "penalized"
    delay = interrupt(data, f"LinearSVC(intercept='{intercept}', solver=Pegasos({solver}))")
    record_property("seconds", delay)


@pytest.mark.parametrize(("solver", "rows"), KERNEL_CASES)
def test_keyboard_interrupt_with_a_kernel(solver, rows, record_property):
    """The first, early one may come while the kernel matrix is looked at."""
    kernel = "'linear'" if solver == "smo" else "'rbf'"
    machine = f"SVC(solver='{solver}', kernel={kernel}, C=1e6, fit_intercept=False, cache_size=200)"
    delay = interrupt(KERNEL_DATA.format(rows=rows), machine)
    record_property("seconds", delay)


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
            run_sdca(PROBLEMS["plain"], max_epochs=1e18, progress=look)
    finally:
        done.set()
        thread.join()
    assert len(looks) < 100  # it would be at least 200


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
