"""The Dask client of a fit, and questions to its scheduler that are answered or fail in time."""

import asyncio
import concurrent.futures
import contextlib
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import distributed

from pegasos.linear.distributed.drive import Late


class SchedulerLost(RuntimeError):
    """The scheduler of the Dask cluster went away during a fit."""


@contextlib.contextmanager
def find_client(given: Any) -> Iterator[Any]:
    """The client given, or Dask's current one; within a task that of its worker, which may then run other tasks."""
    if given is not None and not isinstance(given, distributed.Client):
        raise TypeError(f"client={given!r}: must be a distributed.Client or None")
    if given is None:
        try:
            distributed.get_worker()
        except ValueError:
            pass
        else:
            with distributed.worker_client() as client:
                yield client
            return
    try:
        client = given if given is not None else distributed.get_client()
    except ValueError as error:
        raise ValueError(
            "there is no Dask client; make one before the fit, such as client = distributed.Client() for processes on "
            "this machine or distributed.Client(address) for a cluster"
        ) from error
    if client.asynchronous:
        raise TypeError("the Dask client is asynchronous, and a fit waits; make one with asynchronous=False")
    yield client


class Line:
    """The line to the scheduler: every wait on it ends, with an answer or an error."""

    #: Seconds between looks at the scheduler and the workers, and until a question is one too many.
    PERIOD, TIMEOUT = 1.0, 20.0

    def __init__(self, client: Any) -> None:
        self.client = client
        self._looked = time.monotonic()

    def check(self) -> None:
        """Raise `SchedulerLost` where there is no line."""
        if self.client.status != "running":
            raise SchedulerLost(
                f"the Dask scheduler at {self._address()} was lost during the fit (the client is "
                f"{self.client.status!r}); connect to a cluster again, and fit again"
            )

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return str(getattr(scheduler, "address", "its address"))

    def wait(self, make: Callable[[], Awaitable[Any]], look: Callable[[], None], seconds: float = math.inf) -> Any:
        """What the awaitable returns; `Late` after so many seconds. `look` is called now and then, and may raise."""
        self.check()

        async def answer() -> Any:
            return await make()

        task = asyncio.run_coroutine_threadsafe(answer(), self.client.loop.asyncio_loop)
        began = time.monotonic()
        try:
            while True:
                try:
                    return task.result(timeout=0.1)
                except (TimeoutError, concurrent.futures.TimeoutError):
                    if task.done():
                        raise
                except concurrent.futures.CancelledError:  # and Dask's, which derive from it
                    self.check()
                    raise
                except OSError:  # the line broke
                    time.sleep(0.2)  # until the client has noticed
                    self.check()
                    raise
                self.check()
                if time.monotonic() - began > seconds:
                    raise Late
                if time.monotonic() - self._looked > self.PERIOD:
                    look()
                    self._looked = time.monotonic()
        finally:
            if not task.done():
                task.cancel()

    def ask(self, make: Callable[[], Awaitable[Any]]) -> Any:
        """The scheduler's answer to a question that it answers at once."""
        try:
            return self.wait(make, lambda: None, self.TIMEOUT)
        except (Late, OSError) as error:
            self.check()
            raise SchedulerLost(
                f"the Dask scheduler at {self._address()} has not answered for {self.TIMEOUT:g} s; look at its log, "
                "and fit again"
            ) from error

    def threads(self) -> dict[str, int]:
        """The workers that are there, with their numbers of threads."""
        return dict(self.ask(lambda: self.client.scheduler.ncores(workers=None)))
