"""The workers of a Dask cluster as the group of a distributed fit: shards are futures that stay where they are."""

import asyncio
import concurrent.futures
import contextlib
import functools
import itertools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import dask
import distributed

from pegasos.dask.client import Line
from pegasos.linear.distributed.drive import GRACE, Late, Lost
from pegasos.linear.distributed.places import deal, level, share_out
from pegasos.linear.distributed.plan import Message, Reply, Survey
from pegasos.linear.distributed.shard import Shard, serve, survey


class DaskGroup:
    """Members are threads of Dask workers, each with shards that its worker holds.

    A worker that dies takes its shards with it. The scheduler makes them again from what they were made of, on a worker
    that is left or has joined; their dual variables begin at zero. A worker that joins is handed shards of the others.

    Parameters
    ----------
    client : distributed.Client
    parts : list of tuple
        X, y and weights of each partition: delayed X, the others delayed, an array, or None.
    timeout : float
        Seconds without any worker until a fit fails.
    repeatable : bool
        Whether partitions that no worker holds yet go to workers by their numbers, not to those that happened to load
        them.
    """

    def __init__(
        self, client: Any, parts: Sequence[tuple[Any, Any, Any]], timeout: float, repeatable: bool = False
    ) -> None:
        self.line = Line(client)
        self.client, self.timeout = client, timeout
        self.members: list[tuple[str, list[Any]]] = []
        self.shards: list[Any] = []
        self._settled: set[str] = set()  # workers that are not to be handed shards of others
        self._make_shards(parts, repeatable)
        self.recover()

    def _make_shards(self, parts: Sequence[tuple[Any, Any, Any]], repeatable: bool) -> None:
        """A shard of each partition, where its X is: Dask itself would weigh moving it against waiting."""
        keys = [key for part in parts for key in part[0].__dask_keys__()]
        held = self.line.ask(lambda: self.client.scheduler.who_has(keys=keys)) if repeatable else {}
        delayed = {(k, j) for k, part in enumerate(parts) for j in range(3) if dask.is_dask_collection(part[j])}
        places = sorted(delayed)
        futures = dict(zip(places, self.client.compute([parts[k][j] for k, j in places]), strict=True))
        rows = [futures[k, 0] for k in range(len(parts))]
        holders, threads = self._settle(rows)
        self._settled = set(threads)
        if repeatable:
            loaded = [not any(held.get(key) for key in part[0].__dask_keys__()) for part in parts]
            allowed = [sorted(threads) if new else there for new, there in zip(loaded, holders, strict=True)]
            holders = [[worker] for worker in deal(allowed, threads)]
        for k, part in enumerate(parts):
            values = [futures.get((k, j), part[j]) for j in range(3)]
            self.shards.append(
                self.client.submit(Shard, k, *values, workers=holders[k], allow_other_workers=True, pure=False)
            )

    def __len__(self) -> int:
        return len(self.members)

    def recover(self, seconds: float = math.inf) -> None:
        """Wait until all shards are there, and share out those of each worker among its threads."""
        before = {worker for worker, _ in self.members}
        self.members = share_out(self.shards, *self._settle(self.shards, seconds))
        self._settled -= before - {worker for worker, _ in self.members}  # one that comes back is
        self._balanced = time.monotonic()

    def balance(self, seconds: float) -> bool:
        """Move shards, with their dual variables, to workers that joined."""
        if time.monotonic() - self._balanced < self.line.PERIOD:
            return False
        threads = self.line.threads()
        joined, self._balanced = threads.keys() - self._settled, time.monotonic()
        places = {shard.key: worker for worker, shards in self.members for shard in shards}
        if not joined or not threads.keys() >= set(places.values()):
            return False  # a loss is noticed in the next round
        self._settled |= joined
        moves = level([places[shard.key] for shard in self.shards], joined, threads)
        for number, worker in moves.items():
            self.shards[number] = self.client.submit(
                _hand_over, self.shards[number], workers=[worker], allow_other_workers=True, pure=False
            )
        if moves:
            self.members = share_out(self.shards, *self._settle(self.shards, seconds))
        return bool(moves)

    def _settle(self, futures: Sequence[Any], seconds: float = math.inf) -> tuple[list[list[str]], dict[str, int]]:
        """Wait until all are there: the workers that hold each, and the threads of each worker."""
        alone: list[float] = []
        began = time.monotonic()

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
                waiting = functools.partial(distributed.client._wait, futures, timeout=None)  # noqa: SLF001
                self.line.wait(waiting, look, began + seconds - time.monotonic())
            self._raise_errors(futures)
            threads = self.line.threads()
            places = self.line.ask(lambda: self.client.scheduler.who_has(keys=keys))
            holders = [[worker for worker in places.get(key, ()) if worker in threads] for key in keys]
            if all(holders):
                return holders, threads
            if time.monotonic() - began > seconds:
                raise Late
            look()
            time.sleep(0.1)  # the scheduler is about to make them again

    def _raise_errors(self, futures: Sequence[Any]) -> None:
        for number, future in enumerate(futures):
            if future.status == "error":
                error = future.exception(timeout=self.line.TIMEOUT)
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
        """What all shards hold."""
        for _ in range(10):
            try:
                found = self._submit(survey, [machine] * len(self))
                return sorted(itertools.chain(*found), key=lambda one: one.number)
            except Lost:
                self.recover()
        raise RuntimeError("workers were lost ten times while they looked at their data; look at their memory")

    def describe(self, C: float) -> str:
        """A sentence on uneven columns, from a shard of each member; "" where there are none, or one is silent."""
        try:
            return next(filter(None, self._submit(_describe, [C] * len(self), GRACE)), "")
        except (Lost, Late):
            return ""

    def call(self, messages: Sequence[Message], seconds: float = math.inf) -> list[Reply]:
        """Beside the task graph: through that, a vector takes several times as long."""
        self.line.check()

        async def send() -> list[dict[str, Reply]]:
            calls = [
                self.client.run(
                    _serve_here, [shard.key for shard in shards], message, workers=[worker], asynchronous=True
                )
                for (worker, shards), message in zip(self.members, messages, strict=True)
            ]
            return await asyncio.gather(*calls)

        try:
            answers = self.line.wait(send, self._look, seconds)
        except OSError as error:
            self.line.check()
            raise Lost(str(error)) from error
        return [answer[worker] for (worker, _), answer in zip(self.members, answers, strict=True)]

    def _submit(self, function: Callable[..., Any], arguments: Sequence[Any], seconds: float = math.inf) -> list[Any]:
        """What the function returns for each member's shards and its argument; `Lost` where a worker is gone."""
        self.line.check()
        # Vectors in a task are what it is about; Dask would warn of the larger ones.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            futures = [
                self.client.submit(
                    function, shards, argument, workers=[worker], allow_other_workers=False, pure=False, retries=0
                )
                for (worker, shards), argument in zip(self.members, arguments, strict=True)
            ]
        try:
            gathering = functools.partial(self.client.gather, futures, errors="skip", asynchronous=True)
            found = self.line.wait(gathering, self._look, seconds)
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
            error = future.exception(timeout=self.line.TIMEOUT) if future.status == "error" else None
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
        """Let go of the shards."""
        for shard in self.shards:
            shard.release()


def _hand_over(shard: Shard) -> Shard:
    return shard


def _describe(shards: Sequence[Shard], C: float) -> str:
    return shards[0].describe(C)


async def _serve_here(keys: Sequence[str], message: Message, dask_worker: Any) -> Reply:
    """Serve with the shards of these keys, on a thread of the worker's own, one of those that tasks run on."""
    if any(key not in dask_worker.data for key in keys):
        return Reply(stale=True)  # moved, or lost
    shards = [dask_worker.data[key] for key in keys]
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(dask_worker.executors["default"], serve, shards, message)
