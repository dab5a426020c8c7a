#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize for litert and tflm: every value becomes codes, with the parameters of TensorFlow Lite's converter. Wanted numbers
are computed here from the ranges that qdq calibrate measures, and from the constants of the graph."""

import json
import math
import random
import struct
from pathlib import Path

import harness
from harness import Case, constant, graph, main, node, read_safetensors, safetensors_bytes, tensor, value

SAMPLES = 12


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def params(low, high):
    """The converter's scale and zero point of int8."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = float32(float32(float32(high) - float32(low)) / 255)
    return scale, int(min(max(away(float32(-128 - low / scale)), -128), 127))


def drawn(count, seed, size=1.0):
    draw = random.Random(seed)
    return [float32(draw.gauss(0, size)) for _ in range(count)]


def conv(name, x, w, bias=None, pads=0, groups=1):
    """A convolution of [N, H, W, C] by weights [O, I, H, W]."""
    inputs = {"x": x, "weights": w, **({"bias": bias} if bias else {})}
    attrs = {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [pads] * 2, "pads_end": [pads] * 2, "groups": groups,
             "data_format": "NXC", "weights_format": "OIX"}
    return {"op": "Convolution", "name": name, "inputs": inputs, "attrs": attrs}


def network():
    constants = [constant("wa", "float32", [4, 2, 3, 3], drawn(72, 1, 0.3)), constant("ba", "float32", [4], drawn(4, 2)),
                 constant("wb", "float32", [2, 2, 1, 1], drawn(4, 3, 2)), constant("bb", "float32", [2], drawn(2, 4)),
                 constant("wd", "float32", [6, 1, 3, 3], drawn(54, 5)), constant("k", "float32", [6], drawn(6, 6, 3)),
                 constant("wf", "float32", [5, 6], drawn(30, 7)), constant("bf", "float32", [5], drawn(5, 8))]
    nodes = [conv("a", "x", "wa", "ba", pads=1), node("ReLU6", "relu", "a"), conv("b", "x", "wb", "bb"),
             node("Sigmoid", "s", "b"),
             {"op": "Concat", "name": "joined", "inputs": {"xs": ["relu", "s", ]}, "attrs": {"axis": 3}},
             node("MaxPool", "pooled", "joined", kernel=[2, 2], strides=[2, 2], pads_begin=[0, 0], pads_end=[0, 0],
                  data_format="NXC"),
             node("Pad", "padded", "pooled", pads=[0, 1, 1, 0, 0, 1, 1, 0]),
             conv("d", "padded", "wd", groups=6),
             {"op": "Add", "name": "sum", "inputs": {"a": "d", "b": "k"}},
             node("ReduceMean", "mean", "sum", axes=[1, 2], keep_dims=False),
             {"op": "MatMul", "name": "f", "inputs": {"a": "mean", "b": "wf", "bias": "bf"}, "attrs": {"transpose_b": True}},
             node("SoftMax", "y", "f", axis=-1)]
    return graph(nodes, inputs=[value("x", shape=[1, 8, 8, 2])], outputs={"y": "y", "features": "padded"},
                 constants=constants)


