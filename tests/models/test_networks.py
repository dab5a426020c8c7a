#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four well-known networks (networks.py) are checked and planned at their usual sizes, and run
with the default limits. They run on images of 64x64 and sequences of 16, small enough for a build
without vector kernels.

    test_networks.py QDQ_BINARY MODELS_DIR
"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import networks
from harness import Case, main, read_safetensors, unpack

SMALL = {"resnet50": 64, "mobilenet_v2": 64, "bert_base": 16, "unet": 64}
# Millions of weights, as published; for BERT without embeddings and pooler.
PARAMETERS = {"resnet50": 25.5, "mobilenet_v2": 3.5, "bert_base": 85.1, "unet": 31.0}
# MiB that a run needs in addition to the constants: the values alive at once.
ARENA = {"resnet50": 16, "mobilenet_v2": 16, "bert_base": 4, "unet": 257}


class Networks(Case):
    def assert_network(self, name):
        usual = networks.NETWORKS[name](self.folder)
        self.assertEqual(self.json("check", usual)["errors"], 0)
        plan = self.json("plan", usual)
        self.assertLessEqual(plan["arena_bytes"], ARENA[name] << 20)
        self.assert_constants(name, usual.with_suffix(".safetensors"), plan["constant_bytes"])
        self.assert_runs(networks.NETWORKS[name](self.folder, SMALL[name]))

    def assert_constants(self, name, path, kept):
        sizes = [networks.count(one.shape) for one in read_safetensors(path).values()]
        self.assertAlmostEqual(sum(sizes) / 1e6, PARAMETERS[name], delta=0.1)
        self.assertLess(kept, 1.1 * path.stat().st_size)

    def assert_runs(self, path):
        self.qdq("run", path, "--fill", 1, "-o", "y.safetensors")
        numbers = unpack(read_safetensors(self.folder / "y.safetensors")["y"])
        self.assertTrue(all(map(math.isfinite, numbers)))
        self.assertGreater(len(set(numbers)), 100)

    def test_resnet50(self):
        self.assert_network("resnet50")

    def test_mobilenet_v2(self):
        self.assert_network("mobilenet_v2")

    def test_bert_base(self):
        self.assert_network("bert_base")

    def test_unet(self):
        self.assert_network("unet")


if __name__ == "__main__":
    main()
