"""Reading and writing data."""

from pegasos.io.svmlight import read_svmlight, write_svmlight

__all__ = ["read_svmlight", "write_svmlight"]
