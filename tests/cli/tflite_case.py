# SPDX-License-Identifier: Apache-2.0
"""A case that builds and runs TensorFlow Lite models. Scales are powers of two, so that codes follow exactly from the
definition of an operator."""

import json
import math

import harness
from harness import Case, read_safetensors, unpack, write_npy
from tflite_file import Op, Tensor, model

SCALE, ZERO = 0.25, 3


def numbers(count, seed, least=-128, greatest=127):
    """Codes that look random."""
    state, out = seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(least + state // 65536 % (greatest - least + 1))
    return out


def code(real, scale=SCALE, zero=ZERO, least=-128, greatest=127):
    return max(least, min(greatest, round(real / scale) + zero))


def reals(codes, scale=SCALE, zero=ZERO):
    return [(c - zero) * scale for c in codes]


def x_tensor(shape, name="x", dtype="int8"):
    return Tensor(name, dtype, shape, scale=SCALE, zero_point=ZERO)


class Tflite(Case):
    def run_model(self, content, target="core", **inputs):
        """Runs a model by a target, its own for None, and returns {output: numbers}. The default shows the definition of an operator."""
        self.write("m.tflite", content)
        words = []
        for name, one in inputs.items():
            write_npy(self.folder / f"{name}.npy", one)
            words += ["-i", f"{name}={name}.npy"]
        words += ["--target", target] if target else []
        self.qdq("run", "m.tflite", *words, "-o", "out.safetensors")
        found = read_safetensors(self.folder / "out.safetensors")
        self.shapes = {name: one.shape for name, one in found.items()}
        return {name: unpack(one) for name, one in found.items()}

    def run_op(self, op, shape, out_shape, options=None, more=(), codes=None, out=None):
        """Runs an operator on codes x with further tensors and returns the codes of its output y."""
        codes = codes or numbers(math.prod(shape), 7)
        y = out or Tensor("y", "int8", out_shape, scale=SCALE, zero_point=ZERO)
        content = model([x_tensor(shape), *more, y], [Op(op, ["x", *(one.name for one in more)], ["y"], options or {})], ["x"], ["y"])
        found = self.run_model(content, x=harness.tensor("int8", shape, codes))["y"]
        self.assertEqual(self.shapes["y"], out_shape)
        return codes, found

    def converted(self, content):
        self.write("m.tflite", content)
        self.qdq("convert", "m.tflite", "-o", "g.json")
        return json.loads((self.folder / "g.json").read_text())

    def assert_refusal(self, content, text):
        self.write("m.tflite", content)
        out = self.qdq("check", "m.tflite", code=1).out
        self.assertIn(f"m.tflite: {text}", out)
