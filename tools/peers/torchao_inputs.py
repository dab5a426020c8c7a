# SPDX-License-Identifier: Apache-2.0
"""Generates the inputs of a case of torchao_golden.py from its number.

tests/graph/targets/torchao/torchao_inputs.h does the same in C. All arithmetic is on 64-bit
integers and doubles, one operation at a time. Random numbers are counted, not chained: number i of
stream s of case c is splitmix64's output i from the state (4c + s) << 32. Stream 0 makes scales (or
the kinds of blocks), 1 zero points, 2 elements, 3 values that exist once."""

from collections import namedtuple

import numpy as np

Grain = namedtuple("Grain", "qtype axis shape block")
Case = namedtuple("Case", "op how x y grain scale zp_from zp qmin qmax eps")

GRAINS = [
    Grain("PER_TENSOR", 0, (367, 361), (367, 361)),
    Grain("PER_CHANNEL", 0, (37, 3583), (1, 3583)),
    Grain("PER_CHANNEL", -1, (2063, 64), (2063, 1)),
    Grain("PER_CHANNEL", 1, (5, 7, 43, 88), (5, 1, 43, 88)),
    Grain("PER_GROUP", 0, (258, 512), (1, 32)),
    Grain("PER_GROUP", 0, (3, 3, 10, 1470), (3, 3, 2, 1470)),
    Grain("PER_GROUP", 0, (256, 516), (4, 6)),
    Grain("PER_GROUP", 0, (132006,), (7,)),
    Grain("PER_GROUP", 0, (2, 3, 4, 2, 5, 3, 8, 23), (1, 3, 2, 2, 5, 1, 4, 23)),
    Grain("PER_GROUP", 0, (14, 97, 97), (1, 1, 97)),
    Grain("PER_GROUP", 0, (3, 86, 512), (1, 1, 16)),
    Grain("PER_GROUP", 0, (33007, 4), (1, 4)),
    Grain("PER_TENSOR", 0, (131101,), (131101,)),
]

# bits, mantissa bits, bias, least and greatest exponent of a block's largest value
FLOATS = {
    "float32": (32, 23, 127, -140, 100),
    "float16": (16, 10, 15, -22, 13),
    "bfloat16": (16, 7, 127, -130, 100),
}
# mantissa bits, least and greatest exponent of a normal number, largest number
SMALL_FLOATS = {
    "float8_e4m3fn": (3, -6, 8, 448.0),
    "float8_e5m2": (2, -14, 15, 57344.0),
    "float4_e2m1": (1, 0, 2, 6.0),
}
INTEGERS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int16": (-32768, 32767),
    "int32": (-(2**31), 2**31 - 1),
}
WORDS = {"int8": "u1", "uint8": "u1", "int4": "u1", "uint4": "u1", "int16": "u2", "int32": "u4"}
MAX_FRACTIONS = np.array([0, 0.5, 0.75, 0.875, 0.9375, 0.25])
FLOAT4_TIES = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 0.5])
U = np.uint64


def mix(number, stream, index):
    with np.errstate(over="ignore"):
        z = U(4 * number + stream << 32) + (np.asarray(index).astype(U) + U(1)) * U(
            0x9E3779B97F4A7C15
        )
        z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
        return z ^ (z >> U(31))


def field(r, low, modulus):
    """(r >> low) % modulus, as an int64."""
    return ((r >> U(low)) % U(modulus)).astype(np.int64)


# ---- Codes of floats ----------------------------------------------------------


def infinity(dtype):
    bits, mantissa, *_ = FLOATS[dtype]
    return (1 << (bits - 1)) - (1 << mantissa)


