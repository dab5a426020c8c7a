#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq check: which mistakes it finds in files, and the places it names."""

import json

from harness import (Case, constant, graph, identity, main, node, quantize, requantize, value)

INT8 = value("x", "int8", [2])


class Syntax(Case):
    """Text that is not JSON: the message has line and column, what was found and what was
    expected."""

    def refused(self, text, line, column, *texts):
        self.assert_refused(text, f"g.json: line {line}, column {column}: ", *texts)

    def test_structure(self):
        self.refused("", 1, 1, "empty")
        self.refused("  \n ", 2, 2, "the end of the text")
        self.refused('{\n  "format": "qdq/1"\n  "outputs": []\n}', 3, 3, "',' or '}'")
        self.refused('{"outputs": [1 2]}', 1, 16, "',' or ']'")
        self.refused('{\n  "outputs": [],\n}', 3, 1, "another key")
        self.refused('{"outputs": [1,]}', 1, 16, "another value")
        self.refused('{\n"a": [1', 2, 8, "the end of the text")
        self.refused('{"a" 1}', 1, 6, "':'")
        self.refused("{'a': 1}", 1, 2, "double quotes")
        self.refused("{} {}", 1, 4, "nothing after")
        self.refused("[}", 1, 2)
        self.refused('{"a": 1]', 1, 8)
        self.refused("{// why\n}", 1, 2)

    def test_lines_and_columns_are_those_of_an_editor(self):
        self.refused('{\r\n"a": 1\r\nx}', 3, 1)
        self.refused('{"größe": 1 x}', 1, 13)
        self.refused('{\n\t"a": x}', 2, 7)

    def test_words_and_numbers(self):
        self.refused('{"a": nul}', 1, 7, "nul")
        self.refused('{"a": True}', 1, 7, "True")
        self.refused('{"a": NaN}', 1, 7, "\"NaN\"")
        self.refused('{"a": -Infinity}', 1, 8)
        self.refused('{"a": 01}', 1, 7)
        self.refused('{"a": 1.}', 1, 9, "a digit")
        self.refused('{"a": .5}', 1, 7)
        self.refused('{"a": +1}', 1, 7)
        self.refused('{"a": 1e}', 1, 9, "a digit")
        self.refused('{"a": 0x10}', 1, 8)
        self.refused('{"a":\n 1e999}', 2, 2, "1e999")
        self.refused('{"a": -1e999}', 1, 7, "-1e999")

    def test_strings(self):
        self.refused('{"a": "b', 1, 7, "closing quote")
        self.refused('{"a": "\n"}', 1, 8, "0x0A")
        self.refused('{"a": "\\q"}', 1, 9, "'q'")
        self.refused('{"a": "\\ud800"}', 1, 8, "surrogate")
        self.refused('{"a": "\\u0000"}', 1, 8, "\\u0000")

    def test_bytes(self):
        self.refused(b'{"a": "\xff"}', 1, 8, "0xFF", "UTF-8")
        self.refused(b'{"a": "\xc0\x80"}', 1, 8, "0xC0", "UTF-8")
        self.refused(b'{"a": "\xed\xa0\x80"}', 1, 8, "UTF-8")
        self.refused(b'{"a": "\xf4\x90\x80\x80"}', 1, 8, "UTF-8")
        self.refused(b'{"\xc3": 1}', 1, 3, "UTF-8")
        self.refused(b"\xef\xbb\xbf{}", 1, 1, "byte order mark")
        self.refused("{}".encode("utf-16"), 1, 1)
        self.refused(b'{"a\0b": 1}', 1, 4, "0x00")
        self.refused(b"{}\0", 1, 3, "0x00")

    def test_keys_that_are_given_twice(self):
        self.refused('{"format": "qdq/1",\n "format": "qdq/1"}', 2, 2, "'format'")
        self.refused('{"a": 1, "\\u0061": 2}', 1, 10, "'a'")
        self.refused('{"x-a": {"b": {"c": 1, "c": 2}}}', 1, 24, "'c'")

    def test_depth(self):
        deep = '{"format": "qdq/1", "outputs": [{"name": "y", "value": "x"}], "x-a": %s,' \
               '\n "inputs": [{"name": "x", "dtype": "int8", "shape": []}]}'
        self.assertEqual(self.check(deep % ("[" * 63 + "]" * 63), code=0), [])
        column = deep.index("%") + 64
        self.assert_refused(deep % ("[" * 64 + "]" * 64), f"line 1, column {column}: ", "64")
        self.assert_refused("[" * 1000000, "line 1, column 65", "64")
        self.assert_refused('{"a":' * 1000000, "line 1", "64")


