#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups of target ort that keep their nodes, the constants that Where chooses, and pairs that an
option removes: what `qdq plan` says, and numbers that are worked out by hand."""

import json
import struct

from harness import Case, constant, graph, main, node


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def dequantize(name, x, scale, zero=3):
    return node("Dequantize", name, x, scales=scale, zps=zero, dtype="float32")


def quantize(name, x, scale, zero=3, dtype="uint8"):
    return node("Quantize", name, x, scales=scale, zps=zero, dtype=dtype)


def codes(name, dtype="uint8", shape=(2, 4)):
    return {"name": name, "dtype": dtype, "shape": list(shape)}


def table(op, attrs=None, between=(), q_dtype="uint8", quantized=True):
    """y is an op on codes."""
    nodes = [dequantize("xf", "x", 0.1), node(op, "s", "xf", **(attrs or {}))]
    last = "s"
    for name, other in between:
        nodes.append(node(other, name, last))
        last = name
    if quantized:
        nodes.append(quantize("q", last, 0.05, 7, q_dtype))
    return graph(nodes, inputs=[codes("x")], outputs={"y": "q" if quantized else last})


def concat(second=True, dtype="uint8"):
    nodes = [dequantize("xf", "x", 0.1), dequantize("zf", "z", 0.2),
             {"op": "Concat", "name": "c", "inputs": {"xs": ["xf", "zf" if second else "f"]},
              "attrs": {"axis": 0}}, quantize("q", "c", 0.1)]
    if not second:
        nodes.pop(1)
    more = [codes("z", dtype)] if second else [codes("f", "float32")]
    return graph(nodes, inputs=[codes("x"), *more], outputs={"y": "q"})


def where(value, dtype="uint8", shape=(), quantized=True, real=True):
    nodes = [dequantize("xf", "x", 0.5, 1),
             {"op": "Select", "name": "w", "inputs": {"condition": "c", "a": "xf", "b": "v"}}]
    if quantized:
        nodes.append(quantize("q", "w", 0.5, 1, dtype))
    outputs = {**({"y": "w"} if real else {}), **({"z": "q"} if quantized else {})}
    return graph(nodes, inputs=[], outputs=outputs,
                 constants=[constant("x", dtype, [2], [5, 6]), constant("c", "bool", [2], [1, 0]),
                            constant("v", "float32", list(shape), [value])])


class Groups(Case):
    def rewrites(self, g, target="ort"):
        rows = self.json("plan", self.write("g.json", g), "-t", target)["rewrites"]
        return [(row["group"], row["nodes"], row["reason"]) for row in rows]

    def reason(self, g):
        (row,) = self.rewrites(g)
        return row[2]

    def test_tables_are_groups(self):
        for g, name in ((table("Sigmoid"), "QLinearSigmoid"),
                        (table("LeakyReLU", {"alpha": 0.1}), "QLinearLeakyRelu"),
                        (table("SoftMax", {"axis": 1}), "QLinearSoftmax")):
            self.assertEqual(self.rewrites(g), [(name, ["s", "q"], None)])
        self.assertEqual(self.rewrites(concat()), [("QLinearConcat", ["c", "q"], None)])

    def test_a_table_that_does_not_form_says_why(self):
        for op, attrs in (("Sigmoid", {}), ("LeakyReLU", {"alpha": 0.1}), ("SoftMax", {"axis": 1})):
            for words, why in ((dict(quantized=False), "does not go to one Quantize alone"),
                               (dict(q_dtype="int8"), "different dtypes"),
                               (dict(between=[("r", "ReLU")]), "only a Relu or Clamp"),
                               (dict(between=[("t", "Tanh")]), "does not go to one Quantize alone")):
                self.assertIn(why, self.reason(table(op, attrs, **words)), (op, words))
        self.assertIn("does not come from Dequantize", self.reason(concat(second=False)))
        self.assertIn("different dtypes", self.reason(concat(dtype="int8")))
        self.assertIn("does not come from Dequantize", self.reason(where(0.5, shape=(1,), real=False)))
        self.assertEqual(self.rewrites(table("Exp")), [])

    def test_groups_of_tables_keep_their_codes(self):
        for g in (table("Sigmoid"), table("LeakyReLU", {"alpha": 0.1}), concat()):
            for target in ("ort", "ort@1.31-neon"):
                values = self.json("compare", self.write("g.json", g), "--targets",
                                   f"onnx,{target}", "--fill", "5")["values"]
                self.assertEqual([pair["different"] for one in values for pair in one["pairs"]],
                                 [0] * len(values))

    def test_a_relu_at_the_end_of_the_graph_leaves_a_product_in_its_group(self):
        def product(outputs, more=()):
            return graph([dequantize("xf", "x", 0.1), dequantize("wf", "w", 0.1, 0),
                          {"op": "MatMul", "name": "m", "inputs": {"a": "xf", "b": "wf"}},
                          node("ReLU", "r", "m"), *more], inputs=[codes("x")], outputs=outputs,
                         constants=[constant("w", "int8", [4, 1], [1, 2, 3, 4])])

        group = [("MatMulIntegerToFloat", ["m"], None)]
        self.assertEqual(self.rewrites(product({"y": "r"})), group)
        more = [node("Abs", "t", "r"), node("Exp", "e", "r")]
        self.assertEqual(self.rewrites(product({"y": "t", "z": "e"}, more)), group)
        self.assertIn("only a Relu or Clamp", self.reason(product({"y": "t"}, more[:1])))


class WhereConstant(Case):
    """A number divided by 127 or 128, rounded, times the same: only denormals change."""

    def test_the_group_forms(self):
        g = where(0.3, real=False)
        rows = self.json("plan", self.write("g.json", g), "-t", "ort")["rewrites"]
        self.assertEqual([row["group"] for row in rows], ["code of a constant", "QLinearWhere"])

    def chosen(self, g, target):
        return self.json("run", self.write("g.json", g), "-t", target)["outputs"][0]["first"]

    def test_a_constant_becomes_a_code(self):
        for dtype, greatest, least in (("uint8", 128, -127), ("int8", 127, -128)):
            for value in (0.1, 0.3, -0.3, -0.7, 12.9, 0.0, 1e-44, -3e-43):
                code = greatest if value > 0 else least
                scale = float32(float32(value) / code)
                for target, wanted in (("onnx", float32(value)), ("ort", float32(scale * code)),
                                       ("ort:level=basic", float32(scale * code)),
                                       ("ort:disable_quant_qdq=1", float32(value))):
                    found = self.chosen(where(value, dtype), target)
                    self.assertEqual([float32(v) for v in found], [2.0, wanted], (value, target))

    def test_it_stays_without_quantize_and_with_dims(self):
        for g in (where(0.3, quantized=False), where(0.3, shape=(1,))):
            rows = self.json("plan", self.write("g.json", g), "-t", "ort")["rewrites"]
            self.assertNotIn("where", [row["pass"] for row in rows])

    def test_compare_names_the_cause(self):
        values = self.json("compare", self.write("g.json", where(1e-44)), "--targets", "onnx,ort",
                           code=1)["values"]
        causes = {one["name"]: [why["cause"] for why in one["pairs"][0]["causes"]] for one in values}
        self.assertEqual(causes["w"], ["quantized by the optimizer"])


class FoldedCodes(Case):
    """The optimizer folds Quantize of a float constant: its codes are weights like stored ones."""

    W = [127, 64, 127, 64, -127, 64, -127, 64]

    def product(self, stored=False, dtype="int8"):
        """Pairs of column 0 saturate: 255 * (127 + 127) is more than 32767."""
        w = constant("w", dtype, [4, 2], self.W) if stored else \
            constant("w", "float32", [4, 2], [k / 4 for k in self.W])
        nodes = [dequantize("af", "a", 0.5, 128), *([] if stored else [quantize("k", "w", 0.25, 0, dtype)]),
                 dequantize("wf", "w" if stored else "k", 0.25, 0),
                 {"op": "MatMul", "name": "m", "inputs": {"a": "af", "b": "wf"}}, quantize("q", "m", 32, 0)]
        return graph(nodes, inputs=[], outputs={"y": "q"},
                     constants=[constant("a", "uint8", [1, 4], [255, 255, 0, 0]), w])

    def test_pairs_that_saturate_are_counted_as_in_stored_codes(self):
        for target in ("ort@1.31-avx2", "ort@1.31-avx512"):
            found = [self.check(self.product(stored), "-t", target, code=0) for stored in (True, False)]
            self.assertEqual([one["rule"] for one in found[1]], ["ort/u8s8-pairs"])
            self.assertIn("2 pairs of weights can saturate, in 1 of 2", found[1][0]["message"])
            self.assertEqual(found[0], found[1])

    def moved_product(self, place, *moves):
        """The product of stored codes, whose weights move before Quantize, between or behind Dequantize."""
        g = self.product()
        _, quantized, real, *others = g["nodes"]
        before = {"floats": "w", "codes": "k", "reals": "wf"}[place]
        reader = {"floats": quantized, "codes": real, "reals": others[0]}[place]
        steps, value = [], before
        for i, (op, attrs) in enumerate(moves):
            steps.append(node(op, f"t{i}", value, **attrs))
            value = f"t{i}"
        reader["inputs"]["b" if place == "reals" else "x"] = value
        at = {"floats": 1, "codes": 2, "reals": 3}[place]
        g["nodes"][at:at] = steps
        w = next(one for one in g["constants"] if one["name"] == "w")
        for op, attrs in reversed(moves):
            if op == "StaticTranspose":
                rows, columns = w["shape"]
                w["data"] = [w["data"][i * columns + j] for j in range(columns) for i in range(rows)]
                w["shape"] = [columns, rows]
            else:
                w["shape"] = [len(w["data"])]
        return g

    def test_moves_of_constants_are_folded(self):
        transpose, reshape = ("StaticTranspose", {"order": [1, 0]}), ("StaticReshape", {"shape": [4, 2], "special_zero": False})
        flat = ("StaticReshape", {"shape": [2, 4], "special_zero": False})
        for place, *moves in (("floats", transpose), ("codes", transpose), ("reals", transpose), ("floats", reshape),
                              ("codes", reshape), ("codes", flat, transpose), ("floats", flat, transpose, transpose, transpose)):
            with self.subTest(place, moves=[op for op, _ in moves]):
                g = self.moved_product(place, *moves)
                found = self.check(g, "-t", "ort@1.31-avx2", code=0)
                self.assertEqual([one["rule"] for one in found], ["ort/u8s8-pairs"])
                self.assertIn("2 pairs of weights can saturate, in 1 of 2", found[0]["message"])
                for target, wanted in (("ort@1.31-avx2", 128), ("ort@1.31-vnni", 253)):
                    out = self.json("run", self.write("g.json", g), "-t", target)["outputs"][0]
                    self.assertEqual(out["first"], [wanted, 0], target)
                self.qdq("convert", "g.json", "--deployed", "-t", "ort", "-o", "d.json")
                written = json.loads((self.folder / "d.json").read_text())
                self.assertNotIn(moves[0][0], [one["op"] for one in written["nodes"]])

    def test_a_reshape_of_dequantized_constants_keeps_groups_away(self):
        """ONNX Runtime adds no pair behind it, so that the product reads floats, in which no pair saturates."""
        g = self.moved_product("reals", ("StaticReshape", {"shape": [4, 2], "special_zero": False}))
        self.assertEqual(self.check(g, "-t", "ort@1.31-avx2", code=0), [])
        out = self.json("run", self.write("g.json", g), "-t", "ort@1.31-avx2")["outputs"][0]
        self.assertEqual(out["first"], [253, 0])

    def test_codes_that_cannot_saturate_are_silent(self):
        for words in ({"dtype": "uint8"}, {}):
            target = "ort@1.31-avx2" + ("" if words else ":x64quantprecision=1")
            self.assertEqual(self.check(self.product(**words), "-t", target, code=0), [])

    def test_a_pair_saturates(self):
        """32767 / 8 / 32 is 128 rounded, 64770 / 8 / 32 is 253; 32640 - 128 * 256 is below half a step."""
        for target, wanted in (("ort@1.31-avx2", 128), ("ort@1.31-vnni", 253),
                               ("ort@1.31-avx2:x64quantprecision=1", 253)):
            out = self.json("run", self.write("g.json", self.product()), "-t", target)["outputs"][0]
            self.assertEqual(out["first"], [wanted, 0], target)

    def test_the_pass_is_of_level_basic(self):
        name = self.write("g.json", self.product())
        for words, wanted in (("", ["constant codes", "QLinearMatMul"]), (":level=disabled", []),
                              (":level=basic", ["constant codes"]),
                              (":disable_quant_qdq=1", ["constant codes", "float constant", "float constant"])):
            rows = self.json("plan", name, "-t", "ort" + words)["rewrites"]
            self.assertEqual([row["group"] for row in rows if not row["reason"]], wanted, words)

    def test_scales_of_columns_and_rows_and_nibbles(self):
        """Codes of [1, -8, 7.5, 0.4] by scales of 0.5 and 2, halves to even."""
        for attrs, dtype, wanted in (({"qtype": "per_channel", "axis": 1, "scales": [0.5, 2]}, "int8", [2, -4, 15, 0]),
                                     ({"qtype": "per_channel", "axis": 0, "scales": [2, 0.5]}, "int4", [0, -4, 7, 1]),
                                     ({"scales": 2, "zps": 3}, "uint4", [3, 0, 7, 3])):
            nodes = [node("Quantize", "k", "w", dtype=dtype, **attrs),
                     node("Dequantize", "wf", "k", dtype="float32", **attrs)]
            g = graph(nodes, inputs=[], outputs={"y": "k", "z": "wf"},
                      constants=[constant("w", "float32", [2, 2], [1, -8, 7.5, 0.4])])
            self.qdq("convert", self.write("g.json", g), "--deployed", "-t", "ort", "-o", "d.json")
            written = json.loads((self.folder / "d.json").read_text())
            self.assertEqual([one["op"] for one in written["nodes"]], ["Dequantize"])
            self.assertEqual([one["data"] for one in written["constants"] if one["dtype"] == dtype][:1], [wanted])


class Cleanup(Case):
    """session.enable_quant_qdq_cleanup removes Quantize and Dequantize of equal parameters."""

    X = [0.26, -0.74, 1.1]

    def pair(self, zero=3, outputs=None, scale=0.5, more=(), first_op="Tanh"):
        nodes = [node(first_op, "t", "x"), quantize("q", "t", 0.5), dequantize("d", "q", scale, zero),
                 *more]
        return graph(nodes, inputs=[], outputs=outputs or {"y": "d"},
                     constants=[constant("x", "float32", [3], self.X)])

    def removed(self, g, target="ort:enable_quant_qdq_cleanup=1"):
        rows = self.json("plan", self.write("g.json", g), "-t", target)["rewrites"]
        return [row["nodes"] for row in rows if row["pass"] == "final cleanup"]

    def test_pairs_go_if_nothing_else_reads_the_codes(self):
        twice = [dequantize("e", "q", 0.5), node("Exp", "f", "e")]
        self.assertEqual(self.removed(self.pair()), [["q", "d"]])
        self.assertEqual(self.removed(self.pair(outputs={"y": "d", "z": "f"}, more=twice)),
                         [["q", "d", "e"]])
        for g in (self.pair(zero=4), self.pair(scale=0.25), self.pair(outputs={"y": "d", "z": "q"}),
                  self.pair(outputs={"y": "d", "z": "e"}, more=[dequantize("e", "q", 0.5, 4)])):
            self.assertEqual(self.removed(g), [])

    def test_levels_and_options(self):
        for words, count in (("", 0), (":enable_quant_qdq_cleanup=1:level=basic", 0),
                             (":enable_quant_qdq_cleanup=1:disable_quant_qdq=1", 1),
                             (":enable_quant_qdq_cleanup=1:level=extended", 1)):
            self.assertEqual(len(self.removed(self.pair(), "ort" + words)), count, words)

    def test_groups_keep_their_quantizing_nodes(self):
        """Sigmoid on codes makes codes: neither pair is one of Quantize and Dequantize alone."""
        g = graph([quantize("p", "x", 0.5), dequantize("xf", "p", 0.5), node("Sigmoid", "s", "xf"),
                   quantize("q", "s", 0.5), dequantize("y", "q", 0.5)],
                  inputs=[codes("x", "float32")], outputs={"y": "y"})
        self.assertEqual(self.removed(g), [])
        target = "ort:enable_quant_qdq_cleanup=1:disable_quant_qdq=1"
        self.assertEqual(self.removed(g, target), [["p", "xf"], ["q", "y"]])

    def test_the_numbers_are_those_without_the_pair(self):
        g = self.pair(first_op="Abs")
        for target, wanted in (("ort", [0.5, 0.5, 1.0]), ("ort:enable_quant_qdq_cleanup=1",
                                                          [abs(x) for x in self.X])):
            out = self.json("run", self.write("g.json", g), "-t", target)["outputs"][0]["first"]
            self.assertEqual([round(v, 6) for v in out], wanted, target)

    def test_a_relu_goes_with_its_pair_also_without_groups(self):
        """Quantize with zero point 0 of uint8 stands for the Relu, and then goes itself."""
        g = graph([node("Tanh", "t", "x"), node("ReLU", "r", "t"),
                   node("Quantize", "q", "r", scales=0.5, zps=0, dtype="uint8"),
                   node("Dequantize", "y", "q", scales=0.5, zps=0, dtype="float32")],
                  inputs=[], outputs={"y": "y"}, constants=[constant("x", "float32", [3], self.X)])
        target = "ort:enable_quant_qdq_cleanup=1:disable_quant_qdq=1"
        rows = self.json("plan", self.write("g.json", g), "-t", target)["rewrites"]
        self.assertEqual([row["group"] for row in rows], ["no Relu", "no pair"])
        out = self.json("run", "g.json", "-t", target)["outputs"][0]["first"]
        self.assertLess(out[1], 0)

    def test_constant_codes_without_groups_are_a_constant(self):
        """Its product adds in the order of constants, as ONNX Runtime packs it."""
        g = graph([dequantize("wf", "w", 0.1, 3),
                   {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "wf"}}],
                  inputs=[codes("x", "float32")], outputs={"y": "m"},
                  constants=[constant("w", "int8", [4, 1], [1, 2, 3, 4])])
        source = self.write("g.json", g)
        self.qdq("convert", source, "--deployed", "-t", "ort:disable_quant_qdq=1", "-o", "d.json")
        written = json.loads((self.folder / "d.json").read_text())
        self.assertEqual([one["op"] for one in written["nodes"]], ["MatMul"])
        wanted = [float32(float32(0.1) * k) for k in (-2, -1, 0, 1)]
        self.assertEqual([float32(v) for v in written["constants"][0]["data"]], wanted)

    def test_a_product_whose_relu_loses_its_quantize_forms_a_group(self):
        g = graph([dequantize("xf", "x", 0.1), dequantize("wf", "w", 0.1, 0),
                   {"op": "MatMul", "name": "m", "inputs": {"a": "xf", "b": "wf"}},
                   node("ReLU", "r", "m"), quantize("q", "r", 0.5), dequantize("y", "q", 0.5)],
                  inputs=[codes("x")], outputs={"y": "y"},
                  constants=[constant("w", "int8", [4, 1], [1, 2, 3, 4])])
        rows = self.json("plan", self.write("g.json", g), "-t",
                         "ort:enable_quant_qdq_cleanup=1")["rewrites"]
        self.assertEqual([row["group"] for row in rows if not row["reason"]],
                         ["no pair", "MatMulIntegerToFloat"])


if __name__ == "__main__":
    main()
