# SPDX-License-Identifier: Apache-2.0
"""Maps the library's element types to numpy dtypes of arrays that hold them.

A dtype that numpy lacks is held as a dtype of ml_dtypes if that is installed, else by its bits as an unsigned integer.
Integers of fewer than 8 bits are held as int8 or uint8, and block floats as float32, as in the C API.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple, cast

import numpy as np

from ._library import ArgumentError, decode, lib
from ._types import Array, DtypeName

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment,unused-ignore]

_PLAIN: Dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in ("float32", "float16", "float64", "bool", "int8", "uint8", "int16", "uint16",
                                            "int32", "uint32", "int64", "uint64")}  # fmt: skip
NARROW: Dict[str, np.dtype[Any]] = {"int4": np.dtype(np.int8), "int2": np.dtype(np.int8), "uint4": np.dtype(np.uint8), "uint2": np.dtype(np.uint8),
           "bfloat8_b": np.dtype(np.float32), "bfloat4_b": np.dtype(np.float32)}  # fmt: skip
_EXTENDED = {"bfloat16": "bfloat16", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
             "float8_e4m3fnuz": "float8_e4m3fnuz", "float8_e5m2fnuz": "float8_e5m2fnuz",
             "float8_e8m0": "float8_e8m0fnu", "float4_e2m1": "float4_e2m1fn"}  # fmt: skip


def name_of(number: int) -> str:
    """Returns the name of a dtype of the library."""
    return decode(lib.qdq_dtype_name(number))


def numpy_of(name: str) -> np.dtype[Any]:
    """Returns the numpy dtype of arrays that hold a dtype of the library."""
    if name in _PLAIN:
        return _PLAIN[name]
    if name in NARROW:
        return NARROW[name]
    extended: Any = getattr(ml_dtypes, _EXTENDED[name], None) if ml_dtypes else None
    if extended is not None:
        return cast("np.dtype[Any]", np.dtype(extended))
    return np.dtype(np.uint16 if name == "bfloat16" else np.uint8)


def word(dtype: object) -> DtypeName:
    """Returns the library's name of a dtype, which is given by name or as a dtype of numpy, ml_dtypes or torch."""
    if isinstance(dtype, str) and (dtype in _PLAIN or dtype in NARROW or dtype in _EXTENDED):
        return cast(DtypeName, dtype)
    text = str(dtype).rpartition(".")[2] if type(dtype).__module__.partition(".")[0] == "torch" else None
    if text is None:
        try:
            text = np.dtype(cast(Any, dtype)).name
        except TypeError:
            text = str(dtype)
    text = {"float8_e8m0fnu": "float8_e8m0", "float4_e2m1fn": "float4_e2m1"}.get(text, text)
    if text not in _PLAIN and text not in NARROW and text not in _EXTENDED:
        raise ArgumentError(f"there is no dtype '{text}', wanted one of: {', '.join([*_PLAIN, *NARROW, *_EXTENDED])}")
    return cast(DtypeName, text)


def holds_bits(kind: np.dtype[Any], dtype: str) -> bool:
    """True if an array of numpy dtype `kind` holds the bits of a dtype that numpy lacks."""
    return dtype in _EXTENDED and kind == np.dtype(f"u{numpy_of(dtype).itemsize}")


def _address(array: Array) -> int:
    """Returns the address of an array's elements."""
    address: int = array.__array_interface__["data"][0]
    return address


def _address_in_object(array: Array) -> int:
    """Returns the same in a sixth of the time: CPython's array object has the address behind its head."""
    return _word(id(array) + _HEAD).value


_word, _HEAD = ctypes.c_size_t.from_address, object.__basicsize__


def _fastest_address() -> Callable[[Array], int]:
    """Returns _address_in_object if this Python and numpy lay out arrays so."""
    if sys.implementation.name != "cpython":
        return _address
    tried: List[Array] = [np.zeros(3, np.float32), np.zeros((2, 5), np.int8)[1:, 2:], np.empty((0, 4))]
    return _address_in_object if all(_address_in_object(one) == _address(one) for one in tried) else _address


address = _fastest_address()


def imported(given: Any) -> Array:
    """Returns `given` as an array, without a copy if possible."""
    return given if isinstance(given, np.ndarray) else _import(given, None)


def to_array(given: Any, name: str, dtype: str, shape: Tuple[int, ...], what: str = "input") -> Array:
    """Returns `given` as a C-contiguous array for an input of this dtype and shape, without a copy if it already is.
    `what` replaces "input" in messages.

    Accepts arrays, torch tensors on the CPU, and everything that numpy reads (buffers, DLPack). Python numbers take the
    dtype of the input; an array must have it, or hold its bits as an unsigned integer.
    """
    wanted = numpy_of(dtype)
    if not isinstance(given, np.ndarray):
        given = _import(given, wanted)
    array: Array = given
    if array.shape != shape:
        raise ArgumentError(f"{what} '{name}' has shape {list(array.shape)}, wanted {list(shape)}")
    if array.dtype != wanted:
        if not holds_bits(array.dtype, dtype):
            raise ArgumentError(f"{what} '{name}' has dtype {array.dtype}, wanted {dtype}"
                                + (f" (in an array of {wanted})" if str(wanted) != dtype else "")
                                + f"; convert it with astype({str(wanted)!r})")  # fmt: skip
    if not array.flags.c_contiguous or not array.flags.aligned:
        array = np.ascontiguousarray(array)
    return array


def _import(given: Any, wanted: Optional[np.dtype[Any]]) -> Array:
    if type(given).__module__.partition(".")[0] == "torch":
        given = given.detach().cpu().contiguous()
        size = given.dtype.itemsize
        if (wanted is None or size == wanted.itemsize) and str(given.dtype).startswith(("torch.bfloat16", "torch.float8")):
            import torch

            bits = given.view(torch.uint8 if size == 1 else torch.int16).numpy()
            exact: Array = bits.view(numpy_of(word(given.dtype)) if wanted is None else f"u{size}")
            return exact
        return np.asarray(given.numpy())
    if hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    if hasattr(given, "__array__") or hasattr(given, "__array_interface__"):
        return np.asarray(given)
    if isinstance(given, (bytes, bytearray, memoryview)):
        return np.asarray(memoryview(given))
    return np.asarray(given, wanted)
