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

    def test_an_equalized_graph_is_explained_by_its_own_channels(self):
        """Codes of 8 bits with a scale for each channel have a ratio of 30 dB and more, and noise nearly adds up."""
        folder = Path(harness.MODELS) / "digits_uneven"
        model, data = folder / "model.onnx", folder / "calibration.safetensors"
        self.qdq("calibrate", model, "--dim", "batch=1", "--data", data, "-o", "all.state")
        for target in ("ort", "tensorrt"):
            told = self.json("quantize", model, "--dim", "batch=1", "--state", "all.state", "-t", target, "--data", data,
                             "--equalize", "-o", f"{target}.onnx")
            self.assertGreaterEqual(len(told["equalized"]), 2)
            for given in (["-i", data], ["--dim", "batch=1", "--data", data, "-o", f"{target}.state"]):
                found = self.json("explain", f"{target}.onnx", "--against", model, "-t", target, *given, code=1)
                total = found["outputs"][0]["total"]
                self.assertAlmostEqual(found["summed"], total, delta=2)
                rows = [one for one in found["nodes"] if one["effect"] is not None]
                self.assertGreaterEqual(len(rows), 8)
                for one in rows:
                    self.assertGreater(float(one["effect"]), total - 1, one["node"])
                    if one["kind"] == "weights":
                        self.assertGreater(float(one["own"]), 30, one["node"])


if __name__ == "__main__":
    main()
