#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The networks of models/digits_uneven on images that they were not trained on.

    test_digits_uneven.py QDQ_BINARY MODELS_DIR
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import harness
from harness import Case, main, read_safetensors, unpack

IMAGES = 360
# How many digits are right, by ONNX Runtime 1.32 on x86-64: without its optimizations, and with them.
RIGHT = {"model": (354, 354), "float_bias": (351, 320)}


class DigitsUneven(Case):
    def right(self, kind, target):
        models, out = Path(harness.MODELS), self.folder / "scores.safetensors"
        images = models / "digits" / "held_out.safetensors"
        self.qdq("run", models / "digits_uneven" / f"{kind}.onnx", "-t", target, "-i", images, "-o", out)
        scores, labels = read_safetensors(out)["scores"], unpack(read_safetensors(images)["labels"])
        self.assertEqual(scores.shape, [IMAGES, 10])
        values = unpack(scores)
        rows = [values[i : i + 10] for i in range(0, len(values), 10)]
        return sum(row.index(max(row)) == label for row, label in zip(rows, labels))

    def test_each_network_is_as_right_as_in_onnx_runtime(self):
        for kind, wanted in RIGHT.items():
            self.assertEqual(tuple(self.right(kind, target) for target in ("onnx", "ort")), wanted, kind)


if __name__ == "__main__":
    main()
