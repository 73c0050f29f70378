"""Workers and schedulers that go away in the middle of a fit on Dask: it ends, certified or with a clear error."""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

pytest.importorskip("distributed")

import dask
import distributed
import psutil  # of distributed

from pegasos import LinearSVC
from pegasos.base import clock
from pegasos.dask import LinearSVC as SpreadLinearSVC
from pegasos.dask.client import Line, SchedulerLost
from pegasos.dask.group import DaskGroup


def make_part(number):
    random = np.random.default_rng(number)
    X = random.normal(size=(300, 10))
    return X, np.where(X @ np.arange(10.0) + 5 * random.normal(size=300) > 0, 1, -1)


def parts(count=4):
    return [dask.delayed(make_part, nout=2, pure=True)(number) for number in range(count)]


def objective(model, count=4):
    X, y = (np.concatenate(arrays) for arrays in zip(*map(make_part, range(count)), strict=True))
    w = np.append(model.coef_[0], model.intercept_[0])
    return w @ w / 2 + model.C * np.maximum(0, 1 - y * (X @ model.coef_[0] + model.intercept_[0])).sum(), (X, y)


@pytest.fixture(autouse=True)
def busy_machine(monkeypatch):
    """A scheduler on one takes long to import what it is sent."""
    monkeypatch.setattr(Line, "TIMEOUT", 300.0)


@pytest.fixture
def at_call(monkeypatch):
    """Do something right before calls of the workers, by their numbers; it may return how much to hasten the wait."""

    def arrange(numbers, action):
        calls, call = [], DaskGroup.call

        def counted(self, messages, seconds):
            calls.append(None)
            haste = action(self) if len(calls) in numbers else None
            return call(self, messages, seconds / (haste or 1))

        monkeypatch.setattr(DaskGroup, "call", counted)

    return arrange


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of two workers with nannies, which start a worker again that was killed."""
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=300)
        yield client


@contextlib.contextmanager
def processes(tmp_path, n_workers):
    """A scheduler and workers without nannies, each a process; yields the scheduler's process and a client."""
    file = tmp_path / "scheduler.json"
    here = Path(__file__).parent  # where make_part is, and in the folder above what it imports
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent), *filter(None, before)])}
    with contextlib.ExitStack() as stack:

        def start(*command):
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen([sys.executable, "-m", *command], env=environment, **silent)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        address = ["--scheduler-file", str(file)]
        scheduler = start("distributed.cli.dask_scheduler", *address, "--port", "0", "--dashboard-address", ":0")
        for _ in range(n_workers):
            start("distributed.cli.dask_worker", *address, "--no-nanny", "--nthreads", "1", "--no-dashboard")
        for _ in range(600):
            with contextlib.suppress(OSError, json.JSONDecodeError):
                json.loads(file.read_text())
                break
            time.sleep(0.05)
        client = distributed.Client(scheduler_file=str(file), timeout=120)
        stack.callback(client.close, timeout=1)
        client.wait_for_workers(n_workers, timeout=300)
        yield scheduler, client


def fit_in_time(model, seconds=300, data=None):
    """Fit in a thread that must end; return what it raised."""
    raised = []

    def fit():
        try:
            model.fit(parts() if data is None else data)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=fit, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "the fit hangs"
    return raised[0] if raised else None


def assert_certified(model):
    value, (X, y) = objective(model)
    found = model.certificate_
    assert found.converged
    assert found.primal == pytest.approx(value, rel=1e-9)
    one = LinearSVC(C=model.C, tol=1e-6, solver="interior-point").fit(X, y).certificate_
    assert one.dual <= found.primal <= one.primal * (1 + model.tol)
    assert found.dual <= one.primal


def process_of_one(group):
    """The process of the first member."""
    worker = group.members[0][0]
    return psutil.Process(group.client.run(os.getpid, workers=[worker])[worker])


def kill_one(group):
    process_of_one(group).kill()


