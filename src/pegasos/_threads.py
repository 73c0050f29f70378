"""How many threads to use: no more than this process has processors, and than others leave to it."""

import functools
import math
import multiprocessing
import os
import threading
import time
from importlib.metadata import version

import threadpoolctl
from joblib.parallel import get_active_backend

from pegasos import _cgroups, _core

#: Environment variables that limit threads. In the processes of joblib's loky the first is their share.
VARIABLES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
#: How long quotas are taken for what they were: to look at them takes as long as a small prediction.
SECONDS_OF_QUOTAS = 10.0
#: How often the process was forked since it imported this.
_forks = 0


def usable_threads() -> int:
    """Threads that a fit or a prediction should have at most, unless `n_jobs` is a number of them."""
    return 1 if _is_crowded() else int(min(_Control.limit, _allowed()))


def count_threads(n_jobs: int | None) -> int | None:
    """`n_jobs` as a number of threads; None stays None."""
    if n_jobs is not None and not (n_jobs == -1 or 1 <= n_jobs <= 1024):
        raise ValueError(
            f"n_jobs={n_jobs}: must be a number of threads from 1 to 1024, or None, or -1 for as many as there are "
            "processors"
        )
    if n_jobs is None:
        return None
    return usable_threads() if n_jobs == -1 else int(n_jobs)  # of NumPy's, too, which wrap around


def _allowed() -> int:
    """The least of the processors this process may run on, its quota of their time, and what variables say."""
    return max(min([_processors(), *_quotas(), *_given()]), 1)


def _processors() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13, where PYTHON_CPU_COUNT counts too
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas() -> list[int]:
    return _quotas_at(time.monotonic() // SECONDS_OF_QUOTAS)


@functools.lru_cache(maxsize=1)
def _quotas_at(moment: float) -> list[int]:
    """Processors whose time each control group may use, rounded up."""
    found = []
    for folder, group_version in _cgroups.folders("cpu"):
        if group_version == 2:
            text = _cgroups.read(folder, "cpu.max")
        else:
            text = f"{_cgroups.read(folder, 'cpu.cfs_quota_us')} {_cgroups.read(folder, 'cpu.cfs_period_us')}"
        quota, period = [*map(_cgroups.as_number, (text or "").split()), None, None][:2]
        if quota and period:  # there is a limit
            found.append(math.ceil(quota / period))
    return found


def _given() -> list[int]:
    """What environment variables say; of a list, for nested levels, the first counts."""
    texts = (os.environ.get(name, "").split(",")[0].strip() for name in VARIABLES)
    return [int(text) for text in texts if text.isascii() and text.isdigit() and int(text) > 0]


def _is_crowded() -> bool:
    """Whether this is one of several workers of someone else, and nothing tells its share of the processors.

    Loky's processes have theirs in a variable, and run tasks on their main threads. A process of multiprocessing that
    is no daemon may be a single one. One that was forked in another way is a worker of a server. The main thread of a
    process that nobody started is the commonest caller, and none of these: it need not ask joblib, which takes as long
    as a small prediction.
    """
    on_main_thread = threading.current_thread() is threading.main_thread()
    is_child = multiprocessing.parent_process() is not None
    if on_main_thread and not is_child and _forks == 0:
        return False
    of_joblib = (get_active_backend()[0].nesting_level or 0) > 0
    if of_joblib and not on_main_thread:
        return True
    if VARIABLES[0] in os.environ:
        return False
    of_server = _forks > 0 and not is_child
    return of_joblib or of_server or multiprocessing.current_process().daemon


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class _Control(threadpoolctl.LibController):
    """Lets `threadpoolctl.threadpool_limits` limit the core's threads as those of other libraries."""

    user_api = internal_api = "pegasos"
    filename_prefixes = tuple(f"{level}." for level in _core.LEVELS)
    check_symbols = tuple(f"PyInit_{level}" for level in _core.LEVELS)
    limit: float = math.inf

    def get_num_threads(self) -> int:
        return int(min(self.limit, _allowed()))

    def set_num_threads(self, num_threads: int) -> None:
        _Control.limit = num_threads if num_threads < _allowed() else math.inf

    def get_version(self) -> str:
        return version("pegasos")


threadpoolctl.register(_Control)
