"""The ``pegasos`` command."""

import sys


def main() -> None:
    """Run the command and exit: 0, or 2 after one line on what the user can mend, or 130 after Ctrl-C."""
    try:
        from pegasos.cli.run import run
    except KeyboardInterrupt:
        print("pegasos: interrupted", file=sys.stderr)
        sys.exit(130)
    sys.exit(run(sys.argv[1:]))
