"""``import pegasos`` and ``import sklearn.svm``, each in a fresh interpreter.

``python benchmarks/import_time.py``
"""

import argparse
import functools
import subprocess
import sys

from timing import alternate, print_machine, print_table

PEER = "import sklearn.svm"
MEASURE = "import time; started = time.perf_counter(); {}; print(time.perf_counter() - started)"


def measure(statement: str) -> float:
    """Seconds the statement takes in an interpreter of its own."""
    command = [sys.executable, "-c", MEASURE.format(statement)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="one repeat, to see that it runs")
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    statements = [PEER, "import pegasos"]
    contenders = {statement: functools.partial(measure, statement) for statement in statements}
    print_machine()
    if not arguments.tiny:
        alternate(contenders, 1)  # files into the disk cache
    print_table(alternate(contenders, 1 if arguments.tiny else arguments.repeats), PEER)


if __name__ == "__main__":
    main()
