#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets that rewrite a graph: what forms and why not, `convert --deployed`, and options of a
target. Expected codes are computed here by ONNX Runtime's formulas."""

import json
import struct

from harness import Case, constant, graph, main, node

A, W = [255, 200, 10, 3], [127, 127, -127, 5]
SA, ZA, SW, SY, ZY = 0.02, 128, 0.003, 0.31, 128


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def saturated(v):
    return max(-32768, min(32767, v))


def product_code(saturates):
    """The code of A times W: one multiplier, and pairs that saturate or not."""
    pairs = [A[i] * W[i] + A[i + 1] * W[i + 1] for i in (0, 2)]
    total = sum(map(saturated, pairs) if saturates else pairs) - ZA * sum(W)
    multiplier = float32(float32(float32(SA) * float32(SW)) / float32(SY))
    return max(0, min(255, round(float32(float32(total) * multiplier)) + ZY))


def product(between=(), dtype="uint8", zero=ZA):
    """A graph: y is A times W, with these nodes between the product and Quantize."""
    nodes = [node("Dequantize", "af", "a", scales=SA, zps=zero, dtype="float32"),
             node("Dequantize", "wf", "w", scales=SW, dtype="float32"),
             {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "wf"}}]
    last = "m"
    for op, name, attrs in between:
        nodes.append(node(op, name, last, **attrs))
        last = name
    nodes.append(node("Quantize", "q", last, scales=SY, zps=ZY, dtype="uint8"))
    return graph(nodes, inputs=[{"name": "a", "dtype": dtype, "shape": [1, 4]}],
                 outputs={"y": "q"}, constants=[constant("w", "int8", [4, 1], W)])


def of_two(op, sa, sb, b):
    """A graph: y is a sum or product of codes; halves show where the zero point is added."""
    return graph([node("Dequantize", "af", "a", scales=sa, dtype="float32"),
                  node("Dequantize", "bf", "b", scales=sb, dtype="float32"),
                  {"op": op, "name": "s", "inputs": {"a": "af", "b": "bf"}},
                  node("Quantize", "q", "s", scales=1, zps=1, dtype="uint8")],
                 inputs=[], outputs={"y": "q"},
                 constants=[constant("a", "uint8", [4], [1, 3, 5, 7]),
                            constant("b", "uint8", [4], [b] * 4)])


