"""Words of messages."""

import difflib
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

#: Control characters, line and paragraph separators, overrides of the direction, and bytes that are no UTF-8.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Escape what a terminal would obey rather than show: a text from a file, for one line.

    Examples
    --------
    >>> print(visible("caf\u00e9\x1b[2J\nerror 0%"))
    café\x1b[2J\nerror 0%
    """
    return _HIDDEN.sub(lambda hidden: hidden[0].encode("unicode_escape").decode(), text)


def counted(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def megabytes(size: float) -> str:
    """So many bytes, rounded up.

    Examples
    --------
    >>> megabytes(200 << 20), megabytes(1)
    ('210 MB', '1 MB')
    """
    return f"{math.ceil(size / 1e6):,} MB"


def shortened(text: str) -> str:
    """A text for a message, cut where it is long."""
    return text if len(text) <= 60 else f"{text[:60]} ..."


def meant(given: Any, known: Iterable[Any], quoted: Callable[[str], str] = repr) -> str:
    """What to end a message with on a name that is not known: the one that it resembles most, if any does.

    Examples
    --------
    >>> meant("squaredhinge", ["hinge", "squared_hinge"]), meant("c", ["C", "cost"]), meant("x", ["C"])
    ("; did you mean 'squared_hinge'?", "; did you mean 'C'?", '')
    """
    names = {_plain(name): name for name in known if isinstance(name, str)}
    if not isinstance(given, str):
        return ""
    plain = _plain(given)
    close = difflib.get_close_matches(plain, names, n=1, cutoff=0.75)
    close += [name for name in names if len(plain) > 2 and name.startswith(plain)]
    return f"; did you mean {quoted(names[close[0]])}?" if close else ""


def _plain(name: str) -> str:
    """A name without what one mistakes most easily in it."""
    return name.strip("-_ ").lower().replace("-", "_").replace(" ", "_")
