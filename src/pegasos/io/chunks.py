"""Files as a sequence of chunks: of bytes, and of whole lines."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import BinaryIO

from pegasos.io.compression import MAGIC_BYTES, Kind, decompress, kind_named, kind_of

_CHUNK_BYTES = 1 << 22
#: Bytes of a line at most: what is longer is no text, but a small file may decompress to it and take all memory.
LONGEST_LINE = 1 << 28

#: Hears of bytes as they are read from a file; of those opened in the context that set it.
READING: ContextVar[Callable[[int], None] | None] = ContextVar("READING", default=None)


class TextFile:
    """An open file that may be compressed."""

    def __init__(self, file: BinaryIO, name: str, is_path: bool) -> None:
        self.file, self.name = file, name
        self.is_path = is_path
        self._told = READING.get()
        self._head = self._read(MAGIC_BYTES)
        self.kind: Kind | None = kind_of(self._head)
        wanted = kind_named(name) if is_path else None
        if self.kind is None and wanted is not None:
            raise ValueError(
                f"{name}: the name ends in {wanted.suffix}, and it is no {wanted.name} file; is it damaged? If it is "
                "plain text, rename it"
            )

    def _read(self, size: int) -> bytes:
        """As many bytes as there are, if not `size`; pipes give less at a time."""
        parts: list[bytes] = []
        while size > 0:
            try:
                part = self.file.read(size)
            except OSError as error:
                raise OSError(error.errno, error.strerror or str(error), self.name) from error
            if not isinstance(part, bytes):
                kind = type(part).__name__
                raise TypeError(f"{self.name}: read() gave {kind}, not bytes; open the file in binary mode")
            if not part:
                break
            parts.append(part)
            size -= len(part)
            if self._told is not None:
                self._told(len(part))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def named(self, error: ValueError) -> ValueError:
        """The error with the name of the file; one of decompression has it."""
        message = str(error)
        return ValueError(message if message.startswith(f"{self.name}: ") else f"{self.name}: {message}")

    def chunks(self, size: int = _CHUNK_BYTES) -> Iterator[bytes]:
        """The text, decompressed, in chunks of about this many bytes at most."""
        chunks = self._raw(size)
        return chunks if self.kind is None else decompress(chunks, self.kind, self.name)

    def _raw(self, size: int) -> Iterator[bytes]:
        if self._head:
            yield self._head + self._read(size - len(self._head))
        while chunk := self._read(size):
            yield chunk


@contextmanager
def open_text(source: str | os.PathLike[str] | BinaryIO) -> Iterator[TextFile]:
    """Open a path, or take a binary file object as it is."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=0) as file:
            yield TextFile(file, os.fspath(source), True)
    else:
        yield TextFile(source, str(getattr(source, "name", "<stream>")), False)


def check_line(length: int) -> None:
    """Raise a ValueError where a line is too long."""
    if length > LONGEST_LINE:
        raise ValueError(
            f"a line of more than {LONGEST_LINE:,} bytes, which is the most; is the file text? Split the line"
        )


def whole_lines(chunks: Iterable[bytes]) -> Iterator[memoryview | bytes]:
    """The same bytes in parts that end with a line, without copying more than one line of each chunk."""
    begun: list[bytes] = []  # a line without its end
    length = 0  # of that
    for chunk in chunks:
        last = chunk.rfind(b"\n") + 1
        if not last:
            if begun and b"\0" in chunk:
                yield b"".join([*begun, chunk])  # svmlight's reader says where the first such byte is
                raise ValueError("byte 0x00 is not text; is the file compressed or binary?")
            begun.append(chunk)
            length += len(chunk)
            check_line(length)
            continue
        first = 0
        if begun:
            first = chunk.index(b"\n") + 1
            yield b"".join([*begun, chunk[:first]])
        if first < last:
            yield memoryview(chunk)[first:last]
        begun = [chunk[last:]] if last < len(chunk) else []
        length = len(chunk) - last
    if begun:
        yield b"".join(begun)
