#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize --equalize: factors and ranges against arithmetic on the samples, gains of networks whose channels differ, sites
that a backend's int8 biases forbid, graphs with nothing to gain, and what is refused."""

import json
import math
import random
import statistics
import struct

import harness
from harness import Case, constant, graph, main, node, tensor, value

FEATURES, HIDDEN, CLASSES, SAMPLES = 6, 8, 4, 48


def float32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def draws(seed, count, deviation=1.0):
    draw = random.Random(seed)
    return [float32(draw.gauss(0, deviation)) for _ in range(count)]


def scaled(weights, columns, channel, factor, row=False):
    """Weights [rows, columns] with a column, or a row, multiplied."""
    return [float32(w * factor) if (i // columns if row else i % columns) == channel else w for i, w in enumerate(weights)]


def matmul(name, a, weights, bias=None):
    return {"op": "MatMul", "name": name, "inputs": {"a": a, "b": weights, **({"bias": bias} if bias else {})}}


def convolution(name, x, weights, bias=None, padding=1, groups=1):
    return {"op": "Convolution", "name": name, "inputs": {"x": x, "weights": weights, **({"bias": bias} if bias else {})},
            "attrs": {"strides": [1, 1], "dilations": [1, 1], "pads_begin": [padding] * 2, "pads_end": [padding] * 2,
                      "groups": groups, "data_format": "NCX", "weights_format": "OIX"}}


class Equalize(Case):
    def network(self, nodes, constants, shape, output="last", samples=SAMPLES, xs=None):
        """Writes g.json, samples and the state."""
        self.write("g.json", graph(nodes, inputs=[value("x", shape=shape)], outputs={"y": output}, constants=constants))
        xs = xs or draws(5, samples * math.prod(shape))
        (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes(
            {"x": tensor("float32", [samples, *shape[1:]], xs)}))
        self.qdq("calibrate", "g.json", "--data", "x.safetensors", "-o", "s.state")
        return xs

    def words(self, target, *words, out="q.json"):
        return ["quantize", "g.json", "--state", "s.state", "-t", target, "-o", out, "--data", "x.safetensors", *words]

    def equalize(self, target, *words):
        """The report, which says that the float network keeps its bits, and the decibels gained."""
        told = self.json(*self.words(target, "--equalize", *words))
        self.assertEqual(told["float_outputs"], {"same": SAMPLES, "samples": SAMPLES})
        for one in told["equalized"]:
            self.assertGreaterEqual(one["after"], one["before"] + 0.1)
        plain = self.json(*self.words(target, *words, out="plain.json"))
        self.assertNotIn("equalized", plain)
        return told, told["outputs"][0]["decibels"] - plain["outputs"][0]["decibels"]

    def perceptron(self, factor, seed=1):
        """x -> first, ReLU -> last, where channel 3 between them is `factor` times as large. Returns weights."""
        w1 = scaled(draws(seed, FEATURES * HIDDEN), HIDDEN, 3, factor)
        w2 = scaled(draws(seed + 1, HIDDEN * CLASSES), CLASSES, 3, 1 / factor, row=True)
        b1 = scaled(draws(seed + 2, HIDDEN, 0.1), HIDDEN, 3, factor)
        xs = self.network([matmul("first", "x", "w1", "b1"), node("ReLU", "relu", "first"), matmul("last", "relu", "w2")],
                          [constant("w1", "float32", [FEATURES, HIDDEN], w1), constant("b1", "float32", [HIDDEN], b1),
                           constant("w2", "float32", [HIDDEN, CLASSES], w2)], [1, FEATURES])
        return xs, w1, b1, w2


class Arithmetic(Equalize):
    def hidden(self, xs, w1, b1):
        """The greatest results of the ReLU, by channel."""
        rows = [xs[i:i + FEATURES] for i in range(0, len(xs), FEATURES)]
        return [max(max(0, b1[c] + sum(x * w1[i * HIDDEN + c] for i, x in enumerate(row))) for row in rows)
                for c in range(HIDDEN)]

    def exponents(self, one, greatest, w1, w2):
        """Powers of two by which channels are multiplied, from the formulas in docs/float_to_int8.md."""
        made = [max(abs(w1[i * HIDDEN + c]) for i in range(FEATURES)) for c in range(HIDDEN)]
        read = [max(abs(w) for w in w2[c * CLASSES:(c + 1) * CLASSES]) for c in range(HIDDEN)]
        if one["method"] == "weights":
            divisors = [math.log2(m / r) / 2 for m, r in zip(made, read)]
        else:
            alpha = one["alpha"]
            divisors = [math.log2(x ** alpha / r ** (1 - alpha)) for x, r in zip(greatest, read)]
        median = statistics.median_low(divisors)
        return [round(median - d) for d in divisors]

    def test_ranges_and_weights_follow_from_the_factors(self):
        for target, steps in (("core", 255), ("tensorrt", 127)):
            for factor in (60, 4):
                with self.subTest(target=target, factor=factor):
                    xs, w1, b1, w2 = self.perceptron(factor)
                    told, _ = self.equalize(target)
                    one, = told["equalized"]
                    greatest = self.hidden(xs, w1, b1)
                    exponents = self.exponents(one, greatest, w1, w2)
                    self.assertEqual((one["from"], one["to"]), ("first", ["last"]))
                    self.assertAlmostEqual(one["ratio"], max(greatest) / statistics.median_low(greatest), delta=1e-4 * one["ratio"])
                    values = {v["value"]: v for v in told["values"]}
                    wanted = max(x * 2.0 ** e for x, e in zip(greatest, exponents)) / steps
                    self.assertAlmostEqual(values["relu"]["scale"], wanted, delta=1e-5 * wanted)
                    x = max(map(abs, xs)) / 127 if steps == 127 else (max(xs) - min(xs)) / 255
                    self.assertAlmostEqual(values["x"]["scale"], x, delta=1e-6 * x)
                    nodes = {n["name"]: n for n in json.loads((self.folder / "q.json").read_text())["nodes"]}
                    columns = [max(abs(w1[i * HIDDEN + c]) for i in range(FEATURES)) * 2.0 ** exponents[c]
                               for c in range(HIDDEN)]
                    for scale, most in zip(nodes["w1_dequantized"]["attrs"]["scales"], columns):
                        self.assertAlmostEqual(scale, most / 127, delta=1e-6 * scale)

    def median(self, xs, w1, b1, w2):
        """Decibels of the median sample for core, each half with the range of the ReLU over the other half."""
        def codes(x, low, high):
            low, high = min(low, 0), max(high, 0)
            scale = (high - low) / 255
            zero = round(-low / scale)
            return (min(max(round(x / scale) + zero, 0), 255) - zero) * scale

        def columns(w, count):
            scales = [max(map(abs, w[c::count])) / 127 for c in range(count)]
            return [round(one / scales[i % count]) * scales[i % count] for i, one in enumerate(w)]

        def product(x, w, count):
            return [sum(one * w[i * count + c] for i, one in enumerate(x)) for c in range(count)]

        def hidden(x, w):
            return [max(0, one + b) for one, b in zip(product(x, w, HIDDEN), b1)]

        rows = [xs[i:i + FEATURES] for i in range(0, len(xs), FEATURES)]
        greatest = [max(max(hidden(x, w1)) for x in rows[1 - half::2]) for half in (0, 1)]
        ratios = []
        for i, x in enumerate(rows):
            truth = product(hidden(x, w1), w2, CLASSES)
            h = hidden([codes(one, min(xs), max(xs)) for one in x], columns(w1, HIDDEN))
            y = product([codes(one, 0, greatest[i % 2]) for one in h], columns(w2, CLASSES), CLASSES)
            ratios.append(10 * math.log10(sum(t * t for t in truth) / sum((t - one) ** 2 for t, one in zip(truth, y))))
        return statistics.median(ratios)

    def test_each_half_is_judged_with_ranges_of_the_other(self):
        for seed in (1, 11, 21):
            with self.subTest(seed=seed):
                xs, w1, b1, w2 = self.perceptron(60, seed)
                one, = self.equalize("core")[0]["equalized"]
                exponents = self.exponents(one, self.hidden(xs, w1, b1), w1, w2)
                self.assertAlmostEqual(one["before"], self.median(xs, w1, b1, w2), delta=0.02)
                w1 = [w * 2.0 ** exponents[i % HIDDEN] for i, w in enumerate(w1)]
                b1 = [b * 2.0 ** e for b, e in zip(b1, exponents)]
                w2 = [w / 2.0 ** exponents[i // CLASSES] for i, w in enumerate(w2)]
                self.assertAlmostEqual(one["after"], self.median(xs, w1, b1, w2), delta=0.02)

    def test_every_method_takes_the_ranges_of_equalized_values(self):
        self.perceptron(60)
        for words in (("--method", "percentile", "--percentile", "99.9"), ("--method", "entropy"), ("--method", "mse"),
                      ("--symmetric", "--weights", "mse")):
            with self.subTest(words=words):
                self.assertGreater(self.equalize("ort", *words)[1], 5)


class Networks(Equalize):
    def test_a_convolution_with_a_large_channel(self):
        first = [w * (60 if i // 18 == 2 else 1) for i, w in enumerate(draws(1, 4 * 2 * 9, 0.3))]
        second = [w / (60 if i // 9 % 4 == 2 else 1) for i, w in enumerate(draws(2, 3 * 4 * 9, 0.3))]
        pool = node("MaxPool", "pool", "relu", strides=[2, 2], kernel=[2, 2], pads_begin=[0, 0], pads_end=[0, 0],
                    data_format="NCX")
        self.network([convolution("first", "x", "w1"), node("ReLU", "relu", "first"), pool,
                      convolution("last", "pool", "w2")],
                     [constant("w1", "float32", [4, 2, 3, 3], first), constant("w2", "float32", [3, 4, 3, 3], second)],
                     [1, 2, 6, 6])
        for target in ("core", "ort", "tensorrt", "ttnn"):
            with self.subTest(target=target):
                told, gain = self.equalize(target)
                self.assertEqual([(one["from"], one["to"]) for one in told["equalized"]], [("first", ["last"])])
                self.assertGreater(gain, 12)
                self.assertEqual(told["errors"], 0)

    def test_a_norm_in_front_of_attention(self):
        gamma = [40.0 if i == 5 else 1.0 for i in range(8)]
        weights = [constant(name, "float32", [8, 8], scaled(draws(seed, 64, 0.4), 8, 5, 1 / 40, row=True))
                   for seed, name in enumerate(("wq", "wk", "wv"), 3)]
        norm = {"op": "LayerNorm", "name": "norm", "inputs": {"x": "x", "gamma": "gamma", "beta": "beta"}}
        scores = {**matmul("scores", "q", "k"), "attrs": {"transpose_b": True}}
        self.network([norm, matmul("q", "norm", "wq"), matmul("k", "norm", "wk"), matmul("v", "norm", "wv"), scores,
                      node("SoftMax", "shares", "scores", axis=-1), matmul("last", "shares", "v")],
                     [constant("gamma", "float32", [8], gamma), constant("beta", "float32", [8], draws(9, 8, 0.1)),
                      *weights], [1, 5, 8])
        told, gain = self.equalize("ort")
        self.assertEqual([(one["from"], one["to"]) for one in told["equalized"]], [("norm", ["q", "k", "v"])])
        self.assertGreater(gain, 8)

    def test_a_depthwise_block_with_a_residual_sum(self):
        sizes = [40.0 if i == 1 else 1.0 for i in range(4)]
        first = [w * sizes[i // 4] for i, w in enumerate(draws(1, 16, 0.5))]
        middle = [w / math.sqrt(sizes[i // 9]) for i, w in enumerate(draws(2, 36, 0.3))]
        last = [w / math.sqrt(sizes[i % 4]) for i, w in enumerate(draws(3, 16, 0.5))]
        self.network([convolution("first", "x", "w1", padding=0), node("ReLU", "relu", "first"),
                      convolution("middle", "relu", "w2", groups=4), node("ReLU", "relu2", "middle"),
                      convolution("end", "relu2", "w3", padding=0),
                      {"op": "Add", "name": "last", "inputs": {"a": "x", "b": "end"}}],
                     [constant("w1", "float32", [4, 4, 1, 1], first), constant("w2", "float32", [4, 1, 3, 3], middle),
                      constant("w3", "float32", [4, 4, 1, 1], last)], [1, 4, 5, 5])
        told, gain = self.equalize("ort")
        self.assertEqual(told["sites"], 2)  # end goes to a sum
        self.assertTrue({one["from"] for one in told["equalized"]} <= {"first", "middle"})
        self.assertGreater(gain, 4)

    def test_a_site_is_tried_again_once_a_larger_error_is_gone(self):
        for seed in (1, 3, 5):
            w1 = scaled(draws(seed, FEATURES * HIDDEN), HIDDEN, 3, 8)
            w2 = scaled(draws(seed + 100, HIDDEN * HIDDEN), HIDDEN, 3, 1 / 8, row=True)
            w3 = scaled(draws(seed + 200, HIDDEN * CLASSES), CLASSES, 5, 1 / 400, row=True)
            self.network([matmul("first", "x", "w1"), node("ReLU", "relu", "first"), matmul("second", "relu", "w2"),
                          node("ReLU", "relu2", "second"), matmul("last", "relu2", "w3")],
                         [constant("w1", "float32", [FEATURES, HIDDEN], w1),
                          constant("w2", "float32", [HIDDEN, HIDDEN], scaled(w2, HIDDEN, 5, 400)),
                          constant("w3", "float32", [HIDDEN, CLASSES], w3)], [1, FEATURES])
            told, gain = self.equalize("core")
            self.assertEqual([one["from"] for one in told["equalized"]], ["second", "first"])
            self.assertGreater(gain, 25)

    def test_what_the_target_computes_decides(self):
        # A channel with tiny weights and a bias: the weights alone ask for a factor that its int32 bias does not survive.
        w1 = scaled(draws(1, FEATURES * HIDDEN), HIDDEN, 3, 1e-6)
        b1 = [2.0 if i == 3 else b for i, b in enumerate(draws(2, HIDDEN, 0.1))]
        self.network([matmul("first", "x", "w1", "b1"), node("ReLU", "relu", "first"), matmul("last", "relu", "w2")],
                     [constant("w1", "float32", [FEATURES, HIDDEN], w1), constant("b1", "float32", [HIDDEN], b1),
                      constant("w2", "float32", [HIDDEN, CLASSES], draws(3, HIDDEN * CLASSES))], [1, FEATURES])
        told, gain = self.equalize("ort")
        self.assertNotIn("weights", [one["method"] for one in told["equalized"]])
        self.assertGreaterEqual(gain, -0.5)

    def test_where_nothing_is_to_gain_the_graph_is_the_same(self):
        flat = [1.0 if i % (HIDDEN + 1) == 0 else 0.5 for i in range(HIDDEN * HIDDEN)]
        self.network([matmul("first", "x", "w1"), node("ReLU", "relu", "first"), matmul("last", "relu", "w2")],
                     [constant("w1", "float32", [HIDDEN, HIDDEN], flat), constant("w2", "float32", [HIDDEN, HIDDEN], flat)],
                     [1, HIDDEN])
        for target in ("core", "ort", "tensorrt"):
            with self.subTest(target=target):
                told, _ = self.equalize(target)
                self.assertEqual((told["equalized"], told["sites"]), ([], 1))
                self.assertEqual((self.folder / "q.json").read_bytes(), (self.folder / "plain.json").read_bytes())

    def test_factors_that_leave_the_normal_numbers_are_left_out(self):
        w1 = scaled(draws(1, FEATURES * HIDDEN), HIDDEN, 3, 2.0 ** 20)
        w1[2 * HIDDEN + 3] = 2.0 ** -120
        w2 = scaled(draws(2, HIDDEN * CLASSES), CLASSES, 3, 2.0 ** -20, row=True)
        self.network([matmul("first", "x", "w1"), node("ReLU", "relu", "first"), matmul("last", "relu", "w2")],
                     [constant("w1", "float32", [FEATURES, HIDDEN], w1), constant("w2", "float32", [HIDDEN, CLASSES], w2)],
                     [1, FEATURES])
        told = self.qdq(*self.words("ort", "--equalize"))
        self.assertRegex(told.out, r"  [1-4] changes? of factors left out: a number would under- or overflow\n")
        self.assertIn(f"float outputs: same bits on {SAMPLES} of {SAMPLES} samples\n", told.out)


    def test_factors_that_are_left_out_count_once(self):
        w1 = scaled(draws(1, FEATURES * HIDDEN), HIDDEN, 3, 2.0 ** 20)
        w1[2 * HIDDEN + 3] = 2.0 ** -120
        w2 = scaled(draws(2, HIDDEN * HIDDEN), HIDDEN, 3, 2.0 ** -20, row=True)
        w3 = scaled(draws(3, HIDDEN * CLASSES), CLASSES, 5, 1 / 60, row=True)
        self.network([matmul("first", "x", "w1"), node("ReLU", "relu", "first"), matmul("second", "relu", "w2"),
                      node("ReLU", "relu2", "second"), matmul("last", "relu2", "w3")],
                     [constant("w1", "float32", [FEATURES, HIDDEN], w1),
                      constant("w2", "float32", [HIDDEN, HIDDEN], scaled(w2, HIDDEN, 5, 60)),
                      constant("w3", "float32", [HIDDEN, CLASSES], w3)], [1, FEATURES])
        told = self.qdq(*self.words("ort", "--equalize", "--keep", "second")).out
        self.assertIn("second -> last", told)  # after which the first site is tried again
        self.assertRegex(told, r"\n  [1-4] changes? of factors left out")

    def test_factors_that_change_a_bit_of_an_output_are_left_out(self):
        # Products near 2^-126, of which some factors lose bits: all constants stay normal numbers.
        w1 = scaled(draws(1, FEATURES * HIDDEN), HIDDEN, 3, 60)
        w2 = scaled(draws(2, HIDDEN * CLASSES), CLASSES, 3, 1 / 60, row=True)
        for shift, left_out in ((100, False), (122, True)):
            with self.subTest(shift=shift):
                self.network([matmul("first", "x", "w1"), node("ReLU", "relu", "first"), matmul("last", "relu", "w2")],
                             [constant("w1", "float32", [FEATURES, HIDDEN], w1),
                              constant("w2", "float32", [HIDDEN, CLASSES], w2)], [1, FEATURES],
                             xs=[x * 2.0 ** -shift for x in draws(5, SAMPLES * FEATURES)])
                told = self.qdq(*self.words("core", "--equalize")).out
                self.assertEqual("left out: a number would under- or overflow" in told, left_out)
                self.assertIn(f"float outputs: same bits on {SAMPLES} of {SAMPLES} samples\n", told)


class Report(Equalize):
    def test_text_has_a_line_for_each_site(self):
        self.perceptron(60)
        told = self.qdq(*self.words("ort", "--equalize")).out
        self.assertRegex(told, r"\nequalized 1 of 1 site\n"
                               r"  first -> last: [0-9.]+ x, (weights only|alpha [123]/[24]), [0-9.]+ -> [0-9.]+ dB\n"
                               rf"float outputs: same bits on {SAMPLES} of {SAMPLES} samples\n")

    def test_a_node_kept_in_float_has_nothing_to_gain(self):
        self.perceptron(60)
        told, _ = self.equalize("tensorrt", "--keep", "last")
        self.assertEqual(told["equalized"], [])

    def test_without_data_it_is_refused(self):
        self.perceptron(1)
        told = self.qdq("quantize", "g.json", "--state", "s.state", "-t", "ort", "-o", "q.json", "--equalize", code=2)
        self.assertEqual(told.err, "qdq: --equalize is given without --data; add --data WHERE, the samples that judge it\n")

    def test_one_sample_is_refused(self):
        self.perceptron(1)
        (self.folder / "x.safetensors").write_bytes(harness.safetensors_bytes(
            {"x": tensor("float32", [1, FEATURES], draws(1, FEATURES))}))
        told = self.qdq(*self.words("ort", "--equalize"), code=2)
        self.assertEqual(told.err, "qdq: --equalize: x.safetensors has samples for one half only, of 1 that can be read, "
                                   "wanted two or more: it judges each half with ranges of the other\n")

    def test_samples_that_cannot_be_read_are_left_out(self):
        xs, *_ = self.perceptron(60)
        (self.folder / "data").mkdir()
        for i in range(8):
            (self.folder / "data" / f"{i}.safetensors").write_bytes(harness.safetensors_bytes(
                {"x": tensor("float32", [1, FEATURES], xs[i * FEATURES:(i + 1) * FEATURES])}))
        self.write("data/3.safetensors", b"damaged")
        words = ["data" if word == "x.safetensors" else word for word in self.words("ort", "--equalize", "--json")]
        told = json.loads(self.qdq(*words).out)
        self.assertEqual(told["float_outputs"], {"same": 7, "samples": 7})


if __name__ == "__main__":
    main()