class ManyGraphs(Case):
    """Several graphs in one call."""

    def setUp(self):
        super().setUp()
        self.write("good.json", identity("int8", [1]))
        self.write("bad.json", graph([quantize(scales=0)]))

    def test_each_is_reported_as_it_would_be_alone(self):
        for words in ([], ["--target", "all"], ["--strict"]):
            alone = [self.qdq("check", name, *words, code=None) for name in ("good.json", "bad.json")]
            both = self.qdq("check", "good.json", "bad.json", *words, code=1)
            self.assertEqual(both.out, alone[0].out + "\n" + alone[1].out)
            graphs = self.json("check", "good.json", "bad.json", *words, code=1)
            self.assertEqual(set(graphs), {"version", "graphs"})
            for one, name in zip(graphs["graphs"], ("good.json", "bad.json"), strict=True):
                single = self.json("check", name, *words, code=None)
                self.assertEqual({"version": 1, **one}, single)

    def test_the_largest_code_counts(self):
        self.qdq("check", "good.json", "good.json")
        self.qdq("check", "good.json", "bad.json", "good.json", code=1)
        self.qdq("check", "bad.json", "absent.json", "good.json", code=3)
        self.qdq("check", "good.json", "bad.json", "--max-values", "5", code=5)

    def test_a_graph_that_cannot_be_read_does_not_stop_the_others(self):
        graphs = self.json("check", "absent.json", "bad.json", "gone.json", code=3)["graphs"]
        self.assertEqual([one["graph"] for one in graphs], ["absent.json", "bad.json", "gone.json"])
        self.assertEqual([one.get("error", {}).get("kind") for one in graphs], ["io", None, "io"])
        self.assertIn("gone.json", graphs[2]["error"]["message"])


class Keys(Case):
    """Valid JSON, but no qdq/1 file."""

    def test_the_whole(self):
        for content in ([], 5, "a", None, True):
            self.assert_refused(json.dumps(content), "wanted an object")
        self.assert_refused({"outputs": []}, "'format' is missing")
        self.assert_refused({"format": "qdq/1"}, "'outputs' is missing")
        self.assert_refused({**graph(), "format": "qdq/2"}, "'qdq/2'", "'qdq/1'")
        self.assert_refused({**graph(), "format": 1}, "format is a number, wanted a string")

    def test_a_schema_for_editors_is_a_string(self):
        self.assertEqual(self.check({"$schema": "qdq.schema.json", **identity("int8", [1])}, code=0),
                         [])
        self.assert_refused({"$schema": 1, **identity("int8", [1])}, "$schema is a number")
        self.assert_refused({**graph(), "$shema": "s"}, "did you mean '$schema'?")

    def test_unknown_keys_are_refused_with_the_nearest(self):
        for content, where, wrong, right in (
                ({**graph(), "ouputs": []}, "", "ouputs", "outputs"),
                ({**graph(), "Format": 1}, "", "Format", "format"),
                (graph(inputs=[{**INT8, "shpae": []}]), "inputs[0]", "shpae", "shape"),
                (graph(constants=[{**constant("c", "int8", [1], [1]), "datas": 1}]),
                 "constants[0]", "datas", "data"),
                (graph([{**quantize(scales=1), "input": {}}]), "nodes[0]", "input", "inputs"),
                ({**graph(), "outputs": [{"name": "y", "valeu": "q"}]}, "outputs[0]", "valeu",
                 "value")):
            self.assert_refused(content, where, f"key '{wrong}' is unknown",
                                f"did you mean '{right}'?")

    def test_keys_of_ones_own(self):
        own = {"x-": 1, "x-mine": {"deep": [None, True]}}
        content = graph([{**quantize(scales=1, **own), **own}], [{**value("x"), **own}],
                        constants=[{**constant("c", "int8", [1], [1]), **own}], **own)
        content["outputs"] = [{"name": "y", "value": "q", **own}, {"name": "c", "value": "c"}]
        self.assertEqual(self.check(content, code=0), [])

    def test_kinds(self):
        for content, *texts in (
                ({**graph(), "nodes": {}}, "nodes is an object, wanted an array"),
                ({**graph(), "inputs": 5}, "inputs is a number, wanted an array"),
                (graph(["q"]), "nodes[0] is a string, wanted an object"),
                (graph(inputs=[{**INT8, "name": 5}]), "inputs[0].name is a number"),
                (graph(inputs=[{**INT8, "dtype": 8}]), "inputs[0].dtype is a number"),
                (graph(inputs=[{**INT8, "shape": 2}]), "inputs[0].shape is a number"),
                (graph(inputs=[{**INT8, "shape": ["2"]}]), "inputs[0].shape[0]", "whole number"),
                (graph(inputs=[{**INT8, "shape": [2, 1.5]}]), "inputs[0].shape[1]",
                 "whole number"),
                (graph([{"op": "Quantize", "name": "q", "inputs": []}]), "nodes[0].inputs"),
                (graph([{"op": "Quantize", "name": "q", "attrs": 5}]), "nodes[0].attrs"),
                (graph([quantize(x=3)]), "nodes[0].inputs.x is a number"),
                (graph([{"name": "q"}]), "nodes[0]: key 'op' is missing"),
                ({**graph(), "name": 5}, "name is a number"),
                ({**graph(), "target": 5}, "target is a number")):
            self.assert_refused(content, *texts)

    def test_constants(self):
        def refused(constant_keys, *texts):
            one = {**value("c", "int8", [1]), **constant_keys}
            self.assert_refused(graph(constants=[one], outputs={"y": "c"}), "constants[0]", *texts)

        refused({}, "data", "file")
        refused({"data": [1], "file": "a.safetensors", "tensor": "t"}, "both")
        refused({"file": "a.safetensors"}, "'tensor' is missing")
        refused({"data": 1}, "constants[0].data is a number, wanted an array")
        refused({"file": 1, "tensor": "t"}, "constants[0].file is a number")

    def test_a_tensor_without_a_file(self):
        one = {**constant("c", "int8", [1], [1]), "tensor": "t"}
        self.assert_refused(graph(constants=[one], outputs={"y": "c"}), "constants[0]")

    def test_targets(self):
        content = graph([quantize(scales=1)], target="core")
        self.assertEqual(self.check(content, code=0), [])
        self.assertEqual(self.check(content, "--target", "core", code=0), [])
        self.assert_refused({**content, "target": "cor"}, "'cor'", "did you mean 'core'?")

    def test_target_overrides_that_of_the_file(self):
        self.check(graph([quantize(scales=1)], target="newer"), "--target", "core", code=0)


