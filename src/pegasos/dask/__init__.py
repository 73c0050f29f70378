"""Linear estimators for Dask arrays, data frames and delayed partitions, with a certificate; examples do not move.

They need a Dask cluster, and the packages dask and distributed: `pegasos.dask.LinearSVC` and `pegasos.dask.LinearSVR`.
"""

try:
    from pegasos.dask.estimators import LinearSVC, LinearSVR
except ModuleNotFoundError as _error:
    if _error.name not in ("dask", "distributed"):
        raise
    raise ImportError("pegasos.dask needs Dask and its workers; install dask[array,dataframe,distributed]") from _error

__all__ = ["LinearSVC", "LinearSVR"]