class Deployed(Case):
    def rewrites(self, g, target="ort"):
        return self.json("plan", self.write("g.json", g), "-t", target)["rewrites"]

    def formed(self, g, target="ort"):
        return [(w["pass"], w["group"], w["nodes"]) for w in self.rewrites(g, target)
                if w["reason"] is None]

    def reasons(self, g, target="ort"):
        return [w["reason"] for w in self.rewrites(g, target) if w["reason"] is not None]

    def code(self, g, target):
        given = json.loads(json.dumps(g))
        given["constants"].append(constant("a", "uint8", [1, 4], A))
        given["inputs"] = []
        out = self.json("run", self.write("c.json", given), "-t", target)["outputs"][0]
        return out["first"][0]

    def test_a_product_between_pairs_is_one_group(self):
        self.assertEqual(self.formed(product()), [("groups", "QLinearMatMul", ["m", "q"])])

    def test_pairs_saturate_on_cpus_without_vnni(self):
        self.assertEqual((product_code(True), product_code(False)), (131, 136))
        for variant, wanted in (("avx2", 131), ("avx512", 131), ("vnni", 136), ("neon", 136)):
            self.assertEqual(self.code(product(), f"ort@1.31-{variant}"), wanted, variant)
        self.assertEqual(self.code(product(), "onnx"), 136)

    def test_sums_and_products_round_as_each_cpu_does(self):
        for g, wanted in ((of_two("Add", 0.5, 1, 0), {"onnx": [1, 3, 3, 5],
                                                       "ort@1.31-avx2": [2, 2, 4, 4],
                                                       "ort@1.31-neon": [2, 3, 4, 5]}),
                          (of_two("Multiply", 1, 0.5, 1), {"onnx": [1, 3, 3, 5],
                                                           "ort@1.31-avx2": [2, 2, 4, 4],
                                                           "ort@1.31-i8mm": [2, 2, 4, 4]})):
            for target, codes in wanted.items():
                out = self.json("run", self.write("g.json", g), "-t", target)["outputs"][0]
                self.assertEqual(out["first"], codes, target)

    def test_levels_choose_the_passes(self):
        double = product([("Quantize", "q1", {"scales": 0.3, "zps": 5, "dtype": "uint8"}),
                          ("Dequantize", "d1", {"scales": 0.3, "zps": 5, "dtype": "float32"}),
                          ("Quantize", "q2", {"scales": 0.2, "zps": 9, "dtype": "uint8"}),
                          ("Dequantize", "d2", {"scales": 0.2, "zps": 9, "dtype": "float32"})])
        passes = {level: [p for p, _, _ in self.formed(double, f"ort:level={level}")]
                  for level in ("all", "extended", "basic", "disabled")}
        self.assertEqual(passes, {"all": ["double pairs", "groups"],
                                  "extended": ["double pairs", "groups"],
                                  "basic": ["double pairs"], "disabled": []})

    def test_a_group_that_does_not_form_says_why(self):
        self.assertIn("Relu", self.reasons(product([("ReLU", "r", {})]))[0])
        self.assertIn("another dtype", self.reasons(product(dtype="int8", zero=3))[0])

    def test_a_relu_that_changes_no_code_is_removed(self):
        g = product([("ReLU", "r", {})])
        g["nodes"][-1]["attrs"]["zps"] = 0
        self.assertEqual(self.formed(g), [("relu", "no Relu", ["r"]),
                                          ("groups", "QLinearMatMul", ["m", "q"])])

    def test_a_deployed_graph_runs_as_it_is_with_the_same_bits(self):
        source = self.write("g.json", product())
        self.qdq("convert", source, "--deployed", "-t", "ort@1.31-avx2", "-o", "d.json")
        written = json.loads((self.folder / "d.json").read_text())
        self.assertEqual(written["target"], "ort@1.31-avx2:level=disabled")
        self.assertEqual([n["op"] for n in written["nodes"]], ["QLinearMatMul"])
        self.assertEqual(self.json("plan", "d.json")["rewrites"], [])
        runs = [self.json("run", name, *words, "--fill", "7")["outputs"][0]["first"]
                for name, words in ((source, ["-t", "ort@1.31-avx2"]), ("d.json", []))]
        self.assertEqual(runs[0], runs[1])

    def test_an_unknown_option_names_those_that_exist(self):
        name = self.write("g.json", product())
        for target, text in (("ort:levle=all", "option of target ort 'levle' is unknown, wanted "
                                               "one of: level, qdqisint8allowed"),
                             ("ort:level=most", "wanted one of: all, extended, basic, disabled"),
                             ("core:level=all", "option of target core 'level' is unknown, wanted "
                                                "none")):
            self.assertIn(text, self.qdq("run", name, "-t", target, code=2).err)

    def test_an_unknown_version_names_the_releases_or_the_variants_of_its_release(self):
        name = self.write("g.json", product())
        releases = ", ".join(f"1.{minor}" for minor in range(20, 33))
        for target, text in (("ort@1.19", f"version of target ort '1.19' is unknown, wanted one of: {releases}; did you "),
                             ("onnx@1.4", f"wanted one of: {releases}, spec"),
                             ("ort@1.24-vni", "version of target ort '1.24-vni' is unknown, wanted one of: 1.24-vnni, "
                                              "1.24-avx2, 1.24-avx512; did you mean '1.24-vnni'?"),
                             ("ttnn@wormhole-rna", "wanted one of: wormhole, wormhole-rne; did you"),
                             ("ttnn@grayhole", "wanted one of: wormhole, blackhole, wormhole-rne, blackhole-rne, ieee")):
            self.assertIn(text, self.qdq("run", name, "-t", target, code=2).err)

    def test_a_release_without_a_cpu_is_accepted(self):
        name = self.write("g.json", product())
        for minor in range(20, 33):
            for target in ("onnx", "ort"):
                self.qdq("check", name, "-t", f"{target}@1.{minor}", code=None)


if __name__ == "__main__":
    main()