class Misspelled(Case):
    def suggests(self, content, rule, wrong, right):
        found = [one for one in self.check(content) if one["severity"] == "error"]
        self.assertEqual([one["rule"] for one in found], [rule])
        self.assertIn(f"'{wrong}'", found[0]["message"])
        self.assertIn(f"did you mean '{right}'?", found[0]["message"])
        self.assertEqual(found[0]["hint"], f"did you mean '{right}'?")

    def test_op(self):
        for wrong, right in (("Quantise", "Quantize"), ("quantize", "Quantize"),
                             ("Deqauntize", "Dequantize"), ("DynamicQuantise", "DynamicQuantize")):
            self.suggests(graph([node(wrong, "q", "x")]), "core/op-unknown", wrong, right)

    def test_port(self):
        content = graph([quantize(ports={"zero_piont": "x"}, scales=1)])
        self.suggests(content, "core/port-unknown", "zero_piont", "zero_point")

    def test_attribute(self):
        self.suggests(graph([quantize(scale=1)]), "core/attr-unknown", "scale", "scales")
        self.suggests(graph([quantize(scales=1, axsi=1)]), "core/attr-unknown", "axsi", "axis")

    def test_the_nearest_attribute_is_meant(self):
        self.suggests(graph([quantize(scales=1, quant_mx=1)]), "core/attr-unknown", "quant_mx",
                      "quant_max")
        self.suggests(graph([requantize("q", "x", ou_zps=1)]), "core/attr-unknown", "ou_zps",
                      "out_zps")

    def test_word(self):
        self.suggests(graph([quantize(scales=1, qtype="per_chanel")]), "core/attr-value",
                      "per_chanel", "per_channel")

    def test_dtype(self):
        self.suggests(graph([quantize(scales=1, dtype="unit8")]), "core/dtype-unknown", "unit8",
                      "uint8")
        self.suggests(graph(inputs=[value("x", "flaot32")], outputs={"y": "x"}),
                      "core/dtype-unknown", "flaot32", "float32")

    def test_value(self):
        self.suggests(graph([quantize(x="imput", scales=1)], [value("input")]),
                      "core/value-unknown", "imput", "input")
        self.suggests(graph([quantize("weights", scales=1)], outputs={"y": "wieghts"}),
                      "core/value-unknown", "wieghts", "weights")
        self.suggests(graph([node("DynamicQuantize", "d", "x")], outputs={"y": "d.scael"}),
                      "core/value-unknown", "d.scael", "d.scale")

    def test_the_nearest_value_is_meant(self):
        self.suggests(graph([quantize(x="weigth", scales=1)], [value("weightA"), value("weight")]),
                      "core/value-unknown", "weigth", "weight")

    def test_a_node_that_comes_later_is_meant_too(self):
        self.suggests(graph([requantize("q", "frist"), requantize("first", "x")], [INT8],
                            {"y": "q", "z": "first"}), "core/value-unknown", "frist", "first")

    def test_words_of_backends_lead_to_ours(self):
        for op, wrong, right in (
                ("Quantize", "dim", "axis"), ("Quantize", "block_size", "group_shape"),
                ("Quantize", "blockShape", "group_shape"), ("Quantize", "output_dtype", "dtype"),
                ("Quantize", "toType", "dtype"), ("Quantize", "zero_point", "zps"),
                ("ReduceSum", "dim", "axes"), ("Cast", "to", "dtype"),
                ("Requantize", "in_zero_point", "in_zps")):
            found = self.check(graph([node(op, "q", "x", **{wrong: 1})], outputs={"y": "x"}))
            texts = [one["message"] for one in found if one["rule"] == "core/attr-unknown"]
            self.assertEqual(len(texts), 1)
            self.assertIn(f"attribute '{wrong}' is unknown; did you mean '{right}'?", texts[0])
        for wrong, right in (("y_scale", "scale"), ("zps", "zero_point"), ("y_zero_point", "zero_point"),
                             ("input_tensor", "x")):
            content = graph([{"op": "Quantize", "name": "q", "inputs": {"x": "x", wrong: "x"}}],
                            outputs={"y": "x"})
            texts = [one["message"] for one in self.check(content)]
            self.assertTrue(any(f"port '{wrong}' is unknown; did you mean '{right}'?" in text
                                for text in texts), texts)

    def test_ops_of_backends_lead_to_ours(self):
        for wrong, right in (("DynamicDequantize", "Dequantize"), ("QuantizeLinear", "Quantize"),
                             ("DequantizeLinear", "Dequantize"), ("quantize_affine", "Quantize"),
                             ("dequantize_affine", "Dequantize"), ("TypeCast", "Cast"),
                             ("DynamicQuantizeLinear", "DynamicQuantize"), ("Clip", "Clamp"),
                             ("QuantizeLinea", "Quantize"), ("Conv2D", "Convolution")):
            self.suggests(graph([node(wrong, "q", "x")], outputs={"y": "x"}), "core/op-unknown",
                          wrong, right)
            self.assertIn(f"did you mean '{right}'?", self.qdq("ops", wrong, code=2).err)

    def test_words_without_a_counterpart_are_left_out(self):
        for wrong in ("queue_id", "output_tensor"):
            found = self.check(graph([node("ReLU", "r", "x", **{wrong: 1})], outputs={"y": "x"}))
            (one,) = [one for one in found if one["rule"] == "core/attr-unknown"]
            self.assertTrue(one["hint"].startswith("leave it out: "), one["hint"])

    def test_a_memory_config_is_no_attribute(self):
        found = self.check(graph([quantize(scales=1, memory_config={})], outputs={"y": "x"}))
        (one,) = [one for one in found if one["rule"] == "core/attr-unknown"]
        self.assertEqual(one["hint"], "it is a key of the node, next to `attrs`")

    def test_nothing_is_near(self):
        (found,) = self.check(graph([node("LSTM", "q", "x")], outputs={"y": "x"}))
        self.assertNotIn("did you mean", found["message"])
        self.assertTrue(found["hint"])


