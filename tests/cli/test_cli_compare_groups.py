#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq compare with targets that rewrite a graph: what it compares with a group of nodes, and the
causes. Wanted codes come from the formulas of ONNX Runtime's kernels, by hand or computed here."""

import json
import struct

from harness import Case, constant, graph, main, node, npy_bytes, tensor, value, write_npy


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def clamp(code, low=0, high=255):
    return max(low, min(high, code))


def dequantize(name, x, scale, zero=0, **more):
    return node("Dequantize", name, x, scales=scale, zps=zero, dtype="float32", **more)


def quantize(name, x, scale, zero=0, dtype="uint8"):
    return node("Quantize", name, x, scales=scale, zps=zero, dtype=dtype)


def constant_graph(nodes, last, constants):
    return graph(nodes, inputs=[], outputs={"y": last}, constants=constants)


def of_codes(op, codes, sx, sy, zy=0, attrs=None, shape=None):
    """y is an op on codes, quantized."""
    middle = {"op": op, "name": "s", "inputs": {"x": "xf"}, "attrs": attrs or {}}
    return constant_graph([dequantize("xf", "x", sx), middle, quantize("q", "s", sy, zy)], "q",
                          [constant("x", "uint8", shape or [1, len(codes)], codes)])


def of_two(op, sa, sb, b):
    """y is a sum or product of codes; halves show where the zero point is added."""
    return constant_graph([dequantize("af", "a", sa), dequantize("bf", "b", sb),
                           {"op": op, "name": "s", "inputs": {"a": "af", "b": "bf"}},
                           quantize("q", "s", 1, 1)], "q",
                          [constant("a", "uint8", [4], [1, 3, 5, 7]),
                           constant("b", "uint8", [4], [b] * 4)])


