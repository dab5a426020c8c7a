# SPDX-License-Identifier: Apache-2.0
"""Blocks that share a small scale: MX as in torchao and TensorRT, and NVFP4."""

import ml_dtypes
import numpy as np

from dtypes import DTYPES, largest_of, to_small_float


def exponent_of(values):
    """The unbiased exponent of a positive float32; -127 for zero and denormals."""
    return (values.view(np.uint32).astype(np.int64) >> 23) - 127


def choose_mx(amax, scheme, dtype):
    """The scale of a block as float8_e8m0. `amax` is the block's greatest magnitude, float32; for
    NaN or infinity the scale is NaN (code 255)."""
    info = ml_dtypes.finfo(dtype)
    largest_exponent = int(np.log2(float(info.max)))
    amax = np.asarray(amax, np.float32)
    finite = np.isfinite(amax)
    size = np.where(finite, amax, np.float32(0))
    if scheme == "mx_rceil":
        # The least power of two not below amax / largest, computed as a product in float32.
        quotient = size * (np.float32(1) / largest_of(dtype))
        fraction, exponent = np.frexp(quotient.astype(np.float64))
        code = np.where(fraction == 0.5, exponent - 1, exponent) + 127
        code = np.where(quotient == 0, 0, np.clip(code, 0, 255))
    else:
        if scheme == "mx_even":  # adds half a step of the result
            size = (size.view(np.uint32) + np.uint32(1 << (22 - info.nmant))).view(np.float32)
            finite &= np.isfinite(size)
        exponent = exponent_of(size)
        if scheme == "mx_ceil":
            exponent += (size.view(np.uint32) & 0x7FFFFF) != 0
        else:
            assert scheme in ("mx_floor", "mx_even")
        code = np.clip(exponent - largest_exponent + 127, 0, 255)
    return np.where(finite, code, 255).astype(np.uint8).view(DTYPES["float8_e8m0"])


def quantize_mx(x, scale, dtype):
    """x / 2^(code - 127), rounded half to even and saturated; `scale` has one code for each
    element."""
    code = scale.view(np.uint8).astype(np.int64)
    with np.errstate(over="ignore"):  # overflows to infinity, which saturates
        scaled = np.ldexp(x.astype(np.float64), 127 - code).astype(np.float32)
    return to_small_float(np.where(code == 255, np.float32(np.nan), scaled), dtype)


def choose_nvfp4(amax, overall, least=np.float32(2.0**-9), zero=np.float32(1)):
    """The scale of a block as float8_e4m3fn: amax / 6, divided by the global scale; `zero` for a
    block of zeros."""
    block = np.asarray(amax, np.float32) / np.float32(6) / np.float32(overall)
    scale = to_small_float(np.clip(block, least, np.float32(448)), DTYPES["float8_e4m3fn"])
    return scale if zero is None else np.where(amax == 0, zero.astype(scale.dtype), scale)


def quantize_nvfp4(scaled):
    return to_small_float(scaled, DTYPES["float4_e2m1"])
