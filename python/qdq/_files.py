# SPDX-License-Identifier: Apache-2.0
"""Reads and writes arrays in .safetensors files, which the library and the tool use too."""

import json
import os

import numpy as np

from . import _dtypes as dtypes
from ._library import FileError, ParseError

_WORDS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "I64": "int64", "I32": "int32",
          "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8", "BOOL": "bool",
          "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E8M0": "float8_e8m0",
          "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"}  # fmt: skip
_HELD = {"int4": "I8", "int2": "I8", "uint4": "U8", "uint2": "U8", "float4_e2m1": "U8",
         "bfloat8_b": "F32", "bfloat4_b": "F32"}  # fmt: skip


def write(path, tensors):
    """Writes a .safetensors file. tensors: {name: (dtype, array of it)}; narrow dtypes use a byte for each element."""
    words = {**{dtype: word for word, dtype in _WORDS.items()}, **_HELD}
    header, at = {}, 0
    for name, (dtype, array) in tensors.items():
        header[name] = {"dtype": words[dtype], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, array in tensors.values():
            file.write(np.ascontiguousarray(array).tobytes())


def read(path):
    """Returns {name: array} of a .safetensors file. Raises FileError or ParseError."""
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > os.path.getsize(path):
                raise ValueError("its header is longer than the file")
            header = json.loads(file.read(length))
            body = memoryview(file.read())
        return {name: _array(name, one, body) for name, one in header.items() if name != "__metadata__"}
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParseError(f"{path}: is no .safetensors file: {error}") from None


def _array(name, one, body):
    if one["dtype"] not in _WORDS:
        raise ValueError(f"'{name}' has dtype {one['dtype']}")
    begin, end = one["data_offsets"]
    kind = dtypes.numpy_of(_WORDS[one["dtype"]])
    return np.frombuffer(body[begin:end], kind).reshape(one["shape"])
