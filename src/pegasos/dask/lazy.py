"""Predictions on Dask collections, computed when they are asked for, where the examples are."""

from typing import Any

import dask
import numpy as np


def apply(model: Any, method: str, X: Any, n_columns: int, dtype: Any) -> Any:
    """The method of a local model on each partition of X, lazily: an array for an array, a series or a data frame for
    a data frame, a list for a list; `n_columns` is 0 where it has one dimension."""
    if isinstance(X, list | tuple):
        function = dask.delayed(_call)
        return [function(model, method, part) for part in X]
    if hasattr(X, "divisions"):
        import pandas as pd

        empty = np.empty((0, n_columns) if n_columns else 0, dtype=dtype)
        meta = pd.DataFrame(empty) if n_columns else pd.Series(empty)
        return X.map_partitions(_on_frame, model=model, method=method, n_columns=n_columns, dtype=dtype, meta=meta)
    if not hasattr(X, "chunks"):
        return dask.delayed(_call)(model, method, X)
    import dask.array as da

    shape = {"chunks": (X.chunks[0], (n_columns,))} if n_columns else {"drop_axis": 1}
    meta = np.empty((0,) * (2 if n_columns else 1), dtype=dtype)
    return da.map_blocks(_call_on, X, model=model, method=method, dtype=dtype, meta=meta, **shape)


def _call(model: Any, method: str, X: Any) -> Any:
    return getattr(model, method)(X)


def _call_on(X: Any, model: Any, method: str) -> Any:
    return getattr(model, method)(X)


def _on_frame(X: Any, model: Any, method: str, n_columns: int, dtype: Any) -> Any:
    import pandas as pd

    values = getattr(model, method)(X) if len(X) else np.empty((0, n_columns) if n_columns else 0, dtype=dtype)
    return (pd.DataFrame if n_columns else pd.Series)(values, index=X.index)
