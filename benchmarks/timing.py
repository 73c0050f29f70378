"""What the benchmarks share: contenders that take turns, medians, what machine it is, and where results go."""

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TypeVar

__all__ = ["alternate", "load_average", "print_machine", "print_table", "processor", "results_folder", "seconds"]

RESULTS = Path(__file__).parent / "results"

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


def processor() -> str:
    """The processor's model; never the name of the machine."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def load_average() -> float:
    """Of the last minute: other work makes times longer and noisier."""
    return round(os.getloadavg()[0], 1)


def print_machine() -> None:
    print(f"{os.cpu_count()} processors, load {load_average():.1f}")


def results_folder(given: Path | None, tiny: bool) -> Path:
    """Where to write: the folder given, or ``results`` beside the scripts, or for a tiny run one that is forgotten."""
    folder = given or (Path(tempfile.mkdtemp()) if tiny else RESULTS)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
