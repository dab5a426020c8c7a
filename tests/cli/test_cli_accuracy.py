#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain --against: signal-to-noise ratios of nodes, which are computed here from the formulas, with causes and mends."""

import json
import math
import random
import re

from faulty_networks import float32
from harness import Case, constant, main, safetensors_bytes, tensor, value

ROWS, WIDTH = 32, 8


def decibels(a, b):
    noise = sum((p - q) ** 2 for p, q in zip(a, b))
    return 10 * math.log10(sum(p * p for p in a) / noise) if noise else math.inf


def quantized(x, scales, zero=0, low=-128, high=127):
    """The numbers that codes stand for, with one scale or one for each column."""
    made = []
    for i, one in enumerate(x):
        scale = scales[i % WIDTH] if isinstance(scales, list) else scales
        made.append((min(max(round(one / scale) + zero, low), high) - zero) * scale)
    return made


def pair(name, x, scale, zero=0, **attrs):
    attrs = {"scales": scale, "zps": zero, **attrs}
    return [{"op": "Quantize", "name": f"q{name}", "inputs": {"x": x}, "attrs": {**attrs, "dtype": "int8"}},
            {"op": "Dequantize", "name": f"d{name}", "inputs": {"x": f"q{name}"}, "attrs": {**attrs, "dtype": "float32"}}]  # fmt: skip


