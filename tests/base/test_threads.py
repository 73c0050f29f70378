"""Several threads in one fit: the same optimum, the same bits each time, and no hanging (cpp/base/threads.hpp)."""

import math
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.sparse
from linear_helpers import (
    STORAGES,
    Problem,
    assert_certified,
    make_problem,
    make_run,
    optimum,
    run,
    run_sdca,
    run_sgd,
    storage_name,
    suited_loss,
)
from sklearn.datasets import make_classification

from pegasos import LinearSVC
from pegasos._core import native
from pegasos._threads import usable_threads
from pegasos.datasets import make_text
from pegasos.solvers import SOLVERS, auto

PROBLEM = make_problem(weighted=True, bias=0.5)
X, Y = make_classification(300, 10, flip_y=0.1, random_state=0)
any_storage = pytest.mark.parametrize("storage", STORAGES, ids=storage_name)
several = pytest.mark.parametrize("n_jobs", [2, 3])


@pytest.fixture(scope="module")
def text():
    """Sparse data large enough for several rounds an epoch."""
    rows, labels = make_text(20_000, 1000, random_state=0)
    return scipy.sparse.csr_array(rows), np.where(labels == labels.max(), 1, 0)


@any_storage
@several
def test_threads_find_the_certified_optimum(storage, n_jobs):
    for problem in (PROBLEM, make_problem(C=math.sqrt(30.3), seed=2)):
        solution = run_sdca(problem, storage=storage, n_jobs=n_jobs, tol=1e-6, max_epochs=10**6)
        assert solution.reason == "tol"
        assert solution.bounds.primal == pytest.approx(optimum(problem)[1], rel=1e-6)
        assert_certified(problem, solution)


@several
def test_threads_find_the_certified_optimum_of_text(text, n_jobs):
    one, many = (LinearSVC(tol=1e-6, n_jobs=jobs, solver="sdca", random_state=0).fit(*text) for jobs in (1, n_jobs))
    assert many.certificate_.converged
    assert many.certificate_.primal == pytest.approx(one.certificate_.primal, rel=2e-6)
    assert many.certificate_.dual <= one.certificate_.primal
    assert (np.diff(many.history_["dual"]) >= -1e-12 * many.certificate_.dual).all()


@several
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_the_dual_never_falls(n_jobs, C):
    problem = make_problem(m=300, d=10, C=math.sqrt(C**2 * 1.01), weighted=True)
    duals = [run_sdca(problem, n_jobs=n_jobs, max_epochs=epochs).bounds.dual for epochs in range(1, 40, 3)]
    assert (np.diff(duals) >= -1e-12 * duals[-1]).all()


