#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--fast: integer products compared with literal ones.

With scales of 0.1 an integer product rounds fewer times; both results are computed here. Pooling
and a reshape between Dequantize and the product run on integers as well."""

import math
import struct

from harness import Case, constant, graph, main, node

A = [[11, -7, 100], [3, 90, -128]]
B = [[5, -3], [77, 8], [-100, 63]]


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def product(scale):
    """A graph: y is the product of A and B, both int8 with this scale."""
    flat = [[x for row in m for x in row] for m in (A, B)]
    return graph([node("Dequantize", "af", "a", scales=scale, dtype="float32"),
                  node("Dequantize", "bf", "b", scales=scale, dtype="float32"),
                  {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "bf"}}],
                 inputs=[], outputs={"y": "m"},
                 constants=[constant("a", "int8", [2, 3], flat[0]),
                            constant("b", "int8", [3, 2], flat[1])])


def on_codes(scale):
    """The integer product: float32(sum) * float32(scale * scale), each rounded once; a double holds
    the exact product."""
    squared = float32(float32(scale) ** 2)
    return [float32(sum(x * B[k][j] for k, x in enumerate(row)) * squared)
            for row in A for j in range(2)]


X = [9, 200, 31, 4, 17, 5, 88, 90, 255, 1, 2, 3, 60, 61, 62, 7]  # 4x4
W = [[12], [-7], [127], [33]]


def pooled(scale=0.1, readers=()):
    """A graph: y is the greatest of each 2x2 window of X, as one row, times W."""
    return graph([node("Dequantize", "xf", "x", scales=scale, dtype="float32"),
                  node("MaxPool", "p", "xf", kernel=[2, 2], strides=[2, 2], pads_begin=[0, 0],
                       pads_end=[0, 0], data_format="NCX"),
                  node("StaticReshape", "flat", "p", shape=[1, 4], special_zero=False),
                  node("Dequantize", "wf", "w", scales=0.1, dtype="float32"),
                  {"op": "MatMul", "name": "m", "inputs": {"a": "flat", "b": "wf"}}] +
                 [node("ReLU", name, name[len("relu_"):]) for name in readers],
                 inputs=[], outputs={"y": "m", **{name: name for name in readers}},
                 constants=[constant("x", "uint8", [1, 1, 4, 4], X),
                            constant("w", "int8", [4, 1], [w for row in W for w in row])])


class Fast(Case):
    def first(self, scale, *words):
        return self.json("run", self.write("g.json", product(scale)), *words)["outputs"][0]["first"]

    def test_a_product_is_computed_on_codes_where_it_is_fast(self):
        self.assertEqual([float32(y) for y in self.first(0.1, "--fast")], on_codes(0.1))
        literal = self.first(0.1)
        self.assertNotEqual([float32(y) for y in literal], on_codes(0.1))
        self.assertEqual(self.first(0.1, "--materialize"), literal)
        for got, want in zip(literal, on_codes(0.1)):
            self.assertAlmostEqual(got, want, delta=abs(want) * 1e-5 + 1e-4)

    def test_powers_of_two_are_equal(self):
        self.assertEqual(self.first(0.25), self.first(0.25, "--fast"))
        self.assertEqual(self.first(0.25), on_codes(0.25))

    def test_literal_is_accepted_and_does_nothing(self):
        self.assertEqual(self.first(0.1, "--literal"), self.first(0.1))
        name = self.write("g.json", product(0.1))
        for words in (["plan"], ["bench", "--repeat", "1"], ["compare", "--targets", "core,onnx"]):
            self.qdq(words[0], name, "--literal", *words[1:])
            told = self.qdq(words[0], name, "--literal", "--fast", code=2).err
            self.assertEqual(told, f"qdq {words[0]}: --fast and --literal exclude each other; see `qdq help {words[0]}`\n")
        self.qdq("run", name, "--fill", 1, "--fast", "--literal", code=2)

    def test_fast_with_an_option_that_stores_values_is_a_usage_error(self):
        name = self.write("g.json", product(0.1))
        for command in ("run", "plan", "bench"):
            for other, words in (("materialize", "--materialize"), ("tiles", "--tiles"),
                                 ("keep", "--keep all"), ("keep", "--keep m"),
                                 ("float-storage bfloat16", "--float-storage bfloat16")):
                result = self.qdq(command, name, "--fast", *words.split(), code=2)
                self.assertEqual(result.out, "")
                self.assertEqual(result.err, f"qdq: fast and {other} are both given, wanted one of "
                                 "them: integer execution computes values that the other stores\n")

    def test_the_plan_names_integer_steps(self):
        name = self.write("g.json", product(0.1))
        chains = [step["chain"] for step in self.json("plan", name, "--fast")["steps"]]
        self.assertEqual(chains, ["a, b -> MatMul m on codes -> output y"])
        chains = [step["chain"] for step in self.json("plan", name, "--rows")["steps"]]
        self.assertEqual(chains, ["af, b -> MatMul m on codes of b -> output y"])

    def chains(self, what, *words):
        plan = self.json("plan", self.write("g.json", what), *words)
        return [step["chain"] for step in plan["steps"]]

    def test_pooling_and_reshapes_between_run_on_integers(self):
        name = self.write("g.json", pooled())
        most = [max(X[row * 4 + column + i] for i in (0, 1, 4, 5))
                for row in (0, 2) for column in (0, 2)]
        want = float32(sum(x * w[0] for x, w in zip(most, W)) * float32(float32(0.1) ** 2))
        self.assertEqual([float32(y) for y in self.json("run", name, "--fast")["outputs"][0]["first"]],
                         [want])
        self.assertEqual(self.chains(pooled(), "--rows")[-1], "flat, w -> MatMul m on codes of b -> output y")

    def test_constants_are_moved_when_compiling(self):
        self.assertEqual(self.chains(pooled(), "--fast"), ["flat, w -> MatMul m on codes -> output y"])

    def test_a_reader_of_reals_makes_all_ops_between_literal(self):
        for readers in (["relu_p"], ["relu_flat"], ["relu_xf"]):
            chains = self.chains(pooled(readers=readers), "--fast")
            self.assertEqual(any("on codes ->" in c for c in chains), readers == ["relu_xf"])

    def test_pooling_needs_a_positive_scale(self):
        self.assertFalse([c for c in self.chains(pooled(-0.1), "--fast") if "on codes ->" in c])

    def test_compare_counts_what_differs(self):
        name = self.write("g.json", product(0.1))
        literal = [float32(y) for y in self.first(0.1)]
        differ = sum(x != y for x, y in zip(literal, on_codes(0.1)))
        largest = max(abs(x - y) for x, y in zip(literal, on_codes(0.1)))
        out = self.json("compare", name, "--fast", code=1)["outputs"]
        self.assertEqual(len(out), 1)
        self.assertEqual((out[0]["name"], out[0]["elements"], out[0]["different"],
                          out[0]["nan_count"]), ("y", 4, differ, 0))
        self.assertEqual(out[0]["largest"], largest)
        error = math.dist(literal, on_codes(0.1)) / math.hypot(*literal)
        self.assertAlmostEqual(out[0]["relative_error"], error, delta=error * 1e-12)
        self.assertAlmostEqual(out[0]["cosine"], 1, delta=1e-12)
        text = self.qdq("compare", name, "--fast", code=1).out
        lines = text.splitlines()
        self.assertRegex(lines[0], rf"^m \(MatMul\): {differ} of 4 elements differ, at most 1 step, "
                                   rf"relative error {error:.3g}, cosine 1; largest .*; computed on integers$")
        self.assertRegex(lines[1], rf"^y: {differ} of 4 elements differ, at most 1 step, relative error {error:.3g}, cosine 1; largest ")
        self.assertEqual(len(lines), 2)

    def test_compare_names_nodes_and_causes(self):
        """One literal product is a tie after Quantize, so an integer differs, and so does the
        product that reads it."""
        literal, fast = self.first(0.1), on_codes(0.1)
        at = next(i for i, x in enumerate(literal) if float32(x) != fast[i])
        # puts one element at half a code, another above
        scale = 2 * min(abs(float32(literal[at])), abs(fast[at]))
        content = product(0.1)
        content["nodes"] += [
            node("Quantize", "q", "m", scales=scale, zps=0, dtype="int8"),
            node("Dequantize", "qf", "q", scales=scale, dtype="float32"),
            node("MaxPool", "p", "cube", kernel=[1], strides=[1], pads_begin=[0], pads_end=[0],
                 data_format="NCX"),
            node("StaticReshape", "cube", "qf", shape=[1, 2, 2], special_zero=False),
            node("StaticReshape", "square", "p", shape=[2, 2], special_zero=False),
            {"op": "MatMul", "name": "m2", "inputs": {"a": "square", "b": "bf2"}},
            node("Dequantize", "bf2", "b2", scales=0.5, dtype="float32")]
        content["constants"].append(constant("b2", "int8", [2, 2], [1, 2, 3, 5]))
        content["outputs"].append({"name": "z", "value": "m2"})
        name = self.write("g.json", content)
        found = self.json("compare", name, "--fast", code=1)
        self.assertEqual([(n["node"], n["op"], n["causes"]) for n in found["nodes"]],
                         [("m", "MatMul", ["integer execution"]), ("q", "Quantize", ["inputs"]),
                          ("m2", "MatMul", ["integer execution", "inputs"])])
        self.assertEqual([n["steps"] for n in found["nodes"] if n["node"] == "q"], [1])
        first = [self.json("run", name, *words)["outputs"] for words in ([], ["--fast"])]
        for i, out in enumerate(found["outputs"]):
            differ = sum(x != y for x, y in zip(first[0][i]["first"], first[1][i]["first"]))
            self.assertEqual((out["name"], out["different"]), (first[0][i]["name"], differ))
        lines = self.qdq("compare", name, "--fast", code=1).out.splitlines()
        self.assertIn("; what it reads differs", lines[1])
        self.assertIn("; computed on integers, and what it reads differs", lines[2])

    def test_a_row_times_weight_codes_is_scaled_later(self):
        """1, 1 and 7 tenths: 0.1f + 0.1f + 0.7f literally, (1 + 7 + 1) * 0.1f of codes."""
        tenth = float32(0.1)
        name = self.write("g.json", graph(
            [node("Dequantize", "bf", "b", scales=0.1, dtype="float32"),
             {"op": "MatMul", "name": "m", "inputs": {"a": "a", "b": "bf"}}],
            inputs=[], outputs={"y": "m"},
            constants=[constant("a", "float32", [1, 3], [1, 1, 1]),
                       constant("b", "int8", [3, 1], [1, 1, 7])]))
        self.assertEqual([s["chain"] for s in self.json("plan", name, "--fast")["steps"]],
                         ["a, b -> MatMul m on codes of b, scaled later -> output y"])
        literal, fast = [self.json("run", name, *words)["outputs"][0]["first"]
                         for words in ([], ["--fast"])]
        self.assertEqual([float32(y) for y in literal + fast],
                         [float32(float32(tenth + tenth) + float32(7 * tenth)), float32(9 * tenth)])
        found = self.json("compare", name, "--fast", code=1)["nodes"]
        self.assertEqual([(n["node"], n["causes"]) for n in found], [("m", ["scales of sums"])])
        lines = self.qdq("compare", name, "--fast", code=1).out.splitlines()
        self.assertTrue(lines[0].endswith("; sums of codes are scaled"), lines[0])

    def test_a_3x3_convolution_is_a_winograd_convolution(self):
        """Weights of a third, so that results round."""
        weights = [(i * 7 % 23 - 11) / 3 for i in range(16 * 16 * 9)]
        name = self.write("g.json", graph(
            [node("Convolution", "c", "x", {"weights": "w"}, pads_begin=[1, 1], pads_end=[1, 1], data_format="NCX",
                  weights_format="OIX", strides=[1, 1], dilations=[1, 1])],
            inputs=[{"name": "x", "dtype": "float32", "shape": [1, 16, 12, 11]}], outputs={"y": "c"},
            constants=[constant("w", "float32", [16, 16, 3, 3], weights)]))
        self.assertEqual([s["chain"] for s in self.json("plan", name, "--fast")["steps"]],
                         ["x, w -> Convolution c by Winograd -> output y"])
        self.assertEqual([s["chain"] for s in self.json("plan", name, "--rows")["steps"]],
                         ["x, w -> Convolution c -> output y"])
        found = self.json("compare", name, "--fast", "--fill", "1", code=1)
        self.assertEqual([(n["node"], n["causes"]) for n in found["nodes"]], [("c", ["Winograd convolution"])])
        self.assertLess(found["outputs"][0]["largest"], 1e-3)
        lines = self.qdq("compare", name, "--fast", "--fill", "1", code=1).out.splitlines()
        self.assertTrue(lines[0].endswith("; computed by Winograd's algorithm"), lines[0])

    def test_compare_says_when_all_is_equal(self):
        result = self.qdq("compare", self.write("g.json", product(0.5)), "--fast")
        self.assertEqual(result.out, "y: all 4 elements equal\n")

    def test_fast_and_targets_exclude_each_other(self):
        result = self.qdq("compare", self.write("g.json", product(0.5)), "--fast", "--targets",
                          "core,onnx", code=2)
        self.assertIn("--fast and --targets are both given", result.err)


if __name__ == "__main__":
    main()
