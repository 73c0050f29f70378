"""Examples from a pipe, some thousand at a time: hashed text, or svmlight lines."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.io.svmlight import ReadOptions, iter_svmlight
from pegasos.io.text import read_blocks, read_text_rows

__all__ = ["Part", "read_svmlight_parts", "read_text_parts"]


#: Bytes of svmlight text that make a part.
PART_BYTES = 1 << 20


class Part(NamedTuple):
    """Some examples, as the core takes them."""

    labels: NDArray[np.float64]
    weights: NDArray[np.float64]
    values: NDArray[np.float32]
    columns: NDArray[Any]
    starts: NDArray[Any]
    n_features: int

    def rows(self, first: int, last: int, n_features: int, bias: float) -> native.Rows:
        """Those from `first` to `last`, without a copy."""
        return native.csr_rows(self.values, self.columns, self.starts[first : last + 1], n_features, bias)


def read_text_parts(source: Any, hash_bits: int, n_jobs: int) -> Generator[Part]:
    """Lines in Vowpal Wabbit's format. Every one must have a label."""
    line = 1
    for rows in read_text_rows(source, hash_bits, n_jobs=n_jobs):
        if np.isnan(rows.labels).any():
            raise ValueError(
                f"{getattr(source, 'name', source)}: an example between lines {line} and {line + rows.lines - 1} has "
                "no label to learn; write label | features"
            )
        line += rows.lines
        yield Part(rows.labels, rows.weights, rows.values, rows.columns, rows.starts, 1 << hash_bits)


def read_svmlight_parts(source: Any, zero_based: bool, n_jobs: int) -> Generator[Part]:
    """Lines in svmlight format; the number of features grows from part to part."""
    if isinstance(source, str):
        pieces = iter_svmlight(source, chunk_bytes=PART_BYTES, zero_based=zero_based, dtype=np.float32, n_jobs=n_jobs)
    else:
        pieces = _read_pipe(source, ReadOptions(None, zero_based, False, False, np.float32, n_jobs))
    for X, y in pieces:
        yield Part(y, np.ones(len(y)), X.data, X.indices, X.indptr, X.shape[1])


def _read_pipe(source: Any, options: ReadOptions) -> Generator[Any]:
    """What is there so far, even where the pipe has run dry."""
    reader = options.reader(PART_BYTES)
    for block in read_blocks(source):
        if block is not None:
            try:
                reader.add_bytes(block)
                yield options.rows(reader)
            except ValueError as error:
                raise ValueError(f"{getattr(source, 'name', '<stream>')}: {error}") from None
