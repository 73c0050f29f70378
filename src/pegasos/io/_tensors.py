"""The tensors of a model file, checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tensors", "take"]

Tensors = dict[str, NDArray[Any]]


def take(
    tensors: Tensors, name: str, shape: tuple[int | None, ...], finite: bool = True, dtype: Any = np.float64
) -> NDArray[Any]:
    """The tensor of this name; a ValueError where it is not what it should be."""
    tensor = tensors[name]
    fits = len(tensor.shape) == len(shape) and all(s in (None, t) for s, t in zip(shape, tensor.shape, strict=True))
    if tensor.dtype != dtype or not fits:
        expected = " x ".join("any" if size is None else str(size) for size in shape)
        wanted = f"{np.dtype(dtype)} of shape {expected}"
        raise ValueError(f"{name!r} is {tensor.dtype} of shape {tensor.shape}, not {wanted}")
    if finite and not np.isfinite(tensor).all():
        raise ValueError(f"{name!r} has NaN or infinity in it")
    return tensor
