#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LayerNorm and RMSNorm of bfloat16 on the chips of target ttnn, against models of their kernels in
exact fractions."""

import math
import random
from fractions import Fraction

from harness import Case, graph, main, read_safetensors, safetensors_bytes, tensor, unpack, value
from matrix_unit import added, bits_of, multiplied, real_of, step

CHIPS = ("ttnn@wormhole", "ttnn@blackhole")
ONE = 0x3F800000


def exponent(v):
    return v >> 23 & 255


def float32(exact):
    """The float32 nearest to a fraction, halves to even; below the least normal one, zero."""
    if exact == 0:
        return 0
    sign, size, e = (0x80000000 if exact < 0 else 0), abs(exact), 0
    while size >= 2:
        size, e = size / 2, e + 1
    while size < 1:
        size, e = size * 2, e - 1
    return sign | (e + 127 << 23) + round(size * 2 ** 23) - 2 ** 23


def fused(a, b, c=0):
    return float32(Fraction(real_of(a)) * Fraction(real_of(b)) + Fraction(real_of(c)))


class Norm:
    """Of one chip: `wide` for a Dst of 32 bits, and float32 between steps."""

    def __init__(self, wide, wormhole):
        self.wide, self.wormhole = wide, wormhole

    def stored(self, dst):
        """What the next step of the matrix unit reads."""
        if self.wide:
            return dst & 0xFFFFE000 if exponent(dst) else 0
        return dst & 0xFFFF0000 if exponent(dst) else 0

    def add(self, a, b):
        return added(a, b, self.wide, self.wormhole)

    def multiply(self, a, b):
        return multiplied(a, b, self.wide, self.wormhole)

    def mean(self, row):
        count = len(row)
        row, dst = row + [0] * (-count % 32), 0
        for at in range(0, len(row), 32):
            for phase in range(4):
                for half in (at, at + 16):
                    dst = step(dst, [ONE] * 16, row[half:half + 16], phase, self.wide, self.wormhole)
        return self.stored(fused(dst, bits_of(1 / count)))

    def root(self, x):
        """1 / sqrt(x): by an integer and Newton's steps in float32."""
        if self.wide:
            y = 0x5F1110A0 - (x >> 1)
            c = fused(y ^ 1 << 31, fused(x, y))
            inner = float32(Fraction(real_of(bits_of(2.2533049))) + Fraction(real_of(c)))
            y = fused(y, fused(c, inner, bits_of(2.2825186)))
            rest = fused(y ^ 1 << 31, fused(x, y), ONE)
            return fused(rest, y - 2 ** 23, y)
        y = 0x5F0B3892 - (x >> 1)
        v = fused(y, fused(y ^ 1 << 31, fused(x, y), bits_of(1.89099014875)))
        return v + 0x7FFF + (v >> 16 & 1)  # to bfloat16, halves to even

    def row(self, codes, epsilon, gamma=None, beta=None):
        x = [code << 16 for code in codes]
        if self.wide:
            mean = self.mean(x)
            x = [self.stored(self.add(v, mean ^ 1 << 31)) for v in x]
        square = self.mean([self.stored(self.multiply(v, v)) for v in x])
        factor = self.stored(self.root(self.add(square, bits_of(epsilon) & 0xFFFF0000)))
        y = [self.multiply(v, factor) for v in x]
        if gamma:
            y = [self.multiply(self.stored(v), g << 16) for v, g in zip(y, gamma)]
        if beta:
            y = [self.add(self.stored(v), b << 16) for v, b in zip(y, beta)]
        if self.wide:
            y = [v + 0x8000 for v in y]
        return [(v >> 16 & 0xFFFF) if exponent(v) else 0 for v in y]


