"""Several fits at a time, in threads: the core works without Python's lock."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from pegasos.base.checkpoint import Runs
from pegasos.base.progress import Passing, Progress

Result = TypeVar("Result")

#: The share of `max_time` for which problems that fell short are worth another try.
LEFT = 0.05


class Stopped(KeyboardInterrupt):
    """Another of the fits failed, or the user interrupted."""


class Stopper(Passing):
    """Ends a fit when told to, as the main thread alone hears of Ctrl-C; else tells another listener."""

    def __init__(self, stop: threading.Event, progress: Progress, runs: Runs | None) -> None:
        super().__init__(progress)
        self.stop, self.runs = stop, runs

    def progressed(self, epoch: float, seconds: float) -> None:
        if self.stop.is_set():
            raise Stopped
        super().progressed(epoch, seconds)

    def part(self, name: str, number: int, of: int) -> "Stopper":
        return Stopper(self.stop, self.progress.part(name, number, of), self.runs)


def run_all(
    works: Sequence[tuple[Callable[[Progress], Result], Progress]],
    n_jobs: int,
    cut_short: Callable[[Result], bool] | None = None,
    instead: Callable[[int], Result] | None = None,
) -> list[Result]:
    """What each work returns, given its listener; `n_jobs` of them at a time. An error or Ctrl-C ends them all.

    Where works may return after Ctrl-C, to be kept, `cut_short` tells of what they returned whether they did. Those
    that have not returned then have what `instead` makes for their number. Without it all must have returned, as some
    without a result are of no use: the KeyboardInterrupt says so.
    """
    count, results = len(works), dict[int, Result]()
    stop, failures, waiting = threading.Event(), deque[BaseException](), deque(range(count))

    def run_one(number: int) -> None:
        work, progress = works[number]
        results[number] = work(Stopper(stop, progress, progress.runs and progress.runs.part(number)))

    def all_results() -> list[Result]:
        """Those of works that Ctrl-C ended, or kept from their turn, too."""
        made = {} if instead is None else {k: instead(k) for k in range(count) if k not in results}
        return [results[k] if k in results else made[k] for k in range(count)]

    if n_jobs == 1:
        for number in range(count):
            if cut_short and results and cut_short(results[number - 1]):
                if instead is None:
                    raise KeyboardInterrupt(_incomplete(number, count))
                break
            try:
                run_one(number)
            except KeyboardInterrupt:
                if instead is None:
                    raise
                break
        return all_results()

    begun, ended, ends = set[int](), set[int](), queue.SimpleQueue[int]()

    def run(thread: int) -> None:
        begun.add(thread)
        try:
            while not stop.is_set():
                try:
                    number = waiting.popleft()
                except IndexError:
                    return
                run_one(number)
        except BaseException as error:
            failures.append(error)
            stop.set()
        finally:
            ended.add(thread)
            ends.put(thread)

    # Daemons, so that a fit on a daemon thread does not keep the interpreter from its exit.
    threads = [threading.Thread(target=run, args=[k], daemon=True) for k in range(min(n_jobs, count))]
    try:
        for thread in threads:
            thread.start()
        _wait(range(len(threads)), ended, ends)
    except BaseException as error:
        stop.set()
        _wait(begun.copy(), ended, ends)  # one that begins later finds that it has to stop
        works = ()  # Python may keep a thread whose start was interrupted, which shall hold no data
        made = instead is not None and isinstance(error, KeyboardInterrupt)
        if cut_short is None or (len(results) < count and not made):
            if cut_short and any(map(cut_short, results.values())):
                raise KeyboardInterrupt(_incomplete(len(results), count)) from None
            raise
    for failure in failures:
        if instead is None or not isinstance(failure, KeyboardInterrupt):
            raise failure
    return all_results()


def _incomplete(count: int, of: int) -> str:
    return f"interrupted when {count} of {of} problems had a point: a model needs them all, and nothing is kept"


def _wait(threads: Collection[int], ended: set[int], ends: "queue.SimpleQueue[int]") -> None:
    """Wait until these threads have ended, each of which tells of its end.

    `Thread.join` of Python 3.11 takes a thread for ended where Ctrl-C comes while it waits. A short time at once: some
    libraries (polars) set a handler of signals after which the system goes on waiting, and Python would not hear of it.
    """
    while not ended.issuperset(threads):
        with suppress(queue.Empty):
            ends.get(timeout=0.05)


class TimeShare:
    """Divides a time limit among problems that wait for their turn, so that the last ones have some of it too.

    What the problems so far took beyond their shares, on average, is taken off the next one's.
    """

    def __init__(self, max_time: float | None, waiting: int, n_jobs: int) -> None:
        self.max_time = None if max_time is None else float(max_time)
        self.waiting = waiting
        self.n_jobs = n_jobs
        self.beyond = 0.0
        self.limits: dict[int, float] = {}  # of the last problem of each thread
        self.lock = threading.Lock()

    def limit(self, elapsed: float) -> float | None:
        """When the next one must end, in seconds from the start of the fit. The last one of this thread is over."""
        with self.lock:
            turns = -(-self.waiting // self.n_jobs)
            self.waiting -= 1
            if self.max_time is None:
                return None
            thread = threading.get_ident()
            if thread in self.limits:
                self.beyond += 0.2 * (max(elapsed - self.limits[thread], 0.0) - self.beyond)
            share = max(self.max_time - elapsed, 0.0) / turns
            self.limits[thread] = elapsed + max(share - self.beyond, 0.0)
            return self.limits[thread]


def finish_short(
    find_short: Callable[[], Sequence[int]],
    go_on: Callable[[Sequence[int]], None],
    max_time: float | None,
    elapsed: Callable[[], float],
) -> None:
    """In what is left of the time, let the problems go on whose share of it was too short, by their numbers.

    The shares of `TimeShare` are soft this way, and the end of the whole is hard: none is given up while there is time.
    """
    while max_time is not None and max_time - elapsed() > LEFT * max_time:
        short = find_short()
        if not short:
            return
        go_on(short)
