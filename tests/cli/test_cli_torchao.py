#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What target torchao takes and others refuse: float64 scales, int64 zero points, parameters of blocks in any shape of
their count, and bounds that are equal.

    test_cli_torchao.py QDQ_BINARY MODELS_DIR

A float of Python is a float64, in which PyTorch computes by such a scale; torchao 0.18.0 with PyTorch 2.15.0 gave
the literal codes.
"""

import itertools
import json
import struct

from harness import (Case, constant, graph, main, node, read_safetensors, safetensors_bytes, tensor, unpack, value)

OTHERS = ("core", "onnx", "ort", "onednn", "tensorrt", "tripy", "ttnn")
CHANNELS = {"qtype": "per_channel", "axis": 1}
X = [0.3, 1, 2.5, -1, 0.7, -3]
SCALES = [0.1, 0.2, 0.5]


def float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def one(op, x, constants, **attrs):
    """The op on the constant x of shape [2, 3], with the constants as its ports."""
    of = "float32" if op == "Quantize" else "int16"
    ports = {"s": "scale", "z": "zero_point"}
    return graph([node(op, "q", "x", {ports[each["name"]]: each["name"] for each in constants}, **attrs)], inputs=[],
                 constants=[constant("x", of, [2, 3], x), *constants])


class Torchao(Case):
    def results(self, content, *words):
        self.qdq("run", self.write("g.json", content), "-t", "torchao", "-o", "y.safetensors", *words)
        return unpack(read_safetensors(self.folder / "y.safetensors")["y"])

    def refused(self, content, rule, targets=OTHERS):
        for target in targets:
            found = [each["rule"] for each in self.check(content, "-t", target, code=None)
                     if each["severity"] == "error"]
            self.assertIn(rule, found, target)

    def scales(self, dtype="float64", shape=(3,), numbers=SCALES):
        return constant("s", dtype, list(shape), numbers)

    def test_quantize_multiplies_by_the_reciprocal_of_a_float64(self):
        """0.7 / 0.2 is below 3.5 in float64, and 3.5 in float32."""
        zeros = constant("z", "int32", [3], [0, 0, 0])
        for dtype, wanted in (("float64", [3, 5, 5, -10, 3, -6]), ("float32", [3, 5, 5, -10, 4, -6])):
            for words in ((), ("--materialize",), ("--tiles",)):
                content = one("Quantize", X, [self.scales(dtype), zeros], dtype="int8", **CHANNELS)
                self.assertEqual(self.results(content, *words), wanted, (dtype, words))
        formula = [round(float32(x) * (1 / s)) for x, s in zip(X, SCALES * 2)]
        self.assertEqual(formula, [3, 5, 5, -10, 3, -6])

    def test_sums_of_int32_and_bounds_with_fractions_are_exact(self):
        big = [16777217 * 0.1, 2**30, 1, -7, 3e9, -3e9]
        wanted = [max(-2**31, min(2**31 - 1, round(float32(x) * (1 / 0.1)) + 3)) for x in big]
        content = one("Quantize", big, [self.scales(shape=(), numbers=[0.1]), constant("z", "int32", [], [3])],
                      dtype="int32")
        self.assertEqual(self.results(content), wanted)
        content = one("Quantize", X, [self.scales(shape=(), numbers=[0.1]), constant("z", "int32", [], [0])],
                      dtype="int8", quant_min=-2.7, quant_max=9.999999999)
        self.assertEqual(self.results(content), [3, 9, 9, -2, 7, -2])

    def test_dequantize_rounds_its_product_once(self):
        codes = [3, 77, -3000, 12345, 9, -32768]
        for zps in ([0, 0, 0], [1, -2, 3]):
            products = [(q - z) * s for q, z, s in zip(codes, zps * 2, [0.7, 1 / 3, 1e-3] * 2)]
            content = one("Dequantize", codes, [self.scales(numbers=[0.7, 1 / 3, 1e-3]), constant("z", "int32", [3], zps)],
                          dtype="float32", **CHANNELS)
            self.assertEqual(self.results(content), [float32(y) for y in products])
            narrow = one("Dequantize", codes, [self.scales("float32", numbers=[0.7, 1 / 3, 1e-3]),
                                               constant("z", "int32", [3], zps)], dtype="float32", **CHANNELS)
            self.assertNotEqual(self.results(narrow), self.results(content))

    def test_the_float_domain_computes_in_float64_too(self):
        """tinygemm's formula: z - s * 128 is the least number of uint8."""
        x = [float32(k * 0.1 + 0.05) for k in (1, 2, 3, 4, 5, 6)]
        wanted = [round((v - (0.25 - 0.1 * 128)) / 0.1) for v in x]
        content = one("Quantize", x, [self.scales(shape=(), numbers=[0.1]), constant("z", "float32", [], [0.25])],
                      dtype="uint8", zero_point_domain="float")
        self.assertEqual(self.results(content), wanted)

    def test_a_zero_point_may_be_int64(self):
        for dtype in ("int64", "int32"):
            content = one("Quantize", X, [self.scales("float32"), constant("z", dtype, [3], [5, -7, 120])], dtype="int8",
                          **CHANNELS)
            self.assertEqual(self.results(content), [8, -2, 125, -5, -3, 114])
        wide = one("Quantize", X, [self.scales("float32"), constant("z", "int64", [3], [2**40, 0, 0])], dtype="int8",
                   **CHANNELS)
        self.refused(wide, "core/zero-point-value", ["torchao"])

    def test_other_targets_refuse_wide_parameters(self):
        zeros = constant("z", "int8", [3], [0, 0, 0])
        self.refused(one("Quantize", X, [self.scales(), zeros], dtype="int8", **CHANNELS), "core/port-dtype")
        zeros = constant("z", "int64", [3], [0, 0, 0])
        self.refused(one("Quantize", X, [self.scales("float32"), zeros], dtype="int8", **CHANNELS), "core/port-dtype")

    def test_formats_without_float64_scales_refuse_them(self):
        zeros = constant("z", "int8", [3], [0, 0, 0])
        content = one("Quantize", X, [self.scales(), zeros], dtype="int8", **CHANNELS)
        self.write("g.json", {**content, "target": "torchao"})
        self.assertIn("scale is float64", self.qdq("convert", "g.json", "-o", "g.onnx", code=None).err)
        _, *others = content["constants"]  # a constant would be folded
        self.write("input.json", {**content, "target": "torchao", "inputs": [value("x")], "constants": others})
        result = self.qdq("plan", "input.json", "--emit-c", "g.c", code=None)
        self.assertIn("scale is float64", result.out + result.err)
        self.qdq("convert", "g.json", "-o", "again.json")
        self.qdq("run", "again.json", "-o", "y.safetensors")
        self.assertEqual(unpack(read_safetensors(self.folder / "y.safetensors")["y"]), [3, 5, 5, -10, 3, -6])

    def test_scales_of_a_file(self):
        """More channels than a graph file holds."""
        scales = [0.1 + k / 1000 for k in range(5000)]
        tensors = {"s": tensor("float64", [5000], scales), "z": tensor("int64", [5000], [k % 5 for k in range(5000)])}
        (self.folder / "p.safetensors").write_bytes(safetensors_bytes(tensors))
        held = [{"name": name, "dtype": dtype, "shape": [5000], "file": "p.safetensors", "tensor": name}
                for name, dtype in (("s", "float64"), ("z", "int64"))]
        content = graph([node("Quantize", "q", "x", {"scale": "s", "zero_point": "z"}, dtype="int8", qtype="per_channel",
                              axis=0)], inputs=[value("x", shape=[5000, 1])], constants=held)
        (self.folder / "x.safetensors").write_bytes(
            safetensors_bytes({"x": tensor("float32", [5000, 1], [k / 2000 for k in range(5000)])}))
        wanted = [min(127, round(float32(k / 2000) * (1 / s)) + k % 5) for k, s in enumerate(scales)]
        self.assertEqual(self.results(content, "-i", "x.safetensors"), wanted)

    def test_parameters_of_blocks_have_any_shape_of_their_count(self):
        numbers = [2.0 ** (k % 4) for k in range(30)]
        blocks = {"qtype": "per_group", "group_shape": [2, 2], "dtype": "int8"}
        x = [float(k) for k in range(120)]
        wanted = [min(127, round(12 * i + j) / numbers[i // 2 * 6 + j // 2])
                  for i, j in itertools.product(range(10), range(12))]
        for shape in ([30], [5, 6], [6, 5], [1, 30], [30, 1], [5, 2, 3]):
            parameters = [constant("s", "float32", shape, numbers), constant("z", "int32", [3, 10], [0] * 30)]
            content = graph([node("Quantize", "q", "x", {"scale": "s", "zero_point": "z"}, **blocks)], inputs=[],
                            constants=[constant("x", "float32", [10, 12], x), *parameters])
            self.assertEqual(self.results(content), [round(y) for y in wanted], shape)
            self.refused(content, "core/zero-point-count", ["core", "onnx", "tripy"])
            if shape in ([30], [6, 5], [5, 2, 3]):
                self.refused(content, "core/scale-count", ["core", "onnx", "tripy"])

    def test_bounds_may_be_equal(self):
        for dtype, wanted in (("int8", 5), ("int32", 5)):
            content = one("Quantize", X, [], scales=0.5, zps=0, dtype=dtype, quant_min=5, quant_max=5)
            self.assertEqual(self.results(content), [wanted] * 6)
            self.refused(content, "core/quant-range", ["core", "onnx", "ttnn"])
        low = one("Quantize", X, [], scales=0.5, zps=0, dtype="int8", quant_min=127)
        self.assertEqual(self.results(low), [127] * 6)
        self.refused(low, "core/quant-range", ["core"])

    def write_wide(self):
        """Graphs that torchao alone takes, each for another reason."""
        zeros = constant("z", "int8", [3], [0, 0, 0])
        self.write("scale.json", one("Quantize", X, [self.scales(), zeros], dtype="int8", **CHANNELS))
        zeros = constant("z", "int64", [3], [0, 0, 0])
        self.write("zero.json", one("Quantize", X, [self.scales("float32"), zeros], dtype="int8", **CHANNELS))
        self.write("bounds.json", one("Quantize", X, [], scales=0.5, zps=0, dtype="int8", quant_min=5, quant_max=5))
        return "scale.json", "zero.json", "bounds.json"

    def test_commands_take_a_graph_where_its_target_does(self):
        for name in self.write_wide():
            with self.subTest(name):
                own = self.write("own.json", {**json.loads((self.folder / name).read_text()), "target": "torchao"})
                self.qdq("explain", own, "--against", own)
                self.qdq("explain", own, "--against", name, code=4)
                for target in OTHERS:
                    self.qdq("run", name, "-t", target, code=4)
                self.qdq("run", name, "-t", "torchao", "-o", "y.safetensors")
                self.qdq("explain", name, "-t", "torchao", "--got", "y.safetensors")
                self.qdq("explain", name, "-t", "onnx", "--got", "y.safetensors", code=4)
                self.qdq("bisect", name, name, "-t", "torchao")
                self.qdq("bisect", name, name, "-t", "core", code=4)
                self.qdq("bisect", name, "--targets", "torchao,torchao@0.11")
                for pair in ("torchao,core", "onnx,torchao"):
                    self.qdq("bisect", name, "--targets", pair, code=4)

    def test_compare_leaves_out_targets_that_refuse(self):
        for name in self.write_wide():
            with self.subTest(name):
                found = self.json("compare", name, "--targets", "core,torchao,onnx,torchao@0.11")
                self.assertEqual((found["targets"], found["refused"]), (["torchao", "torchao@0.11"], ["core", "onnx"]))
                told = self.qdq("compare", name, "--targets", "core,torchao,onnx", code=4).err
                self.assertEqual(told.count("error: "), 1, told)
                for line in ("core refuses the graph and is left out", "onnx refuses the graph and is left out",
                             "1 of the targets accepts the graph, wanted at least 2 to compare"):
                    self.assertIn(f"qdq: {line}\n", told)
        broken = one("Quantize", X, [], scales=[1, 2], dtype="int8")
        self.qdq("compare", self.write("broken.json", broken), "--targets", "core,torchao", code=3)

    def test_explain_finds_the_node_of_a_float64_scale(self):
        content = one("Quantize", X, [self.scales(), constant("z", "int32", [3], [0, 0, 0])], dtype="int8", **CHANNELS)
        content["nodes"].append(node("Dequantize", "d", "q", scales=0.5))
        content["outputs"].append({"name": "w", "value": "d"})
        self.write("g.json", content)
        float_scale = {"y": tensor("int8", [2, 3], [3, 5, 5, -10, 4, -6])}
        (self.folder / "got.safetensors").write_bytes(safetensors_bytes(float_scale))
        found = self.json("explain", "g.json", "-t", "torchao", "--got", "got.safetensors", code=1)
        self.assertEqual((found["node"], found["differing"]), ("q", 1))


if __name__ == "__main__":
    main()