class Findings(Case):
    def rules(self, content, code=1):
        return sorted(one["rule"] for one in self.check(content, code=code))

    def test_all_are_reported_at_once(self):
        nodes = [quantize("a", scales=0), quantize("b"), quantize("c", scales=1, bogus=1),
                 quantize("d", "nowhere", scales=-1), node("Bogus", "e", "x")]
        content = graph(nodes, outputs={name: name for name in "abcde"})
        self.assertEqual(self.rules(content), [
            "core/attr-unknown", "core/op-unknown", "core/scale-missing", "core/scale-negative",
            "core/scale-value", "core/value-unknown"])

    def test_a_node_behind_a_bad_one_is_checked_as_far_as_it_goes(self):
        nodes = [quantize("a", scales=0), node("Dequantize", "b", "a", dtype="int8", scales=1),
                 quantize("c", "b", scales=1, zps=300), requantize("d", "c", out_scales=0),
                 node("DynamicQuantize", "e", "b", eps=-1), quantize("f", "e", scales=1, quant_min=5, quant_max=4),
                 quantize("g", "b", scales=[1, 2], axis=5)]
        found = self.check(graph(nodes, outputs={name: name for name in "dfg"}))
        self.assertEqual({one["node"]: one["rule"] for one in found},
                         {"a": "core/scale-value", "b": "core/dtype-result", "c": "core/zero-point-range",
                          "d": "core/scale-value", "e": "core/attr-value", "f": "core/quant-range"})

    def test_all_wrong_attributes_are_reported(self):
        wrong = {"qtype": 5, "axis": 1.5, "group_shape": "x", "scales": True, "zps": False,
                 "dtype": 3, "quant_min": "1"}
        content = graph([quantize(**wrong)], outputs={"y": "q", "z": "x"})
        self.assertEqual(self.rules(content), ["core/attr-type"] * len(wrong))

    def test_inputs_of_a_bad_node_count_as_used(self):
        for bad in (quantize(bogus=1, scales=1), quantize(scales="x"), node("Bogus", "q", "x"),
                    quantize(ports={"bogus": "x"}, scales=1), quantize(scales=1, dtype="bogus")):
            found = self.check(graph([bad]))
            self.assertEqual([one for one in found if one["rule"] == "core/value-unused"], [])

    def test_nodes_after_a_bad_node_are_not_blamed(self):
        nodes = [quantize("a", scales=0), node("Dequantize", "b", "a", scales=1),
                 quantize("q", "b", scales=1)]
        self.assertEqual(self.rules(graph(nodes)), ["core/scale-value"])

    def test_a_negative_scale_in_a_port_is_reported_as_well(self):
        content = graph([quantize(ports={"scale": "s"})],
                        constants=[constant("s", "float32", [], [-1])])
        self.assertEqual(self.rules(content, code=0), ["core/scale-negative"])

    def test_empty_lists_of_parameters_are_counted(self):
        self.assertEqual(self.rules(graph([quantize(scales=1, zps=[])])), ["core/zero-point-count"])

    def test_a_constant_beyond_its_dtype(self):
        for dtype, wrong in (("int8", 128), ("int8", -129), ("int8", 0.5), ("uint8", -1),
                             ("int32", 2**31), ("int8", "NaN"), ("int32", "Infinity"),
                             ("int8", None), ("int8", [1]), ("int8", True), ("float32", "1")):
            content = graph(constants=[constant("c", dtype, [2], [1, wrong])], inputs=[],
                            outputs={"y": "c"})
            self.assert_finding(content, "core/constant-data", "index 1")

    def test_a_constant_beyond_its_float(self):
        for dtype, wrong in (("float32", 1e39), ("float32", -1e300), ("bfloat16", 3.4e38)):
            content = graph(constants=[constant("c", dtype, [2], [1, wrong])], inputs=[],
                            outputs={"y": "c"})
            self.assert_finding(content, "core/constant-data", "index 1")

    def test_a_scalar_constant_may_be_a_bare_number(self):
        for dtype, data in (("float32", 0.5), ("float32", "NaN"), ("int8", -3), ("int64", 2**60)):
            content = graph(constants=[constant("c", dtype, [], data)], inputs=[],
                            outputs={"y": "c"})
            self.assertEqual(self.check(content, code=0), [])
            bare = self.qdq("run", "g.json")
            content["constants"][0]["data"] = [data]
            self.write("g.json", content)
            self.assertEqual(self.qdq("run", "g.json"), bare)
        self.assert_finding(graph(constants=[constant("c", "int8", [], 128)], inputs=[],
                                  outputs={"y": "c"}),
                            "core/constant-data", "index 0")
        for shape, data in (([1], 1), ([], True), ([], "1"), ([], {})):
            self.assert_refused(graph(constants=[constant("c", "int8", shape, data)],
                                      outputs={"y": "c"}), "constants[0].data is ",
                                "wanted an array")

    def test_a_constant_may_hold_nan_and_infinities(self):
        data = ["NaN", "Infinity", "-Infinity", -0.0]
        content = graph(constants=[constant("c", "float32", [4], data)], inputs=[],
                        outputs={"y": "c"})
        self.assertEqual(self.check(content, code=0), [])
        self.assertEqual(self.json("run", "g.json")["outputs"][0]["first"], data)

    def test_inputs_and_constants_are_not_called_nodes(self):
        for content in (identity("int8", [0]), identity("int8", [2**16, 2**16]),
                        identity("bogus", [1]),
                        graph(constants=[constant("c", "int8", [2], [1])], inputs=[],
                              outputs={"y": "c"})):
            (found,) = self.check(content)
            self.assertNotIn("node '", found["message"])

    def test_constants_that_are_too_long_or_short(self):
        for count in (0, 1, 3):
            content = graph(constants=[constant("c", "int8", [2], [1] * count)], inputs=[],
                            outputs={"y": "c"})
            self.assert_finding(content, "core/constant-data", str(count))
        for count, code in ((4096, 0), (4097, 1)):
            content = graph(constants=[constant("c", "int8", [count], [1] * count)], inputs=[],
                            outputs={"y": "c"})
            self.assertEqual(len(self.check(content, code=code)), code)

    def test_names(self):
        self.assertIn("core/name-form", self.rules(graph(inputs=[value("")])))
        self.assert_finding(graph(outputs={"": "x"}), "core/name-form", "has no name")
        self.assert_finding(graph(inputs=[value("n" * 256)], outputs={"y": "n" * 256}),
                            "core/name-form", "256 bytes")
        self.assertEqual(self.check(graph(inputs=[value("n" * 255)], outputs={"y": "n" * 255}),
                                    code=0), [])
        for content in (graph(inputs=[value("x"), value("x")], outputs={"y": "x"}),
                        graph([requantize("x", "x")], [INT8], {"y": "x"}),
                        graph(constants=[constant("x", "int8", [1], [1])], outputs={"y": "x"})):
            self.assertIn("core/name-duplicate", self.rules(content))

    def test_the_node_is_named(self):
        name = "a name that takes more than a few bytes"
        for bad in (quantize(name, bogus=1, scales=1), quantize(name, scales="x"),
                    node("Bogus", name, "x"), quantize(name, ports={"bogus": "x"}, scales=1),
                    quantize(name, scales=1, dtype="bogus"), quantize(name, scales=0),
                    requantize(name, name)):
            errors = [one for one in self.check(graph([bad], outputs={"y": name}))
                      if one["severity"] == "error"]
            self.assertEqual([one["node"] for one in errors], [name])

    def test_order_does_not_matter_to_names_with_dots(self):
        nodes = [requantize("a", "x"), requantize("a.y", "x")]
        outputs = {"y": "a", "z": "a.y"}
        found = [self.rules(graph(order, [INT8], outputs), code=None)
                 for order in (nodes, nodes[::-1])]
        self.assertEqual(*found)

    def test_an_input_may_have_the_name_of_a_port_of_the_node_that_reads_it(self):
        computed = node("DynamicQuantize", "d", "x", {"x": "d.scale"})  # and so makes another d.scale
        self.assertEqual(self.rules(graph([computed], [value("d.scale")], {"y": "d"}), code=1), ["core/name-duplicate"])
        given = node("DynamicQuantize", "d", "x", {"scale": "d.scale"})
        for content in (graph([given], [value("x"), value("d.scale", shape=[])], {"y": "d"}),
                        graph([given], [value("x")], {"y": "d"},
                              constants=[constant("d.scale", "float32", [], [1])])):
            self.assertEqual(self.check(content, code=0), [])

    def test_a_wrong_clamp_range_is_found_once(self):
        sign, order = "1 or more, as scheme is ", "quant_min < quant_max within"
        for attrs, port, wanted in (
                ({"scheme": "symmetric", "quant_min": 5, "quant_max": -5}, "quant_min", order),
                ({"scheme": "symmetric", "quant_max": 0}, "quant_max", sign + "symmetric;"),
                ({"scheme": "symmetric_no_clipping", "quant_max": 0}, "quant_max",
                 sign + "symmetric_no_clipping;"),
                ({"quant_min": 0, "quant_max": 300}, "quant_max", order),
                ({"scheme": "mx_floor", "quant_max": -5, "dtype": "float8_e5m2"}, "quant_max",
                 "an integer type"),
                ({"quant_max": 100.5}, "quant_max", "quant_max is 100.5, wanted a whole number"),
                ({"scales": 1, "quant_min": -100.5}, "quant_min", "wanted a whole number")):
            found = self.check(graph([node("DynamicQuantize", "q", "x", **attrs)]))
            self.assertEqual([(one["rule"], one["port"]) for one in found],
                             [("core/quant-range", port)])
            self.assertIn(wanted, found[0]["message"])

    def test_a_pair_has_no_narrower_range_where_its_halves_have_none(self):
        content = graph([requantize("q", "x", quant_min=-127)], [INT8])
        for target in ("onnx", "onednn", "tensorrt", "ttnn"):
            found = [one["rule"] for one in self.check({**content, "target": target})]
            self.assertIn(f"{target}/no-clamp-range", found)

    def test_results_of_computed_scales_are_spoken_of_once(self):
        for attrs in ({"dtype": "uint8"}, {"scheme": "mx_floor", "dtype": "float8_e4m3fn"},
                      {"scheme": "mx_rceil", "dtype": "float8_e5m2"}):
            content = graph([node("DynamicQuantize", "q", "x", qtype="per_group",
                                  group_shape=[1, -1], **attrs)], [value("x", shape=[2, 32])])
            rules = self.rules({**content, "target": "tensorrt"})
            self.assertNotIn("tensorrt/dynamic-result", rules)

    def test_attributes_that_change_no_result_are_told(self):
        def check(op, source, **attrs):
            found = self.check(graph([node(op, "q", "x", scales=1, **attrs)], [value("x", source, [2, 4])]), code=0)
            self.assertEqual({one["rule"] for one in found} - {"core/attribute-ignored"}, set())
            return [one["message"].split(";")[0].split(": ")[-1] for one in found]

        clamps, given = "is given, but Dequantize clamps nothing", "is given, but a scale is given too"
        self.assertEqual(check("Dequantize", "int8", quant_max=100, saturate=True),
                         [f"quant_max {clamps}", "saturate is given, but the result is bfloat16"])  # fmt: skip
        self.assertEqual(check("Dequantize", "int8", zero_point_domain="none", quant_min=-127), [f"quant_min {clamps}"])
        self.assertEqual(check("Dequantize", "int8", quant_min=-128, quant_max=127), [])
        self.assertEqual(check("Dequantize", "int8", zero_point_domain="float", quant_max=100), [])  # the middle code
        self.assertEqual(check("Quantize", "float32", saturate=False), ["saturate is given, but the result is int8"])
        self.assertEqual(check("Quantize", "float32", dtype="float8_e5m2", saturate=False), [])
        self.assertEqual(check("DynamicQuantize", "float32", scheme="symmetric", eps=0.5), [f"scheme {given}", f"eps {given}"])
        self.assertEqual(check("DynamicQuantize", "float32", scheme="asymmetric"), [])

    def test_target_all_is_a_matrix(self):
        nodes = [quantize("good", scales=1), quantize("bad", scales=0)]
        self.write("g.json", graph(nodes, outputs={"y": "good", "z": "bad"}))
        lines = self.qdq("check", "g.json", "--target", "all", code=1).out.splitlines()
        self.assertRegex(lines[0], r"^node +op +core\b")
        self.assertRegex("\n".join(lines), r"(?m)^good +Quantize +ok")
        self.assertRegex("\n".join(lines), r"(?m)^bad +Quantize +refused")

    def test_an_op_that_a_target_does_not_name_is_unknown_and_computed(self):
        self.write("g.json", graph([node("GenIndex", "i", "x", axis=0)], outputs={"y": "i"}))
        result = self.qdq("check", "g.json", "--target", "all", "--json", code=0)
        states = json.loads(result.out)["nodes"][0]
        self.assertEqual({name: states[name] for name in ("core", "onednn", "onnx", "ttnn")},
                         {"core": "ok", "onednn": "ok", "onnx": "unknown", "ttnn": "unknown"})
        self.qdq("check", "g.json", "--target", "ttnn", "--strict", code=1)
        for target in ("onnx", "ttnn", "torchao"):
            result = self.qdq("run", "g.json", "--fill", "1", "--target", target)
            self.assertIn(f"[{target}/op-unknown]", result.err)
        self.qdq("compare", "g.json", "--fill", "1", "--targets", "core,onnx,ttnn")

    def test_findings_of_the_target_alone_exit_4(self):
        self.write("g.json", graph([quantize(scales=1, dtype="int32")]))
        self.qdq("check", "g.json", code=0)
        self.assertIn("onnx/result-dtype", self.qdq("check", "g.json", "--target", "onnx", code=1).out)
        for words in (["run", "g.json", "--fill", "1"], ["plan", "g.json"], ["bench", "g.json"]):
            result = self.qdq(*words, "--target", "onnx", code=4)
            self.assertIn("onnx/result-dtype", result.err)
            self.assertEqual(result.out, "")
        both = self.qdq("check", "g.json", "--target", "all", code=1).out
        self.assertRegex(both, r"(?m)^q +Quantize +ok +refused")
        self.assertEqual(both.count("[onnx/result-dtype]"), 1)

    def test_target_all_has_nodes_that_cannot_be_read(self):
        self.write("g.json", graph([quantize("bad", scales=1, bogus=1)], outputs={"y": "bad"}))
        out = self.qdq("check", "g.json", "--target", "all", code=1).out
        self.assertRegex(out, r"(?m)^bad +Quantize +refused")


