# SPDX-License-Identifier: Apache-2.0
"""A reference of torchao 0.18 on the CPU: arithmetic in the dtype that PyTorch promotes to.

A step in a 16-bit float is the float32 operation, rounded once more. float32 has more than twice
the digits of both 16-bit floats, so that equals one rounding."""

import numpy as np

from dtypes import DTYPES, is_integer, largest_of, limits_of, to_dtype, to_small_float
from microscaling import choose_mx, choose_nvfp4, quantize_mx, quantize_nvfp4
from reference import (
    KNOWN_ATTRS,
    Grid,
    global_scale_of,
    grid_of,
    in_float32,
    is_computed,
    read_argument,
    result_dtype,
)

FLOAT32 = DTYPES["float32"]
MORE_ATTRS = {"quant_min", "quant_max", "zero_point_domain"}


def promoted(a, b):
    return a if a == b else FLOAT32


def step(operation, a, b, dtype):
    """One operation on two float arrays, in a dtype."""
    result = in_float32(operation, np.asarray(a, np.float32), np.asarray(b, np.float32))
    return to_dtype(result, dtype)


def range_of(attrs, dtype):
    limits = limits_of(dtype)
    return attrs.get("quant_min", limits.min), attrs.get("quant_max", limits.max)


def middle_of(low, high):
    return np.float32((high + low + 1) / 2)


def quantize(x, scale, zero, bounds, dtype):
    """clamp(round(x * (1 / s)) + z): the reciprocal in the dtype of the scale, the rest in the
    dtype that x and the scale promote to. NaN becomes the minimum."""
    promotion = promoted(x.dtype, scale.dtype)
    reciprocal = step(np.divide, np.float32(1), scale, scale.dtype)
    scaled = step(np.multiply, x, reciprocal, promotion)
    moved = to_dtype(zero.astype(np.float32), promotion)
    total = step(np.add, np.rint(scaled.astype(np.float32)), moved, promotion).astype(np.float64)
    return np.where(np.isnan(total), bounds[0], np.clip(total, *bounds)).astype(dtype)


def quantize_tinygemm(x, scale, zero, bounds, dtype):
    """The zero point is the real value of the middle code."""
    promotion = x.dtype if x.dtype == scale.dtype == zero.dtype else FLOAT32
    below = step(np.multiply, scale, middle_of(*bounds), promotion)
    least = step(np.subtract, zero, below, promotion)
    quotient = step(np.divide, step(np.subtract, x, least, promotion), scale, promotion)
    return np.clip(np.rint(quotient.astype(np.float64)), *bounds).astype(dtype)


def quantize_float8(x, scale, dtype):
    return to_small_float(in_float32(np.divide, x.astype(np.float32), scale), dtype)


def dequantize(q, scale, zero, dtype):
    """(q - z) * s, with the difference in the dtype of the result."""
    codes = to_dtype(q.astype(np.float32), dtype)
    difference = step(np.subtract, codes, to_dtype(zero.astype(np.float32), dtype), dtype)
    product = step(np.multiply, difference, scale, promoted(dtype, scale.dtype))
    return to_dtype(product.astype(np.float32), dtype)


def dequantize_tinygemm(q, scale, zero, bounds, dtype):
    moved = to_dtype(q.astype(np.float32) - middle_of(*bounds), dtype)
    product = step(np.multiply, moved, scale, dtype)
    return step(np.add, product, zero, dtype)