class ChipNorm(Case):
    def computed(self, target, op, shape, codes, weights, *options, **attrs):
        names = ["x", "gamma", "beta"][:1 + len(weights)]
        node = {"op": op, "name": "y", "inputs": {name: name for name in names},
                "attrs": {**({"keep_stats": False} if op == "LayerNorm" else {}), **attrs}}
        shapes = [shape] + [[shape[-1]]] * len(weights)
        self.write("g.json", graph([node], outputs={"y": "y"}, inputs=[
            value(name, "bfloat16", one) for name, one in zip(names, shapes)]))
        (self.folder / "in.safetensors").write_bytes(safetensors_bytes(
            {name: tensor("bfloat16", one, data)
             for name, one, data in zip(names, shapes, [codes] + weights)}))
        self.qdq("run", "g.json", "-i", "in.safetensors", "-o", "out.safetensors", "--target",
                 target, *options)
        return list(unpack(read_safetensors(self.folder / "out.safetensors")["y"]))

    def assert_rows(self, op, n, codes, weights=(), epsilon=1e-5):
        for target in CHIPS:
            model = Norm(op == "LayerNorm", "wormhole" in target)
            want = [code for at in range(0, len(codes), n)
                    for code in model.row(codes[at:at + n], epsilon, *weights)]
            got = self.computed(target, op, [len(codes) // n, n], codes, list(weights), epsilon=epsilon)
            self.assertEqual([f"{v:04x}" for v in got], [f"{v:04x}" for v in want], f"{target} {op} {n}")

    @staticmethod
    def codes(seed, count, spread=3.0, middle=0.0):
        source = random.Random(seed)
        return [bits_of(source.gauss(middle, spread)) >> 16 for _ in range(count)]

    def test_rows_of_a_part_of_a_tile_and_of_several(self):
        for op in ("RMSNorm", "LayerNorm"):
            for n in (2, 15, 16, 17, 31, 32, 33, 64, 90, 256):
                self.assert_rows(op, n, self.codes(n, 3 * n))

    def test_a_mean_far_from_zero(self):
        for op in ("RMSNorm", "LayerNorm"):
            self.assert_rows(op, 40, self.codes("far", 160, 0.5, 100.0))

    def test_weights(self):
        gamma, beta = self.codes("gamma", 48, 1), self.codes("beta", 48, 1)
        self.assert_rows("RMSNorm", 48, self.codes("weights", 144), [gamma])
        self.assert_rows("LayerNorm", 48, self.codes("weights", 144), [gamma, beta])

    def test_epsilon_is_truncated_to_bfloat16(self):
        for op in ("RMSNorm", "LayerNorm"):
            for epsilon in (1e-12, 1e-5, 0.3, 1.00390625):
                self.assert_rows(op, 20, self.codes("epsilon", 60, 0.1), epsilon=epsilon)

    def test_it_is_near_the_exact_norm(self):
        codes = self.codes("near", 64)
        x = [real_of(code << 16) for code in codes]
        for op, middle, most in (("RMSNorm", 0, 0.03), ("LayerNorm", sum(x) / 64, 0.01)):
            size = math.sqrt(sum((v - middle) ** 2 for v in x) / 64 + 1e-5)
            for target in CHIPS:
                for v, code in zip(x, self.computed(target, op, [1, 64], codes, [])):
                    exact = (v - middle) / size
                    self.assertLessEqual(abs(real_of(code << 16) - exact), most * abs(exact) + 0.01, target)

    def test_layouts_threads_and_instruction_sets_give_the_same_bits(self):
        codes = self.codes("same", 33 * 70)
        for op in ("RMSNorm", "LayerNorm"):
            first = self.computed("ttnn@blackhole", op, [33, 70], codes, [])
            for options in (("--isa", "portable"), ("--threads", "2"), ("--rows",), ("--fast",)):
                self.assertEqual(self.computed("ttnn@blackhole", op, [33, 70], codes, [], *options), first)

    def test_a_norm_by_another_program_is_named(self):
        def bits(op, shape, target="ttnn@blackhole", x="bfloat16", **attrs):
            node = {"op": op, "name": "y", "inputs": {"x": "x"}, "attrs": attrs}
            self.write("g.json", graph([node], inputs=[value("x", x, shape)], outputs={"y": "y"}))
            return self.json("check", "g.json", "-t", target)["bits"]["nodes"][0]["bits"]
        for target in CHIPS:
            self.assertEqual(bits("RMSNorm", [4, 288], target), "read")
            self.assertEqual(bits("RMSNorm", [4, 289], target), "unknown")
        self.assertEqual(bits("RMSNorm", [4, 2, 3], begin_norm_axis=1), "unknown")
        self.assertEqual(bits("RMSNorm", [4, 2], x="float32"), "unknown")
        self.assertEqual(bits("LayerNorm", [4, 288], keep_stats=False), "read")
        self.assertEqual(bits("LayerNorm", [4, 288]), "unknown")
        self.assertEqual(bits("LayerNorm", [4, 288], "ttnn@wormhole", keep_stats=False), "unknown")


if __name__ == "__main__":
    main()