class Sarif(Case):
    """--sarif: the same findings as --json, as SARIF 2.1.0."""

    BAD = graph([quantize(scales=0.5, zps=3, dtype="uint8")])

    def run_of(self, *words, code=1):
        log = json.loads(self.qdq("check", *words, "--sarif", code=code).out)
        self.assertEqual(log["version"], "2.1.0")
        self.assertEqual(len(log["runs"]), 1)
        return log["runs"][0]

    def test_results_are_the_findings(self):
        name = self.write("g h%.json", self.BAD)
        for target in ("tensorrt", "all"):
            with self.subTest(target):
                run = self.run_of(name, "--target", target)
                found = self.json("check", name, "--target", target, code=1)["findings"]
                self.assertGreater(len(found), 0)
                self.assertEqual([(r["ruleId"], r["level"], r["message"]["text"]) for r in run["results"]],
                                 [(f["rule"], f["severity"], f["message"]) for f in found])
                self.assertEqual({r["id"] for r in run["tool"]["driver"]["rules"]}, {f["rule"] for f in found})
                for result, one in zip(run["results"], found):
                    place = result["locations"][0]
                    self.assertEqual(place["physicalLocation"]["artifactLocation"]["uri"], "g%20h%25.json")
                    self.assertEqual([at["name"] for at in place.get("logicalLocations", [])], [one["node"]] if one["node"] else [])

    def test_several_files_are_one_run(self):
        good, bad = self.write("good.json", identity("float32", [2])), self.write("bad.json", self.BAD)
        run = self.run_of(good, bad, "--target", "tensorrt")
        uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]}
        self.assertEqual(uris, {"bad.json"})
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_a_file_that_cannot_be_read_is_said(self):
        run = self.run_of("missing.json", code=3)
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertEqual(run["results"], [])

    def test_it_excludes_json(self):
        self.assertIn("exclude", self.qdq("check", "g.json", "--sarif", "--json", code=2).err)

