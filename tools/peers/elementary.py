#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/runtime/numerics/elementary_golden.h: correctly rounded results of the functions of
runtime/numerics/elementary.h, trigonometric.h and hyperbolic.h.

    python3 elementary.py ../../tests/runtime/numerics/elementary_golden.h

Needs mpmath, which computes with 300 bits. The arguments are random floats, and the two floats
between which a result reaches its last value.
"""

import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.prec = 300
RANDOM = 24


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def rounded(v):
    """The bits of the nearest float32, ties to even."""
    sign = 0x80000000 if v < 0 else 0
    v = abs(v)
    if v == 0:
        return sign
    ulp = mpf(2) ** (max(int(mpmath.floor(mpmath.log(v, 2))), -126) - 23)
    v = mpmath.nint(v / ulp) * ulp
    return sign | (0x7F800000 if v >= mpf(2) ** 128 else bits_of(float(v)))


def ordered(bits):
    """The bits as an integer that grows with the float, and back."""
    return bits if bits < 0x80000000 else 0x80000000 - bits


def end(function, inside, outside):
    """The last float, from `inside` on, whose result differs from that at `outside`, and the next
    float."""
    last = rounded(function(mpf(outside)))
    a, b = ordered(bits_of(inside)), ordered(bits_of(outside))
    while abs(a - b) > 1:
        middle = (a + b) // 2
        bits = middle if middle >= 0 else 0x80000000 - middle
        if rounded(function(mpf(float_of(bits)))) == last:
            b = middle
        else:
            a = middle
    return [n if n >= 0 else 0x80000000 - n for n in (a, b)]


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def silu(x):
    return x / (1 + mpmath.exp(-x))


def rsqrt(x):
    return 1 / mpmath.sqrt(x)


def softplus(x):
    return mpmath.log1p(mpmath.exp(x))


# Name, function, exponents and signs of the random arguments, and where results reach their last
# value.
FUNCTIONS = [
    ("exp", mpmath.exp, (-26, 6), "+-", [(80, 90), (-80, -110)]),
    ("expm1", mpmath.expm1, (-40, 6), "+-", [(80, 90), (-5, -30)]),
    ("log", mpmath.log, (-149, 127), "+", []),
    ("log1p", mpmath.log1p, (-40, -1), "+-", []),
    ("tanh", mpmath.tanh, (-40, 3), "+-", [(5, 20), (-5, -20)]),
    ("erf", mpmath.erf, (-40, 2), "+-", [(2, 10), (-2, -10)]),
    ("sigmoid", sigmoid, (-26, 6), "+-", [(5, 30), (-80, -110)]),
    ("softplus", softplus, (-26, 6), "+-", [(-80, -110)]),
    ("sin", mpmath.sin, (-26, 127), "+-", []),
    ("cos", mpmath.cos, (-12, 127), "+-", []),
    ("tan", mpmath.tan, (-26, 127), "+-", []),
    ("asin", mpmath.asin, (-26, -1), "+-", []),
    ("acos", mpmath.acos, (-26, -1), "+-", []),
    ("atan", mpmath.atan, (-26, 30), "+-", []),
    ("sinh", mpmath.sinh, (-26, 6), "+-", []),
    ("cosh", mpmath.cosh, (-12, 6), "+-", []),
    ("asinh", mpmath.asinh, (-26, 127), "+-", []),
    ("acosh", mpmath.acosh, (0, 127), "+", []),
    ("atanh", mpmath.atanh, (-26, -1), "+-", []),
    ("silu", silu, (-26, 6), "+-", [(-80, -120)]),
    ("rsqrt", rsqrt, (-149, 127), "+", []),
]


def main():
    draw = random.Random(1)
    lines = ["""// SPDX-License-Identifier: Apache-2.0
// Correctly rounded results as bits, from mpmath %s. tools/peers/elementary.py writes this file.
#ifndef QDQ_TESTS_RUNTIME_NUMERICS_ELEMENTARY_GOLDEN_H
#define QDQ_TESTS_RUNTIME_NUMERICS_ELEMENTARY_GOLDEN_H

#include <stdint.h>

// clang-format off
static const struct {
    const char *function;
    uint32_t x, y;
} elementary_golden[] = {""" % mpmath.__version__]
    for name, function, (low, high), signs, ends in FUNCTIONS:
        arguments = [bits for inside, outside in ends for bits in end(function, inside, outside)]
        for _ in range(RANDOM):
            value = (1 + draw.getrandbits(23) * 2.0**-23) * 2.0 ** draw.randint(low, high)
            arguments.append(bits_of(-value if draw.choice(signs) == "-" else value))
        for x in arguments:
            y = rounded(function(mpf(float_of(x))))
            lines.append(f'    {{"{name}", 0x{x:08X}, 0x{y:08X}}},')
    lines.append("};\n// clang-format on\n\n#endif\n")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


if __name__ == "__main__":
    main()
