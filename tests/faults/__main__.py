"""Faults on the command line; see the package."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: matrices are small, and processes share the cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
from pathlib import Path

from .kinds import KINDS
from .report import counts_of, summary, write
from .run import TOLD, run_kind


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Inject faults and count what happens.")
    parser.add_argument("--faults", type=int, help="how many, about; by default more than 100,000")
    parser.add_argument("--seed", type=int, default=1, help="of all faults")
    parser.add_argument(
        "--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND", help="these alone"
    )
    parser.add_argument("--only", type=int, help="inject the fault of this number alone")
    parser.add_argument("--list", action="store_true", help="name the kinds")
    parser.add_argument("--json", type=Path, help="write what came of them to this file")
    given = parser.parse_args()
    if given.list:
        print(*(f"{kind.name}: {kind.how}" for kind in KINDS.values()), sep="\n")
        return 0
    results = []
    for name, count in counts_of(given.kinds, given.faults).items():
        numbers = range(count) if given.only is None else [given.only]
        result = run_kind(KINDS[name], given.seed, numbers)
        results.append(result)
        told = ", ".join(f"{count} {outcome}" for outcome, count in result.counts.items() if count)
        print(f"{name}: {told} ({result.seconds:.0f} s)", flush=True)
        for number, outcome, text in result.harms[:TOLD]:
            print(f"  {outcome}, seed {given.seed}, number {number}: {text}", flush=True)
    print(summary(results))
    if given.json:
        write(given.json, results, given.seed)
    return 1 if any(result.harms for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
