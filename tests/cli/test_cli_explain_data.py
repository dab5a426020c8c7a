#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq explain --against --data: sums of errors over samples, against fractions that are computed here."""

import math
import random
import struct
from fractions import Fraction
from pathlib import Path

import harness
from datasets import exact, names, numbers
from harness import Case, constant, graph, main, node, quantize, read_safetensors, tensor, unpack, value, write_npy

SAMPLES, ELEMENTS = 30, 6


def squares(a, b=None):
    return sum((p - (b[i] if b else 0))**2 for i, p in enumerate(a))


def decibels(a, b):
    signal, noise = squares(a), squares(a, b)
    return 10 * math.log10(signal / noise) if signal and noise else -math.inf if noise else math.inf


def float32s(xs):
    return struct.unpack(f"<{len(xs)}f", struct.pack(f"<{len(xs)}f", *xs))


def argmax(row):
    return max(range(len(row)), key=lambda i: row[i])


class ExplainData(Case):
    """The model is y = 2 * relu(x); the graph quantizes x and the result. All numbers are short binary fractions, so that
    arithmetic in float32 is exact, and codes are rounded half to even."""

    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        self.x = [Fraction(draw.randint(-700, 700), 16) for _ in range(SAMPLES * ELEMENTS)]
        flat = [float(x) for x in self.x]
        write_npy(self.folder / "x.npy", tensor("float32", [SAMPLES, 2, 3], flat))
        two = [constant("two", "float32", [], 2.0)]
        dequantize = node("Dequantize", "d", "q", scales=0.25, zps=3, dtype="float32")
        last = node("Dequantize", "dy", "qy", scales=0.5, dtype="float32")
        relu, relu_d = node("ReLU", "r", "x"), node("ReLU", "r", "d")
        product = {"op": "Multiply", "name": "m", "inputs": {"a": "r", "b": "two"}}
        inputs = [value("x", shape=[2, 3])]
        self.write("f.json", graph([relu, product], inputs=inputs, outputs={"y": "m"}, constants=two))
        nodes = [quantize("q", scales=0.25, zps=3), dequantize, relu_d, product, quantize("qy", "m", scales=0.5), last]
        self.write("g.json", graph(nodes, inputs=inputs, outputs={"y": "dy"}, constants=two))

    def explain(self, *words, code=1):
        self.qdq("explain", "g.json", "--against", "f.json", "--data", "x.npy", "-o", "s.state", *words, code=code)
        return read_safetensors(self.folder / "s.state")

    @staticmethod
    def pair(xs, scale, zero):
        """The numbers that codes stand for, the codes, and how many are clipped: more than half a code beyond the range."""
        codes = [min(max(round(x / scale) + zero, -128), 127) for x in xs]
        clipped = sum(abs(x / scale + zero + Fraction(1, 2)) > 128 for x in xs)
        return [(one - zero) * scale for one in codes], codes, clipped

    def test_errors_are_summed_exactly(self):
        state = self.explain()
        made, codes, clipped = self.pair(self.x, Fraction(1, 4), 3)
        truth = [2 * max(x, 0) for x in self.x]
        given = [2 * max(x, 0) for x in made]
        result, result_codes, result_clipped = self.pair(given, Fraction(1, 2), 0)
        alone, alone_codes, alone_clipped = self.pair(truth, Fraction(1, 2), 0)
        self.assertGreater(clipped, 0)
        self.assertNotEqual(alone, result)
        rows = {name: {column: exact(numbers(state, column)[i], 2148) for column in
                       ("truths", "exacts", "own_noises", "inherited_noises", "total_noises")}
                for i, name in enumerate(names(state, "nodes"))}
        self.assertEqual(rows["d"], {"truths": squares(self.x), "exacts": squares(made), "inherited_noises": 0,
                                     "own_noises": squares(self.x, made), "total_noises": squares(self.x, made)})
        self.assertEqual(rows["dy"], {"truths": squares(truth), "exacts": squares(alone),
                                      "own_noises": squares(truth, alone), "inherited_noises": squares(alone, result),
                                      "total_noises": squares(truth, result)})
        self.assertEqual(rows["m"], {"truths": squares(truth), "exacts": squares(truth), "own_noises": 0,
                                     "inherited_noises": squares(truth, given), "total_noises": squares(truth, given)})
        place = {name: i for i, name in enumerate(names(state, "nodes"))}
        count = SAMPLES * ELEMENTS
        self.assertEqual(numbers(state, "counts")[place["d"]], (count, clipped))
        self.assertEqual(numbers(state, "codes")[place["d"]], (256, min(codes), max(codes)))
        self.assertEqual(numbers(state, "counts")[place["dy"]], (count, alone_clipped))
        self.assertEqual(numbers(state, "codes")[place["dy"]], (256, min(alone_codes), max(alone_codes)))
        self.assertEqual(exact(numbers(state, "output_signals")[0], 2148), squares(truth))
        self.assertEqual(exact(numbers(state, "output_noises")[0], 2148), squares(truth, result))

    def alone(self, xs):
        """The results if only q rounds, and if only qy does; those of both are the first of the second."""
        given = [2 * max(x, 0) for x in self.pair(xs, Fraction(1, 4), 3)[0]]
        return given, self.pair([2 * max(x, 0) for x in xs], Fraction(1, 2), 0)[0]

    def check_effects(self, state, data):
        """The sums of a state with the effects of the first samples of the data, and `without` of a quarter of these."""
        effects = data[:64 * ELEMENTS]
        without = data[:max(4, len(effects) // ELEMENTS // 4) * ELEMENTS]
        truth, (d, dy) = [2 * max(x, 0) for x in effects], self.alone(effects)
        self.assertEqual(list(zip(names(state, "effects"), names(state, "effect_outputs"))), [("d", "y"), ("dy", "y")])
        self.assertEqual([exact(one, 2148) for one in numbers(state, "effect_noises")],
                         [squares(truth, d), squares(truth, dy)])
        first = truth[:len(without)]
        self.assertEqual([exact(one, 2148) for one in numbers(state, "without_noises")],
                         [squares(first, dy[:len(first)]), squares(first, d[:len(first)])])
        both = self.pair(d, Fraction(1, 2), 0)[0]
        for name, wanted in {"effect_signals": squares(truth), "together_noises": squares(truth, both),
                             "written_signals": squares(both), "without_signals": squares(first),
                             "without_together_noises": squares(first, both[:len(first)])}.items():
            self.assertEqual(exact(numbers(state, name)[0], 2148), wanted, name)
        rows = [slice(i, i + 3) for i in range(0, len(effects), 3)]
        alike = [sum(argmax(one[row]) == argmax(truth[row]) for row in rows) for one in (d, dy)]
        self.assertEqual(numbers(state, "effect_counts"), [(len(rows), one, len(without) // 3) for one in alike])
        self.assertEqual(numbers(state, "output_counts")[0][2:], (len(effects) // ELEMENTS, len(without) // ELEMENTS))

    def test_effects_are_summed_exactly(self):
        state = self.explain()
        self.check_effects(state, self.x)
        both = self.pair(self.alone(self.x)[0], Fraction(1, 2), 0)[0]
        truth = [2 * max(x, 0) for x in self.x]
        rows = [(truth[i:i + 3], both[i:i + 3]) for i in range(0, len(truth), 3)]
        self.assertEqual(numbers(state, "output_counts")[0][:2], (len(rows), sum(argmax(a) == argmax(b) for a, b in rows)))
        ratios = sorted(decibels(a, b) for a, b in rows)
        counted = [i for i, count in enumerate(numbers(state, "output_ratios")[0]) for _ in range(count)]
        self.assertEqual(counted, [2048 if one == math.inf else 0 if one == -math.inf else 512 + math.floor(8 * one)
                                   for one in ratios])

    def test_effects_are_of_the_first_64_samples_however_shards_divide_them(self):
        draw = random.Random(3)
        data = [Fraction(draw.randint(-700, 700), 16) for _ in range(80 * ELEMENTS)]
        write_npy(self.folder / "x.npy", tensor("float32", [80, 2, 3], [float(x) for x in data]))
        state = self.explain()
        self.check_effects(state, data)
        self.assertEqual(numbers(state, "output_counts")[0][2:], (64, 16))
        self.assertLess(numbers(state, "effect_counts")[0][1], 128)
        whole = (self.folder / "s.state").read_bytes()
        for count in (2, 100):
            parts = [f"{i}.state" for i in range(1, count + 1)]
            for i, part in enumerate(parts, 1):
                self.qdq("explain", "g.json", "--against", "f.json", "--data", "x.npy", "-o", part, "--shard",
                         f"{i}/{count}", code=None)
            draw.shuffle(parts)
            self.qdq("merge", *parts, "-o", "m.state")
            self.assertEqual((self.folder / "m.state").read_bytes(), whole, count)
        report = self.json("merge", "s.state", code=1)
        self.assertEqual((report["effect_samples"], report["without_samples"]), (64, 16))
        self.assertRegex(self.qdq("merge", "s.state", code=1).out,
                         r"pairs together \S+ dB; summed one by one \S+ dB, on 64 samples; together \S+ dB on 16, the "
                         "samples of `without`\n")

    def test_the_report_is_made_of_the_sums(self):
        self.explain()
        made, codes, clipped = self.pair(self.x, Fraction(1, 4), 3)
        own = 10 * math.log10(squares(self.x) / squares(self.x, made))
        text = self.qdq("merge", "s.state", code=1).out
        self.assertIn(f"; own {own:.1f} dB, inherited exact, both {own:.1f} dB; {clipped} of 180 clipped, "
                      f"{256 - (max(codes) - min(codes) + 1)} of 256 codes unused; ", text)
        self.assertTrue(text.endswith("30 of 30 samples, 1 of 1 shard\n"))
        report = self.json("merge", "s.state", code=1)
        (row,) = [row for row in report["nodes"] if row["node"] == "d"]
        truth, (d, dy) = [2 * max(x, 0) for x in self.x], self.alone(self.x)
        both = self.pair(d, Fraction(1, 2), 0)[0]
        self.assertAlmostEqual(row["effect"], decibels(truth, d), places=3)
        self.assertAlmostEqual(row["without"], decibels(truth[:42], dy[:42]), places=3)
        self.assertAlmostEqual(report["together"], decibels(truth, both), places=3)
        self.assertAlmostEqual(report["together_without"], decibels(truth[:42], both[:42]), places=3)
        summed = 10 * math.log10(squares(truth) / (squares(truth, d) + squares(truth, dy)))
        self.assertAlmostEqual(report["summed"], summed, places=3)
        ratios = sorted(decibels(truth[i:i + 3], both[i:i + 3]) for i in range(0, len(truth), 3))
        middle = (ratios[len(ratios) // 2 - 1] + ratios[len(ratios) // 2]) / 2
        self.assertLessEqual(abs(report["outputs"][0]["median"] - middle), 1 / 16)
        self.assertAlmostEqual(row["own"], own, places=3)
        self.assertEqual([row[key] for key in ("kind", "codes_of", "elements", "clipped")],
                         ["activations", "q", 180, clipped])

    def test_one_sample_has_the_errors_of_explain_without_data(self):
        write_npy(self.folder / "x.npy", tensor("float32", [1, 2, 3], [float(x) for x in self.x[:6]]))
        self.explain(code=None)
        report = self.json("merge", "s.state", code=None)
        write_npy(self.folder / "one.npy", tensor("float32", [2, 3], [float(x) for x in self.x[:6]]))
        wanted = self.json("explain", "g.json", "--against", "f.json", "-i", "x=one.npy", code=None)
        self.assertEqual([row["node"] for row in report["nodes"]], [row["node"] for row in wanted["nodes"]])
        for row, one in zip(report["nodes"], wanted["nodes"]):
            for key in ("own", "inherited", "total", "effect", "without", "alike"):
                if one[key] is None or isinstance(one[key], str):
                    self.assertEqual(row[key], one[key])
                else:
                    self.assertAlmostEqual(row[key], one[key], places=3)
            for key in ("op", "codes_of", "kind", "elements", "clipped", "codes", "unused"):
                self.assertEqual(row[key], one[key], key)

    def test_a_range_that_codes_do_not_cover_is_named(self):
        """Codes of zero point 3 have 131 steps below it and 124 above; 180 numbers are clipped or not."""
        self.explain()
        (self.folder / "s.state").rename(self.folder / "all.state")
        for part in (1, 2):
            self.explain("--shard", f"{part}/2")
            (self.folder / "s.state").rename(self.folder / f"{part}.state")
        for states in (["all.state"], ["2.state", "1.state"]):
            (row,) = [row for row in self.json("merge", *states, code=1)["nodes"] if row["node"] == "d"]
            scale = struct.unpack("<f", struct.pack("<f", max(max(self.x) / 124, -min(self.x) / 131)))[0]
            self.assertEqual((row["cause"], row["mended"]), ("scale too small", None))
            self.assertEqual(row["mend"], f"scale {scale:.6g} instead of 0.25")

    def test_a_shard_without_the_first_samples_has_no_effects(self):
        data = [float(one) for one in self.x for _ in range(3)]
        write_npy(self.folder / "x.npy", tensor("float32", [90, 2, 3], data))
        self.explain("--shard", "90/90")
        report = self.json("merge", "--partial", "s.state", code=1)
        self.assertEqual([report[key] for key in ("together", "summed", "together_without", "effect_samples")],
                         [None, None, None, 0])
        self.assertEqual([row["effect"] for row in report["nodes"]], [None] * len(report["nodes"]))
        self.assertIn("activations, the 2 worst of 2 nodes by", self.qdq("merge", "--partial", "s.state", code=1).out)

    def test_a_group_shows_what_its_fused_node_costs(self):
        """A convolution of ONNX Runtime saturates on a CPU without VNNI, and all groups but one are exact."""
        digits, target = Path(harness.MODELS).resolve() / "digits", "ort@1.31-avx2"
        words = ["explain", str(digits / "int8.json"), "--against", str(digits / "float32.json"), "-t", target]
        data = str(digits / "held_out.safetensors")
        self.qdq(*words, "--data", data, "-o", "s.state", code=1)
        report = self.json("merge", "s.state", code=1)
        self.assertEqual(report["target"], target)
        outputs = []
        for version in (target, f"{target}:level=disabled"):
            self.qdq("run", str(digits / "int8.json"), "-i", data, "-t", version, "-o", "y.safetensors")
            outputs.append(unpack(read_safetensors(self.folder / "y.safetensors")["scores"]))
        groups = [row for row in report["nodes"] if row["kind"] == "group"]
        worst = min(groups, key=lambda row: row["effect"] if isinstance(row["effect"], float) else math.inf)
        self.assertLess(abs(worst["effect"] - decibels(outputs[1], outputs[0])), 0.5)
        single = {row["node"]: row for row in self.json(*words, "-i", data, code=1)["nodes"]}
        self.assertEqual([row["node"] for row in report["nodes"]], list(single))
        for row in report["nodes"]:
            one = single[row["node"]]["effect"]
            if isinstance(one, float):
                self.assertAlmostEqual(row["effect"], one, places=3)
            else:
                self.assertEqual(row["effect"], one)
        self.assertIn(f"  {worst['node']}, as deployed in a QLinearConv: effect ", self.qdq("merge", "s.state", code=1).out)

    def test_channels_that_equalizing_can_change_are_named(self):
        """The README of the network says which channels it makes uneven: 6 of the first convolution, and unit 4 of the norm."""
        models = Path(harness.MODELS).resolve()
        model, data = str(models / "digits_uneven/model.onnx"), str(models / "digits/held_out.safetensors")
        self.qdq("calibrate", model, "--data", data, "-o", "c.state")
        self.qdq("quantize", model, "--state", "c.state", "-t", "core", "-o", "q.onnx")
        self.qdq("explain", "q.onnx", "--against", model, "--data", data, "-o", "s.state", code=1)
        rows = {row["node"]: row for row in self.json("merge", "s.state", code=1)["nodes"]}
        for name, channel in (("pool1_dequantized", 6), ("conv2.weights_dequantized", 6), ("hidden_norm_dequantized", 4)):
            self.assertEqual(rows[name]["cause"], "channel imbalance", name)
            self.assertRegex(rows[name]["mend"], rf"^channel {channel} of axis 1 reaches .* x\): qdq quantize --equalize, or in ")

    def test_weights_count_once_for_each_sample(self):
        draw = random.Random(2)
        w = [Fraction(draw.randint(-100, 100), 64) for _ in range(9)]
        codes = [round(8 * one) for one in w]
        inputs = [value("x", shape=[2, 3])]
        product = {"op": "MatMul", "name": "m", "inputs": {"a": "x", "b": "w"}}
        weights = constant("w", "float32", [3, 3], [float(one) for one in w])
        self.write("f.json", graph([product], inputs=inputs, outputs={"y": "m"}, constants=[weights]))
        nodes = [node("Dequantize", "dw", "c", scales=0.125, dtype="float32"), {**product, "inputs": {"a": "x", "b": "dw"}}]
        coded = constant("c", "int8", [3, 3], codes)
        self.write("g.json", graph(nodes, inputs=inputs, outputs={"y": "m"}, constants=[coded]))
        state = self.explain()
        made = [Fraction(one, 8) for one in codes]
        self.assertEqual(names(state, "node_kinds"), ["weights", "operation"])
        self.assertEqual(numbers(state, "counts")[0], (9 * SAMPLES, 0))
        self.assertEqual(exact(numbers(state, "truths")[0], 2148), SAMPLES * squares(w))
        self.assertEqual(exact(numbers(state, "own_noises")[0], 2148), SAMPLES * squares(w, made))
        self.assertEqual(numbers(state, "codes")[0], (256, min(codes), max(codes)))

    def test_no_codes_of_32_bits_are_unused(self):
        draw = random.Random(6)
        b = [Fraction(draw.randint(-1000, 1000), 1024) for _ in range(3)]
        inputs = [value("x", shape=[2, 3])]
        total = {"op": "Add", "name": "a", "inputs": {"a": "x", "b": "b"}}
        real = constant("b", "float32", [3], [float(one) for one in b])
        self.write("f.json", graph([total], inputs=inputs, outputs={"y": "a"}, constants=[real]))
        nodes = [node("Dequantize", "db", "c", scales=2.0**-8, dtype="float32"), {**total, "inputs": {"a": "x", "b": "db"}}]
        coded = constant("c", "int32", [3], [round(256 * one) for one in b])
        self.write("g.json", graph(nodes, inputs=inputs, outputs={"y": "a"}, constants=[coded]))
        self.explain()
        (row,) = [row for row in self.json("merge", "s.state", code=1)["nodes"] if row["node"] == "db"]
        self.assertEqual((row["codes"], row["unused"], row["cause"]), (2**32, None, "resolution"))
        text = self.qdq("merge", "s.state", code=1).out
        self.assertIn("0 of 90 clipped", text)
        self.assertNotIn("unused", text)

    def test_equal_graphs_exit_with_0(self):
        self.qdq("explain", "f.json", "--against", "f.json", "--data", "x.npy", "-o", "s.state")
        self.assertIn("output 'y': exact, median sample exact, 100 % of samples decide alike\n",
                      self.qdq("merge", "s.state").out)


class Network(Case):
    """Two products of floats, whose pairs are put into graphs one by one: the outputs of `qdq run` on all samples as a batch
    give the effects, with Python's floats."""

    SAMPLES, WIDTH, CLASSES = 21, 8, 6
    PAIRS = {"x": 0.5, "w1": 0.02, "r": 0.06, "w2": 0.011}

    def setUp(self):
        super().setUp()
        draw = random.Random(11)
        self.x = [draw.gauss(0, 1) for _ in range(self.SAMPLES * self.WIDTH)]
        # The second input reaches far, and the weights that it meets are small.
        self.x = [one * (20 if i % self.WIDTH == 1 else 1) for i, one in enumerate(self.x)]
        self.w1 = [draw.gauss(0, 0.5) * (0.05 if i // self.WIDTH == 1 else 1) for i in range(self.WIDTH**2)]
        self.w2 = [draw.gauss(0, 0.5) for _ in range(self.WIDTH * self.CLASSES)]
        write_npy(self.folder / "x.npy", tensor("float32", [self.SAMPLES, self.WIDTH], self.x))

    def net(self, rows, pairs):
        """The network on `rows` samples, in which only these pairs round."""
        def operand(name):
            return f"{name}_d" if name in pairs else name

        nodes = []
        for name, scale in self.PAIRS.items():
            if name == "r":
                product = {"op": "MatMul", "name": "m", "inputs": {"a": operand("x"), "b": operand("w1")}}
                nodes += [product, node("ReLU", "r", "m")]
            if name in pairs:
                nodes += [{**quantize(f"{name}_q", name, scales=scale)},
                          node("Dequantize", f"{name}_d", f"{name}_q", scales=scale, dtype="float32")]
        nodes.append({"op": "MatMul", "name": "y", "inputs": {"a": operand("r"), "b": operand("w2")}})
        weights = [constant("w1", "float32", [self.WIDTH, self.WIDTH], self.w1),
                   constant("w2", "float32", [self.WIDTH, self.CLASSES], self.w2)]
        return graph(nodes, inputs=[value("x", shape=[rows, self.WIDTH])], outputs={"y": "y"}, constants=weights)

    def run_net(self, pairs):
        """The results, as rows."""
        self.write("n.json", self.net(self.SAMPLES, pairs))
        self.qdq("run", "n.json", "-i", "x=x.npy", "-o", "y.safetensors")
        flat = unpack(read_safetensors(self.folder / "y.safetensors")["y"])
        return [flat[i:i + self.CLASSES] for i in range(0, len(flat), self.CLASSES)]

    def test_effects_are_those_of_graphs_in_which_one_pair_rounds(self):
        self.write("f.json", self.net(1, ()))
        self.write("g.json", self.net(1, self.PAIRS))
        self.qdq("explain", "g.json", "--against", "f.json", "--data", "x.npy", "-o", "s.state", code=1)
        report = self.json("merge", "s.state", code=1)
        rows = {row["node"]: row for row in report["nodes"]}
        real, noises, few = self.run_net(()), [], self.SAMPLES // 4
        together = self.run_net(self.PAIRS)
        for name in self.PAIRS:
            alone, rest = self.run_net((name,)), self.run_net([one for one in self.PAIRS if one != name])
            row = rows[f"{name}_d"]
            self.assertAlmostEqual(row["effect"], decibels(sum(real, []), sum(alone, [])), places=2)
            self.assertAlmostEqual(row["without"], decibels(sum(real[:few], []), sum(rest[:few], [])), places=2)
            alike = sum(argmax(a) == argmax(b) for a, b in zip(real, alone))
            self.assertAlmostEqual(row["alike"], alike / self.SAMPLES)
            noises.append(squares(sum(real, []), sum(alone, [])))
        self.assertAlmostEqual(report["summed"], 10 * math.log10(squares(sum(real, [])) / sum(noises)), places=2)
        self.assertAlmostEqual(report["together"], decibels(sum(real, []), sum(together, [])), places=2)
        reaches = [max(abs(one) for one in float32s(self.x)[i::self.WIDTH]) for i in range(self.WIDTH)]
        median = sum(sorted(reaches)[3:5]) / 2
        self.assertEqual(rows["x_d"]["cause"], "channel imbalance")
        self.assertEqual(rows["x_d"]["mend"],
                         f"channel 1 of axis 1 reaches {max(reaches):.3g}, the median channel {median:.3g} "
                         f"({max(reaches) / median:.3g} x), no node before it takes a factor: qdq quantize --keep m")
        self.assertEqual(rows["x_d"]["channels"]["worst"][0], [1, max(reaches)])
        weights = [max(abs(one) for one in float32s(self.w1)[i:i + self.WIDTH]) for i in range(0, self.WIDTH**2, self.WIDTH)]
        quiet = sum(sorted(weights)[3:5]) / 2 / min(weights)
        self.assertIn(f"channel 1 of axis 0 reaches {min(weights):.3g}, the median channel {quiet * min(weights):.3g} "
                      f"(1/{quiet:.3g} x)", rows["w1_d"]["mend"])
        state = read_safetensors(self.folder / "s.state")
        at = [i for i, place in enumerate(numbers(state, "channel_places")) if place[:5] == (0, 1, self.WIDTH, 0, 1)]
        ranges = numbers(state, "channel_ranges")[at[0]]
        for i in range(self.WIDTH):
            column = float32s(self.x)[i::self.WIDTH]
            self.assertEqual(ranges[2 * i:2 * i + 2], (min(column), max(column)))
        middle = sorted(decibels(a, b) for a, b in zip(real, together))[self.SAMPLES // 2]
        (output,) = report["outputs"]
        self.assertLessEqual(abs(output["median"] - middle), 1 / 16 + 0.001)
        alike = sum(argmax(a) == argmax(b) for a, b in zip(real, together))
        self.assertAlmostEqual(output["alike"], alike / self.SAMPLES)


if __name__ == "__main__":
    main()
