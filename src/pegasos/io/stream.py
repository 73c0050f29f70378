"""Examples from a pipe, some thousand at a time: hashed text, or svmlight lines."""

import functools
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos._threads import usable_threads
from pegasos.config import make_csr
from pegasos.io.svmlight import ReadOptions, iter_svmlight
from pegasos.io.text import parse_ahead, read_text_rows

#: Bytes of svmlight text that make a part.
PART_BYTES = 1 << 20


class ParsedRows(NamedTuple):
    """Some examples, as the core takes them."""

    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    values: NDArray[np.float32]
    columns: NDArray[Any]
    starts: NDArray[Any]
    n_features: int

    @property
    def matrix(self) -> Any:
        """Their features, without a copy."""
        return make_csr((self.values, self.columns, self.starts), shape=(len(self.labels), self.n_features))

    def rows(self, first: int, last: int, n_features: int, bias: float) -> native.Rows:
        """Those from `first` to `last`, without a copy."""
        return native.csr_rows(self.values, self.columns, self.starts[first : last + 1], n_features, bias)


def read_text_parts(source: Any, hash_bits: int) -> Generator[ParsedRows]:
    """Lines in Vowpal Wabbit's format. Every one must have a label."""
    line = 1
    for rows in read_text_rows(source, hash_bits, n_jobs=usable_threads()):
        if np.isnan(rows.labels).any():
            raise ValueError(
                f"{getattr(source, 'name', source)}: an example between lines {line} and {line + rows.lines - 1} has "
                "no label to learn; write label | features"
            )
        line += rows.lines
        yield ParsedRows(rows.labels, rows.weights, rows.values, rows.columns, rows.starts, 1 << hash_bits)


def read_svmlight_parts(source: Any, zero_based: bool) -> Generator[ParsedRows]:
    """Lines in svmlight format, from a pipe as they come; the number of features is that of the part."""
    if isinstance(source, str):
        for X, y in iter_svmlight(source, chunk_bytes=PART_BYTES, zero_based=zero_based, dtype=np.float32):
            yield _part(X, y)
        return
    options = ReadOptions(None, zero_based, False, False, np.float32, 1)
    yield from parse_ahead(source, functools.partial(_parse, options), usable_threads())


def _parse(options: ReadOptions, block: NDArray[np.uint8]) -> ParsedRows:
    """The examples of a block."""
    reader = options.reader(PART_BYTES)
    reader.add_bytes(block)
    return _part(*options.rows(reader))


def _part(X: Any, y: NDArray[np.float64]) -> ParsedRows:
    return ParsedRows(y, np.ones(len(y)), X.data, X.indices, X.indptr, X.shape[1])