class Places(Case):
    """Each message says where."""

    def test_a_node_with_an_empty_name_gets_one(self):
        for op in ("Quantize", "ReLU", "NoSuch"):
            nodes = [node("ReLU", "r", "x"), node(op, "", "nosuch")]
            found = self.check(graph(nodes, outputs={"y": "r"}))
            self.assertIn("core/name-form", [one["rule"] for one in found])
            for one in found:
                self.assertIn("g.json: node 'nodes[1]': ", one["message"])

    def test_files_of_other_kinds_are_named(self):
        header = {"numbers": {"dtype": "I64", "shape": [5], "data_offsets": [0, 40]}}
        text = json.dumps(header, separators=(",", ":")).encode()
        for content, kind in ((bytes(range(200)), "a binary file of no kind that qdq knows"),
                              (len(text).to_bytes(8, "little") + text + bytes(40), "a state of qdq calibrate, compare or explain"),
                              (bytes([8, 0, 0, 0, 0, 0, 0, 0]) + b"{}      ", "a .safetensors file")):
            told = self.qdq("check", self.write("f", content), code=3).err
            self.assertTrue(told.startswith(f"qdq: f: is {kind}, wanted a graph in JSON, an ONNX or a TensorFlow Lite model; "), told)

    def test_texts_that_are_no_json_are_told_what_a_graph_is(self):
        for content, found in ((b"root:x:0:0\n", "root"), (b"\x89PNG\r\n", "byte 0x89"), (b" <html>", "'<'")):
            told = self.qdq("check", self.write("f", content), code=3).err
            self.assertRegex(told, rf"\Aqdq: f: line 1, column \d: found {found}, wanted a value; a graph is JSON, an ONNX or a TensorFlow Lite model\n\Z")
        self.assertNotIn("a graph is", self.qdq("check", self.write("f", b"{a}"), code=3).err)

    def test_limits_name_their_options(self):
        name = self.write("g.json", graph([quantize(scales=1, dtype="int8")]))
        for option, code in (("elements", 5), ("bytes", 5), ("operations", 5), ("values", 5), ("file-bytes", 5)):
            told = self.qdq("run", name, "--fill", 1, f"--max-{option}", 2, code=code).err
            self.assertIn(f"--max-{option}", told)

    def test_targets_at_a_version_are_told_from_unknown_ones(self):
        self.assertIn("wanted its plain name, which lists all of them: qdq targets ort",
                      self.qdq("targets", "ort@1.31-avx2", code=2).err)
        self.assertIn("there is no target 'otr@1'", self.qdq("targets", "otr@1", code=2).err)


