"""The ``pegasos`` command."""

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command and exit: 0, or 2 after one line on what the user can mend, or 130 after Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from pegasos.cli.run import run  # takes a second or two, in which there is nothing to save

    sys.exit(run(sys.argv[1:]))


def _leave(*_: object) -> NoReturn:
    """End at once: an exception might be lost in the middle of an import."""
    os.write(2, b"pegasos: interrupted\n")
    os._exit(130)
