#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite models: quantizing, windows and products give the numbers of their definitions, and what graphs cannot say
is refused."""

import itertools
import json
import math

import harness
from harness import main
from tflite_case import SCALE, ZERO, Tflite, code, numbers, reals, x_tensor
from tflite_file import Op, Tensor, i8, i32, model


# ---- Quantizing ----


class Quantizing(Tflite):
    def test_quantize_and_dequantize(self):
        x = [0.3, -1.0, 100, -100, 0.75]
        content = model([Tensor("x", "float32", [5]), Tensor("q", "uint8", [5], scale=SCALE, zero_point=100),
                         Tensor("y", "float32", [5])], [Op("QUANTIZE", ["x"], ["q"]), Op("DEQUANTIZE", ["q"], ["y"])], ["x"], ["q", "y"])
        found = self.run_model(content, x=harness.tensor("float32", [5], x))
        want = [code(one, zero=100, least=0, greatest=255) for one in x]
        self.assertEqual(found, {"q": want, "y": reals(want, zero=100)})

    def test_codes_to_other_codes_are_one_node(self):
        y = Tensor("y", "int16", [4], scale=SCALE / 4, zero_point=0)
        codes, found = self.run_op("QUANTIZE", [4], [4], codes=[-128, 0, 3, 127], out=y)
        self.assertEqual(found, [4 * (c - ZERO) for c in codes])
        made = self.converted((self.folder / "m.tflite").read_bytes())["nodes"]
        self.assertEqual([(one["op"], one["name"]) for one in made], [("Requantize", "y")])
        self.assertEqual(made[0]["attrs"], {"in_scales": SCALE, "in_zps": ZERO, "out_scales": SCALE / 4, "dtype": "int16"})

    def test_several_scales(self):
        content = model([Tensor("x", "float32", [2, 3]), Tensor("q", "int8", [2, 3], scale=[1.0, 2.0, 0.5], zero_point=[0, 1, 2], axis=1),
                         Tensor("y", "float32", [2, 3])], [Op("QUANTIZE", ["x"], ["q"]), Op("DEQUANTIZE", ["q"], ["y"])], ["x"], ["q", "y"])
        found = self.run_model(content, x=harness.tensor("float32", [2, 3], [1, 2, 3, -4, -8, -16]))
        self.assertEqual(found, {"q": [1, 2, 8, -4, -3, -30], "y": [1, 2, 3, -4, -8, -16]})

    def test_float16(self):
        content = model([Tensor("h", "float16", [3], [1.5, -2, 0.25]), Tensor("y", "float32", [3])], [Op("DEQUANTIZE", ["h"], ["y"])], [], ["y"])
        self.assertEqual(self.run_model(content)["y"], [1.5, -2, 0.25])

    def test_refusals(self):
        x, plain = Tensor("x", "float32", [2]), Tensor("y", "int8", [2])
        self.assert_refusal(model([x, plain], [Op("QUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': QUANTIZE: makes a tensor without a scale; docs/tflite.md lists what is read")
        self.assert_refusal(model([x, Tensor("y", "float32", [2])], [Op("DEQUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': DEQUANTIZE: reads a tensor without a scale")
        several = Tensor("y", "int8", [2], scale=[1.0, 2.0], zero_point=[0, 0])
        self.assert_refusal(model([x_tensor([2]), several], [Op("QUANTIZE", ["x"], ["y"])], ["x"], ["y"]),
                            "node 'y': QUANTIZE: converts codes with several scales, wanted one scale")


if __name__ == "__main__":
    main()
