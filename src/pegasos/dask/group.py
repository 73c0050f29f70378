"""The workers of a Dask cluster as the group of a distributed fit: blocks are futures that stay where they are."""

import asyncio
import concurrent.futures
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import dask
import distributed

from pegasos.dask.client import Line
from pegasos.linear.distributed.block import Block, serve, survey
from pegasos.linear.distributed.drive import Lost
from pegasos.linear.distributed.plan import Message, Reply, Survey


class DaskGroup:
    """Members are threads of Dask workers, each with blocks that its worker holds.

    A worker that dies takes its blocks with it. The scheduler makes them again from what they were made of, on a worker
    that is left or has joined; their dual variables begin at zero.

    Parameters
    ----------
    client : distributed.Client
    parts : list of tuple
        X, y and weights of each partition: delayed X, the others delayed, an array, or None.
    timeout : float
        Seconds without any worker until a fit fails.
    """

    def __init__(self, client: Any, parts: Sequence[tuple[Any, Any, Any]], timeout: float) -> None:
        self.line = Line(client)
        self.client, self.timeout = client, timeout
        self.members: list[tuple[str, list[Any]]] = []
        self.blocks: list[Any] = []
        self._make_blocks(parts)
        self.recover()

    def _make_blocks(self, parts: Sequence[tuple[Any, Any, Any]]) -> None:
        """A block of each partition, where its X is: Dask itself would weigh moving it against waiting."""
        delayed = {(k, j) for k, part in enumerate(parts) for j in range(3) if dask.is_dask_collection(part[j])}
        places = sorted(delayed)
        futures = dict(zip(places, self.client.compute([parts[k][j] for k, j in places]), strict=True))
        rows = [futures[k, 0] for k in range(len(parts))]
        holders, _ = self._settle(rows)
        for k, part in enumerate(parts):
            values = [futures.get((k, j), part[j]) for j in range(3)]
            self.blocks.append(
                self.client.submit(Block, k, *values, workers=holders[k], allow_other_workers=True, pure=False)
            )

    def __len__(self) -> int:
        return len(self.members)

    def recover(self) -> None:
        """Wait until all blocks are there, and share out those of each worker among its threads."""
        self.members = _share_out(self.blocks, *self._settle(self.blocks))

    def _settle(self, futures: Sequence[Any]) -> tuple[list[list[str]], dict[str, int]]:
        """Wait until all are there: the workers that hold each, and the threads of each worker."""
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

        keys = [future.key for future in futures]
        while True:
            # Those that are cancelled, or were lost with what they were made of, are told of below.
            with contextlib.suppress(concurrent.futures.CancelledError):
                # What `distributed.wait` is for a client that is not asynchronous, without its waiting for ever.
                self.line.wait(lambda: distributed.client._wait(futures, timeout=None), look)  # noqa: SLF001
            self._raise_errors(futures)
            threads = self.line.threads()
            places = self.line.ask(lambda: self.client.scheduler.who_has(keys=keys))
            holders = [[worker for worker in places.get(key, ()) if worker in threads] for key in keys]
            if all(holders):
                return holders, threads
            look()
            time.sleep(0.1)  # the scheduler is about to make them again

    def _raise_errors(self, futures: Sequence[Any]) -> None:
        for number, future in enumerate(futures):
            if future.status == "error":
                error = future.exception(timeout=self.line.PATIENCE)
                if isinstance(error, distributed.scheduler.KilledWorker):
                    raise RuntimeError(
                        f"partition {number} was on workers that died, several times: {error}; look at their memory"
                    ) from error
                raise error
            if future.status in ("cancelled", "lost"):
                self.line.check()
                raise RuntimeError(
                    f"partition {number} was lost with its worker and cannot be made again; data that were scattered "
                    "from the client have nothing to be made from: load them on the workers (dask.delayed)"
                )

    def survey(self, machine: Any) -> list[Survey]:
        """What all blocks hold."""
        for _ in range(10):
            try:
                found = self._submit(survey, [machine] * len(self))
                return sorted(itertools.chain(*found), key=lambda one: one.number)
            except Lost:
                self.recover()
        raise RuntimeError("workers were lost ten times while they looked at their data; look at their memory")

    def describe(self) -> str:
        """A sentence on uneven columns, from a block of each member; "" where there are none, or a worker is lost."""
        try:
            return next(filter(None, self._submit(_describe, [None] * len(self))), "")
        except Lost:
            return ""

    def call(self, messages: Sequence[Message]) -> list[Reply]:
        """Beside the task graph: through that, a vector takes several times as long."""
        self.line.check()

        async def send() -> list[dict[str, Reply]]:
            calls = [
                self.client.run(
                    _serve_here, [block.key for block in blocks], message, workers=[worker], asynchronous=True
                )
                for (worker, blocks), message in zip(self.members, messages, strict=True)
            ]
            return await asyncio.gather(*calls)

        try:
            answers = self.line.wait(send, self._look)
        except OSError as error:
            self.line.check()
            raise Lost(str(error)) from error
        return [answer[worker] for (worker, _), answer in zip(self.members, answers, strict=True)]

    def _submit(self, function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """What the function returns for each member's blocks and its argument; `Lost` where a worker is gone."""
        self.line.check()
        # Vectors in a task are what it is about; Dask would warn of the larger ones.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            futures = [
                self.client.submit(
                    function, blocks, argument, workers=[worker], allow_other_workers=False, pure=False, retries=0
                )
                for (worker, blocks), argument in zip(self.members, arguments, strict=True)
            ]
        try:
            found = self.line.wait(lambda: self.client.gather(futures, errors="skip", asynchronous=True), self._look)
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

    def _look(self) -> None:
        """Raise `Lost` where a worker is gone."""
        there = self.line.threads()
        for worker, _ in self.members:
            if worker not in there:
                raise Lost(f"the worker {worker} is gone")

    def close(self) -> None:
        """Let go of the blocks."""
        for block in self.blocks:
            block.release()


def _describe(blocks: Sequence[Block], _: None) -> str:
    return blocks[0].describe()


async def _serve_here(keys: Sequence[str], message: Message, dask_worker: Any) -> Reply:
    """Serve with the blocks of these keys, on a thread of the worker's own, one of those that tasks run on."""
    if any(key not in dask_worker.data for key in keys):
        return Reply(stale=True)  # moved, or lost
    blocks = [dask_worker.data[key] for key in keys]
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(dask_worker.executors["default"], serve, blocks, message)


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
