# SPDX-License-Identifier: Apache-2.0
"""A reference of ttnn's kernels on Wormhole and Blackhole (merged kernels of summer 2026), instruction
by instruction and element by element. `reference_ttnn.py` has the idealised ones."""

from typing import NamedTuple

import numpy as np

import tenstorrent
from dtypes import DTYPES
from reference import in_float32
from reference_ttnn import evaluate_with
from tenstorrent import ONE, bits_of, minus

FLOAT32, BFLOAT16 = DTYPES["float32"], DTYPES["bfloat16"]
INT32, INT8, UINT8 = DTYPES["int32"], DTYPES["int8"], DTYPES["uint8"]


def from_host(values):
    """Patterns of numbers that the host computes in float32."""
    return np.asarray(values, np.float32).view(np.uint32)


def each(function, *operands):
    """The results of a function on each element, as Python integers."""
    operands = np.broadcast_arrays(*(np.asarray(o).astype(np.int64) for o in operands))
    made = [function(*items) for items in zip(*(o.reshape(-1).tolist() for o in operands))]
    return np.array(made, np.int64).reshape(operands[0].shape)


class Chip(NamedTuple):
    name: str

    # ---- Steps, on patterns of float32

    def mad(self, x, y, z):
        return each(lambda *v: tenstorrent.mad(self.name, *v), x, y, z)

    def multiply(self, x, y):
        return self.mad(x, y, 0)

    def divide(self, x, y):
        return each(lambda *v: tenstorrent.divide(self.name, *v) if v[0] % 2**31 else 0, x, y)

    def reciprocal(self, x):
        return each(lambda v: tenstorrent.reciprocal(self.name, v), x)

    def fold(self, zero, dtype):
        """The kernels of int8 compute with zero points that are 128 larger."""
        return self.mad(zero, ONE, bits_of(128)) if dtype == INT8 else zero

    # ---- In and out of the accumulator

    def load(self, x):
        if x.dtype == BFLOAT16:
            return each(tenstorrent.loaded, x.view(np.uint16))
        return from_host(x)

    def store(self, bits, dtype):
        if dtype == BFLOAT16:
            return each(tenstorrent.stored, bits).astype(np.uint16).view(BFLOAT16)
        return bits.astype(np.uint32).view(FLOAT32)

    def float_of(self, codes):
        return each(tenstorrent.float_of, codes)

    def to_integer(self, bits, dtype):
        """The last stage of the fused kernels; int8 arrives with 128 too many."""
        def one(v):
            if dtype == INT32:
                magnitude, negative = tenstorrent.rounded(v, 127)
                return -magnitude if negative else magnitude
            if dtype == INT8:
                return tenstorrent.rounded(0 if v >= 2**31 else v, 255)[0] - 128
            return tenstorrent.rounded(v, 255)[0]

        return each(one, bits).astype(dtype)

    def truncate(self, bits, dtype):
        whole = each(tenstorrent.truncated, bits)
        return (whole % 256 if dtype == UINT8 else whole).astype(dtype)

    # ---- Ops

    def quantize(self, x, scale, zero, dtype):
        bits, zeros = self.load(x), self.float_of(zero.value)
        inverse = from_host(in_float32(np.divide, np.float32(1), scale.value))
        if zero.scalar:
            if not scale.scalar:
                inverse = self.reciprocal(from_host(scale.value))
            return self.to_integer(self.mad(bits, inverse, self.fold(zeros, dtype)), dtype)
        if x.dtype == BFLOAT16:
            total = self.sum_of_bfloat16(x, scale, zeros, inverse)
        else:
            if scale.scalar:
                quotient = self.multiply(bits, inverse)
            else:
                quotient = self.divide(bits, from_host(scale.value))
            total = self.mad(quotient, ONE, zeros)
        if dtype == INT8:  # Quantize with scale 1 and zero point 0
            return self.to_integer(self.mad(total, ONE, self.fold(0, dtype)), dtype)
        return self.truncate(total, dtype)

    def sum_of_bfloat16(self, x, scale, zeros, inverse):
        """Three ops of bfloat16 tensors: typecast of the zero points, divide, add."""
        bits = x.view(np.uint16).astype(np.int64) << 16
        if scale.scalar:  # the host inverts it, and hands its upper half to the device
            factor = inverse.astype(np.int64) >> 16 << 16
            quotient = each(lambda *v: tenstorrent.multiply_bfloat16(self.name, *v), bits, factor)
        else:
            divisor = each(tenstorrent.to_even, from_host(scale.value))
            quotient = each(lambda *v: tenstorrent.divide_bfloat16(self.name, *v), bits, divisor)
        moved = each(lambda v: tenstorrent.stored(v) << 16, zeros)
        return each(tenstorrent.add_bfloat16, quotient, moved)

    def dequantize(self, q, scale, zero, dtype):
        codes, zeros = q.astype(np.int64), zero.value.astype(np.int64)
        if zero.scalar:
            bias = 128 if q.dtype == INT8 else 0
            # The host negates the zero point.
            host = from_host(-(zeros + bias).astype(np.float32))
            difference = self.mad(self.float_of(codes + bias), ONE, host)
        else:
            difference = self.float_of(codes - zeros)
        return self.store(self.multiply(difference, from_host(scale.value)), dtype)

    def requantize_fused(self, q, source, target, dtype):
        bias = 128 if q.dtype == INT8 else 0
        ratio = in_float32(np.divide, source[0].value, target[0].value)
        moved = (source[1].value.astype(np.int64) + bias).astype(np.float32)
        shift = in_float32(np.multiply, moved, ratio)
        offset = in_float32(np.subtract, target[1].value.astype(np.float32), shift)
        zero = self.fold(from_host(offset), dtype)
        total = self.mad(self.float_of(q.astype(np.int64) + bias), from_host(ratio), zero)
        return self.to_integer(total, dtype)

    def requantize_expanded(self, q, source, target, dtype):
        ratio = self.divide(from_host(source[0].value), from_host(target[0].value))
        shift = self.multiply(self.float_of(source[1].value), ratio)
        offset = self.mad(self.float_of(target[1].value), ONE, each(minus, shift))
        whole = from_host(q.astype(np.float32))  # typecast, to which INT32_MIN is -2^31
        scaled = self.multiply(whole, ratio)
        return self.truncate(self.mad(scaled, ONE, offset), dtype)

    def requantize(self, q, source, target, axis, dtype):
        scalars = sum(argument.scalar for argument in source + target)
        if scalars == 4:
            return self.requantize_fused(q, source, target, dtype)
        if scalars == 0 and axis:
            return self.requantize_expanded(q, source, target, dtype)
        return self.quantize(self.dequantize(q, *source, BFLOAT16), *target, dtype)

    def evaluate_node(self, node, values):
        evaluate_with(self, node, values)
