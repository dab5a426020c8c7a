#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trained networks of models/digits, on images that they were not trained on.

    test_digits.py QDQ_BINARY MODELS_DIR
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import harness
from harness import Case, main, read_safetensors, unpack

IMAGES = 360
# How many are right. numpy says so of float32 where it is trained, ONNX Runtime of all four.
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

    def right(self, kind):
        labels = unpack(read_safetensors(folder() / "held_out.safetensors")["labels"])
        self.assertEqual(len(labels), IMAGES)
        return sum(map(int.__eq__, digits_of(self.scores(kind)), labels))

    def test_the_float32_network_reads_97_of_100_digits(self):
        self.assertGreaterEqual(self.right("float32"), 0.97 * IMAGES)

    def test_int8_costs_at_most_half_a_point(self):
        self.assertLessEqual(abs(self.right("float32") - self.right("int8")), 0.005 * IMAGES)

    def test_each_network_is_as_right_as_the_documents_say(self):
        self.assertEqual({kind: self.right(kind) for kind in RIGHT}, RIGHT)

    def test_tiles_and_threads_change_no_bit(self):
        for kind in RIGHT:
            plain = self.scores(kind, "--threads", "1")
            for options in (["--materialize"], ["--threads", "2"],
                            ["--materialize", "--threads", "2"], ["--isa", "portable"]):
                self.assertEqual(self.scores(kind, *options), plain, f"{kind} {options}")

    def test_int8_gives_the_scores_of_onnx_runtime(self):
        """Bit for bit those that it gave without optimizations, so the digits as well."""
        theirs = read_safetensors(folder() / "onnxruntime.safetensors")["scores"]
        ours = self.scores("int8")
        self.assertEqual(digits_of(ours), digits_of(theirs))
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    main()
