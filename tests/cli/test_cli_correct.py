#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize --correct: biases and codes against arithmetic on the samples, what held-out samples gain, a graph that nothing
changes, bounds, and calls without samples."""

import json
import math
import random
import struct
from fractions import Fraction

import harness
from harness import Case, constant, graph, main, node, read_safetensors, tensor, unpack, value
from onnx_writing import layers_network


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def convolution(name, x, bias=None, **attrs):
    attrs = {"strides": [1, 1], "dilations": [1, 1], "data_format": "NCX", "weights_format": "OIX", **attrs}
    ports = {"weights": f"{name}_w", **({"bias": bias} if bias else {})}
    return node("Convolution", name, x, ports, **attrs)


def product(name, a, b, bias=None):
    return {"op": "MatMul", "name": name, "inputs": {"a": a, "b": b, **({"bias": bias} if bias else {})}}


def network(draw, width=6):
    """Three convolutions with ReLUs between: [1, 2, 6, 6] to [1, 4, 1, 1]."""
    def weights(name, shape):
        fan_in = math.prod(shape[1:])
        return constant(name, "float32", shape, [float32(draw.gauss(0, 1) * math.sqrt(2 / fan_in))
                                                 for _ in range(math.prod(shape))])
    same = {"pads_begin": [1, 1], "pads_end": [1, 1]}
    nodes = [convolution("c1", "x", "c1_b", **same), node("ReLU", "r1", "c1"), convolution("c2", "r1", **same),
             node("ReLU", "r2", "c2"), convolution("c3", "r2", "c3_b")]
    constants = [weights("c1_w", [width, 2, 3, 3]), weights("c2_w", [width, width, 3, 3]), weights("c3_w", [4, width, 6, 6]),
                 constant("c1_b", "float32", [width], [float32(draw.gauss(0, 0.3)) for _ in range(width)]),
                 constant("c3_b", "float32", [4], [float32(draw.gauss(0, 0.3)) for _ in range(4)])]
    return graph(nodes, inputs=[value("x", shape=[1, 2, 6, 6])], outputs={"y": "c3"}, constants=constants)


def images(draw, count):
    """Smooth positive images, so that inputs of a sum depend on each other."""
    out = []
    for _ in range(count):
        for _ in range(2):
            base, slope, turn = draw.uniform(0.2, 1), draw.uniform(-0.1, 0.1), draw.uniform(-0.1, 0.1)
            out += [float32(max(base + slope * i + turn * j + draw.gauss(0, 0.05), 0)) for i in range(6) for j in range(6)]
    return out


def vectors(draw, count, width):
    """Positive vectors whose elements depend on each other."""
    out = []
    for _ in range(count):
        common = draw.uniform(0.5, 2)
        out += [float32(common + draw.uniform(-0.3, 0.3)) for _ in range(width)]
    return out


def fitting(sample):
    """True if a sample fits corrections: its number has an even count of ones in binary. The others judge."""
    return bin(sample).count("1") % 2 == 0


def decibels(exact, got):
    return 10 * math.log10(sum(y * y for y in exact) / sum((y - z) ** 2 for y, z in zip(exact, got)))


class Correct(Case):
    def start(self, g, xs, samples="s.safetensors"):
        """Writes g.json, the samples, and the state of the samples."""
        self.write("g.json", g)
        shape = g["inputs"][0]["shape"][1:]
        self.samples(samples, xs, shape)
        self.qdq("calibrate", "g.json", "--data", samples, "-o", "g.state")

    def samples(self, name, xs, shape):
        (self.folder / name).write_bytes(harness.safetensors_bytes(
            {"x": tensor("float32", [len(xs) // math.prod(shape), *shape], xs)}))

    def quantize(self, *words, target="core", out="q.json", data="s.safetensors", code=0):
        return self.json("quantize", "g.json", "--state", "g.state", "-t", target, "-o", out, "--data", data, *words, code=code)

    def run_on(self, path, name, samples, *words):
        """The elements of y for all samples of a file, in one batch."""
        shape = ",".join(map(str, read_safetensors(self.folder / name)["x"].shape))
        self.qdq("run", path, "--shape", f"x={shape}", "-i", name, "-o", "y=out.safetensors", *words)
        y = unpack(read_safetensors(self.folder / "out.safetensors")["y"])
        self.assertEqual(len(y) % samples, 0)
        return y

    def constants(self, name="q.json"):
        return {one["name"]: one for one in json.loads((self.folder / name).read_text())["constants"]}


class Gains(Correct):
    def test_samples_that_were_not_given_gain_at_every_target(self):
        draw = random.Random(1)
        self.start(network(draw), images(draw, 64))
        self.samples("held.safetensors", images(draw, 64), [2, 6, 6])
        exact = self.run_on("g.json", "held.safetensors", 64)
        for target in ("core", "ort", "tensorrt", "torchao"):
            with self.subTest(target=target):
                self.quantize(target=target, out="plain.json")
                told = self.quantize("--correct", target=target)
                plain = decibels(exact, self.run_on("plain.json", "held.safetensors", 64, "-t", target))
                better = decibels(exact, self.run_on("q.json", "held.safetensors", 64, "-t", target))
                self.assertGreater(better, plain + 1)
                self.assertTrue(told["corrected"])
                ratios = [told["median_before"], *[one["after"] for one in told["corrected"]]]
                self.assertEqual([one["before"] for one in told["corrected"]], ratios[:-1])
                self.assertTrue(all(b >= a + 0.099 for a, b in zip(ratios, ratios[1:])), ratios)
                self.assertEqual(told["median_after"], ratios[-1])
                self.assertEqual((told["fitted_samples"], told["judged_samples"]), (32, 32))

    def test_a_model_file_gets_the_corrections_too(self):
        draw = random.Random(1)
        self.start(network(draw), images(draw, 64))
        told = self.quantize("--correct", target="ort")
        self.assertEqual(self.quantize("--correct", target="ort", out="q.onnx")["corrected"], told["corrected"])
        names = [self.run_on(path, "s.safetensors", 64, "-t", "ort") for path in ("q.json",)]
        self.qdq("run", "q.onnx", "-t", "ort", "--fill", "1", "-o", "y=a.npy")
        self.qdq("run", "q.json", "-t", "ort", "--fill", "1", "-o", "y=b.npy")
        self.assertEqual((self.folder / "a.npy").read_bytes(), (self.folder / "b.npy").read_bytes())
        self.assertEqual(len(names[0]), 256)

    def test_threads_and_instruction_sets_give_the_same_file(self):
        draw = random.Random(4)
        self.start(network(draw), images(draw, 32))
        self.quantize("--correct", target="ort")
        wanted = (self.folder / "q.json").read_bytes()
        for words in (["--threads", 1], ["--threads", 5], ["--isa", "portable"]):
            self.quantize("--correct", *words, target="ort")
            self.assertEqual((self.folder / "q.json").read_bytes(), wanted, words)

    def test_samples_in_the_first_dim_of_inputs_serve_as_well(self):
        draw = random.Random(1)
        self.start(network(draw), images(draw, 64))
        words = ["--shape", "x=64,2,6,6"]
        self.qdq("calibrate", "g.json", "--data", "s.safetensors", "-o", "b.state", *words)
        told = self.json("quantize", "g.json", "--state", "b.state", "-t", "core", "-o", "b.json", "-i", "s.safetensors",
                         "--correct", *words)
        self.assertEqual(told["corrected"], self.quantize("--correct")["corrected"])

    def test_the_text_has_a_line_for_each_correction(self):
        draw = random.Random(1)
        self.start(network(draw), images(draw, 64))
        told = self.quantize("--correct")
        text = self.qdq("quantize", "g.json", "--state", "g.state", "-t", "core", "-o", "q.json", "--data", "s.safetensors",
                        "--correct").out
        self.assertIn(f"corrected: {len(told['corrected'])} taken, {told['not_corrected']} not, "
                      f"{told['median_before']:.1f} -> {told['median_after']:.1f} dB in the median of 32 samples; 32 others "
                      "fitted\n", text)
        for one in told["corrected"]:
            what = ("bias corrected" if one["what"] == "bias" else
                    f"{one['changed']} of {one['weights']} weights rounded the other way")
            self.assertIn(f"\n  {one['node']}: {what}, ", text)


    def test_nodes_of_a_model_have_its_names(self):
        (self.folder / "m.onnx").write_bytes(layers_network(1))
        self.samples("s.safetensors", vectors(random.Random(2), 64, 16), [16])
        call = ["quantize", "m.onnx", "-i", "s.safetensors", "-t", "core", "-o", "q.onnx", "--correct"]
        told, text = self.json(*call), self.qdq(*call).out
        self.assertTrue(told["corrected"])
        for one in told["corrected"]:
            name = one["node"].replace("_y0", "")
            self.assertEqual((one["original"], one["last"]), (f"/{name}/MatMul", one["node"]))
            self.assertIn(f"\n  /{name}/MatMul: ", text)


class Bias(Correct):
    """One product, so that the mean error of the result is all that the bias adds."""

    def mean_errors(self, target, count=64, channels=3):
        """Mean errors of each channel over the samples that fit."""
        exact, got = (self.run_on(path, "s.safetensors", count) for path in ("g.json", "q.json"))
        fits = [i for i in range(len(exact)) if fitting(i // channels)]
        return [sum(exact[i] - got[i] for i in fits if i % channels == c) / (count / 2) for c in range(channels)]

    def start_codes(self, target, bias):
        """Weights that are codes, and inputs that are codes plus 0.3, which rounds down: the result has a mean error."""
        draw = random.Random(7)
        top = 127.0 if target == "tensorrt" else 255.0
        ws = [draw.randrange(-127, 128) / 64 for _ in range(24)]
        ws[:3] = [127 / 64] * 3
        constants = [constant("w", "float32", [8, 3], ws), constant("b", "float32", [3], [0.25, -1.5, 3.0])]
        nodes = [product("m", "x", "w", "b" if bias == "port" else None)]
        if bias == "sum":
            nodes.append({"op": "Add", "name": "s", "inputs": {"a": "m", "b": "b"}})
        xs = [0.0, top] + [float32(draw.randrange(1, int(top)) + 0.3) for _ in range(8 * 64 - 2)]
        self.start(graph(nodes, inputs=[value("x", shape=[1, 8])], outputs={"y": nodes[-1]["name"]},
                         constants=constants[:2 if bias else 1]), xs)

    def test_the_mean_error_of_a_result_is_gone(self):
        named = {("port", "ort"): "b_quantized", (None, "ort"): "m_bias_quantized", ("port", "core"): "b_changed",
                 ("sum", "core"): "b_changed", ("sum", "onednn"): "b_changed", (None, "core"): "m_bias",
                 ("port", "tensorrt"): "b_changed", ("sum", "tensorrt"): "b_changed", (None, "tensorrt"): "m_bias"}
        for (bias, target), name in named.items():
            with self.subTest(bias=bias, target=target):
                self.start_codes(target, bias)
                told = self.quantize("--correct", target=target)
                self.assertEqual([one["what"] for one in told["corrected"]], ["bias"], told)
                # An int32 bias has steps of scale 1 times 1 / 64.
                most = 1 / 128 if target == "ort" else 1e-4
                for error in self.mean_errors(target):
                    self.assertLess(abs(error), most + 1e-4)
                self.assertIn(name, self.constants())
                self.quantize(target=target)
                self.assertGreater(min(map(abs, self.mean_errors(target))), 0.1)

    def test_an_output_with_the_name_of_the_result_is_not_taken_for_it(self):
        # Output m is half of the result of m: half of the mean error would be corrected.
        constants = [constant("w", "float32", [8, 3], [127 / 64] * 24), constant("half", "float32", [1], [0.5])]
        xs = [0.0, 255.0] + [float32(k % 254 + 1.3) for k in range(8 * 64 - 2)]
        nodes = [product("m", "x", "w"), {"op": "Multiply", "name": "h", "inputs": {"a": "m", "b": "half"}}]
        for name, taken in (("m", []), ("z", ["bias"])):
            self.start(graph(nodes, inputs=[value("x", shape=[1, 8])], outputs={name: "h", "y": "m"}, constants=constants), xs)
            self.assertEqual([one["what"] for one in self.quantize("--correct")["corrected"]], taken)

    def test_codes_of_a_bias_keep_their_scale(self):
        self.start_codes("ort", "port")
        self.quantize(target="ort", out="plain.json")
        self.quantize("--correct", target="ort")
        before, after = ({one["name"]: one for one in json.loads((self.folder / name).read_text())["nodes"]}
                         for name in ("plain.json", "q.json"))
        self.assertEqual(before["b_dequantized"], after["b_dequantized"])
        self.assertEqual(self.constants()["b_quantized"]["dtype"], "int32")
        self.assertNotEqual(self.constants()["b_quantized"]["data"], self.constants("plain.json")["b_quantized"]["data"])


def solve(a, b):
    """Solves a x = b exactly."""
    a = [row[:] + [y] for row, y in zip(a, b)]
    for p in range(len(a)):
        best = next(i for i in range(p, len(a)) if a[i][p])
        a[p], a[best] = a[best], a[p]
        for i in range(len(a)):
            if i != p:
                times = a[i][p] / a[p][p]
                a[i] = [x - times * y for x, y in zip(a[i], a[p])]
    return [row[-1] / row[i] for i, row in enumerate(a)]


class Rounding(Correct):
    def test_codes_are_those_of_the_definition(self):
        for words in ([], ["--group", 3], ["--per-tensor"]):
            with self.subTest(words=words):
                self.check_definition(words)

    def check_definition(self, words):
        depth, channels = 6, 3
        draw = random.Random(5)
        xs = [0.0] * 5 + [255.0]  # inputs are codes
        for _ in range(39):
            common = draw.uniform(30, 225)
            xs += [float(round(common + draw.uniform(-20, 20))) for _ in range(depth)]
        ws = [float32(draw.gauss(0, 1)) for _ in range(depth * channels)]
        self.start(graph([product("m", "x", "w")], inputs=[value("x", shape=[1, depth])], outputs={"y": "m"},
                         constants=[constant("w", "float32", [depth, channels], ws)]), xs)
        told = self.quantize("--correct", *words)
        self.assertEqual([one["what"] for one in told["corrected"]][:2], ["bias", "weights"])
        self.assertGreater(told["median_after"], told["median_before"] + 10)
        taken = [one for one in told["corrected"] if one["what"] == "weights"]
        self.assertEqual(len(taken), 1, told)
        self.quantize(*words, out="plain.json")
        x = next(one for one in told["values"] if one["value"] == "x")
        scale, zero = Fraction(float32(x["scale"])), x["zero_point"]
        rows = [[scale * (min(max(round(Fraction(v) / scale) + zero, 0), 255) - zero) for v in xs[i * depth:(i + 1) * depth]]
                for i in range(40) if fitting(i)]
        moments = [[sum(row[i] * row[j] for row in rows) for j in range(depth)] for i in range(depth)]
        damping = sum(moments[i][i] for i in range(depth)) / depth / 100
        for i in range(depth):
            moments[i][i] += damping
        codes = self.constants()["w_quantized"]["data"]
        nodes = {one["name"]: one for one in json.loads((self.folder / "q.json").read_text())["nodes"]}
        scales = nodes["w_dequantized"]["attrs"]["scales"]
        scales = [Fraction(float32(s)) for s in (scales if isinstance(scales, list) else [scales])]
        for c in range(channels):
            errors = []
            for j in range(depth):
                rest = range(j, depth)
                free = solve([[moments[i][k] for k in rest] for i in rest],
                             [-sum(moments[i][k] * errors[k] for k in range(j)) for i in rest])
                w = Fraction(ws[j * channels + c])
                scale = scales[(j // 3 * channels + c if len(scales) > channels else c) % len(scales)]
                code = min(max(round((w - free[0]) / scale), -127), 127)
                self.assertEqual(codes[j * channels + c], code, (j, c))
                errors.append(w - code * scale)
        changed = sum(a != b for a, b in zip(codes, self.constants("plain.json")["w_quantized"]["data"]))
        self.assertEqual((taken[0]["changed"], taken[0]["weights"]), (changed, depth * channels))

    def test_weights_that_several_products_read_keep_their_codes(self):
        draw = random.Random(5)
        w = constant("w", "float32", [6, 6], [float32(draw.gauss(0, 1)) for _ in range(36)])
        self.start(graph([product("m", "x", "w"), product("n", "m", "w")], inputs=[value("x", shape=[1, 6])],
                         outputs={"y": "n"}, constants=[w]), vectors(draw, 40, 6))
        told = self.quantize("--correct")
        self.assertEqual([(one["node"], one["reason"]) for one in told["not_rounded"]], [("m", "shared"), ("n", "shared")])

    def test_moments_have_a_bound(self):
        draw = random.Random(5)
        for depth, words, reason in ((4609, [], "depth"), (4000, ["--max-bytes", 1000000], "memory")):
            ws = [float32(draw.gauss(0, 1)) for _ in range(2 * depth)]
            (self.folder / "w.safetensors").write_bytes(harness.safetensors_bytes({"w": tensor("float32", [depth, 2], ws)}))
            w = {**value("w", shape=[depth, 2]), "file": "w.safetensors", "tensor": "w"}
            self.start(graph([product("m", "x", "w")], inputs=[value("x", shape=[1, depth])], outputs={"y": "m"},
                             constants=[w]), vectors(draw, 4, depth))
            told = self.quantize("--correct", *words)
            self.assertEqual([(one["node"], one["reason"], one["depth"], one["bytes"]) for one in told["not_rounded"]],
                             [("m", reason, depth, 8 * depth * depth)])


class Bounds(Correct):
    def test_many_products_are_corrected_in_groups(self):
        draw = random.Random(9)
        nodes, constants = [], []
        for i in range(70):
            constants.append(constant(f"w{i}", "float32", [6, 6], [float32(draw.gauss(0.1, 0.4)) for _ in range(36)]))
            nodes.append(product(f"m{i}", f"r{i - 1}" if i else "x", f"w{i}"))
            nodes.append(node("ReLU", f"r{i}", f"m{i}") if i < 69 else node("Tanh", "y", f"m{i}"))
        self.start(graph(nodes, inputs=[value("x", shape=[1, 6])], outputs={"y": "y"}, constants=constants),
                   vectors(draw, 16, 6))
        told = self.quantize("--correct")
        # 24 groups of three, each tried for its bias, its weights and its bias again, and 64 halvings.
        self.assertLessEqual(len(told["corrected"]) + told["not_corrected"], 24 * 3 + 2 * 64)
        self.assertGreaterEqual(told["median_after"], told["median_before"])

    def test_a_gain_of_a_few_samples_by_chance_is_not_taken(self):
        # y = 127 (a + b), and scales of 1. Samples 0 and 3 fit: their mean error is 127 * 0.2. Sample 1 then has an error of 0.04
        # in place of 0.24, 15.6 dB less, sample 2 of -0.16 in place of 0.04, 12 dB more: 1.8 dB in the mean, +- 9.8. With two
        # more samples as sample 1 the mean is above its error.
        xs = [0.0, 255.0, 100.24, 50.0, 80.04, 60.0, 10.4, 20.0]
        more = [100.24, 50.0, 0.0, 255.0, 10.4, 20.0, 100.24, 50.0]  # samples 4 and 7 judge
        for samples, taken in ((xs, []), (xs + more, ["bias"])):
            self.start(graph([product("m", "x", "w")], inputs=[value("x", shape=[1, 2])], outputs={"y": "m"},
                             constants=[constant("w", "float32", [2, 1], [127.0, 127.0])]), [float32(x) for x in samples])
            told = self.quantize("--correct")
            self.assertEqual(([one["what"] for one in told["corrected"]], told["not_corrected"]), (taken, int(not taken)))

    def test_many_samples_are_thinned_out(self):
        draw = random.Random(9)
        w = constant("w", "float32", [6, 3], [float32(draw.gauss(0, 1)) for _ in range(18)])
        self.start(graph([product("m", "x", "w")], inputs=[value("x", shape=[1, 6])], outputs={"y": "m"}, constants=[w]),
                   vectors(draw, 300, 6))
        told = self.quantize("--correct")
        used = [i for i in range(300) if i % 3 == i // 3 % 3]  # one of three, and at most 128
        self.assertEqual(told["fitted_samples"], sum(fitting(i // 3) for i in used))
        self.assertEqual(told["judged_samples"], len(used) - told["fitted_samples"])

    def test_a_graph_that_nothing_corrects_is_the_same_file(self):
        draw = random.Random(9)
        # Weights that are codes, and inputs that are codes: no error at all. Then inputs between codes: errors without a mean.
        ws = [float(draw.randrange(-127, 128)) for _ in range(24)]
        ws[:3] = [127.0] * 3
        g = graph([product("m", "x", "w")], inputs=[value("x", shape=[1, 8])], outputs={"y": "m"},
                  constants=[constant("w", "float32", [8, 3], ws)])
        exact = [0.0, 255.0] + [float(draw.randrange(256)) for _ in range(8 * 64 - 2)]
        between = [x if x in (0.0, 255.0) else x + draw.uniform(-0.5, 0.5) for x in exact]
        for xs in (exact, between):
            self.start(g, xs)
            told = self.quantize("--correct")
            self.assertEqual(told["corrected"], [])
            self.quantize(out="plain.json")
            self.assertEqual((self.folder / "q.json").read_bytes(), (self.folder / "plain.json").read_bytes())
        self.assertGreater(told["not_corrected"], 0)


class Samples(Correct):
    def test_a_call_without_samples_is_one_sentence(self):
        draw = random.Random(9)
        self.start(network(draw), images(draw, 1))
        call = ["quantize", "g.json", "--state", "g.state", "-t", "core", "-o", "q.json", "--correct"]
        wanted = ("qdq: --correct is given without samples; give several with --data, or in the first dim of the inputs of "
                  "-i\n")
        self.assertEqual(self.qdq(*call, code=2).err, wanted)
        self.assertEqual(self.qdq(*call, "--fill", 3, code=2).err, wanted)
        self.assertEqual(self.qdq(*call, "-i", "s.safetensors", code=2).err, wanted)
        self.assertEqual(self.qdq(*call, "--data", "s.safetensors", code=2).err,
                         "qdq: s.safetensors: has 1 sample, wanted several for --correct: half of them fit the corrections, "
                         "half judge them\n")


if __name__ == "__main__":
    main()
