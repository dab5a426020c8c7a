#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quantize --at-least and --drop: the fewest products in float against all sets of products, and aims that are refused."""

import itertools
import json
import math
import os

import harness
from harness import main
from product_networks import SAMPLES, Labelled, Networks, classes, keep


class AtLeast(Networks):
    def check_fewest(self, target):
        best, ratios = self.all_sets(target)
        for size in range(len(best)):
            below = max(best[:size], default=best[0] - 2)
            if best[size] < below + 0.02:
                continue
            wanted = (best[size] + below) / 2
            told = self.json(*self.words(target, "--at-least", wanted))
            self.assertEqual(len(told["kept_for"]), size, (wanted, told["kept_for"], ratios))
            self.assertGreaterEqual(self.decibels("q.json", target), wanted - 1e-3)
            self.assertAlmostEqual(told["deployed"], ratios[tuple(sorted(told["kept_for"]))], delta=1e-3)

    def test_no_set_that_reaches_it_is_smaller(self):
        for seed in range(1, 9) if harness.LONG else (1,) if os.environ.get("QDQ_SLOW") else (1, 2):
            self.begin(seed)
            for target in ("onnx", "ort", "tensorrt"):
                with self.subTest(seed=seed, target=target):
                    self.check_fewest(target)

    def test_the_words_give_the_same_file(self):
        self.begin()
        best, _ = self.all_sets("ort")
        wanted = (best[1] + best[2]) / 2
        text = self.qdq(*self.words("ort", "--at-least", wanted)).out
        line = next(one for one in text.splitlines() if one.startswith("--keep"))
        words, ratio = line.split(": ")
        self.assertEqual(ratio, f"{self.decibels('q.json', 'ort'):.1f} dB on target ort")
        self.assertEqual(words.split()[::2], ["--keep"] * 2)
        self.qdq(*self.words("ort", *words.split(), out="k.json"))
        self.assertEqual((self.folder / "k.json").read_bytes(), (self.folder / "q.json").read_bytes())

    def test_nothing_is_kept_if_codes_suffice(self):
        self.begin()
        text = self.qdq(*self.words("core", "--at-least", 5)).out
        self.assertIn(f"\nno product in float: {self.decibels('q.json', 'core'):.1f} dB on target core\n", text)
        told = self.json(*self.words("core", "--at-least", 5))
        self.assertEqual(told["kept_for"], [])
        self.qdq(*self.words("core", out="k.json"))
        self.assertEqual((self.folder / "k.json").read_bytes(), (self.folder / "q.json").read_bytes())

    def test_the_ranking_is_by_the_product_that_alone_is_on_codes(self):
        self.begin()
        for target in ("ort", "tensorrt"):
            told, names = self.json(*self.words(target, "--at-least", 5)), self.nodes_on_codes(target)
            self.assertEqual(sorted(one["node"] for one in told["ranking"]), sorted(names))
            effects = [math.inf if one["effect"] is None else one["effect"] for one in told["ranking"]]
            self.assertEqual(effects[:-1], sorted(effects[:-1]))
            self.assertNotEqual(told["ranking"][-1]["node"], "sum")
            self.assertEqual(effects[-1], max(effect for one, effect in zip(told["ranking"], effects) if one["node"] != "sum"))
            for one, effect in zip(told["ranking"], effects):
                self.assertAlmostEqual(self.effect(one["node"], names, target), effect, delta=1e-2)

    def effect(self, name, names, target):
        """The ratio with this product alone on codes, or of the noise that goes with this sum in float."""
        if name != "sum":
            self.qdq(*self.words(target, *keep(set(names) - {name}), out="k.json"))
            return self.decibels("k.json", target)
        noises = []
        for kept in (), ("sum",):
            self.qdq(*self.words(target, *keep(kept), out="k.json"))
            noises.append(10 ** (-self.decibels("k.json", target) / 10))
        return -10 * math.log10(noises[0] - noises[1]) if noises[0] > noises[1] else math.inf

    def test_nodes_of_keep_stay_in_float(self):
        self.begin()
        best, ratios = self.all_sets("ort")
        wanted = max(ratios[names] for names in ratios if len(names) == 3 and "e" in names) - 0.01
        told = self.json(*self.words("ort", "--keep", "e", "--at-least", wanted))
        self.assertNotIn("e", told["kept_for"])
        self.assertNotIn("e", [one["node"] for one in told["ranking"]])
        self.assertFalse(next(one for one in told["nodes"] if one["node"] == "e")["quantized"])
        self.assertLessEqual(len(told["kept_for"]), 2)
        text = self.qdq(*self.words("ort", "--keep", "e", "--at-least", wanted)).out
        self.assertIn(" --keep e: ", text)

    def test_kept_products_are_float_nodes_of_the_deployed_graph(self):
        self.begin()
        best, _ = self.all_sets("ort")
        told = self.json(*self.words("ort", "--at-least", (best[1] + best[2]) / 2))
        self.qdq("convert", "q.json", "-t", "ort", "--deployed", "-o", "deployed.json")
        ops = {one["name"]: one["op"] for one in json.loads((self.folder / "deployed.json").read_text())["nodes"]}
        reads = {one["name"]: one["inputs"] for one in json.loads((self.folder / "q.json").read_text())["nodes"]}
        self.assertEqual(len(told["kept_for"]), 2)
        for name in set(told["kept_for"]) - {"sum"}:
            self.assertEqual(ops[name], "MatMul")
            self.assertEqual(reads[name]["b"], "w" + name)
            self.assertNotIn("dequantized", reads[name]["a"])

    def test_an_aim_that_no_set_reaches_is_refused(self):
        self.begin()
        best, _ = self.all_sets("ort")
        told = self.qdq(*self.words("ort", "--at-least", best[-1] + 0.05), code=4)
        self.assertRegex(told.err, r"\Aqdq: g\.json: no set of products in float reaches --at-least [\d.]+ on target ort: it "
                                   rf"gives {max(best):.1f} dB with \d of \d in float, and (\d+\.\d dB|all bits) with all of "
                                   r"them; nothing was written\n\Z")
        self.assertFalse((self.folder / "q.json").exists() and told.out)
        told = self.json(*self.words("ort", "--at-least", 900, out="none.json"), code=4)
        self.assertIn("reaches --at-least 900", told["error"]["message"])
        self.assertFalse((self.folder / "none.json").exists())

    def test_corrections_that_fall_below_the_aim_are_refused(self):
        for seed in (7, 10, 17, 30):  # networks whose ratio a correction lowers
            self.begin(seed)
            before = self.json(*self.words("tensorrt", "--per-tensor", "--at-least", 5))["deployed"]
            self.qdq(*self.words("tensorrt", "--per-tensor", "--correct", out="k.json"))
            after = self.decibels("k.json", "tensorrt")
            if after < before - 0.02:
                break
        wanted = (before + after) / 2
        told = self.qdq(*self.words("tensorrt", "--per-tensor", "--at-least", wanted, "--correct", out="none.json"), code=4)
        self.assertEqual(told.err, f"qdq: g.json: with corrections target tensorrt gives {after:.1f} dB, which is no longer "
                                   f"--at-least {wanted:.6g}; leave out --correct, or ask for more; nothing was written\n")
        self.assertFalse((self.folder / "none.json").exists())

    def test_random_inputs_are_named(self):
        self.begin()
        words = "quantize", "g.json", "--state", "s.state", "-t", "ort", "-o", "q.json"
        self.assertRegex(self.qdq(*words, "--at-least", 1).out,
                         r"\nno product in float: [\d.]+ dB on target ort, on random inputs \(--fill 1\)\n")
        self.assertIn("on target ort, on random inputs (--fill 7): ",
                      self.qdq(*words, "--at-least", 900, "--fill", 7, code=4).err)

    def test_wrong_numbers_are_refused(self):
        self.begin()
        for word in ("", "x", "30x", "nan", "inf", "1e9"):
            told = self.qdq(*self.words("ort", "--at-least", word), code=2)
            self.assertEqual(told.err, f"qdq: --at-least is '{word}', wanted decibels, for example 30\n")
        for word in ("-1", "101", "x", "nan"):
            told = self.qdq(*self.words("ort", "--drop", word), code=2)
            self.assertEqual(told.err, f"qdq: --drop is '{word}', wanted a number of percent from 0 to 100\n")
        self.assertEqual(self.qdq(*self.words("ort", "--drop", 1), code=2).err,
                         "qdq: --drop is given without --labels, the file with the true classes\n")


