"""What a kind of fault is, and what can come of a fault."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

REFUSED, UNHARMED = "refused", "unharmed"
CRASH, HANG, LOST, CHANGED = "crash", "hang", "lost work", "silent change"
OUTCOMES = (REFUSED, UNHARMED, CRASH, HANG, LOST, CHANGED)

#: Injects one fault, drawn by lot, and says what came of it.
Inject = Callable[[Random], str]


class Harm(Exception):
    """A fault did harm: how, and what is known of it."""

    def __init__(self, outcome, text):
        super().__init__(outcome, text)
        self.outcome, self.text = outcome, text


@dataclass(frozen=True)
class Kind:
    name: str
    how: str  # it is injected
    share: int  # how many there are in a run of 100,000 or so
    prepare: Callable[[Path], Inject]  # is given a folder of its own
    seconds: float  # after which a fault that is not over is a hang


KINDS: dict[str, Kind] = {}


def kind(name, how, share, seconds=120.0):
    """Register what prepares the faults of a kind."""

    def register(prepare):
        KINDS[name] = Kind(name, how, share, prepare, seconds)
        return prepare

    return register


def bits(value):
    """All that a model or other object holds."""
    return pickle.dumps(value)


def same(found, expected, what):
    """Unharmed, if so; or else it is a silent change."""
    if found != expected:
        raise Harm(CHANGED, what)
    return UNHARMED


def refused(error, path):
    """That a fault was refused, by an error that names the file."""
    if str(path) not in str(error):
        raise Harm(CRASH, f"an error without the name of the file: {error!r}") from error
    return REFUSED
