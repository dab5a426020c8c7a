# SPDX-License-Identifier: Apache-2.0
"""A reference of ttnn's kernels (mid-2026) with ideal arithmetic. A parameter is a scalar if it is a number in an
attribute or absent, and a tensor if it is a list or a port. Which of the parameters are tensors
decides the path of a node. `reference_ttnn_chip.py` has the arithmetic of the chips."""

import sys
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dtypes import DTYPES, limits_of
from reference import KNOWN_ATTRS, grid_of, in_float32, read_argument, result_dtype

FLOAT32, BFLOAT16 = DTYPES["float32"], DTYPES["bfloat16"]
INT32, INT8, UINT8 = DTYPES["int32"], DTYPES["int8"], DTYPES["uint8"]


class Argument(NamedTuple):
    """A parameter for each element of x."""

    value: np.ndarray
    scalar: bool


# ---- The device's floats -----------------------------------------------------


def flushed(values):
    """Denormals and -0 become +0."""
    return np.where(np.abs(values) < np.float32(2.0**-126), np.float32(0), values)


def stored(values, dtype):
    """A result as the packer stores it. bfloat16: halves away from zero, NaN becomes infinity."""
    if dtype != BFLOAT16:
        return values
    bits = flushed(values).view(np.uint32).astype(np.uint64)
    upper = (bits + 0x8000 >> 16).astype(np.uint16)
    nan = (0x7F80 | (bits >> 16 & 0x8000)).astype(np.uint16)
    return np.where(np.isnan(values), nan, upper).astype(np.uint16).view(BFLOAT16)


def step(operation, a, b):
    return flushed(in_float32(operation, np.asarray(a, np.float32), np.asarray(b, np.float32)))


def fused_multiply_add(a, b, c):
    """a * b + c rounded once. In float64 the product is exact and the sum is rounded to odd, which
    keeps the last rounding right; checked in exact arithmetic."""
    a, b, c = np.broadcast_arrays(*(np.asarray(v, np.float32) for v in (a, b, c)))
    product, wide = a.astype(np.float64) * b, c.astype(np.float64)
    total = product + wide
    part = total - product
    rest = (product - (total - part)) + (wide - part)
    even = total.view(np.int64) % 2 == 0
    toward = np.where(rest > 0, np.inf, -np.inf)
    odd = np.where((rest != 0) & even, np.nextafter(total, toward), total)
    result = odd.astype(np.float32)
    for x, y, z, r in zip(a.flat, b.flat, c.flat, result.flat):
        if not np.isfinite([x, y, z, r]).all():
            continue
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        for end in (np.float32(-np.inf), np.float32(np.inf)):
            neighbour = np.nextafter(r, end)
            nearer = abs(exact - Fraction(float(r))) - abs(exact - Fraction(float(neighbour)))
            assert nearer < 0 or (nearer == 0 and r.view(np.int32) % 2 == 0)
    return flushed(result)


# ---- Float to integer --------------------------------------------------------


def half_away(values):
    wide = values.astype(np.float64)
    return np.copysign(np.floor(np.abs(wide) + 0.5), wide)


def fused_stage(values, dtype):
    """The rounding of the fused kernels. NaN becomes the greatest integer."""
    if dtype == INT32:  # a sign and seven bits
        whole, greatest = np.clip(half_away(values), -127, 127), 127
    elif dtype == UINT8:  # drops the sign
        whole, greatest = np.minimum(np.abs(half_away(values)), 255), 255
    else:  # with an offset of 128
        biased = step(np.add, values, np.float32(128))
        whole = np.minimum(half_away(np.where(biased < 0, np.float32(0), biased)), 255) - 128
        greatest = 127
    return np.where(np.isnan(values), greatest, whole).astype(dtype)


