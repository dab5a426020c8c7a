# SPDX-License-Identifier: Apache-2.0
"""Tensors of oneDNN Graph in numpy: dtypes, one correct rounding to each, .safetensors files.

A tensor of a float dtype is a float64 array of values that the dtype has; integers are int64,
booleans bool. Codes of the small floats are made and read here, without other packages."""

import json
import struct

import numpy as np

# oneDNN's dtype: qdq's dtype, its word in safetensors, numpy's type of the codes.
DTYPES = {
    "f32": ("float32", "F32", np.float32),
    "f16": ("float16", "F16", np.float16),
    "bf16": ("bfloat16", "BF16", np.uint16),
    "f8_e4m3": ("float8_e4m3fn", "F8_E4M3", np.uint8),
    "f8_e5m2": ("float8_e5m2", "F8_E5M2", np.uint8),
    "s32": ("int32", "I32", np.int32),
    "s64": ("int64", "I64", np.int64),
    "s8": ("int8", "I8", np.int8),
    "u8": ("uint8", "U8", np.uint8),
    "s4": ("int4", "I8", np.int8),
    "u4": ("uint4", "U8", np.uint8),
    "boolean": ("bool", "BOOL", np.bool_),
}
# Digits including the hidden one, least exponent of a normal number, largest number.
FLOATS = {
    "f32": (24, -126, 3.4028234663852886e38),
    "f16": (11, -14, 65504.0),
    "bf16": (8, -126, 3.3895313892515355e38),
    "f8_e4m3": (4, -6, 448.0),
    "f8_e5m2": (3, -14, 57344.0),
}
INTEGERS = {
    "s32": (-(2**31), 2**31 - 1),
    "s64": (-(2**63), 2**63 - 1),
    "s8": (-128, 127),
    "u8": (0, 255),
    "s4": (-8, 7),
    "u4": (0, 15),
}
# The integer that NaN becomes.
NAN_INTEGERS = {"s8": -128, "u8": 0, "s4": -8, "u4": 0, "s32": -(2**31), "s64": -(2**63)}


def is_float(dtype):
    return dtype in FLOATS


def round_to_digits(x, dtype):
    """Rounds half to even; numbers beyond the largest become infinite."""
    digits, least, largest = FLOATS[dtype]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(x)
        step = np.maximum(exponent - digits, least + 1 - digits)
        y = np.ldexp(np.rint(np.ldexp(x, -step)), step)
        y = np.where(np.abs(y) > largest, np.copysign(np.inf, y), y)
        return np.where(np.isfinite(x), y, x)


def round_to(x, dtype):
    """x, integer or float64, as dtype. Integers are clamped; float8 is not, and goes through
    float16."""
    x = np.asarray(x)
    if dtype == "boolean":
        return x.astype(np.float64) > 0.5 if x.dtype != np.bool_ else x
    if dtype in INTEGERS:
        low, high = INTEGERS[dtype]
        if x.dtype == np.int64:
            return np.clip(x, low, high)
        y = np.rint(np.clip(x, low, min(high, 2**53)))
        return np.where(np.isnan(x), NAN_INTEGERS[dtype], np.nan_to_num(y)).astype(np.int64)
    x = x.astype(np.float64)
    if dtype == "f32":
        with np.errstate(all="ignore"):
            return x.astype(np.float32).astype(np.float64)
    if not dtype.startswith("f8"):
        return round_to_digits(x, dtype)
    half = round_to_digits(round_to_digits(x, "f32"), "f16")
    y = round_to_digits(half, dtype)
    if dtype == "f8_e4m3":  # has no infinity
        y = np.where(np.isinf(y), np.nan, y)
    return y


def eps(dtype):
    return 2.0 ** (1 - FLOATS[dtype][0])


def encode(x, dtype):
    """The codes of values that the dtype has, in numpy's type of DTYPES."""
    kind = DTYPES[dtype][2]
    if dtype == "bf16":
        return (np.ascontiguousarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if not dtype.startswith("f8"):
        with np.errstate(all="ignore"):
            return np.asarray(x).astype(kind)
    digits, least, _ = FLOATS[dtype]
    x = np.asarray(x, np.float64)
    size = np.abs(np.nan_to_num(x, posinf=0, neginf=0))
    _, exponent = np.frexp(size)
    exponent = np.where(size == 0, least, np.maximum(exponent - 1, least))
    fraction = np.ldexp(size, digits - 1 - exponent).astype(np.int64)
    code = fraction + ((exponent - least) << (digits - 1))
    special = {"f8_e4m3": (0x7F, 0x7F), "f8_e5m2": (0x7C, 0x7E)}[dtype]
    code = np.where(np.isinf(x), special[0], np.where(np.isnan(x), special[1], code))
    return (code + 0x80 * np.signbit(x)).astype(np.uint8)


def decode(codes, dtype):
    if dtype == "bf16":
        return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "boolean":
        return codes.astype(np.bool_)
    if dtype in INTEGERS:
        return codes.astype(np.int64)
    if not dtype.startswith("f8"):
        return codes.astype(np.float64)
    digits, least, _ = FLOATS[dtype]
    size = (codes & 0x7F).astype(np.int64)
    field, fraction = size >> (digits - 1), size & ((1 << (digits - 1)) - 1)
    normal = np.ldexp(fraction + float(1 << (digits - 1)), field - 1 + least - digits + 1)
    y = np.where(field == 0, np.ldexp(fraction.astype(np.float64), least - digits + 1), normal)
    if dtype == "f8_e4m3":
        y = np.where(size == 0x7F, np.nan, y)
    else:
        y = np.where(size == 0x7C, np.inf, np.where(size > 0x7C, np.nan, y))
    return np.where(codes & 0x80, -y, y)


def write_tensors(path, tensors):
    """tensors: name -> (values, dtype)."""
    header, offset, blobs = {}, 0, []
    for name, (values, dtype) in tensors.items():
        blob = np.ascontiguousarray(encode(values, dtype)).tobytes()
        header[name] = {
            "dtype": DTYPES[dtype][1],
            "shape": list(np.shape(values)),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for blob in blobs:
            file.write(blob)


def read_tensors(path):
    """Name: word, shape, bytes."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, blob = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    found = {}
    for name, row in header.items():
        begin, end = row["data_offsets"]
        found[name] = row["dtype"], row["shape"], blob[begin:end]
    return found


def decode_tensor(row, dtype):
    """The values of a row of read_tensors, which must have this dtype."""
    word, shape, blob = row
    if word != DTYPES[dtype][1]:
        raise ValueError(f"dtype {word}, wanted {DTYPES[dtype][1]}")
    return decode(np.frombuffer(blob, DTYPES[dtype][2]), dtype).reshape(shape)
