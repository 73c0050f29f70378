"""Linear machines on Dask arrays, data frames and delayed partitions, certified; the examples stay where they are.

They need a Dask cluster (``pip install 'pegasos[dask]'``): `pegasos.dask.LinearSVC` and `pegasos.dask.LinearSVR`.
"""

try:
    import dask as _dask  # noqa: F401
    import distributed as _distributed  # noqa: F401
except ImportError as _error:  # pragma: no cover
    raise ImportError("pegasos.dask needs Dask and its workers: pip install 'pegasos[dask]'") from _error

from pegasos.dask.estimators import LinearSVC, LinearSVR

__all__ = ["LinearSVC", "LinearSVR"]
