"""The workers of a distributed fit as processes of this machine, which tests stop, kill and start."""

import contextlib
import math
import multiprocessing
import time
from multiprocessing.connection import wait

from pegasos.linear.distributed.drive import Late, Lost
from pegasos.linear.distributed.places import deal, level, share_out
from pegasos.linear.distributed.shard import serve, survey


def _work(pipe):
    """Answer requests, each a number, a name and arguments, until the pipe is closed."""
    shards = {}

    def held(numbers):
        return [shards[number] for number in numbers]

    actions = {
        "make": lambda make, number: shards.update({number: make(number)}),
        "take": lambda shard: shards.update({shard.number: shard}),
        "give": lambda number: shards.pop(number),
        "survey": lambda numbers, machine: survey(held(numbers), machine),
        "serve": lambda numbers, message: serve(held(numbers), message),
    }
    while True:
        try:
            number, name, *arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((number, actions[name](*arguments), None))
        except Exception as error:
            pipe.send((number, None, error))


class ProcessGroup:
    """One member for each process that has shards; `make` makes the shard of a number."""

    def __init__(self, make, n_shards, n_workers, method="spawn"):
        self.make, self.context = make, multiprocessing.get_context(method)
        self.processes, self.pipes, self.dead, self.requests = {}, {}, set(), 0
        for _ in range(n_workers):
            self.start()
        self.settled = set(self.processes)
        self.places = deal([list(self.processes)] * n_shards, self.threads())
        self._ask([(worker, "make", make, number) for number, worker in enumerate(self.places)])
        self._share_out()

    def start(self):
        """Start a worker; one that joins is handed shards before the next round."""
        own, other = self.context.Pipe()
        process = self.context.Process(target=_work, args=(other,), daemon=True)
        process.start()
        other.close()
        worker = f"worker {len(self.processes)}"
        self.processes[worker], self.pipes[worker] = process, own

    def threads(self):
        return {worker: 1 for worker in self.processes if worker not in self.dead}

    def survey(self, machine):
        found = self._ask([(worker, "survey", shards, machine) for worker, shards in self.members])
        return sorted((one for own in found for one in own), key=lambda one: one.number)

    def __len__(self):
        return len(self.members)

    def call(self, messages, seconds):
        requests = zip(self.members, messages, strict=True)
        return self._ask([(worker, "serve", shards, message) for (worker, shards), message in requests], seconds)

    def recover(self, seconds):
        threads = self.threads()
        lost = [number for number, worker in enumerate(self.places) if worker not in threads]
        self.places = deal([[one] if one in threads else list(threads) for one in self.places], threads)
        self._ask([(self.places[number], "make", self.make, number) for number in lost], seconds)
        self._share_out()

    def balance(self, seconds):
        threads = self.threads()
        joined = threads.keys() - self.settled
        if not joined or not set(self.places) <= threads.keys():
            return False
        self.settled |= joined
        for number, worker in level(self.places, joined, threads).items():
            (shard,) = self._ask([(self.places[number], "give", number)], seconds)
            self._ask([(worker, "take", shard)], seconds)
            self.places[number] = worker
        self._share_out()
        return True

    def _share_out(self):
        one_each = [[worker] for worker in self.places]
        self.members = share_out(range(len(self.places)), one_each, dict.fromkeys(self.processes, 1))

    def _ask(self, requests, seconds=float("inf")):
        """The answers, in order."""
        until, answers, left = time.monotonic() + seconds, {}, {}
        for worker, *request in requests:
            self.requests += 1
            left[self.requests] = worker
            with self._loss_of(worker):
                self.pipes[worker].send((self.requests, *request))
        order = list(left)
        while left:
            timeout = None if math.isinf(seconds) else max(until - time.monotonic(), 0)
            waited_for = {self.pipes[worker]: worker for worker in left.values()}
            ready = wait(list(waited_for), timeout)
            if not ready:
                raise Late
            for pipe in ready:
                with self._loss_of(waited_for[pipe]):
                    number, answer, error = pipe.recv()
                if left.pop(number, None) is not None:  # one of an earlier request is not waited for
                    answers[number] = answer
                    if error is not None:
                        raise error
        return [answers[number] for number in order]

    @contextlib.contextmanager
    def _loss_of(self, worker):
        try:
            yield
        except (EOFError, ConnectionError) as error:
            self.dead.add(worker)
            raise Lost(f"{worker} died") from error

    def close(self):
        for process, pipe in zip(self.processes.values(), self.pipes.values(), strict=True):
            pipe.close()
            process.kill()
            process.join()