def product(a, w, rows, *, sa, za, sw, sy, zy):
    """y is the product of rows of uint8 codes and a column of int8 codes."""
    return graph([dequantize("af", "a", sa, za), dequantize("wf", "w", sw),
                  {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "wf"}},
                  quantize("q", "m", sy, zy)], inputs=[], outputs={"y": "q"},
                 constants=[constant("a", "uint8", [rows, len(a) // rows], a),
                            constant("w", "int8", [len(w), 1], w)])


def double_pair(rows, w, sw, sy, zy):
    """y is the product of rows of floats, behind two pairs, and a column of int8 codes."""
    return constant_graph([quantize("q1", "x", 0.02, 128), dequantize("d1", "q1", 0.02, 128),
                           quantize("q2", "d1", 0.02, 100), dequantize("d2", "q2", 0.02, 100),
                           dequantize("wf", "w", sw),
                           {"op": "MatMul", "name": "m", "inputs": {"a": "d2", "b": "wf"}},
                           quantize("q", "m", sy, zy)], "q",
                          [constant("x", "float32", [len(rows), len(w)], sum(rows, [])),
                           constant("w", "int8", [len(w), 1], w)])


# Worked by hand: exact sums give 136. In pairs 57785 becomes 32767, and the code is 131.
SATURATING = product([255, 200, 10, 3], [127, 127, -127, 5], 1, sa=0.02, za=128, sw=0.003,
                     sy=0.31, zy=128)


def json_copy(content):
    return json.loads(json.dumps(content))


class Compare(Case):
    def compare(self, content, targets, *words, code=None):
        result = self.json("compare", self.write("g.json", content), "--targets", targets, *words,
                           code=code)
        for one in result["values"]:
            for pair in one["pairs"]:
                self.assertEqual(sum(why["elements"] for why in pair["causes"]), pair["different"])
        return result["values"]

    def causes(self, content, other):
        """The number of elements for each cause by which a graph of one group differs from onnx."""
        (one,) = self.compare(content, f"onnx,{other}", code=1)
        return {why["cause"]: why["elements"] for why in one["pairs"][0]["causes"]}

    def assert_causes(self, content, other, wanted, first="onnx"):
        """Causes of one group, each with its elements and the results of the first of them. Either
        target may come first."""
        for turn in (1, -1):
            targets = [first, other][::turn]
            (one,) = self.compare(content, ",".join(targets), code=1)
            (pair,) = one["pairs"]
            self.assertEqual([(why["cause"], why["elements"], why["results"][::turn])
                              for why in pair["causes"]], wanted, targets)


class Causes(Compare):
    def test_a_group_is_compared_at_its_result(self):
        (one,) = self.compare(SATURATING, "onnx,ort@1.31-avx2,ort@1.31-vnni", code=1)
        self.assertEqual((one["name"], one["op"], one["elements"]), ("q", "Quantize", 1))
        self.assertEqual([pair["group"] for pair in one["pairs"]],
                         [{"op": "QLinearMatMul", "nodes": ["af", "wf", "m", "q"]}] * 2)
        self.assertEqual([pair["different"] for pair in one["pairs"]], [1, 0])

    def test_pair_saturation(self):
        self.assert_causes(SATURATING, "ort@1.31-avx2", [("pair saturation", 1, [136, 131])])
        self.assert_causes(SATURATING, "ort@1.31-avx2", [("pair saturation", 1, [136, 131])],
                           first="onnx@1.31-avx2")
        self.assert_causes(SATURATING, "ort@1.31-avx2", [("pair saturation", 1, [136, 131])],
                           first="ort@1.31-vnni")

    def test_a_single_multiplier(self):
        sa, sw, sy = float32(0.1), float32(0.02), float32(0.2)
        a, w = list(range(256)), 50
        nodes = [clamp(round(float32(float32(float32(code * sa) * float32(w * sw)) / sy)))
                 for code in a]
        multiplier = float32(float32(sa * sw) / sy)
        group = [clamp(round(float32(code * w * multiplier))) for code in a]
        pairs = [[x, y] for x, y in zip(nodes, group) if x != y]
        self.assertTrue(pairs)
        self.assert_causes(product(a, [w], 256, sa=0.1, za=0, sw=0.02, sy=0.2, zy=0), "ort",
                           [("single multiplier", len(pairs), pairs[0])])

    def test_rounding_after_the_zero_point(self):
        """Codes of the nodes are 1 3 3 5. x86 makes 2 2 4 4 of them, and NEON's sum 2 3 4 5."""
        named = "rounding after zero point"
        for g in (of_two("Add", 0.5, 1, 0), of_two("Multiply", 1, 0.5, 1)):
            self.assert_causes(g, "ort@1.31-avx2", [(named, 4, [1, 2])])
        self.assert_causes(of_two("Add", 0.5, 1, 0), "ort@1.31-neon", [(named, 2, [1, 2])])

    def test_fixed_point(self):
        self.assert_causes(of_two("Add", 0.5, 1, 0), "ort@1.31-neon", [("fixed point", 2, [2, 3])],
                           first="ort@1.31-avx2")
        mean = of_codes("ReduceMean", [0, 1], 1, 1, attrs={"axes": [2], "keep_dims": True, "global_pool": True},
                        shape=[1, 1, 2])
        for first in ("onnx", "onnx@1.31-neon", "ort@1.31-avx2"):
            self.assert_causes(mean, "ort@1.31-neon", [("fixed point", 1, [0, 1])], first=first)

    def test_a_table(self):
        """Codes of the nodes are 158 96 1 0, and of the group 157 95 1 0."""
        self.assert_causes(of_codes("SoftMax", [200, 190, 100, 0], 0.05, 1 / 255), "ort",
                           [("table", 2, [158, 157])])

    def test_a_removed_pair(self):
        s, x = float32(0.02), [float32(i / 32) for i in range(-70, 70)]
        once = [float32((clamp(round(float32(v / s)) + 128) - 128) * s) for v in x]
        twice = [float32((clamp(round(float32(v / s)) + 100) - 100) * s) for v in once]
        low, high = float32(-100 * s), float32(127 * s)  # of both pairs
        scale = float32(float32(high - low) / 255)
        one = [float32((clamp(round(float32(v / scale)) + 112) - 112) * scale) for v in x]
        pairs = [[a, b] for a, b in zip(twice, one) if a != b]
        g = constant_graph([quantize("q1", "x", 0.02, 128), dequantize("d1", "q1", 0.02, 128),
                            quantize("q2", "d1", 0.02, 100), dequantize("d2", "q2", 0.02, 100)],
                           "d2", [constant("x", "float32", [len(x)], x)])
        (one,) = self.compare(g, "onnx,ort", code=1)
        (why,) = one["pairs"][0]["causes"]
        self.assertEqual((why["cause"], why["elements"]), ("removed pair", len(pairs)))
        self.assertEqual([float32(v) for v in why["results"]], pairs[0])
        self.assertEqual(one["pairs"][0]["group"],
                         {"op": "Dequantize", "nodes": ["q1", "d1", "q2", "d2"]})

    def test_each_element_has_the_rewrite_that_explains_it(self):
        """A double pair before a product: with both rewrites, one of them, and none."""
        def code(v, scale, zero):
            return clamp(round(float32(v / scale)) + zero)

        s, sw, sy = float32(0.02), float32(0.013), float32(0.0694353)
        low, high = float32(-100 * s), float32(127 * s)
        pairs = {"removed": (float32(float32(high - low) / 255), 112), "kept": (s, 100)}

        def result(x, pair, fused):
            scale, zero = pairs[pair]
            before = x if pair == "removed" else float32((code(x, s, 128) - 128) * s)
            a = code(before, scale, zero) - zero
            if fused:
                return clamp(round(float32(a * 50 * float32(float32(scale * sw) / sy))) + 128)
            return code(float32(float32(a * scale) * float32(50 * sw)), sy, 128)

        x, wanted = [float32(i / 512) for i in range(-1100, 1100)], {}
        for v in x:
            both, removed, fused, none = (result(v, "removed", True), result(v, "removed", False),
                                          result(v, "kept", True), result(v, "kept", False))
            if both == none:
                continue
            cause = ("removed pair" if removed == both else
                     "single multiplier" if fused == both or removed == none else
                     "removed pair" if fused == none else "removed pair + single multiplier")
            wanted[cause] = wanted.get(cause, 0) + 1
        self.assertGreater(len(wanted), 1)
        g = double_pair([[v] for v in x], [50], 0.013, 0.0694353, 128)
        self.assertEqual(self.causes(g, "ort"), wanted)

    def test_a_group_that_saturates_is_no_cause_of_its_own(self):
        """Saturation needs the group, but where exact sums give the nodes' code, the group is right.
        Rows whose result is near a tie are left out, so that float32 rounds nothing away."""
        s, sw, sy = float32(0.02), float32(0.01), 0.02
        scale = float32(float32(float32(127 * s) - float32(-100 * s)) / 255)

        def quotient(row, removed, saturates):
            step, zero = (scale, 112) if removed else (s, 100)
            codes = [clamp(round(v / step) + zero) for v in row]
            total = sum(codes) * 127
            if saturates:
                total = min(32767, total)
            return (total - 2 * zero * 127) * step * sw / sy

        def clear(q):
            return abs(q % 1 - 0.5) > 0.001

        rows = [[float32((i - 3) * s), float32(j * s)] for i in range(0, 127, 3) for j in range(0, 127, 3)]
        forms = [(removed, saturates) for removed in (0, 1) for saturates in (0, 1)]
        rows = [row for row in rows if all(clear(quotient(row, *form)) for form in forms)]
        wanted = {}
        for row in rows:
            none, pairs, removed, both = (clamp(round(quotient(row, *form)) + 1) for form in forms)
            if both == none:
                continue
            cause = ("removed pair" if removed == both else "pair saturation" if removed == none
                     else "removed pair" if pairs == none else "pair saturation + removed pair")
            wanted[cause] = wanted.get(cause, 0) + 1
        self.assertEqual(len(wanted), 3)
        g = double_pair(rows, [127, 127], 0.01, sy, 1)
        self.assertEqual(self.causes(g, "ort@1.31-avx2"), wanted)

    def test_weights_that_the_optimizer_quantizes(self):
        """1 stays what it is, code 127 of scale 1/255, and 0.3 becomes 76/255."""
        g = constant_graph([dequantize("xf", "x", 1),
                            {"op": "Convolution", "name": "c", "attrs": {
                                "strides": [1], "pads_begin": [0], "pads_end": [0],
                                "dilations": [1], "data_format": "NCX", "weights_format": "OIX"},
                             "inputs": {"x": "xf", "weights": "w"}},
                            quantize("q", "c", 1)], "q",
                           [constant("x", "uint8", [1, 1, 2], [10, 200]),
                            constant("w", "float32", [2, 1, 1], [1, 0.3])])
        values = self.compare(g, "onnx,ort:level=basic", code=1)
        found = {one["name"]: one["pairs"][0] for one in values}
        self.assertEqual([why["cause"] for why in found["c"]["causes"]],
                         ["quantized by the optimizer"])
        self.assertEqual(found["c"]["different"], 2)  # those of the second channel
        results = [float32(v) for v in found["c"]["causes"][0]["results"]]
        scale = float32(1 / 255)
        self.assertEqual(results, [float32(10 * float32(0.3)), float32(10 * float32(76 * scale))])

    def test_a_fused_activation(self):
        """Bounds within 2^-23 of the range of codes go, however many codes that is."""
        g = constant_graph([node("Clamp", "c", "x", min=1e-7, max=2.6e-7),
                            quantize("q", "c", 1e-9)], "q",
                           [constant("x", "float32", [3], [0, 5e-8, 2e-7])])
        self.assert_causes(g, "ort", [("fused activation", 2, [100, 0])])

    def test_activations_that_become_int8(self):
        """The greatest of the row is 127, so that its codes have the scale 1: 0.25 becomes 0, and -1.75
        becomes -2. Each sum is exact: 127 + 0.25 * 64 - 1.75 * 32 and 127 - 2 * 32."""
        g = graph([dequantize("wf", "w", 1),
                   {"op": "MatMul", "name": "m", "inputs": {"a": "a", "b": "wf"}}],
                  inputs=[{"name": "a", "dtype": "float32", "shape": [2, 3]}], outputs={"y": "m"},
                  constants=[constant("w", "int8", [3, 2], [1, 1, 64, 0, 32, 0])])
        row = [127, 0.25, -1.75]
        (self.folder / "a.npy").write_bytes(npy_bytes("<f4", (2, 3), struct.pack("<6f", *row, *row)))
        given = ("-i", "a=a.npy")
        for variant in ("avx2", "vnni", "neon"):
            for targets, results in ((f"onnx,ort@1.31-{variant}", [87, 63]),
                                     (f"ort@1.31-{variant},onnx", [63, 87])):
                values = self.compare(g, targets, *given, code=1)
                (pair,) = [one["pairs"][0] for one in values if one["name"] == "m"]
                self.assertEqual([(why["cause"], why["elements"], why["results"])
                                  for why in pair["causes"]],
                                 [("activation quantized to int8", 2, results)])
        off = "ort@1.31-avx2:qdq_matmulnbits_accuracy_level=0"
        values = self.compare(g, f"onnx,{off}", *given, code=0)
        self.assertEqual({one["pairs"][0]["different"] for one in values}, {0})

    def test_codes_that_are_shifted_are_the_same(self):
        """The saturating product with int8 codes, which ort keeps as uint8."""
        x = [float32(code * float32(0.02)) for code in (127, 72, -118, -125)]
        write_npy(self.folder / "x.npy", tensor("float32", [1, 4], x))
        g = graph([quantize("p", "x", 0.02, dtype="int8"),
                   dequantize("pf", "p", 0.02), dequantize("wf", "w", 0.003),
                   {"op": "MatMul", "name": "m", "inputs": {"a": "pf", "b": "wf"}},
                   quantize("q", "m", 0.31, dtype="int8"), dequantize("y", "q", 0.31)],
                  inputs=[value("x", shape=[1, 4])], outputs={"y": "y"},
                  constants=[constant("w", "int8", [4, 1], [127, 127, -127, 5])])
        p, q, y = self.compare(g, "onnx,ort@1.31-avx2", "-i", "x=x.npy", code=1)
        self.assertEqual((p["name"], p["pairs"][0]["different"], p["pairs"][0]["numerics"]),
                         ("p", 0, []))
        self.assertNotIn("group", p["pairs"][0])
        self.assertEqual(q["dtype"], "int8")
        self.assertEqual([(why["cause"], why["results"]) for why in q["pairs"][0]["causes"]],
                         [("pair saturation", [8, 3])])
        self.assertEqual((y["pairs"][0]["different"], y["pairs"][0]["different_overall"]), (0, 1))


class Units(Compare):
    def test_groups_may_share_a_node(self):
        g = json_copy(SATURATING)
        g["nodes"] += [dequantize("vf", "v", 0.003),
                       {"op": "MatMul", "name": "n", "inputs": {"a": "af", "b": "vf"}},
                       quantize("r", "n", 0.31, 128)]
        g["constants"].append(constant("v", "int8", [4, 1], [1, 2, 3, 4]))
        g["outputs"].append({"name": "z", "value": "r"})
        values = self.compare(g, "onnx,ort", code=0)
        self.assertEqual({one["name"]: one["pairs"][0]["group"]["nodes"] for one in values},
                         {"q": ["af", "wf", "m", "q"], "r": ["af", "vf", "n", "r"]})

    def test_other_targets_are_compared_node_by_node(self):
        values = self.compare(SATURATING, "onnx,core,ort@1.31-avx2", code=1)
        pairs = {one["name"]: [pair["targets"][1] for pair in one["pairs"]] for one in values}
        self.assertEqual(pairs, {"af": ["core"], "wf": ["core"], "m": ["core"],
                                 "q": ["core", "ort@1.31-avx2"]})

    def test_targets_that_rewrite_alike_are_compared_at_each_group(self):
        values = self.compare(SATURATING, "ort@1.31-vnni,ort@1.31-neon", code=0)
        self.assertEqual([one["name"] for one in values], ["q"])
        self.assertEqual(values[0]["pairs"][0]["group"]["op"], "QLinearMatMul")

    def test_a_graph_that_is_not_rewritten_has_no_groups(self):
        plain = constant_graph([node("Exp", "e", "x"), node("Tanh", "t", "e")], "t",
                               [constant("x", "float32", [3], [1, 2, 3])])
        for g, targets in ((plain, "onnx,ort"), (SATURATING, "onnx,ort:level=disabled")):
            for one in self.compare(g, targets, code=0):
                self.assertNotIn("group", one["pairs"][0])

    def test_what_a_target_leaves_out_is_not_compared_with_it(self):
        g = json_copy(SATURATING)
        g["nodes"].append(dequantize("unread", "a", 1))
        values = self.compare(g, "onnx,core,ort", code=0)
        pairs = {one["name"]: len(one["pairs"]) for one in values}
        self.assertEqual((pairs["unread"], pairs["q"]), (1, 2))

    def test_limits_hold(self):
        self.write("g.json", SATURATING)
        self.qdq("compare", "g.json", "--targets", "onnx,ort", "--max-operations", 3, code=5)


class Told(Case):
    def test_a_group_in_words(self):
        self.write("g.json", SATURATING)
        result = self.qdq("compare", "g.json", "--targets", "onnx,ort@1.31-avx2,ort@1.31-vnni",
                          code=1)
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
