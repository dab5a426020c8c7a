#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain --against: signal-to-noise ratios of nodes, which are computed here from the formulas, with causes and mends."""

import json
import math
import random
import re
import struct
from pathlib import Path

import harness
from faulty_networks import float32
from harness import Case, constant, main, read_safetensors, safetensors_bytes, tensor, value

ROWS, WIDTH = 32, 8


def decibels(a, b):
    noise = sum((p - q) ** 2 for p, q in zip(a, b))
    return 10 * math.log10(sum(p * p for p in a) / noise) if noise else math.inf


def quantized(x, scales, zero=0, low=-128, high=127):
    """The numbers that codes stand for, with one scale or one for each column."""
    made = []
    for i, one in enumerate(x):
        scale = scales[i % WIDTH] if isinstance(scales, list) else scales
        made.append((min(max(round(one / scale) + zero, low), high) - zero) * scale)
    return made


def pair(name, x, scale, zero=0, **attrs):
    attrs = {"scales": scale, "zps": zero, **attrs}
    return [{"op": "Quantize", "name": f"q{name}", "inputs": {"x": x}, "attrs": {**attrs, "dtype": "int8"}},
            {"op": "Dequantize", "name": f"d{name}", "inputs": {"x": f"q{name}"}, "attrs": {**attrs, "dtype": "float32"}}]  # fmt: skip


