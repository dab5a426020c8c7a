#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq compare, explain and their pages name the step of fixed point by which engines differ. Each cause is tested at
elements where it is the true one: constructed halves, and numbers next to halves. Wanted codes follow from fractions."""

import json
import re
import struct
from fractions import Fraction
from math import floor

from harness import Case, constant, graph, main, node, value, write_npy, tensor

# 2018847872 * 2^-35: -128 times it is -7.5208, and -7.5 after a first rounding to 4 bits of fraction.
FIRST_ROUNDING = 15772249 / 2**28


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half_up(v):
    return floor(v + Fraction(1, 2))


def half_away(v):
    return half_up(abs(v)) * (1 if v >= 0 else -1)


def high(x, m):
    """The first of two roundings: a product with a multiplier of 31 bits."""
    return half_up(Fraction(x * m, 2**31))


def twice(x, scale):
    """x * scale as the kernels with two roundings compute it; the scale is below 1 / 2."""
    bits = 0
    while scale * 2**bits < 2**30:
        bits += 1
    return half_away(Fraction(high(x, half_up(scale * 2**bits)), 2**(bits - 31)))


def product(sums, sx=1.0, sw=1.0, sy=1.0):
    """FULLY_CONNECTED with these sums, which are its bias: two rows of x are zero."""
    n, w = len(sums), [0] * (8 * len(sums))
    nodes = [node("Dequantize", "xf", "x", scales=sx, dtype="float32"),
             node("Dequantize", "wf", "w", scales=sw, dtype="float32"),
             node("Dequantize", "bf", "b", scales=float32(sx * sw), dtype="float32"),
             {"op": "MatMul", "name": "m", "inputs": {"a": "xf", "b": "wf", "bias": "bf"}},
             node("Quantize", "q", "m", scales=sy, dtype="int8")]
    return graph(nodes, inputs=[], constants=[constant("x", "int8", [2, 8], [0] * 16), constant("w", "int8", [8, n], w),
                                              constant("b", "int32", [n], sums)])


def rescaled(codes, sx, sy, zx=0, zy=0):
    """QUANTIZE of codes."""
    attrs = {"in_scales": sx, "in_zps": zx, "out_scales": sy, "out_zps": zy, "dtype": "int8"}
    return graph([node("Requantize", "q", "x", **attrs)], inputs=[], constants=[constant("x", "int8", [len(codes)], codes)])


class Causes(Case):
    def rows(self, content, targets, code=1):
        self.write("g.json", content)
        return self.json("compare", "g.json", "--targets", targets, "--all", code=code)["values"]

    def assert_cause(self, content, targets, wanted):
        """Causes with their elements and the results of the first, in either order of the targets."""
        for turn in (1, -1):
            *_, last = self.rows(content, ",".join(targets.split(",")[::turn]))
            (pair,) = last["pairs"]
            self.assertEqual([(one["cause"], one["elements"], one["index"], one["results"][::turn]) for one in pair["causes"]],
                             wanted, targets)

    def test_half_up_in_a_block(self):
        """-2 / 4: the last two of 18 elements lie behind the block of 16."""
        self.assertEqual((half_away(Fraction(-1, 2)), half_up(Fraction(-1, 2))), (-1, 0))
        for builtin in ("litert@builtin-x86", "litert@builtin-arm64"):
            self.assert_cause(rescaled([-2] * 18, 0.25, 1), f"litert@reference,{builtin}",
                              [("half up in a block", 16, [0], [-1, 0])])

    def test_8_bits_of_fraction(self):
        """255 is at most 85 / 256 away from a third of it: 84 2 / 3 and 83 1 / 3."""
        x, k = 251, 85
        self.assertEqual((half_up(Fraction(x, 3)), (x * k + 128) >> 8), (84, 83))
        self.assert_cause(rescaled([x - 128, 0], 0.1, float32(0.3), zx=-128), "litert@reference,litert",
                          [("8-bit fraction", 1, [0], [84, 83])])

    def test_double_rounding(self):
        m, x = 2018847872, -128
        once, first = half_up(Fraction(x * m, 2**35)), Fraction(high(x, m), 16)
        self.assertEqual((once, first, half_up(first), half_away(first)), (-8, Fraction(-15, 2), -7, -8))
        content = product([x, 0], FIRST_ROUNDING)
        for other in ("litert@builtin-arm64", "litert@reference", "litert", "core"):
            self.assert_cause(content, f"litert@builtin-x86,{other}", [("double rounding", 2, [0, 0], [-7, -8])])

    def test_a_float32_scale(self):
        """The sum is one more than a half, and no float32."""
        x = 65 * 2**19 + 1
        self.assertEqual((float32(x), half_up(Fraction(x, 2**20))), (x - 1, 33))
        for other in ("tflm", "litert@reference", "litert@builtin-arm64"):
            self.assert_cause(product([x, 0], 2**-20), f"{other},litert", [("float32 scale", 2, [0, 0], [33, 32])])

    def test_a_float64_scale(self):
        """The product of the scales as a float32, and all of it, give numbers on two sides of a half."""
        sx, sw = float32(0.1), float32(2.0**-22 * 1.3)
        exact, scale = Fraction(sx) * Fraction(sw), Fraction(float32(sx * sw))
        self.assertNotEqual(exact, scale)
        for whole in range(1, 127):
            x = round(Fraction(2 * whole + 1, 2) / scale)
            fixed, real = half_up(x * scale), half_away(x * exact)
            if fixed != real:
                break
        self.assertNotEqual(fixed, real)
        self.assert_cause(product([x, 0], sx, sw), "litert@builtin-arm64,litert@reference",
                          [("float64 scale", 2, [0, 0], [fixed, real])])

    def test_halves(self):
        """-10 / 4 is rounded away, to even, and up."""
        self.assert_cause(product([-10, 0], 0.25), "tflm,litert", [("tie", 2, [0, 0], [-3, -2])])
        self.assert_cause(product([-10, 0], 0.25), "litert@reference,litert@builtin-arm64",
                          [("half up", 2, [0, 0], [-3, -2])])
        self.assert_cause(product([10, 0], 0.25), "core,tflm", [("tie", 2, [0, 0], [2, 3])])
        self.assert_cause(product([10, 0], 0.25), "tosa,tflm", [("tie", 2, [0, 0], [2, 3])])

    def test_rounded_operands(self):
        """The real sum is next to -126.5: 21 bits of 5 / 6 give less, and 31 bits give more."""
        (sa, a), (sb, b), sy = (float32(0.3), -128), (0.5, -75), float32(0.6)
        bits = [round(Fraction(float32(s / sy)) * 2**21) for s in (sa, sb)]
        less = Fraction(a * bits[0] + b * bits[1], 2**21)
        more = Fraction(sum(twice(x * 2**20, Fraction(s)) for x, s in ((a, sa), (b, sb)))) / (2**20 * Fraction(sy))
        self.assertTrue(less < Fraction(-253, 2) < more < -126)
        nodes = [node("Dequantize", "af", "a", scales=sa, dtype="float32"),
                 node("Dequantize", "bf", "b", scales=sb, dtype="float32"),
                 {"op": "Add", "name": "s", "inputs": {"a": "af", "b": "bf"}},
                 node("Quantize", "q", "s", scales=sy, dtype="int8")]
        content = graph(nodes, inputs=[], constants=[constant("a", "int8", [1], [a]), constant("b", "int8", [1], [b])])
        self.assert_cause(content, "tflm,litert", [("rounded operands", 1, [0], [-126, -127])])

    def test_another_multiplier(self):
        """MUL: TFLM has the product of the scales in float64, LiteRT in float32."""
        sa, sb, sy, a, b = 0.081148162484169, 0.07702973484992981, 0.39902263879776, -113, 24
        self.assertEqual([float32(one) for one in (sa, sb, sy)], [sa, sb, sy])
        scales = Fraction(float32(float32(sa * sb) / sy)), Fraction(sa * sb / sy)
        self.assertEqual([twice(a * b, scale) for scale in scales], [-42, -43])
        nodes = [node("Dequantize", "af", "a", scales=sa, dtype="float32"),
                 node("Dequantize", "bf", "b", scales=sb, dtype="float32"),
                 {"op": "Multiply", "name": "s", "inputs": {"a": "af", "b": "bf"}},
                 node("Quantize", "q", "s", scales=sy, dtype="int8")]
        content = graph(nodes, inputs=[], constants=[constant("a", "int8", [1], [a]), constant("b", "int8", [1], [b])])
        self.assert_cause(content, "litert@reference,tflm", [("multiplier", 1, [0], [-42, -43])])

    def test_the_range_of_an_activation(self):
        """6 is 1.5 steps above the zero point 1: XNNPACK rounds 2.5 to even, the others 1.5."""
        content = product([100, 0], sy=4.0)
        content["nodes"][-1:] = [{"op": "Clamp", "name": "c", "inputs": {"x": "m"}, "attrs": {"min": 0, "max": 6}},
                                 node("Quantize", "q", "c", scales=4.0, zps=1, dtype="int8")]
        self.assert_cause(content, "tflm,litert", [("saturation range", 2, [0, 0], [3, 2])])

    def test_8_bits_of_fraction_in_a_table(self):
        nodes = [node("Dequantize", "xf", "x", scales=float32(0.1), zps=-128, dtype="float32"),
                 node("LeakyReLU", "l", "xf", alpha=0.25),
                 node("Quantize", "q", "l", scales=float32(0.3), dtype="int8")]
        content = graph(nodes, inputs=[], constants=[constant("x", "int8", [2], [123, -128])])
        for other in ("litert@builtin-x86", "litert@reference", "tflm"):
            self.assert_cause(content, f"{other},litert", [("8-bit fraction", 1, [0], [84, 83])])

    def test_engines_of_one_name_are_not_taken_for_equal(self):
        """Both groups are called builtin FULLY_CONNECTED; without a difference they are equal on these inputs only."""
        self.write("g.json", product([4, 0], FIRST_ROUNDING))
        out = self.qdq("compare", "g.json", "--targets", "litert@builtin-x86,litert@builtin-arm64", "--all").out
        self.assertRegex(out, r"q \(Requantize[^\n]*equal on these inputs")

    def test_explain_names_the_cause(self):
        content = rescaled([-2] * 18, 0.25, 1)
        self.write("g.json", content)
        write_npy(self.folder / "y.npy", tensor("int8", [18], [0] * 16 + [-1] * 2))
        words = ["explain", "g.json", "--target", "litert@reference", "--got", "y=y.npy"]
        out = self.qdq(*words, "--html", "e.html", code=1).out
        self.assertIn("cause: half up in a block at node 'q' (Requantize): as target litert@builtin-arm64; this gives all bits", out)
        self.assertEqual(self.json(*words, code=1)["cause"], "half up in a block")
        page = (self.folder / "e.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="qdq-report">(.*?)</script>', page, re.S)[1])
        self.assertEqual(data["explain"]["cause"], "half up in a block")

    def test_a_page_of_compare_names_the_cause(self):
        self.write("g.json", product([-10, 0], 0.25))
        self.qdq("compare", "g.json", "--targets", "tflm,litert", "--html", "c.html", code=1)
        page = (self.folder / "c.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="qdq-report">(.*?)</script>', page, re.S)[1])
        causes = [one["cause"] for row in data["compare"]["values"] for pair in row["pairs"] for one in pair["causes"]]
        self.assertEqual(causes, ["tie"])


if __name__ == "__main__":
    main()
