#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""models/keyword has the bits that ai-edge-litert 2.3.0 and tflite-micro gave on x86-64, at each version of target litert for
x86-64 and at target tflm, with no node whose bits are unknown."""

import json

from pathlib import Path

import harness
from harness import Case, main, read_safetensors

TARGETS = "litert@reference", "litert@builtin-x86", "litert@xnnpack-x86", "tflm"


def place(name):
    return Path(harness.MODELS) / "keyword" / name


def recorded(target):
    return place(f"{target.replace('@', '-')}.safetensors")


class Keyword(Case):
    def test_each_engine(self):
        for target in TARGETS:
            with self.subTest(target):
                self.qdq("run", place("keyword.tflite"), "--target", target, "--frames", "8",
                         "-i", place("features.safetensors"), "--expect", recorded(target))

    def test_engines_differ(self):
        """Else one engine's arithmetic could stand for another's."""
        words = [read_safetensors(recorded(target))["sum"].data for target in TARGETS]
        self.assertEqual(words[0], words[3])
        self.assertEqual(len(set(words)), 3)

    def test_bits_are_known(self):
        for target in TARGETS:
            report = self.qdq("check", place("keyword.tflite"), "--target", target, "--json").out
            bits = json.loads(report)["bits"]
            self.assertEqual((bits["close"], bits["unknown"]), (0, 0), target)


if __name__ == "__main__":
    main()
