# SPDX-License-Identifier: Apache-2.0
"""A model of the chips' matrix unit in exact integers, written from its description alone: operands
split by fidelity phase, groups of eight, one accumulator."""

import functools
import struct

PHASES = {"LoFi": 1, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}


def bits_of(real):
    return struct.unpack("<I", struct.pack("<f", real))[0]


def real_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]


def significand(bits):
    """11 bits: the implicit one and the upper ten of the fraction."""
    return 0 if bits >> 23 & 255 == 0 else 1024 + (bits >> 13) % 1024


def product(weight, activation, phase):
    """(signed mantissa, exponent) of one product in one phase."""
    if not significand(weight) or not significand(activation):
        return 0, 0
    w, x = significand(weight), significand(activation)
    w = w // 64 if phase in (0, 2) else w // 2 % 32
    x = x // 16 if phase in (0, 1) else x % 16 * 8
    adjust = {0: 127, 1: 132, 2: 134, 3: 139}[phase]
    sign = -1 if (weight ^ activation) >> 31 else 1
    return sign * w * x, (weight >> 23 & 255) + (activation >> 23 & 255) - adjust


def half_up(magnitude, shift, less=0):
    """magnitude / 2^shift, halves up; `less` is taken off before."""
    return (magnitude + 2 ** (shift - 1) - less) // 2 ** shift if shift else magnitude


def group(products):
    top = max(exponent for _, exponent in products)
    if top <= 0:
        return 0, 0
    total = 0
    for mantissa, exponent in products:
        size = half_up(2 * abs(mantissa), min(top - exponent, 30) + 1)
        total += size if mantissa >= 0 else -size
    return total * 2 ** 13, top


def accumulate(dst, groups, wide, wormhole):
    exponent = dst >> 23 & 255
    mantissa = 0 if exponent == 0 else dst % 2 ** 23 + 2 ** 23
    terms = [(-mantissa if dst >> 31 else mantissa, exponent, False)]
    terms += [(m, e, m < 0) for m, e in groups]
    top = max(e for _, e, _ in terms)
    if top <= 0:
        return 0
    total = 0
    for m, e, low in terms:
        size, shift = abs(m), top - e
        size = 0 if shift >= 31 else half_up(size, shift, low)
        if not wide:
            size = (size + 4096 - low) // 8192 * 8192
        total += size if m >= 0 else -size
    if total == 0:
        return 0
    size = abs(total)
    shift = 24 - size.bit_length()
    if wormhole and total == -1:
        shift -= 27
    top -= shift
    if not wide:
        shift -= 16
    size = half_up(size, -shift) if shift < 0 else size * 2 ** shift
    if not wide:
        size *= 2 ** 16
    if size >> 24 & 1:
        top += 1
    sign = 0x80000000 if total < 0 else 0
    if top <= 0:
        return 0
    return sign | 0x7F800000 if top >= 255 else sign | top << 23 | size % 2 ** 23


def step(dst, weights, activations, phase, wide, wormhole):
    """Adds 16 products of one phase."""
    products = [product(w, x, phase) for w, x in zip(weights, activations)]
    return accumulate(dst, [group(products[:8]), group(products[8:])], wide, wormhole)


@functools.lru_cache(maxsize=None)
def added(a, b, wide, wormhole):
    """ELWADD: the smaller operand in steps of the greater one."""
    if a & 0x7FFFFFFF < b & 0x7FFFFFFF:
        a, b = b, a
    by = (a >> 23 & 255) - (b >> 23 & 255)
    less = 0 if by >= 12 else (significand(b) + (2 ** (by - 1) if by else 0)) // 2 ** by
    size = significand(a) + (less if (a ^ b) >> 31 == 0 else -less)
    return accumulate(0, [(size * 2 ** 13 * (-1 if a >> 31 else 1), a >> 23 & 255)], wide, wormhole)


@functools.lru_cache(maxsize=None)
def multiplied(a, b, wide, wormhole, phases=4):
    """ELWMUL."""
    dst = 0
    for phase in range(phases):
        mantissa, exponent = product(a, b, phase)
        dst = accumulate(dst, [(mantissa * 2 ** 13, exponent) if exponent > 0 else (0, 0)], wide, wormhole)
    return dst


def packed(dst):
    """To bfloat16: halves away from zero; zeros have no sign."""
    code = (dst + 0x8000 & 0xFFFFFFFF) >> 16
    return code << 16 if code & 0x7F80 else 0
