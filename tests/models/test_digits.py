#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trained networks of models/digits on images that they were not trained on.

    test_digits.py QDQ_BINARY MODELS_DIR
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import harness
from harness import Case, main, read_safetensors, unpack

IMAGES = 360
# How many digits are right: for float32 by numpy, for all four by ONNX Runtime.
RIGHT = {"float32": 353, "int8": 353, "int4": 347, "float8": 351}


def folder():
    return Path(harness.MODELS) / "digits"


def digits_of(scores):
    values = unpack(scores)
    rows = [values[i:i + 10] for i in range(0, len(values), 10)]
    return [row.index(max(row)) for row in rows]


class Digits(Case):
    def scores(self, kind, *options):
        out = self.folder / f"{kind}.safetensors"
        self.qdq("run", folder() / f"{kind}.json", "-i", folder() / "held_out.safetensors",
                 "-o", out, *options)
        scores = read_safetensors(out)["scores"]
        self.assertEqual(scores.shape, [IMAGES, 10])
        return scores

    def right(self, kind, *options):
        labels = unpack(read_safetensors(folder() / "held_out.safetensors")["labels"])
        self.assertEqual(len(labels), IMAGES)
        return sum(map(int.__eq__, digits_of(self.scores(kind, *options)), labels))

    def test_the_float32_network_reads_97_of_100_digits(self):
        self.assertGreaterEqual(self.right("float32"), 0.97 * IMAGES)

    def test_int8_costs_at_most_half_a_point(self):
        self.assertLessEqual(abs(self.right("float32") - self.right("int8")), 0.005 * IMAGES)

    def test_each_network_is_as_right_as_the_documents_say(self):
        for mode in ([], ["--fast"]):
            self.assertEqual({kind: self.right(kind, *mode) for kind in RIGHT}, RIGHT, mode)

    def test_tiles_and_threads_change_no_bit(self):
        for kind in RIGHT:
            literal = self.scores(kind, "--threads", "1")
            for options in (["--threads", "2"], ["--isa", "portable"], ["--materialize"],
                            ["--materialize", "--threads", "2"]):
                self.assertEqual(self.scores(kind, *options), literal, f"{kind} {options}")
            fast = self.scores(kind, "--fast", "--threads", "1")
            for options in (["--threads", "2"], ["--isa", "portable"]):
                self.assertEqual(self.scores(kind, "--fast", *options), fast, f"{kind} {options}")
            if kind != "int8":
                self.assertEqual(fast, literal, kind)

    def test_all_products_of_int8_are_on_integers(self):
        plan = self.json("plan", folder() / "int8.json", "--fast")
        for op, count in (("Convolution", 2), ("MaxPool", 2), ("StaticReshape", 1), ("MatMul", 1)):
            chains = [s["chain"] for s in plan["steps"] if f"-> {op} " in s["chain"]]
            self.assertEqual([" on codes" in c for c in chains], [True] * count, chains)

    def test_int8_gives_the_scores_of_onnx_runtime(self):
        """ONNX Runtime ran without optimizations: the same bits. With --fast the digits are the
        same, and scores are within a ten-thousandth, less than the effect of another code."""
        theirs = read_safetensors(folder() / "onnxruntime.safetensors")["scores"]
        self.assertEqual(self.scores("int8"), theirs)
        ours = self.scores("int8", "--fast")
        self.assertEqual(digits_of(ours), digits_of(theirs))
        for x, y in zip(unpack(ours), unpack(theirs)):
            self.assertAlmostEqual(x, y, delta=1e-4)

    def test_the_report_counts_what_is_right(self):
        told = subprocess.run([sys.executable, folder() / "report.py", harness.QDQ, "1"], check=True,
                              stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()
        percent = [line.split(" %")[0].split()[-1] for line in told if " % " in line]
        self.assertEqual(percent, [f"{100 * n / IMAGES:.2f}" for n in RIGHT.values()])
        rows = [line.split("|")[1].split() for line in told[-10:]]
        numbers = [[0 if n == "." else int(n) for n in row] for row in rows]
        self.assertEqual(sum(map(sum, numbers)), IMAGES)
        self.assertEqual(sum(numbers[i][i] for i in range(10)), RIGHT["int8"])


if __name__ == "__main__":
    main()
