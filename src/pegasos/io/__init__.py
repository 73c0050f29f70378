"""Reading and writing data and models."""

from pegasos.io.conll import read_conll
from pegasos.io.model import load_model, save_model
from pegasos.io.svmlight import read_svmlight, write_svmlight
from pegasos.io.text import hash_text, read_text

__all__ = ["hash_text", "load_model", "read_conll", "read_svmlight", "read_text", "save_model", "write_svmlight"]
