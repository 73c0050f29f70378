"""The ``pegasos`` command."""

import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command and exit: 0, 2 after one line on what the user can mend, 130 after Ctrl-C, 143 after SIGTERM."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) is usual:
            signal.signal(number, _leave)
    from pegasos.cli.run import run  # takes a second or two, in which there is nothing to save

    sys.exit(run(sys.argv[1:]))


def _leave(number: int, _: object) -> NoReturn:
    """End at once: an exception might be lost in the middle of an import."""
    os.write(2, b"pegasos: interrupted\n")
    os._exit(128 + number)
