"""Data sets on disk, for training without parsing again and without all of it in memory.

A data set is a folder: ``header.json`` tells sizes, types and checksums, and each array has a file of its own, in the
machine's own format: ``values``, and for sparse rows ``columns`` and ``starts`` (a CSR matrix), ``labels``, and
``weights`` where examples have some.
"""

import errno
import json
import os
import stat
import weakref
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pegasos._core import native
from pegasos.config import make_csr

HEADER = "header.json"
FORMAT, VERSION = "pegasos-dataset", 1
#: The types that an array may have.
TYPES = {
    "values": ("<f4", "<f8"),
    "columns": ("<i4",),
    "starts": ("<i8",),
    "labels": ("<f8", "<i8", "<i4"),
    "weights": ("<f8",),
}
#: Numbers that are read at a time, where all of them are.
PIECE = 1 << 21
#: Whether a folder can be held open, with all that is in it.
_HOLDS_FOLDERS = os.open in os.supports_dir_fd
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@dataclass(frozen=True)
class Labels:
    """The different labels of a data set, with how often each occurs and what its examples weigh."""

    values: NDArray[Any]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]


class Dataset:
    """A data set on disk, as `open_dataset` returns it.

    ``LinearSVC().fit(dataset)`` and ``LinearSVR().fit(dataset)`` train on it: from a copy in memory if it fits into
    `memory_limit`, otherwise by blocks. `X`, `y` and `sample_weight` are memory maps.

    Attributes
    ----------
    path : str
        The folder.
    shape : tuple of int
        Numbers of examples and features.
    nnz : int
        The number of stored entries.
    nbytes : int
        The number of bytes of all arrays.
    dtype : numpy.dtype
        The type of the entries.
    storage : {"csr", "dense"}
        How rows are stored.
    labels : Labels or None
        The different labels; None if there are more than 10,000, as in regression.
    feature_names : list of str or None
        The names of the features, if they have names.
    total_weight : float
        The total weight of the examples; without weights, their number.
    memory_limit : int or None
        Bytes that a fit may use; None means half of the free memory.
    """

    def __init__(self, path: str, header: dict[str, Any], memory_limit: int | None, folder: int | None = None) -> None:
        self.path = path
        self.memory_limit = memory_limit
        self.shape: tuple[int, int] = (header["rows"], header["features"])
        self.storage: str = header["storage"]
        self.feature_names: list[str] | None = header.get("feature_names")
        self.total_weight = float(header["total_weight"])
        self._header = header
        #: Kept open, so that a data set that is replaced meanwhile stays what it was.
        self._files: dict[str, int] = {}
        self._arrays = {name: self._map(name, folder) for name in header["arrays"]}
        self._classes = None if header["classes"] is None else np.array(header["classes"])
        self.labels = self._labels()

    def __repr__(self) -> str:
        rows, features = self.shape
        return f"<pegasos data set {self.path!r}: {rows:,} examples x {features:,} features, {self.nnz:,} entries>"

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> Any:
        return _reopen, (self.path, self.memory_limit, self._header["crc32"])

    def describe(self) -> str:
        """What a fit to it rests on: the header, which has the checksums of all arrays, and the memory."""
        return json.dumps([self._header, self.memory_limit], sort_keys=True)

    @property
    def nnz(self) -> int:
        return len(self._arrays["values"])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._arrays["values"].dtype

    @property
    def X(self) -> Any:
        """All examples, memory-mapped: a CSR matrix or an array."""
        return self._matrix(self._arrays)

    def load(self) -> tuple[Any, NDArray[Any], NDArray[np.float64] | None]:
        """Examples, labels and weights in memory of their own, compared with their checksums as they are read.

        What becomes of the files later does not matter then. A memory map of a file that is cut short ends the process,
        and one of a file that is overwritten is no longer what was checked.
        """
        arrays = {name: self.read(name) for name in self._arrays}
        return self._matrix(arrays), self.decode(arrays["labels"]), arrays.get("weights")

    def read(self, name: str) -> NDArray[Any]:
        """One of the arrays in memory of its own, compared with its checksum."""
        array = np.empty(len(self._arrays[name]), self.dtype_of(name))
        self._read_all(name, array)
        return array

    def read_pieces(
        self, name: str, begins: NDArray[np.int64], counts: NDArray[np.int64], to: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Fill an array with pieces of a stored one; the checksum of each."""
        try:
            return native.read_pieces(self._files[name], begins * to.itemsize, counts * to.itemsize, to.view(np.uint8))
        except EOFError:
            raise self.damaged(name, "was cut short while it was read") from None

    def compare(self, name: str, checksums: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
        """Raise a ValueError where the pieces that an array consists of have other checksums than it had."""
        found = native.join_checksums(checksums, counts * self.dtype_of(name).itemsize)
        if found != self._header["arrays"][name]["crc32"]:
            raise self.damaged(name, "has another checksum than when it was written")

    def _read_all(self, name: str, to: NDArray[Any] | None = None) -> None:
        """Compare an array with its checksum, piece by piece, and keep it where it is wanted."""
        borders = np.append(np.arange(0, len(self._arrays[name]), PIECE), len(self._arrays[name]))
        counts, room = np.diff(borders), np.empty(PIECE if to is None else 0, self.dtype_of(name))
        checksums = np.empty(len(counts), np.int64)
        for k, count in enumerate(counts.tolist()):
            piece = room[:count] if to is None else to[borders[k] : borders[k + 1]]
            checksums[k] = self.read_pieces(name, borders[k : k + 1], counts[k : k + 1], piece)[0]
        self.compare(name, checksums, counts)

    def _matrix(self, arrays: dict[str, NDArray[Any]]) -> Any:
        if self.storage == "dense":
            return arrays["values"].reshape(self.shape)
        starts = arrays["starts"]
        if starts[0] != 0 or starts[-1] != self.nnz:
            raise self.damaged("starts", "does not fit the entries")
        X = make_csr(self.shape, dtype=self.dtype)
        X.data, X.indices = arrays["values"], arrays["columns"]
        X.indptr = starts.astype(np.int32) if self.nnz < 2**31 else starts
        X.has_sorted_indices = X.has_canonical_format = True  # the writer sees to it
        return X

    @property
    def y(self) -> NDArray[Any]:
        """The label or target of each example."""
        return self.decode(self._arrays["labels"])

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The weight of each example; None if they have no weights."""
        return self._arrays.get("weights")

    @property
    def names(self) -> list[str]:
        """Those of the arrays."""
        return list(self._arrays)

    def dtype_of(self, name: str) -> np.dtype[Any]:
        """The type of an array."""
        return self._arrays[name].dtype

    def file(self, name: str) -> str:
        """The path of an array's file."""
        return os.path.join(self.path, name)

    def decode(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Labels as they were given, from what is stored."""
        if self._classes is None:
            return labels
        if len(labels) and not (labels.min() >= 0 and labels.max() < len(self._classes)):
            raise self.damaged("labels", "has numbers of classes that there are not")
        return np.take(self._classes, labels)

    def verify(self) -> None:
        """Read all files and compare their checksums; a ValueError names a file that was changed."""
        for name in self._arrays:
            self._read_all(name)

    def damaged(self, name: str, what: str) -> ValueError:
        """The error for a file that is not as it was written."""
        return ValueError(f"{self.file(name)} {what}; convert the data anew")

    def _map(self, name: str, folder: int | None) -> NDArray[Any]:
        entry = self._header["arrays"][name]
        dtype, length = np.dtype(entry["dtype"]), entry["length"]
        try:
            self._files[name] = _open_in(folder, self.file(name))
        except FileNotFoundError:
            raise self.damaged(name, "is missing") from None
        weakref.finalize(self, os.close, self._files[name])
        size = os.fstat(self._files[name]).st_size
        if size != length * dtype.itemsize:
            raise self.damaged(name, f"has {size:,} bytes and should have {length * dtype.itemsize:,}")
        if length == 0:  # which cannot be mapped
            return np.empty(0, dtype)
        with open(self._files[name], "rb", closefd=False) as file:
            try:
                return np.memmap(file, dtype, "r", shape=(length,))
            except ValueError:
                raise self.damaged(name, "was cut short while it was opened") from None

    def _labels(self) -> Labels | None:
        summary = self._header["labels"]
        if summary is None:
            return None
        values = np.array(summary["values"], dtype=self._arrays["labels"].dtype)
        return Labels(
            self.decode(values), np.array(summary["counts"], np.int64), np.array(summary["weights"], np.float64)
        )


def open_dataset(path: str | os.PathLike[str], *, memory_limit: int | str | None = None) -> Dataset:
    """Open a data set that `write_dataset` or ``pegasos convert`` wrote.

    Parameters
    ----------
    path : path
        Its folder.
    memory_limit : int or str, optional
        Memory that a fit may use, as a number of bytes or in words: ``"1GB"``, ``"512MB"``. By default half of the free
        memory. A data set that fits is trained on in memory, any other by blocks. The process itself counts for 210 MB
        of it, whatever it takes; the system's cache of files does not count.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If it is no data set, or its files are missing or cut short. `Dataset.verify`, and fits and predictions as they
        read, compare the checksums.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> from pegasos.datasets import make_text
    >>> X, y = make_text(1000, 500, random_state=0)
    >>> path = os.path.join(tempfile.mkdtemp(), "train.ds")
    >>> dataset = pegasos.io.write_dataset(path, X, y)
    >>> dataset = pegasos.io.open_dataset(path)
    >>> dataset.shape, dataset.labels.values.tolist()
    ((1000, 500), [-1, 1])
    >>> pegasos.LinearSVC(random_state=0).fit(dataset).certificate_.converged
    True
    """
    folder = os.fspath(path)
    limit = None if memory_limit is None else bytes_of(memory_limit)
    if not is_dataset(folder):
        raise FileNotFoundError(
            f"{folder} is no data set: it has no {HEADER}; pegasos convert makes one of a file, and "
            "pegasos.io.write_dataset of arrays"
        )
    while True:
        at = os.open(folder, os.O_RDONLY) if _HOLDS_FOLDERS else None
        try:
            return Dataset(folder, _read_header(at, os.path.join(folder, HEADER)), limit, at)
        except (OSError, ValueError):
            if at is None or not _is_replaced(at, folder):
                raise
        finally:
            if at is not None:
                os.close(at)


def _read_header(folder: int | None, path: str) -> dict[str, Any]:
    """The header, checked."""
    try:
        with open(_open_in(folder, path), "rb") as file:
            header: dict[str, Any] = json.loads(file.read())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}; convert the data anew") from None
    try:
        _check_header(header)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} is no header of a data set of version {VERSION} ({error}); convert the data anew"
        ) from None
    return header


def _open_in(folder: int | None, path: str) -> int:
    """Open a file of a folder that is open, which stays the same where another takes its name."""
    name = path if folder is None else os.path.basename(path)
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder).st_mode):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return os.open(name, os.O_RDONLY, dir_fd=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _is_replaced(folder: int, path: str) -> bool:
    """Whether a folder that is open no longer has the name."""
    try:
        return not os.path.samestat(os.fstat(folder), os.stat(path))
    except OSError:
        return False


def _reopen(path: str, memory_limit: int | None, checksum: int | None = None) -> Dataset:
    dataset = open_dataset(path, memory_limit=memory_limit)
    if checksum not in (None, dataset._header["crc32"]):  # older versions sent none
        raise ValueError(f"{path} was replaced since it was opened, and has other data; open it anew")
    return dataset


def is_dataset(path: str | os.PathLike[str]) -> bool:
    """Whether the path is that of a data set's folder."""
    return os.path.isfile(os.path.join(path, HEADER))


def bytes_of(given: int | str) -> int:
    """A number of bytes, from a number or words such as "1.5GB"; a ValueError where it is none."""
    text = str(given).strip().lower().removesuffix("b")
    binary, text = text.endswith("i"), text.removesuffix("i")
    unit = text[-1:] if text[-1:] in _UNITS else ""
    try:
        size = 1024 ** "kmgt".index(unit) * 1024 if binary and unit else _UNITS[unit]
        result = int(float(text.removesuffix(unit)) * size)
    except (ValueError, OverflowError):
        result = 0
    if isinstance(given, bool) or result < 1:
        raise ValueError(f"memory_limit={given!r}: give a number of bytes, or words such as '1GB' or '512MB'")
    return result


def bytes_view(array: NDArray[Any]) -> memoryview:
    """The bytes of a contiguous array, not copied."""
    data: Any = array
    return memoryview(data).cast("B") if array.size else memoryview(b"")  # what is empty cannot be cast


def checksum(array: NDArray[Any], before: int = 0) -> int:
    """CRC-32 of the bytes, in pieces, after those that have the checksum `before`."""
    data = array.reshape(-1).view(np.uint8)
    for first in range(0, len(data), 1 << 26):
        before = native.crc32(data[first : first + (1 << 26)], before)
    return before


def header_checksum(header: dict[str, Any]) -> int:
    """Of all that a header has but this."""
    rest = {name: value for name, value in header.items() if name != "crc32"}
    return zlib.crc32(json.dumps(rest, sort_keys=True).encode())


def _check_header(header: Any) -> None:
    """Raise an error of some kind where a header is none."""
    if header["format"] != FORMAT or header["version"] != VERSION:
        raise ValueError(f"format {header['format']!r}, version {header['version']!r}")
    if header["crc32"] != header_checksum(header):
        raise ValueError("it has another checksum than when it was written")
    rows, features, arrays = header["rows"], header["features"], header["arrays"]
    for count in (rows, features, *(entry["length"] for entry in arrays.values())):
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 2**62:
            raise ValueError(f"{count!r} is no count")
    lengths = {"labels": rows}
    if header["storage"] == "csr":
        lengths |= {"starts": rows + 1, "columns": arrays["values"]["length"]}
    elif header["storage"] == "dense":
        lengths["values"] = rows * features
    else:
        raise ValueError(f"storage {header['storage']!r}")
    if "weights" in arrays:
        lengths["weights"] = rows
    if set(arrays) != {*lengths, "values"}:
        raise ValueError(f"arrays {', '.join(arrays)}")
    for name, entry in arrays.items():
        if entry["dtype"] not in TYPES[name] or entry["length"] != lengths.get(name, entry["length"]):
            raise ValueError(f"{name} of type {entry['dtype']!r} and length {entry['length']}")
        if not isinstance(entry["crc32"], int):
            raise ValueError(f"checksum {entry['crc32']!r}")
    if rows < 1 or not 1 <= features < 2**31:
        raise ValueError(f"{rows} rows of {features} features")
    if not 0 < float(header["total_weight"]) < float("inf"):
        raise ValueError(f"total weight {header['total_weight']!r}")
    names = header.get("feature_names")  # which older files do not have
    if names is not None and not (len(names) == features and all(isinstance(name, str) for name in names)):
        raise ValueError("feature_names")
    classes, labels = header["classes"], header["labels"]
    if classes is not None and not (isinstance(classes, list) and all(isinstance(name, str) for name in classes)):
        raise ValueError("classes")
    if labels is not None:
        np.array(labels["values"], dtype=arrays["labels"]["dtype"]), np.array(labels["counts"], dtype=np.int64)
        table = np.array([labels["values"], labels["counts"], labels["weights"]], dtype=np.float64)
        if table.ndim != 2 or not np.isfinite(table).all() or (table[1:] < 0).any():
            raise ValueError("labels")
