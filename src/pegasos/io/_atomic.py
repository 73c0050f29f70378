"""Files that appear whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def open_atomic(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name only when the block ends without an exception.

    Until then `path` is what it was. A pipe or a device is written in place: it cannot be replaced.
    """
    target = os.path.realpath(path)  # a link stays a link
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    # In the same folder, or else the last step would be a copy. Not tempfile, whose files are private to the user.
    temporary = os.path.join(folder, f".{name[:64]}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            os.remove(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):  # name the file the caller knows
            raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
        raise
