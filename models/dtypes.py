# SPDX-License-Identifier: Apache-2.0
"""Element types: their names, how files store them, and rounding to them."""

import ml_dtypes
import numpy as np

DTYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int32": np.dtype(np.int32),
    "int4": np.dtype(ml_dtypes.int4),
    "uint4": np.dtype(ml_dtypes.uint4),
    "int2": np.dtype(ml_dtypes.int2),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float4_e2m1": np.dtype(ml_dtypes.float4_e2m1fn),
    "float8_e8m0": np.dtype(ml_dtypes.float8_e8m0fnu),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
SMALL_FLOATS = tuple(DTYPES[n] for n in ("float8_e4m3fn", "float8_e5m2", "float4_e2m1"))
NARROW_INTEGERS = tuple(DTYPES[n] for n in ("int4", "uint4", "int2"))

# bits of the magnitude; arrays hold them as float32
BLOCK_FLOATS = {"bfloat8_b": 7, "bfloat4_b": 3}

STORED = {
    "F32": DTYPES["float32"],
    "F16": DTYPES["float16"],
    "BF16": DTYPES["bfloat16"],
    "I8": DTYPES["int8"],
    "U8": DTYPES["uint8"],
    "I32": DTYPES["int32"],
    "F8_E4M3": DTYPES["float8_e4m3fn"],
    "F8_E5M2": DTYPES["float8_e5m2"],
    "F8_E8M0": DTYPES["float8_e8m0"],
}


def is_integer(dtype):
    return np.issubdtype(dtype, np.integer) or dtype in NARROW_INTEGERS


def limits_of(dtype):
    return ml_dtypes.iinfo(dtype)


def largest_of(dtype):
    return np.float32(ml_dtypes.finfo(dtype).max)


def widened(tensor):
    """As safetensors stores it: a narrow element takes a byte."""
    if tensor.dtype in (DTYPES["int4"], DTYPES["int2"]):
        return tensor.astype(np.int8)
    if tensor.dtype == DTYPES["uint4"]:
        return tensor.astype(np.uint8)
    return tensor.view(np.uint8) if tensor.dtype == DTYPES["float4_e2m1"] else tensor


def narrowed(tensor, dtype):
    """The reverse of `widened`."""
    if dtype == DTYPES["float4_e2m1"]:
        return tensor.view(dtype)
    return tensor.astype(dtype) if dtype in NARROW_INTEGERS else tensor


def to_dtype(values, dtype):
    """float32 to a float dtype, rounded half to even."""
    assert values.dtype == np.float32
    with np.errstate(over="ignore"):  # overflows to infinity
        result = values.astype(dtype)
    if dtype == DTYPES["bfloat16"]:
        bits = values.view(np.uint32).astype(np.uint64)
        upper = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        nan = np.isnan(values)
        assert np.array_equal(result.view(np.uint16)[~nan], upper.astype(np.uint16)[~nan])
    return result


def to_small_float(values, dtype):
    """float32 to float8 or float4, half to even, saturating. NaN stays NaN if the dtype has one."""
    assert values.dtype == np.float32 and dtype in SMALL_FLOATS
    largest = largest_of(dtype)
    result = np.clip(values, -largest, largest).astype(dtype)

    codes = np.arange(128 if dtype.name != "float4_e2m1fn" else 8, dtype=np.uint8)
    table = codes.view(dtype).astype(np.float64)  # increases with the code
    table = table[np.isfinite(table)]
    size = np.minimum(np.abs(values.astype(np.float64)), float(largest))
    above = np.clip(np.searchsorted(table, np.where(np.isnan(size), 0, size)), 1, None)
    middle = (table[above - 1] + table[above]) / 2
    code = np.where((size > middle) | ((size == middle) & (above % 2 == 0)), above, above - 1)
    wanted = np.copysign(table[code], values)
    real = ~np.isnan(values)
    got = result.astype(np.float64)
    assert np.array_equal(got[real], wanted[real])
    assert np.array_equal(np.signbit(got[real]), np.signbit(wanted[real]))
    return result


def to_block_float(values, dtype):
    """Finite float32 as the tiles of a block float hold them. Runs of 16 columns of a row share the
    greatest exponent; magnitudes are rounded half to even and saturate. Bits dropped when shifting
    to that exponent do not take part in rounding."""
    bits = BLOCK_FLOATS[dtype]
    assert values.dtype == np.float32 and np.all(np.isfinite(values))
    rows = values.reshape(-1, values.shape[-1])
    groups = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 16))).reshape(rows.shape[0], -1, 16)

    code = groups.view(np.uint32).astype(np.int64)
    exponent = code >> 23 & 0xFF
    shared = exponent.max(axis=-1, keepdims=True)
    shift = np.minimum(shared - exponent, 32)
    whole = np.where(exponent == 0, 0, (1 << 23 | code & 0x7FFFFF) >> shift)
    half = 1 << (23 - bits)
    magnitude, rest = whole // (2 * half), whole % (2 * half)
    magnitude += (rest > half) | ((rest == half) & (magnitude % 2 == 1))
    magnitude = np.minimum(magnitude, (1 << bits) - 1)
    sign = np.where(np.signbit(groups) & (magnitude > 0), -1.0, 1.0)
    result = np.ldexp(sign * magnitude, shared - 127 - (bits - 1))

    step = np.ldexp(1.0, shared - 127 - (bits - 1))
    kept = np.trunc(np.ldexp(groups.astype(np.float64), 150 - shared)) * np.ldexp(1.0, shared - 150)
    near = np.clip(np.rint(kept / step), -(1 << bits) + 1, (1 << bits) - 1) * step
    assert np.array_equal(np.where(exponent == 0, 0, near), result)
    result = result.astype(np.float32).reshape(rows.shape[0], -1)
    return result[:, : rows.shape[1]].reshape(values.shape)
