"""Changes to files that keep what holds them together: lengths, offsets and checksums.

Without them nearly every change is refused at the first look, and what comes after that is never reached.
"""

import copy
import json
import zlib
from random import Random
from typing import Any, NamedTuple

import numpy as np

from pegasos.io.dataset import header_checksum

ODD_VALUES: list[Any] = [
    *(None, True, False, "", "x", "nan", "\0", "\ud800", [], {}, [[]], [None], {"": 0}),
    *(0, 1, 2, -1, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63), 10**400),
    *(0.5, -0.0, 1e-320, 1e308, -1e308, float("nan"), float("inf"), float("-inf")),
]
#: The types of safetensors; NumPy has no name for some.
TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "BOOL": "?",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "<u1",
    "BF16": None,
    "F8_E4M3": None,
}


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Where there is something in nested lists and dictionaries: what holds it, and its key."""
    items = list(tree.items() if isinstance(tree, dict) else enumerate(tree)) if isinstance(tree, dict | list) else []
    return [place for key, value in items for place in [(tree, key), *places(value)]]


def change_tree(tree: Any, rng: Random) -> None:
    """Change something in nested lists and dictionaries."""
    all_places = places(tree)
    if not all_places:
        return
    holder, key = rng.choice(all_places)
    value = holder[key]
    match rng.randrange(7):
        case 0:
            del holder[key]
        case 1:
            holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))
        case 2 if isinstance(value, int | float) and value == value:
            holder[key] = value + rng.choice([-1, 1]) if abs(value) < 2**62 else -value
        case 2 if isinstance(value, str):
            at = rng.randint(0, len(value))
            holder[key] = value[:at] + rng.choice(["", "\0", "%", "é", ":", "x", value[at:] * 2])
        case 3:
            other, its_key = rng.choice(all_places)
            holder[key] = copy.deepcopy(other[its_key])
        case 4 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(value))
        case 4:
            holder[rng.choice(["", "x", str(key) + "x"])] = holder.pop(key)
        case 5:
            holder[key] = [value]
        case _:
            holder[key] = rng.choice(ODD_VALUES[-20:])


def change_bytes(data: bytes, rng: Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(changed))
        match rng.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del changed[at : at + rng.randint(1, 8)]
            case 2:
                changed[at:at] = changed[at : at + rng.randint(1, 20)]
            case 3:
                del changed[at:]
            case 4:
                changed[at : at + 8] = rng.choice([b"\xff", b"\0", b"\x7f", b"\x80"]) * rng.choice([1, 4, 8])
    return bytes(changed)


def change_array(data: bytes, dtype: str | None, rng: Random) -> bytes:
    """Change a number of an array, or what it has of them."""
    if dtype is None or not data or rng.random() < 0.2:
        return change_bytes(data, rng)
    array = np.frombuffer(data[: len(data) // np.dtype(dtype).itemsize * np.dtype(dtype).itemsize], dtype).copy()
    if not len(array):
        return data
    if array.dtype.kind == "f":
        odd = [0, -1, 1, np.nan, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).tiny]
    elif array.dtype.kind == "b":
        odd = [0, 1]
    else:
        odd = [0, 1, len(array), np.iinfo(dtype).max, np.iinfo(dtype).min]
    at = rng.randrange(len(array))
    match rng.randrange(4):
        case 0:
            array[at] = rng.choice(odd)
        case 1:
            array[at] = array[rng.randrange(len(array))]
        case 2:
            array[:] = rng.choice(odd)
        case 3:
            array = array[:at] if rng.random() < 0.5 else np.append(array, array[at])
    return array.tobytes()


class Tensor(NamedTuple):
    """One of a safetensors file."""

    dtype: str
    shape: list[Any]
    data: bytes


def split_model(data: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Metadata, with the header of the model read, and tensors; an error of some kind where it is no model."""
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    metadata = entries.pop("__metadata__")
    metadata["header"] = json.loads(metadata["header"])
    body = data[8 + length :]
    return metadata, {
        name: Tensor(e["dtype"], e["shape"], body[slice(*e["data_offsets"])]) for name, e in entries.items()
    }


