# SPDX-License-Identifier: Apache-2.0
"""Instructions of Tenstorrent's chips in exact integers, on patterns of float32, written from their
description alone (docs/device_arithmetic.md). `chip` is "wormhole" or "blackhole"."""

import struct

SIGN, INFINITY, ONE, TWO = 0x80000000, 0x7F800000, 0x3F800000, 0x40000000


def bits_of(real):
    return struct.unpack("<I", struct.pack("<f", real))[0]


def real_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def exponent(bits):
    return bits >> 23 & 255


def significand(bits):
    return bits % 2**23 + 2**23 if exponent(bits) else 0


def is_nan(bits):
    return bits % SIGN > INFINITY


def minus(bits):
    return bits ^ SIGN


def with_exponent(bits, field):
    return bits & 0x807FFFFF | field << 23


# ---- Multiply-add ------------------------------------------------------------


def aligned(value, shift):
    """value / 2^shift; lost bits set the last bit of what is left, if anything is."""
    kept = value >> shift
    return kept | (kept << shift != value) if kept else 0


def unusual(chip, x, y, z, field):
    """(result, NaN): with an operand or a product that is infinite or NaN."""
    product = (x ^ y) & SIGN
    infinite = [v % SIGN == INFINITY for v in (x, y, z)]
    bad = is_nan(x) or is_nan(y) or (infinite[0] and not significand(y)) or (
        infinite[1] and not significand(x))
    large = 255 in (exponent(x), exponent(y)) or (chip == "wormhole" and field >= 255)
    cancel = infinite[2] and large and (z & SIGN) != product
    if chip == "blackhole":
        if bad or cancel or is_nan(z):
            return 0x7FC00000, None
    elif bad or cancel:
        return None, product | 0x7F800001
    elif is_nan(z):
        return None, z & SIGN | 0x7F800001
    return (z if infinite[2] else product | INFINITY), None


def mad(chip, x, y, z):
    """x * y + z."""
    nan = None
    product = significand(x) * significand(y) * 8
    product = product >> 23 | (product % 2**23 != 0)
    field, addend, other = exponent(x) + exponent(y) - 127, significand(z) * 8, exponent(z)
    sign, minor = (x ^ y) & SIGN, z & SIGN
    zero = 0 if chip == "wormhole" else sign & minor
    if 255 in (exponent(x), exponent(y), exponent(z)) or field >= 255:
        result, nan = unusual(chip, x, y, z, field)
        if nan is None:
            return result
        field = min(field, 255)
    if product == 0 or field < 0:
        if nan is None:
            return z if significand(z) else zero
        product = field = 0
    top = max(field, other)
    product, addend = aligned(product, top - field), aligned(addend, top - other)
    total = product + addend if sign == minor else product - addend
    if total < 0:
        total, sign = -total, minor
    if total == 0:
        return zero if nan is None else nan
    return packed(chip, total, sign, top, nan)


def packed(chip, total, sign, field, nan):
    """The float nearest to total, halves to even."""
    shift = total.bit_length() - 27
    field += shift
    if field >= 255:
        return sign | INFINITY if nan is None else nan
    if chip == "wormhole" and field < 0:
        return nan or 0
    if chip == "blackhole" and field <= 0:
        shift, field = shift + 1, 0
    if shift > 0:
        sticky = total & (1 if chip == "wormhole" else shift | 1)
        total = total >> shift | (sticky != 0)
    else:
        total <<= -shift
    bits = (field << 23) + (total >> 3) % 2**23
    bits += total % 8 + bits % 2 > 4
    if bits < 2**23:
        return sign if chip == "blackhole" else nan or 0
    return (sign if nan is None else nan) | bits


def multiply(chip, x, y):
    return mad(chip, x, y, 0)


def add(chip, x, y):
    return mad(chip, x, ONE, y)


# ---- Reciprocal and division -------------------------------------------------


def polynomial(x, steps):
    """1 / the significand of x on Wormhole: a parabola and steps of Newton's method."""
    def step(*operands):
        return mad("wormhole", *operands)

    w = 0xBF800000 | x % 2**23
    y = step(bits_of(0.3232325017452239990234375), w, bits_of(1.4545459747314453125))
    y = step(y, w, bits_of(2.121212482452392578125))
    for _ in range(steps):
        y = step(y, step(w, y, ONE), y)
    return y


def from_table(x):
    """Blackhole's first guess of 1 / x, to 7 bits."""
    field = exponent(x)
    if field == 0:
        return x & SIGN | INFINITY
    if field >= 253:
        return x & SIGN
    # floor(128 * (2 / (1 + (i + 1/2) / 128) - 1) + 1/2), in integers
    i = x >> 16 & 127
    top = (2 * (512 * 128 - 128 * (257 + 2 * i)) + 257 + 2 * i) // (2 * (257 + 2 * i))
    return x & SIGN | 253 - field << 23 | top << 16


def order(bits):
    """Place in the total order in which the chip compares floats."""
    return -1 - bits % SIGN if bits & SIGN else bits


