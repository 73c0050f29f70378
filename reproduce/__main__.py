"""``python -m reproduce [NAME ...]``: all tables and figures, or some; the cheap ones first."""

import argparse
import sys

from reproduce.common.experiment import arguments, mode_of, run
from reproduce.experiments import EXPERIMENTS


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m reproduce", description="Makes the tables and figures of the papers S0, S2, S3 and S4 again."
    )
    names = [experiment.name for experiment in EXPERIMENTS]
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}, or the first letters; default: all"
    )
    arguments(parser)
    given = parser.parse_args()
    unknown = [name for name in given.names if not any(known.startswith(name) for known in names)]
    if unknown:
        sys.exit(f"no table or figure begins with {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = [one for one in EXPERIMENTS if not given.names or any(one.name.startswith(name) for name in given.names)]
    for experiment in sorted(chosen, key=lambda one: one.expensive):
        run(experiment, mode_of(given), given.only)
    if not (given.quick or given.smoke):
        print("\npython docs/tables.py writes docs/reproduction.md anew")


if __name__ == "__main__":
    main()