class Accuracy(Case):
    def setUp(self):
        super().setUp()
        numbers = random.Random(7)
        self.x = [float32(numbers.gauss(0, 1)) for _ in range(ROWS * WIDTH)]
        # Columns of weights whose sizes are far apart.
        self.w = [float32(numbers.gauss(0, 1) * 4.0 ** -(i % WIDTH)) for i in range(WIDTH * WIDTH)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        self.write("float.json", self.document([], [], "x", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))

    def document(self, before, after, a, b, constants):
        nodes = [*before, {"op": "MatMul", "name": "m", "inputs": {"a": a, "b": b}},
                 {"op": "ReLU", "name": "r", "inputs": {"x": "m"}}, *after]  # fmt: skip
        return {"format": "qdq/1", "name": "net", "target": "core", "constants": constants, "nodes": nodes,
                "inputs": [value("x", shape=(ROWS, WIDTH))],
                "outputs": [{"name": "y", "value": after[-1]["name"] if after else "r"}]}  # fmt: skip

    def quantize_model(self, scale, weight_scale, again=None):
        """The model with x, w and the result quantized; x a second time with the scale `again`."""
        codes = [min(max(round(one / weight_scale), -128), 127) for one in self.w]
        weights = {"op": "Dequantize", "name": "dw", "inputs": {"x": "codes"},
                   "attrs": {"scales": weight_scale, "zps": 0, "dtype": "float32"}}  # fmt: skip
        before = [*pair("x", "x", scale), *(pair("2", "dx", again) if again else []), weights]
        document = self.document(before, pair("y", "r", 0.05), "d2" if again else "dx", "dw",
                                 [constant("codes", "int8", [WIDTH, WIDTH], codes)])  # fmt: skip
        self.write("net.json", document)
        found = json.loads(self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", "--json",
                                    code=1).out)  # fmt: skip
        self.assertEqual(found["unmatched"], 0)
        return {node["node"]: node for node in found["nodes"]}, found

    def near(self, a, b):
        self.assertLess(abs(a - b), 0.01, (a, b))

    def test_own_errors_are_those_of_the_formulas(self):
        nodes, found = self.quantize_model(0.03, 0.02)
        self.near(nodes["dx"]["own"], decibels(self.x, quantized(self.x, 0.03)))
        self.near(nodes["dw"]["own"], decibels(self.w, quantized(self.w, 0.02)))
        product = [sum(self.x[row * WIDTH + k] * self.w[k * WIDTH + column] for k in range(WIDTH))
                   for row in range(ROWS) for column in range(WIDTH)]  # fmt: skip
        result = [max(one, 0) for one in product]
        self.near(nodes["dy"]["own"], decibels(result, quantized(result, 0.05)))
        self.assertEqual([nodes[name]["kind"] for name in ("dx", "dw", "m")], ["activations", "weights", "operation"])
        # The product adds nothing, and inherits what it is given.
        x, w = quantized(self.x, 0.03), quantized(self.w, 0.02)
        inherited = [sum(x[row * WIDTH + k] * w[k * WIDTH + column] for k in range(WIDTH))
                     for row in range(ROWS) for column in range(WIDTH)]  # fmt: skip
        self.assertEqual(nodes["m"]["own"], "Infinity")
        self.near(nodes["m"]["inherited"], decibels(product, inherited))
        self.near(nodes["m"]["total"], nodes["m"]["inherited"])
        self.near(found["outputs"][0]["total"], nodes["dy"]["total"])
        self.assertEqual(nodes["dx"]["inherited"], "Infinity")

    def test_a_small_scale_clips(self):
        nodes, _ = self.quantize_model(0.004, 0.02)
        dx = nodes["dx"]
        self.assertEqual(dx["clipped"], sum(not -128.5 <= one / float32(0.004) <= 127.5 for one in self.x))
        self.assertEqual(dx["cause"], "scale too small")
        scale = float(re.search(r"scale (\S+) instead", dx["mend"]).group(1))
        self.near(dx["mended"], decibels(self.x, quantized(self.x, scale)))
        self.assertGreater(dx["mended"], dx["own"] + 10)

    def test_a_large_scale_leaves_codes_unused(self):
        nodes, _ = self.quantize_model(0.3, 0.02)
        codes = [round(one / 0.3) for one in self.x]
        self.assertEqual(nodes["dx"]["unused"], 256 - (max(codes) - min(codes) + 1))
        self.assertEqual(nodes["dx"]["cause"], "scale too large")

    def test_weights_of_unlike_channels_want_a_scale_each(self):
        most = max(abs(one) for one in self.w) / 127
        nodes, _ = self.quantize_model(0.03, most)
        dw = nodes["dw"]
        self.assertEqual((dw["cause"], dw["mend"]), ("per-tensor", "a scale for each index of axis 1"))
        rooms = [max((self.w[i] / 127 if self.w[i] > 0 else -self.w[i] / 128) for i in range(c, WIDTH * WIDTH, WIDTH))
                 for c in range(WIDTH)]  # fmt: skip
        self.near(dw["mended"], decibels(self.w, quantized(self.w, rooms)))
        self.assertGreater(dw["mended"], dw["own"] + 3)

    def test_numbers_that_are_quantized_twice(self):
        nodes, _ = self.quantize_model(0.03, 0.02, again=0.021)
        self.assertEqual(nodes["d2"]["cause"], "double rounding")

    def test_the_text_has_at_most_40_lines(self):
        self.quantize_model(0.004, 0.02)
        text = self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1).out
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertIn("dx (codes: qx): own ", text)
        self.assertIn("scale too small: scale ", text)

    def test_the_model_itself_is_exact(self):
        found = json.loads(self.qdq("explain", "float.json", "--against", "float.json", "-i", "x.safetensors", "--json").out)
        self.assertEqual(found["outputs"], [{"name": "y", "total": "Infinity"}])

    def test_wrong_command_lines_are_refused(self):
        self.write("other.json", {"format": "qdq/1", "inputs": [value("z")], "outputs": [{"name": "y", "value": "z"}]})
        words = ["explain", "float.json", "-i", "x.safetensors", "--against"]
        self.assertIn("the second graph has input 'z'", self.qdq(*words, "other.json", code=2).err)
        self.assertIn("none.json", self.qdq(*words, "none.json", code=3).err)
        self.assertIn("wanted one of", self.qdq(*words, "float.json", "--got", "x.npy", code=2).err)


if __name__ == "__main__":
    main()
