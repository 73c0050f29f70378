"""What the benchmarks share: contenders that take turns, medians, and a table with ratios to a peer of the same run."""

import os
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

__all__ = ["alternate", "print_machine", "print_table", "seconds"]

Name = TypeVar("Name", bound=Hashable)


def seconds(job: Callable[[], object]) -> float:
    """How long the job takes."""
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def alternate(contenders: Mapping[Name, Callable[[], float]], repeats: int) -> dict[Name, float]:
    """The median of what each contender measures, all of them in turn, so that a busy spell of the machine hits all."""
    times: dict[Name, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, measure in contenders.items():
            times[name].append(measure())
    return {name: statistics.median(values) for name, values in times.items()}


def print_table(medians: Mapping[str, float], peer: str, *, unit: str = "s") -> None:
    """One line per contender: its median, and how many times the peer's that is."""
    width = max(map(len, medians))
    print(f"{'':{width}}  median {unit:>3}  ratio to {peer}")
    for name, value in medians.items():
        print(f"{name:{width}}  {value:10.4f}  {value / medians[peer]:.3f}")


def print_machine() -> None:
    """How busy the machine is: other work makes times longer and noisier."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
