#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--literal: products on codes against what a graph says word for word.

With scales of 0.1 a product on codes rounds fewer times; what both give is worked out here.
"""

import struct

from harness import Case, constant, graph, main, node

A = [[11, -7, 100], [3, 90, -128]]
B = [[5, -3], [77, 8], [-100, 63]]


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def product(scale):
    """y of A times B, both int8 with this scale."""
    flat = [[x for row in m for x in row] for m in (A, B)]
    return graph([node("Dequantize", "af", "a", scales=scale, dtype="float32"),
                  node("Dequantize", "bf", "b", scales=scale, dtype="float32"),
                  {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "bf"}}],
                 inputs=[], outputs={"y": "m"},
                 constants=[constant("a", "int8", [2, 3], flat[0]),
                            constant("b", "int8", [3, 2], flat[1])])


def on_codes(scale):
    """float32(sum) * float32(scale * scale), each rounded once; double holds the exact product."""
    squared = float32(float32(scale) ** 2)
    return [float32(sum(x * B[k][j] for k, x in enumerate(row)) * squared)
            for row in A for j in range(2)]


class Literal(Case):
    def first(self, scale, *words):
        return self.json("run", self.write("g.json", product(scale)), *words)["outputs"][0]["first"]

    def test_a_product_is_computed_on_codes_unless_it_is_literal(self):
        self.assertEqual([float32(y) for y in self.first(0.1)], on_codes(0.1))
        literal = self.first(0.1, "--literal")
        self.assertNotEqual([float32(y) for y in literal], on_codes(0.1))
        self.assertEqual(self.first(0.1, "--materialize"), literal)
        for got, want in zip(literal, on_codes(0.1)):
            self.assertAlmostEqual(got, want, delta=abs(want) * 1e-5 + 1e-4)

    def test_powers_of_two_are_equal(self):
        self.assertEqual(self.first(0.25), self.first(0.25, "--literal"))
        self.assertEqual(self.first(0.25), on_codes(0.25))

    def test_the_plan_tells_what_is_on_codes(self):
        name = self.write("g.json", product(0.1))
        chains = [step["chain"] for step in self.json("plan", name)["steps"]]
        self.assertEqual(chains, ["a, b -> MatMul m on codes -> output y"])
        self.assertEqual(len(self.json("plan", name, "--literal")["steps"]), 3)

    def test_compare_counts_what_differs(self):
        name = self.write("g.json", product(0.1))
        literal = [float32(y) for y in self.first(0.1, "--literal")]
        differ = sum(x != y for x, y in zip(literal, on_codes(0.1)))
        largest = max(abs(x - y) for x, y in zip(literal, on_codes(0.1)))
        out = self.json("compare", name, "--literal", code=1)["outputs"]
        self.assertEqual(len(out), 1)
        self.assertEqual((out[0]["name"], out[0]["elements"], out[0]["different"],
                          out[0]["nan_count"]), ("y", 4, differ, 0))
        self.assertEqual(out[0]["largest"], largest)
        text = self.qdq("compare", name, "--literal", code=1).out
        self.assertRegex(text, rf"^y: {differ} of 4 elements differ, at most \d+ steps?; largest ")

    def test_compare_says_when_all_is_equal(self):
        result = self.qdq("compare", self.write("g.json", product(0.5)), "--literal")
        self.assertEqual(result.out, "y: all 4 elements equal\n")

    def test_literal_and_targets_exclude_each_other(self):
        result = self.qdq("compare", self.write("g.json", product(0.5)), "--literal", "--targets",
                          "core,onnx", code=2)
        self.assertIn("--literal and --targets are both given", result.err)


if __name__ == "__main__":
    main()