def join_model(metadata: dict[str, Any], tensors: dict[str, Tensor]) -> bytes:
    """The file; without a checksum, as older versions wrote it."""
    entries: dict[str, Any] = {
        "__metadata__": {name: value for name, value in metadata.items() if name != "checksum"}
        | {"header": json.dumps(metadata["header"])}
    }
    at = 0
    for name, tensor in tensors.items():
        end = at + len(tensor.data)
        entries[name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(tensor.data for tensor in tensors.values())


def change_model(data: bytes, rng: Random) -> bytes:
    metadata, tensors = split_model(data)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.5 or not tensors:
            change_tree(metadata, rng)
            continue
        name = rng.choice(list(tensors))
        tensor = tensors[name]
        match rng.randrange(6):
            case 0:
                del tensors[name]
            case 1:
                tensors[rng.choice([name + "x", *tensors])] = tensor
            case 2:
                tensors[name] = tensor._replace(dtype=rng.choice(list(TYPES)))
            case 3:
                tensors[name] = tensor._replace(shape=rng.choice([tensor.shape[::-1], [1, *tensor.shape], [0], []]))
            case _:
                dtype = TYPES[tensor.dtype]
                changed = change_array(tensor.data, dtype, rng)
                size = np.dtype(dtype or "<u2").itemsize
                if len(changed) != len(tensor.data) and len(tensor.shape) == 1:
                    tensor = tensor._replace(shape=[len(changed) // size])
                tensors[name] = tensor._replace(data=changed)
    return join_model(metadata, tensors)


def split_dataset(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header, which is the first line, and of the rest the arrays, as long as the header says."""
    line, _, rest = data.partition(b"\n")
    header, arrays = json.loads(line), {}
    for name, entry in header["arrays"].items():
        size = int(entry["length"]) * np.dtype(entry["dtype"]).itemsize
        arrays[str(name)], rest = rest[: max(size, 0)], rest[max(size, 0) :]
    return header, arrays


def join_dataset(header: dict[str, Any], arrays: dict[str, bytes]) -> bytes:
    for name, array in arrays.items():
        header["arrays"][name]["crc32"] = zlib.crc32(array)
    header["crc32"] = header_checksum(header)
    return json.dumps(header).encode() + b"\n" + b"".join(arrays.values())


def change_dataset(data: bytes, rng: Random) -> bytes:
    header, arrays = split_dataset(data)
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        if rng.random() < 0.5:
            before = copy.deepcopy(header)
            change_tree(header, rng)
            if rng.random() < 0.5 and header.get("arrays", {}).keys() != before["arrays"].keys():
                header = before
            continue
        dtype = header["arrays"][name]["dtype"]
        arrays[name] = change_array(arrays[name], dtype, rng)
        if rng.random() < 0.7:
            header["arrays"][name]["length"] = len(arrays[name]) // np.dtype(dtype).itemsize
    return join_dataset(header, arrays)


def change_checkpoint(data: bytes, rng: Random) -> bytes:
    """Of the manifest, or of what the file of a run says."""
    which, *lines = data.split(b"\n")
    trees = [json.loads(line) for line in lines]
    change_tree(rng.choice(trees), rng)
    return b"\n".join([which, *(json.dumps(tree).encode() for tree in trees)])


ODD_WORDS = "0 1 2 3 -1 1e308 -1e308 1e-320 nan inf 0x1 1_0 2147483647 4294967296 : 1: :1 0:1 2147483648:1 w SV x"


def change_words(data: bytes, rng: Random) -> bytes:
    """A word or a line of a text model left out, given twice, or another."""
    lines = [line.split(b" ") for line in data.split(b"\n")]
    place = rng.randrange(len(lines))
    line = lines[place]
    match rng.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, list(rng.choice(lines)))
        case 2:
            line.insert(rng.randrange(len(line) + 1), rng.choice(ODD_WORDS.split()).encode())
        case _:
            line[rng.randrange(len(line))] = rng.choice([rng.choice(ODD_WORDS.split()).encode(), *rng.choice(lines)])
    return b"\n".join(map(b" ".join, lines))


STRUCTURED = {
    "model": change_model,
    "dataset": change_dataset,
    "checkpoint": change_checkpoint,
    "liblinear": change_words,
    "libsvm": change_words,
}


def mutated(name: str, data: bytes, rng: Random) -> bytes:
    """Another file of this format; of those without a structure, with other bytes."""
    if name in STRUCTURED and rng.random() < 0.9:
        try:
            return STRUCTURED[name](data, rng)
        except Exception:  # it has no structure any more
            pass
    return change_bytes(data, rng)