def truncated(values, dtype):
    """int32 saturates; uint8 keeps its low bits."""
    limits = limits_of(INT32)
    whole = np.clip(np.trunc(values.astype(np.float64)), limits.min, limits.max)
    if dtype == UINT8:
        return (np.where(np.isnan(whole), 0, whole).astype(np.int64) % 256).astype(UINT8)
    return np.where(np.isnan(whole), limits.min, whole).astype(INT32)


# ---- Ops ---------------------------------------------------------------------


def quantize(x, scale, zero, dtype):
    wide = flushed(x.astype(np.float32))
    if zero.scalar:
        reciprocal = in_float32(np.divide, np.float32(1), scale.value)
        return fused_stage(fused_multiply_add(wide, reciprocal, zero.value), dtype)
    by = scale.value if scale.scalar else stored(scale.value, x.dtype).astype(np.float32)
    quotient = stored(step(np.divide, wide, by), x.dtype).astype(np.float32)
    moved = stored(zero.value.astype(np.float32), x.dtype).astype(np.float32)
    total = stored(step(np.add, quotient, moved), x.dtype).astype(np.float32)
    return fused_stage(total, dtype) if dtype == INT8 else truncated(total, dtype)


def dequantize(q, scale, zero, dtype):
    codes, zeros = q.astype(np.int64), zero.value.astype(np.int64)
    if zero.scalar:
        bias = 128 if q.dtype == INT8 else 0
        difference = step(np.subtract, codes + bias, zeros + bias)
    else:
        difference = (codes - zeros).astype(np.float32)
    return stored(step(np.multiply, difference, scale.value), dtype)


def ratio_and_offset(source, target, bias):
    ratio = step(np.divide, source[0].value, target[0].value)
    moved = step(np.multiply, (source[1].value.astype(np.int64) + bias), ratio)
    return ratio, step(np.subtract, target[1].value, moved)


def requantize(q, source, target, axis, dtype):
    scalars = sum(argument.scalar for argument in source + target)
    if scalars == 4:  # the fused path
        bias = 128 if q.dtype == INT8 else 0
        ratio, offset = ratio_and_offset(source, target, bias)
        return fused_stage(fused_multiply_add(q.astype(np.int64) + bias, ratio, offset), dtype)
    if scalars == 0 and axis:  # the expanded path
        ratio, offset = ratio_and_offset(source, target, 0)
        return truncated(step(np.add, step(np.multiply, q, ratio), offset), dtype)
    return quantize(dequantize(q, *source, BFLOAT16), *target, dtype)


# Ops that move a tensor to another place of the device.
MOVES = {"ToMemoryConfig", "InterleavedToSharded", "ShardedToInterleaved", "Reshard", "ToLayout"}


def evaluate_with(kernels, node, values):
    """`kernels` has the functions quantize, dequantize and requantize."""
    if node["op"] in MOVES:
        values[node["name"]] = values[node["inputs"]["x"]]
        return
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    assert set(attrs) <= KNOWN_ATTRS[op], f"{name}: attributes"
    x = values[node["inputs"]["x"]]
    dtype = result_dtype(node, x)
    grid = grid_of(attrs, x.shape, "in_" if op == "Requantize" else "")

    def arguments(side=""):
        made = []
        for port, attr, default in (("scale", "scales", None), ("zero_point", "zps", 0)):
            value, kind = read_argument(node, values, side + port, side + attr, default)
            value = value.astype(np.float32 if port == "scale" else np.int32)
            value = value.reshape(()) if value.size == 1 else grid.over(value, x)
            made.append(Argument(value, kind in ("", "number")))
        return tuple(made)

    if op == "Requantize":
        values[name] = kernels.requantize(x, arguments("in_"), arguments("out_"), "axis" in attrs,
                                          dtype)
    else:
        assert op in ("Quantize", "Dequantize"), op
        form = kernels.quantize if op == "Quantize" else kernels.dequantize
        values[name] = form(x, *arguments(), dtype)


def evaluate_node(node, values):
    evaluate_with(sys.modules[__name__], node, values)