@pytest.mark.parametrize("call", [1, 4])
def test_a_worker_is_killed_and_comes_back(client, at_call, monkeypatch, call):
    monkeypatch.setattr(Line, "PERIOD", 0.0)
    at_call([call], kill_one)
    at_call([call + 8], lambda group: group.client.wait_for_workers(2, timeout=300))
    model = SpreadLinearSVC(C=0.01, tol=1e-6, local_epochs=0.5, random_state=0)
    model.client = client
    assert fit_in_time(model) is None
    assert model.recoveries_ >= 1
    assert model.rounds_ > call + 8
    assert "of 2 workers" in model.certificate_.solver
    assert_certified(model)


def test_a_worker_hangs_under_max_time(client, at_call, monkeypatch):
    """The fit ends while it hangs."""
    monkeypatch.setattr(clock, "read", lambda: 0.0)  # so that no time is used up before
    stopped = []

    def stop_one(group):
        stopped.append(process_of_one(group))
        stopped[0].suspend()
        return 50

    at_call([40], stop_one)
    model = SpreadLinearSVC(C=1.0, tol=1e-12, max_iter=10**6, local_epochs=0.5, max_time=60, random_state=0)
    model.client = client
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            assert fit_in_time(model) is None
        assert stopped[0].status() == psutil.STATUS_STOPPED
    finally:
        for process in stopped:
            process.resume()
    assert model.certificate_.reason == "max_time"
    assert model.certificate_.primal == pytest.approx(objective(model)[0], rel=1e-9)
    assert model.certificate_.dual > 0


def make_changing(number, file):
    X, y = make_part(number)
    X[1, 1] += 1e-9 * Path(file).exists()
    return X, y


def test_a_partition_is_not_the_same_again(client, at_call, tmp_path):
    def change(group):
        (tmp_path / "changed").touch()
        kill_one(group)

    at_call([4], change)
    model = SpreadLinearSVC(C=1.0, tol=1e-12, local_epochs=0.5, random_state=0)
    model.client = client
    data = [dask.delayed(make_changing, nout=2, pure=True)(number, str(tmp_path / "changed")) for number in range(4)]
    error = fit_in_time(model, data=data)
    assert isinstance(error, ValueError)
    assert re.match(r"partition \d was lost with its worker and is not the same", str(error))


def test_workers_are_killed_one_by_one_then_none_is_left(tmp_path, at_call):
    with processes(tmp_path, 2) as (_, client):
        at_call([3, 8], kill_one)
        model = SpreadLinearSVC(C=1.0, tol=1e-12, local_epochs=0.5, timeout=1, random_state=0)
        model.client = client
        error = fit_in_time(model)
        assert isinstance(error, RuntimeError)
        assert "the Dask cluster has had no workers for 1 s" in str(error)


def test_the_scheduler_is_lost(tmp_path, at_call):
    with processes(tmp_path, 1) as (scheduler, client):
        at_call([3], lambda group: scheduler.kill())
        model = SpreadLinearSVC(C=1.0, tol=1e-12, local_epochs=0.5, random_state=0)
        model.client = client
        error = fit_in_time(model)
        assert isinstance(error, SchedulerLost)
        assert "scheduler at tcp://" in str(error)
        assert "was lost during the fit" in str(error)


def test_scattered_data_cannot_be_made_again(client, at_call):
    at_call([3], kill_one)
    workers = list(client.scheduler_info()["workers"])  # both have some, whichever the scheduler would choose
    data = [client.scatter(make_part(number), workers=workers[number % 2]) for number in range(4)]
    pairs = [dask.delayed(part) for part in data]
    del data
    model = SpreadLinearSVC(C=1.0, tol=1e-12, local_epochs=0.5, random_state=0)
    with pytest.raises(RuntimeError, match="was lost with its worker and cannot be made again"):
        model.fit([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def test_there_is_no_client():
    with pytest.raises(ValueError, match=r"there is no Dask client; make one .* distributed.Client\(\)"):
        SpreadLinearSVC().fit(parts())
