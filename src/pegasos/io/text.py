"""Text features by their hash. The grammar of the lines is stated in ``cpp/text/text.hpp``."""

import functools
import os
import re
import select
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.config import make_csr
from pegasos.io.ahead import read_ahead
from pegasos.io.chunks import check_line, whole_lines
from pegasos.io.compression import MAGIC_BYTES, Kind, decompress, kind_of

MOST_HASH_BITS = 28
#: The name of the hash in model files, which hold for no other: XXH3 of 64 bits, with the seed 0.
HASH = "xxh3-64"
#: Bytes of text at a time: what is made of them stays in the caches until it is learned from.
BLOCK = 1 << 21

Rows = TypeVar("Rows")

_BLANKS = str.maketrans("|:\n\r", "    ")


class TextRows(NamedTuple):
    """Examples made of some lines."""

    labels: NDArray[np.float64]  # NaN where there is none
    weights: NDArray[np.float64]
    values: NDArray[np.float32]
    columns: NDArray[np.int32]
    starts: NDArray[np.int32]
    lines: int

    def matrix(self, hash_bits: int) -> Any:
        """The features."""
        return make_csr((self.values, self.columns, self.starts), shape=(len(self.labels), 1 << hash_bits))


def hash_text(lines: Iterable[str], hash_bits: int = 18, *, normalize: bool = True) -> Any:
    """The words of texts as features, by their hash.

    Parameters
    ----------
    lines : iterable of str
        The texts. Blanks, ``|`` and ``:`` separate words.
    hash_bits : int, default=18
        There are ``2 ** hash_bits`` features.
    normalize : bool, default=True
        Whether to divide each row by its Euclidean norm.

    Returns
    -------
    scipy.sparse.csr_matrix or csr_array of shape (n_texts, 2 ** hash_bits)
        A word that occurs k times in a text counts ``1 + log(k)``.

    Examples
    --------
    >>> from pegasos.io import hash_text
    >>> X = hash_text(["to be or not to be", "or not"])
    >>> X.shape, X.nnz
    ((2, 262144), 6)
    """
    _check_bits(hash_bits)
    text = "".join(f"| {line.translate(_BLANKS)}\n" for line in lines).encode()
    return _parse(np.frombuffer(text, dtype=np.uint8), hash_bits, normalize).matrix(hash_bits)


def read_text(
    source: str | os.PathLike[str] | BinaryIO, hash_bits: int = 18, *, normalize: bool = True
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Read text features in Vowpal Wabbit's line format, ``label weight | word word:value``, by their hash.

    Parameters
    ----------
    source : path or binary file object
        What to read, to its end.
    hash_bits, normalize
        As in `hash_text`.

    Returns
    -------
    X : scipy.sparse.csr_matrix or csr_array of shape (n_rows, 2 ** hash_bits)
        The features.
    y : ndarray of shape (n_rows,)
        The labels; NaN for a line without a label.
    weights : ndarray of shape (n_rows,)
        The weights; 1 for a line without a weight.

    Raises
    ------
    ValueError
        If a line is not in the format. The message names file, line and column, counting from 1 (columns in bytes).

    Examples
    --------
    >>> import io
    >>> from pegasos.io import read_text
    >>> X, y, weights = read_text(io.BytesIO(b"1 | good film\\n-1 2.5 |title bad |body:0.5 film length:90\\n"))
    >>> X.nnz, y, weights
    (5, array([ 1., -1.]), array([1. , 2.5]))
    """
    _check_bits(hash_bits)
    parts = list(read_text_rows(source, hash_bits, normalize=normalize))
    if not parts:
        return make_csr((0, 1 << hash_bits), dtype=np.float32), np.empty(0), np.empty(0)
    X = sp.vstack([part.matrix(hash_bits) for part in parts], format="csr")
    return X, np.concatenate([part.labels for part in parts]), np.concatenate([part.weights for part in parts])


def read_text_rows(
    source: str | os.PathLike[str] | BinaryIO, hash_bits: int, *, normalize: bool = True, n_jobs: int = 1
) -> Generator[TextRows]:
    """The same, a few thousand lines at a time and while others are being read."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb", buffering=0) as file:
            yield from read_text_rows(file, hash_bits, normalize=normalize, n_jobs=n_jobs)
        return
    parse = functools.partial(_parse, hash_bits=hash_bits, normalize=normalize)
    yield from parse_ahead(source, parse, n_jobs)


