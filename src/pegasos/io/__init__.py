"""Reading and writing data and models."""

from pegasos.io.conll import read_conll
from pegasos.io.model import load_model, save_model
from pegasos.io.svmlight import read_svmlight, write_svmlight

__all__ = ["load_model", "read_conll", "read_svmlight", "save_model", "write_svmlight"]
