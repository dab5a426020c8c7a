#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain names 30 seeded faults of a Quantize or a Dequantize. Each is computed here by arithmetic on Python's
numbers, without qdq; half of the numbers are ties, or as near to them as a float32 is."""

import json
import math
import random
import struct

from harness import Case, graph, main, npy_bytes, tensor, value

LETTERS = {"float32": "<f4", "int8": "|i1", "uint8": "|u1"}
RANGES = {"int8": (-128, 127), "uint8": (0, 255)}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16))[0]


def f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def same(x):
    return x


def half_away(v):
    return math.trunc(v + math.copysign(0.5, v))


def half_up(v):
    return math.floor(v + 0.5)


class Fault:
    """Data and parameters that a seed chooses."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows, self.columns = self.random.randrange(3, 12), self.random.randrange(6, 40)
        self.dtype = self.random.choice(("int8", "uint8"))
        self.exact = self.random.random() < 0.6
        self.scale = self.one_scale()
        self.zero = self.random.randrange(-20, 20) if self.dtype == "int8" else self.random.randrange(90, 170)
        self.scales = [self.one_scale() for _ in range(self.columns)]
        middle = 128 if self.dtype == "uint8" else 0
        self.zeros = [self.random.randrange(-9, 10) + middle for _ in range(self.columns)]
        self.x = [self.number() for _ in range(self.rows * self.columns)]
        self.codes = [self.random.randrange(-128, 128) for _ in self.x]

    def one_scale(self):
        return 2.0 ** -self.random.randrange(2, 8) if self.exact else f32(self.random.uniform(0.004, 0.1))

    def number(self):
        if self.random.random() < 0.5:
            return f32((self.random.randrange(-60, 60) + 0.5) * self.scale)
        return f32(self.random.gauss(0, 60) * self.scale)

    def quantize(self, scale=None, zero=None, rounded=round, before=False, multiplied=False, least=None, wraps=False,
                 x=same, steps=same, early=False):  # fmt: skip
        """Codes; a list of scales or zero points has one for each column."""
        low, high = RANGES[self.dtype]
        made = []
        for i, one in enumerate(self.x):
            s = self.at(self.scale if scale is None else scale, i)
            z = self.at(self.zero if zero is None else zero, i)
            v = steps(f32(x(one) * f32(1 / s)) if multiplied else f32(x(one) / s))
            if early:
                v = min(max(round(v), low), high)
            code = rounded(steps(f32(v + z))) if before else rounded(v) + z
            made.append((code - low) % 256 + low if wraps else min(max(code, low if least is None else low + least), high))
        return made

    def at(self, numbers, i):
        return numbers[i % self.columns] if isinstance(numbers, list) else numbers

    def dequantize(self, scale=None, result=same):
        scale = self.scales if scale is None else scale
        return [result(f32(code * self.at(scale, i))) for i, code in enumerate(self.codes)]

    def inner(self):
        """The median of the scales."""
        return sorted(self.scales)[self.columns // 2]


def per_column(**attrs):
    return lambda f: {"scales": f.scales, "qtype": "per_channel", "axis": 1, **{k: v(f) for k, v in attrs.items()}}


ONE = lambda f: {"scales": f.scale, "zps": f.zero}  # noqa: E731
COLUMNS = per_column(zps=lambda f: f.zero)
BOTH = per_column(zps=lambda f: f.zeros)
WEIGHTS = per_column()
ALL = "intermediate precision"

# The cause, attributes, and the result.
FAULTS = {
    "half away": ("tie", ONE, lambda f: f.quantize(rounded=half_away)),
    "half up": ("tie", ONE, lambda f: f.quantize(rounded=half_up)),
    "truncation": ("truncation", ONE, lambda f: f.quantize(rounded=math.trunc)),
    "zero point before rounding": ("zero-point order", ONE, lambda f: f.quantize(before=True)),
    "reciprocal": ("reciprocal", ONE, lambda f: f.quantize(multiplied=True)),
    "symmetric range": ("saturation range", ONE, lambda f: f.quantize(least=1)),
    "wrapping": ("wrap", ONE, lambda f: f.quantize(wraps=True)),
    "early clamp": ("clamp-order", ONE, lambda f: f.quantize(early=True)),
    "bfloat16 x": ("input precision", ONE, lambda f: f.quantize(x=bf16)),
    "float16 x": ("input precision", ONE, lambda f: f.quantize(x=f16)),
    "bfloat16 scale": ("scale precision", ONE, lambda f: f.quantize(scale=bf16(f.scale))),
    "bfloat16 quotient": (ALL, ONE, lambda f: f.quantize(steps=bf16)),
    "bfloat16 steps": (ALL, ONE, lambda f: f.quantize(x=bf16, scale=bf16(f.scale), steps=bf16)),
    "float16 steps": (ALL, ONE, lambda f: f.quantize(x=f16, scale=f16(f.scale), steps=f16)),
    "bfloat16 steps and sum": (f"zero-point order + {ALL}", ONE,
                               lambda f: f.quantize(x=bf16, scale=bf16(f.scale), steps=bf16, before=True)),
    "no zero point": ("wrong-zero-point", ONE, lambda f: f.quantize(zero=0)),
    "zero point off by one": ("wrong-zero-point", ONE, lambda f: f.quantize(zero=f.zero + 1)),
    "twice the scale": ("wrong-scale", ONE, lambda f: f.quantize(scale=2 * f.scale)),
    "another scale": ("wrong-scale", ONE, lambda f: f.quantize(scale=f32(1.37 * f.scale))),
    "scale and zero point": ("wrong-scale", ONE, lambda f: f.quantize(scale=f32(1.37 * f.scale), zero=f.zero - 7)),
    "first scale for all": ("per-tensor", COLUMNS, lambda f: f.quantize(scale=f.scales[0])),
    "largest scale for all": ("per-tensor", COLUMNS, lambda f: f.quantize(scale=max(f.scales))),
    "median scale for all": ("per-tensor", COLUMNS, lambda f: f.quantize(scale=f.inner())),
    "a scale of all numbers": ("per-tensor", COLUMNS, lambda f: f.quantize(scale=f32(max(map(abs, f.x)) / 127))),
    "first scale and zero point": ("per-tensor", BOTH, lambda f: f.quantize(scale=f.scales[0], zero=f.zeros[0])),
    "a scale for all weights": ("per-tensor", WEIGHTS, lambda f: f.dequantize(f32(1.1 * f.inner()))),
    "last scale for all weights": ("per-tensor", WEIGHTS, lambda f: f.dequantize(f.scales[-1])),
    "bfloat16 weights": (ALL, WEIGHTS, lambda f: f.dequantize(result=bf16)),
    "bfloat16 scales": ("scale precision", WEIGHTS, lambda f: f.dequantize([bf16(one) for one in f.scales])),
    "scales of neighbours": ("wrong-scale", WEIGHTS, lambda f: f.dequantize(f.scales[-1:] + f.scales[:-1])),
}  # fmt: skip


def shown(name, seed):
    """Data on which the fault gives a result that no fault with another cause and no right computation gives; None if the
    seed has none."""
    fault = Fault(seed)
    cause, attrs, formula = FAULTS[name]
    made = formula(fault)
    others = [one(fault) for other, own, one in FAULTS.values() if own is attrs and other != cause]
    right = fault.dequantize() if attrs is WEIGHTS else fault.quantize(attrs(fault)["scales"], attrs(fault)["zps"])
    return None if made in [right, *others] else (fault, made)


class Faults(Case):
    def explain(self, name, fault, made):
        attrs = FAULTS[name][1]
        weights = attrs is WEIGHTS
        shape = [fault.rows, fault.columns]
        dtype = "float32" if weights else fault.dtype
        node = {"op": "Dequantize" if weights else "Quantize", "name": "q", "inputs": {"x": "x"},
                "attrs": {**attrs(fault), "dtype": dtype}}  # fmt: skip
        x = tensor("int8", shape, fault.codes) if weights else tensor("float32", shape, fault.x)
        y = tensor(dtype, shape, made)
        self.write("g.json", graph([node], [value("x", x.dtype, shape)], target="onnx"))
        self.write("x.npy", npy_bytes(LETTERS[x.dtype], shape, x.data))
        self.write("y.npy", npy_bytes(LETTERS[y.dtype], shape, y.data))
        return json.loads(self.qdq("explain", "g.json", "-i", "x=x.npy", "--got", "y.npy", "--json", code=1).out)

    def test_thirty_faults_are_named(self):
        """Each from the first seed on that tells it from the others."""
        self.assertEqual(len(FAULTS), 30)
        for i, name in enumerate(FAULTS):
            seed = next(one for one in range(100 * i, 100 * i + 100) if shown(name, one))
            found = self.explain(name, *shown(name, seed))
            with self.subTest(name, seed=seed):
                self.assertEqual((found["cause"], found["left"]), (FAULTS[name][0], 0), found["candidates"])

    def test_a_single_change_is_named_before_the_fields_of_a_target(self):
        """A target gives these bits too, but differs in several fields."""
        for name, seed, target in ("half up", 100100, "ttnn@"), ("zero point before rounding", 100300, "onednn@"):
            found = self.explain(name, *shown(name, seed))
            self.assertEqual((found["cause"], found["target"][:len(target)]), (FAULTS[name][0], target))

    def test_causes_that_give_the_same_bits_are_told(self):
        """With a scale that is a power of two, rounding x to bfloat16 is the same as rounding every step."""
        fault = next(one for one in map(Fault, range(50)) if one.exact)
        made = fault.quantize(x=bf16)
        self.assertEqual(made, fault.quantize(x=bf16, scale=bf16(fault.scale), steps=bf16))
        found = self.explain("bfloat16 x", fault, made)
        causes = {one["cause"]: one["changes"] for one in found["candidates"]}
        self.assertEqual((causes["input precision"], causes["intermediate precision"]), (1, 1))
        text = self.qdq("explain", "g.json", "-i", "x=x.npy", "--got", "y.npy", code=1).out
        self.assertIn("cause: input precision at node 'q' (Quantize): x in bfloat16; this gives all bits\n"
                      "the same bits with as few changes: node 'q', intermediate precision (", text)  # fmt: skip


if __name__ == "__main__":
    main()
