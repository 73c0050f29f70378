"""Dask arrays, data frames, or lists of delayed partitions: cut into partitions for `fit`, and predictions on them."""

from typing import Any

import dask
import numpy as np


def is_collection(X: Any) -> bool:
    """Whether it is one of Dask's, or a list of delayed partitions."""
    return dask.is_dask_collection(X) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(map(dask.is_dask_collection, X))
    )


def split(X: Any, y: Any, sample_weight: Any = None) -> list[tuple[Any, Any, Any]]:
    """The delayed partitions of X with those of y and the weights, None where there are none."""
    if y is None and isinstance(X, list | tuple):
        return _pairs(X, sample_weight)
    if not is_collection(X):
        raise TypeError(
            f"X is of type {type(X).__name__}, which is not spread over workers; pass a Dask array or data frame, or a "
            "list of delayed partitions, or use the estimator of the same name in pegasos"
        )
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    parts = _parts(X, "X")
    others = [_aligned(y, X, len(parts), "y")]
    nothing = [None] * len(parts)
    others.append(nothing if sample_weight is None else _aligned(sample_weight, X, len(parts), "sample_weight"))
    return list(zip(parts, *others, strict=True))


def _pairs(X: Any, sample_weight: Any) -> list[tuple[Any, Any, Any]]:
    """Of a list of partitions that hold X and y together: pairs of delayed, or delayed pairs."""
    if sample_weight is not None:
        raise ValueError("sample_weight with partitions (X, y): put the weights third, (X, y, sample_weight)")
    found = []
    for part in X:
        length = len(part) if isinstance(part, list | tuple) else getattr(part, "_length", None)
        if length in (2, 3) and (isinstance(part, list | tuple) or dask.is_dask_collection(part)):
            found.append((part[0], part[1], part[2] if length == 3 else None))
        elif length is None and dask.is_dask_collection(part):  # it knows when it is there
            found.append((part[0], part[1], dask.delayed(_third)(part)))
        else:
            raise ValueError(
                f"y is None, and a partition is of type {type(part).__name__}; pass y, or partitions (X, y) or "
                "(X, y, sample_weight)"
            )
    return found


def _third(part: Any) -> Any:
    return part[2] if len(part) > 2 else None


def _parts(X: Any, name: str) -> list[Any]:
    """The delayed partitions."""
    if isinstance(X, list | tuple):
        return list(X)
    if hasattr(X, "npartitions") and hasattr(X, "divisions"):
        return list(X.to_delayed())
    if not hasattr(X, "chunks"):
        return [X]  # one delayed
    if X.ndim == 2 and X.numblocks[1] > 1:
        raise ValueError(
            f"{name} has its columns in {X.numblocks[1]} chunks; a row must be in one: {name}.rechunk({{1: -1}})"
        )
    if X.ndim > 2:
        raise ValueError(f"{name} has {X.ndim} dimensions; it must have rows and columns")
    return list(X.to_delayed().ravel())


def _aligned(values: Any, X: Any, count: int, name: str) -> list[Any]:
    """The partitions of y or the weights, cut as those of X."""
    rows = X.chunks[0] if hasattr(X, "chunks") and not isinstance(X, list | tuple) else None
    if hasattr(values, "chunks") and rows is not None and values.chunks[0] != rows:
        if len(values.chunks[0]) != len(rows) or not np.isnan([*values.chunks[0], *rows]).any():
            if sum(values.chunks[0]) != sum(rows):
                raise ValueError(
                    f"X and {name} have inconsistent numbers of samples: {sum(rows)} and {sum(values.chunks[0])}; give "
                    "one value for each row of X"
                )
            values = values.rechunk({0: rows})
    elif isinstance(values, np.ndarray) and rows is not None and not np.isnan(rows).any():
        if len(values) != sum(rows):
            raise ValueError(
                f"X and {name} have inconsistent numbers of samples: {sum(rows)} and {len(values)}; give one value for "
                "each row of X"
            )
        return np.split(values, np.cumsum(rows)[:-1])
    if not is_collection(values):
        raise TypeError(f"{name} is of type {type(values).__name__}; pass it as X, in Dask's collections or delayed")
    parts = _parts(values, name)
    if len(parts) != count:
        raise ValueError(
            f"X has {count} partitions and {name} has {len(parts)}; cut them at the same rows (rechunk, or repartition)"
        )
    return parts


def apply(model: Any, method: str, X: Any, n_columns: int, dtype: Any) -> Any:
    """The method of a local model on each partition of X, lazily: an array for an array, a series or a data frame for
    a data frame, a list for a list; `n_columns` is 0 where it has one dimension."""
    if isinstance(X, list | tuple):
        function = dask.delayed(_call)
        return [function(part, model, method) for part in X]
    if hasattr(X, "divisions"):
        import pandas as pd

        empty = np.empty((0, n_columns) if n_columns else 0, dtype=dtype)
        meta = pd.DataFrame(empty) if n_columns else pd.Series(empty)
        return X.map_partitions(_on_frame, model=model, method=method, n_columns=n_columns, dtype=dtype, meta=meta)
    if not hasattr(X, "chunks"):
        return dask.delayed(_call)(X, model, method)
    import dask.array as da

    shape = {"chunks": (X.chunks[0], (n_columns,))} if n_columns else {"drop_axis": 1}
    meta = np.empty((0,) * (2 if n_columns else 1), dtype=dtype)
    return da.map_blocks(_call, X, model=model, method=method, dtype=dtype, meta=meta, **shape)


def _call(X: Any, model: Any, method: str) -> Any:
    return getattr(model, method)(X)


def _on_frame(X: Any, model: Any, method: str, n_columns: int, dtype: Any) -> Any:
    import pandas as pd

    values = getattr(model, method)(X) if len(X) else np.empty((0, n_columns) if n_columns else 0, dtype=dtype)
    return (pd.DataFrame if n_columns else pd.Series)(values, index=X.index)
