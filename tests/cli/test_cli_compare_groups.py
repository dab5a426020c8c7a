#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq compare with targets that rewrite a graph: what it compares with a group of nodes, and the
causes. Wanted codes come from the formulas of ONNX Runtime's kernels, by hand."""

from harness import Case, constant, graph, main, node


def dequantize(name, x, scale, zero=0, **more):
    return node("Dequantize", name, x, scales=scale, zps=zero, dtype="float32", **more)


def quantize(name, x, scale, zero=0, dtype="uint8"):
    return node("Quantize", name, x, scales=scale, zps=zero, dtype=dtype)


def product(a, w, rows, *, sa, za, sw, sy, zy):
    """y is the product of rows of uint8 codes and a column of int8 codes."""
    return graph([dequantize("af", "a", sa, za), dequantize("wf", "w", sw),
                  {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "wf"}},
                  quantize("q", "m", sy, zy)], inputs=[], outputs={"y": "q"},
                 constants=[constant("a", "uint8", [rows, len(a) // rows], a),
                            constant("w", "int8", [len(w), 1], w)])


# Worked by hand: exact sums give 136. In pairs 57785 becomes 32767, and the code is 131.
SATURATING = product([255, 200, 10, 3], [127, 127, -127, 5], 1, sa=0.02, za=128, sw=0.003,
                     sy=0.31, zy=128)


class Groups(Case):
    def compare(self, content, targets, *words, code=None):
        result = self.json("compare", self.write("g.json", content), "--targets", targets, *words,
                           code=code)
        for one in result["values"]:
            for pair in one["pairs"]:
                self.assertEqual(sum(why["elements"] for why in pair["causes"]), pair["different"])
        return result["values"]

    def assert_causes(self, content, other, wanted, first="onnx"):
        """Causes of one group, each with its elements and the results of the first of them. Either
        target may come first."""
        for turn in (1, -1):
            targets = [first, other][::turn]
            (one,) = self.compare(content, ",".join(targets), code=1)
            (pair,) = one["pairs"]
            self.assertEqual([(why["cause"], why["elements"], why["results"][::turn])
                              for why in pair["causes"]], wanted, targets)

    def test_a_group_is_compared_at_its_result(self):
        (one,) = self.compare(SATURATING, "onnx,ort@1.31-avx2,ort@1.31-vnni", code=1)
        self.assertEqual((one["name"], one["op"], one["elements"]), ("q", "Quantize", 1))
        self.assertEqual([pair["group"] for pair in one["pairs"]],
                         [{"op": "QLinearMatMul", "nodes": ["af", "wf", "m", "q"]}] * 2)
        self.assertEqual([pair["different"] for pair in one["pairs"]], [1, 0])

    def test_pair_saturation(self):
        self.assert_causes(SATURATING, "ort@1.31-avx2", [("pair saturation", 1, [136, 131])])


class Told(Case):
    def test_a_group_in_words(self):
        self.write("g.json", SATURATING)
        result = self.qdq("compare", "g.json", "--targets", "onnx,ort@1.31-avx2,ort@1.31-vnni", code=1)
        self.assertEqual(result.out, """\
q (QLinearMatMul in place of af, wf, m, q), onnx and ort@1.31-avx2: 1 of 1 differ, at most 5 steps
  pair saturation: 1 element, at [0, 0]: onnx 136, ort@1.31-avx2 131
g.json: 1 of 1 nodes and groups differ
""")
        result = self.qdq("compare", "g.json", "--targets", "onnx,ort", "--all")
        self.assertEqual(result.out, """\
q (QLinearMatMul in place of af, wf, m, q): equal on these inputs
1 node or group is equal, 1 of them only on these inputs
g.json: 0 of 1 nodes and groups differ
""")


if __name__ == "__main__":
    main()
