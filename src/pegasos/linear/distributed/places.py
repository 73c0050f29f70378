"""Which worker has which shards, for any carrier: workers by name, each with a number of threads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

S = TypeVar("S")


def deal(places: Sequence[Sequence[str]], threads: Mapping[str, int]) -> list[str]:
    """The worker of each shard: of those where it can be, the one that has the fewest for each of its threads."""
    counts = dict.fromkeys(threads, 0)
    chosen = []
    for workers in places:
        worker = min(workers, key=lambda one: (counts[one] / max(threads[one], 1), -threads[one], one))
        counts[worker] += 1
        chosen.append(worker)
    return chosen


def share_out(
    shards: Sequence[S], holders: Sequence[Sequence[str]], threads: Mapping[str, int]
) -> list[tuple[str, list[S]]]:
    """The members, by the numbers of their shards: names of workers are others in another cluster of the same sizes."""
    held: dict[str, list[S]] = {}
    for shard, worker in zip(shards, deal(holders, threads), strict=True):
        held.setdefault(worker, []).append(shard)
    members = []
    for worker, own in held.items():  # in the order of their first shards
        count = min(max(threads[worker], 1), len(own))
        members += [(worker, own[k::count]) for k in range(count)]
    return members


def level(places: Sequence[str], joined: Iterable[str], threads: Mapping[str, int]) -> dict[int, str]:
    """The fewest moves, of shards to workers that joined, for as many per thread as the others have.

    Examples
    --------
    >>> level(["a", "a", "a", "b"], ["c"], {"a": 1, "b": 1, "c": 1})
    {2: 'c'}
    """
    held: dict[str, list[int]] = {worker: [] for worker in threads}
    for number, worker in enumerate(places):
        held[worker].append(number)

    def load(worker: str, more: int = 0) -> float:
        return (len(held[worker]) + more) / max(threads[worker], 1)

    moves = {}
    joined = sorted(joined)
    while joined:
        fullest = max(held, key=lambda one: (load(one), held[one]))
        emptiest = min(joined, key=lambda one: (load(one, 1), one))
        if load(fullest) <= load(emptiest, 1):
            break
        number = held[fullest].pop()
        held[emptiest].append(number)
        moves[number] = emptiest
    return moves
