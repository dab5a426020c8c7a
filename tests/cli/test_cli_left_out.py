#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain --against where the tool that quantized the model left out a ReLU or a Clamp before a Quantize whose codes clamp
too, and gave the product before it the activation's name. Effects are computed here from the formulas."""

import math
import random

from faulty_networks import float32
from harness import Case, constant, main, safetensors_bytes, tensor, value

ROWS, WIDTH = 32, 8
WEIGHTS = [1 / 32, 1 / 64]


def product(x, w):
    return [sum(x[row * WIDTH + k] * w[k * WIDTH + j] for k in range(WIDTH)) for row in range(len(x) // WIDTH)
            for j in range(WIDTH)]


def codes_of(x, scale, zero=0):
    return [min(max(round(one / scale) + zero, -128), 127) for one in x]


def numbers_of(codes, scale, zero=0):
    return [(code - zero) * scale for code in codes]


def decibels(exact, computed):
    return 10 * math.log10(sum(a * a for a in exact) / sum((a - b) ** 2 for a, b in zip(exact, computed)))


class LeftOut(Case):
    def setUp(self):
        super().setUp()
        numbers = random.Random(11)
        self.x = [float32(numbers.gauss(0, 1)) for _ in range(ROWS * WIDTH)]
        self.w = [[float32(numbers.gauss(0, 0.5)) for _ in range(WIDTH * WIDTH)] for _ in range(2)]
        self.rows = ROWS

    def document(self, name, nodes, constants):
        self.write(name, {"format": "qdq/1", "name": "net", "target": "core", "constants": constants, "nodes": nodes,
                          "inputs": [value("x", shape=(self.rows, WIDTH))], "outputs": [{"name": "y", "value": "second"}]})  # fmt: skip

    def write_models(self, activation, scale, zero, around):
        """The float model, and one that has the activation only in the codes of its result."""
        weights = [constant(f"w{i}", "float32", [WIDTH, WIDTH], w) for i, w in enumerate(self.w)]
        multiply = {"op": "MatMul", "name": "first", "inputs": {"a": "x", "b": "w0"}}
        last = {"op": "MatMul", "name": "second", "inputs": {"a": "act", "b": "w1"}}
        self.document("float.json", [multiply, {**activation, "name": "act", "inputs": {"x": "first"}}, last], weights)
        codes = [constant(f"w{i}_quantized", "int8", [WIDTH, WIDTH], codes_of(w, WEIGHTS[i])) for i, w in enumerate(self.w)]
        nodes = [{"op": "Dequantize", "name": f"dw{i}", "inputs": {"x": f"qw{i}" if around else f"w{i}_quantized"},
                  "attrs": {"scales": WEIGHTS[i], "zps": 0, "dtype": "float32"}} for i in range(2)]  # fmt: skip
        if around:
            codes = weights
            nodes = [{"op": "Quantize", "name": f"qw{i}", "inputs": {"x": f"w{i}"},
                      "attrs": {"scales": WEIGHTS[i], "zps": 0, "dtype": "int8"}} for i in range(2)] + nodes  # fmt: skip
        for name, x, own_scale, own_zero in (("dx", "x", 1 / 32, 0), ("dact", "act", scale, zero)):
            attrs = {"scales": own_scale, "zps": own_zero}
            nodes += [{"op": "Quantize", "name": f"q{name}", "inputs": {"x": x}, "attrs": {**attrs, "dtype": "int8"}},
                      {"op": "Dequantize", "name": name, "inputs": {"x": f"q{name}"}, "attrs": {**attrs, "dtype": "float32"}}]  # fmt: skip
        act, second = ({"op": "MatMul", "name": name, "inputs": {"a": a, "b": b}}
                       for name, a, b in (("act", "dx", "dw0"), ("second", "dact", "dw1")))  # fmt: skip
        nodes.insert(len(nodes) - 2, act)
        self.document("int8.json", [*nodes, second], codes)

    def compare(self, activation, scale, zero, function, around=False):
        self.write_models(activation, scale, zero, around)
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [self.rows, WIDTH], self.x)}))
        found = self.json("explain", "int8.json", "--against", "float.json", "-i", "x.safetensors", code=1)
        rounded = {"dx": numbers_of(codes_of(self.x, 1 / 32), 1 / 32)}
        w = [numbers_of(codes_of(one, WEIGHTS[i]), WEIGHTS[i]) for i, one in enumerate(self.w)]

        def result(x=None, first=None, second=None, rounds=False):
            y = [function(one) for one in product(x or self.x, first or self.w[0])]
            y = numbers_of(codes_of(y, scale, zero), scale, zero) if rounds else y
            return product(y, second or self.w[1])

        wanted = {"dx": result(x=rounded["dx"]), "dw0": result(first=w[0]), "dw1": result(second=w[1]), "dact": result(rounds=True)}
        nodes = {node["node"]: node for node in found["nodes"]}
        # Without its pair the activation comes back, on what the other pairs round.
        act = [function(one) for one in product(rounded["dx"], w[0])]
        without = decibels(result(), product(act, w[1]))
        self.assertLess(abs(nodes["dact"]["without"] - without), 0.01)
        self.assertEqual(found["unmatched"], 0)
        for name, computed in wanted.items():
            self.assertAlmostEqual(nodes[name]["effect"], decibels(result(), computed), delta=0.02, msg=name)
        # The product itself is exact behind the activation.
        self.assertGreater(float(nodes["act"]["own"]), 100)

    def test_a_relu_is_in_the_codes(self):
        self.compare({"op": "ReLU"}, 1 / 32, -128, lambda one: max(one, 0))

    def test_pairs_stand_around_float_weights(self):
        """As quantize_static writes them with AddQDQPairToWeight: the float weights are in the quantized model."""
        self.compare({"op": "ReLU"}, 1 / 32, -128, lambda one: max(one, 0), around=True)

    def test_a_clamp_is_in_the_codes(self):
        attrs = {"min": -0.5, "max": 127 / 256 + 0.5}
        self.compare({"op": "Clamp", "attrs": attrs}, 1 / 170, -43, lambda one: min(max(one, -0.5), 127 / 256 + 0.5))

    def test_one_clamped_element_is_enough(self):
        """The float model tells the limits; elements alone might be beyond them by roundings."""
        draw = random.Random(12)
        rows = [[float32(draw.gauss(0, 1)) for _ in range(WIDTH)] for _ in range(1000)]
        self.rows = 1
        self.x = next(row for row in rows if sum(one < 0 for one in product(row, self.w[0])) == 1)
        self.compare({"op": "ReLU"}, 1 / 32, -128, lambda one: max(one, 0))
        self.x = next(row for row in rows if sum(abs(one) > 1.5 for one in product(row, self.w[0])) == 1)
        attrs = {"min": -1.5, "max": 1.5}
        self.compare({"op": "Clamp", "attrs": attrs}, 1 / 85, 0, lambda one: min(max(one, -1.5), 1.5))

    def test_without_an_activation_there_are_no_limits(self):
        self.compare({"op": "StaticReshape", "attrs": {"shape": [ROWS, WIDTH], "special_zero": False}}, 1 / 20, 0, lambda one: one)


if __name__ == "__main__":
    main()
