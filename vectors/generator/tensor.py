# SPDX-License-Identifier: Apache-2.0
"""Tensors of a group: the bits of their elements, and numbers as these bits. Nothing here needs numpy."""

import math
import struct
from dataclasses import dataclass

WIDTHS = {"float32": 32, "float16": 16, "bfloat16": 16, "float64": 64, "int8": 8, "uint8": 8, "int16": 16, "uint16": 16,
          "int32": 32, "uint32": 32, "int64": 64, "uint64": 64, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "bool": 1,
          "float8_e4m3fn": 8, "float8_e5m2": 8, "float8_e4m3fnuz": 8, "float8_e5m2fnuz": 8, "float8_e8m0": 8,
          "float4_e2m1": 4, "bfloat8_b": 32, "bfloat4_b": 32}  # fmt: skip
# Exponent bits, mantissa bits and bias; block floats are held as float32.
FLOATS = {"float32": (8, 23, 127), "bfloat8_b": (8, 23, 127), "bfloat4_b": (8, 23, 127), "float64": (11, 52, 1023),
          "float16": (5, 10, 15), "bfloat16": (8, 7, 127), "float8_e4m3fn": (4, 3, 7), "float8_e5m2": (5, 2, 15),
          "float8_e4m3fnuz": (4, 3, 8), "float8_e5m2fnuz": (5, 2, 16), "float4_e2m1": (2, 1, 1)}  # fmt: skip
NAN, INF = float("nan"), float("inf")


def signed(dtype):
    return dtype.startswith("int")


def ends(dtype):
    """Returns the least and the greatest number of an integer dtype."""
    bits = WIDTHS[dtype]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed(dtype) else (0, (1 << bits) - 1)


def f32(value):
    """Rounds a number to float32, half to even."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(INF, value)


def step(value, count):
    """Returns the float32 that lies `count` steps above a finite one."""
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    place = (bits if bits >= 0 else -(bits & 0x7FFFFFFF)) + count
    return struct.unpack("<f", struct.pack("<I", place if place >= 0 else 0x80000000 | -place))[0]


def float_bits(dtype, value):
    """Returns the bits of a number that a float dtype holds exactly. A NaN is the quiet one, an infinity must exist."""
    if dtype in ("float32", "bfloat8_b", "bfloat4_b", "bfloat16"):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        if dtype != "bfloat16":
            return bits
        if bits & 0xFFFF:
            raise ValueError(f"{value} is no bfloat16")
        return bits >> 16
    form = {"float16": ("<e", "<H"), "float64": ("<d", "<Q")}[dtype]
    return struct.unpack(form[1], struct.pack(form[0], value))[0]


def is_nan(dtype, bits):
    """True if the bits are a NaN of the dtype."""
    if dtype not in FLOATS:
        return dtype == "float8_e8m0" and bits == 0xFF
    exponent, mantissa, _ = FLOATS[dtype]
    if dtype.endswith("fnuz"):
        return bits == 0x80
    if dtype == "float8_e4m3fn":
        return bits & 0x7F == 0x7F
    if dtype == "float4_e2m1":
        return False
    return bits >> mantissa & (1 << exponent) - 1 == (1 << exponent) - 1 and bits & (1 << mantissa) - 1 != 0


def number(dtype, bits):
    """Returns the number that bits stand for, for pages and constants."""
    if dtype not in FLOATS:
        if dtype == "float8_e8m0":
            return NAN if bits == 0xFF else 2.0 ** (bits - 127)
        return bits - (1 << WIDTHS[dtype]) if signed(dtype) and bits >> WIDTHS[dtype] - 1 else bits
    exponent, mantissa, bias = FLOATS[dtype]
    if is_nan(dtype, bits):
        return NAN
    sign = -1.0 if bits >> exponent + mantissa & 1 else 1.0
    power, low = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    if power == (1 << exponent) - 1 and not (dtype.endswith("fnuz") or dtype in ("float8_e4m3fn", "float4_e2m1")):
        return sign * INF
    if power == 0:
        return sign * math.ldexp(low, 1 - bias - mantissa)
    return sign * math.ldexp((1 << mantissa) + low, power - bias - mantissa)


def text(dtype, bits):
    """Returns the word of an element: its bits in hexadecimal; any NaN is "nan"."""
    return "nan" if is_nan(dtype, bits) else f"{bits:0{(WIDTHS[dtype] + 3) // 4}x}"


def element_bytes(dtype):
    return (WIDTHS[dtype] + 7) // 8


def words(dtype, data):
    """Returns the words of elements that lie in memory as in qdq's API."""
    size, mask = element_bytes(dtype), (1 << WIDTHS[dtype]) - 1
    return [text(dtype, int.from_bytes(data[i : i + size], "little") & mask) for i in range(0, len(data), size)]


@dataclass
class Tensor:
    dtype: str
    shape: tuple
    bits: list  # of each element
    constant: bool = False

    def bytes(self):
        """Returns the elements as qdq's API holds them: narrow signed integers as int8."""
        size = element_bytes(self.dtype)
        if WIDTHS[self.dtype] < 8 and signed(self.dtype):
            return b"".join(number(self.dtype, bits).to_bytes(1, "little", signed=True) for bits in self.bits)
        return b"".join(bits.to_bytes(size, "little") for bits in self.bits)

    def words(self):
        """Returns the bits in hexadecimal, also of NaN."""
        return " ".join(f"{bits:0{(WIDTHS[self.dtype] + 3) // 4}x}" for bits in self.bits)

    def numbers(self):
        """Returns the elements as a qdq/1 file has them."""
        names = {INF: "Infinity", -INF: "-Infinity"}
        found = [number(self.dtype, bits) for bits in self.bits]
        return ["NaN" if one != one else names.get(one, one) for one in found]


def tensor(dtype, values, shape=None, constant=False):
    """Makes a tensor of numbers; of codes if the dtype is a small float."""
    values = list(values) if isinstance(values, (list, tuple, range)) else [values]
    shape = tuple(shape) if shape is not None else (len(values),)
    if dtype in ("float32", "float16", "bfloat16", "float64", "bfloat8_b", "bfloat4_b"):
        bits = [one[0] if isinstance(one, tuple) else float_bits(dtype, one) for one in values]  # (bits,): a bit pattern
    else:
        bits = [one & (1 << WIDTHS[dtype]) - 1 for one in values]
    return Tensor(dtype, shape, bits, constant)


def rounded(dtype, value):
    """Rounds a number to float32, float16 or bfloat16, half to even, and returns it as a number."""
    if dtype == "float32":
        return f32(value)
    if dtype == "float16":
        return struct.unpack("<e", struct.pack("<e", value))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]
