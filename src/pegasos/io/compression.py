"""Compressed files: told by their first bytes when read, by the end of their name when written.

Files are read with the libraries' decompressors, not with their file objects: those of bz2 and lzma take a damaged
second part, or anything else that follows, for the end of the file, and that of zstandard takes a cut for the end.
"""

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

#: How many bytes tell the kind of a file.
MAGIC_BYTES = 6

_CHUNK_BYTES = 1 << 22

Made = TypeVar("Made")


class Decompressor(Protocol):
    """As of the standard library's bz2 and lzma."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class Kind(NamedTuple):
    """A kind of compression."""

    name: str
    magic: bytes
    suffix: str
    decompressor: Callable[[], Decompressor]
    compressing: Callable[[BinaryIO], AbstractContextManager[Any]]


def kind_of(head: bytes) -> Kind | None:
    """What a file that begins with `head` is compressed by; None if it is not."""
    return next((kind for kind in KINDS if head.startswith(kind.magic)), None)


def kind_named(path: str | os.PathLike[str]) -> Kind | None:
    """What a file of this name is compressed by; None if it is not."""
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    return next((kind for kind in KINDS if kind.suffix == suffix), None)


def decompress(chunks: Iterable[bytes], kind: Kind, name: str) -> Iterator[bytes]:
    """The content, in parts of at most some megabytes. Compressed files that follow one another are one.

    Raises a ValueError with the name of the file where the data are damaged or cut short.
    """
    decompressor: Decompressor | None = None
    for chunk in chunks:
        data = chunk
        while data or (decompressor is not None and not decompressor.needs_input):
            if decompressor is None:
                data = data.lstrip(b"\0")  # padding, as from tapes
                if not data:
                    break
                decompressor = _with_library(kind.decompressor, name)
            if text := _step(decompressor, data, kind, name):
                yield text
            data = b""
            if decompressor.eof:
                data, decompressor = decompressor.unused_data, None
    while decompressor is not None and not decompressor.eof:
        text = _step(decompressor, b"", kind, name)
        if not text:
            raise ValueError(f"{name}: the {kind.name} data end too early: the file is cut short; make it again")
        yield text


def _step(decompressor: Decompressor, data: bytes, kind: Kind, name: str) -> bytes:
    try:
        return decompressor.decompress(data, _CHUNK_BYTES)
    except MemoryError:
        raise
    except Exception as error:  # each library has its own
        raise ValueError(f"{name}: damaged {kind.name} data ({error}); copy or make the file again") from None


def compressing(file: BinaryIO, path: str | os.PathLike[str]) -> AbstractContextManager[Any]:
    """A file to write to, which compresses into `file` as the end of the path says."""
    kind = kind_named(path)
    return nullcontext(file) if kind is None else _with_library(partial(kind.compressing, file), os.fspath(path))


def _with_library(make: Callable[[], Made], name: str) -> Made:
    """What a library makes; the name of the file where it is not there."""
    try:
        return make()
    except ImportError as error:
        raise ImportError(f"{name}: {error}") from None


class _Gzip:
    """zlib's decompressor with the manners of the others."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)


class _Zstandard:
    """The zstandard package's decompressor with the manners of the others.

    It knows no `max_length`; but a few bytes of input cannot become very much.
    """

    _INPUT_BYTES = 1 << 12

    def __init__(self, inner: Any) -> None:
        self._inner, self._rest = inner, b""

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + self._rest

    def decompress(self, data: bytes, max_length: int) -> bytes:
        left = memoryview(self._rest + data)
        parts, size = [], 0
        while left and size < max_length and not self._inner.eof:
            part = self._inner.decompress(left[: self._INPUT_BYTES])
            left = left[self._INPUT_BYTES :]
            parts.append(part)
            size += len(part)
        self._rest = bytes(left)
        return b"".join(parts)


def _gzip_decompressor() -> Decompressor:
    """That of Intel's ISA-L, if there is the package isal: it takes half the time."""
    try:
        from isal import igzip_lib
    except ImportError:
        return _Gzip()
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _zstd() -> tuple[Any, bool]:
    """The library for zstd, and whether it is Python's own."""
    for name, own in (("compression.zstd", True), ("zstandard", False)):
        try:
            return import_module(name), own
        except ImportError:
            continue
    raise ImportError("zstd files need Python 3.14 or the package zstandard; install zstandard")


def _zstd_decompressor() -> Decompressor:
    library, own = _zstd()
    return library.ZstdDecompressor() if own else _Zstandard(library.ZstdDecompressor().decompressobj())


def _zstd_compressing(file: BinaryIO) -> AbstractContextManager[Any]:
    library, own = _zstd()
    return library.ZstdFile(file, "wb") if own else library.ZstdCompressor().stream_writer(file, closefd=False)


def _gzip_compressing(file: BinaryIO) -> AbstractContextManager[Any]:
    # Neither the time nor the name of the temporary file, so that the same data make the same file.
    return gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)


KINDS = (
    Kind("gzip", b"\x1f\x8b", ".gz", _gzip_decompressor, _gzip_compressing),
    Kind("bzip2", b"BZh", ".bz2", bz2.BZ2Decompressor, partial(bz2.BZ2File, mode="wb")),
    Kind("xz", b"\xfd7zXZ\0", ".xz", lzma.LZMADecompressor, partial(lzma.LZMAFile, mode="wb")),
    Kind("zstd", b"\x28\xb5\x2f\xfd", ".zst", _zstd_decompressor, _zstd_compressing),
)
