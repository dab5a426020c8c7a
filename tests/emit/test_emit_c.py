#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C that `qdq plan --emit-c` writes has the bits of `qdq run`: for each op that is written, on inputs
with ties, NaN, infinities, denormals and numbers beyond the range, and for the graphs of models/. What
cannot be written is refused by name, all at once.

    test_emit_c.py QDQ_BINARY MODELS_DIR
"""

import json
import math
import platform
import random
import re
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import emitted
import harness
from harness import Case, Tensor, constant, graph, main, node, pack, safetensors_bytes, tensor, value

REFUSED = 4  # exit code
EDGES = [0.0, -0.0, 0.25, -0.25, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.75, -0.75, 63.5, 127.5, -128.5, 1e-45,
         -1e-45, 1.1e-38, 3.4e38, -3.4e38, math.inf, -math.inf, math.nan, 1e9, -1e9, 255.25, 1.0000001, 0.1,
         7.5, -8.5, 3.0, -3.0]


def edges(count, seed=0):
    """Numbers at the edges, then numbers of all sizes."""
    numbers = random.Random(seed)
    more = [numbers.uniform(-1, 1) * 2.0 ** numbers.randint(-12, 12) for _ in range(count)]
    return (EDGES + more)[:count]


def floats(shape, seed=0, scale=1.0):
    numbers = random.Random(seed)
    return tensor("float32", shape, [scale * numbers.uniform(-1, 1) for _ in range(math.prod(shape))])


def edge_tensor(shape, seed=0):
    return tensor("float32", shape, edges(math.prod(shape), seed))


def codes(dtype, shape, seed=0):
    numbers = random.Random(seed)
    least, most = {"int8": (-128, 127), "uint8": (0, 255), "int32": (-2**31, 2**31 - 1)}[dtype]
    some = [numbers.choice([least, most, numbers.randint(least, most)]) for _ in range(math.prod(shape))]
    return tensor(dtype, shape, some)


def bytes_in(path):
    """The bytes of each tensor of a file, whatever its dtype."""
    data = path.read_bytes()
    end = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:end])
    return {name: data[end + one["data_offsets"][0]:end + one["data_offsets"][1]]
            for name, one in header.items() if name != "__metadata__"}


class EmittedC(Case):
    def emit(self, path, *words):
        self.qdq("plan", path, "--emit-c", self.folder / "emitted.c", *words)
        return emitted.Emitted(self.folder / "emitted.c")

    def assert_path(self, path, inputs, *words):
        """The graph file has the same bits in both forms."""
        model = json.loads(Path(path).read_text(encoding="utf-8"))
        self.qdq("run", path, "-i", inputs, "-o", self.folder / "y.safetensors", *words)
        given, wanted = bytes_in(Path(inputs)), bytes_in(self.folder / "y.safetensors")
        names = [one["name"] for one in model["outputs"]]
        run = self.emit(path, *words)
        made = run([given[one["name"]] for one in model["inputs"]], [len(wanted[name]) for name in names])
        self.assertEqual([name for name, data in zip(names, made) if data != wanted[name]], [])
        return run

    def assert_same(self, nodes, inputs, *words, constants=(), outputs=None):
        """A graph of these nodes, whose results are all outputs unless given otherwise."""
        outputs = {f"out_{one['name']}": one["name"] for one in nodes} if outputs is None else outputs
        content = graph(nodes, [value(name, one.dtype, one.shape) for name, one in inputs.items()], outputs,
                        constants=list(constants), name="net")
        (self.folder / "x.safetensors").write_bytes(safetensors_bytes(inputs))
        return self.assert_path(self.folder / self.write("g.json", content), self.folder / "x.safetensors",
                                *words)

    # ---- Quantizing ops ----

    def test_quantize_to_each_integer(self):
        ranges = ["int8", "uint8", "int4", "uint4", "int2", "uint2", "int16", "uint16", "int32"]
        nodes = [node("Quantize", f"q_{dtype}", "x", scales=0.5, dtype=dtype,
                      zps=0 if dtype.startswith("int") else 1) for dtype in ranges]
        self.assert_same(nodes, {"x": edge_tensor([96])})

    def test_quantize_by_channels_and_groups(self):
        nodes = [node("Quantize", "c", "x", scales=[0.5, 2, 0.125], zps=[1, -3, 0], qtype="per_channel", axis=1),
                 node("Quantize", "g", "x", scales=[[0.5, 2], [0.25, 1], [3, 0.1]], qtype="per_group",
                      group_shape=[2, 1, 8]),
                 node("Dequantize", "cd", "c", scales=[0.5, 2, 0.125], zps=[1, -3, 0], qtype="per_channel",
                      axis=1)]
        nodes[1]["attrs"]["scales"] = [0.5 + 0.25 * i for i in range(6)]
        self.assert_same(nodes, {"x": edge_tensor([2, 3, 16])})

    def test_quantize_as_each_backend(self):
        nodes = [node("Quantize", "q", "x", scales=0.3, dtype="int8"),
                 node("Dequantize", "d", "q", scales=0.3, dtype="float32")]
        for target in ("onnx", "ort", "tensorrt", "onednn", "torchao", "ttnn@ieee"):
            with self.subTest(target):
                self.assert_same(nodes, {"x": edge_tensor([200])}, "--target", target)

    def test_small_floats(self):
        kinds = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float4_e2m1"]
        nodes = []
        for kind in kinds:
            nodes += [node("Quantize", f"q_{kind}", "x", scales=0.5, dtype=kind),
                      node("Dequantize", f"d_{kind}", f"q_{kind}", scales=0.25)]
        self.assert_same(nodes, {"x": edge_tensor([150])})

    def test_requantize(self):
        more = {"in_scales": 0.5, "out_scales": 0.3}
        nodes = [node("Requantize", "a", "x", **more, in_zps=3, out_zps=-1),
                 node("Requantize", "b", "x", **more, dtype="uint8", out_zps=7),
                 node("Requantize", "c", "x", in_scales=[0.1, 2], out_scales=0.7, axis=1, dtype="int8"),
                 node("Requantize", "w", "i", in_scales=1e-7, out_scales=0.5, dtype="int8")]
        self.assert_same(nodes, {"x": codes("int8", [9, 2, 5]), "i": codes("int32", [40])})

    def test_requantize_in_fixed_point(self):
        nodes = []
        for rounding in ("single", "double", "up", "float32", "float64"):
            m, s = ([13421773, 9000000, 1], [34, 36, 2]) if "float" in rounding else \
                ([2018847872, 1073741824, 2147483647], [35, 33, 30])
            more = {"rounding": rounding, "dtype": "int8", "out_zps": -3}
            nodes += [node("Requantize", f"t_{rounding}", "i", multiplier=m[0], shift=s[0], **more),
                      node("Requantize", f"c_{rounding}", "i", multiplier=m, shift=s, axis=1, **more),
                      node("Requantize", f"b_{rounding}", "x", multiplier=m[1], shift=s[1], in_zps=3, **more)]
        sums = [v * 37 for v in range(-60, 60)] + [2**31 - 1, -2**31, -128, 128, -10, -6]
        self.assert_same(nodes, {"i": tensor("int32", [6, 3, 7], sums), "x": codes("int8", [40])})

    def test_scales_at_run_time(self):
        ports = {"scale": "s", "zero_point": "z"}
        nodes = [node("DynamicQuantize", "q", "x", ports, dtype="int8", qtype="per_channel", axis=0),
                 node("DynamicDequantize", "d", "q", ports)][:1]
        self.assert_same(nodes, {"x": edge_tensor([3, 40]), "s": tensor("float32", [3], [0.5, 0.1, 3.0]),
                                 "z": tensor("int8", [3], [0, -4, 9])}, outputs={"y": "q"})

    def test_scales_from_the_data(self):
        cases = [dict(scheme="asymmetric", dtype="uint8"), dict(scheme="symmetric", dtype="int8"),
                 dict(scheme="symmetric_no_clipping", dtype="int8"),
                 dict(scheme="asymmetric", dtype="int8", qtype="per_channel", axis=1)]
        nodes = [node("DynamicQuantize", f"q{i}", "x", **case) for i, case in enumerate(cases)]
        outputs = {f"{part}{i}": f"q{i}{port}" for i in range(len(cases))
                   for part, port in (("y", ""), ("s", ".scale"), ("z", ".zero_point"))}
        for target in ("core", "torchao"):
            self.assert_same(nodes, {"x": edge_tensor([5, 7], 3)}, "--target", target, outputs=outputs)

    def test_a_scale_from_data_with_nan(self):
        """The edge numbers have NaN, which lanes drop or keep."""
        outputs = {"y": "q", "s": "q.scale", "z": "q.zero_point"}
        for target in ("onnx@1.32", "onnx@1.32-neon"):
            for count in (13, 45, 200):
                self.assert_same([node("DynamicQuantize", "q", "x", dtype="uint8")], {"x": edge_tensor([count])},
                                 "--target", target, outputs=outputs)

    # ---- Elements ----

    def test_elementwise_ops_of_one_operand(self):
        ops = """Abs Neg Rsqrt ReLU6 SiLU Trunc Log1p Exp Log Sqrt Square Tanh Sigmoid ReLU Reciprocal Round IsNaN HardSwish Mish Sign Floor Ceil
                 Erf Softplus Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh IsInf""".split()
        nodes = [node(op, op.lower(), "x") for op in ops]
        nodes += [node("LeakyReLU", "leaky", "x", alpha=0.1), node("Elu", "elu", "x", alpha=1.5),
                  node("HardSigmoid", "hard", "x", alpha=0.2, beta=0.5),
                  node("Clamp", "clamp", "x", min=-1.5, max=2.5),
                  node("GELU", "gelu", "x", mode="gelu_erf"), node("GELU", "gelut", "x", mode="gelu_tanh")]
        for target, count in (("core", 300), ("ort", 300), ("ort", 303)):
            self.assert_same(nodes, {"x": edge_tensor([count])}, "--target", target)

    def test_elementwise_ops_of_two_operands(self):
        ops = """Add Subtract Multiply Divide Minimum Maximum Pow Equal Greater GreaterEqual Less
                 LessOrEqual""".split()
        nodes = [node(op, f"{op}_{b}".lower(), None, {"a": "a", "b": b}) for op in ops for b in "bcde"]
        for one in nodes:
            del one["inputs"]["x"]
        wide = edges(48, 5)
        random.Random(1).shuffle(wide)
        self.assert_same(nodes, {"a": edge_tensor([2, 3, 8]), "b": tensor("float32", [2, 3, 8], wide),
                                 "c": edge_tensor([3, 1], 2), "d": edge_tensor([1], 3),
                                 "e": edge_tensor([4, 1, 1, 8], 4)})

    def test_elementwise_ops_of_integers(self):
        ops = ["Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum", "BitwiseAnd", "BitwiseOr",
               "BitwiseXor", "Equal", "Less", "Mod"]
        nodes = [node(op, op.lower(), None, {"a": "a", "b": "b"}) for op in ops]
        nodes += [node("Abs", "abs", "a"), node("Neg", "neg", "a"), node("BitwiseNot", "not", "a")]
        for one in nodes[:len(ops)]:
            del one["inputs"]["x"]
        self.assert_same(nodes, {"a": codes("int32", [7, 9]), "b": codes("int32", [9], 4)})

    # ---- Products ----

    def test_products_of_matrices(self):
        nodes = [node("MatMul", "plain", None, {"a": "a", "b": "b"}),
                 node("MatMul", "biased", None, {"a": "a", "b": "b", "bias": "c"}),
                 node("MatMul", "turned", None, {"a": "b", "b": "a"}, transpose_a=True, transpose_b=True),
                 node("MatMul", "batch", None, {"a": "d", "b": "b"}),
                 node("MatMul", "constant", None, {"a": "a", "b": "w"})]
        for one in nodes:
            del one["inputs"]["x"]
        weights = constant("w", "float32", [13, 4], [((7 * i) % 23 - 11) / 8 for i in range(52)])
        inputs = {"a": edge_tensor([5, 13]), "b": floats([13, 6], 1), "c": floats([6], 2),
                  "d": floats([2, 3, 13], 3)}
        for target in ("core", "ort"):
            with self.subTest(target):
                self.assert_same(nodes, inputs, "--target", target, constants=[weights])

    def test_long_products_in_the_orders_of_a_runtime(self):
        nodes = [node("MatMul", "y", None, {"a": "a", "b": "b"}),
                 node("MatMul", "biased", None, {"a": "a", "b": "b", "bias": "c"})]
        for one in nodes:
            del one["inputs"]["x"]
        for rows, columns in ((1, 9), (7, 9), (7, 1), (1, 300)):
            with self.subTest((rows, columns)):
                self.assert_same(nodes, {"a": floats([rows, 301], 1), "b": floats([301, columns], 2),
                                         "c": floats([columns], 3)}, "--target", "ort")

    def test_transposed_convolutions_in_the_orders_of_a_runtime(self):
        """Tap by tap, of one position too."""
        for positions in ([4, 3], [1, 1], [9, 17]):
            nodes = [node("ConvTranspose", "y", "x", {"weights": "w", "bias": "b"}, strides=[2, 1], dilations=[1, 2],
                          pads_begin=[1, 2], pads_end=[0, 1], groups=2, data_format="NCX", weights_format="IOX"),
                     node("ConvTranspose", "apart", "x", {"weights": "w"}, strides=[3, 3], dilations=[1, 1],
                          pads_begin=[0, 0], pads_end=[0, 0], groups=2, data_format="NCX", weights_format="IOX")]
            inputs = {"x": floats([1, 2 * 261, *positions], 1), "w": floats([2 * 261, 3, 3, 3], 2), "b": floats([6], 3)}
            with self.subTest(positions):
                self.assert_same(nodes, inputs, "--target", "onnx")

    def test_integer_products(self):
        zero = {"a_zero_point": "az", "b_zero_point": "bz"}
        nodes = [node("MatMulInteger", "i", None, {"a": "a", "b": "b", **zero}),
                 node("MatMulInteger", "j", None, {"a": "a", "b": "b"}),
                 node("QLinearMatMul", "q", None, {"a": "a", "a_scale": "s", "b": "b", "b_scale": "t",
                                                   "y_scale": "u", "y_zero_point": "az", **zero})]
        for one in nodes:
            del one["inputs"]["x"]
        inputs = {"a": codes("uint8", [6, 21]), "b": codes("int8", [21, 5], 1), "az": tensor("uint8", [], [9]),
                  "bz": tensor("int8", [], [-3]), "s": tensor("float32", [], [0.02]),
                  "t": tensor("float32", [], [0.1]), "u": tensor("float32", [], [2.0])}
        for target in ("core", "onnx"):
            self.assert_same(nodes, inputs, "--target", target)

    def test_products_whose_pairs_saturate(self):
        """On x86 without VNNI sums of two products saturate to int16."""
        zeros = {"a_zero_point": "az", "b_zero_point": "bz"}
        more = {"x_zero_point": "az", "w_zero_point": "bz"}
        nodes = [node("MatMulInteger", "i", None, {"a": "a", "b": "b", **zeros}),
                 node("MatMulInteger", "j", None, {"a": "a", "b": "b"}),
                 node("ConvInteger", "k", "x", {"w": "w", **more}, pads_begin=[1, 1], pads_end=[1, 1]),
                 node("QLinearConv", "q", "x", {"w": "w", **more, "x_scale": "s", "w_scale": "s", "y_scale": "t",
                                                "y_zero_point": "az"}, pads_begin=[1, 0], pads_end=[0, 1])]
        del nodes[0]["inputs"]["x"], nodes[1]["inputs"]["x"]
        inputs = {"a": codes("uint8", [6, 21]), "b": codes("int8", [21, 5], 1), "az": tensor("uint8", [], [9]),
                  "bz": tensor("int8", [], [-3]), "x": codes("uint8", [2, 3, 5, 4], 2),
                  "w": codes("int8", [4, 3, 3, 3], 3), "s": tensor("float32", [], [0.1]),
                  "t": tensor("float32", [], [9.0])}
        exact = self.assert_same(nodes, inputs, "--target", "ort@1.31-vnni")
        pairs = self.assert_same(nodes, inputs, "--target", "ort@1.31-avx2")
        self.assertIn("qdq_pair_sum", pairs.text)
        self.assertNotIn("qdq_pair_sum", exact.text)

    def test_dynamic_products_and_their_bias(self):
        """Rounded twice, on aarch64 once."""
        nodes = [{"op": "MatMulIntegerToFloat", "name": "m",
                  "inputs": {"a": "a", "b": "b", "a_scale": "as", "b_scale": "bs", "bias": "c"}}]
        inputs = {"a": codes("uint8", [7, 33]), "b": codes("int8", [33, 9], 1), "as": floats([1], 2),
                  "bs": floats([9], 3), "c": floats([9], 4)}
        twice = self.assert_same(nodes, inputs, "--target", "ort@1.31-vnni")
        once = self.assert_same(nodes, inputs, "--target", "ort@1.31-neon")
        self.assertIn("fmaf((float)emitted_int32(sum), multiplier, ", once.text)
        self.assertNotIn("fmaf((float)", twice.text)

    def test_convolutions(self):
        base = {"strides": [2, 1], "dilations": [1, 2], "pads_begin": [1, 2], "pads_end": [0, 1]}
        first = {"data_format": "NCX", "weights_format": "OIX"}
        nodes = [node("Convolution", "plain", "x", {"weights": "w", "bias": "b"}, **base, **first),
                 node("Convolution", "groups", "x", {"weights": "g"}, **base, **first, groups=2),
                 node("ConvTranspose", "back", "x", {"weights": "t"}, **base, data_format="NCX",
                      weights_format="IOX"),
                 node("Convolution", "last", "v", {"weights": "u"}, **base, data_format="NXC",
                      weights_format="XIO"),
                 node("Convolution", "line", "l", {"weights": "m"}, strides=[1], dilations=[1],
                      pads_begin=[0], pads_end=[0], **first)]
        inputs = {"x": edge_tensor([2, 4, 7, 6]), "w": floats([5, 4, 3, 2], 1), "b": floats([5], 2),
                  "g": floats([6, 2, 3, 2], 3), "t": floats([4, 3, 3, 2], 4), "v": floats([1, 6, 7, 3], 5),
                  "u": floats([2, 3, 3, 4], 6), "l": floats([1, 2, 9], 7), "m": floats([3, 2, 4], 8)}
        for target in ("core", "ort"):
            with self.subTest(target):
                some = nodes if target == "core" else [*nodes[:3], nodes[4]]
                used = {port for one in some for port in one["inputs"].values()}
                self.assert_same(some, {name: one for name, one in inputs.items() if name in used},
                                 "--target", target)

    def test_integer_convolutions(self):
        ports = {"w": "w", "x_zero_point": "xz", "w_zero_point": "wz"}
        more = {"pads_begin": [1, 1], "pads_end": [1, 1], "strides": [1, 2]}
        nodes = [node("ConvInteger", "i", "x", ports, **more),
                 node("QLinearConv", "q", "x", {**ports, "x_scale": "s", "w_scale": "t", "y_scale": "u",
                                                "y_zero_point": "xz", "bias": "b"}, **more)]
        inputs = {"x": codes("uint8", [1, 3, 6, 6]), "w": codes("int8", [4, 3, 3, 3], 1),
                  "xz": tensor("uint8", [], [100]), "wz": tensor("int8", [], [0]),
                  "s": tensor("float32", [], [0.02]), "t": tensor("float32", [4], [0.1, 0.2, 0.05, 1.0]),
                  "u": tensor("float32", [], [4.0]), "b": tensor("int32", [4], [7, -3000, 12345, 0])}
        self.assert_same(nodes, inputs)

    def test_groups_of_a_runtime(self):
        """Quantize, Convolution, ReLU, Add and MatMul between Dequantizes, which target ort fuses."""
        weights = constant("w", "int8", [4, 3, 3, 3], [(37 * i) % 255 - 127 for i in range(108)])
        nodes = [node("Quantize", "xq", "x", scales=0.02, zps=128, dtype="uint8"),
                 node("Dequantize", "xd", "xq", scales=0.02, zps=128, dtype="float32"),
                 node("Dequantize", "wd", "w", scales=0.01, dtype="float32"),
                 node("Convolution", "conv", "xd", {"weights": "wd"}, strides=[1, 1], dilations=[1, 1],
                      pads_begin=[1, 1], pads_end=[1, 1], data_format="NCX", weights_format="OIX"),
                 node("Quantize", "cq", "conv", scales=0.05, zps=120, dtype="uint8"),
                 node("Dequantize", "cd", "cq", scales=0.05, zps=120, dtype="float32"),
                 node("Add", "sum", None, {"a": "cd", "b": "cd"}),
                 node("Quantize", "sq", "sum", scales=0.1, zps=110, dtype="uint8"),
                 node("Dequantize", "sd", "sq", scales=0.1, zps=110, dtype="float32")]
        del nodes[6]["inputs"]["x"]
        for target in ("ort", "onnx"):
            self.assert_same(nodes, {"x": floats([2, 3, 6, 6], 4, 3.0)}, "--target", target,
                             constants=[weights], outputs={"y": "sd"})

    def test_means_and_softmax_of_codes(self):
        """Windows at borders and over a whole image, channels first and last, rows along each dim."""
        base = {"kernel": [3, 2], "strides": [2, 1], "pads_begin": [1, 0], "pads_end": [1, 1]}
        scales = {"x_scale": "s", "x_zero_point": "z", "y_scale": "t", "y_zero_point": "v"}
        nodes = [node("QLinearAveragePool", "seen", "x", scales, **base, data_format="NCX", exclude_pad=True),
                 node("QLinearAveragePool", "all", "x", scales, **base, data_format="NXC", exclude_pad=False),
                 node("QLinearAveragePool", "whole", "x", scales, kernel=[6, 5], strides=[1, 1], data_format="NCX",
                      exclude_pad=False),
                 node("QLinearGlobalAveragePool", "image", "x", scales, data_format="NCX"),
                 node("QLinearGlobalAveragePool", "last", "x", scales, data_format="NXC"),
                 node("QLinearSoftmax", "rows", "x", {**scales, "y_scale": "u"}, axis=-1),
                 node("QLinearSoftmax", "columns", "x", {**scales, "y_scale": "u"}, axis=1),
                 node("QLinearSoftmax", "flat", "x", {**scales, "y_scale": "u"}, axis=2, flatten=True)]
        for dtype, zeros in (("uint8", (100, 7)), ("int8", (-3, 5))):
            inputs = {"x": codes(dtype, [2, 3, 6, 5]), "s": tensor("float32", [], [0.021]),
                      "t": tensor("float32", [], [0.013]), "u": tensor("float32", [], [1 / 256]),
                      "z": tensor(dtype, [], [zeros[0]]), "v": tensor(dtype, [], [zeros[1]])}
            for target in ("onnx", "onnx@1.31-neon"):
                self.assert_same(nodes, inputs, "--target", target)

    def test_tensorflow_lite(self):
        """Each engine of TensorFlow Lite: models/keyword has the recorded bits."""
        folder = Path(harness.MODELS) / "keyword"
        frames = harness.read_safetensors(folder / "features.safetensors")["features"]
        size = len(frames.data) // frames.shape[0]
        for target in ("litert@reference", "litert@builtin-x86", "litert@xnnpack-x86", "tflm"):
            wanted = harness.read_safetensors(folder / f"{target.replace('@', '-')}.safetensors")
            run = self.emit(folder / "keyword.tflite", "--target", target)
            for i in range(frames.shape[0]):
                rows = [one.data[len(one.data) // frames.shape[0] * i:][:len(one.data) // frames.shape[0]]
                        for one in (wanted["words"], wanted["sum"])]
                self.assertEqual(run([frames.data[size * i:][:size]], [len(row) for row in rows]), rows, (target, i))

    # ---- Windows, slices, movement ----

    def test_pooling(self):
        base = {"kernel": [3, 2], "strides": [2, 1], "pads_begin": [1, 0], "pads_end": [1, 1]}
        nodes = [node("MaxPool", "max", "x", **base, data_format="NCX"),
                 node("MaxPool", "codes", "c", **base, data_format="NCX"),
                 node("MaxPool", "last", "x", **base, data_format="NXC"),
                 node("MaxPool", "wide", "x", kernel=[2, 2], strides=[1, 1], dilations=[2, 2],
                      data_format="NCX", rounding_type="ceil"),
                 node("AvgPool", "mean", "x", **base, data_format="NCX", exclude_pad=True),
                 node("AvgPool", "all", "x", **base, data_format="NXC", exclude_pad=False)]
        for target in ("core", "ort"):
            self.assert_same(nodes, {"x": edge_tensor([2, 3, 6, 5]), "c": codes("int8", [2, 3, 6, 5])},
                             "--target", target)

    def test_interpolation(self):
        """To larger and smaller images, of floats, halves and codes, with 1 to 3 spatial dims."""
        nodes = [node("Interpolate", f"{kind}{i}", name, mode=mode, data_format=form, **more)
                 for i, (name, form, more) in enumerate((
                     ("x", "NCX", {"sizes": [9, 7]}), ("x", "NXC", {"sizes": [3, 11]}), ("h", "NCX", {"sizes": [5, 4]}),
                     ("x", "NCX", {"sizes": [8, 3], "coordinate_transformation_mode": "align_corners"}),
                     ("l", "NCX", {"scales": [2.5]}), ("v", "NCX", {"sizes": [3, 5, 2]})))
                 for kind, mode in (("near", "nearest"), ("mean", "linear"))]
        nodes.append(node("Interpolate", "codes", "c", mode="nearest", data_format="NCX", scales=[2.0, 3.0]))
        halves = [harness.bfloat16_bits(x) for x in edges(24)]
        inputs = {"x": edge_tensor([2, 4, 5, 3]), "l": floats([1, 2, 9], 1), "v": floats([1, 2, 2, 3, 4], 2),
                  "c": codes("int8", [1, 2, 3, 4]), "h": tensor("bfloat16", [1, 2, 4, 3], halves)}
        self.assert_same(nodes, inputs)

    def test_gather(self):
        nodes = [node("Gather", f"{kind}{axis}", "x", {"indices": kind}, axis=axis)
                 for kind in ("narrow", "wide") for axis in (0, 1, -1)]
        nodes.append(node("Gather", "codes", "c", {"indices": "narrow"}, axis=1))
        self.assert_same(nodes, {"x": edge_tensor([3, 4, 5]), "narrow": tensor("int32", [2, 2], [0, -1, 2, 9]),
                                 "wide": tensor("int64", [3], [-3, 1, -2**40]), "c": codes("uint8", [2, 7])})

    def test_table(self):
        bytes_of = tensor("uint8", [256], [i * 37 % 256 for i in range(256)])
        nodes = [node("Table", f"{x}_{t}", x, {"table": t}) for x in ("i", "u") for t in ("b", "w")]
        nodes.append(node("Table", "lines", "h", {"table": "points"}))
        self.assert_same(nodes, {"i": codes("int8", [2, 128]), "u": codes("uint8", [256]), "b": bytes_of,
                                 "w": tensor("int32", [256], [(i - 128) * 16777213 for i in range(256)]),
                                 "h": tensor("int16", [7], [-32768, -32767, -1, 0, 127, 128, 32767]),
                                 "points": tensor("int16", [513], [i * 12347 % 65536 - 32768 for i in range(513)])})

    def test_integers(self):
        """The ops of TOSA's integer profile, with and without zero points, broadcast, and along each dim."""
        more = {"strides": [2, 1], "kernel": [3, 2], "pads_begin": [1, 0], "pads_end": [1, 1]}
        nodes = [{"op": "MultiplyShift", "name": f"m{shift}", "inputs": {"a": "i", "b": "row"}, "attrs": {"shift": shift}}
                 for shift in (0, 1, 31, 63)]
        nodes += [{"op": "ArithmeticShiftRight", "name": f"s{half}", "inputs": {"a": "h", "b": "by"},
                   "attrs": {"round": half}} for half in (False, True)]
        nodes += [node("ClampInteger", "c", "i", min=-2**31, max=7), node("ClampInteger", "u", "b", min=3, max=200),
                  node("NegInteger", "n", "b"), node("NegInteger", "z", "q", {"x_zero_point": "qz", "y_zero_point": "qz"}),
                  node("CountLeadingZeros", "l", "i")]
        nodes += [node(f"Reduce{kind}Integer", f"{kind}{axis}", "i", axis=axis, keep_dims=axis == 1)
                  for kind in ("Max", "Min", "Sum") for axis in (0, 1, -1)]
        nodes += [node("AvgPoolInteger", f"p{form}{name}", name, data_format=form, **more)
                  for form in ("NXC", "NCX") for name in ("q", "h")]
        nodes.append(node("AvgPoolInteger", "pz", "q", {"x_zero_point": "qz", "y_zero_point": "qz"}, **more))
        nodes.append(node("AvgPoolInteger", "line", "v", strides=[1], kernel=[4], data_format="NXC"))
        edge = [0, 1, -1, 2**31 - 1, -2**31, 2**30, -(2**30), 0x55555555, -12345, 3, -2, 77]
        self.assert_same(nodes, {"i": tensor("int32", [2, 3, 4], edge + edge[::-1]), "row": tensor("int32", [3, 1], [-2**31, 3, -5]),
                                 "h": tensor("int16", [2, 3, 4, 5], [i * 7919 % 65536 - 32768 for i in range(120)]),
                                 "by": tensor("int16", [5], [-1, 0, 1, 15, 16]), "b": codes("uint8", [3, 40]),
                                 "q": codes("int8", [2, 4, 5, 3]), "qz": tensor("int8", [1], [-7]),
                                 "v": codes("uint8", [2, 9, 3])})

    def test_softmax(self):
        nodes = [node("SoftMax", "a", "x", axis=1), node("SoftMax", "b", "x", axis=-1, mode="inf_as_zero"),
                 node("LogSoftmax", "l", "x", axis=0), node("SoftMax", "s", "f", axis=-1)]
        infinite = tensor("float32", [3, 4], [-math.inf] * 4 + [math.inf, 0, 1, 2] + [math.nan, 0, 1, 2])
        for target in ("core", "ort"):
            self.assert_same(nodes, {"x": floats([3, 40, 4], 2, 30.0), "f": infinite}, "--target", target)

    def test_reductions(self):
        ops = ["ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"]
        nodes = [node(op, f"{op}_{len(axes)}".lower(), "x", axes=axes) for op in ops for axes in ([1], [0, 2])]
        nodes += [node("ReduceMax", "most", "c", axes=[0]), node("ReduceMin", "least", "c", axes=[1])]
        self.assert_same(nodes, {"x": edge_tensor([4, 25, 3]), "c": codes("int8", [5, 6])})

    def test_movement(self):
        nodes = [node("StaticReshape", "reshape", "x", shape=[4, -1], special_zero=False),
                 node("StaticTranspose", "turn", "x", order=[2, 0, 1]),
                 node("Slice", "slice", "x", starts=[3, 0], ends=[0, 4], axes=[1, 2], steps=[-2, 3]),
                 node("Pad", "pad", "x", pads=[1, 0, 2, 0, 1, 1]),
                 node("Pad", "mirror", "x", pads=[0, 2, 1, 0, 1, 1], mode="reflect"),
                 node("Expand", "expand", "r", shape=[2, 3, 4]), node("Tile", "tile", "x", repeats=[1, 2, 2]),
                 {"op": "Concat", "name": "concat", "inputs": {"xs": ["x", "z", "x"]}, "attrs": {"axis": 1}},
                 node("DepthToSpace", "depth", "d", block_size=2), node("StaticTranspose", "codes", "c")]
        nodes[8]["attrs"] = {"blocksize": 2} if "blocksize" in self.qdq("ops", "DepthToSpace").out else \
            {"block_size": 2}
        self.assert_same(nodes, {"x": edge_tensor([2, 4, 5]), "z": floats([2, 1, 5], 1), "r": floats([3, 1], 2),
                                 "d": floats([1, 8, 2, 3], 3), "c": codes("int8", [3, 4, 5])})

    # ---- Whole graphs ----

    def test_models_are_written_or_refused(self):
        """Each graph of models/ that is written has the same bits; many are."""
        written = 0
        for folder in harness.models():
            with self.subTest(folder.name):
                result = self.qdq("plan", folder / "graph.json", "--emit-c", self.folder / "probe.c", code=None)
                self.assertIn(result.code, (0, REFUSED))
                if result.code:
                    self.assertIn("docs/firmware.md", result.err)
                    continue
                self.assert_path(folder / "graph.json", folder / "inputs.safetensors")
                written += 1
        self.assertGreater(written, 50)

    def test_digits_as_written_have_the_scores_of_a_runtime(self):
        digits = Path(harness.MODELS) / "digits"
        run = self.emit(digits / "int8.json")
        x = bytes_in(digits / "held_out.safetensors")["x"]
        wanted = bytes_in(digits / "onnxruntime.safetensors")["scores"]
        self.assertEqual(run([x], [len(wanted)]), [wanted])

    def test_the_file_needs_no_operating_system(self):
        text = self.assert_same([node("Quantize", "q", "x", scales=0.5)], {"x": edge_tensor([8])}).text
        self.assertEqual(set(re.findall(r"#include <(.*?)>", text)), emitted.ALLOWED)
        for word in ("malloc", "printf", "FILE", "qdq_status"):
            self.assertNotIn(word, text)

    def test_sizes_are_macros(self):
        text = self.assert_same([node("ReLU", "a", "x"), node("Abs", "b", "a")], {"x": edge_tensor([7])},
                                outputs={"y": "b"}).text
        self.assertEqual(emitted.macro(text, "net_x_elements"), 7)
        self.assertEqual(emitted.macro(text, "net_y_elements"), 7)
        self.assertGreaterEqual(emitted.macro(text, "net_arena_bytes"), 28)

    def test_a_header_declares_the_function_for_c_and_cpp(self):
        self.write("g.json", graph([node("Abs", "a", "x")], [value("x", "float32", [4])], {"y": "a"}, name="net"))
        self.qdq("plan", "g.json", "--emit-c", "net.c", "--emit-header", "net.h")
        self.assertEqual((self.folder / "net.h").read_text(encoding="utf-8"), """\
// Written by qdq with the C file that has this function.
#ifndef NET_QDQ_H
#define NET_QDQ_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NET_ARENA_BYTES 0
#define NET_X_ELEMENTS 4
#define NET_Y_ELEMENTS 4
void net_run(const float *x, float *y);

#ifdef __cplusplus
}
#endif
#endif
""")
        uses = '#include "net.h"\n#include "net.h"\nstatic float y[NET_Y_ELEMENTS];\nvoid f(void) { net_run(y, y); }\n'
        for language in ("c", "c++"):
            subprocess.run([*emitted.COMPILER, f"-x{language}", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"],
                           input=uses, check=True, text=True, cwd=self.folder)

    def test_a_header_belongs_to_a_file(self):
        self.write("g.json", graph([node("Abs", "a", "x")], [value("x", "float32", [4])], {"y": "a"}))
        self.assertEqual(self.qdq("plan", "g.json", "--emit-header", "net.h", code=2).err,
                         "qdq: --emit-header is for the file of --emit-c, which is not given\n")
        self.assertEqual(self.qdq("plan", "g.json", "--emit-c", "n.c", "--emit-header", "n.c", code=2).err,
                         "qdq: --emit-c and --emit-header are both 'n.c'\n")

    def test_inputs_and_constants_may_be_outputs(self):
        half = constant("half", "float32", [2], [0.5, -0.5])
        self.assert_same([node("Abs", "a", "x"), node("Abs", "b", "half")], {"x": edge_tensor([4])},
                         constants=[half],
                         outputs={"1": "x", "double": "a", "again": "a", "y.z": "half", "y_z": "b"})

    def compile_on_x86(self, *flags):
        path = self.write("g.json", graph([node("Abs", "a", "x")], [value("x", "float32", [4])], {"y": "a"}))
        return subprocess.run(["gcc", "-xc", *flags, "-fsyntax-only", "-"], input=self.emit(path).text,
                              capture_output=True, text=True, check=False)

    @unittest.skipUnless(shutil.which("gcc") and platform.machine() == "x86_64", "no gcc for x86-64")
    def test_a_wider_float_is_refused_with_the_flags_that_mend_it(self):
        done = self.compile_on_x86("-mfpmath=387")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("add -msse2 -mfpmath=sse", done.stderr)
        self.assertEqual(self.compile_on_x86("-mfpmath=387", "-msse2", "-mfpmath=sse").returncode, 0)

    @unittest.skipUnless(shutil.which("gcc") and platform.machine() == "x86_64", "no gcc for x86-64")
    def test_float16_instructions_widen_no_float(self):
        self.assertEqual(self.compile_on_x86("-march=sapphirerapids", "-std=gnu11").stderr, "")

    # ---- Names ----

    def known_words(self):
        """Words that a C or C++ compiler knows: its macros and those of the headers, and keywords of both."""
        head = "".join(f"#include <{name}>\n" for name in sorted(emitted.ALLOWED))
        macros = set()
        for words in (["-std=c11"], ["-std=gnu11"], ["-x", "c++"]):
            done = subprocess.run([*emitted.COMPILER, "-E", "-dM", "-xc", *words, "-"], input=head, capture_output=True,
                                  text=True, check=False)
            macros |= set(re.findall(r"^#define (\w+)", done.stdout, re.M))
        self.assertGreater(len(macros), 100)
        return sorted(macros) + """auto break case char const continue default do double else enum extern float for goto if
            inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
            volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert
            _Thread_local asm typeof class catch delete new template this throw try typename using virtual and or not xor
            bitand compl nullptr operator private public namespace friend mutable explicit constexpr thread_local
            __attribute__ __func__ __asm__ __COUNTER__ __DATE__ __FILE__ __LINE__ _Pragma defined memcpy memset sqrtf
            fmaf isnan errno step_0 step_1 constant_1 arena place net_run NET_A_ELEMENTS NET_ARENA_BYTES a A a_2
            1 _1 x\\ x\u202e \u202e \u2066 ??/ abc*/ é""".split()

    def test_every_name_compiles(self):
        names = sorted(set(self.known_words()))
        content = graph([node("Abs", f"n{i}", name) for i, name in enumerate(names)],
                        [value(name, "float32", [1 + i % 3]) for i, name in enumerate(names)],
                        {**{f"n{i}": f"n{i}" for i in range(len(names))}, "copy": names[0], "memmove": names[-1]}, name="net")
        path = self.write("g.json", content)
        text = self.emit(path).text
        self.assertEqual(len(emitted.prototype(text)[1]), len(names))
        for compiler, words in (("gcc", ["-std=c11"]), ("gcc", ["-std=gnu11"]), ("clang", ["-std=c11"]),
                                ("clang-14", ["-std=c11"]), ("g++", ["-x", "c++"])):  # fmt: skip
            if not shutil.which(compiler):
                continue
            given = text if words[0] != "-x" else text[text.index("#define NET"):text.index(");\n") + 3]
            given = given if words[0] != "-x" else f"#include <stdint.h>\n{given}"
            done = subprocess.run([compiler, "-xc", *words, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"], input=given,
                                  capture_output=True, text=True, check=False)
            self.assertEqual((compiler, words, done.returncode), (compiler, words, 0), done.stderr[:2000])

    def test_an_input_that_nothing_reads_compiles(self):
        content = graph([node("Abs", "a", "x")], [value("x", "float32", [2]), value("unread", "float32", [3])], {"y": "a"}, name="net")
        text = self.emit(self.write("g.json", content)).text
        done = subprocess.run([*emitted.COMPILER, "-xc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-"], input=text,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:2000])

    def test_names_of_nodes_do_not_turn_comments(self):
        """Controls of bidirectional text would let a reader see other code than the compiler."""
        hidden = "".join(map(chr, [0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]))
        add = {"op": "Add", "name": "s", "inputs": {"a": f"n{hidden}", "b": f"c{hidden}"}}
        content = graph([node("Abs", f"n{hidden}", "x"), add],
                        [value("x", "float32", [2])], {"y": "s"},
                        constants=[constant(f"c{hidden}", "float32", [2], [1, 2])])  # fmt: skip
        text = self.emit(self.write("g.json", content)).text
        self.assertEqual([one for one in hidden if one in text], [])
        self.assertIn("'n??", text)

    def test_what_cannot_be_written_is_refused_all_at_once(self):
        content = graph([node("Cast", "c", "x", dtype="float16"), node("Abs", "a", "c"),
                         node("CumSum", "s", "a", axis=0)], outputs={"y": "s"})
        result = self.qdq("plan", self.write("g.json", content), "--emit-c", "out.c", code=REFUSED)
        self.assertIn("node 'c': Cast: cannot be written as C", result.err)
        self.assertIn("node 's': CumSum: cannot be written as C", result.err)
        self.assertFalse((self.folder / "out.c").exists())

    def test_the_document_lists_the_ops(self):
        root = Path(__file__).resolve().parents[2]
        table = (root / "graph/formats/c/c_ops.c").read_text(encoding="utf-8")
        rows = (root / "ops/elementwise/elementwise_ops.h").read_text(encoding="utf-8")
        ops = set(re.findall(r'\{"(\w+)", qdq_c_write', table)) | set(re.findall(r'X\(\w+, "(\w+)",', rows))
        text = (root / "docs/firmware.md").read_text(encoding="utf-8")
        listed = re.search(r"\| family \| ops \|\n(.*?)\n\n", text, re.S).group(1)
        cells = " ".join(row.split("|")[2] for row in listed.split("\n")[1:])
        self.assertEqual(set(re.findall(r"\b[A-Z]\w+", cells)) - {"ONNX", "Runtime"}, ops)

    def test_another_plan_is_refused(self):
        content = self.write("g.json", graph([node("Abs", "q", "x")]))
        result = self.qdq("plan", content, "--emit-c", "out.c", "--tiles", code=2)
        self.assertIn("leave out --tiles", result.err)


if __name__ == "__main__":
    if not emitted.has_compiler():
        print(f"skipped: there is no compiler {emitted.COMPILER[0]}; set CC to one")
        sys.exit(77)
    main()