class Whole(Case):
    def setUp(self):
        super().setUp()
        self.write("g.json", network())
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [SAMPLES, 8, 8, 2], drawn(SAMPLES * 128, 9))}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        self.ranges = {v["name"]: (v["least"], v["greatest"]) for v in self.json("merge", "s.state", "--json")["values"]}

    def quantize(self, *words, target="litert", out="q.json", code=0):
        result = self.qdq("quantize", "g.json", "--state", "s.state", "--data", "x.safetensors", "-t", target, "-o", out, *words,
                          code=code)
        return result if code else json.loads((self.folder / out).read_text())

    def nodes(self, *words, **more):
        return {n["name"]: n for n in self.quantize(*words, **more)["nodes"]}

    @staticmethod
    def params_of(attrs, scales="scales", zps="zps"):
        return float32(attrs[scales]), attrs.get(zps, 0)

    def test_every_operator_is_one_on_codes_with_known_bits(self):
        for target in ("litert", "litert@reference", "tflm"):
            self.quantize(target=target)
            found = self.qdq("check", "q.json", "-t", target, "--strict").out
            self.assertIn("0 errors, 0 warnings; bits: ", found)
            plan = self.qdq("plan", "q.json", "-t", target).out
            for operator in ("CONV_2D of a, relu", "DEPTHWISE_CONV_2D of d", "ADD of sum", "MEAN of mean",
                             "FULLY_CONNECTED of f", "SOFTMAX of y", "LOGISTIC of s"):
                self.assertIn(operator, plan)

    def test_values_have_the_parameters_of_their_ranges(self):
        nodes = self.nodes()
        for name in ("x", "b", "d", "sum", "mean", "f"):
            self.assertEqual(self.params_of(nodes[f"{name}_quantized"]["attrs"]), params(*self.ranges[name]), name)
            self.assertEqual(self.params_of(nodes[f"{name}_dequantized"]["attrs"]), params(*self.ranges[name]), name)
        self.assertNotIn("a_quantized", nodes)  # the kernel clips the sums of a

    def test_kernels_with_fixed_results_have_their_parameters(self):
        nodes = self.nodes("--method", "mse")
        self.assertEqual(self.params_of(nodes["s_quantized"]["attrs"]), (1 / 256, -128))
        self.assertEqual(self.params_of(nodes["y_quantized"]["attrs"]), (1 / 256, -128))

    def test_operands_of_concat_and_what_moves_have_the_parameters_of_the_result(self):
        nodes = self.nodes()
        joined = params(*self.ranges["joined"])
        self.assertEqual(self.params_of(nodes["relu_quantized"]["attrs"]), joined)
        again = nodes["s_quantized_1"]
        self.assertEqual(again["op"], "Requantize")
        self.assertEqual(again["inputs"], {"x": "s_quantized"})
        self.assertEqual(self.params_of(again["attrs"], "out_scales", "out_zps"), joined)
        self.assertEqual(nodes["joined"]["inputs"], {"xs": ["relu_quantized", "s_quantized_1"]})
        self.assertEqual(nodes["pooled"]["inputs"], {"x": "joined"})
        self.assertEqual(self.params_of(nodes["padded_dequantized"]["attrs"]), joined)

    def test_a_result_that_moves_has_the_parameters_of_the_operand(self):
        part = node("Slice", "part", "x", starts=[0], ends=[1], axes=[1])
        turned = node("StaticTranspose", "turned", "part", order=[1, 0])
        self.write("g.json", graph([part, turned, node("Tanh", "t", "x")], inputs=[value("x", shape=[1, 3])],
                                   outputs={"y": "turned", "z": "t"}))
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [1, 3], [0.5, -2.0, 3.0])}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        nodes = self.nodes()
        for name in ("x_quantized", "x_dequantized", "turned_dequantized"):
            self.assertEqual(self.params_of(nodes[name]["attrs"]), params(-2.0, 3.0), name)
        self.assertEqual(self.params_of(nodes["t_dequantized"]["attrs"]), (1 / 128, 0))
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "tflm", "-o", "q.json").out
        self.assertIn("4 values and 0 constants quantized", told)  # x, part, turned, t

    def test_a_pad_adds_the_zero_point(self):
        found = self.quantize()
        pad = next(n for n in found["nodes"] if n["name"] == "padded")
        element = next(c for c in found["constants"] if c["name"] == pad["inputs"]["value"])
        self.assertEqual((element["dtype"], element["shape"]), ("int8", []))
        self.assertEqual(element["data"], [params(*self.ranges["joined"])[1]])

    def test_weights_and_biases_have_the_codes_of_each_channel(self):
        found = self.quantize()
        nodes = {n["name"]: n for n in found["nodes"]}
        constants = {c["name"]: c["data"] for c in found["constants"]}
        given = {c["name"]: c["data"] for c in network()["constants"]}
        for w, b, x, channels in (("wa", "ba", "x", 4), ("wb", "bb", "x", 2), ("wf", "bf", "mean", 5), ("wd", None, "joined", 6)):
            depth, codes, scales = len(given[w]) // channels, [], []
            for c in range(channels):
                row = given[w][c * depth:(c + 1) * depth]
                scales.append(float32(max(map(abs, row)) / 127))
                codes += [int(away(float32(v * float32(1 / scales[-1])))) for v in row]
            self.assertEqual(constants[f"{w}_quantized"], codes)
            self.assertEqual([float32(s) for s in nodes[f"{w}_dequantized"]["attrs"]["scales"]], scales)
            self.assertEqual(nodes[f"{w}_dequantized"]["attrs"]["axis"], 0)
            name, sums = b or "d_bias", [float32(params(*self.ranges[x])[0] * s) for s in scales]
            wanted = [int(away(float32(v * float32(1 / s)))) for v, s in zip(given[b], sums)] if b else [0] * channels
            self.assertEqual(constants[f"{name}_quantized"], wanted)
            self.assertEqual([float32(s) for s in nodes[f"{name}_dequantized"]["attrs"]["scales"]], sums)

    def test_a_constant_of_a_sum_has_one_scale_and_zero_point(self):
        found = self.quantize()
        k = next(c for c in network()["constants"] if c["name"] == "k")["data"]
        scale, zero = params(min(k), max(k))
        codes = next(c for c in found["constants"] if c["name"] == "k_quantized")["data"]
        self.assertEqual(codes, [int(min(max(away(v / scale + zero), -128), 127)) for v in k])

    def test_one_scale_of_weights_symmetric_values_and_corrections(self):
        nodes = self.nodes("--per-tensor", "--symmetric")
        self.assertIsInstance(nodes["wa_dequantized"]["attrs"]["scales"], float)
        self.assertEqual(nodes["x_quantized"]["attrs"].get("zps", 0), 0)
        self.quantize("--equalize", "--correct")
        self.qdq("check", "q.json", "-t", "litert", "--strict")

    def test_an_op_without_an_operator_stays_in_float_and_is_named(self):
        g = network()
        g["nodes"][3]["op"] = "Exp"
        self.write("g.json", g)
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        found = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "litert", "-o", "q.json").out
        self.assertIn("s: Exp, float: the target has no such operator on codes", found)
        self.assertIn("litert/bits-unknown", found)

    def test_images_and_rows_with_channels_first_are_turned(self):
        """The graph keeps its inputs and outputs; every node is one on codes, whose bits are known."""
        for spatial in ([9, 7], [21]):
            ones, two = [1] * len(spatial), [2] * len(spatial)

            def conv_first(name, x, w, strides, spatial=spatial, ones=ones):
                attrs = {"strides": strides, "dilations": ones, "pads_begin": ones, "pads_end": ones, "data_format": "NCX",
                         "weights_format": "OIX"}
                return {"op": "Convolution", "name": name, "inputs": {"x": x, "weights": w}, "attrs": attrs}

            kernel = [3] * len(spatial)
            sizes = 3 ** len(spatial)
            nodes = [conv_first("a", "x", "wa", two), node("ReLU", "r", "a"), conv_first("b", "r", "wb", ones),
                     {"op": "Add", "name": "sum", "inputs": {"a": "b", "b": "r"}},
                     node("MaxPool", "m", "sum", kernel=kernel, strides=ones, pads_begin=ones, pads_end=ones, data_format="NCX"),
                     node("ReduceMean", "mean", "m", axes=list(range(2, 2 + len(spatial))), keep_dims=False),
                     {"op": "MatMul", "name": "f", "inputs": {"a": "mean", "b": "wf"}}]
            constants = [constant("wa", "float32", [4, 3, *kernel], drawn(12 * sizes, 1, 0.3)),
                         constant("wb", "float32", [4, 4, *kernel], drawn(16 * sizes, 2, 0.3)),
                         constant("wf", "float32", [4, 5], drawn(20, 3))]
            self.write("g.json", graph(nodes, inputs=[value("x", shape=[1, 3, *spatial])], outputs={"y": "f", "z": "m"},
                                       constants=constants))
            count = 3 * math.prod(spatial)
            self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [8, 3, *spatial], drawn(8 * count, 4))}))
            for target in ("litert", "tflm"):
                told = self.json("quantize", "g.json", "--data", "x.safetensors", "-t", target, "-o", "q.json")
                self.assertEqual([one["node"] for one in told["nodes"] if not one["quantized"]], [])
                self.assertTrue(all(one["decibels"] > 25 for one in told["outputs"]), told["outputs"])
                self.qdq("check", "q.json", "-t", target, "--strict")
                shapes = [self.json("inspect", name, "--json") for name in ("g.json", "q.json")]
                for part in ("inputs", "outputs"):
                    self.assertEqual(*[[(v["name"], v["shape"], v["dtype"]) for v in one[part]] for one in shapes])

    def test_a_model_is_written_with_the_bits_of_the_graph(self):
        model = Path(harness.MODELS).resolve() / "digits_uneven"
        calls = ((["g.json", "--state", "s.state", "--data", "x.safetensors"], []),
                 ([str(model / "model.onnx"), "--data", str(model / "calibration.safetensors")], ["--dim", "batch=1"]))
        for words, dims in calls:
            for target in ("litert", "tflm"):
                for out in ("q.json", "q.tflite"):
                    self.qdq("quantize", *words, *dims, "-t", target, "-o", out)
                    self.qdq("check", out, "-t", target, "--strict")
                    self.qdq("run", out, "-t", target, "--fill", "5", "-o", f"{out}.safetensors")
                one, other = (read_safetensors(self.folder / f"{out}.safetensors") for out in ("q.json", "q.tflite"))
                self.assertEqual(one, other)
                plan = self.qdq("plan", "q.tflite", "-t", target).out
                self.assertIn("CONV_2D of ", plan)
                self.assertIn("FULLY_CONNECTED of ", plan)

    def test_a_scale_that_no_kernel_takes_is_refused(self):
        """XNNPACK loads no product whose scale is 256 or more: here x and w are large and their product is small."""
        w = constant("w", "float32", [2, 2], [100.0, 99.0, 100.0, 99.0])
        g = graph([{"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "w"}, "attrs": {"transpose_b": True}}],
                  inputs=[value("x", shape=[1, 2])], outputs={"y": "m"}, constants=[w])
        self.write("g.json", g)
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [1, 2], [99.0, -100.0])}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        result = self.quantize(code=4)
        self.assertIn("[litert/product-scale]", result.out)
        self.assertIn("so nothing was written; give samples with other ranges, or change the network there", result.err)
        self.quantize(target="litert@reference")

    def test_options_for_nodes_in_float_are_refused(self):
        for words in (("--keep", "f"), ("--at-least", "60")):
            result = self.quantize(*words, code=4)
            self.assertIn(f"{words[0]} is given, but target litert computes every operator on codes", result.err)
        self.assertIn("--group is given, but target tflm", self.quantize("--group", "2", target="tflm", code=2).err)


if __name__ == "__main__":
    main()
