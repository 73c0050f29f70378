"""Linear machines on Dask arrays, data frames and delayed partitions, certified; the examples stay where they are.

They need a Dask cluster (``pip install 'pegasos[dask]'``): `pegasos.dask.LinearSVC` and `pegasos.dask.LinearSVR`.
"""

try:
    from pegasos.dask.estimators import LinearSVC, LinearSVR
except ModuleNotFoundError as _error:
    if _error.name not in ("dask", "distributed"):
        raise
    raise ImportError("pegasos.dask needs Dask and its workers: pip install 'pegasos[dask]'") from _error

__all__ = ["LinearSVC", "LinearSVR"]
