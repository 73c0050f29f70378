"""Warnings, told of the line outside of this package that led to them."""

import sys
import warnings

from pegasos.certificate import Certificate, all_reasons

#: Modules whose lines are of no use to a reader.
PASSED_OVER = ("pegasos", "contextlib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line of the caller's code, if there is a text."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    if text:
        warnings.warn(text, category, level)


def warn_of_fit(found: Certificate, text: str) -> None:
    """Warn of a fit that is over. After Ctrl-C there is no warning, which filters may turn into an error: the
    KeyboardInterrupt is what callers must see."""
    if "interrupt" not in all_reasons(found):
        warn(text)
