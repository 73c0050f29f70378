"""Examples from a pipe, some thousand at a time: hashed text, or svmlight lines."""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.io.text import read_blocks, read_text_rows, shift_line

__all__ = ["Part", "read_svmlight_parts", "read_text_parts"]


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


def read_svmlight_parts(source: Any, zero_based: bool) -> Generator[Part]:
    """Lines in svmlight format; the number of features is that of the part."""
    if isinstance(source, str):
        with open(source, "rb", buffering=0) as file:
            yield from read_svmlight_parts(file, zero_based)
        return
    lines = 0
    for block in read_blocks(source):
        if block is None:
            continue
        text = block.tobytes()
        try:
            labels, values, columns, starts, width = native.parse_svmlight_float32(text, zero_based, -1)
        except ValueError as error:
            raise ValueError(f"{getattr(source, 'name', '<stream>')}: {shift_line(str(error), lines)}") from None
        lines += text.count(b"\n")
        yield Part(labels, np.ones(len(labels)), values, columns, starts, width)