def reciprocal(chip, x):
    if chip == "wormhole":
        scale = multiply(chip, 0x3F000000, ~x & 0xFF800000)
        return multiply(chip, polynomial(x, 2), scale) % SIGN | x & SIGN
    y = from_table(x)
    e = mad(chip, minus(x), y, ONE)
    t = mad(chip, mad(chip, e, e, e), e, e)
    return mad(chip, min(t, ONE, key=order), y, y)


def divide(chip, a, b):
    """The quotient of normal numbers: significands first, corrected once, then the exponents."""
    assert 0 < exponent(a) < 255 and 0 < exponent(b) < 255
    sign, fields = (a ^ b) & SIGN, exponent(a) - (exponent(b) - 127)
    a, b = with_exponent(a % SIGN, 127), with_exponent(b % SIGN, 127)
    if chip == "wormhole":
        r = polynomial(b, 1)
    else:
        r = from_table(b)
        r = multiply(chip, r, mad(chip, minus(b), r, TWO))
    q = multiply(chip, a, r)
    q = mad(chip, mad(chip, minus(q), b, a), r, q)
    field = fields + exponent(q)
    half = field // 2
    return multiply(chip, with_exponent(q, half), field - half << 23) ^ sign


# ---- bfloat16 in an accumulator of 16 bits ------------------------------------

# Operands and results are elements of bfloat16 tiles, as patterns of float32.


def to_even(bits):
    """A float32 rounded to bfloat16 by software."""
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16 << 16


def element(bits):
    """What the packer makes of a bfloat16."""
    return stored(bits) << 16


def multiply_bfloat16(chip, a, b):
    a, b = loaded(a >> 16), loaded(b >> 16)
    return element(to_even(multiply(chip, a, b))) if significand(a) and significand(b) else 0


def divide_bfloat16(chip, a, b):
    """By a reciprocal, without correction; b is normal."""
    assert 0 < exponent(b) < 255
    return element(to_even(multiply(chip, loaded(a >> 16), reciprocal(chip, b))))


def add_bfloat16(a, b):
    """ELWADD of the matrix unit. Significands have 11 bits; the sum is rounded to 8, halves away from
    zero."""
    greater, lesser = sorted((a, b), key=lambda v: v % SIGN, reverse=True)
    field = exponent(greater)
    if field == 0:
        return 0
    shift = field - exponent(lesser)
    kept = significand(lesser) >> 13
    if shift:
        kept = kept + 2 ** (shift - 1) >> shift if shift < 12 else 0
    total = (significand(greater) >> 13) + (-kept if minus(greater) & SIGN == lesser & SIGN else kept)
    if total == 0:
        return 0
    spare = total.bit_length() - 8  # 11 bits have the exponent of the greater operand
    field += spare - 3
    total = total + 2 ** (spare - 1) >> spare if spare > 0 else total << -spare
    if total == 256:
        total, field = 128, field + 1
    if field <= 0:
        return 0
    return element(greater & SIGN | (INFINITY if field >= 255 else field << 23 | (total - 128) << 16))


# ---- Integers and tiles ------------------------------------------------------


def rounded(bits, most):
    """(magnitude, negative): halves away from zero. NaN and what is beyond: `most`."""
    power = exponent(bits) - 127
    if power >= 16:
        magnitude = most
    elif power < -1:
        magnitude = 0
    else:
        magnitude = min(2 * significand(bits) * 2 ** (power + 1) + 2**24 >> 25, most)
    return magnitude, bool(bits & SIGN and magnitude)


def float_of(integer):
    """An integer in sign and magnitude as float32: half to even; INT32_MIN is -0."""
    if integer == -2**31:
        return SIGN
    return bits_of(nearest(abs(integer))) | (SIGN if integer < 0 else 0)


def nearest(magnitude):
    """A whole number as float32, half to even."""
    shift = max(magnitude.bit_length() - 24, 0)
    whole, rest = magnitude >> shift, magnitude % 2**shift
    whole += 2 * rest > 2**shift or (2 * rest == 2**shift and whole % 2 == 1 and shift > 0)
    return float(whole << shift)


def truncated(bits):
    """Toward zero. Numbers beyond int32 are its ends, as in the later version of two: the earlier one
    makes INT32_MIN of positive numbers too."""
    power = exponent(bits) - 127
    if power >= 31:
        assert not is_nan(bits)
        return -(2**31) if bits & SIGN else 2**31 - 1
    magnitude = significand(bits) << power >> 23 if power >= 0 else 0
    return -magnitude if bits & SIGN else magnitude


def loaded(bfloat16):
    """A bfloat16 tile's element in float32: no denormals, no -0, infinity for NaN."""
    if bfloat16 >> 7 & 255 == 0:
        return 0
    return (bfloat16 & 0x8000 | 0x7F80) << 16 if bfloat16 % 2**15 > 0x7F80 else bfloat16 << 16


def stored(bits):
    """A float32 of the accumulator as an element of a bfloat16 tile: halves away from zero."""
    if is_nan(bits):
        return bits >> 16 & 0x8000 | 0x7F80
    upper = bits + 0x8000 >> 16
    return upper if upper >> 7 & 255 else 0