@several
def test_repeated_runs_are_the_same_bit_by_bit(text, n_jobs):
    def fit(seed=0):
        return LinearSVC(tol=0, max_iter=8, n_jobs=n_jobs, solver="sdca", random_state=seed).fit(*text)

    first = fit()
    for _ in range(3):
        again = fit()
        np.testing.assert_array_equal(again.coef_, first.coef_)
        assert [*again.history_["dual"]] == [*first.history_["dual"]]
    assert (fit(seed=1).coef_ != first.coef_).any()
    # Under load: as many fits at a time as it takes to keep the threads waiting for a processor.
    together = [None] * 4
    threads = [threading.Thread(target=lambda i=i: together.__setitem__(i, fit())) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for clf in together:
        np.testing.assert_array_equal(clf.coef_, first.coef_)


@pytest.mark.parametrize("rows", [2, 3, 30])
@pytest.mark.parametrize("n_jobs", [4, 40])
def test_more_threads_than_rows(rows, n_jobs):
    problem = Problem(PROBLEM.X[:rows], np.resize([1.0, -1.0], rows), PROBLEM.s[:rows], PROBLEM.C, 0.5)
    solution = run_sdca(problem, n_jobs=n_jobs, tol=1e-6, max_epochs=10**5)
    assert solution.reason == "tol"
    assert_certified(problem, solution)
    assert_certified(problem, run(problem, n_jobs=n_jobs))
    assert_certified(problem, run_sgd(problem, n_jobs=n_jobs))


def test_more_threads_than_the_system_has():
    """An exception, not the end of the process."""
    script = """
        import resource
        import numpy as np
        from pegasos import LinearSVC
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))  # too little for the stacks of so many
        try:
            LinearSVC(n_jobs=1024).fit(np.eye(4), [0, 1, 0, 1])
        except (RuntimeError, MemoryError) as error:
            print("refused:", error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused")
    with pytest.raises(ValueError, match="n_jobs=100000: must be a number of threads from 1 to 1024"):
        LinearSVC(n_jobs=100_000).fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("solver", ["subgradient", "sgd", "sdca"])
def test_every_solver_evaluates_with_threads(solver, n_jobs):
    """The threads share the evaluation, so its last bits may differ, and nothing else."""
    solve = {"subgradient": run, "sgd": run_sgd, "sdca": run_sdca}[solver]
    one, many = (solve(PROBLEM, n_jobs=jobs) for jobs in (1, n_jobs))
    if solver != "sdca":
        np.testing.assert_array_equal(one.w, many.w)
        assert many.bounds.dual == pytest.approx(one.bounds.dual, rel=1e-12)
    assert_certified(PROBLEM, many)


class Stop(Exception):
    pass


@pytest.mark.parametrize("solver", [run, run_sgd, run_sdca])
@pytest.mark.parametrize("callback", ["report", "progress"])
@pytest.mark.parametrize("n_jobs", [1, 2, 40])
def test_an_exception_in_a_callback_ends_the_run(solver, callback, n_jobs):
    def fail(*_):
        raise Stop

    budget = {run: "max_steps", run_sgd: "max_passes", run_sdca: "max_epochs"}[solver]
    with pytest.raises(Stop):
        solver(PROBLEM, n_jobs=n_jobs, **{callback: fail, budget: 10**10})


@pytest.mark.parametrize("solver", [run, run_sgd, run_sdca])
@pytest.mark.parametrize("n_jobs", [2, 40])
def test_a_signal_ends_the_run(solver, n_jobs):
    def handler(signum, frame):
        raise Stop

    budget = {run: "max_steps", run_sgd: "max_passes", run_sdca: "max_epochs"}[solver]
    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stop):
            solver(PROBLEM, n_jobs=n_jobs, **{budget: 10**10})
    finally:
        signal.signal(signal.SIGALRM, before)


def test_report_and_progress_tell_where_the_run_is(ticks):
    reports, beats = [], []
    solution = run_sdca(
        PROBLEM,
        n_jobs=2,
        report=lambda *record: reports.append(list(record[:4])),
        progress=lambda epoch, seconds: beats.append((epoch, seconds)),
        max_seconds=0.3,
        max_epochs=10**10,
    )
    assert reports == solution.history
    assert 1 <= len(beats) <= 10
    assert beats == sorted(beats)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("bad", [[0], [999], [400, 700], [299, 300, 301], [600, 550]], ids=str)
def test_inspect_finds_the_first_bad_row(n_jobs, bad):
    columns, starts, dense = np.arange(1000) % 5, np.arange(1001), np.ones((1000, 5))
    rng = np.random.default_rng(0)
    dense[bad, rng.integers(5, size=len(bad))] = np.nan
    assert native.inspect(native.dense_rows(dense, 0.0), make_run(n_jobs=n_jobs)).not_finite == min(bad)
    values = np.ones(1000)
    values[bad] = np.inf
    rows = native.csr_rows(values, columns, starts, 5, 0.0)
    report = native.inspect(rows, make_run(n_jobs=n_jobs))
    assert (report.not_finite, report.bad_structure, report.entries) == (min(bad), -1, 1000)
    wrong = columns.copy()
    wrong[bad] = [5, -1, 7][: len(bad)]
    rows = native.csr_rows(np.ones(1000), wrong, starts, 5, 0.0)
    assert native.inspect(rows, make_run(n_jobs=n_jobs)).bad_structure == min(bad)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_inspect_finds_a_bad_column_before_a_bad_extent(n_jobs):
    columns, starts = np.arange(1000) % 5, np.arange(1001)
    columns[3], starts[11] = 9, 2000
    rows = native.csr_rows(np.ones(1000), columns, starts, 5, 0.0)
    assert native.inspect(rows, make_run(n_jobs=n_jobs)).bad_structure == 3


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_bad_row_is_named_by_the_estimator(n_jobs):
    wrong = X.copy()
    wrong[[123, 200], 4] = np.nan
    with pytest.raises(ValueError, match=r"row 123\b"):
        LinearSVC(n_jobs=n_jobs).fit(wrong, Y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_n_jobs_of_the_estimator(solver, n_jobs):
    options = {"solver": solver, "loss": suited_loss(solver), "tol": 0, "max_iter": 3, "random_state": 0}
    clf = LinearSVC(n_jobs=n_jobs, **options).fit(X, Y)
    assert clf.certificate_.dual <= clf.certificate_.primal
    if n_jobs == -1:
        same = LinearSVC(n_jobs=usable_threads(), **options).fit(X, Y)
        np.testing.assert_array_equal(clf.coef_, same.coef_)


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "all", np.nan])
def test_senseless_n_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs="):
        LinearSVC(n_jobs=n_jobs).fit(X, Y)


@pytest.mark.parametrize(
    ("n_jobs", "entries_per_thread", "chosen"),
    [(None, 2e6, 1), (None, 1.0, min(usable_threads(), auto.MOST_THREADS)), (2, 2e6, 2), (1, 1.0, 1)],
)
def test_auto_tells_its_choice(text, monkeypatch, n_jobs, entries_per_thread, chosen):
    """Threads for large sparse data only, unless `n_jobs` says how many."""
    monkeypatch.setattr(auto, "ENTRIES_PER_THREAD", entries_per_thread)
    found = LinearSVC(n_jobs=n_jobs, random_state=0).fit(*text).certificate_
    assert found.solver == f"SDCA(order='permute') with n_jobs={chosen}, chosen by auto"
    assert found.converged
    dense = LinearSVC(n_jobs=n_jobs, random_state=0).fit(X, Y).certificate_
    assert f"n_jobs={n_jobs or 1}, chosen by auto" in dense.solver


def test_auto_chooses_the_order_by_size(text, monkeypatch):
    monkeypatch.setattr("pegasos.problems.linear.LARGE", 1.0)
    rows, labels = text
    shuffled = LinearSVC(random_state=0).fit(rows, labels).certificate_
    assert "blocks" in shuffled.solver
    by_class = np.argsort(labels, kind="stable")
    repeated = np.repeat(np.arange(0, len(labels), 10), 10)  # each row ten times, one after the other
    for order in (repeated, by_class[repeated]):
        assert "permute" in LinearSVC(random_state=0).fit(rows[order], labels[order]).certificate_.solver


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos", "sgd-qn", "mpu"])
def test_rows_that_are_very_long_are_not_compared(solver, monkeypatch):
    """That would take thousands of passes over few of them."""
    monkeypatch.setattr("pegasos.problems.linear.LARGE", 1.0)
    asked = []
    monkeypatch.setattr(native, "neighbours_alike", lambda *_: bool(asked.append(1)))
    rows, y = scipy.sparse.csr_matrix(np.ones((3, 12_000))), [0, 1, 0]
    assert "blocks" not in LinearSVC(solver=solver, max_iter=1, tol=0, random_state=0).fit(rows, y).certificate_.solver
    assert not asked
    LinearSVC(solver=solver, max_iter=1, tol=0, random_state=0).fit(rows[:, :9_000], y)
    assert asked


def test_auto_means_the_same_by_tol(text):
    for tol in (0.1, 1e-4):
        chosen, given = (LinearSVC(solver=solver, tol=tol).fit(*text).certificate_ for solver in ("auto", "sdca"))
        assert max(chosen.gap, given.gap) <= tol


@any_storage
def test_neighbours_alike(storage):
    """Rows that follow each other are compared with rows that do not."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(2000, 8)) + 3 * (np.arange(2000) >= 1000)[:, None]  # two groups, one after the other
    y = np.ones(2000)

    def ask(order, seed=0):
        problem = Problem(rows[order], y, np.ones(2000), 1.0)
        return native.neighbours_alike(native.Problem(problem.rows(storage), y, problem.s, 1.0, "hinge"), seed)

    for seed in range(5):
        assert ask(np.arange(2000), seed)
        assert not ask(np.random.default_rng(seed).permutation(2000), seed)


def test_neighbours_of_few_or_empty_rows():
    for m in (1, 2, 5):
        problem = Problem(np.zeros((m, 3)), np.ones(m), np.ones(m), 1.0)
        assert not native.neighbours_alike(native.Problem(problem.rows(), problem.y, problem.s, 1.0, "hinge"), 0)
