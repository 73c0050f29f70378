"""Reading the svmlight / LIBSVM text format. Its grammar is stated in ``cpp/text/svmlight_parser.hpp``."""

import operator
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike

from pegasos._core import native
from pegasos._threads import count_threads, usable_threads
from pegasos.config import make_csr
from pegasos.io.ahead import read_ahead
from pegasos.io.chunks import TextFile, open_text, whole_lines

_READERS = {np.dtype(np.float32): native.SvmlightReaderFloat32, np.dtype(np.float64): native.SvmlightReaderFloat64}
_LARGEST_N_FEATURES = 10**18
_BLOCK_BYTES = 1 << 18  # what a thread parses at a time: it should fit its cache
_BYTES_PER_THREAD = 1 << 21
_CHUNKS_AHEAD = 4
_NO_ROWS = "no rows; expected lines such as '+1 3:0.5 7:1'"


def read_svmlight(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    n_features: int | None = None,
    zero_based: bool | str = False,
    query_id: bool = False,
    multilabel: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> tuple[Any, ...]:
    """Read a file in svmlight / LIBSVM format.

    Parameters
    ----------
    source : path or binary file object
        What to read, to its end. Files compressed by gzip, bzip2, xz or zstd are decompressed; the first bytes
        determine the format. A compressed file given by its path is decompressed on a separate thread, a file object on
        the calling thread.
    n_features : int, optional
        Number of columns of `X`; an index beyond it is an error. By default the largest index decides.
    zero_based : bool or "auto", default=False
        Whether the first feature has index 0. By default it has index 1, as in most files. With ``"auto"`` the file
        is zero-based if any index is 0, and one-based otherwise. With `n_features`, a file with both an index 0 and an
        index equal to `n_features` is an error.
    query_id : bool, default=False
        Whether to return the query ids, ``qid:N`` after the label. Then all rows must have one. By default they are
        skipped.
    multilabel : bool, default=False
        Whether rows have any number of labels, separated by commas.
    dtype : {np.float64, np.float32}, default=np.float64
        The type of the values of `X`.
    n_jobs : int, optional
        The number of threads; -1 means as many as there are processors. By default small files take one thread, and
        large files all processors. The result is the same.

    Returns
    -------
    X : scipy.sparse.csr_matrix or csr_array of shape (n_rows, n_features)
        The examples, in canonical format. A zero in the file is a stored zero. Indices are int32 if the numbers of
        entries and of features allow it, otherwise int64.
    y : ndarray of shape (n_rows,)
        The labels, always float64. With `multilabel` a list of tuples of floats, each in increasing order.
    query_id : ndarray of shape (n_rows,)
        The query ids, int64; only with `query_id`.

    Raises
    ------
    ValueError
        If the text is not in the format, or has no rows. The message names file, line and column, counting from 1
        (columns in bytes). Also if compressed data are damaged or cut short.

    Notes
    -----
    Comments begin with ``#``. Within a line indices must increase. An index has at most 18 digits. A small compressed
    file can hold a very large text, and all of it is read: use `iter_svmlight` for files from untrusted sources.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import read_svmlight
    >>> X, y = read_svmlight(io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1  # a comment\\n"))
    >>> X.toarray()
    array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]])
    >>> y
    array([ 1., -1.])
    """
    options = ReadOptions(n_features, zero_based, query_id, multilabel, dtype, n_jobs)
    with ExitStack() as stack:
        text = stack.enter_context(open_text(source))
        try:
            if text.kind is None and text.is_path:
                status = os.fstat(text.file.fileno())
                if stat.S_ISREG(status.st_mode):
                    reader = options.reader(status.st_size)
                    reader.add_file(text.file.fileno(), status.st_size)
                    return options.result(reader, text.name)
            pieces = _pieces(stack, text)
            first = next(pieces, b"")
            reader = options.reader(len(first))
            reader.add_bytes(first)
            for piece in pieces:
                reader.add_bytes(piece)
        except ValueError as error:
            raise text.named(error) from None
        return options.result(reader, text.name)


def iter_svmlight(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    chunk_bytes: int = 1 << 26,
    n_features: int | None = None,
    zero_based: bool = False,
    query_id: bool = False,
    multilabel: bool = False,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Read a file in svmlight / LIBSVM format by chunks of rows, for files larger than memory.

    If `source` is a path, a thread reads and decompresses the next chunk while the present one is parsed and used. The
    memory needed is that of about one chunk, as text and as arrays, and of the longest line.

    Parameters
    ----------
    source : path or binary file object
        As for `read_svmlight`.
    chunk_bytes : int, default=2**26
        The approximate number of bytes of text in a chunk.
    n_features : int, optional
        The number of columns of every chunk. By default a chunk is as wide as the largest index so far, so later chunks
        may be wider.
    zero_based : bool, default=False
        Whether the first feature has index 0. ``"auto"`` is not possible here, because it needs the whole file.
    query_id, multilabel, dtype, n_jobs
        As for `read_svmlight`.

    Yields
    ------
    X, y or X, y, query_id
        As from `read_svmlight`, for some of the rows.

    Raises
    ------
    ValueError
        As for `read_svmlight`. Messages give line numbers in the whole file.

    Examples
    --------
    >>> import io
    >>> from pegasos.io import iter_svmlight
    >>> file = io.BytesIO(b"+1 1:0.5 3:2\\n-1 2:1\\n+1 3:1\\n")
    >>> for X, y in iter_svmlight(file, chunk_bytes=16, n_features=3):
    ...     print(X.shape, y)
    (2, 3) [ 1. -1.]
    (1, 3) [1.]
    """
    if zero_based not in (False, True):
        raise ValueError(f"zero_based={zero_based!r}: chunks do not show the whole file; pass True or False")
    size = operator.index(chunk_bytes)
    if size < 1:
        raise ValueError(f"chunk_bytes={size}: pass a positive number of bytes")
    return _iterate(source, size, ReadOptions(n_features, zero_based, query_id, multilabel, dtype, n_jobs))


def _iterate(source: str | os.PathLike[str] | BinaryIO, size: int, options: "ReadOptions") -> Iterator[tuple[Any, ...]]:
    with ExitStack() as stack:
        text = stack.enter_context(open_text(source))
        reader, held, found = options.reader(size), 0, False
        pieces = _pieces(stack, text, size)
        while True:
            try:
                piece = next(pieces, None)
                if piece is not None:
                    reader.add_bytes(piece)
            except ValueError as error:
                raise text.named(error) from None
            held += 0 if piece is None else len(piece)
            if held >= size or (piece is None and held):
                rows, held = options.rows(reader), 0
                if rows[0].shape[0]:
                    found = True
                    yield rows
            if piece is None:
                break
        if not found:
            raise ValueError(f"{text.name}: {_NO_ROWS}")


def _pieces(stack: ExitStack, text: TextFile, most: int = 1 << 22) -> Iterator[memoryview | bytes]:
    """Whole lines. Files are read ahead, but not the file objects of others, which may not like other threads."""
    chunks = text.chunks(min(most, 1 << 22))
    return whole_lines(stack.enter_context(read_ahead(chunks, _CHUNKS_AHEAD)) if text.is_path else chunks)


class ReadOptions:
    """How to read, checked."""

    def __init__(
        self,
        n_features: int | None,
        zero_based: bool | str,
        query_id: bool,
        multilabel: bool,
        dtype: DTypeLike,
        n_jobs: int | None,
    ) -> None:
        self.dtype = np.dtype(dtype)
        if self.dtype not in _READERS:
            raise ValueError(f"dtype={self.dtype}: values are read as float32 or float64; pass one of these")
        self.n_features = -1
        if n_features is not None:
            self.n_features = operator.index(n_features)
            if not 1 <= self.n_features <= _LARGEST_N_FEATURES:
                raise ValueError(f"n_features={n_features}: pass a number from 1 to 10^18, or None")
        if isinstance(zero_based, str) and zero_based != "auto":
            raise ValueError(f"zero_based={zero_based!r}: pass True, False or 'auto'")
        self.zero_based = None if isinstance(zero_based, str) else bool(zero_based)
        self.query_id, self.multilabel = bool(query_id), bool(multilabel)
        self.threads = count_threads(n_jobs)

    def reader(self, size: int) -> Any:
        """What reads about `size` bytes, or more."""
        threads = self.threads or max(1, min(usable_threads(), size // _BYTES_PER_THREAD))
        return _READERS[self.dtype](
            self.zero_based, self.n_features, self.query_id, self.multilabel, threads, _BLOCK_BYTES
        )

    def rows(self, reader: Any) -> tuple[Any, ...]:
        """What was read."""
        labels, ends, qids, values, columns, starts, width = reader.take(self.multilabel, self.query_id)
        X = make_csr((values, columns, starts), shape=(len(starts) - 1, width))
        X.has_canonical_format = True  # the parser insists on it: spare SciPy the search
        if self.multilabel:
            flat = labels.tolist()
            labels = [tuple(flat[first:last]) for first, last in pairwise([0, *ends.tolist()])]
        return (X, labels, qids) if self.query_id else (X, labels)

    def result(self, reader: Any, name: str) -> tuple[Any, ...]:
        rows = self.rows(reader)
        if not rows[0].shape[0]:
            raise ValueError(f"{name}: {_NO_ROWS}")
        return rows