class Accuracy(Case):
    def setUp(self):
        super().setUp()
        numbers = random.Random(7)
        self.x = [float32(numbers.gauss(0, 1)) for _ in range(ROWS * WIDTH)]
        self.first, self.source, self.more = [], "x", []  # nodes before, the value that is rounded, constants
        # Columns of weights whose sizes are far apart.
        self.w = [float32(numbers.gauss(0, 1) * 4.0 ** -(i % WIDTH)) for i in range(WIDTH * WIDTH)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        self.write("float.json", self.document([], [], "x", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))

    def document(self, before, after, a, b, constants):
        nodes = [*self.first, *before, {"op": "MatMul", "name": "m", "inputs": {"a": a, "b": b}},
                 {"op": "ReLU", "name": "r", "inputs": {"x": "m"}}, *after]  # fmt: skip
        return {"format": "qdq/1", "name": "net", "target": "core", "constants": [*constants, *self.more], "nodes": nodes,
                "inputs": [value("x", shape=(ROWS, WIDTH))],
                "outputs": [{"name": "y", "value": after[-1]["name"] if after else "r"}]}  # fmt: skip

    def quantize_model(self, scale, weight_scale, again=None):
        """The model with x, w and the result quantized; x a second time with the scale `again`."""
        codes = [min(max(round(one / weight_scale), -128), 127) for one in self.w]
        weights = {"op": "Dequantize", "name": "dw", "inputs": {"x": "codes"},
                   "attrs": {"scales": weight_scale, "zps": 0, "dtype": "float32"}}  # fmt: skip
        before = [*pair("x", self.source, scale), *(pair("2", "dx", again) if again else []), weights]
        document = self.document(before, pair("y", "r", 0.05), "d2" if again else "dx", "dw",
                                 [constant("codes", "int8", [WIDTH, WIDTH], codes)])  # fmt: skip
        self.write("net.json", document)
        found = json.loads(self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", "--json",
                                    code=1).out)  # fmt: skip
        self.assertEqual(found["unmatched"], 0)
        return {node["node"]: node for node in found["nodes"]}, found

    def near(self, a, b):
        self.assertLess(abs(a - b), 0.01, (a, b))

    def test_own_errors_are_those_of_the_formulas(self):
        nodes, found = self.quantize_model(0.03, 0.02)
        self.near(nodes["dx"]["own"], decibels(self.x, quantized(self.x, 0.03)))
        self.near(nodes["dw"]["own"], decibels(self.w, quantized(self.w, 0.02)))
        product = [sum(self.x[row * WIDTH + k] * self.w[k * WIDTH + column] for k in range(WIDTH))
                   for row in range(ROWS) for column in range(WIDTH)]  # fmt: skip
        result = [max(one, 0) for one in product]
        self.near(nodes["dy"]["own"], decibels(result, quantized(result, 0.05)))
        self.assertEqual([nodes[name]["kind"] for name in ("dx", "dw", "m")], ["activations", "weights", "operation"])
        # The product adds nothing, and inherits what it is given.
        x, w = quantized(self.x, 0.03), quantized(self.w, 0.02)
        inherited = [sum(x[row * WIDTH + k] * w[k * WIDTH + column] for k in range(WIDTH))
                     for row in range(ROWS) for column in range(WIDTH)]  # fmt: skip
        self.assertEqual(nodes["m"]["own"], "Infinity")
        self.near(nodes["m"]["inherited"], decibels(product, inherited))
        self.near(nodes["m"]["total"], nodes["m"]["inherited"])
        self.near(found["outputs"][0]["total"], nodes["dy"]["total"])
        self.assertEqual(nodes["dx"]["inherited"], "Infinity")

    def net(self, x, w, y_scale=None):
        """The result of the network, as rows."""
        made = [max(sum(x[row * WIDTH + k] * w[k * WIDTH + column] for k in range(WIDTH)), 0)
                for row in range(ROWS) for column in range(WIDTH)]  # fmt: skip
        return quantized(made, y_scale) if y_scale else made

    def test_effects_are_those_of_one_pair_alone(self):
        nodes, found = self.quantize_model(0.03, 0.02)
        x, w, exact = quantized(self.x, 0.03), quantized(self.w, 0.02), self.net(self.x, self.w)
        alone = {"dx": self.net(x, self.w), "dw": self.net(self.x, w), "dy": quantized(exact, 0.05)}
        but = {"dx": self.net(self.x, w, 0.05), "dw": self.net(x, self.w, 0.05), "dy": self.net(x, w)}
        rows = [range(row * WIDTH, (row + 1) * WIDTH) for row in range(ROWS)]
        for name in ("dx", "dw", "dy"):
            self.near(nodes[name]["effect"], decibels(exact, alone[name]))
            self.near(nodes[name]["without"], decibels(exact, but[name]))
            alike = sum(max(row, key=lambda i: exact[i]) == max(row, key=lambda i: alone[name][i]) for row in rows)
            self.assertAlmostEqual(nodes[name]["alike"], alike / ROWS)
        noise = sum((p - q) ** 2 for one in alone.values() for p, q in zip(exact, one))
        self.near(found["summed"], 10 * math.log10(sum(p * p for p in exact) / noise))
        self.assertIsNone(nodes["m"]["effect"])
        samples = sorted(decibels([exact[i] for i in row], [result[i] for i in row]) for row in rows
                         for result in [self.net(x, w, 0.05)])  # fmt: skip
        self.near(found["outputs"][0]["median"], (samples[ROWS // 2 - 1] + samples[ROWS // 2]) / 2)

    def test_the_curve_has_the_worst_pairs_in_float_together(self):
        nodes, found = self.quantize_model(0.03, 0.02)
        w, exact = quantized(self.w, 0.02), self.net(self.x, self.w)
        order = sorted(("dx", "dw", "dy"), key=lambda name: nodes[name]["effect"])
        self.assertEqual([k for k, _ in found["curve"]], [0, 1, 2, 3])
        for k, ratio in found["curve"][:3]:
            rounds = order[k:]
            made = self.net(quantized(self.x, 0.03) if "dx" in rounds else self.x, w if "dw" in rounds else self.w,
                            0.05 if "dy" in rounds else None)  # fmt: skip
            self.near(ratio, decibels(exact, made))
        self.assertEqual(found["curve"][3], [3, "Infinity"])
        self.near(found["curve"][1][1], nodes[order[0]]["without"])
        text = self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1).out
        self.assertRegex(text, r"worst pairs in float +0 +1 +2 +3\nworst output, in dB +\S+ +\S+ +\S+ +exact\n")

    def test_pairs_are_sorted_by_their_effect(self):
        """x is coarse, and multiplied by weights of almost nothing: the error of x does not show."""
        self.w = [float32(one if i // WIDTH else one * 1e-6) for i, one in enumerate(self.w)]
        self.x = [one if i % WIDTH else float32(100 * one) for i, one in enumerate(self.x)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        self.write("float.json", self.document([], [], "x", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))
        self.quantize_model(0.03, 0.02)
        text = self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1).out
        effects = [float(one) for one in re.findall(r": effect (\S+) dB", text)]
        self.assertEqual(len(effects), 3)
        self.assertEqual(effects, sorted(effects))
        self.assertRegex(text, r"pairs together \S+ dB; summed one by one \S+ dB\n")

    def test_codes_that_another_op_reads_round(self):
        """x passes a transpose of codes on its way to the product, and y is quantized behind."""
        codes = [min(max(round(one / 0.02), -128), 127) for one in self.w]
        turned = [{"op": "StaticTranspose", "name": "t", "inputs": {"x": "qx"}, "attrs": {"order": [0, 1]}}]
        weights = {"op": "Dequantize", "name": "dw", "inputs": {"x": "codes"},
                   "attrs": {"scales": 0.02, "zps": 0, "dtype": "float32"}}  # fmt: skip
        q, d = pair("x", "x", 0.03)
        d["inputs"]["x"] = "t"
        document = self.document([q, *turned, d, weights], pair("y", "r", 0.05), "dx", "dw",
                                 [constant("codes", "int8", [WIDTH, WIDTH], codes)])  # fmt: skip
        self.write("net.json", document)
        found = json.loads(self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", "--json",
                                    code=1).out)  # fmt: skip
        nodes = {node["node"]: node for node in found["nodes"]}
        exact = self.net(self.x, self.w)
        self.near(nodes["dw"]["effect"], decibels(exact, self.net(self.x, quantized(self.w, 0.02))))
        self.near(nodes["dy"]["effect"], decibels(exact, quantized(exact, 0.05)))

    def test_a_pair_rounds_what_the_target_computes(self):
        """Tanh of target onnx differs from the core's in the last bit, and a code lies between the two."""
        grid = [float32(i / 5000) for i in range(1, 10000)]
        self.write("grid.safetensors", safetensors_bytes({"x": tensor("float32", [len(grid)], grid)}))
        tanh = {"op": "Tanh", "name": "t", "inputs": {"x": "x"}}
        self.write("grid.json", {"format": "qdq/1", "name": "grid", "nodes": [tanh], "inputs": [value("x", shape=(len(grid),))],
                                 "outputs": [{"name": "y", "value": "t"}]})  # fmt: skip
        found = {target: self.results("grid.json", "grid.safetensors", target) for target in ("core", "onnx")}
        at = next(i for i, (a, b) in enumerate(zip(*found.values())) if a != b)
        scale = 2 * min(one[at] for one in found.values())  # one result is at the tie of codes 0 and 1, the other above
        least = found["onnx"][at] - scale / 4
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [4], [grid[at]] * 4)}))
        attrs = {"scales": scale, "zps": 0}
        pair = [{"op": "Quantize", "name": "q", "inputs": {"x": "t"}, "attrs": {**attrs, "dtype": "int8"}},
                {"op": "Dequantize", "name": "d", "inputs": {"x": "q"}, "attrs": {**attrs, "dtype": "float32"}}]  # fmt: skip
        for name, between, read in (("float.json", [], "t"), ("int8.json", pair, "d")):
            rest = [{"op": "Subtract", "name": "s", "inputs": {"a": read, "b": "least"}}, {"op": "ReLU", "name": "r", "inputs": {"x": "s"}}]
            self.write(name, {"format": "qdq/1", "name": "net", "nodes": [tanh, *between, *rest], "inputs": [value("x", shape=(4,))],
                              "constants": [constant("least", "float32", [1], [least])], "outputs": [{"name": "y", "value": "r"}]})  # fmt: skip
        told = self.json("explain", "int8.json", "--against", "float.json", "-t", "onnx", "-i", "x.safetensors", code=1)
        exact, rounded = (self.results(name, "x.safetensors", "onnx") for name in ("float.json", "int8.json"))
        effect = next(one["effect"] for one in told["nodes"] if one["node"] == "d")
        self.assertAlmostEqual(effect, decibels(exact, rounded), delta=0.01)

    def results(self, graph, inputs, target):
        self.qdq("run", graph, "-i", inputs, "-t", target, "-o", "y.safetensors")
        (made,) = read_safetensors(self.folder / "y.safetensors").values()
        return list(struct.unpack(f"<{len(made.data) // 4}f", made.data))

    def test_a_group_shows_what_its_fused_node_costs(self):
        """A convolution of ONNX Runtime saturates on a CPU without VNNI. Pairs do not know it."""
        digits, target = Path(harness.MODELS).resolve() / "digits", "ort@1.31-avx2"
        inputs = ["-i", str(digits / "held_out.safetensors")]
        found = self.json("explain", str(digits / "int8.json"), "--against", str(digits / "float32.json"), *inputs,
                          "-t", target, code=1)  # fmt: skip
        outputs = []
        for version in (target, f"{target}:level=disabled"):
            self.qdq("run", str(digits / "int8.json"), *inputs, "-t", version, "-o", "y.safetensors")
            outputs.append(read_safetensors(self.folder / "y.safetensors")["scores"])
        deployed, written = (struct.unpack(f"<{len(one[2]) // 4}f", one[2]) for one in outputs)
        nodes = {node["node"]: node for node in found["nodes"]}
        worst = nodes["relu1.code"]
        self.assertEqual((worst["kind"], worst["own"]), ("group", None))
        self.assertLess(abs(worst["effect"] - decibels(written, deployed)), 0.5)
        pairs = [node for node in found["nodes"] if node["kind"] in ("activations", "weights")]
        self.assertEqual({node["node"] for node in pairs}, {f"{name}.real" for name in (
            "x", "relu1", "relu2", "conv1.weights", "conv2.weights", "dense.weights")})  # fmt: skip
        self.assertGreater(min(node["effect"] for node in pairs), worst["effect"] + 20)
        text = self.qdq("explain", str(digits / "int8.json"), "--against", str(digits / "float32.json"), *inputs,
                        "-t", target, code=1).out  # fmt: skip
        self.assertIn("  relu1.code, as deployed in a QLinearConv: effect ", text)

    def test_a_bias_that_leaves_int32_is_named(self):
        """ONNX Runtime's optimizer rounds bias / (scale of x * scale of weights) to int32: 100 / 1e-8."""
        def convolution(x, w):
            return {"op": "Convolution", "name": "c", "inputs": {"x": x, "weights": w, "bias": "b"},
                    "attrs": {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0],
                              "data_format": "NCX", "weights_format": "OIX"}}  # fmt: skip

        numbers = random.Random(5)
        codes = [numbers.randint(-127, 127) for _ in range(4 * 3)]
        bias = constant("b", "float32", [4], [0.5, -0.25, 100.0, 0.125])
        weights = {"op": "Dequantize", "name": "dw", "inputs": {"x": "codes"},
                   "attrs": {"scales": 1e-4, "zps": 0, "dtype": "float32"}}  # fmt: skip
        document = {"format": "qdq/1", "name": "net", "target": "ort", "inputs": [value("x", shape=(2, 3, 8, 8))],
                    "constants": [constant("codes", "int8", [4, 3, 1, 1], codes), bias],
                    "nodes": [*pair("x", "x", 1e-4), weights, convolution("dx", "dw"), *pair("y", "c", 0.5)],
                    "outputs": [{"name": "y", "value": "dy"}]}  # fmt: skip
        for one in document["nodes"]:
            if one["op"] == "Quantize":
                one["attrs"]["dtype"] = "uint8"
        self.write("net.json", document)
        real = [constant("w", "float32", [4, 3, 1, 1], [float32(float32(1e-4) * one) for one in codes]), bias]
        self.write("float.json", {**document, "constants": real, "nodes": [convolution("x", "w")],
                                  "outputs": [{"name": "y", "value": "c"}]})  # fmt: skip
        words = ["explain", "net.json", "--against", "float.json", "--fill", "1", "-t", "ort"]
        nodes = {node["node"]: node for node in self.json(*words, code=1)["nodes"]}
        self.assertEqual((nodes["qy"]["kind"], nodes["qy"]["cause"]), ("group", "bias overflow"))
        effects = {name: float(node["effect"].replace("Infinity", "inf") if isinstance(node["effect"], str) else node["effect"])
                   for name, node in nodes.items() if node["effect"] is not None}  # fmt: skip
        self.assertEqual(min(effects, key=effects.get), "qy")
        bits = 1 + math.ceil(math.log2(100 / float32(1e-4) ** 2))
        self.assertIn(f"bias overflow: channel 2 of the bias needs {bits} bits, int32 has 32: quantize the bias",
                      self.qdq(*words, code=1).out)  # fmt: skip
        many = tensor("float32", [6, 3, 8, 8], [numbers.uniform(0, 0.02) for _ in range(6 * 3 * 64)])
        self.write("many.safetensors", safetensors_bytes({"x": many}))
        self.qdq(*words[:4], "-t", "ort", "--data", "many.safetensors", "-o", "s.state", code=1)
        (row,) = [row for row in self.json("merge", "s.state", code=1)["nodes"] if row["node"] == "qy"]
        self.assertEqual([row[key] for key in ("kind", "cause", "mend")], [nodes["qy"][key] for key in ("kind", "cause", "mend")])

    def test_ratios_on_random_inputs_say_so(self):
        self.quantize_model(0.03, 0.02)
        for words, seed in (("--fill", 3), "3"), (("-i", "x.safetensors"), None):
            call = "explain", "net.json", "--against", "float.json", *words
            line = next(one for one in self.qdq(*call, code=1).out.splitlines() if one.startswith("output 'y': "))
            self.assertEqual(line.endswith(" of samples decide alike, on random inputs (--fill 3)"), seed is not None)
            self.assertEqual(self.json(*call, code=1)["fill"], seed)

    def test_a_small_scale_clips(self):
        nodes, _ = self.quantize_model(0.004, 0.02)
        dx = nodes["dx"]
        self.assertEqual(dx["clipped"], sum(not -128.5 <= one / float32(0.004) <= 127.5 for one in self.x))
        self.assertEqual(dx["cause"], "scale too small")
        scale = float(re.search(r"scale (\S+) instead", dx["mend"]).group(1))
        self.near(scale, max(max(self.x) / 127, -min(self.x) / 128))
        self.near(dx["mended"], decibels(self.net(self.x, self.w), self.net(quantized(self.x, scale), self.w)))
        self.assertGreater(dx["mended"], dx["effect"] + 10)

    def test_a_mend_helps_even_and_odd_samples(self):
        """The scale clips one sample, and fits all others, which a scale for that sample would harm."""
        self.x = [float32(10 * one if i < WIDTH else one) for i, one in enumerate(self.x)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        nodes, _ = self.quantize_model(0.03, 0.02)
        self.assertEqual(nodes["dx"]["cause"], "resolution")
        self.assertEqual(nodes["dx"]["mend"], "more bits, or float: qdq quantize --keep m")
        self.assertEqual(nodes["dx"]["mended"], "Infinity")
        self.x = [float32(10 * one if WIDTH <= i < 2 * WIDTH else one) for i, one in enumerate(self.x)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        nodes, _ = self.quantize_model(0.03, 0.02)
        self.assertEqual(nodes["dx"]["cause"], "scale too small")

    def test_channels_that_differ_are_named(self):
        """The node before scales a channel up, and the weights behind scale it down: the float network is the same."""
        self.x = [abs(one) if one < -0.5 else one for one in self.x]
        self.w = [one * 4.0 ** (i % WIDTH) / (64 if i // WIDTH == 5 else 1) for i, one in enumerate(self.w)]
        self.w = [float32(one) for one in self.w]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        self.first, self.source = [{"op": "MatMul", "name": "p", "inputs": {"a": "x", "b": "v"}}], "p"
        self.more = [constant("v", "float32", [WIDTH, WIDTH], [(64.0 if i == 45 else 1.0) * (i % 9 == 0) for i in range(64)])]
        self.write("float.json", self.document([], [], "p", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))
        self.x = [float32(64 * one if i % WIDTH == 5 else one) for i, one in enumerate(self.x)]  # p
        reach = [max(map(abs, self.x[c::WIDTH])) for c in range(WIDTH)]
        nodes, _ = self.quantize_model(reach[5] / 127, max(map(abs, self.w)) / 127)
        dx, middle = nodes["dx"], sorted(reach)[WIDTH // 2 - 1 : WIDTH // 2 + 1]
        self.assertEqual(dx["cause"], "channel imbalance")
        self.assertEqual((dx["channels"]["axis"], dx["channels"]["worst"][0][0]), (1, 5))
        self.near(dx["channels"]["worst"][0][1], reach[5])
        self.near(dx["channels"]["median"], sum(middle) / 2)
        self.near(dx["channels"]["ratio"], reach[5] / (sum(middle) / 2))
        for c in range(WIDTH):
            self.near(dx["channels"]["least"][c], min(self.x[c::WIDTH]))
            self.near(dx["channels"]["greatest"][c], max(self.x[c::WIDTH]))
        self.assertRegex(dx["mend"], r"^channel 5 of axis 1 reaches \S+, the median channel \S+ \(\S+ x\): "
                         r"qdq quantize --equalize")  # fmt: skip
        # With each channel divided by its reach, x has one scale and one zero point for all.
        equal = [one / reach[i % WIDTH] for i, one in enumerate(self.x)]
        scale = (max(equal) - min(equal)) / 255
        rounded = quantized(equal, float32(scale), -128 - round(min(equal) / scale))
        mended = [one * reach[i % WIDTH] for i, one in enumerate(rounded)]
        self.near(dx["mended"], decibels(self.net(self.x, self.w), self.net(mended, self.w)))
        # Row 5 of w is quiet where x is loud. Divided by its reach, each row has the scale 1 / 127.
        dw, rows = nodes["dw"], [max(map(abs, self.w[k * WIDTH : (k + 1) * WIDTH])) for k in range(WIDTH)]
        self.assertEqual((dw["cause"], dw["channels"]["axis"], dw["channels"]["quietest"][0]), ("channel imbalance", 0, 5))
        self.assertRegex(dw["mend"], r"^channel 5 of axis 0 reaches \S+, the median channel \S+ \(1/\S+ x\): ")
        rounded = quantized([one / rows[i // WIDTH] for i, one in enumerate(self.w)], float32(1 / 127))
        mended = [one * rows[i // WIDTH] for i, one in enumerate(rounded)]
        self.near(dw["mended"], decibels(self.net(self.x, self.w), self.net(self.x, mended)))

    def test_channels_of_an_input_stay(self):
        """No node before an input can take a factor, so that only float helps."""
        self.x = [float32(64 * one if i % WIDTH == 5 else one) for i, one in enumerate(self.x)]
        self.w = [float32(one / 64 if i // WIDTH == 5 else one) for i, one in enumerate(self.w)]
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [ROWS, WIDTH], self.x)}))
        self.write("float.json", self.document([], [], "x", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))
        nodes, _ = self.quantize_model(max(map(abs, self.x)) / 127, max(map(abs, self.w)) / 127)
        self.assertEqual((nodes["dx"]["cause"], nodes["dx"]["mended"]), ("channel imbalance", "Infinity"))
        self.assertRegex(nodes["dx"]["mend"], r" x\), no node before it takes a factor: qdq quantize --keep m$")

    def test_quiet_weights_alone_are_no_imbalance(self):
        """Without a loud channel of x, weights that are almost 0 in a row cost nothing."""
        self.w = [one * 4.0 ** (i % WIDTH) / (60 if i // WIDTH == 5 else 1) for i, one in enumerate(self.w)]
        self.write("float.json", self.document([], [], "x", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)]))
        nodes, _ = self.quantize_model(max(map(abs, self.x)) / 127, max(map(abs, self.w)) / 127)
        self.assertEqual((nodes["dx"]["cause"], nodes["dw"]["cause"]), ("resolution", "resolution"))

    def explain_rows(self, scale, rows):
        """The text of a pair of x on so many samples."""
        document = self.document(pair("x", "x", scale), [], "dx", "w", [constant("w", "float32", [WIDTH, WIDTH], self.w)])
        for name, graph in (("net.json", document), ("float.json", json.loads((self.folder / "float.json").read_text()))):
            graph["inputs"] = [value("x", shape=(rows, WIDTH))]
            self.write(name, graph)
        self.write("x.safetensors", safetensors_bytes({"x": tensor("float32", [rows, WIDTH], self.x[: rows * WIDTH])}))
        return self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1).out

    def test_few_samples_narrow_no_range(self):
        """A scale that clips one sample is too small. How far other samples reach, a few do not show."""
        self.assertRegex(self.explain_rows(0.004, 1), r"zero point: .* \(effect \S+ dB, on one sample\)\n")
        self.assertIn("; resolution: more bits, or float: qdq quantize --keep m\n", self.explain_rows(0.3, 15))
        self.assertRegex(self.explain_rows(0.3, 16), r"scale too large: .* \(effect \S+ dB\)\n")

    def test_a_large_scale_leaves_codes_unused(self):
        nodes, _ = self.quantize_model(0.3, 0.02)
        codes = [round(one / 0.3) for one in self.x]
        self.assertEqual(nodes["dx"]["unused"], 256 - (max(codes) - min(codes) + 1))
        self.assertEqual(nodes["dx"]["cause"], "scale too large")

    def test_no_codes_of_32_bits_are_unused(self):
        codes = [round(one / 2.0**-20) for one in self.w]
        weights = {"op": "Dequantize", "name": "dw", "inputs": {"x": "codes"},
                   "attrs": {"scales": 2.0**-20, "zps": 0, "dtype": "float32"}}  # fmt: skip
        self.write("net.json", self.document([weights], [], "x", "dw", [constant("codes", "int32", [WIDTH, WIDTH], codes)]))
        words = ["explain", "net.json", "--against", "float.json", "-i", "x.safetensors"]
        nodes = {node["node"]: node for node in self.json(*words, code=1)["nodes"]}
        self.assertEqual((nodes["dw"]["codes"], nodes["dw"]["unused"]), (2**32, None))
        text = self.qdq(*words, code=1).out
        self.assertIn("0 of 64 clipped", text)
        self.assertNotIn("unused", text)

    def test_weights_of_unlike_channels_want_a_scale_each(self):
        most = max(abs(one) for one in self.w) / 127
        nodes, _ = self.quantize_model(0.03, most)
        dw = nodes["dw"]
        self.assertEqual((dw["cause"], dw["mend"]),
                         ("per-tensor", "a scale for each index of axis 1, or in float: qdq quantize --keep m"))  # fmt: skip
        rooms = [max(map(abs, self.w[c::WIDTH])) / 127 for c in range(WIDTH)]
        self.near(dw["mended"], decibels(self.net(self.x, self.w), self.net(self.x, quantized(self.w, rooms))))
        self.assertGreater(dw["mended"], dw["effect"] + 3)

    def test_the_words_of_keep_take_the_pair_away(self):
        """Also for a target whose results are codes; relu1 and its pool pass their codes on to conv2."""
        digits = Path(harness.MODELS).resolve() / "digits"
        model, inputs = str(digits / "float32.json"), str(digits / "held_out.safetensors")
        self.qdq("calibrate", model, "--data", inputs, "-o", "digits.state")
        for target in ("core", "ort"):
            words = ["quantize", model, "--state", "digits.state", "-t", target, "-i", inputs]
            self.qdq(*words, "-o", "all.json")
            explain = ["--against", model, "-i", inputs, "-t", target]
            rows = self.json("explain", "all.json", *explain, code=1)["nodes"]
            pairs = [row for row in rows if row["kind"] in ("activations", "weights")]
            self.assertGreaterEqual(len(pairs), 6)
            for row in pairs:
                if "--keep" not in row["mend"]:
                    continue
                self.qdq(*words, "-o", "kept.json", *re.findall(r"--keep|(?<=--keep )\S+", row["mend"]))
                left = {one["name"] for one in json.loads((self.folder / "kept.json").read_text())["nodes"]}
                self.assertNotIn(row["node"], left, (target, row["mend"]))

    def test_a_pair_that_no_product_reads(self):
        """qdq quantize rounds operands of products, so that no --keep is for the result here."""
        self.quantize_model(0.03, 0.02)
        document = json.loads((self.folder / "net.json").read_text())
        for one in document["nodes"][-2:]:
            one["attrs"]["zps"] = -128
        self.write("net.json", document)
        nodes = self.json("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1)["nodes"]
        dy = next(one for one in nodes if one["node"] == "dy")
        self.assertEqual((dy["cause"], dy["mend"]), ("resolution", "more bits, or float: qdq quantize leaves it in float"))

    def test_numbers_that_are_quantized_twice(self):
        nodes, _ = self.quantize_model(0.03, 0.02, again=0.021)
        self.assertEqual(nodes["d2"]["cause"], "double rounding")

    def test_the_text_has_at_most_40_lines(self):
        self.quantize_model(0.004, 0.02)
        text = self.qdq("explain", "net.json", "--against", "float.json", "-i", "x.safetensors", code=1).out
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertRegex(text, r"dx \(codes: qx\): effect \S+ dB, without \S+ dB, \S+ alike; own ")
        self.assertIn("scale too small: scale ", text)

    def test_the_model_itself_is_exact(self):
        found = json.loads(self.qdq("explain", "float.json", "--against", "float.json", "-i", "x.safetensors", "--json").out)
        self.assertEqual(found["outputs"], [{"name": "y", "total": "Infinity", "median": "Infinity", "alike": 1}])

    def test_wrong_command_lines_are_refused(self):
        self.write("other.json", {"format": "qdq/1", "inputs": [value("z")], "outputs": [{"name": "y", "value": "z"}]})
        words = ["explain", "float.json", "-i", "x.safetensors", "--against"]
        self.assertIn("the second graph has input 'z'", self.qdq(*words, "other.json", code=2).err)
        self.assertIn("none.json", self.qdq(*words, "none.json", code=3).err)
        self.assertIn("wanted one of", self.qdq(*words, "float.json", "--got", "x.npy", code=2).err)


if __name__ == "__main__":
    main()