class Bits(Case):
    """How well the bits of nodes are known."""

    def setUp(self):
        super().setUp()
        nodes = [node("Sin", "e", "x"), node("Sin", "f", "e"), node("ReLU", "r", "f")]
        self.write("g.json", graph(nodes, outputs={"y": "r"}))

    def test_the_last_line_counts_the_nodes_unless_all_are_exact(self):
        self.assertEqual(self.qdq("check", "g.json").out, "g.json for core: 0 errors, 0 warnings\n")
        self.assertTrue(self.qdq("check", "g.json", "-t", "ttnn").out.endswith(
            "g.json for ttnn: 0 errors, 1 warning; bits: 0 of 3 nodes exact, 1 read, 2 unknown ('e', 'f')\n"))

    def test_json_lists_the_nodes(self):
        bits = self.json("check", "g.json", "-t", "ttnn")["bits"]
        self.assertEqual([bits[word] for word in ("exact", "read", "close", "unknown")], [0, 1, 0, 2])
        self.assertEqual([(one["node"], one["op"], one["bits"], one["from_same_inputs"]) for one in bits["nodes"]],
                         [("e", "Sin", "unknown", False), ("f", "Sin", "unknown", True), ("r", "ReLU", "read", True)])
        self.assertIsNone(bits["nodes"][0]["evidence"])
        self.assertEqual(bits["nodes"][2]["evidence"]["kind"], "read from source")

    def test_json_of_all_commands_about_a_target_has_the_bits_of_check(self):
        wanted = self.json("check", "g.json", "-t", "ttnn")["bits"]
        self.qdq("run", "g.json", "--fill", 1, "-o", "y=got.npy")
        self.write("f.json", graph([node("Sin", "e", "x")], outputs={"y": "e"}))
        for words in (["run", "--fill", 1, "-t", "ttnn"], ["plan", "-t", "ttnn"], ["plan", "-t", "ttnn", "--fast"],
                      ["explain", "-t", "ttnn", "--got", "y=got.npy", "--fill", 1],
                      ["explain", "-t", "ttnn", "--against", "f.json", "--fill", 1],
                      ["bisect", "g.json", "-t", "ttnn", "--fill", 1],
                      ["bisect", "--targets", "ttnn,core", "--fill", 1]):
            with self.subTest(words):
                self.assertEqual(self.json(words[0], "g.json", *words[1:], code=None)["bits"], wanted)
        self.assertEqual(self.json("compare", "g.json", "--fast", "--fill", 1, code=None)["bits"],
                         self.json("check", "g.json")["bits"])
        core, ttnn = self.json("compare", "g.json", "--targets", "core,ttnn", "--fill", 1, code=None)["bits"]
        self.assertEqual(ttnn, {"target": "ttnn", **wanted})
        self.assertEqual((core["target"], core["exact"], len(core["nodes"])), ("core", 3, 3))

    def test_run_says_it_on_stderr_unless_quiet(self):
        line = "\nqdq run: ttnn: bits: 0 of 3 nodes exact, 1 read, 2 unknown ('e', 'f')\n"
        self.assertTrue(self.qdq("run", "g.json", "--fill", 1, "-t", "ttnn").err.endswith(line))
        self.assertNotIn("bits: ", self.qdq("run", "g.json", "--fill", 1, "-t", "ttnn", "-q").err)
        self.assertEqual(self.qdq("run", "g.json", "--fill", 1).err, "")

    def test_the_matrix_marks_every_unknown_node_and_counts_exact_ones(self):
        rows = {one["name"]: one["ttnn"] for one in self.json("check", "g.json", "-t", "all")["nodes"]}
        self.assertEqual(rows, {"e": "warning", "f": "warning", "r": "ok"})
        last = next(line for line in self.qdq("check", "g.json", "-t", "all").out.splitlines() if line.startswith("exact bits"))
        self.assertEqual(last.split()[2:5], ["3/3", "1/3", "1/3"])


