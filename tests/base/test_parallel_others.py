"""Fits and predictions in the processes and threads of others: joblib, forks as of web servers, multiprocessing.

Each script runs in a process of its own, whose time limit is there for a deadlock alone.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pegasos._threads import VARIABLES

SET_UP = """
    import os, signal, sys, threading, warnings
    import joblib, multiprocessing
    import numpy as np
    from sklearn.model_selection import GridSearchCV
    from pegasos import SVC, SVR, LinearSVC, SequenceSVC
    from pegasos.datasets import make_text

    X, y = make_text(4000, 300, random_state=0)
    dense = X[:400, :20].toarray()

    def work(seed=0):
        "Fits of each kind with two threads, and predictions with as many; what came out as bytes."
        linear = LinearSVC(n_jobs=2, solver="sdca", max_iter=5, tol=0, random_state=seed).fit(X, y)
        kernel = SVC(n_jobs=2, max_iter=50, tol=0, random_state=seed).fit(dense, y[:400])
        several = LinearSVC(n_jobs=2, max_iter=3, tol=0, random_state=seed).fit(X[:400], np.arange(400) % 3)
        found = linear.decision_function(X), kernel.decision_function(dense), several.decision_function(X)
        return b"".join(array.tobytes() for array in found)

    def predict(model):
        return model.decision_function(X).tobytes()

    def in_fork(task):
        "What a task returns in a forked process."
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a deadlock would be the end of it
            try:
                os.close(reading)
                with open(writing, "wb") as file:
                    file.write(task())
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading, "rb") as file:
            told = file.read()
        assert os.waitpid(child, 0)[1] == 0
        return told
"""


def run(script):
    code = textwrap.dedent(SET_UP) + "if __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(script), "    ")
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment |= {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # on forks while there are threads
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")


@needs_fork
def test_forks_after_fits_with_threads():
    """As a web server that loads its model, and then forks its workers."""
    script = """
        before = work()
        for _ in range(3):
            assert in_fork(work) == before
        assert work() == before
    """
    run(script)


@needs_fork
def test_workers_have_one_thread_each():
    """But a single process has all, and a variable has the last word."""
    script = """
        from pegasos import _threads
        _threads._processors = lambda: 64
        _threads._quotas = lambda: []
        ask, fork = _threads.usable_threads, multiprocessing.get_context("fork")
        assert ask() == 64
        assert in_fork(lambda: b"%d" % ask()) == b"1"
        with fork.Pool(2) as pool:
            assert pool.apply(ask) == 1
        answers = fork.Queue()
        single = fork.Process(target=lambda: answers.put(ask()))
        single.start()
        assert answers.get() == 64
        single.join()
        os.environ["OMP_NUM_THREADS"] = "5"
        assert in_fork(lambda: b"%d" % ask()) == b"5"
    """
    run(script)


@needs_fork
def test_forks_while_other_threads_fit():
    script = """
        expected, stop, fits = work(), threading.Event(), []

        def fit():
            while not stop.is_set():
                fits.append(work())

        threads = [threading.Thread(target=fit) for _ in range(2)]
        for thread in threads:
            thread.start()
        forked = [in_fork(work) for _ in range(5)]
        stop.set()
        for thread in threads:
            thread.join()
        assert fits and set(fits) == set(forked) == {expected}
    """
    run(script)


@needs_fork
@pytest.mark.parametrize(
    "fit",
    [
        "SVR(random_state=0).fit(dense[:40], y[:40])",
        "LinearSVC(n_jobs=2, random_state=0).fit(X[:40], np.arange(40) % 3)",
    ],
)
def test_forks_in_every_function_of_a_fit(fit):
    """No fit holds a lock that one in a forked process asks for: the thread that would give it back is not there."""
    script = f"""
        import pegasos
        sys.path.append({str(Path(__file__).parents[1])!r})
        from fork_helpers import fork_at, lines_of

        def repeat():
            return {fit}.certificate_.primal == expected

        expected = {fit}.certificate_.primal
        own = os.path.dirname(pegasos.__file__)
        places = [place for place in lines_of(repeat) if place[0].co_filename.startswith(own)]
        entries = [place for place in places if place[1] == place[0].co_firstlineno]
        assert len(entries) > 50

        def task():
            signal.alarm(60)  # a deadlock would be the end of it
            return repeat()

        for place in entries:
            assert fork_at(place, repeat, task) == (0, [True]), place
    """
    run(script)


@needs_fork
def test_a_forked_process_ends_at_once_while_its_parent_fits():
    """It has no fits to wait for at its exit, which calls `end_runs`."""
    script = """
        from pegasos import _core
        stop = threading.Event()

        def fit():
            while not stop.is_set():
                work()

        thread = threading.Thread(target=fit)
        thread.start()
        for _ in range(5):
            assert in_fork(lambda: (_core.native.end_runs(1e9), b"done")[1]) == b"done"
        stop.set()
        thread.join()
    """
    run(script)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, tmp_path):
    """Models travel to processes and predict there as here."""
    path = tmp_path / "script.py"  # spawned processes import it
    script = f"""
        model = LinearSVC(n_jobs=2, solver="sdca", random_state=0).fit(X, y)
        with multiprocessing.get_context("{method}").Pool(2) as pool:
            assert set(pool.map(predict, [model] * 4)) == {{predict(model)}}
            assert set(pool.map(work, [0] * 4)) == {{work()}}
    """
    text = textwrap.dedent(SET_UP) + "if __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(script), "    ")
    path.write_text(text)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_searches(backend):
    """The same scores from any number of processes or threads, and no more threads at work than were asked for."""
    script = f"""
        from pegasos._threads import usable_threads

        def search(n_jobs):
            found = GridSearchCV(LinearSVC(random_state=0, max_iter=20), {{"C": [0.01, 0.1, 1.0]}}, cv=2, n_jobs=n_jobs)
            return found.fit(X, y).cv_results_["mean_test_score"].tolist()

        alone = search(1)
        with joblib.parallel_config("{backend}"):
            assert search(2) == alone
            at_a_time = joblib.Parallel(n_jobs=2)(joblib.delayed(usable_threads)() for _ in range(8))
        assert max(at_a_time) <= max(usable_threads() // 2, 1), at_a_time
    """
    run(script)


def test_threads_of_joblib():
    script = """
        expected = [work(seed) for seed in range(4)]
        with joblib.parallel_config("threading", n_jobs=4):
            found = joblib.Parallel()(joblib.delayed(work)(seed) for seed in [*range(4), *range(4)])
        assert found == expected * 2
    """
    run(script)
