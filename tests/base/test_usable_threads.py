"""How many threads a fit has where nobody says: processors, quotas, and what others leave (pegasos/_threads.py)."""

import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import joblib
import pytest
import threadpoolctl

from pegasos import LinearSVC, _cgroups, _threads
from pegasos._threads import count_threads, usable_threads
from pegasos.datasets import make_text
from pegasos.solvers import auto


@pytest.fixture
def many(monkeypatch):
    """A machine of 64 processors without limits."""
    monkeypatch.setattr(_threads, "_processors", lambda: 64)
    monkeypatch.setattr(_threads, "_quotas", lambda: _threads._quotas_at.__wrapped__(0))  # as they are now
    monkeypatch.setattr(_cgroups, "MEMBERSHIP", "/none")
    for name in _threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def groups(many, monkeypatch, tmp_path):
    """Put the process into control groups, with files."""

    def make(membership, files):
        (tmp_path / "membership").write_text(membership)
        for name, text in files.items():
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.setattr(_cgroups, "MEMBERSHIP", str(tmp_path / "membership"))
        monkeypatch.setattr(_cgroups, "ROOT", str(tmp_path / "root"))

    return make


V1 = "4:memory:/m\n3:cpu,cpuacct:/a/b\n0::/\n"


@pytest.mark.parametrize(
    ("membership", "files", "threads"),
    [
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 3),
        ("0::/\n", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/a/b\n", {"cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n", "a/b/cpu.max": "500000 100000\n"}, 3),
        ("0::/a/b\n", {"cpu.max": "700000 100000\n"}, 7),  # of a container: its own group is the root of what it sees
        ("0::/../a\n", {"cpu.max": "700000 100000\n"}, 7),
        ("0::/\n", {"cpu.max": "broken\n"}, 64),
        ("0::/\n", {}, 64),
        (V1, {"cpu/a/b/cpu.cfs_quota_us": "-1\n", "cpu/a/b/cpu.cfs_period_us": "100000\n"}, 64),
        (V1, {"cpu/a/b/cpu.cfs_quota_us": "400000\n", "cpu/a/b/cpu.cfs_period_us": "100000\n"}, 4),
        (V1, {"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1),
        (V1, {"cpu/a/b/cpu.cfs_quota_us": "400000\n"}, 64),
    ],
)
def test_quotas_of_control_groups(groups, membership, files, threads):
    groups(membership, files)
    assert usable_threads() == count_threads(-1) == threads
    assert count_threads(5) == 5  # is taken at its word


@pytest.mark.parametrize("name", _threads.VARIABLES)
@pytest.mark.parametrize(
    ("text", "threads"), [("3", 3), (" 4 , 2", 4), ("100", 64), ("0", 64), ("-1", 64), ("", 64), ("all", 64), ("²", 64)]
)
def test_variables(many, monkeypatch, name, text, threads):
    monkeypatch.setenv(name, text)
    assert usable_threads() == count_threads(-1) == threads


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_affinity():
    script = "import os; from pegasos._threads import usable_threads\n"
    script += "os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1]); print(usable_threads())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "1\n"


def test_threadpoolctl(many):
    with threadpoolctl.threadpool_limits(3):
        assert usable_threads() == count_threads(-1) == 3
        with threadpoolctl.threadpool_limits(2, user_api="pegasos"):
            assert usable_threads() == 2
        with threadpoolctl.threadpool_limits(1, user_api="blas"):
            assert usable_threads() == 3
    assert usable_threads() == 64
    with threadpoolctl.threadpool_limits(100):
        assert usable_threads() == 64
    (told,) = [one for one in threadpoolctl.threadpool_info() if one["user_api"] == "pegasos"]
    assert told["num_threads"] == 64


def test_a_fit_keeps_to_it(many, monkeypatch):
    monkeypatch.setattr(auto, "ENTRIES_PER_THREAD", 1.0)
    X, y = make_text(2000, 1000, random_state=0)
    for n_jobs in (None, -1):
        with threadpoolctl.threadpool_limits(2):
            assert "with n_jobs=2," in LinearSVC(n_jobs=n_jobs).fit(X, y).certificate_.solver


def test_threads_of_joblib_have_one_each(many):
    with joblib.parallel_config("threading", n_jobs=2):
        assert usable_threads() == 64
        assert joblib.Parallel()(joblib.delayed(usable_threads)() for _ in range(4)) == [1] * 4
        assert joblib.Parallel(n_jobs=1)(joblib.delayed(usable_threads)() for _ in range(2)) == [64] * 2
    other = []
    thread = threading.Thread(target=lambda: other.append(usable_threads()))
    thread.start()
    thread.join()
    assert other == [64]


@pytest.mark.parametrize("inner", [None, 3])
def test_processes_of_joblib_share_the_processors(inner):
    """As joblib tells them in a variable."""
    with joblib.parallel_config("loky", n_jobs=2, **({} if inner is None else {"inner_max_num_threads": inner})):
        found = joblib.Parallel()(joblib.delayed(usable_threads)() for _ in range(4))
    share = max(joblib.cpu_count() // 2, 1) if inner is None else inner
    assert found == [min(share, usable_threads())] * 4


def test_quotas_are_looked_at_now_and_then(monkeypatch):
    looks, folders = [], _cgroups.folders
    monkeypatch.setattr(_cgroups, "folders", lambda controller: looks.append(controller) or folders(controller))
    _threads._quotas_at.cache_clear()
    for moment in (0.0, 1.0, 9.0, 10.5, 19.0):
        monkeypatch.setattr(_threads, "time", SimpleNamespace(monotonic=lambda moment=moment: moment))
        usable_threads()
    assert looks == ["cpu"] * 2
