#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize: scales of each method against arithmetic on the samples themselves, what each target gets, nodes that stay in
float, ratios against outputs of qdq run, and states and options that are refused."""

import json
import math
import random
import struct
from pathlib import Path

import harness
from harness import Case, constant, graph, main, node, read_safetensors, tensor, unpack, value

TARGETS = ["core", "onnx", "ort", "onednn", "tensorrt", "tripy", "torchao", "ttnn"]
SYMMETRIC = ["tensorrt", "tripy"]


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def product(weights, shape, bias=None, **attrs):
    """Node m: x * w + b."""
    constants = [constant("w", "float32", shape, weights)]
    one = {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "w"}, "attrs": attrs}
    if bias:
        constants.append(constant("b", "float32", [len(bias)], bias))
        one["inputs"]["bias"] = "b"
    columns = shape[-2] if attrs.get("transpose_b") else shape[-1]
    rows = shape[-1] if attrs.get("transpose_b") else shape[-2]
    return graph([one], inputs=[value("x", shape=[1, rows])], outputs={"y": "m"}, constants=constants), rows, columns


def normal(count, seed=1, mean=0.0, tails=False):
    draw = random.Random(seed)
    return [float32(draw.gauss(mean, 1) * (draw.expovariate(1) ** 2 if tails else 1)) for _ in range(count)]


# ---- The methods, on samples -------------------------------------------------


def params(low, high, symmetric, least, greatest):
    low, high = min(low, 0.0), max(high, 0.0)
    if symmetric:
        middle = (least + greatest + 1) // 2
        return float32(max(-low, high) / (greatest - middle)), middle
    scale = float32((high - low) / (greatest - least))
    return scale, min(max(least - round(low / scale), least), greatest)


def error_of(xs, scale, zero, least, greatest):
    """The sum of squared errors of quantizing."""
    return sum((x - (min(max(round(x / scale) + zero, least), greatest) - zero) * scale) ** 2 for x in xs)


def edge_above(x):
    """The edge of the bin of |x| that is further from 0: 32 bins for each power of two."""
    fraction, exponent = math.frexp(abs(x))
    return (math.floor(fraction * 64) + 1) * 2.0 ** (exponent - 6)


def entropy_edge(xs, levels):
    """Where |x| is cut so that what the levels leave of the histogram diverges least from it."""
    greatest, bins = max(map(abs, xs)), [0.0] * 2048
    counts = {}
    for x in xs:
        if abs(x) >= 2.0**-32:
            counts[(edge_above(x), x < 0)] = counts.get((edge_above(x), x < 0), 0) + 1
    ends = max(x for x in xs), max(-x for x in xs)
    for (edge, negative), count in counts.items():
        width = 2.0 ** (math.frexp(edge)[1] - 6)
        if math.frexp(edge)[0] == 0.5:  # an edge that is a power of two ends the octave below it
            width /= 2
        low, high = edge - width, min(edge, ends[negative])
        for i in range(2048):
            a, b = max(low, i * greatest / 2048), min(high, (i + 1) * greatest / 2048)
            if b > a:
                bins[i] += count * (b - a) / (high - low)
    best = math.inf, 2048
    for n in range(levels, 2049, 8):
        inside, beyond = sum(bins[:n]), sum(bins[n:])
        if inside <= 0 or (beyond > 0 and bins[n - 1] <= 0):
            continue
        total = 0.0
        for level in range(levels):
            part = range(level * n // levels, (level + 1) * n // levels)
            mass, used = sum(bins[i] for i in part), sum(bins[i] > 0 for i in part)
            for i in part:
                p = (bins[i] + (beyond if i == n - 1 else 0)) / (inside + beyond)
                if p > 0:
                    total += p * math.log(p / (mass / used / inside))
        best = min(best, (total, n))
    return greatest * best[1] / 2048


class Quantize(Case):
    def calibrate(self, g, xs, rows, state="s.state"):
        """Writes g.json, samples of x and the state."""
        self.write("g.json", g)
        (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes(
            {"x": tensor("float32", [len(xs) // rows, rows], xs)}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", state)

    def quantize(self, *words, target="core", out="q.json", code=0, state="s.state"):
        return self.json("quantize", "g.json", "--state", state, "-t", target, "-o", out, *words, code=code)

    def chosen(self, xs, *words, target="core"):
        """Scale and zero point of x."""
        g, rows, _ = product([0.5, -1.0], [2, 1])
        self.calibrate(g, xs, rows)
        values = {one["value"]: one for one in self.quantize(*words, target=target)["values"]}
        return float32(values["x"]["scale"]), values["x"]["zero_point"]

    def graph(self, name="q.json"):
        return json.loads((self.folder / name).read_text())

    def constants(self, name="q.json"):
        return {one["name"]: one for one in self.graph(name)["constants"]}

    def nodes(self, name="q.json"):
        return {one["name"]: one for one in self.graph(name)["nodes"]}


class Methods(Quantize):
    def test_minmax_reaches_both_ends(self):
        for mean in (0.0, 1.5, 9.0, -9.0):
            xs = normal(200, mean=mean)
            for target, symmetric, least, greatest in (("core", False, 0, 255), ("torchao", False, -128, 127),
                                                       ("tensorrt", True, -128, 127)):
                with self.subTest(mean=mean, target=target):
                    self.assertEqual(self.chosen(xs, target=target),
                                     params(min(xs), max(xs), symmetric, least, greatest))

    def test_symmetric_codes_have_0_in_the_middle(self):
        xs = normal(200, mean=1)
        self.assertEqual(self.chosen(xs, "--symmetric"), params(min(xs), max(xs), True, 0, 255))
        self.assertEqual(self.chosen(xs, "--symmetric", target="ttnn"), params(min(xs), max(xs), True, -128, 127))

    def test_values_that_are_all_0_have_scale_1(self):
        self.assertEqual(self.chosen([0.0] * 8), (1, 0))
        self.assertEqual(self.chosen([0.0] * 8, "--method", "mse"), (1, 0))
        self.assertEqual(self.chosen([0.0] * 8, "--method", "entropy", target="tensorrt"), (1, 0))

    def test_percentile_cuts_a_share_of_each_tail(self):
        xs = normal(20000, tails=True)
        for percentile in (90.0, 99.0, 99.9, 100.0):
            cut = (100 - percentile) / 100 * len(xs)
            ordered, sizes = sorted(xs), sorted(map(abs, xs))
            # The first element that no longer belongs to the tail, and the outer edge of its bin.
            high = min(edge_above(ordered[-1 - math.floor(cut / 2 + 1e-9)]), max(xs))
            low = max(-edge_above(ordered[math.floor(cut / 2 + 1e-9)]), min(xs))
            both = min(edge_above(sizes[-1 - math.floor(cut + 1e-9)]), sizes[-1])
            words = "--method", "percentile", "--percentile", percentile
            with self.subTest(percentile=percentile):
                self.assertEqual(self.chosen(xs, *words), params(low, high, False, 0, 255))
                self.assertEqual(self.chosen(xs, *words, target="tripy"), params(-both, both, True, -128, 127))

    def test_the_default_percentile_is_99_99(self):
        xs = normal(30000, tails=True)
        self.assertEqual(self.chosen(xs, "--method", "percentile"),
                         self.chosen(xs, "--method", "percentile", "--percentile", "99.99"))

    def test_entropy_cuts_where_the_divergence_is_least(self):
        for xs, levels in ((normal(6000, tails=True), 128), ([abs(x) for x in normal(6000, tails=True)], 256)):
            edge = entropy_edge(xs, levels)
            self.assertLess(edge, 0.9 * max(map(abs, xs)))  # something is cut
            scale, zero = self.chosen(xs, "--method", "entropy")
            wanted = params(max(min(xs), -edge), min(max(xs), edge), False, 0, 255)
            self.assertAlmostEqual(scale, wanted[0], delta=1e-6 * scale)
            self.assertEqual(zero, wanted[1])
            edge = entropy_edge(xs, 128)
            scale, _ = self.chosen(xs, "--method", "entropy", target="tensorrt")
            self.assertAlmostEqual(scale, edge / 127, delta=1e-6 * scale)

    def test_mse_is_within_two_percent_of_the_least_error_on_the_samples(self):
        times, base, outliers = 100, normal(2000), [8.0, -9.0]
        def error(*chosen):
            return times * error_of(base, *chosen) + error_of(outliers, *chosen)
        xs = base * times + outliers
        least_error = min(error(*params(-k, k, True, -128, 127), -128, 127)
                          for k in (9 * i / 200 for i in range(20, 201)))
        minmax = error(*params(-9, 8, True, -128, 127), -128, 127)
        self.assertLess(least_error, 0.7 * minmax)
        self.assertLess(error(*self.chosen(xs, "--method", "mse", target="tensorrt"), -128, 127), 1.02 * least_error)
        self.assertLess(error(*self.chosen(xs, "--method", "mse"), 0, 255), 1.02 * least_error)

    def test_mse_takes_the_end_with_the_least_error_of_evenly_filled_bins(self):
        # Elements in each bin from 1 to 2 and in two beyond, of which the last ends at the greatest element. Each bin is
        # summed at many points.
        for tail in (2, 20):
            filled = {**{1 + i / 32: 6000 for i in range(32)}, 2.5: tail, 3.0: 2}
            xs = [x for x, count in filled.items() for _ in range(count)]
            xs += [3.03] + [0.0] * ((len(xs) + 1) % 2)
            last = xs.count(3.0) + xs.count(3.03)
            points = []
            for x, count in filled.items():
                high = min(edge_above(x), float32(3.03))
                low = x if x == 3.0 else high - 2.0 ** (math.frexp(x)[1] - 6)
                count = last if x == 3.0 else count
                points += [(low + (high - low) * (i + 0.5) / 100, count / 100) for i in range(100)]
            def error(high):
                scale, zero = params(0, high, False, 0, 255)
                return sum(count * error_of([x], scale, zero, 0, 255) for x, count in points)
            best = min((float32(3.03) * k / 128 for k in range(128, 7, -1)), key=error)
            self.assertEqual(self.chosen(xs, "--method", "mse"), params(0, best, False, 0, 255), (tail, best))

    def test_mse_cuts_nothing_of_evenly_spread_numbers(self):
        draw = random.Random(3)
        xs = [float32(draw.uniform(-1, 3)) for _ in range(4000)]
        error = error_of(xs, *self.chosen(xs, "--method", "mse"), 0, 255)
        self.assertLess(error, 1.02 * error_of(xs, *params(min(xs), max(xs), False, 0, 255), 0, 255))


class Weights(Quantize):
    W = [0.5, -3.0, 1.0, 0.25, 2.0, -0.125]  # [3, 2]

    def weights(self, *words, target="core", **more):
        g, rows, _ = product(self.W, [3, 2], **more)
        self.calibrate(g, normal(30), rows)
        self.quantize(*words, target=target)
        return self.constants()["w_quantized"]["data"], self.nodes()["w_dequantized"]["attrs"]

    def assert_codes(self, codes, scales, of):
        self.assertEqual(codes, [round(float32(w / float32(scales[of(i)]))) for i, w in enumerate(self.W)])

    def test_each_output_channel_has_a_scale(self):
        codes, attrs = self.weights()
        self.assertEqual((attrs["qtype"], attrs["axis"]), ("per_channel", 1))
        self.assertEqual([float32(s) for s in attrs["scales"]], [float32(2 / 127), float32(3 / 127)])
        self.assert_codes(codes, attrs["scales"], lambda i: i % 2)

    def test_transposed_weights_have_their_channels_along_rows(self):
        codes, attrs = self.weights(transpose_b=True)
        self.assertEqual(attrs["axis"], 0)
        self.assertEqual([float32(s) for s in attrs["scales"]], [float32(s / 127) for s in (3, 1, 2)])
        self.assert_codes(codes, attrs["scales"], lambda i: i // 2)

    def test_per_tensor_gives_one_scale(self):
        codes, attrs = self.weights("--per-tensor")
        self.assertNotIn("qtype", attrs)
        self.assertEqual(float32(attrs["scales"]), float32(3 / 127))
        self.assert_codes(codes, [attrs["scales"]], lambda i: 0)

    def test_groups_lie_along_the_summed_dim(self):
        self.W = [0.5, -3.0, 1.0, 0.25, 2.0, -0.125, 4.0, 0.5]
        g, rows, _ = product(self.W, [4, 2])
        self.calibrate(g, normal(40), rows)
        self.quantize("--group", "2")
        attrs = self.nodes()["w_dequantized"]["attrs"]
        self.assertEqual((attrs["qtype"], attrs["group_shape"]), ("per_group", [2, 1]))
        self.assertEqual([float32(s) for s in attrs["scales"]], [float32(s / 127) for s in (1, 3, 4, 0.5)])
        self.assert_codes(self.constants()["w_quantized"]["data"], attrs["scales"], lambda i: i // 4 * 2 + i % 2)

    def test_groups_that_fit_no_weights_are_an_error(self):
        g, rows, _ = product(self.W, [3, 2])
        self.calibrate(g, normal(30), rows)
        for group in ("2", "3", "4"):
            err = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "core", "-o", "q.json", "--group", group,
                           code=2).err
            self.assertEqual(err, f"qdq: g.json: --group {group} fits no weights, wanted those of a product of matrices, of "
                                  "two dims, with a larger multiple of it in a column; there are 'w' [3, 2]\n")

    def test_mse_of_weights_has_no_more_error_than_minmax(self):
        # Column 0 has 128 and integers below it, which are exact with a scale of 1, at which only 128 is clipped.
        self.W = [w for i, x in enumerate(normal(128)) for w in (float(128 - i), x)]
        g, rows, _ = product(self.W, [128, 2])
        self.calibrate(g, normal(256), rows)
        self.quantize("--weights", "mse")
        scales = self.nodes()["w_dequantized"]["attrs"]["scales"]
        for channel in range(2):
            ws = self.W[channel::2]
            top = max(map(abs, ws)) / 127
            errors = [error_of(ws, float32(top * k / 128), 0, -128, 127) for k in range(8, 129)]
            self.assertAlmostEqual(error_of(ws, scales[channel], 0, -128, 127), min(errors), delta=1e-5 * min(errors))
        self.assertEqual(scales[0], 1)

    def test_a_bias_has_the_product_of_both_scales(self):
        bias = [0.7, -1.3]
        self.weights(target="ort", bias=bias)
        nodes = self.nodes()
        x = nodes["x_quantized"]["attrs"]["scales"]
        attrs = nodes["b_dequantized"]["attrs"]
        wanted = [float32(float32(x) * float32(s)) for s in nodes["w_dequantized"]["attrs"]["scales"]]
        self.assertEqual([float32(s) for s in attrs["scales"]], wanted)
        self.assertEqual((self.constants()["b_quantized"]["dtype"], attrs["axis"]), ("int32", 0))
        self.assertEqual(self.constants()["b_quantized"]["data"], [round(float32(b) / s) for b, s in zip(bias, wanted)])
        self.weights(target="tensorrt", bias=bias)
        self.assertEqual(self.constants()["b"]["dtype"], "float32")

    def test_a_bias_beyond_int32_makes_the_scale_of_its_channel_greater(self):
        self.W = [1e-9, 1.0, 1e-9, 1.0, 1e-9, 1.0]
        self.weights(target="onnx", bias=[100.0, 1.0])
        code = self.constants()["b_quantized"]["data"][0]
        most = 2**31 - 1 - 3 * 255 * 128  # and the sum of three products of uint8 and int8
        self.assertTrue(most - 2**10 < code <= most, code)
        scale = self.nodes()["b_dequantized"]["attrs"]["scales"][0]
        self.assertAlmostEqual(code * scale, 100, delta=1e-4)


class Places(Quantize):
    CONV = dict(strides=[1, 1], dilations=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], data_format="NCX",
                weights_format="OIX")

    def conv(self, name, x):
        return node("Convolution", name, x, {"weights": "w"}, **self.CONV)

    def network(self, nodes, output):
        g = graph(nodes, inputs=[value("x", shape=[1, 2, 4, 4])], outputs={"y": output},
                  constants=[constant("w", "float32", [2, 2, 1, 1], [0.5, -1.0, 2.0, 0.25])])
        self.write("g.json", g)
        (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes(
            {"x": tensor("float32", [4, 2, 4, 4], normal(128))}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")

    def reads(self, name="q.json"):
        """What each node reads, without pairs: {"c2": ["x~", "w~"]}; a tilde marks codes."""
        nodes = self.nodes(name)
        def source(x):
            one = nodes.get(x)
            if one and one["op"] == "Dequantize":
                return source(one["inputs"]["x"]) + "~"
            if one and one["op"] == "Quantize":
                return one["inputs"]["x"]
            return x.removesuffix("_quantized")
        return {key: [source(x) for x in one["inputs"].values()] for key, one in nodes.items()
                if one["op"] not in ("Quantize", "Dequantize")}

    def pool(self, name, x):
        return node("MaxPool", name, x, kernel=[2, 2], strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0],
                    data_format="NCX")

    def test_a_result_becomes_codes_behind_its_relu_and_keeps_them_in_a_pool(self):
        self.network([self.conv("c", "x"), node("ReLU", "r", "c"), self.pool("p", "r"), self.conv("d", "p")], "d")
        self.quantize(target="ort")
        self.assertEqual(self.reads(), {"c": ["x~", "w~"], "r": ["c"], "p": ["r~"], "d": ["p~", "w~"]})
        nodes = self.nodes()
        for key in ("scales", "zps"):
            self.assertEqual(nodes["p_quantized"]["attrs"][key], nodes["r_quantized"]["attrs"][key])
        self.quantize(target="tensorrt")
        self.assertEqual(self.reads(), {"c": ["x~", "w~"], "r": ["c"], "p": ["r"], "d": ["p~", "w~"]})

    def test_a_residual_sum_is_quantized_as_its_target_fuses_it(self):
        add = {"op": "Add", "name": "s", "inputs": {"a": "d", "b": "c"}}
        self.network([self.conv("c", "x"), self.conv("d", "c"), add, node("ReLU", "r", "s"), self.conv("e", "r")], "e")
        self.quantize(target="ort")
        self.assertEqual(self.reads()["s"], ["d~", "c~"])
        self.assertEqual(self.reads()["e"], ["r~", "w~"])
        self.quantize(target="tensorrt")  # d is fused with s: the other operand becomes codes
        self.assertEqual(self.reads()["s"], ["d", "c~"])
        self.quantize(target="torchao")
        self.assertEqual(self.reads()["s"], ["d", "c"])

    def test_a_result_of_matmul_that_floats_read_stays_float_where_the_kernel_gives_floats(self):
        def matmul(name, x):
            return {"op": "MatMul", "name": name, "inputs": {"a": x, "b": "w"}}
        nodes = [matmul("a", "x"), node("ReLU", "r", "a"), matmul("b", "r"), node("Tanh", "t", "b")]
        self.write("g.json", graph(nodes, inputs=[value("x", shape=[2, 3])], outputs={"y": "t"},
                                   constants=[constant("w", "float32", [3, 3], normal(9))]))
        (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes({"x": tensor("float32", [8, 3], normal(24))}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        for target, read in (("ort", "b"), ("onnx", "b~")):
            self.quantize(target=target)
            self.assertEqual(self.reads(), {"a": ["x~", "w~"], "r": ["a"], "b": ["r~", "w~"], "t": [read]})
        nodes[2]["inputs"]["bias"] = "c"  # Gemm needs a Quantize behind it
        constants = [constant("w", "float32", [3, 3], normal(9)), constant("c", "float32", [3], [1, 2, 3])]
        self.write("h.json", graph(nodes, inputs=[value("x", shape=[2, 3])], outputs={"y": "t"}, constants=constants))
        self.qdq("calibrate", "h.json", "--data", "x.safetensors", "-o", "h.state")
        self.qdq("quantize", "h.json", "--state", "h.state", "-t", "ort", "-o", "q.json")
        self.assertEqual(self.reads()["t"], ["b~"])
        self.quantize(target="ort")
        self.qdq("convert", "q.json", "-t", "ort", "--deployed", "-o", "d.json")
        ops = {one["op"] for one in json.loads((self.folder / "d.json").read_text())["nodes"]}
        self.assertTrue({"QLinearMatMul", "MatMulIntegerToFloat"} <= ops, ops)

    def test_each_target_takes_products_of_every_form(self):
        transposed = {**self.CONV, "weights_format": "IOX"}
        weights = constant("v", "float32", [2, 4, 3], normal(24)), constant("t", "float32", [2, 3, 2, 2], normal(24))
        def of(op, name, x, w, **attrs):
            ports = ("a", "b") if op == "MatMul" else ("x", "weights")
            return {"op": op, "name": name, "inputs": dict(zip(ports, (x, w))), "attrs": attrs}
        graphs = {
            "stacked": [of("MatMul", "y", "x", "v")],
            "transposed": [of("ConvTranspose", "y", "x", "t", **transposed)],
            "two activations": [of("MatMul", "s", "x", "x", transpose_b=True), node("SoftMax", "p", "s", axis=-1),
                                of("MatMul", "y", "p", "x")]}
        shape = [1, 2, 4, 4]
        for name, nodes in graphs.items():
            read = {x for one in nodes for x in one["inputs"].values()}
            self.write("g.json", graph(nodes, inputs=[value("x", shape=shape)], outputs={"y": "y"},
                                       constants=[w for w in weights if w["name"] in read]))
            (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes(
                {"x": tensor("float32", [4, *shape[1:]], normal(4 * math.prod(shape)))}))
            self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
            for target in TARGETS:
                with self.subTest(name=name, target=target):
                    told = self.quantize("--data", "x.safetensors", target=target)
                    self.assertGreater(told["outputs"][0]["decibels"], 20)
                    self.assertEqual(self.json("check", "q.json", "-t", target)["errors"], 0)
            told = {one["value"]: one for one in self.quantize(target="ort")["values"]}
            if name == "stacked":  # ONNX Runtime takes scales for the channels of one matrix
                self.assertEqual(told["v"]["scales"], 1)
            if name == "two activations":  # its kernel for SoftMax makes numbers of 1 / 256
                self.assertEqual((told["p"]["scale"], told["p"]["zero_point"]), (1 / 256, 0))

    def test_a_kept_node_reads_floats(self):
        self.network([self.conv("c", "x"), node("ReLU", "r", "c"), self.conv("d", "r")], "d")
        told = self.quantize("--keep", "d", target="ort")
        self.assertEqual(self.reads(), {"c": ["x~", "w~"], "r": ["c"], "d": ["r", "w"]})
        self.assertEqual([(one["node"], one["quantized"], one.get("reason")) for one in told["nodes"]],
                         [("c", True, None), ("d", False, "--keep")])
        self.quantize("--keep", "c", "--keep", "r", target="ort")
        self.assertEqual(self.reads(), {"c": ["x", "w"], "r": ["c"], "d": ["r~", "w~"]})

    def test_an_unknown_node_is_an_error_with_a_hint(self):
        self.network([self.conv("convolution", "x"), self.conv("last", "convolution")], "last")
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "ort", "-o", "q.json", "--keep", "convoluton",
                        code=2)
        self.assertEqual(told.err, "qdq: --keep: g.json has no node 'convoluton'; did you mean 'convolution'?\n")
        self.assertFalse((self.folder / "q.json").exists())

    def test_a_graph_without_such_nodes_is_refused(self):
        self.network([node("ReLU", "r", "x")], "r")
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "core", "-o", "q.json", code=4)
        self.assertIn("g.json has no node that can be quantized", told.err)


class Digits(Quantize):
    """The network of models/digits for each target."""

    def setUp(self):
        super().setUp()
        self.digits = Path(harness.MODELS) / "digits"
        self.data = self.digits / "held_out.safetensors"
        self.model = self.digits / "float32.json"
        self.qdq("calibrate", self.model, "--data", self.data, "-o", "s.state")

    def scores(self, file, *words):
        self.qdq("run", file, "-i", self.data, "-o", "y.safetensors", *words)
        return unpack(read_safetensors(self.folder / "y.safetensors")["scores"])

    def right(self, scores):
        labels = unpack(read_safetensors(self.data)["labels"])
        return sum(max(range(10), key=scores[10 * i:10 * i + 10].__getitem__) == label
                   for i, label in enumerate(labels))

    def test_every_target_takes_its_graph_and_reads_the_digits(self):
        for target in TARGETS:
            for words in ((), ("--per-tensor",), ("--symmetric", "--method", "mse", "--weights", "mse")):
                with self.subTest(target=target, words=words):
                    self.qdq("quantize", self.model, "--state", "s.state", "-t", target, "-o", "q.json", *words)
                    self.assertEqual(self.json("check", "q.json", "-t", target)["errors"], 0)
                    self.assertGreaterEqual(self.right(self.scores("q.json", "-t", target)), 349)

    def test_a_target_without_zero_points_gets_none(self):
        for target in SYMMETRIC:
            told = self.json("quantize", self.model, "--state", "s.state", "-t", target, "-o", "q.json")
            self.assertEqual({one.get("zero_point", 0) for one in told["values"]}, {0})
            self.assertEqual({one["dtype"] for one in told["values"]}, {"int8"})

    def test_ratios_are_those_of_the_outputs(self):
        told = self.json("quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json", "--data", self.data)
        exact, codes = self.scores(self.model), self.scores("q.json", "-t", "core")
        ratio = 10 * math.log10(sum(y * y for y in exact) / sum((y - z) ** 2 for y, z in zip(exact, codes)))
        self.assertAlmostEqual(told["outputs"][0]["decibels"], ratio, places=9)
        self.assertAlmostEqual(told["nodes"][-1]["decibels"], ratio, places=9)
        self.assertEqual(told["outputs"][0]["name"], "scores")
        again = self.json("quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json", "-i", self.data)
        self.assertEqual(again["outputs"], told["outputs"])
        self.assertEqual((told["fill"], again["fill"]), (None, None))
        text = self.qdq("quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json", "-i", self.data).out
        self.assertIn(f"\noutput scores, {ratio:.1f} dB\n", text)
        self.assertIn("3 of 3 nodes on codes", text)

    def test_ratios_of_random_inputs_say_so(self):
        words = ["quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json"]
        for more, seed in (([], "1"), (["--fill", "7"], "7")):
            self.assertEqual(self.json(*words, *more)["fill"], seed)
            self.assertRegex(self.qdq(*words, *more).out, rf"\noutput scores, \S+ dB, on random inputs \(--fill {seed}\)\n")

    def test_a_sample_that_cannot_be_read_is_named_and_left_out(self):
        samples = self.folder / "samples"
        samples.mkdir()
        (samples / "a.npz").write_bytes(b"PK")
        (samples / "b.safetensors").write_bytes(self.data.read_bytes())
        words = "quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json", "--json"
        told = self.qdq(*words, "--data", "samples")
        self.assertRegex(told.err, "qdq: a.npz: ")
        self.assertEqual(json.loads(told.out)["outputs"], json.loads(self.qdq(*words, "-i", self.data).out)["outputs"])
        (samples / "b.safetensors").unlink()
        self.assertIn("samples: none of 1 sample could be read; the first: a.npz: ",
                      self.qdq(*words, "--data", "samples", code=3).err)

    def test_a_model_has_the_same_numbers_as_the_graph(self):
        probe = self.qdq("quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.onnx", code=None)
        if "without ONNX" in probe.err:
            self.skipTest("this build has no ONNX")
        self.qdq("quantize", self.model, "--state", "s.state", "-t", "ort", "-o", "q.json")
        self.qdq("check", "q.onnx", "-t", "ort")
        self.assertEqual(self.scores("q.onnx", "-t", "ort"), self.scores("q.json", "-t", "ort"))


class Names(Quantize):
    def test_keep_takes_the_name_of_the_graph_or_of_the_model(self):
        g, rows, _ = product([0.5, -1.0], [2, 1])
        g["nodes"].append({"op": "MatMul", "name": "n", "inputs": {"a": "m", "b": "u"}, "attrs": {}})
        g["constants"].append(constant("u", "float32", [1, 1], [2.0]))
        g["outputs"] = [{"name": "y", "value": "n"}]
        self.calibrate({**g, "originals": {"nodes": {"m": "/fc 1/MatMul"}}}, normal(20), rows)
        for name in ("m", "/fc 1/MatMul"):
            kept = {one["node"]: one["quantized"] for one in self.quantize("--keep", name)["nodes"]}
            self.assertEqual(kept, {"m": False, "n": True})
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "core", "-o", "q.json", "--keep",
                        "/fc 2/MatMul", code=2)
        self.assertEqual(told.err, "qdq: --keep: g.json has no node '/fc 2/MatMul'; did you mean '/fc 1/MatMul'?\n")


class Refusals(Quantize):
    def setUp(self):
        super().setUp()
        g, rows, _ = product([0.5, -1.0], [2, 1])
        self.calibrate(g, normal(20), rows)

    def refused(self, *words, code=2, state="s.state", target="core"):
        told = self.qdq("quantize", "g.json", "--state", state, "-t", target, "-o", "q.json", *words, code=code)
        self.assertFalse((self.folder / "q.json").exists())
        return told.err

    def test_a_target_without_a_form_is_refused(self):
        self.assertIn("target tosa has no form of quantized graphs, wanted one of: core, onnx, ort, ", self.refused(target="tosa", code=4))

    def test_options_that_do_not_fit_are_named(self):
        for words, text in (
                (("--method", "mxe"), "there is no method 'mxe', wanted one of: minmax percentile entropy mse; "
                                      "did you mean 'mse'?"),
                (("--weights", "entropy"), "there is no method of --weights 'entropy', wanted one of: minmax mse"),
                (("--method", "percentile", "--percentile", "0"),
                 "--percentile is '0', wanted a number above 0 and at most 100"),
                (("--method", "percentile", "--percentile", "99x"),
                 "--percentile is '99x', wanted a number above 0 and at most 100"),
                (("--percentile", "99"), "--percentile is given with --method minmax, wanted --method percentile"),
                (("--group", "1"), "--group is '1'"),
                (("--group", "32", "--per-tensor"), "--group and --per-tensor exclude each other; give one of them"),
                (("--data", "x.safetensors", "--fill", "1"),
                 "--data and --fill exclude each other; give the samples or one run"),
                (("-o", "r.json"), "2 files are given with -o, wanted one: -o OUT.json, OUT.onnx or OUT.tflite")):
            with self.subTest(words=words):
                self.assertIn(text, self.refused(*words))
        self.assertIn("--group is given, but target ort takes no groups of these weights", self.refused(
            "--group", "32", target="ort"))
        self.assertIn("target 'tensort' is unknown", self.refused(target="tensort"))

    def test_missing_options_are_named(self):
        told = self.qdq("quantize", "g.json", "-t", "core", "-o", "q.json", code=2)
        self.assertIn("--state is missing", told.err)
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-o", "q.json", code=2)
        self.assertIn("--target is missing", told.err)

    def test_a_state_of_another_graph_is_refused(self):
        g, rows, _ = product([0.5, -1.5], [2, 1])
        self.write("other.json", g)
        self.qdq("calibrate", "other.json", "--data", "x.safetensors", "-o", "other.state")
        self.assertIn("other.state: is of another graph than g.json", self.refused(state="other.state", code=3))

    def test_a_state_of_some_shards_is_refused(self):
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "--shard", "1/2", "-o", "1.state")
        self.assertIn("1.state: has 1 of 2 shards; add the others with qdq merge", self.refused(state="1.state", code=3))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "--shard", "2/2", "-o", "2.state")
        self.qdq("merge", "1.state", "2.state", "-o", "all.state")
        self.quantize(state="all.state")

    def test_a_damaged_file_and_one_that_is_no_state_are_refused(self):
        data = bytearray((self.folder / "s.state").read_bytes())
        data[-100] ^= 1
        (self.folder / "bad.state").write_bytes(bytes(data))
        self.assertIn("bad.state: is no state, or a damaged one", self.refused(state="bad.state", code=3))
        (self.folder / "cut.state").write_bytes(bytes(data[:200]))
        self.assertIn("cut.state: ", self.refused(state="cut.state", code=3))
        self.assertIn("x.safetensors: is no state", self.refused(state="x.safetensors", code=3))
        self.assertIn("none.state: ", self.refused(state="none.state", code=3))

    def test_a_state_of_another_command_is_refused(self):
        self.qdq("compare", "g.json", "--targets", "core,onnx", "--data", "x.safetensors", "-o", "c.state", code=None)
        self.assertIn("c.state: is a state of qdq compare, wanted one of qdq calibrate",
                      self.refused(state="c.state", code=3))

    def test_a_graph_that_the_target_refuses_is_not_written(self):
        nodes = [{"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "w"}},
                 harness.quantize("d", "m", scales=0.5, dtype="uint8")]
        g = graph(nodes, inputs=[value("x", shape=[1, 2])], outputs={"y": "d"},
                  constants=[constant("w", "float32", [2, 1], [1.0, 2.0])])
        self.calibrate(g, normal(20), 2)
        told = self.refused(target="tensorrt", code=4)
        self.assertIn("target tensorrt refuses g.json also without codes, with 1 error, so nothing was written", told)


if __name__ == "__main__":
    main()
