"""Faults of the workers of a distributed fit: killed, stopped, started again, and data that come back changed."""

import os
import signal

import numpy as np

from pegasos import LinearSVC
from pegasos.base import clock
from pegasos.base.outcome import Budget
from pegasos.linear.distributed import drive
from pegasos.linear.distributed.plan import make_plan
from pegasos.linear.distributed.shard import Shard
from pegasos.reference import losses

from ..process_group import ProcessGroup
from .fault import CHANGED, HANG, LOST, REFUSED, UNHARMED, Harm, kind

_random = np.random.default_rng(3)
PARTS = 4
ROWS = _random.normal(size=(PARTS, 60, 6))
LABELS = np.where(ROWS[:, :, 0] + _random.normal(size=(PARTS, 60)) > 0, 1.0, -1.0)
WEIGHTS = _random.uniform(0.5, 2.0, size=(PARTS, 60))
BIAS = 1.0


class Source:
    """Partitions that a change, of one entry, may have come over before they are made again."""

    def __init__(self, change=None):
        self.change = change  # the array, and the place

    def __call__(self, number):
        arrays = [ROWS[number].copy(), LABELS[number].copy(), WEIGHTS[number].copy()]
        if self.change is not None:
            which, place = self.change
            entries = arrays[which].reshape(-1)
            at = place % len(entries)
            entries[at] = -entries[at] if which == 1 else np.nextafter(entries[at], np.inf)
        return Shard(number, *arrays)


class Disturbed(ProcessGroup):
    """Something is done before calls of some numbers."""

    def __init__(self, actions):
        super().__init__(Source(), PARTS, 2, "fork")
        self.actions, self.calls, self.haste = actions, 0, 1

    def call(self, messages, seconds):
        self.calls += 1
        self.actions.get(self.calls, lambda group: None)(self)
        return super().call(messages, seconds / self.haste)

    def signal(self, number, signum):
        """To the worker with the shard of this number."""
        os.kill(self.processes[self.places[number]].pid, signum)


def fit(actions, C=0.03, tol=1e-6, max_time=None, look=lambda group: None):
    """Fit while the actions happen, and confirm the certificate on the data as they are."""
    machine, group = LinearSVC(C=C, tol=tol, intercept_scaling=BIAS), Disturbed(actions)
    try:
        surveys = group.survey(machine)
        budget = Budget(tol, 10**6, max_time)
        (found,), tally = drive.Drive(group, make_plan(machine, surveys, 0), surveys, budget, 0.5).run()
        look(group)
    finally:
        group.close()
    if np.isfinite(found.bounds.primal):
        X = np.column_stack([ROWS.reshape(-1, 6), np.full(LABELS.size, BIAS)])
        primal = losses.primal("hinge", X, LABELS.ravel(), WEIGHTS.ravel(), C, found.point.w, 0.0)
        if not (abs(found.bounds.primal - primal) <= 1e-9 * primal and found.bounds.dual <= primal):
            raise Harm(CHANGED, f"bounds {found.bounds}, where the weights have {primal}")
    return found, tally, group


@kind(
    "changed partitions",
    "a worker of a distributed fit is killed, and a value, label or weight of its partitions has changed when they are "
    "made again, or has not",
    60,
)
def prepare_changes(folder):
    def inject(random):
        change = random.choice((None, (random.randrange(3), random.randrange(10**6))))

        def kill(group):
            group.make = Source(change)
            group.signal(random.randrange(PARTS), signal.SIGKILL)

        try:
            found, tally, _ = fit({random.randrange(1, 12): kill})
        except ValueError as error:
            if change is None or "is not the same after it was made again" not in str(error):
                raise
            return REFUSED
        if change is not None:
            raise Harm(CHANGED, f"{change} went unnoticed")
        if found.reason != "tol" or tally.lost != 1:
            raise Harm(LOST, f"ended by {found.reason} after {tally.lost} losses")
        return UNHARMED

    return inject


@kind(
    "stopped workers",
    "SIGSTOP to a worker of a fit with `max_time`; the fit ends while it is stopped; its certificate is true",
    20,
)
def prepare_stops(folder):
    clock.read = lambda: 0.0  # so that no time is used up before

    def inject(random):
        number, states = random.randrange(PARTS), []

        def look(group):
            pid = group.processes[group.places[number]].pid
            with open(f"/proc/{pid}/stat") as file:
                states.append(file.read().rsplit(")", 1)[1].split()[0])

        def stop(group):
            group.signal(number, signal.SIGSTOP)
            group.haste = 300

        found, *_ = fit({random.randrange(1, 40): stop}, C=3.0, tol=1e-15, max_time=60, look=look)
        if states != ["T"]:
            raise Harm(HANG, f"ended by {found.reason} when the worker was in state {states}")
        if found.reason != "max_time":
            raise Harm(LOST, f"ended by {found.reason}")
        return UNHARMED

    return inject


@kind(
    "restarted workers",
    "a worker of a distributed fit is killed, and another one started rounds later, which gets partitions; certified",
    60,
)
def prepare_restarts(folder):
    def inject(random):
        first = random.randrange(1, 10)
        later = first + random.randrange(0, 8)
        actions = {
            first: lambda group: group.signal(random.randrange(PARTS), signal.SIGKILL),
            later + 1: lambda group: group.start(),
        }
        found, tally, group = fit(actions)
        if found.reason != "tol" or tally.lost != 1:
            raise Harm(LOST, f"ended by {found.reason} after {tally.lost} losses")
        if len(group) != 2:
            raise Harm(LOST, f"{len(group)} workers have partitions")
        return UNHARMED

    return inject