class Drop(Labelled):
    def least_right(self, target):
        """The greatest count that is right with each number of products in float."""
        names = self.nodes_on_codes(target)
        right = [0] * len(names)
        for size in range(len(names)):
            for kept in itertools.combinations(names, size):
                if set("abcde") <= set(kept):
                    continue
                self.qdq(*self.words(target, *keep(kept), "--per-tensor", out="k.json"))
                right[size] = max(right[size], self.counts("k.json", target)["quantized"])
        return right

    def test_the_share_falls_by_at_most_percent_points(self):
        for seed in (5, 7):
            self.begin(seed)
            # The true classes are those of the float graph, so that each other decision is wrong.
            self.truth = classes(self.real)
            self.write("labels.txt", "".join(f"{c}\n" for c in self.truth))
            right = self.least_right("tensorrt")
            for lost in range(4):
                fitting = [size for size in range(len(right)) if SAMPLES - right[size] <= lost]
                words = self.words("tensorrt", "--per-tensor", "--labels", "labels.txt", "--drop", 100 * lost / SAMPLES + 1e-9)
                if not fitting:
                    self.assertIn(f"(float: {SAMPLES} right)", self.qdq(*words, code=4).err)
                    continue
                told = self.json(*words)
                self.assertEqual(len(told["kept_for"]), fitting[0], (seed, lost, right))
                self.assertGreaterEqual(self.counts("q.json", "tensorrt")["quantized"], SAMPLES - lost)


if __name__ == "__main__":
    main()