def choose_parameters(x, scheme, grid, bounds):
    """Scale and zero point, both computed in x's dtype; the scale is at least the smallest normal
    number."""
    dtype = x.dtype
    low, high = bounds
    wide = x.astype(np.float32)
    assert not np.any(np.isnan(wide)), "NaN is cast to an integer there"
    least, most = grid.reduce(np.minimum, wide, 0), grid.reduce(np.maximum, wide, 0)
    if scheme == "asymmetric":
        span = step(np.subtract, most, least, dtype)
        scale = step(np.divide, span, np.float32(high - low), dtype)
    elif scheme == "symmetric":
        size = np.maximum(-least, most)
        scale = step(np.divide, size, np.float32((high - low) / 2), dtype)
    else:
        below = step(np.divide, least, np.float32(low), dtype).astype(np.float32)
        above = step(np.divide, most, np.float32(high), dtype).astype(np.float32)
        scale = to_dtype(np.where(below > above, below, above), dtype)
    smallest = np.float32(2.0**-14 if dtype == DTYPES["float16"] else 2.0**-126)
    scale = np.maximum(scale.astype(np.float32), smallest)
    if scheme != "asymmetric":
        return scale, np.full(grid.shape, int((high + low + 1) / 2))
    moved = np.rint(step(np.divide, least, scale, dtype).astype(np.float32))
    zero = step(np.subtract, np.float32(low), moved, dtype).astype(np.float64)
    return scale, np.clip(zero, low, high).astype(np.int64)


def evaluate_computed(node, values, x, grid, dtype):
    """y, scale and zero point of a DynamicQuantize."""
    attrs = node.get("attrs", {})
    scheme = attrs.get("scheme", "asymmetric")
    wide = x.astype(np.float32)
    none = np.zeros(grid.shape, dtype)
    size = grid.reduce(np.maximum, np.abs(wide), 0)
    if scheme.startswith("mx_"):
        codes = choose_mx(size, scheme, dtype)
        return quantize_mx(wide, grid.over(codes, x), dtype), codes, none
    if scheme == "nvfp4":
        overall, two_levels = global_scale_of(node, values)
        scale = choose_nvfp4(size, overall, least=np.float32(2.0**-6), zero=None)
        one = np.float32(1)
        first = in_float32(np.divide, one, overall) if two_levels else one
        factor = in_float32(np.divide, first, scale.astype(np.float32))
        return quantize_nvfp4(in_float32(np.multiply, wide, grid.over(factor, x))), scale, none
    if not is_integer(dtype):
        scale = step(np.divide, size, largest_of(dtype), x.dtype).astype(np.float32)
        return quantize_float8(x, grid.over(scale, x), dtype), scale, none
    bounds = range_of(attrs, dtype)
    scale, zero = choose_parameters(x, scheme, grid, bounds)
    y = quantize(x, grid.over(scale, x), grid.over(zero, x), bounds, dtype)
    return y, scale, zero.astype(dtype)


def evaluate_node(node, values):
    op, name, attrs = node["op"], node["name"], node.get("attrs", {})
    assert set(attrs) <= KNOWN_ATTRS[op] | MORE_ATTRS, f"{name}: attributes"
    x = values[node["inputs"]["x"]]
    dtype = result_dtype(node, x)
    grid: Grid = grid_of(attrs, x.shape)
    if is_computed(node):
        ports = (name, name + ".scale", name + ".zero_point")
        values.update(zip(ports, evaluate_computed(node, values, x, grid, dtype)))
        return

    scale, kind = read_argument(node, values, "scale", "scales")
    scale = grid.over(scale if kind == "port" else scale.astype(np.float32), x)
    zero, kind = read_argument(node, values, "zero_point", "zps", np.zeros(grid.shape, np.int32))
    real = attrs.get("zero_point_domain") == "float"
    if real and kind != "port":
        zero = zero.astype(np.float32)
    zero = grid.over(zero, x)
    quantized = x.dtype if op == "Dequantize" else dtype
    bounds = range_of(attrs, quantized) if is_integer(quantized) else None
    if op == "Dequantize":
        form = (lambda: dequantize_tinygemm(x, scale, zero, bounds, dtype)) if real else (
            lambda: dequantize(x, scale, zero, dtype))
    else:
        assert op in ("Quantize", "DynamicQuantize"), f"{op} has no formula of torchao"
        form = (lambda: quantize_tinygemm(x, scale, zero, bounds, dtype)) if real else (
            lambda: quantize(x, scale, zero, bounds, dtype) if bounds
            else quantize_float8(x, scale.astype(np.float32), dtype))
    values[name] = form()
