"""Learning from a pipe of text beside Vowpal Wabbit: rows per second, and the progressive hinge loss of both.

``python benchmarks/stream.py [--data newsgroups-comp synthetic ...] [--megabytes 2000] [--repeats 5]``

Lines ``label | words`` are written once and fed to both through a pipe, in turn: ``vw`` where it is installed, else the
same program from its Python package, with ``-b 18 --loss_function hinge``; and ``pegasos train --one-pass --hash-bits
18 -``. Both make one pass with their defaults, starting up included. Real sets (``PEGASOS_DATA`` names their folder)
are small, so for the time their lines are repeated to the size wanted; losses are those of the lines as they are, met
once.

Vowpal Wabbit prints the loss of predictions that it clips to the range of the labels, so that no example costs more
than 2. The loss of its predictions as they are comes from a second run with ``-r``; ours is never clipped.
"""

import argparse
import importlib.util
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from datasets import load_raw
from timing import alternate, print_machine, seconds

BITS = "18"
OURS = [sys.executable, "-m", "pegasos", "train", "--one-pass", "--hash-bits", BITS, "--json", "-"]
VW_OPTIONS = ["-b", BITS, "--loss_function", "hinge"]


def find_peer() -> list[str]:
    """Vowpal Wabbit's command, reading from standard input; empty where there is none."""
    if shutil.which("vw"):
        return ["vw", *VW_OPTIONS]
    if importlib.util.find_spec("vowpalwabbit"):
        return [sys.executable, "-m", "vowpalwabbit", *VW_OPTIONS, "-d", "/dev/stdin"]
    return []


def real_lines(name: str) -> list[str]:
    """Two tasks of about equal classes would be easy to get right by chance: one of 20 Newsgroups' parts against the
    rest, and one section of Debian's against the rest."""
    kind, _, label = name.partition("-")
    data = load_raw(kind)
    if data is None:
        return []
    texts = data["X"] + data.get("X_test", [])
    groups = data["y"] + data.get("y_test", [])
    words = re.compile("[a-z0-9]+")
    order = np.random.default_rng(0).permutation(len(texts))
    return [
        f"{1 if groups[k].startswith(label) else -1} | {' '.join(words.findall(texts[k].lower()))}\n" for k in order
    ]


def made_lines(count: int, vocabulary: int = 200_000, length: int = 100) -> list[str]:
    """Words by Zipf's law; a tenth of them lean to one class, and a tenth of the labels are wrong."""
    random = np.random.default_rng(0)
    leaning = random.normal(size=vocabulary) * (random.random(vocabulary) < 0.1)
    share = 1 / np.arange(1, vocabulary + 1)
    ends = np.cumsum(share / share.sum())
    names = np.array([f"w{k}" for k in range(vocabulary)])
    lines = []
    for size in random.lognormal(np.log(length), 0.5, size=count).astype(int) + 1:
        words = np.searchsorted(ends, random.random(size)).clip(max=vocabulary - 1)
        label = 1 if leaning[words].sum() > 0 else -1
        if random.random() < 0.1:
            label = -label
        lines.append(f"{label} | {' '.join(names[words])}\n")
    return lines


def feed(command: Sequence[str], path: Path, times: int) -> str:
    """What a command prints that is fed the file so many times through a pipe."""
    with subprocess.Popen(["cat", *[str(path)] * times], stdout=subprocess.PIPE) as pipe:
        done = subprocess.run(command, stdin=pipe.stdout, capture_output=True, text=True, check=True)
        if pipe.stdout:
            pipe.stdout.close()
    return done.stdout + done.stderr


def processor_seconds() -> float:
    """Of all commands so far: on a busy machine the fairer measure."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def hinge(scores: np.ndarray, labels: np.ndarray) -> float:
    return float(np.maximum(0, 1 - scores * labels).mean())


def compare(name: str, lines: list[str], megabytes: float, repeats: int, folder: Path) -> None:
    path, raw, model = folder / "text.vw", folder / "raw.txt", str(folder / "m.model")
    path.write_text("".join(lines))
    size = path.stat().st_size / 1e6
    times = max(1, round(megabytes / size))
    rows = times * len(lines)
    print(f"{name}: {len(lines):,} lines of {size:.1f} MB, fed {times} times for the speed")
    ours = json.loads(feed([*OURS, model], path, 1))
    busy: dict[str, list[float]] = {"pegasos": [], "vw": []}

    def measure(contender: str, command: Sequence[str]) -> float:
        before = processor_seconds()
        taken = seconds(lambda: feed(command, path, times))
        busy[contender].append(processor_seconds() - before)
        return taken

    contenders = {"pegasos": lambda: measure("pegasos", [*OURS, model])}
    losses = {"pegasos": (ours["progressive_loss"], "")}
    peer = find_peer()
    if peer:
        contenders["vw"] = lambda: measure("vw", peer)
        found = re.search(r"average loss = ([0-9.e+-]+)", feed([*peer, "-r", str(raw)], path, 1))
        assert found is not None
        scores = np.array([float(line.split()[0]) for line in raw.read_text().splitlines()])
        labels = np.array([float(line.split(maxsplit=1)[0]) for line in lines])
        assert abs(hinge(scores.clip(-1, 1), labels) - float(found[1])) < 1e-3, "vw's loss is not the clipped hinge"
        losses["vw"] = (hinge(scores, labels), f", as it prints it {float(found[1]):.4f}")
    medians = alternate(contenders, repeats)
    for contender, value in medians.items():
        loss, clipped = losses[contender]
        speed = f"{rows / value:12,.0f} rows/s  {times * size / value:7.0f} MB/s"
        cpu = f"{statistics.median(busy[contender]):.2f} s of processors"
        print(f"  {contender:8} {value:8.2f} s  {speed}  {cpu}  progressive hinge loss {loss:.4f}{clipped}")
    if peer:
        by_work = statistics.median(busy["vw"]) / statistics.median(busy["pegasos"])
        print(
            f"  ratio of rows/s to vw {medians['vw'] / medians['pegasos']:.2f}, per second of a processor {by_work:.2f}"
        )
    else:
        print("  ratio: none, as vowpalwabbit is not installed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="little text, to see that it runs")
    names = ["newsgroups-comp", "newsgroups-rec", "debian-python", "debian-libdevel", "synthetic"]
    parser.add_argument("--data", nargs="+", choices=names, default=names)
    parser.add_argument("--megabytes", type=float, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.tiny:
        arguments.data, arguments.megabytes, arguments.repeats = ["synthetic"], 0.1, 1
    print_machine()
    for name in arguments.data:
        lines = made_lines(200 if arguments.tiny else 200_000) if name == "synthetic" else real_lines(name)
        if not lines:
            continue
        with tempfile.TemporaryDirectory(prefix="pegasos-") as folder:
            compare(name, lines, arguments.megabytes, arguments.repeats, Path(folder))


if __name__ == "__main__":
    main()
