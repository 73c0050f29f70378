"""The state of a run that is driven from Python: what its checkpoints hold, as ``cpp/base/state.hpp`` has it.

A class names its members once, in a method that both reads and writes them::

    def state(self, state: State) -> None:
        state(self, "visits", "bounds", "learner")

What follows from the data and the parameters alone is not part of it.
"""

import json
import os
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.io.dataset import bytes_view


class State:
    """Writes members, or reads them from a file.

    Parameters
    ----------
    stored : file, optional
        What another one wrote. Without it members are written.

    Attributes
    ----------
    pieces : list
        What was written. Arrays are not copied, as they may be larger than memory: it is good until they change.
    """

    def __init__(self, stored: BinaryIO | None = None) -> None:
        self._stored = stored
        self._left = 0  # bytes to read
        self.pieces: list[bytes | memoryview] = []
        if stored is not None:
            begin = stored.tell()
            self._left = stored.seek(0, os.SEEK_END) - begin
            stored.seek(begin)

    @property
    def reads(self) -> bool:
        return self._stored is not None

    def __call__(self, owner: Any, *names: str) -> None:
        """Read or write members: numbers, texts, lists and named tuples of them, arrays, generators of random numbers,
        objects of the core, and whatever has a method `state` as above."""
        for name in names:
            value = getattr(owner, name)
            if isinstance(value, native.LinearFit | native.Stream):
                if self.reads:
                    value.load(self._read())
                else:
                    self._write(value.dump())
            elif isinstance(value, np.random.Generator):
                value.bit_generator.state = self._plain(value.bit_generator.state)
            elif isinstance(value, np.ndarray):
                setattr(owner, name, self._array(value))
            elif hasattr(value, "state"):
                value.state(self)
            else:
                setattr(owner, name, self._plain(value))

    def end(self) -> None:
        """All was read."""
        if self._left:
            self._refuse()

    def _plain(self, value: Any) -> Any:
        if not self.reads:
            self._write(json.dumps(value).encode())
            return value
        try:
            found, make = json.loads(self._read()), getattr(value, "_make", None)  # of a named tuple
            return make(found) if make else found
        except (ValueError, TypeError):
            self._refuse()

    def _array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Read in place, where the length is the same."""
        if not self.reads:
            self._write(bytes_view(array))
            return array
        size = self._size()
        if size != array.nbytes:
            if size % array.itemsize:
                self._refuse()
            array = np.empty(size // array.itemsize, array.dtype)
        self._fill(bytes_view(array))
        return array

    def _write(self, data: bytes | memoryview) -> None:
        self.pieces += [len(data).to_bytes(8, "little"), data]

    def _read(self) -> bytes:
        data = bytearray(self._size())
        self._fill(memoryview(data))
        return bytes(data)

    def _size(self) -> int:
        size = bytearray(8)
        self._fill(memoryview(size))
        found = int.from_bytes(size, "little")
        if found > self._left:
            self._refuse()
        return found

    def _fill(self, data: memoryview) -> None:
        assert self._stored is not None
        # BinaryIO does not name `readinto`, which files and BytesIO both have.
        if len(data) > self._left or (data and self._stored.readinto(data) != len(data)):  # type: ignore[attr-defined]
            self._refuse()
        self._left -= len(data)

    def _refuse(self) -> NoReturn:
        raise ValueError("the checkpoint does not belong to this run: delete it, and start anew")
