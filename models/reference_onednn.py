# SPDX-License-Identifier: Apache-2.0
"""A reference of oneDNN Graph on an x86-64 CPU."""

import numpy as np

from dtypes import DTYPES, is_integer, limits_of, to_dtype
from reference import KNOWN_ATTRS, in_float32, read_argument, read_parameters, result_dtype

FLOAT8 = {  # mantissa bits, least exponent, largest number, result of overflow
    DTYPES["float8_e4m3fn"]: (3, -6, 448.0, np.nan),
    DTYPES["float8_e5m2"]: (2, -14, 57344.0, np.inf),
}


def to_float8(values, dtype):
    """By way of float16. Numbers that then round beyond the largest, and infinities, become NaN or
    infinity. NaN is the type's NaN without a sign."""
    mantissa, least, largest, beyond = FLOAT8[dtype]
    half = to_dtype(values, DTYPES["float16"]).astype(np.float64)
    with np.errstate(invalid="ignore"):
        exponent = np.maximum(np.frexp(half)[1] - 1, least)
        unit = np.ldexp(1.0, exponent - mantissa)
        rounded = np.rint(half / unit) * unit
    result = np.where(np.abs(rounded) > largest, np.copysign(beyond, half), rounded)
    with np.errstate(invalid="ignore"):
        codes = result.astype(np.float32).astype(dtype).view(np.uint8)
    nan = 0x7F if np.isnan(beyond) else 0x7E
    sign = np.where(np.isnan(values), 0, np.where(np.signbit(half), 0x80, 0))
    return np.where(np.isnan(result), nan | sign, codes).astype(np.uint8).view(dtype)


def quantize(x, scale, zero, dtype):
    """clamp(x * (1 / s) + z), then rounded; NaN becomes the minimum."""
    scaled = in_float32(np.multiply, x, in_float32(np.divide, np.float32(1), scale))
    if not is_integer(dtype):
        return to_float8(scaled, dtype)
    low, high = limits_of(dtype).min, limits_of(dtype).max
    moved = in_float32(np.add, scaled, zero.astype(np.float32)).astype(np.float64)
    return np.where(np.isnan(moved), low, np.rint(np.clip(moved, low, high))).astype(dtype)


def dequantize(q, scale, zero, dtype):
    """(q - z) * s; bfloat16 denormals become 0."""
    difference = in_float32(np.subtract, q.astype(np.float32), zero.astype(np.float32))
    product = in_float32(np.multiply, difference, scale)
    if dtype == DTYPES["bfloat16"]:
        product = np.where(np.abs(product) < 2.0**-126, np.copysign(0, product), product)
    return to_dtype(product.astype(np.float32), dtype)


def evaluate_node(node, values):
    op, name = node["op"], node["name"]
    assert set(node.get("attrs", {})) <= KNOWN_ATTRS[op], f"{name}: attributes"
    x = values[node["inputs"]["x"]]
    dtype = result_dtype(node, x)
    parameters = read_parameters(node, values, x)
    _, kind = read_argument(node, values, "scale", "scales")
    if kind != "port" and np.all(np.abs(parameters.scale.astype(np.float64) - 1) <= 1e-6):
        parameters = parameters._replace(scale=np.ones_like(parameters.scale))
    scale, zero = parameters.beside(x)
    assert op in ("Quantize", "DynamicQuantize", "Dequantize"), op
    form = dequantize if op == "Dequantize" else quantize
    values[name] = form(x, scale, zero, dtype)
