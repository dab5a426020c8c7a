#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requantize by multiplier and shift has the bits of integers and fractions of any size, for each rounding:
ties, products at the ends of 32 and 64 bits, shifts that wrap, every shift, per tensor and per channel. A
wrong node is refused in one sentence."""

import random
from fractions import Fraction

import harness
from harness import Case, graph, main, node, tensor, unpack, value

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-2**15, 2**15 - 1), "uint16": (0, 2**16 - 1),
          "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}
harness.LETTERS.update(int16="h", uint16="H")
harness.NPY.update(int16="<i2", uint16="<u2")
INTEGERS = ["single", "double", "up"]


# ---- The formulas, in numbers without bounds ----


def wrapped(v):
    return (v + 2**31) % 2**32 - 2**31


def high_product(a, b):
    return 2**31 - 1 if a == b == -2**31 else (a * b + 2**30) // 2**31


def half_away(v):
    """The nearest integer of a fraction; halves go away from zero."""
    return int(abs(v) + Fraction(1, 2)) * (1 if v >= 0 else -1)


def half_up(v):
    return (v + Fraction(1, 2)).__floor__()


def nearest_float(v, bits, least):
    """A fraction rounded half to even to `bits` bits, or to a multiple of 2^least."""
    if v == 0:
        return Fraction(0)
    exponent = abs(v).numerator.bit_length() - abs(v).denominator.bit_length()
    exponent += 1 if abs(v) >= Fraction(2) ** exponent else 0  # |v| < 2^exponent
    unit = Fraction(2) ** max(exponent - bits, least)
    return round(v / unit) * unit


def scaled(rounding, x, m, s):
    if rounding == "single":
        return half_up(Fraction(x * m, 2**s)) if s else x * m
    if rounding in ("double", "up"):
        left, right = max(31 - s, 0), max(s - 31, 0)
        high = high_product(wrapped(wrapped(x) << left), m)
        return (half_away if rounding == "double" else half_up)(Fraction(high, 2**right))
    bits, least = (24, -149) if rounding == "float32" else (53, -1074)
    scale = nearest_float(Fraction(m, 2**s), bits, least)
    product = nearest_float(nearest_float(Fraction(x), bits, least) * scale, bits, least)
    return round(product) if rounding == "float32" else half_away(product)


def expected(rounding, x, m, s, dtype, in_zp=0, out_zp=0):
    least, most = LIMITS[dtype]
    return min(max(scaled(rounding, x - in_zp, m, s) + out_zp, least), most)


# ---- Numbers ----


def elements(dtype, count, numbers):
    least, most = LIMITS[dtype]
    some = [least, least + 1, -1, 0, 1, most - 1, most, 2**30, -2**30, 2**30 + 1, -2**15, 2**24 + 1, -2**24 - 1,
            2**47 - 1, -2**47, 11392, -11392, -128, 2**61 - 1, -2**61 + 1]
    some = [x for x in some if least <= x <= most]
    while len(some) < count:
        bits = numbers.randint(1, least.bit_length() if least else most.bit_length())
        some.append(min(max(numbers.randint(-2**bits, 2**bits), least), most))
    return some[:count]


def factors(rounding, numbers):
    """Multipliers and shifts: each shift, the ends, and powers of two, whose products tie."""
    if rounding in INTEGERS:
        ends = [0, 1, -1, 2**30, 2**30 + 1, 2**31 - 1, -2**31, 2**31 - 2, -2**30, 3 * 2**29, 2018847872, 85]
        return [(m, s) for s in range(63) for m in numbers.sample(ends, 3) + [numbers.randint(2**30, 2**31 - 1)]]
    bits, most = (24, 126) if rounding == "float32" else (53, 1022)
    shifts = [0, 1, 16, bits - 1, bits, bits + 2, bits + 7, bits + 9, bits + 31, most]
    return [(m, s) for s in shifts for m in (1, 0, 3, -2**bits, 2**bits, 2**bits - 1, 2**(bits - 1),
                                             numbers.randint(1, 2**bits))]


class Bits(Case):
    def rows(self, rounding, x_dtype, y_dtype, pairs, x, words=(), **attrs):
        """Runs row i of x by pair i, and checks every element."""
        shape = [len(pairs), len(x)]
        attrs = {"multiplier": [m for m, _ in pairs], "shift": [s for _, s in pairs], "axis": 0, "dtype": y_dtype,
                 "rounding": rounding, **attrs}
        content = graph([node("Requantize", "q", "x", **attrs)], [value("x", x_dtype, shape)])
        got = unpack(self.run_one(content, tensor(x_dtype, shape, x * len(pairs)), *words))
        zps = attrs.get("in_zps", 0), attrs.get("out_zps", 0)
        for i, y in enumerate(got):
            (m, s), one = pairs[i // len(x)], x[i % len(x)]
            want = expected(rounding, one, m, s, y_dtype, *zps)
            self.assertEqual(y, want, f"{rounding}, {x_dtype} {one} * {m} >> {s} to {y_dtype}, {zps}, {words}")

    def test_every_rounding_and_dtype(self):
        numbers = random.Random(47)
        for rounding in INTEGERS + ["float32", "float64"]:
            pairs = factors(rounding, numbers)
            for x_dtype in ("int32", "int8", "uint8", "int16", "uint16"):
                y_dtype = numbers.choice(["int8", "uint8", "int16", "uint16"])
                x = elements(x_dtype, 60, numbers)
                self.rows(rounding, x_dtype, "int32", pairs, x)
                self.rows(rounding, x_dtype, y_dtype, pairs, x, ["--fast"], in_zps=3, out_zps=-7)

    def test_int64(self):
        numbers = random.Random(48)
        for rounding in ("single", "float32", "float64"):
            for y_dtype in ("int32", "int16"):
                x = [v for v in elements("int64", 60, numbers) if abs(v) < 2**61]
                self.rows(rounding, "int64", y_dtype, factors(rounding, numbers), x, out_zps=5)

    def test_ties(self):
        for rounding, want in {"single": [-2, -1, -1, 0, 1, 2, 3], "double": [-3, -2, -1, 0, 1, 2, 3],
                               "up": [-2, -1, 0, 0, 1, 2, 3], "float32": [-2, -2, -1, 0, 0, 2, 2],
                               "float64": [-3, -2, -1, 0, 1, 2, 3]}.items():
            factor = {"multiplier": 1, "shift": 2} if "float" in rounding else {"multiplier": 2**30, "shift": 32}
            attrs = {"rounding": rounding, "dtype": "int8", **factor}
            x = tensor("int32", [7], [-10, -6, -3, 0, 2, 6, 10])
            content = graph([node("Requantize", "q", "x", **attrs)], [value("x", "int32", [7])])
            self.assertEqual(unpack(self.run_one(content, x)), want, rounding)

    def test_roundings_that_differ_in_one_step(self):
        pair = [(2018847872, 35)]
        for rounding, want in {"single": -8, "double": -8, "up": -7}.items():
            self.assertEqual(expected(rounding, -128, *pair[0], "int8"), want)
            self.rows(rounding, "int32", "int8", pair, [-128] * 64)

    def test_inexact_is_single_and_unknown_to_tosa(self):
        shape, numbers = [2, 40], random.Random(50)
        x = elements("int32", 80, numbers)
        attrs = {"multiplier": 2**30 + 12345, "shift": 40, "rounding": "inexact", "out_zps": 3}
        content = graph([node("Requantize", "q", "x", dtype="int8", **attrs)], [value("x", "int32", shape)],
                        target="tosa")
        got = unpack(self.run_one(content, tensor("int32", shape, x)))
        self.assertEqual(got, [min(max(scaled("single", v, 2**30 + 12345, 40) + 3, -128), 127) for v in x])
        self.assertEqual([found["rule"] for found in self.check(content, code=0)], ["tosa/bits-unknown"])
        for target in ("litert@reference", "tflm"):
            rules = [found["rule"] for found in self.check({**content, "target": target}, code=0)]
            self.assertIn(f"{target.split('@')[0]}/bits-unknown", rules)

    def test_channels_of_each_axis_meet_zero_points_and_a_clamp_range(self):
        shape, numbers = [3, 5, 4], random.Random(49)
        x = elements("int32", 60, numbers)
        for axis in range(3):
            dim = shape[axis]
            m = [numbers.randint(2**30, 2**31 - 1) for _ in range(dim)]
            zps = [numbers.randint(-9, 9) for _ in range(dim)]
            attrs = {"multiplier": m, "shift": 38, "axis": axis, "out_zps": zps, "quant_min": -100, "quant_max": 90}
            content = graph([node("Requantize", "q", "x", dtype="int8", **attrs)], [value("x", "int32", shape)])
            got = unpack(self.run_one(content, tensor("int32", shape, x)))
            step = [20, 4, 1][axis]
            for i, y in enumerate(got):
                c = i // step % dim
                want = scaled("single", x[i], m[c], 38) + zps[c]
                self.assertEqual(y, min(max(want, -100), 90))


class Refused(Case):
    def refused(self, text, dtype="int32", **attrs):
        content = graph([node("Requantize", "q", "x", dtype="int8", **attrs)], [value("x", dtype, [2, 3])])
        self.assert_finding(content, "core/fixed-point", text)

    def test_one_without_the_other(self):
        self.refused("shift is missing, but multiplier is given, wanted both", multiplier=1)
        self.refused("multiplier is missing, but shift is given, wanted both", shift=1)

    def test_scales_beside_them(self):
        self.refused("in_scales is given as well as multiplier and shift", multiplier=1, shift=1, in_scales=1)
        self.refused("out_scales is given as well as multiplier and shift", multiplier=1, shift=1, out_scales=1)

    def test_counts(self):
        self.refused("multiplier has 2 elements, wanted 1 or 3 (as dim 1 of x is 3)", multiplier=[1, 2], shift=1,
                     axis=1)
        self.refused("shift has 0 elements, wanted 1, or as many as dim `axis` of x has", multiplier=1, shift=[])

    def test_ranges(self):
        self.refused("multiplier has 2147483648 at index 0, wanted a whole number from -2147483648 to 2147483647 with rounding "
                     "single", multiplier=2**31, shift=1)
        self.refused("shift has 63 at index 1, wanted a whole number from 0 to 62 with rounding double", multiplier=1,
                     shift=[0, 63, 1], axis=1, rounding="double")
        self.refused("multiplier has 1.5 at index 0, wanted a whole number", multiplier=1.5, shift=1)
        self.refused("multiplier has 16777217 at index 0, wanted a whole number from -16777216 to 16777216 with rounding float32",
                     multiplier=2**24 + 1, shift=1, rounding="float32")
        self.refused("shift has 127 at index 0, wanted a whole number from 0 to 126", multiplier=1, shift=127, rounding="float32")

    def test_dtypes(self):
        self.refused("x is int64, wanted at most 32 bits, which rounding double and up take", dtype="int64",
                     multiplier=1, shift=1, rounding="up")
        one = node("Requantize", "q", "x", dtype="int8", multiplier=1, shift=1)
        self.assert_finding(graph([one]), "core/port-dtype", "x is float32, wanted one of: int8, uint8")
        one = node("Requantize", "q", "x", dtype="int8", in_scales=1, out_scales=1)
        self.assert_finding(graph([one], [value("x", "int64", [2, 3])]), "core/port-dtype", "x is int64")

    def test_a_rounding_without_a_multiplier_is_ignored(self):
        one = node("Requantize", "q", "x", dtype="int8", in_scales=1, out_scales=1, rounding="up")
        self.assert_finding(graph([one]), "core/attribute-ignored", "rounding is given, but there is no multiplier",
                            code=0)

    def test_targets_without_fixed_point(self):
        one = graph([node("Requantize", "q", "x", dtype="int8", multiplier=1, shift=1)], [value("x", "int32", [2, 3])])
        for target in ("onnx", "ort", "onednn", "tensorrt", "tripy", "ttnn", "torchao"):
            found = self.check(one, "--target", target)
            errors = [row["message"] for row in found if row["severity"] == "error"]
            self.assertEqual(len(errors), 1, found)
            self.assertIn(f"multiplier is given, but target {target} has no fixed point", errors[0])


if __name__ == "__main__":
    main()
