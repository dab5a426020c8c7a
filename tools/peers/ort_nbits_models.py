# SPDX-License-Identifier: Apache-2.0
"""Small models of MatMulNBits for ort_examples.py, by the sizes of blocks, codes and rows; at accuracy level 4 and 0."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

F32 = np.float32


class Weights:
    """A model with one MatMulNBits and its inputs, as other examples have them."""

    def __init__(self, bits, block, m, n, k, zeros, bias, level=4, added=False):
        rng = np.random.default_rng(bits * 1000 + block + m + n + k)
        blocks = -(-k // block)
        self.inputs = {"x": (rng.integers(-200, 201, (m, k)) / 64).astype(F32)}
        values = {"w": rng.integers(0, 256, (n, blocks, block * bits // 8), np.uint8)}
        values["s"] = (rng.integers(1, 64, n * blocks) / 1000).astype(F32)
        names = ["x", "w", "s"]
        if zeros:
            values["z"] = rng.integers(0, 256, n * -(-blocks * bits // 8), np.uint8)
        if bias:
            values["c"] = (rng.integers(-100, 101, n) / 16).astype(F32)
        names += ["z" if zeros else "", "", "c"] if bias else ["z"] if zeros else []
        attrs = {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": level}
        nodes = [helper.make_node("MatMulNBits", names, ["p" if added else "y"], name="p" if added else "y", domain="com.microsoft", **attrs)]
        if added:
            nodes.append(helper.make_node("Add", ["p", "d"], ["y"], name="y"))
            values["d"] = (rng.integers(-100, 101, n) / 16).astype(F32)
        made = [numpy_helper.from_array(v, name) for name, v in values.items()]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", (m, k)), ("y", (m, n)))]
        self.graph = helper.make_graph(nodes, "nbits", ends[:1], ends[1:], made)

    def model(self):
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(self.graph, opset_imports=opsets, ir_version=10)


class Skipped:
    """LayerNormalization of x and a product of codes with a bias: the norm adds the bias last."""

    def __init__(self, k):
        rng = np.random.default_rng(k)
        self.inputs = {"x": (rng.integers(-200, 201, (2, 5, k)) / 64).astype(F32)}
        values = {"w": rng.integers(0, 256, (k, k // 32, 16), np.uint8), "s": (rng.integers(1, 64, k * k // 32) / 1000).astype(F32)}
        values |= {name: rng.standard_normal(k).astype(F32) for name in ("bias", "gamma", "beta")}
        attrs = {"K": k, "N": k, "bits": 4, "block_size": 32, "accuracy_level": 4}
        nodes = [helper.make_node("MatMulNBits", ["x", "w", "s"], ["p"], name="p", domain="com.microsoft", **attrs),
                 helper.make_node("Add", ["p", "bias"], ["b"], name="b"), helper.make_node("Add", ["x", "b"], ["t"], name="t"),
                 helper.make_node("LayerNormalization", ["t", "gamma", "beta"], ["y"], name="y")]  # fmt: skip
        made = [numpy_helper.from_array(v, name) for name, v in values.items()]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (2, 5, k)) for name in "xy"]
        self.graph = helper.make_graph(nodes, "nbits", ends[:1], ends[1:], made)

    model = Weights.model


class Dequantized:
    """A MatMul of floats with constant int2 codes of eight columns, each with a scale and a zero point."""

    def __init__(self, m, k):
        rng = np.random.default_rng(k)
        self.inputs = {"x": (rng.integers(-200, 201, (m, k)) / 64).astype(F32)}
        scales = numpy_helper.from_array((rng.integers(1, 64, 8) / 1000).astype(F32), "s")
        codes, zeros = (
            helper.make_tensor(name, TensorProto.INT2, shape, rng.integers(0, 256, size, np.uint8).tobytes(), raw=True)
            for name, shape, size in (("w", (k, 8), k * 2), ("z", (8,), 2))
        )
        nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["f"], name="f", axis=1), helper.make_node("MatMul", ["x", "f"], ["y"], name="y")]
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", (m, k)), ("y", (m, 8)))]
        self.graph = helper.make_graph(nodes, "nbits", ends[:1], ends[1:], [codes, scales, zeros])

    def model(self):
        return helper.make_model(self.graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13)


def random_case(seed):
    """A case of any size, for counts against ONNX Runtime."""
    rng = np.random.default_rng(seed)
    bits, block = int(rng.choice([2, 4, 8])), int(rng.choice([16, 32, 64, 128, 256]))
    m, n, k = (int(rng.integers(1, most)) for most in (6, 80, 700))
    return Weights(bits, block, 1 if rng.integers(3) == 0 else m, n, k, bool(rng.integers(2)), bool(rng.integers(2)))


# 35 columns are a panel and a rest; rows are more than a chunk once. Seven have whole steps of 16 lanes and a rest.
EXAMPLES = {
    f"nbits_{bits}_{block}_rows_{m}{'_zeros' if zeros else ''}": (lambda a=(bits, block, m, n, k, zeros, bias): Weights(*a))
    for bits, block, m, n, k, zeros, bias in [
        (4, 16, 1, 7, 120, False, False), (4, 16, 3, 9, 71, True, True), (8, 16, 1, 6, 120, True, False),
        (8, 16, 2, 35, 55, False, True), (4, 32, 1, 35, 81, False, True), (4, 32, 1, 7, 161, True, False),
        (4, 32, 3, 6, 161, True, True), (8, 32, 1, 7, 81, False, False), (8, 32, 2, 35, 40, True, False),
        (4, 64, 1, 6, 130, True, True), (4, 64, 2, 35, 70, True, False), (8, 64, 1, 7, 129, True, True),
        (8, 128, 2, 6, 200, False, False), (4, 128, 1, 9, 200, True, False), (4, 256, 9, 5, 300, True, False),
        (4, 16, 2, 6, 300, True, False), (8, 16, 3, 5, 280, False, True), (4, 32, 2, 7, 300, False, False),
        (8, 32, 3, 5, 290, True, True), (4, 64, 3, 6, 330, True, False), (8, 64, 3, 7, 330, False, True),
        (4, 128, 3, 6, 390, False, False),
        (2, 32, 1, 7, 170, True, True), (2, 64, 3, 6, 330, True, False), (2, 64, 1, 5, 600, False, True),
        (2, 128, 2, 6, 700, True, False), (2, 16, 3, 6, 70, True, False)]
}
# Products of floats: sums of 16 lanes or one chain, chunks behind the bias, and an Add that becomes the bias.
EXAMPLES |= {
    f"nbits_float_{bits}_{block}_rows_{m}": (lambda a=(bits, block, m, n, k, zeros, bias): Weights(*a, level=0))
    for bits, block, m, n, k, zeros, bias in [
        (4, 16, 1, 7, 75, True, True), (4, 32, 1, 6, 165, False, False), (4, 128, 1, 9, 300, True, False),
        (4, 32, 3, 6, 300, True, True), (4, 256, 2, 5, 346, False, False), (8, 32, 2, 6, 300, True, True),
        (8, 64, 1, 7, 200, True, True), (2, 32, 3, 5, 280, False, True)]
}
EXAMPLES["nbits_added_bias"] = lambda: Weights(4, 32, 3, 6, 80, True, False, added=True)
EXAMPLES["nbits_float_added_bias"] = lambda: Weights(4, 32, 1, 6, 80, True, False, level=0, added=True)
EXAMPLES["nbits_biased_norm"] = lambda: Skipped(64)
EXAMPLES["nbits_2_dequantized"] = lambda: Dequantized(3, 300)
