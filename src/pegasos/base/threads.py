"""Several fits at a time, in threads: the core works without Python's lock."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from pegasos.base.progress import Progress

Result = TypeVar("Result")


class Stopped(KeyboardInterrupt):
    """Another of the fits failed, or the user interrupted."""


class Stopper(Progress):
    """Ends a fit when told to, as the main thread alone hears of Ctrl-C; else tells another listener."""

    def __init__(self, stop: threading.Event, progress: Progress) -> None:
        self.stop = stop
        self.progress = progress

    def checked(self, seconds: float, epoch: float, primal: float, dual: float) -> None:
        self.progress.checked(seconds, epoch, primal, dual)

    def progressed(self, epoch: float, seconds: float) -> None:
        if self.stop.is_set():
            raise Stopped
        self.progress.progressed(epoch, seconds)

    def part(self, name: str, of: int) -> "Stopper":
        return Stopper(self.stop, self.progress.part(name, of))

    def close(self) -> None:
        self.progress.close()


def run_all(
    works: Sequence[tuple[Callable[[Progress], Result], Progress]],
    n_jobs: int,
    cut_short: Callable[[Result], bool] = lambda _: False,
) -> list[Result]:
    """What each work returns, given its listener; `n_jobs` of them at a time. An error or Ctrl-C ends them all.

    Where works may return after Ctrl-C, `cut_short` tells of what they returned whether they did. All must have, as
    some without a result are of no use.
    """
    results: list[Result] = []
    for work, progress in works if n_jobs == 1 else ():
        if results and cut_short(results[-1]):
            raise KeyboardInterrupt
        results.append(work(progress))
    if n_jobs == 1:
        return results
    stop = threading.Event()

    def run(work: Callable[[Progress], Result], progress: Progress) -> Result:
        if stop.is_set():
            raise Stopped
        return work(Stopper(stop, progress))

    with ThreadPoolExecutor(min(n_jobs, len(works))) as pool:
        futures = [pool.submit(run, work, progress) for work, progress in works]
        try:
            for future in as_completed(futures):
                future.result()  # raises what it raised
        except BaseException as error:
            stop.set()
            if isinstance(error, KeyboardInterrupt):
                wait(futures)
                if all(future.exception() is None for future in futures):
                    return [future.result() for future in futures]
            pool.shutdown(cancel_futures=True)
            raise
        return [future.result() for future in futures]


class TimeShare:
    """Divides a time limit among problems that wait for their turn, so that the last ones have some of it too."""

    def __init__(self, max_time: float | None, waiting: int, n_jobs: int) -> None:
        self.max_time = max_time
        self.waiting = waiting
        self.n_jobs = n_jobs
        self.lock = threading.Lock()

    def limit(self, elapsed: float) -> float | None:
        """When the next one must end, in seconds from the start of the fit."""
        with self.lock:
            turns = -(-self.waiting // self.n_jobs)
            self.waiting -= 1
        return None if self.max_time is None else elapsed + max(self.max_time - elapsed, 0.0) / turns
