"""The workers of a Dask cluster as the group of a distributed fit: blocks are futures that stay where they are."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import dask
import distributed

from pegasos.dask.client import Line
from pegasos.distributed import Lost, Message, Reply, Survey, serve, survey

__all__ = ["DaskGroup"]


class DaskGroup:
    """Members are threads of Dask workers, each with blocks that its worker holds.

    A worker that dies takes its blocks with it. The scheduler makes them again from what they were made of, on a worker
    that is left or has joined; their dual variables begin at zero.

    Parameters
    ----------
    client : distributed.Client
    blocks : list of Delayed
        Each makes a `Block`.
    timeout : float
        Seconds without any worker until a fit fails.
    """

    def __init__(self, client: Any, blocks: Sequence[Any], timeout: float) -> None:
        self.line = Line(client)
        self.client, self.timeout = client, timeout
        self.blocks = client.compute(list(blocks), sync=False)
        self.members: list[tuple[str, list[Any]]] = []
        self._calls = 0
        self.recover()

    def __len__(self) -> int:
        return len(self.members)

    def recover(self) -> None:
        """Wait until all blocks are there, and share out those of each worker among its threads."""
        alone: list[float] = []

        def look() -> None:
            if self.line.threads():
                alone.clear()
                return
            alone.append(time.monotonic())
            if alone[-1] - alone[0] > self.timeout:
                raise RuntimeError(
                    f"the Dask cluster has had no workers for {self.timeout:g} s, so the fit cannot go on; start some, "
                    "and fit again, or raise timeout"
                )

        while True:
            self.line.wait(lambda: distributed.client._wait(self.blocks, timeout=None), look)
            self._raise_errors()
            threads = self.line.threads()
            places = self.line.ask(lambda: self.client.scheduler.who_has(keys=[block.key for block in self.blocks]))
            holders = [[worker for worker in places.get(block.key, ()) if worker in threads] for block in self.blocks]
            if all(holders):
                self.members = _share_out(self.blocks, holders, threads)
                return
            look()
            time.sleep(0.1)  # the scheduler is about to make them again

    def _raise_errors(self) -> None:
        for number, block in enumerate(self.blocks):
            if block.status == "error":
                error = block.exception()
                if isinstance(error, distributed.scheduler.KilledWorker):
                    raise RuntimeError(
                        f"partition {number} was on workers that died, several times: {error}; look at their memory"
                    ) from error
                raise error
            if block.status in ("cancelled", "lost"):
                self.line.check()
                raise RuntimeError(
                    f"partition {number} was lost with its worker and cannot be made again; data that were scattered "
                    "from the client have nothing to be made from: load them on the workers (dask.delayed)"
                )

    def survey(self, machine: Any) -> list[Survey]:
        """What all blocks hold."""
        for _ in range(10):
            try:
                found = self._run(survey, [machine] * len(self))
                return sorted(sum(found, []), key=lambda one: one.number)
            except Lost:
                self.recover()
        raise RuntimeError("workers were lost ten times while they looked at their data; look at their memory")

    def call(self, messages: Sequence[Message]) -> list[Reply]:
        return self._run(serve, messages)

    def _run(self, function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """What the function returns for each member's blocks and its argument; `Lost` where a worker is gone."""
        self.line.check()
        self._calls += 1
        # Vectors in a task are what it is about; Dask would warn of the larger ones.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            futures = [
                self.client.submit(
                    function, blocks, argument, workers=[worker], allow_other_workers=False, pure=False, retries=0
                )
                for (worker, blocks), argument in zip(self.members, arguments, strict=True)
            ]
        try:
            found = self.line.wait(
                lambda: self.client.gather(futures, errors="skip", asynchronous=True), lambda: self._look(futures)
            )
            if len(found) < len(futures):
                self.line.check()
                self._explain(futures)
            return list(found)
        except OSError as error:
            self.line.check()
            raise Lost(str(error)) from error
        finally:
            for future in futures:
                future.release()

    def _explain(self, futures: Sequence[Any]) -> NoReturn:
        """Raise what a task raised, or `Lost` where that is the worker's end."""
        for future in futures:
            error = future.exception(timeout=self.line.PATIENCE) if future.status == "error" else None
            if error is not None and not isinstance(error, distributed.scheduler.KilledWorker | OSError):
                raise error
        raise Lost("a worker was lost with what it did")

    def _look(self, futures: Sequence[Any]) -> None:
        """Raise `Lost` where a worker is gone that has not answered."""
        there = self.line.threads()
        for (worker, _), future in zip(self.members, futures, strict=True):
            if worker not in there:
                raise Lost(f"the worker {worker} is gone")

    def close(self) -> None:
        """Let go of the blocks."""
        for block in self.blocks:
            block.release()


def _share_out(
    blocks: Sequence[Any], holders: Sequence[Sequence[str]], threads: dict[str, int]
) -> list[tuple[str, list[Any]]]:
    """The members: a block goes to the holder that has the fewest for each of its threads."""
    held: dict[str, list[Any]] = {}
    for block, places in zip(blocks, holders, strict=True):
        worker = min(places, key=lambda place: (len(held.get(place, ())) / max(threads[place], 1), place))
        held.setdefault(worker, []).append(block)
    members = []
    for worker in sorted(held):
        count = min(max(threads[worker], 1), len(held[worker]))
        members += [(worker, held[worker][k::count]) for k in range(count)]
    return members