def encode(dtype, values):
    """The codes of doubles, rounded to float32 and then to the dtype."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = np.asarray(values, np.float64).astype(np.float32)
        if dtype == "float16":
            return narrow.astype(np.float16).view(np.uint16).astype(np.int64)
    bits = narrow.view(np.uint32).astype(np.int64)
    return bits if dtype == "float32" else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def decode(dtype, codes):
    codes = np.asarray(codes)
    if dtype == "float16":
        return codes.astype(np.uint16).view(np.float16).astype(np.float64)
    shift = 16 if dtype == "bfloat16" else 0
    return (codes.astype(np.uint32) << np.uint32(shift)).view(np.float32).astype(np.float64)


def nudge(dtype, codes, steps):
    """The codes `steps` further from zero, at most infinity and at least zero."""
    sign = 1 << (FLOATS[dtype][0] - 1)
    size = np.clip((codes & (sign - 1)) + steps, 0, infinity(dtype))
    return codes & sign | size


def jitter(r):
    return np.array([-1, 0, 1, 0])[field(r, 62, 4)]


def special(dtype, r, nan):
    """Zeros, the ends of the denormals, the largest number, infinities; with `nan` also NaN."""
    inf = infinity(dtype)
    sizes = np.array([0, 1, inf - 1, inf, 2, inf + 1 if nan else 0, inf - 2, 1 << FLOATS[dtype][1]])
    return sizes[field(r, 8, 8)] | field(r, 11, 2) << (FLOATS[dtype][0] - 1)


def any_code(dtype, r, nan):
    bits, inf = FLOATS[dtype][0], infinity(dtype)
    code = field(r, 8, 1 << bits)
    if nan:
        return code
    size = code & ((1 << (bits - 1)) - 1)
    return np.where(size > inf, code - size + inf, code)


# ---- Parameters ---------------------------------------------------------------


def scale_codes(dtype, r, wild, signed):
    bits, mantissa, bias, *_ = FLOATS[dtype]
    fraction = np.where(r & U(1), 0, field(r, 8, 1 << mantissa))
    exponent = field(r, 32, 12) - 8
    if wild:
        far = field(r, 32, 29) - 14 if dtype == "float16" else field(r, 32, 201) - 100
        exponent = np.where(field(r, 1, 8) == 0, far, exponent)
    sign = (field(r, 4, 16) == 0).astype(np.int64) if signed else 0
    return sign << (bits - 1) | (exponent + bias) << mantissa | fraction


def integer_zero_points(case, r):
    qmin, qmax = max(case.qmin, -(2**28)), min(case.qmax, 2**28)
    quantized = case.x if case.op == "DEQUANTIZE" else case.y
    far = case.zp_from == "ZP_PORT" and case.zp == "int32"
    far = far and not case.x == case.scale == "float16"
    drawn = qmin + field(r, 16, qmax - qmin + 1)
    last = np.where(r & U(8), qmax, qmin)
    if quantized == "int32" and qmax == 2**28:
        last = np.full_like(last, 0x1010001)  # a float32 that does not survive bfloat16
    elif far:
        last = np.where(r & U(8), 1000003, -1000003)
    picks = [np.full_like(drawn, z) for z in (0, 1, -1, 3, -7)] + [drawn | 1, drawn]
    clipped = [np.clip(z, qmin, qmax) for z in picks]
    return np.choose(field(r, 0, 8), [*clipped, last])


def float_zero_points(dtype, scales, r):
    return encode(dtype, (field(r, 8, 4001) - 2000).astype(np.float64) * 0.01 * scales)


# ---- Elements -----------------------------------------------------------------


def block_of(grain):
    """The block number of each element."""
    index = np.zeros(grain.shape, np.int64)
    for axis, (dim, block) in enumerate(zip(grain.shape, grain.block)):
        along = (np.arange(dim) // block).reshape(
            [-1 if i == axis else 1 for i in range(index.ndim)]
        )
        index = index * (dim // block) + along
    return index.reshape(-1)


def float_x(case, r, scale, zp):
    """x of Quantize to integers: ties with neighbours on either side, and all kinds of other
    numbers."""
    span = case.qmax - case.qmin + 5
    t = field(r, 16, span)
    if span > 1000:
        t = t >> field(r, 4, 32) % (16 if case.qmax < 65536 else 32)
        k = np.where(r & U(8), -t, t)
    else:
        k = case.qmin - (0 if case.how == "DOMAIN_FLOAT" else zp.astype(np.int64)) - 2 + t
    kind = field(r, 0, 8)
    part = np.select([kind < 4, kind == 4], [0.5, 0.0], field(r, 3, 8192) / 8192)
    v = (k + part) * scale
    if case.how == "DOMAIN_FLOAT":
        v = (zp - scale * ((case.qmax + case.qmin + 1) / 2)) + v
    codes = encode(case.x, v)
    codes = np.where(kind < 5, nudge(case.x, codes, jitter(r)), codes)
    codes = np.where(kind == 6, any_code(case.x, r, False), codes)
    return np.where(kind == 7, special(case.x, r, False), codes)


def small_tie(y, r):
    """The middle of two numbers of a small float, normal or (1 in 4) subnormal."""
    mantissa, least, greatest, _ = SMALL_FLOATS[y]
    odd = 2 * field(r, 8, 1 << mantissa) + 1
    normal = odd + (2 << mantissa)
    exponent = greatest - mantissa - field(r, 16, greatest - least + mantissa + 4)
    low = field(r, 32, 4) == 0
    return np.ldexp(
        np.where(low, odd, normal).astype(np.float64), np.where(low, least - mantissa - 1, exponent)
    )


def small_x(case, r, scale):
    """x of Quantize to small floats."""
    kind = field(r, 0, 8)
    part = field(r, 3, 8192) / 8192 * SMALL_FLOATS[case.y][3] * 1.125
    v = np.where(kind < 5, small_tie(case.y, r), part) * scale
    v = np.where(r & U(1 << 40), -v, v)
    codes = nudge(case.x, encode(case.x, v), np.where(kind < 5, jitter(r), 0))
    codes = np.where(kind == 6, any_code(case.x, r, True), codes)
    return np.where(kind == 7, special(case.x, r, True), codes)


def integer_x(dtype, r):
    """Codes for Dequantize over the whole dtype; many int32 are ties in some float."""
    if dtype == "int16":
        return field(r, 8, 65536)
    if dtype != "int32":
        low = INTEGERS.get(dtype, (0, 255))[0] if dtype not in SMALL_FLOATS else 0
        return field(r, 8, 256) if dtype not in ("int4", "uint4") else field(r, 8, 16) + low & 0xFF
    kind, size = field(r, 0, 4), field(r, 40, 32)
    tie = [(field(r, 8, 1 << n) | 1) << size % m for n, m in ((9, 22), (12, 19), (25, 6))]
    plain = field(r, 8, 2**31) >> size
    q = np.choose(kind, [t + jitter(r) for t in tie] + [plain])
    return np.where(r & U(1 << 55), -q, q) & 0xFFFFFFFF


def block_sizes(case, r):
    """For each block of DynamicQuantize, the exponent and the magnitude of its largest value."""
    _, _, _, least, greatest = FLOATS[case.x]
    fraction = np.where(r & U(8), 0, field(r, 8, 128) / 128)
    exponent = field(r, 32, 24) - 16
    if case.how.startswith("MX"):
        least, greatest = -70, 100
        drawn = field(r, 8, 1 << 23) / (1 << 23)
        pick = field(r, 0, 8)
        fraction = np.where(pick < 6, MAX_FRACTIONS[pick % 6], drawn)
    if case.how == "NVFP4":
        least, greatest = -12, 12
        exponent = field(r, 32, 14) - 5
        drawn = field(r, 8, 1 << 20) / (1 << 20)
        fraction = np.where(r & U(8), field(r, 8, 8) / 8, drawn)
    exponent = np.where(field(r, 4, 8) == 0, least + field(r, 32, greatest - least + 1), exponent)
    return exponent, np.ldexp(1 + fraction, exponent)


def zero_or(r, codes, zero, dtype):
    """Replaces codes by zeros of either sign where `zero` is set."""
    return np.where(zero, field(r, 11, 2) << (FLOATS[dtype][0] - 1), codes)


def odd_ones(case, r, block, codes):
    """Infinities, and for float8 NaN, in one block of 16."""
    kind = field(r, 8, 64)
    inf = infinity(case.x)
    last = inf + 1 if case.how != "NVFP4" else inf
    sign = FLOATS[case.x][0] - 1
    codes = np.where(
        (field(block, 28, 16) == 2) & (kind == 0), inf | field(r, 16, 2) << sign, codes
    )
    return np.where((field(block, 28, 16) == 3) & (kind == 1), last, codes)


def dynamic_x(case, r, block):
    """x of DynamicQuantize: ties of the scale that follows from the ends of a block."""
    _, size = block_sizes(case, block)
    pick = field(block, 0, 8)
    lo = np.choose(
        pick, [0 * size, -size, 0 * size, -size, -size, -size * 0.25, -size * 0.5, -size]
    )
    hi = np.choose(pick, [0 * size, -size, size, 0 * size, size, size, size, size * 0.5])
    kind = field(r, 0, 8)
    most = np.where(-lo > hi, -lo, hi)
    if case.y in SMALL_FLOATS:
        v = small_tie(case.y, r) * (most / SMALL_FLOATS[case.y][3])
        v = np.where(r & U(1 << 40), -v, v)
    else:
        n = case.qmax - case.qmin
        step = (hi - lo) / n if case.how == "ASYMMETRIC" else most / (n / 2)
        if case.how == "SYMMETRIC_NO_CLIPPING":
            below, above = lo / case.qmin if case.qmin < 0 else np.zeros_like(lo), hi / case.qmax
            step = np.where(below > above, below, above)
        v = (field(r, 16, 2 * n + 1) - n + 0.5) * step
    v = np.where(kind == 7, lo + (hi - lo) * (field(r, 3, 8192) / 8192), v)
    v = np.select([kind == 0, kind == 1], [hi, lo], np.where(v < lo, lo, np.where(v > hi, hi, v)))
    codes = encode(case.x, v)
    codes = np.where((v > lo) & (v < hi) & (kind != 7), nudge(case.x, codes, jitter(r)), codes)
    codes = zero_or(r, codes, pick == 0, case.x)
    return odd_ones(case, r, block, codes) if case.y in SMALL_FLOATS else codes


def scaled_x(case, r, block, unit):
    """x of the MX and NVFP4 schemes."""
    mantissa, least, greatest, _ = SMALL_FLOATS[case.y]
    exponent, size = block_sizes(case, block)
    if case.how == "NVFP4":
        size = size * 6 * unit
    # log2 cannot tell smaller steps apart
    step = 256 if case.how == "MX_RCEIL" and case.x == "float32" else 1
    top = nudge(case.x, encode(case.x, size), jitter(block) * step)
    size = decode(case.x, top)
    kind = field(r, 0, 8)
    if case.how == "NVFP4":
        v = np.where(kind < 6, FLOAT4_TIES[field(r, 8, 8)] * (size / 6), size)
    else:
        odd = 2 * field(r, 8, 1 << mantissa) + 1
        normal = np.ldexp(
            (odd + (2 << mantissa)).astype(np.float64), exponent - mantissa - 1 - field(r, 16, 20)
        )
        low = np.ldexp(odd.astype(np.float64), exponent - greatest + least - mantissa - 1)
        v = np.where(kind < 5, normal, low)
    v = np.where(kind == 6, size * (field(r, 3, 8192) / 8192), v)
    v = np.where(v > size, v * 0.5, v)
    v = np.where(kind == 7, size, v)
    codes = encode(case.x, v)
    codes = np.where(v < size, nudge(case.x, codes, jitter(r) * step), codes)
    codes = codes | field(r, 40, 2) << (FLOATS[case.x][0] - 1)
    codes = zero_or(r, codes, field(block, 28, 16) == 1, case.x)
    return odd_ones(case, r, block, codes) if case.how == "NVFP4" else codes


# ---- A case -------------------------------------------------------------------


class Data:
    """The codes of x and of the parameters; `scales` and `zps` have the numbers of each block."""

    def __init__(self, case):
        self.grain, self.scale_dtype = GRAINS[case.grain], case.scale or "float32"
        self.x = self.scale_codes = self.zp_codes = None
        self.scales = self.zps = self.out_scale = self.out_zp = None

    def arrays(self):
        """The arrays that the CRC of the inputs covers."""
        return [a for a in (self.x, self.scale_codes, self.zp_codes) if a is not None]


def words_of(dtype, codes):
    return codes.astype(
        "<u" + str(FLOATS[dtype][0] // 8) if dtype in FLOATS else WORDS.get(dtype, "u1")
    )


def make_parameters(case, number, data):
    blocks = np.arange(np.prod([d // b for d, b in zip(data.grain.shape, data.grain.block)]))
    if case.how == "NVFP4":
        code = scale_codes("float32", mix(number, 3, [0]), False, False)
        data.out_scale = decode("float32", code)[0] if case.zp_from != "ZP_NONE" else 1.0
        data.scale_codes = words_of("float32", code)
    if case.op == "DYNAMIC":
        return
    r = mix(number, 0, blocks)
    calm = case.how == "DOMAIN_FLOAT" or case.op == "REQUANTIZE"
    codes = scale_codes(data.scale_dtype, r, not calm, case.scale is not None)
    if case.op == "REQUANTIZE":  # half of the scales are half of the other side's: ties
        code = scale_codes("float32", mix(number, 3, [0]) & ~U(1), False, False)
        data.out_scale = decode("float32", code)[0]
        data.out_zp = int(field(mix(number, 3, [1]), 8, 9)[0] + 1)
        codes = np.where(r & U(32), encode("float32", data.out_scale * 0.5), codes)
    data.scale_codes, data.scales = words_of(data.scale_dtype, codes), decode(
        data.scale_dtype, codes
    )
    served = blocks if case.zp_from in ("ZP_LIST", "ZP_PORT") else blocks[:1]
    r = mix(number, 1, served)
    if case.how == "DOMAIN_FLOAT":
        zp_dtype = case.zp or "float32"
        codes = float_zero_points(zp_dtype, data.scales[: len(served)], r)
        data.zp_codes, data.zps = words_of(zp_dtype, codes), decode(zp_dtype, codes)
    elif case.zp_from != "ZP_NONE":
        data.zps = integer_zero_points(case, r)
        data.zp_codes = data.zps.astype("<i4")
    else:
        data.zps = np.zeros(1, np.int64)
    data.zps = np.broadcast_to(data.zps, blocks.shape)


def make(case, number):
    data = Data(case)
    make_parameters(case, number, data)
    block = block_of(data.grain)
    r = mix(number, 2, np.arange(block.size))
    if case.op in ("DEQUANTIZE", "REQUANTIZE"):
        codes = integer_x(case.x, r)
    elif case.how.startswith("MX") or case.how == "NVFP4":
        codes = scaled_x(case, r, mix(number, 0, block), data.out_scale)
    elif case.op == "DYNAMIC":
        codes = dynamic_x(case, r, mix(number, 0, block))
    elif case.y in SMALL_FLOATS:
        codes = small_x(case, r, data.scales[block])
    else:
        codes = float_x(case, r, data.scales[block], data.zps[block])
    data.x = words_of(case.x, codes).reshape(data.grain.shape)
    return data
