# SPDX-License-Identifier: Apache-2.0
"""Reads and writes arrays in .safetensors files, which the library and the tool use too."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Iterator

import numpy as np

from . import _dtypes as dtypes
from ._library import FileError, ParseError
from ._types import PathLike

_WORDS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
          "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
          "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0",
          "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"}  # fmt: skip
_HELD = {"int4": "I8", "int2": "I8", "uint4": "U8", "uint2": "U8", "float4_e2m1": "U8",
         "bfloat8_b": "F32", "bfloat4_b": "F32"}  # fmt: skip


def write(path: PathLike, tensors: Any) -> None:
    """Writes a .safetensors file. tensors: {name: (dtype, array of it)}; narrow dtypes use a byte for each element."""
    with open(path, "wb") as file:
        write_to(file, tensors)


def write_to(file: Any, tensors: Any) -> None:
    """Writes the bytes of a .safetensors file to an open file."""
    words = {**{dtype: word for word, dtype in _WORDS.items()}, **_HELD}
    header, at = {}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": words[dtype], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text)
    for _, array in tensors.values():
        file.write(np.ascontiguousarray(array).tobytes())


def read(path: PathLike, only: Any = None) -> Any:
    """Returns {name: array} of a .safetensors file. `only`: the names to read, of which absent ones are left out.
    Raises FileError or ParseError."""
    try:
        with open(path, "rb") as file:
            if only is None:
                return read_from(file)
            header, begin = _header(file)
            return {name: _array_of(file, begin, name, header[name]) for name in only if name in header}
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{path}: is no .safetensors file: {error}") from None


def read_from(file: Any) -> Dict[str, Any]:
    """Returns {name: array} of an open file. Raises ValueError, KeyError, TypeError or AttributeError if it is no
    .safetensors file."""
    header, _ = _header(file)
    body = memoryview(file.read())
    return {name: _array(name, one, body) for name, one in header.items()}


def _header(file: Any) -> Any:
    """Reads the header of an open file. Returns it, and the position of the first element."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if length > size:
        raise ValueError("its header is longer than the file")
    header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    return header, 8 + length


def _array_of(file: Any, begin: Any, name: str, one: Any) -> Any:
    first, end = one["data_offsets"]
    if not 0 <= first <= end <= os.fstat(file.fileno()).st_size:
        raise ValueError(f"'{name}' lies outside the file")
    file.seek(begin + first)
    return _array(name, {**one, "data_offsets": [0, end - first]}, memoryview(file.read(end - first)))


def blocks(path: PathLike, size: Any) -> Iterator[Any]:
    """Yields (name, bytes) of the elements of each tensor, in the order of the file, at most `size` bytes at a time. Raises as
    `read`."""
    try:
        with open(path, "rb") as file:
            header, begin = _header(file)
            for name, one in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
                first, end = one["data_offsets"]
                file.seek(begin + first)
                while first < end:
                    part = file.read(min(size, end - first))
                    if not part:
                        raise ValueError(f"'{name}' lies outside the file")
                    first += len(part)
                    yield name, part
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{path}: is no .safetensors file: {error}") from None


def _array(name: str, one: Any, body: Any) -> Any:
    if one["dtype"] not in _WORDS:
        raise ValueError(f"'{name}' has dtype {one['dtype']}")
    begin, end = one["data_offsets"]
    kind = dtypes.numpy_of(_WORDS[one["dtype"]])
    return np.frombuffer(body[begin:end], kind).reshape(one["shape"])
