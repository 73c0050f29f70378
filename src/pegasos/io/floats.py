"""The types of numbers that examples are kept in."""

from typing import Any

import numpy as np

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def float_types(X: Any) -> tuple[np.dtype[Any], ...]:
    """The types that X may have. One of another type becomes the first: float32 of another byte order float32."""
    dtype = getattr(X, "dtype", None)
    single = isinstance(dtype, np.dtype) and dtype.newbyteorder("=") == np.float32
    return FLOATS[::-1] if single else FLOATS
