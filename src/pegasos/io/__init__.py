"""Reading and writing data and models."""

from pegasos.io.conll import read_conll
from pegasos.io.dataset import Dataset, open_dataset
from pegasos.io.dataset_writer import DatasetWriter, write_dataset
from pegasos.io.liblinear import read_liblinear_model, write_liblinear_model
from pegasos.io.libsvm import read_libsvm_model, write_libsvm_model
from pegasos.io.model import load_model, save_model
from pegasos.io.svmlight import iter_svmlight, read_svmlight
from pegasos.io.svmlight_writer import write_svmlight
from pegasos.io.table import iter_table, read_table
from pegasos.io.text import hash_text, read_text

__all__ = [
    "Dataset",
    "DatasetWriter",
    "hash_text",
    "iter_svmlight",
    "iter_table",
    "load_model",
    "open_dataset",
    "read_conll",
    "read_liblinear_model",
    "read_libsvm_model",
    "read_svmlight",
    "read_table",
    "read_text",
    "save_model",
    "write_dataset",
    "write_liblinear_model",
    "write_libsvm_model",
    "write_svmlight",
]
