#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products of codes that are quantized while the graph runs, on target ort: which nodes become a
group, why others do not, and on aarch64 one rounding of a product and its bias, computed here
with fractions."""

import struct
from fractions import Fraction

from harness import Case, constant, graph, main, node


def float32(x):
    """The float32 nearest to a fraction of the size of 1: half even, as floats round."""
    return Fraction(struct.unpack("<f", struct.pack("<f", float(x)))[0])


# The least x is 0 and the greatest 255, so that codes are the numbers.
X, W, SCALE = [0, 3, 10, 255], [7, -5, 3, 1], 0.3
SUM = sum(x * w for x, w in zip(X, W))
BIASES = [float(float32(Fraction(i, 977))) for i in range(-60, 60)]


def results(fused):
    s = float32(Fraction(SCALE))
    rows = []
    for bias in BIASES:
        product = SUM * s if fused else float32(SUM * s)
        rows.append(float(float32(product + Fraction(bias))))
    return rows


def dynamic(*, swapped=False, read=(), scale=None, bias=True, cast="float32"):
    """y = x times W in each column, and BIASES."""
    columns = len(BIASES)
    factors = {"a": "s", "b": "q.scale"} if swapped else {"a": "q.scale", "b": "s"}
    nodes = [node("DynamicQuantize", "q", "x", dtype="uint8"),
             {"op": "MatMulInteger", "name": "m",
              "inputs": {"a": "q", "b": "w", "a_zero_point": "q.zero_point"}},
             node("Cast", "c", "m", dtype=cast),
             {"op": "Multiply", "name": "both", "inputs": factors},
             {"op": "Multiply", "name": "y", "inputs": {"a": "c", "b": "both"}},
             {"op": "Add", "name": "z", "inputs": {"a": "y", "b": "b"}}]
    outputs = {"out": "z" if bias else "y"}
    outputs.update({f"o{i}": value for i, value in enumerate(read)})
    return graph(nodes if bias else nodes[:-1], inputs=[], outputs=outputs,
                 constants=[constant("x", "float32", [1, 4], X),
                            constant("w", "int8", [4, columns], [w for w in W for _ in BIASES]),
                            constant("s", "float32", *(scale or ([], [SCALE]))),
                            constant("b", "float32", [columns], BIASES)])


class Groups(Case):
    def rewrites(self, g, target="ort"):
        rows = self.json("plan", self.write("g.json", g), "-t", target)["rewrites"]
        return [(row["group"], row["nodes"], row["reason"]) for row in rows]

    def test_all_nodes_become_one_group(self):
        self.assertEqual(self.rewrites(dynamic()),
                         [("DynamicQuantizeMatMul", ["m", "q", "c", "both", "y", "z"], None)])

    def test_a_scale_as_second_factor_or_with_other_readers_keeps_the_quantizing_node(self):
        group = [("MatMulIntegerToFloat", ["m", "c", "both", "y", "z"], None)]
        self.assertEqual(self.rewrites(dynamic(swapped=True)), group)
        self.assertEqual(self.rewrites(dynamic(read=["q.scale"])), group)

    def test_a_product_that_others_read_stays_without_its_bias(self):
        self.assertEqual(self.rewrites(dynamic(read=["y"])),
                         [("DynamicQuantizeMatMul", ["m", "q", "c", "both", "y"], None)])

    def test_a_group_that_does_not_form_says_why(self):
        for g, why in ((dynamic(read=["m"]), "does not go to one Cast to float32 alone"),
                       (dynamic(read=["c"]), "does not go to one Multiply alone"),
                       (dynamic(read=["both"]), "the product of the scales has other readers"),
                       (dynamic(cast="float16", bias=False), "one Cast to float32")):
            (row,) = self.rewrites(g)
            self.assertIn(why, row[2])
        twice = dynamic()
        twice["nodes"].append({"op": "MatMulInteger", "name": "n", "inputs": {
            "a": "q", "b": "w", "a_zero_point": "q.zero_point"}})
        twice["outputs"].append({"name": "n", "value": "n"})
        merged, group = self.rewrites(twice)
        self.assertEqual(merged, ("one node", ["m"], None))
        self.assertIn("does not go to one Cast to float32 alone", group[2])

    def test_levels_and_options(self):
        for words, count in (("level=extended", 1), ("disable_quant_qdq=1", 1), ("level=basic", 0),
                             ("level=disabled", 0)):
            self.assertEqual(len(self.rewrites(dynamic(), f"ort:{words}")), count, words)

    def test_a_deployed_graph_has_the_same_bits(self):
        self.qdq("convert", self.write("g.json", dynamic()), "--deployed", "-t",
                 "ort@1.31-neon", "-o", "d.json")
        runs = [self.json("run", name, "-t", "ort@1.31-neon")["outputs"][0]["first"]
                for name in ("g.json", "d.json")]
        self.assertEqual(runs[0], runs[1])


class Bits(Case):
    def test_aarch64_rounds_a_product_and_its_bias_once(self):
        self.write("g.json", dynamic())
        once, twice = results(True), results(False)
        changed = sum(a != b for a, b in zip(once, twice))
        self.assertGreater(changed, 5)
        for target, rows in (("ort", twice), ("ort@1.31-avx2", twice), ("ort@1.31-dot", once),
                             ("onnx@1.31-dot", twice)):
            self.qdq("run", "g.json", "-t", target, "-o", "out=y.npy")
            raw = (self.folder / "y.npy").read_bytes()[-4 * len(rows):]
            self.assertEqual(list(struct.unpack(f"<{len(rows)}f", raw)), rows, target)
        for targets, cause in (("onnx@1.31-neon,ort@1.31-neon", "fused bias"),
                               ("ort@1.31-avx2,ort@1.31-neon", "float operations")):
            (one,) = self.json("compare", "g.json", "--targets", targets, code=1)["values"]
            self.assertEqual([(why["cause"], why["elements"]) for why in one["pairs"][0]["causes"]],
                             [(cause, changed)])

    def test_scales_of_rows_multiply_the_sum_with_the_bias(self):
        """(product * a_scale + bias) * b_scale: powers of two, so that nothing is rounded."""
        g = graph([node("DynamicQuantize", "q", "x", dtype="uint8"),
                   {"op": "MatMulInteger", "name": "m",
                    "inputs": {"a": "q", "b": "w", "a_zero_point": "q.zero_point"}},
                   node("Cast", "c", "m", dtype="float32"),
                   {"op": "Multiply", "name": "both", "inputs": {"a": "q.scale", "b": "s"}},
                   {"op": "Multiply", "name": "y", "inputs": {"a": "c", "b": "both"}},
                   {"op": "Add", "name": "z", "inputs": {"a": "y", "b": "b"}}],
                  inputs=[], outputs={"out": "z"},
                  constants=[constant("x", "float32", [2, 2], [0, 255, 1, 2]),
                             constant("w", "int8", [2, 2], [1, 2, 3, 4]),
                             constant("s", "float32", [2, 1], [0.5, 2]),
                             constant("b", "float32", [2], [8, 16])])
        product = [[3 * 255, 4 * 255], [1 + 6, 2 + 8]]
        for target, wanted in (
                ("onnx", [p * s + b for row, s in zip(product, (0.5, 2)) for p, b in zip(row, (8, 16))]),
                ("ort", [(p + b) * s for row, s in zip(product, (0.5, 2)) for p, b in zip(row, (8, 16))])):
            out = self.json("run", self.write("g.json", g), "-t", target)["outputs"][0]
            self.assertEqual(out["first"], wanted, target)


if __name__ == "__main__":
    main()