def parse_ahead(file: Any, parse: Callable[[NDArray[np.uint8]], Rows], n_jobs: int) -> Generator[Rows]:
    """What `parse` makes of the blocks of a file, in their order. One thread reads ahead, and `n_jobs` parse.

    Lines are counted here, for the place of an error.
    """
    name, before = str(getattr(file, "name", "<stream>")), 0
    pool = ThreadPoolExecutor(n_jobs)
    submitted = ((pool.submit(parse, block), int(np.count_nonzero(block == 10))) for block in read_blocks(file))
    try:
        with read_ahead(submitted, 2 * n_jobs + 2) as parsed:
            for future, lines in parsed:
                try:
                    rows = future.result()
                except ValueError as error:
                    raise ValueError(f"{name}: {_shift_line(str(error), before)}") from None
                before += lines
                yield rows
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _shift_line(message: str, lines: int) -> str:
    """A message that begins with its line in a block, after so many lines before the block."""
    found = re.fullmatch(r"line (\d+)(.*)", message, re.DOTALL)
    return f"line {int(found[1]) + lines}{found[2]}" if found else message


def read_blocks(file: BinaryIO, size: int = BLOCK) -> Iterator[NDArray[np.uint8]]:
    """What is in a file, in blocks of whole lines; the last one gets its newline where it has none.

    Where a pipe has nothing more for now, the lines that are there are a block. What is compressed is decompressed.
    """
    raw: Any = getattr(file, "raw", file)
    widen_pipe(raw)
    block, filled, begins = np.empty(size, dtype=np.uint8), 0, True
    while True:
        if filled == len(block) or (filled > 0 and _is_dry(raw)):
            end = _after_last_newline(block[:filled])
            if end or filled == len(block):
                rest = block[end:filled].copy()
                check_line(len(rest))
                if end:
                    yield block[:end]
                # A line longer than a block gets a larger one.
                block = np.empty(max(size, 2 * len(rest)), dtype=np.uint8)
                block[: len(rest)] = rest
                filled = len(rest)
        count = raw.readinto(block[filled:])
        if not count:
            break
        if begins:
            while filled + count < MAGIC_BYTES and (more := raw.readinto(block[filled + count :])):
                count += more
            kind, begins = kind_of(block[:MAGIC_BYTES].tobytes()), False
            if kind is not None:
                yield from _unpacked(block[:count].tobytes(), raw, kind, str(getattr(file, "name", "<stream>")))
                return
        filled += count
    if filled:
        last = block[:filled]
        yield last if last[-1] == 10 else np.append(last, np.uint8(10))


def _unpacked(head: bytes, file: Any, kind: Kind, name: str) -> Iterator[NDArray[np.uint8]]:
    """Blocks of what is compressed in a file of which the head is read."""

    def chunks() -> Iterator[bytes]:
        yield head
        while chunk := file.read(BLOCK):
            yield chunk

    for lines in whole_lines(decompress(chunks(), kind, name)):
        block = np.frombuffer(lines, dtype=np.uint8)
        yield block if block[-1] == 10 else np.append(block, np.uint8(10))


def _is_dry(file: Any) -> bool:
    """Whether nothing comes for a while."""
    try:
        return not select.select([file], [], [], 0.02)[0]
    except (OSError, ValueError):  # no file that could be waited for
        return False


def widen_pipe(file: Any) -> None:
    """Let a pipe hold a megabyte, where it is one: fewer turns between who writes and who reads."""
    try:
        import fcntl

        fcntl.fcntl(file.fileno(), fcntl.F_SETPIPE_SZ, 1 << 20)
    except (ImportError, AttributeError, OSError, ValueError):
        pass


def _after_last_newline(block: NDArray[np.uint8]) -> int:
    """The length of the whole lines in a block."""
    start = max(len(block) - 4096, 0)  # beyond which few lines reach
    end = block[start:].tobytes().rfind(b"\n") + 1
    return start + end if end else block.tobytes().rfind(b"\n") + 1


def _parse(block: NDArray[np.uint8], hash_bits: int, normalize: bool) -> TextRows:
    return TextRows(*native.parse_text(block, hash_bits, normalize))


def check_hash(name: Any) -> None:
    """Refuse features of a model file that were hashed in another way."""
    if name != HASH:
        raise ValueError(f"features hashed by {name!r}, and this version has {HASH!r} alone; train the model again")


def _check_bits(hash_bits: int) -> None:
    if not 1 <= hash_bits <= MOST_HASH_BITS:
        raise ValueError(f"hash_bits={hash_bits}: must be from 1 to {MOST_HASH_BITS}; 18 is a good start")