class Unchecked(Case):
    """A node behind a node with errors is checked in part, and not `ok`."""

    TARGETS = ("core", "onnx", "ort", "onednn", "tensorrt", "tripy", "ttnn", "torchao")

    def setUp(self):
        super().setUp()
        nodes = [quantize(scales=0.5, dtype="int8", quant_min=5, quant_max=4), node("Dequantize", "d", "q", scales=0.5), node("ReLU", "r", "d"),
                 node("ReLU", "good", "x")]
        self.write("g.json", graph(nodes, outputs={"y": "r", "z": "good"}))

    def test_the_matrix_marks_it(self):
        rows = {one["name"]: one for one in self.json("check", "g.json", "-t", "all", code=1)["nodes"]}
        for target in self.TARGETS:
            found = [rows[name][target] for name in ("q", "d", "r", "good")]
            # Only ort rewrites the graph before it looks at it.
            self.assertEqual(found, ["refused", "unchecked", "unchecked", "unchecked" if target == "ort" else "ok"], target)
        told = self.qdq("check", "g.json", "-t", "all", code=1).out
        self.assertIn("\nunchecked: not by every rule, because of errors at other nodes\n", told)

    def test_one_target_names_it(self):
        for target, names in (("core", ["d", "r"]), ("ort", ["d", "r", "good"])):
            self.assertEqual(self.json("check", "g.json", "-t", target, code=1)["unchecked"], names)
            last = self.qdq("check", "g.json", "-t", target, code=1).out.splitlines()[-1]
            self.assertEqual(last, f"g.json for {target}: 1 error, 0 warnings, {len(names)} nodes unchecked; --all lists each")
            lines = self.qdq("check", "g.json", "-t", target, "--all", code=1).out.splitlines()
            self.assertEqual([line.split("'")[1] for line in lines if line.startswith("unchecked: ")], names)

    def test_sarif_notes_it(self):
        # ort, litert and tflm rewrite the graph before they look at it; what others do not check is one list.
        for target, count in (("core", 2), ("ort", 3), ("all", 2 + 3 * 3)):
            found = json.loads(self.qdq("check", "g.json", "-t", target, "--sarif", code=1).out)
            notes = found["runs"][0]["invocations"][0]["toolExecutionNotifications"]
            self.assertEqual(len(notes), count)
            self.assertIn("node 'd' is not checked by every rule", notes[0]["message"]["text"])
            self.assertEqual(notes[0]["locations"][0]["logicalLocations"], [{"name": "d"}])

    def test_a_valid_graph_has_none(self):
        """Errors of ort's own rules are found after rewriting, when all nodes are checked."""
        self.write("g.json", graph([quantize(scales=1, dtype="int8"), node("ReLU", "r", "x")], outputs={"y": "q", "z": "r"}))
        self.assertEqual(self.json("check", "g.json")["unchecked"], [])
        self.assertNotIn("unchecked", self.qdq("check", "g.json", "-t", "all", code=None).out)
        self.write("g.json", graph([quantize(scales=1, dtype="float4_e2m1"), node("ReLU", "r", "x")], outputs={"y": "q", "z": "r"}))
        found = self.json("check", "g.json", "-t", "ort", code=1)
        self.assertEqual([one["target"] for one in found["findings"] if one["severity"] == "error"], ["ort"])
        self.assertEqual(found["unchecked"], [])


if __name__ == "__main__":
    main()
