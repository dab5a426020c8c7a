#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""qdq compare --data: counts, causes, greatest differences and sums of squares over samples, against roundings of fractions
that are computed here: core rounds halves to even, ttnn up to int8, and int32 of ttnn ends at -127."""

import math
import random
from fractions import Fraction

from datasets import exact, names, numbers
from harness import Case, graph, main, node, quantize, read_safetensors, tensor, value, write_npy

SAMPLES, ELEMENTS = 40, 6


def half_up(x):
    return math.floor(x + Fraction(1, 2))


class CompareData(Case):
    def draw(self, seed):
        draw = random.Random(seed)
        return [[Fraction(draw.randint(-160, 160), 4) for _ in range(ELEMENTS)] for _ in range(SAMPLES)]

    def compare(self, nodes, xs, *words):
        """The state and the JSON, for an output of each node."""
        outputs = {one["name"]: one["name"] for one in nodes}
        self.write("g.json", graph(nodes, inputs=[value("x", shape=[2, 3])], outputs=outputs))
        flat = [float(x) for sample in xs for x in sample]
        write_npy(self.folder / "x.npy", tensor("float32", [len(xs), 2, 3], flat))
        words = ["compare", "g.json", "--targets", "core,ttnn", "--data", "x.npy", "-o", "s.state", *words]
        report = self.json(*words, code=None)
        return read_safetensors(self.folder / "s.state"), report

    def first(self, a, b, wanted):
        """The first sample and element whose difference is `wanted`."""
        return next((i, k) for i in range(len(a)) for k in range(ELEMENTS) if abs(a[i][k] - b[i][k]) == wanted)

    def test_ties_are_counted_and_summed_exactly(self):
        xs = self.draw(1)
        a = [[Fraction(round(x)) for x in sample] for sample in xs]
        b = [[Fraction(half_up(x)) for x in sample] for sample in xs]
        state, report = self.compare([quantize(scales=1)], xs)
        (row,) = report["values"]
        different = sum(p != q for one, two in zip(a, b) for p, q in zip(one, two))
        samples = sum(one != two for one, two in zip(a, b))
        self.assertGreater(different, samples)
        self.assertEqual(numbers(state, "counts"), [(SAMPLES * ELEMENTS, different, 0, samples, different)])
        sample, element = self.first(a, b, 1)
        self.assertEqual(numbers(state, "steps"), [(1, sample, element)])
        self.assertEqual(numbers(state, "greatest"), [(1.0, float(a[sample][element]), float(b[sample][element]))])
        self.assertEqual(numbers(state, "greatest_at"), [(sample, element)])
        signal = sum(p * p for one in a for p in one)
        noise = sum((p - q)**2 for one, two in zip(a, b) for p, q in zip(one, two))
        for name, wanted in (("signals", signal), ("noises", noise), ("overall_noises", noise)):
            self.assertEqual(exact(numbers(state, name)[0], 2148), wanted, name)
        self.assertAlmostEqual(row["snr"], 10 * math.log10(signal / noise), places=3)
        (cause,) = row["causes"]
        self.assertEqual([cause[key] for key in ("cause", "elements", "samples", "sample", "index", "x", "results")],
                         ["tie", different, samples, sample, [element // 3, element % 3], float(xs[sample][element]),
                          [int(a[sample][element]), int(b[sample][element])]])

    def test_the_first_of_the_greatest_differences_is_named(self):
        xs = self.draw(2)
        xs[5][4] = xs[7][1] = Fraction(-200)
        xs[6][0] = Fraction(-199)
        state, report = self.compare([quantize(scales=1, dtype="int32")], xs)
        self.assertEqual(numbers(state, "steps"), [(73, 5, 4)])
        self.assertEqual(numbers(state, "greatest") + numbers(state, "greatest_at"), [(73.0, -200.0, -127.0), (5, 4)])
        causes = {one["cause"]: one for one in report["values"][0]["causes"]}
        self.assertEqual(list(causes), ["saturation range", "tie"])
        self.assertEqual([causes["saturation range"][key] for key in ("elements", "samples", "sample", "index")],
                         [3, 3, 5, [1, 1]])

    def test_inherited_differences_have_their_own_sum(self):
        xs = self.draw(3)
        state, report = self.compare([quantize(scales=1), node("Dequantize", "d", "q", scales=0.5, dtype="float32")], xs)
        a, b = ([[half(x) / Fraction(2) for x in sample] for sample in xs] for half in (round, half_up))
        different = sum(p != q for one, two in zip(a, b) for p, q in zip(one, two))
        self.assertEqual(names(state, "values"), ["q", "d"])
        self.assertEqual(numbers(state, "counts")[1], (SAMPLES * ELEMENTS, 0, 0, 0, different))
        self.assertEqual(numbers(state, "steps")[1][:2], (0, -1))
        self.assertEqual(exact(numbers(state, "noises")[1], 2148), 0)
        self.assertEqual(exact(numbers(state, "overall_noises")[1], 2148),
                         sum((p - q)**2 for one, two in zip(a, b) for p, q in zip(one, two)))
        self.assertEqual(report["values"][1]["snr"], "Infinity")
        text = self.qdq("merge", "s.state", code=1).out
        self.assertIn(f"d (Dequantize), core and ttnn@wormhole: equal from the same inputs; {different} of 240 differ when "
                      f"each runs the whole graph, {report['values'][1]['snr_overall']:.1f} dB\n", text)
        self.assertIn("1 of 2 pairs of values differ, and 1 more by what they are given; 40 of 40 samples, 1 of 1 shard\n",
                      text)

    def test_targets_that_agree_exit_with_0(self):
        xs = [[Fraction(x) for x in range(-3, 3)]]
        self.compare([quantize(scales=1)], xs)
        self.assertIn("0 of 1 pairs of values differ; 1 of 1 sample", self.qdq("merge", "s.state").out)
        self.assertIn("q (Quantize), core and ttnn@wormhole: equal\n", self.qdq("merge", "s.state", "--all").out)

    def test_a_sample_has_the_counts_of_compare_without_data(self):
        xs = self.draw(4)[:1]
        nodes = [quantize(scales=0.3), node("Dequantize", "d", "q", scales=0.3, dtype="float32"), node("Exp", "e", "d")]
        _, report = self.compare(nodes, xs)
        write_npy(self.folder / "one.npy", tensor("float32", [2, 3], [float(x) for x in xs[0]]))
        wanted = self.json("compare", "g.json", "--targets", "core,ttnn", "-i", "x=one.npy", code=None)
        for row, one in zip(report["values"], wanted["values"]):
            (pair,) = one["pairs"]
            for key in ("different", "nan_count", "different_overall", "numerics"):
                self.assertEqual(row[key], pair[key], one["name"])
            self.assertEqual(row.get("steps", {"greatest": 0})["greatest"], pair["steps"])
            self.assertEqual(sorted((why["cause"], why["elements"], why["index"]) for why in row["causes"]),
                             sorted((why["cause"], why["elements"], why["index"]) for why in pair["causes"]))


if __name__ == "__main__":
    main()
